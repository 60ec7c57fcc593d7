//! JSON as spans: every function on any text, and against a plain oracle where the text is valid.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use secateur_formats::json::{
    Halves, Printer, Raw, Splice, Token, decode, encode, fields, lengths, points_len, print, printed_len,
    read, set_member, slice_units, tokens, utf16_len,
};
use secateur_fuzz::mutate;
use serde::de::IgnoredAny;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else { return };
    check_any(text);
    check_slices(text, data);
    if serde_json::from_str::<IgnoredAny>(text).is_ok() {
        check_valid(text.trim_matches([' ', '\t', '\n', '\r']));
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::json(data, size, max_size, seed)
});

/// What holds for any text.
fn check_any(text: &str) {
    let (units, points) = (text.encode_utf16().count() as u64, text.chars().count() as u64);
    assert_eq!((utf16_len(text), points_len(text)), (units, points));
    let literal = encode(text);
    assert_eq!(decode(&literal), text);
    assert_eq!((lengths(&literal).units, lengths(&literal).points), (units, points));
    for printer in [Printer::JavaScript, Printer::Python, Printer::Compact] {
        assert_eq!(printed_len(&literal, printer), measure(&print(&literal, printer), printer));
        _ = (print(text, printer), printed_len(text, printer));
    }
    _ = (decode(text), lengths(text), fields::truthy(text), fields::as_i64(text), fields::as_f64(text));
    let mut behind = 0;
    let mut walk = tokens(text);
    for (at, token) in walk.by_ref() {
        assert!(at >= behind && text[at..].starts_with(token.raw()));
        behind = at + token.raw().len();
    }
    assert_eq!(read::<Raw<'_>>(text).is_ok(), walk.is_complete());
    for range in [0..text.len(), text.len() / 3..text.len() / 2, 1..usize::MAX] {
        let edit = set_member(text, range, "key", "1");
        assert!(Splice::new(text.as_bytes()).push(edit.clone()).is_ok() || edit.text.is_empty());
    }
}

/// Slices by UTF-16 units against a vector of units.
fn check_slices(text: &str, data: &[u8]) {
    let units: Vec<u16> = text.encode_utf16().collect();
    let offset = |index: usize| data.get(index).map_or(0, |&byte| usize::from(byte) % (units.len() + 2));
    let (start, end) = (offset(0), offset(data.len() / 2));
    let plain = units.get(start.min(units.len())..end.min(units.len())).unwrap_or_default();
    let whole: String = char::decode_utf16(plain.iter().copied()).filter_map(Result::ok).collect();
    let (start, end) = (start as u64, end as u64);
    assert_eq!(slice_units(text, start, end, Halves::Replace), String::from_utf16_lossy(plain));
    assert_eq!(slice_units(text, start, end, Halves::Omit), whole);
}

/// What holds for one valid value without white space around it.
fn check_valid(text: &str) {
    let mut walk = tokens(text);
    let found: Vec<_> = walk.by_ref().map(|(_, token)| token).collect();
    assert!(walk.is_complete());
    for token in &found {
        if let Token::Key(raw) | Token::String(raw) = token {
            check_literal(raw);
        }
    }
    for printer in [Printer::JavaScript, Printer::Python, Printer::Compact] {
        let printed = print(text, printer);
        assert_eq!(printed_len(text, printer), measure(&printed, printer), "{text} as {printed}");
    }
    let printed = print(text, Printer::JavaScript);
    assert_eq!(print(&printed, Printer::JavaScript), printed);
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let has_numbers = found.iter().any(|token| matches!(token, Token::Number(_)));
    let has_indices =
        |token: &Token<'_>| matches!(token, Token::Key(raw) if decode(raw).parse::<u32>().is_ok());
    if !has_numbers && !found.iter().any(has_indices) {
        assert_eq!(printed, value.to_string());
    }
    if let Value::Object(mut fields) = value {
        let edit = set_member(text, 0..text.len(), "time", "\"now\"");
        let mut splice = Splice::new(text.as_bytes());
        splice.push(edit).unwrap_or_else(|error| panic!("{error}"));
        fields.insert("time".to_owned(), Value::from("now"));
        let set: Value = serde_json::from_slice(&splice.to_vec()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(set, Value::Object(fields));
    }
}

fn check_literal(raw: &str) {
    let decoded = decode(raw);
    let expected = (utf16_len(&decoded), points_len(&decoded));
    assert_eq!((lengths(raw).units, lengths(raw).points), expected, "{raw}");
    if let Ok(text) = serde_json::from_str::<String>(raw) {
        assert_eq!(decoded, text);
    }
}

fn measure(text: &str, printer: Printer) -> u64 {
    match printer {
        Printer::JavaScript => utf16_len(text),
        Printer::Python | Printer::Compact => points_len(text),
    }
}
