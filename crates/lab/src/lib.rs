//! lab
#![allow(missing_docs, clippy::allow_attributes_without_reason, clippy::allow_attributes)]
mod bill;
mod bootstrap;
mod harm;
mod optimum;
mod policies;
mod replay;
mod sheet;
mod study;
mod trace;
pub use bill::{Bill, Billed};
pub use bootstrap::{difference, interval};
pub use harm::{General, Need, needs};
pub use optimum::{Schedule, feasible, lower_bound};
pub use policies::{USUAL, profiles};
pub use replay::{Miss, Run, Step, Terms, replay};
pub use sheet::{Sheet, SheetError, Sheets};
pub use study::{ALL, Case, LEAST_CALLS, Nearness, Options, Outcome, Row, Study, StudyError};
pub use trace::{Call, Label, Trace};
mod page;
pub use page::page;
