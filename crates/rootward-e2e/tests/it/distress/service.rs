//! The service in distress: started with the checks that a test wants, told what to suffer, and looked at from outside.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::Command;
use std::time::Duration;

use rootward_e2e::{Error, Process, Run, free_port, until};
use serde_json::Value;

use super::client::{Answer, ask};
use super::dependency::Dependency;

const START_LIMIT: Duration = Duration::from_secs(20);

/// How the service is started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings<'a> {
    /// None: without the crate.
    pub(super) checks: Option<&'a str>,
    pub(super) interval: Duration,
    pub(super) timeout: Duration,
    pub(super) wedge_limit: Option<Duration>,
}

impl<'a> Settings<'a> {
    /// Checks once a second with the time limit that is the default.
    pub(super) const fn of(checks: &'a str) -> Self {
        Self {
            checks: Some(checks),
            interval: Duration::from_secs(1),
            timeout: Duration::from_millis(500),
            wedge_limit: None,
        }
    }
}

pub(super) struct Service {
    pub(super) process: Process,
    pub(super) probes: u16,
    pub(super) control: u16,
    pub(super) dependency: Dependency,
}

/// What the service says about itself when it has obeyed.
#[derive(Debug)]
pub(super) struct Told {
    /// Tasks alive on its runtime.
    pub(super) tasks: usize,
    pub(super) checks: BTreeMap<String, Tally>,
}

/// What one check did, by its own account.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    pub(super) runs: u64,
    pub(super) most_at_once: u64,
    pub(super) late: u64,
    pub(super) longest: Duration,
}

impl Told {
    pub(super) fn runs(&self) -> u64 {
        self.checks.values().map(|tally| tally.runs).sum()
    }
}

impl Service {
    pub(super) async fn start(run: &Run, settings: Settings<'_>) -> Result<Self, Error> {
        let (probes, control) = (free_port()?, free_port()?);
        let dependency = Dependency::start().await;
        let mut command = Command::new(env!("CARGO_BIN_EXE_distressed"));
        command.envs([
            ("DISTRESS_PROBE_PORT", probes.to_string()),
            ("DISTRESS_CONTROL_PORT", control.to_string()),
            ("DISTRESS_DEPENDENCY", dependency.address.to_string()),
            (
                "DISTRESS_INTERVAL_MS",
                settings.interval.as_millis().to_string(),
            ),
            (
                "DISTRESS_TIMEOUT_MS",
                settings.timeout.as_millis().to_string(),
            ),
        ]);
        command.envs(settings.checks.map(|checks| ("DISTRESS_CHECKS", checks)));
        let wedge_limit = settings
            .wedge_limit
            .map(|limit| limit.as_millis().to_string());
        command.envs(wedge_limit.map(|limit| ("DISTRESS_WEDGE_LIMIT_MS", limit)));
        let process = Process::spawn(run, "distressed", command)?;
        let service = Self {
            process,
            probes,
            control,
            dependency,
        };
        let what = "the service in distress to have started";
        let is_started = async || match settings.checks {
            Some(_) => service
                .ask("/startupz")
                .is_some_and(|answer| answer.code == 200),
            None => service.try_tell("").is_some(),
        };
        until(what, START_LIMIT, is_started, |started| *started).await?;
        Ok(service)
    }

    /// Asks a probe endpoint; none without an answer.
    pub(super) fn ask(&self, path: &str) -> Option<Answer> {
        ask(self.probes, path).ok()
    }

    /// The detailed report.
    pub(super) fn report(&self) -> Value {
        let answer = self.ask("/health").expect("the report is answered");
        serde_json::from_str(&answer.body).expect("a report is JSON")
    }

    /// Gives a command; returns when it has taken effect.
    pub(super) fn tell(&self, command: &str) -> Told {
        self.try_tell(command).expect("the control port answers")
    }

    fn try_tell(&self, command: &str) -> Option<Told> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.control)).ok()?;
        stream.set_read_timeout(Some(START_LIMIT)).ok()?;
        stream.write_all(format!("{command}\n").as_bytes()).ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        let mut lines = text.lines();
        let tasks = lines.next()?.strip_prefix("tasks ")?.parse().ok()?;
        let checks = lines.map(|line| {
            let (name, numbers) = line.split_once(' ')?;
            let numbers: Vec<u64> = numbers
                .split(' ')
                .map_while(|number| number.parse().ok())
                .collect();
            let &[runs, most_at_once, late, longest_micros] = numbers.as_slice() else {
                return None;
            };
            let longest = Duration::from_micros(longest_micros);
            Some((
                name.to_owned(),
                Tally {
                    runs,
                    most_at_once,
                    late,
                    longest,
                },
            ))
        });
        Some(Told {
            tasks,
            checks: checks.collect::<Option<_>>()?,
        })
    }

    /// The time that its threads have spent on a processor.
    pub(super) fn cpu(&self) -> Duration {
        let threads = fs::read_dir(self.proc("task")).expect("it runs");
        let nanos = threads.flatten().filter_map(|thread| {
            // A thread that has just ended has no file.
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(nanos.sum())
    }

    /// Resident memory, in KiB.
    pub(super) fn resident_kib(&self) -> u64 {
        let status = fs::read_to_string(self.proc("status")).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
        number
            .and_then(|number| number.parse().ok())
            .expect("the kernel says how much it uses")
    }

    /// How many of its descriptors are sockets.
    pub(super) fn sockets(&self) -> usize {
        let descriptors = fs::read_dir(self.proc("fd")).expect("it runs");
        let links = descriptors
            .flatten()
            .filter_map(|entry| fs::read_link(entry.path()).ok());
        links
            .filter(|link| link.to_string_lossy().starts_with("socket:"))
            .count()
    }

    fn proc(&self, what: &str) -> String {
        format!("/proc/{}/{what}", self.process.id())
    }
}
