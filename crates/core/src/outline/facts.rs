//! The facts that readers hand in about messages, parts and model calls.

use serde::{Deserialize, Serialize};

use crate::line_range::LineRange;
use crate::measure::Sizes;
use crate::tool_class::ToolClass;
use crate::usage::Usage;

/// The index of a message in the outline: 0 is the oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageIx(pub u32);

/// The index of a part in the outline, counted over all messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PartIx(pub u32);

/// Whose message it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The user, or a program in the user's place.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// Instructions.
    System,
    /// Anything else.
    #[default]
    Other,
}

/// What a part is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartKind {
    /// Text of a user or of the model.
    Text,
    /// The model's visible thinking.
    Reasoning,
    /// Opaque data that belongs to thinking: a signature, or redacted thinking.
    Signature,
    /// A tool call with its input.
    Call,
    /// A tool result.
    Result,
    /// An image or another file.
    Media,
    /// The marker of a compaction.
    Compaction,
    /// Anything else; assumed not to be sent.
    #[default]
    Other,
}

/// The status of a tool call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolStatus {
    /// Not a tool part, or not known.
    #[default]
    None,
    /// Not started.
    Pending,
    /// Started, not finished.
    Running,
    /// Finished with an output.
    Completed,
    /// Finished with an error.
    Error,
}

/// Facts about a message, as a reader hands them in.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageFacts<'a> {
    /// Whose message it is.
    pub role: Role,
    /// The source's own id.
    pub id: Option<&'a str>,
    /// The id of the message that it replies to.
    pub parent: Option<&'a str>,
    /// It is a summary of what came before.
    pub summary: bool,
    /// The model finished it.
    pub finished: bool,
    /// It ended in an error.
    pub failed: bool,
    /// It is the marker of a compaction.
    pub marker: bool,
    /// With the marker: the id of the message from which history stays verbatim.
    pub tail: Option<&'a str>,
    /// When it was made, in milliseconds since 1970, if known.
    pub time: Option<i64>,
    /// For a summary that was written late: the message before which it stands in the context.
    pub place: Option<MessageIx>,
}

/// Facts about a part, as a reader hands them in.
#[derive(Clone, Copy, Debug, Default)]
pub struct PartFacts<'a> {
    /// What it is.
    pub kind: PartKind,
    /// The status of the tool call.
    pub status: ToolStatus,
    /// The tool's name.
    pub tool: Option<&'a str>,
    /// The id that a call and its result share.
    pub call: Option<&'a str>,
    /// The source says that this part was cut before.
    pub cut: bool,
    /// The text is exactly the placeholder of [`Measures::placeholder`](crate::Measures::placeholder).
    pub placeholder: bool,
    /// The client inserted it: a reminder, the text of a mentioned file.
    pub injected: bool,
    /// It is a summary of what came before, in a message that may hold more.
    pub summary: bool,
    /// The tool finished but reported a failure: a command with an exit code other than 0.
    pub failed: bool,
    /// The class of the tool.
    pub class: ToolClass,
    /// What the call is about: a normalised path, or a command.
    pub subject: Option<&'a str>,
    /// Which lines of that file.
    pub lines: LineRange,
    /// How large it is.
    pub sizes: Sizes,
}

/// One model call: when, and the reported usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelCall {
    /// The message that the call produced. What came before it was the context.
    pub message: MessageIx,
    /// When it was made, in milliseconds since 1970, if known.
    pub time: Option<i64>,
    /// What the provider reported.
    pub usage: Usage,
}
