//! The part of a summary that no model can get wrong.
