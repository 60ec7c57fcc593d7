//! Measures a part while its text is read.

use secateur::{Measures, Sizes, SurrogatePairs, TrimMeasure, Unit, weighted_len, wide_len};
use xxhash_rust::xxh3::xxh3_64;

use crate::json::{self, Halves, Printer, decode, lengths, printed_len, slice_units};

/// The sizes of any raw JSON value. The content of a string is its decoded text, that of other values their own spelling.
pub(crate) fn of_json(raw: &str, measures: &Measures) -> Sizes {
    let json::Lengths { units, points } = lengths(raw);
    let mut sizes = Sizes { bytes: raw.len() as u64, units, points, blocks: 1, ..Sizes::default() };
    add_raw_measures(&mut sizes, raw, measures);
    let text_counts = measures.weighted || measures.wide || measures.tokens.is_some() || measures.excerpt;
    if text_counts || measures.trimmed.is_some() {
        add_text_measures(&mut sizes, &decode(raw), measures);
    }
    sizes
}

/// The sizes of a text that is not JSON, as if it were a string.
pub(crate) fn of_text(text: &str, measures: &Measures) -> Sizes {
    Sizes { bytes: text.len() as u64, ..of_json(&json::encode(text), measures) }
}

/// The sizes of a tool's input: of its compact JSON, also where the JSON comes wrapped in a string.
///
/// Logs spell one input in many ways. The compact spelling makes sizes comparable between formats.
pub(crate) fn of_input(raw: &str, measures: &Measures) -> Sizes {
    if json::fields::is_string(raw) {
        let inner = decode(raw);
        if !matches!(inner.trim_start().as_bytes().first(), Some(b'{' | b'[')) {
            return of_json(raw, measures);
        }
        let sizes = of_input(&inner, measures);
        return Sizes { bytes: raw.len() as u64, ..sizes };
    }
    let mut sizes = of_json(raw, measures);
    let wide = sizes.units.saturating_sub(sizes.points);
    sizes.points = printed_len(raw, Printer::Compact);
    sizes.units = sizes.points + wide;
    sizes
}

/// Adds the measures of the raw value.
pub(crate) fn add_raw_measures(sizes: &mut Sizes, raw: &str, measures: &Measures) {
    if measures.js_json {
        sizes.js_json = printed_len(raw, Printer::JavaScript);
    }
    if measures.py_json {
        sizes.py_json = printed_len(raw, Printer::Python);
    }
    if measures.source {
        sizes.source = xxh3_64(raw.as_bytes());
    }
}

/// Adds the measures of the decoded text.
fn add_text_measures(sizes: &mut Sizes, text: &str, measures: &Measures) {
    if measures.weighted {
        sizes.weighted = weighted_len(text);
    }
    if measures.wide {
        sizes.wide = wide_len(text);
    }
    if let Some(measure) = measures.trimmed {
        sizes.trimmed = trimmed_len(text, sizes.units, measure);
    }
    if measures.excerpt {
        sizes.excerpt = json::utf16_len(&secateur::excerpt(text));
    }
    #[cfg(feature = "bpe")]
    if let Some(vocabulary) = measures.tokens {
        sizes.tokens = secateur::count_tokens(text, vocabulary);
    }
}

/// The length of what a trim keeps of a text of `units` UTF-16 units.
pub(crate) fn trimmed_len(text: &str, units: u64, measure: TrimMeasure) -> u64 {
    let TrimMeasure { trim, unit } = measure;
    let halves = match trim.pairs {
        SurrogatePairs::Split => Halves::Replace,
        SurrogatePairs::Whole => Halves::Omit,
    };
    let head = slice_units(text, 0, trim.head.min(units), halves);
    let tail = slice_units(text, units.saturating_sub(trim.tail), units, halves);
    match unit {
        // What a pair counts for depends on the whole text.
        Unit::Wide => wide_len(&format!("{head}{tail}")),
        _ => weighted_len(&head) + weighted_len(&tail),
    }
}

/// Whether a raw string is exactly the placeholder that the measures name.
pub(crate) fn is_placeholder(raw: &str, measures: &Measures) -> bool {
    measures.placeholder.as_deref().is_some_and(|placeholder| decode(raw) == placeholder)
}
