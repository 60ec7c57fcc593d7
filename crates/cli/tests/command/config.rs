//! Settings: from where they are read, and how they are shown.

use std::process::Command;

use super::{Run, TestFolder};

/// A home, and a project in it with a folder below.
struct House {
    desk: TestFolder,
}

impl House {
    fn new() -> Self {
        let house = Self { desk: TestFolder::new() };
        for folder in ["home/.config/secateur", "code/project/below"] {
            std::fs::create_dir_all(house.desk.path(folder)).unwrap();
        }
        house
    }

    fn user(&self, text: &str) {
        self.desk.put("home/.config/secateur/config.toml", text);
    }

    fn project(&self, text: &str) {
        self.desk.put("code/project/secateur.toml", text);
    }

    /// Runs `secateur config` below the project. What is printed names the house `HOUSE`.
    fn config(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
        let output = Command::new(env!("CARGO_BIN_EXE_secateur"))
            .arg("config")
            .args(arguments)
            .current_dir(self.desk.path("code/project/below"))
            .env_clear()
            .env("HOME", self.desk.path("home"))
            .env("COLUMNS", "200")
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let folder = self.desk.folder.path().canonicalize().unwrap();
        let name = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap().replace(folder.to_str().unwrap(), "HOUSE");
            text.replace(self.desk.folder.path().to_str().unwrap(), "HOUSE")
        };
        Run { code: output.status.code().unwrap_or(-1), out: name(output.stdout), err: name(output.stderr) }
    }

    fn value(&self, key: &str, arguments: &[&str], variables: &[(&str, &str)]) -> String {
        let run = self.config(&[arguments, &["--json"]].concat(), variables);
        assert_eq!(run.code, 0, "{}", run.err);
        let settings = run.json();
        let row = settings["settings"].as_array().unwrap().iter().find(|row| row["key"] == key).unwrap();
        format!("{} from {}", row["value"], row["origin"].as_str().unwrap())
    }
}

#[test]
fn without_files_the_defaults_are_shown_with_their_profiles() {
    let run = House::new().config(&[], &[("XDG_DATA_HOME", "/data")]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    insta::assert_snapshot!("config", run.out);
}

#[test]
fn the_nearest_project_and_the_users_file_are_found() {
    let house = House::new();
    house.user("profile = \"opencode\"\n[watermark]\nprotect = 1\nminimum = 1\n");
    house.project("[watermark]\nprotect = 2\n");
    let value = |key: &str| house.value(key, &[], &[]);
    assert_eq!(value("watermark.protect"), "2 from HOUSE/code/project/secateur.toml");
    assert_eq!(value("watermark.minimum"), "1 from HOUSE/home/.config/secateur/config.toml");
    assert_eq!(value("store"), "\"sqlite:HOUSE/home/.local/share/secateur/sessions.db\" from default");
    let files = house.config(&["--path", "--json"], &[]).json();
    insta::assert_snapshot!(files, @r#"[{"from":"user","path":"HOUSE/home/.config/secateur/config.toml","found":true},{"from":"project","path":"HOUSE/code/project/secateur.toml","found":true}]"#);
    let table = house.config(&["--path"], &[]).out;
    assert_eq!(table.lines().count(), 3, "{table}");
}

#[test]
fn variables_and_flags_go_over_files() {
    let house = House::new();
    house.user("profile = \"qwery\"\n");
    let variables = [("SECATEUR_PROFILE", "opencode"), ("SECATEUR_COMPACTION_THRESHOLD", "70%")];
    let value = |key: &str, arguments: &[&str]| house.value(key, arguments, &variables);
    assert_eq!(value("profile", &[]), "\"opencode\" from environment SECATEUR_PROFILE");
    assert_eq!(value("compaction.threshold", &[]), "\"70%\" from environment SECATEUR_COMPACTION_THRESHOLD");
    assert_eq!(value("compaction.threshold", &["--set", "compaction.threshold=9"]), "9 from --set");
}

#[test]
fn a_file_that_is_named_is_the_only_one() {
    let house = House::new();
    house.user("profile = \"qwery\"\n");
    house.project("profile = \"opencode\"\n");
    let file = house.desk.put("own.toml", "[rent]\nleast_chars = 3\n");
    for (arguments, variables) in
        [(vec!["--config", &file], vec![]), (vec![], vec![("SECATEUR_CONFIG", file.as_str())])]
    {
        assert_eq!(house.value("profile", &arguments, &variables), "\"balanced\" from default");
        assert_eq!(house.value("rent.least_chars", &arguments, &variables), "3 from HOUSE/own.toml");
        assert_eq!(house.config(&[&arguments[..], &["--path"]].concat(), &variables).out.lines().count(), 2);
    }
    let run = house.config(&["--config", "gone.toml"], &[]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("cannot read gone.toml"), "{}", run.err);
}

#[test]
fn a_project_cannot_bring_hooks() {
    let house = House::new();
    house.project("[[hooks]]\nname = \"x\"\nprogram = [\"/bin/sh\"]\nmoments = [\"before_prune\"]\n");
    let run = house.config(&[], &[]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    insta::assert_snapshot!(run.err, @"error: HOUSE/code/project/secateur.toml: key `hooks` is not allowed in a project's file, because hooks run programs and pass on parts of the conversation; set it in your own file, ~/.config/secateur/config.toml");
}

#[test]
fn a_summariser_without_its_key_is_shown_with_a_warning_and_no_secrets() {
    let house = House::new();
    house.user(
        "store = \"postgres://me:sesame@host/db\"\n[summariser]\nwire = \"anthropic\"\nurl = \"https://host\"\n\
         model = \"m\"\nkey_env = \"HOUSE_KEY\"\nheaders = { x-token = \"sesame\" }\n",
    );
    let run = house.config(&[], &[]);
    assert_eq!(run.code, 0);
    assert!(run.out.contains("summariser.key_env") && !run.out.contains("sesame"), "{}", run.out);
    assert!(run.err.contains("HOUSE_KEY is not set"), "{}", run.err);
    let run = house.config(&[], &[("HOUSE_KEY", "sesame")]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(!run.out.contains("sesame"), "{}", run.out);
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let house = House::new();
    let folder = house.desk.path("home");
    let run = house.config(&["--config", folder.to_str().unwrap()], &[]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("not a regular file"), "{}", run.err);
    let endless = house.config(&["--set", "profile=/dev/zero.toml"], &[]);
    assert_eq!(endless.code, 2, "{}", endless.err);
}

#[test]
fn the_schema_is_printed_as_json() {
    let schema = House::new().config(&["--schema"], &[]).json();
    assert_eq!(schema["title"], "Secateur");
    assert_eq!(schema["additionalProperties"], false);
}
