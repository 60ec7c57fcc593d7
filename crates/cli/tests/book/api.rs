//! The reference of the API, made from the document that a proxy gives of it.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Map, Value};

use crate::reference::{head, row};
use crate::root;

const BEGINNING: &str = "\
# API

<!-- Made by crates/cli/tests/book/api.rs. Changes are lost; change the handlers in crates/server/src/api. -->

";

const USE: &str = "
It is asked over HTTP at the address of the proxy, and answers in JSON:

<!-- book: background -->
```console
$ secateur serve
secateur listens on http://127.0.0.1:7878…
…
```

```console
$ curl -sSf 'http://127.0.0.1:7878/api/sessions?limit=10'
{\"items\":[],\"next\":null}
$ curl -sSf http://127.0.0.1:7878/api/openapi.json > openapi.json
```

`/api/openapi.json` is what this page is made of; programs that speak to the API can be made from it, too. With a token
([how it is shown](living.md#more-than-one-machine)) every question has to show it. What begins with `/api` is never passed on
to a provider. [Living with it](living.md#asking-the-proxy) has an example of each question.

## Pages

Lists come in pages. `limit` says how many rows are wanted; `next` of an answer is what `after` has to be for the rows behind
it, and `null` if there are none now. Numbered rows stay where they are; a session that changes meanwhile moves to the front
of the list of sessions.

";

const PROBLEMS: &str = "
## Problems

Whatever is refused is refused as `application/problem+json` (RFC 9457), with these fields:

";

const EVENTS: &str = "
## What happens in a session

Each row of `/api/sessions/{id}/events` has the number and the time of an event, and the event itself: its `type`, and what
belongs to it.

";

/// The page.
pub(crate) fn page() -> String {
    let document = document();
    let about = document["info"]["description"].as_str().unwrap();
    let mut page = format!("{BEGINNING}{}\n{USE}", wrapped(about));
    page.truncate(page.trim_end().len());
    page += "\n";
    for tag in document["tags"].as_array().unwrap() {
        page += &section(&document, tag);
    }
    let schemas = document["components"]["schemas"].as_object().unwrap();
    page += PROBLEMS;
    page += &fields(&schemas["Problem"]);
    page += "\nThe types:\n\n";
    let kinds = schemas["Problem"]["properties"]["type"]["description"].as_str().unwrap();
    for line in kinds.lines().filter(|line| line.starts_with('`')) {
        writeln!(page, "* {line}").unwrap();
    }
    page += EVENTS;
    page += &events();
    page += "\n## Shapes\n";
    for (name, schema) in schemas.iter().filter(|(name, _)| !name.starts_with("Page_") && *name != "Problem")
    {
        write!(page, "\n### {name}\n\n{}\n\n", wrapped(text(&schema["description"]))).unwrap();
        page += &shape(schema);
    }
    page
}

/// The document of a proxy.
fn document() -> Value {
    let folder = tempfile::tempdir().unwrap();
    let mut serve = Command::new(env!("CARGO_BIN_EXE_secateur"));
    serve.env_clear().env("HOME", folder.path()).current_dir(folder.path());
    serve.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = serve.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    let asked = Command::new("curl").args(["-sSf", &format!("http://{address}/api/openapi.json")]).output();
    child.kill().unwrap();
    child.wait().unwrap();
    serde_json::from_slice(&asked.unwrap().stdout).unwrap()
}

/// What can be asked about one thing.
fn section(document: &Value, tag: &Value) -> String {
    let (name, about) = (text(&tag["name"]), text(&tag["description"]));
    let title = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
    let mut page = format!("\n## {title}\n\n{about}\n");
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, question) in methods.as_object().unwrap() {
            if question["tags"][0] == *name {
                page += &asked(path, method, question);
            }
        }
    }
    page
}

/// One question and its answer.
fn asked(path: &str, method: &str, question: &Value) -> String {
    let mut page =
        format!("\n### `{} {path}`\n\n{}\n", method.to_uppercase(), wrapped(text(&question["summary"])));
    if let Some(more) = question["description"].as_str() {
        writeln!(page, "\n{}", wrapped(more)).unwrap();
    }
    if let Some(parameters) = question["parameters"].as_array() {
        page += "\n";
        page += &head(&["parameter", "in", "value", "what it is"]);
        for one in parameters {
            let about = text(&one["description"]);
            let is_said = one["required"] == true || about.contains("left out");
            let about = format!("{about}{}", if is_said { "" } else { " It may be left out." });
            page += &row(&[
                &format!("`{}`", text(&one["name"])),
                text(&one["in"]),
                &value(&one["schema"]),
                &about,
            ]);
        }
    }
    let good = &question["responses"]["200"];
    let kinds: Vec<String> = good["content"].as_object().map(answers).unwrap_or_default();
    writeln!(page, "\nAnswers {}.", kinds.join(", or ")).unwrap();
    page
}

fn answers(content: &Map<String, Value>) -> Vec<String> {
    let name = |(kind, answer): (&String, &Value)| match value(&answer["schema"]) {
        stream if kind != "application/json" => format!("a `{kind}` as {stream}"),
        shape => shape,
    };
    content.iter().map(name).collect()
}

/// What a value may be.
fn value(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return match name.strip_prefix("Page_") {
            Some(row) => format!("a page of [{row}](#{})", row.to_lowercase()),
            None => format!("[{name}](#{})", name.to_lowercase()),
        };
    }
    if let Some(either) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        return either.iter().map(value).collect::<Vec<_>>().join(" or ");
    }
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().map(text).collect::<Vec<_>>().join(" or "),
        kind => kind.as_str().unwrap_or("anything").to_owned(),
    };
    if kinds == "array" {
        return format!("list of {}", value(&schema["items"]));
    }
    let bounds = match (schema["minimum"].as_i64(), schema["maximum"].as_i64()) {
        (Some(least), Some(most)) => format!(", {least} to {most}"),
        (Some(least), None) => format!(", at least {least}"),
        _ => String::new(),
    };
    format!("{kinds}{bounds}")
}

/// What an object, or one of several words, looks like.
fn shape(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(|word| format!("`{}`", text(word))).collect();
        return format!("One of {}.\n", words.join(", "));
    }
    let Some(all) = schema["allOf"].as_array() else { return fields(schema) };
    let (others, own): (Vec<&Value>, Vec<&Value>) = all.iter().partition(|one| one.get("$ref").is_some());
    let others: Vec<String> = others.into_iter().map(value).collect();
    let own: String = own.into_iter().map(fields).collect();
    format!("All of {}, and:\n\n{own}", others.join(" and "))
}

fn fields(schema: &Value) -> String {
    let mut page = head(&["field", "value", "what it is"]);
    let none = Map::new();
    for (name, field) in schema["properties"].as_object().unwrap_or(&none) {
        let about = text(&field["description"]).split("\n\n").next().unwrap_or_default();
        page += &row(&[&format!("`{name}`"), &value(field), about]);
    }
    page
}

/// The events, as the enum that they are says it of itself.
fn events() -> String {
    let source = std::fs::read_to_string(root().join("crates/core/src/session/event.rs")).unwrap();
    let (_, all) = source.split_once("pub enum Event {\n").unwrap();
    let (all, _) = all.split_once("\n}\n").unwrap();
    let mut page = head(&["`type`", "what happened", "what belongs to it"]);
    let (mut about, mut open) = (String::new(), None::<(String, String, Vec<String>)>);
    for line in all.lines() {
        let is_inner = line.starts_with("        ");
        let line = line.trim();
        if let Some(comment) = line.strip_prefix("/// ") {
            about = if about.is_empty() { comment.to_owned() } else { format!("{about} {comment}") };
        } else if let (true, Some((field, _))) = (is_inner, line.split_once(':')) {
            open.as_mut().unwrap().2.push(format!("`{field}`: {}", std::mem::take(&mut about)));
        } else if let Some(name) =
            line.strip_suffix(" {").or(line.strip_suffix(',').filter(|name| *name != "}"))
        {
            open = Some((kebab(name), std::mem::take(&mut about), Vec::new()));
        }
        if (line == "}," || (!is_inner && line.ends_with(',')))
            && let Some((name, about, fields)) = open.take()
        {
            page += &row(&[&format!("`{name}`"), &about, &fields.join("<br>")]);
        }
    }
    page
}

/// A name of Rust's as it is written in JSON.
fn kebab(name: &str) -> String {
    let mut text = String::new();
    for point in name.chars() {
        if point.is_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.extend(point.to_lowercase());
    }
    text
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A text in lines as long as those of the other pages.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().unwrap();
        if line.chars().count() + word.chars().count() > 120 {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.join("\n")
}
