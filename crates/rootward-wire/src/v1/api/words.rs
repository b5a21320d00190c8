//! The vocabularies that only the API has.

use rootward_core::Criticality;

use crate::word::wire_words;

wire_words! {
    /// What is at the other end of a dependency.
    NodeKind {
        /// Something with instances of its own, which are polled.
        Service = "service",
        /// Something that is known through those who call it.
        Resource = "resource",
    }
}

wire_words! {
    /// What a dependency means to its caller, if anybody said so.
    Label {
        /// The caller cannot work without it.
        Hard = "hard",
        /// The caller works with reduced features.
        Soft = "soft",
        /// It changes nothing.
        Informational = "informational",
        /// Nobody said; treated as soft.
        Unlabelled = "unlabelled",
    }
}

impl From<Option<Criticality>> for Label {
    fn from(criticality: Option<Criticality>) -> Self {
        match criticality {
            Some(Criticality::Hard) => Self::Hard,
            Some(Criticality::Soft) => Self::Soft,
            Some(Criticality::Informational) => Self::Informational,
            None => Self::Unlabelled,
        }
    }
}

wire_words! {
    /// Who labelled a dependency.
    LabelSource {
        /// The caller's own report.
        Report = "report",
        /// The map.
        Map = "map",
        /// Nobody.
        None = "none",
    }
}

wire_words! {
    /// What a poll brought.
    PollOutcome {
        /// A report.
        Report = "report",
        /// No complete answer in time.
        NoAnswer = "no_answer",
        /// An HTTP status without a report.
        ErrorStatus = "error_status",
        /// An answer that is not a report.
        Malformed = "malformed",
    }
}

wire_words! {
    /// What a cause does to a service.
    ImpactEffect {
        /// It works with reduced features: there is a soft edge on the way.
        Degraded = "degraded",
        /// It cannot work: hard edges all the way.
        Impacted = "impacted",
    }
}

wire_words! {
    /// How the aggregator itself stands as an observer.
    ObserverState {
        /// Nothing speaks against what it sees.
        Sees = "sees",
        /// Much failed at once by errors of its own machine; self checks are under way.
        Suspect = "suspect",
        /// The trouble is its own: what it cannot ask is unknown.
        Fault = "fault",
        /// Much fails at once, and the trouble is not its own.
        Refused = "refused",
    }
}

wire_words! {
    /// What can be at fault.
    CauseKind {
        /// A service or a resource.
        Node = "node",
        /// One instance of a service.
        Instance = "instance",
        /// The way from one service to what it calls.
        Edge = "edge",
        /// The way from one instance to what it calls.
        InstanceEdge = "instance_edge",
        /// A machine, with all that runs on it.
        Host = "host",
        /// A zone, cut off from the others.
        Zone = "zone",
        /// The way between the aggregator and a zone: the view is broken, the services are not.
        Poller = "poller",
        /// A release of a service.
        Version = "version",
        /// An entry point that is not seen. Only in incidents.
        Unseen = "unseen",
        /// The aggregator itself, which cannot see. Only in incidents.
        Observer = "observer",
    }
}

wire_words! {
    /// How bad a cause is.
    CauseState {
        /// It works, but worse than it should.
        Degraded = "degraded",
        /// It fails now and then.
        Intermittent = "intermittent",
        /// It cannot be seen; nothing is known to be wrong with it.
        Cut = "cut",
        /// It fails.
        Down = "down",
    }
}

wire_words! {
    /// Whether an incident is over.
    IncidentState {
        /// It is not.
        Open = "open",
        /// It is.
        Resolved = "resolved",
    }
}
