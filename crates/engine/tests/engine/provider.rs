//! Models over HTTP, against a scripted server that behaves in every way that a provider may.

mod failures;
mod limits;
mod requests;
mod responses;
mod retries;
mod through;

use secateur_engine::provider::{
    Delta, Endpoint, LanguageModel, ModelError, ModelRequest, ModelResponse, Secret,
};
use secateur_formats::Wire;

use secateur_testing::scripted_provider::{Script, ScriptedProvider};

const QUESTION: ModelRequest<'_> =
    ModelRequest { system: "Be short.", text: "What was said?", max_tokens: 300 };

/// The result of a request, and the deltas received meanwhile.
#[derive(Debug)]
struct Asked {
    result: Result<ModelResponse, ModelError>,
    heard: Vec<String>,
}

impl Asked {
    fn answer(self) -> ModelResponse {
        self.result.unwrap()
    }

    fn error(self) -> ModelError {
        self.result.unwrap_err()
    }
}

/// Marks a restart among the deltas.
const RESTART: &str = "(restart)";

/// An endpoint with short waits before retries.
fn endpoint(wire: Wire, server: &ScriptedProvider) -> Endpoint {
    Endpoint { retries: 2, first_wait_ms: 1, ..Endpoint::new(wire, server.url(), "m") }
}

async fn ask(endpoint: &Endpoint) -> Asked {
    ask_as(endpoint, None).await
}

async fn ask_as(endpoint: &Endpoint, key: Option<&str>) -> Asked {
    ask_model(&endpoint.connect_as(key.map(Secret::new).as_ref()).unwrap()).await
}

async fn ask_model(model: &dyn LanguageModel) -> Asked {
    let mut heard = vec![];
    let hear = &mut |delta: Delta<'_>| match delta {
        Delta::Text(text) => heard.push(text.to_owned()),
        Delta::Restart => heard.push(RESTART.to_owned()),
    };
    let result = model.send(&QUESTION, hear).await;
    Asked { result, heard }
}

/// Plays one script and sends one request.
async fn play(wire: Wire, script: Script) -> Asked {
    let server = ScriptedProvider::start(vec![script]).await;
    ask(&Endpoint { retries: 0, ..endpoint(wire, &server) }).await
}
