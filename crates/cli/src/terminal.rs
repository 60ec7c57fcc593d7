//! Colours, and what is said beside the output.
//!
//! Everything goes through `anstream`, which takes the colours out where nobody would see them: in a pipe, in a file,
//! or if `NO_COLOR` is set.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const RED: Style = AnsiColor::Red.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();

/// Says what went wrong without stopping anything.
pub(crate) fn warn(warning: impl Display) {
    anstream::eprintln!("{YELLOW}warning:{YELLOW:#} {warning}");
}

/// Says what is worth knowing.
pub(crate) fn note(note: impl Display) {
    anstream::eprintln!("{BOLD}note:{BOLD:#} {note}");
}

/// Says why the command ends.
pub(crate) fn error(error: &anyhow::Error) {
    anstream::eprintln!("{RED}error:{RED:#} {error:#}");
}
