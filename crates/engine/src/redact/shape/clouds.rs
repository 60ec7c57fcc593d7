//! Keys of clouds, of what runs in them, and of databases.

use super::Shape;

fn is_azure(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'~' | b'.' | b'-')
}

pub(super) const SHAPES: &[Shape] = &[
    Shape::exact("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], r"[A-Z0-9]{16}\b"),
    // The beginnings are what the fixed first fields of a session token encode to.
    Shape::exact(
        "aws-session-token",
        &["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"],
        r"[A-Za-z0-9+/=%_-]{60,}",
    ),
    Shape::exact("aws-bedrock-key", &["ABSKQmVkcm9ja0FQSUtleS", "bedrock-api-key-"], r"[A-Za-z0-9+/=]{40,}"),
    Shape::exact("google-oauth-secret", &["GOCSPX-"], r"[A-Za-z0-9_-]{24,}"),
    Shape::irregular("google-access-token", &["ya29."], r"[A-Za-z0-9_.-]{20,}"),
    Shape::irregular("google-refresh-token", &["1//0"], r"[A-Za-z0-9_-]{30,}"),
    Shape::exact(
        "azure-storage-key",
        &["AccountKey=", "SharedAccessKey="],
        r"[A-Za-z0-9+/%]{40,}(?:={1,2}|%3[Dd])?",
    )
    .keeping_literal(),
    Shape::irregular("azure-client-secret", &["Q~"], r"[A-Za-z0-9_~.-]{31,34}").after(is_azure, 4, 4),
    Shape::irregular("azure-devops-token", &["AZDO"], r"[A-Za-z0-9]{4,}").after(
        u8::is_ascii_alphanumeric,
        70,
        80,
    ),
    Shape::exact("alibaba-key", &["LTAI"], r"[A-Za-z0-9]{16,24}\b"),
    Shape::irregular("tencent-key", &["AKID"], r"[A-Za-z0-9]{32}\b"),
    Shape::exact("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"[0-9a-f]{64}"),
    Shape::exact("cloudflare-key", &["v1.0-"], r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    Shape::exact("heroku-key", &["HRKU-"], r"[A-Za-z0-9_-]{30,}"),
    Shape::exact("vault-token", &["hvs.", "hvb.", "hvr."], r"[A-Za-z0-9_-]{24,}"),
    Shape::exact("terraform-token", &[".atlasv1."], r"[A-Za-z0-9_=-]{60,}").after(
        u8::is_ascii_alphanumeric,
        14,
        14,
    ),
    Shape::exact("databricks-token", &["dapi"], r"[0-9a-f]{32}(?:-[0-9]+)?\b"),
    Shape::irregular("supabase-key", &["sbp_", "sb_secret_"], r"[A-Za-z0-9_-]{20,}"),
    Shape::irregular("vercel-token", &["vercel_blob_rw_", "vcp_", "vck_"], r"[A-Za-z0-9_]{24,}"),
    Shape::irregular("netlify-token", &["nfp_"], r"[A-Za-z0-9]{30,}"),
    Shape::irregular("fly-token", &["fm1_", "fm2_", "fo1_"], r"[A-Za-z0-9_+/=,-]{40,}"),
    Shape::irregular("render-key", &["rnd_"], r"[A-Za-z0-9]{24,}"),
    Shape::exact(
        "planetscale-token",
        &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
        r"[A-Za-z0-9_.=-]{32,}",
    ),
    Shape::irregular("neon-key", &["npg_", "napi_"], r"[A-Za-z0-9]{12,}"),
    Shape::exact("pulumi-token", &["pul-"], r"[0-9a-f]{40}\b"),
    Shape::exact(
        "doppler-token",
        &["dp."],
        r"(?:pt|ct|st|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    Shape::exact("tailscale-key", &["tskey-"], r"[a-z]+-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{16,})?"),
    Shape::exact("age-key", &["AGE-SECRET-KEY-1"], r"[A-Z0-9]{50,}"),
    Shape::exact("onepassword-token", &["ops_eyJ"], r"[A-Za-z0-9_=-]{60,}"),
    Shape::irregular("confluent-secret", &["cflt"], r"[A-Za-z0-9+/]{50,}"),
    Shape::irregular("artifactory-token", &["AKCp", "cmVmdGtu"], r"[A-Za-z0-9]{50,}"),
];
