use super::*;
use proptest::prelude::*;

fn spelled(text: &str) -> (Vec<&str>, bool) {
    let mut walk = tokens(text);
    let found = walk.by_ref().map(|(_, token)| token.raw()).collect();
    (found, walk.is_complete())
}

/// Writes a value as the row of tokens a walk over its text must find.
fn expected(value: &serde_json::Value, row: &mut Vec<String>) {
    match value {
        serde_json::Value::Array(items) => {
            row.push("[".to_owned());
            items.iter().for_each(|item| expected(item, row));
            row.push("]".to_owned());
        }
        serde_json::Value::Object(members) => {
            row.push("{".to_owned());
            for (key, value) in members {
                row.push(serde_json::to_string(key).unwrap());
                expected(value, row);
            }
            row.push("}".to_owned());
        }
        simple => row.push(simple.to_string()),
    }
}

fn any_value() -> impl Strategy<Value = serde_json::Value> {
    let simple = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        "[\"\\\\a-c\n😀]{0,12}".prop_map(serde_json::Value::from),
    ];
    simple.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::vec(("[\"\\\\a-c]{0,4}", inner), 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

#[test]
fn keys_and_strings_are_told_apart() {
    let found: Vec<_> = tokens(r#"{"a":"b","c":["d",{"e":null}]}"#).map(|(_, token)| token).collect();
    assert_eq!(
        found,
        [
            Token::ObjectStart,
            Token::Key("\"a\""),
            Token::String("\"b\""),
            Token::Key("\"c\""),
            Token::ArrayStart,
            Token::String("\"d\""),
            Token::ObjectStart,
            Token::Key("\"e\""),
            Token::Null,
            Token::ObjectEnd,
            Token::ArrayEnd,
            Token::ObjectEnd,
        ]
    );
}

#[test]
fn a_quote_behind_backslashes_ends_a_literal_if_they_are_even() {
    assert_eq!(spelled(r#"["\"","\\","\\\"",""]"#).0, ["[", r#""\"""#, r#""\\""#, r#""\\\"""#, r#""""#, "]"]);
}

#[test]
fn simple_values_are_texts_too() {
    for text in ["true", "false", "null", "0", "-0", "10.50", "1e5", "-1.2E-3", "0e+00", r#""""#] {
        assert_eq!(spelled(&format!(" {text}\r\n\t")), (vec![text], true), "{text}");
    }
}

#[test]
fn the_row_ends_where_the_grammar_does() {
    for (text, row) in [
        ("", vec![]),
        (" ", vec![]),
        ("[1,]", vec!["[", "1"]),
        ("[,1]", vec!["["]),
        ("[1 2]", vec!["[", "1"]),
        ("[1}", vec!["[", "1"]),
        ("[}", vec!["["]),
        ("{]", vec!["{"]),
        ("{1:2}", vec!["{"]),
        (r#"{"a"}"#, vec!["{", r#""a""#]),
        (r#"{"a":}"#, vec!["{", r#""a""#]),
        (r#"{"a":1,}"#, vec!["{", r#""a""#, "1"]),
        (r#"["a"#, vec!["["]),
        (r#"["a\"]"#, vec!["["]),
        ("[tru]", vec!["["]),
        ("-", vec![]),
        ("+1", vec![]),
        (".5", vec![]),
        ("1.", vec![]),
        ("1e", vec![]),
        ("[01]", vec!["[", "0"]),
        ("1 1", vec!["1"]),
        ("nullx", vec!["null"]),
        ("]", vec![]),
        ("é", vec![]),
        ("\u{a0}1", vec![]),
    ] {
        assert_eq!(spelled(text), (row, false), "{text}");
    }
}

#[test]
fn an_ended_walk_stays_ended() {
    let mut walk = tokens("[1 2]");
    assert_eq!(walk.by_ref().count(), 2);
    assert_eq!((walk.next(), walk.next()), (None, None));
}

#[test]
fn depth_is_limited_by_the_heap_alone() {
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let mut walk = tokens(&deep);
    assert_eq!(walk.by_ref().count(), 2_000_000);
    assert!(walk.is_complete());
}

proptest! {
    #[test]
    fn a_walk_finds_every_token_in_place(value in any_value(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let mut row = Vec::new();
        expected(&value, &mut row);
        prop_assert_eq!(spelled(&text), (row.iter().map(String::as_str).collect(), true));
        for (at, token) in tokens(&text) {
            prop_assert!(text[at..].starts_with(token.raw()));
        }
    }

    /// Whatever the text, the walk ends, its tokens do not overlap, and it is complete if the text is JSON.
    #[test]
    fn any_text_is_survived(text in "[\\[\\]{}:,\"\\\\a-e0-9.tru é-]{0,40}") {
        let mut walk = tokens(&text);
        let mut past = 0;
        for (at, token) in walk.by_ref() {
            prop_assert!(at >= past);
            past = at + token.raw().len();
            prop_assert!(past <= text.len());
        }
        if serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok() {
            prop_assert!(walk.is_complete());
        }
    }
}
