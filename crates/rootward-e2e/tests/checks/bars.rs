//! What each ready-made check has to survive, and which test shows it: a row for each way in of each kind, five bars
//! each.
//!
//! A row that names a test that is not there, a test that does not do what its bar says, and a kind of `docs/checks.md`
//! without a row fail. Where there is nothing to test, a sentence says why.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use Shown::{By, Nothing};

/// How a bar is met.
#[derive(Clone, Copy)]
enum Shown {
    /// `FILE::TEST` in this directory.
    By(&'static str),
    /// There is nothing to test, for this reason.
    Nothing(&'static str),
}

/// A bar, and whether the text of a test reads like one of it.
type Bar = (&'static str, fn(&str) -> bool);

/// The bars, in the order of a row.
const BARS: [Bar; 5] = [
    (
        "a server that accepts and never answers costs one time limit",
        |test| {
            has_one(
                test,
                &[
                    "survives_silence(",
                    "is_survived(",
                    "cut off",
                    "timed out",
                    "timeout, ",
                ],
            )
        },
    ),
    ("a server that is not there is said to refuse", |test| {
        has_one(
            test,
            &[
                "survives_refusal(",
                "connection_refused, ",
                "free_port()",
                "not_found",
                "not there",
            ],
        )
    }),
    ("a wrong password is said without it", |test| {
        has_one(test, &["auth, ", "HTTP status 401", "down, tls, "])
    }),
    ("a thousand runs leave nothing", |test| {
        has_one(test, &["leaves_nothing("])
    }),
    ("a restart of the server is survived", |test| {
        // Asked before, and up afterwards.
        has_one(test, &["survives_restart(", "is_survived("])
            || test.contains("\"up\"")
                && test.matches("run(").count() + test.matches("run_until(").count() >= 2
    }),
];

fn has_one(test: &str, words: &[&str]) -> bool {
    words.iter().any(|word| test.contains(word))
}

const NO_LOGIN: Shown = Nothing("it is asked without a login");
const IN_PROCESS: Shown = Nothing("what is asked is in this process: nothing to connect to");
const ENDS_WITH_US: Shown = Nothing("what is asked is in this process, and ends with it");
const KERNEL: Shown = Nothing("the kernel is asked: nothing to connect to");
const KERNEL_ANSWERS: Shown =
    Nothing("the kernel is asked for numbers that it holds, and waits for nobody");
const APPLICATION_LOGS_IN: Shown =
    Nothing("the application's client logs in, before there is a check");
const APPLICATION_CONNECTS: Shown =
    Nothing("the application's client connects, before there is a check");

/// Kind as in `docs/checks.md`, the way in, and the five.
const ROWS: &[(&str, &str, [Shown; 5])] = &[
    (
        "`amqp`",
        "settings",
        [
            By("amqp::a_broker_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By("amqp::a_broker_that_is_not_there_is_said_to_refuse"),
            By("amqp::what_rabbitmq_refuses_has_its_category_and_a_restart_is_survived"),
            By("amqp::a_thousand_runs_against_rabbitmq_leave_nothing"),
            By("amqp::what_rabbitmq_refuses_has_its_category_and_a_restart_is_survived"),
        ],
    ),
    (
        "`amqp`",
        "lapin",
        [
            By("amqp::what_rabbitmq_refuses_has_its_category_and_a_restart_is_survived"),
            APPLICATION_CONNECTS,
            APPLICATION_LOGS_IN,
            By("amqp::a_thousand_runs_against_rabbitmq_leave_nothing"),
            By("amqp::what_rabbitmq_refuses_has_its_category_and_a_restart_is_survived"),
        ],
    ),
    (
        "`clock`",
        "a time server",
        [
            By("clock::a_time_server_that_says_nothing_or_is_not_there_is_said_to"),
            By("clock::a_time_server_that_says_nothing_or_is_not_there_is_said_to"),
            NO_LOGIN,
            By("clock::a_thousand_questions_to_a_time_server_or_a_site_leave_nothing"),
            By("clock::a_time_server_and_a_site_that_come_back_are_up_for_the_same_checks"),
        ],
    ),
    (
        "`clock`",
        "a site",
        [
            By("clock::a_site_with_a_clock_survives_what_every_check_does"),
            By("clock::a_site_with_a_clock_survives_what_every_check_does"),
            Nothing("the date is read from any answer, also from one that wants a login"),
            By("clock::a_thousand_questions_to_a_time_server_or_a_site_leave_nothing"),
            By("clock::a_time_server_and_a_site_that_come_back_are_up_for_the_same_checks"),
        ],
    ),
    (
        "`descriptors`",
        "a process",
        [
            KERNEL_ANSWERS,
            KERNEL,
            NO_LOGIN,
            By("descriptors::a_thousand_counts_of_descriptors_leave_none"),
            By(
                "descriptors::the_pid_file_is_read_for_every_run_so_that_a_restart_of_the_application_is_survived",
            ),
        ],
    ),
    (
        "`disk`",
        "a path",
        [
            By("disk::a_file_system_that_hangs_is_a_timeout_and_holds_one_thread_and_never_two"),
            By("disk::a_path_that_is_not_there_is_said_without_its_name"),
            NO_LOGIN,
            By("disk::a_thousand_looks_at_a_disk_leave_nothing"),
            By("disk::a_disk_that_is_filled_is_degraded_then_down_and_up_again_when_it_is_emptied"),
        ],
    ),
    (
        "`dns`",
        "settings",
        [
            By("dns::a_resolver_is_seen_frozen_and_killed_and_comes_back_to_the_same_check"),
            By("dns::a_resolver_that_is_not_there_is_said_not_to_answer"),
            NO_LOGIN,
            By("dns::a_thousand_runs_against_dnsmasq_leave_nothing"),
            By("dns::a_resolver_is_seen_frozen_and_killed_and_comes_back_to_the_same_check"),
        ],
    ),
    (
        "`elasticsearch`",
        "settings",
        [
            By(
                "elasticsearch::an_elasticsearch_that_says_nothing_costs_one_time_limit_and_no_connection",
            ),
            By("elasticsearch::an_elasticsearch_that_is_not_there_is_said_to_refuse"),
            By("elasticsearch::a_fake_elasticsearch_has_its_colours"),
            By("elasticsearch::a_thousand_questions_to_a_fake_elasticsearch_leave_nothing"),
            By("elasticsearch::a_fake_elasticsearch_that_comes_back_is_up_for_the_same_check"),
        ],
    ),
    (
        "`etcd`",
        "settings",
        [
            By("etcd::an_etcd_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By("etcd::an_etcd_that_is_not_there_is_said_to_refuse"),
            Nothing("the health of a member is asked without a login"),
            By("etcd::a_thousand_runs_against_etcd_leave_nothing"),
            By("etcd::an_etcd_is_seen_frozen_and_killed_and_comes_back_to_the_same_check"),
        ],
    ),
    (
        "`freshness`",
        "a path",
        [
            By("freshness::a_file_of_a_file_system_that_hangs_costs_its_time_limit_and_no_more"),
            By("freshness::a_file_is_fresh_then_late_then_stale_then_gone_and_fresh_again"),
            NO_LOGIN,
            By("freshness::a_thousand_looks_at_a_file_leave_nothing"),
            By("freshness::a_file_is_fresh_then_late_then_stale_then_gone_and_fresh_again"),
        ],
    ),
    (
        "`grpc-health`",
        "settings",
        [
            By(
                "grpc_health::a_grpc_server_that_says_nothing_costs_one_time_limit_and_no_connection",
            ),
            By("grpc_health::a_grpc_server_that_is_not_there_is_said_to_refuse"),
            By("grpc_health::a_grpc_server_that_refuses_is_said_to_without_its_words"),
            By("grpc_health::a_thousand_runs_against_a_grpc_server_leave_nothing"),
            By("grpc_health::a_grpc_server_that_ends_comes_back_to_the_same_check"),
        ],
    ),
    (
        "`grpc-health`",
        "a channel of tonic",
        [
            By(
                "grpc_health::a_grpc_server_that_says_nothing_costs_one_time_limit_on_a_channel_too",
            ),
            By("grpc_health::a_grpc_server_that_is_not_there_is_said_to_refuse"),
            By("grpc_health::a_grpc_server_that_refuses_is_said_to_without_its_words"),
            By("grpc_health::a_thousand_runs_against_a_grpc_server_leave_nothing"),
            By("grpc_health::a_grpc_server_that_ends_comes_back_to_the_same_check"),
        ],
    ),
    (
        "`http`",
        "settings",
        [
            By("http::a_site_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By("http::a_site_that_is_not_there_is_said_to_refuse"),
            By("http::every_status_of_a_fake_site_has_its_category"),
            By("http::a_thousand_runs_against_a_site_leave_nothing"),
            By("http::a_site_is_seen_frozen_and_killed_and_comes_back_to_the_same_check"),
        ],
    ),
    (
        "`kafka`",
        "settings",
        [
            By("kafka::a_kafka_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By("kafka::a_kafka_that_is_not_there_is_said_to_refuse"),
            By("kafka::a_wrong_password_for_a_fake_broker_is_said_without_it"),
            By("kafka::a_thousand_runs_against_mock_brokers_of_librdkafka_leave_nothing"),
            By(
                "kafka::a_mock_broker_of_librdkafka_is_seen_frozen_and_killed_and_comes_back_to_the_same_check",
            ),
        ],
    ),
    (
        "`meilisearch`",
        "settings",
        [
            By(
                "meilisearch::a_meilisearch_that_says_nothing_costs_one_time_limit_and_no_connection",
            ),
            By("meilisearch::a_meilisearch_that_is_not_there_is_said_to_refuse"),
            By("meilisearch::a_fake_meilisearch_is_available_or_not"),
            By("meilisearch::a_thousand_questions_to_a_fake_meilisearch_leave_nothing"),
            By("meilisearch::a_fake_meilisearch_that_comes_back_is_up_for_the_same_check"),
        ],
    ),
    (
        "`memcached`",
        "settings",
        [
            By("memcached::a_memcached_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By("memcached::a_memcached_that_is_not_there_is_said_to_refuse"),
            By("memcached::a_memcached_with_a_login_lets_in_only_who_has_it"),
            By("memcached::a_thousand_runs_against_memcached_leave_nothing"),
            By("memcached::a_memcached_is_seen_frozen_and_killed_and_comes_back_to_the_same_check"),
        ],
    ),
    (
        "`memory`",
        "a process",
        [
            KERNEL_ANSWERS,
            KERNEL,
            NO_LOGIN,
            By("memory::a_thousand_looks_at_memory_leave_nothing"),
            Nothing("the process is found as by `descriptors`, by the same code"),
        ],
    ),
    (
        "`mongodb`",
        "settings",
        [
            By("mongodb::a_mongodb_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By("mongodb::a_mongodb_that_is_not_there_is_said_to_refuse_by_a_check_from_settings"),
            By("mongodb::a_fake_mongodb_that_refuses_a_password_is_said_to_without_it"),
            By("mongodb::a_thousand_runs_against_a_fake_mongodb_leave_nothing"),
            By("mongodb::a_fake_mongodb_that_is_killed_and_comes_back_is_seen_by_the_same_check"),
        ],
    ),
    (
        "`mongodb`",
        "a client",
        [
            By("mongodb::a_mongodb_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By(
                "mongodb::a_mongodb_that_is_not_there_is_a_timeout_with_the_client_of_the_application",
            ),
            By("mongodb::a_fake_mongodb_that_refuses_a_password_is_said_to_without_it"),
            By("mongodb::a_thousand_runs_against_a_fake_mongodb_leave_nothing"),
            By("mongodb::a_fake_mongodb_that_is_killed_and_comes_back_is_seen_by_the_same_check"),
        ],
    ),
    (
        "`mysql`",
        "a pool, and settings",
        [
            By("mysql::a_mysql_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By("mysql::a_mysql_that_is_not_there_is_said_to_refuse"),
            By("mysql::what_a_mariadb_refuses_is_said_without_user_and_password"),
            By("mysql::a_thousand_runs_against_a_mariadb_leave_nothing"),
            By("mysql::a_mariadb_is_seen_frozen_and_killed_and_comes_back_to_the_same_check"),
        ],
    ),
    (
        "`nats`",
        "settings",
        [
            By("nats::a_nats_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By("nats::a_nats_that_is_not_there_is_said_to_refuse"),
            By("nats::a_wrong_password_or_token_of_nats_is_said_without_it"),
            By("nats::a_thousand_runs_against_nats_leave_nothing"),
            By("nats::a_nats_is_seen_frozen_and_killed_and_comes_back_to_the_same_check"),
        ],
    ),
    (
        "`nats`",
        "a client",
        [
            By("nats::a_frozen_nats_is_seen_through_a_client_whose_flush_would_succeed"),
            By("nats::a_client_that_was_never_connected_is_not_ready"),
            APPLICATION_LOGS_IN,
            By("nats::a_thousand_runs_on_a_client_of_nats_leave_nothing"),
            By("nats::a_client_that_reconnects_is_said_to_at_once_and_not_after_its_buffer"),
        ],
    ),
    (
        "`pool`",
        "numbers",
        [
            IN_PROCESS,
            IN_PROCESS,
            NO_LOGIN,
            By("pool::a_thousand_looks_at_a_saturated_pool_leave_nothing"),
            By("pool::a_pool_that_leaked_every_connection_is_seen_by_its_numbers_and_recovers"),
        ],
    ),
    (
        "`postgresql`",
        "deadpool, and settings",
        [
            By("postgresql::a_postgresql_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By("postgresql::a_postgresql_that_is_not_there_is_said_to_refuse"),
            By("postgresql::a_wrong_password_of_postgresql_is_said_without_it"),
            By("postgresql::a_thousand_runs_against_postgresql_leave_nothing"),
            By(
                "postgresql::a_postgresql_is_seen_frozen_and_killed_and_comes_back_to_the_same_checks",
            ),
        ],
    ),
    (
        "`postgresql`",
        "bb8",
        [
            By("postgresql::a_postgresql_that_says_nothing_costs_one_time_limit_with_bb8_too"),
            By("postgresql::a_postgresql_that_is_not_there_is_said_to_refuse"),
            By("postgresql::a_wrong_password_of_postgresql_is_said_without_it"),
            By("postgresql::a_thousand_runs_against_postgresql_leave_nothing"),
            By(
                "postgresql::a_postgresql_is_seen_frozen_and_killed_and_comes_back_to_the_same_checks",
            ),
        ],
    ),
    (
        "`queue`",
        "a function",
        [
            By("queue::a_queue_whose_depth_nobody_tells_is_cut_off_and_one_that_fails_says_why"),
            IN_PROCESS,
            By("queue::a_queue_whose_depth_nobody_tells_is_cut_off_and_one_that_fails_says_why"),
            By("queue::a_thousand_looks_at_a_queue_leave_nothing"),
            ENDS_WITH_US,
        ],
    ),
    (
        "`redis`",
        "a client",
        [
            By("redis::a_redis_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By("redis::a_redis_that_is_not_there_is_said_to_refuse"),
            By("redis::a_wrong_password_of_redis_is_said_without_it"),
            By("redis::a_thousand_runs_against_redis_leave_nothing"),
            By("redis::a_redis_is_seen_frozen_and_killed_and_comes_back_to_the_same_check"),
        ],
    ),
    (
        "`redis` in a cluster",
        "settings",
        [
            By(
                "redis_cluster::a_cluster_of_redis_that_says_nothing_costs_one_time_limit_and_no_connection",
            ),
            By("redis_cluster::a_cluster_of_redis_that_is_not_there_is_said_to_refuse"),
            By(
                "redis_cluster::a_redis_that_is_no_cluster_is_said_to_be_none_and_a_wrong_password_without_it",
            ),
            By("redis_cluster::a_thousand_runs_against_a_cluster_of_redis_leave_nothing"),
            By(
                "redis_cluster::a_cluster_is_down_while_a_slot_or_a_master_is_missing_and_comes_back",
            ),
        ],
    ),
    (
        "`redis` in a cluster",
        "a connection",
        [
            By(
                "redis_cluster::a_cluster_that_says_nothing_costs_the_application_no_run_that_comes_after",
            ),
            By(
                "redis_cluster::a_cluster_of_which_no_node_is_there_is_said_to_and_comes_back_to_the_applications_connection_too",
            ),
            APPLICATION_LOGS_IN,
            By("redis_cluster::a_thousand_runs_against_a_cluster_of_redis_leave_nothing"),
            By(
                "redis_cluster::a_cluster_of_which_no_node_is_there_is_said_to_and_comes_back_to_the_applications_connection_too",
            ),
        ],
    ),
    (
        "`redis` behind Sentinel",
        "settings",
        [
            By(
                "redis_sentinel::a_sentinel_that_says_nothing_costs_one_time_limit_and_no_connection",
            ),
            By("redis_sentinel::a_sentinel_that_is_not_there_is_said_to_refuse"),
            By(
                "redis_sentinel::a_master_is_found_through_its_sentinel_and_seen_frozen_killed_and_back",
            ),
            By("redis_sentinel::a_thousand_runs_against_a_sentinel_leave_nothing"),
            By(
                "redis_sentinel::a_master_is_found_through_its_sentinel_and_seen_frozen_killed_and_back",
            ),
        ],
    ),
    (
        "`s3`",
        "settings",
        [
            By("s3::a_store_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By("s3::a_store_that_is_not_there_is_said_to_refuse"),
            By("s3::a_bucket_is_up_for_who_may_see_it_and_for_nobody_else"),
            By("s3::a_thousand_looks_at_a_bucket_leave_nothing"),
            By("s3::a_store_is_seen_frozen_and_killed_and_comes_back_to_the_same_check"),
        ],
    ),
    (
        "`service`",
        "a URL",
        [
            By("service::a_service_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By("service::a_service_that_is_not_there_is_said_to_refuse"),
            By("service::a_readiness_that_wants_a_login_is_said_with_its_status"),
            By("service::a_thousand_looks_at_a_service_leave_nothing"),
            By("service::a_service_that_ends_and_comes_back_is_up_for_the_same_check"),
        ],
    ),
    (
        "`smtp`",
        "settings",
        [
            By("smtp::a_mail_server_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By("smtp::a_mail_server_that_is_not_there_is_said_to_refuse"),
            By("smtp::a_mail_server_lets_in_who_has_the_password_over_tls_and_no_mail_is_begun"),
            By("smtp::a_thousand_runs_against_a_mail_server_leave_nothing"),
            By("smtp::a_mail_server_is_seen_frozen_and_killed_and_comes_back_to_the_same_check"),
        ],
    ),
    (
        "`sqlite`",
        "a path",
        [
            By(
                "sqlite::a_sqlite_file_that_somebody_holds_locked_is_said_to_be_before_the_time_limit",
            ),
            By("sqlite::a_sqlite_file_is_up_and_is_said_to_be_gone_damaged_or_forbidden"),
            By("sqlite::a_sqlite_file_is_up_and_is_said_to_be_gone_damaged_or_forbidden"),
            By("sqlite::a_thousand_runs_on_a_sqlite_file_leave_nothing"),
            Nothing("a file has no server"),
        ],
    ),
    (
        "`sqs`",
        "settings",
        [
            By("sqs::a_queue_that_says_nothing_costs_one_time_limit_and_no_connection"),
            By("sqs::a_queue_that_is_not_there_is_said_to_refuse"),
            By("sqs::a_queue_is_up_until_too_much_waits_in_it"),
            By("sqs::a_thousand_looks_at_a_queue_leave_nothing"),
            By("sqs::a_queue_is_seen_frozen_and_killed_and_comes_back_to_the_same_check"),
        ],
    ),
    (
        "`table`",
        "a function",
        [
            By("table::a_look_that_takes_too_long_is_a_failure_with_its_time_whatever_it_found"),
            IN_PROCESS,
            NO_LOGIN,
            By("table::a_thousand_looks_at_a_table_leave_nothing"),
            ENDS_WITH_US,
        ],
    ),
    (
        "`tcp`",
        "settings",
        [
            Nothing(
                "who accepts is up for a connection; one that does not even accept is tcp::a_port_that_does_not_even_accept_is_cut_off",
            ),
            By("tcp::a_port_that_is_not_open_is_said_to_refuse"),
            NO_LOGIN,
            By("tcp::a_thousand_connections_leave_nothing"),
            By("tcp::a_port_is_up_even_of_a_frozen_server_and_refuses_when_it_is_killed"),
        ],
    ),
    (
        "`tls`",
        "settings",
        [
            By(
                "tls::a_server_that_says_nothing_in_the_handshake_costs_one_time_limit_and_no_connection",
            ),
            By("tls::a_server_with_a_certificate_that_is_not_there_is_said_to_refuse"),
            By("tls::the_end_of_a_certificate_comes_nearer"),
            By("tls::a_thousand_handshakes_leave_nothing"),
            By("tls::a_server_that_comes_back_with_a_new_certificate_is_up_for_the_same_check"),
        ],
    ),
];

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of a test function, if there is one of this name that is run.
fn body(source: &str, name: &str) -> Option<String> {
    let mut lines = source.lines().enumerate();
    let head = format!("fn {name}(");
    let (at, line) = lines.find(|(_, line)| line.contains(&head))?;
    let indent = line.len() - line.trim_start().len();
    let mut above = source
        .lines()
        .take(at)
        .collect::<Vec<_>>()
        .into_iter()
        .rev();
    let attributes: Vec<_> = above
        .by_ref()
        .take_while(|line| line.trim_start().starts_with(['#', '/']))
        .collect();
    let is_run = attributes.iter().any(|line| line.contains("test"))
        && !attributes.iter().any(|line| line.contains("ignore"));
    let end = format!("{}}}", " ".repeat(indent));
    let text: Vec<_> = source
        .lines()
        .skip(at)
        .take_while(|line| *line != end)
        .collect();
    is_run.then(|| text.join("\n"))
}

#[test]
fn every_kind_has_a_test_or_a_reason_for_each_of_the_five() {
    let mut wrong = Vec::new();
    for (kind, way, shown) in ROWS {
        for ((bar, is_of_it), shown) in BARS.iter().zip(shown) {
            let place = format!("{kind}, {way}: {bar}");
            match shown {
                Nothing(reason) => {
                    if reason.split(' ').count() < 4 {
                        wrong.push(format!("{place}: {reason:?} is no reason"));
                    }
                }
                By(test) => {
                    let Some((file, name)) = test.split_once("::") else {
                        wrong.push(format!("{place}: {test} names no file"));
                        continue;
                    };
                    match body(&read(&format!("tests/checks/{file}.rs")), name) {
                        None => wrong.push(format!("{place}: there is no test {test}")),
                        Some(text) => {
                            if !is_of_it(&text) {
                                wrong.push(format!("{place}: {test} shows something else"));
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_kind_of_the_documentation_is_held_to_the_five() {
    let documented = read("../../docs/checks.md");
    let documented: BTreeSet<&str> = documented
        .lines()
        .skip_while(|line| !line.starts_with("| kind | asks |"))
        .skip(2)
        .map_while(|line| line.strip_prefix("| ")?.split(" | ").next())
        .collect();
    assert!(documented.len() > 20, "{documented:?}");
    let held: BTreeSet<&str> = ROWS.iter().map(|(kind, _, _)| *kind).collect();
    assert_eq!(documented, held);
}
