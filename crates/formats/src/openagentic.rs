//! openagentic.
