//! What was appended is sent as it was appended.

use secateur_engine::NewMessage;
use secateur_formats::Wire;

use super::messages::{turn, user};
use super::setup::{Author, ask, engine, made, open, target};

/// Messages that no writer would produce like this: odd spacing, unknown members, numbers and escapes spelled oddly.
fn odd(wire: Wire) -> Vec<&'static str> {
    match wire {
        Wire::OpenAiChat => vec![
            "{ \"role\" :\"user\",\n\t\"content\": \"caf\\u00e9 \\/ \u{2028}\" , \"x_note\":1.50e+3 }",
            "{\"tool_calls\":[{\"type\":\"function\",\"function\":{\"arguments\":\"{\\\"n\\\":1.0}\",\"name\":\"f\"},\"id\":\"o-1\"}],\"role\":\"assistant\"}",
            "{\"tool_call_id\" : \"o-1\", \"role\":\"tool\",\"content\":[{\"text\":\"a\\tb\",\"type\":\"text\"}] }",
        ],
        Wire::Anthropic => vec![
            "{ \"content\":[ {\"type\":\"text\",\"text\":\"caf\\u00e9\",\"cache_control\":{ \"type\":\"ephemeral\"}} ],\"role\":\"user\"}",
            "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"o-1\",\"name\":\"f\",\"input\":{\"n\":1.0,\"m\":1E2}}]}",
            "{\"role\":\"user\",\"content\":[{\"tool_use_id\":\"o-1\",\"type\":\"tool_result\", \"content\":\"ok\"}]}",
        ],
        Wire::OpenAiResponses => vec![
            "{\"type\":\"message\", \"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"caf\\u00e9\"}] }",
            "{\"arguments\":\"{}\",\"call_id\":\"o-1\",\"name\":\"f\",\"type\":\"function_call\",\"x\":0.10}",
            "{\"type\":\"function_call_output\",\"output\":\"ok\" ,\"call_id\":\"o-1\"}",
        ],
        Wire::Gemini => vec![
            "{\"parts\":[{ \"text\":\"caf\\u00e9\"}],\"role\":\"user\"}",
            "{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{\"n\":1.0},\"id\":\"o-1\"},\"thoughtSignature\":\"c2ln\"}]}",
            "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"f\",\"response\":{\"n\" : 1e0},\"id\":\"o-1\"}}]}",
        ],
    }
}

#[tokio::test]
async fn appended_messages_are_sent_with_the_same_bytes_before_and_after_a_compaction() {
    for wire in Wire::ALL {
        let engine = engine().await.with_model(Author::new(&[]));
        let mut session = open(&engine, "balanced", wire).await;
        session.append(turn(wire, 0, 90_000)).await.unwrap();
        session.append(odd(wire).into_iter().map(NewMessage::json)).await.unwrap();
        let joined = odd(wire).join(",");
        let wide = ask(&mut session, &target(200_000)).await;
        assert!(wide.body.contains(&joined), "{}", wide.body);
        assert_eq!(wide.repaired, []);
        assert_eq!(made(&session.compact(None).await.unwrap()).len(), 1, "{wire}");
        session = engine.open(session.id()).await.unwrap();
        let after = ask(&mut session, &target(100_000)).await;
        assert!(after.body.len() < wide.body.len() && after.body.contains(&joined), "{wire}: {}", after.body);
    }
}

#[tokio::test]
async fn what_comes_before_the_newest_message_stays_the_same_from_request_to_request() {
    for wire in Wire::ALL {
        let engine = engine().await.with_model(Author::new(&[]));
        let mut session = open(&engine, "balanced", wire).await;
        let mut before = String::new();
        let mut breaks = 0;
        for number in 0..30 {
            session.append(turn(wire, number, 900)).await.unwrap();
            let request = ask(&mut session, &target(6_000)).await;
            let list = request.body.split_once('[').unwrap().1.to_owned();
            if !list.starts_with(before.trim_end_matches(['}', ']'])) {
                breaks += 1;
                assert!(!request.events.is_empty(), "{wire}: a change without an event");
            }
            before = list.rsplit_once(']').unwrap().0.to_owned();
        }
        assert!((1..8).contains(&breaks), "{wire}: {breaks}");
    }
}

#[tokio::test]
async fn a_message_that_is_appended_twice_is_there_once() {
    let engine = engine().await;
    let wire = Wire::OpenAiChat;
    let mut session = open(&engine, "balanced", wire).await;
    let once = NewMessage { id: Some("m-1".to_owned()), ..user(wire, "Hello, once.") };
    let seqs = session.append([once.clone()]).await.unwrap();
    assert_eq!(session.append([once.clone()]).await.unwrap(), seqs);
    session.append(turn(wire, 1, 300)).await.unwrap();
    session.append(turn(wire, 2, 300)).await.unwrap();
    session.compact(None).await.unwrap();
    // It has left the context since, and is known all the same.
    session.append([once.clone()]).await.unwrap();
    let mut other = engine.open(session.id()).await.unwrap();
    other.append([once]).await.unwrap();
    let body = ask(&mut other, &target(100_000)).await.body;
    assert!(!body.contains(r#""content":"Hello, once.""#), "{body}");
}
