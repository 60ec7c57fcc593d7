use super::*;
use proptest::prelude::*;
use serde::de::DeserializeSeed;

/// Knows a little of everything a field can be.
#[derive(Debug, Default)]
struct Sample<'a> {
    keys: Vec<String>,
    raw: Option<Raw<'a>>,
    inner: Object<Inner>,
    numbers: Vec<u64>,
    listed: Option<Listed>,
}

#[derive(Debug, Default, PartialEq)]
struct Inner {
    id: Option<u64>,
}

impl<'a> Fields<'a> for Sample<'a> {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        self.keys.push(key.to_owned());
        match key {
            "raw" => self.raw = Some(map.next_value()?),
            "inner" => self.inner = map.next_value()?,
            "numbers" => {
                self.listed = Some(map.next_value_seed(Each::new(|number| self.numbers.push(number)))?);
            }
            _ => _ = map.next_value::<IgnoredAny>()?,
        }
        Ok(())
    }
}

impl<'a> Fields<'a> for Inner {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "id" => self.id = as_i64(map.next_value::<Raw<'a>>()?.text()).map(i64::unsigned_abs),
            _ => _ = map.next_value::<IgnoredAny>()?,
        }
        Ok(())
    }
}

fn read(text: &str) -> Sample<'_> {
    object(text).unwrap().unwrap()
}

#[test]
fn fields_are_taken_by_name_and_the_rest_passes() {
    let sample = read(r#" {"x":[{"raw":1}],"raw": {"a": 1.50} ,"inner":{"id":7,"y":null},"numbers":[1,2]}"#);
    assert_eq!(sample.keys, ["x", "raw", "inner", "numbers"]);
    assert_eq!(sample.raw.unwrap().text(), r#"{"a": 1.50}"#);
    assert_eq!(sample.inner, Object(Some(Inner { id: Some(7) })));
    assert_eq!((sample.numbers, sample.listed), (vec![1, 2], Some(Listed::Array(2))));
}

#[test]
fn of_a_repeated_key_the_last_wins() {
    let sample = read(r#"{"raw":1,"inner":{"id":1},"raw":"two","inner":{}}"#);
    assert_eq!(sample.raw.unwrap().text(), "\"two\"");
    assert_eq!(sample.inner, Object(Some(Inner { id: None })));
}

#[test]
fn a_wrong_type_is_passed_over() {
    for wrong in ["null", "true", "1", "-1", "1.5", "\"text\"", "\"\\n\"", "[[1],{}]"] {
        let text = format!(r#"{{"inner":{wrong},"raw":0}}"#);
        let sample = read(&text);
        assert_eq!(sample.inner, Object(None), "{wrong}");
        assert_eq!(sample.raw.unwrap().text(), "0");
    }
    for wrong in ["null", "true", "1", "-1", "1.5", "\"text\"", r#"{"a":[1]}"#] {
        let text = format!(r#"{{"numbers":{wrong},"raw":0}}"#);
        let sample = read(&text);
        assert_eq!(sample.listed, Some(Listed::NotAnArray), "{wrong}");
        assert_eq!(sample.raw.unwrap().text(), "0");
    }
}

#[test]
fn what_no_type_can_hold_is_passed_over() {
    let sample = read(
        r#"{"inner":"\ud83d","inner":1e999,"numbers":"\ud83d","raw":"\ud83d","other":1e999,"raw":1e999}"#,
    );
    assert_eq!((sample.inner, sample.listed), (Object(None), Some(Listed::NotAnArray)));
    assert!(object::<Inner>(sample.raw.unwrap().text()).unwrap().is_none());
    assert!(object::<Inner>(r#""\ud83d""#).unwrap().is_none());
}

#[test]
fn odd_keys_do_no_harm() {
    let sample = read(r#"{"\ud83d":1,"r\u0061w":2,"":3,"\ud83d\ude00":4}"#);
    assert_eq!(sample.raw.unwrap().text(), "2");
    assert_eq!(sample.keys.len(), 4);
    assert_eq!(sample.keys[3], "😀");
}

#[test]
fn what_was_read_before_the_text_breaks_off_is_kept() {
    let mut seen = Vec::new();
    let listed = each(r#"[{"id":1},5,{"id":3},{"id":"#, |Object(inner): Object<Inner>| seen.push(inner));
    assert!(listed.is_err());
    assert_eq!(seen, [Some(Inner { id: Some(1) }), None, Some(Inner { id: Some(3) })]);
}

#[test]
fn keys_are_borrowed_when_they_can_be() {
    let mut plain = serde_json::Deserializer::from_str("\"plain\"");
    assert!(matches!(Key::deserialize(&mut plain), Ok(Key(Cow::Borrowed("plain")))));
    let mut escaped = serde_json::Deserializer::from_str(r#""a\n""#);
    assert!(matches!(Key::deserialize(&mut escaped), Ok(Key(Cow::Owned(name))) if name == "a\n"));
    // A tree hands out its keys in yet another way.
    let value = serde_json::json!({"raw": 1, "numbers": [4]});
    let mut count = 0;
    let listed = Each::new(|_: IgnoredAny| count += 1).deserialize(&value["numbers"]).unwrap();
    assert_eq!((listed, count), (Listed::Array(1), 1));
    assert_eq!(
        Object::<Inner>::deserialize(&serde_json::json!({"x": 1})).unwrap(),
        Object(Some(Inner::default()))
    );
}

#[test]
fn depth_is_no_danger_to_what_is_passed_over() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let text = format!(r#"{{"inner":{deep},"raw":{deep}}}"#);
    assert_eq!(read(&text).raw.unwrap().text(), deep);
}

proptest! {
    /// No text makes the reader panic, and a text that is an object yields its fields.
    #[test]
    fn any_text_is_survived(text in "[\\[\\]{}:,\"\\\\a-e0-9. ]{0,60}") {
        let read = object::<Sample<'_>>(&text);
        if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) {
            prop_assert_eq!(read.unwrap().is_some(), value.is_object());
        }
    }
}
