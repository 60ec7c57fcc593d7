//! A request that exists already becomes a session.
//!
//! A request is two things in one: the conversation, and what is sent beside it. A session keeps them apart, because
//! the conversation grows and shrinks and the rest stays. So a request is split at its list, and each of its elements
//! is appended byte for byte, as if the application had said them one after the other.

use secateur_formats::Wire;
use secateur_formats::json::{self, Each, Fields, Object, Raw, encode};
use serde::de::{DeserializeSeed, MapAccess};

use crate::dialect::{Dialect, with_member};
use crate::engine::{DEFAULT_PROFILE, Engine, Opening};
use crate::error::EngineError;
use crate::message::NewMessage;
use crate::session::Session;

/// A request taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Everything but the messages, as a JSON object.
    pub frame: String,
    /// The messages, each as it stood in the list.
    pub messages: Vec<String>,
}

impl Split {
    /// Takes a request apart. One without a list is refused, and so is a list with anything but objects in it.
    ///
    /// ```
    /// use secateur_engine::Split;
    /// use secateur_formats::Wire;
    ///
    /// let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}"#;
    /// let split = Split::of(Wire::OpenAiChat, body)?;
    /// assert_eq!(split.frame, r#"{"model":"m","stream":true}"#);
    /// assert_eq!(split.messages, [r#"{"role":"user","content":"hi"}"#]);
    /// # Ok::<(), secateur_engine::EngineError>(())
    /// ```
    pub fn of(wire: Wire, body: &str) -> Result<Self, EngineError> {
        let refuse = |reason: String| EngineError::Unreadable {
            what: format!("a request of {wire}"),
            source: reason.into(),
        };
        let list = Dialect(wire).list();
        let Object(members) =
            json::read::<Object<Members<'_>>>(body).map_err(|error| refuse(error.to_string()))?;
        let Members(members) = members.ok_or_else(|| refuse("it is not a JSON object".to_owned()))?;
        let mut frame = String::from("{");
        let mut said = None;
        for (name, value) in &members {
            if name == list {
                said = Some(*value);
                continue;
            }
            let comma = if frame.len() > 1 { "," } else { "" };
            frame.push_str(&format!("{comma}{}:{}", encode(name), value.text()));
        }
        frame.push('}');
        let said = said.ok_or_else(|| refuse(format!("it has no list {list:?}")))?;
        let messages = messages(wire, said).map_err(refuse)?;
        Ok(Self { frame, messages })
    }
}

/// The elements of a list. Two providers also take a single message without a list, or a plain text.
fn messages(wire: Wire, said: Raw<'_>) -> Result<Vec<String>, String> {
    let text = said.text();
    let takes_one = matches!(wire, Wire::OpenAiResponses | Wire::Gemini);
    match text.as_bytes().first() {
        Some(b'"') if takes_one => return Ok(vec![say(wire, text)]),
        Some(b'{') if takes_one => return Ok(vec![text.to_owned()]),
        Some(b'[') => {}
        _ => return Err("its messages are not a list".to_owned()),
    }
    let mut messages = Vec::new();
    let mut wrong = None;
    let mut reader = json::Reader::new(text);
    let each = Each::new(|element: Raw<'_>| {
        let element = element.text();
        match element.as_bytes().first() {
            Some(b'{') => messages.push(element.to_owned()),
            Some(b'"') if takes_one => messages.push(say(wire, element)),
            _ => wrong = wrong.or(Some(messages.len() + 1)),
        }
    });
    each.deserialize(&mut reader).map_err(|error| error.to_string())?;
    match wrong {
        Some(number) => Err(format!("message {number} of its list is not an object")),
        None => Ok(messages),
    }
}

/// A text, given as JSON, as what the user says.
fn say(wire: Wire, literal: &str) -> String {
    match wire {
        Wire::Gemini => format!(r#"{{"role":"user","parts":[{{"text":{literal}}}]}}"#),
        _ => format!(r#"{{"role":"user","content":{literal}}}"#),
    }
}

/// The members of an object, in order; of a repeated one the last counts.
#[derive(Default)]
struct Members<'a>(Vec<(String, Raw<'a>)>);

impl<'a> Fields<'a> for Members<'a> {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let value = map.next_value()?;
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.to_owned(), value)),
        }
        Ok(())
    }
}

impl Engine {
    /// Creates a session that begins with a whole request of its form. Members of the opening's frame go over those
    /// of the request.
    ///
    /// Every message is read before there is a session, so that a request that is refused leaves nothing behind.
    pub async fn import(&self, opening: Opening, body: &str) -> Result<Session, EngineError> {
        let Split { mut frame, messages } = Split::of(opening.wire, body)?;
        let over = crate::engine::check_frame(&opening.frame)?;
        if let Ok(Object(Some(Members(members)))) = json::read::<Object<Members<'_>>>(&over) {
            for (name, value) in members {
                frame = with_member(&frame, &name, value.text());
            }
        }
        let profile = self.profile(opening.profile.as_deref().unwrap_or(DEFAULT_PROFILE))?;
        let (time, measures) = (self.parts.clock.now(), profile.policy.measures());
        let read = |json: String| NewMessage::json(json).read(Dialect(opening.wire), &measures, time);
        let rows = messages.into_iter().map(read).collect::<Result<_, _>>()?;
        let mut session = self.create(Opening { frame, ..opening }).await?;
        session.append_read(rows, time).await?;
        Ok(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Target;

    fn refusal(wire: Wire, body: &str) -> String {
        Split::of(wire, body).expect_err(body).to_string()
    }

    #[test]
    fn every_message_stays_as_it_was_byte_for_byte() {
        let body = r#" {"model" : "m", "messages" : [ {"role": "user",  "content": "\u00e4\ud800"}, {"a":1e400} ],
            "n" : 1.0, "model" : "n"} "#;
        let split = Split::of(Wire::Anthropic, body).unwrap();
        assert_eq!(split.frame, r#"{"model":"n","n":1.0}"#);
        assert_eq!(split.messages, [r#"{"role": "user",  "content": "\u00e4\ud800"}"#, r#"{"a":1e400}"#]);
    }

    #[test]
    fn a_text_alone_is_what_the_user_says() {
        let split = Split::of(Wire::OpenAiResponses, r#"{"input":"hi \"you\""}"#).unwrap();
        assert_eq!(split.messages, [r#"{"role":"user","content":"hi \"you\""}"#]);
        let split = Split::of(Wire::Gemini, r#"{"contents":{"parts":[]}}"#).unwrap();
        assert_eq!(split.messages, [r#"{"parts":[]}"#]);
    }

    #[test]
    fn what_is_no_request_is_refused_with_the_reason() {
        assert!(refusal(Wire::Gemini, "[]").contains("not a JSON object"));
        assert!(refusal(Wire::Gemini, r#"{"messages":[]}"#).contains(r#"no list "contents""#));
        assert!(refusal(Wire::Anthropic, r#"{"messages":"hi"}"#).contains("not a list"));
        assert!(refusal(Wire::Anthropic, r#"{"messages":[{},7]}"#).contains("message 2 "));
        assert!(refusal(Wire::Anthropic, r#"{"messages":[{}"#).contains("cannot be read"));
    }

    #[tokio::test]
    async fn a_request_that_is_refused_leaves_no_session() {
        let engine = Engine::new(secateur_store::open("sqlite::memory:").await.unwrap());
        let body = r#"{"messages":[{"role":"user","content":"hi"},{"role":"user","n":01}]}"#;
        let opening = Opening { id: Some("s".to_owned()), ..Opening::default() };
        engine.import(opening, body).await.err().expect("no number begins with a zero");
        assert_eq!(engine.sessions(9).await.unwrap(), []);
    }

    #[tokio::test]
    async fn an_imported_request_comes_out_again() {
        let engine = Engine::new(secateur_store::open("sqlite::memory:").await.unwrap());
        let body = r#"{"model":"m","temperature":0.5,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]}"#;
        let opening = Opening { frame: r#"{"temperature":1}"#.to_owned(), ..Opening::default() };
        let mut session = engine.import(opening, body).await.unwrap();
        let request = session.context(&Target::new("m", 200_000)).await.unwrap();
        let (sent, given): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(&request.body).unwrap(), serde_json::from_str(body).unwrap());
        assert_eq!(sent["messages"], given["messages"]);
        assert_eq!((&sent["model"], &sent["temperature"]), (&given["model"], &1.into()));
    }
}
