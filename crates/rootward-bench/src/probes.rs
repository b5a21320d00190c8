//! `probes`: `/livez` beside what answers a fixed text and does nothing else. Goals P1 and P2.

use std::io;

use crate::client::Connection;
use crate::goal::{Bound, Goal, Outcome};
use crate::plan::Plan;
use crate::proxies;
use crate::reference::{self, Reference};
use crate::rounds::{self, Absent, Figure, Measured, Ratio};
use crate::statistics::Figures;
use crate::subject::{Dependencies, Subject};
use crate::temporary::Directory;

const PATH: &str = "/livez";

pub(crate) async fn run(plan: &Plan) -> io::Result<Outcome> {
    let directory = Directory::create()?;
    let subject = Subject::start(Dependencies::Answer).await?;
    let body = Connection::open(subject.address, PATH, 200)
        .await?
        .body()
        .await?;
    let text = String::from_utf8(body.clone()).map_err(io::Error::other)?;
    let reference = Reference::start(body.into(), 200)?;
    let mut contenders = vec![subject.contender(PATH, 200), reference.contender(PATH)];
    let mut absent = Vec::new();
    for (name, proxy) in [
        (
            proxies::NGINX,
            proxies::nginx(&directory, PATH, &text).await,
        ),
        (
            proxies::HAPROXY,
            proxies::haproxy(&directory, PATH, &text).await,
        ),
    ] {
        match proxy {
            Ok(contender) => contenders.push(contender),
            Err(why) => absent.push(Absent { name, why }),
        }
    }
    let measured = rounds::run(&contenders, plan).await?;
    let title = format!(
        "{PATH}: ours (10 healthy checks, a thread of its own) beside servers with a fixed text; every body is {text}"
    );
    let table = measured.table(&title, plan, Ratio::OursOverIts, &absent);
    let goals = goals(&measured, &absent);
    subject.stop().await;
    Ok(Outcome { table, goals })
}

fn goals(measured: &Measured, absent: &[Absent]) -> Vec<Goal> {
    let median = |name: &str, figures: Option<Figures>| {
        figures
            .map(|figures| figures.median())
            .ok_or_else(|| Absent::reason(absent, name))
    };
    let cpu = |name| median(name, measured.ratio(name, Figure::Cpu, Ratio::OursOverIts));
    let throughput = |name| {
        median(
            name,
            measured.ratio(name, Figure::PerSecond, Ratio::OursOverIts),
        )
    };
    vec![
        Goal::new(
            "P1",
            "CPU per answer, ours / bare hyper (the aim is 1.15)",
            Bound::AtMost(1.25),
            cpu(reference::NAME),
        ),
        Goal::new(
            "P1",
            "answers per second, ours / bare hyper",
            Bound::AtLeast(0.85),
            throughput(reference::NAME),
        ),
        Goal::new(
            "P2",
            "CPU per answer, ours / nginx",
            Bound::AtMost(1.25),
            cpu(proxies::NGINX),
        ),
    ]
}
