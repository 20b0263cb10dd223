//! Who is connected: when all places are taken, whoever has been idle for longest gives up theirs.
//!
//! A connection is idle while no request of it is being answered. Nobody can keep others out by connecting and
//! saying nothing, or by sending a body a byte at a time without a token; somebody who is being answered keeps the place.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Everybody who is connected.
pub(crate) struct Crowd {
    room: Arc<Semaphore>,
    idle: Mutex<Idle>,
}

/// The connections that wait for a request, longest first.
#[derive(Default)]
struct Idle {
    next: u64,
    waiting: BTreeMap<u64, CancellationToken>,
    /// How many want a place while everybody is being answered: the next that rest give up theirs.
    wanted: usize,
}

impl Crowd {
    pub fn new(places: usize) -> Arc<Self> {
        Arc::new(Self { room: Arc::new(Semaphore::new(places)), idle: Mutex::default() })
    }

    /// A place for a connection that has just come; waits while everybody is being answered.
    pub async fn place(self: &Arc<Self>) -> Arc<Place> {
        let room = if let Ok(room) = Arc::clone(&self.room).try_acquire_owned() {
            room
        } else {
            self.make_room();
            Arc::clone(&self.room).acquire_owned().await.expect("the semaphore is never closed")
        };
        let place = Place {
            crowd: Arc::clone(self),
            leave: CancellationToken::new(),
            at: Mutex::new(None),
            _room: room,
        };
        place.rest();
        Arc::new(place)
    }

    fn make_room(&self) {
        let mut idle = self.idle();
        match idle.waiting.pop_first() {
            Some((_, longest)) => longest.cancel(),
            None => idle.wanted += 1,
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection's place.
pub(crate) struct Place {
    crowd: Arc<Crowd>,
    leave: CancellationToken,
    /// Where it waits among the idle ones; nothing while it is being answered.
    at: Mutex<Option<u64>>,
    _room: OwnedSemaphorePermit,
}

impl Place {
    /// Told when the place is needed by somebody else.
    pub fn leave(&self) -> &CancellationToken {
        &self.leave
    }

    /// A request has come: it keeps the place until its answer is dropped.
    pub fn answering(self: &Arc<Self>) -> Answering {
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = at.take() {
            self.crowd.idle().waiting.remove(&at);
        }
        Answering(Arc::clone(self))
    }

    fn rest(&self) {
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        let mut idle = self.crowd.idle();
        if idle.wanted > 0 {
            idle.wanted -= 1;
            self.leave.cancel();
            return;
        }
        idle.next += 1;
        let next = idle.next;
        idle.waiting.insert(next, self.leave.clone());
        *at = Some(next);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let at = self.at.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = at.take() {
            self.crowd.idle().waiting.remove(&at);
        }
    }
}

/// A request that has begun. Its connection is idle like any other until the whole body is here, or its sender is known.
#[derive(Clone)]
pub(crate) struct Begun {
    place: Arc<Place>,
    stage: Arc<Mutex<Stage>>,
}

#[derive(Default)]
enum Stage {
    #[default]
    Arriving,
    Keeps(Answering),
    /// The answer has the place.
    Answered,
}

impl Begun {
    pub fn new(place: Arc<Place>) -> Self {
        Self { place, stage: Arc::default() }
    }

    /// From now on the request keeps its place.
    pub fn keeps_its_place(&self) {
        let mut stage = self.stage();
        if matches!(*stage, Stage::Arriving) {
            *stage = Stage::Keeps(self.place.answering());
        }
    }

    /// Whether the place can be given to somebody else meanwhile.
    pub fn is_arriving(&self) -> bool {
        matches!(*self.stage(), Stage::Arriving)
    }

    /// The answer is there.
    pub fn answered(self) -> Answering {
        match std::mem::replace(&mut *self.stage(), Stage::Answered) {
            Stage::Keeps(answering) => answering,
            Stage::Arriving | Stage::Answered => self.place.answering(),
        }
    }

    fn stage(&self) -> std::sync::MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A body whose request keeps its place once all of it is here.
pub(crate) struct Arriving {
    body: Body,
    begun: Begun,
}

impl Arriving {
    pub fn new(body: Body, begun: Begun) -> Self {
        if hyper::body::Body::is_end_stream(&body) {
            begun.keeps_its_place();
        }
        Self { body, begun }
    }
}

impl hyper::body::Body for Arriving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.begun.keeps_its_place();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Held while a request is answered.
pub(crate) struct Answering(Arc<Place>);

impl Answering {
    /// Holds on until the last byte of an answer was taken.
    pub fn until_sent(self, answer: Response) -> Response {
        answer.map(|body| Body::new(Held { body, _held: self }))
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.rest();
    }
}

/// A body that keeps its connection's place.
struct Held {
    body: Body,
    _held: Answering,
}

impl hyper::body::Body for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
