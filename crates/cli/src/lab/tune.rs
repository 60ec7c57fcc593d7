//! `secateur lab tune`: parameters that fit one's own sessions, if that can be shown.
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;

/// Search the presets' parameters on one's own sessions and write them as a profile.
#[derive(Debug, Args)]
pub(crate) struct Tune {}

impl Tune {
    pub(super) fn run(&self, _out: &mut dyn Write) -> Result<ExitCode> {
        bail!("not yet")
    }
}
