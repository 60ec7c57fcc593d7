//! Codex's rollout logs: JSON lines of response items, events and compactions.

use crate::draft::Draft;
use crate::lines::Records;
use crate::probe::Probe;

/// Whether a text is in this format.
pub(crate) fn matches(_probe: &Probe<'_>) -> bool {
    false
}

/// Reads record after record.
#[derive(Default)]
pub(crate) struct Reader {}

impl Records for Reader {
    fn record(&mut self, _draft: &mut Draft<'_>, _line: &str) -> Result<(), serde_json::Error> {
        Ok(())
    }

    fn finish(&mut self, _draft: &mut Draft<'_>) {}
}
