//! What the founding systems do with a session, step by step: overflow, task, summary, go on, and once more; old
//! results are cleared. And requests in another form than the session's.

use std::fmt::Write as _;

use secateur::session::{Event, TurnState};
use secateur_engine::{Clock, Session, Target};
use secateur_formats::Wire;

use super::messages::{assistant, shape, turn, user};
use super::setup::{Author, answered, ask, engine, open, target};

/// What happened, a line for each.
fn story(events: &[Event]) -> String {
    let mut lines = String::new();
    for event in events {
        _ = match event {
            Event::Overflow { trigger, .. } => writeln!(lines, "overflow ({trigger:?})"),
            Event::Pruned { occasion, cuts, .. } => writeln!(lines, "pruned {cuts} ({occasion:?})"),
            Event::CompactionStarted { task, means, .. } => writeln!(lines, "task {task} ({means:?})"),
            Event::CompactionCompleted { task, messages, .. } => {
                writeln!(lines, "summary {task} for {messages} messages")
            }
            other => writeln!(lines, "{other:?}"),
        };
    }
    lines
}

/// Plays a session through two overflows; tells what happened, and shows what is sent in the end.
async fn play(profile: &str, wire: Wire) -> (Session, String) {
    let engine = engine().await.with_model(Author::new(&["## Done\nOne.", "## Done\nOne, two."]));
    let mut session = open(&engine, profile, wire).await;
    let wide = target(200_000);
    let mut reported = Vec::new();
    for round in 0..2 {
        for number in 0..3 {
            session.append(turn(wire, round * 3 + number, 1_000)).await.unwrap();
            let request = ask(&mut session, &wide).await;
            assert_eq!(request.repaired, [], "{profile} {wire}");
            reported.extend(request.events);
            reported.extend(answered(&mut session, 20_000, TurnState::Over).await);
        }
        session.append([user(wire, &format!("Go ahead with round {round}."))]).await.unwrap();
        reported.extend(ask(&mut session, &wide).await.events);
        session.append([assistant(wire, "I am at it.")]).await.unwrap();
        reported.extend(answered(&mut session, 199_900, TurnState::Open).await);
    }
    let request = ask(&mut session, &wide).await;
    assert_eq!(request.repaired, [], "{profile} {wire}: {}", shape(&request.body));
    (session, format!("{}{}", story(&reported), shape(&request.body)))
}

#[tokio::test]
async fn opencode_goes_on_behind_marker_and_summary() {
    insta::assert_snapshot!(play("opencode", Wire::Anthropic).await.1, @"
    overflow (Usage)
    task 1 (Model)
    summary 1 for 14 messages
    overflow (Usage)
    task 2 (Model)
    summary 2 for 15 messages
    00 user: What did we do so far?
    01 assistant: This is a record of the conversation so far, made to save ro … (769 chars)
    02 user: Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.
    ");
}

#[tokio::test]
async fn openclaw_goes_on_behind_its_summary() {
    insta::assert_snapshot!(play("openclaw", Wire::OpenAiChat).await.1, @"
    overflow (Usage)
    task 1 (Model)
    summary 1 for 14 messages
    overflow (Usage)
    task 2 (Model)
    summary 2 for 14 messages
    00 system: Be brief.
    01 assistant: This is a record of the conversation so far, made to save ro … (769 chars)
    ");
}

#[tokio::test]
async fn openagentic_goes_on_behind_its_summary() {
    insta::assert_snapshot!(play("openagentic", Wire::OpenAiResponses).await.1, @"
    overflow (Usage)
    task 1 (Model)
    summary 1 for 14 messages
    overflow (Usage)
    task 2 (Model)
    summary 2 for 15 messages
    00 assistant: This is a record of the conversation so far, made to save ro … (769 chars)
    01 user: Continue if you have next steps
    ");
}

#[tokio::test]
async fn qwery_goes_on_behind_its_summary() {
    insta::assert_snapshot!(play("qwery", Wire::Gemini).await.1, @"
    overflow (Usage)
    task 1 (Model)
    summary 1 for 14 messages
    overflow (Usage)
    task 2 (Model)
    summary 2 for 14 messages
    00 model: This is a record of the conversation so far, made to save ro … (769 chars)
    ");
}

#[tokio::test]
async fn every_profile_works_on_every_wire() {
    for profile in ["balanced", "opencode", "openclaw", "openagentic", "qwery"] {
        for wire in Wire::ALL {
            let (mut session, story) = play(profile, wire).await;
            assert_eq!(story.matches("summary ").count(), 2, "{profile} {wire}: {story}");
            // And for a model of every other provider.
            for other in Wire::ALL {
                let target = Target { wire: Some(other), ..target(200_000) };
                let request = ask(&mut session, &target).await;
                assert_eq!(request.wire, other);
                assert!(request.body.contains("One, two."), "{profile} {wire} {other}: {}", request.body);
            }
        }
    }
}

#[tokio::test]
async fn a_session_in_one_form_is_sent_in_another() {
    let engine = engine().await.with_model(Author::new(&[]));
    let mut session = open(&engine, "balanced", Wire::OpenAiChat).await;
    for number in 0..4 {
        session.append(turn(Wire::OpenAiChat, number, 3_000)).await.unwrap();
    }
    session.append([user(Wire::OpenAiChat, "And the tests?")]).await.unwrap();
    let target = Target { wire: Some(Wire::Anthropic), ..target(4_000) };
    insta::assert_snapshot!(shape(&ask(&mut session, &target).await.body), @"
    00 user: What did we do so far?
    01 assistant: This is a record of the conversation so far, made to save ro … (411 chars)
    01 assistant: File 3 is fine.
    02 user: And the tests?
    ");
}

/// Turns whose results are so large that those behind the newest forty thousand tokens are cleared.
async fn read_much(profile: &str, wire: Wire, clock: Option<&Clock>) -> String {
    let engine = engine().await;
    let engine = match clock {
        Some(clock) => engine.with_clock(clock.clone()),
        None => engine,
    };
    let mut session = open(&engine, profile, wire).await;
    for number in 0..9 {
        session.append(turn(wire, number, 40_000)).await.unwrap();
        ask(&mut session, &target(200_000)).await;
        answered(&mut session, 12_000 * (number as i64 + 1), TurnState::Over).await;
        if let Some(clock) = clock {
            clock.set(clock.now() + 400_000);
        }
    }
    let request = ask(&mut session, &target(200_000)).await;
    assert!(session.recall("call-0").await.unwrap().text.len() > 39_000, "nothing is lost");
    let lines = shape(&request.body);
    lines.lines().filter(|line| line.contains("tool ")).fold(String::new(), |all, line| all + line + "\n")
}

#[tokio::test]
async fn old_results_are_cleared_at_the_end_of_a_turn() {
    insta::assert_snapshot!(read_much("opencode", Wire::OpenAiChat, None).await, @"
    03 tool call-0: [Old tool result content cleared]
    07 tool call-1: [Old tool result content cleared]
    11 tool call-2: [Old tool result content cleared]
    15 tool call-3: [Old tool result content cleared]
    19 tool call-4: line 4 | line 4 | line 4 | line 4 | line 4 | line 4 | line 4 … (40005 chars)
    23 tool call-5: line 5 | line 5 | line 5 | line 5 | line 5 | line 5 | line 5 … (40005 chars)
    27 tool call-6: line 6 | line 6 | line 6 | line 6 | line 6 | line 6 | line 6 … (40005 chars)
    31 tool call-7: line 7 | line 7 | line 7 | line 7 | line 7 | line 7 | line 7 … (40005 chars)
    35 tool call-8: line 8 | line 8 | line 8 | line 8 | line 8 | line 8 | line 8 … (40005 chars)
    ");
    insta::assert_snapshot!(read_much("qwery", Wire::Anthropic, None).await, @"
    02 tool call-0: [Old tool result content cleared]
    06 tool call-1: [Old tool result content cleared]
    10 tool call-2: [Old tool result content cleared]
    14 tool call-3: [Old tool result content cleared]
    18 tool call-4: line 4 | line 4 | line 4 | line 4 | line 4 | line 4 | line 4 … (40005 chars)
    22 tool call-5: line 5 | line 5 | line 5 | line 5 | line 5 | line 5 | line 5 … (40005 chars)
    26 tool call-6: line 6 | line 6 | line 6 | line 6 | line 6 | line 6 | line 6 … (40005 chars)
    30 tool call-7: line 7 | line 7 | line 7 | line 7 | line 7 | line 7 | line 7 … (40005 chars)
    34 tool call-8: line 8 | line 8 | line 8 | line 8 | line 8 | line 8 | line 8 … (40005 chars)
    ");
    insta::assert_snapshot!(read_much("openagentic", Wire::Gemini, None).await, @"
    02 tool call-0: [Old tool result content cleared]
    06 tool call-1: [Old tool result content cleared]
    10 tool call-2: [Old tool result content cleared]
    14 tool call-3: [Old tool result content cleared]
    18 tool call-4: line 4 | line 4 | line 4 | line 4 | line 4 | line 4 | line 4 … (40005 chars)
    22 tool call-5: line 5 | line 5 | line 5 | line 5 | line 5 | line 5 | line 5 … (40005 chars)
    26 tool call-6: line 6 | line 6 | line 6 | line 6 | line 6 | line 6 | line 6 … (40005 chars)
    30 tool call-7: line 7 | line 7 | line 7 | line 7 | line 7 | line 7 | line 7 … (40005 chars)
    34 tool call-8: line 8 | line 8 | line 8 | line 8 | line 8 | line 8 | line 8 … (40005 chars)
    ");
}

#[tokio::test]
async fn old_results_are_trimmed_when_the_providers_cache_is_cold() {
    let clock = Clock::at(1_700_000_000_000);
    insta::assert_snapshot!(read_much("openclaw", Wire::OpenAiResponses, Some(&clock)).await, @"
    02 tool call-0: line 0 | line 0 | line 0 | line 0 | line 0 | line 0 | line 0 … (3087 chars)
    06 tool call-1: line 1 | line 1 | line 1 | line 1 | line 1 | line 1 | line 1 … (3087 chars)
    10 tool call-2: line 2 | line 2 | line 2 | line 2 | line 2 | line 2 | line 2 … (3087 chars)
    14 tool call-3: line 3 | line 3 | line 3 | line 3 | line 3 | line 3 | line 3 … (3087 chars)
    18 tool call-4: line 4 | line 4 | line 4 | line 4 | line 4 | line 4 | line 4 … (3087 chars)
    22 tool call-5: line 5 | line 5 | line 5 | line 5 | line 5 | line 5 | line 5 … (40005 chars)
    26 tool call-6: line 6 | line 6 | line 6 | line 6 | line 6 | line 6 | line 6 … (40005 chars)
    30 tool call-7: line 7 | line 7 | line 7 | line 7 | line 7 | line 7 | line 7 … (40005 chars)
    34 tool call-8: line 8 | line 8 | line 8 | line 8 | line 8 | line 8 | line 8 … (40005 chars)
    ");
}
