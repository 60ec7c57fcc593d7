//! A session that is written line by line, as Claude Code does, with the usage that a provider would report.

use secateur::Measures;
use secateur_formats::read;
use secateur_lab::{Trace, TraceLabel};
use serde_json::{Value, json};

/// What a provider would count: four characters a token, and instructions that no log shows.
const INSTRUCTIONS: i64 = 5_000;

/// A log in the making.
pub(crate) struct Log {
    lines: Vec<String>,
    tokens: i64,
    cached: i64,
    minute: i64,
    pub(crate) project: String,
}

impl Log {
    pub(crate) fn of(project: &str, task: &str) -> Self {
        let log = Self {
            lines: Vec::new(),
            tokens: INSTRUCTIONS,
            cached: 0,
            minute: 0,
            project: project.to_owned(),
        };
        log.said(task.len()).line("user", &json!({ "role": "user", "content": task }))
    }

    fn said(mut self, chars: usize) -> Self {
        self.tokens += chars as i64 / 4;
        self
    }

    fn line(mut self, kind: &str, message: &Value) -> Self {
        let number = self.lines.len();
        let parent = number.checked_sub(1).map(|last| format!("u{last}"));
        let (hour, minute) = (10 + self.minute / 60, self.minute % 60);
        let line = json!({ "type": kind, "uuid": format!("u{number}"), "parentUuid": parent, "sessionId": "s",
            "cwd": "/p", "version": "2.1", "timestamp": format!("2026-01-31T{hour:02}:{minute:02}:00Z"),
            "message": message });
        self.lines.push(line.to_string() + "\n");
        self
    }

    /// Nothing happens for so many minutes; after five the provider has forgotten everything.
    pub(crate) fn pause(mut self, minutes: i64) -> Self {
        self.minute += minutes;
        if minutes > 5 {
            self.cached = 0;
        }
        self
    }

    /// The model calls a tool, which answers.
    pub(crate) fn acts(mut self, tool: &str, input: &Value, answer: &str) -> Self {
        let number = self.lines.len();
        let (message, call) = (format!("m{number}"), format!("t{number}"));
        let content = json!([{ "type": "tool_use", "id": call, "name": tool, "input": input }]);
        let usage = json!({ "input_tokens": 0, "output_tokens": 25, "cache_read_input_tokens": self.cached,
            "cache_creation_input_tokens": self.tokens - self.cached });
        self.cached = self.tokens;
        self.tokens += 25;
        let result = json!([{ "type": "tool_result", "tool_use_id": call, "content": answer }]);
        self.line(
            "assistant",
            &json!({ "id": message, "model": "claude-x", "content": content, "usage": usage }),
        )
        .said(answer.len())
        .line("user", &json!({ "content": result }))
    }

    pub(crate) fn bash(self, command: &str, answer: &str) -> Self {
        self.acts("Bash", &json!({ "command": command }), answer)
    }

    pub(crate) fn file(self, path: &str, answer: &str) -> Self {
        self.acts("Read", &json!({ "file_path": path }), answer)
    }

    pub(crate) fn text(&self) -> String {
        self.lines.concat()
    }

    pub(crate) fn trace(&self) -> Trace {
        let measures =
            Measures { source: true, excerpt: true, js_json: true, weighted: true, ..Measures::default() };
        let label =
            TraceLabel { agent: "claude".to_owned(), project: self.project.clone(), name: "log".to_owned() };
        let text = self.text();
        let traces = Trace::of(&read(text.as_bytes(), &measures).expect("a valid log"), &label);
        let [trace] = <[Trace; 1]>::try_from(traces).expect("one trace");
        trace
    }
}

/// Output of so many characters, different for each number and full of words that occur nowhere else.
pub(crate) fn output(number: usize, chars: usize) -> String {
    let words = (0..).map(|index| format!("word_{number}_{index} is here\n"));
    let mut text = String::new();
    for word in words {
        if text.len() >= chars {
            return text;
        }
        text.push_str(&word);
    }
    text
}
