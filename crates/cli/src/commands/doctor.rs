//! `secateur doctor`: finds what keeps agents from using the proxy, and says how to fix it.
//!
//! One file for each kind of check. Nothing is changed: the store is inspected without opening it, agents' files are
//! read, and providers are asked for the list of their models, which is free. Every wait has a timeout.

mod agents;
mod clock;
mod finding;
mod growth;
mod postgres;
mod proxy;
mod running_proxy;
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
use crate::listener::{ListenerKind, client_address};
use crate::set_aside_notice;
use crate::store_args;
use crate::terminal::{GREEN, RED, YELLOW, print_json};
use agents::AgentCheck;
use finding::{DoctorFinding, Level};
use growth::Growth;
use running_proxy::{ProxyUpstream, RunningProxy};
use upstream::UpstreamCheck;

const CONFIGURATION: &str = "configuration";
const SET_ASIDE: &str = "set aside";

/// Find out why agents do not use the proxy, or why nothing is saved.
///
/// Checks the configuration, the store and its disk, the proxy, and the variables and files that agents take addresses
/// from, and asks each provider for the list of its models with the key in the environment. Nothing is changed, and no
/// key is shown. Takes the flags of `serve`. Exit code 1 if there is a fault.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// How many megabytes must be free on the store's disk.
    #[arg(long, value_name = "MB", default_value_t = 256, hide_short_help = true)]
    least_free: u64,
    /// How many megabytes the store may have while no retention is set.
    #[arg(long, value_name = "MB", default_value_t = 2048, hide_short_help = true)]
    largest_store: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    serve: ServeArgs,
}

impl DoctorArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let findings = store_args::block_on(async { Ok(self.check().await) })?;
        if self.json {
            let faults = findings.iter().filter(|finding| finding.level == Level::Fault).count();
            print_json(out, &json!({ "faults": faults, "findings": findings }))?;
        } else {
            show(&findings, out)?;
        }
        let has_faults = findings.iter().any(|finding| finding.level == Level::Fault);
        Ok(if has_faults { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }

    async fn check(&self) -> Vec<DoctorFinding> {
        let variable = |name: &str| env::var(name).ok();
        let (mut findings, settings, config) = self.configuration();
        if let Ok(location) = self.serve.store.location() {
            let growth = Growth { largest: self.largest_store, limits: settings.retention };
            findings.extend(match location.server() {
                Some(url) => postgres::check(url, growth).await,
                None => store_file::check(location.file.as_deref(), self.serve.store.folder(), growth),
            });
            findings.extend(
                set_aside_notice::describe(location.file.as_deref())
                    .into_iter()
                    .map(|(found, fix)| DoctorFinding::warning(SET_ASIDE, found, &fix)),
            );
            let is_usable = !findings.iter().any(|finding| {
                finding.level == Level::Fault
                    && matches!(finding.check, store_file::CHECK | store_file::SCHEMA)
            });
            let is_made = location.file.as_ref().map_or(location.server().is_some(), |file| file.exists());
            if is_usable && is_made {
                findings.push(store_file::check_content(location.url()).await);
            }
            findings.extend(store_file::check_disk(location.file.as_deref(), self.least_free));
        }
        let proxy = client_address(settings.listen);
        // A token that cannot be read is reported by the check of the configuration.
        let token = config.as_ref().and_then(|config| self.serve.token(config).ok().flatten());
        let root = root(proxy, token.as_deref());
        let listener = ListenerKind::local(proxy, &root).await;
        findings.extend(proxy::check(proxy, &root, &listener).await);
        let running = match listener {
            ListenerKind::Secateur { .. } => RunningProxy::ask(&root).await,
            _ => RunningProxy::default(),
        };
        findings.extend(running.check_windows());
        findings.extend(variables::check(&variable, proxy.ip()));
        let checks = [Provider::Anthropic, Provider::OpenAi, Provider::Gemini].map(|provider| {
            let is_set = config.as_ref().is_some_and(|config| match provider {
                Provider::Anthropic => config.serve().anthropic.is_some(),
                Provider::OpenAi => config.serve().openai.is_some(),
                Provider::Gemini => config.serve().gemini.is_some(),
            });
            let is_configured = is_set || self.serve.sets_upstream(provider);
            // Agents send their requests where the running proxy sends them, whatever is configured now.
            match running.upstream(provider) {
                Some(ProxyUpstream { url, is_configured }) => {
                    UpstreamCheck { provider, upstream: url, is_configured: *is_configured }
                }
                None => UpstreamCheck { provider, upstream: settings.upstream(provider), is_configured },
            }
        });
        let [anthropic, openai, gemini] = &checks;
        let (anthropic, openai, gemini) =
            tokio::join!(anthropic.check(&variable), openai.check(&variable), gemini.check(&variable));
        findings.extend([anthropic, openai, gemini].into_iter().flatten());
        let here = env::current_dir().unwrap_or_default();
        let homes = AgentFolders::from_env();
        let agents = AgentCheck { proxy, listener: &listener, homes, here, variable: &variable };
        findings.extend(agents.check().await);
        findings
    }

    /// Checks the configuration. Where it is wrong, the defaults are returned.
    fn configuration(&self) -> (Vec<DoctorFinding>, Settings, Option<Config>) {
        let fix = "correct the setting; `secateur config --path` shows the files and `secateur config --schema` what they \
                   may hold";
        let fault = |error: &anyhow::Error| DoctorFinding::fault(CONFIGURATION, format!("{error:#}"), fix);
        let config = match self.serve.config() {
            Ok(config) => config,
            Err(error) => return (vec![fault(&error)], Settings::default(), None),
        };
        if let Err(error) = config.check() {
            return (vec![fault(&error.into())], Settings::default(), Some(config));
        }
        match self.serve.settings(&config) {
            Ok(settings) => {
                let found = format!("valid; profile {}", settings.profile);
                let mut findings = vec![DoctorFinding::ok(CONFIGURATION, found)];
                let fix = "run that command, and create a new token if others may have read this one";
                let readable = self.serve.token_file_warning(&config);
                findings.extend(readable.map(|found| DoctorFinding::warning(CONFIGURATION, found, fix)));
                (findings, settings, Some(config))
            }
            Err(error) => (vec![fault(&error)], Settings::default(), Some(config)),
        }
    }
}

/// Prints the findings for people.
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
