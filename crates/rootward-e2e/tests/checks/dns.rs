//! Names, by a real dnsmasq, and by a resolver that says nothing.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use rootward::{Check, Health, Unlabelled};
use rootward_checks::open::{DnsRecord, DnsSettings};
use rootward_checks::{dns, tcp};
use rootward_e2e::{Error, Private, Run, free_port, until};
use tokio::net::{TcpListener, UdpSocket};
use tokio::time::Instant;

use crate::every::{LONG, SHORT, alone, beside_others, leaves_nothing, run, run_until};

/// How many runs are cut off in the test that counts what they leave.
const RUNS: usize = 200;

const ZONE: &str = "planted.test";

fn check(name: &str, record: DnsRecord, server: SocketAddr) -> Check<Unlabelled> {
    let settings = DnsSettings {
        record,
        server: Some(server),
        ..DnsSettings::new(name)
    };
    dns("names", settings).expect("settings")
}

fn orders(server: SocketAddr) -> Check<Unlabelled> {
    check(&format!("orders.{ZONE}"), DnsRecord::A, server)
}

async fn start(run: &Run) -> Result<(Private, SocketAddr), Error> {
    let mut server = Private::new(run, "dnsmasq", "dnsmasq")?;
    let port = server.port();
    let arguments = move |command: &mut std::process::Command| {
        command.args([
            "--keep-in-foreground",
            "--conf-file=/dev/null",
            "--no-resolv",
            "--no-hosts",
            "--bind-interfaces",
            "--listen-address=127.0.0.1",
            "--pid-file=",
            "--user=",
            "--group=",
            "--cache-size=0",
        ]);
        command.arg(format!("--port={port}"));
        // All of the zone is known here; what is not in it does not exist. Other names are refused.
        command.arg(format!("--local=/{ZONE}/"));
        command.arg(format!("--host-record=orders.{ZONE},10.0.0.1"));
        command.arg(format!("--host-record=six.{ZONE},fd00::1"));
        command.arg(format!("--cname=alias.{ZONE},orders.{ZONE}"));
        command.arg(format!("--srv-host=_kafka._tcp.{ZONE},broker.{ZONE},9092"));
    };
    server.run(arguments).await?;
    Ok((server, SocketAddr::from((Ipv4Addr::LOCALHOST, port))))
}

/// A resolver that takes every question and answers none.
async fn silent() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .expect("a port");
    let address = socket.local_addr().expect("its address");
    (socket, address)
}

#[tokio::test]
async fn what_dnsmasq_knows_and_what_it_does_not() -> Result<(), Error> {
    let _turn = beside_others().await;
    let (_server, address) = start(&Run::from_environment()?).await?;
    for (name, record, expected) in [
        ("orders.planted.test", DnsRecord::A, "up"),
        ("ORDERS.planted.test.", DnsRecord::A, "up"),
        ("alias.planted.test", DnsRecord::A, "up"),
        ("six.planted.test", DnsRecord::Aaaa, "up"),
        ("_kafka._tcp.planted.test", DnsRecord::Srv, "up"),
        (
            "orders.planted.test",
            DnsRecord::Aaaa,
            "down, dns, the name has no record of that kind",
        ),
        (
            "orders.planted.test",
            DnsRecord::Srv,
            "down, dns, the name has no record of that kind",
        ),
        (
            "payments.planted.test",
            DnsRecord::A,
            "down, dns, the name does not exist",
        ),
        (
            "planted.example",
            DnsRecord::A,
            "down, dns, the resolver refuses to answer (REFUSED)",
        ),
    ] {
        let seen = run(&check(name, record, address), LONG).await;
        assert_eq!(seen, expected, "{name} {record:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_resolver_is_seen_frozen_and_killed_and_comes_back_to_the_same_check() -> Result<(), Error>
{
    let _turn = beside_others().await;
    let (mut server, address) = start(&Run::from_environment()?).await?;
    let check = orders(address);
    run_until(&check, LONG, "up").await;
    server.freeze()?;
    let silent = |seen: &str| seen == "cut off" || seen.starts_with("down, timeout, ");
    let frozen = run(&check, SHORT).await;
    assert!(silent(&frozen), "{frozen}");
    server.thaw()?;
    run_until(&check, LONG, "up").await;
    server.kill().await?;
    let gone = run(&check, SHORT).await;
    assert!(silent(&gone), "{gone}");
    server.start_again().await?;
    run_until(&check, LONG, "up").await;
    Ok(())
}

#[tokio::test]
async fn a_resolver_that_is_not_there_is_said_not_to_answer() {
    let _turn = beside_others().await;
    let port = free_port().expect("a port");
    let check = orders(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let seen = run(&check, Duration::from_secs(2)).await;
    assert!(
        seen == "down, timeout, the resolver did not answer in time" || seen == "cut off",
        "{seen}"
    );
}

#[tokio::test]
async fn a_thousand_runs_against_dnsmasq_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let (_server, address) = start(&Run::from_environment()?).await?;
    leaves_nothing(&orders(address), "up").await;
    Ok(())
}

#[tokio::test]
async fn kf_013_a_resolver_that_never_answers_is_named_and_a_run_that_is_cut_off_leaves_nothing() {
    let _turn = alone().await;
    let (_socket, address) = silent().await;
    let check = orders(address);
    let held = || {
        let descriptors = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let metrics = tokio::runtime::Handle::current().metrics();
        (descriptors, metrics.num_alive_tasks())
    };
    let before = held();
    for _ in 0..5 {
        let began = Instant::now();
        let seen = run(&check, SHORT).await;
        assert!(
            seen == "down, timeout, the resolver did not answer in time" || seen == "cut off",
            "{seen}"
        );
        assert!(began.elapsed() < SHORT * 10, "{:?}", began.elapsed());
    }
    // Cut off from outside, long before its own limit.
    for _ in 0..RUNS {
        let running = run(&check, LONG);
        let cut = tokio::time::timeout(Duration::from_millis(10), running).await;
        assert!(cut.is_err(), "nobody answered");
    }
    // Tests that wait for their turn open a few descriptors of their own meanwhile; one a run would be far more.
    let nothing_more = |held: &(usize, usize)| held.0 < before.0 + RUNS / 2 && held.1 <= before.1;
    until("nothing is left", LONG, async || held(), nothing_more)
        .await
        .expect("what it had is given back");
}

/// With a resolver that says nothing, checks of names fail, and checks of addresses go on as before.
#[tokio::test]
async fn kf_013_checks_of_addresses_keep_their_schedule_while_fifty_wait_for_a_silent_resolver() {
    let _turn = alone().await;
    let (_socket, silent) = silent().await;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .expect("a port");
    let port = listener.local_addr().expect("its address").port();
    let accepting = tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    let every = |check: Check<Unlabelled>| {
        let check = check.interval(Duration::from_secs(1));
        check.timeout(Duration::from_millis(700)).soft()
    };
    let mut builder = Health::builder("cart").instance("cart-0");
    for number in 0..50 {
        let name = format!("name-{number}");
        let settings = DnsSettings {
            server: Some(silent),
            ..DnsSettings::new(format!("{name}.{ZONE}"))
        };
        let named = dns(name, settings).expect("settings");
        let addressed = tcp(format!("address-{number}"), "127.0.0.1", port).expect("settings");
        builder = builder.check(every(named)).check(every(addressed));
    }
    let health = builder.start().expect("it starts");
    let look = async || {
        let report = health.report();
        let of = |prefix: &str, status: &str| {
            let all = report.components.iter();
            let ours = all.filter(|component| component.name.starts_with(prefix));
            ours.filter(|component| component.status.as_str() == status)
                .count()
        };
        let completed = report.components.iter();
        let completed = completed.filter(|component| component.name.starts_with("address-"));
        let fewest = completed.filter_map(|component| component.seq).min();
        (of("name-", "down"), of("address-", "up"), fewest)
    };
    let is_so = |seen: &(usize, usize, Option<u64>)| {
        seen.0 == 50 && seen.1 == 50 && seen.2.is_some_and(|fewest| fewest >= 5)
    };
    until(
        "all names down, all addresses asked five times",
        LONG,
        look,
        is_so,
    )
    .await
    .expect("addresses are asked on");
    let report = health.report();
    let named = report
        .components
        .iter()
        .find(|component| component.name == "name-0");
    let named = named.expect("it is in the report");
    let category = named.error_category.as_ref();
    assert_eq!(category.map(|category| category.as_str()), Some("timeout"));
    drop(report);
    health.stop().await;
    accepting.abort();
}

#[test]
fn a_name_that_cannot_be_gets_a_sentence_without_it() {
    for name in [
        "",
        ".",
        "planted name",
        "planted/x",
        "10.0.0.1",
        "bücher.planted",
        &"a".repeat(64),
    ] {
        let error = dns("names", DnsSettings::new(name)).err();
        let sentence = error
            .map(|error| error.to_string())
            .unwrap_or_else(|| panic!("{name} was taken"));
        assert!(sentence.starts_with("the name may have"), "{sentence}");
    }
}
