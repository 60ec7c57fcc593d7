//! Makes a summary of a conversation through a model.
