//! `secateur session`: sessions that Secateur keeps itself, from the first message to the last.

mod append;
mod compact;
mod context;
mod create;
mod events;
mod forget;
mod list;
mod recall;
mod settle;
mod turn;
mod watch;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::keeper::{self, StoreArgs};

pub(crate) use watch::Watch;

/// How the commands go together.
const EXAMPLE: &str = "\
Example:
  id=$(secateur session new --as anthropic)
  echo '{\"role\":\"user\",\"content\":\"Hello.\"}' | secateur session append $id
  secateur session context $id --model claude-sonnet-4-5 > request.json
  secateur session settle $id --input 1200 --output 80";

/// Keep sessions that never outgrow their model: append messages, get requests that fit.
///
/// Append what was said, ask for the context to send, settle how that went. When the window fills up, old tool results
/// are pruned and older history is summarised, and all of it can be undone, because every original is kept.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Kept {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    New(create::New),
    Append(append::Append),
    Context(context::Context),
    Settle(settle::Settle),
    Compact(compact::Compact),
    Undo(turn::Undo),
    Redo(turn::Redo),
    Recall(recall::Recall),
    Events(events::Events),
    List(list::List),
    Forget(forget::Forget),
}

/// The session that a command is about.
#[derive(Debug, Args)]
struct Which {
    /// The session's id.
    session: String,
    #[command(flatten)]
    store: StoreArgs,
}

impl Kept {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        keeper::run(async {
            match &self.command {
                Command::New(command) => command.run(out).await,
                Command::Append(command) => command.run(out).await,
                Command::Context(command) => command.run(out).await,
                Command::Settle(command) => command.run(out).await,
                Command::Compact(command) => command.run(out).await,
                Command::Undo(command) => command.run(out).await,
                Command::Redo(command) => command.run(out).await,
                Command::Recall(command) => command.run(out).await,
                Command::Events(command) => command.run(out).await,
                Command::List(command) => command.run(out).await,
                Command::Forget(command) => command.run(out).await,
            }
        })
    }
}
