//! PostgreSQL, through the pool that the application uses.

use std::net::SocketAddr;

use deadpool_postgres::{Manager, Pool};
use rootward::{Check, Unlabelled};
use rootward_checks::postgresql;
use rootward_e2e::{Error, Run};
use tokio_postgres::{Config, NoTls};

use crate::every::{
    LONG, PASSWORD, USER, alone, beside_others, leaves_nothing, run, survives_refusal,
    survives_silence,
};

fn check(config: Config) -> Check<Unlabelled> {
    let pool = Pool::builder(Manager::new(config, NoTls))
        .max_size(4)
        .build();
    postgresql("db", pool.expect("a pool"))
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    let url = format!("postgresql://{USER}:{PASSWORD}@{address}/orders");
    check(url.parse().expect("a URL"))
}

#[tokio::test]
async fn a_postgresql_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn a_postgresql_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn a_wrong_password_of_postgresql_is_said_without_it() -> Result<(), Error> {
    let _turn = beside_others().await;
    let mut config: Config = Run::from_environment()?
        .postgres_url()
        .parse()
        .expect("a URL");
    config.password(PASSWORD);
    assert_eq!(
        run(&check(config), LONG).await,
        "down, auth, credentials refused"
    );
    Ok(())
}

#[tokio::test]
async fn a_thousand_runs_against_postgresql_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let config = Run::from_environment()?
        .postgres_url()
        .parse()
        .expect("a URL");
    leaves_nothing(&check(config), "up").await;
    Ok(())
}
