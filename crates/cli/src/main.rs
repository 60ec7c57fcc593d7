//! The command `secateur`.
//!
//! ```console
//! $ secateur serve
//! $ secateur run -- claude
//! $ secateur scan
//! $ secateur inspect session.jsonl
//! $ secateur demo --save session.json
//! $ secateur prune session.json
//! $ secateur explain session.json prt_0003
//! $ secateur prune session.json --write
//! $ secateur compact session.json
//! $ secateur session new --from session.json
//! $ secateur recall kbqzwmtahdue
//! ```
//!
//! Each command is a file or folder of [`commands`] with its name. It reads what the user named, calls the libraries and
//! prints the result. Nothing is decided here. Only this crate and the sources below it read files, the clock and the
//! environment, so everything else can be tested without them. The other modules are shared by several commands:
//! arguments (`…_args`), texts (`…_text`), and access to session files, the store and the proxy.
//!
//! Rules that all commands keep:
//!
//! * No file of an agent is changed without `--write`; with it, atomically and with a backup. Sessions that Secateur
//!   keeps itself are in a store of their own (`session`).
//! * Every report exists twice: for people, and with `--json` for programs.
//! * An error says what is wrong, where, and what would be accepted. It ends with exit code 2.
//! * Exit code 1 is a result: the provider would reject the request (`lint`, `context`), the request cannot be made to
//!   fit (`session context`), nothing was found (`recall --search`), something is broken (`doctor`). `run` ends with the
//!   exit code of the program that it ran.

mod agents;
mod assumed_window;
mod base_urls;
mod batch;
mod commands;
mod event_text;
mod http_get;
mod humanize;
mod import;
mod listener;
mod logs;
mod models;
mod next_request;
mod plan_text;
mod plan_zone;
mod profile_args;
mod progress;
mod savings;
mod session_file;
mod set_aside_notice;
mod settings_args;
mod store_args;
mod summariser_args;
mod table;
mod target_args;
mod terminal;
mod time_text;

use std::io::Write;
use std::process::{ExitCode, Termination};

use clap::{Parser, Subcommand};

// mimalloc asks the kernel for huge pages, which halves the time to fill the buffer of a large session.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Keep an LLM agent's conversation inside its model's window.
///
/// Pruning is not deletion: what is cut is marked or left out of a request; the text stays in the session.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Declares the commands and how each is run.
macro_rules! commands {
    ($($name:ident($arguments:ty),)*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($name($arguments),)*
        }

        impl Command {
            fn run(&self, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
                match self {
                    $(Self::$name(arguments) => arguments.run(out).map(Termination::report),)*
                }
            }
        }
    };
}

// In the order of `secateur --help`.
commands! {
    Serve(commands::serve::ServeArgs),
    Run(commands::run::RunArgs),
    Doctor(commands::doctor::DoctorArgs),
    Status(commands::status::StatusArgs),
    Demo(commands::demo::DemoArgs),
    Prune(commands::prune::PruneArgs),
    Explain(commands::explain::ExplainArgs),
    Inspect(commands::inspect::InspectArgs),
    Scan(commands::scan::ScanArgs),
    Report(commands::report::ReportArgs),
    Lab(commands::lab::LabArgs),
    Context(commands::context::ContextArgs),
    Convert(commands::convert::ConvertArgs),
    Lint(commands::lint::LintArgs),
    Profiles(commands::profiles::ProfilesArgs),
    Config(commands::config::ConfigArgs),
    Overflow(commands::overflow::OverflowArgs),
    Compact(commands::compact::CompactArgs),
    Session(commands::session::SessionArgs),
    Recall(commands::recall::RecallArgs),
    Mcp(commands::mcp::McpArgs),
    Store(commands::store::StoreCommandArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    // Not locked: `mcp` takes the lock for each message.
    let mut out = std::io::BufWriter::new(anstream::stdout());
    let result = cli.command.run(&mut out);
    let result = result.and_then(|code| out.flush().map(|()| code).map_err(Into::into));
    result.unwrap_or_else(|error: anyhow::Error| {
        // A reader such as `head` may close the pipe early. That is not an error.
        if is_broken_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        terminal::error(&error);
        ExitCode::from(2)
    })
}

/// Whether the reader of the output is gone. The JSON writer wraps that error in its own.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    let wrapped = error.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
    kind.or(wrapped) == Some(std::io::ErrorKind::BrokenPipe)
}
