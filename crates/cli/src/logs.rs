//! The sessions that a user names: files, databases, folders, recorded requests.

use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use secateur::Measures;
use secateur_formats::{FORMATS, Format, Skim, may_be_recorded, recorded_body, skim};
use secateur_sources::{FoundSources, Source, SourceContent, SourceError, find_at};

use crate::terminal;

/// The flag that names a log's format.
#[derive(Debug, Default, Args)]
pub(crate) struct FormatArg {
    /// Read the log in this format instead of detecting it.
    #[arg(long, value_name = "FORMAT", value_parser = format_name)]
    pub(crate) format: Option<Format>,
}

fn format_name(name: &str) -> Result<Format, String> {
    let known = || FORMATS.map(Format::name).join(", ");
    FORMATS
        .into_iter()
        .find(|format| format.name() == name)
        .ok_or_else(|| format!("known formats: {}", known()))
}

/// The sessions at a path; an error if there is none.
pub(crate) fn sessions_at(path: &Path) -> Result<Vec<Source>> {
    let FoundSources { sources, warnings } = find_at(path).map_err(|error| source_error(&error))?;
    warnings.iter().for_each(terminal::warn);
    if sources.is_empty() {
        bail!("{} holds no session in a known format", path.display());
    }
    Ok(sources)
}

/// A source's error. Its text names the path and the cause already, so nothing is added.
pub(crate) fn source_error(error: &SourceError) -> anyhow::Error {
    anyhow!("{error}")
}

/// A file that the user named, or standard input for `-`.
pub(crate) fn file_or_stdin(file: &Path) -> io::Result<Box<dyn Read>> {
    Ok(if file == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(file)?) })
}

/// Writes the output to the file that the user named.
pub(crate) fn write(file: &Path, content: &str) -> Result<()> {
    fs::write(file, content).with_context(|| format!("cannot write {}", file.display()))
}

/// The name of a source in reports.
pub(crate) fn label(source: &Source) -> String {
    match &source.session {
        Some(session) => format!("{}, {session}", source.path.display()),
        None => source.path.display().to_string(),
    }
}

/// Refuses to write the output over the input, by whatever path.
pub(crate) fn refuse_same_file(out: &Path, read: &Path) -> Result<()> {
    if out.is_dir() {
        bail!("{} is a folder; name a file for the output", out.display());
    }
    let (Ok(one), Ok(other)) = (out.canonicalize(), read.canonicalize()) else { return Ok(()) };
    if one == other {
        bail!("{} is the input; name another file for the output", out.display());
    }
    Ok(())
}

/// The bytes of a session, and whether they are the whole content of a file.
pub(crate) struct LogBytes {
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_file: bool,
}

/// Opens a source and warns of what was left out.
fn open(source: &Source) -> Result<SourceContent> {
    let opened = source.open().map_err(|error| source_error(&error))?;
    opened.warnings.iter().for_each(terminal::warn);
    Ok(opened.content)
}

/// The bytes of a source; of a request that was recorded with its path and headers, the body.
pub(crate) fn bytes(source: &Source) -> Result<LogBytes> {
    let bytes = open(source)?.into_bytes().with_context(|| format!("cannot read {}", label(source)))?;
    Ok(match recorded_body(&bytes) {
        Some(body) => LogBytes { bytes: body.into_bytes(), is_file: false },
        None => LogBytes { bytes, is_file: source.session.is_none() },
    })
}

/// Outlines of the sessions in a source, read through a small buffer where the format allows it.
pub(crate) fn skim_source(source: &Source, format: Option<Format>, measures: &Measures) -> Result<Vec<Skim>> {
    let content = open(source)?;
    let read = || -> Result<Vec<Skim>> {
        let reader: Box<dyn Read> = match content {
            SourceContent::Bytes(bytes) => Box::new(Cursor::new(bytes)),
            SourceContent::File(mut file) => {
                // The first bytes tell whether it may be a recorded request, which has to be read as a whole.
                let mut beginning = vec![0; 1 << 12];
                let count = file.read(&mut beginning)?;
                beginning.truncate(count);
                if may_be_recorded(&beginning) {
                    file.read_to_end(&mut beginning)?;
                    Box::new(Cursor::new(recorded_body(&beginning).map_or(beginning, String::into_bytes)))
                } else {
                    Box::new(Cursor::new(beginning).chain(file))
                }
            }
        };
        Ok(skim(reader, format, measures)?)
    };
    read().with_context(|| format!("cannot read {}", label(source)))
}
