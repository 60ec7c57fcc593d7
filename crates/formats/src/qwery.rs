//! qwery.
