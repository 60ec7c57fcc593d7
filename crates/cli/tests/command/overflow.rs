//! Checking the usage of a session, wherever it is kept.

use super::samples::{self, Body};
use super::{TestFolder, secateur};

#[test]
fn folders_and_databases_are_checked_like_files() {
    let desk = TestFolder::new();
    let mut kept_otherwise = 0;
    for sample in samples::logs().into_iter().filter(|sample| sample.format == "opencode") {
        let file = sample.lay(desk.folder.path());
        let run = secateur(&["overflow", &file, "--window", "200000", "--json"]);
        assert_eq!(run.code, 0, "{}: {}", sample.name, run.err);
        assert!(run.json()["usage"]["output"].as_i64() > Some(0), "{}: {}", sample.name, run.out);
        kept_otherwise += usize::from(!matches!(sample.body, Body::Text(_)));
    }
    assert_eq!(kept_otherwise, 2);
}

#[test]
fn a_folder_of_several_sessions_says_what_to_give() {
    let desk = TestFolder::new();
    for name in ["one.jsonl", "two.jsonl"] {
        samples::of("claude").lay_at(&desk.path(name));
    }
    let folder = desk.folder.path().to_str().unwrap();
    let run = secateur(&["overflow", folder, "--window", "200000"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("--session"), "{}", run.err);
    let run = secateur(&["overflow", folder, "--window", "200000", "--session", "2"]);
    assert_eq!(run.code, 0, "{}", run.err);
}
