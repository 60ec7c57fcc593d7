//! `secateur prune`: what a profile would cut from a session; with `--write`, marks it in the file.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use secateur::{Action, Cut, Lasting, Outline, PartKind, Profile, Verdict};
use secateur_formats::Rendering;
use serde_json::{Value, json};

use crate::humanize::{counted, grouped, percent};
use crate::plan_text;
use crate::session_file::{PlannedFile, SessionFile, SessionFileArgs, modified};
use crate::table::Table;
use crate::terminal::{self, print_json};
use crate::time_text::now;

/// Show what a profile would cut from a session; with --write, mark it in the file.
///
/// Pruning is not deletion: the text stays in the file and is only marked, unless the system itself overwrites it
/// (Qwery). A backup of the file is always kept.
#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    #[command(flatten)]
    session: SessionFileArgs,
    /// Mark the cuts in the file as the system would, atomically and with a backup next to it.
    #[arg(long)]
    write: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl PruneArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        let session = self.session.open()?;
        if self.write {
            refuse_to_write(&session)?;
        }
        let planned = self.session.plan(&session)?;
        let survivors: Vec<&Cut> = if is_marking(&session.profile) {
            let cuts = session.profile.policy.surviving(&planned.transcript.outline, &planned.plan);
            cuts.filter(|cut| is_markable(&planned.transcript.outline, cut)).collect()
        } else {
            Vec::new()
        };
        let marks = self.write && !survivors.is_empty();
        let backup = marks.then(|| self.mark(&session, &planned, &survivors)).transpose()?;
        for warning in &planned.transcript.warnings {
            terminal::warn(format_args!("{}, {warning}", self.session.file.display()));
        }
        if self.json {
            let marked = if self.write { survivors.len() } else { 0 };
            return print_json(out, &self.report(&planned, marked, backup.as_deref()));
        }
        self.describe(out, (&session, &planned), &survivors, backup.as_deref())
    }

    /// What `--json` prints.
    fn report(&self, planned: &PlannedFile<'_>, marked: usize, backup: Option<&Path>) -> Value {
        let (transcript, plan) = (&planned.transcript, &planned.plan);
        let row = |cut: &Cut| {
            json!({ "part": cut.part, "id": transcript.part_id(cut.part),
                "tool": transcript.outline.tool(cut.part), "action": cut.action, "reason": cut.reason,
                "before": cut.before, "after": cut.after })
        };
        json!({
            "file": self.session.file.display().to_string(),
            "format": transcript.format,
            "profile": planned.profile.name,
            "messages": transcript.outline.message_count(),
            "parts": transcript.outline.part_count(),
            "totals": plan.totals,
            "bounds": plan.bounds,
            "idle": plan.idle,
            "cuts": plan.cuts.iter().map(row).collect::<Vec<_>>(),
            "assumptions": planned.assumptions,
            "warnings": transcript.warnings,
            "written": backup.is_some(),
            "marked": marked,
            "backup": backup.map(|path| path.display().to_string()),
        })
    }

    fn describe(
        &self,
        out: &mut dyn Write,
        (session, planned): (&SessionFile, &PlannedFile<'_>),
        survivors: &[&Cut],
        backup: Option<&Path>,
    ) -> Result<()> {
        planned.head(out, &self.session.file)?;
        let plan = &planned.plan;
        if let Some(idle) = plan.idle {
            writeln!(out, "Nothing to cut: {}.", plan_text::idle(idle))?;
            return Ok(());
        }
        let unit = plan_text::unit(plan.totals.scale);
        let gone: u64 = plan.cuts.iter().map(|cut| cut.before.saturating_sub(cut.after)).sum();
        writeln!(
            out,
            "{} {}: {} {unit} ({} of {} {unit} of tool output).\n",
            if backup.is_some() { "Cut" } else { "Would cut" },
            counted(plan.cuts.len() as u64, "tool result"),
            grouped(gone),
            percent(gone, plan.totals.before),
            grouped(plan.totals.before)
        )?;
        by_tool(out, planned)?;
        match backup {
            Some(backup) => {
                let marked = counted(survivors.len() as u64, "result");
                writeln!(out, "\nMarked {marked} in {}.", self.session.file.display())?;
                if survivors.len() < plan.cuts.len() {
                    writeln!(
                        out,
                        "This version of the system loses the other marks: it rewrites a message once per mark."
                    )?;
                }
                writeln!(out, "Backup: {}", backup.display())?;
            }
            None => writeln!(out, "\nNothing was changed. {}", unwritten(session, planned))?,
        }
        Ok(())
    }

    /// Writes the marks and returns the path of the backup.
    fn mark(&self, session: &SessionFile, planned: &PlannedFile<'_>, survivors: &[&Cut]) -> Result<PathBuf> {
        // A link stays; the file that it points to is marked.
        let file = &fs::canonicalize(&self.session.file)
            .with_context(|| format!("cannot find {}", self.session.file.display()))?;
        let placeholder = planned.profile.policy.placeholder.as_str();
        let cuts = survivors.iter().map(|cut| Rendering { part: cut.part, action: cut.action, placeholder });
        let splice = planned.transcript.apply(cuts, now())?;
        let failure = |what: &str| format!("cannot write {what} {}", file.display());
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut temporary = tempfile::NamedTempFile::new_in(folder).with_context(|| failure("next to"))?;
        let mut writer = BufWriter::with_capacity(1 << 20, temporary.as_file_mut());
        splice.write_to(&mut writer).and_then(|()| writer.flush()).with_context(|| failure("a copy of"))?;
        drop(writer);
        let copied = fs::metadata(file)
            .and_then(|metadata| temporary.as_file().set_permissions(metadata.permissions()));
        copied.with_context(|| failure("with the permissions of"))?;
        // The copy must be on disk before it replaces the original.
        temporary.as_file().sync_data().with_context(|| failure("a copy of"))?;
        if modified(file) != session.modified {
            bail!("{} changed while it was read; nothing was written", file.display());
        }
        let backup = keep_backup(file)?;
        temporary.persist(file).with_context(|| failure("over"))?;
        Ok(backup)
    }
}

/// What `--write` would do with these cuts, or why it would do nothing.
fn unwritten(session: &SessionFile, planned: &PlannedFile<'_>) -> String {
    let format = session.format;
    if !is_marking(planned.profile) {
        "This profile cuts requests as they are sent and never changes the file.".to_owned()
    } else if !format.holds_marks() {
        format!("{format} sessions cannot mark a cut, so the file is never changed.")
    } else if !session.is_file {
        format!("{} is not a plain session file, so it is never changed.", session.path.display())
    } else if format.overwrites_cuts() {
        format!(
            "--write marks these results in the file and overwrites their text, as {format} does; a backup keeps it."
        )
    } else {
        "--write marks these results in the file; their text stays.".to_owned()
    }
}

/// Fails if the profile or the format cannot be written.
fn refuse_to_write(session: &SessionFile) -> Result<()> {
    let SessionFile { profile, format, .. } = session;
    match profile.policy.lasting {
        _ if is_marking(profile) => {}
        Lasting::Marked | Lasting::MarkedOncePerMessage => {}
        Lasting::OneRequest => bail!(
            "--write is refused: the profile {:?} decides again for every request and never changes the file",
            profile.name
        ),
        Lasting::Remembered => bail!(
            "--write is refused: the profile {:?} cuts requests as they are sent and remembers the cuts elsewhere; it \
             never changes the file",
            profile.name
        ),
    }
    if !session.is_file {
        bail!("--write is refused: {} is not a plain session file", session.path.display());
    }
    if !format.holds_marks() {
        bail!("--write is refused: {format} sessions cannot mark a cut");
    }
    Ok(())
}

/// Whether the profile's cuts may be marked in a file. A system that remembers its cuts outside of the session never marks
/// any. Secateur's own profiles remember them in its store, but mark a file on request.
fn is_marking(profile: &Profile) -> bool {
    let lasting = profile.policy.lasting;
    lasting.is_marked() || lasting == Lasting::Remembered && profile.reproduces.is_none()
}

/// A mark means that a whole result was cleared. Other cuts have no mark.
fn is_markable(outline: &Outline, cut: &Cut) -> bool {
    cut.action == Action::Clear && outline.kind(cut.part) == PartKind::Result
}

/// Keeps the file as `FILE.bak` or `FILE.bak.N`: as a hard link, or as a copy if the file system has none.
fn keep_backup(file: &Path) -> Result<PathBuf> {
    for number in 0..1000 {
        let mut name = file.as_os_str().to_owned();
        name.push(".bak");
        if number > 0 {
            name.push(format!(".{number}"));
        }
        let backup = PathBuf::from(name);
        match fs::hard_link(file, &backup) {
            Ok(()) => return Ok(backup),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(_) if !backup.exists() => {
                fs::copy(file, &backup)
                    .with_context(|| format!("cannot keep a backup of {}", file.display()))?;
                return Ok(backup);
            }
            Err(_) => {}
        }
    }
    bail!("cannot keep a backup of {}: 1000 backups exist already", file.display())
}

/// Prints what is cut and kept, by tool.
fn by_tool(out: &mut dyn Write, planned: &PlannedFile<'_>) -> Result<()> {
    #[derive(Default)]
    struct ToolCuts {
        results: u64,
        cut: u64,
        before: u64,
        kept: BTreeMap<&'static str, u64>,
    }
    let outline = &planned.transcript.outline;
    let mut rows: BTreeMap<&str, ToolCuts> = BTreeMap::new();
    for part in outline.parts().filter(|&part| outline.kind(part) == PartKind::Result) {
        let row = rows.entry(outline.tool(part).unwrap_or("(no name)")).or_default();
        row.results += 1;
        match planned.verdict(part) {
            Verdict::Cut(cut) => {
                row.cut += 1;
                row.before += cut.before.saturating_sub(cut.after);
            }
            Verdict::Kept(keep) => *row.kept.entry(plan_text::keep(keep)).or_default() += 1,
        }
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.before));
    let unit = plan_text::unit(planned.plan.totals.scale);
    let mut table =
        Table::new(["tool", "results", "cut", &format!("{unit} saved"), "kept because"]).right([1, 2, 3]);
    for (tool, row) in rows {
        let kept: Vec<_> =
            row.kept.iter().map(|(why, count)| format!("{why} ({})", grouped(*count))).collect();
        table.row([
            tool.to_owned(),
            grouped(row.results),
            grouped(row.cut),
            grouped(row.before),
            kept.join(", "),
        ]);
    }
    write!(out, "{table}")?;
    Ok(())
}
