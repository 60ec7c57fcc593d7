//! Scenes of a session, one a behaviour, shown as what the model would see and what happened.
//!
//! Where the simulation says what holds whatever happens, these say what does happen: one readable page for each
//! founding system and for each turn that a session may take. Numbers are those of the profiles as they ship.

#[path = "scenarios/compactions.rs"]
mod compactions;
#[path = "scenarios/driver.rs"]
mod driver;
#[path = "scenarios/failures.rs"]
mod failures;
#[path = "scenarios/overflows.rs"]
mod overflows;
#[path = "scenarios/prunings.rs"]
mod prunings;
#[path = "scenarios/rents.rs"]
mod rents;
#[path = "scenarios/systems.rs"]
mod systems;
#[path = "scenarios/telling.rs"]
mod telling;
