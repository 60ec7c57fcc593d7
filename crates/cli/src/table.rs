//! Tables in the terminal: a line of headings, columns separated by spaces, no borders.

use std::fmt;

use crate::humanize::printable;
use crate::terminal::BOLD;
use comfy_table::{CellAlignment, ContentArrangement, presets};

/// A table that prints itself.
pub(crate) struct Table {
    inner: comfy_table::Table,
}

impl Table {
    pub(crate) fn new<const N: usize>(headings: [&str; N]) -> Self {
        let mut inner = comfy_table::Table::new();
        inner.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        if inner.width().is_none_or(|width| width < 40) {
            inner.set_width(110);
        }
        inner.set_header(headings);
        Self { inner }
    }

    /// Aligns these columns to the right, for numbers.
    pub(crate) fn right<const N: usize>(mut self, columns: [usize; N]) -> Self {
        for column in columns {
            if let Some(column) = self.inner.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        self
    }

    /// Adds a row. Texts from a session may hold anything, so control characters are removed.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.inner.add_row(cells.map(|cell| printable(&cell)));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, line) in self.inner.lines().enumerate() {
            match index {
                0 => writeln!(f, "{BOLD}{}{BOLD:#}", line.trim_end())?,
                _ => writeln!(f, "{}", line.trim_end())?,
            }
        }
        Ok(())
    }
}
