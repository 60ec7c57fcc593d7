//! Views: all agents together, and each for itself.
//!
//! Agents differ more than policies do, so every picture is there for each of them. All views stand in the page; which
//! one is seen is decided by a row of radio buttons and the style alone, so that it works without a script.

use std::fmt::Write;

use super::words::escaped;
use crate::replayed_session::ReplayedSession;
use crate::study::{ALL, Study, StudyRow};

/// Secateur's own policies; all others are what somebody else does, or a rule of thumb.
pub(super) const OWN: [&str; 3] = ["careful", "balanced", "frugal"];

/// The policy that never cuts.
pub(super) const NONE: &str = "none";

/// What is seen of a study at once.
pub(super) struct View<'s> {
    /// The agent, or [`ALL`].
    pub(super) agent: &'s str,
    /// Its sessions.
    pub(super) cases: Vec<&'s ReplayedSession>,
    /// One row for each policy, in their order.
    pub(super) rows: Vec<StudyRow>,
}

impl<'s> View<'s> {
    /// The views of a study: all agents first, if there are several.
    pub(super) fn of(study: &'s Study) -> Vec<View<'s>> {
        let mut rows = study.rows();
        let mut agents = study.agents();
        if agents.len() > 1 {
            agents.insert(0, ALL);
        }
        let view = |agent: &'s str| View {
            agent,
            cases: study.of_agent(agent).collect(),
            rows: rows.extract_if(.., |row| row.agent == agent).collect(),
        };
        agents.into_iter().map(view).collect()
    }

    /// A cost as a share of what the sessions cost without pruning, in percent.
    pub(super) fn share(&self, cost: fn(&ReplayedSession) -> f64) -> f64 {
        let none: f64 = self.cases.iter().map(|case| case.none.cost).sum();
        let cost: f64 = self.cases.iter().map(|case| cost(case)).sum();
        100.0 * cost / none
    }

    /// Whose sessions these are, in words.
    pub(super) fn whose(&self) -> String {
        if self.agent == ALL { "all agents".to_owned() } else { escaped(self.agent) }
    }
}

/// Whether a policy is one of Secateur's own.
pub(super) fn is_own(policy: &str) -> bool {
    OWN.contains(&policy)
}

/// Something for every view, of which one is seen.
pub(super) fn each(views: &[View<'_>], show: fn(&View<'_>) -> String) -> String {
    let mut html = String::new();
    for (index, view) in views.iter().enumerate() {
        _ = writeln!(html, "<div class=\"of of-{index}\">{}</div>", show(view));
    }
    html
}

/// The radio buttons that choose a view; nothing if there is no choice.
pub(super) fn switch(views: &[View<'_>]) -> String {
    if views.len() < 2 {
        return String::new();
    }
    let mut html = "<fieldset class=\"switch\"><legend>Agent</legend>".to_owned();
    for (index, view) in views.iter().enumerate() {
        let checked = if index == 0 { " checked" } else { "" };
        _ = write!(
            html,
            "<label><input type=\"radio\" name=\"agent\" id=\"agent-{index}\" autocomplete=\"off\"{checked}>\
             <span>{} <small>{}</small></span></label>",
            escaped(view.agent),
            view.cases.len()
        );
    }
    html.push_str("</fieldset>");
    html
}

/// The style that shows the chosen view only.
pub(super) fn rules(views: &[View<'_>]) -> String {
    let mut css = ".of:not(.of-0) { display: none; }\n".to_owned();
    for index in 1..views.len() {
        _ = writeln!(
            css,
            "body:has(#agent-{index}:checked) .of-0 {{ display: none; }}\n\
             body:has(#agent-{index}:checked) .of-{index} {{ display: block; }}"
        );
    }
    css
}
