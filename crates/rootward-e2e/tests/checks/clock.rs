//! The clock of this machine, judged by fakes whose clocks are off: a time server, and the date of a site.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, SystemTime};

use rootward::{Check, Unlabelled};
use rootward_checks::clock;
use rootward_checks::open::{ClockSettings, ClockSource, HttpSettings};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

use crate::every::{
    LONG, SHORT, alone, beside_others, leaves_nothing, run, run_until, survives_refusal,
    survives_silence,
};
use crate::scripted::Scripted;

/// From 1900 to 1970, in seconds.
const TO_1970: u64 = 2_208_988_800;

fn check(source: ClockSource) -> Check<Unlabelled> {
    let settings = ClockSettings {
        warn_above: Duration::from_secs(10),
        fail_above: Some(Duration::from_secs(120)),
        ..ClockSettings::new(source)
    };
    clock("clock", settings).expect("settings")
}

async fn by_http(address: SocketAddr) -> Check<Unlabelled> {
    let settings = HttpSettings::new(format!("http://{address}/"));
    check(ClockSource::Http(Box::new(settings)))
}

fn by_sntp(address: SocketAddr) -> Check<Unlabelled> {
    check(ClockSource::Sntp {
        host: address.ip().to_string(),
        port: address.port(),
    })
}

/// A fake time server: RFC 4330, stratum 2, its clock so many seconds ahead; `None` says nothing.
async fn time_server(ahead: Option<i64>) -> (SocketAddr, JoinHandle<()>) {
    time_server_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), ahead).await
}

/// At an address that another one had before, perhaps.
async fn time_server_at(address: SocketAddr, ahead: Option<i64>) -> (SocketAddr, JoinHandle<()>) {
    let socket = UdpSocket::bind(address).await.expect("a port");
    let address = socket.local_addr().expect("its address");
    let task = tokio::spawn(async move {
        let mut question = [0; 64];
        while let Ok((length, asking)) = socket.recv_from(&mut question).await {
            let Some(ahead) = ahead else { continue };
            assert_eq!((length, question[0]), (48, 0x23), "version 4, a client");
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let since = since.expect("after 1970");
            let seconds = (since.as_secs() + TO_1970).wrapping_add_signed(ahead) & 0xffff_ffff;
            let fraction = (u64::from(since.subsec_nanos()) << 32) / 1_000_000_000;
            let now = (seconds << 32 | fraction).to_be_bytes();
            let mut answer = [0; 48];
            answer[0] = 0x24;
            answer[1] = 2;
            answer[24..32].copy_from_slice(&question[40..48]);
            answer[32..40].copy_from_slice(&now);
            answer[40..48].copy_from_slice(&now);
            let _ = socket.send_to(&answer, asking).await;
        }
    });
    (address, task)
}

#[tokio::test]
async fn a_clock_is_judged_by_a_fake_time_server() {
    let _turn = beside_others().await;
    for (ahead, expected) in [
        (0, "up"),
        (60, "degraded, unknown, the clock here is at least "),
        (-60, "degraded, unknown, the clock here is at least "),
        (3600, "down, unknown, the clock here is at least "),
        (-3600, "down, unknown, the clock here is at least "),
    ] {
        let (address, task) = time_server(Some(ahead)).await;
        let seen = run(&by_sntp(address), LONG).await;
        assert!(seen.starts_with(expected), "{ahead}: {seen}");
        let direction = if ahead > 0 { " s behind" } else { " s ahead" };
        assert!(ahead == 0 || seen.ends_with(direction), "{ahead}: {seen}");
        task.abort();
    }
}

#[tokio::test]
async fn a_time_server_that_says_nothing_or_is_not_there_is_said_to() {
    let _turn = beside_others().await;
    let (address, task) = time_server(None).await;
    let check = by_sntp(address);
    let seen = run(&check, SHORT).await;
    assert!(
        seen == "down, timeout, the time server did not answer in time" || seen == "cut off",
        "{seen}"
    );
    task.abort();
    let _ = task.await;
    let seen = run(&check, LONG).await;
    assert_eq!(seen, "down, connection_refused, connection refused");
}

#[tokio::test]
async fn a_clock_is_judged_by_the_date_of_a_fake_site() {
    let _turn = beside_others().await;
    let site = Scripted::plain("").await;
    let check = by_http(site.address).await;
    let dated =
        |date: &str| format!("HTTP/1.1 404 Not Found\r\ndate: {date}\r\ncontent-length: 0\r\n\r\n");
    site.answers(dated("Fri, 31 Dec 1999 23:59:59 GMT"));
    let seen = run(&check, LONG).await;
    assert!(
        seen.starts_with("down, unknown, the clock here is at least "),
        "{seen}"
    );
    assert!(seen.ends_with(" s ahead"), "{seen}");
    site.answers(dated("planted"));
    assert_eq!(
        run(&check, LONG).await,
        "down, protocol, the answer has no date"
    );
    site.answers("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    assert_eq!(
        run(&check, LONG).await,
        "down, protocol, the answer has no date"
    );
    site.answers("HTTP/1.1 200 OK\r\nage: 60\r\ndate: Fri, 31 Dec 1999 23:59:59 GMT\r\ncontent-length: 0\r\n\r\n");
    assert_eq!(
        run(&check, LONG).await,
        "down, protocol, the answer comes out of a cache"
    );
    assert!(site.asked()[0].starts_with("HEAD / HTTP/1.1\r\n"));
}

#[tokio::test]
async fn a_site_with_a_clock_survives_what_every_check_does() {
    let _turn = beside_others().await;
    survives_silence(by_http).await;
    survives_refusal(by_http).await;
}

#[tokio::test]
async fn a_time_server_and_a_site_that_come_back_are_up_for_the_same_checks() {
    let _turn = beside_others().await;
    let (address, task) = time_server(Some(0)).await;
    let check = by_sntp(address);
    run_until(&check, LONG, "up").await;
    task.abort();
    let _ = task.await;
    run_until(&check, LONG, "down, connection_refused, ").await;
    let (_, again) = time_server_at(address, Some(0)).await;
    run_until(&check, LONG, "up").await;
    again.abort();

    let site = Scripted::plain(dated_now()).await;
    let address = site.address;
    let check = patient(address);
    run_until(&check, LONG, "up").await;
    drop(site);
    run_until(&check, LONG, "down, connection_refused, ").await;
    let _again = Scripted::at(address, dated_now(), None).await;
    run_until(&check, LONG, "up").await;
}

/// Takes a date that grew old while the test went on.
fn patient(site: SocketAddr) -> Check<Unlabelled> {
    let settings = HttpSettings::new(format!("http://{site}/"));
    let settings = ClockSettings {
        warn_above: Duration::from_secs(3000),
        fail_above: None,
        ..ClockSettings::new(ClockSource::Http(Box::new(settings)))
    };
    clock("clock", settings).expect("settings")
}

/// What a site with a right clock answers.
fn dated_now() -> String {
    let date = httpdate::fmt_http_date(SystemTime::now());
    format!("HTTP/1.1 200 OK\r\ndate: {date}\r\ncontent-length: 0\r\n\r\n")
}

#[tokio::test]
async fn a_thousand_questions_to_a_time_server_or_a_site_leave_nothing() {
    let _turn = alone().await;
    let site = Scripted::plain(dated_now()).await;
    leaves_nothing(&patient(site.address), "up").await;
    let (address, task) = time_server(Some(0)).await;
    leaves_nothing(&by_sntp(address), "up").await;
    task.abort();
}
