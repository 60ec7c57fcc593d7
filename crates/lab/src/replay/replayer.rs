//! The player of a replay: goes through the calls, lets the policy cut, pays the bill and sees what is missed.

use secateur::{
    Action, BandLimits, Lasting, Memory, MessageIx, ModelCall, Occasion, Outline, PartIx, PlanIndex, Profile,
    Reason, Role, Situation,
};

use super::context::{CutPart, ReplayContext};
use super::signed_blocks::SignedBlocks;
use super::{Miss, ReplayRun, ReplayStep, ReplayTerms};
use crate::needs::TextNeed;
use crate::trace::Trace;

/// What a summary takes, in tokens.
const SUMMARY: f64 = 4_000.0;

/// The share of a window at which a session is compacted: 167,000 of 200,000.
const FULL: f64 = 0.835;

/// What a call that reads something again writes, in tokens.
const ASKING: f64 = 100.0;

pub(super) struct Replayer<'a> {
    trace: &'a Trace,
    profile: &'a Profile,
    terms: &'a ReplayTerms<'a>,
    /// What the policy can know: everything up to this call, and nothing of what came later.
    outline: Outline,
    memory: Memory,
    tally: PlanIndex,
    context: ReplayContext<'a>,
    thinking: SignedBlocks,
    /// The limits of the sheet's price bands.
    band_limits: Vec<u64>,
    /// Characters of everything so far, as if nothing were cut.
    chars: u64,
    pub(super) run: ReplayRun,
}

impl<'a> Replayer<'a> {
    pub(super) fn new(trace: &'a Trace, profile: &'a Profile, terms: &'a ReplayTerms<'a>) -> Self {
        Self {
            trace,
            profile,
            terms,
            outline: trace.outline.empty_copy(),
            memory: Memory::default(),
            tally: PlanIndex::default(),
            context: ReplayContext::new(trace, &profile.policy),
            thinking: SignedBlocks::default(),
            band_limits: terms.sheet.band_limits(),
            chars: 0,
            run: ReplayRun::default(),
        }
    }

    /// Sends the request of one call.
    pub(super) fn ask(&mut self, number: usize) {
        let call = self.trace.calls[number];
        let before = self.trace.call_before(number);
        let is_new_turn = self.listen(number);
        let sent = before.map_or(0, |before| before.parts);
        let changed = self.prune(number, is_new_turn, sent);
        let kept = changed.map(|(kept, _)| kept);
        let mut step = ReplayStep { compacted: self.compact(number), ..ReplayStep::default() };
        step.context = self.context.tokens(number);
        if before.is_some() {
            step.unseen = (sent..call.parts).filter(|&part| self.context.is_cut(part)).count() as u32;
        }
        let kept_tokens = if step.compacted { 0.0 } else { kept.unwrap_or_else(|| self.last_context()) };
        let billed = self.terms.pricing().call(self.trace, number, step.context, kept_tokens);
        (step.cached, step.cold) = (billed.cached, billed.cold);
        step.broke = kept.is_some() && !step.cold;
        step.cause = changed.and_then(|(_, cause)| cause);
        self.run.input_cost += billed.cost;
        self.run.output_cost += billed.output;
        self.run.steps.push(step);
    }

    /// Takes in what was said since the last call; whether a user spoke.
    fn listen(&mut self, number: usize) -> bool {
        let call = self.trace.calls[number];
        let fresh = (self.outline.message_count() as u32..call.messages).map(MessageIx);
        let mut is_new_turn = number == 0;
        for message in fresh {
            self.thinking.take(&self.trace.outline, message);
            is_new_turn |= self.trace.outline.role(message) == Role::User;
            let parts = self.trace.outline.parts_of(message).map(PartIx);
            self.chars += parts.map(|part| self.trace.outline.sent(part)).sum::<u64>();
            self.outline.extend_from(&self.trace.outline, message);
        }
        let before = self.trace.call_before(number);
        if let Some((before, usage)) = before.and_then(|before| Some((before, before.usage?))) {
            let message = MessageIx(before.messages);
            self.outline.push_model_call(ModelCall { message, time: before.time, usage });
        }
        is_new_turn
    }

    /// Lets the policy cut. If that changes what was sent before, the tokens of the last request up to there, all
    /// that the cache can still serve, and the reason of the first cut; none if a cut was taken back.
    fn prune(&mut self, number: usize, is_new_turn: bool, sent: u32) -> Option<(f64, Option<Reason>)> {
        let call = self.trace.calls[number];
        let policy = &self.profile.policy;
        let occasions = &self.profile.compaction.prune_at;
        let at_turns = occasions.iter().any(|at| matches!(at, Occasion::TurnEnd | Occasion::SessionStart));
        let is_time = occasions.contains(&Occasion::BeforeRequest) || is_new_turn && at_turns;
        let lasts = policy.lasting != Lasting::OneRequest;
        let kept = if is_time {
            self.tally.advance(&self.outline, policy, &self.memory);
            let before = self.trace.call_before(number);
            let tokens = if lasts { self.context.tokens(number) } else { call.context };
            let situation = Situation {
                now: call.time.unwrap_or(0),
                last_request: before.and_then(|before| before.time).filter(|_| call.time.is_some()),
                window: Some(self.terms.window.unwrap_or(ReplayTerms::USUAL_WINDOW)),
                input_tokens: Some(tokens as u64),
                bands: BandLimits::around(&self.band_limits, tokens as u64),
                cache: self.terms.sheet.cache,
                rethinking: self.thinking.rethinking(self.terms.sheet),
                ..Situation::default()
            };
            let plan = self.tally.plan(&self.outline, policy, &situation, &self.memory);
            let left = |action, tokens, reason| CutPart { action, tokens, reason, at: number as u32 };
            let cuts: Vec<(PartIx, CutPart)> = policy
                .surviving(&self.outline, &plan)
                .map(|cut| (cut.part, left(cut.action, self.context.after(cut.part, cut.action), cut.reason)))
                .filter(|(part, left)| left.tokens < self.trace.tokens(*part))
                .collect();
            let kept = self.make(&cuts, lasts, sent);
            if lasts {
                self.memory.commit(&plan, &self.outline, &policy.placeholder);
            }
            kept
        } else {
            None
        };
        if let Some(usage) = call.usage {
            self.memory.calibration.observe(self.chars, u64::try_from(usage.context()).unwrap_or(0));
        }
        kept
    }

    /// Tokens of the last request.
    fn last_context(&self) -> f64 {
        self.run.steps.last().map_or(0.0, |step| step.context)
    }

    /// Makes cuts; what the cache can still serve if they change what was sent.
    fn make(&mut self, cuts: &[(PartIx, CutPart)], lasts: bool, sent: u32) -> Option<(f64, Option<Reason>)> {
        let is_new = |(part, left): &&(PartIx, CutPart)| {
            self.context.left(*part).is_none_or(|old| old.action != left.action)
        };
        let first = if lasts {
            cuts.iter().filter(is_new).map(|(part, _)| part.0).min()
        } else {
            self.context.differs(cuts)
        };
        // What lies behind is counted as it was sent, before the cuts are made.
        let before = self.run.steps.len().saturating_sub(1);
        let behind = |first| self.context.between(first, sent, before);
        let cause = |first| cuts.iter().find(|(part, _)| part.0 == first).map(|(_, left)| left.reason);
        let kept = first.filter(|&first| first < sent);
        if let Some(first) = kept {
            self.run.rethink_cost += self.thinking.invalidate(first, self.terms.sheet);
        }
        let kept = kept.map(|first| ((self.last_context() - behind(first)).max(0.0), cause(first)));
        if lasts {
            self.context.cut(cuts);
        } else {
            self.context.exchange(cuts);
        }
        kept
    }

    /// Compacts if the request is too large for the window.
    fn compact(&mut self, number: usize) -> bool {
        let Some(window) = self.terms.window else { return false };
        let Some(before) = self.trace.call_before(number) else { return false };
        let context = self.context.tokens(number);
        if context <= FULL * window || before.parts <= self.context.pivot() {
            return false;
        }
        self.run.summary_cost += self.terms.pricing().extra_call(context, SUMMARY);
        self.run.compactions += 1;
        self.thinking.clear();
        self.context.compact(before.parts, SUMMARY);
        true
    }

    /// Sees whether an action finds what it needs. What it does not find is read again.
    pub(super) fn act(&mut self, index: usize, need: &TextNeed) {
        if need.sources.iter().any(|&source| self.context.holds(source, &need.text, need.call as usize)) {
            return;
        }
        let Some(&source) = need.sources.last() else { return };
        let number = need.call as usize;
        let left = self.context.left(source).filter(|left| left.action != Action::DropMedia);
        let (reason, cut_at) = (left.map(|left| left.reason), left.map_or(need.call, |left| left.at));
        self.run.misses.push(Miss { call: need.call, need: index, source, reason, cut_at });
        self.context.restore(source, number);
        // The result itself is paid with the next request, which is the first that holds it.
        self.run.reread_cost += self.terms.pricing().extra_call(self.last_context(), ASKING);
    }
}
