//! Verdicts and reasons in words.

use secateur::{Action, Idle, Keep, Reason, Scale, ToolClass, Verdict};

use crate::humanize::grouped;

/// What sort of work a tool does.
pub(crate) fn class(class: ToolClass) -> &'static str {
    match class {
        ToolClass::Read => "read",
        ToolClass::Edit => "edit",
        ToolClass::Search => "search",
        ToolClass::Shell => "shell",
        ToolClass::Web => "web",
        ToolClass::Agent => "agent",
        ToolClass::Plan => "plan",
        ToolClass::Other => "other",
    }
}

/// What a number of a plan counts.
pub(crate) fn unit(scale: Scale) -> &'static str {
    match scale {
        Scale::Tokens => "tokens",
        Scale::Characters => "characters",
    }
}

/// Why a part is cut, after "because".
pub(crate) fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::BeyondProtected => "it is older than the protected tool output",
        Reason::OverSoftRatio => "the context is above the soft limit and the result is long",
        Reason::OverHardRatio => "the context is above the hard limit",
        Reason::Aggressive => "the mode clears every older result",
        Reason::OlderThanKept => "it is older than the tool uses that are kept",
        Reason::ByteBudget => "the context has more bytes than its budget",
        Reason::Rent => "keeping it has cost as much as letting it go",
        Reason::CacheCold => "the provider's cache is cold, so cutting is free",
        Reason::Pressure => "the window is nearly full",
        Reason::TooLong => "it is longer than what is let in",
        Reason::MediaBudget => "the context has more media than its budget",
    }
}

/// What is done to a part.
pub(crate) fn action(action: Action) -> String {
    match action {
        Action::Clear => "cleared".to_owned(),
        Action::Trim { head, tail, .. } => format!("trimmed to its first {head} and last {tail} characters"),
        Action::DropMedia => "stripped of its images".to_owned(),
    }
}

/// Why a part is kept, as a short label.
pub(crate) fn keep(keep: Keep) -> &'static str {
    match keep {
        Keep::Disabled => "pruning is off",
        Keep::NotResult => "not a tool result",
        Keep::Unfinished(_) => "tool not finished",
        Keep::ProtectedTool => "protected tool",
        Keep::ActiveTurn => "active turn",
        Keep::ProtectedWindow => "protected window",
        Keep::BelowMinimum => "below the minimum",
        Keep::Summary => "part of a summary",
        Keep::BehindSummary => "behind a summary",
        Keep::BehindCut => "behind an earlier cut",
        Keep::AlreadyCut => "cut before",
        Keep::Pinned => "its cut was undone",
        Keep::BeforeFirstUser => "before the first user message",
        Keep::HasImage => "holds an image",
        Keep::ShortEnough => "short enough",
        Keep::Enough => "enough was cut before it",
        Keep::NoOccasion => "no occasion to cut",
        Keep::TooYoung => "too recent",
        Keep::RentBelowCost => "cutting does not pay yet",
    }
}

/// A verdict as a short label.
pub(crate) fn verdict(verdict: Verdict) -> String {
    match verdict {
        Verdict::Cut(cut) => format!("{}: {}", action(cut.action), reason(cut.reason)),
        Verdict::Kept(why) => format!("kept: {}", keep(why)),
    }
}

/// Why nothing is cut, as a sentence without its full stop.
pub(crate) fn idle(idle: Idle) -> String {
    match idle {
        Idle::Disabled => {
            "pruning is off in this profile (`--set compaction.prune=true` switches it on)".to_owned()
        }
        Idle::ReplayOnly => "only earlier cuts were to be replayed".to_owned(),
        Idle::NoWindow => {
            "the size of the model's window is not known (`--window` or `--model` names it)".to_owned()
        }
        Idle::TooFewTurns { have, need } => {
            format!("there are {have} user turns, and the newest {need} are left alone")
        }
        Idle::TooFewAssistants { have, need } => {
            format!("there are {have} assistant messages, and the newest {need} are left alone")
        }
        Idle::NoUser => "no user has spoken yet".to_owned(),
        Idle::CacheWarm { age: Some(age), ttl } => format!(
            "the provider's cache is still warm: the last request was {} s ago, the cache lives {} s",
            age / 1000,
            ttl / 1000
        ),
        Idle::CacheWarm { age: None, .. } => {
            "there was no request yet whose cache could have gone cold".to_owned()
        }
        Idle::NothingEligible => "no tool result may be cut".to_owned(),
        Idle::WithinProtected { total, protect } => format!(
            "all {} tokens of tool output fit into the {} that are protected",
            grouped(total),
            grouped(protect.max(0).cast_unsigned())
        ),
        Idle::BelowMinimum { candidates, minimum } => format!(
            "only {} could be cut, and it takes {} to be worth it",
            grouped(candidates),
            grouped(minimum.max(0).cast_unsigned())
        ),
        Idle::BelowRatio { ratio, limit } => {
            format!(
                "the context fills {:.1} % of the window, and cutting begins at {:.0} %",
                ratio * 100.0,
                limit * 100.0
            )
        }
        Idle::RentBelowCost { rent, cost } => format!(
            "keeping what could be cut has cost {} tokens so far, and cutting it costs {}",
            grouped(rent as u64),
            grouped(cost as u64)
        ),
        Idle::BelowTrigger { value, trigger } => {
            format!("the trigger of {} has not been passed ({})", grouped(trigger), grouped(value))
        }
    }
}
