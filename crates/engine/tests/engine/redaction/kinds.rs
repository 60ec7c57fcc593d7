//! The kinds of credentials that are planted.

use super::random::{BASE32, BASE36, BASE62, BASE64, DIGITS, HEX, LETTERS, LOWER, Random, UPPER, URL64};

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
    pub(crate) make: fn(&mut Random) -> (String, String),
}

macro_rules! kinds {
    ($($group:ident $name:literal |$random:ident| $make:expr;)*) => {
        pub(crate) const KINDS: &[Kind] = &[$(Kind {
            name: $name,
            group: Group::$group,
            make: |$random| $make.into_pair(),
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

fn jwt(random: &mut Random) -> String {
    let head = random.base64_of(r#"{"alg":"HS256","typ":"JWT"}"#);
    let subject = random.of(DIGITS, 10);
    let body = random.base64_of(&format!(r#"{{"sub":"{subject}","iat":1516239022}}"#));
    let clean = |part: String| part.trim_end_matches('=').replace('+', "-").replace('/', "_");
    format!("{}.{}.{}", clean(head), clean(body), random.of(URL64, 43))
}

fn pem(random: &mut Random, kind: &str, lines: usize) -> String {
    let body: Vec<String> = (0..lines).map(|_| random.of(BASE64, 64)).collect();
    let last = random.of(BASE64, 22);
    format!("-----BEGIN {kind}-----\n{}\n{last}==\n-----END {kind}-----", body.join("\n"))
}

/// As people make them up.
fn human(random: &mut Random) -> String {
    let word = random.pick(&["Summer", "Dragon", "Welcome", "Coffee", "Monkey", "Admin", "Berlin", "Purple"]);
    let sign = random.pick(&["!", "#", "$", "@", "%", "*"]);
    format!("{word}{}{sign}", random.of(DIGITS, 4))
}

kinds! {
    Shaped "anthropic" |random| format!("sk-ant-api03-{}AA", random.of(URL64, 93));
    Shaped "anthropic-oauth" |random| format!("sk-ant-oat01-{}", random.of(URL64, 95));
    Shaped "openai" |random| format!("sk-{}T3BlbkFJ{}", random.of(BASE62, 20), random.of(BASE62, 20));
    Shaped "openai-project" |random| format!("sk-proj-{}", random.of(URL64, 120));
    Shaped "openai-service" |random| format!("sk-svcacct-{}", random.of(URL64, 80));
    Shaped "openai-like" |random| format!("sk-{}", random.of(HEX, 32));
    Shaped "openrouter" |random| format!("sk-or-v1-{}", random.of(HEX, 64));
    Shaped "google" |random| format!("AIza{}", random.of(URL64, 35));
    Shaped "groq" |random| format!("gsk_{}", random.of(BASE62, 52));
    Shaped "xai" |random| format!("xai-{}", random.of(BASE62, 80));
    Shaped "huggingface" |random| format!("hf_{}", random.of(LETTERS, 34));
    Shaped "replicate" |random| format!("r8_{}", random.of(BASE62, 37));
    Shaped "perplexity" |random| format!("pplx-{}", random.of(BASE62, 48));
    Shaped "fireworks" |random| format!("fw_{}", random.of(BASE62, 24));
    Shaped "cerebras" |random| format!("csk-{}", random.of(BASE36, 48));
    Shaped "nvidia" |random| format!("nvapi-{}", random.of(URL64, 64));
    Shaped "tavily" |random| format!("tvly-dev-{}", random.of(BASE62, 32));
    Shaped "pinecone" |random| format!("pcsk_{}_{}", random.of(BASE62, 6), random.of(BASE62, 63));
    Shaped "langsmith" |random| format!("lsv2_pt_{}_{}", random.of(HEX, 32), random.of(HEX, 10));
    Shaped "aws-access-key" |random| format!("{}{}", random.pick(&["AKIA", "ASIA"]), random.of(BASE32, 16));
    Shaped "aws-session-token" |random|
        format!("IQoJb3JpZ2luX2VjE{}//////////wEa{}==", random.of(BASE64, 3), random.of(BASE64, 300));
    Shaped "google-oauth-secret" |random| format!("GOCSPX-{}", random.of(URL64, 28));
    Shaped "google-access-token" |random| format!("ya29.{}", random.of(URL64, 120));
    Shaped "azure-client-secret" |random| format!("{}8Q~{}", random.of(BASE62, 3), random.of(BASE62, 34));
    Shaped "digitalocean" |random| format!("dop_v1_{}", random.of(HEX, 64));
    Shaped "vault" |random| format!("hvs.{}", random.of(URL64, 90));
    Shaped "terraform" |random| format!("{}.atlasv1.{}", random.of(BASE62, 14), random.of(BASE62, 67));
    Shaped "databricks" |random| format!("dapi{}", random.of(HEX, 32));
    Shaped "doppler" |random| format!("dp.pt.{}", random.of(BASE62, 43));
    Shaped "supabase" |random| format!("sbp_{}", random.of(HEX, 40));
    Shaped "planetscale" |random| format!("pscale_tkn_{}", random.of(BASE62, 43));
    Shaped "github" |random|
        format!("{}{}", random.pick(&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]), random.of(BASE62, 36));
    Shaped "github-fine" |random| format!("github_pat_{}_{}", random.of(BASE62, 22), random.of(BASE62, 59));
    Shaped "gitlab" |random| format!("glpat-{}", random.of(URL64, 20));
    Shaped "npm" |random| format!("npm_{}", random.of(BASE62, 36));
    Shaped "pypi" |random| format!("pypi-AgEIcHlwaS5vcmc{}", random.of(URL64, 150));
    Shaped "docker" |random| format!("dckr_pat_{}", random.of(URL64, 27));
    Shaped "atlassian" |random| format!("ATATT3xFfGF0{}={}", random.of(URL64, 170), random.of(HEX, 8));
    Shaped "slack-bot" |random|
        format!("xoxb-{}-{}-{}", random.of(DIGITS, 12), random.of(DIGITS, 13), random.of(BASE62, 24));
    Shaped "slack-user" |random|
        format!("xoxp-{}-{}-{}", random.of(DIGITS, 12), random.of(DIGITS, 12), random.of(HEX, 32));
    Shaped "slack-app" |random|
        format!("xapp-1-A{}-{}-{}", random.of(BASE32, 10), random.of(DIGITS, 13), random.of(HEX, 64));
    Shaped "discord" |random| {
        let id = format!("{}{}", random.pick(&["1", "2", "7", "9"]), random.of(DIGITS, 17));
        format!("{}.{}.{}", random.base64_of(&id), random.of(URL64, 6), random.of(URL64, 38))
    };
    Shaped "telegram" |random| format!("{}:AA{}", 1_000_000_000 + random.below(999_999_999), random.of(URL64, 33));
    Shaped "stripe" |random| format!("{}_live_{}", random.pick(&["sk", "rk"]), random.of(BASE62, 24));
    Shaped "twilio" |random| format!("SK{}", random.of(HEX, 32));
    Shaped "sendgrid" |random| format!("SG.{}.{}", random.of(URL64, 22), random.of(URL64, 43));
    Shaped "mailgun" |random| format!("key-{}", random.of(HEX, 32));
    Shaped "brevo" |random| format!("xkeysib-{}-{}", random.of(HEX, 64), random.of(BASE62, 16));
    Shaped "linear" |random| format!("lin_api_{}", random.of(BASE62, 40));
    Shaped "notion" |random| format!("ntn_{}{}", random.of(DIGITS, 11), random.of(BASE62, 35));
    Shaped "airtable" |random| format!("pat{}.{}", random.of(BASE62, 14), random.of(HEX, 64));
    Shaped "figma" |random| format!("figd_{}", random.of(URL64, 40));
    Shaped "shopify" |random| format!("shpat_{}", random.of(HEX, 32));
    Shaped "newrelic" |random| format!("NRAK-{}", random.of(&format!("{UPPER}{DIGITS}"), 27));
    Shaped "grafana" |random| format!("glsa_{}_{}", random.of(BASE62, 32), random.of(HEX, 8));
    Shaped "age" |random| format!("AGE-SECRET-KEY-1{}", random.of(BASE32, 58));
    Shaped "jwt" |random| jwt(random);
    Shaped "pem-rsa" |random| pem(random, "RSA PRIVATE KEY", 24);
    Shaped "pem-openssh" |random| pem(random, "OPENSSH PRIVATE KEY", 5);
    Shaped "pem-pkcs8" |random| pem(random, "PRIVATE KEY", 2);
    Shaped "pem-pgp" |random| pem(random, "PGP PRIVATE KEY BLOCK", 12);
    Shaped "pem-cut" |random| {
        let key = pem(random, "EC PRIVATE KEY", 6);
        key[..key.len() - 80 - random.below(100)].trim_end().to_owned()
    };
    Framed "url-password" |random| framed("postgres://app:@@@db.internal:5432/app", random.of(BASE62, 14));
    Framed "url-token" |random| framed("https://@@@git.example.com/a/b.git", random.of(BASE62, 40));
    Framed "bearer" |random| framed("Authorization: Bearer @@", random.of(URL64, 40));
    Framed "basic" |random| {
        let pair = format!("user{}:{}", random.below(99), random.of(BASE62, 12));
        framed("Authorization: Basic @@", random.base64_of(&pair))
    };
    Framed "api-key-header" |random| framed("x-api-key: @@", random.of(BASE62, 32));
    Framed "cookie" |random| framed("Cookie: theme=dark; sessionid=@@; lang=en", random.of(BASE36, 32));
    Framed "query-signature" |random|
        framed("https://x.example.com/f?X-Amz-Expires=60&X-Amz-Signature=@@&v=1", random.of(HEX, 64));
    Framed "azure-sas" |random|
        framed("https://x.example.com/c?sv=2022-11-02&sig=@@", format!("{}%3D", random.of(BASE62, 43)));
    Framed "query-token" |random|
        framed("https://x.example.com/cb?access_token=@@&state=1", random.of(BASE62, 30));
    Framed "azure-storage" |random|
        framed(
            "AccountName=store;AccountKey=@@;EndpointSuffix=core.example.net",
            format!("{}==", random.of(BASE64, 86))
        );
    Framed "slack-webhook" |random| {
        let path = format!("services/T{}/B{}/{}", random.of(BASE32, 8), random.of(BASE32, 10), random.of(BASE62, 24));
        framed("https://hooks.slack.com/@@", path)
    };
    Framed "netrc" |random| framed("machine git.example.com login me password @@", random.of(BASE62, 16));
    Framed "pgpass" |random| framed("db.internal:5432:app:me:@@", random.of(BASE62, 16));
    Framed "npmrc" |random| framed("//registry.example.com/:_authToken=@@", random.of(BASE62, 36));
    Framed "curl-user" |random| framed("curl -u me:@@ https://x.example.com", random.of(BASE62, 16));
    Framed "aws-secret" |random| framed("aws_secret_access_key = @@", random.of(BASE64, 40));
    Named "password-random" |random| random.of(BASE62, 16);
    Named "password-short" |random| random.of(&format!("{BASE62}!#%*"), 12);
    Named "password-human" |random| human(random);
    Named "hex-32" |random| random.of(HEX, 32);
    Named "hex-64" |random| random.of(HEX, 64);
    Named "base36-24" |random| random.of(BASE36, 24);
    Named "base62-40" |random| random.of(BASE62, 40);
    Named "base64-44" |random| format!("{}=", random.of(BASE64, 43));
    Named "base32-upper" |random| random.of(BASE32, 32);
    Named "dashed" |random| format!("{}-{}-{}", random.of(BASE36, 8), random.of(BASE36, 8), random.of(BASE36, 8));
    Named "letters" |random| format!("{}{}", random.of(LETTERS, 28), random.of(LOWER, 4));
}
