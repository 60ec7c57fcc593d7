//! What a compaction takes and what it leaves.
//!
//! The oldest messages are summarised, recent ones stay as they are. Where the line is drawn depends on a budget, and
//! on what must not be torn apart: a tool call and its result are one exchange, and calls that still wait for their
//! results must be there when these come. Whole turns are kept if they fit; of the first that does not, its end.

use std::collections::HashMap;

use super::context::{Context, LiveMessage};
use super::effect::TurnState;
use super::event::Trigger;
use super::message::{MessageKind, Seq};
use super::state::Pivot;
use crate::compaction::{CompactionSettings, MarkerAt, Replay};
use crate::outline::{PartKind, Role};

/// What a compaction takes and what it leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    pub head: Vec<Seq>,
    pub kept: Vec<Seq>,
    pub tail: Option<Seq>,
    pub replay: Option<Seq>,
    /// Messages that go without being summarised: the repeated one, and what came of it.
    pub dropped: Vec<Seq>,
    /// The marker that is there already and waits for this summary.
    pub marker: Option<Seq>,
}

/// How a selection is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub trigger: Trigger,
    /// The characters that recent messages may have.
    pub budget: u64,
    /// The newest message waits for an answer, so it stays.
    pub is_asked: bool,
    /// Whether the model has more to do.
    pub turn: TurnState,
}

/// Draws the line; none if there is nothing to summarise.
pub(super) fn select(
    window: &Context,
    pivot: Option<&Pivot>,
    settings: &CompactionSettings,
    wish: Wish,
) -> Option<Selection> {
    let marker = waiting_marker(window, pivot, settings);
    let is_talk = |row: &&LiveMessage| {
        let rank = Pivot::rank(pivot, row.seq, &row.facts).0;
        !row.facts.is_fixed() && rank >= 2 && marker != Some(row.seq)
    };
    let mut talk: Vec<&LiveMessage> = window.rows().iter().filter(is_talk).collect();
    let mut selection = Selection { marker, ..Selection::default() };
    let repeats = settings.replay == Replay::Overflowed && wish.trigger == Trigger::Refusal;
    if repeats && window.waiting_from().is_none() {
        repeat(&mut talk, &mut selection);
    }
    let line = draw(window, &talk, settings, wish);
    let (head, tail) = talk.split_at_checked(line)?;
    let asked = head.iter().rev().find(|row| row.facts.is_said_by_user() && !row.facts.is_exchange());
    // A request that was answered must not stand at the end as if it were new.
    let is_answered = wish.turn == TurnState::Over
        && tail.is_empty()
        && head.last().is_some_and(|row| row.facts.role == Role::Assistant);
    let keeps = settings.tail.is_some_and(|tail| tail.request)
        && !is_answered
        && !tail.iter().any(|row| row.facts.is_said_by_user())
        && selection.replay.is_none();
    selection.kept = asked.filter(|_| keeps).map(|row| row.seq).into_iter().collect();
    selection.head = head.iter().map(|row| row.seq).filter(|seq| !selection.kept.contains(seq)).collect();
    selection.tail = tail.first().map(|row| row.seq);
    // A marker that somebody wrote is answered even if nothing was said before it.
    let is_asked_for = marker.is_some() && talk.is_empty();
    (!selection.head.is_empty() || is_asked_for).then_some(selection)
}

/// The newest message, if it is a marker whose summary never came: the process died in between, or whoever wants the
/// compaction has written it. It is answered instead of writing a second one.
fn waiting_marker(window: &Context, pivot: Option<&Pivot>, settings: &CompactionSettings) -> Option<Seq> {
    let newest = window.rows().last().filter(|_| settings.marker_at == MarkerAt::Start)?;
    let holds = pivot.is_some_and(|pivot| pivot.marker == Some(newest.seq));
    (newest.facts.kind == MessageKind::Marker && !holds).then_some(newest.seq)
}

/// Takes the last user message out, with what came of it, if there is an earlier one to summarise.
fn repeat(talk: &mut Vec<&LiveMessage>, selection: &mut Selection) {
    let users = || talk.iter().enumerate().filter(|(_, row)| row.facts.is_said_by_user());
    if let (Some((last, row)), true) = (users().next_back(), users().count() > 1) {
        selection.replay = Some(row.seq);
        selection.dropped = talk.iter().skip(last).map(|row| row.seq).collect();
        talk.truncate(last);
    }
}

/// The index of the first message that stays.
fn draw(window: &Context, talk: &[&LiveMessage], settings: &CompactionSettings, wish: Wish) -> usize {
    let torn = torn(talk);
    let is_whole = |line: usize| torn.get(line).is_none_or(|&open| open == 0);
    let mut line = wished(talk, settings, wish.budget, &is_whole);
    if let Some(waiting) = window.waiting_from().and_then(|at| window.rows().get(at)) {
        line = line.min(talk.iter().position(|row| row.seq == waiting.seq).unwrap_or(line));
    }
    if wish.is_asked && settings.tail.is_some() {
        line = line.min(talk.len().saturating_sub(1));
    }
    while line > 0 && !is_whole(line) {
        line -= 1;
    }
    line
}

/// For each line between messages, how many exchanges it would tear apart.
fn torn(talk: &[&LiveMessage]) -> Vec<i64> {
    let mut change = vec![0i64; talk.len() + 2];
    let mut calls: HashMap<&str, usize> = HashMap::new();
    for (at, row) in talk.iter().enumerate() {
        for part in &row.facts.parts {
            let Some(call) = part.call.as_deref() else { continue };
            match part.kind {
                PartKind::Call => drop(calls.insert(call, at)),
                PartKind::Result => {
                    if let Some(&called) = calls.get(call) {
                        // Lines behind the call up to the one before the result.
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

/// Where the line would be drawn by the budget alone.
fn wished(
    talk: &[&LiveMessage],
    settings: &CompactionSettings,
    budget: u64,
    is_whole: &dyn Fn(usize) -> bool,
) -> usize {
    let Some(tail) = settings.tail else { return talk.len() };
    let (mut line, mut left, mut turns) = (talk.len(), budget, 0u32);
    while line > 0 && tail.turns.is_none_or(|most| turns < most) {
        let before = talk.get(..line).unwrap_or_default();
        let start = before.iter().rposition(|row| row.facts.is_said_by_user()).unwrap_or(0);
        let turn = before.get(start..).unwrap_or_default();
        let size = turn.iter().map(|row| row.chars).fold(0, u64::saturating_add);
        if size > left {
            return split(turn, start, left, is_whole).unwrap_or(line);
        }
        left -= size;
        line = start;
        turns += 1;
    }
    line
}

/// Of a turn that does not fit, the longest end that does.
fn split(turn: &[&LiveMessage], start: usize, left: u64, is_whole: &dyn Fn(usize) -> bool) -> Option<usize> {
    let (mut size, mut best) = (0u64, None);
    for (offset, row) in turn.iter().enumerate().skip(1).rev() {
        size = size.saturating_add(row.chars);
        if size > left {
            break;
        }
        if is_whole(start + offset) {
            best = Some(start + offset);
        }
    }
    best
}
