//! The status rules: components to an instance, instances to a service, and services over the map ([`MapRollup`]).
//!
//! Pure folds; the order of what is folded never matters. The rules are the table "Status rules" of the specification
//! (`docs/spec/report-v1.md`).

mod over_map;

use crate::status::{CheckStatus, Criticality, InstanceStatus, ServiceStatus};

pub use over_map::{MapRollup, Pass};

/// What one component does to the status of its instance. The order is severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Nothing.
    None,
    /// The instance is degraded.
    Degraded,
    /// The instance is unhealthy.
    Unhealthy,
}

/// The effect of one component.
///
/// ```
/// use rootward_core::{effect, CheckStatus, Criticality, Effect};
/// assert_eq!(effect(CheckStatus::Down, Criticality::Hard), Effect::Unhealthy);
/// assert_eq!(effect(CheckStatus::Down, Criticality::Soft), Effect::Degraded);
/// assert_eq!(effect(CheckStatus::Unknown, Criticality::Hard), Effect::Degraded);
/// assert_eq!(effect(CheckStatus::Down, Criticality::Informational), Effect::None);
/// ```
#[must_use]
pub const fn effect(status: CheckStatus, criticality: Criticality) -> Effect {
    match (criticality, status) {
        (Criticality::Informational, _) | (_, CheckStatus::Up) => Effect::None,
        (Criticality::Hard, CheckStatus::Down) => Effect::Unhealthy,
        // No evidence for something hard is worth a warning; for something soft it is not.
        (Criticality::Hard, CheckStatus::Degraded | CheckStatus::Unknown)
        | (Criticality::Soft, CheckStatus::Degraded | CheckStatus::Down) => Effect::Degraded,
        (Criticality::Soft, CheckStatus::Unknown) => Effect::None,
    }
}

/// The status of an instance: starting until the last latch has dropped, whatever else fails; then the worst effect.
#[must_use]
pub fn roll_up_components(
    started: bool,
    components: impl IntoIterator<Item = (CheckStatus, Criticality)>,
) -> InstanceStatus {
    if !started {
        return InstanceStatus::Starting;
    }
    let worst = components
        .into_iter()
        .map(|(status, criticality)| effect(status, criticality))
        .max()
        .unwrap_or(Effect::None);
    match worst {
        Effect::None => InstanceStatus::Healthy,
        Effect::Degraded => InstanceStatus::Degraded,
        Effect::Unhealthy => InstanceStatus::Unhealthy,
    }
}

/// How one instance counts in the rollup of its service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstanceVote {
    /// Serving, nothing wrong.
    Healthy,
    /// Serving, with something wrong.
    Degraded,
    /// Not serving.
    Unhealthy,
    /// Booting: it does not count against the service.
    Starting,
    /// Draining or removed by its source: it does not count at all.
    Gone,
    /// Not seen.
    Unknown,
}

/// The status of a service from its instances.
///
/// Serving (healthy or degraded) at least `at_least`: healthy if all that count are healthy, else degraded. Below:
/// unknown if the unseen instances could fill the gap, starting if the booting ones could, else unhealthy. With no
/// evidence at all it is unknown.
///
/// ```
/// use rootward_core::{roll_up_instances, InstanceVote::*, ServiceStatus};
/// assert_eq!(roll_up_instances([Healthy, Unknown], 1), ServiceStatus::Degraded);
/// assert_eq!(roll_up_instances([Unhealthy, Unknown], 1), ServiceStatus::Unknown);
/// assert_eq!(roll_up_instances([Unhealthy, Unhealthy], 1), ServiceStatus::Unhealthy);
/// assert_eq!(roll_up_instances([], 1), ServiceStatus::Unknown);
/// ```
#[must_use]
pub fn roll_up_instances(
    votes: impl IntoIterator<Item = InstanceVote>,
    at_least: usize,
) -> ServiceStatus {
    let (mut healthy, mut degraded, mut unhealthy, mut starting, mut unknown) = (0, 0, 0, 0, 0);
    for vote in votes {
        match vote {
            InstanceVote::Healthy => healthy += 1,
            InstanceVote::Degraded => degraded += 1,
            InstanceVote::Unhealthy => unhealthy += 1,
            InstanceVote::Starting => starting += 1,
            InstanceVote::Unknown => unknown += 1,
            InstanceVote::Gone => {}
        }
    }
    let at_least: usize = at_least.max(1);
    let serving: usize = healthy + degraded;
    if serving >= at_least {
        return if degraded + unhealthy + unknown == 0 {
            ServiceStatus::Healthy
        } else {
            ServiceStatus::Degraded
        };
    }
    let nothing_seen = serving + unhealthy + starting == 0;
    if nothing_seen || serving + unknown >= at_least {
        return ServiceStatus::Unknown;
    }
    if serving + unknown + starting >= at_least {
        return ServiceStatus::Starting;
    }
    ServiceStatus::Unhealthy
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One step worse, for the law that a worse child never improves the parent.
    const fn worse(vote: InstanceVote) -> InstanceVote {
        match vote {
            InstanceVote::Healthy => InstanceVote::Degraded,
            InstanceVote::Degraded | InstanceVote::Unhealthy => InstanceVote::Unhealthy,
            InstanceVote::Starting => InstanceVote::Starting,
            InstanceVote::Gone => InstanceVote::Gone,
            InstanceVote::Unknown => InstanceVote::Unhealthy,
        }
    }

    fn vote() -> impl Strategy<Value = InstanceVote> {
        prop_oneof![
            Just(InstanceVote::Healthy),
            Just(InstanceVote::Degraded),
            Just(InstanceVote::Unhealthy),
            Just(InstanceVote::Starting),
            Just(InstanceVote::Gone),
            Just(InstanceVote::Unknown),
        ]
    }

    fn component() -> impl Strategy<Value = (CheckStatus, Criticality)> {
        (
            proptest::sample::select(CheckStatus::ALL),
            proptest::sample::select(Criticality::ALL),
        )
    }

    #[test]
    fn every_cell_of_the_effect_table() {
        use CheckStatus as S;
        use Criticality as C;
        let table = [
            (S::Up, [Effect::None, Effect::None, Effect::None]),
            (
                S::Degraded,
                [Effect::Degraded, Effect::Degraded, Effect::None],
            ),
            (S::Down, [Effect::Unhealthy, Effect::Degraded, Effect::None]),
            (S::Unknown, [Effect::Degraded, Effect::None, Effect::None]),
        ];
        for (status, row) in table {
            for (criticality, expected) in [C::Hard, C::Soft, C::Informational].into_iter().zip(row)
            {
                assert_eq!(
                    effect(status, criticality),
                    expected,
                    "{criticality} {status}"
                );
            }
        }
    }

    #[test]
    fn an_instance_without_checks_is_healthy_and_starting_wins_over_failures() {
        assert_eq!(roll_up_components(true, []), InstanceStatus::Healthy);
        assert_eq!(
            roll_up_components(false, [(CheckStatus::Down, Criticality::Hard)]),
            InstanceStatus::Starting
        );
    }

    #[test]
    fn a_rollout_does_not_make_a_serving_service_degraded() {
        use InstanceVote::{Gone, Healthy, Starting};
        assert_eq!(
            roll_up_instances([Healthy, Starting, Gone], 1),
            ServiceStatus::Healthy
        );
        assert_eq!(roll_up_instances([Starting], 1), ServiceStatus::Starting);
        assert_eq!(roll_up_instances([Gone], 1), ServiceStatus::Unknown);
    }

    proptest! {
        /// P-3 for instances.
        #[test]
        fn p_3_service_rollup_ignores_order_and_never_improves(
            votes in proptest::collection::vec(vote(), 0..8), at_least in 1_usize..4, pick in any::<proptest::sample::Index>(),
        ) {
            let before = roll_up_instances(votes.iter().copied(), at_least);
            prop_assert_eq!(before, roll_up_instances(votes.iter().rev().copied(), at_least));
            if !votes.is_empty() {
                let mut after = votes.clone();
                let at = pick.index(votes.len());
                after[at] = worse(after[at]);
                prop_assert!(roll_up_instances(after, at_least) >= before);
            }
        }

        /// KF-069: nothing, only unknowns or only gone is never healthy.
        #[test]
        fn kf_069_no_evidence_is_unknown(unknown in 0_usize..5, gone in 0_usize..5, at_least in 1_usize..3) {
            let votes = std::iter::repeat_n(InstanceVote::Unknown, unknown)
                .chain(std::iter::repeat_n(InstanceVote::Gone, gone));
            prop_assert_eq!(roll_up_instances(votes, at_least), ServiceStatus::Unknown);
        }

        /// P-3 for components.
        #[test]
        fn p_3_component_rollup_ignores_order_is_idempotent_and_never_improves(
            components in proptest::collection::vec(component(), 0..8), pick in any::<proptest::sample::Index>(),
        ) {
            let before = roll_up_components(true, components.iter().copied());
            prop_assert_eq!(before, roll_up_components(true, components.iter().rev().copied()));
            let twice = components.iter().chain(components.iter()).copied();
            prop_assert_eq!(before, roll_up_components(true, twice));
            if !components.is_empty() {
                let mut after = components.clone();
                let at = pick.index(components.len());
                after[at].0 = CheckStatus::Down;
                prop_assert!(roll_up_components(true, after) >= before);
            }
        }
    }
}
