use std::io::Write;

use http::HeaderValue;
use http::header::CONTENT_ENCODING;

use super::*;

const ANTHROPIC: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"m","content":[],"stop_reason":null,"usage":{"input_tokens":7,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"cache_creation":{"ephemeral_5m_input_tokens":15,"ephemeral_1h_input_tokens":5},"output_tokens":1}}}

: a comment
event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\"usage\":{\"input_tokens\":9999}\n\n"}}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":42}}

data: {"type":"message_stop"}

"#;

const CHAT: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"é\"},\"finish_reason\":null}],\"usage\":null}\r\n\r\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\"}]},\"finish_reason\":null}]}\r\n\r\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\r\n\r\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":30,\"total_tokens\":130,\
    \"prompt_tokens_details\":{\"cached_tokens\":60},\"completion_tokens_details\":{\"reasoning_tokens\":10}}}\r\n\r\n\
    data: [DONE]\r\n\r\n";

const RESPONSES: &str = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"status\":\"in_progress\"}}\n\n\
    data: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"web_search_call\"}}\n\n\
    data: {\"type\":\"response.output_text.delta\",\"delta\":\"hello\"}\n\n\
    data: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\",\"output\":[{\"type\":\"message\"}],\
    \"usage\":{\"input_tokens\":50,\"input_tokens_details\":{\"cached_tokens\":40},\"output_tokens\":20,\
    \"output_tokens_details\":{\"reasoning_tokens\":15},\"total_tokens\":70}}}\n\n";

const GEMINI: &str = "[{\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"a ] } \\\" {\"}]}}],\n\
    \"usageMetadata\": {\"promptTokenCount\": 10}}\n,\r\n\
    {\"candidates\": [{\"content\": {\"parts\": []}, \"finishReason\": \"STOP\"}], \"usageMetadata\":\
    {\"promptTokenCount\": 10, \"cachedContentTokenCount\": 4, \"candidatesTokenCount\": 3, \"thoughtsTokenCount\": 2,\
    \"totalTokenCount\": 15}}\n]";

fn reader(wire: Wire, encoding: Option<&'static str>) -> UsageReader {
    let mut headers = HeaderMap::new();
    if let Some(encoding) = encoding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    UsageReader::new(wire, &headers).unwrap()
}

fn read<'a>(
    wire: Wire,
    encoding: Option<&'static str>,
    parts: impl IntoIterator<Item = &'a [u8]>,
) -> ResponseReport {
    let mut reader = reader(wire, encoding);
    parts.into_iter().for_each(|part| reader.push(part));
    reader.report()
}

fn cases() -> Vec<(Wire, String, ResponseReport)> {
    let report = |turn, usage| ResponseReport { usage: Some(usage), turn, provider: None };
    let anthropic = Usage {
        input: 7,
        output: 42,
        cache_read: 100,
        cache_write: 20,
        cache_write_1h: 5,
        ..Usage::default()
    };
    let chat =
        Usage { input: 40, output: 20, reasoning: 10, cache_read: 60, total: Some(130), ..Usage::default() };
    let responses =
        Usage { input: 10, output: 5, reasoning: 15, cache_read: 40, total: Some(70), ..Usage::default() };
    let gemini =
        Usage { input: 6, output: 3, reasoning: 2, cache_read: 4, total: Some(15), ..Usage::default() };
    let events = GEMINI.trim_matches(['[', ']']).replace("\n,\r\n", "@").replace('\n', " ");
    let events = events.split('@').map(|event| format!("data: {event}\n\n")).collect();
    vec![
        (Wire::Anthropic, ANTHROPIC.into(), report(TurnState::Over, anthropic)),
        (Wire::OpenAiChat, CHAT.into(), report(TurnState::Open, chat)),
        (Wire::OpenAiResponses, RESPONSES.into(), report(TurnState::Open, responses)),
        (Wire::Gemini, GEMINI.into(), report(TurnState::Over, gemini)),
        (Wire::Gemini, events, report(TurnState::Over, gemini)),
    ]
}

#[test]
fn wherever_an_answer_is_split_the_same_is_read() {
    for (wire, text, report) in cases() {
        let text = text.as_bytes();
        assert_eq!(read(wire, None, [text]), report, "{wire:?}");
        assert_eq!(read(wire, None, text.chunks(1)), report, "{wire:?}");
        for at in 0..text.len() {
            assert_eq!(read(wire, None, [&text[..at], &text[at..]]), report, "{wire:?} at {at}");
        }
    }
}

#[test]
fn plain_answers_are_read_too() {
    let read = |wire, text: &str| read(wire, None, text.as_bytes().chunks(5));
    let anthropic = read(
        Wire::Anthropic,
        r#" {"type":"message","content":[{"type":"text","text":"x"}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4}}"#,
    );
    assert_eq!((anthropic.turn, anthropic.usage.unwrap().output), (TurnState::Open, 4));
    let chat = read(
        Wire::OpenAiChat,
        r#"{"choices":[{"message":{"content":"x","tool_calls":[]},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#,
    );
    assert_eq!((chat.turn, chat.usage.unwrap().input), (TurnState::Over, 3));
    let responses = read(
        Wire::OpenAiResponses,
        r#"{"object":"response","status":"completed","output":[{"type":"function_call"}],"usage":{"input_tokens":3}}"#,
    );
    assert_eq!((responses.turn, responses.usage.unwrap().input), (TurnState::Open, 3));
    let gemini = read(
        Wire::Gemini,
        r#"{"response":{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3}}}"#,
    );
    assert_eq!((gemini.turn, gemini.usage.unwrap().input), (TurnState::Open, 3));
}

#[test]
fn all_is_known_when_the_stream_says_so() {
    for (wire, text, _) in cases() {
        let mut reader = reader(wire, None);
        reader.push(text.as_bytes());
        assert_eq!(reader.has_all(), wire != Wire::Gemini, "{wire:?}");
    }
}

#[test]
fn an_answer_that_breaks_off_leaves_the_turn_open() {
    let half = ANTHROPIC.split("data: {\"type\":\"message_delta").next().unwrap();
    let report = read(Wire::Anthropic, None, [half.as_bytes()]);
    assert_eq!((report.turn, report.usage.unwrap().input), (TurnState::Open, 7));
    assert_eq!(read(Wire::Anthropic, None, [b"<html>".as_slice()]), ResponseReport::default());
    assert_eq!(read(Wire::Anthropic, None, []), ResponseReport::default());
}

#[test]
fn compressed_answers_are_decoded_wherever_they_are_split() {
    for (wire, text, report) in cases() {
        let mut gzip = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        let mut zlib = flate2::write::ZlibEncoder::new(vec![], flate2::Compression::default());
        zlib.write_all(text.as_bytes()).unwrap();
        let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
        let encoded = [("gzip", gzip.finish().unwrap()), ("deflate", zlib.finish().unwrap()), ("zstd", zstd)];
        for (encoding, bytes) in &encoded {
            for size in [1, 7, bytes.len()] {
                assert_eq!(
                    read(wire, Some(encoding), bytes.chunks(size)),
                    report,
                    "{wire:?} {encoding} {size}"
                );
            }
        }
    }
    // data: {"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}, and the end.
    let brotli = "1b7700002c0aec66e8a46e4298995e464256fda55660d1e9d37b22373153e46b2e41deea5a44e78b8e4e0ed87f3cb6056d97cf\
                  83dc721b1b6e8f1125d80e322201533d35d6c41217dcac6ef0adabe7d90f1e11d19a32ad7e1d9901";
    let digits = brotli.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    let brotli: Vec<u8> = digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
    for size in [1, 7, brotli.len()] {
        let report = read(Wire::Anthropic, Some("br"), brotli.chunks(size));
        assert_eq!(report.usage.unwrap().input, 7, "{size}");
    }
}

#[test]
fn broken_and_unknown_encodings_tell_nothing() {
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        assert_eq!(
            read(Wire::Anthropic, Some(encoding), ANTHROPIC.as_bytes().chunks(9)),
            ResponseReport::default()
        );
    }
    let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("gzip, br"))]);
    assert!(UsageReader::new(Wire::Anthropic, &headers).is_none());
}

#[test]
fn an_event_that_is_too_long_is_passed_over_and_the_next_is_read() {
    let long = "x".repeat(3 << 20);
    let text = format!("data: {{\"type\":\"ping\",\"x\":\"{long}\"}}\ndata: y\n\n{ANTHROPIC}");
    for size in [text.len(), 1 << 16, (1 << 16) + 1] {
        let report = read(Wire::Anthropic, None, text.as_bytes().chunks(size));
        assert_eq!(report.usage.unwrap().output, 42);
    }
    let text = format!("[{{\"x\":\"{long}\"}},{}", GEMINI.trim_start_matches('['));
    let report = read(Wire::Gemini, None, text.as_bytes().chunks(1 << 16));
    assert_eq!(report.usage.unwrap().total, Some(15));
}

proptest::proptest! {
    #[test]
    fn nothing_that_is_sent_can_stop_the_reader(
        parts in proptest::collection::vec(proptest::collection::vec(proptest::num::u8::ANY, 0..200), 0..6),
        start in 0_usize..5,
    ) {
        let start = ["data: {\"usage\":", "{", "[{", "data: [DONE]\n\n", ""][start];
        for wire in [Wire::Anthropic, Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Gemini] {
            for encoding in [None, Some("gzip"), Some("deflate"), Some("br"), Some("zstd")] {
                let parts = std::iter::once(start.as_bytes()).chain(parts.iter().map(Vec::as_slice));
                read(wire, encoding, parts);
            }
        }
    }
}
