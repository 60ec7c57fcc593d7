//! The tail of a conversation: the newest messages, which stay verbatim beside a summary.
//!
//! Whole turns stay, from the newest back, while they fit a budget. The first turn that does not fit is split: its
//! newest messages stay as far as they fit. How messages are measured is the caller's: by characters, or by the request
//! that they would make.
//!
//! ```
//! use secateur::{TailRule, tail_start};
//!
//! // Two turns of a question and an answer, ten tokens each.
//! let begins_turn = |at: usize| at % 2 == 0;
//! let start = |budget| {
//!     let rule = TailRule { budget, turns: None };
//!     tail_start(rule, 4, begins_turn, |range| 10 * range.len() as u64, |_| true)
//! };
//! assert_eq!((start(9), start(15), start(20), start(35), start(40)), (4, 3, 2, 1, 0));
//! ```

use std::ops::Range;

/// What bounds a tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TailRule {
    /// The most that it may measure.
    pub budget: u64,
    /// The most turns; none for all that fit.
    pub turns: Option<u32>,
}

/// The index of the first of `messages` messages that stays; their number if none does.
///
/// `begins_turn` tells where turns begin; messages before the first one never stay. `size` measures a range of messages,
/// and `may_split` tells whether a turn may be split before a message.
pub fn tail_start(
    rule: TailRule,
    messages: usize,
    begins_turn: impl Fn(usize) -> bool,
    size: impl Fn(Range<usize>) -> u64,
    may_split: impl Fn(usize) -> bool,
) -> usize {
    let (mut start, mut left, mut turns) = (messages, rule.budget, 0);
    while rule.turns.is_none_or(|most| turns < most) {
        let Some(turn) = (0..start).rev().find(|&at| begins_turn(at)) else { break };
        let Some(rest) = left.checked_sub(size(turn..start)) else {
            let fits = |&at: &usize| may_split(at) && size(at..start) <= left;
            return (turn + 1..start).find(fits).unwrap_or(start);
        };
        (start, left, turns) = (turn, rest, turns + 1);
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three turns of two messages with these sizes.
    fn start(sizes: [u64; 6], budget: u64, turns: Option<u32>) -> usize {
        let size = |range: Range<usize>| sizes[range].iter().sum();
        tail_start(TailRule { budget, turns }, 6, |at| at % 2 == 0, size, |at| at != 3)
    }

    #[test]
    fn turns_stay_while_they_fit() {
        assert_eq!(start([1; 6], 6, None), 0);
        assert_eq!(start([1; 6], 4, None), 2);
        assert_eq!(start([1; 6], 6, Some(1)), 4);
        assert_eq!(start([1; 6], 6, Some(0)), 6);
    }

    #[test]
    fn the_first_turn_that_does_not_fit_is_split_where_that_is_possible() {
        assert_eq!(start([1, 1, 1, 1, 9, 1], 5, None), 5);
        assert_eq!(start([1, 1, 9, 1, 1, 1], 5, None), 4, "a call stays with its result");
        assert_eq!(start([1, 1, 1, 1, 9, 9], 5, None), 6);
    }

    #[test]
    fn what_comes_before_the_first_turn_does_not_stay() {
        let rule = TailRule { budget: 99, turns: None };
        assert_eq!(tail_start(rule, 4, |at| at == 2, |range| range.len() as u64, |_| true), 2);
    }
}
