//! Whether the schema of a store is one that this version knows.

use super::finding::DoctorFinding;

const CHECK: &str = "schema";

/// Judges the schema of a store by the newest one that is known.
pub(crate) fn check(schema: u32, known: u32) -> DoctorFinding {
    if schema > known {
        DoctorFinding::fault(
            CHECK,
            format!("the store has schema {schema}, and this version knows schemas up to {known}"),
            "install the version of secateur that wrote it, or a newer one; or name another store with --store",
        )
    } else if schema < known {
        DoctorFinding::warning(
            CHECK,
            format!("the store has the old schema {schema}; this version writes schema {known}"),
            "nothing has to be done: the next `secateur serve` brings it up to date. Make a backup first if an older \
             version is to be started on it again, which it then cannot",
        )
    } else {
        DoctorFinding::ok(CHECK, format!("the store has schema {schema}, the newest"))
    }
}
