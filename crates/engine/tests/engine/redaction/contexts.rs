//! The contexts in which credentials are planted.

use super::kinds::Group;
use super::random::Random;

/// A text with a credential in it.
pub(crate) struct Scene {
    pub(crate) context: &'static str,
    pub(crate) text: String,
    /// What must be redacted, as it is written in the text.
    pub(crate) secret: String,
}

/// Neutral names, and names that announce a credential, in the spellings of different files.
const PLAIN: [&str; 4] = ["VALUE", "SETTING_A", "INPUT", "DATA_1"];
const TELLING: [&str; 8] = [
    "DB_PASSWORD",
    "CLIENT_SECRET",
    "API_KEY",
    "AUTH_TOKEN",
    "MYSQL_PWD",
    "APP_SECRET_KEY",
    "SMTP_PASSWORD",
    "WEBHOOK_SECRET",
];
/// A made-up password is only expected to be found where a password is announced.
const PASSWORDS: [&str; 4] = ["DB_PASSWORD", "ADMIN_PASSWD", "SMTP_PASS", "KEYSTORE_PASSPHRASE"];

fn camel(name: &str) -> String {
    let mut out = String::new();
    for (index, word) in name.to_lowercase().split('_').enumerate() {
        let (head, tail) = word.split_at(usize::from(index > 0));
        out.push_str(&head.to_uppercase());
        out.push_str(tail);
    }
    out
}

/// As a JSON string, without the quotes.
fn escape(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The credential in every context.
pub(crate) fn scenes(
    random: &mut Random,
    kind: &str,
    group: Group,
    planted: &str,
    secret: &str,
) -> Vec<Scene> {
    let name = match group {
        Group::Named if kind == "password-human" => random.pick(&PASSWORDS),
        Group::Named => random.pick(&TELLING),
        Group::Shaped | Group::Framed => random.pick(&PLAIN),
    };
    let (lower, camel) = (name.to_lowercase(), camel(name));
    let kebab = lower.replace('_', "-");
    // A separate line for a whole line, otherwise the value of a name.
    let line = group == Group::Framed;
    let one = planted.replace('\n', "\\n");
    let env = if line {
        format!("# notes\n{planted}\nPORT=8080\n")
    } else {
        format!("PORT=8080\n{name}={one}\nDEBUG=0\n")
    };
    let shell = if line {
        format!("$ {one}\nok\n")
    } else {
        format!("$ deploy --region eu --{kebab} {one} --verbose\ndone\n")
    };
    let log = if line {
        format!("2024-05-01T10:00:00Z INFO sent: {one}\n2024-05-01T10:00:01Z INFO got 200\n")
    } else {
        format!("10.0.0.7 - - \"GET /v1/items?{lower}={one}&page=2 HTTP/1.1\" 200 512\n")
    };
    let yaml = if line {
        format!("env:\n  note: |\n    {planted}\n  port: 8080\n")
    } else {
        format!("service:\n  port: 8080\n  {camel}: {one}\n  debug: false\n")
    };
    let python = if line {
        format!("import os\nline = '''\n{planted}\n'''\nprint(len(line))\n")
    } else {
        format!("import os\n{lower} = \"{one}\"\nclient = Client({lower})\n")
    };
    let markdown = format!("Set it up:\n\n```sh\n{env}```\n\nThen restart.\n");
    let object = if line {
        serde_json::json!({ "line": planted })
    } else {
        serde_json::json!({ camel.as_str(): planted })
    };
    let pretty = serde_json::to_string_pretty(&object).unwrap();
    let result =
        serde_json::json!({ "type": "tool_result", "content": [{ "type": "text", "text": pretty }] })
            .to_string();
    let env_result = serde_json::json!({ "output": env, "exit_code": 0 }).to_string();
    let broken = secret.replace('\n', "\\n");
    let texts = [
        ("env file", env.clone(), if line { secret.to_owned() } else { broken.clone() }),
        ("shell command", shell, broken.clone()),
        ("log of requests", log, broken.clone()),
        ("yaml", yaml, if line { secret.to_owned() } else { broken.clone() }),
        ("python", python, if line { secret.to_owned() } else { broken.clone() }),
        ("markdown", markdown, if line { secret.to_owned() } else { broken.clone() }),
        ("json", pretty, escape(secret)),
        ("json in json", result, escape(&escape(secret))),
        ("env file in json", env_result, if line { escape(secret) } else { escape(&broken) }),
    ];
    texts.into_iter().map(|(context, text, secret)| Scene { context, text, secret }).collect()
}
