//! The shape of a schema: its size and depth, and that it refers to nothing but itself.

use serde_json::Value;

/// The most bytes of a schema, as JSON.
const MAX_BYTES: usize = 256 << 10;

/// The most levels of a schema.
const MAX_DEPTH: usize = 64;

/// Checks it.
pub fn check(schema: &Value) -> Result<(), String> {
    if !schema.is_object() && !schema.is_boolean() {
        return Err("a JSON Schema is an object".to_owned());
    }
    level(schema, schema, "", 0)?;
    if schema.to_string().len() > MAX_BYTES {
        return Err(format!("a JSON Schema has at most {MAX_BYTES} bytes"));
    }
    Ok(())
}

/// Looks at every object, whether it is a schema or not: a value that only looks like a reference is refused
/// with the rest, because telling the two apart is what goes wrong elsewhere.
fn level(root: &Value, value: &Value, path: &str, depth: usize) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err(format!("{path}: a JSON Schema has at most {MAX_DEPTH} levels"));
    }
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                reference(root, key, member, &path, depth)?;
                level(root, member, &path, depth + 1)?;
            }
            Ok(())
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(i, item)| level(root, item, &format!("{path}/{i}"), depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn reference(root: &Value, key: &str, member: &Value, path: &str, depth: usize) -> Result<(), String> {
    let Value::String(text) = member else { return Ok(()) };
    match key {
        "$ref" => match text.strip_prefix('#') {
            None => Err(format!("{path}: `{text}` lies outside this schema; only `#/…` can be referred to")),
            Some(_) if target(root, text).is_none() => {
                Err(format!("{path}: there is no `{text}` in this schema"))
            }
            Some(_) => Ok(()),
        },
        "$dynamicRef" | "$recursiveRef" => Err(format!("{path}: `{key}` is not supported; use `$ref`")),
        "$id" if depth > 0 => Err(format!("{path}: only the whole schema may have an `$id`")),
        // There `id` is what `$id` is later, and ordinary members are called so, too.
        "$schema" if text.contains("draft-03") || text.contains("draft-04") => {
            Err(format!("{path}: a JSON Schema of draft 6 or later is needed"))
        }
        "$schema" if depth > 0 => Err(format!("{path}: only the whole schema may have a `$schema`")),
        _ => Ok(()),
    }
}

/// What a reference inside a schema refers to.
pub fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = decoded(reference.strip_prefix('#')?)?;
    root.pointer(&pointer)
}

/// A fragment as a pointer: percent signs stand for bytes.
fn decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
