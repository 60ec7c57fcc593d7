//! Files that were set aside because the store was malformed: what they are, and what to do with them.

use std::path::Path;

/// What was found and what to do, for each such file beside the store's own.
pub(crate) fn describe(store: Option<&Path>) -> Vec<(String, String)> {
    let files = store.map(secateur_store::set_aside_files).unwrap_or_default();
    let notice = |file: &Path| {
        let file = file.display();
        (
            format!("the store was malformed; its file was set aside as {file}, and a new store begun"),
            format!("read what is left with `secateur store recover {file}`, then move the file away"),
        )
    };
    files.iter().map(|file| notice(file)).collect()
}
