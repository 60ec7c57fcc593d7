//! Meters: from sizes to tokens.
//!
//! All systems estimate tokens by dividing a length. They differ in what they measure, by what they divide
//! and how they round. A [`Meter`] holds those choices as data. Each part is rounded on its own, as the
//! systems do it, so the sum over several parts is a sum of rounded numbers.
//!
//! ```
//! use secateur::{Meter, Rounding, Unit};
//!
//! let opencode = Meter { rounding: Rounding::HalfUp, ..Meter::default() };
//! assert_eq!(opencode.estimate(6), 2); // 1.5 rounds up
//! let openagentic = Meter { unit: Unit::PyJson, rounding: Rounding::FloorMin1, ..Meter::default() };
//! assert_eq!(openagentic.estimate(3), 1);
//! assert_eq!(openagentic.estimate(0), 0);
//! ```

use serde::{Deserialize, Serialize};

use crate::measure::Unit;
use crate::outline::{Outline, PartIx, PartKind};

/// How a quotient becomes a whole number of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// To the nearest, halves upwards: JavaScript's `Math.round`.
    #[default]
    HalfUp,
    /// Upwards.
    Ceil,
    /// Downwards, but at least one token for anything that is not empty.
    FloorMin1,
}

/// A rule that turns a size into an estimate of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Meter {
    /// What is counted.
    pub unit: Unit,
    /// Units per token.
    pub divisor: f64,
    /// How the quotient is rounded.
    pub rounding: Rounding,
    /// No single part counts for more tokens than this.
    pub cap: Option<u64>,
    /// What an image counts for, in units.
    pub image: u64,
}

impl Default for Meter {
    fn default() -> Self {
        Self { unit: Unit::Utf16, divisor: 4.0, rounding: Rounding::HalfUp, cap: None, image: 0 }
    }
}

impl Meter {
    /// The estimate for this length.
    pub fn estimate(&self, length: u64) -> u64 {
        self.gauge().estimate(length)
    }

    /// The meter, prepared for many estimates in a row.
    pub(crate) fn gauge(&self) -> Gauge {
        let (add, least) = match self.rounding {
            Rounding::HalfUp => (2, 0),
            Rounding::Ceil => (3, 0),
            Rounding::FloorMin1 => (0, 1),
        };
        Gauge {
            // The most common divisor by far, and a shift is exact and faster than a division.
            by_four: self.divisor == 4.0,
            add,
            least,
            // No part counts for more than a column can hold, so that sums over all parts cannot overflow.
            cap: self.cap.unwrap_or(u64::MAX).min(u32::MAX.into()),
            divisor: self.divisor,
            rounding: self.rounding,
        }
    }

    /// The estimate for one part.
    #[inline]
    pub fn part(&self, outline: &Outline, part: PartIx) -> u64 {
        let length = outline.size(part, self.unit);
        if self.image == 0 {
            return self.estimate(length);
        }
        self.estimate(length.saturating_add(outline.images(part).saturating_mul(self.image)))
    }

    /// The estimate for one part as it is sent: nothing if it is not sent, or was cut in the source.
    pub(crate) fn sent(&self, outline: &Outline, part: PartIx) -> u64 {
        let unsent =
            matches!(outline.kind(part), PartKind::Other | PartKind::Compaction) || outline.is_cut(part);
        if unsent { 0 } else { self.part(outline, part) }
    }

    /// The estimate for all parts that are sent.
    pub fn whole(&self, outline: &Outline) -> u64 {
        outline.parts().map(|part| self.sent(outline, part)).fold(0, u64::saturating_add)
    }
}

/// A meter with its choices resolved, for tight loops.
#[derive(Clone, Copy)]
pub(crate) struct Gauge {
    by_four: bool,
    add: u64,
    least: u64,
    cap: u64,
    divisor: f64,
    rounding: Rounding,
}

impl Gauge {
    #[inline]
    pub(crate) fn estimate(&self, length: u64) -> u64 {
        if self.by_four { self.quarter(length) } else { self.divide(length).min(self.cap) }
    }

    pub(crate) fn is_by_four(&self) -> bool {
        self.by_four
    }

    /// The estimate if the divisor is four.
    #[inline]
    pub(crate) fn quarter(&self, length: u64) -> u64 {
        (length.saturating_add(self.add) >> 2).max(length.min(self.least)).min(self.cap)
    }

    /// What is added before a division by four, if an estimate takes nothing else.
    pub(crate) fn plain_quarter(&self) -> Option<u64> {
        let plain = self.by_four && self.least == 0 && self.cap == u32::MAX.into();
        plain.then_some(self.add)
    }

    /// Divides as doubles, as the systems do. Converting to an integer truncates, which rounds numbers that are not
    /// negative down without a call to a math library.
    #[inline]
    fn divide(&self, length: u64) -> u64 {
        let quotient = length.min(i64::MAX as u64).cast_signed() as f64 / self.divisor;
        let floor = quotient as i64;
        let tokens = match self.rounding {
            Rounding::HalfUp => (quotient + 0.5) as i64,
            Rounding::Ceil => floor.saturating_add(i64::from((floor as f64) < quotient)),
            Rounding::FloorMin1 => floor.max(i64::from(length > 0)),
        };
        tokens.max(0).cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_cap_holds_for_one_part() {
        let meter = Meter { rounding: Rounding::Ceil, cap: Some(50_000), ..Meter::default() };
        assert_eq!(meter.estimate(200_000), 50_000);
        assert_eq!(meter.estimate(1_000_000), 50_000);
        assert_eq!(meter.estimate(199_997), 50_000);
        assert_eq!(meter.estimate(199_996), 49_999);
    }

    #[test]
    fn three_point_six_is_divided_as_a_double() {
        let meter = Meter { divisor: 3.6, rounding: Rounding::Ceil, ..Meter::default() };
        assert_eq!(meter.estimate(36), 10);
        assert_eq!(meter.estimate(37), 11);
    }

    proptest! {
        /// The shift is a shortcut; the division is the definition.
        #[test]
        fn the_shortcut_equals_the_division(length in 0u64..1 << 33) {
            let quotient = length as f64 / 4.0;
            let by = |rounding| Meter { rounding, ..Meter::default() }.estimate(length);
            prop_assert_eq!(by(Rounding::HalfUp), (quotient + 0.5).floor() as u64);
            prop_assert_eq!(by(Rounding::Ceil), quotient.ceil() as u64);
            prop_assert_eq!(by(Rounding::FloorMin1), (quotient.floor() as u64).max(u64::from(length > 0)));
        }

        /// Truncation replaces the functions that round.
        #[test]
        fn truncation_rounds_as_the_functions_do(length in 0u64..1 << 33, divisor in 0.5f64..20.0) {
            let quotient = length as f64 / divisor;
            let by = |rounding| Meter { rounding, divisor, ..Meter::default() }.estimate(length);
            let most = u64::from(u32::MAX);
            prop_assert_eq!(by(Rounding::HalfUp), ((quotient + 0.5).floor() as u64).min(most));
            prop_assert_eq!(by(Rounding::Ceil), (quotient.ceil() as u64).min(most));
            prop_assert_eq!(by(Rounding::FloorMin1), (quotient.floor() as u64).max(length.min(1)).min(most));
        }
    }
}
