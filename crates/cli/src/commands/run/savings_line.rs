//! The line at the end of a run: what the proxy counted for it.

use std::net::SocketAddr;
use std::time::Duration;

use secateur_server::Savings;
use serde::Deserialize;

use crate::http_get;
use crate::humanize::{counted, grouped, percent};

/// Nobody waits long at the end of a run for a line about it.
const TIMEOUT: Duration = Duration::from_secs(2);

/// What is said if nothing was counted.
const NOTHING: &str = "no request came through the proxy";

/// What a proxy counted for a run.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunSavings {
    requests: u64,
    cut_requests: u64,
    bytes_in: u64,
    bytes_out: u64,
    tokens_saved: u64,
    money_saved: Option<f64>,
}

/// What a proxy of our own counted, in one line.
pub(crate) fn told(savings: Option<Savings>) -> String {
    savings.map_or_else(|| NOTHING.to_owned(), |savings| RunSavings::from(savings).line())
}

/// What a proxy that ran before counted, in one line.
pub(crate) async fn asked(proxy: SocketAddr, token: Option<&str>, run: &str) -> String {
    let url = format!("http://{proxy}/api/runs/{run}");
    let headers: Vec<_> =
        token.map(|token| ("authorization", format!("Bearer {token}"))).into_iter().collect();
    match http_get::get(&url, &headers, TIMEOUT).await {
        Ok(response) if response.status == 200 => match serde_json::from_str::<RunSavings>(&response.body) {
            Ok(counted) => counted.line(),
            Err(_) => String::from("what was saved is not known: the proxy counts in another way"),
        },
        Ok(response) if response.status == 404 => NOTHING.to_owned(),
        Ok(response) => {
            format!("what was saved is not known: the proxy answered with status {}", response.status)
        }
        Err(error) => format!("what was saved is not known: {}", http_get::failure(&error)),
    }
}

impl From<Savings> for RunSavings {
    fn from(savings: Savings) -> Self {
        Self {
            requests: savings.requests,
            cut_requests: savings.cut_requests,
            bytes_in: savings.bytes_in,
            bytes_out: savings.bytes_out,
            tokens_saved: savings.tokens_saved,
            money_saved: Some(savings.money_saved),
        }
    }
}

impl RunSavings {
    fn line(&self) -> String {
        let requests = counted(self.requests, "request");
        if self.cut_requests == 0 {
            return format!("{requests}, nothing had to be cut");
        }
        let kept = self.bytes_in.saturating_sub(self.bytes_out);
        let (cut, share) = (grouped(self.cut_requests), percent(kept, self.bytes_in));
        let tokens = counted(self.tokens_saved, "token");
        let money = self.money_saved.filter(|money| *money > 0.0).map(|money| format!(", about ${money:.2}"));
        format!(
            "{requests}, {cut} of them cut: {tokens} not sent ({share} of all bytes){}",
            money.unwrap_or_default()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_was_saved() {
        let read = |text: &str| serde_json::from_str::<RunSavings>(text).unwrap().line();
        assert_eq!(read(r#"{"name":"a","requests":1}"#), "1 request, nothing had to be cut");
        let text = r#"{"requests":12,"cut_requests":3,"bytes_in":1000,"bytes_out":750,"tokens_in":9,
            "tokens_saved":81234,"money_saved":0.124}"#;
        assert_eq!(
            read(text),
            "12 requests, 3 of them cut: 81,234 tokens not sent (25.0 % of all bytes), about $0.12"
        );
    }
}
