//! Conversations in different languages that begin with the same words.

use std::collections::HashSet;

use crate::process::Process;
use secateur_testing::ScriptedModel;
use secateur_testing::client::post;
use secateur_testing::configuration::MODEL;

/// Chat Completions, Responses and Anthropic spell a plain message of the user with the same bytes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_first_words_in_another_language_are_another_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let model = ScriptedModel::with_window(None).await;
    let proxy = Process::start(folder.path(), &model.url(), 6_000);
    let said = r#"[{"role":"user","content":"SCENARIO:hello"}]"#;
    let mut sessions = HashSet::new();
    for (path, key) in
        [("/v1/messages", "messages"), ("/v1/chat/completions", "messages"), ("/v1/responses", "input")]
    {
        let body = format!(r#"{{"model":"{MODEL}","max_tokens":100,"{key}":{said}}}"#);
        let answer = post(proxy.address, path, "content-type: application/json\r\n", &body).await;
        assert_eq!((answer.status(), answer.outcome()), (200, "unchanged"), "{path}: {}", answer.head);
        assert!(sessions.insert(answer.header("x-secateur-session").to_owned()), "{path}: {}", answer.head);
    }
}
