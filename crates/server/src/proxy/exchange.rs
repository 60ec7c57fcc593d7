//! One request and its response.
//!
//! ```text
//!   request ─▶ Route ─┬─ no conversation ───────────────────────────▶ sent as it comes ─▶ response
//!                     └─ read whole ─▶ Conversations::prepare ─▶ sent ─┬─▶ response
//!                                                                ▲     │
//!                                       Conversations::make_room ┴─────┘ refused as too long
//! ```

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use bytes::Bytes;
use futures_util::FutureExt;
use http::{Method, Request, Response, StatusCode, Version};
use hyper::body::{Body, Incoming};
use secateur_formats::Wire;

use super::content_encoding::CompressedOriginal;
use super::early_refusal::{self, EarlyRefusal};
use super::guard::{finish_unless_gone, guard};
use super::response_observer::ResponseObserver;
use super::usage_reader::UsageReader;
use super::{ExchangeResult, Proxy};
use crate::conversation::{
    ClientEndpoint, ConversationRequest, PendingExchange, PreparedRequest, TooDeep, add_betas,
};
use crate::http::limits::MinRate;
use crate::http::request_body::{BodyLimits, UnreadBody, UpstreamBody, read_whole, unreadable};
use crate::http::response_body::{ProviderStream, ProxyResponseBody};
use crate::http::socket::{ClientGone, Disconnect, Peer};
use crate::http::upstream::RequestHead;
use crate::http::{hop_headers, refusal, tunnel};
use crate::outcome::{Denial, ExchangeReport, PassReason};
use crate::quota::ClientQuota;
use crate::route::{Provider, RequestKind, Route};
use crate::tenants::TenantParts;

/// How often a request is sent, each time shorter, before the provider's refusal is passed on.
const MAX_ATTEMPTS: usize = 4;

/// Where a conversation goes, and in which wire.
struct Destination {
    provider: Provider,
    wire: Wire,
    kind: RequestKind,
    model: Option<String>,
    /// The tenant whose conversation it is.
    tenant: Arc<TenantParts>,
    /// The run of an agent that it belongs to, if the client names one.
    run: Option<String>,
}

impl Proxy {
    /// Passes a request on to its provider, and the response back.
    pub(super) async fn exchange(
        &self,
        mut request: Request<Incoming>,
        peer: Peer,
        tenant: &Arc<TenantParts>,
        run: Option<String>,
    ) -> ExchangeResult {
        let quota = self.quotas.client(&peer.key().with_tenant(tenant.engine.tenant()));
        // Over HTTP/2 a client that gives up resets its stream, and the whole exchange is dropped.
        let peer = Some(peer).filter(|_| request.version() <= Version::HTTP_11);
        let route = Route::of(request.uri().path(), request.headers());
        let upgrade = hop_headers::upgrade(request.headers()).filter(|_| peer.is_some());
        if upgrade.is_some()
            && let Some(refusal) = tunnel::decline(&route, request.headers())
        {
            return Ok(refusal);
        }
        let client = upgrade.as_ref().map(|_| hyper::upgrade::on(&mut request));
        let (mut parts, body) = request.into_parts();
        let headers = hop_headers::strip(std::mem::take(&mut parts.headers));
        let uri = parts.uri.clone();
        let upstream = self.settings.upstream(route.provider);
        let Ok(mut head) = RequestHead::new(parts, headers, upstream) else {
            self.metrics.denied(Denial::Malformed);
            let message = "invalid request path";
            return Ok(refusal::refuse(route.provider, StatusCode::BAD_REQUEST, message));
        };
        if let Some((protocol, client)) = upgrade.zip(client) {
            tunnel::request_upgrade(&mut head.headers, protocol);
            let response = self.pass_through(head, vec![], body, peer.clone(), route.provider).await?;
            let open = self.metrics.open_response();
            return Ok(tunnel::connect(response, client, peer, open, &self.tasks));
        }
        let Some((wire, kind)) = route.conversation.filter(|_| head.method == Method::POST) else {
            let response = self.pass_through(head, vec![], body, peer, route.provider).await?;
            tracing::debug!(path = uri.path(), status = response.status().as_u16(), "passed on");
            return Ok(response);
        };
        let tenant = Arc::clone(tenant);
        let destination =
            Destination { provider: route.provider, wire, kind, model: route.model, tenant, run };
        // Boxed, so that requests without a conversation do not carry the memory for one.
        let (reply, report) = Box::pin(self.converse(head, body, peer, destination, quota)).await;
        self.finish(reply?, &report, uri.path())
    }

    /// Reports what was done: to the client, the log and the metrics.
    fn finish(
        &self,
        mut response: Response<ProxyResponseBody>,
        report: &ExchangeReport,
        path: &str,
    ) -> ExchangeResult {
        let status = response.status().as_u16();
        self.metrics.conversation_answered(report, status);
        tracing::debug!(
            path,
            status,
            outcome = report.outcome.as_str(),
            reason = report.reason.map(PassReason::as_str),
            session = report.session,
            cuts = report.cuts,
            bytes_in = report.bytes_in,
            bytes_out = report.bytes_out,
            "answered"
        );
        if self.settings.headers {
            report.write_headers(response.headers_mut());
        }
        Ok(response)
    }

    /// Passes a request on as it comes.
    async fn pass_through(
        &self,
        head: RequestHead,
        read: Vec<Bytes>,
        rest: Incoming,
        peer: Option<Peer>,
        provider: Provider,
    ) -> ExchangeResult {
        let limits = BodyLimits { bytes: self.settings.most_passed, rate: MinRate::of(&self.settings) };
        let request = head.with_rest(read, rest, limits);
        let unsent = request.body().has_rest().then(|| request.body().progress());
        let grace = self.settings.grace;
        let mut disconnect: Option<Disconnect> = peer.map(|peer| match unsent {
            None => peer.disconnect(grace),
            Some(progress) => async move {
                progress.end().await;
                peer.disconnect(grace).await;
            }
            .boxed(),
        });
        match self.send(request, &mut disconnect, provider).await? {
            Ok(response) => Ok(self.stream(response, disconnect).map(ProxyResponseBody::from)),
            Err(refusal) => Ok(refusal),
        }
    }

    /// Sends a request with a conversation in it, shortened if needed.
    async fn converse(
        &self,
        head: RequestHead,
        body: Incoming,
        peer: Option<Peer>,
        destination: Destination,
        quota: Arc<ClientQuota>,
    ) -> (ExchangeResult, ExchangeReport) {
        let (length, provider) = (body.size_hint().lower(), destination.provider);
        let metrics = &self.metrics;
        let passed_through = |reason| ExchangeReport::passed_through(reason, length);
        if let Some(reason) = unreadable(&head.headers) {
            return (self.pass_through(head, vec![], body, peer, provider).await, passed_through(reason));
        }
        let Some(reading) = quota.begin_body() else {
            metrics.denied(Denial::Bodies);
            let refusal = refusal::too_many_bodies(provider, self.settings.client_bodies);
            return (Ok(refusal), ExchangeReport::refused());
        };
        let mut memory = quota.memory();
        let body = match read_whole(body, &self.settings, &mut memory).await {
            Ok(body) => body,
            Err(UnreadBody::Unread(reason, read, rest)) => {
                if reason == PassReason::Busy {
                    metrics.busy();
                }
                return (self.pass_through(head, read, rest, peer, provider).await, passed_through(reason));
            }
            Err(UnreadBody::Broken) => return (Err(ClientGone), ExchangeReport::default()),
            Err(UnreadBody::Faulty(fault)) => {
                return (Ok(self.refuse_body(provider, fault)), ExchangeReport::refused());
            }
        };
        let (original, body, _plain) = if CompressedOriginal::is_in(&head.headers) {
            let (headers, most, mut plain) =
                (head.headers.clone(), self.settings.most_body, memory.another());
            let decode = move || {
                let (original, body) = CompressedOriginal::decode(&headers, body, most, &mut plain);
                (original, body, Some(plain))
            };
            quota.work(decode).await
        } else {
            (CompressedOriginal::none(), body, None)
        };
        let mut disconnect: Option<Disconnect> = peer.map(|peer| peer.disconnect(self.settings.grace));
        let began = Instant::now();
        let preparing = self.prepare(&head, body, &destination, &quota);
        let mut prepared = match finish_unless_gone(preparing, &mut disconnect).await {
            Some(Ok(prepared)) => prepared,
            Some(Err(error)) => {
                metrics.denied(Denial::TooDeep);
                let refusal = refusal::refuse(provider, StatusCode::BAD_REQUEST, &error.to_string());
                return (Ok(refusal), ExchangeReport::refused());
            }
            None => return (Err(ClientGone), ExchangeReport::default()),
        };
        metrics.planned(began.elapsed());
        drop(reading);
        let mut attempt = 0;
        loop {
            attempt += 1;
            let PreparedRequest { body, mut report, betas, mut pending, is_tight } = prepared;
            metrics.prepared(&mut report);
            let mut head = head.clone();
            add_betas(&mut head.headers, &betas);
            let request = original.request(head, body, &mut report);
            let response = match self.send(request, &mut disconnect, provider).await {
                Ok(Ok(response)) => response,
                Ok(Err(refusal)) => return (Ok(refusal), report),
                Err(gone) => return (Err(gone), report),
            };
            let mut response = self.stream(response, disconnect.take());
            let status = response.status();
            let may_fail_late = is_tight && destination.wire.spec().may_fail_late && status.is_success();
            if (status.as_u16() >= 400 || may_fail_late)
                && let Some(refusal) = early_refusal::find(destination.wire, &mut response).await
                && let Some(refused) = pending.take()
                && attempt < MAX_ATTEMPTS
                && let Some(another) = self.answer_refusal(&destination.tenant, refused, refusal).await
            {
                disconnect = response.into_body().into_disconnect();
                prepared = another;
                continue;
            }
            if let Some(pending) = &mut pending {
                pending.accepted();
            }
            if status.is_success() && destination.kind == RequestKind::Generate {
                let reader = UsageReader::new(destination.wire, response.headers());
                let recorders = destination.tenant.recorders.clone();
                let report = report.clone();
                let observer = ResponseObserver { reader, pending, report, run: destination.run, recorders };
                response.body_mut().observe_with(observer);
            }
            return (Ok(response.map(ProxyResponseBody::from)), report);
        }
    }

    /// Another request in place of one that was refused; none if the refusal is passed on.
    async fn answer_refusal(
        &self,
        tenant: &TenantParts,
        refused: PendingExchange,
        refusal: EarlyRefusal,
    ) -> Option<PreparedRequest> {
        let (conversations, patience) = (&tenant.conversations, self.settings.patience);
        let another = match refusal {
            EarlyRefusal::TooLong(overflow) => {
                guard(conversations.make_room(refused, overflow), patience).await
            }
            EarlyRefusal::Thinking(refusal) => {
                guard(conversations.adapt_thinking(refused, refusal), patience).await
            }
        };
        let another = another.ok().flatten()?;
        match refusal {
            EarlyRefusal::TooLong(_) => self.metrics.overflow(),
            EarlyRefusal::Thinking(_) => self.metrics.thinking_refused(),
        }
        Some(another)
    }

    /// Decides what is sent. If that fails, the body is sent as it came.
    async fn prepare(
        &self,
        head: &RequestHead,
        body: Bytes,
        destination: &Destination,
        quota: &Arc<ClientQuota>,
    ) -> Result<PreparedRequest, TooDeep> {
        let request = ConversationRequest {
            wire: destination.wire,
            kind: destination.kind,
            model: destination.model.as_deref(),
            headers: &head.headers,
            body: &body,
            endpoint: ClientEndpoint { url: head.uri.to_string(), connector: self.connector.clone() },
            quota: Arc::clone(quota),
        };
        match guard(destination.tenant.conversations.prepare(request), self.settings.patience).await {
            Ok(prepared) => prepared,
            Err(reason) => Ok(PreparedRequest::passed_through(body, reason)),
        }
    }

    /// Sends a request, and waits for the head of the response or until the client disconnects. If the provider does not
    /// answer, the proxy does.
    async fn send(
        &self,
        request: Request<UpstreamBody>,
        disconnect: &mut Option<Disconnect>,
        provider: Provider,
    ) -> Result<Result<Response<Incoming>, Response<ProxyResponseBody>>, ClientGone> {
        let metrics = &self.metrics;
        let (began, progress) = (Instant::now(), request.body().progress());
        let mut sending = pin!(self.client.send(request));
        let response = poll_fn(|cx| {
            if let Poll::Ready(response) = sending.as_mut().poll(cx) {
                return Poll::Ready(Ok(response));
            }
            match disconnect.as_mut().map(|disconnect| disconnect.as_mut().poll(cx)) {
                Some(Poll::Ready(())) => Poll::Ready(Err(ClientGone)),
                _ => Poll::Pending,
            }
        });
        let response = response.await?;
        metrics.waited(began.elapsed());
        metrics.sent_upstream(progress.bytes());
        Ok(response.map_err(|error| {
            if let Some(fault) = progress.fault() {
                return self.refuse_body(provider, fault);
            }
            metrics.failure();
            tracing::warn!(?provider, %error, "no response from the provider");
            refusal::failed(provider, self.settings.upstream(provider), &error)
        }))
    }

    fn stream(
        &self,
        response: Response<Incoming>,
        disconnect: Option<Disconnect>,
    ) -> Response<ProviderStream> {
        let (mut parts, body) = response.into_parts();
        if parts.status != StatusCode::SWITCHING_PROTOCOLS {
            parts.headers = hop_headers::strip(parts.headers);
        }
        // The client gets the version that it speaks, whatever the provider's is.
        parts.version = Version::HTTP_11;
        let open = self.metrics.open_response();
        Response::from_parts(parts, ProviderStream::new(body, open, disconnect, self.settings.patience))
    }
}
