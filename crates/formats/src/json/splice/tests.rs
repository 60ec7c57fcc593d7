use super::*;
use proptest::prelude::*;

fn edit(range: Range<usize>, text: &str) -> Edit {
    Edit { range, text: text.to_owned() }
}

/// The text after one member of the object that makes up the whole of it was set.
fn with_member(text: &str, key: &str, value: &str) -> String {
    let mut splice = Splice::new(text.as_bytes());
    splice.push(set_member(text, 0..text.len(), key, value)).unwrap();
    String::from_utf8(splice.to_vec()).unwrap()
}

#[test]
fn edits_are_made_whatever_their_order() {
    let mut splice = Splice::new(b"0123456789");
    for change in [edit(7..9, "seven"), edit(0..0, "<"), edit(2..4, ""), edit(10..10, ">"), edit(0..0, "-")] {
        splice.push(change).unwrap();
    }
    assert_eq!(splice.to_vec(), b"<-01456seven9>");
    assert_eq!(splice.written_len(), 14);
    let mut written = Vec::new();
    splice.write_to(&mut written).unwrap();
    assert_eq!(written, splice.to_vec());
}

#[test]
fn what_is_inserted_at_an_edge_stays_outside() {
    let mut splice = Splice::new(b"abc");
    for change in [edit(1..2, "B"), edit(2..2, "]"), edit(1..1, "["), edit(0..1, "A")] {
        splice.push(change).unwrap();
    }
    assert_eq!(splice.to_vec(), b"A[B]c");
}

#[test]
fn a_refused_edit_changes_nothing() {
    let mut splice = Splice::new(b"0123456789");
    splice.push(edit(3..6, "x")).unwrap();
    for (range, other) in [(2..4, 3..6), (5..7, 3..6), (4..4, 3..6), (3..6, 3..6), (0..9, 3..6), (4..5, 3..6)]
    {
        let refused = splice.push(edit(range.clone(), "y")).unwrap_err();
        let Range { start, end } = range;
        let (other_start, other_end) = (other.start, other.end);
        assert_eq!(refused, SpliceError::Overlap { start, end, other_start, other_end });
    }
    let refused = splice.push(edit(9..11, "y")).unwrap_err();
    assert_eq!(refused, SpliceError::OutOfRange { start: 9, end: 11, len: 10 });
    assert_eq!(refused.to_string(), "cannot edit bytes 9..11: must lie in order within 0..10");
    let reversed = Range { start: 5, end: 4 };
    assert!(matches!(splice.push(edit(reversed, "y")), Err(SpliceError::OutOfRange { .. })));
    assert_eq!(splice.to_vec(), b"012x6789");
}

#[test]
fn a_member_that_exists_gets_a_new_value() {
    assert_eq!(with_member(r#"{"a": 1 , "b":[{"a":2}]}"#, "a", "null"), r#"{"a": null , "b":[{"a":2}]}"#);
    assert_eq!(with_member(r#"{"a": 1, "b": [{"a":2}] }"#, "b", "{}"), r#"{"a": 1, "b": {} }"#);
    assert_eq!(with_member(r#"{"a":{"x":[]},"b":2}"#, "a", "1"), r#"{"a":1,"b":2}"#);
    assert_eq!(with_member(r#"{"a":1,"\u0061":2,"b":3}"#, "a", "0"), r#"{"a":1,"\u0061":0,"b":3}"#);
}

#[test]
fn a_new_member_takes_the_manner_of_the_first() {
    assert_eq!(with_member("{}", "a\n", "1"), r#"{"a\n":1}"#);
    assert_eq!(with_member("{ }", "a", "1"), r#"{"a":1 }"#);
    assert_eq!(with_member(r#"{"a":1}"#, "b", "2"), r#"{"a":1,"b":2}"#);
    assert_eq!(with_member(r#"{ "a" : [1] }"#, "b", "2"), r#"{ "a" : [1], "b": 2 }"#);
    let pretty = "{\n  \"a\": {\n    \"x\": 1\n  }\n}";
    assert_eq!(with_member(pretty, "b", "2"), "{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b\": 2\n}");
}

#[test]
fn an_object_inside_a_text_is_edited_in_place() {
    let text = r#"[1, {"a":1}, {"a":2}]"#;
    assert_eq!(set_member(text, 4..11, "a", "9"), edit(9..10, "9"));
    assert_eq!(set_member(text, 13..20, "b", "9"), edit(19..19, ",\"b\":9"));
}

#[test]
fn without_an_object_nothing_is_changed() {
    for (text, range) in
        [("[1]", 0..3), ("1", 0..1), ("{\"a\":1", 0..6), ("{}", 0..9), ("é{}", 1..4), ("", 0..0)]
    {
        assert_eq!(set_member(text, range.clone(), "a", "1"), edit(range.start..range.start, ""), "{text}");
    }
}

/// A text, and ranges in it with their replacements: every second piece of a cutting into pieces.
fn cut_up() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    prop::collection::vec(("\\PC{0,8}", "\\PC{0,8}"), 1..12).prop_map(|pieces| pieces.into_iter().unzip())
}

proptest! {
    /// Kept pieces stand unchanged and in order between the replacements.
    #[test]
    fn bytes_outside_the_edits_are_left_alone((pieces, texts) in cut_up(), backwards: bool) {
        let original = pieces.concat();
        let mut at = 0;
        let mut edits = Vec::new();
        let mut wanted = String::new();
        for (index, (piece, text)) in pieces.iter().zip(&texts).enumerate() {
            let range = at..at + piece.len();
            at = range.end;
            // Pieces without bytes would be insertions at one place, whose order is that of their coming.
            if index % 2 == 0 || piece.is_empty() {
                wanted.push_str(piece);
            } else {
                wanted.push_str(text);
                edits.push(edit(range, text));
            }
        }
        if backwards {
            edits.reverse();
        }
        let mut splice = Splice::new(original.as_bytes());
        for change in edits {
            splice.push(change).unwrap();
        }
        prop_assert_eq!(String::from_utf8(splice.to_vec()).unwrap(), wanted);
    }

    #[test]
    fn no_edits_are_no_change(original: Vec<u8>) {
        let splice = Splice::new(&original);
        prop_assert!(splice.is_empty());
        prop_assert_eq!(splice.to_vec(), original);
    }

    /// Of edits that may collide, those accepted do not.
    #[test]
    fn accepted_edits_never_overlap(ranges in prop::collection::vec((0usize..22, 0usize..22), 0..12)) {
        let mut splice = Splice::new(&[b'.'; 20]);
        let mut accepted: Vec<Range<usize>> = Vec::new();
        for (start, end) in ranges {
            let clear = |other: &Range<usize>| other.end <= start || end <= other.start;
            let fits = start <= end && end <= 20 && accepted.iter().all(clear);
            let pushed = splice.push(edit(start..end, "x"));
            prop_assert_eq!(pushed.is_ok(), fits);
            if fits {
                accepted.push(start..end);
            }
        }
        let removed: usize = accepted.iter().map(ExactSizeIterator::len).sum();
        prop_assert_eq!(splice.to_vec().len(), 20 - removed + accepted.len());
    }

    /// Setting a member gives the object that a tree would give, and only that member is new.
    #[test]
    fn setting_a_member_is_what_it_says(keys in prop::collection::vec("[a-c\"\\\\é]{0,2}", 0..5), key in "[a-c\"\\\\é]{0,2}", pretty: bool) {
        let object: serde_json::Map<_, _> =
            keys.into_iter().enumerate().map(|(index, key)| (key, serde_json::json!([index]))).collect();
        let text = if pretty { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) }.unwrap();
        let read: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&with_member(&text, &key, "true")).unwrap();
        let mut wanted = object;
        wanted.insert(key, serde_json::Value::Bool(true));
        prop_assert_eq!(read, wanted);
    }
}
