//! The headline: what was found, in words and four figures.
//!
//! It begins with the answer, and says at once how sure it is and on how much it stands.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::views::{OWN, View};
use super::words::{counted, escaped, fixed, listed, percent};
use crate::study::{ALL, Study, StudyRow};

/// The head of the page below its title.
pub(super) fn headline(study: &Study, views: &[View<'_>]) -> String {
    let Some(view) = views.first() else {
        return "<p class=\"lead\">No session was long enough to be replayed.</p>".to_owned();
    };
    let calls = view.cases.iter().map(|case| case.trace.calls.len()).sum();
    let agents = study.agents().len();
    let near = replay_accuracy(study);
    let mut html = String::new();
    let base = format!(
        "{} with {} of {}",
        counted(view.cases.len(), "recorded session"),
        counted(calls, "model call"),
        counted(agents, "agent")
    );
    let chosen = chosen(&view.rows);
    match chosen {
        Some(row) => {
            _ = write!(
                html,
                "<p class=\"lead\">On {base}, the policy <b class=\"own\">{}</b> would have cost \
                 <b>{} of what it costs not to prune</b> ({} to {}), with {} misses per 100 calls.</p>",
                escaped(&row.policy),
                percent(row.cost_pct, 0),
                fixed(row.cost_interval.0, 0),
                percent(row.cost_interval.1, 0),
                fixed(row.miss100, 1)
            );
        }
        None => _ = write!(html, "<p class=\"lead\">Replayed: {base}.</p>"),
    }
    html.push_str("<dl class=\"figures\">");
    if let Some(row) = chosen {
        let (low, high) = row.cost_interval;
        let interval = format!(
            "of no pruning; 95 of 100 draws of sessions give {} to {}",
            fixed(low, 0),
            percent(high, 0)
        );
        figure(
            &mut html,
            &format!("Cost with {}", escaped(&row.policy)),
            &percent(row.cost_pct, 1),
            &interval,
            true,
        );
        let edits =
            format!("per 100 calls, {} of them edits that would have failed", fixed(row.editmiss100, 2));
        figure(&mut html, "Misses", &fixed(row.miss100, 2), &edits, true);
    }
    let bound = format!(
        "of no pruning; nothing without a miss is below {}",
        percent(view.share(|case| case.bound), 1)
    );
    figure(&mut html, "Best in hindsight", &percent(view.share(|case| case.best_schedule), 1), &bound, false);
    let (all, each) = near;
    figure(&mut html, "Replay without pruning", &all, &each, false);
    html.push_str("</dl>");
    _ = write!(html, "<p class=\"terms\">{}</p>", terms(view));
    html
}

fn figure(html: &mut String, name: &str, value: &str, about: &str, is_own: bool) {
    let class = if is_own { " class=\"own\"" } else { "" };
    _ = write!(
        html,
        "<div><dt>{name}</dt><dd><strong{class}>{value}</strong><span>{about}</span></dd></div>"
    );
}

/// The row that the headline is about: the default policy, or the first of Secateur's own.
fn chosen(rows: &[StudyRow]) -> Option<&StudyRow> {
    ["balanced"].iter().chain(&OWN).find_map(|policy| rows.iter().find(|row| row.policy == **policy))
}

/// How near the replay comes to what was billed: for all, and for each agent.
fn replay_accuracy(study: &Study) -> (String, String) {
    let all = study.replay_accuracy();
    let share = |near: Option<f64>| near.map_or("unknown".to_owned(), |near| percent(near, 0));
    let whole = all.iter().find(|near| near.agent == ALL).and_then(|near| near.replayed_pct);
    let agents = all.iter().filter(|near| near.agent != ALL);
    let agents: Vec<String> = agents
        .map(|near| format!("<bdi>{}\u{a0}{}</bdi>", escaped(&near.agent), share(near.replayed_pct)))
        .collect();
    let each = if agents.len() > 1 { format!(": {}", agents.join(", ")) } else { String::new() };
    match whole {
        Some(whole) => (percent(whole, 0), format!("of what was billed for input{each}")),
        None => ("–".to_owned(), "no log says what was billed".to_owned()),
    }
}

/// By which prices the sessions were charged.
fn terms(view: &View<'_>) -> String {
    let mut sheets: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    for case in &view.cases {
        sheets.entry(&case.sheet.name).or_insert((&case.sheet.about, 0)).1 += 1;
    }
    let names: Vec<String> = sheets
        .iter()
        .map(|(name, (about, count))| {
            format!("<b title=\"{}\">{}</b> ({})", escaped(about), escaped(name), counted(*count, "session"))
        })
        .collect();
    let compactions: u32 = view.cases.iter().map(|case| case.none.compactions).sum();
    let compacted = match compactions {
        0 => String::new(),
        _ => format!(" Without pruning, full windows were compacted {compactions} times."),
    };
    format!(
        "Prices: {}. Costs are input, cached input, output and whatever has to be read again, added up over sessions.{compacted} \
         <a href=\"#limits\">What this cannot tell.</a>",
        listed(&names)
    )
}
