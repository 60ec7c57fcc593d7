//! Random policies: every builtin one, and every family with every parameter drawn.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use secateur::{
    Ages, AtSummary, Budget, Cap, Characters, Crossing, Extent, Family, FirstCheck, Fold, Images, Inputs,
    KeepLast, KeepLastTrigger, Lasting, Meter, Obstacle, PLACEHOLDER, Policy, Pressure, Profile, Profiles,
    Ratio, RatioMode, Rent, Rounding, SurrogatePairs, ToolFilter, ToolStatus, Trim, TurnMessage, Unit,
    Watermark,
};

/// Every profile that comes with the crate.
pub(crate) static BUILTIN: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let profiles = Profiles::builtin();
    let get = |name: &str| profiles.get(name).expect("a builtin profile resolves");
    profiles.names().map(get).collect()
});

/// The builtin profile of this name.
pub(crate) fn named(name: &str) -> Policy {
    let found = BUILTIN.iter().find(|profile| profile.name == name);
    found.expect("the profile is builtin").policy.clone()
}

/// A policy as a builtin profile has it.
pub(crate) fn builtin() -> impl Strategy<Value = Policy> {
    (0..BUILTIN.len()).prop_map(|index| BUILTIN[index].policy.clone())
}

/// Any policy: builtin or of any family.
pub(crate) fn any_policy() -> impl Strategy<Value = Policy> {
    prop_oneof![
        2 => builtin(),
        4 => watermark_policy(),
        3 => ratio_policy(),
        2 => keep_last_policy(),
        3 => rent_policy(),
    ]
}

/// Any policy, without limits on bytes and media.
pub(crate) fn unbudgeted_policy() -> impl Strategy<Value = Policy> {
    any_policy().prop_map(|policy| Policy { budget: Budget::default(), ..policy })
}

/// Any policy with a meter that a profile may ask for, sensible or not: a token for next to nothing, and
/// images that outweigh everything. Sums of such sizes do not fit into 64 bits.
pub(crate) fn extreme_policy() -> impl Strategy<Value = Policy> {
    let divisor = prop_oneof![Just(f64::MIN_POSITIVE), Just(1e-9), Just(f64::MAX)];
    let image = prop_oneof![Just(0), Just(u64::MAX / 2), Just(u64::MAX)];
    (any_policy(), divisor, image).prop_map(|(mut policy, divisor, image)| {
        match &mut policy.family {
            Family::Watermark(rule) => rule.meter = Meter { divisor, image, ..rule.meter },
            Family::KeepLast(rule) => rule.meter = Meter { divisor, image, ..rule.meter },
            Family::Ratio(rule) => rule.characters = Characters { image, ..rule.characters },
            Family::Rent(rule) => (rule.margin, rule.placeholder_tokens) = (divisor, image),
        }
        policy
    })
}

/// Any policy of the family *watermark*.
pub(crate) fn watermark_policy() -> impl Strategy<Value = Policy> {
    policy(watermark().prop_map(Family::Watermark))
}

/// Any policy of the family *ratio*.
pub(crate) fn ratio_policy() -> impl Strategy<Value = Policy> {
    policy(ratio().prop_map(Family::Ratio))
}

/// Any policy of the family *keep-last*.
pub(crate) fn keep_last_policy() -> impl Strategy<Value = Policy> {
    policy(keep_last().prop_map(Family::KeepLast))
}

/// Any policy of the family *rent*.
pub(crate) fn rent_policy() -> impl Strategy<Value = Policy> {
    policy(rent().prop_map(Family::Rent))
}

/// Boxed: an unboxed tree of all choices is larger than the stack of a test.
fn policy(family: impl Strategy<Value = Family> + 'static) -> BoxedStrategy<Policy> {
    let lasting = select(vec![
        Lasting::Marked,
        Lasting::MarkedOncePerMessage,
        Lasting::Remembered,
        Lasting::OneRequest,
    ]);
    let placeholder = select(vec![PLACEHOLDER, "-", "[gone: 内容は消去されました]"]);
    (family, prop::bool::weighted(0.95), lasting, placeholder, budget())
        .prop_map(|(family, enabled, lasting, placeholder, budget)| Policy {
            enabled,
            family,
            placeholder: placeholder.to_owned(),
            lasting,
            budget,
        })
        .boxed()
}

fn budget() -> impl Strategy<Value = Budget> {
    let bytes = prop::option::weighted(0.3, prop_oneof![1..50_000u64, 50_000..1_000_000u64]);
    let media = prop::option::weighted(0.3, 0..6u64);
    (bytes, media).prop_map(|(bytes, media)| Budget { bytes, media })
}

fn watermark() -> impl Strategy<Value = Watermark> {
    let extent = || select(vec![Extent::Nothing, Extent::Everything]);
    let reach = (0..4u64, select(vec![TurnMessage::Scanned, TurnMessage::Active]), extent());
    let crossing = (select(vec![Crossing::Cut, Crossing::Keep]), extent(), extent());
    let obstacles = (
        select(vec![AtSummary::Stop, AtSummary::Skip, AtSummary::Begin]),
        select(vec![Obstacle::Stop, Obstacle::Skip]),
        select(vec![FirstCheck::Tool, FirstCheck::EarlierCut]),
    );
    let all = vec![
        ToolStatus::None,
        ToolStatus::Pending,
        ToolStatus::Running,
        ToolStatus::Completed,
        ToolStatus::Error,
    ];
    let statuses = prop_oneof![
        2 => Just(vec![ToolStatus::Completed]),
        2 => Just(vec![ToolStatus::Completed, ToolStatus::Error]),
        1 => subsequence(all, 1..=5),
    ];
    (tokens(), tokens(), meter(), reach, crossing, obstacles, statuses, tools()).prop_map(
        |(protect, minimum, meter, reach, crossing, obstacles, statuses, tools)| Watermark {
            protect,
            minimum,
            meter,
            active_turns: reach.0,
            turn_message: reach.1,
            too_few_turns: reach.2,
            crossing: crossing.0,
            unreached: crossing.1,
            rest_of_message: crossing.2,
            summary: obstacles.0,
            earlier_cut: obstacles.1,
            statuses,
            tools,
            first_check: obstacles.2,
        },
    )
}

/// A number of tokens, from none over the builtin thresholds to more than any outline has.
fn tokens() -> impl Strategy<Value = i64> {
    prop_oneof![
        3 => Just(0),
        4 => 1..200i64,
        4 => 200..20_000i64,
        2 => Just(20_000),
        2 => Just(40_000),
        1 => Just(i64::MAX),
    ]
}

fn meter() -> impl Strategy<Value = Meter> {
    let units = vec![
        Unit::Utf16,
        Unit::CodePoints,
        Unit::Bytes,
        Unit::JsJson,
        Unit::PyJson,
        Unit::Weighted,
        Unit::Wide,
        Unit::O200k,
        Unit::Cl100k,
    ];
    let divisor = prop_oneof![3 => Just(4.0), 2 => Just(3.6), 1 => Just(1.0)];
    let rounding = select(vec![Rounding::HalfUp, Rounding::Ceil, Rounding::FloorMin1]);
    let cap = prop::option::weighted(0.3, prop_oneof![1..100u64, Just(50_000)]);
    let image = prop_oneof![2 => Just(0), 1 => Just(4_800)];
    (select(units), divisor, rounding, cap, image).prop_map(|(unit, divisor, rounding, cap, image)| Meter {
        unit,
        divisor,
        rounding,
        cap,
        image,
    })
}

fn ratio() -> impl Strategy<Value = Ratio> {
    let mode = select(vec![RatioMode::Adaptive, RatioMode::Aggressive, RatioMode::CacheTtl]);
    let share = || prop_oneof![2 => Just(0.0), 2 => Just(0.3), 2 => Just(0.5), 1 => 0.0..=1.0];
    let min_prunable = prop_oneof![2 => Just(0), 2 => 1..5_000u64, 2 => Just(50_000), 1 => Just(u64::MAX)];
    let images = select(vec![Images::Protect, Images::Replace]);
    let ttl_ms = select(vec![1, 300_000, i64::MAX]);
    (
        mode,
        0..5u64,
        (share(), share()),
        min_prunable,
        trim(),
        any::<bool>(),
        images,
        characters(),
        ttl_ms,
        tools(),
    )
        .prop_map(
            |(
                mode,
                keep,
                (soft, hard),
                min_prunable,
                trim,
                hard_clear,
                images,
                characters,
                ttl_ms,
                tools,
            )| {
                Ratio {
                    mode,
                    keep_last_assistants: keep,
                    soft_ratio: soft,
                    hard_ratio: hard,
                    min_prunable,
                    trim,
                    hard_clear,
                    images,
                    characters,
                    ttl_ms,
                    tools,
                }
            },
        )
}

fn trim() -> impl Strategy<Value = Trim> {
    let builtin = (Just(4_000), Just(1_500), Just(1_500));
    let small = (0..100u64, 0..60u64, 0..60u64);
    let wide = (0..5_000u64, select(vec![0, 2_000, u64::MAX]), select(vec![0, 2_000, u64::MAX]));
    let pairs = select(vec![SurrogatePairs::Split, SurrogatePairs::Whole]);
    (prop_oneof![3 => builtin, 2 => small, 1 => wide], pairs).prop_map(|((max, head, tail), pairs)| Trim {
        max,
        head,
        tail,
        pairs,
    })
}

fn characters() -> impl Strategy<Value = Characters> {
    let unit = select(vec![Unit::Utf16, Unit::Weighted, Unit::Wide]);
    let per_token = select(vec![4.0, 3.0, 0.1]);
    let image = prop_oneof![2 => Just(8_000), 1 => Just(0)];
    (unit, per_token, image, 0..1_000u64, any::<bool>()).prop_map(
        |(unit, per_token, image, unknown_message, signatures)| Characters {
            unit,
            per_token,
            image,
            unknown_message,
            signatures,
        },
    )
}

fn keep_last() -> impl Strategy<Value = KeepLast> {
    let trigger = select(vec![KeepLastTrigger::InputTokens, KeepLastTrigger::ToolUses]);
    let threshold = prop_oneof![3 => Just(0), 2 => 1..20u64, 4 => 20..150_000u64, 1 => Just(u64::MAX)];
    let keep = prop_oneof![8 => 0..5u64, 1 => Just(u64::MAX)];
    let least = prop_oneof![3 => Just(0), 2 => 1..5_000u64, 1 => Just(u64::MAX)];
    (trigger, threshold, keep, least, any::<bool>(), meter(), tools()).prop_map(
        |(trigger, threshold, keep, clear_at_least, clear_inputs, meter, tools)| KeepLast {
            trigger,
            threshold,
            keep,
            clear_at_least,
            clear_inputs,
            meter,
            tools,
        },
    )
}

fn rent() -> impl Strategy<Value = Rent> {
    let least = (prop_oneof![Just(0), Just(400), 0..5_000u64], prop_oneof![Just(0), Just(100)]);
    let margin = prop_oneof![1 => Just(0.0), 3 => 0.0..4.0, 1 => Just(f64::MAX)];
    let gains = (prop_oneof![Just(0), Just(500), Just(50_000)], prop_oneof![Just(0), Just(20), Just(2_000)]);
    let pressure = (select(vec![0.0, 0.8, 1.0]), select(vec![0, 5_000]));
    let pressure = prop::option::weighted(0.3, pressure.prop_map(|(fill, gain)| Pressure { fill, gain }));
    let cap = (select(vec![1, 500, 8_000]), select(vec![0.0, 0.6, 1.0]), any::<bool>());
    let cap = prop::option::weighted(0.3, cap.prop_map(|(chars, head, reads)| Cap { chars, head, reads }));
    let inputs = (0..4u32, select(vec![0, 400]));
    let inputs =
        prop::option::weighted(0.4, inputs.prop_map(|(age, least_chars)| Inputs { age, least_chars }));
    let band = prop::option::weighted(0.5, select(vec![0.5, 0.9, 1.0]));
    (ages(), least, margin, gains, (pressure, cap, inputs, band), tools()).prop_map(
        |(ages, least, margin, gains, (pressure, cap, inputs, band), tools)| Rent {
            ages,
            least_chars: least.0,
            least_tokens: least.1,
            margin,
            cold_gain: gains.0,
            band,
            rethink: 60,
            placeholder_tokens: gains.1,
            pressure,
            cap,
            inputs,
            tools,
        },
    )
}

/// Ages that a dozen messages can reach, and some that nothing reaches.
fn ages() -> impl Strategy<Value = Ages> {
    let age = || prop_oneof![6 => (0..5u32).prop_map(Some), 1 => Just(None), 1 => Just(Some(u32::MAX))];
    (age(), age(), age(), age(), age(), age(), age()).prop_map(
        |(repeated, covered, edited, read, agent, other, cold)| Ages {
            repeated,
            covered,
            edited,
            read,
            agent,
            other,
            cold,
        },
    )
}

fn tools() -> impl Strategy<Value = ToolFilter> {
    let patterns = |most| subsequence(vec!["skill", "Skill", "mcp.*", "*sh", "read"], 0..=most);
    let own = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect();
    let allow = prop_oneof![3 => Just(Vec::new()), 1 => patterns(3)];
    let fold = select(vec![Fold::Exact, Fold::Lower, Fold::TrimLower]);
    (allow, patterns(2), fold).prop_map(move |(allow, deny, fold)| ToolFilter {
        allow: own(allow),
        deny: own(deny),
        fold,
    })
}
