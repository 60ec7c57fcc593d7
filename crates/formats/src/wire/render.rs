//! Renders any session as a request of any wire.
//!
//! ```text
//! Transcript ──▶ conversation ──▶ body of one wire
//!                (turns, calls     (its names, places
//!                 with results)     and patterns)
//! ```
//!
//! A session may hold what no provider accepts: a call that was interrupted, a result whose call was compacted away,
//! two calls with one id, a log that begins in the middle. So a session is first made into a conversation in which
//! each call has exactly one result and the sides alternate; a wire then only has to write it down. The request is valid
//! by construction, not repaired afterwards.
//!
//! What a wire cannot hold is left out and listed as a [`Loss`]: signatures of another provider, items that only the
//! provider can read, media of a kind that it does not take.
//!
//! ```
//! use secateur::Measures;
//! use secateur_formats::{Format, RenderOptions, Wire, read_as, render};
//!
//! let chat = br#"{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]}"#;
//! let transcript = read_as(chat, Format::Request(Wire::OpenAiChat), &Measures::default())?;
//! let options = RenderOptions { max_tokens: Some(100), ..RenderOptions::new("a-model") };
//! let rendered = render(&transcript, Wire::Gemini, &options, &[]);
//! assert_eq!(
//!     rendered.body,
//!     concat!(
//!         r#"{"systemInstruction":{"parts":[{"text":"Be brief."}]},"#,
//!         r#""contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"maxOutputTokens":100}}"#
//!     )
//! );
//! assert!(rendered.losses.is_empty());
//! # Ok::<(), secateur_formats::ReadError>(())
//! ```

mod build;
pub(crate) mod conversation;
pub(crate) mod input;
mod labels;
pub(crate) mod media;

use secateur::{MARKER, PartIx, PartKind};
use serde::Serialize;

use crate::cut::Rendering;
use crate::transcript::Transcript;
use crate::wire_spec::Wire;

/// What a request has beside the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderOptions<'a> {
    /// The model. Google's is named in the path, not in the body.
    pub model: &'a str,
    /// The most tokens that the model may write. Anthropic demands a number, so there is one if this is none.
    pub max_tokens: Option<u64>,
    /// The text of a marker; a log keeps none.
    pub marker: &'a str,
    /// What becomes of thinking that the provider signed.
    pub thinking: SignedThinking,
}

impl<'a> RenderOptions<'a> {
    /// A request to this model with nothing special.
    pub const fn new(model: &'a str) -> Self {
        Self { model, max_tokens: None, marker: MARKER, thinking: SignedThinking::Sent }
    }
}

/// What becomes of thinking that the provider signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignedThinking {
    /// It is sent to the provider that made it.
    Sent,
    /// It is left out: the model takes it back only behind the very bytes that it was made behind.
    LeftOut,
}

/// A request body, and what is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The body.
    pub body: String,
    /// What the wire could not hold, in the order of the session.
    pub losses: Vec<Loss>,
    /// The texts in it that summarise what came before, where the session says so.
    pub summaries: Vec<String>,
}

/// Content that a wire could not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// The part that it was, or was in.
    pub part: PartIx,
    /// What that part is.
    pub kind: PartKind,
    /// How many bytes it takes in the source.
    pub bytes: u64,
    /// Why it was left out.
    pub why: &'static str,
}

/// Renders a session as a request. The transcript is taken as the context: what is no longer in it must be left out
/// beforehand, see [`Transcript::context`]. Cuts name parts of this transcript.
///
/// Anthropic and Google reject a request whose last message is the model's, so `(continue)` is added there.
pub fn render(
    transcript: &Transcript<'_>,
    wire: Wire,
    options: &RenderOptions<'_>,
    cuts: &[Rendering<'_>],
) -> Rendered {
    let build::Built { conversation, mut losses, summaries } =
        build::conversation(transcript, wire, options, cuts);
    let body = (wire.code().render)(&conversation, options, &mut losses);
    losses.sort_by_key(|loss| loss.part);
    Rendered { body, losses, summaries }
}

/// A JSON list of JSON elements. Each element is dropped as soon as it is in the list, so that a long message is not held
/// once per level of the request.
pub(crate) fn array(elements: Vec<String>) -> String {
    let length: usize = elements.iter().map(|element| element.len() + 1).sum();
    let mut list = String::with_capacity(length + 2);
    list.push('[');
    for element in elements {
        if list.len() > 1 {
            list.push(',');
        }
        list.push_str(&element);
    }
    list.push(']');
    list
}

/// Messages in which the sides alternate: what one side sends in a row is one message.
#[derive(Default)]
pub(crate) struct AlternatingMessages(Vec<(&'static str, Vec<String>)>);

impl AlternatingMessages {
    /// Adds a part of a message.
    pub(crate) fn push(&mut self, role: &'static str, part: String) {
        match self.0.last_mut() {
            Some((last, parts)) if *last == role => parts.push(part),
            _ => self.0.push((role, vec![part])),
        }
    }

    /// The messages as JSON, with this member for their parts. The last one is the user's: if it is not, or if there is
    /// none, one with this part is added.
    pub(crate) fn into_json(mut self, member: &str, last: String) -> String {
        if self.0.last().is_none_or(|(role, _)| *role != USER) {
            self.push(USER, last);
        }
        let messages = self.0.into_iter();
        array(
            messages
                .map(|(role, parts)| format!(r#"{{"role":"{role}","{member}":{}}}"#, array(parts)))
                .collect(),
        )
    }
}

/// The name of the user's role.
pub(crate) const USER: &str = "user";

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
