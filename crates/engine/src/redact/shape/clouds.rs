//! Keys of clouds, of what runs in them, and of databases.

use super::{CredentialShape, exact, irregular};

fn is_azure(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'~' | b'.' | b'-')
}

pub(super) const SHAPES: &[CredentialShape] = &[
    exact("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], r"[A-Z0-9]{16}\b"),
    // These prefixes are the encoded fixed first fields of a session token.
    exact("aws-session-token", &["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"], r"[A-Za-z0-9+/=%_-]{60,}"),
    exact("aws-bedrock-key", &["ABSKQmVkcm9ja0FQSUtleS", "bedrock-api-key-"], r"[A-Za-z0-9+/=]{40,}"),
    exact("google-oauth-secret", &["GOCSPX-"], r"[A-Za-z0-9_-]{24,}"),
    irregular("google-access-token", &["ya29."], r"[A-Za-z0-9_.-]{20,}"),
    irregular("google-refresh-token", &["1//0"], r"[A-Za-z0-9_-]{30,}"),
    exact(
        "azure-storage-key",
        &["AccountKey=", "SharedAccessKey="],
        r"[A-Za-z0-9+/%]{40,}(?:={1,2}|%3[Dd])?",
    )
    .keeping_literal(),
    irregular("azure-client-secret", &["Q~"], r"[A-Za-z0-9_~.-]{31,34}").after(is_azure, 4, 4),
    irregular("azure-devops-token", &["AZDO"], r"[A-Za-z0-9]{4,}").after(u8::is_ascii_alphanumeric, 70, 80),
    exact("alibaba-key", &["LTAI"], r"[A-Za-z0-9]{16,24}\b"),
    irregular("tencent-key", &["AKID"], r"[A-Za-z0-9]{32}\b"),
    exact("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"[0-9a-f]{64}"),
    exact("cloudflare-key", &["v1.0-"], r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    exact("heroku-key", &["HRKU-"], r"[A-Za-z0-9_-]{30,}"),
    exact("vault-token", &["hvs.", "hvb.", "hvr."], r"[A-Za-z0-9_-]{24,}"),
    exact("terraform-token", &[".atlasv1."], r"[A-Za-z0-9_=-]{60,}").after(u8::is_ascii_alphanumeric, 14, 14),
    exact("databricks-token", &["dapi"], r"[0-9a-f]{32}(?:-[0-9]+)?\b"),
    irregular("supabase-key", &["sbp_", "sb_secret_"], r"[A-Za-z0-9_-]{20,}"),
    irregular("vercel-token", &["vercel_blob_rw_", "vcp_", "vck_"], r"[A-Za-z0-9_]{24,}"),
    irregular("netlify-token", &["nfp_"], r"[A-Za-z0-9]{30,}"),
    irregular("fly-token", &["fm1_", "fm2_", "fo1_"], r"[A-Za-z0-9_+/=,-]{40,}"),
    irregular("render-key", &["rnd_"], r"[A-Za-z0-9]{24,}"),
    exact("planetscale-token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], r"[A-Za-z0-9_.=-]{32,}"),
    irregular("neon-key", &["npg_", "napi_"], r"[A-Za-z0-9]{12,}"),
    exact("pulumi-token", &["pul-"], r"[0-9a-f]{40}\b"),
    exact(
        "doppler-token",
        &["dp."],
        r"(?:pt|ct|st|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    exact("tailscale-key", &["tskey-"], r"[a-z]+-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{16,})?"),
    exact("age-key", &["AGE-SECRET-KEY-1"], r"[A-Z0-9]{50,}"),
    exact("onepassword-token", &["ops_eyJ"], r"[A-Za-z0-9_=-]{60,}"),
    irregular("confluent-secret", &["cflt"], r"[A-Za-z0-9+/]{50,}"),
    irregular("artifactory-token", &["AKCp", "cmVmdGtu"], r"[A-Za-z0-9]{50,}"),
];
