//! Tuning: the parameters of the family `rent` that suit a user's own sessions.
//!
//! The presets were chosen on other users' sessions. Other ways to work may do better with other parameters, and logs
//! can show it. But of hundreds of values that are tried on a few dozen sessions, one always looks better there. So the
//! sessions are split: some are searched, and the values that come out are judged by the others. Unless those show a
//! gain that is more than chance, the profile is `balanced` as it is, and the file says why.
//!
//! Cost alone would be a poor aim, because misses can buy it. The cost includes reading again what was missed, and
//! beyond that a profile may not miss much more than `balanced`.

mod compare;
mod parameter;
mod prepared;
mod profile_file;
mod search;
mod split;

use std::collections::HashMap;

use secateur::{Family, Profile, ProfileError, Profiles, Rent};
use serde::Serialize;

use crate::needs::CommonWords;
use crate::price_sheet::{PriceSheetError, PriceSheets};
use crate::study::{LEAST_CALLS, StudyOptions};
use crate::trace::Trace;
pub use compare::{Claim, ComparedValue, TuningComparison};
use parameter::ParameterPoint;
use prepared::{PreparedSessions, ReplayTotals};
use search::ParameterSearch;
pub use split::SplitUnit;
use split::{LEAST_PART, SessionSplit};

/// Where the search starts; the first is what it is compared with.
const STARTS: [&str; 3] = ["balanced", "careful", "frugal"];

/// With fewer sessions neither part would hold enough.
const LEAST_SESSIONS: usize = 2 * LEAST_PART;

/// With fewer calls hardly anything is ever cut.
const LEAST_CALLS_IN_ALL: usize = 200;

/// Why nothing was tuned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneError {
    /// There are too few sessions, or too short ones.
    #[error(
        "too little to learn from: {sessions} sessions of {LEAST_CALLS} model calls or more, {calls} calls in all \
         ({short} shorter sessions were left out); {LEAST_SESSIONS} such sessions and {LEAST_CALLS_IN_ALL} calls are \
         needed"
    )]
    TooLittle {
        /// Sessions that are long enough.
        sessions: usize,
        /// Model calls in them.
        calls: usize,
        /// Sessions that are too short.
        short: usize,
    },
    /// An option has a value that makes no sense.
    #[error("{option} = {value} is not possible: {allowed}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A price sheet is missing.
    #[error(transparent)]
    PriceSheet(#[from] PriceSheetError),
    /// A preset is missing, or the profile file that was made is not valid.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A preset is not of the family that is tuned.
    #[error("profile {0:?} is not of the family rent")]
    Family(String),
    /// The profile file says something else than what was measured.
    #[error("the file made for profile {0:?} does not say what was measured; please report this")]
    Differs(String),
}

/// How to tune.
#[derive(Clone, Debug)]
pub struct TuneOptions {
    /// The name of the profile.
    pub name: String,
    /// Prices, window and threads.
    pub study: StudyOptions,
    /// How many misses per 100 calls more than with `balanced` are allowed.
    pub slack: f64,
    /// The most misses per 100 calls; with this, `slack` does not count.
    pub misses: Option<f64>,
    /// The share of sessions that is held out.
    pub held_out: f64,
    /// The most settings that are tried.
    pub trials: usize,
    /// Whether the settings are written even if no gain is shown.
    pub keep: bool,
    /// The date, as the file should say it.
    pub date: Option<String>,
}

impl Default for TuneOptions {
    fn default() -> Self {
        Self {
            name: "tuned".to_owned(),
            study: StudyOptions::default(),
            slack: 0.25,
            misses: None,
            held_out: 0.5,
            trials: 400,
            keep: false,
            date: None,
        }
    }
}

/// A key whose value differs from that of `balanced`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParameterChange {
    /// The key, as a path such as `rent.ages.other`.
    pub key: String,
    /// Its value in `balanced`, as it is written.
    pub from: String,
    /// The value that was found.
    pub to: String,
}

/// What came of tuning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tuned {
    /// The name of the profile.
    pub name: String,
    /// The text of the profile file, which extends `balanced`.
    pub profile: String,
    /// What may be said about it.
    pub claim: Claim,
    /// Whether the file has the values that were found; otherwise it is `balanced` as it is.
    pub is_written: bool,
    /// The settings that were found, as far as they differ from those of `balanced`.
    pub changes: Vec<ParameterChange>,
    /// How they do on the sessions that were not used for the search. The claim rests on this.
    pub held_out: TuningComparison,
    /// How they do on the sessions that they were found on.
    pub training: TuningComparison,
    /// What was kept together when sessions were split.
    pub together: SplitUnit,
    /// The most misses per 100 calls that the search allowed.
    pub most_misses: f64,
    /// How many misses per 100 calls more than `balanced` that allows on the sessions held out.
    pub allowed: f64,
    /// Settings that were tried.
    pub trials: usize,
}

/// Searches the settings of the family `rent` that suit some sessions, and writes them as a profile.
///
/// Sessions of fewer than [`LEAST_CALLS`] calls are left out; traces of one agent, project and name, but for the number
/// of a stretch, are one session. The same sessions and options give the same result, in
/// any order of sessions. `progress` gets how many settings were tried of how many at most; the search
/// may end before.
pub fn tune(
    traces: &[Trace],
    sheets: &PriceSheets,
    options: &TuneOptions,
    progress: impl Fn(usize, usize) + Sync,
) -> Result<Tuned, TuneError> {
    options.check()?;
    let mut long: Vec<&Trace> = traces.iter().filter(|trace| trace.calls.len() >= LEAST_CALLS).collect();
    long.sort_by(|a, b| (&a.project, &a.agent, &a.name).cmp(&(&b.project, &b.agent, &b.name)));
    let split = SessionSplit::of(&long, options.held_out);
    let (sessions, calls) = (split.held_out.len(), long.iter().map(|trace| trace.calls.len()).sum());
    if sessions < LEAST_SESSIONS || calls < LEAST_CALLS_IN_ALL {
        return Err(TuneError::TooLittle { sessions, calls, short: traces.len() - long.len() });
    }
    let together = split.together;
    let (training, held_out) = (split.part(false), split.part(true));
    let prepared = PreparedSessions::of(long, &CommonWords::of(traces), split, sheets, &options.study)?;

    let profiles = Profiles::builtin();
    let mut starts = Vec::with_capacity(STARTS.len());
    for name in STARTS {
        starts.push(ParameterPoint::of(&rent_of(&profiles.get(name)?)?));
    }
    let balanced = profiles.get(STARTS[0])?;
    let rent = rent_of(&balanced)?;
    let play = |profile: &Profile, traces: &[usize]| -> Vec<ReplayTotals> {
        prepared.play(std::slice::from_ref(profile), traces).into_iter().flatten().collect()
    };
    let (old, old_held) = (play(&balanced, &training), play(&balanced, &held_out));
    let usual = TuningComparison::of(&prepared, &training, &old, &old).misses.balanced;
    let most_misses = options.misses.unwrap_or(usual + options.slack);
    let mut search = ParameterSearch {
        prepared: &prepared,
        traces: &training,
        base: &balanced,
        rent: &rent,
        most_misses,
        most_trials: options.trials,
        progress,
        known: HashMap::new(),
    };
    let found = search.run(&starts);
    let trials = search.known.len();

    let profile = found.profile(&balanced, &rent);
    let of_part = |traces: &[usize], old: &[ReplayTotals]| {
        TuningComparison::of(&prepared, traces, &play(&profile, traces), old)
    };
    let (training, held_out) = (of_part(&training, &old), of_part(&held_out, &old_held));
    let change =
        |(key, from, to): (&str, String, String)| ParameterChange { key: format!("rent.{key}"), from, to };
    let changes: Vec<ParameterChange> = found.changes(&rent).into_iter().map(change).collect();
    let allowed = options.allowed(held_out.misses.balanced);
    let claim = match changes.is_empty() {
        true => Claim::Unchanged,
        false => held_out.claim(allowed, options.misses.is_some()),
    };
    let is_shown = matches!(claim, Claim::Cheaper | Claim::Safer);
    let mut tuned = Tuned {
        name: options.name.clone(),
        profile: String::new(),
        claim,
        is_written: !changes.is_empty() && (is_shown || options.keep),
        changes,
        held_out,
        training,
        together,
        most_misses,
        allowed,
        trials,
    };
    tuned.profile = profile_file::text(&tuned, options, &prepared.prices());
    tuned.check(if tuned.is_written { &profile } else { &balanced })?;
    Ok(tuned)
}

/// The rule of a profile.
fn rent_of(profile: &Profile) -> Result<Rent, TuneError> {
    match &profile.policy.family {
        Family::Rent(rent) => Ok(rent.clone()),
        _ => Err(TuneError::Family(profile.name.clone())),
    }
}

impl Tuned {
    /// Reads the file as a user would and checks that it is what was measured.
    fn check(&self, measured: &Profile) -> Result<(), TuneError> {
        let mut profiles = Profiles::builtin();
        let name = profiles.add("(tuned)", &self.profile)?;
        let read = profiles.get(&name)?;
        if name == self.name && read.policy == measured.policy {
            Ok(())
        } else {
            Err(TuneError::Differs(self.name.clone()))
        }
    }
}

impl TuneOptions {
    /// How many misses per 100 calls more are allowed if `balanced` has `usual`.
    fn allowed(&self, usual: f64) -> f64 {
        self.misses.map_or(self.slack, |most| (most - usual).max(0.0))
    }

    fn check(&self) -> Result<(), TuneError> {
        let demand = |holds: bool, option, value, allowed| {
            if holds { Ok(()) } else { Err(TuneError::Option { option, value, allowed }) }
        };
        demand(self.slack >= 0.0, "slack", self.slack, "misses per 100 calls, 0 or more")?;
        let misses = self.misses.unwrap_or(0.0);
        demand(misses >= 0.0, "misses", misses, "misses per 100 calls, 0 or more")?;
        let is_share = self.held_out > 0.0 && self.held_out < 1.0;
        demand(is_share, "held_out", self.held_out, "a share between 0 and 1")
    }
}
