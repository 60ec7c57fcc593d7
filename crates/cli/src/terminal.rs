//! Colours, messages on standard error, and JSON output.
//!
//! Everything is printed through `anstream`, which removes colours in a pipe, in a file, or if `NO_COLOR` is set.

use std::fmt::Display;
use std::io::Write;

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use serde::Serialize;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const RED: Style = AnsiColor::Red.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();

pub(crate) fn warn(warning: impl Display) {
    anstream::eprintln!("{YELLOW}warning:{YELLOW:#} {warning}");
}

pub(crate) fn note(note: impl Display) {
    anstream::eprintln!("{BOLD}note:{BOLD:#} {note}");
}

/// Prints an error with its causes.
pub(crate) fn error(error: &anyhow::Error) {
    anstream::eprintln!("{RED}error:{RED:#} {error:#}");
}

/// Prints a value as one line of JSON.
pub(crate) fn print_json(out: &mut dyn Write, value: &impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)?;
    Ok(())
}
