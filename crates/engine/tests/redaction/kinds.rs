//! The kinds of credentials that are planted.

use super::dice::{BASE32, BASE36, BASE62, BASE64, DIGITS, Dice, HEX, LETTERS, LOWER, UPPER, URL64};

/// How a credential can be recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    /// By its own shape: planted under neutral names.
    Shaped,
    /// By its surroundings, which are planted with it.
    Framed,
    /// By the name that it is assigned to.
    Named,
}

pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    /// What is planted, and the part of it that must be redacted.
    pub(crate) make: fn(&mut Dice) -> (String, String),
}

macro_rules! kinds {
    ($($group:ident $name:literal |$dice:ident| $make:expr;)*) => {
        pub(crate) const KINDS: &[Kind] = &[$(Kind {
            name: $name,
            group: Group::$group,
            make: |$dice| $make.into_pair(),
        }),*];
    };
}

/// A credential that is planted alone.
trait IntoPair {
    fn into_pair(self) -> (String, String);
}

impl IntoPair for String {
    fn into_pair(self) -> (String, String) {
        (self.clone(), self)
    }
}

impl IntoPair for (String, String) {
    fn into_pair(self) -> (String, String) {
        self
    }
}

/// The credential in place of `@@` in a frame.
fn framed(frame: &str, secret: String) -> (String, String) {
    (frame.replace("@@", &secret), secret)
}

fn jwt(dice: &mut Dice) -> String {
    let head = dice.base64_of(r#"{"alg":"HS256","typ":"JWT"}"#);
    let subject = dice.of(DIGITS, 10);
    let body = dice.base64_of(&format!(r#"{{"sub":"{subject}","iat":1516239022}}"#));
    let clean = |part: String| part.trim_end_matches('=').replace('+', "-").replace('/', "_");
    format!("{}.{}.{}", clean(head), clean(body), dice.of(URL64, 43))
}

fn pem(dice: &mut Dice, kind: &str, lines: usize) -> String {
    let body: Vec<String> = (0..lines).map(|_| dice.of(BASE64, 64)).collect();
    let last = dice.of(BASE64, 22);
    format!("-----BEGIN {kind}-----\n{}\n{last}==\n-----END {kind}-----", body.join("\n"))
}

/// As people make them up.
fn human(dice: &mut Dice) -> String {
    let word = dice.pick(&["Summer", "Dragon", "Welcome", "Coffee", "Monkey", "Admin", "Berlin", "Purple"]);
    let sign = dice.pick(&["!", "#", "$", "@", "%", "*"]);
    format!("{word}{}{sign}", dice.of(DIGITS, 4))
}

kinds! {
    Shaped "anthropic" |dice| format!("sk-ant-api03-{}AA", dice.of(URL64, 93));
    Shaped "anthropic-oauth" |dice| format!("sk-ant-oat01-{}", dice.of(URL64, 95));
    Shaped "openai" |dice| format!("sk-{}T3BlbkFJ{}", dice.of(BASE62, 20), dice.of(BASE62, 20));
    Shaped "openai-project" |dice| format!("sk-proj-{}", dice.of(URL64, 120));
    Shaped "openai-service" |dice| format!("sk-svcacct-{}", dice.of(URL64, 80));
    Shaped "openai-like" |dice| format!("sk-{}", dice.of(HEX, 32));
    Shaped "openrouter" |dice| format!("sk-or-v1-{}", dice.of(HEX, 64));
    Shaped "google" |dice| format!("AIza{}", dice.of(URL64, 35));
    Shaped "groq" |dice| format!("gsk_{}", dice.of(BASE62, 52));
    Shaped "xai" |dice| format!("xai-{}", dice.of(BASE62, 80));
    Shaped "huggingface" |dice| format!("hf_{}", dice.of(LETTERS, 34));
    Shaped "replicate" |dice| format!("r8_{}", dice.of(BASE62, 37));
    Shaped "perplexity" |dice| format!("pplx-{}", dice.of(BASE62, 48));
    Shaped "fireworks" |dice| format!("fw_{}", dice.of(BASE62, 24));
    Shaped "cerebras" |dice| format!("csk-{}", dice.of(BASE36, 48));
    Shaped "nvidia" |dice| format!("nvapi-{}", dice.of(URL64, 64));
    Shaped "tavily" |dice| format!("tvly-dev-{}", dice.of(BASE62, 32));
    Shaped "pinecone" |dice| format!("pcsk_{}_{}", dice.of(BASE62, 6), dice.of(BASE62, 63));
    Shaped "langsmith" |dice| format!("lsv2_pt_{}_{}", dice.of(HEX, 32), dice.of(HEX, 10));
    Shaped "aws-access-key" |dice| format!("{}{}", dice.pick(&["AKIA", "ASIA"]), dice.of(BASE32, 16));
    Shaped "aws-session-token" |dice|
        format!("IQoJb3JpZ2luX2VjE{}//////////wEa{}==", dice.of(BASE64, 3), dice.of(BASE64, 300));
    Shaped "google-oauth-secret" |dice| format!("GOCSPX-{}", dice.of(URL64, 28));
    Shaped "google-access-token" |dice| format!("ya29.{}", dice.of(URL64, 120));
    Shaped "azure-client-secret" |dice| format!("{}8Q~{}", dice.of(BASE62, 3), dice.of(BASE62, 34));
    Shaped "digitalocean" |dice| format!("dop_v1_{}", dice.of(HEX, 64));
    Shaped "vault" |dice| format!("hvs.{}", dice.of(URL64, 90));
    Shaped "terraform" |dice| format!("{}.atlasv1.{}", dice.of(BASE62, 14), dice.of(BASE62, 67));
    Shaped "databricks" |dice| format!("dapi{}", dice.of(HEX, 32));
    Shaped "doppler" |dice| format!("dp.pt.{}", dice.of(BASE62, 43));
    Shaped "supabase" |dice| format!("sbp_{}", dice.of(HEX, 40));
    Shaped "planetscale" |dice| format!("pscale_tkn_{}", dice.of(BASE62, 43));
    Shaped "github" |dice|
        format!("{}{}", dice.pick(&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]), dice.of(BASE62, 36));
    Shaped "github-fine" |dice| format!("github_pat_{}_{}", dice.of(BASE62, 22), dice.of(BASE62, 59));
    Shaped "gitlab" |dice| format!("glpat-{}", dice.of(URL64, 20));
    Shaped "npm" |dice| format!("npm_{}", dice.of(BASE62, 36));
    Shaped "pypi" |dice| format!("pypi-AgEIcHlwaS5vcmc{}", dice.of(URL64, 150));
    Shaped "docker" |dice| format!("dckr_pat_{}", dice.of(URL64, 27));
    Shaped "atlassian" |dice| format!("ATATT3xFfGF0{}={}", dice.of(URL64, 170), dice.of(HEX, 8));
    Shaped "slack-bot" |dice|
        format!("xoxb-{}-{}-{}", dice.of(DIGITS, 12), dice.of(DIGITS, 13), dice.of(BASE62, 24));
    Shaped "slack-user" |dice|
        format!("xoxp-{}-{}-{}", dice.of(DIGITS, 12), dice.of(DIGITS, 12), dice.of(HEX, 32));
    Shaped "slack-app" |dice|
        format!("xapp-1-A{}-{}-{}", dice.of(BASE32, 10), dice.of(DIGITS, 13), dice.of(HEX, 64));
    Shaped "discord" |dice| {
        let id = format!("{}{}", dice.pick(&["1", "2", "7", "9"]), dice.of(DIGITS, 17));
        format!("{}.{}.{}", dice.base64_of(&id), dice.of(URL64, 6), dice.of(URL64, 38))
    };
    Shaped "telegram" |dice| format!("{}:AA{}", 1_000_000_000 + dice.below(999_999_999), dice.of(URL64, 33));
    Shaped "stripe" |dice| format!("{}_live_{}", dice.pick(&["sk", "rk"]), dice.of(BASE62, 24));
    Shaped "twilio" |dice| format!("SK{}", dice.of(HEX, 32));
    Shaped "sendgrid" |dice| format!("SG.{}.{}", dice.of(URL64, 22), dice.of(URL64, 43));
    Shaped "mailgun" |dice| format!("key-{}", dice.of(HEX, 32));
    Shaped "brevo" |dice| format!("xkeysib-{}-{}", dice.of(HEX, 64), dice.of(BASE62, 16));
    Shaped "linear" |dice| format!("lin_api_{}", dice.of(BASE62, 40));
    Shaped "notion" |dice| format!("ntn_{}{}", dice.of(DIGITS, 11), dice.of(BASE62, 35));
    Shaped "airtable" |dice| format!("pat{}.{}", dice.of(BASE62, 14), dice.of(HEX, 64));
    Shaped "figma" |dice| format!("figd_{}", dice.of(URL64, 40));
    Shaped "shopify" |dice| format!("shpat_{}", dice.of(HEX, 32));
    Shaped "newrelic" |dice| format!("NRAK-{}", dice.of(&format!("{UPPER}{DIGITS}"), 27));
    Shaped "grafana" |dice| format!("glsa_{}_{}", dice.of(BASE62, 32), dice.of(HEX, 8));
    Shaped "age" |dice| format!("AGE-SECRET-KEY-1{}", dice.of(BASE32, 58));
    Shaped "jwt" |dice| jwt(dice);
    Shaped "pem-rsa" |dice| pem(dice, "RSA PRIVATE KEY", 24);
    Shaped "pem-openssh" |dice| pem(dice, "OPENSSH PRIVATE KEY", 5);
    Shaped "pem-pkcs8" |dice| pem(dice, "PRIVATE KEY", 2);
    Shaped "pem-pgp" |dice| pem(dice, "PGP PRIVATE KEY BLOCK", 12);
    Shaped "pem-cut" |dice| {
        let key = pem(dice, "EC PRIVATE KEY", 6);
        key[..key.len() - 80 - dice.below(100)].trim_end().to_owned()
    };
    Framed "url-password" |dice| framed("postgres://app:@@@db.internal:5432/app", dice.of(BASE62, 14));
    Framed "url-token" |dice| framed("https://@@@git.example.com/a/b.git", dice.of(BASE62, 40));
    Framed "bearer" |dice| framed("Authorization: Bearer @@", dice.of(URL64, 40));
    Framed "basic" |dice| {
        let pair = format!("user{}:{}", dice.below(99), dice.of(BASE62, 12));
        framed("Authorization: Basic @@", dice.base64_of(&pair))
    };
    Framed "api-key-header" |dice| framed("x-api-key: @@", dice.of(BASE62, 32));
    Framed "cookie" |dice| framed("Cookie: theme=dark; sessionid=@@; lang=en", dice.of(BASE36, 32));
    Framed "query-signature" |dice|
        framed("https://x.example.com/f?X-Amz-Expires=60&X-Amz-Signature=@@&v=1", dice.of(HEX, 64));
    Framed "azure-sas" |dice|
        framed("https://x.example.com/c?sv=2022-11-02&sig=@@", format!("{}%3D", dice.of(BASE62, 43)));
    Framed "query-token" |dice|
        framed("https://x.example.com/cb?access_token=@@&state=1", dice.of(BASE62, 30));
    Framed "azure-storage" |dice|
        framed(
            "AccountName=store;AccountKey=@@;EndpointSuffix=core.example.net",
            format!("{}==", dice.of(BASE64, 86))
        );
    Framed "slack-webhook" |dice| {
        let path = format!("services/T{}/B{}/{}", dice.of(BASE32, 8), dice.of(BASE32, 10), dice.of(BASE62, 24));
        framed("https://hooks.slack.com/@@", path)
    };
    Framed "netrc" |dice| framed("machine git.example.com login me password @@", dice.of(BASE62, 16));
    Framed "pgpass" |dice| framed("db.internal:5432:app:me:@@", dice.of(BASE62, 16));
    Framed "npmrc" |dice| framed("//registry.example.com/:_authToken=@@", dice.of(BASE62, 36));
    Framed "curl-user" |dice| framed("curl -u me:@@ https://x.example.com", dice.of(BASE62, 16));
    Framed "aws-secret" |dice| framed("aws_secret_access_key = @@", dice.of(BASE64, 40));
    Named "password-random" |dice| dice.of(BASE62, 16);
    Named "password-short" |dice| dice.of(&format!("{BASE62}!#%*"), 12);
    Named "password-human" |dice| human(dice);
    Named "hex-32" |dice| dice.of(HEX, 32);
    Named "hex-64" |dice| dice.of(HEX, 64);
    Named "base36-24" |dice| dice.of(BASE36, 24);
    Named "base62-40" |dice| dice.of(BASE62, 40);
    Named "base64-44" |dice| format!("{}=", dice.of(BASE64, 43));
    Named "base32-upper" |dice| dice.of(BASE32, 32);
    Named "dashed" |dice| format!("{}-{}-{}", dice.of(BASE36, 8), dice.of(BASE36, 8), dice.of(BASE36, 8));
    Named "letters" |dice| format!("{}{}", dice.of(LETTERS, 28), dice.of(LOWER, 4));
}
