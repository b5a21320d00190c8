//! One instance of the service `orders`, which comes and goes on the same ports.

use std::process::Command;
use std::time::{Duration, Instant};

use rootward_e2e::{Error, Process, Run, free_port, until};
use rootward_fetch::{Limits, Request, Target, fetch};

/// How long an instance may take to start or to end, on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

/// How long one question to it may take.
const QUESTION: Limits = Limits {
    deadline: Duration::from_secs(2),
    max_body_bytes: 64 * 1024,
};

/// How an instance drains.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) delay: Duration,
    pub(super) grace: Duration,
}

/// A running instance. Dropped, it is killed.
pub(super) struct Instance {
    run: Run,
    name: String,
    orders: u16,
    probes: u16,
    timing: Timing,
    process: Process,
}

impl Instance {
    /// Returns when it is ready.
    pub(super) async fn start(run: &Run, name: String, timing: Timing) -> Result<Self, Error> {
        let (orders, probes) = (free_port()?, free_port()?);
        let process = spawn(run, &name, [orders, probes], timing)?;
        let instance = Self {
            run: run.clone(),
            name,
            orders,
            probes,
            timing,
            process,
        };
        instance.is_ready().await?;
        Ok(instance)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The port where it answers orders.
    pub(super) fn orders(&self) -> u16 {
        self.orders
    }

    /// The port where it answers probes.
    pub(super) fn probes(&self) -> u16 {
        self.probes
    }

    /// SIGTERM, and another process in its place. Returns when that is ready, with how long the first took to end.
    pub(super) async fn restart(&mut self) -> Result<Duration, Error> {
        let began = Instant::now();
        self.process.terminate()?;
        self.process.succeed(LIMIT).await?;
        let took = began.elapsed();
        self.process = spawn(
            &self.run,
            &self.name,
            [self.orders, self.probes],
            self.timing,
        )?;
        self.is_ready().await?;
        Ok(took)
    }

    async fn is_ready(&self) -> Result<(), Error> {
        let url = format!("http://127.0.0.1:{}/readyz", self.probes);
        let target = Target::parse(&url).expect("a URL");
        let what = format!("{} to be ready", self.name);
        let look = async || {
            let answer = fetch(&Request::get(&target), &QUESTION).await;
            answer.map_or(0, |answer| answer.status)
        };
        until(&what, LIMIT, look, |status| *status == 200).await?;
        Ok(())
    }
}

fn spawn(run: &Run, name: &str, ports: [u16; 2], timing: Timing) -> Result<Process, Error> {
    let mut command = Command::new(run.program("orders")?);
    command
        .env("HOSTNAME", name)
        .env("ORDERS_LISTEN", format!("127.0.0.1:{}", ports[0]))
        .env("ORDERS_PROBES", format!("127.0.0.1:{}", ports[1]))
        .env(
            "ORDERS_DRAIN_DELAY_MS",
            timing.delay.as_millis().to_string(),
        )
        .env(
            "ORDERS_DRAIN_GRACE_MS",
            timing.grace.as_millis().to_string(),
        );
    Process::spawn(run, name, command)
}
