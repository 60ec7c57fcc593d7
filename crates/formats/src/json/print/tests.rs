use super::*;
use crate::json::string::{body, encode, points_len, utf16_len};
use proptest::prelude::*;

/// A raw value, what Node 20 and what Python 3.11 printed for it, and U+FFFD where Python printed half of a
/// surrogate pair.
const PRINTED: &[(&str, &str, &str)] = &[
    ("0", "0", "0"),
    ("-0", "0", "0"),
    ("-0.0", "0", "-0.0"),
    ("0e5", "0", "0.0"),
    ("1", "1", "1"),
    ("-1", "-1", "-1"),
    ("1.0", "1", "1.0"),
    ("1.50", "1.5", "1.5"),
    ("100", "100", "100"),
    ("1e2", "100", "100.0"),
    ("1E2", "100", "100.0"),
    ("1e+2", "100", "100.0"),
    ("1E400", "null", "Infinity"),
    ("-1e400", "null", "-Infinity"),
    ("1e-400", "0", "0.0"),
    ("-1e-400", "0", "-0.0"),
    ("5e-324", "5e-324", "5e-324"),
    ("2.2250738585072014e-308", "2.2250738585072014e-308", "2.2250738585072014e-308"),
    ("1.7976931348623157e308", "1.7976931348623157e+308", "1.7976931348623157e+308"),
    ("1e15", "1000000000000000", "1000000000000000.0"),
    ("1e16", "10000000000000000", "1e+16"),
    ("123456789012345.0", "123456789012345", "123456789012345.0"),
    ("1234567890123456.0", "1234567890123456", "1234567890123456.0"),
    ("12345678901234567.0", "12345678901234568", "1.2345678901234568e+16"),
    ("1e20", "100000000000000000000", "1e+20"),
    ("1e21", "1e+21", "1e+21"),
    ("1e22", "1e+22", "1e+22"),
    ("0.1", "0.1", "0.1"),
    ("0.0001", "0.0001", "0.0001"),
    ("0.00001", "0.00001", "1e-05"),
    ("0.000001", "0.000001", "1e-06"),
    ("0.0000001", "1e-7", "1e-07"),
    ("1.5e-5", "0.000015", "1.5e-05"),
    ("1.5e-7", "1.5e-7", "1.5e-07"),
    ("1.5e300", "1.5e+300", "1.5e+300"),
    ("123456.789", "123456.789", "123456.789"),
    ("0.3", "0.3", "0.3"),
    ("9007199254740991", "9007199254740991", "9007199254740991"),
    ("9007199254740993", "9007199254740992", "9007199254740993"),
    ("-9007199254740993", "-9007199254740992", "-9007199254740993"),
    ("999999999999999", "999999999999999", "999999999999999"),
    ("1234567890123456", "1234567890123456", "1234567890123456"),
    ("12345678901234567890", "12345678901234567000", "12345678901234567890"),
    ("100000000000000000000", "100000000000000000000", "100000000000000000000"),
    ("1000000000000000000000", "1e+21", "1000000000000000000000"),
    ("123456789012345678901234567890", "1.2345678901234568e+29", "123456789012345678901234567890"),
    ("-123456789012345678901234567890.5", "-1.2345678901234568e+29", "-1.2345678901234568e+29"),
    ("4.35", "4.35", "4.35"),
    ("2.5e-5", "0.000025", "2.5e-05"),
    ("1e23", "1e+23", "1e+23"),
    ("9.5367431640625e-7", "9.5367431640625e-7", "9.5367431640625e-07"),
    ("-2.5E-10", "-2.5e-10", "-2.5e-10"),
    (r#""""#, r#""""#, r#""""#),
    (r#""a""#, r#""a""#, r#""a""#),
    (r#""\"""#, r#""\"""#, r#""\"""#),
    (r#""\\""#, r#""\\""#, r#""\\""#),
    (r#""\/""#, r#""/""#, r#""/""#),
    (r#""\b\f\n\r\t""#, r#""\b\f\n\r\t""#, r#""\b\f\n\r\t""#),
    (r#""\u0000\u001f\u007f\u0080""#, "\"\\u0000\\u001f\u{7f}\u{80}\"", "\"\\u0000\\u001f\u{7f}\u{80}\""),
    (
        r#""\u0008\u0009\u000a\u000B\u000c\u000D\u001B""#,
        r#""\b\t\n\u000b\f\r\u001b""#,
        r#""\b\t\n\u000b\f\r\u001b""#,
    ),
    (r#""\u0022\u005c\u002f\u0041""#, r#""\"\\/A""#, r#""\"\\/A""#),
    (r#""\u00e9\u6F22""#, r#""é漢""#, r#""é漢""#),
    (r#""é漢😀""#, r#""é漢😀""#, r#""é漢😀""#),
    ("\"\u{7f}\"", "\"\u{7f}\"", "\"\u{7f}\""),
    (
        "\"\u{2028}\u{2029}\u{feff}\u{ffff}\"",
        "\"\u{2028}\u{2029}\u{feff}\u{ffff}\"",
        "\"\u{2028}\u{2029}\u{feff}\u{ffff}\"",
    ),
    (
        r#""\u2028\u2029\ufeff\uffff""#,
        "\"\u{2028}\u{2029}\u{feff}\u{ffff}\"",
        "\"\u{2028}\u{2029}\u{feff}\u{ffff}\"",
    ),
    (r#""\ud83d\ude00""#, r#""😀""#, r#""😀""#),
    (r#""\uD83D\uDE00!""#, r#""😀!""#, r#""😀!""#),
    (r#""\ud83d""#, r#""\ud83d""#, r#""�""#),
    (r#""\ude00""#, r#""\ude00""#, r#""�""#),
    (r#""\ud83d\ud83d\ude00\ude00""#, r#""\ud83d😀\ude00""#, r#""�😀�""#),
    (r#""\ude00\ud83d""#, r#""\ude00\ud83d""#, r#""��""#),
    (r#""a\uD800b\uDFFFc""#, r#""a\ud800b\udfffc""#, r#""a�b�c""#),
    (r#""\\u0041""#, r#""\\u0041""#, r#""\\u0041""#),
    (r#""\\\u0041""#, r#""\\A""#, r#""\\A""#),
    (r#""\\\\\\\\\/\u0061""#, r#""\\\\\\\\/a""#, r#""\\\\\\\\/a""#),
    (r#""</script>\u003c\/p\u003e""#, r#""</script></p>""#, r#""</script></p>""#),
    ("true", "true", "true"),
    (" null ", "null", "null"),
    ("[]", "[]", "[]"),
    ("{}", "{}", "{}"),
    (" [ ] ", "[]", "[]"),
    (" { } ", "{}", "{}"),
    (
        r#"[1,2.0,[],{},"a",null,false]"#,
        r#"[1,2,[],{},"a",null,false]"#,
        r#"[1, 2.0, [], {}, "a", null, false]"#,
    ),
    ("[ 1 , [ [ ] ] ]", "[1,[[]]]", "[1, [[]]]"),
    (r#"{"a":1}"#, r#"{"a":1}"#, r#"{"a": 1}"#),
    (
        r#"{ "a" : { "b" : [ 1 , 2 ] } , "c" : "d" }"#,
        r#"{"a":{"b":[1,2]},"c":"d"}"#,
        r#"{"a": {"b": [1, 2]}, "c": "d"}"#,
    ),
    (
        r#"{"b":1,"a":2,"10":3,"9":4}"#,
        r#"{"9":4,"10":3,"b":1,"a":2}"#,
        r#"{"b": 1, "a": 2, "10": 3, "9": 4}"#,
    ),
    (
        r#"{"1":"a","0":"b","-1":"c","01":"d","1.0":"e","+1":"f"}"#,
        r#"{"0":"b","1":"a","-1":"c","01":"d","1.0":"e","+1":"f"}"#,
        r#"{"1": "a", "0": "b", "-1": "c", "01": "d", "1.0": "e", "+1": "f"}"#,
    ),
    (
        r#"{"4294967294":1,"4294967295":2,"4294967296":3,"x":4,"7":5}"#,
        r#"{"7":5,"4294967294":1,"4294967295":2,"4294967296":3,"x":4}"#,
        r#"{"4294967294": 1, "4294967295": 2, "4294967296": 3, "x": 4, "7": 5}"#,
    ),
    (r#"{"a":1,"00":2,"0":3}"#, r#"{"0":3,"a":1,"00":2}"#, r#"{"a": 1, "00": 2, "0": 3}"#),
    (r#"{"x":0,"\u0031":1,"\u0030":2}"#, r#"{"0":2,"1":1,"x":0}"#, r#"{"x": 0, "1": 1, "0": 2}"#),
    (r#"{"99999999999":1,"5":2}"#, r#"{"5":2,"99999999999":1}"#, r#"{"99999999999": 1, "5": 2}"#),
    (
        r#"{"":1," 1":2,"1":3,"1 ":4,"1e1":5}"#,
        r#"{"1":3,"":1," 1":2,"1 ":4,"1e1":5}"#,
        r#"{"": 1, " 1": 2, "1": 3, "1 ": 4, "1e1": 5}"#,
    ),
    (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#, r#"{"a": 3, "b": 2}"#),
    (r#"{"a":{"x":1},"a":[],"a":"last"}"#, r#"{"a":"last"}"#, r#"{"a": "last"}"#),
    (r#"{"a":1,"\u0061":2}"#, r#"{"a":2}"#, r#"{"a": 2}"#),
    (r#"{"1":1,"a":2,"1":3}"#, r#"{"1":3,"a":2}"#, r#"{"1": 3, "a": 2}"#),
    (r#"{"\ud83d":1,"\ud83e":2,"\ud83d":3}"#, r#"{"\ud83d":3,"\ud83e":2}"#, r#"{"�": 3, "�": 2}"#),
    (r#"{"a":1,"a":2,"a":3,"b":{"c":1,"c":2}}"#, r#"{"a":3,"b":{"c":2}}"#, r#"{"a": 3, "b": {"c": 2}}"#),
    (r#"{"\n":1,"\u000a":2,"\/":3,"/":4}"#, r#"{"\n":2,"/":4}"#, r#"{"\n": 2, "/": 4}"#),
    (
        r#"{"__proto__":1,"constructor":2,"toString":3}"#,
        r#"{"__proto__":1,"constructor":2,"toString":3}"#,
        r#"{"__proto__": 1, "constructor": 2, "toString": 3}"#,
    ),
    (r#"{"__proto__":{"a":1},"__proto__":2}"#, r#"{"__proto__":2}"#, r#"{"__proto__": 2}"#),
    (r#"[{"a":1,"a":2},{"2":1,"1":2}]"#, r#"[{"a":2},{"1":2,"2":1}]"#, r#"[{"a": 2}, {"2": 1, "1": 2}]"#),
    (r#"{"k":1E400,"l":-0,"m":-0.0}"#, r#"{"k":null,"l":0,"m":0}"#, r#"{"k": Infinity, "l": 0, "m": -0.0}"#),
];

fn assert_length(raw: &str) {
    let text = print(raw, Printer::JavaScript);
    assert_eq!(printed_len(raw, Printer::JavaScript), utf16_len(&text), "{raw} as {text}");
    let text = print(raw, Printer::Python);
    assert_eq!(printed_len(raw, Printer::Python), points_len(&text), "{raw} as {text}");
}

#[test]
fn printed_as_the_languages_themselves_print() {
    for &(raw, javascript, python) in PRINTED {
        assert_eq!(print(raw, Printer::JavaScript), javascript, "{raw}");
        assert_eq!(print(raw, Printer::Python), python, "{raw}");
        assert_length(raw);
    }
}

#[test]
fn values_print_the_same_inside_of_containers() {
    let joined = |separator: &str, texts: &mut dyn Iterator<Item = &str>| {
        format!("[{}]", texts.collect::<Vec<_>>().join(separator))
    };
    let raw = joined(",", &mut PRINTED.iter().map(|row| row.0));
    assert_eq!(print(&raw, Printer::JavaScript), joined(",", &mut PRINTED.iter().map(|row| row.1)));
    assert_eq!(print(&raw, Printer::Python), joined(", ", &mut PRINTED.iter().map(|row| row.2)));
    assert_length(&raw);
}

#[test]
fn what_is_no_json_stays_as_it_is() {
    for text in ["", "é😀", "[1,", "{\"a\":1", "1 2", "nul", "[1]]", "\"", "{'a':1}"] {
        assert_eq!(print(text, Printer::JavaScript), text);
        assert_eq!(print(text, Printer::Python), text);
        assert_length(text);
    }
}

#[test]
fn depth_is_limited_by_the_heap_alone() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert_eq!(print(&deep, Printer::Python), deep);
    assert_length(&deep);
    let (open, close) = (r#"{"b":1,"a":"#.repeat(20_000), ",\"1\":2}".repeat(20_000));
    let objects = open + "0" + &close;
    assert_length(&objects);
    assert_eq!(print(&objects, Printer::JavaScript).len(), objects.len());
}

#[test]
fn many_members_are_no_trouble() {
    let members: Vec<String> = (0..20_000).map(|index| format!(r#""{}":{index}"#, index % 10_000)).collect();
    let text = print(&format!("{{{}}}", members.join(",")), Printer::JavaScript);
    assert!(text.starts_with(r#"{"0":10000,"1":10001,"2":10002,"#));
    assert!(text.ends_with(r#","9999":19999}"#));
}

/// Literals with escapes of all sorts, some of them nonsense.
fn any_literal() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[ -~é漢😀]{0,20}".prop_map(|text| body(&encode(&text)).unwrap_or_default().to_owned()),
        2 => (0u16..0x80).prop_map(|unit| format!("\\u{unit:04X}")),
        2 => (0xD7F0u16..0xE010).prop_map(|unit| format!("\\u{unit:04x}")),
        1 => prop::sample::select(vec!["\\/", "\\n", "\\\"", "\\\\", "\\\\\\\\\\\\", "\\x", "\\u12"]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn any_raw() -> impl Strategy<Value = String> {
    let number = "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,6})?([eE][+-]?[0-9]{1,3})?";
    let simple = prop_oneof![any_literal(), number, "true|false|null"];
    let key = prop_oneof![any_literal(), "\"[0-9a]{0,2}\""];
    simple.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|items| format!("[{}]", items.join(" ,"))),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|members| {
                let members: Vec<_> = members.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                format!("{{ {} }}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn the_length_is_that_of_the_text(raw in any_raw()) {
        assert_length(&raw);
    }

    /// What was printed by JavaScript once is printed so again.
    #[test]
    fn printing_is_settled_after_once(raw in any_raw()) {
        prop_assume!(serde_json::from_str::<serde::de::IgnoredAny>(&raw).is_ok());
        let text = print(&raw, Printer::JavaScript);
        prop_assert_eq!(print(&text, Printer::JavaScript), text);
    }

    #[test]
    fn any_text_is_survived(text in "[\\[\\]{}:,\"\\\\u/a-e0-9.tru é-]{0,40}") {
        assert_length(&text);
    }
}
