use super::*;
use proptest::prelude::*;

/// One unit or code point of a string, with a way to spell it.
#[derive(Clone, Debug)]
enum Piece {
    /// Spelled as `serde_json` does.
    Plain(char),
    /// Spelled as one or two `\uXXXX`, in upper or lower case.
    Coded(char, bool),
    /// Spelled as this escape.
    Short(&'static str, char),
    /// Half of a surrogate pair.
    Half(u16),
}

fn any_letter() -> impl Strategy<Value = char> {
    prop_oneof![
        4 => prop::char::range(' ', '~'),
        1 => prop::char::range('\0', '\u{1f}'),
        1 => prop::char::range('一', '龥'),
        1 => prop::char::range('😀', '🙏'),
        1 => any::<char>(),
    ]
}

fn any_piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        8 => any_letter().prop_map(Piece::Plain),
        3 => (any_letter(), any::<bool>()).prop_map(|(letter, upper)| Piece::Coded(letter, upper)),
        2 => prop::sample::select(vec![
            (r"\/", '/'), (r"\b", '\u{8}'), (r"\f", '\u{c}'), (r"\n", '\n'),
            (r"\r", '\r'), (r"\t", '\t'), (r#"\""#, '"'), (r"\\", '\\'),
        ]).prop_map(|(spelled, letter)| Piece::Short(spelled, letter)),
        1 => (0xD800u16..0xE000).prop_map(Piece::Half),
    ]
}

/// The literal, and the UTF-16 units it stands for.
fn spell(pieces: &[Piece]) -> (String, Vec<u16>) {
    let (mut raw, mut units) = (String::from('"'), Vec::new());
    for piece in pieces {
        let mut coded = |unit: u16, upper: bool| {
            raw += &if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
            units.push(unit);
        };
        match *piece {
            Piece::Half(half) => coded(half, false),
            Piece::Coded(letter, upper) => {
                letter.encode_utf16(&mut [0; 2]).iter().for_each(|&unit| coded(unit, upper));
            }
            Piece::Short(spelled, letter) => {
                raw += spelled;
                units.push(letter as u16);
            }
            Piece::Plain(letter) => {
                let quoted = encode(&letter.to_string());
                raw += &quoted[1..quoted.len() - 1];
                units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
            }
        }
    }
    (raw + "\"", units)
}

#[test]
fn lengths_of_plain_and_escaped_literals() {
    for (raw, units, points) in [
        (r#""""#, 0, 0),
        (r#""abc""#, 3, 3),
        (r#""é漢😀""#, 4, 3),
        (r#""a\nb\\n\"""#, 6, 6),
        (r#""\u0041\u00e9""#, 2, 2),
        (r#""\ud83d\ude00""#, 2, 1),
        (r#""\ud83d""#, 1, 1),
        (r#""\ude00\ud83d""#, 2, 2),
        (r#""\ud83d\ud83d\ude00\ude00""#, 4, 3),
        (r#""\\u0041""#, 6, 6),
        (r#""\\\u0041""#, 2, 2),
        (r#""\\\\\\\\\u0041\/""#, 6, 6),
    ] {
        assert_eq!(lengths(raw), Lengths { units, points }, "{raw}");
    }
}

#[test]
fn what_is_no_literal_is_taken_as_it_is() {
    for text in ["", "\"", "abc", "a\\n", "\"open", "😀"] {
        assert_eq!(decode(text), text);
        assert_eq!(lengths(text), Lengths { units: utf16_len(text), points: points_len(text) });
    }
    for broken in
        [r#""\x""#, r#""\""#, r#""\u12""#, r#""\uzzzz""#, r#""\é""#, r#""\ud83d\u""#, r#""a\u+123""#]
    {
        assert_eq!(decode(broken), broken);
        lengths(broken);
    }
}

#[test]
fn a_literal_without_escapes_is_borrowed() {
    assert!(matches!(decode("\"é😀\""), Cow::Borrowed("é😀")));
    assert!(matches!(decode(r#""\n""#), Cow::Owned(text) if text == "\n"));
}

#[test]
fn halves_decode_to_replacements_one_each() {
    assert_eq!(decode(r#""a\ud83d\ud83d\ude00\ude00b""#), "a\u{fffd}😀\u{fffd}b");
}

#[test]
fn slices_cut_pairs_as_told() {
    for (start, end, replaced, omitted) in [
        (0, 9, "a😀b😀", "a😀b😀"),
        (1, 3, "😀", "😀"),
        (1, 2, "\u{fffd}", ""),
        (2, 3, "\u{fffd}", ""),
        (2, 5, "\u{fffd}b\u{fffd}", "b"),
        (0, 5, "a😀b\u{fffd}", "a😀b"),
        (2, 2, "", ""),
        (3, 1, "", ""),
        (6, 9, "", ""),
        (5, u64::MAX, "\u{fffd}", ""),
    ] {
        assert_eq!(slice_units("a😀b😀", start, end, Halves::Replace), replaced, "{start}..{end}");
        assert_eq!(slice_units("a😀b😀", start, end, Halves::Omit), omitted, "{start}..{end}");
    }
}

#[test]
fn slices_of_long_texts_start_in_the_right_place() {
    // Three bytes to a letter, so that blocks end inside of them.
    let text = "漢".repeat(1500) + &"a😀".repeat(1500);
    assert_eq!(slice_units(&text, 1499, 1501, Halves::Omit), "漢a");
    assert_eq!(slice_units(&text, 4497, 4501, Halves::Replace), "a😀a");
    assert_eq!(slice_units(&text, 4499, 4502, Halves::Replace), "\u{fffd}a\u{fffd}");
}

proptest! {
    /// The pieces are the truth: their units, and what those units decode to.
    #[test]
    fn literals_are_what_their_pieces_say(pieces in prop::collection::vec(any_piece(), 0..120)) {
        let (raw, units) = spell(&pieces);
        let points = char::decode_utf16(units.iter().copied()).count() as u64;
        prop_assert_eq!(lengths(&raw), Lengths { units: units.len() as u64, points });
        prop_assert_eq!(decode(&raw), String::from_utf16_lossy(&units));
    }

    /// Where `serde_json` can read a literal at all, it reads the same.
    #[test]
    fn literals_are_what_the_parser_says(pieces in prop::collection::vec(any_piece(), 0..40)) {
        let (raw, _) = spell(&pieces);
        if let Ok(text) = serde_json::from_str::<String>(&raw) {
            prop_assert_eq!(lengths(&raw), Lengths { units: text.encode_utf16().count() as u64, points: text.chars().count() as u64 });
            prop_assert_eq!(decode(&raw), text);
        }
    }

    #[test]
    fn decoding_undoes_encoding(text in prop::collection::vec(any_letter(), 0..80)) {
        let text = String::from_iter(text);
        let raw = encode(&text);
        prop_assert_eq!(&serde_json::to_string(&text).unwrap(), &raw);
        prop_assert_eq!(decode(&raw), text);
    }

    #[test]
    fn slices_are_those_of_the_units(text in prop::collection::vec(any_letter(), 0..80), start in 0u64..120, end in 0u64..120) {
        let text = String::from_iter(text);
        let units: Vec<u16> = text.encode_utf16().collect();
        let at = |offset: u64| units.len().min(offset as usize);
        let wanted = units.get(at(start)..at(end)).unwrap_or_default();
        let replaced = slice_units(&text, start, end, Halves::Replace);
        prop_assert_eq!(&replaced, &String::from_utf16_lossy(wanted));
        let omitted = String::from_iter(char::decode_utf16(wanted.iter().copied()).filter_map(Result::ok));
        prop_assert_eq!(slice_units(&text, start, end, Halves::Omit), omitted);
    }

    /// Nonsense is measured and decoded without a panic, and never to something longer.
    #[test]
    fn any_text_is_survived(body in "[\"\\\\u/0-9d-gD-G n😀é]{0,60}") {
        for text in [body.clone(), format!("\"{body}\"")] {
            prop_assert!(decode(&text).len() <= text.len());
            prop_assert!(lengths(&text).units <= utf16_len(&text));
        }
    }
}
