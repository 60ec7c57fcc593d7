//! Keys of model providers and of the tools around them.

use super::Shape;

pub(super) const SHAPES: &[Shape] = &[
    Shape::irregular("anthropic-key", &["sk-ant-"], r"[A-Za-z0-9_-]{20,}"),
    Shape::exact("openrouter-key", &["sk-or-"], r"(?:v[0-9]-)?[A-Za-z0-9]{32,}"),
    Shape::irregular(
        "openai-key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", "sk-service-"],
        r"[A-Za-z0-9_-]{20,}",
    ),
    // Also the keys of the many services that speak OpenAI's protocol.
    Shape::irregular("openai-key", &["sk-"], r"[A-Za-z0-9]{20,}"),
    Shape::exact("langfuse-key", &["sk-lf-"], r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    Shape::irregular("litellm-key", &["sk-"], r"[A-Za-z0-9_-]{22}\b"),
    Shape::exact("google-key", &["AIza"], r"[A-Za-z0-9_-]{35,}"),
    Shape::irregular("google-key", &["AQ.Ab"], r"[A-Za-z0-9_-]{30,}"),
    Shape::irregular("groq-key", &["gsk_"], r"[A-Za-z0-9]{40,}"),
    Shape::irregular("xai-key", &["xai-"], r"[A-Za-z0-9]{40,}"),
    Shape::irregular("huggingface-key", &["hf_", "api_org_"], r"[A-Za-z0-9]{30,}"),
    Shape::irregular("replicate-key", &["r8_"], r"[A-Za-z0-9]{30,}"),
    Shape::irregular("perplexity-key", &["pplx-"], r"[A-Za-z0-9]{32,}"),
    Shape::irregular("fireworks-key", &["fw_"], r"[A-Za-z0-9]{20,}"),
    Shape::irregular("cerebras-key", &["csk-"], r"[A-Za-z0-9]{32,}"),
    Shape::irregular("together-key", &["tgp_v1_"], r"[A-Za-z0-9_-]{30,}"),
    Shape::irregular("nvidia-key", &["nvapi-"], r"[A-Za-z0-9_-]{40,}"),
    Shape::irregular("voyage-key", &["pa-"], r"[A-Za-z0-9_-]{40,}"),
    Shape::irregular("tavily-key", &["tvly-"], r"(?:dev-|prod-)?[A-Za-z0-9]{20,}"),
    Shape::irregular("jina-key", &["jina_"], r"[A-Za-z0-9_-]{40,}"),
    Shape::irregular("pinecone-key", &["pcsk_"], r"[A-Za-z0-9_]{40,}"),
    Shape::irregular("firecrawl-key", &["fc-"], r"[0-9a-f]{32}\b"),
    Shape::irregular("e2b-key", &["e2b_"], r"[0-9a-f]{40}\b"),
    Shape::irregular("elevenlabs-key", &["sk_"], r"[0-9a-f]{48}\b"),
    Shape::exact("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], r"[0-9a-f]{32}_[0-9a-f]{10}"),
    Shape::irregular("anyscale-key", &["esecret_"], r"[A-Za-z0-9]{20,}"),
    Shape::irregular("apify-key", &["apify_api_"], r"[A-Za-z0-9]{30,}"),
];
