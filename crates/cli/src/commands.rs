//! The commands, one module each. The table of commands is in `main.rs`.

pub(crate) mod compact;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod convert;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod inspect;
pub(crate) mod lab;
pub(crate) mod lint;
pub(crate) mod mcp;
pub(crate) mod overflow;
pub(crate) mod profiles;
pub(crate) mod prune;
pub(crate) mod recall;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod scan;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod status;
pub(crate) mod store;
