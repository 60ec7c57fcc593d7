//! Makes a summary apart from the session: has it written, checks it, and adds the ledger.

use std::sync::Arc;

use secateur::session::{CompactionFailure, Means, MessageKind, SessionMessage, SummaryTask};
use secateur::{Measures, PartKind, Role};
use secateur_formats::Transcript;

use super::lease::LeaseClaim;
use crate::engine::EngineParts;
use crate::error::EngineError;
use crate::events::EngineEvent;
use crate::ledger::{HEADER, Ledger, begins_like_summary};
use crate::provider::{Finish, LanguageModel};
use crate::session_wire::SessionWire;
use crate::summary::{
    LEAST_BUDGET, ReplacedHistory, SummaryCandidate, SummaryInput, SummaryPiece, SummaryProgress, TokenRuler,
    check, gather, summarise,
};

/// A summary that is ready to replace messages.
#[derive(Clone, Debug)]
pub(crate) struct PreparedSummary {
    pub task: u64,
    /// The whole text.
    pub text: String,
    /// The message with this text.
    pub body: String,
    /// The facts about that message.
    pub facts: SessionMessage,
    /// The facts that the text contains.
    pub ledger: Ledger,
    /// What a model wrote of the text.
    pub words: String,
}

/// All that is needed to make a summary apart from the session.
pub(crate) struct SummaryJob {
    pub parts: Arc<EngineParts>,
    pub model: Option<Arc<dyn LanguageModel>>,
    pub session: String,
    pub lease: LeaseClaim,
    pub wire: SessionWire,
    /// The role of the summary's message.
    pub role: Role,
    pub measures: Measures,
    pub task: SummaryTask,
    /// The messages to summarise, as one request.
    pub body: String,
    /// The earlier summary: what a model wrote of it, or else all of it.
    pub previous: Option<String>,
    /// What a model wrote of the earlier summary.
    pub previous_words: String,
    /// The texts of the messages that are summaries of what came before the session.
    pub summaries: Vec<String>,
    /// The facts of the earlier summary.
    pub previous_ledger: Ledger,
    pub focus: Option<String>,
    /// What hooks want the summariser to know.
    pub context: Vec<String>,
    /// The prompt of a hook, in place of the usual one.
    pub prompt: Option<String>,
    pub chars_per_token: f64,
}

impl SummaryJob {
    /// Makes the summary.
    pub(crate) async fn run(self) -> Result<PreparedSummary, CompactionFailure> {
        let flawed = |error: EngineError| CompactionFailure::Flawed { message: error.to_string() };
        let redact = |text: &str| self.parts.redactor.redact(text).text.into_owned();
        let (ledger, pieces, tokens, previous) = {
            let mut transcript = self.wire.read(&self.body, &Measures::default()).map_err(flawed)?;
            let previous = self.continued(&mark_summaries(&mut transcript, &self.summaries));
            let ledger = self.previous_ledger.clone().followed_by(Ledger::of(&transcript, &redact));
            let mut pieces = gather(&transcript, &[], &redact);
            // The model continues them.
            pieces.retain(|piece| !piece.is_summary());
            let ruler = TokenRuler::new(self.chars_per_token);
            (ledger, pieces, ruler.tokens(&self.body), previous)
        };
        let budget = usize::try_from(self.task.budget_chars).unwrap_or(usize::MAX);
        let model = self.model.clone();
        let words = match (self.task.means, model) {
            // A digest repeats what a model wrote earlier, as far as it leaves room for the ledger.
            (Means::Digest, _) => first_lines(&redact(&self.previous_words), budget / 2),
            (Means::Model, None) => {
                return Err(CompactionFailure::Model { message: "no summariser is configured".to_owned() });
            }
            (Means::Model, Some(model)) => {
                let conversation =
                    SummarisedHistory { pieces: &pieces, tokens, previous: previous.as_deref() };
                self.write(model.as_ref(), conversation, &redact).await?
            }
        };
        let text = compose(&words, &ledger, budget);
        let body = self.wire.say(self.role, &text);
        let facts = self.wire.entry(&body, "summary", &self.measures).map_err(flawed)?;
        let facts = SessionMessage { kind: MessageKind::Summary, ..facts };
        Ok(PreparedSummary { task: self.task.id, text, body, facts, ledger, words })
    }

    /// The summary that a model continues: the session's own, and those that were in its messages.
    fn continued(&self, summaries: &[String]) -> Option<String> {
        let own = |text: &String| text.strip_prefix(HEADER).unwrap_or(text).trim().to_owned();
        let all: Vec<String> = self.previous.iter().chain(summaries).map(own).collect();
        (!all.is_empty()).then(|| all.join("\n\n"))
    }

    /// Has a model write, and checks what it wrote.
    async fn write(
        &self,
        model: &dyn LanguageModel,
        conversation: SummarisedHistory<'_>,
        redact: &(dyn Fn(&str) -> String + Send + Sync),
    ) -> Result<String, CompactionFailure> {
        let SummarisedHistory { pieces, tokens, previous } = conversation;
        let context = redact(&self.context.join("\n\n"));
        let prompt = self.prompt.as_deref().map(redact);
        let previous = previous.map(redact);
        let focus = self.focus.as_deref().map(redact);
        // A third of the budget is for the ledger.
        let budget = u64::try_from(self.task.budget).unwrap_or(0) / 3 * 2;
        let job = SummaryInput {
            pieces,
            previous: previous.as_deref(),
            focus: focus.as_deref(),
            context: Some(context.as_str()).filter(|context| !context.is_empty()),
            task: prompt.as_deref(),
            carry: &[],
            budget,
            chars_per_token: self.chars_per_token,
            redact: &redact,
        };
        let events = self.parts.events.clone();
        let (session, task) = (self.session.clone(), self.task.id);
        let mut progress = move |progress: SummaryProgress<'_>| match progress {
            SummaryProgress::Line(line) => {
                _ = events.send(EngineEvent::SummaryLine {
                    session: session.clone(),
                    task,
                    text: line.to_owned(),
                });
            }
            SummaryProgress::Asking { .. } | SummaryProgress::Restart => {
                _ = events.send(EngineEvent::SummaryRestart { session: session.clone(), task });
            }
            _ => {}
        };
        let writing = summarise(model, &job, &mut progress);
        let summary = self.lease.hold_during(writing).await?;
        let summary =
            summary.map_err(|error| CompactionFailure::Model { message: redact(&error.to_string()) })?;
        let credentials = |text: &str| self.parts.redactor.redact(text).findings.len();
        let against = ReplacedHistory {
            tokens,
            least_saving: 1,
            budget: budget.max(LEAST_BUDGET),
            carried: &[],
            ruler: TokenRuler::new(self.chars_per_token),
            credentials: &credentials,
        };
        let candidate = SummaryCandidate { text: &summary.text, finish: Finish::Complete };
        check(&candidate, &against)
            .map_err(|flaw| CompactionFailure::Flawed { message: flaw.to_string() })?;
        Ok(summary.text)
    }
}

/// What a model is to summarise.
#[derive(Clone, Copy)]
struct SummarisedHistory<'h> {
    pieces: &'h [SummaryPiece],
    tokens: u64,
    /// The summary that it continues.
    previous: Option<&'h str>,
}

/// Marks the parts that are summaries, and returns their texts: those that are known to be, and those of the user's
/// messages that begin like one.
fn mark_summaries(transcript: &mut Transcript<'_>, known: &[String]) -> Vec<String> {
    let outline = &transcript.outline;
    let mut found = Vec::new();
    for part in outline.parts().filter(|&part| outline.kind(part) == PartKind::Text) {
        let is_user = outline.role(outline.owner(part)) == Role::User;
        let text = transcript.text_of(part);
        if known.iter().any(|known| *known == text) || (is_user && begins_like_summary(&text)) {
            found.push((part, text.into_owned()));
        }
    }
    found.iter().for_each(|(part, _)| transcript.outline.set_summary_part(*part));
    found.into_iter().map(|(_, text)| text).collect()
}

/// The text of a summary: what it is, what a model wrote, and the ledger.
fn compose(words: &str, ledger: &Ledger, budget: usize) -> String {
    let mut text = String::from(HEADER);
    if !words.is_empty() {
        text.push_str("\n\n");
        text.push_str(words.trim());
    }
    let left = budget.saturating_sub(text.encode_utf16().count() + 2);
    let facts = ledger.sections(left);
    if !facts.is_empty() {
        text.push_str("\n\n");
        text.push_str(&facts);
    }
    text
}

/// As many whole lines as fit into this many characters.
fn first_lines(text: &str, most: usize) -> String {
    let mut left = most;
    let fits = |line: &&str| {
        let size = line.encode_utf16().count();
        let is_short = size <= left;
        left = left.saturating_sub(size);
        is_short
    };
    text.split_inclusive('\n').take_while(fits).collect()
}
