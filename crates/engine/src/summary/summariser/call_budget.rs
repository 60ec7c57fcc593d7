//! How a window is shared between request and response.

use std::fmt;

use secateur::{DEFAULT_WINDOW, Limits};

use super::super::chunk::TokenRuler;
use super::super::piece::TrimmedText;

/// Tokens that a model may use for thinking before it writes; many providers count them as output.
const THOUGHT: u64 = 1024;

/// What limits the length of a response, and so which setting allows for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputBound {
    /// The longest summary in the profile.
    Summary,
    /// The model's longest response.
    Output,
    /// The model's window, of which a response gets a quarter.
    Window,
}

impl fmt::Display for OutputBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Summary => "compaction.summary in the profile",
            Self::Output => "output of the summariser",
            Self::Window => "context of the summariser, of which a response gets a quarter",
        })
    }
}

/// What a request and its response may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallBudget {
    /// The longest response, in the model's tokens.
    pub answer: u64,
    /// What limits it.
    pub bound: OutputBound,
    /// The longest summary that may result, in estimated tokens.
    pub budget: u64,
    /// The largest request, in estimated tokens.
    pub question: u64,
}

impl CallBudget {
    /// The response gets twice the budget, but no more than a quarter of the window. A tenth of the rest is a margin
    /// for the request: estimates err, and providers add text of their own.
    pub(super) fn new(limits: Limits, budget: u64) -> Self {
        let window = window(limits);
        let wanted = budget.saturating_mul(2).saturating_add(THOUGHT);
        let output = given(limits.output).unwrap_or(u64::MAX);
        let bounds = [
            (wanted, OutputBound::Summary),
            (output, OutputBound::Output),
            (window / 4, OutputBound::Window),
        ];
        let (answer, bound) =
            bounds.into_iter().min_by_key(|&(most, _)| most).unwrap_or((0, OutputBound::Window));
        let free = (window - answer).min(given(limits.input).unwrap_or(u64::MAX));
        Self { answer, bound, budget: budget.min(answer / 3 * 2), question: free - free / 10 }
    }

    /// The longest summary that is carried on to the next chunk, though it must be shortened in the end.
    pub(super) fn longest(&self) -> u64 {
        self.budget + self.budget / 2
    }

    /// Corrects the budget after a provider refused a request that was estimated at `asked` tokens. The next request
    /// will be smaller, whatever the provider said.
    pub(super) fn shrink(&mut self, limits: Limits, asked: u64, tokens: Option<u64>, limit: Option<u64>) {
        let window = window(limits).min(limit.unwrap_or(u64::MAX));
        if window / 4 < self.answer {
            (self.answer, self.bound) = (window / 4, OutputBound::Window);
        }
        self.budget = self.budget.min(self.answer / 3 * 2);
        let free = window - self.answer;
        let fitting = match tokens {
            Some(tokens) if tokens > free => scale(asked, free, tokens),
            // There are no numbers, or by the provider's own numbers it would fit.
            _ => asked / 2,
        };
        self.question = fitting.min(asked - asked / 10).saturating_sub(1);
    }
}

/// The window; a common default if it is unknown.
fn window(limits: Limits) -> u64 {
    given(Some(limits.context)).unwrap_or(DEFAULT_WINDOW as u64)
}

fn given(limit: Option<i64>) -> Option<u64> {
    limit.and_then(|limit| u64::try_from(limit).ok()).filter(|&limit| limit > 0)
}

fn scale(number: u64, by: u64, of: u64) -> u64 {
    let scaled = u128::from(number) * u128::from(by) / u128::from(of.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// Beginning and end of a text within this many tokens; none if nothing fits.
pub(super) fn clip(text: &str, tokens: u64, ruler: TokenRuler) -> Option<String> {
    let text = text.trim();
    let whole = ruler.tokens(text);
    if whole <= tokens {
        return (!text.is_empty()).then(|| text.to_owned());
    }
    let points = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    let mut limit = usize::try_from(scale(points, tokens, whole)).unwrap_or(usize::MAX);
    while limit > 0 {
        let clipped = TrimmedText::of(text, limit).to_string();
        if ruler.tokens(&clipped) <= tokens {
            return Some(clipped);
        }
        // There may be wide characters where the text is cut, and the note needs space.
        limit = limit / 4 * 3;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_knows_what_keeps_it_short() {
        let room = |context, output| CallBudget::new(Limits { context, output, input: None }, 300);
        let of = |room: CallBudget| (room.answer, room.bound);
        assert_eq!(of(room(200_000, None)), (300 * 2 + THOUGHT, OutputBound::Summary));
        assert_eq!(of(room(200_000, Some(500))), (500, OutputBound::Output));
        assert_eq!(of(room(1_000, Some(500))), (250, OutputBound::Window));
        let mut refused = room(200_000, Some(500));
        refused.shrink(Limits::default(), 4_000, Some(5_000), Some(1_200));
        assert_eq!(of(refused), (300, OutputBound::Window));
    }
}
