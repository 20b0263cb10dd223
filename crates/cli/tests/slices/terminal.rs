//! Questions at a terminal: a pseudo-terminal of its own for each command.

use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::Child;

use serde_json::{Value, json};

use crate::place::{Place, Ran};
use crate::server::{Server, form};

/// A pipeline file with these checkpoints.
fn work(place: &Place, checkpoints: &[Value]) -> String {
    let text = json!({"pipeline_name": "Work", "config": {"auto_advance": true}, "checkpoints": checkpoints});
    place.write("work.json", &text.to_string()).display().to_string()
}

/// A command at a terminal of its own.
struct Terminal {
    master: std::fs::File,
    process: Child,
    /// What was shown since the last text that was waited for.
    shown: String,
}

impl Terminal {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("text");
        let open = || -> OwnedFd {
            std::fs::File::options().read(true).write(true).open(&name).expect("the other side").into()
        };
        let mut command = place.command(arguments);
        let process = command.stdin(open()).stdout(open()).stderr(open()).spawn().expect("the binary runs");
        Self { master: master.into(), process, shown: String::new() }
    }

    fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("typed");
    }

    /// Reads on; false when the last process on the other side has ended, because reading fails then.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match self.master.read(&mut bytes) {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
                true
            }
        }
    }

    /// Waits for a text, and forgets what was shown up to it.
    fn until(&mut self, wanted: &str) {
        while !self.shown.contains(wanted) {
            assert!(self.read(), "`{wanted}` is not shown: {}", self.shown);
        }
        self.shown = self.shown.split_off(self.shown.find(wanted).expect("it is there") + wanted.len());
    }

    fn end(mut self) -> Ran {
        while self.read() {}
        let exit = self.process.wait().expect("it ends").code();
        Ran { exit, stdout: String::new(), stderr: self.shown }
    }
}

/// Types each line when the text before it is shown.
fn dialogue(place: &Place, arguments: &[&str], lines: &[(&str, &str)]) -> Ran {
    let mut terminal = Terminal::start(place, arguments);
    for (wanted, line) in lines {
        terminal.until(wanted);
        terminal.press(&format!("{line}\n"));
    }
    terminal.end()
}

#[test]
fn at_a_terminal_the_question_is_asked_right_there() {
    let place = Place::new();
    let file = work(&place, &[form("Goals")]);
    let lines = [
        ("1 to 3: ", "1"),
        ("Answer (required): ", ""),
        ("Answer (required): ", "first"),
        ("1 to 3: ", "nonsense"),
        ("1 to 3: ", "2"),
        ("feedback: ", "more"),
        ("Answer (required): ", "second"),
        ("1 to 3: ", "1"),
    ];
    let ran = dialogue(&place, &["run", &file], &lines).expect(0);
    assert!(ran.stderr.contains("v1 of “Work” is completed"), "{}", ran.stderr);
    // A person who decides later finds the run waiting.
    let later = dialogue(&place, &["run", "Work"], &[("1 to 3: ", "3")]).expect(3);
    assert!(later.stderr.contains("next: holdpoint answer "), "{}", later.stderr);
    let never = dialogue(&place, &["run", "Work", "--non-interactive"], &[]).expect(3);
    assert!(never.stderr.contains("May “Goals” begin?"), "{}", never.stderr);
}

/// Comes to the question about the first of two results.
fn first_of_two(place: &Place) -> Terminal {
    let file = work(place, &[form("Goals"), form("Pay")]);
    let mut terminal = Terminal::start(place, &["run", &file]);
    terminal.until("May “Goals” begin?");
    terminal.until("1 to 3: ");
    terminal.press("1\n");
    terminal.until("Answer (required): ");
    terminal.press("first\n");
    terminal.until("Is the result of “Goals” good?");
    terminal.until("1 to 3: ");
    terminal
}

/// What the second step waits for: nobody has started it.
fn second_waits(place: &Place) {
    let server = Server::on(&place.home());
    let asked = server.get("/api/inbox").expect(200);
    assert_eq!(asked["items"][0]["waiting_for"]["kind"], "approve_start", "{asked:#}");
    let events = server.get("/api/events?type=execution.started").expect(200);
    assert_eq!(events["items"].as_array().map(Vec::len), Some(1), "{events:#}");
}

#[test]
fn what_is_typed_for_a_withdrawn_question_never_answers_the_next_one() {
    for (typed, on) in [("1", ""), ("half a sentence", ""), ("1", "1\n"), ("", "1\n1\n1\n1\n")] {
        let place = Place::new();
        let mut terminal = first_of_two(&place);
        terminal.press(typed);
        place.run(&["answer", "--approve"]).expect(0);
        terminal.until("A new question. What you typed for the one before was discarded.");
        terminal.until("May “Pay” begin?");
        // The person types on: the question is another one before they have read it.
        terminal.press(on);
        terminal.until("1 to 3: ");
        terminal.press("\n");
        terminal.until("an empty line is no answer");
        terminal.until("1 to 3: ");
        terminal.press("3\n");
        terminal.end().expect(3);
        second_waits(&place);
    }
}

#[test]
fn pasted_lines_answer_the_question_on_the_screen_only() {
    let place = Place::new();
    let mut terminal = first_of_two(&place);
    terminal.press("something\n1\n1\n1\n1\n");
    terminal.until("that is not one of them");
    terminal.until("May “Pay” begin?");
    terminal.until("1 to 3: ");
    terminal.press("3\n");
    terminal.end().expect(3);
    second_waits(&place);
}

#[test]
fn an_empty_line_decides_nothing() {
    let place = Place::new();
    let mut step = form("Goals");
    step["execution"]["human_only_config"]["input_fields"][0]["default"] = json!("as before");
    let file = work(&place, &[step]);
    let mut terminal = Terminal::start(&place, &["run", &file]);
    terminal.until("1 to 3: ");
    terminal.press("\n\n\n");
    terminal.until("an empty line is no answer");
    terminal.until("an empty line is no answer");
    terminal.until("an empty line is no answer");
    terminal.press("1\n");
    terminal.until("Answer [as before]: ");
    terminal.press("\n\n\n");
    terminal.until("You typed nothing: the defaults are sent, if there are any.");
    terminal.until("an empty line is no answer");
    terminal.press("1\n");
    terminal.until("Is the result of “Goals” good?");
    terminal.until("1 to 3: ");
    terminal.press("2\n");
    terminal.until("feedback: ");
    terminal.press("\n");
    terminal.until("an empty line is no answer");
    terminal.press("again\n");
    terminal.until("Answer [as before]: ");
    terminal.press("other\n");
    terminal.until("1 to 3: ");
    terminal.press("1\n");
    terminal.end().expect(0);
}
