//! What the aggregator says at one time, all of it, asked over its own HTTP API; and what can be read off it.

use rootward_core::{ErrorCategory, ServiceStatus};
use rootward_wire::Word;
use rootward_wire::v1::api::{
    Cause, Diagnosis, Impact, ImpactEffect, Incident, IncidentState, Incidents, Overview,
    ServiceRow,
};

use crate::aggregator::{AskError, Client, words};

/// The answers to the three questions that a story is judged by.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) overview: Overview,
    pub(crate) diagnosis: Diagnosis,
    pub(crate) incidents: Incidents,
}

/// What was seen: what was hoped for, or something else.
pub(crate) type Verdict = Result<String, String>;

impl Picture {
    pub(crate) async fn ask(client: &Client) -> Result<Self, AskError> {
        Ok(Self {
            overview: client.get("/api/v1/overview").await?,
            diagnosis: client.get("/api/v1/diagnosis").await?,
            incidents: client.get("/api/v1/incidents").await?,
        })
    }

    pub(crate) fn service(&self, name: &str) -> Option<&ServiceRow> {
        self.overview.services.iter().find(|s| s.name == name)
    }

    /// All services are healthy and nothing is wrong besides.
    pub(crate) fn all_well(&self, services: usize) -> Verdict {
        let headline = &self.overview.headline;
        let counts = self.overview.counts.services;
        let healthy = usize::try_from(counts.healthy).unwrap_or(usize::MAX);
        if healthy != services || self.overview.services.len() != services {
            return Err(headline.clone());
        }
        self.nothing_named()?;
        self.no_incident()?;
        Ok(headline.clone())
    }

    /// No cause is named or suspected.
    pub(crate) fn nothing_named(&self) -> Verdict {
        let causes = self.diagnosis.root_causes.iter();
        match causes.chain(&self.diagnosis.suspected).next() {
            None => Ok("no root cause".to_owned()),
            Some(cause) => Err(cause_line(cause)),
        }
    }

    /// No incident is open.
    pub(crate) fn no_incident(&self) -> Verdict {
        match self.incidents.open.as_slice() {
            [] => Ok("no incident is open".to_owned()),
            open => Err(open_line(open)),
        }
    }

    /// This cause is the only one that is named; it fails in this way for everybody who sees it fail.
    pub(crate) fn only_root_cause(&self, id: &str, categories: &[ErrorCategory]) -> Verdict {
        let causes = &self.diagnosis.root_causes;
        let [cause] = causes.as_slice() else {
            let causes: Vec<String> = causes.iter().map(cause_line).collect();
            return Err(match causes.as_slice() {
                [] => match self.diagnosis.suspected.as_slice() {
                    [] => "no root cause is named".to_owned(),
                    [first, ..] => format!("not named yet: {}", cause_line(first)),
                },
                several => format!("{} root causes: {}", several.len(), several.join("; ")),
            });
        };
        if cause.id != id {
            return Err(cause_line(cause));
        }
        let target = id.rsplit(':').next().unwrap_or(id);
        let direct = cause.evidence.iter().filter(|fact| fact.target == target);
        let other = direct.clone().find(|fact| {
            let category = fact.error_category.as_ref().and_then(Word::known);
            !category.is_some_and(|category| categories.contains(&category))
        });
        match (other, direct.count()) {
            (Some(fact), _) => Err(format!("{}; {}", cause_line(cause), fact.text)),
            (None, 0) => Err(format!("{}, without evidence", cause_line(cause))),
            (None, _) => Ok(cause_line(cause)),
        }
    }

    /// Every service that calls the resource sees it failing.
    pub(crate) fn all_callers_fail(&self, resource: &str) -> Verdict {
        let mut rows = self.overview.resources.iter();
        match rows.find(|row| row.name == resource) {
            None => Err(format!("{resource} is not listed")),
            Some(row) if row.callers > 0 && row.failing_callers == row.callers => {
                Ok(row.reason.clone())
            }
            Some(row) => Err(format!("{resource} is {}: {}", row.status, row.reason)),
        }
    }

    /// Exactly these services are reached, each with this effect; the first of them by this path.
    pub(crate) fn reached(
        &self,
        services: &[&str],
        effect: ImpactEffect,
        path: &[&str],
    ) -> Verdict {
        let impacted = &self.diagnosis.impacted;
        let mut seen: Vec<&str> = impacted
            .iter()
            .filter_map(|i| i.service.as_deref())
            .collect();
        seen.sort_unstable();
        let mut expected = services.to_vec();
        expected.sort_unstable();
        if seen != expected {
            return Err(if seen.is_empty() {
                "nobody is listed".to_owned()
            } else {
                format!("listed are {}", seen.join(", "))
            });
        }
        if let Some(other) = impacted
            .iter()
            .find(|impact| impact.effect != effect.into())
        {
            return Err(format!("{}: {}", other.effect, path_line(other)));
        }
        match impacted.iter().find(|impact| impact.path == path) {
            Some(impact) => Ok(format!(
                "{}, such as {}",
                words::count(seen.len() as u64, "service"),
                path_line(impact)
            )),
            None => Err(impacted
                .iter()
                .map(path_line)
                .collect::<Vec<_>>()
                .join("; ")),
        }
    }

    /// Exactly one incident is open, about this cause, and there was no other since the start but these.
    pub(crate) fn one_incident(&self, cause: &str, before: &[String]) -> Verdict {
        let fresh: Vec<&Incident> = self
            .incidents
            .open
            .iter()
            .chain(&self.incidents.resolved)
            .filter(|incident| !before.contains(&incident.id))
            .collect();
        match fresh.as_slice() {
            [only] if only.state == IncidentState::Open.into() && only.cause == cause => {
                Ok(format!("1 incident: {}, {}", only.id, only.title))
            }
            [] => Err("no incident".to_owned()),
            several => Err(several
                .iter()
                .map(|i| format!("{} ({}, {}): {}", i.id, i.state, i.cause, i.title))
                .collect::<Vec<_>>()
                .join("; ")),
        }
    }

    /// The identifiers of all incidents so far.
    pub(crate) fn incident_ids(&self) -> Vec<String> {
        let all = self.incidents.open.iter().chain(&self.incidents.resolved);
        all.map(|incident| incident.id.clone()).collect()
    }

    /// The service has this status.
    pub(crate) fn status_is(&self, service: &str, status: ServiceStatus) -> Verdict {
        let Some(row) = self.service(service) else {
            return Err(format!("{service} is not listed"));
        };
        let seen = format!("{service} is {}: {}", row.status, row.reason);
        if row.status == status.into() {
            Ok(seen)
        } else {
            Err(seen)
        }
    }
}

/// `orders-db refuses connections (97 % sure)`
pub(crate) fn cause_line(cause: &Cause) -> String {
    format!("{} ({})", cause.summary, words::sureness(cause.confidence))
}

/// `front -> checkout -> orders -> orders-db`
pub(crate) fn path_line(impact: &Impact) -> String {
    words::path(&impact.path)
}

fn open_line(open: &[Incident]) -> String {
    let open: Vec<String> = open
        .iter()
        .map(|i| format!("{} is open: {}", i.id, i.title))
        .collect();
    open.join("; ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NOW: &str = "2026-11-30T03:13:22.500Z";
    const DB: &str = "node:orders-db";

    fn cause(id: &str, category: &str) -> Value {
        json!({
            "id": id, "kind": "node", "state": "down", "confidence": 0.97, "since": NOW,
            "summary": format!("{id} fails"), "evidence_count": 1,
            "evidence": [{
                "observer": "orders#0", "target": "orders-db", "status": "down",
                "error_category": category, "text": format!("orders#0 -> orders-db down: {category}"),
            }],
        })
    }

    fn incident(id: &str, cause: &str, state: &str) -> Value {
        json!({
            "id": id, "state": state, "title": format!("{cause} fails"), "cause": cause, "kind": "node",
            "cause_state": "down", "confidence": 0.97, "pages": true, "began_at": NOW, "opened_at": NOW,
            "duration_ms": 1_000,
        })
    }

    fn impact(path: &[&str], effect: &str) -> Value {
        json!({"service": path[0], "cause": DB, "effect": effect, "path": path})
    }

    /// A picture in which one service is healthy, with these parts.
    fn picture(
        causes: &[Value],
        suspected: &[Value],
        impacted: &[Value],
        open: &[Value],
        resolved: &[Value],
    ) -> Picture {
        let zero =
            json!({"healthy": 1, "degraded": 0, "unknown": 0, "starting": 0, "unhealthy": 0});
        let resources = json!({"up": 0, "degraded": 0, "down": 1, "unknown": 0});
        let instances = json!({
            "total": 1, "healthy": 1, "degraded": 0, "unhealthy": 0, "starting": 0, "unknown": 0, "gone": 0,
        });
        let overview = json!({
            "api": "rootward-api/1", "environment": "demo", "generated_at": NOW, "headline": "the headline",
            "epoch": {"number": 1, "interval_ms": 1000, "complete": true, "polls": 1, "answered": 1},
            "counts": {"services": zero, "resources": resources},
            "services": [{
                "name": "front", "status": "healthy", "reason": "its instance is healthy", "entry_point": true,
                "root_cause": false, "pending": false, "instances": instances,
            }],
            "resources": [{
                "name": "orders-db", "status": "down", "reason": "3 of 4 callers see it failing",
                "root_cause": true, "callers": 4, "failing_callers": 3,
            }],
        });
        let diagnosis = json!({"generated_at": NOW, "root_causes": causes, "suspected": suspected, "impacted": impacted});
        let incidents = json!({"generated_at": NOW, "open": open, "resolved": resolved});
        Picture {
            overview: serde_json::from_value(overview).unwrap(),
            diagnosis: serde_json::from_value(diagnosis).unwrap(),
            incidents: serde_json::from_value(incidents).unwrap(),
        }
    }

    #[test]
    fn only_the_database_alone_is_the_only_root_cause() {
        let refused = cause(DB, "connection_refused");
        let judge = |causes: &[Value], suspected: &[Value]| {
            let picture = picture(causes, suspected, &[], &[], &[]);
            picture.only_root_cause(DB, &[ErrorCategory::ConnectionRefused])
        };
        assert_eq!(
            judge(std::slice::from_ref(&refused), &[]),
            Ok("node:orders-db fails (97 % sure)".to_owned())
        );
        let others = [
            judge(&[], &[]),
            judge(&[], std::slice::from_ref(&refused)),
            judge(&[refused, cause("node:orders", "not_ready")], &[]),
            judge(
                &[cause("edge:orders->orders-db", "connection_refused")],
                &[],
            ),
            judge(&[cause(DB, "timeout")], &[]),
        ];
        insta::assert_snapshot!(others.map(Result::unwrap_err).join("\n"), @"
        no root cause is named
        not named yet: node:orders-db fails (97 % sure)
        2 root causes: node:orders-db fails (97 % sure); node:orders fails (97 % sure)
        edge:orders->orders-db fails (97 % sure)
        node:orders-db fails (97 % sure); orders#0 -> orders-db down: timeout
        ");
    }

    #[test]
    fn one_incident_is_one_and_about_the_cause_and_open() {
        let one = incident("inc-2", DB, "open");
        let judge = |open: &[Value], resolved: &[Value]| {
            let picture = picture(&[], &[], &[], open, resolved);
            picture.one_incident(DB, &["inc-1".to_owned()])
        };
        let before = incident("inc-1", DB, "resolved");
        assert!(judge(std::slice::from_ref(&one), &[before]).is_ok());
        let others = [
            judge(&[], &[]),
            judge(
                &[one.clone(), incident("inc-3", "node:orders", "open")],
                &[],
            ),
            judge(&[one], &[incident("inc-3", "node:orders", "resolved")]),
            judge(&[], &[incident("inc-2", DB, "resolved")]),
            judge(&[incident("inc-2", "node:orders", "open")], &[]),
        ];
        insta::assert_snapshot!(others.map(Result::unwrap_err).join("\n"), @"
        no incident
        inc-2 (open, node:orders-db): node:orders-db fails; inc-3 (open, node:orders): node:orders fails
        inc-2 (open, node:orders-db): node:orders-db fails; inc-3 (resolved, node:orders): node:orders fails
        inc-2 (resolved, node:orders-db): node:orders-db fails
        inc-2 (open, node:orders): node:orders fails
        ");
    }

    #[test]
    fn who_is_reached_is_compared_by_name_effect_and_path() {
        let orders = impact(&["orders", "orders-db"], "impacted");
        let front = impact(&["front", "orders", "orders-db"], "impacted");
        let judge = |impacted: &[Value]| {
            let picture = picture(&[], &[], impacted, &[], &[]);
            let path = ["front", "orders", "orders-db"];
            picture.reached(&["front", "orders"], ImpactEffect::Impacted, &path)
        };
        assert_eq!(
            judge(&[orders.clone(), front.clone()]),
            Ok("2 services, such as front -> orders -> orders-db".to_owned())
        );
        let others = [
            judge(&[]),
            judge(std::slice::from_ref(&orders)),
            judge(&[orders.clone(), impact(&["front", "orders-db"], "impacted")]),
            judge(&[front, impact(&["orders", "orders-db"], "degraded")]),
        ];
        insta::assert_snapshot!(others.map(Result::unwrap_err).join("\n"), @"
        nobody is listed
        listed are orders
        orders -> orders-db; front -> orders-db
        degraded: orders -> orders-db
        ");
    }

    #[test]
    fn all_is_well_only_without_causes_and_incidents() {
        let well = picture(&[], &[], &[], &[], &[]);
        assert!(well.all_well(1).is_ok());
        assert!(well.all_well(2).is_err(), "a service is missing");
        let cause = cause(DB, "timeout");
        assert!(
            picture(std::slice::from_ref(&cause), &[], &[], &[], &[])
                .all_well(1)
                .is_err()
        );
        assert!(picture(&[], &[cause], &[], &[], &[]).all_well(1).is_err());
        assert!(
            picture(&[], &[], &[], &[incident("inc-1", DB, "open")], &[])
                .all_well(1)
                .is_err()
        );
    }

    #[test]
    fn a_caller_that_sees_it_up_is_one_that_does_not_see_it_fail() {
        let picture = picture(&[], &[], &[], &[], &[]);
        assert_eq!(
            picture.all_callers_fail("orders-db"),
            Err("orders-db is down: 3 of 4 callers see it failing".to_owned())
        );
    }
}
