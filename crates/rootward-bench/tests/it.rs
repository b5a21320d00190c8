//! The benchmarks run, and their tables are complete. What the figures are is no test's business.

use std::process::Command;

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

fn bench(arguments: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_rootward-bench"))
        .args(arguments)
        .output()
        .expect("the benchmark starts");
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

/// The figures of the one line of round 1 that speaks of `server`.
fn figures(table: &str, server: &str) -> Vec<f64> {
    let lines: Vec<&str> = table
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("1  ")?.strip_prefix(server))
        .collect();
    let [line] = lines.as_slice() else {
        panic!("not one line for {server} in:\n{table}");
    };
    let words = line.split_whitespace();
    words.filter_map(|word| word.parse().ok()).collect()
}

fn goals(table: &str) -> Vec<&str> {
    let goals = table.lines().skip_while(|line| *line != "goals").skip(1);
    goals.collect()
}

#[test]
fn probes_shows_both_sides_and_judges_every_goal() {
    let ran = bench(&["probes", "--quick"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for server in ["ours", "bare hyper"] {
        // Answers a second, processor time, p50, p99, two ratios.
        let figures = figures(&ran.out, server);
        assert_eq!(figures.len(), 6, "{server}:\n{}", ran.out);
        assert!(figures.iter().all(|figure| *figure > 0.0), "{}", ran.out);
    }
    // Both send as many bytes, so the comparison is one.
    let sizes = |server: &str| {
        let line = ran.out.lines().find(|line| line.contains(server)).unwrap();
        line.split_whitespace().last().unwrap().to_owned()
    };
    assert_eq!(sizes("  ours "), sizes("  bare hyper "));
    // Those that are not installed are named with the reason.
    for server in ["nginx return 200", "HAProxy return 200"] {
        let measured = ran.out.contains(&format!("ours / {server}: CPU median"));
        let absent = ran.out.contains(&format!("{server}: not measured: "));
        assert!(measured ^ absent, "{}", ran.out);
    }
    let goals = goals(&ran.out);
    let names: Vec<&str> = goals.iter().map(|goal| &goal.trim()[..2]).collect();
    assert_eq!(names, ["P1", "P1", "P2"], "{}", ran.out);
    let judged = |goal: &&&str| goal.contains(" PASS (") || goal.contains(" MISS (");
    assert!(goals[..2].iter().all(|goal| judged(&goal)), "{}", ran.out);
}

#[test]
fn footprint_shows_the_program_without_and_with_us() {
    let ran = bench(&["footprint", "--quick"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let tables: Vec<Vec<f64>> = ran
        .out
        .lines()
        .filter(|line| line.starts_with("    1 ") || line.starts_with("   1 "))
        .map(|line| {
            let words = line.split_whitespace().skip(1);
            words.map(|word| word.parse().unwrap()).collect()
        })
        .collect();
    let [memory, cpu] = tables.as_slice() else {
        panic!("not two tables of one line:\n{}", ran.out);
    };
    // Started and asked: without, with, added.
    assert_eq!((memory.len(), cpu.len()), (6, 3), "{}", ran.out);
    assert!(memory[0] > 0.0 && memory[1] > memory[0], "{}", ran.out);
    assert_eq!(goals(&ran.out).len(), 2, "{}", ran.out);
}

#[test]
fn poll_shows_every_client_and_every_fleet_and_counts_what_was_answered() {
    let ran = bench(&["poll", "--quick"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for client in [
        "ours  ",
        "bare hyper, parse only",
        "ours, the same bytes again",
        "ours every 2 s, plain",
        "ours every 2 s, TLS",
    ] {
        // Polls a second, processor time, and that over the bare one.
        let figures = figures(&ran.out, client);
        assert_eq!(figures.len(), 3, "{client}:\n{}", ran.out);
        assert!(figures.iter().all(|figure| *figure > 0.0), "{}", ran.out);
    }
    let fleets = ran
        .out
        .lines()
        .filter(|line| line.contains("ms /") || line.contains("ms  "));
    assert!(fleets.count() >= 4, "{}", ran.out);
    let goals = goals(&ran.out);
    let names: Vec<&str> = goals.iter().map(|goal| &goal.trim()[..2]).collect();
    let wanted = ["A1", "A7", "A2", "A6", "A8", "A9", "A9", "A9", "J1"];
    assert_eq!(names, wanted, "{}", ran.out);
    assert!(
        goals.iter().all(|goal| !goal.contains("not measured")),
        "{}",
        ran.out
    );
}

#[test]
fn overview_shows_readers_and_counts_polls_with_and_without_them() {
    let ran = bench(&["overview", "--quick"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("viewers: 20 overviews"), "{}", ran.out);
    let goals = goals(&ran.out);
    let names: Vec<&str> = goals.iter().map(|goal| &goal.trim()[..2]).collect();
    assert_eq!(names, ["O1", "O2", "O3"], "{}", ran.out);
    let judged = |goal: &&&str| goal.contains(" PASS (") || goal.contains(" MISS (");
    assert!(goals.iter().all(|goal| judged(&goal)), "{}", ran.out);
}

#[test]
fn wrong_arguments_are_named_with_the_usage_and_nothing_runs() {
    let ran = bench(&["probes", "--fast"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.out, "");
    assert!(
        ran.err
            .starts_with("there is no option \"--fast\"\n\nusage: "),
        "{}",
        ran.err
    );
}
