//! Counts units of work in tests: rules that look through a whole run for every step of it make long runs slow, and nothing else
//! would notice. In a program it counts nothing.

#[cfg(test)]
thread_local! {
    static COUNTED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts work.
#[inline]
pub(crate) fn count(work: u64) {
    #[cfg(test)]
    COUNTED.with(|counted| counted.set(counted.get() + work));
    #[cfg(not(test))]
    let _ = work;
}

/// How much work something takes.
#[cfg(test)]
pub(crate) fn counted(does: impl FnOnce()) -> u64 {
    let before = COUNTED.with(std::cell::Cell::get);
    does();
    COUNTED.with(std::cell::Cell::get) - before
}
