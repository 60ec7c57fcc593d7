//! `secateur session`: sessions that Secateur keeps itself.

mod append;
mod compact;
mod context;
mod database_size;
mod delete;
mod events;
mod forget;
mod list;
mod new;
mod recall;
mod settle;
mod undo;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use secateur_engine::{Engine, Session};

use crate::store_args::{self, StoreArgs};
use crate::summariser_args::SummariserArgs;
use undo::{Direction, OperationArgs};

/// How the commands are used together.
const EXAMPLE: &str = "\
Example:
  id=$(secateur session new --as anthropic)
  echo '{\"role\":\"user\",\"content\":\"Hello.\"}' | secateur session append $id
  secateur session context $id --model claude-sonnet-4-5 > request.json
  secateur session settle $id --input 1200 --output 80";

/// Keep sessions that always fit their model: append messages, get requests that fit.
///
/// Append messages, get the request to send, settle how it ended. When the window fills up, old tool results are pruned
/// and older history is summarised. Every original is kept, so all of it can be undone.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    command: SessionCommand,
}

#[derive(Debug, Subcommand)]
enum SessionCommand {
    New(new::NewArgs),
    Append(append::AppendArgs),
    Context(context::SessionContextArgs),
    Settle(settle::SettleArgs),
    Compact(compact::SessionCompactArgs),
    /// Undo a prune or compaction: the operation with this number, or the newest that is not undone.
    Undo(OperationArgs),
    /// Redo what was undone: the operation with this number, or the first that is undone.
    Redo(OperationArgs),
    Recall(recall::SessionRecallArgs),
    Events(events::EventsArgs),
    List(list::ListArgs),
    Forget(forget::ForgetArgs),
    Delete(delete::DeleteArgs),
}

/// The session that a command works on.
#[derive(Debug, Args)]
struct SessionIdArgs {
    /// The session's id.
    session: String,
    #[command(flatten)]
    store: StoreArgs,
}

impl SessionIdArgs {
    /// Opens the session, with a model that writes summaries if one is named.
    async fn open(&self, summariser: Option<&SummariserArgs>) -> Result<(Engine, Session)> {
        let engine = store_args::open_engine(&self.store, summariser).await?;
        let session = store_args::open_session(&engine, &self.store, &self.session).await?;
        Ok((engine, session))
    }
}

impl SessionArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        store_args::block_on(async {
            let done = match &self.command {
                SessionCommand::New(command) => command.run(out).await,
                SessionCommand::Append(command) => command.run(out).await,
                SessionCommand::Context(command) => return command.run(out).await,
                SessionCommand::Settle(command) => command.run(out).await,
                SessionCommand::Compact(command) => command.run(out).await,
                SessionCommand::Undo(command) => command.run(out, Direction::Undo).await,
                SessionCommand::Redo(command) => command.run(out, Direction::Redo).await,
                SessionCommand::Recall(command) => command.run(out).await,
                SessionCommand::Events(command) => command.run(out).await,
                SessionCommand::List(command) => command.run(out).await,
                SessionCommand::Forget(command) => command.run(out).await,
                SessionCommand::Delete(command) => command.run(out).await,
            };
            done.map(|()| ExitCode::SUCCESS)
        })
    }
}
