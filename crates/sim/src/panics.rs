//! Panics in tasks of the engine, which nobody waits for: they are noted, and end up in the failure.

use std::cell::RefCell;
use std::sync::Once;

thread_local! {
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Notes panics of every thread from now on, as well as showing them.
pub fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            SAID.with_borrow_mut(|said| {
                said.get_or_insert_with(|| info.to_string());
            });
            before(info);
        }));
    });
}

/// What the first panic of this thread said since the last time this was asked.
pub fn take() -> Option<String> {
    SAID.with_borrow_mut(Option::take)
}
