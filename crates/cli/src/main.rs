//! The command `secateur`.
fn main() {}
