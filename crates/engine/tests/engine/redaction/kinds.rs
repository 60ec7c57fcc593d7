//! The kinds of credentials that are planted.

use super::encoders::{base58, escape_slashes, hex, key_pair, percent, wallet_import};
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

/// A token of GitHub, as what others encode.
fn github(random: &mut Random) -> String {
    format!("ghp_{}", random.of(BASE62, 36))
}

/// The alphabet of password hashes.
const CRYPT: &str = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn guid(random: &mut Random) -> String {
    [8, 4, 4, 4, 12].map(|length| random.of(HEX, length)).join("-")
}

/// A sentence with a credential in place of `@@`.
fn told(random: &mut Random, sentences: &[&str], secret: String) -> (String, String) {
    framed(random.pick(sentences), secret)
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
    Shaped "sourcegraph" |random| format!("sgp_{}", random.of(HEX, 40));
    Shaped "sourcegraph-instance" |random| format!("sgp_{}_{}", random.of(HEX, 16), random.of(HEX, 40));
    Shaped "azure-devops" |random|
        format!("{}JQQJ99{}AZDO{}", random.of(BASE62, 52), random.of(BASE62, 18), random.of(BASE62, 4));
    Shaped "hash-sha512" |random| format!("$6${}${}", random.of(CRYPT, 16), random.of(CRYPT, 86));
    Shaped "hash-sha256" |random| format!("$5$rounds=5000${}${}", random.of(CRYPT, 16), random.of(CRYPT, 43));
    Shaped "hash-yescrypt" |random| format!("$y$j9T${}${}", random.of(CRYPT, 22), random.of(CRYPT, 43));
    Shaped "hash-bcrypt" |random|
        format!("${}$12${}", random.pick(&["2a", "2b", "2y"]), random.of(CRYPT, 53));
    Shaped "hash-apr1" |random|
        format!("${}${}${}", random.pick(&["apr1", "1"]), random.of(CRYPT, 8), random.of(CRYPT, 22));
    Shaped "hash-argon2" |random| {
        let (salt, hash) = (random.of(BASE64, 22), random.of(BASE64, 43));
        format!("$argon2id$v=19$m=65536,t=3,p=4${salt}${hash}")
    };
    Shaped "bitcoin-wif" |random| wallet_import(random);
    Shaped "solana-base58" |random| base58(&key_pair(random));
    Shaped "solana-array" |random| format!("{:?}", key_pair(random)).replace(' ', "");
    Shaped "in-base64" |random| {
        let token = github(random);
        random.base64_of(&token)
    };
    Shaped "settings-in-base64" |random| {
        let settings = format!("PORT=8080\nDB_PASSWORD={}\n", random.of(BASE62, 20));
        random.base64_of(&settings)
    };
    Shaped "in-hex" |random| hex(&github(random));
    Shaped "in-percent" |random| percent(&github(random));
    Shaped "in-json-code" |random| {
        let key = format!("AKIA{}", random.of(BASE32, 16));
        let (head, tail) = key.split_at(4 + random.below(16));
        format!("{head}\\u{:04x}{}", tail.as_bytes()[0], &tail[1..])
    };
    Framed "aws-csv" |random| {
        let key = format!("AKIA{}", random.of(BASE32, 16));
        framed(&format!("{key},@@"), random.of(BASE64, 40))
    };
    Framed "docker-auth" |random| {
        let pair = format!("user{}:{}", random.below(99), random.of(BASE62, 12));
        framed(r#""registry.example.com": {"auth": "@@"}"#, random.base64_of(&pair))
    };
    Framed "percent-assignment" |random| {
        let name = random.pick(&["token", "password", "api_key", "client_secret"]);
        let frame = format!("https://x.example.com/in?next=%2Fcb%3F{name}%3D@@%26state%3D1");
        framed(&frame, random.of(BASE62, 24))
    };
    Framed "azure-devops-old" |random| {
        let frame = random.pick(&["AZURE_DEVOPS_EXT_PAT=@@", "az devops login --org https://dev.azure.com/x # @@"]);
        framed(frame, random.of("abcdefghijklmnopqrstuvwxyz234567", 52))
    };
    Framed "slack-webhook-escaped" |random| {
        let path = format!("services/T{}/B{}/{}", random.of(BASE32, 8), random.of(BASE32, 10), random.of(BASE62, 24));
        framed(r"https:\/\/hooks.slack.com\/@@", escape_slashes(&path))
    };
    Framed "discord-webhook" |random| {
        let frame = random.pick(&["https://discord.com/api/webhooks/@@", "https://discord.com/api/v10/webhooks/@@"]);
        framed(frame, format!("1{}/{}", random.of(DIGITS, 17), random.of(URL64, 68)))
    };
    Framed "teams-webhook" |random| {
        let ids = format!("{}@{}", guid(random), guid(random));
        let path = format!("{ids}/IncomingWebhook/{}/{}", random.of(HEX, 32), guid(random));
        if random.below(2) == 0 {
            framed("https://x.webhook.office.com/@@", format!("webhookb2/{path}"))
        } else {
            framed("https://outlook.office.com/@@", format!("webhook/{path}"))
        }
    };
    Framed "shadow" |random| {
        let hash = format!("$6${}${}", random.of(CRYPT, 8), random.of(CRYPT, 86));
        framed("root:@@:19700:0:99999:7:::", hash)
    };
    Framed "htpasswd" |random| framed("admin:@@", format!("$2y$05${}", random.of(CRYPT, 53)));
    Framed "told-password" |random| {
        let secret = random.of(BASE62, 16);
        told(random, &["The password is @@.", "the admin password is now `@@`", "password for db is @@"], secret)
    };
    Framed "told-password-human" |random| {
        let secret = human(random);
        told(random, &["the password is @@", "We changed the root password to \"@@\" today"], secret)
    };
    Framed "told-key" |random| {
        let secret = random.of(BASE62, 32);
        told(random, &["your API key is @@", "The api key is: @@", "Access key: @@"], secret)
    };
    Framed "told-token" |random| {
        let secret = random.of(HEX, 40);
        told(random, &["the token is @@", "The token of the bot is @@, keep it."], secret)
    };
    Framed "ethereum" |random| {
        let secret = format!("0x{}", random.of(HEX, 64));
        told(random, &["Private key: @@", "Private Keys: (0) @@", "import this private key @@ first"], secret)
    };
}
