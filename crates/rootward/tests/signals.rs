//! SIGTERM and SIGINT in real processes: each test starts this program again as a service and sends it signals.
#![cfg(target_os = "linux")]

use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rootward::{Builder, Health};
use rustix::process::{Pid, Signal, kill_process};

/// What the child is to be.
const ROLE: &str = "ROOTWARD_TEST_ROLE";

/// Longer than any of this takes.
const LIMIT: Duration = Duration::from_secs(20);

fn cart() -> Builder {
    Health::builder("cart")
        .instance("cart-0")
        .listen(([127, 0, 0, 1], 0).into())
}

/// Says that it has started, and where it listens.
fn say(address: Option<SocketAddr>) {
    let address = address.map_or_else(String::new, |address| address.to_string());
    writeln!(io::stdout(), "listens {address}").expect("said");
}

#[expect(
    clippy::disallowed_methods,
    reason = "the application under test blocks its own runtime"
)]
fn block() {
    thread::sleep(LIMIT);
}

/// Not a test: the service that the tests below start.
#[test]
#[ignore = "a service, started by the other tests"]
fn child() {
    let role = env::var(ROLE).unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async move {
        let builder = cart().drain_delay(Duration::from_millis(50));
        match role.as_str() {
            "blocked" => {
                let health = builder.drain_on_sigterm().start().expect("it starts");
                say(health.listen_addr());
                block();
            }
            "blocked, without a call" => {
                let health = builder.start().expect("it starts");
                say(health.listen_addr());
                block();
            }
            "drained" => {
                let health = builder.drain_on_sigterm().start().expect("it starts");
                say(health.listen_addr());
                health.drain().stop_accepting().await;
                health.stop().await;
            }
            "without a listener" => {
                let builder = Health::builder("cart").instance("cart-0");
                let builder = builder.drain_delay(Duration::from_millis(50));
                let health = builder.drain_on_sigterm().start().expect("it starts");
                say(health.listen_addr());
                health.drain().stop_accepting().await;
                health.stop().await;
            }
            "stopped" => {
                let health = builder.drain_on_sigterm().start().expect("it starts");
                health.stop().await;
                say(None);
                block();
            }
            "stopped and started" => {
                for _ in 0..3 {
                    let health = cart().drain_on_sigterm().start().expect("it starts");
                    health.stop().await;
                }
                let health = builder.drain_on_sigterm().start().expect("it starts");
                say(health.listen_addr());
                health.drain().stop_accepting().await;
                health.stop().await;
            }
            "two" => {
                let other = cart().drain_delay(Duration::ZERO).drain_on_sigterm();
                let other = other.start().expect("it starts");
                let health = builder.drain_on_sigterm().start().expect("it starts");
                say(health.listen_addr());
                health.drain().stop_accepting().await;
                other.drain().stop_accepting().await;
                // One that starts when the signal has come already is on its way out, too.
                let late = cart().drain_delay(Duration::ZERO).drain_on_sigterm();
                let late = late.start().expect("it starts");
                late.drain().stop_accepting().await;
                for health in [late, other, health] {
                    health.stop().await;
                }
            }
            _ => panic!("no such role: {role:?}"),
        }
    });
}

/// A service in a process of its own, killed when dropped.
struct Service {
    child: Child,
    address: Option<SocketAddr>,
}

impl Service {
    fn start(role: &str) -> Self {
        let mut child = Command::new(env::current_exe().expect("this program"))
            .args(["--exact", "child", "--ignored", "--nocapture"])
            .env(ROLE, role)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let output = child.stdout.take().expect("its output");
        let (tell, told) = mpsc::channel();
        let reader = thread::spawn(move || {
            let lines = BufReader::new(output).lines();
            for line in lines.map_while(Result::ok) {
                // The test harness may have written the name of the test on the same line.
                if let Some((_, address)) = line.split_once("listens") {
                    let _ = tell.send(address.trim().parse().ok());
                }
            }
        });
        let address = told.recv_timeout(LIMIT).expect("it starts");
        drop(reader);
        Self { child, address }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("sent");
    }

    fn code(&self, path: &str) -> u16 {
        let address = self.address.expect("it listens");
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        let request = format!("GET {path} HTTP/1.1\r\nhost: probe\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
            .get(9..12)
            .and_then(|code| code.parse().ok())
            .expect("a code")
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "waits for a process, without a runtime"
    )]
    fn ends(mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("its state") {
                return status;
            }
            assert!(began.elapsed() < LIMIT, "it does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended, as it should.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn kf_090_a_blocked_service_is_not_ready_within_100_ms_of_a_sigterm_and_alive() {
    let service = Service::start("blocked");
    assert_eq!(
        (service.code("/readyz"), service.code("/livez")),
        (200, 200)
    );
    let sent = Instant::now();
    service.signal(Signal::TERM);
    while service.code("/readyz") == 200 {
        assert!(sent.elapsed() < LIMIT, "ready for ever");
    }
    let took = sent.elapsed();
    assert!(took <= Duration::from_millis(100), "after {took:?}");
    assert_eq!(
        (service.code("/readyz"), service.code("/livez")),
        (503, 200)
    );
}

#[test]
fn kf_093_a_second_signal_ends_a_blocked_service_at_once() {
    for second in [Signal::TERM, Signal::INT] {
        let service = Service::start("blocked");
        service.signal(Signal::TERM);
        while service.code("/readyz") == 200 {}
        let sent = Instant::now();
        service.signal(second);
        let status = service.ends();
        assert_eq!(status.signal(), Some(second.as_raw()));
        assert!(sent.elapsed() < Duration::from_secs(1));
    }
}

#[test]
fn a_signal_begins_the_drain_and_the_service_ends_by_itself() {
    for role in [
        "drained",
        "without a listener",
        "stopped and started",
        "two",
    ] {
        for signal in [Signal::TERM, Signal::INT] {
            let service = Service::start(role);
            service.signal(signal);
            assert!(service.ends().success(), "{role}");
        }
    }
}

#[test]
fn no_signal_is_touched_unless_it_was_asked_for() {
    let service = Service::start("blocked, without a call");
    service.signal(Signal::TERM);
    assert_eq!(service.ends().signal(), Some(Signal::TERM.as_raw()));
}

#[test]
fn after_a_stop_the_first_signal_ends_the_process() {
    let service = Service::start("stopped");
    service.signal(Signal::TERM);
    assert_eq!(service.ends().signal(), Some(Signal::TERM.as_raw()));
}
