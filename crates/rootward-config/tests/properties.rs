//! What holds for every text: no panic, positions inside the text, problems in order, the same answer twice; and for
//! every duration: in range it is taken as written, out of range it is refused with the range.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use rootward_config::{Checked, Problems, Source, compile};

fn compile_text(text: &str) -> Result<Checked, Problems> {
    let source = Source {
        file: "rootward.yaml".to_owned(),
        text: text.to_owned(),
    };
    let env = BTreeMap::from([("A".to_owned(), "1s".to_owned())]);
    compile(&[source], &env)
}

fn holds(text: &str) -> Result<(), TestCaseError> {
    let result = compile_text(text);
    prop_assert_eq!(&result, &compile_text(text));
    let Err(problems) = result else {
        return Ok(());
    };
    prop_assert!(!problems.as_slice().is_empty());
    let position = |problem: &rootward_config::Problem| (problem.line, problem.column);
    prop_assert!(problems.as_slice().is_sorted_by_key(position));
    // The parser counts a lone carriage return as a line break too.
    let lines = text.matches(['\n', '\r']).count() + 1;
    for problem in problems.as_slice() {
        prop_assert!(
            (1..=lines).contains(&problem.line),
            "{} in {:?}",
            problem,
            text
        );
        prop_assert!(problem.column >= 1);
        // Only the syntax reader and the core's own refusals have no help, and the core must never be the first to refuse.
        let helped = problem.help.is_some() || problem.message.starts_with("not valid YAML");
        prop_assert!(helped, "{} in {:?}", problem, text);
    }
    Ok(())
}

/// Text from the pieces that configurations are made of, so that it gets past the syntax often enough.
fn near_yaml() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("services:"),
        Just("- "),
        Just("name: "),
        Just("health: "),
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just("url: http://a"),
        Just("urls: "),
        Just("\n"),
        Just("\n  "),
        Just("\n- "),
        Just(", "),
        Just("a"),
        Just("b"),
        Just("dependencies: "),
        Just("criticality: hard"),
        Just("interval: "),
        Just("timeout: "),
        Just("5"),
        Just("1s"),
        Just("${A}"),
        Just("${"),
        Just("$${"),
        Just("\""),
        Just("'"),
        Just("# x\n"),
        Just("&a "),
        Just("*a"),
        Just("!!t "),
        Just("null"),
        Just("~"),
        Just("|\n  x"),
        Just(": "),
        Just("? "),
        Just("---\n"),
        Just("\t"),
        Just("<<: "),
        Just("é"),
        Just("resources: "),
        Just("groups: "),
        Just("members: "),
        Just("aliases: "),
        Just("defaults: "),
        Just("\r\n"),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// A few services and resources with few names, so that they clash in every way there is.
fn small_maps() -> impl Strategy<Value = String> {
    let name = || prop_oneof![Just("a"), Just("b"), Just("c"), Just("d")];
    let names = || proptest::collection::vec(name(), 0..3);
    let service = (name(), names()).prop_map(|(name, callees)| {
        let edges: Vec<String> = callees
            .iter()
            .map(|callee| format!("{{name: {callee}, criticality: hard}}"))
            .collect();
        format!(
            "- {{name: {name}, health: {{url: http://{name}}}, dependencies: [{}]}}\n",
            edges.join(", ")
        )
    });
    let resource = (name(), name(), names()).prop_map(|(name, target, aliases)| {
        format!(
            "- {{name: {name}, target: {target}, aliases: [{}]}}\n",
            aliases.join(", ")
        )
    });
    let services = proptest::collection::vec(service, 1..4);
    let resources = proptest::collection::vec(resource, 1..3);
    (services, resources).prop_map(|(services, resources)| {
        format!(
            "services:\n{}resources:\n{}",
            services.concat(),
            resources.concat()
        )
    })
}

/// A service with the given `health` keys.
fn with_health(keys: &str) -> Result<Checked, Problems> {
    compile_text(&format!(
        "services: [{{name: a, health: {{url: 'http://a', {keys}}}}}]"
    ))
}

const UNITS: [(&str, u128); 5] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_get_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        holds(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn any_text_gets_an_answer(text in "\\PC{0,100}") {
        holds(&text)?;
    }

    #[test]
    fn anything_like_a_configuration_gets_an_answer(text in near_yaml()) {
        holds(&text)?;
    }

    #[test]
    fn the_core_never_refuses_a_map_that_was_checked(text in small_maps()) {
        holds(&text)?;
    }

    #[test]
    fn a_good_file_with_one_piece_replaced_gets_an_answer(at in 0.0..1.0_f64, cut in 0_usize..30, piece in near_yaml()) {
        let good = include_str!("../../../fixtures/configs/good/full.yaml");
        let chars: Vec<char> = good.chars().collect();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fraction of a small length")]
        let at = (at * chars.len() as f64) as usize;
        let before: String = chars[..at].iter().collect();
        let after: String = chars[(at + cut).min(chars.len())..].iter().collect();
        holds(&format!("{before}{piece}{after}"))?;
    }

    /// KF-065: over the whole range of numbers and all units, for every key, a duration is taken as it is written or
    /// refused with position and allowed range.
    #[test]
    fn kf_065_a_duration_is_taken_as_written_or_refused_with_its_range(
        number in prop_oneof![0_u64..100, 0_u64..100_000, any::<u64>()],
        unit in 0..UNITS.len(),
        key in 0_usize..5,
    ) {
        let (name, size) = UNITS[unit];
        let millis = u128::from(number) * size;
        let (path, range, least, most) = [
            ("services[0].health.interval", "100ms to 1h", 100, 3_600_000),
            ("services[0].health.timeout", "10ms to 1m", 10, 60_000),
            ("services[0].health.stale_after", "110ms to 1d", 110, 86_400_000),
            ("aggregator.page_within", "1s to 1h", 1_000, 3_600_000),
            ("aggregator.page_unknown_after", "1s to 1h", 1_000, 3_600_000),
        ][key];
        let last = path.rsplit('.').next().expect("it has a last part");
        let (health, aggregator) = match path.starts_with("aggregator") {
            true => (String::new(), format!("{last}: {number}{name}")),
            false => (format!("{last}: {number}{name}"), String::new()),
        };
        let text = format!("aggregator: {{{aggregator}}}\nservices: [{{name: a, health: {{url: 'http://a', {health}}}}}]");
        let result = compile_text(&text);
        if (least..=most).contains(&millis) {
            let expected = Duration::from_millis(u64::try_from(millis).expect("it is in range"));
            match result {
                Ok(checked) => {
                    let target = &checked.targets[0];
                    let aggregator = &checked.aggregator;
                    let read = [target.interval, target.timeout, target.stale_after, aggregator.page_within, aggregator.page_unknown_after];
                    prop_assert_eq!(read[key], expected);
                }
                // In its own range, and yet not possible beside the other values: that is said, and nothing else.
                Err(problems) => {
                    prop_assert_eq!(problems.as_slice().len(), 1);
                    prop_assert!(problems.as_slice()[0].message.contains("below"), "{}", problems);
                }
            }
        } else {
            let problems = result.expect_err("it is out of range");
            prop_assert_eq!(problems.as_slice().len(), 1);
            let problem = &problems.as_slice()[0];
            prop_assert_eq!(&problem.path, path);
            prop_assert_eq!(problem.help.clone(), Some(format!("allowed are {range}")));
            let line = text.lines().nth(problem.line - 1).expect("it is in the text");
            let found: String = line.chars().skip(problem.column - 1).take(number.to_string().len()).collect();
            prop_assert_eq!(found, number.to_string());
        }
    }

    /// A target always satisfies what its type promises.
    #[test]
    fn kf_011_a_timeout_is_always_below_its_interval(interval in 0_u64..20_000, timeout in 0_u64..20_000, stale in 0_u64..60_000) {
        if let Ok(checked) = with_health(&format!("interval: {interval}ms, timeout: {timeout}ms, stale_after: {stale}ms")) {
            let target = &checked.targets[0];
            prop_assert!(target.timeout < target.interval);
            prop_assert!(target.stale_after >= target.interval + target.timeout);
            prop_assert_eq!(target.interval, Duration::from_millis(interval));
            prop_assert_eq!(target.timeout, Duration::from_millis(timeout));
            prop_assert_eq!(target.stale_after, Duration::from_millis(stale));
        } else {
            let fits = (100..).contains(&interval) && (10..).contains(&timeout) && timeout < interval && stale >= interval + timeout;
            prop_assert!(!fits);
        }
    }
}
