//! Load balancers and orchestrators that ask for the detailed report: they act on what is for diagnosis only.
//!
//! They are known by what they call themselves. Who calls himself something else is not seen, and a person or an
//! aggregator is never mistaken for one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::HeaderMap;
use http::header::USER_AGENT;
use tokio::time::Instant;

use crate::probe::Endpoint;
use crate::telemetry::Journal;

/// How long after it was last seen a misuse is shown.
const SHOWN_FOR: Duration = Duration::from_secs(60 * 60);

/// Who acts on the answer of a health check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prober {
    Kubelet,
    AwsLoadBalancer,
    Route53,
    GoogleCloud,
    AzureFrontDoor,
    AzureTrafficManager,
    Cloudflare,
    Envoy,
    Consul,
}

impl Prober {
    const ALL: [Self; 9] = [
        Self::Kubelet,
        Self::AwsLoadBalancer,
        Self::Route53,
        Self::GoogleCloud,
        Self::AzureFrontDoor,
        Self::AzureTrafficManager,
        Self::Cloudflare,
        Self::Envoy,
        Self::Consul,
    ];

    /// How its `User-Agent` begins.
    const fn begins(self) -> &'static str {
        match self {
            // kubernetes/kubernetes, pkg/probe/http/request.go: "kube-probe/%s.%s"
            Self::Kubelet => "kube-probe/",
            // docs.aws.amazon.com/elasticloadbalancing/latest/application/target-group-health-checks.html;
            // "ELB-HealthChecker/1.0" from classic ones, "/2.0" from the others
            Self::AwsLoadBalancer => "ELB-HealthChecker/",
            // docs.aws.amazon.com/Route53/latest/DeveloperGuide/dns-failover-router-firewall-rules.html, and
            // "Amazon-Route53-Health-Check-Service (ref …; report http://amzn.to/1vsZADi)" in access logs
            Self::Route53 => "Amazon-Route53-Health-Check-Service",
            // docs.cloud.google.com/load-balancing/docs/health-checks, "GoogleHC/1.0"
            Self::GoogleCloud => "GoogleHC/",
            // learn.microsoft.com/en-us/azure/frontdoor/health-probes
            Self::AzureFrontDoor => "Edge Health Probe",
            // learn.microsoft.com/en-us/azure/traffic-manager/traffic-manager-monitoring
            Self::AzureTrafficManager => "Azure Traffic Manager Endpoint Monitor",
            // developers.cloudflare.com/load-balancing/monitors, and cloudflare/cloudflared, connection: IsLBProbe…
            Self::Cloudflare => "Mozilla/5.0 (compatible; Cloudflare-Traffic-Manager/",
            // envoyproxy/envoy, source/common/http/headers.h: EnvoyHealthChecker
            Self::Envoy => "Envoy/HC",
            // hashicorp/consul, agent/checks/check.go: UserAgent
            Self::Consul => "Consul Health Check",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Kubelet => "a Kubernetes probe",
            Self::AwsLoadBalancer => "an AWS load balancer",
            Self::Route53 => "an Amazon Route 53 health check",
            Self::GoogleCloud => "a Google Cloud health check",
            Self::AzureFrontDoor => "an Azure Front Door probe",
            Self::AzureTrafficManager => "an Azure Traffic Manager probe",
            Self::Cloudflare => "a Cloudflare load balancer",
            Self::Envoy => "an Envoy health check",
            Self::Consul => "a Consul health check",
        }
    }

    /// Which endpoint it should ask instead.
    const fn instead(self) -> &'static str {
        match self {
            Self::Kubelet => "/livez for liveness, /readyz for readiness and /startupz for startup",
            Self::AwsLoadBalancer
            | Self::Route53
            | Self::GoogleCloud
            | Self::AzureFrontDoor
            | Self::AzureTrafficManager
            | Self::Cloudflare
            | Self::Envoy
            | Self::Consul => "/readyz",
        }
    }

    fn of(headers: &HeaderMap) -> Option<Self> {
        let agent = headers.get(USER_AGENT)?.as_bytes();
        let mut all = Self::ALL.into_iter();
        all.find(|prober| agent.starts_with(prober.begins().as_bytes()))
    }
}

/// When each prober was last seen at each endpoint: a table of fixed size, whatever is asked.
#[derive(Debug)]
pub(crate) struct Misuse {
    born: Instant,
    journal: Journal,
    /// Milliseconds since then, plus one; 0 is never.
    seen: [[AtomicU64; Endpoint::ALL.len()]; Prober::ALL.len()],
}

impl Misuse {
    pub(super) fn new(born: Instant, journal: Journal) -> Self {
        Self {
            born,
            journal,
            seen: Default::default(),
        }
    }

    /// Notes who asks for this endpoint. True if that changes what is shown.
    pub(crate) fn note(&self, endpoint: Endpoint, headers: &HeaderMap, now: Instant) -> bool {
        let Some(prober) = Prober::of(headers) else {
            return false;
        };
        let millis = self.millis(now);
        let before = self.seen[prober as usize][endpoint as usize].swap(millis, Ordering::Relaxed);
        if before == 0 {
            let (path, prober) = (endpoint.path(), prober.name());
            self.journal.say(move || {
                tracing::warn!(
                    target: "rootward", path, prober,
                    "probe misuse: the detailed report is for diagnosis, an orchestrator or a load balancer must not act on it"
                );
            });
        }
        !is_shown(before, millis)
    }

    /// A sentence for each misuse that was seen lately.
    pub(crate) fn sentences(&self, now: Instant) -> impl Iterator<Item = String> {
        let millis = self.millis(now);
        Prober::ALL.into_iter().flat_map(move |prober| {
            let endpoints = Endpoint::ALL.into_iter().filter(move |endpoint| {
                let seen = &self.seen[prober as usize][*endpoint as usize];
                is_shown(seen.load(Ordering::Relaxed), millis)
            });
            endpoints.map(move |endpoint| {
                format!(
                    "{} asks for {}, which nobody may act on: it speaks of dependencies that others share; point it at {}",
                    prober.name(),
                    endpoint.path(),
                    prober.instead()
                )
            })
        })
    }

    fn millis(&self, now: Instant) -> u64 {
        let millis = now.saturating_duration_since(self.born).as_millis();
        u64::try_from(millis).unwrap_or(u64::MAX - 1) + 1
    }
}

fn is_shown(seen: u64, now: u64) -> bool {
    let lately = u64::try_from(SHOWN_FOR.as_millis()).unwrap_or(u64::MAX);
    seen != 0 && now.saturating_sub(seen) <= lately
}
