//! Logs as they are found in the wild: torn, growing, huge, deep, odd. No command falls over any of them.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::samples::{self, Sample, WIRES};
use super::{Run, TestFolder, secateur};

/// Every command that looks at a log, with this file, and its outputs beside it.
fn commands<'a>(file: &'a str, out: &'a str, wire: &'a str) -> [Vec<&'a str>; 5] {
    [
        vec!["inspect", file],
        vec!["scan", file],
        vec!["lint", file],
        vec!["context", file, "--to", wire],
        vec!["report", file, "--out", out],
    ]
}

/// A run that ended by itself: with an outcome, or with one error of its own.
fn check_end(run: &Run, about: &str) {
    assert!(matches!(run.code, 0..=2), "{about}: {} {}", run.code, run.err);
    assert!(!run.err.contains("panicked"), "{about}: {}", run.err);
    let errors = run.err.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(errors, usize::from(run.code == 2), "{about}: {}", run.err);
}

fn line_logs() -> Vec<Sample> {
    let all = samples::logs().into_iter();
    all.filter(|sample| sample.name.ends_with(".jsonl")).collect()
}

#[test]
fn of_a_torn_last_line_the_others_count_and_the_warning_names_it() {
    let desk = TestFolder::new();
    let out = desk.path("page.html");
    for sample in line_logs() {
        let text = sample.text().unwrap();
        let torn = &text[..text.len() - 20];
        let (count, whole) = (text.lines().count(), &text[..=torn.rfind('\n').unwrap()]);
        let (file, shorter) = (desk.put("torn.jsonl", torn), desk.put("shorter.jsonl", whole));
        let mut run = secateur(&["inspect", &file, "--json"]);
        assert_eq!(run.code, 0, "{}: {}", sample.name, run.err);
        let warning = format!("warning: {file}, line {count}: ");
        assert!(run.err.starts_with(&warning), "{}: {}", sample.name, run.err);
        let mut report = run.json();
        assert_eq!(report["warnings"].as_array().unwrap().len(), 1);
        run = secateur(&["inspect", &shorter, "--json"]);
        for own in ["file", "warnings"] {
            report[own] = run.json()[own].clone();
        }
        assert_eq!(report, run.json(), "{}", sample.name);
        for wire in WIRES {
            let run = secateur(&["context", &file, "--to", wire]);
            assert_eq!(run.code, 0, "{} as {wire}: {}", sample.name, run.err);
        }
        assert_eq!(secateur(&["report", &file, "--out", out.to_str().unwrap()]).code, 0, "{}", sample.name);
        assert_eq!(secateur(&["scan", &file, "--json"]).json()[0]["warnings"], 1, "{}", sample.name);
    }
}

#[test]
fn a_document_that_breaks_off_keeps_what_was_whole() {
    let desk = TestFolder::new();
    for sample in samples::all().iter().filter(|sample| sample.name.ends_with(".json")) {
        let text = sample.text().unwrap();
        let whole = text.rfind("And now?").or(text.rfind("Done.")).unwrap();
        let file = desk.put("torn.json", &text[..whole]);
        let run = secateur(&["inspect", &file, "--json"]);
        assert_eq!(run.code, 0, "{}: {}", sample.name, run.err);
        assert!(run.err.starts_with(&format!("warning: {file}, line ")), "{}: {}", sample.name, run.err);
        let report = run.json();
        let report = report.get(0).unwrap_or(&report);
        assert!(report["messages"].as_u64().unwrap() > 0, "{}: {report}", sample.name);
    }
}

#[test]
fn a_log_that_is_being_written_can_be_read_all_the_time() {
    let desk = TestFolder::new();
    let lines: Vec<String> = samples::of("claude").text().unwrap().lines().map(str::to_owned).collect();
    let file = desk.put("growing.jsonl", format!("{}\n{}\n", lines[0], lines[2]));
    let (path, done) = (file.clone(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut log = fs::File::options().append(true).open(&path).unwrap();
            for line in lines.iter().cycle().take_while(|_| !done.load(Ordering::Relaxed)) {
                // Two writes, so that a reader can come between them.
                let (head, tail) = line.split_at(line.len() / 2);
                log.write_all(head.as_bytes()).unwrap();
                std::thread::sleep(Duration::from_millis(2));
                log.write_all(format!("{tail}\n").as_bytes()).unwrap();
            }
        });
        let runs: Vec<Run> = (0..4)
            .flat_map(|_| {
                [vec!["inspect", &file], vec!["scan", &file], vec!["context", &file, "--to", "gemini"]]
            })
            .map(|arguments| secateur(&arguments))
            .collect();
        done.store(true, Ordering::Relaxed);
        for run in runs {
            assert_eq!(run.code, 0, "{}", run.err);
            assert!(!run.err.contains("error"), "{}", run.err);
        }
    });
}

#[test]
fn a_line_that_is_no_text_costs_only_itself() {
    let desk = TestFolder::new();
    // OpenHands writes arrays as well, and those are read as a whole.
    for sample in line_logs().iter().filter(|sample| sample.format != "openhands") {
        let text = sample.text().unwrap();
        let number = text.lines().position(|line| line.contains("no such pot")).unwrap();
        let mut bytes = text.as_bytes().to_vec();
        let at = text.find("no such pot").unwrap();
        bytes[at] = 0xff;
        let file = desk.put("odd.jsonl", bytes);
        let run = secateur(&["inspect", &file, "--json"]);
        assert_eq!(run.code, 0, "{}: {}", sample.name, run.err);
        let place = format!("warning: {file}, line {}: ", number + 1);
        assert!(run.err.starts_with(&place) && run.err.contains("UTF-8"), "{}: {}", sample.name, run.err);
        let (count, counts) = (&run.json()["tool_results"], &sample.counts["tool_results"]);
        assert_eq!(count.as_u64().unwrap() + 1, counts.as_u64().unwrap(), "{}", sample.name);
        assert_eq!(secateur(&["context", &file, "--to", "anthropic"]).code, 0, "{}", sample.name);
    }
}

/// Runs the command and says how much memory it took at most, in bytes, where the system tells.
fn weigh(arguments: &[&str]) -> (i32, Option<u64>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_secateur"))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak = peak.max(kilobytes.map(|kilobytes| kilobytes * 1024));
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code().unwrap_or(-1), peak);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_huge_line_is_held_once() {
    const LINE: usize = 16 << 20;
    let desk = TestFolder::new();
    let long = "dry soil ".repeat(LINE / 9);
    let log = desk.put("huge.jsonl", samples::of("claude").text().unwrap().replace("wet soil", &long));
    let request = samples::of("openai-chat-request").text().unwrap().replace("dry soil", &long);
    let request = desk.put("huge.json", request);
    let out = desk.path("out");
    let out = out.to_str().unwrap();
    // What the command takes for a small log is its own.
    let small = desk.put("small.jsonl", samples::of("claude").text().unwrap());
    let own = weigh(&["inspect", &small]).1.unwrap_or(0);
    for (arguments, expected, times) in [
        (vec!["inspect", &log], 0, 3),
        (vec!["scan", &log], 0, 3),
        (vec!["report", &log, "--out", out], 0, 3),
        // More than the provider takes in one message.
        (vec!["lint", &request], 1, 3),
        // A request is put together beside the log, and both are there at the end.
        (vec!["context", &log, "--to", "anthropic", "--out", out], 0, 9),
    ] {
        let (code, peak) = weigh(&arguments);
        assert_eq!(code, expected, "{arguments:?}");
        let Some(peak) = peak else { continue };
        assert!(peak < own + (LINE * times) as u64, "{arguments:?} took {peak} bytes, {own} of them anyway");
    }
}

#[test]
fn values_nested_without_end_are_passed_over() {
    let desk = TestFolder::new();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let out = desk.path("page.html");
    for (index, sample) in samples::all().into_iter().enumerate() {
        let Some(text) = sample.text() else { continue };
        let place = ["\"fern.txt\"", "\"dry soil\""].into_iter().find(|place| text.contains(place));
        let Some(place) = place else { continue };
        let file = desk.put(sample.name, text.replace(place, &deep));
        // Each sample has a command of its own beside the one that all have.
        let arguments = &commands(&file, out.to_str().unwrap(), WIRES[index % 4])[1 + index % 4];
        check_end(&secateur(arguments), &format!("{arguments:?}"));
        let run = secateur(&["inspect", &file, "--json"]);
        assert_eq!(run.code, 0, "{}: {}", sample.name, run.err);
        assert!(run.json().get("messages").is_some() || run.json().is_array());
    }
    for (name, text) in
        [("array", deep.clone()), ("object", "{\"a\":".repeat(100_000)), ("line", format!("{deep}\n"))]
    {
        let file = desk.put(name, text);
        for arguments in commands(&file, out.to_str().unwrap(), "gemini") {
            let run = secateur(&arguments);
            assert_eq!(run.code, 2, "{arguments:?}");
            check_end(&run, name);
        }
    }
}

#[test]
fn of_a_key_that_comes_twice_the_last_one_counts() {
    let desk = TestFolder::new();
    let mut wrong = Vec::new();
    for sample in samples::all() {
        let Some(text) = sample.text().filter(|_| sample.format != "aider") else { continue };
        let expected = secateur(&["inspect", &desk.put("once.json", text), "--json"]).json();
        for key in ["type", "role", "content", "text", "id", "name", "message", "payload", "parts"] {
            let twice = text.replace(&format!("\"{key}\":"), &format!("\"{key}\":7,\"{key}\":"));
            let file = desk.put("twice.json", twice);
            let run = secateur(&["inspect", &file, "--json"]);
            check_end(&run, sample.name);
            if run.code != 0 {
                wrong.push(format!("{} {key}: {}", sample.name, run.err));
                continue;
            }
            let report = run.json();
            let (one, other) = (report.get(0).unwrap_or(&report), expected.get(0).unwrap_or(&expected));
            for count in ["format", "messages", "tool_calls", "tool_results"] {
                if one[count] != other[count] {
                    wrong.push(format!("{} {key} {count}: {} not {}", sample.name, one[count], other[count]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The value with each value inside it replaced, one at a time and in turn by something of another type.
fn mutants(value: &Value) -> Vec<Value> {
    fn places(value: &Value, at: &mut String, found: &mut Vec<String>) {
        let members: Vec<(String, &Value)> = match value {
            Value::Array(values) => {
                values.iter().enumerate().map(|(i, value)| (i.to_string(), value)).collect()
            }
            Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), value)).collect(),
            _ => Vec::new(),
        };
        for (key, member) in members {
            let length = at.len();
            at.push('/');
            at.push_str(&key);
            found.push(at.clone());
            places(member, at, found);
            at.truncate(length);
        }
    }
    let others = [json!(null), json!(7), json!([]), json!({}), json!("x"), json!([{ "type": [] }])];
    let mut found = Vec::new();
    places(value, &mut String::new(), &mut found);
    let mutate = |(index, place): (usize, &String)| {
        [0, 1].map(|step| {
            let mut mutant = value.clone();
            *mutant.pointer_mut(place).unwrap() = others[(index + step * 3) % others.len()].clone();
            mutant
        })
    };
    found.iter().enumerate().flat_map(mutate).collect()
}

/// The texts that come from a sample by replacing one value.
fn texts(sample: &Sample) -> Vec<String> {
    let Some(text) = sample.text() else { return Vec::new() };
    if let Ok(document) = serde_json::from_str::<Value>(text) {
        return mutants(&document).iter().map(Value::to_string).collect();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut texts = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
        for mutant in mutants(&record) {
            let mutant = mutant.to_string();
            let all =
                lines.iter().enumerate().map(|(at, line)| if at == index { mutant.as_str() } else { line });
            texts.push(all.collect::<Vec<_>>().join("\n"));
        }
    }
    texts
}

#[test]
fn a_value_of_the_wrong_type_anywhere_brings_no_command_down() {
    let desk = TestFolder::new();
    let (folder, out) = (desk.path("mutants"), desk.path("page.html"));
    fs::create_dir(&folder).unwrap();
    let mut count = 0_usize;
    for sample in samples::all() {
        for text in texts(&sample) {
            count += 1;
            let file = folder.join(format!("{count}.json"));
            fs::write(&file, &text).unwrap();
            // Each command on some of them, as the format that it was; all of them together are scanned below.
            if count.is_multiple_of(23) {
                let all = commands(file.to_str().unwrap(), out.to_str().unwrap(), WIRES[count / 23 % 4]);
                let mut arguments = all[count / 23 % 5].clone();
                if !matches!(arguments[0], "lint" | "scan") {
                    arguments.extend(["--format", sample.format]);
                }
                check_end(&secateur(&arguments), &format!("{arguments:?} of {}: {text}", sample.name));
            }
        }
    }
    assert!(count > 2_500, "{count}");
    let run = secateur(&["scan", folder.to_str().unwrap(), "--json"]);
    check_end(&run, "all of them");
    let read = run.json().as_array().unwrap().len();
    assert!(read * 10 > count * 9, "of {count} only {read} were still taken for sessions");
}

#[test]
fn what_holds_no_session_is_said_to_hold_none() {
    let desk = TestFolder::new();
    let out = desk.path("page.html");
    let empty = TestFolder::new();
    let folder = empty.folder.path().to_str().unwrap().to_owned();
    for file in [
        desk.put("empty.jsonl", ""),
        desk.put("binary.jsonl", (0..=255u8).cycle().take(10_000).collect::<Vec<u8>>()),
        desk.put("zeros.json", [0u8; 4096]),
        folder.clone(),
    ] {
        for arguments in commands(&file, out.to_str().unwrap(), "anthropic") {
            let run = secateur(&arguments);
            check_end(&run, &format!("{arguments:?}"));
            // An empty folder may be scanned.
            let code = if file == folder && arguments[0] == "scan" { 0 } else { 2 };
            assert_eq!(run.code, code, "{arguments:?}: {}", run.out);
            assert!(run.err.contains(&file) || code == 0, "{arguments:?}: {}", run.err);
        }
        assert!(!out.exists(), "nothing was written");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_log_is_not_waited_for() {
    let desk = TestFolder::new();
    let pipe = desk.path("pipe.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (file, out) = (pipe.to_str().unwrap(), desk.path("page.html"));
    for arguments in commands(file, out.to_str().unwrap(), "anthropic") {
        // A request may come through a pipe; then there is a process that writes it.
        if arguments[0] == "lint" {
            continue;
        }
        let run = secateur(&arguments);
        assert_eq!(run.code, 2, "{arguments:?}");
        assert!(
            run.err.contains(file) && run.err.contains("is a named pipe; name a file or a folder"),
            "{}",
            run.err
        );
    }
    let folder = desk.folder.path().to_str().unwrap();
    let run = secateur(&["scan", folder]);
    assert_eq!(run.code, 0);
    assert!(run.err.contains("is a named pipe, skipped"), "{}", run.err);
    let writer = std::thread::spawn({
        let (pipe, body) = (pipe.clone(), samples::of("gemini-request").text().unwrap().to_owned());
        move || fs::write(pipe, body)
    });
    assert_eq!(secateur(&["lint", file]).code, 0);
    writer.join().unwrap().unwrap();
}
