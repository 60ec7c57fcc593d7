//! OpenHands stores a conversation as a folder: `base_state.json`, and one file for each event,
//! `events/event-00000-<id>.json` and so on, whose names sort by number. The result is an array of the events.

use std::fs;
use std::path::Path;

use crate::source::{self, Source, SourceContent, SourceKind};
use crate::{SourceError, SourceWarning, json, pattern, regular_file};

/// Whether `folder` looks like a conversation.
pub(crate) fn is_conversation(folder: &Path) -> bool {
    folder.join("base_state.json").is_file() && folder.join("events").is_dir()
}

/// The conversation in `folder`.
pub(crate) fn conversation(folder: &Path) -> Option<Source> {
    let name = folder.file_name()?.to_str()?.to_owned();
    let mut source = Source::inside(SourceKind::OpenHandsFolder, folder, name);
    source.modified = fs::metadata(folder.join("events")).and_then(|metadata| metadata.modified()).ok();
    Some(source)
}

/// Reads the conversation in `folder` as an array of its events.
pub(crate) fn compose(
    folder: &Path,
    warnings: &mut Vec<SourceWarning>,
) -> Result<SourceContent, SourceError> {
    let mut array = String::from("[");
    let session = folder.file_name().unwrap_or_default().to_string_lossy();
    let events = folder.join("events");
    fs::read_dir(&events).map_err(SourceError::io(&events))?;
    for found in pattern::matches(&events, "event-*.json", warnings) {
        match event(&found.path) {
            Ok(event) => {
                array.push_str(if array.len() == 1 { "" } else { "," });
                array.push_str(&event);
            }
            Err(reason) => warnings.push(SourceWarning::new(found.path, format!("left out: {reason}"))),
        }
        source::check_size(array.len(), folder, &session)?;
    }
    array.push(']');
    Ok(SourceContent::Bytes(array.into_bytes()))
}

fn event(file: &Path) -> Result<String, String> {
    let text = regular_file::text(file).map_err(|error| error.reason())??;
    json::check(&text).map_err(|error| error.to_string())?;
    Ok(text)
}
