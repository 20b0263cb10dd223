//! People who are not there: their prepared answers, and after those made-up ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holdpoint_core::Actor;
use holdpoint_server::DryGate;
use serde_json::{Map, Value, json};

use super::super::walk::Players;
use crate::answering::{Prepared, Said};
use crate::problem::Problem;
use crate::table::text_of;

/// How often made-up answers are given to one checkpoint, so that a way that goes round ends.
const MOST: u32 = 25;
const WORDS: &str = "Made up for a dry run.";

/// Answers for whoever is asked.
pub struct MadeUp {
    prepared: Prepared,
    folder: PathBuf,
    given: BTreeMap<String, u32>,
    /// All that was asked and answered.
    pub gates: Vec<DryGate>,
}

impl MadeUp {
    /// With prepared answers, and a folder for files to hand in.
    pub fn new(prepared: Prepared, folder: &Path) -> Self {
        Self { prepared, folder: folder.join("handed-in"), given: BTreeMap::new(), gates: Vec::new() }
    }

    fn make_up(&mut self, execution: &Value) -> Result<Option<Said>, Problem> {
        let waiting = &execution["waiting_for"];
        let kind = text_of(&waiting["kind"]);
        // What has failed for good is what the walk was made to find.
        if kind == "retry" {
            return Ok(None);
        }
        let given = self.given.entry(text_of(&execution["checkpoint_name"])).or_default();
        *given += 1;
        if *given > MOST {
            return Ok(None);
        }
        Ok(Some(match kind.as_str() {
            "form" => self.form(waiting)?,
            "script_input" | "guidance" => Said::Text(WORDS.to_owned()),
            "budget" => Said::Text(raise(&waiting["budget"])),
            "choice" => Said::Option(text_of(&waiting["options"][0])),
            _ => Said::Yes,
        }))
    }

    fn form(&self, waiting: &Value) -> Result<Said, Problem> {
        let (mut fields, mut files) = (Map::new(), Vec::new());
        for field in waiting["form"]["input_fields"].as_array().into_iter().flatten() {
            let name = text_of(&field["name"]);
            if field.get("default").is_some_and(|value| !value.is_null()) {
                continue;
            }
            match text_of(&field["type"]).as_str() {
                "number" => {
                    fields.insert(name, json!(1));
                }
                "boolean" => {
                    fields.insert(name, json!(true));
                }
                "file" => {
                    let path = self.folder.join("made-up.txt");
                    let written = std::fs::create_dir_all(&self.folder)
                        .and_then(|()| std::fs::write(&path, format!("{WORDS}\n")));
                    written.map_err(super::not_walked)?;
                    files.push((name, path));
                }
                _ => {
                    fields.insert(name, WORDS.into());
                }
            }
        }
        Ok(Said::Fields(fields, files))
    }
}

impl Players for MadeUp {
    fn next(&mut self, execution: &Value) -> Result<Option<(Actor, Said)>, Problem> {
        let prepared = self.prepared.next(execution)?;
        let made_up = prepared.is_none();
        let said = match prepared {
            Some(said) => Some(said),
            None => self.make_up(execution)?,
        };
        let Some(said) = said else { return Ok(None) };
        let waiting = &execution["waiting_for"];
        let by = who(&waiting["who"]);
        self.gates.push(DryGate {
            checkpoint: text_of(&execution["checkpoint_name"]),
            kind: text_of(&waiting["kind"]),
            question: text_of(&waiting["question"]),
            answer: words(&said),
            by: by.clone(),
            made_up,
        });
        Ok(Some((Actor::person(&by), said)))
    }
}

/// One who may answer and has not: of those that are named, else somebody.
fn who(who: &Value) -> String {
    let list =
        |name: &str| -> Vec<String> { who[name].as_array().into_iter().flatten().map(text_of).collect() };
    let (named, before) = (list("approvers"), list("approved_by"));
    let asked_by = text_of(&who["asked_by"]);
    let free = named.into_iter().find(|name| !before.contains(name) && *name != asked_by);
    free.unwrap_or_else(|| format!("person {}", before.len() + 1))
}

/// Enough to go on.
fn raise(budget: &Value) -> String {
    let amount = |name: &str| budget[name].as_f64().unwrap_or(0.0);
    let (limit, spent) = (amount("limit"), amount("spent"));
    let by = limit.max(spent - limit + limit);
    format!("{:.6}", if by > 0.0 { by } else { 1.0 })
}

fn words(said: &Said) -> Value {
    match said {
        Said::Yes => json!("yes"),
        Said::No(why) => json!({"no": why}),
        Said::Fields(fields, files) => {
            let files: Vec<&String> = files.iter().map(|(name, _)| name).collect();
            if files.is_empty() {
                json!({"fields": fields})
            } else {
                json!({"fields": fields, "files": files})
            }
        }
        Said::Text(text) => json!(text),
        Said::Option(option) => json!({"option": option}),
        Said::Changed(edits) => json!({"changed": edits.iter().map(|(name, _)| name).collect::<Vec<_>>()}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(kind: &str, more: &Value) -> Value {
        let mut waiting = json!({"kind": kind, "question": "?", "who": {"role": "operator"}});
        for (name, value) in more.as_object().into_iter().flatten() {
            waiting[name] = value.clone();
        }
        json!({"checkpoint_name": "A", "waiting_for": waiting})
    }

    #[test]
    fn whoever_is_named_and_has_not_answered_answers() {
        let people = |value: Value| who(&value);
        assert_eq!(people(json!({})), "person 1");
        assert_eq!(people(json!({"approved_by": ["person 1"]})), "person 2");
        assert_eq!(people(json!({"approvers": ["ann", "bob"], "approved_by": ["ann"]})), "bob");
        assert_eq!(people(json!({"approvers": ["ann", "bob"], "asked_by": "ann"})), "bob");
    }

    #[test]
    fn forms_are_filled_by_the_type_of_their_fields() {
        let folder = tempfile::tempdir().expect("a folder");
        let fields = json!([
            {"name": "goal", "type": "text"}, {"name": "weeks", "type": "number"},
            {"name": "sure", "type": "boolean"}, {"name": "plan", "type": "file"},
            {"name": "team", "type": "text", "default": "ours"},
        ]);
        let mut people = MadeUp::new(Prepared::default(), folder.path());
        let asked = asks("form", &json!({"form": {"input_fields": fields}}));
        let (_, said) = people.next(&asked).expect("made").expect("an answer");
        let Said::Fields(fields, files) = said else { panic!("no form: {said:?}") };
        assert_eq!(Value::Object(fields), json!({"goal": WORDS, "weeks": 1, "sure": true}));
        assert!(files.iter().all(|(name, path)| name == "plan" && path.is_file()));
    }

    #[test]
    fn a_way_that_goes_round_ends_and_a_failure_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut people = MadeUp::new(Prepared::default(), folder.path());
        let asked = asks("choice", &json!({"options": ["again", "on"]}));
        let answers = (0..100).take_while(|_| people.next(&asked).expect("made").is_some()).count();
        assert_eq!(answers, MOST as usize);
        assert!(people.next(&asks("retry", &json!({}))).expect("made").is_none());
    }

    #[test]
    fn a_budget_is_raised_by_enough() {
        assert_eq!(raise(&json!({"limit": 2.0, "spent": 2.5})), "2.500000");
        assert_eq!(raise(&json!({"limit": 0.0, "spent": 0.0})), "1.000000");
    }
}
