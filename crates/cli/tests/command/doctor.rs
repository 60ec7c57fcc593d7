//! `secateur doctor` on machines where something is wrong: every fault is made for real.

mod agents;
mod faults;
mod providers;
mod report;
mod servers;
