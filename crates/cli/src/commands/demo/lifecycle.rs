//! The whole cycle on a made-up session: it grows, overflows, is pruned and compacted, goes on, and is undone.

use std::io::Write;

use anyhow::Result;
use secateur::Usage;
use secateur::session::{Seq, TurnState};
use secateur_engine::{Engine, EngineError, NewMessage, Session, SessionOptions, Settlement, Target};

use super::sample_session::SampleSession;
use crate::commands::compact::summary;
use crate::event_text::{number, sentences};
use crate::humanize::{counted, grouped, shortened};
use crate::store_args::engine_error;
use crate::terminal::{BOLD, GREEN, RED, YELLOW};

/// The model's whole window in tokens.
const WINDOW: i64 = 80_000;

/// After this request somebody asks for a compaction.
const ASKED: usize = 8;

/// How many blocks the usable part of the window is drawn with.
const BLOCKS: i64 = 20;

/// How many lines of the summary are shown, and how much of each.
const LINES: usize = 9;
const WIDTH: usize = 90;

/// Tells the story.
pub(super) async fn show(out: &mut dyn Write, story: &SampleSession) -> Result<()> {
    let engine = Engine::new(secateur_store::open("sqlite::memory:").await?);
    let mut kept = engine.create(SessionOptions::default()).await.map_err(engine_error)?;
    // The same messages, and nobody looks after them.
    let mut unkept = engine.create(SessionOptions::default()).await.map_err(engine_error)?;
    let target = Target::new("a-model", WINDOW);
    let usable = kept.context(&target).await.map_err(engine_error)?.usable.unwrap_or(WINDOW);

    writeln!(out, "{BOLD}An agent outgrows its model{BOLD:#}\n")?;
    writeln!(
        out,
        "An agent works through {} requests. Its model has a window of {} tokens, {} of them usable.",
        story.turns.len(),
        number(WINDOW),
        number(usable)
    )?;
    writeln!(
        out,
        "The conversation grows and grows; what Secateur lets through to the model always fits.\n"
    )?;
    let heading = format!("{:<57}{:>9}  sent to the model", "     what the user asks", "all said");
    writeln!(out, "{BOLD}{heading}{BOLD:#}")?;
    let (mut most, mut first_result) = (0, None);
    for (ordinal, (turn, steps)) in story.turns.iter().zip(story.chat()).enumerate() {
        let mut events = Vec::new();
        let last = steps.len() - 1;
        for (at, messages) in steps.into_iter().enumerate() {
            let messages: Vec<NewMessage> =
                messages.iter().map(|message| NewMessage::json(message.to_string())).collect();
            unkept.append(messages.clone()).await.map_err(engine_error)?;
            let numbers = kept.append(messages).await.map_err(engine_error)?;
            first_result = first_result.or(numbers.get(1).copied());
            if at < last {
                let request = kept.context(&target).await.map_err(engine_error)?;
                most = most.max(request.tokens);
                events.extend(request.events);
                // The provider counts what we estimate, so that the story is the same everywhere.
                let usage = Usage { input: request.tokens, ..Usage::default() };
                let turn = if at + 1 < last { TurnState::Open } else { TurnState::Over };
                events
                    .extend(kept.settle(Settlement::Responded { usage, turn }).await.map_err(engine_error)?);
            }
        }
        row(out, ordinal + 1, turn.request, &unkept, &kept, usable)?;
        for sentence in sentences(&events) {
            writeln!(out, "       {YELLOW}{sentence}{YELLOW:#}")?;
        }
        if ordinal + 1 == ASKED {
            // Pruning was enough so far; who wants more asks for it, and the work goes on behind the summary.
            writeln!(out, "     secateur session compact")?;
            for sentence in sentences(&kept.compact(None).await.map_err(engine_error)?) {
                writeln!(out, "       {YELLOW}{sentence}{YELLOW:#}")?;
            }
        }
    }
    let all = unkept.tokens();
    writeln!(
        out,
        "\n  pruned: old tool results give way to a short note; what was asked and answered stays"
    )?;
    writeln!(out, "  compacted: older history gives way to a summary; recent turns stay word for word")?;
    writeln!(
        out,
        "\nNo request had more than {} tokens. Without Secateur the last one would have {}, and be refused.\n",
        number(most),
        number(all)
    )?;
    recount(out, &kept).await?;
    take_back(out, &mut kept, first_result).await
}

/// One turn: what was said, and what is sent.
fn row(
    out: &mut dyn Write,
    ordinal: usize,
    request: &str,
    unkept: &Session,
    kept: &Session,
    usable: i64,
) -> Result<()> {
    let (said, sent) = (unkept.tokens(), kept.tokens());
    let full = (sent * BLOCKS / usable.max(1)).clamp(1, BLOCKS) as usize;
    let style = if said > usable { RED } else { GREEN };
    let (bar, rest) = ("█".repeat(full), "·".repeat(BLOCKS as usize - full));
    let said = format!("{style}{:>9}{style:#}", number(said));
    writeln!(out, "  {ordinal:>2} {request:<52}{said}  {GREEN}{bar}{GREEN:#}{rest} {:>8}", number(sent))?;
    Ok(())
}

/// The beginning of the summary.
async fn recount(out: &mut dyn Write, kept: &Session) -> Result<()> {
    let text = summary(kept).await?;
    writeln!(
        out,
        "{BOLD}The summary{BOLD:#}, here a digest of what is certain, since no model was asked to write one\n"
    )?;
    let lines = text.lines().skip_while(|line| !line.starts_with('#')).filter(|line| !line.is_empty());
    for line in lines.clone().take(LINES) {
        writeln!(out, "  │ {}", shortened(line, WIDTH))?;
    }
    let left = lines.count().saturating_sub(LINES);
    if left > 0 {
        writeln!(out, "  │ … and {}", counted(left as u64, "more line"))?;
    }
    writeln!(out)?;
    Ok(())
}

/// Undoes everything, and does it again.
async fn take_back(out: &mut dyn Write, kept: &mut Session, result: Option<Seq>) -> Result<()> {
    writeln!(out, "{BOLD}Nothing is lost{BOLD:#}\n")?;
    let before = kept.tokens();
    let mut undone = 0;
    while let Some(number) = last(kept.undo(None).await)? {
        undone = number.max(undone);
    }
    let whole = kept.tokens();
    writeln!(
        out,
        "  undo    {}: about {} → {} tokens, all that was said",
        counted(undone, "operation"),
        number(before),
        number(whole)
    )?;
    while last(kept.redo(None).await)?.is_some() {}
    writeln!(out, "  redo    about {} → {} tokens", number(whole), number(kept.tokens()))?;
    if let Some(seq) = result {
        let text = kept.recall(&seq.to_string()).await.map_err(engine_error)?.text;
        let size = grouped(text.encode_utf16().count() as u64);
        writeln!(out, "  recall  message {seq}: the first tool result, all its {size} characters")?;
    }
    writeln!(out)?;
    Ok(())
}

/// Tells that nothing is left to undo or redo from everything that must not happen.
fn last(turned: Result<u64, EngineError>) -> Result<Option<u64>> {
    match turned {
        Ok(number) => Ok(Some(number)),
        Err(EngineError::CannotUndo { .. }) => Ok(None),
        Err(error) => Err(engine_error(error)),
    }
}
