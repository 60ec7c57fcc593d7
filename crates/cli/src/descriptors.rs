//! How many files and connections a process may have open.
//!
//! The usual soft limit is 1,024, so that old programs are not surprised, and a stream through the proxy takes two. What
//! a process may take without asking anybody is the hard limit.

/// Takes as many as may be had. Where that fails, it stays as it was.
#[cfg(unix)]
pub(crate) fn raise() {
    rlimit::increase_nofile_limit(u64::MAX).ok();
}

/// Nothing limits them here.
#[cfg(not(unix))]
pub(crate) fn raise() {}
