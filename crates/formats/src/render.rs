//! Any session as a request to any provider.
//!
//! ```text
//! Transcript ──▶ Conversation ──▶ body of one wire
//!                (turns, steps,    (its names, its places,
//!                 whole exchanges)  its patterns)
//! ```
//!
//! A session may hold what no provider accepts: a call that was interrupted, an answer whose call was compacted away,
//! two calls with one id, a log that begins in the middle. So a session is first made into a conversation in which
//! each call has exactly one answer and each side speaks in its turn; a wire then only has to spell it. The outcome
//! is valid by construction rather than repaired afterwards.
//!
//! What a wire cannot hold is left out and named as a [`Loss`]: signatures of another provider, items that only the
//! provider can read, media of a kind that it does not take. Nothing disappears in silence.
//!
//! ```
//! use secateur::Measures;
//! use secateur_formats::{Format, RenderOptions, Wire, read_as, render};
//!
//! let chat = br#"{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]}"#;
//! let transcript = read_as(chat, Format::Request(Wire::OpenAiChat), &Measures::default())?;
//! let options = RenderOptions { model: "a-model", max_tokens: Some(100) };
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

mod anthropic;
mod build;
mod conversation;
mod gemini;
mod input;
mod labels;
mod media;
mod openai_chat;
mod openai_responses;

use secateur::{PartIx, PartKind};
use serde::Serialize;

use crate::cut::Rendering;
use crate::transcript::Transcript;
use crate::wire::Wire;

/// What a request says beside the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderOptions<'a> {
    /// The model. Google's is named in the path, not in the body.
    pub model: &'a str,
    /// The most tokens that the model may write. Anthropic demands a number, so there is one if this is none.
    pub max_tokens: Option<u64>,
}

/// A request body, and what is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The body.
    pub body: String,
    /// What the wire could not hold, in the order of the session.
    pub losses: Vec<Loss>,
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
/// A request ends with something to answer: Anthropic and Google refuse one whose last word is the model's, so there
/// `(continue)` is put behind it.
pub fn render(
    transcript: &Transcript<'_>,
    wire: Wire,
    options: &RenderOptions<'_>,
    cuts: &[Rendering<'_>],
) -> Rendered {
    let (conversation, mut losses) = build::conversation(transcript, wire, cuts);
    let body = match wire {
        Wire::Anthropic => anthropic::body(&conversation, options, &mut losses),
        Wire::OpenAiChat => openai_chat::body(&conversation, options, &mut losses),
        Wire::OpenAiResponses => openai_responses::body(&conversation, options, &mut losses),
        Wire::Gemini => gemini::body(&conversation, options, &mut losses),
    };
    losses.sort_by_key(|loss| loss.part);
    Rendered { body, losses }
}

/// A list in JSON of elements that are JSON. Each is let go as soon as it is in the list: a message may be as long as
/// all others together, and nobody should hold it once per level of the request.
fn array(elements: Vec<String>) -> String {
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

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
