//! The proof, on two private PostgreSQL servers.

use std::sync::Arc;
use std::time::Duration;

use rootward_e2e::{Error, Run, until};
use tokio::time::{Instant, sleep, sleep_until};

use crate::alone::alone;

use super::database::{Database, MAX_CONNECTIONS};
use super::fleet::{Fleet, Probes, REPLICAS};
use super::load::{Load, What};
use super::orchestrator::{get, keep};
use super::table::{Sample, Story, quantile, timeline};

const START_LIMIT: Duration = Duration::from_secs(60);
const CALM: Duration = Duration::from_secs(3);
const SALE: Duration = Duration::from_secs(15);
/// How long both fleets have to be whole again; then the count ends.
const RECOVERY: Duration = Duration::from_secs(12);
const SAMPLE: Duration = Duration::from_millis(200);

/// A fleet that runs.
struct Side {
    fleet: Arc<Fleet>,
    database: Arc<Database>,
    keepers: tokio::task::JoinSet<Result<(), Error>>,
    established_at_start: i64,
    restarts_at_start: usize,
}

impl Side {
    async fn start(run: &Run, probes: Probes) -> Result<Self, Error> {
        let database = Arc::new(Database::start(run).await?);
        let fleet = Arc::new(Fleet::new(probes, database.url())?);
        let keepers = keep(run, &fleet);
        Ok(Self {
            fleet,
            database,
            keepers,
            established_at_start: 0,
            restarts_at_start: 0,
        })
    }

    async fn be_ready(&mut self) -> Result<(), Error> {
        let fleet = &self.fleet;
        let what = format!(
            "the fleet with {} probes to be ready",
            fleet.probes.as_str()
        );
        until(
            &what,
            START_LIMIT,
            async || fleet.ready(),
            |ready| *ready == REPLICAS,
        )
        .await?;
        self.established_at_start = self.database.established().await;
        self.restarts_at_start = fleet.restarts();
        Ok(())
    }

    fn restarts(&self) -> usize {
        self.fleet.restarts() - self.restarts_at_start
    }

    async fn sample(&self) -> Sample {
        Sample {
            at: Instant::now(),
            ready: self.fleet.ready(),
            restarts: self.restarts(),
            connections: self.database.connections().await,
        }
    }

    /// How many reports say that something is wrong.
    async fn troubled_reports(&self) -> usize {
        let mut count = 0;
        for replica in &self.fleet.replicas {
            let answer = get(replica.probe_port, "/status", Duration::from_secs(2)).await;
            count += usize::from(answer.is_ok_and(|(code, _)| code != 200));
        }
        count
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_storm_takes_the_fleet_with_naive_probes_and_nobody_of_ours() -> Result<(), Error>
{
    let run = Run::from_environment()?;
    let _alone = alone().await;
    let (mut naive, mut ours) = tokio::try_join!(
        Side::start(&run, Probes::Naive),
        Side::start(&run, Probes::Rootward)
    )?;
    tokio::try_join!(naive.be_ready(), ours.be_ready())?;

    let began = Instant::now();
    let loads = [Load::start(&naive.fleet), Load::start(&ours.fleet)];
    let sale = began + CALM;
    let mut samples = [Vec::new(), Vec::new()];
    let sampling = async {
        let end = sale + SALE + RECOVERY;
        while Instant::now() < end {
            let (one, two) = tokio::join!(naive.sample(), ours.sample());
            samples[0].push(one);
            samples[1].push(two);
            sleep(SAMPLE).await;
        }
    };
    let contending = async {
        sleep_until(sale).await;
        for load in &loads {
            load.set_sale(true);
        }
        sleep_until(sale + SALE).await;
        for load in &loads {
            load.set_sale(false);
        }
        (Instant::now(), ours.troubled_reports().await)
    };
    let ((), (over, troubled)) = tokio::join!(sampling, contending);
    let end = Instant::now();

    let done = loads.map(|load| load.done());
    let established = [
        naive.database.established().await - naive.established_at_start,
        ours.database.established().await - ours.established_at_start,
    ];
    for side in [&mut naive, &mut ours] {
        while let Some(ended) = side.keepers.try_join_next() {
            ended.expect("a keeper does not panic")?;
        }
    }
    let [naive_samples, our_samples] = samples;
    let [naive_done, our_done] = done;
    let stories = [
        Story {
            name: "naive",
            samples: naive_samples,
            done: naive_done,
        },
        Story {
            name: "rootward",
            samples: our_samples,
            done: our_done,
        },
    ];
    let marks = [
        (sale, "the sale begins: all orders want one row"),
        (over, "the sale is over"),
    ];
    println!("{}", timeline(&stories, began, &marks));

    println!("{:<82} {:>10} {:>10}", "", "naive", "rootward");
    let row = |what: &str, of: [String; 2]| println!("{what:<82} {:>10} {:>10}", of[0], of[1]);
    let each = |of: &dyn Fn(&Story) -> String| [of(&stories[0]), of(&stories[1])];
    let seconds = |duration: Duration| format!("{:.2} s", duration.as_secs_f64());
    let (fleets, total) = ([&naive.fleet, &ours.fleet], SALE + RECOVERY);
    let select_one = stories
        .each_ref()
        .map(|story| story.took(What::SelectOne, sale, over));
    row(
        "SELECT 1 through the pool in the sale, median of the answered",
        select_one
            .each_ref()
            .map(|took| seconds(quantile(took, 50))),
    );
    row(
        "restarts",
        [naive.restarts(), ours.restarts()].map(|count| count.to_string()),
    );
    row(
        "probes that failed",
        fleets.map(|fleet| fleet.failed_probes().to_string()),
    );
    row(
        &format!("fewest replicas ready, of {REPLICAS}"),
        each(&|story| story.fewest_ready(began).to_string()),
    );
    row(
        &format!("time with none ready, of {}", seconds(total)),
        each(&|story| seconds(story.time_below(1, began))),
    );
    row(
        "time with fewer than all ready",
        each(&|story| seconds(story.time_below(REPLICAS, began))),
    );
    row(
        "orders answered",
        each(&|story| {
            story
                .requests(What::Order, began, end)
                .took
                .len()
                .to_string()
        }),
    );
    row(
        "orders failed",
        each(&|story| story.requests(What::Order, began, end).failed.to_string()),
    );
    row(
        "cheap requests answered",
        each(&|story| {
            story
                .requests(What::Cheap, began, end)
                .took
                .len()
                .to_string()
        }),
    );
    row(
        "cheap requests failed",
        each(&|story| story.requests(What::Cheap, began, end).failed.to_string()),
    );
    row(
        "cheap requests in the sale, p99 of the answered",
        each(&|story| seconds(story.requests(What::Cheap, sale, over).quantile(99))),
    );
    row(
        &format!("most connections at a time, of {MAX_CONNECTIONS}"),
        each(&|story| story.most_connections().to_string()),
    );
    row(
        "connections established after the start",
        established.map(|count| count.to_string()),
    );
    row(
        "whole again after the sale: all ready, nothing fails",
        each(&|story| seconds(story.whole_after(over, REPLICAS))),
    );
    row(
        "last slow order after the sale",
        each(&|story| seconds(story.slow_until(over))),
    );
    for story in &stories {
        println!(
            "orders of {} that failed: {:?}",
            story.name,
            story.failures(What::Order)
        );
    }
    println!(
        "of ours, {troubled} of {REPLICAS} said in /status that they were down, and all stayed in traffic"
    );

    // The fault was what it was meant to be.
    let [naive_story, our_story] = &stories;
    let [_, select_one] = &select_one;
    assert!(select_one.len() >= 10, "SELECT 1 was hardly measured");
    let median = quantile(select_one, 50);
    assert!(
        median > Duration::from_millis(1500),
        "SELECT 1 took {median:?} only"
    );
    // The naive fleet can be lost, so the test can fail.
    assert!(
        naive.restarts() >= REPLICAS / 2,
        "{} restarts",
        naive.restarts()
    );
    let left = naive_story.fewest_ready(began);
    assert!(
        left <= REPLICAS / 4,
        "{left} replicas of the naive fleet stayed"
    );
    // Ours loses nobody.
    assert_eq!(ours.restarts(), 0, "restarts of ours");
    assert_eq!(
        our_story.fewest_ready(began),
        REPLICAS,
        "all of ours are in traffic all the time"
    );
    let cheap = our_story.requests(What::Cheap, began, end);
    assert_eq!(cheap.failed, 0, "cheap requests to ours failed");
    assert!(
        cheap.took.len() >= 300,
        "{} cheap requests only",
        cheap.took.len()
    );
    let orders = stories
        .each_ref()
        .map(|story| story.requests(What::Order, began, end));
    assert!(
        orders[0].failed > 0 && orders[1].failed == 0,
        "orders: {} and {} failed",
        orders[0].failed,
        orders[1].failed
    );
    let whole = stories
        .each_ref()
        .map(|story| story.whole_after(over, REPLICAS));
    assert!(whole[1] <= whole[0], "whole again after {whole:?}");
    // And says what is wrong all the same.
    assert!(
        troubled >= REPLICAS / 2,
        "{troubled} of ours say that something is wrong"
    );
    Ok(())
}
