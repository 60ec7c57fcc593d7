//! What the proxy says about its sessions, asked over real sockets: a scripted model behind it, agents before it, and
//! somebody who looks on.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

#[expect(dead_code, reason = "the tests end by themselves")]
#[path = "model/mod.rs"]
mod model;

#[expect(dead_code, reason = "the provider is a scripted model here")]
#[path = "http/play.rs"]
mod play;

#[expect(dead_code, reason = "one language is enough here")]
#[path = "proxy/agent.rs"]
mod agent;
#[expect(dead_code, reason = "nothing goes wrong on the way here")]
#[path = "proxy/client.rs"]
mod client;
#[path = "proxy/said.rs"]
mod said;
#[expect(dead_code, reason = "there is one proxy, and its model is known")]
#[path = "proxy/stage.rs"]
mod stage;
#[expect(dead_code, reason = "the provider never fails here")]
#[path = "proxy/tap.rs"]
mod tap;

#[path = "api/asked.rs"]
mod asked;

#[path = "api/answers.rs"]
mod answers;
#[path = "api/events.rs"]
mod events;
#[path = "api/problems.rs"]
mod problems;
#[path = "api/undo.rs"]
mod undo;
