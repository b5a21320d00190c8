//! A real file system that is really filled, and one that hangs, where they can be mounted.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use rootward::{Check, CheckStatus, ErrorCategory, Health, Unlabelled};
use rootward_checks::{DiskSettings, Free, disk, open};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use crate::every::{LONG, alone, beside_others, leaves_nothing, run};

/// A file system for a test; gone when this is dropped.
pub(crate) struct Mounted(TempDir);

impl Mounted {
    /// None, and says so, where it cannot be mounted: not root, or a container that may not.
    #[expect(clippy::print_stderr, reason = "a test that does not run says so")]
    fn new(kind: &str, options: &str) -> Option<Self> {
        let directory = tempfile::tempdir().expect("a directory");
        let options = CString::new(options).expect("no zero in it");
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        match mount(kind, directory.path(), kind, flags, options.as_c_str()) {
            Ok(()) => Some(Self(directory)),
            Err(error) => {
                eprintln!("NOT RUN: no {kind} can be mounted here: {error}");
                None
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// One of FUSE that nobody serves, so that every question waits until the file is closed.
    #[expect(clippy::print_stderr, reason = "a test that does not run says so")]
    pub(crate) fn silent() -> Option<(File, Self)> {
        let Ok(server) = File::options().read(true).write(true).open("/dev/fuse") else {
            eprintln!("NOT RUN: there is no /dev/fuse here");
            return None;
        };
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&server);
        let options = format!("fd={descriptor},rootmode=40000,user_id=0,group_id=0");
        let mounted = Self::new("fuse", &options)?;
        Some((server, mounted))
    }

    fn unmount(&self) {
        unmount(self.path(), UnmountFlags::DETACH).expect("it is mounted");
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = unmount(self.0.path(), UnmountFlags::DETACH);
    }
}

fn of(path: &Path) -> Check<Unlabelled> {
    open::disk("planted-name", DiskSettings::new(path)).expect("usable")
}

#[tokio::test]
async fn a_disk_that_is_filled_is_degraded_then_down_and_up_again_when_it_is_emptied() {
    let _turn = beside_others().await;
    let Some(mounted) = Mounted::new("tmpfs", "size=10m,nr_inodes=1000") else {
        return;
    };
    let check = of(mounted.path());
    assert_eq!(run(&check, LONG).await, "up");
    let path = mounted.path().join("planted-file");
    let mut file = File::create(&path).expect("a file");
    let mut fill = |mib: usize| file.write_all(&vec![1; mib << 20]).expect("there is room");
    fill(9);
    assert_eq!(
        run(&check, LONG).await,
        "degraded, resource_exhausted, free are 10 percent of the space or 1024 KiB and expected 15 percent"
    );
    fill(1);
    assert_eq!(
        run(&check, LONG).await,
        "down, resource_exhausted, free are 0 percent of the space or 0 KiB and expected 5 percent"
    );
    let bytes = DiskSettings::new(mounted.path())
        .warn_below(Free::Bytes(2 << 20))
        .fail_below(Free::Bytes(1 << 20));
    assert_eq!(
        run(&disk("planted-name", bytes), LONG).await,
        "down, resource_exhausted, free are 0 KiB of the space and expected 1024 KiB"
    );
    drop(file);
    fs::remove_file(&path).expect("it was there");
    assert_eq!(run(&check, LONG).await, "up");
}

#[tokio::test]
async fn a_disk_without_inodes_is_down_however_much_space_it_has() {
    let _turn = beside_others().await;
    let Some(mounted) = Mounted::new("tmpfs", "size=10m,nr_inodes=100") else {
        return;
    };
    let check = of(mounted.path());
    assert_eq!(run(&check, LONG).await, "up");
    let made = (0..200).map_while(|number| {
        let path = mounted.path().join(format!("planted-{number}"));
        File::create(path).ok()
    });
    assert!((80..100).contains(&made.count()), "so many files have room");
    assert_eq!(
        run(&check, LONG).await,
        "down, resource_exhausted, free are 0 percent of the inodes or 0 and expected 5 percent"
    );
}

#[tokio::test]
async fn a_disk_that_is_mounted_read_only_is_down_only_for_those_who_write() {
    let _turn = beside_others().await;
    let Some(mounted) = Mounted::new("tmpfs", "size=10m,ro") else {
        return;
    };
    assert_eq!(run(&of(mounted.path()), LONG).await, "up");
    let written = DiskSettings::new(mounted.path()).writable();
    assert_eq!(
        run(&disk("planted-name", written), LONG).await,
        "down, resource_exhausted, the disk is mounted read-only"
    );
}

#[tokio::test]
async fn a_path_that_is_not_there_is_said_without_its_name() {
    let _turn = beside_others().await;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("planted-path");
    let check = of(&path);
    let missing = "down, not_found, the path is not there";
    assert_eq!(run(&check, LONG).await, missing);
    fs::create_dir(&path).expect("it is made");
    assert_ne!(run(&check, LONG).await, missing);
}

#[tokio::test]
async fn a_file_system_without_a_size_is_neither_good_nor_down() {
    let _turn = beside_others().await;
    assert_eq!(
        run(&of(Path::new("/proc")), LONG).await,
        "degraded, unknown, the file system tells no size: it is not known whether it is full"
    );
}

#[tokio::test]
async fn levels_that_make_no_sense_are_said_and_judge_nothing() {
    let _turn = beside_others().await;
    let settings = DiskSettings::new("/").fail_below(Free::Percent(20));
    assert_eq!(
        run(&disk("planted-name", settings), LONG).await,
        "down, unknown, configuration: the disk is to fail with more free than it warns at"
    );
}

#[tokio::test]
async fn a_thousand_looks_at_a_disk_leave_nothing() {
    let _turn = alone().await;
    let directory = tempfile::tempdir().expect("a directory");
    let settings = DiskSettings::new(directory.path())
        .warn_below(Free::Bytes(0))
        .fail_below(Free::Bytes(0))
        .warn_inodes_below(0)
        .fail_inodes_below(0);
    leaves_nothing(&disk("planted-name", settings), "up").await;
}

/// How many threads of this process are in the middle of a statfs.
fn asking() -> usize {
    const STATFS: &str = if cfg!(target_arch = "x86_64") {
        "137 "
    } else {
        "43 "
    };
    let tasks = fs::read_dir("/proc/self/task").expect("threads");
    let calls = tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("syscall")).ok());
    calls.filter(|call| call.starts_with(STATFS)).count()
}

/// A file system whose server takes no question: one of FUSE that nobody serves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_system_that_hangs_is_a_timeout_and_holds_one_thread_and_never_two() {
    let _turn = alone().await;
    let Some((server, mounted)) = Mounted::silent() else {
        return;
    };
    let (interval, limit) = (Duration::from_millis(40), Duration::from_millis(20));
    let check = of(mounted.path()).hard().interval(interval).timeout(limit);
    let beside = Check::new("beside", || async { Ok(()) });
    let beside = beside.soft().interval(interval).timeout(limit);
    let health = Health::builder("cart")
        .instance("cart-0")
        .check(check.rise(1).fall(1))
        .check(beside);
    let health = health.start().expect("it starts");
    let disk_until = async |wanted: &str| {
        let began = Instant::now();
        loop {
            let report = health.report();
            let component = &report.components[0];
            let seen = component.error.as_deref().unwrap_or("-").to_owned();
            let seq = report.components[1].seq.unwrap_or(0);
            drop(report);
            if seen.contains(wanted) {
                return seq;
            }
            assert!(began.elapsed() < LONG, "{seen:?} and never {wanted:?}");
            sleep(Duration::from_millis(10)).await;
        }
    };
    let before = disk_until("timed out after 20 ms").await;
    let is_seen = asking() > 0;
    if !is_seen {
        eprintln!(
            "NOT RUN: this kernel does not tell in which call a thread is; its threads are not counted"
        );
    }
    // Many intervals, in which the other check goes on.
    let began = Instant::now();
    loop {
        let report = health.report();
        let (disk, beside) = (&report.components[0], &report.components[1]);
        assert_eq!(disk.status, CheckStatus::Down.into());
        assert_eq!(disk.error_category, Some(ErrorCategory::Timeout.into()));
        let runs = beside.seq.unwrap_or(0) - before;
        drop(report);
        assert!(!is_seen || asking() == 1, "{} threads hang", asking());
        if runs >= 25 {
            break;
        }
        assert!(began.elapsed() < LONG, "the other check does not run");
        sleep(Duration::from_millis(10)).await;
    }
    // Its server ends: whoever waits is told.
    drop(server);
    disk_until("the server of the file system is gone").await;
    mounted.unmount();
    let began = Instant::now();
    while health.report().components[0].error_category
        == Some(ErrorCategory::ConnectionReset.into())
    {
        assert!(
            began.elapsed() < LONG,
            "it does not see that the mount is gone"
        );
        sleep(Duration::from_millis(10)).await;
    }
    health.stop().await;
    assert_eq!(asking(), 0);
}
