//! Scripts: which turn is played, what is said, and what a broken file is told.

use std::fs;
use std::sync::Mutex;

use expect_test::{Expect, expect};

use super::*;

const TALK: &str = r#"
turns:
  - when: {contains: "outline", turn: 1}
    think: Notes first.
    call:
      - {tool: files, input: {operation: read, path: notes.md}}
      - {tool: clock}
  - when: {tool_result: true}
    say: Here it is.
    usage: {input_tokens: 900, output_tokens: 120}
  - when: {must_call: vote}
    call: [{tool: vote, input: {agree: true}}]
  - when: {agent: Reviewer}
    say: I reviewed it.
    repeat: true
  - when: {contains: "overload"}
    error: {status: 529, retry_after: 0, times: 2}
    say: At last.
  - when: {contains: "wrong key"}
    error: {status: 401}
  - say: Anything else?
default:
  say: I have nothing to add.
"#;

fn settings(folder: &Path) -> Settings {
    let mut settings = Settings { scripts_folder: Some(folder.to_owned()), ..Settings::default() };
    settings.delays.first = Duration::from_millis(1);
    settings
}

fn question(text: &str) -> Question {
    Question {
        model: "script/talk.yaml".to_owned(),
        system: vec![],
        messages: vec![Message::user(text)],
        tools: vec![],
        web_search: false,
        must_call: None,
        max_tokens: 100,
        temperature: None,
    }
}

async fn play(question: &Question) -> (Result<Answer, ModelError>, Vec<Delta>) {
    play_from(TALK, question).await
}

async fn play_from(script: &str, question: &Question) -> (Result<Answer, ModelError>, Vec<Delta>) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("talk.yaml"), script).expect("a file");
    let heard = Mutex::new(Vec::new());
    let told = |delta| heard.lock().expect("nobody panicked").push(delta);
    let answer = ask(&settings(folder.path()), "talk.yaml", question, &told).await;
    (answer, heard.into_inner().expect("nobody panicked"))
}

fn shown(answer: &Answer) -> String {
    let parts = answer.content.iter().map(|part| match part {
        Part::Text { text } => format!("says {text}"),
        Part::Thinking { thinking, .. } => format!("thinks {thinking}"),
        Part::ToolUse { id, name, input } => format!("calls {name} {input} as {id}"),
        Part::ToolResult { .. } | Part::Other(_) => "?".to_owned(),
    });
    parts.collect::<Vec<_>>().join("; ")
}

async fn check(question: &Question, wanted: Expect) {
    let answer = play(question).await.0;
    wanted.assert_eq(&answer.map_or_else(|error| error.message, |answer| shown(&answer)));
}

fn go_on(question: &mut Question, answer: Answer, content: Vec<Part>) {
    question.messages.push(Message { role: Speaker::Assistant, content: answer.content });
    question.messages.push(Message { role: Speaker::User, content });
}

#[tokio::test]
async fn a_conversation_is_played_from_its_messages_alone() {
    let mut asked = question("Write the outline.");
    check(&asked, expect![[r#"thinks Notes first.; calls files {"operation":"read","path":"notes.md"} as script_1_1; calls clock {} as script_1_2"#]]).await;
    let first = play(&asked).await.0.expect("an answer");
    assert_eq!(
        (first.stop.clone(), first.scripted, first.model.as_str()),
        (Stop::ToolUse, true, "script/talk.yaml")
    );
    let result =
        Part::ToolResult { tool_use_id: "script_1_1".to_owned(), content: "…".to_owned(), is_error: false };
    go_on(&mut asked, first, vec![result]);
    // Each of these reads the file anew, as a process after a crash would.
    check(&asked, expect!["says Here it is."]).await;
    check(&asked, expect!["says Here it is."]).await;
    let second = play(&asked).await.0.expect("an answer");
    assert_eq!((second.usage.calls, second.usage.input_tokens), (1, 900));
    go_on(&mut asked, second, vec![Part::Text { text: "Thanks.".to_owned() }]);
    check(&asked, expect!["says Anything else?"]).await;
    let third = play(&asked).await.0.expect("an answer");
    go_on(&mut asked, third, vec![Part::Text { text: "No.".to_owned() }]);
    check(&asked, expect!["says I have nothing to add."]).await;
}

#[tokio::test]
async fn a_script_that_has_said_all_hands_it_in_again() {
    let script = "turns: [{when: {turn: 1}, call: [{tool: clock}]}, {when: {turn: 2}, say: Done.}]";
    let mut asked = question("Go.");
    let first = play_from(script, &asked).await.0.expect("an answer");
    let result =
        Part::ToolResult { tool_use_id: "script_1_1".into(), content: "…".into(), is_error: false };
    go_on(&mut asked, first, vec![result]);
    let second = play_from(script, &asked).await.0.expect("an answer");
    go_on(&mut asked, second, vec![Part::Text { text: "A note.".into() }]);
    let again = play_from(script, &asked).await.0.expect("an answer");
    assert_eq!((shown(&again).as_str(), again.stop), ("says Done.", Stop::EndTurn));
    asked.must_call = Some("vote".into());
    assert!(play_from(script, &asked).await.0.is_err(), "a call cannot be made up");
}

#[tokio::test]
async fn turns_fit_by_agent_and_by_what_must_be_called() {
    let mut asked = Question { system: vec!["You are Reviewer.".to_owned()], ..question("Look.") };
    check(&asked, expect!["says I reviewed it."]).await;
    let answer = play(&asked).await.0.expect("an answer");
    go_on(&mut asked, answer, vec![Part::Text { text: "Again.".to_owned() }]);
    check(&asked, expect!["says I reviewed it."]).await;
    asked.must_call = Some("vote".to_owned());
    check(&asked, expect![[r#"calls vote {"agree":true} as script_2_1"#]]).await;
    let answer = play(&asked).await.0.expect("an answer");
    go_on(&mut asked, answer, vec![Part::Text { text: "Vote again.".to_owned() }]);
    check(&asked, expect!["says I reviewed it."]).await;
}

#[tokio::test]
async fn text_is_told_word_by_word() {
    let (_, told) = play(&Question { system: vec!["Reviewer".to_owned()], ..question("Look.") }).await;
    assert_eq!(told, ["I ", "reviewed ", "it."].map(|word| Delta::Text(word.to_owned())));
}

#[tokio::test]
async fn errors_come_as_often_as_said() {
    check(&question("Cause overload."), expect!["says At last."]).await;
    check(&question("Use the wrong key."), expect!["the script talk.yaml answers with HTTP 401"]).await;
}

fn check_file(file: &str, text: &str, wanted: &Expect) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("in")).expect("a folder");
    fs::write(folder.path().join("secret.yaml"), "turns: []").expect("a file");
    fs::write(folder.path().join("in/talk.yaml"), text).expect("a file");
    std::os::unix::fs::symlink("../secret.yaml", folder.path().join("in/link.yaml")).expect("a link");
    let read = load(&settings(&folder.path().join("in")), file);
    wanted.assert_eq(&read.map_or_else(|error| error.message, |_| "read".to_owned()));
}

#[test]
fn faults_are_placed_and_nothing_is_read_elsewhere() {
    check_file("talk.yaml", "turns: []", &expect!["read"]);
    check_file(
        "talk.yaml",
        "turns:\n  - sya: hello\n",
        &expect![
            "the script talk.yaml, line 2, column 5: unknown field `sya`, expected one of when, repeat, think, say, call, stop, usage, error, delay_ms"
        ],
    );
    check_file(
        "talk.yaml",
        "turns: [\n",
        &expect!["the script talk.yaml, line 1, column 8: unclosed bracket '['"],
    );
    check_file("../secret.yaml", "", &expect!["`../secret.yaml` is not a path inside the folder of scripts"]);
    check_file("/etc/passwd", "", &expect!["`/etc/passwd` is not a path inside the folder of scripts"]);
    check_file("link.yaml", "", &expect!["`link.yaml` leads out of the folder of scripts"]);
    check_file(
        "none.yaml",
        "",
        &expect!["the script none.yaml cannot be read: No such file or directory (os error 2)"],
    );
}
