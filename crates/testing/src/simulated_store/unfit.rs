//! What the real stores do not take, and so the simulated one does not.

use std::collections::BTreeMap;

use secateur_store::{Commit, StoreError};

/// The longest id and the largest value.
const LONGEST_ID: usize = 1024;
const LARGEST: usize = 256 << 20;

fn check_size(what: &'static str, size: usize) -> Result<(), StoreError> {
    if size <= LARGEST { Ok(()) } else { Err(StoreError::Unfit { what, why: "it is larger than 256 MiB" }) }
}

pub(super) fn check_text(what: &'static str, text: &str) -> Result<(), StoreError> {
    if text.contains('\0') {
        return Err(StoreError::Unfit { what, why: "it contains a NUL character" });
    }
    check_size(what, text.len())
}

pub(super) fn check_id(what: &'static str, id: &str) -> Result<(), StoreError> {
    if id.len() > LONGEST_ID {
        return Err(StoreError::Unfit { what, why: "it is longer than 1,024 bytes" });
    }
    check_text(what, id)
}

pub(super) fn check_texts(commit: &Commit) -> Result<(), StoreError> {
    for new in &commit.append {
        check_id("the id of a message", &new.id)?;
        check_text("the facts of a message", &new.facts)?;
        check_text("the cuts of a message", &new.cuts)?;
        check_size("the body of a message", new.body.len())?;
    }
    for change in &commit.change {
        check_text("the cuts of a message", change.cuts.as_deref().unwrap_or_default())?;
    }
    for operation in &commit.operations {
        check_text("the kind of an operation", &operation.kind)?;
        check_text("the data of an operation", &operation.data)?;
    }
    let mut named = BTreeMap::new();
    for clipping in &commit.clippings {
        let letters = named.entry(&clipping.handle).or_insert(&clipping.letters);
        if *letters != &clipping.letters {
            return Err(StoreError::HandleTaken { handle: clipping.handle.clone() });
        }
        check_id("the handle of a clipping", &clipping.handle)?;
        check_text("the facts of a clipping", &clipping.facts)?;
    }
    for event in &commit.events {
        check_text("the data of an event", event)?;
    }
    check_text("the state of a session", commit.state.as_deref().unwrap_or_default())?;
    check_text("the envelope of a session", commit.envelope.as_deref().unwrap_or_default())
}
