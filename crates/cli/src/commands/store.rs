//! `secateur store`: checks a store, and brings out what can be read of a damaged one.

mod recover;
mod verify;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Check the store of sessions, or recover what can be read of a damaged one.
#[derive(Debug, Args)]
pub(crate) struct StoreCommandArgs {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    Verify(verify::VerifyArgs),
    Recover(recover::RecoverArgs),
}

impl StoreCommandArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        match &self.command {
            StoreCommand::Verify(args) => args.run(out),
            StoreCommand::Recover(args) => args.run(out),
        }
    }
}
