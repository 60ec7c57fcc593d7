//! The model that writes summaries in a simulation: it quotes what it was sent, late, too long, or not at all.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use secateur::Limits;
use secateur_engine::provider::{Deltas, Finish, LanguageModel, ModelError, ModelRequest, ModelResponse};
use secateur_testing::SeededRandom;
use tokio::time::sleep;

/// A model that writes summaries.
pub(super) struct SimulatedSummariser {
    random: Mutex<SeededRandom>,
    context: i64,
    /// How many of a hundred summaries fail.
    failures: u64,
}

impl SimulatedSummariser {
    pub(super) fn new(random: &mut SeededRandom, context: u64, is_calm: bool) -> Self {
        let failures = if is_calm { 0 } else { *random.pick(&[0, 30, 100]) };
        let context = i64::try_from(context).unwrap_or(i64::MAX);
        Self { random: Mutex::new(SeededRandom::new(random.draw())), context, failures }
    }

    /// How long it takes, and what it says.
    fn write(&self, request: &ModelRequest<'_>) -> (u64, Result<String, ModelError>) {
        let mut random = self.random.lock().unwrap();
        let delay = [0, 30, 2_000, 40_000][random.place(4)];
        let server =
            ModelError::Server { status: 500, retry_after: None, message: "out of order".to_owned() };
        if random.happens(self.failures) {
            return match random.below(3) {
                0 => (delay, Err(server)),
                1 => (delay, Err(ModelError::Overflow { used: None, limit: None })),
                _ => (delay, Ok("word ".repeat(4_000))),
            };
        }
        let lines: Vec<&str> = request.text.lines().collect();
        let mut text = String::from("## Goal\nGo on.\n\n## State\n");
        let most = usize::try_from(request.max_tokens).unwrap_or(400).min(400);
        while text.len() < most && !lines.is_empty() {
            let line: String = random.pick(&lines).chars().take(80).collect();
            text.push_str("- ");
            text.push_str(&line);
            text.push('\n');
        }
        (delay, Ok(text))
    }
}

#[async_trait]
impl LanguageModel for SimulatedSummariser {
    fn name(&self) -> &'static str {
        "simulated-summariser"
    }

    fn limits(&self) -> Limits {
        Limits { context: self.context, output: Some(400), ..Limits::default() }
    }

    async fn send(
        &self,
        request: &ModelRequest<'_>,
        _: &mut Deltas<'_>,
    ) -> Result<ModelResponse, ModelError> {
        let (delay, written) = self.write(request);
        if delay > 0 {
            sleep(Duration::from_millis(delay)).await;
        }
        Ok(ModelResponse { text: written?, finish: Finish::Complete, usage: None })
    }
}
