//! Where a session comes from: what a log says about itself.

use serde::Serialize;

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
