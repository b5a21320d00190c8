//! What the service can be told to do to itself, over its control port.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rootward::{Health, Heartbeat};
use tokio::runtime::Handle;

use super::checks::Tallies;
use super::{WORKERS, sleep};

/// How long nothing may be heard from a declared task.
const WINDOW: Duration = Duration::from_secs(1);

pub(crate) struct Commands {
    pub(crate) runtime: Handle,
    pub(crate) tallies: Tallies,
    pub(crate) health: Option<Arc<Health>>,
    pub(crate) heartbeat: Mutex<Option<Heartbeat>>,
}

/// Takes commands, one a connection, until the port fails.
pub(crate) fn obey(control: &TcpListener, commands: &Commands) {
    for stream in control.incoming().map_while(Result::ok) {
        // Whoever gave the command sees that the connection broke.
        let _ = commands.answer(stream);
    }
}

impl Commands {
    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line)?;
        let (command, argument) = line.trim().split_once(' ').unwrap_or((line.trim(), "0"));
        let duration = Duration::from_millis(argument.parse().unwrap_or(0));
        match command {
            "block" => self.block(duration),
            "spin" => self.spin(duration),
            "watch" => self.watch(),
            "beat" => self.beat(),
            _ => {}
        }
        stream.write_all(self.tell().as_bytes())
    }

    /// Blocks every worker, and returns when all are blocked.
    fn block(&self, duration: Duration) {
        let blocked = Arc::new(Barrier::new(WORKERS + 1));
        for _ in 0..WORKERS {
            let blocked = Arc::clone(&blocked);
            self.runtime.spawn(async move {
                blocked.wait();
                sleep(duration);
            });
        }
        blocked.wait();
    }

    /// Keeps every worker busy, as requests that calculate would: each step is short, and there is always another.
    fn spin(&self, duration: Duration) {
        let until = Instant::now() + duration;
        for _ in 0..WORKERS {
            self.runtime.spawn(async move {
                while Instant::now() < until {
                    let step = Instant::now();
                    while step.elapsed() < Duration::from_millis(1) {
                        std::hint::spin_loop();
                    }
                    tokio::task::yield_now().await;
                }
            });
        }
    }

    /// Declares a critical task.
    fn watch(&self) {
        let heartbeat = self
            .health
            .as_ref()
            .map(|health| health.watch("order consumer", WINDOW));
        *self
            .heartbeat
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = heartbeat;
    }

    fn beat(&self) {
        if let Some(heartbeat) = &*self
            .heartbeat
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
        {
            heartbeat.beat();
        }
    }

    /// `tasks N`, then a line for each check.
    fn tell(&self) -> String {
        let mut text = format!("tasks {}\n", self.runtime.metrics().num_alive_tasks());
        for (name, tally) in &self.tallies {
            let [runs, most, late, longest] = [
                &tally.runs,
                &tally.most_at_once,
                &tally.late,
                &tally.longest_micros,
            ]
            .map(|count| count.load(Ordering::Relaxed));
            text.push_str(&format!("{name} {runs} {most} {late} {longest}\n"));
        }
        text
    }
}
