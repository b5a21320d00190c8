//! Instances that send their reports by themselves: they are not polled, and silence is unknown and nothing worse.

use std::sync::Arc;
use std::time::Duration;

use rootward_core::{
    Action, Engine, InstanceId, InstanceStatus, Map, MapParts, Moment, Node, NodeKind, Report,
    ServiceStatus, Settings, Source, Target, Thresholds,
};

use crate::world::name;

const TTL: Duration = Duration::from_secs(60);

fn nightly() -> InstanceId {
    InstanceId {
        service: name("nightly"),
        instance: name("job"),
    }
}

fn engine() -> Engine {
    let node = Node {
        name: name("nightly"),
        kind: NodeKind::Service { at_least: 1 },
        owner: None,
        zone: None,
        target: None,
        aliases: Vec::new(),
    };
    let map = Map::build(MapParts {
        nodes: vec![node],
        edges: Vec::new(),
    })
    .expect("the map is valid");
    let target = Target {
        id: nightly(),
        interval: TTL,
        stale_after: TTL,
        thresholds: Thresholds::DEFAULT,
        source: Source::Pushed,
    };
    let settings = Settings {
        epoch_interval: Duration::from_secs(10),
        hold_limit: Duration::from_secs(45),
        page_unknown_after: Duration::from_secs(120),
        references: false,
    };
    Engine::new(Arc::new(map), vec![target], settings, Moment::ZERO)
}

fn report(status: InstanceStatus) -> Report {
    Report {
        service: name("nightly"),
        instance: name("job"),
        version: None,
        zone: None,
        host: None,
        status,
        ready: true,
        draining: false,
        serving: None,
        components: Vec::new(),
    }
}

/// Lets seconds pass; nobody may be polled meanwhile.
fn pass(engine: &mut Engine, from: u64, to: u64) {
    for second in from..=to {
        engine.handle_timeout(Moment::from_millis(second * 1_000));
        while let Some(action) = engine.poll_action() {
            assert!(!matches!(action, Action::Poll(_)), "it is not polled");
        }
    }
}

#[test]
fn a_job_that_checks_in_is_what_it_says_and_unknown_when_its_time_is_over() {
    let mut engine = engine();
    pass(&mut engine, 1, 10);
    let status = |engine: &Engine| engine.snapshot().services[0].status;
    assert_eq!(status(&engine), ServiceStatus::Unknown);

    for (at, said, shown) in [
        (10, InstanceStatus::Starting, ServiceStatus::Starting),
        (20, InstanceStatus::Unhealthy, ServiceStatus::Unhealthy),
        (30, InstanceStatus::Healthy, ServiceStatus::Healthy),
    ] {
        engine.handle_pushed(nightly(), report(said), Moment::from_millis(at * 1_000));
        pass(&mut engine, at + 1, at + 9);
        assert_eq!(status(&engine), shown);
    }

    pass(&mut engine, 40, 90);
    assert_eq!(status(&engine), ServiceStatus::Healthy);
    pass(&mut engine, 91, 95);
    assert_eq!(status(&engine), ServiceStatus::Unknown);
    let snapshot = engine.snapshot();
    insta::assert_snapshot!(snapshot.services[0].reason, @"it has sent nothing for 65 s; what it sends is good for 60 s");
    assert!(snapshot.diagnosis.root_causes.is_empty());
    assert!(snapshot.open_incidents.is_empty());

    // Nobody calls it, so its silence is told after a while, as that of every entry point.
    pass(&mut engine, 96, 220);
    let open = engine.snapshot().open_incidents.clone();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].cause.to_string(), "unseen:nightly");

    engine.handle_pushed(
        nightly(),
        report(InstanceStatus::Healthy),
        Moment::from_millis(221_000),
    );
    pass(&mut engine, 222, 230);
    assert_eq!(status(&engine), ServiceStatus::Healthy);
    assert!(engine.snapshot().open_incidents.is_empty());
}
