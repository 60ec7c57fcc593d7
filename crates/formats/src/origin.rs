//! Where a session comes from: what a log says about itself beside what was said.

use serde::Serialize;

/// What a session says about itself. Nothing here is needed to plan; it names the session to a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The session's own id.
    pub session: Option<String>,
    /// The model that was used last.
    pub model: Option<String>,
    /// The version of the agent, or of its file format.
    pub version: Option<String>,
    /// The folder that the agent worked in.
    pub project: Option<String>,
    /// A title that somebody gave it.
    pub title: Option<String>,
}
