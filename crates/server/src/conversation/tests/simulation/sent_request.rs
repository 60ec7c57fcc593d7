//! A request as the proxy sent it, compared with what the client wanted to send.

use std::collections::HashSet;

use secateur_formats::Wire;
use serde_json::Value;
use serde_json::value::RawValue;

use super::client::SimulatedClient;
use super::client_message::{ClientMessage, letters_of, marks_in};

/// A request as it was sent.
pub(super) struct SentRequest {
    /// Its messages.
    pub messages: Vec<String>,
    /// The handles of all placeholders in it.
    pub handles: Vec<String>,
    /// How many messages were made by the proxy.
    pub made: usize,
}

/// Where a message that was sent is from.
enum MessageOrigin {
    /// The client's message at this place, as it was or cut.
    Client(usize),
    /// The proxy made it.
    Made,
}

impl SentRequest {
    /// Reads what was sent in the place of a client's request. Fails if a byte is wrong.
    pub(super) fn check(client: &SimulatedClient, sent: &[u8], has_controls: bool) -> Result<Self, String> {
        let sent = std::str::from_utf8(sent).map_err(|error| error.to_string())?;
        let head = client.head();
        if !has_controls && !sent.starts_with(&head) {
            return Err(format!("the envelope changed: {sent:.200}"));
        }
        let messages = read_messages(sent, client.list())?;
        let own: HashSet<u32> = client.marks().collect();
        if let Some(foreign) = marks_in(sent.as_bytes()).find(|mark| !own.contains(mark)) {
            return Err(format!("text {foreign} was sent to a client that does not have it:\n{sent}"));
        }
        let handles: Vec<String> = handles_in(sent).map(str::to_owned).collect();
        let parts = || client.messages.iter().flat_map(|message| &message.parts);
        let is_unknown = |handle: &&String| !parts().any(|(_, letters)| letters.starts_with(handle.as_str()));
        if let Some(unknown) = handles.iter().find(is_unknown) {
            return Err(format!("handle {unknown} is of no part of the history:\n{sent}"));
        }
        let (mut next, mut made) = (0, 0);
        let mut places = Vec::new();
        for raw in &messages {
            match origin(client, next, raw)? {
                MessageOrigin::Client(place) => {
                    places.push(place);
                    next = place + 1;
                }
                MessageOrigin::Made => made += 1,
            }
        }
        if next != client.messages.len() {
            return Err(format!("the request does not end with what was said last:\n{sent}"));
        }
        check_pairs(client, &places)?;
        Ok(Self { messages, handles, made })
    }
}

/// The messages of a body, as they are written in it.
fn read_messages(body: &str, list: &str) -> Result<Vec<String>, String> {
    let members: std::collections::BTreeMap<String, &RawValue> =
        serde_json::from_str(body).map_err(|error| format!("{error}: {body}"))?;
    let list = members.get(list).ok_or("no messages")?;
    let messages: Vec<&RawValue> = serde_json::from_str(list.get()).map_err(|error| error.to_string())?;
    Ok(messages.into_iter().map(|message| message.get().to_owned()).collect())
}

/// The handles in placeholders.
fn handles_in(body: &str) -> impl Iterator<Item = &str> {
    const NAME: &str = "recall ";
    body.match_indices(NAME).filter_map(|(at, _)| {
        let rest = body.get(at + NAME.len()..)?;
        let length = rest.bytes().take_while(u8::is_ascii_lowercase).count();
        rest.get(..length).filter(|handle| handle.len() >= 12)
    })
}

fn origin(client: &SimulatedClient, next: usize, raw: &str) -> Result<MessageOrigin, String> {
    let rest = client.messages.get(next..).unwrap_or_default();
    if let Some(place) = rest.iter().position(|message| message.raw == raw) {
        return Ok(MessageOrigin::Client(next + place));
    }
    if client.messages.iter().any(|message| message.raw == raw) {
        return Err(format!("a message is out of order: {raw}"));
    }
    let value: Value = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    let is_cut = |message: &ClientMessage| {
        let whole: Value = serde_json::from_str(&message.raw).unwrap();
        is_cut_of(&whole, &value)
    };
    // Most messages that were cut have a tool call or result, whose id stays.
    let has_id = |message: &ClientMessage| {
        let ids: Vec<&String> = message.calls.iter().chain(&message.results).collect();
        ids.is_empty() || ids.iter().any(|id| raw.contains(id.as_str()))
    };
    if let Some(place) = rest.iter().position(|message| has_id(message) && is_cut(message)) {
        return Ok(MessageOrigin::Client(next + place));
    }
    // What the proxy makes has the user's role, and no part of a tool.
    let is_user = value["role"] == "user";
    if is_user && !raw.contains("call_") {
        return Ok(MessageOrigin::Made);
    }
    Err(format!("a message is neither the client's nor a cut of it: {raw}"))
}

/// Whether a value is another one with cuts: everything is the same, except that texts were replaced by placeholders which
/// name them, and that thinking was left out.
fn is_cut_of(whole: &Value, cut: &Value) -> bool {
    let names = |text: &str, cut: &str| handles_in(cut).any(|handle| letters_of(text).starts_with(handle));
    match (whole, cut) {
        _ if whole == cut => true,
        (Value::String(text), Value::String(cut)) => names(text, cut),
        (Value::Array(whole), Value::Array(cut)) => {
            let is_thinking = |value: &&Value| value["type"] == "thinking";
            let visible: Vec<&Value> = whole.iter().filter(|value| !is_thinking(value)).collect();
            let all = || whole.iter().collect::<Vec<_>>();
            let whole = if cut.len() == whole.len() { all() } else { visible };
            whole.len() == cut.len() && whole.iter().zip(cut).all(|(whole, cut)| is_cut_of(whole, cut))
        }
        (Value::Object(members), Value::Object(cut_members)) => {
            let is_same = members.len() == cut_members.len()
                && members
                    .iter()
                    .all(|(name, value)| cut_members.get(name).is_some_and(|cut| is_cut_of(value, cut)));
            is_same || names(&whole.to_string(), &cut.to_string())
        }
        _ => false,
    }
}

/// Fails if a result is sent without its call, or a call without its result.
fn check_pairs(client: &SimulatedClient, places: &[usize]) -> Result<(), String> {
    let sent = || places.iter().filter_map(|place| client.messages.get(*place));
    let calls: HashSet<&String> = sent().flat_map(|message| &message.calls).collect();
    let results: HashSet<&String> = sent().flat_map(|message| &message.results).collect();
    if let Some(alone) = results.difference(&calls).next() {
        return Err(format!("the result of {alone} was sent without its call"));
    }
    if let Some(alone) = calls.difference(&results).next() {
        return Err(format!("{alone} was sent without its result"));
    }
    if client.wire == Wire::Anthropic || client.wire == Wire::Gemini {
        for (before, place) in std::iter::once(&usize::MAX).chain(places).zip(places) {
            let is_result = client.messages.get(*place).is_some_and(|message| !message.results.is_empty());
            if is_result && before.wrapping_add(1) != *place {
                return Err(format!("message {place} does not follow its tool calls"));
            }
        }
    }
    Ok(())
}
