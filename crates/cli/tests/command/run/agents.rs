//! What each agent is told, and that nothing of the user's is changed. The agents are scripts that write down how they
//! were called.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::fixed_provider::{FixedProvider, FixedResponse};
use crate::machine::{Machine, run_to_end};

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
fn arguments(machine: &Machine, agent: &str, own: &[&str]) -> (Vec<String>, String) {
    machine.program(
        agent,
        "printf '%s\\n' \"$@\" >$MACHINE/args; env >$MACHINE/env; cp \"$2\" $MACHINE/file 2>/dev/null; true",
    );
    let before = files(&machine.path("home"));
    let call: Vec<&str> = [agent].into_iter().chain(own.iter().copied()).collect();
    let run = run_to_end(machine.run(&call).env("ANTHROPIC_API_KEY", "none"));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(files(&machine.path("home")), before);
    (machine.read("args").lines().map(str::to_owned).collect(), run.err)
}

#[test]
fn codex_is_configured_by_arguments_in_front_of_the_users() {
    let machine = Machine::new();
    let (reported, _) = arguments(&machine, "codex", &["exec", "do it"]);
    assert_eq!((reported[0].as_str(), &reported[2..]), ("-c", &["exec".to_owned(), "do it".to_owned()][..]));
    assert!(reported[1].starts_with("openai_base_url=\"http://127.0.0.1:"), "{reported:?}");
    assert!(reported[1].ends_with("/v1\""), "{reported:?}");
}

#[test]
fn a_provider_of_the_users_own_keeps_its_name_in_codex() {
    let machine = Machine::new();
    let url = machine.upstream.url();
    let page = format!("model_provider = \"local\"\n[model_providers.local]\nbase_url = \"{url}/api/v4\"\n");
    machine.put(".codex/config.toml", &page);
    let (reported, _) = arguments(&machine, "codex", &["exec"]);
    assert!(reported[1].starts_with("model_providers.local.base_url=\"http://127.0.0.1:"), "{reported:?}");
    // The version is in the provider's own address.
    assert!(!reported[1].contains("/v1"), "{reported:?}");
    machine.put(".codex/config.toml", "model_provider = \"ollama\"\n");
    let (reported, said) = arguments(&machine, "codex", &["exec"]);
    assert_eq!(reported, ["exec"]);
    assert!(said.contains("\"ollama\", which does not go through the proxy"), "{said}");
}

#[test]
fn a_login_with_chatgpt_goes_where_codex_would_go_with_it() {
    let machine = Machine::new();
    machine.put(".codex/auth.json", r#"{"OPENAI_API_KEY":null,"tokens":{"access_token":"secret"}}"#);
    machine.program("codex", "printf '%s\\n' \"$2\"");
    let reported = |more: &[&str]| {
        let arguments: Vec<&str> =
            ["run", "--listen", "127.0.0.1:0"].iter().chain(more).chain(&["--", "codex"]).copied().collect();
        run_to_end(&mut machine.secateur(&arguments)).out
    };
    // That place has no version in its address.
    assert!(!reported(&[]).contains("/v1"), "{}", reported(&[]));
    assert!(reported(&["--openai", "https://api.openai.com"]).ends_with("/v1\"\n"));
    machine.put(".codex/auth.json", r#"{"auth_mode":"apikey","OPENAI_API_KEY":"secret"}"#);
    assert!(reported(&[]).ends_with("/v1\"\n"), "{}", reported(&[]));
}

#[test]
fn settings_of_claude_code_are_gone_over_by_an_argument() {
    let machine = Machine::new();
    assert_eq!(arguments(&machine, "claude", &["-p", "hi"]).0, ["-p", "hi"]);
    let page = format!("{{\"env\":{{\"ANTHROPIC_BASE_URL\":\"{}\"}}}}", machine.upstream.url());
    machine.put(".claude/settings.json", &page);
    let (reported, _) = arguments(&machine, "claude", &["-p", "hi"]);
    assert_eq!(
        (reported[0].as_str(), &reported[2..]),
        ("--settings", &["-p".to_owned(), "hi".to_owned()][..])
    );
    let settings: Value = serde_json::from_str(&machine.read("file")).unwrap();
    assert!(settings["env"]["ANTHROPIC_BASE_URL"].as_str().unwrap().contains("/run:claude-"), "{settings}");
    assert!(!Path::new(&reported[1]).exists());
    for own in [&["--settings", "{}"][..], &["--settings={}"]] {
        let (reported, said) = arguments(&machine, "claude", own);
        assert_eq!(reported, own);
        assert!(said.contains("may override the proxy's address"), "{said}");
    }
}

#[test]
fn a_token_does_not_stand_where_everybody_can_read_it() {
    const TOKEN: &str = "a-word-that-nobody-guesses";
    let machine = Machine::new();
    let token = machine.token(TOKEN);
    let page = format!("{{\"env\":{{\"ANTHROPIC_BASE_URL\":\"{}\"}}}}", machine.upstream.url());
    machine.put(".claude/settings.json", &page);
    let asks = [
        ("claude", "url=$(sed 's/.*\\(http[^\"]*\\).*/\\1/' $2)/v1; stat -c %a $2 >$MACHINE/mode"),
        ("codex", "url=$(echo \"$2\" | sed 's/.*\\(http[^\"]*\\).*/\\1/')"),
    ];
    for (agent, ask) in asks {
        let script = format!("printf '%s\\n' \"$@\" >$MACHINE/args\n{ask}\ncurl -sf $url/models >/dev/null");
        machine.program(agent, &script);
        let mut command = machine.secateur(&["run", "--listen", "127.0.0.1:0", "--token-file"]);
        command.arg(&token).args(["--openai", &machine.upstream.url(), "--", agent]);
        let run = run_to_end(&mut command);
        assert_eq!(run.code, 0, "{agent}: {}", run.err);
        assert!(!machine.read("args").contains(TOKEN), "{agent}: {}", machine.read("args"));
    }
    assert_eq!(machine.read("mode"), "600\n");
    assert_eq!(machine.upstream.requests().len(), 2);
}

#[test]
fn codex_is_understood_however_its_provider_is_set() {
    let machine = Machine::new();
    let url = machine.upstream.url();
    let page = format!(
        "[model_providers.local]\nbase_url = \"{url}/v1\"\n[profiles.home]\nmodel_provider = \"local\"\n"
    );
    machine.put(".codex/config.toml", &page);
    for own in [
        &["--profile", "home"][..],
        &["--profile=home"],
        &["-phome"],
        &["-c", "model_provider=local"],
        &["-cmodel_provider=\"local\""],
        &["--config=model_provider='local'"],
    ] {
        let (reported, _) = arguments(&machine, "codex", own);
        assert!(reported[1].starts_with("model_providers.local.base_url="), "{own:?}: {reported:?}");
    }
    // What follows is said to the model.
    let (reported, _) = arguments(&machine, "codex", &["exec", "--", "-cmodel_provider=local"]);
    assert!(reported[1].starts_with("openai_base_url="), "{reported:?}");
}

#[test]
fn opencode_gets_the_providers_that_the_user_has() {
    let machine = Machine::new();
    machine.put(".local/share/opencode/auth.json", r#"{"openai":{"type":"api","key":"secret"}}"#);
    arguments(&machine, "opencode", &["run", "hi"]);
    let env = machine.read("env");
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
    let machine = Machine::new();
    let gateway = FixedProvider::start(FixedResponse::default());
    let url = gateway.url();
    let page = format!(
        "{{ // mine\n \"provider\": {{ \"anthropic\": {{ \"options\": {{ \"baseURL\": \"{url}/gate/v1\" }} }},
            \"own\": {{ \"options\": {{ \"baseURL\": \"{url}/v1\" }} }}, }} }}"
    );
    machine.put(".config/opencode/opencode.jsonc", &page);
    let ask = "url=$(printf '%s' \"$OPENCODE_CONFIG_CONTENT\" | sed 's/.*\"baseURL\":\"\\([^\"]*\\)\".*/\\1/'); curl -sf \"$url/models\"";
    machine.program("opencode", &format!("{ask} -H 'anthropic-version: 1' >/dev/null"));
    let run = run_to_end(&mut machine.run(&["opencode"]));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("\"own\" has its own address"), "{}", run.err);
    let asked = gateway.requests();
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
        let (machine, gateway) = (Machine::new(), FixedProvider::start(FixedResponse::default()));
        machine.put(file, &format!("{}\n", line.replace("URL/gate", &format!("{}/gate", gateway.url()))));
        machine.program(agent, &format!("curl -sf \"{address}\" >/dev/null"));
        let run = run_to_end(&mut machine.run(&[agent]));
        assert_eq!(run.code, 0, "{agent}: {}", run.err);
        let asked = gateway.requests();
        assert_eq!(asked.len(), 1, "{agent}: {asked:?}");
        assert!(asked[0].line.starts_with("GET /gate/"), "{agent}: {asked:?}");
    }
}

#[test]
fn a_project_does_not_decide_where_keys_are_sent() {
    let machine = Machine::new();
    let stranger = FixedProvider::start(FixedResponse::default());
    let url = stranger.url();
    let work = machine.path("work");
    std::fs::create_dir(work.join(".claude")).unwrap();
    let settings = format!("{{\"env\":{{\"ANTHROPIC_BASE_URL\":\"{url}\"}}}}");
    std::fs::write(work.join(".claude/settings.json"), settings).unwrap();
    std::fs::write(work.join(".env"), format!("OPENAI_API_BASE={url}/v1\n")).unwrap();
    for (agent, ask) in [("claude", super::terminal::ASK), ("aider", "curl -sf \"$OPENAI_API_BASE/models\"")]
    {
        machine.program(agent, ask);
        let run = run_to_end(&mut machine.run(&[agent]));
        assert_eq!(run.code, 0, "{agent}: {}", run.err);
        assert!(run.err.contains("can set the upstream, not a project's"), "{}", run.err);
    }
    assert_eq!((stranger.requests().len(), machine.upstream.requests().len()), (0, 2));
}

#[test]
fn pi_gets_an_extension_that_is_gone_after_the_run() {
    let machine = Machine::new();
    let (reported, _) = arguments(&machine, "pi", &["-p", "hi"]);
    assert_eq!((reported[0].as_str(), &reported[2..]), ("-e", &["-p".to_owned(), "hi".to_owned()][..]));
    let extension = machine.read("file");
    assert!(
        extension.contains("pi.registerProvider(\"anthropic\", { baseUrl: \"http://127.0.0.1:"),
        "{extension}"
    );
    assert!(!Path::new(&reported[1]).exists());
    assert_eq!(arguments(&machine, "pi", &["update"]).0, ["update"]);
}

#[test]
fn a_provider_of_ones_own_is_routed_if_the_call_of_pi_names_it() {
    let machine = Machine::new();
    let url = machine.upstream.url();
    let models = format!(
        "{{ \"providers\": {{ \"local\": {{ \"baseUrl\": \"{url}/gate/v1\", \"api\": \"openai-completions\" }},
           \"other\": {{ \"baseUrl\": \"{url}\" }} }} }}"
    );
    machine.put(".pi/agent/models.json", &models);
    let (_, said) = arguments(&machine, "pi", &["-p", "hi"]);
    assert!(said.contains("`secateur run -- pi --provider local`"), "{said}");
    assert!(said.contains("set \"api\" of providers.other in "), "{said}");
    assert!(!machine.read("file").contains("local"), "{}", machine.read("file"));
    for own in [["--provider", "local"], ["--model", "local/m"]] {
        let (_, said) = arguments(&machine, "pi", &own);
        let extension = machine.read("file");
        assert!(
            extension.contains("pi.registerProvider(\"local\", { baseUrl: \"http://127.0.0.1:"),
            "{extension}"
        );
        assert!(
            !extension.contains("\"openai\""),
            "its key would go to the user's own provider: {extension}"
        );
        assert!(!said.contains("provider \"local\""), "{said}");
    }
    let ask = "url=$(sed -n 's/.*\"local\", { baseUrl: \"\\([^\"]*\\)\".*/\\1/p' \"$2\"); curl -sf $url/models >/dev/null";
    machine.program("pi", ask);
    let run = run_to_end(&mut machine.run(&["pi", "--provider", "local"]));
    assert_eq!(run.code, 0, "{}", run.err);
    let asked = machine.upstream.requests();
    assert_eq!(asked.last().unwrap().line, "GET /gate/v1/models HTTP/1.1");
}

/// What a run of OpenClaw that keeps nothing finds in its file, and what is said about it.
fn openclaw(machine: &Machine, own: &[&str]) -> (Option<Value>, String) {
    machine.program(
        "openclaw",
        "rm -f $MACHINE/file; [ -z \"$OPENCLAW_CONFIG_PATH\" ] || cp $OPENCLAW_CONFIG_PATH $MACHINE/file",
    );
    let before = files(&machine.path("home"));
    let call: Vec<&str> = ["openclaw"].into_iter().chain(own.iter().copied()).collect();
    let run = run_to_end(&mut machine.run(&call));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(files(&machine.path("home")), before);
    let text = std::fs::read_to_string(machine.path("file")).ok();
    (text.map(|text| serde_json::from_str(&text).unwrap()), run.err)
}

#[test]
fn openclaw_gets_a_copy_of_its_file_with_another_address() {
    let (machine, gateway) = (Machine::new(), FixedProvider::start(FixedResponse::default()));
    let page = format!(
        "{{ // mine\n \"agents\": {{ \"defaults\": {{ \"model\": {{ \"primary\": \"local/m\" }} }} }},
            \"models\": {{ \"providers\": {{ \"local\": {{ \"baseUrl\": \"{}/gate\", \"api\": \"anthropic-messages\",
            \"apiKey\": \"k\", \"models\": [{{ \"id\": \"m\" }}], }} }} }} }}",
        gateway.url()
    );
    machine.put(".openclaw/openclaw.json", &page);
    let (config, _) = openclaw(&machine, &["agent", "exec", "hi"]);
    let config = config.unwrap();
    let local = &config["models"]["providers"]["local"];
    assert!(local["baseUrl"].as_str().unwrap().contains("/run:openclaw-"), "{config}");
    assert_eq!((&local["apiKey"], &local["models"][0]["id"]), (&"k".into(), &"m".into()));
    // A provider that OpenClaw knows by itself.
    let (config, _) = openclaw(&machine, &["agent", "exec", "--model=openai/gpt-5", "hi"]);
    let url = config.unwrap()["models"]["providers"]["openai"]["baseUrl"].as_str().unwrap().to_owned();
    assert!(url.ends_with("/v1"), "{url}");
    // What it asks comes to where it was pointed before.
    let ask = "url=$(sed 's/.*\"baseUrl\":\"\\([^\"]*\\)\".*/\\1/' $OPENCLAW_CONFIG_PATH)";
    machine
        .program("openclaw", &format!("{ask}; curl -sf -H 'anthropic-version: 1' $url/v1/models >/dev/null"));
    let run = run_to_end(&mut machine.run(&["openclaw", "agent", "exec", "hi"]));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(gateway.requests()[0].line.starts_with("GET /gate/v1/models"), "{:?}", gateway.requests());
}

#[test]
fn openclaw_is_left_alone_where_a_copy_would_outlast_the_run_or_is_not_read() {
    let machine = Machine::new();
    for own in [&["agent", "--local"][..], &["gateway"], &["agent", "exec", "--isolated", "hi"]] {
        let (config, said) = openclaw(&machine, own);
        assert_eq!(config, None, "{own:?}");
        assert!(said.contains("only `openclaw agent exec`") && said.contains("openclaw.json"), "{said}");
    }
    machine.put(".openclaw/openclaw.json", "{ \"models\": { \"$include\": \"./more.json5\" } }");
    let (config, said) = openclaw(&machine, &["agent", "exec", "--model", "openai/m", "hi"]);
    assert_eq!(config, None);
    assert!(said.contains("cannot be parsed here"), "{said}");
}
