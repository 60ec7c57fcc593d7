//! A session file and its plan: what every command that reads one needs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use clap::Args;
use secateur::{Catalogue, Measures, Memory, MessageIx, PartIx, Plan, Profile, Profiles, Verdict};
use secateur_formats::{
    Format, RenderOptions, Rendered, SignedThinking, Transcript, Wire, read_all_as, render,
};
use secateur_sources::Source;

use crate::humanize::counted;
use crate::logs::{self, FormatArg};
use crate::next_request::{NextRequestArgs, memory};
use crate::profile_args::ProfileArgs;
use crate::terminal;

/// The session to read, its profile, and the next request.
#[derive(Debug, Args)]
pub(crate) struct SessionFileArgs {
    /// The session: a file, or the database or folder that holds it.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
    #[command(flatten)]
    pub(crate) format: FormatArg,
    #[command(flatten)]
    pub(crate) next: NextRequestArgs,
    /// Which session, if the file holds several: its id, or its number from 1.
    #[arg(long, value_name = "ID|N")]
    pub(crate) session: Option<String>,
}

/// A session's bytes and its profile.
pub(crate) struct SessionFile {
    pub(crate) bytes: Vec<u8>,
    /// The file, database or folder that holds it.
    pub(crate) path: PathBuf,
    /// The bytes are the file's own, not assembled from a database or extracted from a recorded request.
    pub(crate) is_file: bool,
    /// When the file was last changed, taken before it was read.
    pub(crate) modified: Option<SystemTime>,
    pub(crate) format: Format,
    pub(crate) profile: Profile,
    /// The models that are known.
    pub(crate) catalogue: Catalogue,
}

/// A session file that was read, and the plan for it.
pub(crate) struct PlannedFile<'a> {
    pub(crate) transcript: Transcript<'a>,
    /// The index of each message in the whole session, which may hold more than the context.
    positions: Vec<MessageIx>,
    pub(crate) profile: &'a Profile,
    pub(crate) plan: Plan,
    pub(crate) memory: Memory,
    /// What was assumed about the next request, and why.
    pub(crate) assumptions: Vec<String>,
}

impl SessionFileArgs {
    /// The session in a file, with the configured profile.
    pub(crate) fn at(file: &Path, format: Option<Format>, session: Option<String>) -> Self {
        let (profile, next, format) =
            (ProfileArgs::default(), NextRequestArgs::default(), FormatArg { format });
        Self { file: file.to_owned(), profile, format, next, session }
    }

    /// Reads the file and finds its profile.
    pub(crate) fn open(&self) -> Result<SessionFile> {
        let source = self.source()?;
        let modified = modified(&source.path);
        let logs::LogBytes { bytes, is_file } = logs::bytes(&source)?;
        let file = self.file.display();
        let format = match self.format.format {
            Some(format) => format,
            None => Format::detect(&bytes).with_context(|| format!("cannot read {file}"))?,
        };
        let config = self.profile.config()?;
        let (profile, catalogue) = (config.profile().clone(), config.catalogue().clone());
        Ok(SessionFile { bytes, is_file, path: source.path, modified, format, profile, catalogue })
    }

    /// The one session that the user means.
    fn source(&self) -> Result<Source> {
        let file = self.file.display();
        let mut sources = logs::sessions_at(&self.file)?;
        let wanted = self.session.as_deref();
        if let ([_], None) | ([Source { session: None, .. }], _) = (sources.as_slice(), wanted) {
            return sources.pop().with_context(|| format!("{file} holds no session"));
        }
        let ids: Vec<Option<&str>> = sources.iter().map(|source| source.session.as_deref()).collect();
        let Some(index) = wanted.and_then(|wanted| pick(&ids, wanted)) else {
            let ids: Vec<_> = sources.iter().take(5).map(logs::label).collect();
            bail!(
                "{file} holds {}; choose one with --session (its id, or 1 to {}). The first: {}",
                counted(sources.len() as u64, "session"),
                sources.len(),
                ids.join("; ")
            );
        };
        Ok(sources.swap_remove(index))
    }

    /// Reads the whole session, including what is no longer in its context.
    pub(crate) fn read<'a>(&self, session: &'a SessionFile, measures: &Measures) -> Result<Transcript<'a>> {
        let mut transcripts = read_all_as(&session.bytes, session.format, measures)
            .with_context(|| format!("cannot read {}", self.file.display()))?;
        let count = transcripts.len();
        let wanted = match &self.session {
            Some(wanted) if count > 1 => {
                let ids: Vec<Option<&str>> =
                    transcripts.iter().map(|one| one.origin.session.as_deref()).collect();
                pick(&ids, wanted).with_context(|| {
                    format!("there is no session {wanted:?}; the file holds sessions 1 to {count}")
                })?
            }
            _ if count > 1 => {
                terminal::note(format_args!(
                    "the file holds {count} sessions; this is the first (choose another with --session)"
                ));
                0
            }
            _ => 0,
        };
        if wanted >= count {
            bail!("{} holds no session", self.file.display());
        }
        Ok(transcripts.swap_remove(wanted))
    }

    /// Plans as if the next request were sent now.
    pub(crate) fn plan<'a>(&self, session: &'a SessionFile) -> Result<PlannedFile<'a>> {
        let profile = &session.profile;
        let measures: Measures = profile.policy.measures();
        let whole = self.read(session, &measures)?;
        let (positions, transcript) = if session.format.prunes_itself() {
            (whole.outline.messages().collect(), whole)
        } else {
            (whole.outline.context(None), whole.context(None))
        };
        let mut assumptions = Vec::new();
        let model = transcript.origin.model.clone();
        let situation = self.next.situation(
            profile,
            &session.catalogue,
            &transcript.outline,
            model.as_deref(),
            &mut assumptions,
        )?;
        let memory = memory(&transcript.outline);
        let plan = profile.policy.plan(&transcript.outline, &situation, &memory);
        Ok(PlannedFile { transcript, positions, profile, plan, memory, assumptions })
    }
}

impl SessionFile {
    /// The context of the request for message `at`, or of the next request, as the system that wrote the log sees it:
    /// by the profile's pivot if the profile is that of a system or the user set one, else by the pivot of the log's system.
    pub(crate) fn context<'a>(
        &self,
        whole: &Transcript<'a>,
        at: Option<MessageIx>,
    ) -> Result<Transcript<'a>> {
        let profile = &self.profile;
        let is_builtin = |origin: &str| Profiles::builtin().names().any(|name| name == origin);
        let is_set = !profile.origin("pivot.start").is_none_or(is_builtin);
        let own = if profile.reproduces.is_some() || is_set { None } else { own_profile(self.format) };
        let own = own.map(ProfileArgs::named).transpose()?;
        Ok(whole.context_by(&own.as_ref().unwrap_or(profile).pivot, at))
    }

    /// How this session is rendered. A log has neither system prompt nor tools as they were sent, so thinking that is
    /// bound to them is not valid in any request that is made from it.
    pub(crate) fn render_options<'o>(&'o self, model: &'o str) -> RenderOptions<'o> {
        let is_bound = self.catalogue.binds_thinking(model);
        let thinking = if is_bound { SignedThinking::LeftOut } else { SignedThinking::Sent };
        RenderOptions { marker: &self.profile.compaction.marker, thinking, ..RenderOptions::new(model) }
    }

    /// The context as a request. A request in the same wire stays as it is.
    pub(crate) fn request(&self, context: &Transcript<'_>, wire: Wire, model: &str) -> Result<Rendered> {
        if self.format != Format::Request(wire) {
            return Ok(render(context, wire, &self.render_options(model), &[]));
        }
        let body = String::from_utf8(self.bytes.clone()).context("the request is not UTF-8")?;
        Ok(Rendered { body, losses: Vec::new(), summaries: Vec::new() })
    }
}

/// The profile of the system that writes a format, where its pivot is needed.
fn own_profile(format: Format) -> Option<&'static str> {
    match format {
        Format::OpenAgentic => Some("openagentic"),
        Format::Qwery => Some("qwery"),
        _ => None,
    }
}

/// The index of the session with this id or this number from 1.
fn pick(ids: &[Option<&str>], wanted: &str) -> Option<usize> {
    let by_number = || wanted.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    ids.iter().position(|&id| id == Some(wanted)).or_else(by_number).filter(|&index| index < ids.len())
}

/// When a file was last changed, if the file system says so.
pub(crate) fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|metadata| metadata.modified()).ok()
}

impl PlannedFile<'_> {
    /// The number of the message that a part is in, from 0 in the whole session, as `context --at` takes it.
    pub(crate) fn message_of(&self, part: PartIx) -> u32 {
        let owner = self.transcript.outline.owner(part);
        self.positions.get(owner.0 as usize).unwrap_or(&owner).0
    }

    pub(crate) fn verdict(&self, part: PartIx) -> Verdict {
        self.profile.policy.verdict(&self.transcript.outline, &self.memory, &self.plan, part)
    }

    /// Prints the lines that every report starts with.
    pub(crate) fn head(&self, out: &mut dyn Write, file: &Path) -> Result<()> {
        let Transcript { format, outline, .. } = &self.transcript;
        let messages = counted(outline.message_count() as u64, "message");
        let parts = counted(outline.part_count() as u64, "part");
        writeln!(out, "{}: {format} session, {messages}, {parts}", file.display())?;
        writeln!(out, "profile {}: {}", self.profile.name, self.profile.about)?;
        for assumption in &self.assumptions {
            writeln!(out, "assuming {assumption}")?;
        }
        writeln!(out)?;
        Ok(())
    }
}
