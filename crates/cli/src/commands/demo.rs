//! `secateur demo`: a long made-up session that Secateur keeps inside a model's window.

mod lifecycle;
mod sample_session;
mod systems;

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::store_args;
use crate::terminal::BOLD;
use sample_session::SampleSession;

/// Watch a made-up agent session outgrow its model's window, and Secateur keep it inside.
///
/// It runs in memory, needs no network and no model, and prints the same every time.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Show instead what each founding system would do with the session: zones, cuts, overflow and pivot.
    #[arg(long)]
    systems: bool,
    /// Save the session as an OpenCode export, to try the other commands on it.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

/// What to try next.
const COMMANDS: &str = "  \
  secateur scan                   what the sessions on this machine consist of
  secateur prune FILE             what would be cut; changes nothing
  secateur compact FILE           the same session with a summary of its older history
  secateur session new            a session that Secateur keeps; --from FILE starts with a log";

impl DemoArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        let session = SampleSession::generate();
        if let Some(file) = &self.save {
            let mut new =
                File::create_new(file).with_context(|| format!("cannot create {}", file.display()))?;
            let text = session.opencode().to_string();
            new.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", file.display()))?;
        }
        if self.systems {
            systems::show(out, &session)?;
        } else {
            store_args::block_on(lifecycle::show(out, &session))?;
        }
        writeln!(out, "{BOLD}Your own sessions{BOLD:#}\n\n{COMMANDS}")?;
        if !self.systems {
            writeln!(out, "  secateur demo --systems         what other agents would do with this session")?;
        }
        Ok(())
    }
}
