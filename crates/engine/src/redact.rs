//! Finds credentials in text and replaces them.
