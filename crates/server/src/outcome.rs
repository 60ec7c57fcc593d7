//! What became of a request: the words for it, and the report that headers, logs and metrics are made from.
//!
//! Each enum here is the only list of its values. Its labels are the same in headers, in the log, in the API and in the
//! metrics.

use http::{HeaderMap, HeaderName, HeaderValue};
use secateur::session::{CompactionFailure, Event, Means};
use secateur::{PriceList, Usage};
use serde::{Serialize, Serializer};

/// Declares an enum whose values each have one label.
macro_rules! labelled {
    (
        $(#[$attribute:meta])*
        $name:ident { $($(#[$note:meta])* $variant:ident = $label:literal,)+ }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name {
            $($(#[$note])* $variant,)+
        }

        impl $name {
            /// Every value, in the order of the declaration.
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),+];

            /// The label of this value.
            pub(crate) const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $label,)+
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

labelled! {
    /// What the proxy did to a request with a conversation.
    #[derive(Default)]
    Outcome {
        /// It was sent as it came, without being managed.
        PassedThrough = "passed-through",
        /// It is managed, and there was nothing to cut.
        #[default]
        Unchanged = "unchanged",
        /// Only earlier cuts and summaries were applied.
        Replayed = "replayed",
        /// New cuts were made.
        Pruned = "pruned",
        /// A summary replaced older history.
        Compacted = "compacted",
        /// The proxy answered it with an error.
        Refused = "refused",
    }
}

labelled! {
    /// Why a request was passed through, or why less was done to it than usual.
    PassReason {
        /// The body is longer than the proxy reads.
        Large = "large",
        /// Other requests use all the memory for bodies.
        Busy = "busy",
        /// The content type is not JSON.
        ContentType = "type",
        /// The body is signed or has trailers, so it must not change.
        Signed = "signed",
        /// An error in the proxy.
        Internal = "internal",
        /// The decision took too long.
        Slow = "slow",
        /// The body could not be parsed as a conversation.
        NotUnderstood = "not-understood",
        /// The store failed.
        Store = "store",
        /// The provider holds the history.
        KeptByProvider = "kept-by-provider",
        /// The provider was asked to manage the context.
        ManagedByProvider = "managed-by-provider",
        /// The client asks for a summary of its own.
        ClientCompacts = "client-compacts",
        /// Nothing more can be cut, and the request still does not fit.
        NoRoom = "no-room",
        /// The provider would have rejected the shortened request.
        Lint = "lint",
        /// The provider refused thinking that a cut had made invalid.
        Thinking = "thinking",
    }
}

labelled! {
    /// Why a request, or a connection, was not let in.
    Denial {
        /// No token was given.
        NoToken = "no-token",
        /// The token is wrong.
        WrongToken = "wrong-token",
        /// The token is not an operator's.
        NoOperator = "no-operator",
        /// The Host header names another machine.
        Host = "host",
        /// A web page of another origin sent it.
        Origin = "origin",
        /// Two programs could disagree about where the request ends.
        Ambiguous = "ambiguous",
        /// It is not valid HTTP.
        Malformed = "malformed",
        /// The method is CONNECT.
        Connect = "connect",
        /// The body is longer than the proxy passes on.
        TooLong = "too-long",
        /// The body is nested too deeply.
        TooDeep = "too-deep",
        /// The body arrives too slowly.
        Slow = "slow",
        /// There are too many connections.
        Full = "full",
        /// Too many bodies of the same client are being read.
        Bodies = "bodies",
    }
}

labelled! {
    /// Why a provider found less than half of a prompt in its cache.
    CacheMiss {
        /// It is the first prompt of the conversation.
        First = "first",
        /// The proxy cut or compacted.
        Cut = "cut",
        /// The model changed.
        Model = "model",
        /// The client changed something outside of the messages.
        Client = "client",
        /// The cache entry was too old.
        Expired = "expired",
        /// None of these: the provider dropped it.
        Provider = "provider",
    }
}

labelled! {
    /// How a compaction ended.
    CompactionOutcome {
        /// A model wrote a summary.
        Summary = "summary",
        /// A digest took its place.
        Digest = "digest",
        /// A hook refused it.
        Vetoed = "vetoed",
        /// There was nothing to summarise.
        NothingToSummarise = "nothing-to-summarise",
        /// There was no summariser, and the profile makes no digest.
        NoSummariser = "no-summariser",
        /// The summariser failed.
        ModelFailed = "model-failed",
        /// The summary did not pass its checks.
        Flawed = "flawed",
        /// The summary would not have made the context small enough.
        NoProgress = "no-progress",
        /// It was cancelled.
        Cancelled = "cancelled",
        /// It failed for a reason that this version does not know.
        Other = "other",
    }
}

impl Outcome {
    /// Whether new cuts were made or a summary took the place of history.
    pub(crate) fn is_new_decision(self) -> bool {
        matches!(self, Self::Pruned | Self::Compacted)
    }

    /// The outcome where nothing new was decided, given whether earlier decisions changed the body.
    pub(crate) fn without_decision(is_changed: bool) -> Self {
        if is_changed { Self::Replayed } else { Self::Unchanged }
    }

    /// What these events amount to; none if they decided nothing.
    pub(crate) fn of_events(events: &[Event]) -> Option<Self> {
        if events.iter().any(|event| matches!(event, Event::CompactionCompleted { .. })) {
            Some(Self::Compacted)
        } else if events.iter().any(|event| matches!(event, Event::Pruned { .. })) {
            Some(Self::Pruned)
        } else {
            None
        }
    }
}

impl CompactionOutcome {
    /// How a compaction ended; none if the event says nothing about that.
    pub(crate) fn of_event(event: &Event) -> Option<Self> {
        match event {
            Event::CompactionCompleted { means: Means::Model, .. } => Some(Self::Summary),
            Event::CompactionCompleted { means: Means::Digest, .. } => Some(Self::Digest),
            Event::CompactionFailed { why, .. } | Event::CompactionRefused { why } => Some(why.into()),
            _ => None,
        }
    }
}

impl From<&CompactionFailure> for CompactionOutcome {
    fn from(failure: &CompactionFailure) -> Self {
        match failure {
            CompactionFailure::Vetoed => Self::Vetoed,
            CompactionFailure::NothingToSummarise => Self::NothingToSummarise,
            CompactionFailure::NoSummariser => Self::NoSummariser,
            CompactionFailure::Model { .. } => Self::ModelFailed,
            CompactionFailure::Flawed { .. } => Self::Flawed,
            CompactionFailure::NoProgress { .. } => Self::NoProgress,
            CompactionFailure::Cancelled => Self::Cancelled,
            _ => Self::Other,
        }
    }
}

/// What was done to a request with a conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExchangeReport {
    pub outcome: Outcome,
    /// Why less was done than usual, if so.
    pub reason: Option<PassReason>,
    /// The session of the conversation.
    pub session: Option<String>,
    /// Cuts in what is sent.
    pub cuts: u32,
    /// Messages that a summary replaces in what is sent.
    pub replaced: u32,
    /// Decisions about the conversation that the store could not take yet.
    pub provisional: usize,
    /// Bytes of the body as the client sent it, and as the provider receives it.
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// The requested model, its window, and its prices.
    pub model: String,
    pub window: i64,
    /// Whether nothing is known about the window, so that its size is assumed.
    pub is_window_assumed: bool,
    pub prices: Option<PriceList>,
    /// Bytes changed outside of cut ranges. Always 0, unless there is a bug.
    pub altered: u64,
    /// Events of the conversation since its last request.
    pub events: Vec<Event>,
}

/// What became of a prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PromptEffect {
    /// Why the provider had less than half of it in its cache, if so.
    pub miss: Option<CacheMiss>,
    /// What the provider would have reported for the client's own request.
    pub whole: Usage,
    /// Tokens that were in the cache, and were sent again because a new cut changed what is before them.
    pub rewritten: u64,
    /// What the summaries cost that were made on the client's account since the prompt before.
    pub summaries: Vec<Usage>,
}

impl ExchangeReport {
    /// The report about a body of this length that is sent as it came.
    pub(crate) fn passed_through(reason: PassReason, bytes: u64) -> Self {
        Self {
            outcome: Outcome::PassedThrough,
            reason: Some(reason),
            bytes_in: bytes,
            bytes_out: bytes,
            ..Self::default()
        }
    }

    /// The report about a request that the proxy answers with an error.
    pub(crate) fn refused() -> Self {
        Self { outcome: Outcome::Refused, ..Self::default() }
    }

    /// Writes the report as headers of the response.
    pub(crate) fn write_headers(&self, headers: &mut HeaderMap) {
        let mut insert = |name: &'static str, value: Option<HeaderValue>| {
            if let Some(value) = value {
                headers.insert(HeaderName::from_static(name), value);
            }
        };
        let text = |text: &str| HeaderValue::from_str(text).ok();
        insert("x-secateur-outcome", Some(HeaderValue::from_static(self.outcome.as_str())));
        insert("x-secateur-session", self.session.as_deref().and_then(text));
        insert("x-secateur-reason", self.reason.map(|reason| HeaderValue::from_static(reason.as_str())));
        insert("x-secateur-cuts", Some(self.cuts.into()));
        insert("x-secateur-replaced", Some(self.replaced.into()));
        if self.provisional > 0 {
            insert("x-secateur-provisional", Some(self.provisional.into()));
        }
        if self.is_window_assumed {
            insert("x-secateur-assumed-window", Some(self.window.into()));
        }
        insert("x-secateur-bytes", text(&format!("{}/{}", self.bytes_in, self.bytes_out)));
    }
}
