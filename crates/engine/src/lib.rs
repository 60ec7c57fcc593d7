//! Carries out what the session machine decides.
