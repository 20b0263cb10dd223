//! Made-up content: of a declared format, and of the form that a JSON Schema asks for.

use holdpoint_core::definition::Format;
use holdpoint_core::plan::body::OutputSpec;
use serde_json::{Map, Value, json};

/// What is said where nothing particular is asked for.
pub const WORDS: &str = "Made up for a dry run.";
/// How deep a made-up value is at most.
const DEEPEST: u32 = 12;
/// How many items a made-up list has at most.
const LONGEST: u64 = 20;
/// How many values are made up for one schema at most: one that refers to itself several times grows without end.
const MOST: u32 = 10_000;

/// How many items lists get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// One, or as many as there must be.
    Least,
    /// As many as there may be.
    Most,
}

/// The content of an output that nobody has given.
pub fn text_for(artifact: &OutputSpec) -> String {
    let name = &artifact.name;
    match artifact.format {
        Format::Json => {
            let schema = artifact.schema.as_ref().filter(|schema| !schema.is_null());
            let value =
                schema.map_or_else(|| json!({"made_up": true}), |schema| from_schema(schema, Fill::Least));
            serde_json::to_string_pretty(&value).unwrap_or_default()
        }
        Format::Md => format!("# {name}\n\n{WORDS}"),
        Format::Txt => WORDS.to_owned(),
        Format::Mmd => format!("flowchart LR\n  made_up[\"{WORDS}\"]"),
        Format::Py => format!("# {WORDS}"),
        Format::Html => format!("<!doctype html>\n<title>{name}</title>\n<p>{WORDS}</p>"),
        Format::Csv => "made,up\n1,2".to_owned(),
    }
}

/// A value of the form that a schema asks for, as far as that can be told. Patterns and conditions are not solved: what
/// comes is checked like anything else.
pub fn from_schema(schema: &Value, fill: Fill) -> Value {
    Maker { root: schema, fill, said: 0, made: 0 }.value(schema, 0)
}

struct Maker<'a> {
    root: &'a Value,
    fill: Fill,
    /// How many texts were made up; each is another.
    said: u64,
    /// How many values were made up.
    made: u32,
}

impl Maker<'_> {
    fn value(&mut self, schema: &Value, depth: u32) -> Value {
        self.made += 1;
        if depth > DEEPEST || self.made > MOST {
            return Value::Null;
        }
        for given in ["const", "default"] {
            if let Some(value) = schema.get(given) {
                return value.clone();
            }
        }
        for list in ["enum", "examples"] {
            if let Some(value) = schema[list].as_array().and_then(|values| values.first()) {
                return value.clone();
            }
        }
        if let Some(name) = schema["$ref"].as_str() {
            let root = self.root;
            let target = name.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
            return target.map_or(Value::Null, |target| self.value(target, depth + 1));
        }
        for choice in ["oneOf", "anyOf"] {
            if let Some(first) = schema[choice].as_array().and_then(|all| all.first()) {
                return self.value(first, depth + 1);
            }
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.list(schema, depth),
            "string" => self.text(schema).into(),
            "integer" => number(schema, 1.0).map_or_else(|| json!(1), |number| json!(number.ceil() as i64)),
            "number" => json!(number(schema, 1.0).unwrap_or(1.0)),
            "boolean" => true.into(),
            _ => Value::Null,
        }
    }

    fn object(&mut self, schema: &Value, depth: u32) -> Value {
        let mut made = Map::new();
        let parts = schema["allOf"].as_array().into_iter().flatten();
        for part in parts {
            if let Value::Object(fields) = self.value(part, depth + 1) {
                made.extend(fields);
            }
        }
        for (name, about) in schema["properties"].as_object().into_iter().flatten() {
            let value = self.value(about, depth + 1);
            made.insert(name.clone(), value);
        }
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            made.entry(name).or_insert_with(|| WORDS.into());
        }
        made.into()
    }

    fn list(&mut self, schema: &Value, depth: u32) -> Value {
        let least = schema["minItems"].as_u64().unwrap_or(1);
        let most = schema["maxItems"].as_u64();
        let count = match self.fill {
            Fill::Least => most.map_or(least, |most| least.max(1).min(most)),
            Fill::Most => most.unwrap_or(least.max(1)),
        };
        let tuple = schema["prefixItems"].as_array().cloned().unwrap_or_default();
        let item =
            |n: u64| usize::try_from(n).ok().and_then(|n| tuple.get(n)).unwrap_or(&schema["items"]).clone();
        let count = count.max(tuple.len() as u64).min(LONGEST);
        (0..count).map(|n| self.value(&item(n), depth + 1)).collect()
    }

    fn text(&mut self, schema: &Value) -> String {
        let known = match schema["format"].as_str().unwrap_or_default() {
            "date" => "2026-01-01",
            "date-time" => "2026-01-01T00:00:00Z",
            "time" => "00:00:00Z",
            "email" => "made-up@example.com",
            "uri" | "url" => "https://example.com/made-up",
            "uuid" => "00000000-0000-4000-8000-000000000000",
            _ => "",
        };
        if !known.is_empty() {
            return known.to_owned();
        }
        self.said += 1;
        let mut text = format!("made up {}", self.said);
        let least = schema["minLength"].as_u64().unwrap_or(0).min(10_000) as usize;
        while text.chars().count() < least {
            text.push('.');
        }
        match schema["maxLength"].as_u64() {
            Some(most) => text.chars().take(usize::try_from(most).unwrap_or(usize::MAX)).collect(),
            None => text,
        }
    }
}

/// What kind of value a schema asks for; the first that is not null, where it names several.
fn kind(schema: &Value) -> &str {
    let named = match &schema["type"] {
        Value::String(kind) => Some(kind.as_str()),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ => None,
    };
    let has = |name: &str| schema.get(name).is_some();
    named.unwrap_or_else(|| {
        if has("properties") || has("required") || has("allOf") {
            "object"
        } else if has("items") || has("prefixItems") {
            "array"
        } else if has("minimum") || has("maximum") {
            "number"
        } else {
            "string"
        }
    })
}

/// A number within its bounds, near `wish`.
fn number(schema: &Value, wish: f64) -> Option<f64> {
    let bound = |name: &str| schema[name].as_f64();
    let least = bound("minimum").or(bound("exclusiveMinimum").map(|bound| bound + 1.0));
    let most = bound("maximum").or(bound("exclusiveMaximum").map(|bound| bound - 1.0));
    let step = bound("multipleOf").filter(|step| *step > 0.0);
    let mut number = wish;
    if let Some(least) = least {
        number = number.max(least);
    }
    if let Some(most) = most {
        number = number.min(most);
    }
    if let Some(step) = step {
        number = (number / step).ceil() * step;
    }
    (least.is_some() || most.is_some() || step.is_some()).then_some(number)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn check(schema: &Value, fill: Fill, wanted: &expect_test::Expect) {
        let value = from_schema(schema, fill);
        wanted.assert_eq(&value.to_string());
        let validator = jsonschema::validator_for(schema).expect("a schema");
        assert!(validator.is_valid(&value), "{value} is not of the form {schema}");
    }

    #[test]
    fn what_is_made_up_has_the_form_that_is_asked_for() {
        let schema = json!({
            "type": "object",
            "required": ["title", "score", "tags", "who"],
            "properties": {
                "title": {"type": "string", "minLength": 12},
                "score": {"type": "integer", "minimum": 3, "maximum": 5},
                "share": {"type": "number", "exclusiveMaximum": 1},
                "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2},
                "who": {"$ref": "#/$defs/person"},
                "due": {"type": ["null", "string"], "format": "date"},
            },
            "$defs": {"person": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
        });
        check(
            &schema,
            Fill::Least,
            &expect![[
                r#"{"title":"made up 1...","score":3,"share":0.0,"tags":["a","a"],"who":{"name":"made up 2"},"due":"2026-01-01"}"#
            ]],
        );
    }

    #[test]
    fn lists_are_as_long_as_is_wanted_and_texts_differ() {
        let schema = json!({"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string"}});
        check(&schema, Fill::Least, &expect![[r#"["made up 1"]"#]]);
        check(&schema, Fill::Most, &expect![[r#"["made up 1","made up 2","made up 3"]"#]]);
    }

    #[test]
    fn what_refers_to_itself_ends() {
        let schema = json!({"type": "object", "properties": {"child": {"$ref": "#"}}});
        assert!(from_schema(&schema, Fill::Least).is_object());
        // Nine ways round at each step are more than a machine can hold.
        let ways: Map<String, Value> = (0..9).map(|n| (format!("w{n}"), json!({"$ref": "#"}))).collect();
        let many = json!({"type": "object", "properties": ways});
        assert!(from_schema(&many, Fill::Most).to_string().len() < 1_000_000);
    }

    #[test]
    fn every_format_has_content_of_its_own() {
        for format in
            [Format::Json, Format::Md, Format::Mmd, Format::Txt, Format::Py, Format::Html, Format::Csv]
        {
            let artifact =
                OutputSpec { artifact: None, name: "out".into(), format, description: None, schema: None };
            let text = text_for(&artifact);
            assert_eq!(super::super::super::formats::parses(format, text.as_bytes()), Ok(()));
        }
    }
}
