//! Models that can be asked for a summary, over HTTP.
