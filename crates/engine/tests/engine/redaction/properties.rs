//! What holds for every text.

use std::borrow::Cow;

use proptest::collection::vec;
use proptest::prelude::*;
use secateur_engine::redact::{FoundCredential, RedactError, RedactedText, Redactor};

use super::contexts::scenes;
use super::kinds::KINDS;
use super::random::Random;

/// What texts are made of: literals of rules, what follows them, and anything else.
const PIECES: [&str; 57] = [
    "password",
    "token",
    "api_key",
    "SECRET",
    "Authorization",
    "Cookie",
    "Bearer ",
    "Basic ",
    "://",
    "@",
    ":",
    "=",
    " = ",
    "\"",
    "'",
    "\\\"",
    "\\n",
    "\n",
    " ",
    ",",
    ";",
    "&",
    "sig=",
    "?key=",
    "sk-",
    "sk-ant-",
    "ghp_",
    "AKIA",
    "eyJ",
    "xoxb-",
    "SG.",
    "-----BEGIN ",
    "-----END ",
    "PRIVATE KEY-----",
    "machine ",
    "login a ",
    "--",
    "[redacted:",
    "jwt]",
    "]",
    ".",
    "é",
    "🔑",
    "SK",
    "%3D",
    "%41",
    "\\u0041",
    "\\/",
    " is ",
    " for ",
    "API key",
    "Private key",
    "0x",
    "$6$",
    "[1,",
    "Z2hwX",
    "6768705f",
];

fn texts() -> impl Strategy<Value = String> {
    let chance = "[A-Za-z0-9_+/-]{1,60}";
    let piece = prop_oneof![
        6 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned),
        2 => chance.prop_map(|text| text),
        1 => ".{0,12}".prop_map(|text| text),
        1 => (0..KINDS.len(), any::<u64>()).prop_map(|(kind, seed)| (KINDS[kind].make)(&mut Random(seed)).0),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// The text with the findings replaced, made from the original and the findings alone.
fn replay(text: &str, findings: &[FoundCredential]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for finding in findings {
        assert!(
            at <= finding.range.start && finding.range.start < finding.range.end,
            "in order, without overlap"
        );
        out.push_str(&text[at..finding.range.start]);
        out.push_str(&format!("[redacted:{}]", finding.rule));
        at = finding.range.end;
    }
    out.push_str(&text[at..]);
    out
}

fn check(redactor: &Redactor, text: &str) {
    let RedactedText { text: redacted, findings } = redactor.redact(text);
    assert_eq!(replay(text, &findings), redacted, "what is no finding stays");
    assert_eq!(findings.is_empty(), matches!(redacted, Cow::Borrowed(_)));
    assert_eq!(redactor.contains_credential(text), !findings.is_empty());
    let again = redactor.redact(&redacted);
    assert_eq!(again.findings, [], "redacting twice is redacting once: {redacted:?}");
    assert!(!redactor.contains_credential(&redacted));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn redacting_twice_is_redacting_once(text in texts()) {
        check(&Redactor::new(), &text);
    }

    #[test]
    fn that_also_holds_for_patterns_of_the_user(text in texts()) {
        let patterns = [("letters", "[a-d]{3}"), ("edge", r"\bred\w+\b"), ("grouped", r"o(?<secret>[a-z]+)=")];
        check(&Redactor::with_patterns(patterns).unwrap(), &text);
    }

    #[test]
    fn the_same_holds_for_a_text_that_was_cut_anywhere(
        kind in 0..KINDS.len(),
        seed in any::<u64>(),
        share in 0.0..1.0,
    ) {
        let (planted, secret) = (KINDS[kind].make)(&mut Random(seed));
        for scene in scenes(&mut Random(seed), KINDS[kind].name, KINDS[kind].group, &planted, &secret) {
            let cut = scene.text.floor_char_boundary((scene.text.len() as f64 * share) as usize);
            check(&Redactor::new(), &scene.text[..cut]);
            check(&Redactor::new(), &scene.text[cut..]);
        }
    }
}

#[test]
fn what_only_names_a_credential_stays() {
    for text in [
        "export ANTHROPIC_API_KEY=$ANTHROPIC_API_KEY",
        "curl -H \"x-api-key: $ANTHROPIC_API_KEY\" https://api.example.com",
        "token: ${TOKEN}",
        "api_key: <your-api-key>",
        "password=xxxxxxxx",
        "const key = process.env.OPENAI_API_KEY;",
        "api_key = os.environ[\"OPENAI_API_KEY\"]",
        "let token: String = config.token.clone();",
        "\"max_tokens\": 4096, \"input_tokens\": 1234567890",
        "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "git checkout 0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33",
        "\"id\": \"550e8400-e29b-41d4-a716-446655440000\"",
        "password: str = Field(min_length=8)",
        "if token == next_token: return parse_token(token)",
        "the secret is kept in /run/secrets/db_password",
        "task-management risk-assessment disk-usage-report-2024",
        "Authorization: Bearer <token>",
        "postgres://user:password@localhost/app",
    ] {
        let redacted = Redactor::new().redact(text);
        assert_eq!((redacted.text, redacted.findings), (Cow::Borrowed(text), vec![]));
    }
}

#[test]
fn a_marker_names_the_rule_and_a_finding_never_holds_the_credential() {
    let key = format!("{}{}", "AKIA", Random(3).of(super::random::BASE32, 16));
    let text = format!("id {key}, done");
    let redacted = Redactor::new().redact(&text);
    assert_eq!(redacted.text, "id [redacted:aws-access-key], done");
    assert_eq!(&text[redacted.findings[0].range.clone()], key);
    assert!(!format!("{:?}", redacted.findings).contains(&key));
}

#[test]
fn a_pattern_of_the_user_that_cannot_be_used_is_named() {
    let refuse =
        |name: &'static str, regex: &'static str| Redactor::with_patterns([(name, regex)]).unwrap_err();
    assert!(matches!(refuse("Not A Name", "x"), RedactError::Name { .. }));
    assert!(matches!(refuse("empty", "x*"), RedactError::Empty { .. }));
    let open = refuse("open", "(x");
    assert!(matches!(open, RedactError::Pattern { .. }) && open.to_string().contains("open"));
    assert!(matches!(refuse("large", r"(\w{100}){100}"), RedactError::Pattern { .. }));
    let many = (0..100).map(|_| ("many", "x"));
    assert!(matches!(Redactor::with_patterns(many), Err(RedactError::TooMany { .. })));
}
