//! A client's connection, and whether the client still waits at its other end.
//!
//! Over HTTP/1 a client that gives up shows it only by closing its connection. A client that has sent everything and
//! waits for the response may close its sending half just the same. The time tells them apart: the first closes late, the
//! second with its request.

use std::future::{Future, pending};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Sleep, sleep};

use super::framing::{FramingCheck, FramingFlaw};
use crate::quota::ClientKey;

/// Resolves when the client disconnects.
pub(crate) type Disconnect = BoxFuture<'static, ()>;

/// The client disconnected, so there is nobody to answer.
#[derive(Debug, thiserror::Error)]
#[error("the client disconnected")]
pub(crate) struct ClientGone;

/// A client's connection. Everything it sends is checked for ambiguous framing.
pub(crate) struct Socket {
    read: OwnedReadHalf,
    framing: FramingCheck,
    /// A malformed chunk was found. What follows is not read.
    is_cut_off: bool,
    write: Peer,
    patience: Duration,
    /// Rings when the client has taken no bytes for too long. Set only while it takes none.
    alarm: Option<Pin<Box<Sleep>>>,
    /// Counts this among the open connections, also after an upgrade.
    _slot: OwnedSemaphorePermit,
}

/// The client at the other end.
#[derive(Clone)]
pub(crate) struct Peer {
    key: ClientKey,
    half: Arc<OwnedWriteHalf>,
    is_flawed: Arc<AtomicBool>,
    is_upgraded: Arc<AtomicBool>,
}

impl Socket {
    /// A connection to a client that may leave sent bytes unread for this long.
    pub(crate) fn new(stream: TcpStream, slot: OwnedSemaphorePermit, patience: Duration) -> Self {
        // A connection that is gone already has no address; it gets no further than its first read.
        let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let key = ClientKey::of(stream.peer_addr().unwrap_or(nowhere));
        let (read, write) = stream.into_split();
        Self {
            read,
            framing: FramingCheck::default(),
            is_cut_off: false,
            patience,
            alarm: None,
            _slot: slot,
            write: Peer {
                key,
                half: Arc::new(write),
                is_flawed: Arc::default(),
                is_upgraded: Arc::default(),
            },
        }
    }

    pub(crate) fn peer(&self) -> Peer {
        self.write.clone()
    }

    fn poll_try(
        &mut self,
        cx: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(done) = self.write.poll_try(cx, write) {
            self.alarm = None;
            return Poll::Ready(done);
        }
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep(self.patience)));
        ready!(alarm.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl Peer {
    /// Who it is.
    pub(crate) fn key(&self) -> &ClientKey {
        &self.key
    }

    fn stream(&self) -> &TcpStream {
        self.half.as_ref().as_ref()
    }

    /// Whether it sent a request whose end another program could see elsewhere.
    pub(crate) fn is_flawed(&self) -> bool {
        self.is_flawed.load(Ordering::Relaxed) && !self.is_upgraded.load(Ordering::Relaxed)
    }

    /// The connection is upgraded: what follows is not HTTP.
    pub(crate) fn set_upgraded(&self) {
        self.is_upgraded.store(true, Ordering::Relaxed);
    }

    /// Resolves when the client disconnects. To be called when its request has been read to the end.
    pub(crate) fn disconnect(self, grace: Duration) -> Disconnect {
        self.wait_for_disconnect(grace).boxed()
    }

    async fn wait_for_disconnect(self, grace: Duration) {
        if !grace.is_zero() {
            sleep(grace).await;
        }
        // Asks the system, as the runtime may not know yet.
        let now = SockRef::from(self.stream()).peek(&mut [MaybeUninit::uninit()]);
        match now {
            // It has closed its half early, or already sends its next request: it waits for the response.
            Ok(_) => pending().await,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
        match self.stream().peek(&mut [0]).await {
            Ok(0) | Err(_) => {}
            // The next request, before this one is answered. What comes after it cannot be seen.
            Ok(_) => pending().await,
        }
    }

    fn poll_try(
        &self,
        cx: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let stream = self.stream();
        loop {
            ready!(stream.poll_write_ready(cx))?;
            match write(stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_cut_off {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.read).poll_read(cx, buf))?;
        if self.write.is_upgraded.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(()));
        }
        let fresh = buf.filled().get(before..).unwrap_or_default();
        let Some((flaw, sound)) = self.framing.check(fresh) else { return Poll::Ready(Ok(())) };
        tracing::debug!(%flaw, "ambiguous request");
        self.write.is_flawed.store(true, Ordering::Relaxed);
        if flaw == FramingFlaw::Chunk {
            // The head of the request is sound and can be answered; its body ends with an error.
            buf.set_filled(before + sound);
            self.is_cut_off = true;
            if sound == 0 {
                return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_try(cx, |stream| stream.try_write(buf))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_try(cx, |stream| stream.try_write_vectored(bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(self.write.stream()).shutdown(Shutdown::Write))
    }
}
