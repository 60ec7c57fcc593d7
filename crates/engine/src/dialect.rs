//! The form in which a session keeps its messages: that of one provider's requests.
//!
//! A session is kept as it is sent. Whoever appends a message hands in the JSON that would stand in the list of the
//! request, and gets the same bytes back in every later request, so that nothing is translated twice and a provider's
//! cache finds what it knows. Only the few messages that a compaction makes are written here.

use std::collections::BTreeMap;
use std::ops::Range;

use secateur::session::{SessionCut, SessionMessage};
use secateur::{Measures, PartIx, Role};
use secateur_formats::json::{encode, set_member};
use secateur_formats::{Format, Rendering, Transcript, Wire, read_as};

use crate::error::EngineError;

/// Messages larger than this are refused.
pub const LARGEST_MESSAGE: usize = 256 << 20;

/// The form of a session's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect(pub(crate) Wire);

impl Dialect {
    /// The member of a request that holds the list of messages.
    pub(crate) fn list(self) -> &'static str {
        match self.0 {
            Wire::Anthropic | Wire::OpenAiChat => "messages",
            Wire::OpenAiResponses => "input",
            Wire::Gemini => "contents",
        }
    }

    /// A request with these messages and whatever the frame holds beside them.
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
        let mut entry: Option<SessionMessage> = None;
        for ix in outline.messages() {
            let SessionMessage { parts, role, .. } = match &mut entry {
                // A provider's message may be several of ours; together they are one here.
                Some(entry) => {
                    entry.parts.extend(SessionMessage::of(outline, ix, id).parts);
                    continue;
                }
                None => SessionMessage::of(outline, ix, id),
            };
            entry = Some(SessionMessage { id: id.to_owned(), role, parts, ..SessionMessage::default() });
        }
        entry.ok_or_else(|| EngineError::InvalidMessage { id: id.to_owned(), wire: self.0 })
    }

    /// A message with these cuts made: of each part the newest that is not undone.
    pub(crate) fn cut(self, message: &str, cuts: &[SessionCut]) -> Result<String, EngineError> {
        let body = self.alone(message);
        let transcript = self.read(&body, &Measures::default())?;
        let holding = cuts.iter().filter(|cut| !cut.undone).map(|cut| (cut.part, cut));
        let holding: BTreeMap<u32, &SessionCut> = holding.collect();
        let made = holding.into_values().map(|cut| Rendering {
            part: PartIx(cut.part),
            action: cut.action,
            placeholder: &cut.placeholder,
        });
        let splice = transcript.apply(made, 0).map_err(|source| EngineError::Uncuttable { source })?;
        let cut = String::from_utf8_lossy(&splice.to_vec()).into_owned();
        let (start, end) = (self.alone("").len() - 2, 2);
        let inner = cut.get(start..cut.len().saturating_sub(end));
        Ok(inner.unwrap_or(message).to_owned())
    }

    /// Where in a message the content of parts lies in which cuts are made, in order.
    pub(crate) fn cut_parts(
        self,
        message: &str,
        cuts: &[SessionCut],
    ) -> Result<Vec<Range<usize>>, EngineError> {
        let body = self.alone(message);
        let transcript = self.read(&body, &Measures::default())?;
        let start = body.as_ptr() as usize + self.alone("").len() - 2;
        let content = |cut: &SessionCut| {
            let content = transcript.content(PartIx(cut.part))?;
            let at = (content.as_ptr() as usize).checked_sub(start)?;
            Some(at..at + content.len())
        };
        let mut parts: Vec<_> = cuts.iter().filter(|cut| !cut.undone).filter_map(content).collect();
        parts.sort_unstable_by_key(|part| part.start);
        parts.dedup();
        Ok(parts)
    }

    /// A message that says a text, and its facts.
    pub(crate) fn say(self, role: Role, text: &str) -> String {
        let literal = encode(text);
        match (self.0, role) {
            (Wire::Gemini, Role::Assistant) => {
                format!(r#"{{"role":"model","parts":[{{"text":{literal}}}]}}"#)
            }
            (Wire::Gemini, _) => format!(r#"{{"role":"user","parts":[{{"text":{literal}}}]}}"#),
            (_, Role::Assistant) => format!(r#"{{"role":"assistant","content":{literal}}}"#),
            (_, _) => format!(r#"{{"role":"user","content":{literal}}}"#),
        }
    }
}

/// A JSON object with a member set.
pub(crate) fn with_member(object: &str, name: &str, value: &str) -> String {
    let edit = set_member(object, 0..object.len(), name, value);
    let mut text = object.to_owned();
    text.replace_range(edit.range, &edit.text);
    text
}

/// The characters with which a frame counts.
pub(crate) fn frame_chars(frame: &str) -> u64 {
    frame.chars().count() as u64
}

/// The text of all parts of a message.
pub(crate) fn text(transcript: &Transcript<'_>, part: Option<u32>) -> Vec<String> {
    let parts = transcript.outline.parts();
    let wanted = parts.filter(|ix| part.is_none_or(|part| part == ix.0));
    wanted.map(|ix| transcript.text_of(ix).into_owned()).collect()
}

/// A message of a request with cuts made in it: of each part the newest that is not undone. Every other byte stays.
///
/// ```
/// use secateur::{Action, session::SessionCut};
/// use secateur_engine::cut_message;
/// use secateur_formats::Wire;
///
/// let message = r#"{"role":"tool","tool_call_id":"c1","content":"a long result"}"#;
/// let cut = SessionCut { part: 0, action: Action::Clear, after: 0, placeholder: "[cut]".into(), reason: None, operation: 1, undone: false };
/// let shorter = cut_message(Wire::OpenAiChat, message, &[cut])?;
/// assert_eq!(shorter, r#"{"role":"tool","tool_call_id":"c1","content":"[cut]"}"#);
/// # Ok::<(), secateur_engine::EngineError>(())
/// ```
pub fn cut_message(wire: Wire, message: &str, cuts: &[SessionCut]) -> Result<String, EngineError> {
    Dialect(wire).cut(message, cuts)
}

/// Where in a message of a request the content of the parts lies that these cuts are made in, in order. Outside of it no
/// byte is another one in the message with the cuts.
pub fn cut_parts(wire: Wire, message: &str, cuts: &[SessionCut]) -> Result<Vec<Range<usize>>, EngineError> {
    Dialect(wire).cut_parts(message, cuts)
}
