use super::*;

#[test]
fn formats_are_told_from_their_content() {
    for (text, format) in [
        (r#"{"info":{"id":"s"},"messages":[]}"#, Format::OpenCode),
        (r#"[{"info":{},"parts":[]}]"#, Format::OpenCode),
        (r#" [ {"role":"user","content":"hi"}]"#, Format::OpenClaw),
        (r#"[{"role":"toolResult","content":[]}]"#, Format::OpenClaw),
        (r#"[{"id":"a","role":"user","content":{"parts":[]}}]"#, Format::Qwery),
        ("{\"type\":\"user.message\",\"text\":\"x\"}\n{\"ty", Format::OpenAgentic),
        (r#"[{"type":"tool.use","name":"x"}]"#, Format::OpenAgentic),
    ] {
        assert_eq!(Format::detect(text.as_bytes()), Ok(format), "{text}");
    }
}

#[test]
fn what_is_no_session_is_said_to_be_none() {
    assert_eq!(Format::detect(b"  \n"), Err(ReadError::Empty));
    for text in ["hello", "[]", "[1,2]", "{\"a\":1}", "\u{1}\u{2}", "{"] {
        assert!(matches!(Format::detect(text.as_bytes()), Err(ReadError::Unknown { .. })), "{text}");
    }
}

#[test]
fn bytes_that_are_not_text_end_the_reading_with_a_warning() {
    let bytes = b"[{\"info\":{\"role\":\"user\"},\"parts\":[]},\n{\"info\":{\"id\":\"\xff\"}}]";
    let transcript = read(bytes, &Measures::default()).unwrap();
    assert_eq!(transcript.outline.message_count(), 1);
    assert!(
        transcript.warnings[0].to_string().starts_with("line 2: byte 53 is not UTF-8"),
        "{:?}",
        transcript.warnings
    );
}
