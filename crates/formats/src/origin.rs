//! Where a session comes from: what a log says about itself.

use std::borrow::Cow;

use serde::Serialize;

use crate::json::{OptionalRaw, Raw};

/// What a session says about itself. It describes the session to people and is not needed for planning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The session's own id.
    pub session: Option<String>,
    /// The model that was used last.
    pub model: Option<String>,
    /// The version of the agent, or of its file format.
    pub version: Option<String>,
    /// The folder in which the agent worked.
    pub project: Option<String>,
    /// Its title.
    pub title: Option<String>,
}

/// Takes a member's text for a fact that is not known yet.
pub(crate) fn learn(fact: &mut Option<String>, member: Option<Raw<'_>>) {
    if fact.is_none() {
        *fact = member.owned();
    }
}

/// Takes a member's text for a fact that the newest record tells, if it has the member.
pub(crate) fn update(fact: &mut Option<String>, member: Option<Raw<'_>>) {
    let text = member.string();
    if text.is_some() && fact.as_deref() != text.as_deref() {
        *fact = text.map(Cow::into_owned);
    }
}
