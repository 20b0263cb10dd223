//! Expressions that are right, wrong and hostile.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{ExprError, Expressions, Limit, Limits, RealEvaluator};
use holdpoint_core::facts::{Evaluator, Verdict};

fn evaluate(source: &str) -> Result<Value, ExprError> {
    let context = json!({"feature": {"flags": ["backend"]}, "count": 6, "name": "Zoë 🦀"});
    Expressions::default().evaluate(source, &[("context", &context)])
}

/// Evaluates each line.
#[allow(clippy::needless_pass_by_value)] // reads better where it is called
fn check(sources: &[&str], then: Expect) {
    let shown = sources.iter().map(|source| match evaluate(source) {
        Ok(value) => format!("{source}  =>  {value}\n"),
        Err(error) => format!("{source}  =>  ! {error}\n"),
    });
    then.assert_eq(&shown.collect::<String>());
}

#[test]
fn expressions_come_to_values() {
    check(
        &[
            "context.feature.flags.includes('backend') && context.count > 5",
            "context.name.length + ' ' + [...context.name].length",
            "context.name.toUpperCase()",
            "({a: 1, b: [undefined, 2]})",
            "undefined",
            "1, 2",
            "new Set([1, 1, 2]).size",
            "'a' < 'b' // because",
            "((f) => f(f, 5))((f, n) => n < 2 ? 1 : n * f(f, n - 1))",
            "(context.count = 7, context.count)",
            "'z'.localeCompare('ä') + ' ' + (1234.5).toLocaleString()",
        ],
        expect![[r#"
            context.feature.flags.includes('backend') && context.count > 5  =>  true
            context.name.length + ' ' + [...context.name].length  =>  "6 5"
            context.name.toUpperCase()  =>  "ZOË 🦀"
            ({a: 1, b: [undefined, 2]})  =>  {"a":1,"b":[null,2]}
            undefined  =>  null
            1, 2  =>  2
            new Set([1, 1, 2]).size  =>  2
            'a' < 'b' // because  =>  true
            ((f) => f(f, 5))((f, n) => n < 2 ? 1 : n * f(f, n - 1))  =>  120
            (context.count = 7, context.count)  =>  7
            'z'.localeCompare('ä') + ' ' + (1234.5).toLocaleString()  =>  "-1 1234.5"
        "#]],
    );
}

#[test]
fn what_is_no_expression_is_named_with_its_place() {
    check(
        &[
            "",
            "1 +",
            "a b",
            "\n\n  1 = 2",
            "1); (2",
            "1]; [2",
            "...[1]",
            "if (1) 2",
            "return 1",
            "let x = 1",
            "'open",
            "/(/",
            "await 1",
            "yield 1",
            "1 /*",
            "`${",
        ],
        expect![[r"
              =>  ! line 1, column 1: an expression is required
            1 +  =>  ! line 1, column 4: the expression ends too early
            a b  =>  ! line 1, column 3: Unexpected identifier 'b'


              1 = 2  =>  ! line 3, column 7: invalid assignment left-hand side
            1); (2  =>  ! line 1, column 2: Unexpected token ')'
            1]; [2  =>  ! line 1, column 1: this is not one expression
            ...[1]  =>  ! line 1, column 1: unexpected token in expression: '...'
            if (1) 2  =>  ! line 1, column 1: unexpected token in expression: 'if'
            return 1  =>  ! line 1, column 1: unexpected token in expression: 'return'
            let x = 1  =>  ! line 1, column 1: unexpected token in expression: 'let'
            'open  =>  ! line 1, column 1: unexpected end of string
            /(/  =>  ! line 1, column 1: expecting ')'
            await 1  =>  ! line 1, column 7: Unexpected number
            yield 1  =>  ! line 1, column 1: unexpected 'yield' keyword
            1 /*  =>  ! line 1, column 3: unexpected end of comment
            `${  =>  ! line 1, column 4: the expression ends too early
        "]],
    );
    let syntax = |source| Expressions::default().check_syntax(source);
    assert!(syntax("\0").is_err());
    assert!(syntax("while (true) {}").is_err());
    assert_eq!(syntax("nowhere.to.be.found()"), Ok(()));
    assert_eq!(syntax("(() => { while (true) {} })()"), Ok(()));
}

#[test]
fn what_goes_wrong_is_said() {
    check(
        &[
            "context.nope.x > 1",
            "nowhere",
            "(() => { throw 'text' })()",
            "(() => { throw {a: 1} })()",
            "null.x",
            "x = 1",
            "(() => { const e = new Error('m'); Object.defineProperty(e, 'message', {get() { throw 1 }}); throw e })()",
            "(() => { throw undefined })()",
            "NaN",
            "() => 1",
            "Symbol()",
            "async () => 1",
            "(async () => 1)()",
            "'\\ud800'",
            "1n",
            "import('fs')",
            "(import('fs'), true)",
        ],
        expect![[r#"
            context.nope.x > 1  =>  ! it threw TypeError: cannot read property 'x' of undefined
            nowhere  =>  ! it threw ReferenceError: nowhere is not defined
            (() => { throw 'text' })()  =>  ! it threw "text"
            (() => { throw {a: 1} })()  =>  ! it threw {"a":1}
            null.x  =>  ! it threw TypeError: cannot read property 'x' of null
            x = 1  =>  ! it threw ReferenceError: x is not defined
            (() => { const e = new Error('m'); Object.defineProperty(e, 'message', {get() { throw 1 }}); throw e })()  =>  ! it threw Error: 
            (() => { throw undefined })()  =>  ! it threw something that cannot be shown
            NaN  =>  ! it came to NaN or Infinity, which is no value
            () => 1  =>  ! it came to a function, which is no value
            Symbol()  =>  ! it came to something that JSON has no word for, which is no value
            async () => 1  =>  ! it came to a function, which is no value
            (async () => 1)()  =>  ! it came to a promise, which is no value
            '\ud800'  =>  ! it came to broken text, which is no value
            1n  =>  ! it came to a big integer, which is no value
            import('fs')  =>  ! it came to a promise, which is no value
            (import('fs'), true)  =>  ! it came to work for later, which is no value
        "#]],
    );
}

#[test]
fn there_is_nothing_to_escape_to() {
    check(
        &[
            "[].constructor.constructor('return 1')()",
            "(() => {}).constructor('return 1')()",
            "(function* () {}).constructor('return 1')()",
            "(async () => {}).constructor('return 1')()",
            "(async function* () {}).constructor('return 1')()",
            "Reflect.construct(Object.getPrototypeOf(Object.getPrototypeOf(function* () {})).constructor, ['1'])",
            "eval('1')",
            "globalThis.eval",
            "this === undefined",
            "[typeof process, typeof require, typeof fetch, typeof std, typeof os, typeof print, typeof console]",
            "[typeof Date, typeof performance, typeof setTimeout, typeof Promise, typeof Proxy, typeof WeakRef]",
            "[typeof Math.random, typeof Intl, typeof Function, typeof BigInt, typeof queueMicrotask, typeof navigator]",
            "Object.getOwnPropertyNames(globalThis).sort().join(' ')",
            "(Object.prototype.polluted = 1, ({}).polluted)",
            "({}).polluted === undefined",
            "({toJSON() { return 'mine' }})",
            "({get a() { return 1 }, get b() { throw new Error('no') }})",
        ],
        expect![[r#"
            [].constructor.constructor('return 1')()  =>  ! it threw TypeError: not a function
            (() => {}).constructor('return 1')()  =>  ! it threw TypeError: not a function
            (function* () {}).constructor('return 1')()  =>  ! it threw TypeError: not a function
            (async () => {}).constructor('return 1')()  =>  ! it threw TypeError: not a function
            (async function* () {}).constructor('return 1')()  =>  ! it threw TypeError: not a function
            Reflect.construct(Object.getPrototypeOf(Object.getPrototypeOf(function* () {})).constructor, ['1'])  =>  ! it threw TypeError: not a function
            eval('1')  =>  ! it threw ReferenceError: eval is not defined
            globalThis.eval  =>  null
            this === undefined  =>  false
            [typeof process, typeof require, typeof fetch, typeof std, typeof os, typeof print, typeof console]  =>  ["undefined","undefined","undefined","undefined","undefined","undefined","undefined"]
            [typeof Date, typeof performance, typeof setTimeout, typeof Promise, typeof Proxy, typeof WeakRef]  =>  ["undefined","undefined","undefined","undefined","undefined","undefined"]
            [typeof Math.random, typeof Intl, typeof Function, typeof BigInt, typeof queueMicrotask, typeof navigator]  =>  ["undefined","undefined","undefined","undefined","undefined","undefined"]
            Object.getOwnPropertyNames(globalThis).sort().join(' ')  =>  "AggregateError Array AsyncDisposableStack Boolean DisposableStack Error EvalError Infinity InternalError Iterator JSON Map Math NaN Number Object RangeError ReferenceError Reflect RegExp Set String SuppressedError Symbol SyntaxError TypeError URIError WeakMap WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape globalThis isFinite isNaN parseFloat parseInt undefined unescape"
            (Object.prototype.polluted = 1, ({}).polluted)  =>  1
            ({}).polluted === undefined  =>  true
            ({toJSON() { return 'mine' }})  =>  "mine"
            ({get a() { return 1 }, get b() { throw new Error('no') }})  =>  ! it threw Error: no
        "#]],
    );
}

#[test]
fn what_takes_too_much_is_stopped() {
    check(
        &[
            "(() => { while (true) {} })()",
            "(() => { for (;;) { try { for (;;) {} } catch { } finally { continue } } })()",
            "((f) => f(f))((f) => f(f))",
            "((f) => f(f))((f) => 1 + f(f))",
            "'x'.repeat(2 ** 28)",
            "'x'.repeat(2 ** 40)",
            "(() => { const a = []; for (;;) a.push(a.length) })()",
            "(() => { let s = 'x'; for (;;) s += s })()",
            "new Array(2 ** 32 - 1).fill(0)",
            "new Array(2 ** 32)",
            "[].indexOf.call({length: 2 ** 53 - 1}, 1)",
            "/^(a+)+$/.test('a'.repeat(40) + 'b')",
            "/(x+x+)+y/.test('x'.repeat(100))",
            "({get a() { for (;;) {} }})",
            "({toJSON() { for (;;) {} }})",
            "'x'.repeat(70000)",
            "(() => { let a = []; for (let i = 0; i < 1000; i++) a = [a]; return a })()",
            "(() => { const a = {}; a.a = a; return a })()",
        ],
        expect![[r"
            (() => { while (true) {} })()  =>  ! it takes too many steps
            (() => { for (;;) { try { for (;;) {} } catch { } finally { continue } } })()  =>  ! it takes too many steps
            ((f) => f(f))((f) => f(f))  =>  ! it goes too deep
            ((f) => f(f))((f) => 1 + f(f))  =>  ! it goes too deep
            'x'.repeat(2 ** 28)  =>  ! it needs more memory than 8388608 bytes
            'x'.repeat(2 ** 40)  =>  ! it threw RangeError: invalid repeat count
            (() => { const a = []; for (;;) a.push(a.length) })()  =>  ! it needs more memory than 8388608 bytes
            (() => { let s = 'x'; for (;;) s += s })()  =>  ! it threw InternalError: string too long
            new Array(2 ** 32 - 1).fill(0)  =>  ! it needs more memory than 8388608 bytes
            new Array(2 ** 32)  =>  ! it threw RangeError: invalid array length
            [].indexOf.call({length: 2 ** 53 - 1}, 1)  =>  ! it takes too many steps
            /^(a+)+$/.test('a'.repeat(40) + 'b')  =>  ! it takes too many steps
            /(x+x+)+y/.test('x'.repeat(100))  =>  ! it takes too many steps
            ({get a() { for (;;) {} }})  =>  ! it takes too many steps
            ({toJSON() { for (;;) {} }})  =>  ! it takes too many steps
            'x'.repeat(70000)  =>  ! its answer is larger than 65536 bytes, or too deep
            (() => { let a = []; for (let i = 0; i < 1000; i++) a = [a]; return a })()  =>  ! its answer is larger than 65536 bytes, or too deep
            (() => { const a = {}; a.a = a; return a })()  =>  ! it threw TypeError: circular reference
        "]],
    );
    for deep in ["(".repeat(2000), "[".repeat(4000), "-".repeat(4000) + "1", "a?".repeat(1500)] {
        assert!(evaluate(&deep).is_err(), "{deep}");
    }
    assert_eq!(evaluate(&"1+".repeat(3000)), Err(ExprError::Limit(Limit::Source(4096))));
    let large = json!("x".repeat(2 << 20));
    let answer = Expressions::default().evaluate("1", &[("large", &large)]);
    assert_eq!(answer, Err(ExprError::Limit(Limit::Variables(1 << 20))));
}

/// Some of the engine's own functions cannot be stopped; the answer comes all the same.
#[test]
fn what_cannot_be_stopped_is_left_behind() {
    let limits = Limits { time: std::time::Duration::from_millis(50), ..Limits::default() };
    let expressions = Expressions::with(limits);
    let slow = "[].reverse.call({length: 2 ** 31})";
    assert_eq!(expressions.evaluate(slow, &[]), Err(ExprError::Limit(Limit::Time)));
}

#[test]
fn the_same_question_has_the_same_answer() {
    let source =
        "[Math.sqrt(2), Object.keys({b: 1, a: 2}), [3, 1, 2].sort(), typeof Date, new Error('x').stack]";
    let first = evaluate(source).expect("an answer");
    for _ in 0..20 {
        assert_eq!(evaluate(source).expect("an answer"), first);
    }
    let steps = |n: u32| evaluate(&format!("((i) => {{ while (i < {n}) i++; return i }})(0)"));
    assert!((0..3).all(|_| steps(1_000_000).is_ok()));
    assert!((0..3).all(|_| steps(10_000_000) == Err(ExprError::Limit(Limit::Steps))));
}

#[test]
fn rules_of_fields() {
    let evaluator = RealEvaluator::default();
    let mut shown = String::new();
    for (rule, value) in [
        ("/^[a-z]+$/", json!("abc")),
        ("/^[a-z]+$/", json!("ABC")),
        ("  /^[a-z]+$/i ", json!("ABC")),
        ("/[/]/", json!("a/b")),
        ("/\\//", json!("a/b")),
        ("/a/.test(value) && /b/.test(value)", json!("ab")),
        ("/^4/", json!(42)),
        ("/🦀/u", json!("a 🦀")),
        ("value > 3", json!(4)),
        ("value > 3", json!(2)),
        ("value > 3 || 'must be more than 3'", json!(2)),
        ("value.match(/a/)", json!("cat")),
        ("value.match(/a/)", json!("dog")),
        ("''", json!("dog")),
        ("/(a+)+$/", json!("a".repeat(50_000) + "b")),
        ("/^(a+)+$/", json!("a".repeat(40) + "b")),
        ("value.nope.x", json!(1)),
        ("/(/", json!("x")),
        ("// nothing", json!("x")),
        ("async () => 1", json!("x")),
    ] {
        let verdict = match evaluator.field(rule, &value) {
            Verdict::Yes => "yes".to_owned(),
            Verdict::No(why) => format!("no {why:?}"),
            Verdict::Broken(why) => format!("broken: {why}"),
        };
        let value: String = value.to_string().chars().take(12).collect();
        writeln!(shown, "{rule} on {value}  =>  {verdict}").expect("text grows");
    }
    expect![[r#"
        /^[a-z]+$/ on "abc"  =>  yes
        /^[a-z]+$/ on "ABC"  =>  no []
          /^[a-z]+$/i  on "ABC"  =>  yes
        /[/]/ on "a/b"  =>  yes
        /\// on "a/b"  =>  yes
        /a/.test(value) && /b/.test(value) on "ab"  =>  yes
        /^4/ on 42  =>  yes
        /🦀/u on "a 🦀"  =>  yes
        value > 3 on 4  =>  yes
        value > 3 on 2  =>  no []
        value > 3 || 'must be more than 3' on 2  =>  no ["must be more than 3"]
        value.match(/a/) on "cat"  =>  yes
        value.match(/a/) on "dog"  =>  no []
        '' on "dog"  =>  no []
        /(a+)+$/ on "aaaaaaaaaaa  =>  broken: it takes too many steps
        /^(a+)+$/ on "aaaaaaaaaaa  =>  broken: it takes too many steps
        value.nope.x on 1  =>  broken: it threw TypeError: cannot read property 'x' of undefined
        /(/ on "x"  =>  broken: line 1, column 1: expecting ')'
        // nothing on "x"  =>  broken: line 1, column 11: the expression ends too early
        async () => 1 on "x"  =>  broken: it came to a function, which is no value
    "#]]
    .assert_eq(&shown);
}

#[test]
fn broken_rules_are_found_when_they_are_saved() {
    let evaluator = RealEvaluator::default();
    let mut shown = String::new();
    for rule in [
        "/^a/",
        "value > 1",
        "value >",
        "/(/",
        "/a/gg",
        "/[/",
        "value) || (true",
        "/a/u.test(value)",
        "/\\p{Nope}/u",
    ] {
        let why = evaluator.field_syntax(rule).err().unwrap_or_else(|| "fine".to_owned());
        writeln!(shown, "{rule}  =>  {why}").expect("text grows");
    }
    expect![[r"
        /^a/  =>  fine
        value > 1  =>  fine
        value >  =>  line 1, column 8: the expression ends too early
        /(/  =>  line 1, column 1: expecting ')'
        /a/gg  =>  line 1, column 1: invalid regular expression flags
        /[/  =>  line 1, column 1: unexpected line terminator in regexp
        value) || (true  =>  line 1, column 6: Unexpected token ')'
        /a/u.test(value)  =>  fine
        /\p{Nope}/u  =>  line 1, column 1: unknown unicode property name
    "]]
    .assert_eq(&shown);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn nothing_that_is_written_panics(source in any::<String>(), value in any::<String>()) {
        let evaluator = RealEvaluator::default();
        let _ = evaluate(&source);
        let _ = evaluator.field(&source, &json!(value));
        let _ = evaluator.field_syntax(&format!("/{source}/"));
    }

    #[test]
    fn nothing_that_looks_like_code_panics(
        parts in prop::collection::vec(prop::sample::select(vec![
            "(", ")", "[", "]", "{", "}", "=>", "value", "1", "'a'", "`${", "`", "/", "\\", ".", "?.", "...",
            "function", "async", "await", "yield", "*", "class", "new", "this", "super", "import", "=", "+",
            "==", "&&", ",", ";", ":", "\n", " ", "let", "return", "throw", "0x", "1n", "#a", "@", "\u{2028}",
        ]), 0..30),
    ) {
        let _ = evaluate(&parts.concat());
        let _ = evaluate(&parts.join(" "));
    }

    #[test]
    fn text_goes_in_and_out_unchanged(text in any::<String>()) {
        let value = json!({"text": text});
        let answer = Expressions::default().evaluate("value", &[("value", &value)]);
        prop_assert_eq!(answer, Ok(value));
    }
}

#[test]
fn limits_can_be_tighter() {
    let tight = Expressions::with(Limits { steps: 1, result: 4, ..Limits::default() });
    assert_eq!(
        tight.evaluate("(() => { for (let i = 0; i < 50000; i++); })()", &[]),
        Err(ExprError::Limit(Limit::Steps))
    );
    assert_eq!(tight.evaluate("'abcdef'", &[]), Err(ExprError::Limit(Limit::Result(4))));
    assert_eq!(tight.holds("1 < 2", &[]), Ok(true));
}
