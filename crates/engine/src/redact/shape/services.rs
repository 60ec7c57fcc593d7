//! Keys of chat, mail, payment and other services, and tokens with their own signature.

use super::{CredentialShape, exact, irregular};

/// A numeric id in base64 begins with one of these, and so do Discord's tokens.
const SNOWFLAKES: &[&str] = &["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"];

pub(super) const SHAPES: &[CredentialShape] = &[
    // Three parts, or five if it is encrypted; a missing signature is no reason to show the rest.
    exact(
        "jwt",
        &["eyJ"],
        r"[A-Za-z0-9_-]{8,}\.(?:[A-Za-z0-9_-]{8,}|)\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,2}",
    ),
    irregular(
        "slack-token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xoxe."],
        r"[A-Za-z0-9%.-]{16,}",
    ),
    irregular("slack-token", &["xapp-"], r"[0-9]-[A-Za-z0-9-]{20,}"),
    irregular(
        "slack-webhook",
        &["hooks.slack.com/", "hooks.slack-gov.com/"],
        r"(?:services|workflows|triggers)/[A-Za-z0-9]{6,}/[A-Za-z0-9]{6,}/[A-Za-z0-9/]{16,}",
    )
    .keeping_literal(),
    irregular("discord-token", SNOWFLAKES, r"[A-Za-z0-9_-]{20,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
    irregular(
        "discord-webhook",
        &["/api/webhooks/", "/api/v9/webhooks/", "/api/v10/webhooks/"],
        r"[0-9]{15,20}/[A-Za-z0-9_-]{50,}",
    )
    .keeping_literal(),
    irregular(
        "teams-webhook",
        &[".webhook.office.com/", "outlook.office.com/", "outlook.office365.com/"],
        r"webhook(?:b2)?/[A-Za-z0-9@-]{36,}/[A-Za-z]+/[0-9a-f]{32}/[A-Za-z0-9-]{30,}",
    )
    .keeping_literal(),
    exact("webhook", &["hooks.zapier.com/hooks/catch/"], r"[0-9]{4,12}/[a-z0-9]{6,12}\b").keeping_literal(),
    irregular(
        "webhook",
        &["hook.eu1.make.com/", "hook.eu2.make.com/", "hook.us1.make.com/"],
        r"[a-z0-9]{24,40}\b",
    )
    .keeping_literal(),
    irregular("telegram-token", &[":AA"], r"[A-Za-z0-9_-]{32,35}").after(u8::is_ascii_digit, 8, 10),
    irregular(
        "stripe-key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_org_live_"],
        r"[A-Za-z0-9]{16,}",
    ),
    irregular("webhook-secret", &["whsec_"], r"[A-Za-z0-9+/=]{24,}"),
    irregular("twilio-key", &["SK"], r"[0-9a-f]{32}\b"),
    irregular("sendgrid-key", &["SG."], r"[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}"),
    irregular("mailgun-key", &["key-"], r"[0-9a-f]{32}\b"),
    irregular("mailchimp-key", &["-us"], r"[0-9]{1,2}\b").after(u8::is_ascii_hexdigit, 32, 32),
    exact("brevo-key", &["xkeysib-", "xsmtpsib-"], r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    irregular("resend-key", &["re_"], r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    irregular("linear-key", &["lin_api_", "lin_oauth_"], r"[A-Za-z0-9]{32,}"),
    irregular("notion-key", &["ntn_", "secret_"], r"[A-Za-z0-9]{40,}"),
    irregular("airtable-token", &["pat"], r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    irregular("figma-token", &["figd_", "figu_"], r"[A-Za-z0-9_-]{30,}"),
    exact("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], r"[0-9A-Fa-f]{32}"),
    irregular("square-token", &["sq0atp-", "sq0csp-"], r"[A-Za-z0-9_-]{22,}"),
    irregular("square-token", &["EAAA"], r"[A-Za-z0-9_-]{56,}"),
    irregular("facebook-token", &["EAA"], r"[A-Za-z0-9]{90,}"),
    exact(
        "plaid-token",
        &["access-sandbox-", "access-development-", "access-production-"],
        r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ),
    exact(
        "hubspot-token",
        &["pat-na1-", "pat-na2-", "pat-eu1-"],
        r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ),
    irregular("newrelic-key", &["NRAK-", "NRII-", "NRAL-"], r"[A-Za-z0-9]{20,}"),
    irregular("grafana-token", &["glsa_", "glc_"], r"[A-Za-z0-9_+/=]{32,}"),
    exact("dynatrace-token", &["dt0c01.", "dt0s16."], r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    irregular("posthog-key", &["phx_"], r"[A-Za-z0-9_-]{30,}"),
    irregular("typeform-token", &["tfp_"], r"[A-Za-z0-9_.-]{40,}"),
    irregular("contentful-token", &["CFPAT-"], r"[A-Za-z0-9_-]{40,}"),
    irregular("mapbox-token", &["sk.eyJ"], r"[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}"),
    irregular("dropbox-token", &["sl."], r"[A-Za-z0-9_.-]{100,}"),
    irregular("twitter-bearer", &["AAAAAAAAAAAAAAAAAAAA"], r"[A-Za-z0-9%]{60,}"),
];
