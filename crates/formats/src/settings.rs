//! Settings of agents: what their own configuration says about pruning, as values of a profile.
//!
//! A configuration is read as its agent reads it, mistakes included. What comes out is a [`Layer`](secateur::Layer) over
//! the profile of the agent's version.

pub mod duration;
pub mod openclaw;
