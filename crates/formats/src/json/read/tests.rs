use std::collections::BTreeMap;

use super::*;
use crate::json::{Each, Fields, List, Object, Raw, tokens};
use proptest::prelude::*;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess};
use serde_json::Value;

/// Every member by its name, as a list of lists as far as it is one.
#[derive(Debug, Default, PartialEq)]
struct Sample<'a> {
    members: Vec<(String, List<'a, Object<Inner<'a>>>)>,
}

#[derive(Debug, Default, PartialEq)]
struct Inner<'a>(Vec<(String, Raw<'a>)>);

impl<'a> Fields<'a> for Sample<'a> {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        self.members.push((key.to_owned(), map.next_value()?));
        Ok(())
    }
}

impl<'a> Fields<'a> for Inner<'a> {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        self.0.push((key.to_owned(), map.next_value()?));
        Ok(())
    }
}

fn reason(text: &str) -> String {
    let reasons = [
        read::<IgnoredAny>(text).unwrap_err().to_string(),
        read::<Raw<'_>>(text).unwrap_err().to_string(),
        read::<Object<Sample<'_>>>(text).unwrap_err().to_string(),
        read::<Value>(text).unwrap_err().to_string(),
    ];
    assert!(reasons.iter().all(|reason| *reason == reasons[0]), "{text}: {reasons:?}");
    let [reason, ..] = reasons;
    reason
}

#[test]
fn a_mistake_is_named_with_its_place() {
    for (text, wanted) in [
        ("", "the text breaks off"),
        (" \n", "the text breaks off"),
        (r#"{"a":1"#, "the text breaks off"),
        (r#"{"a":"b\"#, "the text breaks off"),
        (r#"["a\"]"#, "the text breaks off"),
        ("[tru", "the text breaks off"),
        ("[-", "the text breaks off"),
        ("[1.", "the text breaks off"),
        ("[1,]", "expected a value at byte 3"),
        ("[,1]", "expected a value at byte 1"),
        ("[1 2]", "expected ',' or ']' at byte 3"),
        ("[1}", "expected ',' or ']' at byte 2"),
        ("[}", "expected a value at byte 1"),
        ("{]", "expected the name of a member at byte 1"),
        ("{1:2}", "expected the name of a member at byte 1"),
        (r#"{"a"}"#, "expected ':' at byte 4"),
        (r#"{"a":}"#, "expected a value at byte 5"),
        (r#"{"a":1,}"#, "expected the name of a member at byte 7"),
        (r#"{"a":1]"#, "expected ',' or '}' at byte 6"),
        (r#"{"a":1 "b":2}"#, "expected ',' or '}' at byte 7"),
        ("[trve]", "expected `true` at byte 1"),
        ("[01]", "expected ',' or ']' at byte 2"),
        ("[1.x]", "expected a number at byte 1"),
        ("+1", "expected a value at byte 0"),
        ("nullx", "expected nothing more at byte 4"),
        ("{} {}", "expected nothing more at byte 3"),
        ("é", "expected a value at byte 0"),
        ("[1,\u{a0}2]", "expected a value at byte 3"),
    ] {
        assert_eq!(reason(text), wanted, "{text}");
        assert!(!is_walked(text), "{text}");
    }
    assert_eq!(read::<u8>("[1]").unwrap_err().to_string(), "invalid type: sequence, expected u8");
}

#[test]
fn what_is_wanted_is_typed() {
    assert_eq!(read::<Vec<Option<i8>>>(" [1, null,-7 ] ").unwrap(), [Some(1), None, Some(-7)]);
    assert_eq!(read::<(String, &str, bool)>(r#"["a\n","b",true]"#).unwrap(), ("a\n".to_owned(), "b", true));
    assert_eq!(read::<f64>("1e999").unwrap(), f64::INFINITY);
    assert_eq!(read::<String>(r#""\ud83d!""#).unwrap(), "\u{fffd}!");
    assert_eq!(
        read::<BTreeMap<String, u8>>(r#"{"\u0061":1,"a":2}"#).unwrap(),
        BTreeMap::from([("a".to_owned(), 2)])
    );
}

#[test]
fn what_is_no_list_is_kept_raw() {
    for (text, raw) in [(" {\"a\":[1]} ", "{\"a\":[1]}"), (r#""\ud83d""#, r#""\ud83d""#), ("1e999", "1e999")]
    {
        assert_eq!(read::<List<'_, IgnoredAny>>(text).unwrap(), List::Other(read(raw).unwrap()));
        assert_eq!(read::<Object<Inner<'_>>>(text).unwrap().0.is_some(), raw.starts_with('{'));
    }
    assert_eq!(read::<List<'_, u8>>("[1,2]").unwrap(), List::Elements(vec![1, 2]));
    // Another parser has to read a value before it can be known for what it is.
    assert_eq!(serde_json::from_str::<List<'_, u8>>("[1,2]").unwrap(), List::Elements(vec![1, 2]));
    let other: List<'_, u8> = serde_json::from_str(" {\"a\": 1} ").unwrap();
    assert!(matches!(other, List::Other(raw) if raw.text() == "{\"a\": 1}"));
}

#[test]
fn a_type_that_stops_early_is_no_way_to_skip_the_rest() {
    assert_eq!(read::<(u8, u8)>("[1,2,3]").unwrap_err().to_string(), "expected ',' or ']' at byte 4");
}

#[test]
fn depth_is_harmless_where_it_is_passed_over_and_limited_where_it_is_read() {
    const LEVELS: usize = 1_000_000;
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let deep = open.repeat(LEVELS) + "0" + &close.repeat(LEVELS);
        assert!(read::<IgnoredAny>(&deep).is_ok());
        assert_eq!(read::<Raw<'_>>(&deep).unwrap().text().len(), deep.len());
        assert!(matches!(read::<Value>(&deep), Err(SyntaxError::TooDeep { .. })));
        let wrong = open.repeat(LEVELS) + "0" + &close.repeat(LEVELS - 1);
        assert_eq!(read::<IgnoredAny>(&wrong), Err(SyntaxError::BreaksOff { at: wrong.len() }));
    }
    // Brackets are told apart on every level, also where one word of bits gives way to the next.
    for levels in [1, 62, 63, 64, 65, 127, 128, 129, 200] {
        for wrong in 0..levels {
            let close = |level: usize| if level == wrong { '}' } else { ']' };
            let text = "[".repeat(levels) + &(0..levels).map(close).collect::<String>();
            assert!(read::<IgnoredAny>(&text).is_err(), "{text}");
        }
    }
}

fn is_walked(text: &str) -> bool {
    let mut walk = tokens(text);
    walk.by_ref().for_each(drop);
    walk.is_complete()
}

fn any_value() -> impl Strategy<Value = Value> {
    let simple = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[\"\\\\a-c\n😀\u{1}]{0,40}".prop_map(Value::from),
    ];
    simple.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("[\"\\\\a-c]{0,20}", inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn spelled(value: &Value, pretty: bool) -> String {
    if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) }.unwrap()
}

proptest! {
    /// What another parser accepts is accepted, and every type gets the same from both.
    #[test]
    fn both_parsers_read_the_same(value in any_value(), pretty: bool) {
        let text = spelled(&value, pretty);
        prop_assert_eq!(read::<Value>(&text).unwrap(), value);
        let (own, other) = (read::<Raw<'_>>(&text).unwrap(), serde_json::from_str::<Raw<'_>>(&text).unwrap());
        prop_assert_eq!(own.range_in(&text), other.range_in(&text));
        let own: Object<Sample<'_>> = read(&text).unwrap();
        prop_assert_eq!(own, serde_json::from_str(&text).unwrap());
        let (mut own, mut other) = (Vec::new(), Vec::new());
        let listed = Each::new(|raw: Raw<'_>| own.push(raw)).deserialize(&mut Reader::new(&text)).unwrap();
        let mut parser = serde_json::Deserializer::from_str(&text);
        prop_assert_eq!(listed, Each::new(|raw: Raw<'_>| other.push(raw)).deserialize(&mut parser).unwrap());
        prop_assert_eq!(own, other);
    }

    /// A text that was changed is refused if the walk refuses it, and else accepted, by whatever type.
    #[test]
    fn what_is_no_json_is_refused(
        value in any_value(), pretty: bool, at: prop::sample::Index, len in 0usize..4,
        put in "[\\[\\]{}:,\"\\\\a0-1. -]{0,2}",
    ) {
        let mut letters: Vec<char> = spelled(&value, pretty).chars().collect();
        let start = at.index(letters.len());
        let end = letters.len().min(start + len);
        letters.splice(start..end, put.chars());
        let text: String = letters.iter().collect();
        let is_walked = is_walked(&text);
        prop_assert_eq!(read::<IgnoredAny>(&text).is_ok(), is_walked, "{}", &text);
        prop_assert_eq!(read::<Raw<'_>>(&text).is_ok(), is_walked, "{}", &text);
        prop_assert_eq!(read::<Object<Sample<'_>>>(&text).is_ok(), is_walked, "{}", &text);
        prop_assert_eq!(read::<List<'_, Value>>(&text).is_ok(), is_walked, "{}", &text);
    }

    /// A text that breaks off is known as such, unless it is a number, which may end anywhere.
    #[test]
    fn a_text_that_breaks_off_is_known(value in any_value(), pretty: bool, at: prop::sample::Index) {
        let text = spelled(&value, pretty);
        let cut = text.get(..text.floor_char_boundary(at.index(text.len()))).unwrap();
        let found = read::<IgnoredAny>(cut);
        prop_assert!(value.is_number() || found == Err(SyntaxError::BreaksOff { at: cut.len() }), "{cut}: {found:?}");
    }

    #[test]
    fn any_text_is_survived(text in "[\\[\\]{}:,\"\\\\a-e0-9.tru é-]{0,60}") {
        let is_walked = is_walked(&text);
        prop_assert_eq!(read::<IgnoredAny>(&text).is_ok(), is_walked);
        prop_assert_eq!(read::<Value>(&text).is_ok(), is_walked);
        if serde_json::from_str::<IgnoredAny>(&text).is_ok() {
            prop_assert!(is_walked);
        }
    }
}
