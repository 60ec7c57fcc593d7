//! Results as a page of a document takes them.

use std::fmt;
use std::time::Duration;

use crate::target::Target;

/// Rows of results, one column for each way.
pub(crate) struct Table {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(targets: &[Target]) -> Self {
        Self { names: targets.iter().map(|target| target.name.clone()).collect(), rows: Vec::new() }
    }

    /// Adds a row: a cell for each way, and what is said about it.
    pub(crate) fn row(&mut self, what: String, cells: Vec<String>, goal: String) {
        eprintln!("{what}: {} {goal}", cells.join(" | "));
        let mut row = vec![what];
        row.extend(cells);
        row.push(goal);
        self.rows.push(row);
    }

    /// Where a way's results are.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name)
    }

    /// The results of Secateur's own.
    pub(crate) fn ours(&self) -> usize {
        self.place("secateur").expect("secateur is measured")
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| what | {} | goal |", self.names.join(" | "))?;
        writeln!(f, "|---|{}---|", "---|".repeat(self.names.len()))?;
        self.rows.iter().try_for_each(|row| writeln!(f, "| {} |", row.join(" | ")))
    }
}

/// The time below which this share of all lies.
pub(crate) fn quantile(times: &[Duration], share: f64) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    let at = (times.len() as f64 * share) as usize;
    times.get(at.min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}

/// A time, as long as it needs to be.
pub(crate) fn milliseconds(time: f64) -> String {
    let decimals = if time.abs() < 1.0 {
        3
    } else if time.abs() < 100.0 {
        2
    } else {
        0
    };
    format!("{time:.decimals$} ms")
}

/// Whether something is at most so much.
pub(crate) fn at_most(value: f64, goal: f64, unit: &str) -> String {
    let met = if value <= goal { "met".to_owned() } else { format!("missed, {:.2} times", value / goal) };
    format!("≤ {goal} {unit}: {met}")
}

/// Whether something is at least so much.
pub(crate) fn at_least(value: f64, goal: f64, unit: &str) -> String {
    let met = if value >= goal { "met" } else { "missed" };
    format!("≥ {goal} {unit}: {met}, {value:.2}")
}
