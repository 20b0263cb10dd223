//! The listener and its connections: each with limits, all of them ended in time when the server stops.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::access::Peer;
use crate::app::App;
use crate::listen::{Listen, ListenError};

/// How much of everything one server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest body that is read.
    pub body_bytes: usize,
    /// The largest form with files that is read.
    pub form_bytes: usize,
    /// The largest file in such a form.
    pub file_bytes: u64,
    /// How long a body may pause while it is read.
    pub body_pause: Duration,
    /// How long a request's head may take, also the first of a connection or the next of an idle one.
    pub head: Duration,
    /// The largest head of a request.
    pub head_bytes: usize,
    /// How many connections are served at once; more wait to be accepted.
    pub connections: usize,
    /// How long requests may go on after the server was told to stop.
    pub drain: Duration,
}

impl Limits {
    /// Takes files up to this size, and forms that hold at least one such file.
    pub fn for_files(self, file_bytes: u64) -> Self {
        let whole = usize::try_from(file_bytes.saturating_add(self.body_bytes as u64)).unwrap_or(usize::MAX);
        Self { file_bytes, form_bytes: self.form_bytes.max(whole), ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 1024 * 1024,
            form_bytes: 512 * 1024 * 1024,
            file_bytes: 100 * 1024 * 1024,
            body_pause: Duration::from_secs(30),
            head: Duration::from_secs(30),
            head_bytes: 64 * 1024,
            connections: 1024,
            drain: Duration::from_secs(10),
        }
    }
}

/// How long accepting pauses when the system has no room for another connection.
const NO_ROOM: Duration = Duration::from_millis(50);

/// How the server came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Every request that had begun was answered.
    Drained,
    /// So many connections were cut when the time was over.
    Cut(usize),
}

/// A bound listener that is ready to serve.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    limits: Limits,
}

impl Server {
    /// Binds the address; from here on clients can connect, and wait.
    pub async fn bind(listen: Listen) -> Result<Self, ListenError> {
        let wanted = listen.address();
        let refused = |source| ListenError::Refused { address: wanted, source };
        let listener = TcpListener::bind(wanted).await.map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => ListenError::InUse { address: wanted },
            _ => refused(source),
        })?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Self { listener, address, limits: Limits::default() })
    }

    /// Serves with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The address that is bound, with the port that was chosen.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is cancelled, then lets what has begun come to its end for as long as the limits say.
    pub async fn run(self, app: App, stop: CancellationToken) -> Stopped {
        self.run_with(app, Router::new(), stop).await
    }

    /// Serves more routes beside the usual ones, behind the same checks.
    pub(crate) async fn run_with(self, app: App, more: Router<App>, stop: CancellationToken) -> Stopped {
        let Self { listener, address, limits } = self;
        let router = app.stopping_with(stop.clone()).router(more, address, limits);
        let connections = TaskTracker::new();
        let cut = CancellationToken::new();
        tokio::select! {
            () = accept(&listener, &router, limits, &connections, &stop, &cut) => {}
            () = stop.cancelled() => {}
        }
        drop(listener);
        connections.close();
        if timeout(limits.drain, connections.wait()).await.is_ok() {
            return Stopped::Drained;
        }
        let left = connections.len();
        cut.cancel();
        connections.wait().await;
        Stopped::Cut(left)
    }
}

/// Takes connections for ever.
async fn accept(
    listener: &TcpListener,
    router: &Router,
    limits: Limits,
    connections: &TaskTracker,
    stop: &CancellationToken,
    cut: &CancellationToken,
) {
    let room = Arc::new(Semaphore::new(limits.connections));
    loop {
        let place = Arc::clone(&room).acquire_owned().await.expect("the semaphore is never closed");
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(NO_ROOM).await;
                continue;
            }
        };
        let serving = serve(stream, Peer(peer.ip()), router.clone(), limits, stop.clone());
        let cut = cut.clone();
        connections.spawn(async move {
            let _place = place;
            let _ = cut.run_until_cancelled(serving).await;
        });
    }
}

/// Serves one connection to its end; after `stop` it answers what it has begun and closes.
async fn serve(stream: TcpStream, peer: Peer, router: Router, limits: Limits, stop: CancellationToken) {
    // Answers are small and complete: waiting to fill a packet only delays them.
    let _ = stream.set_nodelay(true);
    let service = router.map_request(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer);
        request.map(axum::body::Body::new)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(limits.head_bytes)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}
