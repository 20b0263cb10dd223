//! What waits for the writer.
//!
//! Promise: whatever is taken in is handed to the writer or dropped, and dropping a job tells its sender.
//! The end is marked under the lock that takes jobs in, so nothing can slip in behind it and wait for ever.
//! (A channel of tokio gives a sender its room first and takes the value later, also when the other side has
//! gone in between.)

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};

/// Jobs in the order in which they came.
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    room: Semaphore,
}

struct State<T> {
    jobs: Vec<T>,
    /// Whether the writer sleeps.
    asleep: bool,
    /// No more will be sent: the writer takes what is there and ends.
    closing: bool,
    /// The writer has ended: nothing is taken in.
    ended: bool,
}

/// Room for one job.
pub(crate) struct Room<'a, T>(&'a Queue<T>, SemaphorePermit<'a>);

/// The writer is gone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended;

/// Ends a queue when it is dropped, also by a panic.
pub(crate) struct End<'a, T>(&'a Queue<T>);

impl<T> Queue<T> {
    /// A queue in which so many may wait.
    pub(crate) fn new(limit: usize) -> Self {
        let state = State { jobs: Vec::new(), asleep: false, closing: false, ended: false };
        Self { state: Mutex::new(state), filled: Condvar::new(), room: Semaphore::new(limit) }
    }

    /// Waits until there is room.
    pub(crate) async fn room(&self) -> Result<Room<'_, T>, Ended> {
        self.room.acquire().await.map(|permit| Room(self, permit)).map_err(|_| Ended)
    }

    /// Waits for jobs and takes at most so many; none are left when it takes none.
    pub(crate) fn take(&self, to: &mut Vec<T>, limit: usize) -> usize {
        let mut state = self.lock();
        while state.jobs.is_empty() && !state.closing {
            state.asleep = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.asleep = false;
        let taken = state.jobs.len().min(limit);
        to.extend(state.jobs.drain(..taken));
        drop(state);
        self.room.add_permits(taken);
        taken
    }

    /// Whether nobody waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().jobs.is_empty()
    }

    /// Nothing more will be sent.
    pub(crate) fn close(&self) {
        self.lock().closing = true;
        self.filled.notify_all();
    }

    /// For the writer to hold: when it goes, what waits is dropped and nothing more comes in.
    pub(crate) fn end_when_dropped(&self) -> End<'_, T> {
        End(self)
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Room<'_, T> {
    /// Puts a job in.
    pub(crate) fn put(self, job: T) -> Result<(), Ended> {
        let Self(queue, permit) = self;
        let mut state = queue.lock();
        if state.ended {
            return Err(Ended);
        }
        state.jobs.push(job);
        let wake = std::mem::take(&mut state.asleep);
        drop(state);
        permit.forget();
        if wake {
            queue.filled.notify_one();
        }
        Ok(())
    }
}

impl<T> Drop for End<'_, T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.ended = true;
        let left = std::mem::take(&mut state.jobs);
        drop(state);
        drop(left);
        self.0.room.close();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_job_that_comes_behind_the_end_is_given_back() {
        let queue = Queue::new(4);
        let (answer, answered) = oneshot::channel::<()>();
        // The sender has its room, and the writer ends before the job is in.
        let room = queue.room().await.expect("room");
        drop(queue.end_when_dropped());
        assert_eq!(room.put(answer), Err(Ended));
        assert!(answered.await.is_err(), "the sender waits for nobody");
        assert_eq!(queue.room().await.map(drop), Err(Ended));
    }

    #[tokio::test]
    async fn jobs_that_wait_when_the_writer_ends_are_dropped() {
        let queue = Queue::new(1);
        let (answer, answered) = oneshot::channel::<()>();
        assert_eq!(queue.room().await.and_then(|room| room.put(answer)), Ok(()));
        let (waits, ()) = tokio::join!(async { queue.room().await.map(drop) }, async {
            drop(queue.end_when_dropped());
        });
        assert_eq!(waits, Err(Ended), "also who waits for room hears of it");
        assert!(answered.await.is_err());
    }

    #[test]
    fn everything_arrives_in_order_and_room_comes_back() {
        let queue = Arc::new(Queue::new(2));
        let sender = Arc::clone(&queue);
        let sends = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
            runtime.block_on(async {
                for n in 0..1000 {
                    sender.room().await.and_then(|room| room.put(n)).expect("the other side is there");
                }
            });
            sender.close();
        });
        let mut all = Vec::new();
        while queue.take(&mut all, 3) > 0 {}
        sends.join().expect("it ends");
        assert_eq!(all, (0..1000).collect::<Vec<_>>());
    }
}
