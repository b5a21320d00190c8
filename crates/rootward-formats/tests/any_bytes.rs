//! Whatever arrives, there is a reading, within bounds, and it is never healthier than the code allows.

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use rootward_formats::{
    Answer, Choice, Format, MAX_BODY_BYTES, MAX_COMPONENTS, MAX_NAME_BYTES, Overall, Reading, read,
};

/// Bodies of the repository's own cases, to be broken.
fn bodies() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/health-formats");
    let mut bodies = Vec::new();
    for format in fs::read_dir(folder).expect("the cases are there").flatten() {
        if !format.path().is_dir() {
            continue;
        }
        for file in fs::read_dir(format.path()).expect("a folder").flatten() {
            if !file.path().to_string_lossy().ends_with(".expect.json") {
                bodies.push(fs::read(file.path()).expect("a body"));
            }
        }
    }
    bodies.sort();
    bodies
}

fn every_choice() -> impl Iterator<Item = Choice> {
    let named = Format::ALL.iter().copied().map(Choice::Named);
    std::iter::once(Choice::Auto).chain(named)
}

fn is_within_bounds(reading: &Reading) {
    assert!(reading.components.len() <= MAX_COMPONENTS);
    for component in &reading.components {
        assert!(component.name.len() <= MAX_NAME_BYTES && !component.name.is_empty());
        assert!(
            !component.name.chars().any(char::is_control),
            "{:?}",
            component.name
        );
    }
    assert!(
        reading.why.len() <= 1000 && reading.why.is_ascii(),
        "{}",
        reading.why
    );
    if reading.overall == Overall::Healthy {
        assert_eq!(reading.error_category, None);
    }
}

/// Formats whose codes mean something of their own.
fn has_own_codes(choice: Choice) -> bool {
    matches!(
        choice,
        Choice::Named(
            Format::Vault
                | Format::Consul
                | Format::Elasticsearch
                | Format::Rootward
                | Format::Grpc
        )
    )
}

fn is_read(body: &[u8], code: u16) {
    for choice in every_choice() {
        let reading = read(&Answer::new(body).http_status(code), choice);
        is_within_bounds(&reading);
        let own = has_own_codes(choice)
            || [
                "vault",
                "consul",
                "elasticsearch",
                "rootward",
                "grpc-health-v1",
            ]
            .contains(&reading.format.as_str());
        if code >= 300 && !own {
            assert_ne!(
                reading.overall,
                Overall::Healthy,
                "{choice} {code} {}",
                reading.why
            );
        }
    }
    is_within_bounds(&read(&Answer::new(body), Choice::Auto));
    is_within_bounds(&read(&Answer::new(body).exit_code(1), Choice::Auto));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_have_a_reading(body in vec(any::<u8>(), 0..512), code in 100u16..600) {
        is_read(&body, code);
    }

    #[test]
    fn any_text_has_a_reading(body in "[\\[\\]{}\":,a-z+ \\-\n]{0,200}", code in 100u16..600) {
        is_read(body.as_bytes(), code);
    }

    #[test]
    fn a_known_answer_that_is_damaged_has_a_reading(
        which in any::<prop::sample::Index>(),
        edits in vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in any::<prop::sample::Index>(),
        cuts in any::<bool>(),
        code in 100u16..600,
    ) {
        let bodies = bodies();
        let mut body = which.get(&bodies).clone();
        for (at, byte) in edits {
            if !body.is_empty() {
                let at = at.index(body.len());
                body[at] = byte;
            }
        }
        if cuts && !body.is_empty() {
            body.truncate(cut.index(body.len()));
        }
        is_read(&body, code);
    }
}

#[test]
fn a_cut_answer_is_never_healthy() {
    for body in bodies()
        .into_iter()
        .filter(|body| body.first() == Some(&b'{'))
    {
        let whole = body.trim_ascii_end().len();
        for end in (1..whole).step_by(7) {
            let reading = read(&Answer::new(&body[..end]).http_status(200), Choice::Auto);
            assert_eq!(
                reading.overall,
                Overall::Unknown,
                "{}",
                String::from_utf8_lossy(&body[..end])
            );
            assert!(reading.is_malformed() && reading.components.is_empty());
        }
    }
}

#[test]
fn kf_106_answers_beyond_all_measure_have_a_reading() {
    let many: Vec<String> = (0..100_000)
        .map(|at| format!(r#""c{at}":{{"status":"UP"}}"#))
        .collect();
    let many = format!(r#"{{"status":"UP","components":{{{}}}}}"#, many.join(","));
    let reading = read(&Answer::new(many.as_bytes()).http_status(200), Choice::Auto);
    is_within_bounds(&reading);
    // What was read before the bound is kept, and the rest is not taken for well.
    assert_eq!(
        (reading.overall, reading.components.len()),
        (Overall::Unknown, MAX_COMPONENTS)
    );

    let long = format!(
        r#"{{"status":"UP","components":{{"{}":{{"status":"DOWN"}}}}}}"#,
        "n".repeat(MAX_BODY_BYTES / 2)
    );
    let reading = read(&Answer::new(long.as_bytes()).http_status(200), Choice::Auto);
    assert_eq!(
        (reading.overall, reading.components.len()),
        (Overall::Degraded, 1)
    );

    let longer = format!(
        r#"{{"status":"UP","components":{{"db":{{"status":"DOWN"}}}},"text":"{}"}}"#,
        "n".repeat(2 * MAX_BODY_BYTES)
    );
    let reading = read(
        &Answer::new(longer.as_bytes()).http_status(200),
        Choice::Auto,
    );
    assert_eq!(
        (reading.overall, reading.components.len()),
        (Overall::Degraded, 1)
    );

    for (open, close) in [
        ("[", "]"),
        (r#"{"components":"#, "}"),
        (r#"{"status":"UP","components":{"a":"#, "}}"),
    ] {
        let depth = 10_000;
        let deep = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        for choice in every_choice() {
            is_within_bounds(&read(
                &Answer::new(deep.as_bytes()).http_status(200),
                choice,
            ));
        }
    }
}
