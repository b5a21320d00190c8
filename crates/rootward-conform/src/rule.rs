//! The promises of the contract that can be seen from outside, each with an identifier that never changes its meaning.
//!
//! `docs/spec/conformance-v1.md` has the same list with what is observed; a test compares the two.

/// What must be given for a rule to be tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The address.
    Endpoints,
    /// A token of the service.
    Token,
    /// A stub in the place of a dependency.
    Stub,
    /// Two stubs at least whose checks ask something.
    TwoStubs,
    /// A stub that speaks HTTP.
    HttpStub,
    /// A component whose check does not run any more.
    OldEvidence,
    /// That the tester may be locked out for a while.
    Limits,
    /// The address of its grpc.health.v1.
    Grpc,
    /// The service as a program that is started for the test.
    Command,
    /// That, and a stub in the place of a dependency.
    CommandAndStub,
}

impl Need {
    /// In words, for the list of what was not tested.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Endpoints => "nothing",
            Self::Token => "--token-file",
            Self::Stub => "a --stub",
            Self::TwoStubs => "two --stub that are asked something (not tcp)",
            Self::HttpStub => "an http --stub",
            Self::OldEvidence => "a check that has stopped",
            Self::Limits => "--limits",
            Self::Grpc => "--grpc",
            Self::Command => "the command that starts the service, after --",
            Self::CommandAndStub => "the command that starts the service, after --, and a --stub",
        }
    }
}

impl Need {
    /// Whether it needs a stub of some kind.
    pub(crate) const fn is_of_stubs(self) -> bool {
        match self {
            Self::Stub | Self::TwoStubs | Self::HttpStub | Self::CommandAndStub => true,
            Self::Endpoints
            | Self::Token
            | Self::OldEvidence
            | Self::Limits
            | Self::Grpc
            | Self::Command => false,
        }
    }

    /// Whether it needs the program.
    pub(crate) const fn is_of_command(self) -> bool {
        match self {
            Self::Command | Self::CommandAndStub => true,
            Self::Endpoints
            | Self::Token
            | Self::Stub
            | Self::TwoStubs
            | Self::HttpStub
            | Self::OldEvidence
            | Self::Limits
            | Self::Grpc => false,
        }
    }
}

macro_rules! rules {
    ($($variant:ident = $id:literal, $need:ident, $promise:literal;)+) => {
        /// One promise.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(#[doc = $promise] $variant,)+
        }

        impl Rule {
            /// Every rule, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The identifier, such as `R-LIVE-1`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)+ }
            }

            /// What is promised.
            #[must_use]
            pub const fn promise(self) -> &'static str {
                match self { $(Self::$variant => $promise,)+ }
            }

            /// What its test needs.
            #[must_use]
            pub const fn need(self) -> Need {
                match self { $(Self::$variant => Need::$need,)+ }
            }
        }
    };
}

rules! {
    LiveShape = "R-LIVE-1", Endpoints, "/livez answers 200 with alive: true, or 503 with alive: false and a reason";
    LiveAlone = "R-LIVE-2", Stub, "liveness depends on nothing outside the process";
    LiveStarting = "R-LIVE-3", Command, "liveness is 200 while the service starts";
    ReadyShape = "R-READY-1", Endpoints, "/readyz answers 200 with ready: true, or 503 with ready: false and the reasons";
    ReadyAlias = "R-READY-2", Endpoints, "/healthz is readiness under another name";
    ReadyShared = "R-READY-3", Stub, "readiness does not follow a component that does not gate it";
    ReadyGates = "R-READY-4", Stub, "a component that gates readiness and is down makes the instance not ready";
    ReadySame = "R-READY-5", Endpoints, "ready in /health is what /readyz says";
    Serving = "R-READY-6", Endpoints, "serving is false exactly while a hard component that is no other service is down";
    StartShape = "R-START-1", Endpoints, "/startupz answers 200 with started: true, or 503 with started: false and what is held";
    StartLatch = "R-START-2", Stub, "once started it stays started, whatever fails";
    Starting = "R-START-3", Command, "before its last latch it is starting: 503 on /startupz, /readyz, /status and /health";
    NotBlocked = "R-START-4", CommandAndStub, "dependencies that do not answer do not block a start";
    Unready = "R-DRAIN-1", Command, "after SIGTERM readiness is 503 within 100 ms, and until the end";
    Alive = "R-DRAIN-2", Command, "after SIGTERM liveness is 200 until the process is gone";
    Reports = "R-DRAIN-3", Command, "the report is answered during the drain, and says draining";
    Ends = "R-DRAIN-4", Command, "after SIGTERM the process ends, in bounded time";
    StatusShape = "R-STATUS-1", Endpoints, "/status answers 200 with up or degraded, 503 with down or starting";
    StatusSame = "R-STATUS-2", Endpoints, "/status is the status of /health in one public word";
    Small = "R-HTTP-1", Endpoints, "the bodies of the probes and of /status have at most 1 KiB";
    NoStore = "R-HTTP-2", Endpoints, "every answer says cache-control: no-store";
    Json = "R-HTTP-3", Endpoints, "bodies are application/json";
    Head = "R-HTTP-4", Endpoints, "HEAD gets the code of GET and no body";
    Options = "R-HTTP-5", Endpoints, "OPTIONS names the methods and says nothing about other origins";
    Methods = "R-HTTP-6", Endpoints, "other methods get 405";
    Query = "R-HTTP-7", Endpoints, "no query makes a probe fail";
    Fast = "R-HTTP-8", Endpoints, "probes are answered within 100 ms, also many at once and while dependencies hang";
    NeverLimited = "R-HTTP-9", Endpoints, "liveness, readiness and startup are never refused";
    Limited = "R-HTTP-10", Limits, "beyond a rate /status and /health are refused with 429 and Retry-After";
    Report = "R-REPORT-1", Endpoints, "/health is a report of the contract";
    Words = "R-REPORT-2", Endpoints, "statuses, criticalities, scopes, depths and categories are words of the contract";
    ReportCode = "R-REPORT-3", Endpoints, "/health answers 200 when healthy or degraded, 503 when unhealthy or starting";
    Rollup = "R-REPORT-4", Endpoints, "the status is the rollup of the components";
    Effects = "R-REPORT-5", Endpoints, "warnings and errors name the components whose effect is degraded and unhealthy";
    Completed = "R-REPORT-6", Endpoints, "a result comes with latency_ms, last_checked, age_ms and seq; without one a component is unknown";
    Ages = "R-REPORT-7", Endpoints, "ages are taken at the moment of the answer";
    Reasons = "R-REPORT-8", Endpoints, "a component that is down says why in error and error_category";
    HealthJson = "R-REPORT-9", Endpoints, "Accept decides between application/json and application/health+json";
    Metrics = "R-REPORT-10", Endpoints, "/metrics is OpenMetrics text";
    Component = "R-QUERY-1", Endpoints, "/health?component= is the report about these components alone";
    Exclude = "R-QUERY-2", Endpoints, "/health?exclude= is the report without these components";
    BadQuery = "R-QUERY-3", Endpoints, "a name that is no component is 400 with the names that there are, and so is a selection of nothing";
    LongQuery = "R-QUERY-4", Endpoints, "a query of more than 4096 bytes is 414";
    Verbose = "R-QUERY-5", Endpoints, "?verbose lists the conditions of a probe as text, with the code that it has without";
    NoSecret = "R-SECRET-1", Endpoints, "no answer holds a user, a password, a key or a token";
    NoException = "R-SECRET-2", Endpoints, "no answer holds the text of an exception";
    NoForeignText = "R-SECRET-3", HttpStub, "no answer repeats what a dependency sent";
    NoCheckOnRequest = "R-CHECK-1", Endpoints, "no request runs a check";
    Timeout = "R-CHECK-2", Stub, "a dependency that hangs is a timeout, with its number";
    Concurrent = "R-CHECK-3", TwoStubs, "checks do not wait for each other";
    Fall = "R-CHECK-4", Stub, "a component goes down after fall agreeing results, not earlier and not later";
    Rise = "R-CHECK-5", Stub, "a component that works again comes back by itself, after rise agreeing results";
    Refused = "R-CHECK-6", Stub, "a dependency that refuses is connection_refused or connection_reset";
    Latency = "R-CHECK-7", Stub, "latency_ms is how long the check took, and slow is not down";
    Stale = "R-CHECK-8", OldEvidence, "evidence older than twice the interval and the time limit is unknown, with stale";
    Recheck = "R-CHECK-9", Stub, "while a change is pending the check runs again after about a second";
    First = "R-CHECK-10", Command, "the first result counts at once";
    DeepOnce = "R-DEEP-1", Endpoints, "/health/deep runs the checks, once for all who ask at the same time";
    DeepLimit = "R-DEEP-2", Endpoints, "/health/deep runs them at most every 5 s, else 429 with Retry-After";
    Strangers = "R-ACCESS-1", Endpoints, "the detailed routes answer strangers with 401";
    Token = "R-ACCESS-2", Token, "the right token opens the detailed report and a wrong one does not";
    Silent = "R-ACCESS-3", Endpoints, "a refusal names no component and says WWW-Authenticate";
    Open = "R-ACCESS-4", Endpoints, "liveness, readiness and startup answer strangers";
    Misuse = "R-ACCESS-5", Endpoints, "a kubelet on /health is the finding probe_misuse";
    Loop = "R-GRAPH-1", Endpoints, "checks of others are refused on the detailed routes with 508 and the way to /readyz";
    CheckFrom = "R-GRAPH-2", HttpStub, "checks of other services carry Rootward-Check-From";
    GrpcReady = "R-GRPC-1", Grpc, "the empty name and the name of the service are SERVING exactly while /readyz answers 200";
    GrpcUnknown = "R-GRPC-2", Grpc, "a name that nothing has is NOT_FOUND for Check and SERVICE_UNKNOWN for Watch, which stays open";
    GrpcComponents = "R-GRPC-3", Grpc, "a component's name says that component: up and degraded SERVING, down NOT_SERVING, unknown UNKNOWN";
    GrpcWatch = "R-GRPC-4", Grpc, "Watch says at once what is so, and then each change";
}

#[cfg(test)]
mod tests {
    use super::Rule;
    use std::collections::BTreeSet;

    /// The rows of the specification: identifier and promise.
    fn rows() -> Vec<(String, String)> {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/spec/conformance-v1.md"
        );
        let text = std::fs::read_to_string(path).expect("the specification");
        let rows = text.lines().filter(|line| line.starts_with("| R-"));
        rows.map(|row| {
            let mut cells = row.trim_matches('|').split('|').map(str::trim);
            let mut cell = || cells.next().unwrap_or_default().replace('`', "");
            (cell(), cell())
        })
        .collect()
    }

    #[test]
    fn the_specification_has_each_rule_in_the_same_words() {
        let ours: Vec<_> = Rule::ALL
            .iter()
            .map(|rule| (rule.id().to_owned(), rule.promise().to_owned()))
            .collect();
        assert_eq!(ours, rows());
    }

    #[test]
    fn no_identifier_is_given_twice() {
        let ids: BTreeSet<_> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert_eq!(ids.len(), Rule::ALL.len());
    }
}
