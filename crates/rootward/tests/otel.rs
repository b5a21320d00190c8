//! The same numbers through a real OpenTelemetry SDK, kept in memory.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use opentelemetry::metrics::MeterProvider as _;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ResourceMetrics};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use rootward::{Check, ErrorCategory, Failure, Health};

/// What was exported last: name, unit and attributes, and how much. Durations and ages count as that they are there.
fn series(exporter: &InMemoryMetricExporter) -> BTreeMap<String, u64> {
    let finished = exporter.get_finished_metrics().expect("exported");
    let mut all = BTreeMap::new();
    let Some(last) = finished.last() else {
        return all;
    };
    for metric in metrics(last) {
        let head = format!("{} [{}]", metric.name(), metric.unit());
        let mut add = |attributes: Vec<String>, value: u64| {
            let mut attributes = attributes;
            attributes.sort();
            all.insert(format!("{head} {}", attributes.join(" ")), value);
        };
        match metric.data() {
            AggregatedMetrics::F64(MetricData::Histogram(histogram)) => {
                for point in histogram.data_points() {
                    assert!(point.sum() >= 0.0);
                    add(texts(point.attributes()), point.count());
                }
            }
            AggregatedMetrics::F64(MetricData::Gauge(gauge)) => {
                for point in gauge.data_points() {
                    assert!(point.value() >= 0.0);
                    add(texts(point.attributes()), 1);
                }
            }
            AggregatedMetrics::U64(MetricData::Gauge(gauge)) => {
                for point in gauge.data_points() {
                    add(texts(point.attributes()), point.value());
                }
            }
            AggregatedMetrics::U64(MetricData::Sum(sum)) => {
                for point in sum.data_points() {
                    add(texts(point.attributes()), point.value());
                }
            }
            other => panic!("{head}: {other:?}"),
        }
    }
    all
}

fn metrics(
    exported: &ResourceMetrics,
) -> impl Iterator<Item = &opentelemetry_sdk::metrics::data::Metric> {
    exported.scope_metrics().flat_map(|scope| scope.metrics())
}

fn texts<'a>(attributes: impl Iterator<Item = &'a opentelemetry::KeyValue>) -> Vec<String> {
    attributes
        .map(|attribute| format!("{}={}", attribute.key, attribute.value))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checks_are_measured_with_the_names_of_the_conventions_and_no_longer_than_they_run() {
    let exporter = InMemoryMetricExporter::default();
    let reader = PeriodicReader::builder(exporter.clone())
        .with_interval(Duration::from_secs(3600))
        .build();
    let provider = SdkMeterProvider::builder().with_reader(reader).build();
    let health = Health::builder("cart")
        .instance("cart-0")
        .check(
            Check::new("orders-db", || async {
                Err::<(), _>(
                    Failure::new(ErrorCategory::Auth).caused_by("password=hunter2-s3cr3t refused"),
                )
            })
            .hard()
            .fall(1)
            .kind("postgresql")
            .target("postgresql://orders-db:5432/orders"),
        )
        .check(
            Check::new("rates", || async { Ok(()) })
                .soft()
                .kind("service")
                .target("http://rates/readyz"),
        )
        .check(
            Check::new("disk", || async { Ok(()) })
                .soft()
                .target("disk-of-cart"),
        )
        .opentelemetry(provider.meter("rootward"))
        .start()
        .expect("it starts");
    let began = Instant::now();
    let all = loop {
        exporter.reset();
        provider.force_flush().expect("collected");
        let all = series(&exporter);
        if all
            .keys()
            .filter(|name| name.contains("duration [s]"))
            .count()
            == 3
        {
            break all;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{all:#?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert!(!format!("{all:?}").contains("hunter2"));
    insta::assert_snapshot!(
        all.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n"),
        @r#"
        rootward.check.age [s] db.system.name=postgresql rootward.check.name=orders-db server.address=orders-db server.port=5432: 1
        rootward.check.age [s] rootward.check.name=disk: 1
        rootward.check.age [s] rootward.check.name=rates server.address=rates service.peer.name=rates: 1
        rootward.check.duration [s] db.system.name=postgresql error.type=auth rootward.check.name=orders-db server.address=orders-db server.port=5432: 1
        rootward.check.duration [s] rootward.check.name=disk: 1
        rootward.check.duration [s] rootward.check.name=rates server.address=rates service.peer.name=rates: 1
        rootward.check.durations_dropped [{run}] : 0
        rootward.check.flips [{flip}] db.system.name=postgresql rootward.check.name=orders-db server.address=orders-db server.port=5432: 0
        rootward.check.flips [{flip}] rootward.check.name=disk: 0
        rootward.check.flips [{flip}] rootward.check.name=rates server.address=rates service.peer.name=rates: 0
        rootward.check.status [] db.system.name=postgresql rootward.check.name=orders-db rootward.check.status=degraded server.address=orders-db server.port=5432: 0
        rootward.check.status [] db.system.name=postgresql rootward.check.name=orders-db rootward.check.status=down server.address=orders-db server.port=5432: 1
        rootward.check.status [] db.system.name=postgresql rootward.check.name=orders-db rootward.check.status=unknown server.address=orders-db server.port=5432: 0
        rootward.check.status [] db.system.name=postgresql rootward.check.name=orders-db rootward.check.status=up server.address=orders-db server.port=5432: 0
        rootward.check.status [] rootward.check.name=disk rootward.check.status=degraded: 0
        rootward.check.status [] rootward.check.name=disk rootward.check.status=down: 0
        rootward.check.status [] rootward.check.name=disk rootward.check.status=unknown: 0
        rootward.check.status [] rootward.check.name=disk rootward.check.status=up: 1
        rootward.check.status [] rootward.check.name=rates rootward.check.status=degraded server.address=rates service.peer.name=rates: 0
        rootward.check.status [] rootward.check.name=rates rootward.check.status=down server.address=rates service.peer.name=rates: 0
        rootward.check.status [] rootward.check.name=rates rootward.check.status=unknown server.address=rates service.peer.name=rates: 0
        rootward.check.status [] rootward.check.name=rates rootward.check.status=up server.address=rates service.peer.name=rates: 1
        "#
    );
    health.stop().await;
    exporter.reset();
    provider.force_flush().expect("collected");
    let after = series(&exporter);
    assert!(
        after
            .keys()
            .all(|name| name.starts_with("rootward.check.duration [s]")),
        "nothing is said about an instance that has ended: {after:#?}"
    );
    provider.shutdown().expect("it ends");
}
