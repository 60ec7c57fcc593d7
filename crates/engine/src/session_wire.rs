//! The wire in which a session keeps its messages.
//!
//! A session is stored as it is sent: an appended message is the JSON of one element of a request's list, and the same
//! bytes are in every later request. So nothing is translated twice, and a provider's cache recognises what it has seen.
//! Only the few messages that a compaction makes are written here.

use std::collections::BTreeMap;
use std::ops::Range;

use secateur::session::{CutBy, SessionCut, SessionMessage};
use secateur::{Action, Measures, PartIx, PartKind, Role, recall_note};
use secateur_formats::json::set_member;
use secateur_formats::{Format, Rendering, Transcript, Wire, earlier_handle, read_as};

use crate::error::EngineError;

/// Messages larger than this are refused.
pub const LARGEST_MESSAGE: usize = 256 << 20;

/// The wire in which a session keeps its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionWire(pub(crate) Wire);

impl SessionWire {
    /// The member of a request that holds the list of messages.
    pub(crate) fn list(self) -> &'static str {
        self.0.spec().messages
    }

    /// A request with these messages and all that the frame holds.
    pub(crate) fn body<'m>(self, frame: &str, messages: impl Iterator<Item = &'m [u8]>) -> String {
        let mut list = String::from("[");
        for message in messages {
            if list.len() > 1 {
                list.push(',');
            }
            list.push_str(&String::from_utf8_lossy(message));
        }
        list.push(']');
        with_member(frame, self.list(), &list)
    }

    /// A request with one message and nothing else.
    pub(crate) fn alone(self, message: &str) -> String {
        ["{\"", self.list(), "\":[", message, "]}"].concat()
    }

    /// Reads a request.
    pub(crate) fn read<'b>(self, body: &'b str, measures: &Measures) -> Result<Transcript<'b>, EngineError> {
        read_as(body.as_bytes(), Format::Request(self.0), measures)
            .map_err(|source| EngineError::Unreadable { what: "a request".to_owned(), source: source.into() })
    }

    /// The facts about one message.
    pub(crate) fn entry(
        self,
        message: &str,
        id: &str,
        measures: &Measures,
    ) -> Result<SessionMessage, EngineError> {
        let body = self.alone(message);
        let transcript = self.read(&body, measures)?;
        let outline = &transcript.outline;
        let mut read = outline.messages().map(|message| SessionMessage::of(outline, message, id));
        let Some(SessionMessage { mut parts, role, .. }) = read.next() else {
            return Err(EngineError::InvalidMessage { id: id.to_owned(), wire: self.0 });
        };
        // A provider's message may be read as several; together they are one here.
        parts.extend(read.flat_map(|message| message.parts));
        Ok(SessionMessage { id: id.to_owned(), role, parts, ..SessionMessage::default() })
    }

    /// The indexes of the parts of one message whose text is one of these.
    pub(crate) fn find_texts(self, message: &str, texts: &[String]) -> Result<Vec<usize>, EngineError> {
        let body = self.alone(message);
        let transcript = self.read(&body, &Measures::default())?;
        let outline = &transcript.outline;
        let is_one = |part: &PartIx| {
            outline.kind(*part) == PartKind::Text
                && texts.iter().any(|text| *text == transcript.text_of(*part))
        };
        Ok(outline.parts().filter(is_one).map(|part| part.0 as usize).collect())
    }

    /// A message with these cuts made: of each part the newest that is not undone. What the provider cuts stays.
    pub(crate) fn cut(self, message: &str, cuts: &[SessionCut]) -> Result<String, EngineError> {
        let body = self.alone(message);
        let mut transcript = self.read(&body, &Measures::default())?;
        let own = cuts.iter().filter(|cut| !cut.undone && cut.by == CutBy::Secateur);
        let holding = own.map(|cut| (cut.part, cut));
        let holding: BTreeMap<u32, &SessionCut> = holding.collect();
        for cut in holding.values().filter(|cut| has_handle(cut)) {
            let part = PartIx(cut.part);
            let handle = cut.handle.clone().unwrap_or_else(|| earlier_handle(&transcript.original(part)));
            transcript.set_handle(part, handle);
        }
        let made = holding.into_values().map(rendering);
        let splice = transcript.apply(made, 0).map_err(|source| EngineError::Uncuttable { source })?;
        let cut = String::from_utf8_lossy(&splice.to_vec()).into_owned();
        let (start, end) = (self.alone("").len() - 2, 2);
        let inner = cut.get(start..cut.len().saturating_sub(end));
        Ok(inner.unwrap_or(message).to_owned())
    }

    /// A message with nothing but a text.
    pub(crate) fn say(self, role: Role, text: &str) -> String {
        self.0.spec().text_message(role, text)
    }
}

/// Whether the placeholder of a cut names a handle.
pub(crate) fn has_handle(cut: &SessionCut) -> bool {
    !recall_note(&cut.placeholder).is_empty()
}

fn rendering(cut: &SessionCut) -> Rendering<'_> {
    Rendering { part: PartIx(cut.part), action: cut.action, placeholder: &cut.placeholder }
}

/// A JSON object with a member set.
pub(crate) fn with_member(object: &str, name: &str, value: &str) -> String {
    let edit = set_member(object, 0..object.len(), name, value);
    let mut text = object.to_owned();
    text.replace_range(edit.range, &edit.text);
    text
}

/// The text of all parts of a transcript.
pub(crate) fn text(transcript: &Transcript<'_>) -> String {
    let parts = transcript.outline.parts();
    parts.map(|part| transcript.text_of(part)).collect::<Vec<_>>().join("\n")
}

/// A message of a request with cuts made in it: of each part the newest that is not undone. Every other byte stays, and
/// so does what the provider cuts.
///
/// ```
/// use secateur::{Action, session::{CutBy, SessionCut}};
/// use secateur_engine::cut_message;
/// use secateur_formats::Wire;
///
/// let message = r#"{"role":"tool","tool_call_id":"c1","content":"a long result"}"#;
/// let cut = SessionCut { part: 0, action: Action::Clear, after: 0, placeholder: "[cut]".into(), handle: None, reason: None, operation: 1, undone: false, by: CutBy::Secateur };
/// let shorter = cut_message(Wire::OpenAiChat, message, &[cut])?;
/// assert_eq!(shorter, r#"{"role":"tool","tool_call_id":"c1","content":"[cut]"}"#);
/// # Ok::<(), secateur_engine::EngineError>(())
/// ```
pub fn cut_message(wire: Wire, message: &str, cuts: &[SessionCut]) -> Result<String, EngineError> {
    SessionWire(wire).cut(message, cuts)
}

/// Where in a message of a request the content of the parts lies that these cuts replace, in order. The cuts change no
/// byte outside of it.
pub fn cut_parts(wire: Wire, message: &str, cuts: &[SessionCut]) -> Result<Vec<Range<usize>>, EngineError> {
    let wire = SessionWire(wire);
    let body = wire.alone(message);
    let transcript = wire.read(&body, &Measures::default())?;
    let ahead = wire.alone("").len() - 2;
    let start = body.as_ptr() as usize + ahead;
    let content = |cut: &SessionCut| {
        if cut.action == Action::DropThinking {
            let block = transcript.edits(rendering(cut), 0).ok()?.pop()?.range;
            return Some(block.start.checked_sub(ahead)?..block.end.checked_sub(ahead)?);
        }
        let content = transcript.content(PartIx(cut.part))?;
        let at = (content.as_ptr() as usize).checked_sub(start)?;
        Some(at..at + content.len())
    };
    let own = cuts.iter().filter(|cut| !cut.undone && cut.by == CutBy::Secateur);
    let mut parts: Vec<_> = own.filter_map(content).collect();
    parts.sort_unstable_by_key(|part| part.start);
    parts.dedup();
    Ok(parts)
}
