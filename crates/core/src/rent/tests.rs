//! Each clause of the rule, as a short story: steps of an agent, and what is cut before the next call.

use super::*;
use crate::{
    Action, BandLimits, Cache, CutPurpose, Family, Idle, Keep, LineRange, Measures, Memory, MessageFacts,
    MessageIx, ModelCall, Outline, PartFacts, PartIx, PartKind, Plan, Policy, Profiles, Reason, Role,
    Situation, Sizes, SurrogatePairs, ToolClass, ToolStatus, Usage, Verdict,
};

/// Characters per token while nothing is learned.
const PER_TOKEN: f64 = 3.2;

/// Characters of a placeholder: twenty tokens.
const PLACEHOLDER: u64 = 64;

const MINUTE: i64 = 60_000;

struct Story {
    outline: Outline,
    policy: Policy,
    situation: Situation,
    memory: Memory,
}

impl Story {
    fn new(profile: &str) -> Self {
        let policy = Profiles::builtin().get(profile).unwrap().policy;
        let situation = Situation { now: 1_000 * MINUTE, ..Situation::default() };
        let outline = Outline::new(Measures { source: true, excerpt: true, ..Measures::default() });
        Self { outline, policy, situation, memory: Memory::default() }
    }

    /// With a provider that has no cache results go as soon as their age allows.
    fn without_cache() -> Self {
        let mut story = Self::new("balanced");
        story.situation.cache = Cache::NONE;
        story
    }

    fn rent(&mut self) -> &mut Rent {
        match &mut self.policy.family {
            Family::Rent(rent) => rent,
            other => panic!("{other:?}"),
        }
    }

    fn say(&mut self, role: Role, facts: PartFacts<'_>) -> PartIx {
        self.outline.push_message(MessageFacts { role, ..MessageFacts::default() });
        self.outline.push_part(facts)
    }

    fn text(&mut self, role: Role, units: u64) -> PartIx {
        let sizes = Sizes { units, ..Sizes::default() };
        self.say(role, PartFacts { kind: PartKind::Text, sizes, ..PartFacts::default() })
    }

    /// A step: the model calls a tool, which answers this.
    fn step(&mut self, facts: PartFacts<'_>) -> PartIx {
        self.say(Role::Assistant, PartFacts { kind: PartKind::Call, ..PartFacts::default() });
        let (kind, status) = (PartKind::Result, ToolStatus::Completed);
        let status = if facts.status == ToolStatus::None { status } else { facts.status };
        self.say(Role::Tool, PartFacts { kind, status, ..facts })
    }

    fn result(&mut self, class: ToolClass, units: u64) -> PartIx {
        self.step(PartFacts { class, sizes: Sizes { units, ..Sizes::default() }, ..PartFacts::default() })
    }

    fn about(&mut self, class: ToolClass, subject: &str, lines: LineRange) -> PartIx {
        let sizes = Sizes { units: 9_000, ..Sizes::default() };
        self.step(PartFacts { class, subject: Some(subject), lines, sizes, ..PartFacts::default() })
    }

    /// The model responds `calls` times, to nothing in particular.
    fn pass(&mut self, calls: u32) {
        for _ in 0..calls {
            self.text(Role::Assistant, 0);
            self.text(Role::User, 0);
        }
    }

    fn plan(&self) -> Plan {
        self.policy.plan(&self.outline, &self.situation, &self.memory)
    }

    fn is_cut(&self, part: PartIx) -> bool {
        self.plan().cut(part).is_some()
    }

    /// How many calls see a part before it goes.
    fn age_at_cut(&mut self, part: PartIx) -> Option<u32> {
        let seen = self.outline.next_call() - self.outline.first_call(self.outline.owner(part));
        (seen..200).find(|_| {
            let is_cut = self.is_cut(part);
            self.pass(1);
            is_cut
        })
    }

    fn commit(&mut self) -> Plan {
        let plan = self.plan();
        self.memory.commit(&plan, &self.outline, "");
        plan
    }

    /// The rent that is paid and the cost that has to be reached, in characters.
    fn owed(&self) -> (f64, f64) {
        match self.plan().idle {
            Some(Idle::RentBelowCost { rent, cost }) => (rent * PER_TOKEN, cost * PER_TOKEN),
            other => panic!("{other:?}"),
        }
    }

    fn keep(&self, part: PartIx) -> Keep {
        match self.policy.verdict(&self.outline, &self.memory, &self.plan(), part) {
            Verdict::Kept(keep) => keep,
            Verdict::Cut(cut) => panic!("{cut:?}"),
        }
    }
}

fn near(have: f64, want: f64) -> bool {
    (have - want).abs() < 0.01
}

#[test]
fn results_go_at_the_age_of_their_class() {
    use ToolClass::*;
    for (class, age) in
        [(Shell, 3), (Search, 3), (Web, 3), (Edit, 3), (Plan, 3), (Other, 3), (Read, 25), (Agent, 25)]
    {
        let mut story = Story::without_cache();
        let part = story.result(class, 9_000);
        assert_eq!(story.age_at_cut(part), Some(age), "{class:?}");
    }
    let mut story = Story::without_cache();
    story.rent().ages.read = None;
    let read = story.result(Read, 9_000);
    assert_eq!(story.age_at_cut(read), None, "an age that is left out is never reached");
}

#[test]
fn a_later_read_of_the_same_lines_makes_a_read_old() {
    let mut story = Story::without_cache();
    let lines = |first, last| LineRange { first, last };
    let covered = story.about(ToolClass::Read, "/a", lines(10, 20));
    let partly = story.about(ToolClass::Read, "/a", lines(90, 110));
    let other = story.about(ToolClass::Read, "/b", lines(10, 20));
    story.about(ToolClass::Read, "/a", lines(1, 100));
    assert_eq!(story.age_at_cut(covered), Some(3));
    assert!(!story.is_cut(partly) && !story.is_cut(other));
    // One that is old already goes with the next call, not with those before.
    let mut story = Story::without_cache();
    let covered = story.about(ToolClass::Read, "/a", LineRange::ALL);
    story.pass(8);
    story.about(ToolClass::Read, "/a", LineRange::ALL);
    assert_eq!(story.age_at_cut(covered), Some(9));
}

#[test]
fn an_edit_makes_a_read_of_its_file_old() {
    let mut story = Story::without_cache();
    let read = story.about(ToolClass::Read, "/a", LineRange::ALL);
    story.about(ToolClass::Edit, "/b\n/a", LineRange::ALL);
    assert_eq!(story.age_at_cut(read), Some(10));
    let mut story = Story::without_cache();
    let read = story.about(ToolClass::Read, "/a", LineRange::ALL);
    let (class, subject, status) = (ToolClass::Edit, Some("/a"), ToolStatus::Error);
    story.step(PartFacts { class, subject, status, ..PartFacts::default() });
    assert_eq!(story.age_at_cut(read), Some(25), "an edit that failed changes nothing");
}

#[test]
fn an_output_that_comes_again_makes_the_first_one_old() {
    let output = |source| PartFacts {
        class: ToolClass::Agent,
        sizes: Sizes { units: 9_000, source, ..Sizes::default() },
        ..PartFacts::default()
    };
    let mut story = Story::without_cache();
    let first = story.step(output(7));
    let again = story.step(output(7));
    let other = story.step(output(8));
    assert_eq!(story.age_at_cut(first), Some(3));
    assert!(!story.is_cut(again) && !story.is_cut(other));
    let mut story = Story::without_cache();
    let first = story.step(output(0));
    story.step(output(0));
    assert_eq!(story.age_at_cut(first), Some(25), "a hash that was not taken says nothing");
}

#[test]
fn while_the_cache_is_cold_ages_are_capped() {
    let mut story = Story::new("balanced");
    let read = story.result(ToolClass::Read, 9_000);
    story.text(Role::User, 900_000);
    story.pass(9);
    let at = |story: &Story, minutes| Situation {
        last_request: Some(story.situation.now - minutes * MINUTE),
        ..story.situation
    };
    story.situation = at(&story, 6);
    assert_eq!(story.plan().idle, Some(Idle::NothingEligible));
    story.pass(1);
    assert_eq!(story.plan().cut(read).map(|cut| cut.reason), Some(Reason::CacheCold));
    story.situation = at(&story, 5);
    assert_eq!(story.plan().idle, Some(Idle::NothingEligible), "five minutes are not over");
    story.situation = Situation { cache: Cache::NONE, ..at(&story, 6) };
    assert!(!story.is_cut(read), "what does not exist does not go cold");
}

/// A story of 100,000 tokens in which one result of 2,800 tokens is old enough for a cold cache, and not for a warm one.
fn long_story(prompt: u64, limits: &[u64]) -> (Story, PartIx) {
    let mut story = Story::new("balanced");
    let read = story.result(ToolClass::Read, 9_000);
    story.text(Role::User, 300_000);
    story.pass(10);
    story.situation.input_tokens = Some(prompt);
    story.situation.bands = BandLimits::around(limits, prompt);
    (story, read)
}

#[test]
fn a_cut_that_keeps_a_request_below_a_band_is_made_where_rent_would_wait() {
    let reason = |prompt, limits: &[u64]| {
        let (story, read) = long_story(prompt, limits);
        story.plan().cut(read).map(|cut| cut.reason)
    };
    assert_eq!(reason(101_000, &[]), None);
    assert_eq!(reason(101_000, &[100_000]), Some(Reason::PriceBand), "it gets below");
    assert_eq!(reason(105_000, &[100_000]), None, "it would not get below");
    assert_eq!(reason(91_000, &[100_000]), Some(Reason::PriceBand), "it gets away from the limit");
    assert_eq!(reason(95_000, &[100_000]), None, "the next request would be cut again");
    assert_eq!(reason(89_000, &[100_000]), None, "the limit is far away");
    assert_eq!(reason(91_000, &[50_000, 100_000]), Some(Reason::PriceBand));
    assert_eq!(reason(51_000, &[50_000, 100_000]), Some(Reason::PriceBand));
}

#[test]
fn without_a_share_bands_do_not_matter() {
    let (mut story, read) = long_story(101_000, &[100_000]);
    story.rent().band = None;
    assert!(!story.is_cut(read));
}

#[test]
fn a_cold_flush_has_to_save_something() {
    let mut story = Story::new("balanced");
    story.situation.last_request = Some(0);
    // 480 tokens each, once the placeholder is taken off.
    let first = story.result(ToolClass::Shell, 1_536 + PLACEHOLDER);
    story.text(Role::User, 900_000);
    story.pass(3);
    assert!(matches!(story.plan().idle, Some(Idle::RentBelowCost { .. })));
    let second = story.result(ToolClass::Shell, 1_536 + PLACEHOLDER);
    story.pass(3);
    let plan = story.plan();
    assert_eq!(plan.cuts.iter().map(|cut| cut.part).collect::<Vec<_>>(), [first, second]);
    assert_eq!(plan.totals.candidates, 960);
}

#[test]
fn a_life_that_reports_show_goes_before_the_price_list() {
    let mut story = Story::new("balanced");
    let shell = story.result(ToolClass::Shell, 9_000);
    story.text(Role::User, 900_000);
    story.pass(4);
    story.situation.last_request = Some(story.situation.now - 30 * MINUTE);
    assert!(story.is_cut(shell));
    let usage = Usage { cache_read: 90, input: 10, ..Usage::default() };
    for (message, time) in [(0, 0), (3, 1), (5, 20), (7, 21), (9, 22)] {
        story.outline.push_model_call(ModelCall {
            message: MessageIx(message),
            time: Some(time * MINUTE),
            usage,
        });
    }
    assert!(!story.is_cut(shell), "nineteen minutes were survived, so thirty may be");
}

#[test]
fn rent_accrues_at_each_call_until_it_reaches_its_price() {
    let mut story = Story::new("balanced");
    let part = story.result(ToolClass::Shell, 10_000 + PLACEHOLDER);
    story.text(Role::User, 2_000);
    story.pass(3);
    let cost = 3.0 * 1.15 * (2_000 + PLACEHOLDER) as f64;
    for call in 1..8 {
        let (paid, price) = story.owed();
        assert!(near(paid, 0.1 * 10_000.0 * f64::from(call)), "{paid} at {call}");
        assert!(near(price, cost), "{price} and not {cost}");
        assert_eq!(story.keep(part), Keep::RentBelowCost);
        story.pass(1);
    }
    assert_eq!(story.plan().cut(part).map(|cut| cut.reason), Some(Reason::Rent));
    assert_eq!(story.commit().cuts.len(), 1);
    assert_eq!(story.plan().idle, Some(Idle::NothingEligible), "a cut is for ever");
    assert_eq!(story.keep(part), Keep::AlreadyCut);
}

#[test]
fn only_what_was_sent_and_stays_has_to_be_written_again() {
    let mut story = Story::new("balanced");
    story.text(Role::User, 700_000);
    story.result(ToolClass::Shell, 10_000 + PLACEHOLDER);
    story.text(Role::User, 50_000);
    story.result(ToolClass::Shell, 10_000 + PLACEHOLDER);
    story.pass(3);
    let cost = 3.0 * 1.15 * (50_000 + 2 * PLACEHOLDER) as f64;
    assert!(near(story.owed().1, cost), "neither what lies before nor what goes counts");
    story.text(Role::User, 800_000);
    assert!(near(story.owed().1, cost), "nor what is new");
    story.text(Role::Assistant, 0);
    assert!(story.owed().1 > cost + 800_000.0, "until it has been sent");
}

#[test]
fn what_was_cut_before_counts_as_its_placeholder() {
    let mut story = Story::new("balanced");
    let first = story.result(ToolClass::Shell, 10_000);
    let (class, sizes) = (ToolClass::Shell, Sizes { units: 9_000, excerpt: 300, ..Sizes::default() });
    let second = story.step(PartFacts { class, sizes, ..PartFacts::default() });
    story.text(Role::User, 90_000);
    story.pass(3);
    story.memory.remember(second, (Action::Clear, 0), None, "");
    let cost = 3.0 * 1.15 * (90_000 + 300 + 2 * PLACEHOLDER) as f64;
    assert!(near(story.owed().1, cost), "{:?} and not {cost}", story.owed());
    assert!(!story.is_cut(first));
}

#[test]
fn an_excerpt_is_taken_off_the_gain() {
    let mut story = Story::without_cache();
    let (class, sizes) = (ToolClass::Shell, Sizes { units: 3_200, excerpt: 320, ..Sizes::default() });
    let part = story.step(PartFacts { class, sizes, ..PartFacts::default() });
    story.pass(3);
    let cut = *story.plan().cut(part).unwrap();
    assert_eq!((cut.before, cut.after), (1_000, 120));
}

#[test]
fn a_nearly_full_window_is_a_reason_of_its_own() {
    let mut story = Story::new("balanced");
    story.rent().pressure = Some(Pressure { fill: 0.8, gain: 5_000 });
    let part = story.result(ToolClass::Shell, 16_000 + PLACEHOLDER);
    story.text(Role::User, 900_000);
    story.pass(3);
    let fill = |story: &mut Story, tokens| {
        story.situation.window = Some(100_000.0);
        story.situation.input_tokens = Some(tokens);
        story.plan().cut(part).map(|cut| cut.reason)
    };
    assert_eq!(fill(&mut story, 80_000), None);
    assert_eq!(fill(&mut story, 80_001), Some(Reason::Pressure));
    story.rent().pressure = Some(Pressure { fill: 0.8, gain: 5_001 });
    assert_eq!(fill(&mut story, 90_000), None, "too little to keep out of a compaction");
}

#[test]
fn when_a_request_must_fit_rent_does_not_matter() {
    let mut story = Story::new("balanced");
    let read = story.result(ToolClass::Read, 1_000);
    story.text(Role::User, 900_000);
    story.pass(9);
    story.situation.purpose = CutPurpose::MakeRoom;
    assert_eq!(story.plan().idle, Some(Idle::NothingEligible), "what is young stays all the same");
    story.pass(1);
    assert_eq!(story.plan().cut(read).map(|cut| cut.reason), Some(Reason::Pressure));
    story.situation.purpose = CutPurpose::SaveCost;
    assert!(!story.is_cut(read));
}

#[test]
fn long_results_are_shortened_when_they_arrive() {
    let mut story = Story::new("frugal");
    let seen = story.result(ToolClass::Shell, 20_000);
    let new = story.result(ToolClass::Shell, 20_000);
    let trim = Action::Trim { head: 4_800, tail: 3_200, pairs: SurrogatePairs::Whole };
    let plan = story.commit();
    assert_eq!(plan.cuts.iter().map(|cut| (cut.part, cut.action)).collect::<Vec<_>>(), [(new, trim)]);
    assert_eq!((plan.cuts[0].before, plan.cuts[0].after), (6_250, 2_500));
    assert!(story.plan().is_empty() && story.keep(seen) == Keep::TooYoung);
    // What was shortened goes as a whole later, and then saves what is left of it.
    story.situation.cache = Cache::NONE;
    story.pass(2);
    let cut = *story.plan().cut(new).unwrap();
    assert_eq!((cut.action, cut.before), (Action::Clear, 2_500));

    let mut story = Story::new("frugal");
    let read = story.result(ToolClass::Read, 20_000);
    assert!(!story.is_cut(read), "texts of files are let in whole");
    let short = story.result(ToolClass::Shell, 8_000);
    assert!(!story.is_cut(short));
}

#[test]
fn old_inputs_go_where_that_is_wanted() {
    for (profile, units, goes) in [("frugal", 400, true), ("frugal", 399, false), ("balanced", 4_000, false)]
    {
        let mut story = Story::new(profile);
        let sizes = Sizes { units, ..Sizes::default() };
        let input =
            story.say(Role::Assistant, PartFacts { kind: PartKind::Call, sizes, ..PartFacts::default() });
        story.result(ToolClass::Shell, 100);
        story.text(Role::User, 900_000);
        story.situation.last_request = Some(0);
        story.pass(29);
        assert!(!story.is_cut(input), "a cold cache does not make it older");
        story.situation.cache = Cache::NONE;
        story.pass(1);
        assert_eq!(story.is_cut(input), goes, "{profile}, {units}");
    }
}

#[test]
fn what_is_protected_stays_for_ever() {
    let mut story = Story::without_cache();
    let sizes = Sizes { units: 9_000, ..Sizes::default() };
    let facts = PartFacts { class: ToolClass::Shell, sizes, ..PartFacts::default() };
    let skill = story.step(PartFacts { tool: Some("skill"), ..facts });
    let image = story.step(PartFacts { sizes: Sizes { images: 1, ..sizes }, ..facts });
    let error = story.step(PartFacts { status: ToolStatus::Error, ..facts });
    let running = story.step(PartFacts { status: ToolStatus::Running, ..facts });
    let short = story.step(PartFacts { sizes: Sizes { units: 399, ..sizes }, ..facts });
    let cut = story.step(PartFacts { cut: true, ..facts });
    let pinned = story.step(facts);
    let text = story.text(Role::User, 9_000);
    let plain = story.step(facts);
    story.memory.undo(pinned);
    story.pass(200);
    assert_eq!(story.plan().cuts.iter().map(|cut| cut.part).collect::<Vec<_>>(), [plain]);
    let keeps = [skill, image, error, running, short, cut, pinned, text].map(|part| story.keep(part));
    assert_eq!(
        keeps,
        [
            Keep::ProtectedTool,
            Keep::HasImage,
            Keep::Unfinished(ToolStatus::Error),
            Keep::Unfinished(ToolStatus::Running),
            Keep::ShortEnough,
            Keep::AlreadyCut,
            Keep::Undone,
            Keep::NotResult,
        ]
    );
}

#[test]
fn tokens_as_learned_decide_what_is_short() {
    let mut story = Story::without_cache();
    story.memory.calibration.observe(0, 0);
    story.memory.calibration.observe(80_000, 10_000);
    let short = story.result(ToolClass::Shell, 799);
    let long = story.result(ToolClass::Shell, 800);
    story.pass(3);
    assert!(!story.is_cut(short) && story.is_cut(long), "a hundred tokens are eight hundred characters here");
}

#[test]
fn the_dearer_the_cache_the_longer_it_waits() {
    let wait = |cache: Cache| {
        let mut story = Story::new("balanced");
        story.situation.cache = cache;
        let part = story.result(ToolClass::Shell, 20_000);
        story.text(Role::User, 10_000);
        story.age_at_cut(part)
    };
    let cache = |read, write| Cache { read, write, ..Cache::default() };
    let waits = [Cache::NONE, cache(0.1, 1.0), cache(0.1, 1.25), cache(0.1, 2.0), cache(0.02, 1.0)].map(wait);
    assert_eq!(waits, [Some(3), Some(16), Some(20), Some(31), Some(77)]);
}
