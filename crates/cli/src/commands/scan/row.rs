//! One session in the list of `scan`.

use std::time::UNIX_EPOCH;

use anyhow::Result;
use secateur::{Calibration, Category, Measures, Memory, MessagePick};
use secateur_engine::config::Config;
use secateur_formats::{Census, Format, Skim};
use secateur_sources::Source;
use serde::Serialize;

use crate::logs;
use crate::next_request::NextRequestArgs;
use crate::savings::savings;

/// A session at a glance.
#[derive(Debug, Serialize)]
pub(super) struct ScanRow {
    pub(super) file: String,
    pub(super) session: Option<String>,
    pub(super) agent: String,
    pub(super) format: Format,
    pub(super) project: Option<String>,
    pub(super) title: Option<String>,
    pub(super) model: Option<String>,
    /// When it was last changed, in milliseconds since 1970.
    pub(super) modified: Option<u64>,
    pub(super) messages: u64,
    pub(super) tool_calls: u64,
    pub(super) tool_results: u64,
    pub(super) compactions: u64,
    /// Characters of the whole history, and those of tool results in it.
    pub(super) chars: u64,
    pub(super) tool_output_chars: u64,
    /// The estimated size of the next request.
    pub(super) estimated_tokens: u64,
    /// The size of the last request as the provider reported it.
    pub(super) recorded_tokens: Option<u64>,
    pub(super) peak_context_tokens: u64,
    /// Tokens that the profile would remove from the next request.
    pub(super) saved_tokens: u64,
    pub(super) warnings: usize,
}

impl ScanRow {
    /// The sessions of a source.
    pub(super) fn all(source: &Source, config: &Config, next: &NextRequestArgs) -> Result<Vec<Self>> {
        let profile = config.profile();
        // Savings are estimated well enough without excerpts and hashes, for which every result would have to be
        // decoded and read once more.
        let measures = Measures { excerpt: false, source: false, ..profile.policy.measures() };
        let skims = logs::skim_source(source, None, &measures)?;
        skims.iter().map(|skim| Self::of(source, skim, config, next)).collect()
    }

    fn of(source: &Source, skim: &Skim, config: &Config, next: &NextRequestArgs) -> Result<Self> {
        let profile = config.profile();
        let outline = &skim.outline;
        let census = Census::of(outline, skim.format);
        let timeline = outline.timeline();
        let calibration = Calibration::of(&timeline);
        let (context, _) = outline.select(outline.context(None).into_iter().map(MessagePick::Message));
        let live: u64 = context.parts().map(|part| context.sent(part)).sum();
        let situation = next.situation(
            profile,
            config.catalogue(),
            &context,
            skim.origin.model.as_deref(),
            &mut Vec::new(),
        )?;
        let memory = Memory::new(calibration);
        let plan = profile.policy.plan(&context, &situation, &memory);
        let saved =
            savings(&context, profile, &plan, &memory).map(|(part, left)| context.sent(part) - left).sum();
        let of_tools = outline.parts().filter(|&part| outline.category(part) == Category::ToolResult);
        let since = |time: std::time::SystemTime| time.duration_since(UNIX_EPOCH).ok();
        Ok(Self {
            file: source.path.display().to_string(),
            session: source.session.clone().or_else(|| skim.origin.session.clone()),
            agent: source
                .agent
                .map_or_else(|| skim.format.name().to_owned(), |agent| agent.name().to_owned()),
            format: skim.format,
            project: skim.origin.project.clone().or_else(|| source.project.clone()),
            title: skim.origin.title.clone(),
            model: skim.origin.model.clone(),
            modified: source.modified.and_then(since).and_then(|time| u64::try_from(time.as_millis()).ok()),
            messages: census.messages,
            tool_calls: census.tool_calls,
            tool_results: census.tool_results,
            compactions: census.compactions,
            chars: outline.parts().map(|part| outline.sent(part)).sum(),
            tool_output_chars: of_tools.map(|part| outline.sent(part)).sum(),
            estimated_tokens: calibration.predict(live),
            recorded_tokens: timeline.last().and_then(|moment| moment.recorded),
            peak_context_tokens: census.peak_context_tokens,
            saved_tokens: calibration.scale(saved).min(calibration.predict(live)),
            warnings: skim.warnings.len(),
        })
    }
}
