//! Token estimates that learn from the usage that the provider reports.
//!
//! Dividing characters by four is wrong by a third on real sessions: the ratio depends on the model,
//! the language and the kind of output, and the system prompt and the tool definitions are not in the
//! log at all. Two facts correct that. The context that the provider last reported is exact, so only what came
//! after it has to be estimated. And between two reports both characters and tokens grew, which
//! gives this session's own ratio without the unknown constant part.
//!
//! ```
//! use secateur::Calibration;
//!
//! let mut calibration = Calibration::default();
//! calibration.observe(0, 12_000); // a system prompt that the log does not show
//! calibration.observe(300_000, 112_000);
//! assert_eq!(calibration.predict(300_000), 112_000);
//! assert_eq!(calibration.predict(330_000), 122_000); // three characters a token, as learned
//! ```

use serde::{Deserialize, Serialize};

/// Characters per token assumed before anything is learned, as a fraction. The median that real
/// sessions show is nearer to three than to four.
const PRIOR_CHARS: u64 = 16;
const PRIOR_TOKENS: u64 = 5;

/// Growth that has been seen must exceed this many tokens before the learned ratio replaces the prior.
const ENOUGH_TOKENS: u64 = 2_000;

/// The learned relation of characters and tokens of one branch of a conversation.
///
/// Whole numbers throughout, so that the same observations always give the same predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    chars: u64,
    tokens: u64,
    anchor: Option<Anchor>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Anchor {
    chars: u64,
    tokens: u64,
}

impl Calibration {
    /// Learns that a context of `chars` characters was reported as `tokens` tokens.
    ///
    /// A context that shrank was pruned, compacted or rewound: it moves the anchor, but says
    /// nothing about the ratio. Neither does growth that text cannot explain, such as other tools,
    /// another model or a wrong report.
    pub fn observe(&mut self, chars: u64, tokens: u64) {
        if let Some(last) = self.anchor
            && chars > last.chars
            && tokens > last.tokens
            && is_plausible(chars - last.chars, tokens - last.tokens)
        {
            self.chars = self.chars.saturating_add(chars - last.chars);
            self.tokens = self.tokens.saturating_add(tokens - last.tokens);
        }
        self.anchor = Some(Anchor { chars, tokens });
    }

    /// The tokens that a context of `chars` characters will be reported as.
    pub fn predict(&self, chars: u64) -> u64 {
        let Some(anchor) = self.anchor else {
            return self.scale(chars);
        };
        if chars >= anchor.chars {
            anchor.tokens.saturating_add(self.scale(chars - anchor.chars))
        } else {
            anchor.tokens.saturating_sub(self.scale(anchor.chars - chars))
        }
    }

    /// The tokens of a context that shrank to `chars` characters, as that share of the last report.
    /// None if the context did not shrink, or if the ratio is learned.
    ///
    /// Before the ratio is learned, [`predict`](Self::predict) may subtract too little, and then a
    /// request that fits would never be sent. This lower estimate is safe: if a request is too long
    /// after all, the provider says so.
    ///
    /// ```
    /// let mut calibration = secateur::Calibration::default();
    /// calibration.observe(90_000, 90_000);
    /// assert!(calibration.predict(9_000) > 60_000);
    /// assert_eq!(calibration.share(9_000), Some(9_000));
    /// ```
    pub fn share(&self, chars: u64) -> Option<u64> {
        let anchor = self.anchor.filter(|anchor| chars < anchor.chars && !self.is_learned())?;
        let tokens = u128::from(anchor.tokens) * u128::from(chars) / u128::from(anchor.chars);
        u64::try_from(tokens).ok()
    }

    /// Tokens for this many characters by the learned ratio alone.
    pub fn scale(&self, chars: u64) -> u64 {
        let (per_chars, per_tokens) = self.ratio();
        let tokens = u128::from(chars) * u128::from(per_tokens) / u128::from(per_chars);
        u64::try_from(tokens).unwrap_or(u64::MAX)
    }

    /// Characters that fit into this many tokens by the learned ratio.
    ///
    /// ```
    /// let calibration = secateur::Calibration::default();
    /// assert!(calibration.scale(calibration.chars(1_000)) <= 1_000);
    /// ```
    pub fn chars(&self, tokens: u64) -> u64 {
        let (per_chars, per_tokens) = self.ratio();
        let chars = u128::from(tokens) * u128::from(per_chars) / u128::from(per_tokens);
        u64::try_from(chars).unwrap_or(u64::MAX)
    }

    /// Characters per token as learned so far.
    pub fn chars_per_token(&self) -> f64 {
        let (chars, tokens) = self.ratio();
        chars as f64 / tokens as f64
    }

    fn is_learned(&self) -> bool {
        self.tokens >= ENOUGH_TOKENS && self.chars > 0
    }

    /// Both halves are positive: `observe` only adds growth of both.
    fn ratio(&self) -> (u64, u64) {
        if !self.is_learned() {
            return (PRIOR_CHARS, PRIOR_TOKENS);
        }
        (self.chars, self.tokens)
    }
}

/// Whether text can explain the growth: no text has more than two tokens per character, or less than one per
/// sixteen characters.
fn is_plausible(chars: u64, tokens: u64) -> bool {
    tokens <= chars.saturating_mul(2) && chars <= tokens.saturating_mul(16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_shrunken_context_moves_the_anchor_only() {
        let mut calibration = Calibration::default();
        calibration.observe(0, 0);
        calibration.observe(30_000, 10_000);
        let ratio = calibration.chars_per_token();
        calibration.observe(6_000, 3_000);
        assert_eq!(calibration.chars_per_token(), ratio);
        assert_eq!(calibration.predict(6_000), 3_000);
    }

    proptest! {
        #[test]
        fn no_report_can_break_it(reports in prop::collection::vec((any::<u64>(), any::<u64>()), 0..20), at in any::<u64>()) {
            let mut calibration = Calibration::default();
            for (chars, tokens) in reports {
                calibration.observe(chars, tokens);
                prop_assert_eq!(calibration.predict(chars), tokens);
            }
            calibration.predict(at);
        }
    }
}
