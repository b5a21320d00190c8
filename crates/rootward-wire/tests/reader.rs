//! What the reader makes of reports by newer, older, foreign and broken writers: a named result each.
//!
//! Every file in `fixtures` has a line in the table below; a file without one fails the test.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use rootward_core::Moment;
use rootward_wire::limits::{MAX_COMPONENTS, MAX_REPORT_BYTES};
use rootward_wire::v1::{ReadyzBody, read, read_noting};

const NOW: Moment = Moment::from_millis(1_000_000);

#[test]
fn kf_106_every_fixture_has_a_named_result() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut table = String::new();
    for name in names {
        let bytes = fs::read(folder.join(&name)).unwrap();
        let name = name.trim_end_matches(".json");
        match read_noting(&bytes, NOW) {
            Ok(reading) => {
                writeln!(table, "{name}: read as {}", reading.report.status).unwrap();
                for note in reading.notes {
                    writeln!(table, "    {note}").unwrap();
                }
            }
            Err(refused) => {
                let kind = match (
                    refused.is_not_json(),
                    refused.is_other_contract(),
                    refused.is_violation(),
                ) {
                    (true, false, false) => "not JSON",
                    (false, true, false) => "other contract",
                    (false, false, true) => "violation",
                    unclear => panic!("{name} is not of one kind: {unclear:?}"),
                };
                writeln!(table, "{name}: {kind}: {refused}").unwrap();
            }
        }
    }
    insta::assert_snapshot!(table, @r#"
absurd-age: violation: components[0].age_ms is beyond belief: it must be from 0 to one hundred years, in milliseconds
absurd-latency: violation: components[0].latency_ms is beyond belief: it must be from 0 to one hundred years, in milliseconds
array: other contract: not a rootward report: it has no field `contract`
component-name-that-is-none: violation: components[0].name is not a name: a name may not contain ' ' (letters, digits and - _ . / : @ + are allowed)
cut-off: not JSON: the body is not JSON: it stops making sense at line 1, column 60
duplicate-component: violation: two components are named redis
duplicate-field: violation: the report has the field `status` twice
empty: not JSON: the body is empty
html: not JSON: the body is not JSON: it stops making sense at line 1, column 1
huge-number-in-unknown-field: read as healthy
huge-number: not JSON: the body is not JSON: it stops making sense at line 1, column 180
larger-than-any-integer: violation: components[0].seq is not a whole number of 0 or more (line 11, column 18)
least: read as healthy
long-and-dirty-texts: read as healthy
missing-component-criticality: violation: components[0] has no field `criticality`
missing-component-name: violation: components[0] has no field `name`
missing-component-status: violation: components[0] has no field `status`
missing-contract: other contract: not a rootward report: it has no field `contract`
missing-instance: violation: the report has no field `instance`
missing-service: violation: the report has no field `service`
missing-status: violation: the report has no field `status`
negative-age: violation: components[0].age_ms is not a whole number of 0 or more (line 11, column 18)
negative-latency: violation: components[0].latency_ms is beyond belief: it must be from 0 to one hundred years, in milliseconds
newer-writer: read as degraded
    components[0].status "limping" is not a known word, read as unknown
    components[0].raw_status "limping" is not a known word, read as unknown
    components[0].criticality "vital" is not a known word, read as soft
    components[0].scope "rack" is not a known word, read as shared
    components[0].error_category "gremlins" is not a known word, read as unknown
    components[0].depth "x-ray" is not a known word, dropped
not-a-number: not JSON: the body is not JSON: it stops making sense at line 1, column 176
nulls: read as healthy
older-writer: read as healthy
optional-names-that-are-none: read as healthy
    version is dropped: a name may not contain ' ' (letters, digits and - _ . / : @ + are allowed)
    zone is dropped: a name may not be empty
    host is dropped: a name may have at most 128 bytes, this one has 200
    components[0].kind is dropped: a name may not contain ' ' (letters, digits and - _ . / : @ + are allowed)
other-contract-same-shape: other contract: the report speaks contract "rootward/2", this reader knows "rootward/1"
other-contract: other contract: the report speaks contract "rootward/2", this reader knows "rootward/1"
pending-too-large: violation: components[0].pending is not a whole number from 0 to 255 (line 11, column 20)
service-name-that-is-none: violation: service is not a name: a name may not be empty
somebody-elses: other contract: not a rootward report: it has no field `contract`
text-that-looks-like-ours: violation: components[0].latency_ms is not a number (line 11, column 66)
text: violation: the report is not an object (line 1, column 4)
times-that-are-none: read as healthy
two-reports: not JSON: the body is not JSON: it stops making sense at line 1, column 163
unknown-status: violation: status "maintenance" is none of healthy, degraded, unhealthy, starting
whole-numbers-with-a-point: read as healthy
wrong-type-component: violation: components[0] is not an object (line 7, column 11)
wrong-type-components: violation: components is not an array with at most 1000 entries (line 6, column 16)
wrong-type-latency: violation: components[0].latency_ms is not a number (line 11, column 27)
wrong-type-ready: violation: ready is not a boolean (line 13, column 16)
wrong-type-service: violation: service is not a string (line 3, column 13)
wrong-type-status: violation: status is not a word (line 5, column 13)
"#);
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    fs::read(folder.join(name)).expect("the fixture is in the repository")
}

#[test]
fn a_newer_writer_loses_its_new_words_and_nothing_else() {
    insta::assert_debug_snapshot!(read(&fixture("newer-writer.json"), NOW).unwrap(), @r#"
Report {
    service: "cart",
    instance: "cart-0",
    version: None,
    zone: None,
    host: None,
    status: Degraded,
    ready: true,
    draining: false,
    serving: Some(
        true,
    ),
    components: [
        Component {
            name: "redis",
            status: Unknown,
            raw_status: Unknown,
            pending: None,
            criticality: Soft,
            scope: Shared,
            depth: None,
            kind: Some(
                "redis",
            ),
            target: None,
            error_category: Some(
                Unknown,
            ),
            error: Some(
                "timed out after 500 ms",
            ),
            latency_us: None,
            checked_at: Some(
                Moment(
                    999100,
                ),
            ),
            since: None,
            seq: None,
            stale_after: None,
            gates_readiness: false,
            owner: None,
        },
        Component {
            name: "rates",
            status: Up,
            raw_status: Up,
            pending: None,
            criticality: Soft,
            scope: Shared,
            depth: None,
            kind: None,
            target: None,
            error_category: None,
            error: None,
            latency_us: None,
            checked_at: Some(
                Moment(
                    999988,
                ),
            ),
            since: None,
            seq: None,
            stale_after: None,
            gates_readiness: false,
            owner: None,
        },
    ],
}
"#);
}

#[test]
fn a_report_that_does_not_say_whether_it_is_ready_is_ready_once_started() {
    let least = String::from_utf8(fixture("least.json")).unwrap();
    assert!(read(least.as_bytes(), NOW).unwrap().ready);
    let starting = least.replace("healthy", "starting");
    assert!(!read(starting.as_bytes(), NOW).unwrap().ready);
    let draining = least.replace("{", "{\"draining\": true,");
    assert!(!read(draining.as_bytes(), NOW).unwrap().ready);
}

#[test]
fn long_texts_are_cut_and_credentials_never_arrive() {
    let report = read(&fixture("long-and-dirty-texts.json"), NOW).unwrap();
    let component = &report.components[0];
    assert_eq!(component.error.as_deref(), Some("ä".repeat(128).as_str()));
    assert_eq!(component.owner.as_deref(), Some("team [31m "));
    assert_eq!(component.target.as_deref(), Some("redis://cache:6379/0"));
}

fn with_components(count: usize) -> Vec<u8> {
    let components: Vec<String> = (0..count)
        .map(|n| format!(r#"{{"name":"c{n}","status":"up","criticality":"soft"}}"#))
        .collect();
    let components = components.join(",");
    format!(
        r#"{{"contract":"rootward/1","service":"s","instance":"0","status":"healthy","components":[{components}]}}"#
    )
    .into_bytes()
}

#[test]
fn kf_106_more_components_than_allowed() {
    let most = read(&with_components(MAX_COMPONENTS), NOW).unwrap();
    assert_eq!(most.components.len(), MAX_COMPONENTS);

    let one_more = read(&with_components(MAX_COMPONENTS + 1), NOW).unwrap_err();
    assert!(one_more.is_violation());
    insta::assert_snapshot!(one_more, @"components is not an array with at most 1000 entries (line 1, column 51029)");

    let many = with_components(100_000);
    assert!(many.len() > MAX_REPORT_BYTES);
    let refused = read(&many, NOW).unwrap_err();
    assert!(refused.is_too_large());
    insta::assert_snapshot!(refused, @"the body has 5288978 bytes, at most 1048576 are read");
}

#[test]
fn kf_106_a_name_of_10_mib_or_just_below_the_limit() {
    let named = |bytes: usize| {
        let name = "x".repeat(bytes);
        format!(
            r#"{{"contract":"rootward/1","service":"{name}","instance":"0","status":"healthy"}}"#
        )
    };
    let refused = read(named(10 * 1024 * 1024).as_bytes(), NOW).unwrap_err();
    assert!(refused.is_too_large());
    let refused = read(named(1024 * 1023).as_bytes(), NOW).unwrap_err();
    insta::assert_snapshot!(refused, @"service is not a name: a name may have at most 128 bytes, this one has 1047552");
}

#[test]
fn kf_106_depth_10_000() {
    let deep = |field: &str| {
        let (open, close) = ("[".repeat(10_000), "]".repeat(10_000));
        format!(
            r#"{{"contract":"rootward/1","service":"s","instance":"0","status":"healthy","{field}":{open}{close}}}"#
        )
    };
    assert!(
        read(deep("unknown_field").as_bytes(), NOW).is_ok(),
        "ignored without recursion"
    );
    let sentences = ["components", "findings", "warnings", "zone"]
        .map(|field| read(deep(field).as_bytes(), NOW).unwrap_err().to_string());
    insta::assert_snapshot!(sentences.join("\n"), @"
components[0][0] is not a string (line 1, column 88)
findings[0][0] is not a string (line 1, column 86)
warnings[0] is not a string (line 1, column 85)
zone is not a string (line 1, column 80)
");
}

#[test]
fn kf_106_invalid_utf_8() {
    let mut bytes = fixture("least.json");
    let at = bytes.windows(4).position(|four| four == b"cart").unwrap();
    bytes[at] = 0xff;
    let refused = read(&bytes, NOW).unwrap_err();
    assert!(refused.is_not_json());
    assert_eq!(
        refused.to_string(),
        format!("the body is not UTF-8 from byte {at} on")
    );
}

#[test]
fn readiness_of_anybody() {
    let said = |body: &str| match ReadyzBody::read(body.as_bytes()) {
        Ok(said) => format!("ready {:?}, serving {:?}", said.ready, said.serving),
        Err(refused) => refused.to_string(),
    };
    let deep = "[".repeat(10_000);
    let table = [
        r#"{"ready":true,"reasons":[],"serving":true,"loop_lag_ms":0.2}"#,
        r#"{"ready":true,"serving":false,"something":{"new":1}}"#,
        r#"{"status":"UP","groups":["liveness","readiness"]}"#,
        r#"{"ready":"yes","serving":1}"#,
        "[true]",
        "ok",
        "",
        &deep,
    ]
    .map(said);
    insta::assert_snapshot!(table.join("\n"), @"
ready Some(true), serving Some(true)
ready Some(true), serving Some(false)
ready None, serving None
ready None, serving None
ready None, serving None
the body is not JSON: it stops making sense at line 1, column 1
the body is empty
the body is not JSON: it stops making sense at line 1, column 128
");
    assert!(
        ReadyzBody::read(&[b' '; 100_000])
            .unwrap_err()
            .is_too_large()
    );
}

#[test]
fn a_report_that_says_how_often_it_checks_says_when_its_results_are_too_old() {
    let at = |interval: &str| {
        let report = format!(
            r#"{{"contract":"rootward/1","service":"cart","instance":"cart-1","status":"healthy","components":[
                {{"name":"carts-db","status":"up","criticality":"hard","age_ms":5{interval}}}]}}"#
        );
        read(report.as_bytes(), NOW).unwrap().components[0].stale_after
    };
    assert_eq!(at(""), None);
    assert_eq!(
        at(r#","interval_ms":10000,"timeout_ms":500"#),
        Some(Duration::from_millis(20_500))
    );
    assert_eq!(at(r#","interval_ms":10000"#), Some(Duration::from_secs(20)));
}
