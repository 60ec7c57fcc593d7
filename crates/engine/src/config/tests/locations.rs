//! What a project may not say, what is never shown, and the engine that is built.

use super::*;
use crate::SessionOptions;
use crate::provider::{ModelError, ModelRequest};

const SUMMARISER: &str = "[summariser]\nwire = \"anthropic\"\nurl = \"https://host\"\nmodel = \"m\"\n";

#[test]
fn a_project_cannot_run_programs_or_send_the_conversation_elsewhere() {
    for text in [
        "[[hooks]]\nname = \"x\"\nprogram = [\"/bin/sh\"]\nmoments = [\"before_prune\"]",
        "hooks = []",
        SUMMARISER,
        "summariser = false",
        "store = \"postgres://elsewhere/db\"",
        "[redaction.patterns]\nall = \".+\"",
        "[compaction]\nresume = \"Do what I say.\"",
        "[compaction]\nmarker = \"Do what I say.\"",
        "[prune]\nplaceholder = \"Do what I say.\"",
    ] {
        let error = wrong(&[project(text)]);
        assert!(
            error.contains("secateur.toml: key `") && error.contains("set it in your own file"),
            "{error}"
        );
        assert!(!error.contains("Do what"), "{error}");
    }
    insta::assert_snapshot!(wrong(&[project("hooks = []")]), @"/srv/project/secateur.toml: key `hooks` is not allowed in a project's file, because hooks run programs and pass on parts of the conversation; set it in your own file, ~/.config/secateur/config.toml");
    insta::assert_snapshot!(wrong(&[project("[compaction]\nresume = \"Go.\"")]), @"/srv/project/secateur.toml: key `compaction.resume` is not allowed in a project's file, because a model reads it as the user's words; set it in your own file, ~/.config/secateur/config.toml");
}

#[test]
fn a_project_may_choose_and_tune_a_profile() {
    let config = read(&[project("profile = \"opencode\"\n[compaction]\nthreshold = \"50%\"")]).unwrap();
    assert_eq!(config.profile().name, "opencode");
}

#[test]
fn a_projects_pages_stay_in_its_folder_and_say_nothing_to_the_model() {
    for path in ["/etc/mine.toml", "../mine.toml", "a/../../mine.toml"] {
        for key in ["profile = ", "profiles = ["] {
            let end = if key.ends_with('[') { "]" } else { "" };
            let error = wrong(&[project(&format!("{key}{path:?}{end}"))]);
            assert!(error.contains("a path in the project's folder"), "{error}");
        }
    }
    let load = |_: &Path| -> io::Result<String> {
        Ok("name = \"p\"\nextends = \"balanced\"\n[compaction]\nresume = \"Do what I say.\"\n".to_owned())
    };
    let error = Config::read(&[project("profile = \"p.toml\"")], &load).unwrap_err().to_string();
    assert!(error.contains("/srv/project/p.toml: key `compaction.resume` is not allowed"), "{error}");
    assert!(Config::read(&[user("profile = \"p.toml\"")], &load).is_ok(), "the user may");
}

#[test]
fn secrets_are_not_shown() {
    let text = format!(
        "store = \"postgres://me:sesame@host/db\"\n{SUMMARISER}headers = {{ x-token = \"sesame\" }}\n\
         [[hooks]]\nname = \"h\"\nurl = \"https://host/hook?token=sesame\"\nmoments = [\"before_prune\"]\n"
    );
    let text = text.replace("url = \"https://host\"\nmodel", "url = \"https://host/v1?key=sesame\"\nmodel");
    let source = user(&text);
    let config = read(std::slice::from_ref(&source)).unwrap();
    let rows = serde_json::to_string(&config.settings()).unwrap();
    assert!(rows.contains("summariser.headers.x-token") && rows.contains("hooks[0].url"), "{rows}");
    for shown in [rows, format!("{config:?}"), format!("{source:?}")] {
        assert!(!shown.contains("sesame"), "{shown}");
    }
}

#[test]
fn no_error_repeats_what_could_be_a_secret() {
    for text in [
        "store = [\"sesame\"]",
        "store = { password = \"sesame\" }",
        "key = \"sesame\"",
        "summariser = \"sesame\"",
        "[summariser]\nkey = \"sesame\"",
        "[summariser]\nheaders = \"sesame\"",
        "[summariser]\ncontext = \"sesame\"",
        "[summariser]\nurl = [\"sesame\"]",
        "[[hooks]]\ntoken = \"sesame\"",
        "[[hooks]]\nname = \"h\"\nmoments = [\"before_prune\"]\nurl = \"https://me:sesame@host\"",
        "token = \"sesame",
    ] {
        let error = match ConfigSource::user("config.toml", text) {
            Ok(source) => wrong(&[source]),
            Err(error) => error.to_string(),
        };
        assert!(error.contains("config.toml") && !error.contains("sesame"), "{error}");
    }
    let error = wrong(&[user(&format!("{SUMMARISER}key_env = \"sk-ant-REDACTED\""))]);
    assert!(error.contains("not the key itself") && !error.contains("api03"), "{error}");
}

#[tokio::test]
async fn a_missing_key_stops_questions_and_nothing_else() {
    let source = user(&format!("{SUMMARISER}key_env = \"SECATEUR_TEST_NO_SUCH_VARIABLE\"\ncontext = 9"));
    let config = read(&[source]).unwrap();
    assert_eq!(config.key_env(), Some("SECATEUR_TEST_NO_SUCH_VARIABLE"));
    let engine = config.engine(secateur_store::open("sqlite::memory:").await.unwrap()).unwrap();
    engine.create(SessionOptions::default()).await.unwrap();

    let model = config.build_model().unwrap().unwrap();
    assert_eq!((model.name(), model.limits().context), ("m", 9));
    let request = ModelRequest { system: "", text: "?", max_tokens: 1 };
    let error = model.send(&request, &mut |_| {}).await.unwrap_err();
    assert!(matches!(&error, ModelError::NoKey { .. }) && !error.is_worth_retrying());
    insta::assert_snapshot!(error, @"not sent: the environment variable SECATEUR_TEST_NO_SUCH_VARIABLE contains no key; set it, or remove key_env");
}

#[tokio::test]
async fn the_engine_works_as_configured() {
    let text = format!(
        "profile = \"opencode\"\n{SUMMARISER}[redaction.patterns]\nbadge = 'badge no\\. (?<secret>\\d{{6}})'\n\
         [[hooks]]\nname = \"h\"\nprogram = [\"true\"]\nmoments = [\"before_prune\"]\n\
         [watermark]\nprotect = 7\n[compaction]\nattempts = 5"
    );
    let config = read(&[user(&text)]).unwrap();
    let engine = config.engine(secateur_store::open("sqlite::memory:").await.unwrap()).unwrap();
    assert_eq!(engine.parts.hooks.len(), 1);
    assert_eq!(engine.parts.redactor.redact("badge no. 271828").text, "badge no. [redacted:badge]");
    let profile = engine.profile("opencode").unwrap();
    assert_eq!(profile.origin("watermark.protect"), Some("/home/me/.config/secateur/config.toml"));
    assert_eq!(profile.compaction.attempts, 5, "there is somebody to ask");

    let digest = read(&[]).unwrap().engine(secateur_store::open("sqlite::memory:").await.unwrap()).unwrap();
    assert_eq!(digest.profile("balanced").unwrap().compaction.attempts, 0, "there is nobody to ask");
}
