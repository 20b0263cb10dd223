//! A request that is sent again is recorded once.

use super::Bench;
use super::kit::{all, append, ask, keyed, one, refused, reply, run, told, write};
use crate::{EventLog, KeptBody, KeptReply, Query, REPLIES_KEPT, Receipt, Refused, SMALL_BLOB, UsedKey};
use holdpoint_core::{Digest, Timestamp};

async fn replayed(log: &impl EventLog, append: crate::Append) -> Receipt {
    match refused(log, append).await {
        Refused::Replayed(receipt) => receipt,
        other => panic!("not replayed: {other}"),
    }
}

/// The second answer names the positions of the first, though the versions have moved on.
pub async fn a_repeated_request_is_answered_with_its_first_receipt(bench: &impl Bench) {
    let log = bench.open().await;
    write(&*log, one(run(2), 0)).await;
    let first = write(&*log, keyed(one(run(1), 0), "key", "request")).await;
    write(&*log, one(run(1), 1)).await;
    for _ in 0..3 {
        let again = replayed(&*log, keyed(one(run(1), 0), "key", "request")).await;
        assert_eq!((again.first, again.last), (first.first, first.last));
        let decided_anew = replayed(&*log, keyed(one(run(1), 2), "key", "request")).await;
        assert_eq!((decided_anew.first, decided_anew.last), (first.first, first.last));
    }
    assert_eq!(all(&*log).await.len(), 3);
}

/// A key stands for one request only.
pub async fn another_request_under_the_same_key_is_refused(bench: &impl Bench) {
    let log = bench.open().await;
    write(&*log, keyed(one(run(1), 0), "key", "request")).await;
    let answer = refused(&*log, keyed(one(run(1), 1), "key", "other")).await;
    assert!(matches!(answer, Refused::KeyReused), "{answer:?}");
    assert_eq!(all(&*log).await.len(), 1);
}

/// What was not recorded can be asked differently under the same key.
pub async fn a_refusal_binds_no_key(bench: &impl Bench) {
    let log = bench.open().await;
    let answer = refused(&*log, keyed(one(run(1), 6), "key", "request")).await;
    assert!(matches!(answer, Refused::Conflict(..)), "{answer:?}");
    write(&*log, keyed(one(run(1), 0), "key", "other")).await;
}

/// The same request may be meant twice.
pub async fn keys_are_told_apart_by_scope(bench: &impl Bench) {
    let log = bench.open().await;
    write(&*log, keyed(one(run(1), 0), "key", "request")).await;
    write(&*log, keyed(one(run(1), 1), "other key", "request")).await;
    assert_eq!(all(&*log).await.len(), 2);
}

/// A sender may come back after a crash, to any process.
pub async fn a_key_outlives_its_handle(bench: &impl Bench) {
    let log = bench.open().await;
    let first = write(&*log, keyed(one(run(1), 0), "key", "request")).await;
    bench.kill(log).await;
    let log = bench.open().await;
    let again = replayed(&*log, keyed(one(run(1), 0), "key", "request")).await;
    assert_eq!((again.first, again.last), (first.first, first.last));
}

async fn used(log: &impl EventLog, scope: &str) -> Option<UsedKey> {
    ask(log, Query::Reply(Digest::of(scope.as_bytes()))).await.reply
}

/// A reply is there as soon as the append is, whatever its bytes.
pub async fn a_key_keeps_what_its_sender_was_told(bench: &impl Bench) {
    let log = bench.open().await;
    assert_eq!(used(&*log, "key").await, None);
    let bodies = [Vec::new(), b"{}".to_vec(), b"a".repeat(SMALL_BLOB), (0..=255).cycle().take(999).collect()];
    for (body, n) in bodies.into_iter().zip(1..) {
        let (scope, reply) = (format!("key {n}"), KeptReply { status: 201, ..reply(&body) });
        let append = told(one(run(n), 0), &scope, "request", Timestamp(7), reply.clone());
        let receipt = write(&*log, append).await;
        let wrote = Some((receipt.first, receipt.last));
        let right = UsedKey { request: Digest::of(b"request"), at: Timestamp(7), wrote, reply };
        assert_eq!(used(&*log, &scope).await, Some(right.clone()));
        assert_eq!(used(&*bench.open().await, &scope).await, Some(right), "another handle sees it");
    }
}

/// Where nothing had to be written, the same request gets the same reply.
pub async fn a_key_can_be_used_without_events(bench: &impl Bench) {
    let log = bench.open().await;
    let before = write(&*log, one(run(1), 0)).await;
    write(&*log, keyed(append(Vec::new()), "key", "request")).await;
    write(&*log, one(run(1), 1)).await;
    let found = used(&*log, "key").await.expect("it was used");
    assert_eq!((found.wrote, found.reply), (None, reply(b"told")));
    let again = refused(&*log, keyed(append(Vec::new()), "key", "request")).await;
    assert!(matches!(again, Refused::Replayed(_)), "{again:?}");
    assert_eq!(all(&*log).await.len(), 2, "{before:?}");
}

/// After seven days a key can be used anew, and has the new reply then.
pub async fn a_key_is_over_after_seven_days(bench: &impl Bench) {
    let log = bench.open().await;
    let at = Timestamp(5_000);
    write(&*log, told(one(run(1), 0), "key", "request", at, reply(b"first"))).await;
    let last = Timestamp(at.0 + REPLIES_KEPT - 1);
    let again = refused(&*log, told(one(run(1), 1), "key", "request", last, reply(b"second"))).await;
    assert!(matches!(again, Refused::Replayed(_)), "{again:?}");
    let over = Timestamp(at.0 + REPLIES_KEPT);
    assert!(!used(&*log, "key").await.expect("it is there").is_kept(over));
    write(&*log, told(one(run(1), 1), "key", "other", over, reply(b"second"))).await;
    assert_eq!(used(&*log, "key").await.map(|used| used.reply), Some(reply(b"second")));
}

/// Collection asks which blobs hold replies that may still be asked for.
pub async fn blobs_of_replies_are_listed_while_they_are_kept(bench: &impl Bench) {
    let log = bench.open().await;
    let blob = |n: u8| KeptReply { status: 200, body: KeptBody::Blob(Digest::of(&[n])) };
    write(&*log, keyed(one(run(1), 0), "small", "request")).await;
    for n in 1..=3 {
        let (stream, at) = (run(u128::from(n) + 1), Timestamp(1_000 * i64::from(n)));
        write(&*log, told(one(stream, 0), &format!("large {n}"), "request", at, blob(n))).await;
    }
    let mut found = ask(&*log, Query::ReplyBlobs(Timestamp(1_000))).await.blobs;
    found.sort_unstable();
    let mut right = vec![Digest::of(&[2]), Digest::of(&[3])];
    right.sort_unstable();
    assert_eq!(found, right);
    assert_eq!(used(&*log, "large 1").await.map(|used| used.reply), Some(blob(1)));
}
