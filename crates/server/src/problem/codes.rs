//! Every code that an answer can carry: its status, its title, when it comes, and what to do then.
//!
//! This is the only list. The pages under `docs/reference/errors` are written from it, and a problem can only
//! be made with a code that stands here. Codes are a promise: they are added, never renamed.

use axum::http::StatusCode;

/// What the documentation says about a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// The stable word.
    pub code: &'static str,
    /// The same sentence every time.
    pub title: &'static str,
    /// The status that it comes with.
    pub status: StatusCode,
    /// When it comes.
    pub when: &'static str,
    /// What to do then.
    pub remedy: &'static str,
}

macro_rules! codes {
    ($($variant:ident $code:literal $status:ident $title:literal $when:literal $remedy:literal;)*) => {
        /// A stable code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $when] $variant,)*
        }

        impl Code {
            /// All codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// What is known about it.
            pub fn about(self) -> About {
                match self {
                    $(Self::$variant => About {
                        code: $code,
                        title: $title,
                        status: StatusCode::$status,
                        when: $when,
                        remedy: $remedy,
                    },)*
                }
            }
        }
    };
}

codes! {
    MalformedJson "malformed_json" BAD_REQUEST "Malformed JSON"
        "The body is not JSON."
        "Look at the line and column that are named.";
    BodyUnreadable "body_unreadable" BAD_REQUEST "Body unreadable"
        "The body ended early, paused for too long, or does not have the form that its headers announce."
        "Send the whole body without long pauses, as its headers announce it.";
    BadForm "bad_form" BAD_REQUEST "Bad form"
        "A `multipart/form-data` body cannot be read, has a part without a name, or too many files."
        "Send a part `fields` with JSON, and one part per file, named after its field.";
    AmbiguousName "ambiguous_name" CONFLICT "Ambiguous name"
        "Several things have the name that was given."
        "Name it by its id.";
    BadQuery "bad_query" BAD_REQUEST "Bad query"
        "The part of the address after `?` has an unknown name, a name twice, or a value that does not fit."
        "Check the names and values after the `?`.";
    BadPath "bad_path" BAD_REQUEST "Bad path"
        "The path is not valid text. An identifier that merely does not exist is `not_found`."
        "Check the path for typing errors.";
    BadCursor "bad_cursor" BAD_REQUEST "Bad cursor"
        "The `cursor` was not made by this server."
        "Use `next_cursor` of the page before as it is, or leave `cursor` out to begin anew.";
    BadIdempotencyKey "bad_idempotency_key" BAD_REQUEST "Bad idempotency key"
        "The header `Idempotency-Key` is empty, too long, given twice, or has other than printable ASCII characters."
        "Send one key of 1 to 255 printable ASCII characters, for example a random UUID.";
    Unauthenticated "unauthenticated" UNAUTHORIZED "Not signed in"
        "The request has no token or session, or one that is unknown, expired or revoked."
        "Send `Authorization: Bearer <token>`, or sign in with the link that the server printed.";
    Forbidden "forbidden" FORBIDDEN "Forbidden"
        "The role or the scope of the token does not reach so far."
        "Ask an admin for a token that may do this.";
    AssuranceTooLow "assurance_too_low" FORBIDDEN "Assurance too low"
        "The gate needs an answer that is proved better; `needs` and `has` name the levels."
        "Answer in a way that reaches the level that the gate needs.";
    NotAPerson "not_a_person" FORBIDDEN "Only a person decides"
        "An agent tried to decide, or to change what people decide about."
        "Ask a person to decide in the inbox.";
    NotAnApprover "not_an_approver" FORBIDDEN "Not an approver"
        "The definition names who decides here, in `approvers`, and the caller is not among them."
        "Ask one of them, or change `human_interaction.approvers` in the definition.";
    OwnRequest "own_request" FORBIDDEN "Own request"
        "Several must approve here, and nobody approves what they asked for themselves."
        "Ask somebody else to approve it.";
    HostNotAllowed "host_not_allowed" FORBIDDEN "Host not allowed"
        "The request addresses the server by a name that is not its own, as pages of other sites do."
        "Use the address that the server printed when it started.";
    OriginNotAllowed "origin_not_allowed" FORBIDDEN "Origin not allowed"
        "A page of another site called the server, or a browser's request does not say where it comes from."
        "Only pages of this server may call it from a browser; programs use a token.";
    NotFound "not_found" NOT_FOUND "Not found"
        "There is no such path, no thing with this identifier, or the token may not see it."
        "Check the identifier; list what exists and use one from there.";
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED "Method not allowed"
        "The path exists and does not answer to this method."
        "The `Allow` header names what it answers to.";
    WrongState "wrong_state" CONFLICT "Wrong state"
        "The present state does not allow it. `state` names it, `possible` says what can be done now."
        "Choose one of `possible`, or wait for another state.";
    AlreadyExists "already_exists" CONFLICT "Exists already"
        "Something with this identifier exists."
        "Use another identifier, or change the one that exists.";
    RunsActive "runs_active" CONFLICT "Runs are active"
        "The definition cannot change in this way while the runs named in `runs` are active."
        "Complete or abort these runs first.";
    DependencyNotMet "dependency_not_met" CONFLICT "Dependency not met"
        "Steps that must be completed before are not; `missing` names them."
        "Complete what it depends on first, or change its dependencies.";
    EarlierDefinition "earlier_definition" CONFLICT "Earlier definition"
        "The run belongs to an earlier version of its pipeline's definition and can only be read."
        "Start a new run under the present definition.";
    NothingToRollBack "nothing_to_roll_back" CONFLICT "Nothing to roll back"
        "Nothing stands behind the target."
        "Choose an earlier checkpoint.";
    CannotUndo "cannot_undo" CONFLICT "Cannot undo"
        "The rollback cannot be undone, or not any more; `detail` says what stands in the way."
        "Roll back what stands in the way first, or leave it as it is.";
    NotOwed "not_owed" CONFLICT "Not owed"
        "The outcome was recorded before, or the work is not wanted any more."
        "Nothing is lost: the recorded outcome stands.";
    Fenced "fenced" CONFLICT "Work has changed hands"
        "Another process has taken over the run's work."
        "Nothing is lost: the other process goes on with it.";
    Contended "contended" CONFLICT "Contended"
        "Others kept changing the same things. Nothing was written."
        "Send the request again after a moment.";
    GateAnswered "gate_answered" CONFLICT "Gate answered"
        "The gate was answered before, or closed without an answer. `decision` says who decided what, where it is known."
        "Look at what was decided; what waits now is in the inbox.";
    GateExpired "gate_expired" CONFLICT "Gate expired"
        "The time to answer the gate is over. Nothing was decided."
        "Pause and resume the run to ask again.";
    RolledBack "rolled_back" GONE "Rolled back"
        "What was asked for was rolled back; `rollback_id` names the rollback."
        "Undo the rollback to bring it back, or use what stands in its place.";
    StaleDecision "stale_decision" PRECONDITION_FAILED "Stale decision"
        "What is decided about has changed since it was shown."
        "Look at it again and decide with the digest that is shown now.";
    BodyTooLarge "body_too_large" PAYLOAD_TOO_LARGE "Body too large"
        "The body is larger than the server takes."
        "Send less at once.";
    TooLarge "too_large" PAYLOAD_TOO_LARGE "Too large"
        "A file or a value is larger than the limits allow."
        "Send less, or raise the limit in the configuration.";
    UnsupportedMediaType "unsupported_media_type" UNSUPPORTED_MEDIA_TYPE "Unsupported media type"
        "The body is of a kind that the path does not take, or does not say what it is."
        "Send the header `Content-Type: application/json`, or the type that the documentation of the path names.";
    InvalidFields "invalid_fields" UNPROCESSABLE_ENTITY "Invalid fields"
        "Fields are missing, unknown or wrong; `errors` names each with a JSON pointer."
        "Correct the fields named in `errors` and send it again.";
    ContextTooLarge "context_too_large" UNPROCESSABLE_ENTITY "Context too large"
        "The context of a run would hold more than it may."
        "Leave less in the context, or put it into an artifact.";
    LimitReached "limit_reached" UNPROCESSABLE_ENTITY "Limit reached"
        "A stated limit would be passed."
        "Remove something first, or raise the limit in the configuration.";
    IdempotencyKeyReused "idempotency_key_reused" UNPROCESSABLE_ENTITY "Idempotency key reused"
        "The same `Idempotency-Key` was used for another request."
        "Use a new key for a new request, and the same key only to send the same request again.";
    DryRunRefused "dry_run_refused" UNPROCESSABLE_ENTITY "Dry run refused"
        "A stub or an answer of a dry run does not fit the definition."
        "Change what the detail names, and send the request again.";
    DigestMissing "digest_missing" PRECONDITION_REQUIRED "Digest missing"
        "A decision about a result must say what it is about."
        "Send the digest from `waiting_for.digest`.";
    TooManyAttempts "too_many_attempts" TOO_MANY_REQUESTS "Too many attempts"
        "Too many wrong tokens, sessions or tickets came from this address."
        "Wait for as long as `Retry-After` says, then use a right one.";
    InternalError "internal_error" INTERNAL_SERVER_ERROR "Internal error"
        "The server made a mistake while it worked on the request."
        "The server's log on stderr tells more; please report it.";
    CommitUnknown "commit_unknown" INTERNAL_SERVER_ERROR "Commit unknown"
        "It is unknown whether the request was carried out: the disk failed while it was written. The server stops."
        "Start the server again, then send the same request with the same `Idempotency-Key`.";
    BlobMissing "blob_missing" INTERNAL_SERVER_ERROR "Bytes missing"
        "The bytes of an artifact are not where they were stored."
        "Run `holdpoint doctor`, and restore the home from a copy.";
    BlobCorrupt "blob_corrupt" INTERNAL_SERVER_ERROR "Bytes damaged"
        "The stored bytes of an artifact are not those that were written. They are not served."
        "Run `holdpoint doctor`, and restore the home from a copy.";
    LogCorrupt "log_corrupt" INTERNAL_SERVER_ERROR "Log damaged"
        "Stored events are not those that were written; `stream` says which. Nothing is served from there or written to it, everything else works."
        "Run `holdpoint audit verify`, and restore the home from a copy.";
    NotReady "not_ready" SERVICE_UNAVAILABLE "Not ready"
        "The server is starting, stopping, or what stands behind it does not answer."
        "Ask again in a moment.";
    Storage "storage" SERVICE_UNAVAILABLE "Storage failed"
        "The database or the disk refused. Nothing was written."
        "Look at the disk, then send the request again.";
    DryRunLate "dry_run_late" SERVICE_UNAVAILABLE "Dry run not made in time"
        "A dry run took too long and was stopped, or too many are walked at once. Nothing was kept."
        "Ask again in a moment, or walk fewer checkpoints with `until`.";
    TooManyStreams "too_many_streams" SERVICE_UNAVAILABLE "Too many streams"
        "As many live streams are open as the server serves at once."
        "Close one, or ask again in a moment; one stream per browser is enough.";
    DiskFull "disk_full" INSUFFICIENT_STORAGE "Disk full"
        "There is no room on the disk. Nothing was written; reading still works."
        "Make room on the disk, then send the request again.";
}
