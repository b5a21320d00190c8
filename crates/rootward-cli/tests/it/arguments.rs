//! What is typed wrong gets a sentence and the exit code 2; the help says how everything ends.

use crate::program::run;

#[test]
fn a_command_that_does_not_exist_is_refused_with_the_nearest_one() {
    let ended = run(&["statuss"]).with(2);
    assert!(
        ended.err.contains("unrecognized subcommand 'statuss'"),
        "{}",
        ended.err
    );
    assert!(ended.err.contains("'status'"), "{}", ended.err);
}

#[test]
fn without_a_command_the_help_is_shown() {
    let ended = run(&[]).with(2);
    for command in [
        "serve", "agent", "demo", "status", "explain", "replay", "parse", "validate", "schema",
        "token", "probe", "checkin", "conform",
    ] {
        assert!(ended.err.contains(command), "{}", ended.err);
    }
}

#[test]
fn an_option_that_is_missing_or_unknown_is_named() {
    let ended = run(&["serve"]).with(2);
    assert!(ended.err.contains("--config <FILE>"), "{}", ended.err);
    let ended = run(&["status", "--jsn"]).with(2);
    assert!(ended.err.contains("--json"), "{}", ended.err);
    let ended = run(&["demo", "--port", "70000"]).with(2);
    assert!(ended.err.contains("70000"), "{}", ended.err);
}

#[test]
fn the_help_and_the_page_say_the_same_about_exit_codes() {
    let help = run(&["--help"]).with(0).out;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/exit-codes.md");
    let page = std::fs::read_to_string(path).unwrap();
    let codes = |text: &str, begin: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(begin));
        let codes = lines.filter_map(|line| line.split([' ', '|']).next().map(str::to_owned));
        codes.filter(|code| code.parse::<u8>().is_ok()).collect()
    };
    let in_help = codes(&help, "  ");
    assert_eq!(in_help, ["0", "1", "2", "3", "4"]);
    // The page has the codes of signals besides.
    let on_page = codes(&page, "| ");
    assert_eq!(on_page[..in_help.len()], in_help);
}

#[test]
fn the_version_is_one_line() {
    assert_eq!(
        run(&["--version"]).with(0).out,
        format!("rootward {}\n", env!("CARGO_PKG_VERSION"))
    );
}
