//! Whether there is room where sessions are kept. A disk that is full does not stop agents, as the proxy then passes
//! everything on, but nothing is cut any more.

use std::path::Path;

use super::finding::DoctorFinding;
use super::store_file::above;
use crate::humanize::grouped;

const CHECK: &str = "disk";

/// Looks at the room that is left, and whether it is at least as many megabytes as wanted.
pub(crate) fn check(file: Option<&Path>, least: u64) -> Vec<DoctorFinding> {
    let Some(folder) = file.map(above) else { return Vec::new() };
    let shown = folder.display();
    let Some(free) = free(folder) else { return Vec::new() };
    let megabytes = grouped(free >> 20);
    vec![if free >> 20 < least {
        DoctorFinding::fault(
            CHECK,
            format!(
                "the disk is full: {megabytes} MB are free at {shown}, and less than {} is too little",
                grouped(least)
            ),
            "make room there, delete old conversations with `secateur session forget`, or keep them elsewhere with \
             --store",
        )
    } else {
        DoctorFinding::ok(CHECK, format!("{megabytes} MB are free at {shown}"))
    }]
}

/// The bytes that a user may still write.
#[cfg(unix)]
fn free(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Nobody tells without help.
#[cfg(not(unix))]
fn free(_: &Path) -> Option<u64> {
    None
}
