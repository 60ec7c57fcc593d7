//! Plans in words: verdicts, reasons, why nothing is cut.

use secateur::{Action, Idle, Keep, Reason, Scale, ToolClass, Verdict};

use crate::humanize::grouped;

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
        Reason::OlderThanKept => "it is older than the tool calls that are kept",
        Reason::ByteBudget => "the context exceeds its byte budget",
        Reason::Rent => "keeping it has cost as much as removing it",
        Reason::PriceBand => "a longer request would cost more as a whole",
        Reason::CacheCold => "the provider's cache is cold, so cutting is free",
        Reason::Pressure => "the window is nearly full",
        Reason::TooLong => "it is longer than a new result may be",
        Reason::MediaBudget => "the context exceeds its media budget",
        Reason::BoundThinking => "it is thinking that is valid only behind what was cut",
    }
}

/// What is done to a part.
pub(crate) fn action(action: Action) -> String {
    match action {
        Action::Clear => "cleared".to_owned(),
        Action::Trim { head, tail, .. } => format!("trimmed to its first {head} and last {tail} characters"),
        Action::DropMedia => "stripped of its images".to_owned(),
        Action::DropThinking => "left out".to_owned(),
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
        Keep::ProtectedWindow => "protected recent output",
        Keep::BelowMinimum => "below the minimum",
        Keep::Summary => "part of a summary",
        Keep::BehindSummary => "before a summary",
        Keep::BehindCut => "before an earlier cut",
        Keep::AlreadyCut => "already cut",
        Keep::Undone => "its cut was undone",
        Keep::BeforeFirstUser => "before the first user message",
        Keep::HasImage => "holds an image",
        Keep::ShortEnough => "short enough",
        Keep::Enough => "enough was cut already",
        Keep::NoOccasion => "no reason to cut now",
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

/// Why nothing is cut, as a sentence without a full stop.
pub(crate) fn idle(idle: Idle) -> String {
    match idle {
        Idle::Disabled => {
            "pruning is off in this profile (turn it on with `--set compaction.prune=true`)".to_owned()
        }
        Idle::ReplayOnly => "only earlier cuts are replayed".to_owned(),
        Idle::NoWindow => "the model's window is not known (give --window or --model)".to_owned(),
        Idle::TooFewTurns { have, need } => {
            format!("the session has {have} turns, and the newest {need} are never cut")
        }
        Idle::TooFewAssistants { have, need } => {
            format!("the session has {have} assistant messages, and the newest {need} are never cut")
        }
        Idle::NoUser => "there is no user message yet".to_owned(),
        Idle::CacheWarm { age: Some(age), ttl } => format!(
            "the provider's cache is still warm: the last request was {} s ago, and the cache lasts {} s",
            age / 1000,
            ttl / 1000
        ),
        Idle::CacheWarm { age: None, .. } => "no request was sent yet, so no cache can be cold".to_owned(),
        Idle::NothingEligible => "no tool result may be cut".to_owned(),
        Idle::WithinProtected { total, protect } => format!(
            "all {} tokens of tool output are within the newest {} that are protected",
            grouped(total),
            grouped(protect.max(0).cast_unsigned())
        ),
        Idle::BelowMinimum { candidates, minimum } => format!(
            "only {} tokens could be cut, and less than {} is not worth it",
            grouped(candidates),
            grouped(minimum.max(0).cast_unsigned())
        ),
        Idle::BelowRatio { ratio, limit } => {
            let (filled, start) = (ratio * 100.0, limit * 100.0);
            format!("the context fills {filled:.1} % of the window, and cutting starts at {start:.0} %")
        }
        Idle::RentBelowCost { rent, cost } => format!(
            "keeping the removable results has cost {} tokens so far, and removing them costs {}",
            grouped(rent as u64),
            grouped(cost as u64)
        ),
        Idle::BelowTrigger { value, trigger } => {
            format!("the trigger of {} is not reached ({})", grouped(trigger), grouped(value))
        }
    }
}
