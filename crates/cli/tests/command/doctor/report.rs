//! A run of `secateur doctor` and its findings.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::machine::{Machine, free_address, run_to_end};

/// What `secateur doctor` said.
pub(crate) struct Report {
    pub code: i32,
    pub text: String,
    findings: Vec<Value>,
}

impl Report {
    /// The one finding of a check at a level in which a word occurs: what was found, and how to fix it.
    pub(crate) fn find(&self, check: &str, level: &str, word: &str) -> (String, String) {
        let is_it = |finding: &&Value| {
            finding["check"] == check
                && finding["level"] == level
                && finding["found"].as_str().unwrap().contains(word)
        };
        let finding = self.findings.iter().find(is_it);
        let finding =
            finding.unwrap_or_else(|| panic!("no {level} of {check} with {word:?} in {}", self.text));
        let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        (text("found"), text("fix"))
    }

    /// How many faults there are.
    pub(crate) fn faults(&self) -> usize {
        self.findings.iter().filter(|finding| finding["level"] == "fault").count()
    }
}

/// `secateur doctor` on a machine where nothing listens, with the machine's provider as all three.
pub(crate) fn doctor(machine: &Machine) -> Command {
    let url = machine.upstream.url();
    let mut command = machine.secateur(&["doctor", "--json", "--set", &format!("serve.gemini={url}")]);
    command.args(["--set", &format!("serve.anthropic={url}"), "--set", &format!("serve.openai={url}")]);
    command.env("SECATEUR_STORE", machine.path("store.db"));
    command
}

/// Runs it at an address where nothing listens.
pub(crate) fn examine(command: &mut Command) -> Report {
    let listen = free_address().to_string();
    examine_unchanged(command.args(["--listen", &listen]))
}

/// Runs it.
pub(crate) fn examine_unchanged(command: &mut Command) -> Report {
    let run = run_to_end(command);
    let json: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}{}", run.out, run.err));
    let findings = json["findings"].as_array().unwrap().clone();
    let report = Report { code: run.code, text: run.out + &run.err, findings };
    assert_eq!(json["faults"], report.faults());
    assert_eq!(report.code, i32::from(report.faults() > 0), "{}", report.text);
    report
}

/// A proxy that runs until this is dropped.
pub(crate) struct Serving {
    child: Child,
    pub address: String,
}

impl Serving {
    pub(crate) fn start(machine: &Machine, upstream: &str) -> Self {
        Self::start_with(machine, upstream, &[])
    }

    pub(crate) fn start_with(machine: &Machine, upstream: &str, flags: &[&str]) -> Self {
        let address = free_address().to_string();
        let mut serve = machine.secateur(&["serve", "--listen", &address, "--store", "serve.db"]);
        serve.args(["--anthropic", upstream, "--openai", upstream, "--gemini", upstream]).args(flags);
        let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
        Self { child, address }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
