//! A message as a session stores it: its facts, owned and serialisable.
//!
//! An [`Outline`] is made for planning, and readers hand it borrowed facts. A store keeps the same facts for years, one
//! row for each message. There is no text in them: the store keeps bodies apart and reads them only to send them.

use serde::{Deserialize, Serialize};

use crate::line_range::LineRange;
use crate::measure::Sizes;
use crate::outline::{MessageFacts, MessageIx, Outline, PartFacts, PartIx, PartKind, Role, ToolStatus};
use crate::plan::{Action, Reason};
use crate::tool_class::ToolClass;

/// The number of a message in its session: 1 is the oldest.
pub type Seq = u64;

/// The facts about one message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionMessage {
    /// Its id, unique in the session.
    pub id: String,
    /// Whose message it is.
    pub role: Role,
    /// The id of the message that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<i64>,
    /// Whether it is part of the conversation or was made by a compaction.
    #[serde(rename = "nature", skip_serializing_if = "MessageKind::is_plain")]
    pub kind: MessageKind,
    /// It is never cut or summarised.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Its parts, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<SessionPart>,
}

/// Whether a message is part of the conversation or was made by a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageKind {
    /// A message of the conversation.
    #[default]
    Plain,
    /// The message that asked for a summary.
    Marker,
    /// A summary.
    Summary,
    /// The message that resumes the work after a compaction.
    Resume,
}

impl MessageKind {
    fn is_plain(&self) -> bool {
        *self == MessageKind::Plain
    }
}

/// The facts about one part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionPart {
    /// What it is.
    pub kind: PartKind,
    /// How far the tool has come.
    #[serde(skip_serializing_if = "is_default")]
    pub status: ToolStatus,
    /// The tool's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The id that a call and its result share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The class of the tool.
    #[serde(skip_serializing_if = "is_default")]
    pub class: ToolClass,
    /// What the call is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Which lines of that file.
    #[serde(skip_serializing_if = "is_default")]
    pub lines: LineRange,
    /// The client inserted it; neither the user nor the model wrote it.
    #[serde(skip_serializing_if = "is_default")]
    pub injected: bool,
    /// It is a summary of what came before, which the session began with.
    #[serde(skip_serializing_if = "is_default")]
    pub summary: bool,
    /// The tool reported a failure.
    #[serde(skip_serializing_if = "is_default")]
    pub failed: bool,
    /// How large it is.
    pub sizes: Sizes,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A cut in a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCut {
    /// The index of the part in its message.
    pub part: u32,
    /// How it was cut.
    pub action: Action,
    /// What is left, in the scale of the plan that cut it.
    #[serde(default)]
    pub after: u64,
    /// The placeholder.
    pub placeholder: String,
    /// The handle in it, once it is stored: only the driver sees the text. Cuts of earlier versions have none, and a
    /// handle that follows from the text alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// Why; none for cuts from before reasons were stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The operation that made it.
    pub operation: u64,
    /// It was undone: the part is whole again, and no policy cuts it again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
    /// Who makes it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by: CutBy,
}

/// Who makes a cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutBy {
    /// Secateur, before the request is sent.
    #[default]
    Secateur,
    /// The provider, which is sent the whole part and asked to leave it out. This leaves signed thinking valid.
    Provider,
}

impl SessionCut {
    /// The cut of a part that is in effect: the newest that is not undone.
    pub fn in_effect(cuts: &[SessionCut], part: u32) -> Option<&SessionCut> {
        cuts.iter().rfind(|cut| cut.part == part && !cut.undone)
    }
}

impl SessionMessage {
    /// The facts about a message in an outline.
    pub fn of(outline: &Outline, message: MessageIx, id: &str) -> Self {
        let name = |name| outline.ids().text(name).map(str::to_owned);
        let part = |part: u32| {
            let part = PartIx(part);
            SessionPart {
                kind: outline.kind(part),
                status: outline.status(part),
                tool: outline.tool(part).map(str::to_owned),
                call: name(outline.call(part)),
                class: outline.class(part),
                subject: outline.subject(part).map(str::to_owned),
                lines: outline.lines(part),
                injected: outline.is_injected(part),
                summary: outline.is_summary_part(part),
                failed: outline.is_failure(part) && outline.status(part) != ToolStatus::Error,
                sizes: outline.sizes(part),
            }
        };
        Self {
            id: id.to_owned(),
            role: outline.role(message),
            parent: name(outline.parent(message)),
            time: outline.time(message),
            parts: outline.parts_of(message).map(part).collect(),
            ..Self::default()
        }
    }

    /// Whether the user wrote it: a turn begins with such a message.
    pub fn is_from_user(&self) -> bool {
        self.role == Role::User && self.kind == MessageKind::Plain
    }

    /// Whether every compaction keeps it verbatim: instructions and pinned messages. A tool call cannot stay without its
    /// result, so messages with either are never fixed.
    pub fn is_fixed(&self) -> bool {
        self.role == Role::System || self.pinned && !self.has_tool_parts()
    }

    /// Whether it has a tool call or a tool result, so that it cannot stand alone.
    pub fn has_tool_parts(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.kind, PartKind::Call | PartKind::Result))
    }

    /// The characters of all its parts.
    pub(super) fn units(&self) -> u64 {
        self.parts.iter().map(|part| part.sizes.units).fold(0, u64::saturating_add)
    }

    /// Adds the message to an outline.
    pub(super) fn push_to(&self, outline: &mut Outline) -> MessageIx {
        let message = outline.push_message(MessageFacts {
            role: self.role,
            id: Some(&self.id),
            parent: self.parent.as_deref(),
            summary: self.kind == MessageKind::Summary,
            finished: self.kind == MessageKind::Summary,
            marker: self.kind == MessageKind::Marker,
            time: self.time,
            ..MessageFacts::default()
        });
        for part in &self.parts {
            outline.push_part(PartFacts {
                kind: part.kind,
                status: part.status,
                tool: part.tool.as_deref(),
                call: part.call.as_deref(),
                injected: part.injected,
                summary: part.summary,
                failed: part.failed,
                class: part.class,
                subject: part.subject.as_deref(),
                lines: part.lines,
                sizes: part.sizes,
                ..PartFacts::default()
            });
        }
        message
    }
}
