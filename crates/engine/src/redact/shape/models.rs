//! Keys of model providers and of the tools around them.

use super::{CredentialShape, exact, irregular};

pub(super) const SHAPES: &[CredentialShape] = &[
    irregular("anthropic-key", &["sk-ant-"], r"[A-Za-z0-9_-]{20,}"),
    exact("openrouter-key", &["sk-or-"], r"(?:v[0-9]-)?[A-Za-z0-9]{32,}"),
    irregular(
        "openai-key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", "sk-service-"],
        r"[A-Za-z0-9_-]{20,}",
    ),
    // Also the keys of the many services with OpenAI's API.
    irregular("openai-key", &["sk-"], r"[A-Za-z0-9]{20,}"),
    exact("langfuse-key", &["sk-lf-"], r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    irregular("litellm-key", &["sk-"], r"[A-Za-z0-9_-]{22}\b"),
    exact("google-key", &["AIza"], r"[A-Za-z0-9_-]{35,}"),
    irregular("google-key", &["AQ.Ab"], r"[A-Za-z0-9_-]{30,}"),
    irregular("groq-key", &["gsk_"], r"[A-Za-z0-9]{40,}"),
    irregular("xai-key", &["xai-"], r"[A-Za-z0-9]{40,}"),
    irregular("huggingface-key", &["hf_", "api_org_"], r"[A-Za-z0-9]{30,}"),
    irregular("replicate-key", &["r8_"], r"[A-Za-z0-9]{30,}"),
    irregular("perplexity-key", &["pplx-"], r"[A-Za-z0-9]{32,}"),
    irregular("fireworks-key", &["fw_"], r"[A-Za-z0-9]{20,}"),
    irregular("cerebras-key", &["csk-"], r"[A-Za-z0-9]{32,}"),
    irregular("together-key", &["tgp_v1_"], r"[A-Za-z0-9_-]{30,}"),
    irregular("nvidia-key", &["nvapi-"], r"[A-Za-z0-9_-]{40,}"),
    irregular("voyage-key", &["pa-"], r"[A-Za-z0-9_-]{40,}"),
    irregular("tavily-key", &["tvly-"], r"(?:dev-|prod-)?[A-Za-z0-9]{20,}"),
    irregular("jina-key", &["jina_"], r"[A-Za-z0-9_-]{40,}"),
    irregular("pinecone-key", &["pcsk_"], r"[A-Za-z0-9_]{40,}"),
    irregular("firecrawl-key", &["fc-"], r"[0-9a-f]{32}\b"),
    irregular("e2b-key", &["e2b_"], r"[0-9a-f]{40}\b"),
    irregular("elevenlabs-key", &["sk_"], r"[0-9a-f]{48}\b"),
    exact("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], r"[0-9a-f]{32}_[0-9a-f]{10}"),
    irregular("anyscale-key", &["esecret_"], r"[A-Za-z0-9]{20,}"),
    irregular("apify-key", &["apify_api_"], r"[A-Za-z0-9]{30,}"),
];
