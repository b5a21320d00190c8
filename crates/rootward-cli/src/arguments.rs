//! The command line: what can be typed, and what the help says about it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use rootward_conform::Stub;
use rootward_demo::Story;
use rootward_formats::{Choice, Format, GrpcCode};

use crate::duration;

/// Where the aggregator listens unless its configuration says otherwise.
pub(crate) const DEFAULT_URL: &str = "http://127.0.0.1:8791";

/// Below the second that Kubernetes gives a probe that says nothing else, with time to start and to speak.
pub(crate) const PROBE_TIMEOUT: &str = "800ms";

const EXIT_CODES: &str = "\
Exit codes:
  0  all is well, or it was done
  1  something is not healthy, an incident is open, an expectation did not hold, or a probe failed
  2  what was given is wrong: an argument, a file, a configuration, an address, a URL, a name
  3  the system refused what is needed to run
  4  the aggregator, or the service to be tested or read, cannot be reached
Everything is explained in docs/exit-codes.md.";

const DEMO_EXIT_CODES: &str = "\
Exit codes: 0 everything came as expected, 1 something did not, 2 no such scenario or the port is in use,
3 the system refused what is needed to run, 130 ended by Ctrl-C in the middle of a story.";

/// The scenarios of the demo, one a line.
pub(crate) fn scenarios() -> String {
    let mut text = "Scenarios:".to_owned();
    for story in Story::ALL {
        text.push_str(&format!("\n  {:<15}{}", story.as_str(), story.about()));
    }
    text
}

/// Honest health endpoints, and one map that points to the failing dependency.
#[derive(Debug, Parser)]
#[command(name = "rootward", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the aggregator: poll every service, name what fails first, show it on a page.
    Serve(Serve),
    /// Run the sidecar of one service: its checks from a file, its probes on a port.
    Agent(Agent),
    /// Run a small shop with everything in it, break its database, and watch.
    Demo(Demo),
    /// Say in one screen how everything is.
    Status(Status),
    /// Say why something is as it is, and what it does to others.
    Explain(Explain),
    /// Play a recorded incident to the diagnosis, and print what it says at the end of each interval.
    Replay(Replay),
    /// Say how the health answer of another product is read, and why.
    Parse(Parse),
    /// Say everything that is wrong with a configuration, without running it.
    Validate(Validate),
    /// Print the JSON Schema of a configuration, for editors.
    Schema(Schema),
    /// Make a token that opens the detailed report of services, and the digest by which they know it.
    Token(Token),
    /// Ask one URL and end with 0 if the answer is 2xx: for HEALTHCHECK and exec probes, without a shell or curl.
    Probe(Probe),
    /// Tell the aggregator how a job went, or that it runs: for batch and cron, which nobody can poll.
    Checkin(Checkin),
    /// Put a running service, in any language, to the test: which promises of the contract it keeps and which it breaks.
    Conform(Conform),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Ctrl-C or SIGTERM stops it after answering what was asked; a second one ends it at once. A change of its files, or
SIGHUP, is taken up while it runs: what stays keeps its state. What is wrong with them changes nothing and is told by
the log, the page, /metrics and `rootward status`.
The log goes to standard error; ROOTWARD_LOG sets what it holds (error, warn, info, debug).

Exit codes: 0 stopped, 2 the configuration has problems or its address is in use,
3 the system refused what is needed to run.")]
pub(crate) struct Serve {
    /// The configuration: a YAML or TOML file, or a directory whose files are joined. Can be given several times.
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) config: Vec<PathBuf>,

    /// Write what the diagnosis is told into files in this directory, at most 32 of 64 MiB: `rootward replay` plays them.
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
SIGTERM or Ctrl-C drains it: not ready at once, ended after application.drain; a second one ends it at once. SIGHUP, or
a change of the file or of a file that it takes a value from, is taken up while it runs; what is wrong with the new file
changes nothing, and the report says so. docs/sidecar.md explains the file and the manifests.
The log goes to standard error; ROOTWARD_LOG sets what it holds (error, warn, info, debug).

Exit codes: 0 stopped, 2 the file has problems or its address is in use, 3 the system refused what is needed to run.")]
pub(crate) struct Agent {
    /// The agent's file.
    #[arg(value_name = "FILE", default_value = "agent.yaml")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = format!("{}\n\n{DEMO_EXIT_CODES}", scenarios()))]
pub(crate) struct Demo {
    /// Play this scenario instead of the tour.
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario: Option<String>,
    /// End after the story with a summary: 0 if everything came as expected, else 1. Without it the shop keeps running.
    #[arg(long)]
    pub(crate) exit: bool,
    /// Port of the page on 127.0.0.1; 0 takes any. By default 8791, or another one if that is in use.
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Print the configuration that the demo's aggregator runs on, and end.
    #[arg(long, conflicts_with_all = ["scenario", "exit"])]
    pub(crate) print_config: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 all is healthy, 1 something is not or an incident is open, 4 the aggregator cannot be reached.")]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) aggregator: Aggregator,
    /// Print the answer of the API as it came.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 explained, 2 nothing has that name, 4 the aggregator cannot be reached.")]
pub(crate) struct Explain {
    /// A service, an instance (cart#0), a resource, an incident (inc-1) or a cause (node:orders-db).
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) aggregator: Aggregator,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The recording has one JSON object a line: the map first, then what was received. Its format, and that of the answers, is
in fixtures/rootcause/README.md. Lines of other types are skipped; a line that is wrong is left out and told.

Exit codes: 0 played, 2 the file is missing or may not be read, it has no map, or lines in it are wrong.")]
pub(crate) struct Replay {
    /// The recording, or - for standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
docs/formats.md has the formats and the rules. A URL is asked once with GET; no redirect is followed.

Exit codes: 0 read, whatever it says, 2 what was given is wrong, 4 the URL cannot be reached.")]
pub(crate) struct Parse {
    /// The answer: a file, - for standard input, or a URL that is asked for it.
    #[arg(value_name = "FILE|URL|-")]
    pub(crate) source: String,
    /// Read it as this format; auto finds it out.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = format)]
    pub(crate) format: Choice,
    /// The code of HTTP that a file was answered with.
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(100..=599))]
    pub(crate) http_status: Option<u16>,
    /// The content type that a file was answered with.
    #[arg(long, value_name = "TYPE")]
    pub(crate) content_type: Option<String>,
    /// A header that a file was answered with. Can be given several times.
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header)]
    pub(crate) headers: Vec<(String, String)>,
    /// The status of gRPC that came with it, such as NOT_FOUND.
    #[arg(long, value_name = "CODE")]
    pub(crate) grpc_code: Option<GrpcCode>,
    /// The code that the command ended with whose output it is.
    #[arg(long, value_name = "CODE", allow_negative_numbers = true)]
    pub(crate) exit_code: Option<i32>,
    /// How long asking a URL may take, such as 2s.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "5s")]
    pub(crate) timeout: Duration,
    /// Print the reading as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A format by its name.
fn format(name: &str) -> Result<Choice, String> {
    name.parse().map_err(|error| {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.as_str()).collect();
        format!("{error}; there are auto, {}", names.join(", "))
    })
}

/// A header as it is written in HTTP.
fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once(':')
        .ok_or("a header is written NAME: VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

#[derive(Debug, Args)]
#[command(after_help = "\
docs/editors.md says how to give it to an editor.

Exit codes: 0 printed, 3 the output cannot be written.")]
pub(crate) struct Schema {
    /// Of whose files.
    #[arg(value_name = "WHOSE", value_enum, default_value_t = SchemaOf::Aggregator)]
    pub(crate) of: SchemaOf,
}

/// Whose files a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SchemaOf {
    /// Those of `rootward serve`.
    Aggregator,
    /// That of `rootward agent`.
    Agent,
}

#[derive(Debug, Args)]
#[command(after_help = "\
docs/validate.md has the shape of the JSON, the identifiers of all kinds of problems, and lines for CI.

Exit codes: 0 valid (there may be warnings), 2 not valid, or a file cannot be read.")]
pub(crate) struct Validate {
    /// The files, or directories of files, of one configuration; or the file of an agent, for each.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// How to print what was found: lines for people, or one document for programs.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FindingsFormat::Human)]
    pub(crate) format: FindingsFormat,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FindingsFormat {
    /// A line for each.
    Human,
    /// One object of a shape of our own.
    Json,
    /// SARIF 2.1.0, which services that show findings beside the code read.
    Sarif,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The token is printed once and kept nowhere. Give it to whoever asks, who sends it as `Authorization: Bearer`;
give the digest to the services. docs/access.md explains rotation.

Exit codes: 0 made, 3 the system gives no random numbers or the output cannot be written.")]
pub(crate) struct Token {
    /// It expires after so many days, at most 90; the time stands behind the digest. Without it, it does not expire.
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(1..=90))]
    pub(crate) days: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
It asks once with GET, on a connection of its own, follows no redirect and obeys no proxy variable.
docs/probes.md has the lines for containers.

Exit codes: 0 the answer is 2xx, 1 it is not or did not come whole in time, 2 what was given is wrong.")]
pub(crate) struct Probe {
    /// What to ask, such as http://127.0.0.1:8790/readyz.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// How long the whole exchange may take, such as 800ms or 2s. Keep it below the time that the container's own
    /// probe allows, or what it says is lost.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = PROBE_TIMEOUT)]
    pub(crate) timeout: Duration,
    /// For https://: whom to trust, certificates in PEM. Without it, whom this machine trusts.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The job is a service with `health: {push: true}` in the configuration of the aggregator. When it is silent for longer than
its last check-in was good for, it is unknown.

Exit codes: 0 taken, 1 the aggregator did not take it, 2 what was given is wrong or the aggregator does not know the job,
4 the aggregator cannot be reached.")]
pub(crate) struct Checkin {
    /// The job, by its name on the map.
    #[arg(value_name = "JOB")]
    pub(crate) job: String,
    /// How it went.
    #[arg(long, value_enum, default_value = "ok")]
    pub(crate) status: JobStatus,
    /// For how long this is good, such as 25h for a job that runs each day; what the configuration says without it.
    #[arg(long, value_name = "TIME", value_parser = duration::parse_long)]
    pub(crate) ttl: Option<Duration>,
    /// Which of several that do the same job.
    #[arg(long, value_name = "NAME", default_value = "job")]
    pub(crate) instance: String,
    /// How long it may take, such as 5s.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "5s")]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) aggregator: Aggregator,
}

/// How a job went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum JobStatus {
    /// It has done its work.
    Ok,
    /// It has not.
    Fail,
    /// It has begun.
    Start,
}

#[derive(Debug, Args)]
#[command(after_help = "\
It asks a few hundred times, at most twelve at once, and changes nothing. With stubs it takes a minute or more, by the
intervals of the service, and says how long at most. docs/conform.md says how to set it up;
docs/spec/conformance-v1.md has the rules.

A command after -- is the service: it is started here, without a shell, and its start and its end are tested, too. With
stubs it is started twice, the first time while they do not answer. Whatever happens, no process of its group is left.

Exit codes: 0 no promise is broken, 1 some are, 2 what was given is wrong or an address is in use,
4 the service cannot be reached, or does not start, 130 ended by Ctrl-C.")]
pub(crate) struct Conform {
    /// The address of the probes, such as http://127.0.0.1:8790.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Stand in for a dependency: the component of the report, what it speaks (tcp, http, postgresql, redis), and the
    /// port of 127.0.0.1 where the service expects it. Can be given several times.
    #[arg(long = "stub", value_name = "NAME=KIND://127.0.0.1:PORT")]
    pub(crate) stubs: Vec<Stub>,
    /// The file with a token for the detailed report.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Where grpc.health.v1 is answered, without TLS.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) grpc: Option<String>,
    /// For https://: whom to trust, certificates in PEM. Without it, whom this machine trusts.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Ask more than a limit of rate allows, too. That locks this machine out of the service for some seconds.
    #[arg(long)]
    pub(crate) limits: bool,
    /// How many failures in a row take a component down, as the service was configured.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) fall: u8,
    /// How many successes in a row bring it back.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) rise: u8,
    /// End after this time, whatever is left, such as 2m: what was not tested then is listed as such.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) at_most: Option<Duration>,
    /// Print the outcome as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// How long the command may take until /startupz says that it has started.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "60s", requires = "command")]
    pub(crate) start_within: Duration,
    /// How long it may take from SIGTERM until its process is gone.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "30s", requires = "command")]
    pub(crate) drain_within: Duration,
    /// The service, to be started for the test: a program and its arguments, after --.
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) command: Vec<OsString>,
}

/// Whom to ask.
#[derive(Debug, Args)]
pub(crate) struct Aggregator {
    /// The address of the aggregator.
    #[arg(long, value_name = "URL", default_value = DEFAULT_URL)]
    pub(crate) url: String,
}
