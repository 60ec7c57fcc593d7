//! `secateur session append`: messages into a session.

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use secateur_engine::{EngineError, LARGEST_MESSAGE, NewMessage};
use serde_json::json;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::SessionIdArgs;
use crate::store_args::engine_error;

/// The largest input that is taken: room for a few of the largest messages.
const LARGEST_INPUT: u64 = 4 * LARGEST_MESSAGE as u64;

/// Append messages, one JSON object a line or one array; prints their numbers.
///
/// A message is what would stand in the list of a request. All are appended or, if one of them is wrong, none. Once its
/// number is printed, a message is kept.
#[derive(Debug, Args)]
pub(crate) struct AppendArgs {
    #[command(flatten)]
    session: SessionIdArgs,
    /// The file to read; without it or for `-`, standard input.
    #[arg(value_name = "FILE|-")]
    file: Option<PathBuf>,
    /// Keep the messages verbatim through every compaction.
    #[arg(long)]
    pin: bool,
    /// The message's id, if it is a single one. Appending an id a second time appends nothing.
    #[arg(long)]
    id: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// A message, and where it stands in the input.
struct InputMessage<'i> {
    json: &'i str,
    place: String,
}

impl AppendArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let text = self.input()?;
        let pieces = self.pieces(&text)?;
        let ids = self.ids(pieces.len())?;
        let (_engine, mut session) = self.session.open(None).await?;
        let messages = pieces.iter().zip(&ids).map(|(piece, id)| NewMessage {
            id: Some(id.clone()),
            json: piece.json.into(),
            pinned: self.pin,
        });
        let numbers = session.append(messages).await.map_err(|error| self.place(error, &pieces, &ids))?;
        if self.json {
            let rows: Vec<_> =
                numbers.iter().zip(&ids).map(|(number, id)| json!({ "number": number, "id": id })).collect();
            writeln!(out, "{}", json!({ "session": session.id(), "messages": rows }))?;
            return Ok(ExitCode::SUCCESS);
        }
        for number in numbers {
            // A message that was appended before and has left the context has no number here.
            match number {
                0 => writeln!(out, "known")?,
                number => writeln!(out, "{number}")?,
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn name(&self) -> String {
        match &self.file {
            Some(file) if file.as_os_str() != "-" => file.display().to_string(),
            _ => "standard input".to_owned(),
        }
    }

    fn input(&self) -> Result<String> {
        let doing = || format!("cannot read {}", self.name());
        let reader: Box<dyn Read> = match &self.file {
            Some(file) if file.as_os_str() != "-" => Box::new(File::open(file).with_context(doing)?),
            _ => Box::new(std::io::stdin()),
        };
        let mut bytes = Vec::new();
        reader.take(LARGEST_INPUT + 1).read_to_end(&mut bytes).with_context(doing)?;
        if bytes.len() as u64 > LARGEST_INPUT {
            bail!("{} has more than {LARGEST_INPUT} bytes; append it in pieces", self.name());
        }
        String::from_utf8(bytes).map_err(|_| anyhow!("{} is not UTF-8", self.name()))
    }

    fn pieces<'i>(&self, text: &'i str) -> Result<Vec<InputMessage<'i>>> {
        let text = text.trim_start_matches('\u{feff}');
        let wrong = |place: &str, what: &str| {
            anyhow!(
                "{place} of {} is {what}; expected a JSON object as it stands in a request. Nothing was appended",
                self.name()
            )
        };
        if text.trim_start().starts_with('[') {
            let list: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| {
                anyhow!("{} is not a JSON array: {error}. Nothing was appended", self.name())
            })?;
            let pieces = list.iter().zip(1..).map(|(raw, number)| (raw.get(), format!("message {number}")));
            return pieces
                .map(|(json, place)| match json.starts_with('{') {
                    true => Ok(InputMessage { json, place }),
                    false => Err(wrong(&place, "not an object")),
                })
                .collect();
        }
        // A single object may be spread over lines.
        if text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok() {
            return Ok(vec![InputMessage { json: text, place: "the message".to_owned() }]);
        }
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let mut pieces = Vec::new();
        for (line, number) in lines {
            let place = format!("line {number}");
            match serde_json::from_str::<&RawValue>(line) {
                Ok(raw) if raw.get().starts_with('{') => pieces.push(InputMessage { json: line, place }),
                Ok(_) => return Err(wrong(&place, "not an object")),
                Err(error) => {
                    let error = error.to_string().replace(" at line 1 column", " at column");
                    return Err(wrong(&place, &format!("no JSON ({error})")));
                }
            }
        }
        if pieces.is_empty() {
            bail!("{} holds no message; expected one JSON object a line", self.name());
        }
        Ok(pieces)
    }

    fn ids(&self, count: usize) -> Result<Vec<String>> {
        match &self.id {
            Some(_) if count != 1 => bail!("--id names a single message, but there are {count}"),
            Some(id) => Ok(vec![id.clone()]),
            None => Ok((0..count).map(|_| Uuid::now_v7().to_string()).collect()),
        }
    }

    /// Says where the message stands that the engine does not take.
    fn place(&self, error: EngineError, pieces: &[InputMessage<'_>], ids: &[String]) -> anyhow::Error {
        let (id, why) = match &error {
            EngineError::InvalidMessage { id, wire } => (id, format!("is not a message of {wire}")),
            EngineError::NotPinnable { id, .. } => (
                id,
                "holds a tool call or its result and cannot be pinned: one half cannot stay alone".to_owned(),
            ),
            EngineError::TooLarge { id, bytes, limit } => {
                (id, format!("has {bytes} bytes, more than {limit}"))
            }
            _ => return engine_error(error),
        };
        let found = ids.iter().position(|known| known == id).and_then(|at| pieces.get(at));
        let place = found.map_or("a message", |piece| piece.place.as_str());
        anyhow!("{place} of {} {why}. Nothing was appended", self.name())
    }
}
