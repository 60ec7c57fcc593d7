//! What the proxy answers itself: health, readiness, metrics.

use serde_json::Value;

use super::harness::Harness;

async fn get(harness: &Harness, path: &str) -> (u16, String) {
    let mut client = harness.client().await;
    client.send(format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).await;
    let answer = client.message().await;
    (answer.status(), answer.text().to_owned())
}

#[tokio::test]
async fn probes_are_answered_without_a_provider() {
    let harness = Harness::start().await;
    let (status, health) = get(&harness, "/healthz").await;
    let health: Value = serde_json::from_str(&health).unwrap();
    assert_eq!((status, &health["program"]), (200, &"secateur".into()));
    assert_eq!(get(&harness, "/readyz").await, (200, r#"{"ready":true}"#.to_owned()));
    let mut client = harness.client().await;
    client.send("POST /readyz HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n").await;
    let refusal = client.head().await;
    assert_eq!((refusal.status(), refusal.header("allow")), (405, Some("GET, HEAD")));
    assert_eq!(harness.counters().bytes_in, 0, "nothing went to the provider");
}

#[tokio::test]
async fn every_counter_of_the_dashboard_is_there() {
    let harness = Harness::start().await;
    let (status, metrics) = get(&harness, "/metrics").await;
    assert_eq!(status, 200);
    let known: Vec<&str> = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(known.len() > 15, "{metrics}");
    let dashboard = include_str!("../../../../../packaging/grafana.json");
    serde_json::from_str::<Value>(dashboard).unwrap();
    let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let mut named: Vec<&str> =
        dashboard.split(|letter| !is_name(letter)).filter(|word| word.starts_with("secateur_")).collect();
    named.sort_unstable();
    named.dedup();
    assert!(named.len() > 12, "{named:?}");
    for name in named {
        let bare = ["_total", "_bucket"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        assert!(known.contains(&bare), "{name} is in the dashboard and not in the metrics");
    }
}
