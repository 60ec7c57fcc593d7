//! Which of the newest messages OpenCode of August 2026 keeps verbatim after a compaction.
//!
//! Whole turns are kept from the newest back, while their estimates fit the budget. The first turn that does not fit is
//! split: its newest messages are kept as far as they fit. A tail that would be everything is no tail.

use std::ops::Range;

use serde_json::Value;

use super::ui_messages::{parts_of, text};
use crate::value::kind;

/// What bounds a tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TailLimits {
    /// Tokens that the tail may have.
    pub budget: u64,
    /// Turns that it may have; without a number any.
    pub turns: Option<i64>,
}

/// The index of the first message that is kept, if any is; `estimate` counts the tokens of a range of messages.
pub fn first_kept(
    messages: &[&Value],
    limits: TailLimits,
    estimate: impl Fn(Range<usize>) -> u64,
) -> Option<usize> {
    let begins_turn = |&at: &usize| messages.get(at).is_some_and(|message| is_turn(message));
    let starts: Vec<usize> = (0..messages.len()).filter(begins_turn).collect();
    let most = limits.turns.map_or(usize::MAX, |turns| usize::try_from(turns).unwrap_or(0));
    let mut left = limits.budget;
    let mut end = messages.len();
    let mut first = None;
    for &start in starts.iter().rev().take(most) {
        let size = estimate(start..end);
        let Some(rest) = left.checked_sub(size) else {
            let split = (start + 1..end).find(|&at| left > 0 && estimate(at..end) <= left);
            first = split.or(first);
            break;
        };
        (left, first, end) = (rest, Some(start), start);
    }
    first.filter(|&first| first > 0)
}

/// A turn begins with a message of the user that is no marker.
fn is_turn(message: &Value) -> bool {
    let role = message.get("info").and_then(|info| text(info, "role"));
    role == Some("user") && !is_marker(message)
}

/// Whether a message has asked for a compaction.
pub(super) fn is_marker(message: &Value) -> bool {
    parts_of(message).iter().any(|part| kind(part) == "compaction")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kept(roles: &[&str], budget: u64, turns: Option<i64>) -> Option<usize> {
        let messages: Vec<Value> = roles.iter().map(|role| json!({"info": {"role": role}})).collect();
        let messages: Vec<&Value> = messages.iter().collect();
        first_kept(&messages, TailLimits { budget, turns }, |range| range.len() as u64)
    }

    #[test]
    fn turns_are_kept_from_the_newest_back() {
        let roles = ["user", "assistant", "user", "assistant", "user", "assistant"];
        assert_eq!(kept(&roles, 2, None), Some(4));
        assert_eq!(kept(&roles, 4, None), Some(2));
        assert_eq!(kept(&roles, 99, None), None, "everything is no tail");
        assert_eq!(kept(&roles, 99, Some(1)), Some(4));
        assert_eq!(kept(&roles, 99, Some(0)), None);
    }

    #[test]
    fn the_turn_that_does_not_fit_is_split() {
        let roles = ["user", "assistant", "assistant", "assistant"];
        assert_eq!(kept(&roles, 2, None), Some(2));
        assert_eq!(kept(&roles, 0, None), None);
    }
}
