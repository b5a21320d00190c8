//! From what the fault localisation finds to what people are told.
//!
//! [`crate::localise`] weighs results as they were measured; the screen shows results that their observers are sure of.
//! Here the two meet, so that no cause contradicts a status: evidence that is too old to be shown is left out, a cause
//! that the screen does not bear out yet waits (`hold.rs`), and what an instance says of itself explains what its
//! callers see of it (`own.rs`).

use std::collections::BTreeSet;

use crate::diagnosis::cause::{dominant, state_of, summary};
use crate::diagnosis::own::{self, Own};
use crate::diagnosis::reasons::Account;
use crate::diagnosis::scene::{Scene, Sighting};
use crate::diagnosis::{
    CauseId, CauseState, Diagnosis, Fact, Impact, Input, Ranked, RootCause, Sight, Unseen,
    impact_of,
};
use crate::localise::{self, Answer};
use crate::map::EdgeIndex;
use crate::name::{InstanceId, Name};

/// The highest confidence that is said: nobody is certain.
const MAX_CONFIDENCE: f64 = 0.999;

/// Says which faults explain what was seen. `answer` is what the fault localisation finds at the same moment.
#[must_use]
pub fn diagnose(input: &Input<'_>, answer: &Answer) -> Diagnosis {
    let scene = Scene::new(input, answer.root_causes.is_empty());
    let mut told = Told {
        scene: &scene,
        own: own::causes(&scene),
        found: Vec::new(),
        accounted: BTreeSet::new(),
    };
    let spoken: Vec<_> = told.own.iter().map(|own| own.service).collect();
    for service in spoken {
        let echoes = own::echoes(&scene, service);
        told.accounted
            .extend(echoes.map(|check| (&check.observer, check.edge)));
    }
    for cause in &answer.root_causes {
        told.take(cause);
    }
    told.diagnosis(answer)
}

/// Causes as they come together.
struct Told<'a> {
    scene: &'a Scene<'a>,
    /// By the own word of instances.
    own: Vec<Own>,
    /// By inference.
    found: Vec<RootCause>,
    /// Checks that a cause accounts for.
    accounted: BTreeSet<(&'a InstanceId, EdgeIndex)>,
}

impl<'a> Told<'a> {
    fn take(&mut self, found: &'a localise::RootCause) {
        let scene = self.scene;
        let Some(id) = scene.cause_id(&found.id) else {
            return;
        };
        let sightings = scene.sightings(&found.evidence);
        let silent = scene.ids(&found.silent);
        let is_view = matches!(id, CauseId::Poller(_));
        // Nobody sees it fail any more: what its callers pass on is not explained by what is not known.
        let seen = if is_view {
            !silent.is_empty()
        } else {
            sightings.iter().any(Sighting::is_direct)
        };
        if !seen {
            return;
        }
        let accounted = sightings
            .iter()
            .map(|seen| (&seen.check.observer, seen.check.edge));
        self.accounted.extend(accounted);
        if self.is_own(&id, &sightings) {
            self.add_to_own(&id, &sightings);
            return;
        }
        let cause = root_cause(scene, found, id, &sightings, silent);
        self.found.push(cause);
    }

    /// Whether the instances concerned have said so themselves.
    fn is_own(&self, id: &CauseId, sightings: &[Sighting<'_>]) -> bool {
        if self.own.iter().any(|own| own.cause.id == *id) {
            return true;
        }
        let mut direct = sightings.iter().filter(|seen| seen.is_direct()).peekable();
        direct.peek().is_some()
            && direct.all(|seen| {
                let target = seen.target(self.scene.input);
                let speaks = self.own.iter().any(|own| own.service == target);
                speaks && own::may_come_from_below(seen.category())
            })
    }

    /// Adds what it explains to what the instances have said.
    fn add_to_own(&mut self, id: &CauseId, sightings: &[Sighting<'_>]) {
        let input = self.scene.input;
        let targets: BTreeSet<_> = sightings
            .iter()
            .filter(|seen| seen.is_direct())
            .map(|seen| seen.target(input))
            .collect();
        for own in &mut self.own {
            if own.cause.id != *id && !targets.contains(&own.service) {
                continue;
            }
            for seen in sightings {
                let fact = seen.fact(input);
                let mut known = own.cause.evidence.iter();
                if !known
                    .any(|known| (&known.observer, &known.target) == (&fact.observer, &fact.target))
                {
                    own.cause.evidence.push(fact);
                }
            }
        }
    }

    fn diagnosis(self, answer: &Answer) -> Diagnosis {
        let input = self.scene.input;
        let mut rank: Vec<Ranked> = self
            .own
            .iter()
            .map(|own| Ranked {
                id: own.cause.id.clone(),
                margin: own.cause.margin,
            })
            .collect();
        rank.extend(answer.rank.iter().filter_map(|ranked| {
            let id = self.scene.cause_id(&ranked.id)?;
            let margin = ranked.margin;
            Some(Ranked { id, margin })
        }));
        rank.sort_by(|a, b| b.margin.total_cmp(&a.margin).then_with(|| a.id.cmp(&b.id)));
        let all = self.own.into_iter().map(|own| own.cause).chain(self.found);
        let (mut root_causes, mut suspected): (Vec<_>, Vec<_>) =
            all.partition(|cause| cause.held.is_none());
        root_causes.sort_by(by_onset);
        suspected.sort_by(by_onset);
        Diagnosis {
            impacted: impacted(input, &root_causes),
            unexplained: unexplained(input, &self.accounted),
            unknown: unknown(input),
            root_causes,
            suspected,
            rank,
        }
    }
}

fn by_onset(a: &RootCause, b: &RootCause) -> std::cmp::Ordering {
    (a.since, &a.id).cmp(&(b.since, &b.id))
}

fn root_cause(
    scene: &Scene<'_>,
    found: &localise::RootCause,
    id: CauseId,
    sightings: &[Sighting<'_>],
    silent: Vec<InstanceId>,
) -> RootCause {
    let input = scene.input;
    let (direct, carried): (Vec<Sighting<'_>>, Vec<Sighting<'_>>) =
        sightings.iter().partition(|seen| seen.is_direct());
    let since = direct.iter().map(Sighting::since).min();
    let since = since.unwrap_or(found.explanation.onset);
    let targets: BTreeSet<_> = direct.iter().map(|seen| seen.target(input)).collect();
    let good = scene.good_since(&targets, since);
    let against: Vec<Fact> = found
        .explanation
        .good_checks
        .iter()
        .filter_map(|good| {
            let observer = input.ids.get(&good.instance)?;
            let target = input.map.find(&good.to)?;
            let mut own = scene.checks_by(observer).iter();
            own.find(|check| input.map.edge(check.edge).callee == target && check.is_settled_good())
        })
        .map(|check| check.fact(input.map))
        .collect();
    let facts: Vec<Fact> = direct.iter().map(|seen| seen.fact(input)).collect();
    let state = match found.state {
        localise::State::Down | localise::State::Degraded => state_of(&facts),
        localise::State::Intermittent => CauseState::Intermittent,
        localise::State::Cut => CauseState::Cut,
    };
    let group = scene.cause_ids(&found.group);
    let account = Account {
        scene,
        id: &id,
        direct: &direct,
        carried: &carried,
        good: &good,
        silent: &silent,
        group: &group,
        since,
    };
    let class = dominant(direct.iter().map(|seen| seen.category()));
    RootCause {
        summary: summary(&id, state, class, &silent, account.others_can()),
        state,
        confidence: found.confidence.min(MAX_CONFIDENCE),
        margin: found.explanation.margin,
        since,
        against_count: found.explanation.good_count,
        against,
        alternatives: scene.cause_ids(&found.alternatives),
        reasons: account.reasons(),
        held: account.held(),
        evidence: facts
            .into_iter()
            .chain(carried.iter().map(|seen| seen.fact(input)))
            .collect(),
        silent,
        group,
        id,
    }
}

/// Whom named causes reach. A node that is named itself is not impacted by another.
fn impacted(input: &Input<'_>, root_causes: &[RootCause]) -> Vec<Impact> {
    let named: BTreeSet<&Name> = root_causes
        .iter()
        .filter_map(|cause| match &cause.id {
            CauseId::Node(name) => Some(name),
            CauseId::Instance(_)
            | CauseId::Edge { .. }
            | CauseId::InstanceEdge { .. }
            | CauseId::Host(_)
            | CauseId::Zone(_)
            | CauseId::Poller(_)
            | CauseId::Version { .. } => None,
        })
        .collect();
    let mut impacted: Vec<Impact> = root_causes
        .iter()
        .flat_map(|cause| impact_of(input, &cause.id))
        .filter(|impact| !named.contains(&impact.service))
        .collect();
    impacted.sort_by(|a, b| (&a.service, &a.cause).cmp(&(&b.service, &b.cause)));
    impacted
}

/// Every failing check that no cause accounts for: nothing is lost.
fn unexplained(input: &Input<'_>, accounted: &BTreeSet<(&InstanceId, EdgeIndex)>) -> Vec<Fact> {
    let left = input
        .checks
        .iter()
        .filter(|check| check.is_bad() && !accounted.contains(&(&check.observer, check.edge)));
    let mut facts: Vec<Fact> = left.map(|check| check.fact(input.map)).collect();
    facts.sort_by(|a, b| (a.since, &a.observer, &a.target).cmp(&(b.since, &b.observer, &b.target)));
    facts
}

fn unknown(input: &Input<'_>) -> Vec<Unseen> {
    let unseen = input.instances.iter().filter(|seen| match seen.sight {
        Sight::Silent | Sight::NotAsked | Sight::NotPolledYet => true,
        Sight::Answers | Sight::AnswersWithoutReport => false,
    });
    let mut unknown: Vec<Unseen> = unseen
        .map(|seen| Unseen {
            instance: seen.id.clone(),
        })
        .collect();
    unknown.sort_by(|a, b| a.instance.cmp(&b.instance));
    unknown
}
