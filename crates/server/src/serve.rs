//! The listener and its connections: each with limits, all of them ended in time when the server stops.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::access::Peer;
use crate::app::App;
use crate::crowd::{Arriving, Begun, Crowd, Place};
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
    /// How many connections are served at once: one more ends the longest idle one, or waits.
    pub connections: usize,
    /// How long requests may go on after the server was told to stop.
    pub drain: Duration,
}

impl Limits {
    /// Takes files up to this size, and forms that hold at least one such file.
    #[must_use]
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

/// How many may have connected and not been accepted: a burst of more would wait a second each.
const BACKLOG: u32 = 4096;

/// How long a connection may take to send what it has when its place is needed.
const LEAVING: Duration = Duration::from_millis(100);

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
    #[expect(clippy::unused_async, reason = "binding belongs to a runtime")]
    pub async fn bind(listen: Listen) -> Result<Self, ListenError> {
        let wanted = listen.address();
        let refused = |source| ListenError::Refused { address: wanted, source };
        let listener = listen_on(wanted).map_err(|source| match source.kind() {
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

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A port that was just left can be taken again, as with any listener.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
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
    let crowd = Crowd::new(limits.connections);
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(NO_ROOM).await;
                continue;
            }
        };
        let place = crowd.place().await;
        let serving = serve(stream, Peer(peer.ip()), router.clone(), limits, stop.clone(), place);
        let cut = cut.clone();
        connections.spawn(async move {
            let _ = cut.run_until_cancelled(serving).await;
        });
    }
}

/// Serves one connection to its end; after `stop` it answers what it has begun and closes.
async fn serve(
    stream: TcpStream,
    peer: Peer,
    router: Router,
    limits: Limits,
    stop: CancellationToken,
    place: Arc<Place>,
) {
    // Answers are small and complete: waiting to fill a packet only delays them.
    let _ = stream.set_nodelay(true);
    let leave = place.leave().clone();
    let last = Arc::<Mutex<Option<Begun>>>::default();
    let current = Arc::clone(&last);
    let service = tower::service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        let begun = Begun::new(Arc::clone(&place));
        *current.lock().unwrap_or_else(PoisonError::into_inner) = Some(begun.clone());
        request.extensions_mut().insert(peer);
        request.extensions_mut().insert(begun.clone());
        let request = request.map(|body| Body::new(Arriving::new(Body::new(body), begun.clone())));
        let answer = router.clone().oneshot(request);
        async move { answer.await.map(|answer| begun.answered().until_sent(answer)) }
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
        () = leave.cancelled() => {
            let last = last.lock().unwrap_or_else(PoisonError::into_inner).take();
            // Who has said nothing yet, or sends a body for too long, is cut off.
            if last.is_none_or(|last| last.is_arriving()) {
                return;
            }
            // What was answered is sent; half a request is not waited for.
            connection.as_mut().graceful_shutdown();
            timeout(LEAVING, connection).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}
