//! `rootward validate`: everything that is wrong at once, where it is, and what would be right.

use crate::program::{Scratch, run};

const GOOD: &str = "\
services:
- name: front
  health: {url: http://127.0.0.1:8790}
  dependencies: [{name: orders-db, criticality: hard}]
resources: [{name: orders-db, kind: postgresql}]
";

#[test]
fn a_valid_configuration_is_counted() {
    let scratch = Scratch::new();
    let file = scratch.file("rootward.yaml", GOOD);
    let ended = run(&["validate", &file]).with(0);
    insta::assert_snapshot!(ended.out, @"valid: 1 service, 1 instance, 1 resource, 0 groups");
    assert_eq!(ended.err, "");
}

#[test]
fn all_problems_are_told_at_once_with_their_place() {
    let scratch = Scratch::new();
    let file = scratch.file(
        "rootward.yaml",
        "\
services:
- name: front
  health: {url: http://127.0.0.1:8790, timeout: 5}
  dependencis: []
- name: cart
  health: {url: ftp://127.0.0.1:8791}
  dependencies: [{name: ratse, criticality: hard}]
resources: [{name: rates}]
",
    );
    let ended = run(&["validate", &file]).with(2);
    insta::assert_snapshot!(scratch.without(&ended.out), @r#"
    rootward.yaml:3:49: services[0].health.timeout: "5" has no unit; write "5s" or "500ms"
    rootward.yaml:4:3: services[0]: unknown key `dependencis`; did you mean `dependencies`?
    rootward.yaml:6:17: services[1].health.url: the URL begins with none of http://, https://, grpc:// and grpcs://; write it like http://cart.shop.svc:8790/health
    rootward.yaml:7:25: services[1].dependencies[0].name: nothing is named `ratse`; did you mean `rates`?
    4 problems: not valid
    "#);
    assert_eq!(ended.err, "");
}

#[test]
fn a_warning_does_not_make_it_invalid() {
    let scratch = Scratch::new();
    let file = scratch.file(
        "rootward.yaml",
        &format!("{GOOD}- {{name: nobody-uses-it}}\n").replace(
            "resources: [{name: orders-db, kind: postgresql}]\n",
            "resources:\n- {name: orders-db, kind: postgresql}\n",
        ),
    );
    let ended = run(&["validate", &file]).with(0);
    insta::assert_snapshot!(scratch.without(&ended.out), @"
    rootward.yaml:7:10: resources[1].name: no service depends on `nobody-uses-it`, so nothing will ever be known about it; add it to the dependencies of its callers, or remove it (warning)
    valid: 1 service, 1 instance, 2 resources, 0 groups
    ");
}

#[test]
fn several_files_and_a_directory_are_one_configuration() {
    let scratch = Scratch::new();
    let first = scratch.file(
        "a.yaml",
        "services: [{name: front, health: {url: http://127.0.0.1:1}}]\n",
    );
    let second = scratch.file(
        "b.yml",
        "services: [{name: cart, health: {url: http://127.0.0.1:2}}]\n",
    );
    scratch.file("notes.txt", "not a configuration");
    for arguments in [
        vec!["validate", &first, &second],
        vec!["validate", scratch.path()],
    ] {
        let ended = run(&arguments).with(0);
        assert!(ended.out.starts_with("valid: 2 services"), "{}", ended.out);
    }
}

#[test]
fn the_file_of_an_agent_is_known_by_what_it_has() {
    let scratch = Scratch::new();
    let services = "services: [{name: front, health: {url: http://127.0.0.1:1}}]\n";
    let aggregator = scratch.file("rootward.yaml", services);
    let good = scratch.file(
        "agent.yaml",
        "service: {name: cart}\nchecks: [{name: cache, redis: {url: redis://cache}, criticality: soft}]\n",
    );
    let ended = run(&["validate", &aggregator, &good]).with(0);
    insta::assert_snapshot!(ended.out, @r"
    valid: 1 service, 1 instance, 0 resources, 0 groups
    valid: an agent with 1 check
    ");
    let bad = scratch.file(
        "other.yaml",
        "service: {name: cart}\nchecks: [{name: cache, redis: {url: redis://cache}}]\n",
    );
    let ended = run(&["validate", &good, &bad]).with(2);
    insta::assert_snapshot!(scratch.without(&ended.out), @r"
    valid: an agent with 1 check
    other.yaml:2:10: checks[0]: `criticality` is missing; say what its failure means: hard (the service cannot work without it), soft (it works with less) or informational (it changes nothing)
    1 problem: not valid
    ");
    let both = scratch.file("both.yaml", &format!("{services}checks: []\n"));
    let ended = run(&["validate", &both]).with(2);
    insta::assert_snapshot!(scratch.without(&ended.out), @r"
    both.yaml:2:1: `checks` belongs in the file of an agent; put it into a file of its own and run that with `rootward agent`
    1 problem: not valid
    ");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let ended = run(&["validate", "no/such/file.yaml"]).with(2);
    assert_eq!(
        ended.err,
        "rootward: cannot read no/such/file.yaml: there is no such file\n"
    );
    let scratch = Scratch::new();
    let ended = run(&["validate", scratch.path()]).with(2);
    assert!(
        ended.err.ends_with("holds no *.yaml or *.toml file\n"),
        "{}",
        ended.err
    );
}

#[test]
fn a_file_that_is_no_text_is_refused() {
    let scratch = Scratch::new();
    let file = scratch.file("rootward.yaml", "");
    std::fs::write(&file, [0xff, 0xfe, 0x00]).unwrap();
    let ended = run(&["validate", &file]).with(2);
    assert!(ended.err.contains("is not text in UTF-8"), "{}", ended.err);
}

#[test]
fn toml_is_read_with_the_same_keys_and_may_stand_beside_yaml() {
    let scratch = Scratch::new();
    scratch.file("a.yaml", GOOD);
    scratch.file(
        "b.toml",
        "[[services]]\nname = \"cart\"\nhealth = { url = \"http://127.0.0.1:8791\" }\n",
    );
    // What editors leave lying around is not read.
    scratch.file(".a.yaml", "services: [");
    let ended = run(&["validate", scratch.path()]).with(0);
    insta::assert_snapshot!(ended.out, @"valid: 2 services, 2 instances, 1 resource, 0 groups");
    scratch.file(
        "c.toml",
        "[[services]]\nname = \"front\"\nowner = 3\nhealth = { url = \"http://127.0.0.1:8792\", fall = 0 }\n",
    );
    let ended = run(&["validate", scratch.path()]).with(2);
    insta::assert_snapshot!(scratch.without(&ended.out), @r#"
    c.toml:2:8: services[0].name: `front` is already the name of the service at a.yaml:2:9; give each its own name, or remove one
    c.toml:4:50: services[0].health.fall: "0" is out of range; allowed are 1 to 20
    2 problems: not valid
    "#);
}

#[test]
fn the_file_of_an_agent_may_be_toml() {
    let scratch = Scratch::new();
    let file = scratch.file(
        "agent.toml",
        "[service]\nname = \"cart\"\n[[checks]]\nname = \"cache\"\ncriticality = \"soft\"\nredis = { url = \"redis://cache\" }\n",
    );
    let ended = run(&["validate", &file]).with(0);
    insta::assert_snapshot!(ended.out, @"valid: an agent with 1 check");
}

#[test]
fn a_pipe_or_a_device_is_no_file_and_nobody_waits_for_it() {
    let scratch = Scratch::new();
    let pipe = format!("{}/rootward.yaml", scratch.path());
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    for arguments in [
        vec!["validate", &pipe],
        vec!["validate", scratch.path()],
        vec!["validate", "/dev/zero"],
        vec!["serve", "--config", &pipe],
        vec!["agent", &pipe],
    ] {
        let ended = run(&arguments).with(2);
        // The path may be long, and lines are broken.
        let words: Vec<&str> = ended.err.split_whitespace().collect();
        assert!(
            words.join(" ").contains("it is a pipe or a device"),
            "{arguments:?}: {}",
            ended.err
        );
    }
}
