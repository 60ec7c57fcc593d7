//! The command `secateur`: the kernel and the formats at a prompt.
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
//! $ secateur recall kbqzwmta
//! ```
//!
//! One file per subcommand, each a thin shell: it reads what the user named, asks the libraries, and prints what
//! they say. Nothing is decided here. Only this crate and the sources below it read files, the clock and the
//! environment, so that everything else can be tested without them.
//!
//! Three habits run through all commands. No file of an agent is changed unless `--write` says so, and then atomically
//! and with a backup; sessions that Secateur keeps itself are behind `session`, in a store of their own. Every report
//! exists twice, for people and with `--json` for programs. An error says what, where and what would be accepted, and
//! ends with exit code 2. Exit code 1 is an answer: the provider would reject the request (`lint`, `context`), nothing
//! more can be left out of it (`session context`), nothing was found (`recall --search`), something is broken
//! (`doctor`). `run` ends with the code of the program that it ran.

mod addresses;
mod agents;
mod ask;
mod chosen;
mod compact;
mod config;
mod context;
mod convert;
mod demo;
mod descriptors;
mod doctor;
mod explain;
mod figures;
mod import;
mod inspect;
mod keeper;
mod kept;
mod lab;
mod lint;
mod logs;
mod many;
mod mcp;
mod moment;
mod neighbour;
mod next;
mod overflow;
mod paint;
mod profiles;
mod progress;
mod prune;
mod recall;
mod report;
mod run;
mod savings;
mod scan;
mod serve;
mod session;
mod status;
mod table;
mod target;
mod telling;
mod wording;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

// It asks the kernel for huge pages, which halves the time to fill the buffer of a large session.
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

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    Run(run::Run),
    Doctor(doctor::Doctor),
    Status(status::Status),
    Demo(demo::Demo),
    Prune(prune::Prune),
    Explain(explain::Explain),
    Inspect(inspect::Inspect),
    Scan(scan::Scan),
    Report(report::ReportArgs),
    Lab(lab::LabArgs),
    Context(context::Context),
    Convert(convert::Convert),
    Lint(lint::Lint),
    Profiles(profiles::List),
    Config(config::Show),
    Overflow(overflow::Check),
    Compact(compact::Compact),
    Session(kept::Kept),
    Recall(recall::Recall),
    Mcp(mcp::Mcp),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    // Without its lock, which `mcp` takes for each answer.
    let mut out = std::io::BufWriter::new(anstream::stdout());
    let outcome = match &cli.command {
        Command::Serve(command) => command.run(&mut out),
        Command::Run(command) => command.run(),
        Command::Doctor(command) => command.run(&mut out),
        Command::Status(command) => command.run(&mut out),
        Command::Demo(command) => command.run(&mut out),
        Command::Prune(command) => command.run(&mut out),
        Command::Explain(command) => command.run(&mut out),
        Command::Inspect(command) => command.run(&mut out),
        Command::Scan(command) => command.run(&mut out),
        Command::Report(command) => command.run(&mut out),
        Command::Lab(command) => command.run(&mut out),
        Command::Context(command) => command.run(&mut out),
        Command::Convert(command) => command.run(&mut out),
        Command::Lint(command) => command.run(&mut out),
        Command::Profiles(command) => command.run(&mut out),
        Command::Config(command) => command.run(&mut out),
        Command::Overflow(command) => command.run(&mut out),
        Command::Compact(command) => command.run(&mut out),
        Command::Session(command) => command.run(&mut out),
        Command::Recall(command) => command.run(&mut out),
        Command::Mcp(command) => command.run(&mut out),
    };
    let outcome = outcome.and_then(|code| out.flush().map(|()| code).map_err(Into::into));
    outcome.unwrap_or_else(|error: anyhow::Error| {
        // A reader that went away, as `head` does, has seen what it wanted.
        if is_closed(&error) {
            return ExitCode::SUCCESS;
        }
        paint::error(&error);
        ExitCode::from(2)
    })
}

/// Whether nobody reads the output any more; JSON is written by a library that wraps that error in its own.
fn is_closed(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    let wrapped = error.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
    kind.or(wrapped) == Some(std::io::ErrorKind::BrokenPipe)
}
