//! Descriptors that are really open, in processes with a lowered limit.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use rootward::{Check, Unlabelled};
use rootward_checks::{DescriptorsSettings, Whose, descriptors, open};

use crate::every::{LONG, alone, beside_others, leaves_nothing, run, run_until};

/// A process that holds what it is told to until its input ends, or this is dropped.
pub(crate) struct Holder {
    child: Child,
    input: Option<ChildStdin>,
}

impl Holder {
    pub(crate) fn command() -> Command {
        Command::new(env!("CARGO_BIN_EXE_holder"))
    }

    /// Of a hundred descriptors that it may have, and of memory.
    pub(crate) fn start(mut command: Command, open: u32, mib: u32) -> Self {
        let mut child = command
            .args(["hold", &open.to_string(), &mib.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut said = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output)
            .read_line(&mut said)
            .expect("it says something");
        assert_eq!(said, "holding\n");
        Self {
            input: child.stdin.take(),
            child,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets it end, and collects it or leaves it as a zombie.
    pub(crate) fn end(&mut self, collect: bool) {
        self.input = None;
        if collect {
            self.child.wait().expect("it ends");
        }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn of(pid: u32) -> Check<Unlabelled> {
    let settings = DescriptorsSettings::new().of(Whose::Pid(pid));
    open::descriptors("fd", settings).expect("usable")
}

#[tokio::test]
async fn a_process_that_opens_more_and_more_sees_it_also_when_none_is_left() {
    let _turn = beside_others().await;
    let output = Holder::command().arg("fill").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<_> = said.lines().collect();
    assert!(output.status.success(), "{said}");
    assert_eq!(lines[0], "up");
    let warning = "and expected less than 80 percent";
    assert!(
        lines[1].starts_with("degraded: open are 81 of 100 descriptors"),
        "{said}"
    );
    assert!(lines[1].ends_with(warning), "{said}");
    assert_eq!(
        lines[2],
        "down: open are 96 of 100 descriptors and expected less than 95 percent"
    );
    // Or a few more, which it was started with. Before Linux 6.2 they cannot be counted then, which says the same.
    let none_is_left = ["down: open are 1", "down: no file descriptor is left"];
    assert!(
        none_is_left.iter().any(|words| lines[3].starts_with(words)),
        "{said}"
    );
    assert_eq!(lines[4], "up", "they are closed again");
}

#[tokio::test]
async fn the_descriptors_of_another_process_are_counted_until_it_ends() {
    let _turn = beside_others().await;
    let few = Holder::start(Holder::command(), 40, 1);
    assert_eq!(run(&of(few.pid()), LONG).await, "up");
    let some = Holder::start(Holder::command(), 85, 1);
    assert_eq!(
        run(&of(some.pid()), LONG).await,
        "degraded, resource_exhausted, open are 85 of 100 descriptors and expected less than 80 percent"
    );
    let mut many = Holder::start(Holder::command(), 99, 1);
    let check = of(many.pid());
    assert_eq!(
        run(&check, LONG).await,
        "down, resource_exhausted, open are 99 of 100 descriptors and expected less than 95 percent"
    );
    let gone = "down, not_found, the process is not there";
    many.end(false);
    run_until(&check, LONG, gone).await;
    many.end(true);
    assert_eq!(run(&check, LONG).await, gone);
}

#[tokio::test]
async fn the_pid_file_is_read_for_every_run_so_that_a_restart_of_the_application_is_survived() {
    let _turn = beside_others().await;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("cart.pid");
    let settings = DescriptorsSettings::new().of(Whose::PidFile(path.clone()));
    let check = descriptors("fd", settings);
    assert_eq!(
        run(&check, LONG).await,
        "down, not_found, the pid file is not there"
    );
    let write = |text: &str| {
        let mut file = std::fs::File::create(&path).expect("a file");
        file.write_all(text.as_bytes()).expect("it is written");
    };
    write("planted-password-hunter2\n");
    assert_eq!(
        run(&check, LONG).await,
        "degraded, unknown, there is no number in the pid file"
    );
    let mut first = Holder::start(Holder::command(), 40, 1);
    write(&format!("{}\n", first.pid()));
    assert_eq!(run(&check, LONG).await, "up");
    first.end(true);
    assert_eq!(
        run(&check, LONG).await,
        "down, not_found, the process is not there"
    );
    let second = Holder::start(Holder::command(), 99, 1);
    write(&second.pid().to_string());
    let seen = run(&check, LONG).await;
    assert!(
        seen.starts_with("down, resource_exhausted, open are 99"),
        "{seen}"
    );
}

#[tokio::test]
async fn a_thousand_counts_of_descriptors_leave_none() {
    let _turn = alone().await;
    leaves_nothing(&descriptors("fd", DescriptorsSettings::new()), "up").await;
    let holder = Holder::start(Holder::command(), 10, 1);
    leaves_nothing(&of(holder.pid()), "up").await;
}
