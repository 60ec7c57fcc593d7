//! Scenes of a session, one a behaviour, shown as what the model would see and what happened.
//!
//! Where the simulation says what holds whatever happens, these say what does happen: one readable page for each
//! founding system and for each turn that a session may take. Numbers are those of the profiles as they ship.

mod ahead;
mod compactions;
mod driver;
mod failures;
mod overflows;
mod prunings;
mod questions;
mod rents;
mod systems;
mod wording;
