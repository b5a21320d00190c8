//! Nothing is left of runs that are over.

use std::time::Duration;

use rootward_e2e::{Error, Run, until};
use tokio::time::Instant;

use super::service::{Service, Settings};
use super::{factor, lasting};
use crate::alone::alone;

/// What the service holds at one moment.
#[derive(Clone, Copy, Debug)]
struct Held {
    runs: u64,
    tasks: usize,
    sockets: usize,
    resident_kib: u64,
}

impl Held {
    /// The least of some looks: between two runs, nothing of a run is there.
    async fn by(service: &Service) -> Self {
        let mut least: Option<Self> = None;
        for _ in 0..20 {
            let told = service.tell("");
            let now = Self {
                runs: told.runs(),
                tasks: told.tasks,
                sockets: service.sockets(),
                resident_kib: service.resident_kib(),
            };
            let so_far = least.unwrap_or(now);
            least = Some(Self {
                runs: now.runs,
                tasks: now.tasks.min(so_far.tasks),
                sockets: now.sockets.min(so_far.sockets),
                resident_kib: now.resident_kib.min(so_far.resident_kib),
            });
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        least.expect("it was looked at")
    }
}

/// Waits until so many runs have begun.
async fn runs(service: &Service, count: u64) -> Result<(), Error> {
    let what = format!("{count} runs");
    let limit = lasting(Duration::from_secs(60));
    until(
        &what,
        limit,
        async || service.tell("").runs(),
        |runs| *runs >= count,
    )
    .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_008_of_ten_thousand_checks_that_timed_out_no_task_no_socket_and_no_memory_is_left()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let _alone = alone().await;
    let settings = Settings {
        interval: Duration::from_millis(40),
        timeout: Duration::from_millis(10),
        ..Settings::of("socket:20,hang:20")
    };
    let service = Service::start(&run, settings).await?;
    // The first runs fill what is kept: log buffers, arenas of the allocator.
    runs(&service, 1000).await?;
    let (before, began) = (Held::by(&service).await, Instant::now());
    runs(&service, before.runs + 10_000 * u64::from(factor())).await?;
    let after = Held::by(&service).await;
    println!(
        "after {} timed-out runs in {:.1?}: {before:?} became {after:?}",
        after.runs - before.runs,
        began.elapsed()
    );
    // At each look up to forty runs are under way; what would have stayed are thousands.
    assert!(after.tasks <= before.tasks + 40, "tasks stayed");
    assert!(after.sockets <= before.sockets + 20, "sockets stayed");
    let grown = after.resident_kib.saturating_sub(before.resident_kib);
    assert!(
        grown * 20 <= before.resident_kib,
        "{grown} KiB of {} KiB more",
        before.resident_kib
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_017_memory_and_sockets_level_off_over_tens_of_thousands_of_checks() -> Result<(), Error>
{
    let run = Run::from_environment()?;
    let _alone = alone().await;
    let settings = Settings {
        interval: Duration::from_millis(20),
        timeout: Duration::from_millis(5),
        ..Settings::of("good:60,socket:2,hang:2")
    };
    let service = Service::start(&run, settings).await?;
    runs(&service, 5000).await?;
    let before = Held::by(&service).await;
    runs(&service, before.runs + 20_000 * u64::from(factor())).await?;
    let after = Held::by(&service).await;
    println!(
        "after {} runs: {before:?} became {after:?}",
        after.runs - before.runs
    );
    let grown = after.resident_kib.saturating_sub(before.resident_kib);
    // 16 bytes a run that are kept would be 312 KiB and more.
    assert!(grown <= 300, "{grown} KiB more");
    assert!(after.sockets <= before.sockets + 4 && after.tasks <= before.tasks + 64);
    Ok(())
}
