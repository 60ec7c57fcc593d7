//! The table: all numbers of a view, for those who want to check or to sort.

use std::fmt::Write;

use super::views::{View, is_own};
use super::words::{counted, escaped, fixed};
use crate::study::StudyRow;

/// A column: its heading, what it means, its number and how many places that has.
struct Column {
    name: &'static str,
    about: &'static str,
    number: fn(&StudyRow) -> f64,
    places: usize,
}

const COLUMNS: [Column; 10] = [
    Column {
        name: "Cost %",
        about: "The whole bill, in percent of what it is without pruning",
        number: |row| row.cost_pct,
        places: 1,
    },
    Column {
        name: "from",
        about: "Where the 95 % interval of the cost begins",
        number: |row| row.cost_interval.0,
        places: 1,
    },
    Column {
        name: "to",
        about: "Where the 95 % interval of the cost ends",
        number: |row| row.cost_interval.1,
        places: 1,
    },
    Column {
        name: "Tokens %",
        about: "Input tokens of all requests, in percent of what they are without pruning",
        number: |row| row.tokens_pct,
        places: 1,
    },
    Column {
        name: "Misses",
        about: "Actions that did not find what they needed, per 100 calls",
        number: |row| row.miss100,
        places: 2,
    },
    Column {
        name: "of edits",
        about: "Those of them that were edits, per 100 calls",
        number: |row| row.editmiss100,
        places: 2,
    },
    Column {
        name: "Flushes",
        about: "Warm caches that a cut made useless, per 100 calls",
        number: |row| row.breaks100,
        places: 1,
    },
    Column {
        name: "Unseen",
        about: "Results that were cut or shortened before any call had seen them, per 100 calls",
        number: |row| row.unseen100,
        places: 1,
    },
    Column {
        name: "over best %",
        about: "How much dearer than the best schedule in hindsight",
        number: |row| row.pct_over_optimum,
        places: 1,
    },
    Column {
        name: "over bound %",
        about: "How much dearer than the lower bound",
        number: |row| row.pct_over_bound,
        places: 1,
    },
];

const COMPACTIONS: Column = Column {
    name: "Compactions",
    about: "How often sessions were compacted",
    number: |row| row.compactions as f64,
    places: 0,
};

/// The table of a view.
pub(super) fn table(view: &View<'_>) -> String {
    let whose = view.whose();
    let is_compacted = view.rows.iter().any(|row| row.compactions > 0);
    let columns: Vec<&Column> = COLUMNS.iter().chain(is_compacted.then_some(&COMPACTIONS)).collect();
    let calls = view.cases.iter().map(|case| case.trace.calls.len()).sum();
    let mut html = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"All numbers of {whose}\">\
         <table class=\"rows\"><caption>{}: {}, {}</caption><thead><tr><th scope=\"col\">Policy</th>",
        if whose == "all agents" { "All agents" } else { &whose },
        counted(view.cases.len(), "session"),
        counted(calls, "call")
    );
    for column in &columns {
        _ = write!(
            html,
            "<th scope=\"col\" class=\"number\" title=\"{}\">{}</th>",
            column.about, column.name
        );
    }
    html.push_str("</tr></thead><tbody>");
    for row in &view.rows {
        let class = if is_own(&row.policy) { " class=\"own\"" } else { "" };
        _ = write!(html, "<tr{class}><th scope=\"row\">{}</th>", escaped(&row.policy));
        for column in &columns {
            _ = write!(html, "<td class=\"number\">{}</td>", fixed((column.number)(row), column.places));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}
