use http::Request;

use super::*;
use crate::settings::token::AccessToken;

const WORD: &str = "a-token-of-some-length";

fn parts(uri: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::builder().uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn token(word: &str, tenant: &str, is_operator: bool) -> TenantToken {
    TenantToken { token: AccessToken::new(word).unwrap(), tenant: tenant.to_owned(), is_operator }
}

fn guarded(uri: &str, headers: &[(&str, &str)]) -> Result<(Option<String>, Parts), AdmissionError> {
    let mut parts = parts(uri, headers);
    let run = Admission { tokens: &[token(WORD, "anna", false)], hosts: &[] }.admit(&mut parts)?.run;
    Ok((run, parts))
}

fn open(uri: &str, headers: &[(&str, &str)]) -> Result<(Option<String>, Parts), AdmissionError> {
    let mut parts = parts(uri, headers);
    let run = Admission { tokens: &[], hosts: &["gateway.internal".to_owned()] }.admit(&mut parts)?.run;
    Ok((run, parts))
}

#[test]
fn the_token_is_accepted_in_each_place_and_never_passed_on() {
    let bearer = format!("Bearer {WORD}");
    let lower = format!("bearer {WORD}");
    let shown = [
        ("/v1/messages", vec![("authorization", bearer.as_str())]),
        ("/v1/messages", vec![("proxy-authorization", lower.as_str())]),
        ("/v1/messages", vec![("x-secateur-token", WORD)]),
        (&format!("/token:{WORD}/v1/messages"), vec![]),
    ];
    for (uri, headers) in shown {
        let (_, parts) = guarded(uri, &headers).unwrap();
        assert_eq!(parts.uri, "/v1/messages");
        assert!(!format!("{parts:?}").contains(WORD), "{parts:?}");
    }
}

#[test]
fn a_token_in_several_places_is_never_passed_on() {
    let bearer = format!("Bearer {WORD}");
    let all = [
        ("x-secateur-token", WORD),
        ("proxy-authorization", bearer.as_str()),
        ("authorization", bearer.as_str()),
        ("authorization", "Bearer sk-provider"),
    ];
    let paths = ["/v1/messages".to_owned(), format!("/token:{WORD}/run:r/token:{WORD}/v1/messages")];
    for uri in &paths {
        for from in 0..3 {
            let (_, parts) = guarded(uri, &all[from..]).unwrap();
            assert_eq!(parts.uri, "/v1/messages");
            assert_eq!(parts.headers["authorization"], "Bearer sk-provider");
            assert!(!format!("{parts:?}").contains(WORD), "{parts:?}");
        }
    }
}

#[test]
fn a_key_of_the_provider_stays_beside_the_token() {
    let headers = [("x-secateur-token", WORD), ("authorization", "Bearer sk-provider")];
    let (_, parts) = guarded("/v1/messages", &headers).unwrap();
    assert_eq!(parts.headers["authorization"], "Bearer sk-provider");
}

#[test]
fn without_the_right_token_a_request_is_refused() {
    assert_eq!(guarded("/v1/messages", &[]).unwrap_err(), AdmissionError::NoToken);
    assert_eq!(
        guarded("/v1/messages", &[("authorization", "Bearer sk-1")]).unwrap_err(),
        AdmissionError::NoToken
    );
    assert_eq!(
        guarded("/v1/messages", &[("x-secateur-token", "other")]).unwrap_err(),
        AdmissionError::WrongToken
    );
    assert_eq!(guarded("/token:other/v1/messages", &[]).unwrap_err(), AdmissionError::WrongToken);
    let start = WORD.get(..10).unwrap();
    assert_eq!(guarded("/v1", &[("x-secateur-token", start)]).unwrap_err(), AdmissionError::WrongToken);
    assert!(guarded("/healthz", &[]).is_err(), "every path requires it");
}

#[test]
fn without_a_token_a_request_must_be_meant_for_this_machine() {
    let ours =
        ["127.0.0.1:7878", "localhost", "LOCALHOST.:7878", "[::1]:7878", "a.localhost:1", "gateway.internal"];
    for host in ours {
        assert!(open("/v1/messages", &[("host", host)]).is_ok(), "{host}");
    }
    for host in ["evil.example", "localhost.evil.example:7878", "127.0.0.1.evil.example", "a@b", ""] {
        assert_eq!(
            open("/v1/messages", &[("host", host)]).unwrap_err(),
            AdmissionError::ForeignHost,
            "{host}"
        );
    }
    assert!(open("/v1/messages", &[]).is_ok());
    assert!(open("http://evil.example/v1", &[("host", "localhost")]).is_err());
    assert!(open("/v1", &[("host", "localhost"), ("host", "evil.example")]).is_err());
}

#[test]
fn a_token_tells_the_tenant_and_nothing_else_does() {
    let known = [
        token("first-token-of-anna", "anna", false),
        token("second-token-of-anna", "anna", false),
        token("the-token-of-bert", "bert", false),
        token("the-token-of-olga", "olga", true),
    ];
    let call = |headers: &[(&str, &str)]| {
        let mut parts = parts("/v1/messages", headers);
        let caller =
            Admission { tokens: &known, hosts: &[] }.admit(&mut parts).map(|admitted| admitted.caller);
        caller.map(|caller| (caller.tenant.to_owned(), caller.rights, caller.check_metrics().is_ok()))
    };
    for (word, tenant, rights, metrics) in [
        ("first-token-of-anna", "anna", CallerRights::Tenant, false),
        ("second-token-of-anna", "anna", CallerRights::Tenant, false),
        ("the-token-of-bert", "bert", CallerRights::Tenant, false),
        ("the-token-of-olga", "olga", CallerRights::Operator, true),
    ] {
        // Whichever key for the provider it comes with.
        for key in ["Bearer sk-1", "Bearer sk-2"] {
            let called = call(&[("x-secateur-token", word), ("authorization", key)]);
            assert_eq!(called, Ok((tenant.to_owned(), rights, metrics)));
        }
    }
    let two = |other| call(&[("x-secateur-token", "first-token-of-anna"), ("x-secateur-token", other)]);
    assert_eq!(two("second-token-of-anna").unwrap().0, "anna");
    assert_eq!(two("the-token-of-bert"), Err(AdmissionError::WrongToken));
    let mixed = [("x-secateur-token", "the-token-of-bert"), ("authorization", "Bearer the-token-of-olga")];
    assert_eq!(call(&mixed), Err(AdmissionError::WrongToken));
    let mut local = parts("/v1", &[]);
    let caller = Admission { tokens: &[], hosts: &[] }.admit(&mut local).unwrap().caller;
    assert_eq!((caller.tenant, caller.rights, caller.check_metrics()), ("", CallerRights::OnlyUser, Ok(())));
}

#[test]
fn a_run_is_named_in_front_of_the_path() {
    let (run, parts) = open("/run:claude-1/v1/messages?beta=true", &[]).unwrap();
    assert_eq!(
        (run.as_deref(), parts.uri.to_string()),
        (Some("claude-1"), "/v1/messages?beta=true".to_owned())
    );
    let (run, parts) = guarded(&format!("/run:a/token:{WORD}/v1"), &[]).unwrap();
    assert_eq!((run.as_deref(), parts.uri.path()), (Some("a"), "/v1"));
    let (run, parts) = open("/run:a?x=1", &[]).unwrap();
    assert_eq!((run.as_deref(), parts.uri.to_string()), (Some("a"), "/?x=1".to_owned()));
    for other in ["/run:/v1", "/run:a%20b/v1", "/runs/v1", "/v1/run:a", "//run:a/v1"] {
        let (run, parts) = open(other, &[]).unwrap();
        assert_eq!((run, parts.uri.to_string()), (None, other.to_owned()), "{other}");
    }
}

#[test]
fn web_pages_of_other_origins_are_refused() {
    let check =
        |origin: &str| check_origin(&parts("/metrics", &[("host", "localhost:7878"), ("origin", origin)]));
    assert_eq!(check_origin(&parts("/metrics", &[("host", "localhost:7878")])), Ok(()));
    assert_eq!(check("http://localhost:7878"), Ok(()));
    for foreign in ["http://localhost:3000", "https://evil.example", "null", ""] {
        assert_eq!(check(foreign), Err(AdmissionError::ForeignOrigin), "{foreign}");
    }
}
