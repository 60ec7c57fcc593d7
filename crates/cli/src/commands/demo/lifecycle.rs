//! The life of a session: it grows, overflows, is pruned and compacted, continues, and everything is undone.

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

/// The model's window in tokens.
const WINDOW: i64 = 80_000;

/// After this turn a compaction is requested.
const COMPACTED_TURN: usize = 8;

/// The width of the bar for all usable tokens.
const BLOCKS: i64 = 20;

/// How many lines of the summary are shown, and how many characters of each.
const LINES: usize = 9;
const WIDTH: usize = 90;

pub(super) async fn show(out: &mut dyn Write, sample: &SampleSession) -> Result<()> {
    let engine = Engine::new(secateur_store::open("sqlite::memory:").await?);
    let mut kept = engine.create(SessionOptions::default()).await.map_err(engine_error)?;
    // The same messages without pruning and compaction.
    let mut unkept = engine.create(SessionOptions::default()).await.map_err(engine_error)?;
    let target = Target::new("a-model", WINDOW);
    let usable = kept.context(&target).await.map_err(engine_error)?.usable.unwrap_or(WINDOW);

    writeln!(out, "{BOLD}An agent outgrows its model{BOLD:#}\n")?;
    writeln!(
        out,
        "An agent works on {} user requests. Its model has a window of {} tokens, {} of them usable.\n\
         The history keeps growing; what is sent to the model always fits.\n",
        sample.turns.len(),
        number(WINDOW),
        number(usable)
    )?;
    let heading = format!("{:<57}{:>9}  sent to the model", "     user request", "history");
    writeln!(out, "{BOLD}{heading}{BOLD:#}")?;
    let (mut most, mut first_result) = (0, None);
    for (ordinal, (turn, steps)) in sample.turns.iter().zip(sample.chat()).enumerate() {
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
                // The reported usage is our own estimate, so that the demo prints the same everywhere.
                let usage = Usage { input: request.tokens, ..Usage::default() };
                let turn = if at + 1 < last { TurnState::Open } else { TurnState::Over };
                events
                    .extend(kept.settle(Settlement::Responded { usage, turn }).await.map_err(engine_error)?);
            }
        }
        writeln!(out, "{}", row(ordinal + 1, turn.request, unkept.tokens(), kept.tokens(), usable))?;
        for sentence in sentences(&events) {
            writeln!(out, "       {YELLOW}{sentence}{YELLOW:#}")?;
        }
        if ordinal + 1 == COMPACTED_TURN {
            // Pruning was enough so far. A compaction can be requested at any time.
            writeln!(out, "     secateur session compact")?;
            for sentence in sentences(&kept.compact(None).await.map_err(engine_error)?) {
                writeln!(out, "       {YELLOW}{sentence}{YELLOW:#}")?;
            }
        }
    }
    let all = unkept.tokens();
    writeln!(
        out,
        "\n  pruned: short placeholders replace old tool results; user and assistant messages stay\n  \
         compacted: a summary replaces older history; recent turns stay unchanged\n\n\
         No request had more than {} tokens. Without Secateur the last one would have {} and be rejected.\n",
        number(most),
        number(all)
    )?;
    print_summary(out, &kept).await?;
    undo_and_redo(out, &mut kept, first_result).await
}

/// One turn: the size of the history, and of what is sent.
fn row(ordinal: usize, request: &str, all: i64, sent: i64, usable: i64) -> String {
    let full = (sent * BLOCKS / usable.max(1)).clamp(1, BLOCKS) as usize;
    let style = if all > usable { RED } else { GREEN };
    let (bar, rest) = ("█".repeat(full), "·".repeat(BLOCKS as usize - full));
    let all = format!("{style}{:>9}{style:#}", number(all));
    format!("  {ordinal:>2} {request:<52}{all}  {GREEN}{bar}{GREEN:#}{rest} {:>8}", number(sent))
}

/// Prints the first lines of the summary.
async fn print_summary(out: &mut dyn Write, kept: &Session) -> Result<()> {
    let text = summary(kept).await?;
    writeln!(
        out,
        "{BOLD}The summary{BOLD:#}, here a rule-based digest, because no summariser is configured\n"
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

/// Undoes everything, redoes it, and recalls a result.
async fn undo_and_redo(out: &mut dyn Write, kept: &mut Session, result: Option<Seq>) -> Result<()> {
    writeln!(out, "{BOLD}Nothing is lost{BOLD:#}\n")?;
    let before = kept.tokens();
    let mut undone = 0;
    while let Some(number) = changed_operation(kept.undo(None).await)? {
        undone = number.max(undone);
    }
    let whole = kept.tokens();
    let undone = counted(undone, "operation");
    let (before, whole) = (number(before), number(whole));
    writeln!(out, "  undo    {undone}: about {before} → {whole} tokens, the whole history")?;
    while changed_operation(kept.redo(None).await)?.is_some() {}
    writeln!(out, "  redo    about {whole} → {} tokens", number(kept.tokens()))?;
    if let Some(seq) = result {
        let text = kept.recall(&seq.to_string()).await.map_err(engine_error)?.text;
        let size = grouped(text.encode_utf16().count() as u64);
        writeln!(out, "  recall  message {seq}: the first tool result, all its {size} characters")?;
    }
    writeln!(out)?;
    Ok(())
}

/// The operation that was undone or redone; none if there was nothing left.
fn changed_operation(result: Result<u64, EngineError>) -> Result<Option<u64>> {
    match result {
        Ok(number) => Ok(Some(number)),
        Err(EngineError::CannotUndo { .. }) => Ok(None),
        Err(error) => Err(engine_error(error)),
    }
}
