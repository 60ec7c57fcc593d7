//! A proxy in front of one provider, for measuring and trying out:
//! `cargo run --release -p secateur-server --example proxy -- 127.0.0.1:7878 http://127.0.0.1:9000`.

use secateur_server::{Server, Settings, Upstream};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(listen), Some(upstream)) = (arguments.next(), arguments.next()) else {
        return Err("wanted are an address to listen on and the URL of a provider".into());
    };
    let upstream: Upstream = upstream.parse()?;
    let settings = Settings {
        listen: listen.parse()?,
        anthropic: upstream.clone(),
        openai: upstream.clone(),
        gemini: upstream,
        ..Settings::default()
    };
    let server = Server::bind(settings).await?;
    println!("listening on {}", server.local_addr());
    server.run_until(std::future::pending()).await;
    Ok(())
}
