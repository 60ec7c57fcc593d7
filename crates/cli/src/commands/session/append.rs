//! `secateur session append`: adds messages to a session.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use secateur_engine::{EngineError, LARGEST_MESSAGE, NewMessage};
use serde_json::json;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::SessionIdArgs;
use crate::logs;
use crate::store_args::engine_error;
use crate::terminal::print_json;

/// The largest accepted input: a few of the largest messages.
const LARGEST_INPUT: u64 = 4 * LARGEST_MESSAGE as u64;

/// Append messages and print their numbers.
///
/// The input is one JSON object per line, or one array. A message is written as in a request. Either all messages are
/// appended or, if one of them is invalid, none. Once its number is printed, a message is stored.
#[derive(Debug, Args)]
pub(crate) struct AppendArgs {
    #[command(flatten)]
    session: SessionIdArgs,
    /// The file to read, or `-` [default: standard input]
    #[arg(value_name = "FILE|-")]
    file: Option<PathBuf>,
    /// Pin the messages: they are never cut or summarised.
    #[arg(long)]
    pin: bool,
    /// The id of a single message. An id that was appended before is not appended again.
    #[arg(long)]
    id: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// A message and its position in the input.
struct InputMessage<'i> {
    json: &'i str,
    position: String,
}

impl AppendArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<()> {
        let text = self.input()?;
        let messages = self.messages(&text)?;
        let ids = self.ids(messages.len())?;
        let (_engine, mut session) = self.session.open(None).await?;
        let new = messages.iter().zip(&ids).map(|(message, id)| NewMessage {
            id: Some(id.clone()),
            json: message.json.into(),
            pinned: self.pin,
        });
        let numbers = session.append(new).await.map_err(|error| self.locate(error, &messages, &ids))?;
        if self.json {
            let rows: Vec<_> =
                numbers.iter().zip(&ids).map(|(number, id)| json!({ "number": number, "id": id })).collect();
            return print_json(out, &json!({ "session": session.id(), "messages": rows }));
        }
        for number in numbers {
            // 0: the message was appended before and has left the context.
            match number {
                0 => writeln!(out, "known")?,
                number => writeln!(out, "{number}")?,
            }
        }
        Ok(())
    }

    fn name(&self) -> String {
        match &self.file {
            Some(file) if file.as_os_str() != "-" => file.display().to_string(),
            _ => "standard input".to_owned(),
        }
    }

    fn input(&self) -> Result<String> {
        let doing = || format!("cannot read {}", self.name());
        let file = self.file.as_deref().unwrap_or(Path::new("-"));
        let reader = logs::file_or_stdin(file).with_context(doing)?;
        let mut bytes = Vec::new();
        reader.take(LARGEST_INPUT + 1).read_to_end(&mut bytes).with_context(doing)?;
        if bytes.len() as u64 > LARGEST_INPUT {
            bail!("{} has more than {LARGEST_INPUT} bytes; append it in several steps", self.name());
        }
        String::from_utf8(bytes).map_err(|_| anyhow!("{} is not UTF-8", self.name()))
    }

    fn messages<'i>(&self, text: &'i str) -> Result<Vec<InputMessage<'i>>> {
        let text = text.trim_start_matches('\u{feff}');
        let invalid = |position: &str, what: &str| {
            anyhow!(
                "{position} of {} is {what}; expected a message as in a request, a JSON object. Nothing was appended",
                self.name()
            )
        };
        if text.trim_start().starts_with('[') {
            let list: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| {
                anyhow!("{} is not a JSON array: {error}. Nothing was appended", self.name())
            })?;
            let items = list.iter().zip(1..).map(|(raw, number)| (raw.get(), format!("message {number}")));
            return items
                .map(|(json, position)| match json.starts_with('{') {
                    true => Ok(InputMessage { json, position }),
                    false => Err(invalid(&position, "not an object")),
                })
                .collect();
        }
        // A single object may span several lines.
        if text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok() {
            return Ok(vec![InputMessage { json: text, position: "the message".to_owned() }]);
        }
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let mut messages = Vec::new();
        for (line, number) in lines {
            let position = format!("line {number}");
            match serde_json::from_str::<&RawValue>(line) {
                Ok(raw) if raw.get().starts_with('{') => messages.push(InputMessage { json: line, position }),
                Ok(_) => return Err(invalid(&position, "not an object")),
                Err(error) => {
                    let error = error.to_string().replace(" at line 1 column", " at column");
                    return Err(invalid(&position, &format!("not JSON ({error})")));
                }
            }
        }
        if messages.is_empty() {
            bail!("{} holds no message; expected one JSON object per line", self.name());
        }
        Ok(messages)
    }

    fn ids(&self, count: usize) -> Result<Vec<String>> {
        match &self.id {
            Some(_) if count != 1 => bail!("--id names a single message, but there are {count}"),
            Some(id) => Ok(vec![id.clone()]),
            None => Ok((0..count).map(|_| Uuid::now_v7().to_string()).collect()),
        }
    }

    /// The engine's error with the position of the message in the input.
    fn locate(&self, error: EngineError, messages: &[InputMessage<'_>], ids: &[String]) -> anyhow::Error {
        let (id, why) = match &error {
            EngineError::InvalidMessage { id, wire } => (id, format!("is not a valid {wire} message")),
            EngineError::NotPinnable { id, .. } => (
                id,
                "holds a tool call or a tool result and cannot be pinned: neither can stay without the other"
                    .to_owned(),
            ),
            EngineError::TooLarge { id, bytes, limit } => {
                (id, format!("has {bytes} bytes, more than the limit of {limit}"))
            }
            _ => return engine_error(error),
        };
        let found = ids.iter().position(|known| known == id).and_then(|at| messages.get(at));
        let position = found.map_or("a message", |message| message.position.as_str());
        anyhow!("{position} of {} {why}. Nothing was appended", self.name())
    }
}
