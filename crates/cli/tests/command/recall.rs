//! Fetching back what was cut and searching it, at the prompt and by an agent's client.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};

use serde_json::{Value, json};

use super::session::Shelf;

/// A shelf with the demo's session in which results were cut, and the handles that the request names.
fn cut() -> (Shelf, Vec<String>) {
    let shelf = Shelf::new();
    shelf.demo();
    shelf.run(&["context", "s", "--window", "28000"]);
    shelf.run(&["undo", "s"]);
    let shown = shelf.run(&["context", "s", "--window", "400000"]).out;
    let named = shown.split("; recall ").skip(1).filter_map(|rest| rest.split_once(" brings it back]"));
    let handles: Vec<String> = named.map(|(handle, _)| handle.to_owned()).collect();
    assert!(handles.len() > 3, "{shown}");
    (shelf, handles)
}

#[test]
fn a_handle_brings_the_original_back_also_after_a_compaction() {
    let (shelf, handles) = cut();
    shelf.run(&["redo", "s"]);
    for handle in handles.iter().take(3) {
        let report = shelf.alone(&["recall", handle, "--json"], "").json();
        let part = format!("{}.{}", report["number"], report["part"]);
        let original = shelf.run(&["recall", "s", &part]).out;
        assert_eq!(shelf.alone(&["recall", handle], "").out, original);
        assert_eq!(shelf.alone(&["recall", handle, "--session", "s"], "").out, original);
        assert_eq!(shelf.run(&["recall", "s", handle]).out, original);
        assert_eq!((&report["session"], report["tool"].is_string()), (&"s".into(), true), "{report}");
        assert_eq!(format!("{}\n", report["text"].as_str().unwrap()), original);
    }
    assert_eq!(shelf.alone(&["recall", "3", "--session", "s"], "").code, 0);
}

#[test]
fn what_cannot_be_recalled_says_what_to_do() {
    let (shelf, _) = cut();
    let refusal = |arguments: &[&str]| {
        let run = shelf.alone(arguments, "");
        assert_eq!(run.code, 2, "{}", run.out);
        run.err.replace(shelf.desk.path("").to_str().unwrap(), "")
    };
    insta::assert_snapshot!(refusal(&["recall", "zzzzzzzz"]), @r#"error: nothing was cut under "zzzzzzzz", and none of the sessions changed last has a tool call of that id; a placeholder names its handle after "recall", and `secateur recall --search WORDS` finds others"#);
    insta::assert_snapshot!(refusal(&["recall", "zzzzzzzz", "--session", "s"]), @r#"error: session s has no part "zzzzzzzz"; a placeholder names its handle after "recall", and `secateur recall --search WORDS` finds others"#);
    insta::assert_snapshot!(refusal(&["recall", "x", "--session", "t"]), @r#"error: there is no session "t" in sessions.db; `secateur session list` shows the sessions"#);
    assert!(refusal(&["recall"]).contains("--search"));
}

#[test]
fn what_was_cut_is_searched() {
    let (shelf, handles) = cut();
    let text =
        shelf.alone(&["recall", &handles[0], "--json"], "").json()["text"].as_str().unwrap().to_owned();
    let words: Vec<&str> =
        text.split(|sign: char| !sign.is_alphanumeric()).filter(|word| word.len() > 3).collect();
    let words = [words[0], words[words.len() / 2]].join(" ").to_uppercase();
    let found = shelf.alone(&["recall", "--search", &words, "--limit", "100", "--json"], "").json();
    let hit = found.as_array().unwrap().iter().find(|hit| hit["handle"] == handles[0].as_str());
    let hit = hit.unwrap_or_else(|| panic!("{words}: {found}"));
    assert_eq!(
        (&hit["session"], hit["characters"].as_u64()),
        (&"s".into(), Some(text.chars().count() as u64))
    );
    let reported = shelf.alone(&["recall", "--search", &words, "--limit", "100"], "");
    assert!(
        reported.out.contains(&format!("{}  ", handles[0])) && reported.out.contains(", session s\n    "),
        "{}",
        reported.out
    );
    let nothing = shelf.alone(&["recall", "--search", "\"'*", "--session", "s"], "");
    assert_eq!((nothing.code, nothing.out.as_str()), (1, ""));
    assert!(nothing.err.contains("nothing that was cut contains all of these words"), "{}", nothing.err);
}

/// A client of the tool server: one line of JSON each way.
struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    /// Starts the server and introduces itself.
    fn start(shelf: &Shelf, arguments: &[&str]) -> Self {
        let mut server = shelf.command(&[&["mcp"], arguments].concat()).spawn().unwrap();
        let (input, output) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
        let mut client = Self { server, input, output, last: 0 };
        let hello = client.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } }),
        );
        assert_eq!(hello["serverInfo"]["name"], "secateur");
        assert!(hello["instructions"].as_str().unwrap().contains("recall"), "{hello}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    /// The result of a request. Whatever the server prints has to be an answer.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(answer["id"], self.last, "{answer}");
        answer.get("result").unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// What a tool returns: its texts, and whether that is an error.
    fn call(&mut self, tool: &str, arguments: &Value) -> (Vec<String>, bool) {
        let result = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let texts = result["content"].as_array().unwrap().iter();
        let texts = texts.map(|block| block["text"].as_str().unwrap().to_owned()).collect();
        (texts, result["isError"] == true)
    }

    /// Hangs up; the server must end by itself and have nothing more to say.
    fn stop(self) {
        let Self { mut server, input, mut output, .. } = self;
        drop(input);
        let mut rest = String::new();
        output.read_line(&mut rest).unwrap();
        assert_eq!(rest, "");
        assert!(server.wait().unwrap().success());
    }
}

#[test]
fn an_agent_fetches_back_what_was_cut_page_by_page() {
    let (shelf, handles) = cut();
    let text = shelf.alone(&["recall", &handles[0]], "").out;
    let text = text.strip_suffix('\n').unwrap();
    let mut client = Client::start(&shelf, &[]);
    let tools = client.ask("tools/list", &json!({}));
    let tools: Vec<_> = tools["tools"].as_array().unwrap().iter().collect();
    assert_eq!(
        tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["recall", "search"]
    );
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["handle"]));
    assert_eq!(tools[0]["inputSchema"]["properties"]["limit"]["type"], "integer");
    assert_eq!(tools[0]["inputSchema"]["properties"]["limit"]["format"], "int32");
    assert_eq!(tools[1]["annotations"]["readOnlyHint"], true);

    assert_eq!(client.call("recall", &json!({ "handle": handles[0] })), (vec![text.to_owned()], false));
    let (mut read, mut offset) = (String::new(), 0);
    loop {
        let (texts, is_error) =
            client.call("recall", &json!({ "handle": handles[0], "offset": offset, "limit": 1000 }));
        assert!(!is_error && texts[0].chars().count() <= 1000);
        offset += texts[0].chars().count();
        read.push_str(&texts[0]);
        let Some(note) = texts.get(1) else { break };
        assert!(note.ends_with(&format!("continue with offset {offset}]")), "{note}");
    }
    assert_eq!(read, text);
    let (texts, is_error) = client.call("recall", &json!({ "handle": "zzzzzzzz" }));
    assert!(is_error && texts[0].contains("the tool search finds others"), "{texts:?}");
    client.stop();
}

#[test]
fn an_agent_searches_while_another_process_compacts() {
    let shelf = Shelf::new();
    shelf.demo();
    let mut client = Client::start(&shelf, &["--session", "s"]);
    let said = "Uploads over 1 GB fail";
    let (texts, _) = client.call("search", &json!({ "words": said }));
    assert_eq!(texts, ["Nothing that was cut contains all of these words. Try fewer or other words."]);
    shelf.run(&["context", "s", "--window", "28000"]);
    let (texts, is_error) = client.call("search", &json!({ "words": said, "limit": 3 }));
    assert!(!is_error && texts[0].contains("GB fail"), "{texts:?}");
    let handle = texts[0].split(':').next().unwrap();
    let (texts, is_error) = client.call("recall", &json!({ "handle": handle }));
    assert!(!is_error && texts[0].contains("GB fail"), "{texts:?}");
    client.stop();
}

#[test]
fn a_tenants_sessions_are_there_only_for_that_tenant() {
    let (shelf, handles) = cut();
    let (handle, words) = (handles[0].as_str(), json!({ "words": "GB" }));
    let mut own = Client::start(&shelf, &[]);
    let (found, is_error) = own.call("recall", &json!({ "handle": handle }));
    assert!(!is_error && !found[0].is_empty());
    own.stop();
    // The same store as another tenant has it: as if there were nothing.
    let mut foreign = Client::start(&shelf, &["--tenant", "anna"]);
    let (texts, is_error) = foreign.call("recall", &json!({ "handle": handle }));
    assert!(is_error && texts[0].contains("nothing was cut under"), "{texts:?}");
    assert_eq!(foreign.call("search", &words).0.len(), 1);
    assert!(foreign.call("search", &words).0[0].starts_with("Nothing that was cut"));
    foreign.stop();
    assert_eq!(shelf.alone(&["recall", handle, "--tenant", "anna"], "").code, 2);
    assert_eq!(shelf.alone(&["recall", "--search", "GB", "--tenant", "anna"], "").code, 1);
    for arguments in [&["context", "s", "--window", "28000"][..], &["events", "s"], &["undo", "s"]] {
        let refusal = shelf.refusal(&[arguments, &["--tenant", "anna"]].concat(), "");
        assert!(refusal.contains("there is no session \"s\""), "{arguments:?}: {refusal}");
    }
    assert!(!shelf.run(&["list", "--tenant", "anna"]).out.contains("balanced"));
    assert!(shelf.run(&["list"]).out.contains("balanced"));
    // What she keeps is hers.
    shelf.run(&["new", "--id", "hers", "--tenant", "anna"]);
    assert!(shelf.run(&["list", "--tenant", "anna"]).out.contains("hers"));
    assert!(!shelf.run(&["list"]).out.contains("hers"));
    let refusal = shelf.refusal(&["list", "--tenant", "*"], "");
    assert!(refusal.contains("1 to 64 letters"), "{refusal}");
    let refusal = shelf.alone(&["serve", "--tenant", "anna"], "");
    assert!(
        refusal.code == 2 && refusal.err.contains("the token of a request tells its tenant"),
        "{}",
        refusal.err
    );
}
