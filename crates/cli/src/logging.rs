//! The log of a long-running command: one line per event on stderr, as text or JSON, by the settings.
//!
//! A line never holds a control character, whatever an event carries. Libraries that write down what others sent them
//! are not heard at any level: their bodies may hold anything.

use std::io::{self, Write};

use tracing::level_filters::LevelFilter;
use tracing::subscriber::SetGlobalDefaultError;
use tracing_subscriber::filter::{FilterFn, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::settings::{LogFormat, LogLevel, Logging};
use crate::text;

/// Starts the log for the rest of the process.
pub fn start(settings: &Logging, quiet: bool) -> Result<(), SetGlobalDefaultError> {
    let level = if quiet { LevelFilter::ERROR } else { filter(settings.log_level) };
    let builder = tracing_subscriber::fmt().with_max_level(level).with_ansi(false);
    match settings.log_format {
        LogFormat::Json => {
            let subscriber = builder.json().with_writer(io::stderr).finish();
            tracing::subscriber::set_global_default(subscriber.with(discreet()))
        }
        LogFormat::Text => {
            let escaping = Escaping(io::stderr);
            let subscriber = builder.with_writer(escaping).finish();
            tracing::subscriber::set_global_default(subscriber.with(discreet()))
        }
    }
}

/// Libraries that log bodies of answers, and what servers of tools say.
const INDISCREET: [&str; 3] = ["genai", "rmcp", "sse_stream"];

fn discreet() -> FilterFn {
    filter_fn(|event| {
        let from = event.target().split("::").next().unwrap_or_default();
        !INDISCREET.contains(&from)
    })
}

fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Trace => LevelFilter::TRACE,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Warning => LevelFilter::WARN,
        LogLevel::Error | LogLevel::Critical => LevelFilter::ERROR,
        LogLevel::Off => LevelFilter::OFF,
    }
}

/// Writers that get each event in one piece and write it as one harmless line.
struct Escaping<M>(M);

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for Escaping<M> {
    type Writer = Line<M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Line(self.0.make_writer())
    }
}

struct Line<W>(W);

impl<W: Write> Write for Line<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let event = String::from_utf8_lossy(bytes);
        let mut line = text::line(event.strip_suffix('\n').unwrap_or(&event));
        line.push('\n');
        self.0.write_all(line.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_libraries_were_sent_is_not_heard_at_any_level() {
        let kept = Kept::default();
        let writer = kept.clone();
        let builder = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).without_time();
        let subscriber = builder.with_writer(move || writer.clone()).finish().with(discreet());
        tracing::subscriber::with_default(subscriber, || {
            tracing::error!(target: "genai", "secret body");
            tracing::error!(target: "genai::adapter::openai", "secret body");
            tracing::trace!(target: "rmcp::service", "secret message");
            tracing::error!(target: "genaix", "heard");
        });
        let text = String::from_utf8(kept.0.lock().expect("no panic").clone()).expect("text");
        assert!(!text.contains("secret") && text.contains("heard"), "{text:?}");
    }

    #[test]
    fn an_event_is_one_harmless_line() {
        let kept = Kept::default();
        let writer = kept.clone();
        let builder = tracing_subscriber::fmt().with_ansi(false).without_time();
        let subscriber = builder.with_writer(Escaping(move || writer.clone())).finish();
        tracing::subscriber::with_default(subscriber, || {
            let name = "a\nerror: b\u{1b}[2J\u{7}";
            tracing::info!(target: "test", shown = %name, "said {name}");
            tracing::info!(target: "test", "second");
        });
        let text = String::from_utf8(kept.0.lock().expect("no panic").clone()).expect("text");
        assert_eq!(text.lines().count(), 2, "{text:?}");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
}
