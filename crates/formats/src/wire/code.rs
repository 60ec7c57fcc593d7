//! The code of a wire: one function for each thing that wires do differently.

use serde_json::Value;

use super::lint::body::{BodyNode, LintBody};
use super::lint::report::FindingsReport;
use super::render::conversation::NormalConversation;
use super::render::{Loss, RenderOptions};
use super::request::TextRequest;
use super::response::{EventSink, ResponseDocument};
use crate::spec::FormatSpec;

/// The code of one wire.
pub(crate) struct WireCode {
    /// Reads and cuts a request.
    pub(crate) request: FormatSpec,
    /// Writes a request for a text.
    pub(crate) write_text_request: fn(&TextRequest<'_>) -> Value,
    /// Reports what the provider would reject in a request.
    pub(crate) check: fn(&LintBody<'_>, BodyNode<'_>, &mut FindingsReport),
    /// Writes a conversation as a request.
    pub(crate) render: fn(&NormalConversation<'_>, &RenderOptions<'_>, &mut Vec<Loss>) -> String,
    /// Reads a document of a response. An error says why it cannot be read.
    pub(crate) read_response: fn(ResponseDocument<'_>, &mut EventSink<'_>) -> Result<(), String>,
}
