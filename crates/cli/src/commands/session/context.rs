//! `secateur session context`: the next request to send.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use secateur_engine::{ContextRequest, EngineError};
use secateur_formats::Wire;
use serde_json::json;

use super::SessionIdArgs;
use crate::event_text::{number, sentences};
use crate::humanize::{counted, grouped};
use crate::progress::SummaryDisplay;
use crate::store_args::engine_error;
use crate::summariser_args::SummariserArgs;
use crate::target_args::{TargetArgs, model_of};
use crate::terminal::print_json;

/// Print the next request: the session's context, made to fit the model.
///
/// If it does not fit, old tool results are pruned, and if that is not enough, older history is summarised. What was done
/// is printed on standard error. Exit code 1 if the request cannot be made to fit.
#[derive(Debug, Args)]
pub(crate) struct SessionContextArgs {
    #[command(flatten)]
    session: SessionIdArgs,
    #[command(flatten)]
    target: TargetArgs,
    /// The provider's wire: anthropic, openai-chat, openai-responses or gemini [default: the session's]
    #[arg(long = "as", value_name = "WIRE")]
    wire: Option<Wire>,
    /// Print one JSON object: the body and what was done.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    summariser: SummariserArgs,
}

impl SessionContextArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let (engine, mut session) = self.session.open(Some(&self.summariser)).await?;
        let config = self.session.store.settings.read()?;
        let recorded = model_of(session.envelope());
        let target = self.target.target(config.catalogue(), recorded.as_deref(), self.wire)?;
        let progress = SummaryDisplay::start(&engine);
        let result = session.context(&target).await;
        progress.stop();
        let request = match result {
            Ok(request) => request,
            Err(EngineError::NoRoom(no_room)) => {
                if self.json {
                    let (session, model) = (session.id(), &target.model);
                    print_json(out, &json!({ "session": session, "model": model, "no_room": no_room }))?;
                }
                crate::terminal::error(&engine_error(EngineError::NoRoom(no_room)));
                return Ok(ExitCode::from(1));
            }
            Err(error) => return Err(engine_error(error)),
        };
        let messages = session.live_messages().rows().len();
        let ContextRequest { body, wire, tokens, usable, repaired, remaining, events } = &request;
        let code = if remaining.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) };
        if self.json {
            let report = json!({ "session": session.id(), "wire": wire, "model": target.model,
                "messages": messages, "tokens": tokens, "usable": usable, "events": events,
                "repaired": repaired, "remaining": remaining, "body": body });
            print_json(out, &report)?;
            return Ok(code);
        }
        writeln!(out, "{body}")?;
        for sentence in sentences(events) {
            anstream::eprintln!("{sentence}");
        }
        for finding in repaired {
            anstream::eprintln!("repaired {}: {}", finding.path, finding.message);
        }
        for finding in remaining {
            anstream::eprintln!("the provider would reject {}: {}", finding.path, finding.message);
        }
        let room = usable.map(|usable| format!(" of {} usable", number(usable))).unwrap_or_default();
        let (bytes, messages) = (grouped(body.len() as u64), counted(messages as u64, "message"));
        let tokens = number(*tokens);
        anstream::eprintln!("{wire} request of {bytes} bytes: {messages}, about {tokens}{room} tokens");
        Ok(code)
    }
}
