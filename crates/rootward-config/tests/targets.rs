//! Targets in a file of their own: a list of URLs, or what Prometheus calls file-based service discovery.

use std::collections::BTreeMap;

use rootward_config::{Checked, Elsewhere, MAX_TARGETS_BYTES, Problems, Source, compile_with};

const SERVICE: &str =
    "services: [{name: cart, health: {targets: {file: cart.yaml}}, instances: {at_least: 2}}]";

fn compiled(text: &str, targets: &str) -> Result<Checked, Problems> {
    let source = Source {
        file: "rootward.yaml".to_owned(),
        text: text.to_owned(),
    };
    let files = |path: &str| match path {
        "cart.yaml" | "cart.json" => Ok(targets.to_owned()),
        _ => Err("there is no such file".to_owned()),
    };
    let env = BTreeMap::from([("PORT".to_owned(), "8790".to_owned())]);
    let elsewhere = Elsewhere {
        env: &env,
        files: &files,
    };
    compile_with(&[source], &elsewhere)
}

fn urls(targets: &str) -> Vec<String> {
    let checked = compiled(SERVICE, targets).unwrap_or_else(|problems| panic!("{problems}"));
    let name = |target: &rootward_config::TargetSpec| format!("{} {}", target.id, target.url);
    checked.targets.iter().map(name).collect()
}

fn refused(text: &str, targets: &str) -> String {
    compiled(text, targets)
        .expect_err("something is wrong")
        .to_string()
}

#[test]
fn each_url_in_the_file_is_an_instance() {
    let targets = urls(
        "- http://10.0.0.7:${PORT}\n- {url: https://10.0.0.8:8790/status, instance: cart-1}\n",
    );
    assert_eq!(
        targets,
        [
            "cart#10.0.0.7:8790 http://10.0.0.7:8790/health",
            "cart#cart-1 https://10.0.0.8:8790/status",
        ]
    );
}

#[test]
fn the_files_that_prometheus_reads_are_read() {
    let json = "[\n  {\"targets\": [\"10.0.0.7:8790\", \"cart-1:8790\"], \"labels\": {\"env\": \"prod\"}},\n  \
                {\"targets\": []}\n]\n";
    let yaml = "- targets: ['10.0.0.7:8790']\n  labels: {env: prod}\n- targets: ['cart-1:8790']\n";
    for text in [json, yaml] {
        assert_eq!(
            urls(text),
            [
                "cart#10.0.0.7:8790 http://10.0.0.7:8790/health",
                "cart#cart-1:8790 http://cart-1:8790/health",
            ]
        );
    }
}

#[test]
fn what_is_wrong_with_the_file_is_told_where_it_stands_in_it() {
    let urls = "- http://10.0.0.7:8790\n- ftp://cart\n- {url: http://a, port: 1}\n";
    insta::assert_snapshot!(refused(SERVICE, urls), @"
    cart.yaml: 2 problems
      2:3   [1]: the URL begins with none of http://, https://, grpc:// and grpcs://; write it like http://cart.shop.svc:8790/health
      3:19  [2]: unknown key `port`; known here: url, instance
    ");
    let groups = "- targets: ['a:b']\n  label: {}\n";
    insta::assert_snapshot!(refused(SERVICE, groups), @"
    cart.yaml: 2 problems
      1:13  [0].targets[0]: the URL has no valid port; allowed are 1 to 65535, or no `:` at all for the usual port; an IPv6 address stands in brackets
      2:3   [0]: unknown key `label`; did you mean `labels`?
    ");
}

#[test]
fn a_file_that_is_empty_or_cut_is_no_list_of_targets() {
    for cut in [
        "",
        "[]",
        "- {targets: []}\n",
        "[{\"targets\": [\"10.0.0.7:8790\", \"10.0",
        "services: []\n",
        "just text",
    ] {
        let problems = refused(SERVICE, cut);
        assert!(problems.starts_with("cart.yaml: 1 problem"), "{problems}");
    }
    let long = "#".repeat(MAX_TARGETS_BYTES + 1);
    let problems = refused(SERVICE, &long);
    assert!(
        problems.contains("it has more than 1048576 bytes"),
        "{problems}"
    );
}

#[test]
fn a_service_has_its_targets_from_one_place() {
    for (health, wrong) in [
        (
            "targets: {file: cart.yaml}, url: http://a",
            "a service has `targets` or URLs, not both",
        ),
        (
            "targets: {file: cart.yaml}, dns: http://a",
            "both `dns` and `targets` are given",
        ),
        (
            "targets: [http://a]",
            "targets stand in a file of their own",
        ),
        (
            "targets: {env: PORT}",
            "targets stand in a file of their own",
        ),
        (
            "targets: {file: other.yaml}",
            "cannot read other.yaml: there is no such file",
        ),
    ] {
        let text = format!("services: [{{name: cart, health: {{{health}}}}}]");
        let problems = refused(&text, "- http://10.0.0.7:8790\n");
        assert!(problems.contains(wrong), "{problems}");
    }
}

#[test]
fn a_file_with_fewer_targets_than_are_needed_is_no_mistake_of_the_configuration() {
    // It was scaled down: the service is unhealthy then, and that is to be seen.
    assert_eq!(urls("- http://10.0.0.7:8790\n").len(), 1);
}
