//! When a context overflows its model's window.
//!
//! The systems add up different terms of the reported usage, reserve room for the response in different
//! ways and compare with `>` or `>=`; even a missing limit means different things to JavaScript's
//! `||`, to its `??` and to Python's `> 0`. [`OverflowRule`] holds those choices as data.
//!
//! ```
//! use secateur::{Limits, Profiles, Usage};
//!
//! let rule = Profiles::builtin().get("opencode@2026-01")?.overflow;
//! let limits = Limits { context: 200_000, output: Some(32_000), ..Limits::default() };
//! let usage = Usage { input: 168_001, ..Usage::default() };
//! assert!(rule.judge(&usage, &limits).overflow);
//! # Ok::<(), secateur::ProfileError>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::usage::Usage;

/// The limits of a model, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// The whole window; zero if unknown.
    pub context: i64,
    /// A separate limit for the input, if the provider has one.
    pub input: Option<i64>,
    /// The longest response.
    pub output: Option<i64>,
}

impl Limits {
    /// Makes the window smaller by this many tokens.
    pub(crate) fn shrink(&mut self, tokens: i64) {
        let less = |limit: i64| {
            if limit > 0 { limit.saturating_sub(tokens).max(1) } else { limit }
        };
        (self.context, self.input) = (less(self.context), self.input.map(less));
    }
}

/// When a number that may be missing counts as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Given {
    /// Never: the system ignores it.
    Never,
    /// If it is there at all, even as zero.
    Present,
    /// If it is there and not zero.
    NonZero,
    /// If it is there and above zero.
    Positive,
}

impl Given {
    fn of(self, number: Option<i64>) -> Option<i64> {
        number.filter(|&number| match self {
            Given::Never => false,
            Given::Present => true,
            Given::NonZero => number != 0,
            Given::Positive => number > 0,
        })
    }
}

/// A term of the reported usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Term {
    /// Input that was not read from a cache.
    Input,
    /// Output.
    Output,
    /// Input read from a cache.
    CacheRead,
    /// Input written to a cache.
    CacheWrite,
    /// Reasoning. Of the founding systems only OpenCode's branch v2 counts it.
    Reasoning,
}

/// Which limit the reserve is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reserve {
    /// There is none: the input limit as it is, or the window less the longest response.
    Nothing,
    /// From the input limit; without one, the window less the longest response.
    FromInput,
    /// From the input limit or, without one, from the window.
    FromEither,
    /// From the input limit and from the window, where the longest response counts instead if it is longer; the smaller
    /// result counts. A model without an output limit has no longest response, and the reserve is never cut short.
    FromBoth,
}

/// What it means that the reserve leaves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exhausted {
    /// Compare with the negative number.
    Compare,
    /// Compare with zero.
    Zero,
    /// Overflow, whatever was used.
    Overflow,
}

/// How a count is compared with what is usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// Overflow if the count is more.
    MoreThan,
    /// Overflow if the count is as much or more.
    AtLeast,
}

/// When a context overflows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverflowRule {
    /// Whether overflow is checked at all. In a profile this is `compaction.auto`.
    #[serde(skip)]
    pub auto: bool,
    /// The terms that are added up.
    pub terms: Vec<Term>,
    /// When the provider's own total takes their place.
    pub total: Given,
    /// The most that is reserved for a response, and what is reserved if the model has no limit.
    pub output_cap: i64,
    /// When the model's output limit counts.
    pub output_limit: Given,
    /// When the model's input limit counts.
    pub input_limit: Given,
    /// When the window's size counts; without it nothing overflows.
    pub context_limit: Given,
    /// What the reserve is taken from.
    pub reserve: Reserve,
    /// The configured reserve.
    pub reserved: Option<i64>,
    /// When the configured reserve counts.
    pub reserved_limit: Given,
    /// The reserve without configuration, if the longest response is not shorter.
    pub reserved_default: i64,
    /// What it means that nothing is left.
    pub exhausted: Exhausted,
    /// How the count is compared.
    pub comparison: Comparison,
    /// Whether a count of zero or less never overflows.
    pub empty_fits: bool,
}

/// The outcome of an overflow check, with the numbers behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Overflow {
    /// Whether the context overflows.
    pub overflow: bool,
    /// What was counted.
    pub count: i64,
    /// What is usable; none if the check is off or the window unknown.
    pub usable: Option<i64>,
}

impl OverflowRule {
    /// The tokens that a usage counts for.
    pub fn count(&self, usage: &Usage) -> i64 {
        if let Some(total) = self.total.of(usage.total) {
            return total;
        }
        let term = |term: &Term| match term {
            Term::Input => usage.input,
            Term::Output => usage.output,
            Term::CacheRead => usage.cache_read,
            Term::CacheWrite => usage.cache_write,
            Term::Reasoning => usage.reasoning,
        };
        self.terms.iter().map(term).fold(0, i64::saturating_add)
    }

    /// The longest response that has to fit.
    pub fn longest_response(&self, limits: &Limits) -> i64 {
        let response = match self.output_limit.of(limits.output) {
            Some(limit) => limit.min(self.output_cap),
            None => self.output_cap,
        };
        match self.output_limit {
            Given::Positive => response.max(0),
            _ => response,
        }
    }

    /// What is left of the window for the context; none if the window is unknown.
    pub fn usable(&self, limits: &Limits) -> Option<i64> {
        let context = self.context_limit.of(Some(limits.context))?;
        let response = self.longest_response(limits);
        let asked = self.reserved_limit.of(self.reserved);
        let reserved = asked.unwrap_or(self.reserved_default.min(response));
        let usable = match (self.reserve, self.input_limit.of(limits.input)) {
            (Reserve::FromBoth, input) => {
                let reserved = asked.unwrap_or(self.reserved_default);
                let response = self.output_limit.of(limits.output).map_or(0, |_| response);
                let rest = context.saturating_sub(response.max(reserved));
                input.map_or(rest, |input| rest.min(input.saturating_sub(reserved)))
            }
            (Reserve::Nothing, Some(input)) => input,
            (Reserve::FromInput | Reserve::FromEither, Some(input)) => input.saturating_sub(reserved),
            (Reserve::FromEither, None) => context.saturating_sub(reserved),
            (Reserve::Nothing | Reserve::FromInput, None) => context.saturating_sub(response),
        };
        Some(if self.exhausted == Exhausted::Zero { usable.max(0) } else { usable })
    }

    /// Whether a usage overflows these limits.
    pub fn judge(&self, usage: &Usage, limits: &Limits) -> Overflow {
        let count = self.count(usage);
        let usable = self.usable(limits);
        let overflow = self.auto
            && usable.is_some_and(|usable| {
                let exhausted = self.exhausted == Exhausted::Overflow && usable <= 0;
                let full = match self.comparison {
                    Comparison::MoreThan => count > usable,
                    Comparison::AtLeast => count >= usable,
                };
                (exhausted || full) && !(self.empty_fits && count <= 0)
            });
        Overflow { overflow, count, usable }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profiles;

    #[test]
    fn both_limits_lose_the_reserve_or_the_longest_response() {
        let rule = |reserved| {
            let rule = Profiles::builtin().get("opencode@v2b").unwrap().overflow;
            OverflowRule { reserved, ..rule }
        };
        let usable = |reserved, input, output| {
            rule(reserved).usable(&Limits { context: 200_000, input, output }).unwrap()
        };
        assert_eq!(usable(None, None, Some(64_000)), 168_000, "no response is longer than 32,000");
        assert_eq!(usable(None, None, Some(8_000)), 180_000);
        assert_eq!(usable(Some(0), None, None), 200_000, "no limit, no response");
        assert_eq!(usable(None, Some(150_000), Some(8_000)), 130_000);
        assert_eq!(usable(Some(0), Some(195_000), Some(8_000)), 192_000);
    }
}
