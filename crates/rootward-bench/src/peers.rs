//! `peers`: our readiness beside the health endpoints of other libraries, each with one check that is always good.
//! Goal P3. It compares cost, not merit: the languages differ, and so does what a green answer means.

mod install;

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use crate::child::{Child, free_address};
use crate::client::Connection;
use crate::goal::{Bound, Goal, Outcome};
use crate::plan::Plan;
use crate::reference::Reference;
use crate::rounds::{self, Absent, Contender, Figure, Measured, Ratio, Serving};
use crate::subject::{Dependencies, Subject};
use crate::temporary::Directory;

use install::Ecosystem;

const PATH: &str = "/readyz";

/// Another library, and how its program is started.
struct Peer {
    name: &'static str,
    ecosystem: Ecosystem,
    /// Of its files.
    short: &'static str,
    path: &'static str,
    runs: Runs,
    arguments: &'static [&'static str],
    /// How much more processor time an answer of it takes than one of ours, at least (goal P3).
    factor: Option<f64>,
}

/// What runs its program.
#[derive(Debug, Clone, Copy)]
enum Runs {
    Node,
    Uvicorn,
    Gunicorn,
    Itself,
}

const PEERS: [Peer; 7] = [
    Peer {
        name: "@godaddy/terminus",
        ecosystem: Ecosystem::Node,
        short: "terminus",
        path: "/health",
        runs: Runs::Node,
        arguments: &["terminus.cjs"],
        factor: Some(4.0),
    },
    Peer {
        name: "lightship",
        ecosystem: Ecosystem::Node,
        short: "lightship",
        path: "/ready",
        runs: Runs::Node,
        arguments: &["lightship.mjs"],
        factor: Some(4.0),
    },
    Peer {
        name: "@nestjs/terminus",
        ecosystem: Ecosystem::Node,
        short: "nestjs",
        path: "/health",
        runs: Runs::Node,
        arguments: &["nestjs.cjs"],
        factor: Some(25.0),
    },
    Peer {
        name: "fastapi-health",
        ecosystem: Ecosystem::Python,
        short: "fastapi",
        path: "/health",
        runs: Runs::Uvicorn,
        arguments: &["--loop", "asyncio", "--http", "h11", "fastapi_app:app"],
        factor: Some(30.0),
    },
    Peer {
        name: "fastapi-health, uvloop",
        ecosystem: Ecosystem::Python,
        short: "fastapi-uvloop",
        path: "/health",
        runs: Runs::Uvicorn,
        arguments: &["--loop", "uvloop", "--http", "httptools", "fastapi_app:app"],
        factor: None,
    },
    Peer {
        name: "py-healthcheck",
        ecosystem: Ecosystem::Python,
        short: "flask",
        path: "/health",
        runs: Runs::Gunicorn,
        arguments: &["flask_app:app"],
        factor: Some(55.0),
    },
    Peer {
        name: "alexliesenfeld/health",
        ecosystem: Ecosystem::Go,
        short: "go",
        path: "/health",
        runs: Runs::Itself,
        arguments: &[],
        factor: None,
    },
];

/// Those for which there is no program here.
const MISSING: [(&str, &str); 2] = [
    (
        "hellofresh/health-go",
        "its module could not be had where this benchmark was written, so there is no program for it",
    ),
    (
        "Spring Boot Actuator",
        "its packages could not be had where this benchmark was written, so there is no program for it",
    ),
];

pub(crate) async fn run(plan: &Plan, progress: fn(&str)) -> io::Result<Outcome> {
    let directory = Directory::create()?;
    let subject = Subject::start(Dependencies::Answer).await?;
    let body = Connection::open(subject.address, PATH, 200)
        .await?
        .body()
        .await?;
    let reference = Reference::start(body.into(), 200)?;
    let mut contenders = vec![subject.contender(PATH, 200), reference.contender(PATH)];
    let mut absent = Vec::new();
    for ecosystem in Ecosystem::ALL {
        progress(ecosystem.progress());
        let installed = ecosystem.install(&directory).await;
        for peer in PEERS.iter().filter(|peer| peer.ecosystem == ecosystem) {
            let started = match &installed {
                Ok(home) => peer.start(home, &directory).await,
                Err(why) => Err(why.clone()),
            };
            match started {
                Ok(contender) => contenders.push(contender),
                Err(why) => absent.push(Absent {
                    name: peer.name,
                    why,
                }),
            }
        }
    }
    absent.extend(MISSING.map(|(name, why)| Absent {
        name,
        why: why.to_owned(),
    }));
    progress("measuring");
    let measured = rounds::run(&contenders, plan).await?;
    let title = format!(
        "{PATH} of ours (10 healthy checks) beside other libraries' endpoints (one healthy check each), one process each; \
         it compares cost, not merit"
    );
    let table = measured.table(&title, plan, Ratio::ItsOverOurs, &absent);
    let goals = goals(&measured, &absent);
    subject.stop().await;
    Ok(Outcome { table, goals })
}

fn goals(measured: &Measured, absent: &[Absent]) -> Vec<Goal> {
    let with_goal = PEERS
        .iter()
        .filter_map(|peer| Some((peer.name, peer.factor?)));
    with_goal
        .map(|(name, factor)| {
            let ratio = measured
                .ratio(name, Figure::Cpu, Ratio::ItsOverOurs)
                .map(|figures| figures.median())
                .ok_or_else(|| Absent::reason(absent, name));
            let what = format!("CPU per answer, {name} / ours");
            Goal::new("P3", what, Bound::AtLeast(factor), ratio)
        })
        .collect()
}

impl Runs {
    fn command(self, address: SocketAddr, home: &Path) -> Command {
        match self {
            Self::Node => Command::new("node"),
            Self::Itself => Command::new(home.join("peer")),
            Self::Uvicorn => {
                let mut command = Command::new(home.join("venv/bin/uvicorn"));
                command.args(["--host", "127.0.0.1"]);
                command.args(["--port", &address.port().to_string()]);
                command.args(["--no-access-log", "--log-level", "warning"]);
                command
            }
            Self::Gunicorn => {
                let mut command = Command::new(home.join("venv/bin/gunicorn"));
                command.args(["--bind", &address.to_string(), "--workers", "1"]);
                command.args(["--worker-class", "gthread", "--threads", "4"]);
                command.args(["--keep-alive", "75"]);
                command
            }
        }
    }
}

impl Peer {
    /// Starts it and waits until it says that it is healthy. The error is a sentence for the table.
    async fn start(&self, home: &Path, directory: &Directory) -> Result<Contender, String> {
        let address = free_address().map_err(|error| error.to_string())?;
        let mut command = self.runs.command(address, home);
        command.args(self.arguments).current_dir(home);
        // What a program leaves at home goes with the directory.
        command.env("PORT", address.port().to_string());
        command.env("HOME", directory.path());
        let mut child =
            Child::start(self.short, &mut command, directory).map_err(|error| error.to_string())?;
        child
            .healthy(address, self.path)
            .await
            .map_err(|error| error.to_string())?;
        Ok(Contender {
            name: self.name,
            address,
            path: self.path,
            code: 200,
            serving: Serving::Program(child),
        })
    }
}
