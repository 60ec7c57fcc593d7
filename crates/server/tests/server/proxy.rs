//! The proxy while something around it fails: providers, stores, clocks, processes.

mod branches;
mod bytes;
mod canary;
mod clocks;
mod damage;
pub(crate) mod failing_store;
mod faults;
#[cfg(unix)]
mod late_stores;
mod many;
mod metrics;
mod odd_bodies;
#[cfg(unix)]
mod outages;
mod own_paths;
mod pairs;
mod provisional;
mod recall;
mod retention;
mod stores;
mod tasks;
mod thinking;
