//! The pure kernel of Secateur.
