//! The reference of the configuration, made from the schema of its file.

use std::collections::BTreeMap;

use secateur_engine::config::{Config, VARIABLES, schema};
use secateur_engine::provider::{Endpoint, TokensField};
use secateur_formats::Wire;
use serde_json::Value;

use crate::reference::{head, row};

const BEGINNING: &str = "\
# Configuration

<!-- Made by crates/cli/tests/book/configuration.rs. Changes are lost; change the schema. -->

Nothing has to be configured. What is, is read from these places, the later ones on top of the earlier:

1. what is built in;
2. your own file, `~/.config/secateur/config.toml`, or `$XDG_CONFIG_HOME/secateur/config.toml`;
3. the project's file, `secateur.toml` in the working directory or in the nearest folder above it;
4. variables of the environment;
5. flags: `--set KEY=VALUE`, any number of them.

`--config FILE` or the variable `SECATEUR_CONFIG` names a file that is read in place of both files. Tables are laid over
one another key by key; lists are replaced as a whole, except `profiles`, to which each place adds. A key that nobody
knows, a wrong type or an impossible value is an error that names the key, the value, the place and what is allowed.

<!-- book: file ~/.config/secateur/config.toml -->
```toml
profile = \"careful\"

[compaction]
threshold = \"80%\"                               # or a number of tokens
caps = { \"*\" = \"25%\", \"bash*\" = 8000 }          # the longest results that are let in, by tool

[compaction.models.\"*-mini\"]
threshold = 60000

[summariser]
wire = \"openai-chat\"
url = \"http://127.0.0.1:8080/v1\"
model = \"a-small-model\"
```

```console
$ secateur config --path
…
 user     /home/you/.config/secateur/config.toml … yes
 project … no
$ secateur config --set rent.margin=2.0 | grep -E ' (profile|rent.margin|rent.ages.read) '
 profile …\"careful\" …
 rent.ages.read …100 … careful
 rent.margin …2.0 … --set
$ secateur config --set rent.margins=2  # exit code 2
error: --set: key `rent.margins` = 2: unknown field `margins`, expected one of `ages`, …
$ secateur config --schema > secateur.schema.json
```

`secateur config --schema` prints the JSON Schema that this page is made of; editors complete and check the file by it.

**A project's file is a stranger's.** It comes with a repository, so it may choose and tune a profile, and nothing that
runs a program, sends the conversation somewhere or puts words into your mouth: `store`, `summariser`, `hooks`,
`redaction`, `serve`, `compaction.marker`, `compaction.resume` and `prune.placeholder` are refused in it, and so are paths
of profiles that lead out of its folder.

**Keys of profiles.** `[compaction]` and the tables below it belong to the [profile](profiles.md) and go over the one
that was chosen. Of `[rent]`, `[watermark]`, `[ratio]` and `[keep-last]` only the one by which that profile prunes can be
set. Their defaults here are those of `balanced`; a dash means that nothing is set.

";

const END: &str = "
## Variables of the environment

";

const OTHERS: &str = "
These have no key in the file:

| variable | what it sets |
|---|---|
| `SECATEUR_CONFIG` | the file of settings that is read in place of your own and the project's |
| `SECATEUR_MODELS` | a file of models that goes over the built-in catalogue |
| `SECATEUR_LOG` | what `secateur serve` writes about requests: `off`, `error`, `warn`, `info` or `debug` |
| `SECATEUR_LOG_FORMAT` | how it writes that: `text` or `json`, over `serve.log_format` |
| `OPENCODE_DISABLE_PRUNE`, `OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX` | for the OpenCode profiles what they mean for OpenCode |

A file of models looks like this:

<!-- book: file models.toml -->
```toml
[[model]]
id = \"house-model\"
provider = \"house\"
context = 65536
output = 8192
```

```console
$ SECATEUR_MODELS=models.toml secateur overflow --model house/house-model --input 60000 --output 500
…
```
";

/// The page.
pub(crate) fn page() -> String {
    let schema = schema();
    let defaults = defaults();
    let keys = schema["properties"].as_object().unwrap();
    let mut page = BEGINNING.to_owned() + "## The file itself\n\n" + &head(&HEAD);
    let mut sections = String::new();
    for (key, value) in keys {
        let inner = resolve(&schema, value);
        if inner.get("properties").is_none() {
            page += &line(&schema, key, value, &defaults, key);
            continue;
        }
        let title = if key == "hooks" { "[[hooks]]".to_owned() } else { format!("[{key}]") };
        sections +=
            &format!("\n## `{title}`\n\n{}\n\n{}", value["description"].as_str().unwrap(), head(&HEAD));
        sections += &rows(&schema, "", inner, &defaults, key);
    }
    page += &sections;
    page += END;
    page += &head(&["variable", "key"]);
    for (variable, key) in VARIABLES {
        page += &row(&[&format!("`{variable}`"), &format!("`{key}`")]);
    }
    page + OTHERS
}

const HEAD: [&str; 4] = ["key", "type", "default", "meaning"];

/// The rows of a table's keys, those of tables inside it included.
fn rows(
    schema: &Value,
    path: &str,
    table: &Value,
    defaults: &BTreeMap<String, String>,
    whole: &str,
) -> String {
    let mut text = String::new();
    let required = table["required"].as_array().map_or(&[][..], Vec::as_slice);
    for (key, value) in table["properties"].as_object().unwrap() {
        let (path, whole) = (format!("{path}{key}"), format!("{whole}.{key}"));
        let row = line(schema, &path, value, defaults, &whole);
        text += &if required.contains(&Value::from(key.as_str())) {
            row.replacen("| — |", "| required |", 1)
        } else {
            row
        };
        let inner = resolve(schema, value);
        if inner.get("properties").is_some() {
            text += &rows(schema, &format!("{path}."), inner, defaults, &whole);
        } else if inner["additionalProperties"].get("properties").is_some() {
            let inner = &inner["additionalProperties"];
            text += &rows(schema, &format!("{path}.PATTERN."), inner, defaults, &format!("{whole}.*"));
        }
    }
    text
}

fn line(
    schema: &Value,
    key: &str,
    value: &Value,
    defaults: &BTreeMap<String, String>,
    whole: &str,
) -> String {
    let meaning = value["description"]
        .as_str()
        .unwrap_or_else(|| panic!("the schema does not say what {whole} is for"));
    let is_below = |key: &String| key.strip_prefix(whole).is_some_and(|rest| rest.starts_with('.'));
    if defaults.keys().any(is_below) {
        return row(&[&format!("`{key}`"), &kind(schema, value), "see below", meaning]);
    }
    let own = value.get("default").or(resolve(schema, value).get("default")).map(Value::to_string);
    let default = defaults.get(whole).cloned().or(own).map_or("—".to_owned(), |value| format!("`{value}`"));
    row(&[&format!("`{key}`"), &kind(schema, value), &default, meaning])
}

/// What is referred to, if the schema refers to something.
fn resolve<'s>(schema: &'s Value, value: &'s Value) -> &'s Value {
    let items = value.get("items").filter(|items| items.get("$ref").is_some());
    let value = items.unwrap_or(value);
    let refers = value["anyOf"][0]["$ref"].as_str().or(value["$ref"].as_str());
    refers.and_then(|path| schema.pointer(path.trim_start_matches('#'))).unwrap_or(value)
}

/// The type of a value, in words.
fn kind(schema: &Value, value: &Value) -> String {
    let quoted = |words: &[Value]| {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        words.join(", ")
    };
    match value["$ref"].as_str() {
        Some("#/$defs/Amount") => return "tokens, or a share such as `\"25%\"`".to_owned(),
        Some("#/$defs/Age") => return "calls, or `\"never\"`".to_owned(),
        _ => {}
    }
    let inner = if value.get("items").is_some() { value } else { resolve(schema, value) };
    if let Some(words) = inner["enum"].as_array() {
        return format!("one of {}", quoted(words));
    }
    if let Some(choices) = inner["oneOf"].as_array() {
        let words: Vec<Value> = choices.iter().map(|choice| choice["const"].clone()).collect();
        return format!("one of {}", quoted(&words));
    }
    match inner["type"].as_str() {
        Some("array") => match kind(schema, &inner["items"]) {
            one if one.starts_with("one of") => format!("list; each {one}"),
            text if text == "text" => "list of texts".to_owned(),
            other => format!("list of {other}s"),
        },
        Some("object") if inner.get("properties").is_none() => match &inner["additionalProperties"] {
            any if any.get("properties").is_some() => "tables by pattern".to_owned(),
            any => format!("table; each {}", kind(schema, any)),
        },
        Some("object") => "table".to_owned(),
        Some("string") => "text".to_owned(),
        Some("integer") => "whole number".to_owned(),
        Some("boolean") => "`true` or `false`".to_owned(),
        Some(other) => other.to_owned(),
        None => "anything".to_owned(),
    }
}

/// What holds if nobody says anything, by keys.
fn defaults() -> BTreeMap<String, String> {
    let config = Config::read(&[], &|_| Err(std::io::ErrorKind::NotFound.into())).unwrap();
    let settings = config.settings().into_iter();
    let mut defaults: BTreeMap<String, String> =
        settings.map(|setting| (setting.key, setting.value.to_string())).collect();
    // The command keeps sessions in the user's data folder, which depends on the user.
    defaults.insert("store".to_owned(), "sqlite:~/.local/share/secateur/sessions.db".to_owned());
    let caps = defaults.remove("compaction.caps.*").expect("the default profile has a cap");
    defaults.insert("compaction.caps".to_owned(), format!("{{ \"*\" = {caps} }}"));
    let tokens_field = match Endpoint::new(Wire::OpenAiChat, "", "").tokens_field {
        TokensField::MaxTokens => "max_tokens",
        TokensField::MaxCompletionTokens => "max_completion_tokens",
    };
    defaults.insert("summariser.tokens_field".to_owned(), format!("{tokens_field:?}"));
    let usual = secateur_server::Settings::default();
    let serve = [
        ("listen", usual.listen.to_string()),
        ("anthropic", usual.anthropic.to_string()),
        ("openai", usual.openai.to_string()),
        ("gemini", usual.gemini.to_string()),
    ];
    defaults.extend(serve.map(|(key, value)| (format!("serve.{key}"), format!("{value:?}"))));
    defaults.insert("serve.headers".to_owned(), usual.headers.to_string());
    defaults
}
