//! What an application may say about a compaction before and after it happens.
