//! What actions need of tool results, shown on sessions of a few lines.

use secateur::Measures;
use secateur_formats::read;
use secateur_lab::{CommonWords, TextNeed, Trace, TraceLabel, find_needs};
use serde_json::{Value, json};

/// A session that is written line by line, as Claude Code does.
#[derive(Default)]
struct Session {
    lines: Vec<String>,
    project: &'static str,
}

impl Session {
    fn of(project: &'static str, task: &str) -> Self {
        Self { lines: Vec::new(), project }.line("user", &json!({ "role": "user", "content": task }))
    }

    fn line(mut self, kind: &str, message: &Value) -> Self {
        let number = self.lines.len();
        let parent = number.checked_sub(1).map(|last| format!("u{last}"));
        let line = json!({ "type": kind, "uuid": format!("u{number}"), "parentUuid": parent, "sessionId": "s",
            "cwd": "/p", "version": "2.1", "timestamp": format!("2026-01-31T10:00:{number:02}Z"), "message": message });
        self.lines.push(line.to_string() + "\n");
        self
    }

    /// The model says something and calls a tool, which answers.
    fn acts(self, says: &str, tool: &str, input: &Value, answer: &str) -> Self {
        let number = self.lines.len();
        let (message, call) = (format!("m{number}"), format!("t{number}"));
        let content = json!([{ "type": "text", "text": says },
            { "type": "tool_use", "id": call, "name": tool, "input": input }]);
        let usage = json!({ "input_tokens": 10, "output_tokens": 10 });
        self.line("assistant", &json!({ "id": message, "model": "x", "content": content, "usage": usage }))
            .line(
                "user",
                &json!({ "content": [{ "type": "tool_result", "tool_use_id": call, "content": answer }] }),
            )
    }

    fn read(self, path: &str, answer: &str) -> Self {
        self.acts("Reading.", "Read", &json!({ "file_path": path }), answer)
    }

    fn grep(self, pattern: &str) -> Self {
        self.acts("Searching.", "Grep", &json!({ "pattern": pattern }), "nothing")
    }

    fn trace(&self) -> Trace {
        let log = self.lines.concat();
        let label = TraceLabel { project: self.project.to_owned(), ..TraceLabel::default() };
        let traces = Trace::of(&read(log.as_bytes(), &Measures::default()).expect("a valid log"), &label);
        let [trace] = <[Trace; 1]>::try_from(traces).expect("one trace");
        trace
    }

    fn needs(&self) -> Vec<TextNeed> {
        find_needs(&[self.trace()], &CommonWords::builtin()).concat()
    }
}

/// Calls, texts and how many results hold them.
fn listed(needs: &[TextNeed]) -> Vec<(u32, &str, usize)> {
    needs.iter().map(|need| (need.call, &*need.text, need.sources.len())).collect()
}

#[test]
fn a_name_that_only_a_result_shows_is_needed() {
    let session = Session::of("p", "go").read("a.rs", "fn plan_of_harvest() {}").grep("plan_of_harvest");
    let needs = session.needs();
    assert_eq!(listed(&needs), [(1, "plan_of_harvest", 1)]);
    let (need, trace) = (&needs[0], session.trace());
    assert!(!need.is_edit);
    assert_eq!(trace.outline.tool(need.action), Some("Grep"));
    assert_eq!(trace.texts[need.sources[0].0 as usize], "fn plan_of_harvest() {}");
}

#[test]
fn a_name_that_anybody_said_is_not() {
    let shown = "fn plan_of_harvest() {}";
    let by_user = Session::of("p", "rename `plan_of_harvest`").read("a.rs", shown).grep("plan_of_harvest");
    assert_eq!(listed(&by_user.needs()), []);
    let by_model = Session::of("p", "go")
        .read("a.rs", shown)
        .acts("I see plan_of_harvest.", "Bash", &json!({ "command": "ls" }), "a.rs")
        .grep("plan_of_harvest");
    assert_eq!(listed(&by_model.needs()), []);
    // What it says in the answer that acts, it has from the result as well; once acted upon, it is its own.
    let same_answer = Session::of("p", "go")
        .read("a.rs", shown)
        .acts("Where is plan_of_harvest?", "Grep", &json!({ "pattern": "plan_of_harvest" }), shown)
        .grep("plan_of_harvest");
    assert_eq!(listed(&same_answer.needs()), [(1, "plan_of_harvest", 1)]);
}

#[test]
fn a_part_of_a_name_or_a_key_is_not_that_name() {
    let session = Session::of("p", "go").read("a.rs", "plan_of_harvests pattern_of_growth");
    let keyed = json!({ "pattern_of_growth": "plan_of_harvest" });
    assert_eq!(listed(&session.acts("Now.", "Grep", &keyed, "none").needs()), []);
}

#[test]
fn general_knowledge_is_not_needed() {
    let session =
        Session::of("p", "go").read("a.rs", "unwrap_or_else TIMEOUT").grep("unwrap_or_else|TIMEOUT");
    assert_eq!(listed(&session.needs()), []);
    let traces = ["p", "q", "q", "r"].map(|project| {
        let text = if project == "p" { "fn plan_of_harvest() {} two_of_them" } else { "Plan_Of_Harvest" };
        Session::of(project, "go").read("a.rs", text).grep("plan_of_harvest two_of_them").trace()
    });
    let named = |traces: &[Trace]| listed(&find_needs(&traces[..1], &CommonWords::of(traces))[0]).len();
    assert_eq!(
        (named(&traces[..3]), named(&traces)),
        (2, 0),
        "of two projects it is theirs, of three everybody's"
    );
}

#[test]
fn a_file_name_in_a_path_is_a_name() {
    let session =
        Session::of("p", "go").read("/p/demo", "smooth-input.tsx").read("/p/demo/smooth-input.tsx", "x");
    assert_eq!(listed(&session.needs()), [(1, "smooth-input", 1)]);
}

#[test]
fn a_line_that_an_edit_replaces_is_needed() {
    let edit = json!({ "file_path": "/p/a.rs", "old_string": "    let x = 1 + 2;\n}", "new_string": "    let x = 3;\n}" });
    let session = Session::of("p", "go")
        .read("/p/a.rs", "     7→    let x = 1 + 2;\n     8→}")
        .acts("Fixed.", "Edit", &edit, "ok")
        .acts("Back.", "Edit", &json!({ "file_path": "/p/a.rs", "old_string": "    let x = 3;" }), "ok");
    let needs = session.needs();
    assert_eq!(listed(&needs), [(1, "let x = 1 + 2;", 1)], "the model wrote the other line itself");
    assert!(needs[0].is_edit);
}

#[test]
fn sources_are_those_of_before_oldest_first() {
    let session = Session::of("p", "go")
        .read("a.rs", "plan_of_harvest, plan_of_harvest")
        .read("b.rs", "nothing")
        .read("c.rs", "use plan_of_harvest;")
        .acts("Now.", "Bash", &json!({ "command": "cargo test plan_of_harvest" }), "plan_of_harvest ... ok");
    let needs = session.needs();
    assert_eq!(listed(&needs), [(3, "plan_of_harvest", 2)]);
    let trace = session.trace();
    let first_call_with: Vec<_> =
        needs[0].sources.iter().map(|&source| trace.first_call_with(source)).collect();
    assert_eq!(first_call_with, [1, 3]);
}
