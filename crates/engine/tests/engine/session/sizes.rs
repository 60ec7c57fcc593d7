//! What is counted, and what is too large for itself.

use secateur::session::{Event, Trigger, TurnState};
use secateur::{Occasion, Usage};
use secateur_engine::Settlement;
use secateur_formats::Wire;
use serde_json::json;

use super::messages::{calls, message, results, shape, text_of, turn, user};
use super::setup::{Author, UNPRUNED, answered, ask, engine, made, open, refused, set, target};

const WIRE: Wire = Wire::OpenAiChat;

#[tokio::test]
async fn estimates_follow_what_the_provider_reports() {
    let engine = engine().await;
    let mut session = open(&engine, "balanced", WIRE).await;
    // A provider that counts a token for every character: text of wide characters, say.
    let mut errors = Vec::new();
    for number in 0..10 {
        let text = "漢字の文章を読む。".repeat(100 + number);
        session.append([user(WIRE, &text)]).await.unwrap();
        let request = ask(&mut session, &target(1_000_000)).await;
        let real = 300 + session.live_messages().chars() as i64;
        errors.push((request.tokens - real).abs());
        answered(&mut session, real, TurnState::Over).await;
    }
    assert!(errors[0] > 500, "the first estimate knows nothing: {errors:?}");
    assert!(errors[5..].iter().all(|error| *error < 20), "{errors:?}");
}

#[tokio::test]
async fn a_request_that_was_refused_is_not_sent_again_as_it_is() {
    for tokens in [None, Some(90_000)] {
        let engine = set(engine().await, UNPRUNED).with_model(Author::new(&[]));
        let mut session = open(&engine, "balanced", WIRE).await;
        for number in 0..6 {
            session.append(turn(WIRE, number, 6_000)).await.unwrap();
        }
        session.append([user(WIRE, "And what does that mean?")]).await.unwrap();
        // By the estimate it fits; the provider sees it otherwise.
        let first = ask(&mut session, &target(20_000)).await;
        let reported = refused(&mut session, tokens).await;
        assert!(
            matches!(reported[0], Event::Overflow { trigger: Trigger::Refusal, tokens, .. } if tokens > 19_000),
            "{reported:?}"
        );
        assert_eq!(made(&reported).len(), 1, "{reported:?}");
        let second = ask(&mut session, &target(20_000)).await;
        assert!(second.body.len() < first.body.len() / 2, "{}", shape(&second.body));
        assert!(shape(&second.body).ends_with("user: And what does that mean?\n"));
    }
}

#[tokio::test]
async fn a_report_beyond_the_limit_makes_room_before_the_next_request() {
    let engine = engine().await.with_model(Author::new(&[]));
    let mut session = open(&engine, "balanced", WIRE).await;
    for number in 0..5 {
        session.append(turn(WIRE, number, 2_000)).await.unwrap();
    }
    ask(&mut session, &target(8_000)).await;
    // The cache counts.
    let usage = Usage { input: 100, cache_read: 7_000, cache_write: 300, output: 200, ..Usage::default() };
    let reported = session.settle(Settlement::Responded { usage, turn: TurnState::Over }).await.unwrap();
    assert_eq!(reported[0], Event::Overflow { trigger: Trigger::Usage, tokens: 7_600, usable: 7_500 });
    assert_eq!(made(&reported).len(), 1);
}

#[tokio::test]
async fn a_switch_to_a_smaller_window_compacts_for_that_window() {
    let engine = engine().await.with_model(Author::new(&[]));
    let mut session = open(&engine, "balanced", WIRE).await;
    for number in 0..8 {
        session.append(turn(WIRE, number, 6_000)).await.unwrap();
    }
    let wide = ask(&mut session, &target(200_000)).await;
    assert!(wide.events.is_empty() && wide.tokens > 12_000);
    let narrow = ask(&mut session, &target(4_000)).await;
    assert!(narrow.tokens <= 3_500);
    // Back again: what was compacted stays so, and nothing else happens.
    let again = ask(&mut session, &target(200_000)).await;
    assert_eq!((again.body, again.events), (narrow.body, vec![]));
}

#[tokio::test]
async fn a_huge_result_is_capped_on_arrival_by_the_window_and_can_be_recalled() {
    let engine = engine().await;
    let mut session = open(&engine, "balanced", WIRE).await;
    session.append([user(WIRE, "Read the log.")]).await.unwrap();
    session.append(calls(WIRE, &[("c-1", "bash", json!({"command": "cat log"}))])).await.unwrap();
    let log = text_of(1, 4_000_000);
    session.append(results(WIRE, &[("c-1", "bash", &log)])).await.unwrap();
    let request = ask(&mut session, &target(20_000)).await;
    assert!(matches!(request.events[..], [Event::Pruned { occasion: Occasion::Arrival, cuts: 1, .. }]));
    insta::assert_snapshot!(shape(&request.body), @"
    00 system: Be brief.
    01 user: Read the log.
    02 assistant calls c-1
    03 tool c-1: line 1 | line 1 | line 1 | line 1 | line 1 | line 1 | line 1 … (15734 chars)
    ");
    assert_eq!(session.recall("c-1").await.unwrap().text, log);
    // The same bytes for ever after.
    let again = ask(&mut session, &target(20_000)).await;
    assert_eq!((again.body, again.events), (request.body, vec![]));
}

#[tokio::test]
async fn images_count_by_the_picture_and_not_by_their_bytes() {
    let engine = engine().await.with_model(Author::new(&[]));
    let mut session = open(&engine, "balanced", Wire::Anthropic).await;
    let picture = |data: &str| {
        let source = json!({"type": "base64", "media_type": "image/png", "data": data});
        message(&json!({"role": "user", "content": [{"type": "image", "source": source},
            {"type": "text", "text": "What is this?"}]}))
    };
    session.append([picture(&"iVBORw0KGgo".repeat(20_000))]).await.unwrap();
    let request = ask(&mut session, &target(20_000)).await;
    assert!(request.events.is_empty() && (500..4_000).contains(&request.tokens), "{}", request.tokens);
    // But many of them are many.
    let mut reported = Vec::new();
    for number in 0..20 {
        session.append([super::messages::assistant(Wire::Anthropic, "A circle.")]).await.unwrap();
        session.append([picture(&format!("iVBORw0KGgo{number:04}"))]).await.unwrap();
        reported.extend(ask(&mut session, &target(20_000)).await.events);
    }
    assert!(!made(&reported).is_empty(), "{reported:?}");
}
