//! Whether a provider can be reached and takes the key: one harmless question to each, which lists its models.

use std::time::{Duration, SystemTime};

use secateur_server::{Provider, Upstream};

use super::finding::DoctorFinding;
use super::{certificate, clock};
use crate::http_get::{self, HttpResponse};

const CHECK: &str = "upstream";
const CERTIFICATE: &str = "certificate";
const KEY: &str = "key";

/// How long a provider may take. All are asked at the same time.
const TIMEOUT: Duration = Duration::from_secs(8);

/// A provider as it is asked.
pub(crate) struct UpstreamCheck<'p> {
    pub(crate) provider: Provider,
    pub(crate) upstream: &'p Upstream,
    /// Whether the user has said where it is, which only somebody does who uses it.
    pub(crate) is_chosen: bool,
}

/// How a key is shown to a provider.
struct Credential {
    variable: &'static str,
    header: (&'static str, String),
}

impl UpstreamCheck<'_> {
    fn name(&self) -> &'static str {
        match self.provider {
            Provider::Anthropic => "Anthropic",
            Provider::OpenAi => "OpenAI",
            Provider::Gemini => "Gemini",
        }
    }

    fn flag(&self) -> &'static str {
        match self.provider {
            Provider::Anthropic => "anthropic",
            Provider::OpenAi => "openai",
            Provider::Gemini => "gemini",
        }
    }

    /// The key in the environment, in the header that its provider looks at.
    fn credential(&self, variable: &dyn Fn(&str) -> Option<String>) -> Option<Credential> {
        let known: &[(&str, &str)] = match self.provider {
            Provider::Anthropic => {
                &[("ANTHROPIC_API_KEY", "x-api-key"), ("ANTHROPIC_AUTH_TOKEN", "authorization")]
            }
            Provider::OpenAi => &[("OPENAI_API_KEY", "authorization")],
            Provider::Gemini => &[("GEMINI_API_KEY", "x-goog-api-key"), ("GOOGLE_API_KEY", "x-goog-api-key")],
        };
        known.iter().find_map(|(name, header)| {
            let key = variable(name).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty())?;
            let value = if *header == "authorization" { format!("Bearer {key}") } else { key };
            Some(Credential { variable: name, header: (*header, value) })
        })
    }

    /// Asks for the list of models.
    pub(crate) async fn check(&self, variable: &dyn Fn(&str) -> Option<String>) -> Vec<DoctorFinding> {
        let path = if self.provider == Provider::Gemini { "/v1beta/models" } else { "/v1/models" };
        let credential = self.credential(variable);
        let mut headers = Vec::new();
        if self.provider == Provider::Anthropic {
            headers.push(("anthropic-version", String::from("2023-06-01")));
        }
        headers.extend(credential.iter().map(|credential| credential.header.clone()));
        match http_get::get(&format!("{}{path}", self.upstream), &headers, TIMEOUT).await {
            Ok(response) => self.answered(&response, credential.as_ref()),
            Err(error) => vec![self.failed(&error, credential.is_some())],
        }
    }

    fn answered(&self, response: &HttpResponse, credential: Option<&Credential>) -> Vec<DoctorFinding> {
        let (name, upstream) = (self.name(), self.upstream);
        let mut findings = vec![match response.status {
            500.. => DoctorFinding::warning(
                CHECK,
                format!("{name} at {upstream} answers with status {}", response.status),
                "it is out of order for now: try again later, or see its status page",
            ),
            _ => DoctorFinding::ok(CHECK, format!("{name} at {upstream} can be reached")),
        }];
        if let Some(credential) = credential {
            findings.push(self.judge(response, credential.variable));
        }
        let date = response.date.as_deref();
        findings.extend(date.and_then(|date| clock::check(name, date, SystemTime::now())));
        findings
    }

    /// Whether the key was taken.
    fn judge(&self, response: &HttpResponse, variable: &str) -> DoctorFinding {
        let name = self.name();
        // Google takes a wrong key for a wrong request.
        let is_refused = matches!(response.status, 401 | 403)
            || (response.status == 400 && response.body.contains("API_KEY_INVALID"));
        if is_refused {
            let found = format!("{name} refuses the key in {variable} with status {}", response.status);
            let fix = format!(
                "put a key of {name} that is valid into {variable}; if it is for another gateway, name that with --{}",
                self.flag()
            );
            return DoctorFinding::fault(KEY, found, fix);
        }
        match response.status {
            200..300 => DoctorFinding::ok(KEY, format!("{name} takes the key in {variable}")),
            status => DoctorFinding::ok(
                KEY,
                format!("{name} did not say whether it takes the key in {variable} (status {status})"),
            ),
        }
    }

    fn failed(&self, error: &reqwest::Error, has_key: bool) -> DoctorFinding {
        let (name, upstream) = (self.name(), self.upstream);
        if let Some((why, fix)) = certificate::judge(error) {
            return DoctorFinding::fault(CERTIFICATE, format!("{name} at {upstream}: {why}"), fix);
        }
        let found = format!("{name} at {upstream} cannot be reached: {}", http_get::failure(error));
        let fix = format!(
            "see whether the network is up and the address is right; another one is set by --{0} or serve.{0}",
            self.flag()
        );
        if has_key || self.is_chosen {
            DoctorFinding::fault(CHECK, found, fix)
        } else {
            DoctorFinding::warning(
                CHECK,
                found,
                format!("nothing, if you do not use {name}; otherwise {fix}"),
            )
        }
    }
}
