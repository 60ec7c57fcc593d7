//! A number of tokens, or a share of what is usable, written as `40000` or `"25%"`.
//!
//! Thresholds are set either way: what limits costs is a number of tokens, what avoids overflow is a share of the window.
//!
//! ```
//! use secateur::Amount;
//!
//! assert_eq!("12.5%".parse::<Amount>()?.of(200_000), 25_000);
//! assert_eq!(Amount::Tokens(40_000).of(200_000), 40_000);
//! assert!("a quarter".parse::<Amount>().is_err());
//! # Ok::<(), String>(())
//! ```

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number of tokens, or a share of what is usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A number of tokens.
    Tokens(u32),
    /// Hundredths of a percent. A whole number, so that a share gives the same result on every machine.
    Share(u32),
}

const ALLOWED: &str = "a number of tokens such as 40000, or a share such as \"25%\"";
const WHOLE: u32 = 10_000;

impl Amount {
    /// The amount in tokens; `whole` is what is usable. Never negative.
    pub fn of(self, whole: i64) -> i64 {
        match self {
            Amount::Tokens(tokens) => tokens.into(),
            Amount::Share(share) => {
                let tokens = i128::from(whole.max(0)) * i128::from(share) / i128::from(WHOLE);
                i64::try_from(tokens).unwrap_or(i64::MAX)
            }
        }
    }
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not {ALLOWED}");
        let Some(percent) = text.trim().strip_suffix('%') else {
            return text.trim().parse().map(Amount::Tokens).map_err(|_| wrong());
        };
        let percent: f64 = percent.trim().parse().map_err(|_| wrong())?;
        let share = (percent * 100.0).round();
        // Within these bounds the conversion is exact.
        if (0.0..=f64::from(WHOLE)).contains(&share) { Ok(Amount::Share(share as u32)) } else { Err(wrong()) }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Tokens(tokens) => write!(f, "{tokens}"),
            Amount::Share(share) => write!(f, "{}%", f64::from(*share) / 100.0),
        }
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Amount::Tokens(tokens) => serializer.serialize_u32(*tokens),
            Amount::Share(_) => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AmountVisitor;
        impl Visitor<'_> for AmountVisitor {
            type Value = Amount;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(ALLOWED)
            }

            fn visit_i64<E: de::Error>(self, tokens: i64) -> Result<Amount, E> {
                let amount = u32::try_from(tokens).map(Amount::Tokens);
                amount.map_err(|_| E::invalid_value(de::Unexpected::Signed(tokens), &self))
            }

            fn visit_u64<E: de::Error>(self, tokens: u64) -> Result<Amount, E> {
                let amount = u32::try_from(tokens).map(Amount::Tokens);
                amount.map_err(|_| E::invalid_value(de::Unexpected::Unsigned(tokens), &self))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Amount, E> {
                text.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(AmountVisitor)
    }
}
