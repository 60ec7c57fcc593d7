//! A trace: a recorded session as the sequence of its model calls.
//!
//! What a policy would have done to a session can be computed because logs keep everything: which parts were in the
//! context at each call, when the call was made and what the provider charged. A compaction starts a new trace, and so
//! does a history that was rewound: from there on the provider is sent another conversation.
//!
//! Sizes in a log are characters, bills are tokens. The trace learns its own characters per token from the growth that
//! the provider reported; instructions and tool definitions, which no log shows, are what is left over.

use std::collections::HashSet;
use std::ops::Range;

use secateur::{MessageIx, MessagePick, Outline, PartIx, PartKind, Role, ToolStatus, Usage};
use secateur_formats::Transcript;

/// One model call of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceCall {
    /// Messages of the trace that were in its context: those before this one.
    pub messages: u32,
    /// Parts of the trace that were in its context: those before this one.
    pub parts: u32,
    /// When it was made, in milliseconds since 1970, if known.
    pub time: Option<i64>,
    /// Tokens of the context: as reported, or by estimate.
    pub context: f64,
    /// Tokens of the response.
    pub output: f64,
    /// What the provider reported.
    pub usage: Option<Usage>,
}

/// A stretch of a recorded session in which the context only grew.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The agent that wrote the log.
    pub agent: String,
    /// What the session worked on: the folder of the project, or what stands for it.
    pub project: String,
    /// What the session is called in reports.
    pub name: String,
    /// The model that was used, if known.
    pub model: Option<String>,
    /// The messages, in the order in which the model saw them. It holds no calls: a replay adds them one by one.
    pub outline: Outline,
    /// The text of each part.
    pub texts: Vec<String>,
    /// The model calls, oldest first.
    pub calls: Vec<TraceCall>,
    /// Characters per token of what came from outside, as learned from all reports.
    pub chars_per_token: f64,
    tokens: Vec<f64>,
}

/// Characters per token that are believed of a single step.
const LEAST_RATIO: f64 = 1.0;
const MOST_RATIO: f64 = 12.0;

/// Characters per token before anything is learned, and of what a model writes.
const USUAL_RATIO: f64 = 3.5;

/// A step with fewer characters from outside says little about their ratio.
const TELLING: f64 = 1_000.0;

/// What a log does not say about itself.
#[derive(Clone, Debug, Default)]
pub struct TraceLabel {
    /// The agent.
    pub agent: String,
    /// The project.
    pub project: String,
    /// A name for reports.
    pub name: String,
}

/// A call of the whole session with the messages that were in its context.
struct RecordedCall {
    context: Vec<MessageIx>,
    message: MessageIx,
    time: Option<i64>,
    usage: Option<Usage>,
}

/// Calls whose contexts only grew, and all messages that were in one of them, in the order in which they came.
#[derive(Default)]
struct TraceSegment {
    asked: Vec<(RecordedCall, u32)>,
    order: Vec<MessageIx>,
    known: HashSet<MessageIx>,
}

impl TraceSegment {
    /// Whether a call goes on with this stretch: no summary came in, and no tool result went.
    fn continues(&self, outline: &Outline, asked: &RecordedCall) -> bool {
        let Some((last, _)) = self.asked.last() else { return true };
        if asked.context.starts_with(&last.context) {
            return true;
        }
        let now: HashSet<_> = asked.context.iter().copied().collect();
        let holds = |&message: &MessageIx| {
            outline.parts_of(message).any(|part| outline.kind(PartIx(part)) == PartKind::Result)
        };
        let came = |message: &&MessageIx| !self.known.contains(message);
        !last.context.iter().any(|message| !now.contains(message) && holds(message))
            && !asked.context.iter().filter(came).any(|&message| outline.is_summary(message))
    }

    fn push(&mut self, asked: RecordedCall) {
        for &message in &asked.context {
            if self.known.insert(message) {
                self.order.push(message);
            }
        }
        let messages = self.order.len() as u32;
        self.asked.push((asked, messages));
    }
}

impl Trace {
    /// A trace of what is known otherwise: every part weighs its characters by one ratio.
    pub fn new(
        label: &TraceLabel,
        outline: Outline,
        texts: Vec<String>,
        calls: Vec<TraceCall>,
        chars_per_token: f64,
    ) -> Self {
        let tokens = outline.parts().map(|part| outline.sent(part) as f64 / chars_per_token).collect();
        Self {
            agent: label.agent.clone(),
            project: label.project.clone(),
            name: label.name.clone(),
            model: None,
            outline,
            texts,
            calls,
            chars_per_token,
            tokens,
        }
    }

    /// The traces of a session.
    pub fn of(transcript: &Transcript<'_>, label: &TraceLabel) -> Vec<Trace> {
        let mut traces = Vec::new();
        let mut stretch = TraceSegment::default();
        for asked in asked(&transcript.outline) {
            if !stretch.continues(&transcript.outline, &asked) {
                let done = std::mem::take(&mut stretch);
                traces.extend(Self::stretch(transcript, label, &done, traces.len()));
            }
            stretch.push(asked);
        }
        traces.extend(Self::stretch(transcript, label, &stretch, traces.len()));
        traces
    }

    fn stretch(
        transcript: &Transcript<'_>,
        label: &TraceLabel,
        stretch: &TraceSegment,
        number: usize,
    ) -> Option<Trace> {
        let (last, _) = stretch.asked.last()?;
        // The last response is included: its actions are the last that may need something.
        let messages = stretch.order.iter().copied().chain([last.message]);
        let (selected, parts) = transcript.outline.select(messages.map(MessagePick::Message));
        let mut outline = selected.empty_copy();
        selected.messages().for_each(|message| outline.extend_from(&selected, message));
        // What the agent cut itself is there again: a policy is judged by what it does, not by what was done before.
        let cut: u64 =
            outline.parts().filter(|&part| outline.is_cut(part)).map(|part| outline.units(part)).sum();
        outline.forget_cuts();
        let texts = parts.iter().map(|&part| transcript.text_of(part).into_owned()).collect();
        let mut trace = Trace::new(label, outline, texts, Vec::new(), USUAL_RATIO);
        trace.model = transcript.origin.model.clone();
        if number > 0 {
            trace.name = format!("{} ({})", label.name, number + 1);
        }
        trace.learn(&stretch.asked, cut as f64 / USUAL_RATIO);
        Some(trace)
    }

    /// Takes in the calls and learns what a token is worth.
    ///
    /// Between two calls a context grows by the response, whose tokens the provider counted, and by what came after it:
    /// mostly results of tools. So those are known by the difference, also where the response was thinking that no log
    /// shows. What the agent itself had cut by then, at most `cut` tokens, is taken to be the reason where a context
    /// shrank, and added again.
    fn learn(&mut self, asked: &[(RecordedCall, u32)], mut cut: f64) {
        self.tokens = vec![0.0; self.outline.part_count()];
        let mut steps: Vec<(Range<u32>, Option<f64>)> = Vec::with_capacity(asked.len());
        let (mut chars, mut tokens, mut restored) = (0.0, 0.0, 0.0);
        let mut contexts = Vec::with_capacity(asked.len());
        let mut last: Option<(u32, f64, f64)> = None;
        for (call, messages) in asked {
            let parts = self.outline.parts_of(MessageIx(*messages)).start;
            let mut context = call.usage.map(|usage| usage.context().max(0) as f64 + restored);
            if let (Some(now), Some((_, before, _))) = (&mut context, last)
                && *now < before
            {
                let lost = (before - *now).min(cut);
                (cut, restored, *now) = (cut - lost, restored + lost, *now + lost);
            }
            contexts.push(context);
            let (from, grown) = match (last, context) {
                (Some((from, before, response)), Some(now)) => (from, Some(now - before - response)),
                (Some((from, ..)), None) => (from, None),
                (None, _) => (0, None),
            };
            let came: f64 = (from..parts).map(|part| self.came(PartIx(part))).sum();
            let grown =
                grown.filter(|&grown| grown > 0.0 && (LEAST_RATIO..=MOST_RATIO).contains(&(came / grown)));
            if let Some(grown) = grown.filter(|_| came >= TELLING) {
                chars += came;
                tokens += grown;
            }
            steps.push((from..parts, grown.filter(|_| came > 0.0).map(|grown| came / grown)));
            if let Some(context) = context {
                last = Some((parts, context, self.response_tokens(call, *messages)));
            }
        }
        self.chars_per_token = if tokens >= 1_000.0 { chars / tokens } else { USUAL_RATIO };
        for (parts, own) in &steps {
            for part in parts.clone() {
                let ratio = own.filter(|_| self.came(PartIx(part)) > 0.0).unwrap_or(self.chars_per_token);
                self.tokens[part as usize] = self.outline.sent(PartIx(part)) as f64 / ratio;
            }
        }
        let mut sent = 0.0;
        let mut known: Option<(f64, f64)> = None;
        for (((call, messages), (parts, _)), context) in asked.iter().zip(steps).zip(contexts) {
            sent += parts.clone().map(|part| self.tokens[part as usize]).sum::<f64>();
            let context =
                context.unwrap_or_else(|| known.map_or(sent, |(from, tokens)| tokens + sent - from));
            known = Some((sent, context));
            let output = self.response_tokens(call, *messages);
            let (messages, parts, time, usage) = (*messages, parts.end, call.time, call.usage);
            self.calls.push(TraceCall { messages, parts, time, context, output, usage });
        }
    }

    /// The tokens of a call's response, as reported. Some logs hold only the first count of a stream; then the text
    /// says more.
    fn response_tokens(&self, call: &RecordedCall, message: u32) -> f64 {
        let reported = call.usage.map_or(0.0, |usage| (usage.output + usage.reasoning).max(0) as f64);
        let written = |part: u32| self.outline.sent(PartIx(part)) as f64 - self.came(PartIx(part));
        let response = self.outline.parts_of(MessageIx(message));
        reported.max(response.map(written).sum::<f64>() / USUAL_RATIO)
    }

    /// Characters of a part that came from outside: not from the model.
    fn came(&self, part: PartIx) -> f64 {
        let is_own = self.outline.role(self.outline.owner(part)) == Role::Assistant
            && self.outline.kind(part) != PartKind::Result;
        if is_own { 0.0 } else { self.outline.sent(part) as f64 }
    }

    /// The call before the one of this number.
    pub(crate) fn call_before(&self, number: usize) -> Option<TraceCall> {
        self.calls.get(number.checked_sub(1)?).copied()
    }

    /// The tokens of a part.
    pub fn tokens(&self, part: PartIx) -> f64 {
        self.tokens.get(part.0 as usize).copied().unwrap_or(0.0)
    }

    /// The first call that had a part in its context.
    pub fn first_call_with(&self, part: PartIx) -> usize {
        self.calls.partition_point(|call| call.parts <= part.0)
    }

    /// The tool results that were whole in the log and finished, oldest first.
    pub fn results(&self) -> impl Iterator<Item = PartIx> + '_ {
        let is_result = |&part: &PartIx| {
            self.outline.kind(part) == PartKind::Result
                && !self.outline.is_cut(part)
                && !matches!(self.outline.status(part), ToolStatus::Pending | ToolStatus::Running)
        };
        self.outline.parts().filter(is_result)
    }
}

/// The model calls of a session with their contexts: those that were recorded, or every message of the model.
fn asked(outline: &Outline) -> Vec<RecordedCall> {
    let of = |message: MessageIx, time, usage| RecordedCall {
        context: outline.context(Some(message)),
        message,
        time,
        usage,
    };
    if outline.model_calls().is_empty() {
        return outline
            .assistants()
            .iter()
            .map(|&message| of(message, outline.time(message), None))
            .collect();
    }
    let reported = outline.model_calls().iter().filter(|call| call.usage.context() > 0);
    reported.map(|call| of(call.message, call.time, Some(call.usage))).collect()
}
