//! What a summary is, what stays beside it, and what it is made of.

use secateur::session::{Means, TurnState};
use secateur_engine::NewMessage;
use secateur_formats::Wire;
use serde_json::json;

use super::messages::{assistant, message, results, shape, turn, user};
use super::setup::{Author, UNPRUNED, answered, ask, engine, made, open, set, target};

const WIRE: Wire = Wire::OpenAiChat;

#[tokio::test]
async fn pins_and_instructions_survive_two_compactions_word_for_word() {
    for wire in Wire::ALL {
        // Pruning would put the second compaction off.
        let engine = set(engine().await, UNPRUNED);
        let engine = engine.with_model(Author::new(&["## Done\nOne.", "## Done\nOne and two."]));
        let mut session = open(&engine, "balanced", wire).await;
        session.append([user(wire, "Look at all files.")]).await.unwrap();
        let rule = NewMessage { pinned: true, ..user(wire, "Never push to the release branch.  ") };
        session.append([rule.clone()]).await.unwrap();
        let mut reported = Vec::new();
        for number in 0..16 {
            session.append(turn(wire, number, 1_500)).await.unwrap();
            reported.extend(ask(&mut session, &target(4_000)).await.events);
        }
        assert!(made(&reported).len() >= 2, "{wire}");
        let body = ask(&mut session, &target(4_000)).await.body;
        assert!(body.contains(&*rule.json), "{body}");
        assert_eq!(body.matches("Be brief.").count(), 1, "{wire}");
        let shape = shape(&body);
        let (rule, summary) = (shape.find("Never push").unwrap(), shape.find("This is a record").unwrap());
        assert!(rule < summary, "{shape}");
    }
}

#[tokio::test]
async fn a_summary_is_history_and_the_last_word_is_the_users() {
    let engine = engine().await.with_model(Author::new(&["## Next\nDelete the database."]));
    let mut session = open(&engine, "balanced", WIRE).await;
    for number in 0..4 {
        session.append(turn(WIRE, number, 3_000)).await.unwrap();
    }
    session.append([user(WIRE, "Forget that. What is the weather like?")]).await.unwrap();
    let request = ask(&mut session, &target(4_000)).await;
    assert_eq!(made(&request.events), [Means::Model]);
    insta::assert_snapshot!(shape(&request.body), @"
    00 system: Be brief.
    01 user: What did we do so far?
    02 assistant: This is a record of the conversation so far, made to save ro … (432 chars)
    03 assistant: File 3 is fine.
    04 user: Forget that. What is the weather like?
    ");
    let record = request.body.find("It is history, not a request.").unwrap();
    assert!(record < request.body.find("Delete the database").unwrap());
}

#[tokio::test]
async fn a_later_summary_is_made_from_the_earlier_one_and_the_ledger_goes_with_both() {
    let model = Author::new(&["## Done\nFirst half.", "## Done\nBoth halves."]);
    let engine = engine().await.with_model(model.clone());
    let mut session = open(&engine, "balanced", WIRE).await;
    for number in 0..3 {
        session.append(turn(WIRE, number, 900)).await.unwrap();
    }
    let wide = target(100_000);
    ask(&mut session, &wide).await;
    session.compact(None).await.unwrap();
    for number in 3..6 {
        session.append(turn(WIRE, number, 900)).await.unwrap();
    }
    session.compact(Some("the last file")).await.unwrap();
    let questions = model.questions();
    assert_eq!(questions.len(), 2);
    assert!(!questions[0].contains("[begin record"));
    let record = questions[1].split("[begin record").nth(1).unwrap().split("[end record").next().unwrap();
    assert!(record.contains("## Done\nFirst half."), "{record}");
    assert!(!record.contains("It is history"), "the heading is ours, not the model's: {record}");
    assert!(questions[1].contains("[begin wish") && questions[1].contains("the last file"));
    assert!(!questions[1].contains("file 0"), "what was summarised is not told again");
    let body = ask(&mut session, &wide).await.body;
    assert!(body.contains("Both halves.") && !body.contains("First half."));
    for file in ["src/0.rs", "src/5.rs"] {
        assert!(body.contains(file), "the ledger holds what both stretches touched: {body}");
    }
    assert_eq!(body.matches("What did we do so far?").count(), 1);
}

#[tokio::test]
async fn a_digest_keeps_what_a_model_wrote_before() {
    let model = Author::new(&["## Done\nThe parser was rewritten."]);
    let engine = engine().await.with_model(model.clone());
    let mut session = open(&engine, "balanced", WIRE).await;
    session.append(turn(WIRE, 0, 900)).await.unwrap();
    session.append(turn(WIRE, 1, 900)).await.unwrap();
    assert_eq!(made(&session.compact(None).await.unwrap()), [Means::Model]);
    session.append(turn(WIRE, 2, 900)).await.unwrap();
    session.append(turn(WIRE, 3, 900)).await.unwrap();
    model.says.lock().unwrap().extend((0..2).map(|_| Ok("I cannot do that.".to_owned())));
    assert_eq!(made(&session.compact(None).await.unwrap()), [Means::Digest]);
    let body = ask(&mut session, &target(100_000)).await.body;
    assert!(body.contains("The parser was rewritten."), "{}", shape(&body));
    assert_eq!(body.matches("It is history").count(), 1);
}

#[tokio::test]
async fn a_summary_is_never_longer_than_its_share_however_much_happened() {
    let engine = set(engine().await, "compaction = { summary = 500 }");
    let mut session = open(&engine, "balanced", WIRE).await;
    for number in 0..150 {
        session.append(turn(WIRE, number, 300)).await.unwrap();
    }
    ask(&mut session, &target(8_000)).await;
    let state = session.state().pivot.clone().unwrap();
    let text = session.recall(&state.summary.to_string()).await.unwrap().text;
    assert!(text.len() <= 1_600, "{} for 500 tokens", text.len());
    assert!(text.contains("> Please look at file 0."), "the first request is there: {text}");
}

#[tokio::test]
async fn signed_thinking_stays_with_its_turn_to_the_byte() {
    let wire = Wire::Anthropic;
    let engine = engine().await.with_model(Author::new(&[]));
    let mut session = open(&engine, "balanced", wire).await;
    let mut thoughts = Vec::new();
    for number in 0..14 {
        session.append([user(wire, &format!("Step {number}."))]).await.unwrap();
        let thought = json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": format!("Let me see {number}."), "signature": format!("sig-{number}==")},
            {"type": "tool_use", "id": format!("c-{number}"), "name": "read", "input": {"path": "a.rs"}}]});
        let thought = message(&thought);
        thoughts.push(thought.json.clone());
        session.append([thought]).await.unwrap();
        let (call, text) = (format!("c-{number}"), super::messages::text_of(number, 1_200));
        session.append(results(wire, &[(&call, "read", &text)])).await.unwrap();
        let request = ask(&mut session, &target(4_000)).await;
        // A signature is there with all that it signs, or not at all.
        for (number, thought) in thoughts.iter().enumerate() {
            let signed = request.body.contains(&format!("sig-{number}=="));
            assert_eq!(signed, request.body.contains(&**thought), "{number}\n{}", shape(&request.body));
        }
        assert!(request.body.contains(&**thoughts.last().unwrap()), "the newest is needed to go on");
        session.append([assistant(wire, "Done.")]).await.unwrap();
        answered(&mut session, request.tokens, TurnState::Over).await;
    }
}
