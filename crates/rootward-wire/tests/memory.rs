//! KF-106: hostile reports cost less than 16 MiB. Alone in its process, because it looks at the process's own peak.

#![cfg(target_os = "linux")]

use rootward_core::Moment;
use rootward_wire::limits::MAX_REPORT_BYTES;
use rootward_wire::v1::{ReadyzBody, read};

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("the kernel counts the peak");
    line.trim()
        .trim_end_matches(" kB")
        .parse()
        .expect("a number of kB")
}

#[test]
fn kf_106_hostile_reports_cost_less_than_16_mib() {
    let head = r#"{"contract":"rootward/1","service":"s","instance":"0","status":"healthy","#;
    let filled = |field: &str, entry: &str| {
        let count = (MAX_REPORT_BYTES - 200) / (entry.len() + 1);
        let entries = vec![entry; count].join(",");
        format!(r#"{head}"{field}":[{entries}]}}"#)
    };
    let bodies = [
        filled(
            "components",
            r#"{"name":"a","status":"up","criticality":"soft"}"#,
        ),
        filled("components", "{}"),
        filled("components", "[]"),
        filled("warnings", r#""""#),
        filled("findings", r#"{"kind":""}"#),
        filled("unknown", "{}"),
        format!(r#"{head}"unknown":{}"#, "[".repeat(MAX_REPORT_BYTES - 200)),
        format!(
            r#"{head}"zone":"{}"}}"#,
            r"\u0041".repeat(MAX_REPORT_BYTES / 6 - 40)
        ),
        format!(r#"{head}"zone":"{}"}}"#, "x".repeat(10 * 1024 * 1024)),
        "[".repeat(MAX_REPORT_BYTES),
        format!("[{}]", vec!["{}"; 20_000].join(",")),
    ];
    let before = peak_kib();
    for body in &bodies {
        let _ = read(body.as_bytes(), Moment::ZERO);
        let _ = ReadyzBody::read(body.as_bytes());
    }
    let cost = peak_kib() - before;
    assert!(cost < 16 * 1024, "{cost} KiB");
}
