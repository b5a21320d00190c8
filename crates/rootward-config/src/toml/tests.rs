//! TOML says the same as YAML, and is as hard to hurt.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::*;
use crate::{Problems, Source, compile, yaml};

fn source(file: &str, text: impl Into<String>) -> Source {
    let (file, text) = (file.to_owned(), text.into());
    Source { file, text }
}

fn refused(text: impl Into<String>) -> Problems {
    let compiled = compile(&[source("rootward.toml", text)], &BTreeMap::new());
    compiled.expect_err("it is wrong")
}

#[test]
fn every_key_is_written_as_in_yaml_and_numbers_may_be_numbers() {
    let text = r#"
[aggregator]
environment = "production"

[defaults.health]
interval = "5s"
fall = 4

[[services]]
name = "cart"
health.url = "http://cart:8790"

[[services.dependencies]]
name = "carts-db"
criticality = "hard"
override = true
reason = "the service cannot know"
reviewed = 2026-10-01

[[services]]
name = "front"
health = { urls = ["http://front-0:8790", { url = "http://front-1:8790", instance = "one" }] }
dependencies = [
    { name = "cart", criticality = "soft" },   # a comment
]

[[resources]]
name = "carts-db"
kind = "postgresql"
"#;
    let compiled = compile(&[source("rootward.toml", text)], &BTreeMap::new());
    let checked = compiled.expect("it is right");
    let targets: Vec<String> = checked
        .targets
        .iter()
        .map(|target| format!("{} {} {:?}", target.id, target.url, target.interval))
        .collect();
    assert_eq!(
        targets,
        [
            "cart#cart:8790 http://cart:8790/health 5s",
            "front#front-0:8790 http://front-0:8790/health 5s",
            "front#one http://front-1:8790/health 5s",
        ]
    );
    assert_eq!(checked.targets[0].thresholds.fall(), 4);
    assert_eq!(checked.reviews.len(), 1);
    assert!(checked.map.edges()[0].overrides);
}

#[test]
fn every_problem_has_its_line_and_column() {
    let text = r#"
[defaults.health]
interval = 5
tiemout = "1s"

[[services]]
name = "cart"
owner = "tëam"
health = { url = "https://cart" }

[[services]]
name = "größe"
health = { url = "http://x", fall = 99 }
dependencies = [{ naem = "ä", criticality = "hard" }]

[[services.depends]]
a.b.c = 1
"#;
    insta::assert_snapshot!(refused(text), @r#"
    rootward.toml: 6 problems
      3:12   defaults.health.interval: "5" has no unit; write "5s" or "500ms"
      4:1    defaults.health: unknown key `tiemout`; did you mean `timeout`?
      12:8   services[1].name: "größe" is not a name; a name may not contain 'ö' (letters, digits and - _ . / : @ + are allowed)
      13:37  services[1].health.fall: "99" is out of range; allowed are 1 to 20
      14:19  services[1].dependencies[0]: unknown key `naem`; did you mean `name`?
      16:12  services[1]: unknown key `depends`; known here: name, owner, namespace, zone, health, instances, dependencies
    "#);
}

#[test]
fn what_is_no_toml_is_told_with_its_place() {
    let texts = [
        "",
        "# nothing\n",
        "services:\n- name: cart\n",
        "a = 1\na = 2\n[b]\n[b]\n",
        "a = \"x\n",
        "[[services]\n",
        "a = \n b = }\n",
    ];
    let told = texts.map(|text| format!("{text:?}\n{}", refused(text)));
    insta::assert_snapshot!(told.join(""), @r##"
    ""
    rootward.toml: 1 problem
      1:1  the file is empty; write at least a `[[services]]` with one service
    "# nothing\n"
    rootward.toml: 1 problem
      1:1  the file is empty; write at least a `[[services]]` with one service
    "services:\n- name: cart\n"
    rootward.toml: 3 problems
      1:9   not valid TOML: invalid unquoted key, expected letters, numbers, `-`, `_`
      1:10  not valid TOML: key with no value, expected `=`
      2:3   not valid TOML: key with no value, expected `=`
    "a = 1\na = 2\n[b]\n[b]\n"
    rootward.toml: 2 problems
      2:1  not valid TOML: duplicate key; keep one of them
      4:2  not valid TOML: duplicate key; keep one of them
    "a = \"x\n"
    rootward.toml: 1 problem
      1:7  not valid TOML: invalid basic string, expected `"`
    "[[services]\n"
    rootward.toml: 1 problem
      1:12  not valid TOML: unclosed array table, expected `]`
    "a = \n b = }\n"
    rootward.toml: 2 problems
      1:5  not valid TOML: string values must be quoted, expected literal string
      2:6  not valid TOML: missing inline table opening, expected `{`
    "##);
}

/// Writes a tree as TOML, all on one line for each key of the document; `None` if TOML has no such thing.
fn written(node: &Node) -> Option<String> {
    let quoted = |text: &str| {
        let escaped: String = text
            .chars()
            .map(|c| match c {
                '"' | '\\' => format!("\\{c}"),
                c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
                c => c.to_string(),
            })
            .collect();
        format!("\"{escaped}\"")
    };
    Some(match &node.value {
        Value::Null | Value::Refused => return None,
        Value::Scalar(text) => quoted(text),
        Value::Sequence(items) => {
            let items: Option<Vec<String>> = items.iter().map(written).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Mapping(entries) => {
            let pairs: Option<Vec<String>> = entries
                .iter()
                .map(|entry| {
                    Some(format!(
                        "{} = {}",
                        quoted(&entry.key),
                        written(&entry.value)?
                    ))
                })
                .collect();
            format!("{{{}}}", pairs?.join(", "))
        }
    })
}

fn has_repeated_key(node: &Node) -> bool {
    match &node.value {
        Value::Null | Value::Refused | Value::Scalar(_) => false,
        Value::Sequence(items) => items.iter().any(has_repeated_key),
        Value::Mapping(entries) => entries.iter().enumerate().any(|(at, entry)| {
            has_repeated_key(&entry.value)
                || entries[..at].iter().any(|before| before.key == entry.key)
        }),
    }
}

#[test]
fn every_fixture_means_the_same_when_it_is_written_in_toml() {
    let env: BTreeMap<String, String> = [
        ("CART_HOST", "cart.shop.svc"),
        ("CART_PORT", "8790"),
        ("INTERVAL", "5s"),
        ("FALL", "4"),
        ("EMPTY", ""),
        ("SECRET", "hunter2"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    // Places differ, and so does the order that comes from them; places inside of sentences are cut out.
    let sentences = |problems: &Problems| {
        let mut lines: Vec<String> = problems
            .as_slice()
            .iter()
            .map(|problem| {
                let line = format!("{}: {} {:?}", problem.path, problem.message, problem.help);
                line.chars().filter(|c| !c.is_ascii_digit()).collect()
            })
            .collect();
        lines.sort();
        lines
    };
    let mut compared = 0;
    for folder in ["good", "bad"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures/configs")
            .join(folder);
        for entry in fs::read_dir(folder).expect("the folder exists") {
            let path = entry.expect("it is readable").path();
            if path.extension().is_none_or(|extension| extension != "yaml") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("fixtures are text");
            let mut log = Log::new(vec![String::new()]);
            let Some(tree) = yaml::parse(&text, 0, &mut log) else {
                continue;
            };
            let Value::Mapping(entries) = &tree.value else {
                continue;
            };
            if has_repeated_key(&tree) || log.has_problems() {
                continue;
            }
            let lines: Option<Vec<String>> = entries
                .iter()
                .map(|entry| Some(format!("\"{}\" = {}", entry.key, written(&entry.value)?)))
                .collect();
            let Some(lines) = lines else {
                continue;
            };
            let from_yaml = compile(&[source("a.yaml", text)], &env);
            let from_toml = compile(&[source("a.toml", lines.join("\n"))], &env);
            match (from_yaml, from_toml) {
                (Ok(mut yaml), Ok(mut toml)) => {
                    yaml.warnings.clear();
                    toml.warnings.clear();
                    assert_eq!(yaml, toml, "{}", path.display());
                }
                (Err(yaml), Err(toml)) => {
                    assert_eq!(sentences(&yaml), sentences(&toml), "{}", path.display());
                }
                (yaml, toml) => panic!("{}: {yaml:?}\n{toml:?}", path.display()),
            }
            compared += 1;
        }
    }
    assert!(compared > 20, "only {compared} were compared");
}

#[test]
fn nesting_without_brackets_is_bounded_too() {
    let deep = "a.".repeat(200_000);
    let many = "[a]\n".replace('a', deep.trim_end_matches('.'));
    for text in [
        format!("{deep}a = 1"),
        many,
        format!("a = {{{deep}a = 1}}"),
        format!("a = {}1{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("a = {}", "{a = ".repeat(100_000)),
    ] {
        let problems = refused(text).to_string();
        assert!(problems.contains("nested too deep"), "{problems}");
    }
    let problems = refused("a.".repeat(40) + "a = 1").to_string();
    assert!(problems.contains("nested too deep"), "{problems}");
}

#[test]
fn long_texts_and_many_values_are_refused() {
    let problems = refused(format!("owner = \"{}\"", "x".repeat(MAX_SCALAR_BYTES + 1)));
    assert!(problems.to_string().contains("16385 bytes"), "{problems}");
    let problems = refused(format!("a = [{}]", "1,".repeat(MAX_NODES)));
    assert!(
        problems
            .to_string()
            .contains("more than 1000000 keys and values")
    );
}

#[test]
fn positions_count_characters_and_not_bytes() {
    let text = format!("{}x\nä{}y", "ü".repeat(100), "é".repeat(200));
    let positions = Positions::new(&text);
    for (offset, _) in text.char_indices() {
        let before = &text[..offset];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        assert_eq!(positions.of(offset), Position { line, column });
    }
}
