//! The reference of profiles, made from their pages.

use std::fmt::Write as _;

use secateur::{Family, Profile, Profiles};

use crate::reference::{head, row};
use crate::root;

const BEGINNING: &str = "\
# Profiles

<!-- Made by crates/cli/tests/book/profiles.rs. Changes are lost; change the profiles. -->

A profile is a page of TOML: which family prunes and with which parameters, what counts as overflow, how a history is
compacted. `balanced` is the default everywhere. A name with a date or a version reproduces what shipped then, its bugs
included; a name without one is the newest version as a user would expect it. [How it decides](how-it-decides.md) tells
what the values of Secateur's own profiles mean, [the configuration](configuration.md) what each key is for.

The command says the same of any profile, your own included:

```console
$ secateur profiles
 profile … what it is
…
$ secateur profiles frugal
frugal: Secateur's own, thrifty: results go earlier, long outputs are shortened on arrival, old inputs go, too
…
 rent.ages.read …20 … frugal
…
```

Your own profile extends another and says what differs:

<!-- book: file mine.toml -->
```toml
name = \"mine\"
extends = \"balanced\"

[rent.ages]
read = 50             # texts of files stay for fifty model calls
other = 5

[rent.tools]
deny = [\"skill\", \"mcp.memory.*\"]
```

```console
$ secateur profiles mine.toml
…
 rent.ages.read …50 … mine.toml
…
$ secateur demo --save session.json
$ secateur prune session.json --profile mine.toml
session.json: OpenCode session, 20 messages, 116 parts
profile mine: …
…
```

`--profile` and the key `profile` of the configuration take the name of a built-in profile or the path of such a page.

";

/// The page.
pub(crate) fn page() -> String {
    let profiles = Profiles::builtin();
    let all: Vec<Profile> = profiles.names().map(|name| profiles.get(name).unwrap()).collect();
    let mut page = BEGINNING.to_owned();
    page += &head(&["profile", "family", "what it is"]);
    for profile in &all {
        page += &row(&[
            &format!("[`{0}`](#{1})", profile.name, anchor(&profile.name)),
            family(profile),
            &profile.about,
        ]);
    }
    for profile in &all {
        page += &section(profile);
    }
    page
}

fn section(profile: &Profile) -> String {
    let source = std::fs::read_to_string(root().join(format!("crates/core/profiles/{}.toml", profile.name)));
    let source = source.unwrap();
    let comment: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("# ")).collect();
    let table: toml::Table = source.parse().unwrap();
    let mut text = format!("\n## `{}`\n\n", profile.name);
    match comment.is_empty() {
        true => writeln!(text, "{}.\n", profile.about).unwrap(),
        false => writeln!(text, "{}\n", comment.join("\n")).unwrap(),
    }
    if let Some(of) = table.get("reproduces").and(profile.reproduces.as_ref()) {
        writeln!(text, "It reproduces {} {}.\n", of.system, of.version).unwrap();
    }
    match table.get("extends").and_then(toml::Value::as_str) {
        Some(base) => writeln!(text, "It extends [`{base}`](#{}) and changes:\n", anchor(base)).unwrap(),
        None => text += "Its values:\n\n",
    }
    text += &head(&["key", "value"]);
    let about_itself = |key: &str| matches!(key, "name" | "about") || key.starts_with("reproduces");
    for (key, value, origin) in profile.settings() {
        if origin == profile.name && !about_itself(key) {
            text += &row(&[&format!("`{key}`"), &format!("`{value}`")]);
        }
    }
    text
}

fn family(profile: &Profile) -> &'static str {
    match profile.policy.family {
        Family::Watermark(_) => "watermark",
        Family::Ratio(_) => "ratio",
        Family::KeepLast(_) => "keep-last",
        Family::Rent(_) => "rent",
    }
}

/// The name under which a profile's heading can be linked to.
fn anchor(name: &str) -> String {
    name.chars().filter(|point| point.is_alphanumeric() || *point == '-').collect()
}
