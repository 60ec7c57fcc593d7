//! A session file under a profile: what every command that looks at one needs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use clap::Args;
use secateur::{
    Catalogue, Family, Measures, Memory, Mode, PartIx, Plan, Profile, Situation, Verdict, WindowHints,
    WindowSource,
};
use secateur_formats::{FORMATS, Format, Transcript, read_as};

use crate::chosen::Chosen;
use crate::figures::counted;

/// The session to look at, and what is known about the next request.
#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// The session file.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Read the file as this format instead of telling it from its content.
    #[arg(long, value_name = "FORMAT", value_parser = format_name)]
    format: Option<Format>,
    /// The model that the next request goes to, e.g. `claude-sonnet-4-5`; names the window.
    #[arg(long)]
    model: Option<String>,
    /// The model's window in tokens; goes before `--model`.
    #[arg(long, value_name = "TOKENS")]
    window: Option<f64>,
}

fn format_name(name: &str) -> Result<Format, String> {
    let known = || FORMATS.map(Format::name).join(", ");
    FORMATS
        .into_iter()
        .find(|format| format.name() == name)
        .ok_or_else(|| format!("known formats are {}", known()))
}

/// A session's bytes and the profile that goes with it.
pub(crate) struct Session {
    pub(crate) bytes: Vec<u8>,
    /// When the file was last changed, as known before it was read.
    pub(crate) modified: Option<SystemTime>,
    pub(crate) format: Format,
    pub(crate) profile: Profile,
}

/// A session read and planned.
pub(crate) struct Planned<'a> {
    pub(crate) transcript: Transcript<'a>,
    pub(crate) profile: &'a Profile,
    pub(crate) plan: Plan,
    pub(crate) memory: Memory,
    /// What was assumed about the next request and why, if the profile needs to know.
    pub(crate) assumptions: Vec<String>,
}

impl SessionArgs {
    /// Reads the file and finds its profile.
    pub(crate) fn open(&self) -> Result<Session> {
        let file = self.file.display();
        if self.file.is_dir() {
            bail!("{file} is a folder; name a session file in it");
        }
        let modified = modified(&self.file);
        let bytes = fs::read(&self.file).with_context(|| format!("cannot read {file}"))?;
        let format = match self.format {
            Some(format) => format,
            None => Format::detect(&bytes).with_context(|| format!("cannot read {file}"))?,
        };
        let profile = self.chosen.for_format(format)?;
        Ok(Session { bytes, modified, format, profile })
    }

    /// Plans as if the next request were sent now.
    pub(crate) fn plan<'a>(&self, session: &'a Session) -> Result<Planned<'a>> {
        let profile = &session.profile;
        let measures: Measures = profile.policy.measures();
        let transcript = read_as(&session.bytes, session.format, &measures)
            .with_context(|| format!("cannot read {}", self.file.display()))?;
        let mut assumptions = Vec::new();
        let situation = self.situation(profile, &transcript, &mut assumptions)?;
        let memory = Memory::default();
        let plan = profile.policy.plan(&transcript.outline, &situation, &memory);
        Ok(Planned { transcript, profile, plan, memory, assumptions })
    }

    fn situation(
        &self,
        profile: &Profile,
        transcript: &Transcript<'_>,
        assumptions: &mut Vec<String>,
    ) -> Result<Situation> {
        let model = match &self.model {
            Some(name) => Some(find_model(name)?.context as f64),
            None => None,
        };
        let mut situation = Situation { now: now(), ..Situation::default() };
        let Family::Ratio(ratio) = &profile.policy.family else {
            return Ok(situation);
        };
        let hints = WindowHints { model, provider: None, agent: None };
        let (window, source) = match self.window {
            Some(window) => (window, "as named by --window"),
            None => match hints.resolve(profile.window) {
                (window, WindowSource::Default) => {
                    (window, "assumed, since neither --window nor --model names it")
                }
                (window, _) => (window, "of the model named by --model"),
            },
        };
        situation.window = Some(window);
        assumptions.push(format!("a window of {window} tokens, {source}"));
        if ratio.mode == Mode::CacheTtl {
            let outline = &transcript.outline;
            let last =
                outline.messages().rev().find_map(|message| outline.time(message)).filter(|&time| time > 0);
            situation.last_request = Some(last.unwrap_or(situation.now - ratio.ttl_ms));
            assumptions.push(match last {
                Some(_) => "the last request at the time of the newest message".to_owned(),
                None => "a cache that has gone cold, since the session holds no times".to_owned(),
            });
        }
        Ok(situation)
    }
}

/// When a file was last changed, if the file system says so.
pub(crate) fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|metadata| metadata.modified()).ok()
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The model of this name in the catalogue.
pub(crate) fn find_model(name: &str) -> Result<secateur::Model> {
    let catalogue = catalogue()?;
    let found = catalogue.find(name).cloned();
    found.with_context(|| {
        format!(
            "the model {name:?} is not in the catalogue of {}; add it to a file named by SECATEUR_MODELS",
            catalogue.date
        )
    })
}

/// The catalogue, with the user's own file laid over it if the environment names one.
pub(crate) fn catalogue() -> Result<Catalogue> {
    let builtin = Catalogue::builtin();
    match std::env::var_os("SECATEUR_MODELS") {
        None => Ok(builtin),
        Some(path) => {
            let path = Path::new(&path);
            let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            Ok(builtin.overlay(Catalogue::parse(&text, &path.display().to_string())?))
        }
    }
}

impl Planned<'_> {
    /// What the plan says about a part.
    pub(crate) fn verdict(&self, part: PartIx) -> Verdict {
        self.profile.policy.verdict(&self.transcript.outline, &self.memory, &self.plan, part)
    }

    /// The lines that every report begins with.
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
