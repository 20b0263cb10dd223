//! Schemas that are right, wrong and hostile.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{check_schema, check_value};

#[allow(clippy::needless_pass_by_value)] // reads better where it is called
fn check(schema: Value, value: Value, then: Expect) {
    then.assert_eq(&match check_value(&schema, &value) {
        Ok(wrong) if wrong.is_empty() => "satisfied".to_owned(),
        Ok(wrong) => wrong.join("\n"),
        Err(why) => format!("broken: {why}"),
    });
}

#[allow(clippy::needless_pass_by_value)] // reads better where it is called
fn refused(schema: Value, then: Expect) {
    then.assert_eq(&check_schema(&schema).expect_err("refused"));
}

#[test]
fn every_fault_is_named_with_its_place() {
    let schema = json!({
        "type": "object",
        "required": ["title", "tags"],
        "additionalProperties": false,
        "properties": {
            "title": {"type": "string", "minLength": 3},
            "mail": {"type": "string", "format": "email"},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
        },
    });
    check(schema.clone(), json!({"title": "abc", "tags": ["a"]}), expect!["satisfied"]);
    check(
        schema,
        json!({"title": "x", "mail": "nobody", "tags": ["a", "c"], "more": 1}),
        expect![[r#"
            /title: "x" is shorter than 3 characters
            /mail: "nobody" is not a "email"
            /tags/1: "c" is not one of "a" or "b"
            Additional properties are not allowed ('more' was unexpected)"#]],
    );
}

#[test]
fn only_so_much_is_said() {
    let wrong = check_value(&json!({"items": {"type": "null"}}), &json!((0..100).collect::<Vec<_>>()));
    assert_eq!(wrong.expect("usable").len(), super::MAX_SENTENCES);
    let long = check_value(&json!({"type": "null"}), &json!("x".repeat(10_000))).expect("usable");
    assert!(long[0].chars().count() <= super::MAX_SENTENCE + 1, "{}", long[0]);
}

#[test]
fn what_lies_outside_is_never_fetched() {
    refused(
        json!({"$ref": "http://169.254.169.254/latest"}),
        expect![
            "/$ref: `http://169.254.169.254/latest` lies outside this schema; only `#/…` can be referred to"
        ],
    );
    refused(
        json!({"properties": {"a": {"$ref": "file:///etc/passwd"}}}),
        expect![
            "/properties/a/$ref: `file:///etc/passwd` lies outside this schema; only `#/…` can be referred to"
        ],
    );
    refused(
        json!({"$ref": "other.json#/a"}),
        expect!["/$ref: `other.json#/a` lies outside this schema; only `#/…` can be referred to"],
    );
    refused(
        json!({"allOf": [{"$id": "http://x/", "$ref": "#/a"}], "a": true}),
        expect!["/allOf/0/$id: only the whole schema may have an `$id`"],
    );
    refused(
        json!({"$schema": "http://example.com/own"}),
        expect![
            "Unknown meta-schema: 'http://example.com/own'. Custom meta-schemas must be registered in the registry before use"
        ],
    );
    refused(json!({"$ref": "#/$defs/none"}), expect!["/$ref: there is no `#/$defs/none` in this schema"]);
    refused(
        json!({"$dynamicRef": "#a"}),
        expect!["/$dynamicRef: `$dynamicRef` is not supported; use `$ref`"],
    );
}

#[test]
fn a_schema_that_is_none_is_refused_when_it_is_saved() {
    refused(
        json!({"type": "objekt"}),
        expect![[r#"/type: "objekt" is not valid under any of the schemas listed in the 'anyOf' keyword"#]],
    );
    refused(
        json!({"properties": {"a": {"minLength": -1}}}),
        expect!["/properties/a/minLength: -1 is less than the minimum of 0"],
    );
    refused(json!({"pattern": "("}), expect![[r#"/pattern: "(" is not a "regex""#]]);
    refused(json!("text"), expect!["a JSON Schema is an object"]);
    let deep = (0..100).fold(json!({}), |inner, _| json!({"not": inner}));
    assert!(check_schema(&deep).is_err());
    assert!(check_schema(&json!({"enum": vec!["x".repeat(1000); 300]})).is_err());
    assert_eq!(
        check_schema(
            &json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {}}})
        ),
        Ok(())
    );
}

#[test]
fn a_schema_cannot_run_for_ever() {
    check(json!({"$ref": "#"}), json!(1), expect!["broken: the schema makes too much work"]);
    check(json!({"allOf": [{"$ref": "#"}]}), json!(1), expect!["broken: the schema makes too much work"]);
    let heavy = |n: usize| {
        let mut definitions = serde_json::Map::new();
        for i in 0..n {
            let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
            definitions.insert(format!("d{i}"), json!({"allOf": [next, next]}));
        }
        definitions.insert(format!("d{n}"), json!({"type": "string"}));
        json!({"$defs": definitions, "$ref": "#/$defs/d0"})
    };
    check(heavy(30), json!("x"), expect!["broken: the schema makes too much work"]);
    refused(heavy(30), expect!["the schema makes too much work"]);
    refused(json!({"$ref": "#"}), expect!["the schema makes too much work"]);
    assert_eq!(check_schema(&heavy(5)), Ok(()));
    let twice = json!({"properties": {"x": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}});
    let deep = (0..60).fold(json!(1), |inner, _| json!({"x": inner}));
    check(twice, deep, expect!["broken: the schema makes too much work"]);
    check(
        json!({"pattern": "^(a+)+$"}),
        json!(format!("{}b", "a".repeat(50_000))),
        expect![[r#"value does not match "^(a+)+$""#]],
    );
    check(
        json!({"pattern": "(?=a)"}),
        json!("a"),
        expect![[r#"broken: /pattern: "(?=a)" is not a "regex""#]],
    );
}
