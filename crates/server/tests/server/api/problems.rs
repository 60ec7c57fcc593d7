//! What is refused, and how.

use serde_json::Value;

use super::requests::{ask, get, post, working};
use crate::setup::Setup;

const WINDOW: u64 = 12_000;

#[tokio::test]
async fn whatever_is_wrong_is_a_problem_that_says_what_would_be_right() {
    let setup = Setup::start(WINDOW).await;
    let (_, id) = working(&setup, 16).await;
    setup.relay.take();
    let here = format!("/api/sessions/{id}");
    let long = format!("/api/sessions?after={}", "61".repeat(4_000));
    for (method, path, status, said) in [
        ("GET", "/api", 404, "/api/openapi.json"),
        ("GET", "/api/", 404, "/api/openapi.json"),
        ("POST", "/api/v1/messages", 404, "never passed on"),
        ("GET", "/api/sessions/", 404, "/api/openapi.json"),
        ("GET", "/api//sessions", 404, "/api/openapi.json"),
        ("GET", "/api/../v1/models", 404, "/api/openapi.json"),
        ("GET", "/api/..%2Fv1%2Fmodels", 404, "/api/openapi.json"),
        ("GET", "/api/sessions/..%2F..%2Fconfiguration", 404, "/api/sessions lists"),
        ("GET", "/api/sessions/none%0D%0Ax-injected:%20yes", 404, "/api/sessions lists"),
        ("GET", "/api/sessions/none", 404, "/api/sessions lists"),
        ("GET", "/api/sessions/none/outline", 404, "/api/sessions lists"),
        ("GET", "/api/sessions/none/plan", 404, "/api/sessions lists"),
        ("GET", "/api/sessions/none/events", 404, "/api/sessions lists"),
        ("GET", "/api/sessions/%00", 404, "/api/sessions lists"),
        ("GET", "/api/sessions/%ff", 400, "UTF-8"),
        ("DELETE", "/api/sessions", 405, "Allow"),
        ("GET", &format!("{here}/operations/1/undo"), 405, "Allow"),
        ("GET", "/api/sessions?limit=0", 400, "from 1 to 500"),
        ("GET", "/api/sessions?limit=501", 400, "from 1 to 500"),
        ("GET", "/api/sessions?limit=-1", 400, "from 1 to 500"),
        ("GET", "/api/sessions?limit=", 400, "from 1 to 500"),
        ("GET", "/api/sessions?limit=1&limit=2", 400, "duplicate"),
        ("GET", "/api/sessions?limits=1", 400, "expected `limit`"),
        ("GET", "/api/sessions?after=x", 400, "`next`"),
        ("GET", &long, 400, "`next`"),
        ("GET", &format!("{here}/outline?after=-1"), 400, "an integer from 0"),
        ("GET", &format!("{here}/events?after=9007199254740992"), 400, "to 9007199254740991"),
        ("GET", &format!("{here}/recall/1.99"), 404, "a part is named like 1.0"),
        ("GET", &format!("{here}/recall/99999999999999999999"), 404, "a part is named like 1.0"),
        ("GET", &format!("{here}/recall/a%2Fb"), 404, "a part is named like 1.0"),
        ("POST", &format!("{here}/operations/999/undo"), 404, "lists them"),
        ("POST", &format!("{here}/operations/0/undo"), 400, "from 1"),
        ("POST", &format!("{here}/operations/x/undo"), 400, "from 1"),
        ("POST", &format!("{here}/operations/1/redo"), 409, "it is not undone"),
        ("POST", "/api/sessions/none/operations/1/undo", 404, "/api/sessions lists"),
    ] {
        let answer = ask(setup.address(), method, path, "").await;
        let what = format!("{method} {path}: {}", answer.text());
        assert_eq!(answer.status(), status, "{what}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{what}");
        assert_eq!(answer.header("x-injected"), None, "{what}");
        assert_eq!(answer.header("allow").is_some(), status == 405, "{what}");
        let problem: Value = serde_json::from_str(answer.text()).unwrap();
        assert_eq!(problem["status"], status, "{what}");
        assert!(problem["type"].as_str().unwrap().starts_with("urn:secateur:problem:"), "{what}");
        assert!(!problem["title"].as_str().unwrap().is_empty(), "{what}");
        assert!(problem["detail"].as_str().unwrap().contains(said), "{what}");
    }
    assert!(setup.relay.take().is_empty(), "something of this reached the provider");
}

#[tokio::test]
async fn what_is_undone_cannot_be_undone_again() {
    let setup = Setup::start(WINDOW).await;
    let (_, id) = working(&setup, 16).await;
    let path = |what: &str| format!("/api/sessions/{id}/operations/1/{what}");
    assert_eq!(post(setup.address(), &path("undo")).await["operation"]["undone"], true);
    assert_eq!(ask(setup.address(), "POST", &path("undo"), "").await.status(), 409);
    assert_eq!(post(setup.address(), &path("redo")).await["operation"]["undone"], false);
    assert_eq!(ask(setup.address(), "POST", &path("redo"), "").await.status(), 409);
}

#[tokio::test]
async fn pages_of_other_sites_are_kept_out() {
    let setup = Setup::start(WINDOW).await;
    let to = setup.address();
    let status = async |headers: &str| ask(to, "GET", "/api/sessions", headers).await.status();
    // A page of another site asks for our address.
    assert_eq!(status("origin: https://evil.example\r\n").await, 403);
    assert_eq!(status("origin: null\r\n").await, 403);
    assert_eq!(status("origin: http://127.0.0.1:1\r\n").await, 403);
    // The name of another site is made to mean our address.
    assert_eq!(status("host: evil.example\r\n").await, 403);
    assert_eq!(status(&format!("host: evil.example:{}\r\n", to.port())).await, 403);
    assert_eq!(status("host: no name at all\r\n").await, 403);
    assert_eq!(status("host: localhost.evil.example\r\n").await, 403);
    assert_eq!(status(&format!("host: evil.example\r\norigin: http://{to}\r\n")).await, 403);
    // Our own pages, and programs.
    assert_eq!(status(&format!("origin: http://{to}\r\n")).await, 200);
    assert_eq!(status(&format!("host: localhost:{}\r\n", to.port())).await, 200);
    assert_eq!(status("host: [::1]:7878\r\n").await, 200);
    get(to, "/api/sessions").await;
}
