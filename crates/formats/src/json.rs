//! JSON as spans: lengths, printing and lenient reading without decoding.
