//! What an on-call person must be told, story by story.

use crate::world::play;

const SHOP: &str = "
    service front x2 -> cart checkout search(soft)
    service cart x2 -> carts-db cache(soft)
    service checkout x2 -> orders payments cart
    service orders x2 -> orders-db
    service invoices -> orders-db orders
    service reports -> orders-db(soft)
    service payments -> payments-db
    service search -> search-index
    resource orders-db
    resource carts-db
    resource payments-db
    resource search-index
    resource cache
";

fn shop(story: &str) {
    play(&format!("{SHOP}\n{story}"));
}

#[test]
fn a_healthy_shop_has_no_cause_and_no_incident() {
    shop(
        "expect 0 status front unknown
          expect 30 status front healthy
          expect 60 root -
          expect 60 unknown -
          expect 60 incidents 0",
    );
}

#[test]
fn a_refusing_database_is_the_one_cause_and_its_dependants_are_impacted() {
    shop(
        "at 40 fail orders-db connection_refused
          expect 75 root node:orders-db
          expect 75 impacted checkout front invoices orders
          expect 75 degraded reports
          expect 75 status orders unhealthy
          expect 75 status checkout degraded
          expect 75 status cart healthy
          expect 75 incidents 1
          expect 75 paging node:orders-db
          expect 200 root node:orders-db
          at 200 heal orders-db
          expect 240 root -
          expect 240 incidents 0
          expect 240 status front healthy
          expect 240 opened 1",
    );
}

#[test]
fn a_database_that_slows_and_then_refuses_is_one_incident() {
    shop(
        "at 40 fail orders-db timeout
          expect 75 root node:orders-db
          at 100 fail orders-db connection_refused
          expect 130 root node:orders-db
          expect 130 incidents 1
          at 160 heal orders-db
          expect 200 incidents 0
          expect 200 opened 1",
    );
}

#[test]
fn a_soft_dependency_degrades_and_pages_nobody() {
    shop(
        "at 40 fail cache connection_refused
          expect 75 root node:cache
          expect 75 impacted -
          expect 75 degraded cart
          expect 75 status cart degraded
          expect 75 incidents 1
          expect 75 paging -",
    );
}

#[test]
fn a_service_cut_off_from_the_aggregator_is_unknown_and_no_cause() {
    shop(
        "at 40 cut payments
          expect 85 status payments unknown
          expect 85 root -
          expect 85 unknown payments#0
          expect 85 incidents 0
          at 90 heal payments
          expect 110 status payments healthy",
    );
}

#[test]
fn a_killed_service_is_unknown_and_named_when_its_callers_fail() {
    shop(
        "at 40 kill payments
          expect 85 status payments unknown
          expect 85 root node:payments
          expect 85 impacted checkout front
          expect 85 incidents 1
          at 120 heal payments
          expect 160 root -
          expect 160 incidents 0
          expect 160 opened 1",
    );
}

#[test]
fn a_cut_front_is_silence_that_pages() {
    shop(
        "at 40 cut front
          expect 100 status front unknown
          expect 100 incidents 0
          expect 200 incidents 1
          expect 200 paging unseen:front
          expect 200 root -
          at 210 heal front
          expect 230 incidents 0",
    );
}

#[test]
fn a_broken_way_from_one_service_is_an_edge_and_not_the_database() {
    shop(
        "at 40 fail invoices->orders-db timeout
          expect 90 root edge:invoices->orders-db
          expect 90 impacted invoices
          expect 90 status orders healthy",
    );
}

#[test]
fn a_broken_way_from_one_instance_impacts_nobody_while_the_other_serves() {
    shop(
        "at 40 fail orders#1->orders-db timeout
          expect 90 root instance_edge:orders#1->orders-db
          expect 90 impacted -
          expect 90 status orders degraded",
    );
}

#[test]
fn a_full_disk_is_its_instances_own_fault() {
    shop(
        "at 40 sick payments#0 disk
          expect 90 root instance:payments#0
          expect 90 impacted checkout front payments
          at 100 heal payments#0
          expect 140 root -
          expect 140 incidents 0",
    );
}

/// Callers notice a recovery one after the other; the last ones seemed to be cut off alone.
#[test]
fn a_recovery_that_callers_notice_one_after_the_other_is_no_new_cause() {
    for heal in 100..110 {
        play(&format!(
            "
            service front -> checkout
            service checkout -> orders
            service orders x2 -> orders-db
            service invoices -> orders-db
            service shipping -> orders-db
            service returns -> orders-db
            resource orders-db
            at 40 fail orders-db connection_refused
            expect 90 causes node:orders-db
            at {heal} heal orders-db
            expect 150 incidents 0
            expect 150 causes node:orders-db"
        ));
    }
}

#[test]
fn two_independent_faults_are_two_incidents() {
    shop(
        "at 40 fail orders-db connection_refused
          at 60 fail carts-db timeout
          expect 110 root node:carts-db node:orders-db
          expect 110 incidents 2
          at 120 heal orders-db
          expect 160 root node:carts-db
          expect 160 incidents 1",
    );
}

#[test]
fn one_lost_check_opens_nothing() {
    shop(
        "at 40 fail orders-db timeout
          at 41 heal orders-db
          expect 60 opened 0
          expect 120 opened 0",
    );
}

#[test]
fn kf_035_recovery_that_nobody_sees_is_not_recovery() {
    play(
        "
        service api -> db
        resource db
        at 40 fail db connection_refused
        expect 70 root node:db
        expect 70 incidents 1
        at 80 cut api
        expect 130 root -
        expect 130 incidents 1
        at 140 heal db
        at 200 heal api
        expect 230 incidents 0
        expect 230 opened 1",
    );
}

#[test]
fn a_service_that_its_callers_missed_is_not_cleared_by_its_own_green_report() {
    play(
        "
        service front -> pay
        service back -> pay
        service pay
        at 40 fail pay connection_refused
        expect 70 root node:pay
        expect 70 status pay healthy
        at 80 cut front
        at 80 cut back
        expect 130 root -
        expect 130 incidents 1
        at 200 heal pay
        at 200 heal front
        at 200 heal back
        expect 240 incidents 0
        expect 240 opened 1",
    );
}

#[test]
fn a_soft_cache_is_not_blamed_for_what_a_hard_database_does_further_up() {
    play(
        "
        service front -> orders
        service orders -> db cache(soft)
        service jobs -> db cache(soft)
        service mails -> db cache(soft)
        resource db
        resource cache
        at 40 fail db auth
        at 40 fail cache auth
        expect 90 root node:db node:cache
        expect 90 evidence node:cache jobs#0 mails#0 orders#0
        expect 90 evidence node:db front#0 jobs#0 mails#0 orders#0
        expect 90 impacted front jobs mails orders",
    );
}

#[test]
fn a_cycle_with_one_sick_member_names_the_member() {
    play(
        "
        service a -> b a-db
        service b -> a
        service c -> a
        resource a-db
        at 40 fail a-db connection_refused
        expect 90 root node:a-db
        expect 90 impacted a b c",
    );
}

#[test]
fn services_that_fail_in_a_circle_get_one_cause() {
    play(
        "
        service a -> b
        service b -> a
        service front -> a
        at 40 fail a->b http_status
        at 41 fail b->a http_status
        at 42 fail front->a http_status
        expect 100 incidents 1
        expect 100 opened 1",
    );
}

/// Three services of one machine, each called by two others.
const MACHINE: &str = "
    service front -> a b c d
    service back -> a b c d
    service a
    service b
    service c
    service d
    place a#0 h3 -
    place b#0 h3 -
    place c#0 h3 -
    place d#0 h4 -
";

#[test]
fn a_dead_machine_is_one_cause_and_one_incident_and_not_its_parts() {
    play(&format!(
        "{MACHINE}
        at 40 kill a
        at 40 kill b
        at 40 kill c
        expect 100 root host:h3
        expect 100 impacted a b back c front
        expect 100 incidents 1
        at 120 heal a
        at 120 heal b
        at 120 heal c
        expect 170 root -
        expect 170 incidents 0"
    ));
}

/// The other two failed later, and looked like faults of their own until the machine explained all three better.
#[test]
fn causes_that_turn_out_to_be_one_machine_become_one_incident_and_no_other_is_opened() {
    play(&format!(
        "{MACHINE}
        at 40 kill a
        expect 75 root node:a
        expect 75 opened 1
        at 80 kill b
        at 80 kill c
        expect 125 root host:h3
        expect 125 incidents 1
        expect 125 paging host:h3
        expect 125 opened 3
        at 140 heal a
        at 140 heal b
        at 140 heal c
        expect 190 incidents 0
        expect 190 opened 3"
    ));
}

#[test]
fn a_zone_that_only_the_aggregator_cannot_see_is_a_broken_view_that_reaches_nobody() {
    play(
        "
        service front x2 -> a b c
        service a
        service b
        service c
        place a#0 - eu-1a
        place b#0 - eu-1a
        place c#0 - eu-1a
        place front#0 - eu-1b
        place front#1 - eu-1b
        at 40 cut a
        at 40 cut b
        at 40 cut c
        expect 60 incidents 0
        expect 90 root poller:eu-1a
        expect 90 impacted -
        expect 90 status a unknown
        expect 90 status front healthy
        expect 90 paging -
        at 100 heal a
        at 100 heal b
        at 100 heal c
        expect 130 root -
        expect 130 incidents 0",
    );
}

#[test]
fn a_release_whose_instances_cannot_use_the_database_is_the_cause() {
    play(
        "
        service front -> cart
        service cart x4 -> db
        service jobs -> db
        resource db
        release cart#0 2.0
        release cart#1 2.0
        release cart#2 2.1
        release cart#3 2.1
        at 40 fail cart#2->db auth
        at 40 fail cart#3->db auth
        expect 100 root version:cart@2.1
        expect 100 impacted -
        expect 100 incidents 1",
    );
}

#[test]
fn kf_076_one_failed_root_with_fifty_dependants_is_one_incident_that_lists_them() {
    let mut text = "service root -> db\nresource db\n".to_owned();
    let mut all = vec!["root".to_owned()];
    for number in 0..50 {
        text.push_str(&format!("service s{number} -> root\n"));
        all.push(format!("s{number}"));
    }
    text.push_str("at 40 kill root\n");
    all.remove(0);
    text.push_str(&format!(
        "expect 100 root node:root\nexpect 100 impacted {}\nexpect 100 incidents 1\nexpect 100 opened 1\n",
        all.join(" ")
    ));
    play(&text);
}

#[test]
fn the_same_story_gives_the_same_answer_twice() {
    for _ in 0..2 {
        shop(
            "at 40 fail orders-db connection_refused
              at 50 kill payments
              expect 100 root node:orders-db node:payments",
        );
    }
}
