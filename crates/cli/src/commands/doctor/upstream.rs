//! Checks whether a provider can be reached and accepts the key, by asking for the list of its models.

use std::error::Error;
use std::io;
use std::time::{Duration, SystemTime};

use rustls::CertificateError;
use secateur_server::{Provider, Upstream};

use super::clock;
use super::finding::DoctorFinding;
use crate::http_get::{self, HttpResponse};

const CHECK: &str = "upstream";
const CERTIFICATE: &str = "certificate";
const KEY: &str = "key";

/// How long a provider may take. All are asked at once.
const TIMEOUT: Duration = Duration::from_secs(8);

pub(crate) struct UpstreamCheck<'p> {
    pub(crate) provider: Provider,
    pub(crate) upstream: &'p Upstream,
    /// Whether the user configured its address, and so uses it.
    pub(crate) is_configured: bool,
}

/// A key, and how it is sent to its provider.
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

    /// The flag and the setting of its address are called as the provider is.
    fn flag(&self) -> String {
        self.name().to_ascii_lowercase()
    }

    /// The key in the environment, in the header of its provider.
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
            Ok(response) => self.findings(&response, credential.as_ref()),
            Err(error) => vec![self.failed(&error, credential.is_some())],
        }
    }

    fn findings(&self, response: &HttpResponse, credential: Option<&Credential>) -> Vec<DoctorFinding> {
        let (name, upstream) = (self.name(), self.upstream);
        let mut findings = vec![match response.status {
            500.. => DoctorFinding::warning(
                CHECK,
                format!("{name} at {upstream} responds with status {}", response.status),
                "try again later, or see the provider's status page",
            ),
            _ => DoctorFinding::ok(CHECK, format!("{name} at {upstream} can be reached")),
        }];
        if let Some(credential) = credential {
            findings.push(self.check_key(response, credential.variable));
        }
        let date = response.date.as_deref();
        findings.extend(date.and_then(|date| clock::check(name, date, SystemTime::now())));
        findings
    }

    /// Whether the key was accepted.
    fn check_key(&self, response: &HttpResponse, variable: &str) -> DoctorFinding {
        let name = self.name();
        // Google responds to a wrong key with 400.
        let is_refused = matches!(response.status, 401 | 403)
            || (response.status == 400 && response.body.contains("API_KEY_INVALID"));
        if is_refused {
            let found = format!("{name} rejects the key in {variable} with status {}", response.status);
            let fix = format!(
                "set {variable} to a valid key of {name}; if the key is for a gateway, name the gateway with --{}",
                self.flag()
            );
            return DoctorFinding::fault(KEY, found, fix);
        }
        match response.status {
            200..300 => DoctorFinding::ok(KEY, format!("{name} accepts the key in {variable}")),
            status => DoctorFinding::ok(
                KEY,
                format!("{name} did not check the key in {variable} (status {status})"),
            ),
        }
    }

    fn failed(&self, error: &reqwest::Error, has_key: bool) -> DoctorFinding {
        let (name, upstream) = (self.name(), self.upstream);
        if let Some((why, fix)) = certificate_problem(error) {
            return DoctorFinding::fault(CERTIFICATE, format!("{name} at {upstream}: {why}"), fix);
        }
        let found = format!("{name} at {upstream} cannot be reached: {}", http_get::failure(error));
        let fix = format!(
            "check the network and the address; set another address with --{0} or serve.{0}",
            self.flag()
        );
        if has_key || self.is_configured {
            DoctorFinding::fault(CHECK, found, fix)
        } else {
            DoctorFinding::warning(CHECK, found, format!("ignore if you don't use {name}; otherwise {fix}"))
        }
    }
}

/// What is wrong with a certificate and how to fix it; none if an error has another cause.
fn certificate_problem(error: &reqwest::Error) -> Option<(String, String)> {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(why)) = innermost(error).downcast_ref() {
            return Some(explain_certificate(why));
        }
        next = error.source();
    }
    None
}

/// The error inside an I/O error, whose `source` skips it.
fn innermost<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    let mut error = error;
    while let Some(inner) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        error = inner;
    }
    error
}

fn explain_certificate(why: &CertificateError) -> (String, String) {
    let (found, fix) = match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => (
            "its certificate has expired",
            "check this machine's clock; if it is right, the operator of the upstream has to renew the certificate",
        ),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => (
            "its certificate is not valid yet",
            "check this machine's clock; if it is right, the operator of the upstream has to replace the certificate",
        ),
        CertificateError::UnknownIssuer => (
            "its certificate has an unknown issuer",
            "add the issuer to the system's certificates, or name its file in SSL_CERT_FILE; if your network inspects \
             TLS, ask its administrator for the issuer's certificate",
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            ("its certificate is for another name", "check the upstream's address")
        }
        other => {
            let fix = "the operator of the upstream has to replace it";
            return (format!("its certificate is invalid: {other}"), fix.to_owned());
        }
    };
    (found.to_owned(), fix.to_owned())
}
