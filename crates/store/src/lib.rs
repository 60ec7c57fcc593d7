//! Keeps sessions, their originals and what was done to them.
