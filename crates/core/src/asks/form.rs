//! The form of a step. Wrong fields come back one by one, and nothing is written.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Answered;
use crate::advance::{self, Finished};
use crate::command::{Answer, Fields, Upload};
use crate::decision::Draft;
use crate::definition::{Fault, FieldType, FormFormat, InputField};
use crate::event::{Made, RunEvent, Text};
use crate::facts::Verdict;
use crate::plan::body::{Body, Form};
use crate::state::run::Ask;
use crate::{ArtifactId, ArtifactRecordId, Digest, ExecNo, Rejection, RunId, StepId};

/// Asks a person to fill in the form.
pub fn ask(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    super::open(draft, run, x, Ask::Form)
}

/// The rule.
pub(crate) fn answer(draft: &mut Draft<'_>, at: &Answered<'_>) -> Result<(), Rejection> {
    if &*at.answer.option != "submit" {
        return Err(at.no_such_option());
    }
    let (run, x, gate, digest, assurance) = (at.run, at.x()?, at.id, at.gate.digest, at.assurance);
    let body = advance::body_of(draft, run, x)?;
    let missing = || Rejection::NotFound { what: "form", id: at.gate.place.step.to_string() };
    let form = body.form().ok_or_else(missing)?;
    let values = check_fields(draft, form, at.answer)?;
    let (step, execution) = (&at.gate.place.step, draft.execution(run, x)?);
    let title = execution.name.as_ref().unwrap_or(&step.0);
    let filled = Filled { step, title, body: &body, form, values: &values };
    let outputs = outputs(draft, &filled, &at.answer.files)?;
    let (fields, text, deadline) = (values, None, None);
    draft.on_run(run, RunEvent::Submitted { x, gate, digest, assurance, fields, text, deadline });
    for made in outputs {
        draft.on_run(run, RunEvent::ArtifactMade { x, made });
    }
    advance::finish_work(draft, run, x, Finished::default())
}

/// A form with its values.
struct Filled<'a> {
    step: &'a StepId,
    title: &'a Text,
    body: &'a Body,
    form: &'a Form,
    values: &'a Fields,
}

/// The values under their names, with defaults, or everything that is wrong with them.
fn check_fields(draft: &Draft<'_>, form: &Form, command: &Answer) -> Result<Fields, Rejection> {
    let mut faults = Vec::new();
    let mut values = Fields::new();
    let mut given = command.fields.clone();
    for field in &form.fields {
        let by_id = field.field_id.and_then(|id| given.remove(&id.to_string()));
        let value = given.remove(&field.name).or(by_id).filter(|v| !is_missing(v));
        let pointer = format!("/fields/{}", field.name);
        if field.kind == FieldType::File {
            file_field(field, value.as_ref(), command, &pointer, &mut values, &mut faults);
            continue;
        }
        match value.or_else(|| field.default.clone().filter(|v| !is_missing(v))) {
            Some(value) => match check_value(draft, field, &value) {
                Ok(()) => drop(values.insert(field.name.clone(), value)),
                Err(messages) => faults.extend(messages.into_iter().map(|m| Fault::at(&pointer, m))),
            },
            None if field.required => {
                faults.push(Fault::at(pointer, format!("`{}` is required", field.label)));
            }
            None => {}
        }
    }
    for name in given.keys() {
        faults.push(Fault::at(format!("/fields/{name}"), "the form has no such field"));
    }
    let known =
        |upload: &Upload| form.fields.iter().any(|f| f.kind == FieldType::File && *f.name == *upload.field);
    for upload in command.files.iter().filter(|upload| !known(upload)) {
        faults.push(Fault::at(format!("/fields/{}", upload.field), "the form has no such file field"));
    }
    if faults.is_empty() { Ok(values) } else { Err(Rejection::Invalid(faults)) }
}

/// An empty string is a missing value.
fn is_missing(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

fn file_field(
    field: &InputField,
    value: Option<&Value>,
    command: &Answer,
    pointer: &str,
    values: &mut Fields,
    faults: &mut Vec<Fault>,
) {
    if value.is_some() {
        faults.push(Fault::at(pointer, "a file is uploaded as a part of its own, not named in the fields"));
        return;
    }
    match command.files.iter().find(|upload| *upload.field == *field.name) {
        Some(upload) => {
            let shown = json!({
                "filename": upload.filename,
                "size_bytes": upload.size,
                "checksum": upload.digest.checksum(),
            });
            values.insert(field.name.clone(), shown);
        }
        None if field.required => faults.push(Fault::at(pointer, format!("`{}` is required", field.label))),
        None => {}
    }
}

fn check_value(draft: &Draft<'_>, field: &InputField, value: &Value) -> Result<(), Vec<String>> {
    let fits = match field.kind {
        FieldType::Text => value.as_str().is_some_and(|text| !text.contains(['\n', '\r'])),
        FieldType::MultilineText => value.is_string(),
        FieldType::Number => value.is_number(),
        FieldType::Boolean => value.is_boolean(),
        FieldType::File => false,
    };
    if !fits {
        let wanted = match field.kind {
            FieldType::Text => "one line of text",
            FieldType::MultilineText => "text",
            FieldType::Number => "a number",
            FieldType::Boolean => "true or false",
            FieldType::File => "a file",
        };
        return Err(vec![format!("`{}` must be {wanted}", field.label)]);
    }
    let Some(validation) = field.validation.as_deref().filter(|v| !v.trim().is_empty()) else {
        return Ok(());
    };
    match draft.facts.evaluator.field(validation, value) {
        Verdict::Yes => Ok(()),
        Verdict::No(messages) if messages.is_empty() => {
            Err(vec![format!("`{}` does not satisfy `{validation}`", field.label)])
        }
        Verdict::No(messages) => Err(messages),
        Verdict::Broken(why) => {
            Err(vec![format!("the rule of `{}` could not be evaluated: {why}", field.label)])
        }
    }
}

/// The artifacts that the form makes: its values, and each uploaded file.
fn outputs(draft: &mut Draft<'_>, filled: &Filled<'_>, files: &[Upload]) -> Result<Vec<Made>, Rejection> {
    let mut made = Vec::new();
    if let Some((name, format)) = &filled.form.artifact {
        let declared = filled.body.output(name);
        let (extension, bytes) = match format {
            FormFormat::Json => {
                let value = Value::Object(filled.values.clone());
                if let Some(schema) = declared.and_then(|output| output.schema.as_ref()) {
                    check_schema(draft, schema, &value)?;
                }
                ("json", serde_json::to_vec_pretty(&value).expect("a JSON value can be written"))
            }
            FormFormat::Md => ("md", markdown(filled).into_bytes()),
        };
        let size = bytes.len() as u64;
        let digest = draft.keep_blob(bytes);
        made.push(output(draft, filled, name, extension, digest, size));
    }
    for upload in files {
        let extension = extension(&upload.filename);
        made.push(output(draft, filled, &upload.field, &extension, upload.digest, upload.size));
    }
    Ok(made)
}

/// An output of the form. One that the definition does not declare has the same id each time the form is filled in, so
/// that later steps and revisions can name it.
fn output(
    draft: &mut Draft<'_>,
    filled: &Filled<'_>,
    name: &str,
    format: &str,
    digest: Digest,
    size: u64,
) -> Made {
    let declared = filled.body.output(name);
    Made {
        record: ArtifactRecordId(draft.ids.mint()),
        artifact: declared
            .and_then(|output| output.artifact)
            .unwrap_or_else(|| ArtifactId::of_form(filled.step, name)),
        name: name.into(),
        format: format.into(),
        digest,
        size,
    }
}

fn check_schema(draft: &Draft<'_>, schema: &Value, value: &Value) -> Result<(), Rejection> {
    let faults = |messages: Vec<String>| {
        Rejection::Invalid(messages.into_iter().map(|message| Fault::at("/fields", message)).collect())
    };
    match draft.facts.evaluator.schema(schema, value) {
        Verdict::Yes => Ok(()),
        Verdict::No(messages) => Err(faults(messages)),
        Verdict::Broken(why) => Err(faults(vec![format!("the artifact's schema could not be used: {why}")])),
    }
}

/// The form as a document: the checkpoint's name as title, each label as a heading.
fn markdown(filled: &Filled<'_>) -> String {
    let mut text = format!("# {}\n", filled.title);
    for field in &filled.form.fields {
        let shown = match filled.values.get(&field.name) {
            Some(Value::String(value)) => value.clone(),
            Some(Value::Object(file)) => {
                file.get("filename").and_then(Value::as_str).unwrap_or_default().to_owned()
            }
            Some(value) => value.to_string(),
            None => String::new(),
        };
        write!(text, "\n## {}\n\n{shown}\n", field.label).expect("text grows");
    }
    text
}

/// The extension of a person's file name, if it is a plain one.
fn extension(filename: &str) -> Arc<str> {
    let extension = filename.rsplit_once('.').map_or("", |(_, extension)| extension);
    let plain = !extension.is_empty()
        && extension.len() <= 10
        && extension.chars().all(|c| c.is_ascii_alphanumeric());
    if plain { extension.to_ascii_lowercase().into() } else { "bin".into() }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use crate::testing::{Scene, form, submit};

    #[test]
    fn a_form_becomes_an_artifact() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        scene.check(
            submit(1, 1, json!({"answer": "yes"})),
            expect![[r#"
                run R1: Submitted x1 {"answer":"yes"}
                run R1: ArtifactMade x1 a.json (21 bytes)
                run R1: Asked x1 approve_complete
            "#]],
        );
        assert_eq!(scene.status(1), "in_progress: x1 waiting_approval_to_complete");
    }

    #[test]
    fn every_wrong_field_is_named_and_nothing_is_written() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
        scene.check_faults(
            submit(1, 1, json!({"answer": "", "other": 1})),
            expect![[r#"
            /fields/answer: `Answer` is required
            /fields/other: the form has no such field
        "#]],
        );
        assert_eq!(scene.status(1), "in_progress: x1 in_progress");
    }

    #[test]
    fn a_path_is_not_a_file() {
        let mut scene = Scene::new().with_pipeline(&[crate::testing::upload("A")]).with_run();
        scene.check_faults(
            submit(1, 1, json!({"doc": {"filepath": "/etc/passwd"}})),
            expect![[r#"
            /fields/doc: a file is uploaded as a part of its own, not named in the fields
        "#]],
        );
    }
}
