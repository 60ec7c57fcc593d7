//! The proxy while something around it fails: providers, stores, clocks, processes.

mod branches;
mod bytes;
mod canary;
mod clocks;
mod failing_store;
mod faults;
mod many;
mod metrics;
#[cfg(unix)]
mod outages;
mod own_paths;
mod pairs;
mod recall;
mod stores;
mod tasks;
mod thinking;
