//! A client's connection, and whether somebody is still at its other end.
//!
//! Over HTTP/1 a client that gives up says so only by closing its connection. The same sign, the end of what it sends,
//! is also given by one that has said all it wants to say and waits for the answer. What tells them apart is the time:
//! who means "that was all" says it with the request, who gives up says it later.

use std::future::{Future, pending};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Sleep, sleep};

use crate::http::framing::{Flaw, Strict};

/// A connection that can be watched while it is in use.
pub(crate) struct Socket {
    read: OwnedReadHalf,
    strict: Strict,
    write: Peer,
    patience: Duration,
    /// Rings when the client has taken nothing for too long. Set only while it takes nothing.
    alarm: Option<Pin<Box<Sleep>>>,
    /// Among the connections that there may be, also when this one becomes something else.
    _place: OwnedSemaphorePermit,
}

/// Who is at the other end.
#[derive(Clone)]
pub(crate) struct Peer {
    half: Arc<OwnedWriteHalf>,
    is_flawed: Arc<AtomicBool>,
    is_joined: Arc<AtomicBool>,
}

impl Socket {
    /// A connection to a client that may leave what it is sent untaken for so long.
    pub(crate) fn new(stream: TcpStream, place: OwnedSemaphorePermit, patience: Duration) -> Self {
        let (read, write) = stream.into_split();
        Self {
            read,
            strict: Strict::default(),
            patience,
            alarm: None,
            _place: place,
            write: Peer { half: Arc::new(write), is_flawed: Arc::default(), is_joined: Arc::default() },
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
    fn stream(&self) -> &TcpStream {
        self.half.as_ref().as_ref()
    }

    /// Whether it sent a head that others might read otherwise.
    pub(crate) fn is_flawed(&self) -> bool {
        self.is_flawed.load(Ordering::Relaxed) && !self.is_joined.load(Ordering::Relaxed)
    }

    /// It speaks something else from now on.
    pub(crate) fn join(&self) {
        self.is_joined.store(true, Ordering::Relaxed);
    }

    /// Comes back when the client has given up. To be called when its request has been read to the end.
    pub(crate) async fn gone(self, grace: Duration) {
        if !grace.is_zero() {
            sleep(grace).await;
        }
        // The system is asked, not the runtime, which may not have heard yet.
        let now = SockRef::from(self.stream()).peek(&mut [MaybeUninit::uninit()]);
        match now {
            // It has said that it will say no more, or is already saying more: it waits for the answer.
            Ok(_) => pending().await,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
        match self.stream().peek(&mut [0]).await {
            Ok(0) | Err(_) => {}
            // The next request, before this one is answered. Nothing can be seen behind it.
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
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.read).poll_read(cx, buf))?;
        if self.write.is_joined.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(()));
        }
        let fresh = buf.filled().get(before..).unwrap_or_default();
        let Some(flaw) = self.strict.look(fresh) else { return Poll::Ready(Ok(())) };
        tracing::debug!(%flaw, "a request can be read in two ways");
        self.write.is_flawed.store(true, Ordering::Relaxed);
        // Its head may have gone to the provider long ago, and no answer says so any more.
        Poll::Ready(if flaw == Flaw::Chunk { Err(io::ErrorKind::InvalidData.into()) } else { Ok(()) })
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
