//! Begins a session with an existing request.
//!
//! A request has an envelope and messages. A session keeps them apart, because only the messages grow and shrink. So a
//! request is split at its list of messages, and each of them is appended byte for byte.

use secateur::Role;
use secateur_formats::Wire;
use secateur_formats::json::{self, Each, Fields, Object, Raw, encode};
use serde::de::{DeserializeSeed, MapAccess};

use super::json::to_json;
use super::kept::Session;
use super::message::NewMessage;
use crate::engine::{DEFAULT_PROFILE, Engine, SessionOptions, check_envelope};
use crate::error::EngineError;
use crate::session_wire::{SessionWire, with_member};

/// What a session begins with: a whole request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionBeginning<'b> {
    /// The request.
    pub body: &'b str,
    /// The texts in it that summarise what came before. No compaction drops them.
    pub summaries: &'b [String],
}

impl<'b> From<&'b str> for SessionBeginning<'b> {
    fn from(body: &'b str) -> Self {
        Self { body, summaries: &[] }
    }
}

/// A request, split into its envelope and its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitRequest {
    /// Everything but the messages, as a JSON object.
    pub envelope: String,
    /// The messages, each as it stands in the list.
    pub messages: Vec<String>,
}

impl SplitRequest {
    /// Splits a request. Refused are requests without a list of messages, and lists with anything but objects.
    ///
    /// ```
    /// use secateur_engine::SplitRequest;
    /// use secateur_formats::Wire;
    ///
    /// let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}"#;
    /// let split = SplitRequest::of(Wire::OpenAiChat, body)?;
    /// assert_eq!(split.envelope, r#"{"model":"m","stream":true}"#);
    /// assert_eq!(split.messages, [r#"{"role":"user","content":"hi"}"#]);
    /// # Ok::<(), secateur_engine::EngineError>(())
    /// ```
    pub fn of(wire: Wire, body: &str) -> Result<Self, EngineError> {
        let refuse = |reason: String| EngineError::Unreadable {
            what: format!("a request of {wire}"),
            source: reason.into(),
        };
        let list = SessionWire(wire).list();
        let Object(members) =
            json::read::<Object<RequestMembers<'_>>>(body).map_err(|error| refuse(error.to_string()))?;
        let RequestMembers(members) = members.ok_or_else(|| refuse("it is not a JSON object".to_owned()))?;
        let mut envelope = String::from("{");
        let mut list_value = None;
        for (name, value) in &members {
            if name == list {
                list_value = Some(*value);
                continue;
            }
            let comma = if envelope.len() > 1 { "," } else { "" };
            envelope.push_str(&format!("{comma}{}:{}", encode(name), value.text()));
        }
        envelope.push('}');
        let list_value = list_value.ok_or_else(|| refuse(format!("it has no list {list:?}")))?;
        let messages = messages(wire, list_value).map_err(refuse)?;
        Ok(Self { envelope, messages })
    }
}

/// The elements of a list. Two wires also accept a single message without a list, or plain text.
fn messages(wire: Wire, list: Raw<'_>) -> Result<Vec<String>, String> {
    let text = list.text();
    let user_message = |literal| wire.spec().text_message_of_literal(Role::User, literal);
    let accepts_one = wire.spec().takes_single_message;
    match text.as_bytes().first() {
        Some(b'"') if accepts_one => return Ok(vec![user_message(text)]),
        Some(b'{') if accepts_one => return Ok(vec![text.to_owned()]),
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
            Some(b'"') if accepts_one => messages.push(user_message(element)),
            _ => wrong = wrong.or(Some(messages.len() + 1)),
        }
    });
    each.deserialize(&mut reader).map_err(|error| error.to_string())?;
    match wrong {
        Some(number) => Err(format!("message {number} of its list is not an object")),
        None => Ok(messages),
    }
}

/// The members of an object, in order. If a name is repeated, its last value counts.
#[derive(Default)]
struct RequestMembers<'a>(Vec<(String, Raw<'a>)>);

impl<'a> Fields<'a> for RequestMembers<'a> {
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
    /// Creates a session that begins with a whole request of its wire. Members of the options' envelope override those
    /// of the request.
    ///
    /// All messages are read before the session is created, so a request that is refused leaves no session behind.
    pub async fn import<'b>(
        &self,
        options: SessionOptions,
        beginning: impl Into<SessionBeginning<'b>>,
    ) -> Result<Session, EngineError> {
        let SessionBeginning { body, summaries } = beginning.into();
        let SplitRequest { mut envelope, messages } = SplitRequest::of(options.wire, body)?;
        let overrides = check_envelope(&options.envelope)?;
        if let Ok(Object(Some(RequestMembers(members)))) =
            json::read::<Object<RequestMembers<'_>>>(&overrides)
        {
            for (name, value) in members {
                envelope = with_member(&envelope, &name, value.text());
            }
        }
        let profile = self.profile(options.profile.as_deref().unwrap_or(DEFAULT_PROFILE))?;
        let (time, measures) = (self.now(), profile.policy.measures());
        let wire = SessionWire(options.wire);
        let read = |json: String| {
            let found = if summaries.is_empty() { Vec::new() } else { wire.find_texts(&json, summaries)? };
            let (mut row, mut facts) = NewMessage::json(json).read(wire, &measures, time)?;
            if !found.is_empty() {
                for (part, facts) in facts.parts.iter_mut().enumerate() {
                    facts.summary = found.contains(&part);
                }
                row.facts = to_json(&facts)?;
            }
            Ok::<_, EngineError>((row, facts))
        };
        let rows = messages.into_iter().map(read).collect::<Result<_, _>>()?;
        let mut session = self.create(SessionOptions { envelope, ..options }).await?;
        session.core.append(rows, time).await?;
        Ok(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Target;

    fn refusal(wire: Wire, body: &str) -> String {
        SplitRequest::of(wire, body).expect_err(body).to_string()
    }

    #[test]
    fn every_message_stays_as_it_was_byte_for_byte() {
        let body = r#" {"model" : "m", "messages" : [ {"role": "user",  "content": "\u00e4\ud800"}, {"a":1e400} ],
            "n" : 1.0, "model" : "n"} "#;
        let split = SplitRequest::of(Wire::Anthropic, body).unwrap();
        assert_eq!(split.envelope, r#"{"model":"n","n":1.0}"#);
        assert_eq!(split.messages, [r#"{"role": "user",  "content": "\u00e4\ud800"}"#, r#"{"a":1e400}"#]);
    }

    #[test]
    fn a_text_alone_is_what_the_user_says() {
        let split = SplitRequest::of(Wire::OpenAiResponses, r#"{"input":"hi \"you\""}"#).unwrap();
        assert_eq!(split.messages, [r#"{"role":"user","content":"hi \"you\""}"#]);
        let split = SplitRequest::of(Wire::Gemini, r#"{"contents":{"parts":[]}}"#).unwrap();
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
        let opening = SessionOptions { id: Some("s".to_owned()), ..SessionOptions::default() };
        engine.import(opening, body).await.err().expect("no number begins with a zero");
        assert_eq!(engine.sessions(9).await.unwrap(), []);
    }

    #[tokio::test]
    async fn an_imported_request_comes_out_again() {
        let engine = Engine::new(secateur_store::open("sqlite::memory:").await.unwrap());
        let body = r#"{"model":"m","temperature":0.5,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]}"#;
        let opening =
            SessionOptions { envelope: r#"{"temperature":1}"#.to_owned(), ..SessionOptions::default() };
        let mut session = engine.import(opening, body).await.unwrap();
        let request = session.context(&Target::new("m", 200_000)).await.unwrap();
        let (sent, given): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(&request.body).unwrap(), serde_json::from_str(body).unwrap());
        assert_eq!(sent["messages"], given["messages"]);
        assert_eq!((&sent["model"], &sent["temperature"]), (&given["model"], &1.into()));
    }
}
