//! The demo: the same story every time.

use super::{TestFolder, secateur};

#[test]
fn the_demo_tells_the_whole_cycle() {
    let run = secateur(&["demo"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    for said in
        ["overflow: ", "pruned ", "compacted ", "No request had more than ", "undo  ", "redo  ", "recall  "]
    {
        assert!(run.out.contains(said), "{said:?} is missing in {}", run.out);
    }
    assert!(run.out.lines().count() < 60, "it fits on a page");
    assert!(run.out.lines().all(|line| line.chars().count() <= 110));
    assert!(!run.out.contains('\u{1b}'), "no colours when piped");
    assert_eq!(secateur(&["demo"]).out, run.out, "the same every time");
}

#[test]
fn the_founding_systems_are_shown_on_request() {
    let run = secateur(&["demo", "--systems"]);
    assert_eq!(run.code, 0, "{}", run.err);
    for said in ["Its three zones", "░", "▒", "█", "What each founding system would cut", "Overflow", "Pivot"]
    {
        assert!(run.out.contains(said), "{said} is missing");
    }
    for name in
        ["opencode@2026-01", "openclaw@2026-01-aggressive", "openagentic@0.1.4", "qwery@2026-04", "anthropic"]
    {
        assert!(run.out.contains(name), "{name} is missing");
    }
}

#[test]
fn a_file_that_is_there_is_not_overwritten() {
    let desk = TestFolder::new();
    let file = desk.put("session.json", "mine");
    let run = secateur(&["demo", "--save", &file]);
    assert_eq!(run.code, 2);
    assert_eq!(super::bytes(&file), b"mine");
}
