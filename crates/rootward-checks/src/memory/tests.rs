//! Memory as the kernel's own files tell it: contents of real machines, cut to the lines that are read.

use std::collections::BTreeMap;
use std::io;

use super::*;

const MIB: u64 = 1 << 20;

const MEMINFO: &str =
    "MemTotal:       24684084 kB\nMemFree:         2771044 kB\nMemAvailable:   23904300 kB\n";

/// Of a machine whose cgroups are those of version 1, of Linux 6.18.
const MOUNTS_1: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:7 - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

const CGROUPS_1: &str = "9:name=systemd:/\n4:memory:/process_api/fc58\n1:cpu:/\n0::/\n";

/// In a container of version 1 without a namespace of its own: the mount begins where the container's cgroup is.
const MOUNTS_DOCKER_1: &str = "\
672 671 0:33 /docker/5f1b /sys/fs/cgroup/memory ro,nosuid,nodev,noexec,relatime master:17 - cgroup cgroup rw,memory
";

const MOUNTS_2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

const NO_LIMIT_1: &str = "9223372036854771712\n";

/// Files by their names; those of `/proc` are of the process itself.
struct Files(BTreeMap<String, String>);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Self(files.collect())
    }

    fn with(mut self, name: &str, text: impl Into<String>) -> Self {
        self.0.insert(name.to_owned(), text.into());
        self
    }

    /// A cgroup of version 2.
    fn cgroup_2(self, directory: &str, max: &str, current: u64, inactive: u64) -> Self {
        self.with(&format!("{directory}/cgroup.procs"), "1\n")
            .with(&format!("{directory}/memory.max"), format!("{max}\n"))
            .with(&format!("{directory}/memory.current"), format!("{current}\n"))
            .with(
                &format!("{directory}/memory.stat"),
                format!("anon 4096\nfile 8192\ninactive_anon 5\nactive_anon 5\ninactive_file {inactive}\nactive_file 1\n"),
            )
    }

    /// One of version 1.
    fn cgroup_1(self, directory: &str, limit: &str, usage: u64, inactive: u64) -> Self {
        self.with(&format!("{directory}/cgroup.procs"), "1\n")
            .with(&format!("{directory}/memory.limit_in_bytes"), limit)
            .with(&format!("{directory}/memory.usage_in_bytes"), format!("{usage}\n"))
            .with(
                &format!("{directory}/memory.stat"),
                format!("cache 70443008\nrss 1527808\ninactive_file 1\ntotal_cache 70443008\ntotal_inactive_file {inactive}\n"),
            )
    }

    fn say(&self, settings: &MemorySettings) -> String {
        let read = |path: &str| match self.0.get(path) {
            Some(text) => Ok(text.clone()),
            None => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        match judge(settings, Reading::take(&read, "/proc/self")) {
            Ok(Outcome::Up) => "up".to_owned(),
            Ok(Outcome::Degraded(failure)) => {
                format!("degraded, {}, {failure}", failure.category())
            }
            Err(failure) => format!("down, {}, {failure}", failure.category()),
        }
    }

    fn say_at(&self, warn: u8, fail: u8) -> String {
        self.say(&MemorySettings::new().warn_at(warn).fail_at(fail))
    }
}

/// In a container of version 2 with a namespace of its own.
fn container(max: &str, current: u64, inactive: u64) -> Files {
    Files::new(&[
        ("/proc/self/cgroup", "0::/\n"),
        ("/proc/self/mountinfo", MOUNTS_2),
        ("/proc/meminfo", MEMINFO),
    ])
    .cgroup_2("/sys/fs/cgroup", max, current, inactive)
}

#[test]
fn a_container_is_judged_by_its_limit_without_the_file_pages_that_nobody_uses() {
    let max = (1000 * MIB).to_string();
    let full = container(&max, 970 * MIB, 10 * MIB);
    assert_eq!(
        full.say_at(85, 95),
        "down, resource_exhausted, in use are 96 percent of the memory or 960 MiB of the cgroup's 1000 MiB and \
         expected less than 95 percent"
    );
    let warm = container(&max, 970 * MIB, 100 * MIB);
    assert_eq!(
        warm.say_at(85, 95),
        "degraded, resource_exhausted, in use are 87 percent of the memory or 870 MiB of the cgroup's 1000 MiB and \
         expected less than 85 percent"
    );
    assert_eq!(container(&max, 970 * MIB, 500 * MIB).say_at(85, 95), "up");
}

#[test]
fn without_a_limit_the_machine_is_judged_and_the_text_says_so() {
    let words = "degraded, resource_exhausted, in use are 3 percent of the memory or 761 MiB of the machine's 24105 \
                 MiB and expected less than 3 percent";
    for max in ["max", "99999999999999"] {
        let files = container(max, 970 * MIB, 0);
        assert_eq!(files.say_at(3, 95), words, "{max}");
        assert_eq!(files.say_at(4, 95), "up");
    }
    let without_cgroups = Files::new(&[("/proc/meminfo", MEMINFO)]);
    assert_eq!(without_cgroups.say_at(3, 95), words);
}

#[test]
fn the_limit_of_a_group_above_counts_when_it_is_nearer() {
    let files = |slice: u64| {
        let used = |limit: u64, used: u64| ((limit * MIB).to_string(), used * MIB);
        let ((slice, all), (unit, own)) = (used(slice, 900), used(500, 100));
        Files::new(&[
            ("/proc/self/cgroup", "0::/app.slice/cart.service\n"),
            ("/proc/self/mountinfo", MOUNTS_2),
            ("/proc/meminfo", MEMINFO),
            ("/sys/fs/cgroup/cgroup.procs", ""),
        ])
        .cgroup_2("/sys/fs/cgroup/app.slice", &slice, all, 0)
        .cgroup_2("/sys/fs/cgroup/app.slice/cart.service", &unit, own, 0)
    };
    assert_eq!(
        files(1000).say_at(50, 85),
        "down, resource_exhausted, in use are 90 percent of the memory or 900 MiB of the cgroup's 1000 MiB and \
         expected less than 85 percent"
    );
    assert_eq!(files(9000).say_at(50, 85), "up", "a fifth and a tenth");
}

#[test]
fn version_1_is_read_in_a_container_and_on_a_machine_without_limits() {
    let container = Files::new(&[
        ("/proc/self/cgroup", "11:memory:/docker/5f1b\n0::/\n"),
        ("/proc/self/mountinfo", MOUNTS_DOCKER_1),
        ("/proc/meminfo", MEMINFO),
    ]);
    let container = container.cgroup_1("/sys/fs/cgroup/memory", "536870912\n", 530 * MIB, 10 * MIB);
    assert_eq!(
        container.say_at(85, 95),
        "down, resource_exhausted, in use are 101 percent of the memory or 520 MiB of the cgroup's 512 MiB and \
         expected less than 95 percent"
    );
    let machine = Files::new(&[
        ("/proc/self/cgroup", CGROUPS_1),
        ("/proc/self/mountinfo", MOUNTS_1),
        ("/proc/meminfo", MEMINFO),
    ])
    .cgroup_1("/sys/fs/cgroup/memory/process_api/fc58", NO_LIMIT_1, MIB, 0)
    .cgroup_1("/sys/fs/cgroup/memory/process_api", NO_LIMIT_1, MIB, 0)
    .cgroup_1("/sys/fs/cgroup/memory", NO_LIMIT_1, MIB, 0);
    assert_eq!(machine.say_at(85, 95), "up");
    assert!(machine.say_at(3, 95).contains("of the machine's"));
}

#[test]
fn what_cannot_be_seen_is_said_and_is_neither_good_nor_down() {
    let own = ("/proc/self/cgroup", "0::/app\n");
    let machine = ("/proc/meminfo", MEMINFO);
    let cases = [
        (Files::new(&[]), "the memory of the machine cannot be read"),
        (
            Files::new(&[own, machine]),
            "what is mounted cannot be read",
        ),
        (
            Files::new(&[
                own,
                machine,
                (
                    "/proc/self/mountinfo",
                    "23 1 254:0 / / rw - ext4 /dev/vda rw\n",
                ),
            ]),
            "the files of cgroups are not mounted here",
        ),
        (
            Files::new(&[own, machine, ("/proc/self/mountinfo", MOUNTS_2)]),
            "the cgroup of the process is not visible from here",
        ),
        (
            Files::new(&[
                ("/proc/self/cgroup", "0::/../cart\n"),
                machine,
                ("/proc/self/mountinfo", MOUNTS_2),
            ]),
            "the cgroup of the process is not visible from here",
        ),
        (
            container("many", 1, 1),
            "the memory of the cgroup cannot be read",
        ),
        (
            container("5000000", 1, 1).with("/sys/fs/cgroup/memory.stat", "anon 5\n"),
            "the memory of the cgroup cannot be read",
        ),
        (
            Files::new(&[("/proc/meminfo", "MemTotal: 5 kB\n")]),
            "the memory of the machine cannot be read",
        ),
    ];
    for (files, words) in cases {
        assert_eq!(files.say_at(85, 95), format!("degraded, unknown, {words}"));
    }
}

#[test]
fn pressure_is_of_the_cgroup_where_it_has_its_own_and_else_of_the_machine() {
    let pressure = |some: &str, full: &str| {
        format!(
            "some avg10={some} avg60=0.08 avg300=0.12 total=774042\nfull avg10={full} avg60=0.08 avg300=0.12 total=751210\n"
        )
    };
    let settings = MemorySettings::new()
        .warn_pressure(Pressure::Some(20))
        .fail_pressure(Pressure::Full(10));
    let calm = container("max", 1, 1);
    assert_eq!(
        container("max", 1, 1).say(&settings),
        "degraded, unknown, memory pressure cannot be read here"
    );
    assert_eq!(calm.say_at(85, 95), "up", "nobody has asked for pressure");
    let machine =
        |some, full| container("max", 1, 1).with("/proc/pressure/memory", pressure(some, full));
    assert_eq!(machine("19.99", "9.99").say(&settings), "up");
    assert_eq!(
        machine("20.00", "9.99").say(&settings),
        "degraded, resource_exhausted, tasks of the machine waited for memory 20 percent of the last 10 s and expected \
         less than 20 percent"
    );
    let own =
        machine("0.00", "0.00").with("/sys/fs/cgroup/memory.pressure", pressure("73.10", "12.61"));
    assert_eq!(
        own.say(&settings),
        "down, resource_exhausted, all tasks of the cgroup waited for memory 12 percent of the last 10 s and expected \
         less than 10 percent"
    );
    let odd = container("max", 1, 1).with("/proc/pressure/memory", "some avg10=1,00\n");
    assert_eq!(
        odd.say(&settings),
        "degraded, unknown, memory pressure cannot be read here"
    );
}

#[test]
fn levels_that_make_no_sense_are_named() {
    let new = MemorySettings::new;
    let range = Some("a level of the memory is not from 1 to 100 percent");
    let pressure = Some("a level of the memory pressure is not from 1 to 100 percent");
    assert_eq!(new().problem(), None);
    assert_eq!(new().warn_at(0).problem(), range);
    assert_eq!(new().fail_at(101).problem(), range);
    assert_eq!(
        new().warn_at(96).problem(),
        Some("the memory is to fail with less in use than it warns at")
    );
    assert_eq!(new().warn_pressure(Pressure::Some(0)).problem(), pressure);
    assert_eq!(new().fail_pressure(Pressure::Full(101)).problem(), pressure);
    assert!(new().of(Whose::Pid(0)).problem().is_some());
}
