//! How often each endpoint was asked and what it answered.

use std::sync::atomic::{AtomicU64, Ordering};

use http::StatusCode;

use crate::probe::Endpoint;

/// The codes that are counted by themselves. Any other counts as the last of them, which no endpoint answers.
const CODES: [u16; 11] = [200, 204, 400, 401, 404, 405, 414, 429, 503, 508, 500];

/// What is asked: one of the endpoints, or something that is not there.
const ASKED: usize = Endpoint::ALL.len() + 1;

/// Requests by endpoint and code.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    counts: [[AtomicU64; CODES.len()]; ASKED],
}

/// How often one endpoint gave one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The path, or `other`.
    pub(crate) endpoint: &'static str,
    pub(crate) code: u16,
    pub(crate) times: u64,
}

impl Probes {
    pub(crate) fn count(&self, endpoint: Option<Endpoint>, code: StatusCode) {
        let row = endpoint.map_or(ASKED - 1, |endpoint| endpoint as usize);
        let code = CODES.iter().position(|known| *known == code.as_u16());
        self.counts[row][code.unwrap_or(CODES.len() - 1)].fetch_add(1, Ordering::Relaxed);
    }

    /// Those that happened, and 200 of each endpoint from the beginning.
    pub(crate) fn read(&self) -> impl Iterator<Item = Counted> {
        let endpoints = Endpoint::ALL.iter().map(|endpoint| endpoint.path());
        let rows = endpoints.chain(["other"]).zip(&self.counts);
        rows.flat_map(|(endpoint, counts)| {
            let counts = CODES.iter().zip(counts);
            counts.filter_map(move |(code, times)| {
                let times = times.load(Ordering::Relaxed);
                let expected = *code == 200 && endpoint != "other";
                (times > 0 || expected).then_some(Counted {
                    endpoint,
                    code: *code,
                    times,
                })
            })
        })
    }
}
