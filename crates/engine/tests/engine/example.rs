//! The agent of the guide, from its first line to the last.

#[expect(dead_code, reason = "tests do not begin where programs do")]
#[path = "../../examples/agent.rs"]
mod agent;

use std::path::{Path, PathBuf};

use secateur_formats::{Wire, lint};
use secateur_testing::scripted_provider::{Script, ScriptedProvider};

const WIRE: Wire = Wire::OpenAiChat;

/// Says these lines to the agent; gives what it answers.
async fn converse(server: &ScriptedProvider, store: &Path, lines: &[&str]) -> String {
    let arguments =
        [format!("{}/v1", server.url()), "m".into(), "2000".into(), store.to_str().unwrap().into()];
    let mut out = Vec::new();
    let lines = lines.iter().map(|line| Ok((*line).to_owned()));
    agent::run(&arguments, lines, &mut out).await.unwrap();
    String::from_utf8(out).unwrap()
}

#[tokio::test]
async fn the_agent_of_the_guide_goes_on_past_an_overflow_and_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("agent.db");
    let too_long = r#"{"error":{"message":"This model's maximum context length is 2000 tokens. However, your messages resulted in 2100 tokens.","code":"context_length_exceeded"}}"#;
    let scripts = vec![
        Script::whole(WIRE, "It is about ducks."),
        Script::refusal(400, too_long),
        Script::whole(WIRE, "Not about geese."),
        Script::whole(WIRE, "Ducks, I said."),
    ];
    let server = ScriptedProvider::start(scripts).await;
    let essay = "A duck is a bird that swims. ".repeat(60);
    let said = converse(&server, &store, &[&format!("What is this about? {essay}"), "And geese?"]).await;
    assert_eq!(said, "It is about ducks.\nNot about geese.\n");
    let said = converse(&server, &store, &["What did you say?"]).await;
    assert_eq!(said, "Ducks, I said.\n");

    let requests = server.requests();
    assert!(requests[2].body.len() < requests[1].body.len(), "{}", requests[2].body);
    assert!(requests[2].body.contains("And geese?"), "{}", requests[2].body);
    assert!(requests[3].body.contains("Not about geese."), "{}", requests[3].body);
    for request in &requests {
        assert_eq!(request.json()["model"], "m");
        assert_eq!(lint::lint(WIRE, &request.body), []);
    }
}

#[test]
fn the_guide_shows_the_example_as_it_is() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let guide = std::fs::read_to_string(root.join("../../docs/add-secateur-to-your-agent.md")).unwrap();
    let example = std::fs::read_to_string(root.join("examples/agent.rs")).unwrap();
    assert!(guide.contains(&format!("```rust\n{example}```\n")), "copy the example into the guide");
}
