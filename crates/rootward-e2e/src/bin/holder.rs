//! A process that holds what a test of a check wants held: descriptors below a lowered limit, and memory.
//!
//! `holder hold DESCRIPTORS MIB` has that many descriptors open, of a hundred that it may have, and that much memory in
//! use; it says `holding` and goes on until its input ends. `holder fill` has a hundred as well, opens more and more,
//! and says what the check of its own descriptors makes of it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use rootward::{CheckContext, Name, Outcome};
use rootward_checks::{DescriptorsSettings, descriptors};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

type Error = Box<dyn std::error::Error>;

/// How many descriptors it may have.
const LIMIT: u64 = 100;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["hold", descriptors, mib] => hold(descriptors, mib),
        ["fill"] => fill(),
        _ => Err("holder hold DESCRIPTORS MIB, or holder fill".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "holder: {error}");
            ExitCode::FAILURE
        }
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut output = io::stdout();
    writeln!(output, "{line}")?;
    output.flush()
}

fn lower_the_limit() -> Result<(), Error> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(LIMIT),
            maximum,
        },
    )?;
    Ok(())
}

/// How many descriptors are open, counted as older kernels need it.
fn open() -> io::Result<usize> {
    // The one that reads the directory is among them.
    Ok(std::fs::read_dir("/proc/self/fd")?.count() - 1)
}

fn hold(descriptors: &str, mib: &str) -> Result<(), Error> {
    lower_the_limit()?;
    let mut held = Vec::new();
    // Some are open already: its input, output and errors, and what it was started with.
    for _ in open()?..descriptors.parse()? {
        held.push(File::open("/dev/null")?);
    }
    // Written to, so that it is really there.
    let memory = vec![1_u8; mib.parse::<usize>()? << 20];
    say("holding")?;
    io::stdin().read_to_end(&mut Vec::new())?;
    drop((held, memory));
    Ok(())
}

fn fill() -> Result<(), Error> {
    lower_the_limit()?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let check = descriptors("descriptors", DescriptorsSettings::new());
    let name = Name::parse("holder")?;
    let context = CheckContext::new(name.clone(), name.clone(), name, Duration::from_secs(1));
    let ask = || match runtime.block_on(check.run_once(context.clone())) {
        Ok(Outcome::Up) => say("up"),
        Ok(Outcome::Degraded(failure)) => say(&format!("degraded: {failure}")),
        Err(failure) => say(&format!("down: {failure}")),
    };
    ask()?;
    let mut held = Vec::new();
    for step in [81, 96] {
        for _ in open()?..step {
            held.push(File::open("/dev/null")?);
        }
        ask()?;
    }
    // Until none is left.
    while let Ok(file) = File::open("/dev/null") {
        held.push(file);
    }
    ask()?;
    held.clear();
    ask()?;
    Ok(())
}
