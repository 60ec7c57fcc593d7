//! The script: what the model says next, told from the request alone.

use serde_json::json;

use super::printed_lines::PrintedLines;
use super::request::ClientRequest;
use super::tool::{Call, Want, fit};
use super::{recall, step};

/// What the model says.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// What it thinks first, where the wire has thoughts.
    pub thought: String,
    /// Its text.
    pub text: String,
    /// The tools it calls.
    pub calls: Vec<Call>,
    /// What the request was for, as the log names it.
    pub purpose: Purpose,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The conversation itself.
    #[default]
    Turn,
    /// A summary of it.
    Summary,
    /// A title or another small matter beside it.
    Side,
}

impl Purpose {
    /// Its name in the log.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Summary => "summary",
            Self::Side => "side",
        }
    }
}

/// A scenario with its settings, as a prompt names it: `SCENARIO:long steps=60 bytes=20000 run=b`.
struct Scenario<'t> {
    name: &'t str,
    /// The whole line, for summaries that have to keep it.
    line: &'t str,
    settings: &'t str,
}

const MARK: &str = "SCENARIO:";

impl<'t> Scenario<'t> {
    /// The last one that a text names.
    fn find(text: &'t str) -> Option<Self> {
        let at = text.rfind(MARK)?;
        let line = text.get(at..)?.lines().next()?;
        let rest = line.strip_prefix(MARK)?;
        let end = rest.find(|letter| !step::is_name(letter)).unwrap_or(rest.len());
        let (name, settings) = rest.split_at_checked(end)?;
        Some(Self { name, line, settings })
    }

    fn setting(&self, key: &str) -> Option<&'t str> {
        let mut pairs = self.settings.split_whitespace().map_while(|word| word.split_once('='));
        let value = pairs.find_map(|(known, value)| (known == key).then_some(value))?;
        Some(value.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '/'))
    }

    fn number(&self, key: &str, otherwise: u64) -> u64 {
        self.setting(key).and_then(|value| value.parse().ok()).unwrap_or(otherwise)
    }

    /// What its steps are named by. Two runs of one scenario in a conversation are told apart by `run=…`.
    fn work(&self) -> String {
        match self.setting("run") {
            None => self.name.to_owned(),
            Some(run) => format!("{}-{run}", self.name),
        }
    }

    /// What a call of a step prints.
    fn print(&self, number: u64, part: u64) -> PrintedLines {
        PrintedLines::new(&step::spoken(number, &self.work()), number, part, self.number("bytes", 10_000))
    }
}

/// What to answer.
pub(super) fn decide(request: &ClientRequest) -> Reply {
    let spoken = request.said.iter().rev().find_map(|text| Scenario::find(text));
    let scenario = spoken.or_else(|| Scenario::find(&request.text));
    if is_summary(request) {
        return Reply {
            text: summary(request, scenario.as_ref()),
            purpose: Purpose::Summary,
            ..Reply::default()
        };
    }
    let Some(scenario) = scenario else { return side(request) };
    let work = scenario.work();
    let done = step::highest(&request.text, &work).unwrap_or(0);
    let reply = match scenario.name {
        "hello" => Some(Reply { text: "Hello from the scripted model.".into(), ..Reply::default() }),
        "explore" => explore(request, &scenario, done + 1),
        "long" => long(request, &scenario, done + 1),
        "recall" => recall(request, &scenario, done + 1),
        _ => None,
    };
    reply.unwrap_or_else(|| side(request))
}

/// Steps, and nothing behind them.
fn long(request: &ClientRequest, scenario: &Scenario<'_>, number: u64) -> Option<Reply> {
    let steps = scenario.number("steps", 20);
    if number > steps {
        return Some(Reply { text: format!("Finished long after {steps} steps."), ..Reply::default() });
    }
    print(request, scenario, number)
}

/// The same steps, and once, when a result names a handle, its original is asked for and looked at. The tool for that
/// is used, or with `by=shell` the command.
fn recall(request: &ClientRequest, scenario: &Scenario<'_>, number: u64) -> Option<Reply> {
    let (work, steps, found) = (scenario.work(), scenario.number("steps", 20), recall::found(request));
    if number > steps {
        let found = found.unwrap_or("No result named a handle.");
        return Some(Reply {
            text: format!("Finished recall after {steps} steps. {found}"),
            ..Reply::default()
        });
    }
    let mut says = String::new();
    if found.is_none() {
        if let Some(brought) = recall::brought(request, &work) {
            let is_whole = brought.is_whole(&scenario.print(brought.step, brought.part).lines());
            says = if is_whole { recall::WHOLE } else { recall::BROKEN }.to_owned();
        } else if let Some(cut) = recall::find(request, &work) {
            let want = match scenario.setting("by") {
                Some("shell") => Want::Shell(format!("secateur recall {}", cut.handle)),
                _ => Want::Recall(cut.handle),
            };
            let call = fit(&request.tools, cut.id, want);
            if let Some(call) = call.or_else(|| recall::look(request)) {
                let (thought, text) = ("What did it say?".into(), "One result is wanted again.".into());
                return Some(Reply { thought, text, calls: vec![call], ..Reply::default() });
            }
            says = recall::NO_TOOL.to_owned();
        }
    }
    let reply = print(request, scenario, number)?;
    Some(Reply { text: format!("{says} {}", reply.text).trim_start().to_owned(), ..reply })
}

/// A call of the shell in each step, two at once in every third.
fn print(request: &ClientRequest, scenario: &Scenario<'_>, number: u64) -> Option<Reply> {
    let work = scenario.work();
    let step = step::spoken(number, &work);
    let parts = 1..=PrintedLines::at_once(number);
    let wants = parts.map(|part| Want::Shell(scenario.print(number, part).command())).collect();
    let text = format!("This is {step}.");
    perform(
        request,
        &work,
        number,
        Reply { thought: format!("Next comes {step}."), text, ..Reply::default() },
        wants,
    )
}

/// A look around in a folder: one call, two at once, thoughts, a file written.
fn explore(request: &ClientRequest, scenario: &Scenario<'_>, number: u64) -> Option<Reply> {
    let folder = scenario.setting("dir").unwrap_or("/tmp");
    let path = |name: &str| format!("{folder}/{name}");
    let wants = match number {
        1 => vec![Want::Shell(format!("ls {folder}"))],
        2 => vec![Want::Read(path("one.txt")), Want::Read(path("two.txt"))],
        3 => vec![Want::Search { pattern: "fox".into(), folder: folder.to_owned() }],
        4 => vec![Want::Write { path: path("three.txt"), text: "written in step 4 of explore\n".into() }],
        5 => vec![Want::Shell(format!("cat {}", path("three.txt")))],
        _ => {
            let text = "Finished explore: the folder holds three files.".into();
            return Some(Reply { text, ..Reply::default() });
        }
    };
    let text = if number == 2 { "Now both files at once.".into() } else { String::new() };
    let thought = format!("What does step {number} of explore show?");
    perform(request, &scenario.work(), number, Reply { thought, text, ..Reply::default() }, wants)
}

/// A turn with these calls, as the client's tools spell them; none if it has no such tools.
fn perform(
    request: &ClientRequest,
    work: &str,
    number: u64,
    reply: Reply,
    wants: Vec<Want>,
) -> Option<Reply> {
    let fitted = wants
        .into_iter()
        .enumerate()
        .map(|(at, want)| fit(&request.tools, step::id(number, work, at as u64 + 1), want));
    let calls: Vec<Call> = fitted.collect::<Option<_>>()?;
    Some(Reply { calls, ..reply })
}

/// Whether a summary is wanted: by the proxy, whose system prompt begins like this, or by a client for itself.
fn is_summary(request: &ClientRequest) -> bool {
    const OWN: [&str; 6] = [
        "create a detailed summary of the conversation",
        "CONTEXT CHECKPOINT COMPACTION",
        "handoff summary",
        "create a structured",
        "Provide a detailed prompt for continuing",
        "new anchored summary",
    ];
    let last = request.said.last().map_or("", String::as_str);
    request.system.contains("You keep the record of a conversation")
        || OWN.iter().any(|own| last.contains(own))
}

/// A summary that the proxy accepts: it holds what it was told to carry, the task, and how far it is.
fn summary(request: &ClientRequest, scenario: Option<&Scenario<'_>>) -> String {
    let mut text = String::from("## Done\n");
    if let Some(scenario) = scenario {
        let work = scenario.work();
        let done = step::highest(&request.text, &work).unwrap_or(0);
        let line = scenario.line.split('"').next().unwrap_or_default().trim();
        text += &format!("Reached {}.\n\n## Requests and preferences\n{line}\n", step::spoken(done, &work));
    } else {
        text += "The assistant talked with the user.\n";
    }
    if let Some(found) = recall::found(request) {
        text += &format!("\n## Found\n{found}\n");
    }
    for carried in carried(request.said.last().map_or("", String::as_str)) {
        text += &format!("\n{carried}\n");
    }
    text
}

/// The texts that a question for a summary says must be in it: those between `[begin text N]` and `[end text N]`.
fn carried(question: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = question;
    while let Some((_, behind)) = rest.split_once("[begin text ") {
        let Some((mark, body)) = behind.split_once("]\n") else { break };
        let Some((text, after)) = body.split_once(&format!("\n[end text {mark}]")) else { break };
        found.push(text);
        rest = after;
    }
    found
}

/// An answer to what is not the conversation.
fn side(request: &ClientRequest) -> Reply {
    let wants =
        format!("{} {}", request.system, request.said.last().map_or("", String::as_str)).to_lowercase();
    let text = if wants.contains("json") && wants.contains("title") {
        json!({ "title": "A scripted talk" }).to_string()
    } else if wants.contains("title") {
        "A scripted talk".to_owned()
    } else {
        "Nothing to add.".to_owned()
    };
    Reply { text, purpose: Purpose::Side, ..Reply::default() }
}
