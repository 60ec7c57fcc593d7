//! Logging of `serve` and `run`.

use clap::ValueEnum;
use secateur_engine::config::LogFormat;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLines {
    /// For people.
    Text,
    /// For programs: one JSON object per line.
    Json,
}

/// Whether log lines are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colours {
    Some,
    None,
}

impl From<LogFormat> for LogLines {
    fn from(format: LogFormat) -> Self {
        if format == LogFormat::Json { Self::Json } else { Self::Text }
    }
}

pub(super) fn start<W>(level: LevelFilter, format: LogLines, to: W, colours: Colours)
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(to);
    match format {
        LogLines::Text => log.with_ansi(colours == Colours::Some).init(),
        LogLines::Json => log.json().flatten_event(true).init(),
    }
}
