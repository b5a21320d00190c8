//! The numbers of the probabilistic model, in one place.
//!
//! The model is a noisy-OR network over binary faults (Pearl, "Probabilistic Reasoning in Intelligent Systems", 1988;
//! QMR-DT: Shwe et al., Methods of Information in Medicine 30, 1991) in which every failing check is attributed to the
//! one fault that explains it best (noisy-max). Costs are in nats, negative natural logarithms of probabilities.

use super::event::ErrorClass;

/// Probabilities of the eight error classes, in the order of [`ErrorClass::ALL`].
pub type ClassTable = [f64; 8];

/// Priors, detection probabilities and noise. [`Model::default`] was tuned on the tuning
/// seeds of `rootward-sim`.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Prior cost of a fault of a whole node.
    pub node: f64,
    /// On top of it: the process is reachable by polls while its callers fail.
    pub deaf: f64,
    /// On top of it: the application is sick, the process alive.
    pub application: f64,
    /// On top of node, edge or instance edge: only some checks fail.
    pub intermittent: f64,
    /// Prior cost of a fault between a service and one dependency.
    pub edge: f64,
    /// Prior cost of a fault of one instance.
    pub instance: f64,
    /// Prior cost of a fault between one instance and one dependency.
    pub instance_edge: f64,
    /// Prior cost of a fault of a host.
    pub host: f64,
    /// Prior cost of a zone cut off from the others.
    pub zone: f64,
    /// Prior cost of a broken view of a zone.
    pub poller: f64,
    /// Prior cost of a bad release of a service.
    pub version: f64,
    /// Cost of a service not being ready for a moment, for no lasting reason.
    pub flicker: f64,
    /// Cost of a service not being ready because of failures of its own checks that have no lasting reason.
    pub echo: f64,
    /// A recent change of a service lowers its prior costs by this; at most 2.
    pub change: f64,

    /// Probability that a check fails while its cause is there, hard faults.
    pub hard: f64,
    /// The same for intermittent faults.
    pub sometimes: f64,
    /// The same for faults that bite more often than not.
    pub often: f64,
    /// Cost of an intermittent fault going on or off.
    pub switch: f64,
    /// The same as `hard` for readiness checks of a sick application.
    pub sick_readiness: f64,
    /// The same for pings of a sick application.
    pub sick_ping: f64,
    /// The same for all checks of an instance that reaches nothing.
    pub egress: f64,
    /// The same for places and dead replicas, before the share of what is affected.
    pub place: f64,
    /// The same for what looks not ready because of its own dependency.
    pub cascade: f64,
    /// Probability that one hop passes a failure on to readiness.
    pub hop: f64,
    /// Factor on it if the hop is a soft dependency.
    pub soft_hop: f64,
    /// Cost of a cascade whose deeper failure began clearly later than the upper one.
    pub late_onset: f64,
    /// Probability that a poll is lost while nothing is wrong.
    pub lost_poll: f64,
    /// Probability that a poll of something dead or cut off fails.
    pub silent: f64,

    /// Rate of false failures of a check before anything was learned about its edge.
    pub noise: f64,
    /// How many checks that starting value is worth.
    pub noise_weight: f64,
    /// The learned rate is at most `noise` times this.
    pub noise_span: f64,
    /// And never below `noise` divided by this: a quiet half hour proves little.
    pub quiet_span: f64,

    /// Probability of the class that most checks of a fault show.
    pub match_same: f64,
    /// Probability of another class of a sick process.
    pub match_near: f64,
    /// Probability of any other class.
    pub match_far: f64,

    /// What false failures look like.
    pub noise_classes: ClassTable,
    /// What a dead node looks like.
    pub node_classes: ClassTable,
    /// What a sick application looks like.
    pub application_classes: ClassTable,
    /// What a broken way looks like.
    pub edge_classes: ClassTable,
    /// What the way of a bad release to one dependency looks like.
    pub release_classes: ClassTable,
    /// What an instance that reaches nothing sees.
    pub egress_classes: ClassTable,
    /// What a dead replica looks like.
    pub dead_classes: ClassTable,
    /// What a lost host or zone looks like.
    pub place_classes: ClassTable,
    /// What a service that is not ready because of its dependency looks like.
    pub cascade_classes: ClassTable,

    /// Each check before the newest counts this much less.
    pub decay: f64,
    /// Confidence is the logistic function of the margin plus `lean`, divided by this, less the share `doubt`.
    pub temperature: f64,
    /// Answers with a margin of almost nothing are right more often than not: what they are taken for instead is often
    /// the same fault by another name.
    pub lean: f64,
    /// However large the margin, so many answers are wrong: the model is not the world.
    pub doubt: f64,
    /// A cause below this confidence is ranked, not named.
    pub naming: f64,
    /// Within a circle of dependencies, explanations whose margin is smaller are answered as one group.
    pub circle: f64,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            node: 9.0,
            deaf: 1.2,
            application: 0.3,
            intermittent: 0.7,
            edge: 10.6,
            instance: 10.2,
            instance_edge: 10.6,
            host: 10.8,
            zone: 12.0,
            poller: 10.0,
            version: 9.7,
            flicker: 2.8,
            echo: 1.5,
            change: 2.0,
            hard: 0.97,
            sometimes: 0.35,
            often: 0.75,
            switch: 1.8,
            sick_readiness: 0.95,
            sick_ping: 0.1,
            egress: 0.9,
            place: 0.95,
            cascade: 0.95,
            hop: 0.4,
            soft_hop: 0.5,
            late_onset: 2.3,
            lost_poll: 0.02,
            silent: 0.97,
            noise: 0.012,
            noise_weight: 60.0,
            noise_span: 4.0,
            quiet_span: 1.2,
            match_same: 0.85,
            match_near: 0.08,
            match_far: 0.02,
            noise_classes: [0.5, 0.09, 0.07, 0.02, 0.02, 0.11, 0.18, 0.01],
            node_classes: [0.35, 0.45, 0.02, 0.01, 0.01, 0.08, 0.06, 0.02],
            application_classes: [0.15, 0.02, 0.01, 0.01, 0.03, 0.6, 0.16, 0.02],
            edge_classes: [0.35, 0.08, 0.15, 0.15, 0.15, 0.03, 0.06, 0.03],
            release_classes: [0.33, 0.06, 0.04, 0.24, 0.26, 0.03, 0.02, 0.02],
            egress_classes: [0.5, 0.05, 0.25, 0.05, 0.05, 0.02, 0.05, 0.03],
            dead_classes: [0.48, 0.45, 0.01, 0.01, 0.01, 0.02, 0.01, 0.01],
            place_classes: [0.75, 0.15, 0.03, 0.01, 0.01, 0.02, 0.02, 0.01],
            cascade_classes: [0.05, 0.02, 0.01, 0.01, 0.01, 0.8, 0.08, 0.02],
            decay: 0.96,
            temperature: 1.5,
            lean: 0.8,
            doubt: 0.02,
            naming: 0.5,
            circle: 2.0,
        }
    }
}

impl Model {
    /// The confidence that belongs to a margin, fitted on the tuning seeds.
    pub(super) fn confidence(&self, margin: f64) -> f64 {
        (1.0 - self.doubt) / (1.0 + (-(margin + self.lean) / self.temperature).exp())
    }

    /// How likely a check shows `seen` when most checks of its fault show `usual`.
    pub(super) fn matching(&self, usual: ErrorClass, seen: ErrorClass) -> f64 {
        if usual == seen {
            self.match_same
        } else if usual.is_of_a_sick_process() && seen.is_of_a_sick_process() {
            self.match_near
        } else {
            self.match_far
        }
    }

    /// Probability that a check fails for no reason, from what was learned: `isolated` false failures in `checks`.
    ///
    /// The mean of a Beta distribution whose start is worth `noise_weight` checks, clamped.
    pub(super) fn noise_rate(&self, isolated: u32, checks: u32) -> f64 {
        let start = self.noise * self.noise_weight;
        let mean = (start + f64::from(isolated)) / (self.noise_weight + f64::from(checks));
        mean.clamp(self.noise / self.quiet_span, self.noise * self.noise_span)
    }
}
