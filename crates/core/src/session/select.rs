//! Which messages a compaction summarises and which it keeps.
//!
//! The oldest messages are summarised, recent ones stay as they are. Where the line lies depends on a budget and on what
//! must stay together: a tool call and its result belong to one side, and a call that still waits for its result is
//! kept. Whole turns are kept if they fit; of the first turn that does not fit, its end is kept. What the model has not
//! answered yet is always kept, whatever the profile says: a request without its question is useless.

use std::collections::HashMap;
use std::ops::Range;

use super::context::{Context, LiveMessage};
use super::effect::TurnState;
use super::event::Trigger;
use super::message::{MessageKind, Seq};
use super::remedy::Remedy;
use super::state::Pivot;
use crate::compaction::{CompactionSettings, MarkerAt, Replay};
use crate::outline::{PartKind, Role};
use crate::tail::{TailRule, tail_start};

/// Which messages a compaction summarises and which it keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    pub head: Vec<Seq>,
    pub kept: Vec<Seq>,
    pub tail: Option<Seq>,
    pub replay: Option<Seq>,
    /// Messages that go without being summarised: the one that is repeated, and everything after it.
    pub dropped: Vec<Seq>,
    /// The marker that already waits for this summary.
    pub marker: Option<Seq>,
}

/// What a selection depends on beside the messages and the profile.
#[derive(Clone, Copy, Debug)]
pub(super) struct SelectionInput {
    pub trigger: Trigger,
    /// [`Remedy::CompactOlder`] or [`Remedy::CompactAll`].
    pub remedy: Remedy,
    /// The characters that recent messages may have.
    pub tail_chars: u64,
    /// The newest message waits for a response, so it stays.
    pub is_asked: bool,
    /// Whether the model has more to do.
    pub turn: TurnState,
}

/// What a message of the model at the end of the conversation means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// It is the end of a request, so the model is to go on from there.
    Sent,
    /// It is an answer.
    Over,
}

/// Selects; none if there is nothing to summarise.
pub(super) fn select(
    context: &Context,
    pivot: Option<&Pivot>,
    settings: &CompactionSettings,
    input: SelectionInput,
) -> Option<Selection> {
    let marker = waiting_marker(context, pivot, settings);
    let is_conversation = |row: &&LiveMessage| {
        let rank = Pivot::rank(pivot, row.seq, &row.facts).0;
        !row.facts.is_fixed() && rank >= 2 && marker != Some(row.seq)
    };
    let mut conversation: Vec<&LiveMessage> = context.rows().iter().filter(is_conversation).collect();
    let mut selection = Selection { marker, ..Selection::default() };
    let repeats = settings.replay == Replay::Overflowed && input.trigger == Trigger::Refusal;
    // Repeating a message drops what came after it, and a result that the model has not seen must stay.
    if repeats && context.waiting_from().is_none() && !context.has_unseen_results() {
        repeat(&mut conversation, &mut selection);
    }
    // Before a message that is repeated, everything is answered. A tail has its own rules for what else stays.
    let goes_on = matches!(input.trigger, Trigger::Estimate | Trigger::Refusal)
        && settings.tail.is_none()
        && selection.replay.is_none();
    let ending = if goes_on { Ending::Sent } else { Ending::Over };
    let line = first_kept(context, &conversation, settings, input, ending);
    let (head, tail) = conversation.split_at_checked(line)?;
    let asked = head.iter().rev().find(|row| row.facts.is_from_user() && !row.facts.has_tool_parts());
    // A user message that was answered must not end up last, as if it were new.
    let is_answered = input.turn == TurnState::Over
        && tail.is_empty()
        && head.last().is_some_and(|row| row.facts.role == Role::Assistant);
    let keeps = settings.tail.is_some_and(|tail| tail.request)
        && !is_answered
        && !tail.iter().any(|row| row.facts.is_from_user())
        && selection.replay.is_none();
    selection.kept = asked.filter(|_| keeps).map(|row| row.seq).into_iter().collect();
    selection.head = head.iter().map(|row| row.seq).filter(|seq| !selection.kept.contains(seq)).collect();
    selection.tail = tail.first().map(|row| row.seq);
    // A marker that the client wrote gets its summary even if nothing came before it.
    let is_requested = marker.is_some() && conversation.is_empty();
    (!selection.head.is_empty() || is_requested).then_some(selection)
}

/// The newest message, if it is a marker without a summary: the process died in between, or the client wrote the marker
/// to ask for a compaction. It is used instead of writing a second one.
fn waiting_marker(context: &Context, pivot: Option<&Pivot>, settings: &CompactionSettings) -> Option<Seq> {
    let newest = context.rows().last().filter(|_| settings.marker_at == MarkerAt::Start)?;
    let holds = pivot.is_some_and(|pivot| pivot.marker == Some(newest.seq));
    (newest.facts.kind == MessageKind::Marker && !holds).then_some(newest.seq)
}

/// Takes out the last user message with everything after it, if there is an earlier one to summarise.
fn repeat(conversation: &mut Vec<&LiveMessage>, selection: &mut Selection) {
    let users = || conversation.iter().enumerate().filter(|(_, row)| row.facts.is_from_user());
    if let (Some((last, row)), true) = (users().next_back(), users().count() > 1) {
        selection.replay = Some(row.seq);
        selection.dropped = conversation.iter().skip(last).map(|row| row.seq).collect();
        conversation.truncate(last);
    }
}

/// The index of the first message that stays.
fn first_kept(
    context: &Context,
    conversation: &[&LiveMessage],
    settings: &CompactionSettings,
    input: SelectionInput,
    ending: Ending,
) -> usize {
    let torn = torn(conversation);
    let is_whole = |line: usize| torn.get(line).is_none_or(|&open| open == 0);
    let mut line = line_by_budget(conversation, settings, input.tail_chars, &is_whole);
    if let Some(waiting) = context.waiting_from().and_then(|at| context.rows().get(at)) {
        line = line.min(conversation.iter().position(|row| row.seq == waiting.seq).unwrap_or(line));
    }
    if input.is_asked && settings.tail.is_some() {
        line = line.min(conversation.len().saturating_sub(1));
    }
    line = line.min(question_from(conversation, input.remedy, ending));
    while line > 0 && !is_whole(line) {
        line -= 1;
    }
    line
}

/// The index of the first message that the model has not answered yet; the number of messages if it answered all.
///
/// That is everything after its last message. Where next to nothing is kept, it is the newest message, and results that
/// the model has not seen. A request that ends with a message of the model asks it to go on from there, so that message
/// stays behind what it answers.
fn question_from(conversation: &[&LiveMessage], remedy: Remedy, ending: Ending) -> usize {
    let is_answer = |row: &&LiveMessage| row.facts.role == Role::Assistant;
    let behind_answer = |rows: &[&LiveMessage]| rows.iter().rposition(is_answer).map_or(0, |at| at + 1);
    let (end, start) = (conversation.len(), behind_answer(conversation));
    let unanswered = conversation.get(start..).unwrap_or_default();
    let keeps_all = remedy == Remedy::CompactOlder;
    if unanswered.is_empty() {
        let begun = conversation.iter().rposition(|row| !is_answer(row)).map_or(0, |at| at + 1);
        let before = conversation.get(..begun).unwrap_or_default();
        return if ending == Ending::Sent && keeps_all { behind_answer(before) } else { end };
    }
    let unseen = unanswered.iter().position(|row| row.facts.has_tool_parts());
    let newest = unseen.map_or(end - 1, |at| start + at);
    if keeps_all { start } else { newest }
}

/// For each line between messages, how many pairs of tool call and result it would separate.
fn torn(conversation: &[&LiveMessage]) -> Vec<i64> {
    let mut change = vec![0i64; conversation.len() + 2];
    let mut calls: HashMap<&str, usize> = HashMap::new();
    for (at, row) in conversation.iter().enumerate() {
        for part in &row.facts.parts {
            let Some(call) = part.call.as_deref() else { continue };
            match part.kind {
                PartKind::Call => drop(calls.insert(call, at)),
                PartKind::Result => {
                    if let Some(&called) = calls.get(call) {
                        // From the line after the call to the line before the result.
                        change[called + 1] += 1;
                        change[at + 1] -= 1;
                    }
                }
                _ => {}
            }
        }
    }
    let mut open = 0;
    for change in &mut change {
        open += *change;
        *change = open;
    }
    change
}

/// The index of the first message that stays by the budget alone.
fn line_by_budget(
    conversation: &[&LiveMessage],
    settings: &CompactionSettings,
    budget: u64,
    is_whole: &dyn Fn(usize) -> bool,
) -> usize {
    let Some(tail) = settings.tail else { return conversation.len() };
    // Exact, so that a range is the difference of two sums.
    let mut sums = vec![0u128];
    sums.extend(conversation.iter().scan(0u128, |sum, row| {
        *sum += u128::from(row.chars);
        Some(*sum)
    }));
    let sum = |at: usize| sums.get(at).copied().unwrap_or_default();
    let size = |range: Range<usize>| {
        u64::try_from(sum(range.end).saturating_sub(sum(range.start))).unwrap_or(u64::MAX)
    };
    // What comes before the first user message is a turn, too.
    let begins_turn = |at: usize| at == 0 || conversation.get(at).is_some_and(|row| row.facts.is_from_user());
    tail_start(TailRule { budget, turns: tail.turns }, conversation.len(), begins_turn, size, is_whole)
}
