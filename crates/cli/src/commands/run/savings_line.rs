//! The line at the end of a run: what the proxy saved.

use std::net::SocketAddr;

use secateur_server::Savings;
use serde::Deserialize;

use crate::http_get;
use crate::humanize::{counted, dollars, grouped, percent};
use crate::listener::TIMEOUT;

/// The line if nothing was counted.
const NO_REQUESTS: &str = "no request came through the proxy";

/// What a proxy counted for a run.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunSavings {
    requests: u64,
    cut_requests: u64,
    bytes_in: u64,
    bytes_out: u64,
    tokens_saved: u64,
    cache_breaks: u64,
    tokens_rewritten: u64,
    money_saved: Option<f64>,
}

/// The line from the counters of our own proxy.
pub(crate) fn text(savings: Option<Savings>) -> String {
    savings.map_or_else(|| NO_REQUESTS.to_owned(), |savings| RunSavings::from(savings).line())
}

/// The line from a proxy that was already running.
pub(crate) async fn fetch(proxy: SocketAddr, token: Option<&str>, run: &str) -> String {
    let url = format!("http://{proxy}/api/runs/{run}");
    match http_get::get(&url, &http_get::authorization(token), TIMEOUT).await {
        Ok(response) if response.status == 200 => match serde_json::from_str::<RunSavings>(&response.body) {
            Ok(counted) => counted.line(),
            Err(_) => String::from("savings are unknown: the proxy has another version"),
        },
        Ok(response) if response.status == 404 => NO_REQUESTS.to_owned(),
        Ok(response) => {
            format!("savings are unknown: the proxy responded with status {}", response.status)
        }
        Err(error) => format!("savings are unknown: {}", http_get::failure(&error)),
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
            cache_breaks: savings.cache_breaks,
            tokens_rewritten: savings.tokens_rewritten,
            money_saved: Some(savings.money_saved),
        }
    }
}

impl RunSavings {
    fn line(&self) -> String {
        let requests = counted(self.requests, "request");
        if self.cut_requests == 0 {
            return format!("{requests}, nothing cut");
        }
        let saved = self.bytes_in.saturating_sub(self.bytes_out);
        let (cut, share) = (grouped(self.cut_requests), percent(saved, self.bytes_in));
        let tokens = counted(self.tokens_saved, "token");
        let mut line = format!("{requests}, {cut} of them cut: saved {tokens} ({share} of all bytes)");
        if let Some(money) = self.money_saved.filter(|money| *money != 0.0) {
            line += &format!(", about {}", dollars(money));
        }
        if self.cache_breaks > 0 {
            let (breaks, again) =
                (counted(self.cache_breaks, "cache break"), counted(self.tokens_rewritten, "token"));
            line += &format!("; {breaks} made {again} be sent again");
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_was_saved() {
        let read = |text: &str| serde_json::from_str::<RunSavings>(text).unwrap().line();
        assert_eq!(read(r#"{"name":"a","requests":1}"#), "1 request, nothing cut");
        let text = r#"{"requests":12,"cut_requests":3,"bytes_in":1000,"bytes_out":750,"tokens_in":9,
            "tokens_saved":81234,"money_saved":0.124}"#;
        let line = "12 requests, 3 of them cut: saved 81,234 tokens (25.0 % of all bytes), about $0.12";
        assert_eq!(read(text), line);
        let text = text.replace("0.124", "-0.02,\"cache_breaks\":1,\"tokens_rewritten\":9000");
        let line = line.replace("$0.12", "-$0.02; 1 cache break made 9,000 tokens be sent again");
        assert_eq!(read(&text), line);
    }
}
