//! Opening regular files only.
//!
//! Opening a named pipe blocks until another process writes to it, and a device may never end. Sessions are regular
//! files, so this is checked before a file is opened, and again on the open file.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::Path;

use crate::SourceError;

/// The most bytes of a small file.
const SMALL_FILE: u64 = 256 << 20;

/// Opens `path` if it is a regular file or a link to one.
pub(crate) fn open(path: &Path) -> Result<File, SourceError> {
    check(path, &fs::metadata(path).map_err(SourceError::io(path))?)?;
    let file = File::open(path).map_err(SourceError::io(path))?;
    check(path, &file.metadata().map_err(SourceError::io(path))?)?;
    Ok(file)
}

/// Reads at most the first `count` bytes of the file at `path`.
pub(crate) fn beginning(path: &Path, count: u64) -> Result<Vec<u8>, SourceError> {
    let mut bytes = Vec::new();
    open(path)?.take(count).read_to_end(&mut bytes).map_err(SourceError::io(path))?;
    Ok(bytes)
}

/// Reads the text of a small file: one message, part or event. The inner error is the reason to leave it out.
pub(crate) fn text(path: &Path) -> Result<Result<String, String>, SourceError> {
    let bytes = beginning(path, SMALL_FILE + 1)?;
    if bytes.len() as u64 > SMALL_FILE {
        return Ok(Err(format!("larger than {SMALL_FILE} bytes")));
    }
    Ok(String::from_utf8(bytes).map_err(|error| error.to_string()))
}

/// Refuses anything but a regular file.
pub(crate) fn check(path: &Path, metadata: &Metadata) -> Result<(), SourceError> {
    if metadata.is_file() {
        return Ok(());
    }
    Err(SourceError::NotRegular { path: path.to_path_buf(), kind: kind(metadata) })
}

#[cfg(unix)]
fn kind(metadata: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;

    let kind = metadata.file_type();
    match () {
        () if kind.is_dir() => "folder",
        () if kind.is_fifo() => "named pipe",
        () if kind.is_socket() => "socket",
        () if kind.is_block_device() || kind.is_char_device() => "device",
        () => "special file",
    }
}

#[cfg(not(unix))]
fn kind(metadata: &Metadata) -> &'static str {
    if metadata.is_dir() { "folder" } else { "special file" }
}
