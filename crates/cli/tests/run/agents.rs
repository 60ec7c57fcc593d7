//! What each agent is told, and that nothing of the user's is changed. The agents are scripts that write down how they
//! were called.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::stage::{Stage, end};
use crate::upstream::{Manner, Upstream};

/// Every file below a folder, with its content.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        // What the proxy keeps is its own.
        if path.is_dir() && !path.ends_with(".local") {
            found.extend(files(&path));
        } else if path.is_file() {
            found.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    found
}

/// Runs an agent that writes its arguments down, one a line, and gives them.
fn arguments(stage: &Stage, agent: &str, own: &[&str]) -> (Vec<String>, String) {
    stage.program(
        agent,
        "printf '%s\\n' \"$@\" >$DESK/args; env >$DESK/env; cp \"$2\" $DESK/file 2>/dev/null; true",
    );
    let before = files(&stage.path("home"));
    let call: Vec<&str> = [agent].into_iter().chain(own.iter().copied()).collect();
    let run = end(stage.run(&call).env("ANTHROPIC_API_KEY", "none"));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(files(&stage.path("home")), before);
    (stage.read("args").lines().map(str::to_owned).collect(), run.err)
}

#[test]
fn codex_is_told_by_arguments_in_front_of_the_users() {
    let stage = Stage::new();
    let (told, _) = arguments(&stage, "codex", &["exec", "do it"]);
    assert_eq!((told[0].as_str(), &told[2..]), ("-c", &["exec".to_owned(), "do it".to_owned()][..]));
    assert!(told[1].starts_with("openai_base_url=\"http://127.0.0.1:"), "{told:?}");
    assert!(told[1].ends_with("/v1\""), "{told:?}");
}

#[test]
fn a_provider_of_the_users_own_keeps_its_name_in_codex() {
    let stage = Stage::new();
    let url = stage.upstream.url();
    let page = format!("model_provider = \"local\"\n[model_providers.local]\nbase_url = \"{url}/api/v4\"\n");
    stage.put(".codex/config.toml", &page);
    let (told, _) = arguments(&stage, "codex", &["exec"]);
    assert!(told[1].starts_with("model_providers.local.base_url=\"http://127.0.0.1:"), "{told:?}");
    // The version is in the provider's own address.
    assert!(!told[1].contains("/v1"), "{told:?}");
    stage.put(".codex/config.toml", "model_provider = \"ollama\"\n");
    let (told, said) = arguments(&stage, "codex", &["exec"]);
    assert_eq!(told, ["exec"]);
    assert!(said.contains("\"ollama\", which does not go through the proxy"), "{said}");
}

#[test]
fn a_login_with_chatgpt_goes_where_codex_would_go_with_it() {
    let stage = Stage::new();
    stage.put(".codex/auth.json", r#"{"OPENAI_API_KEY":null,"tokens":{"access_token":"secret"}}"#);
    stage.program("codex", "printf '%s\\n' \"$2\"");
    let told = |more: &[&str]| {
        let arguments: Vec<&str> =
            ["run", "--listen", "127.0.0.1:0"].iter().chain(more).chain(&["--", "codex"]).copied().collect();
        end(&mut stage.secateur(&arguments)).out
    };
    // That place has no version in its address.
    assert!(!told(&[]).contains("/v1"), "{}", told(&[]));
    assert!(told(&["--openai", "https://api.openai.com"]).ends_with("/v1\"\n"));
    stage.put(".codex/auth.json", r#"{"auth_mode":"apikey","OPENAI_API_KEY":"secret"}"#);
    assert!(told(&[]).ends_with("/v1\"\n"), "{}", told(&[]));
}

#[test]
fn settings_of_claude_code_are_gone_over_by_an_argument() {
    let stage = Stage::new();
    assert_eq!(arguments(&stage, "claude", &["-p", "hi"]).0, ["-p", "hi"]);
    let page = format!("{{\"env\":{{\"ANTHROPIC_BASE_URL\":\"{}\"}}}}", stage.upstream.url());
    stage.put(".claude/settings.json", &page);
    let (told, _) = arguments(&stage, "claude", &["-p", "hi"]);
    assert_eq!((told[0].as_str(), &told[2..]), ("--settings", &["-p".to_owned(), "hi".to_owned()][..]));
    let settings: Value = serde_json::from_str(&stage.read("file")).unwrap();
    assert!(settings["env"]["ANTHROPIC_BASE_URL"].as_str().unwrap().contains("/run:claude-"), "{settings}");
    assert!(!Path::new(&told[1]).exists());
    for own in [&["--settings", "{}"][..], &["--settings={}"]] {
        let (told, said) = arguments(&stage, "claude", own);
        assert_eq!(told, own);
        assert!(said.contains("may override the proxy's address"), "{said}");
    }
}

#[test]
fn a_token_does_not_stand_where_everybody_can_read_it() {
    const TOKEN: &str = "a-word-that-nobody-guesses";
    let stage = Stage::new();
    let token = stage.token(TOKEN);
    let page = format!("{{\"env\":{{\"ANTHROPIC_BASE_URL\":\"{}\"}}}}", stage.upstream.url());
    stage.put(".claude/settings.json", &page);
    let asks = [
        ("claude", "url=$(sed 's/.*\\(http[^\"]*\\).*/\\1/' $2)/v1; stat -c %a $2 >$DESK/mode"),
        ("codex", "url=$(echo \"$2\" | sed 's/.*\\(http[^\"]*\\).*/\\1/')"),
    ];
    for (agent, ask) in asks {
        let script = format!("printf '%s\\n' \"$@\" >$DESK/args\n{ask}\ncurl -sf $url/models >/dev/null");
        stage.program(agent, &script);
        let mut command = stage.secateur(&["run", "--listen", "127.0.0.1:0", "--token-file"]);
        command.arg(&token).args(["--openai", &stage.upstream.url(), "--", agent]);
        let run = end(&mut command);
        assert_eq!(run.code, 0, "{agent}: {}", run.err);
        assert!(!stage.read("args").contains(TOKEN), "{agent}: {}", stage.read("args"));
    }
    assert_eq!(stage.read("mode"), "600\n");
    assert_eq!(stage.upstream.asked().len(), 2);
}

#[test]
fn codex_is_understood_however_it_is_told_its_provider() {
    let stage = Stage::new();
    let url = stage.upstream.url();
    let page = format!(
        "[model_providers.local]\nbase_url = \"{url}/v1\"\n[profiles.home]\nmodel_provider = \"local\"\n"
    );
    stage.put(".codex/config.toml", &page);
    for own in [
        &["--profile", "home"][..],
        &["--profile=home"],
        &["-phome"],
        &["-c", "model_provider=local"],
        &["-cmodel_provider=\"local\""],
        &["--config=model_provider='local'"],
    ] {
        let (told, _) = arguments(&stage, "codex", own);
        assert!(told[1].starts_with("model_providers.local.base_url="), "{own:?}: {told:?}");
    }
    // What follows is said to the model.
    let (told, _) = arguments(&stage, "codex", &["exec", "--", "-cmodel_provider=local"]);
    assert!(told[1].starts_with("openai_base_url="), "{told:?}");
}

#[test]
fn opencode_is_told_of_the_providers_that_the_user_has() {
    let stage = Stage::new();
    stage.put(".local/share/opencode/auth.json", r#"{"openai":{"type":"api","key":"secret"}}"#);
    arguments(&stage, "opencode", &["run", "hi"]);
    let env = stage.read("env");
    let config = env.lines().find_map(|line| line.strip_prefix("OPENCODE_CONFIG_CONTENT=")).unwrap();
    assert!(!config.contains("secret"), "{config}");
    let config: Value = serde_json::from_str(config).unwrap();
    for name in ["anthropic", "openai"] {
        let url = config["provider"][name]["options"]["baseURL"].as_str().unwrap();
        assert!(url.starts_with("http://127.0.0.1:") && url.ends_with("/v1"), "{config}");
    }
    assert_eq!(config["provider"].get("google"), None);
}

#[test]
fn providers_that_have_an_address_already_are_asked_there() {
    let stage = Stage::new();
    let gateway = Upstream::start(Manner::default());
    let url = gateway.url();
    let page = format!(
        "{{ // mine\n \"provider\": {{ \"anthropic\": {{ \"options\": {{ \"baseURL\": \"{url}/gate/v1\" }} }},
            \"own\": {{ \"options\": {{ \"baseURL\": \"{url}/v1\" }} }}, }} }}"
    );
    stage.put(".config/opencode/opencode.jsonc", &page);
    let ask = "url=$(printf '%s' \"$OPENCODE_CONFIG_CONTENT\" | sed 's/.*\"baseURL\":\"\\([^\"]*\\)\".*/\\1/'); curl -sf \"$url/models\"";
    stage.program("opencode", &format!("{ask} -H 'anthropic-version: 1' >/dev/null"));
    let run = end(&mut stage.run(&["opencode"]));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("\"own\" has its own address"), "{}", run.err);
    let asked = gateway.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].line.starts_with("GET /gate/") && asked[0].line.contains("/v1/models"), "{asked:?}");
}

#[test]
fn gateways_in_files_of_variables_are_asked_behind_the_proxy() {
    let cases = [
        ("aider", ".aider.conf.yml", "openai-api-base: URL/gate/v1", "$AIDER_OPENAI_API_BASE/models"),
        (
            "gemini",
            ".gemini/.env",
            "GOOGLE_GEMINI_BASE_URL=URL/gate",
            "$GOOGLE_GEMINI_BASE_URL/v1beta/models/m:countTokens",
        ),
    ];
    for (agent, file, line, address) in cases {
        let (stage, gateway) = (Stage::new(), Upstream::start(Manner::default()));
        stage.put(file, &format!("{}\n", line.replace("URL/gate", &format!("{}/gate", gateway.url()))));
        stage.program(agent, &format!("curl -sf \"{address}\" >/dev/null"));
        let run = end(&mut stage.run(&[agent]));
        assert_eq!(run.code, 0, "{agent}: {}", run.err);
        let asked = gateway.asked();
        assert_eq!(asked.len(), 1, "{agent}: {asked:?}");
        assert!(asked[0].line.starts_with("GET /gate/"), "{agent}: {asked:?}");
    }
}

#[test]
fn a_project_does_not_decide_where_keys_are_sent() {
    let stage = Stage::new();
    let stranger = Upstream::start(Manner::default());
    let url = stranger.url();
    let work = stage.path("work");
    std::fs::create_dir(work.join(".claude")).unwrap();
    let settings = format!("{{\"env\":{{\"ANTHROPIC_BASE_URL\":\"{url}\"}}}}");
    std::fs::write(work.join(".claude/settings.json"), settings).unwrap();
    std::fs::write(work.join(".env"), format!("OPENAI_API_BASE={url}/v1\n")).unwrap();
    for (agent, ask) in [("claude", crate::terminal::ASK), ("aider", "curl -sf \"$OPENAI_API_BASE/models\"")]
    {
        stage.program(agent, ask);
        let run = end(&mut stage.run(&[agent]));
        assert_eq!(run.code, 0, "{agent}: {}", run.err);
        assert!(run.err.contains("can set the upstream, not a project's"), "{}", run.err);
    }
    assert_eq!((stranger.asked().len(), stage.upstream.asked().len()), (0, 2));
}

#[test]
fn pi_gets_an_extension_that_is_gone_after_the_run() {
    let stage = Stage::new();
    let (told, _) = arguments(&stage, "pi", &["-p", "hi"]);
    assert_eq!((told[0].as_str(), &told[2..]), ("-e", &["-p".to_owned(), "hi".to_owned()][..]));
    let extension = stage.read("file");
    assert!(
        extension.contains("pi.registerProvider(\"anthropic\", { baseUrl: \"http://127.0.0.1:"),
        "{extension}"
    );
    assert!(!Path::new(&told[1]).exists());
    assert_eq!(arguments(&stage, "pi", &["update"]).0, ["update"]);
}

/// What a run of OpenClaw that keeps nothing finds in its file, and what is said about it.
fn openclaw(stage: &Stage, own: &[&str]) -> (Option<Value>, String) {
    stage.program(
        "openclaw",
        "rm -f $DESK/file; [ -z \"$OPENCLAW_CONFIG_PATH\" ] || cp $OPENCLAW_CONFIG_PATH $DESK/file",
    );
    let before = files(&stage.path("home"));
    let call: Vec<&str> = ["openclaw"].into_iter().chain(own.iter().copied()).collect();
    let run = end(&mut stage.run(&call));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(files(&stage.path("home")), before);
    let text = std::fs::read_to_string(stage.path("file")).ok();
    (text.map(|text| serde_json::from_str(&text).unwrap()), run.err)
}

#[test]
fn openclaw_gets_a_copy_of_its_file_with_another_address() {
    let (stage, gateway) = (Stage::new(), Upstream::start(Manner::default()));
    let page = format!(
        "{{ // mine\n \"agents\": {{ \"defaults\": {{ \"model\": {{ \"primary\": \"local/m\" }} }} }},
            \"models\": {{ \"providers\": {{ \"local\": {{ \"baseUrl\": \"{}/gate\", \"api\": \"anthropic-messages\",
            \"apiKey\": \"k\", \"models\": [{{ \"id\": \"m\" }}], }} }} }} }}",
        gateway.url()
    );
    stage.put(".openclaw/openclaw.json", &page);
    let (config, _) = openclaw(&stage, &["agent", "exec", "hi"]);
    let config = config.unwrap();
    let local = &config["models"]["providers"]["local"];
    assert!(local["baseUrl"].as_str().unwrap().contains("/run:openclaw-"), "{config}");
    assert_eq!((&local["apiKey"], &local["models"][0]["id"]), (&"k".into(), &"m".into()));
    // A provider that OpenClaw knows by itself.
    let (config, _) = openclaw(&stage, &["agent", "exec", "--model=openai/gpt-5", "hi"]);
    let url = config.unwrap()["models"]["providers"]["openai"]["baseUrl"].as_str().unwrap().to_owned();
    assert!(url.ends_with("/v1"), "{url}");
    // What it asks comes to where it was pointed before.
    let ask = "url=$(sed 's/.*\"baseUrl\":\"\\([^\"]*\\)\".*/\\1/' $OPENCLAW_CONFIG_PATH)";
    stage
        .program("openclaw", &format!("{ask}; curl -sf -H 'anthropic-version: 1' $url/v1/models >/dev/null"));
    let run = end(&mut stage.run(&["openclaw", "agent", "exec", "hi"]));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(gateway.asked()[0].line.starts_with("GET /gate/v1/models"), "{:?}", gateway.asked());
}

#[test]
fn openclaw_is_left_alone_where_a_copy_would_outlast_the_run_or_is_not_read() {
    let stage = Stage::new();
    for own in [&["agent", "--local"][..], &["gateway"], &["agent", "exec", "--isolated", "hi"]] {
        let (config, said) = openclaw(&stage, own);
        assert_eq!(config, None, "{own:?}");
        assert!(said.contains("only `openclaw agent exec`") && said.contains("openclaw.json"), "{said}");
    }
    stage.put(".openclaw/openclaw.json", "{ \"models\": { \"$include\": \"./more.json5\" } }");
    let (config, said) = openclaw(&stage, &["agent", "exec", "--model", "openai/m", "hi"]);
    assert_eq!(config, None);
    assert!(said.contains("cannot be parsed here"), "{said}");
}
