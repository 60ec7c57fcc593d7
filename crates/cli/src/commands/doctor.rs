//! `secateur doctor`: whether everything is as it must be for agents to come through the proxy, and how to fix what is
//! not.
//!
//! One file per kind of check. Nothing is changed: the store is looked at and not opened, agents' files are read, and
//! providers are asked for the list of their models, which costs nothing. Everything that waits for somebody has a bound.

mod agents;
mod certificate;
mod clock;
mod disk;
mod finding;
mod postgres;
mod proxy;
mod schema;
mod store_file;
mod upstream;
mod variables;

use std::env;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use secateur_engine::config::Config;
use secateur_server::{Provider, Settings};
use secateur_sources::AgentFolders;
use serde_json::json;

use crate::commands::run::proxy_url::root;
use crate::commands::serve::ServeArgs;
use crate::humanize::{counted, printable};
use crate::listener::{Listener, client_address};
use crate::store_args;
use crate::terminal::{GREEN, RED, YELLOW};
use agents::AgentCheck;
use finding::{DoctorFinding, Level};
use upstream::UpstreamCheck;

const CONFIGURATION: &str = "configuration";

/// Find out why agents do not come through the proxy, or why nothing is saved.
///
/// Looks at the configuration, the store and its disk, the proxy, the variables and files that point agents somewhere,
/// and asks each provider for the list of its models with the key in the environment. Nothing is changed, and no key is
/// shown. Takes the flags of `serve`. Exits with 1 if there is a fault.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// How many megabytes must be free where sessions are kept.
    #[arg(long, value_name = "MB", default_value_t = 256, hide_short_help = true)]
    least_free: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    serve: ServeArgs,
}

impl DoctorArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let findings = store_args::block_on(async { Ok(self.examine().await) })?;
        if self.json {
            let faults = findings.iter().filter(|finding| finding.level == Level::Fault).count();
            writeln!(out, "{}", serde_json::to_string(&json!({ "faults": faults, "findings": findings }))?)?;
        } else {
            show(&findings, out)?;
        }
        let is_sick = findings.iter().any(|finding| finding.level == Level::Fault);
        Ok(if is_sick { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }

    async fn examine(&self) -> Vec<DoctorFinding> {
        let variable = |name: &str| env::var(name).ok();
        let (mut findings, settings, config) = self.configuration();
        if let Ok(place) = self.serve.location() {
            findings.extend(match place.server() {
                Some(url) => postgres::check(url).await,
                None => store_file::check(place.file.as_deref(), self.serve.folder()),
            });
            findings.extend(disk::check(place.file.as_deref(), self.least_free));
        }
        let proxy = client_address(settings.listen);
        // One that cannot be read has been told of.
        let token = config.as_ref().and_then(|config| self.serve.token(config).ok().flatten());
        let root = root(proxy, token.as_deref());
        let listener = Listener::local(proxy, &root).await;
        findings.extend(proxy::check(proxy, &root, &listener).await);
        findings.extend(variables::check(&variable, proxy.ip()));
        let probes = [Provider::Anthropic, Provider::OpenAi, Provider::Gemini].map(|provider| {
            let is_set = config.as_ref().is_some_and(|config| match provider {
                Provider::Anthropic => config.serve().anthropic.is_some(),
                Provider::OpenAi => config.serve().openai.is_some(),
                Provider::Gemini => config.serve().gemini.is_some(),
            });
            let is_chosen = is_set || self.serve.names(provider);
            UpstreamCheck { provider, upstream: settings.upstream(provider), is_chosen }
        });
        let [anthropic, openai, gemini] = &probes;
        let (anthropic, openai, gemini) =
            tokio::join!(anthropic.check(&variable), openai.check(&variable), gemini.check(&variable));
        findings.extend([anthropic, openai, gemini].into_iter().flatten());
        let here = env::current_dir().unwrap_or_default();
        let homes = AgentFolders::from_env();
        let scene = AgentCheck { proxy, listener: &listener, homes, here, variable: &variable };
        findings.extend(scene.check().await);
        findings
    }

    /// What is configured; where that is wrong, what is usual.
    fn configuration(&self) -> (Vec<DoctorFinding>, Settings, Option<Config>) {
        let fix = "change what is named there; `secateur config --path` shows where files are looked for and `secateur \
                    config --schema` what may be in them";
        let refuse = |error: &anyhow::Error| DoctorFinding::fault(CONFIGURATION, format!("{error:#}"), fix);
        let config = match self.serve.config() {
            Ok(config) => config,
            Err(error) => return (vec![refuse(&error)], Settings::default(), None),
        };
        if let Err(error) = config.check() {
            return (vec![refuse(&error.into())], Settings::default(), Some(config));
        }
        match self.serve.settings(&config) {
            Ok(settings) => {
                let found = format!("it can be read; the profile is {}", settings.profile);
                let mut findings = vec![DoctorFinding::ok(CONFIGURATION, found)];
                let fix = "change its mode as shown, and make a new token if somebody may have read it";
                findings.extend(
                    self.serve
                        .open_token(&config)
                        .map(|open| DoctorFinding::warning(CONFIGURATION, open, fix)),
                );
                (findings, settings, Some(config))
            }
            Err(error) => (vec![refuse(&error)], Settings::default(), Some(config)),
        }
    }
}

/// The findings for people.
fn show(findings: &[DoctorFinding], out: &mut dyn Write) -> Result<()> {
    for DoctorFinding { check, level, found, fix } in findings {
        let style = match level {
            Level::Ok => GREEN,
            Level::Warning => YELLOW,
            Level::Fault => RED,
        };
        let level = level.to_string();
        writeln!(out, "{style}{level:<7}{style:#}  {check}: {}", printable(found))?;
        if let Some(fix) = fix {
            writeln!(out, "         fix: {}", printable(fix))?;
        }
    }
    let count = |level| findings.iter().filter(|finding| finding.level == level).count() as u64;
    let (faults, warnings) = (count(Level::Fault), count(Level::Warning));
    writeln!(out, "\n{}, {}", counted(faults, "fault"), counted(warnings, "warning"))?;
    Ok(())
}
