//! The database of one fleet: the stock that orders lock row by row, and how many connections there are.

use rootward_e2e::{Error, Postgres, Run};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, NoTls};

/// Forty are in use by twenty replicas with two each: two thirds, as in many a fleet.
pub(super) const MAX_CONNECTIONS: &str = "60";

/// How many articles there are to order.
pub(super) const ARTICLES: usize = 1000;

pub(super) struct Database {
    postgres: Postgres,
    admin: Connection,
}

struct Connection {
    client: Client,
    task: JoinHandle<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Database {
    pub(super) async fn start(run: &Run) -> Result<Self, Error> {
        let settings = format!("max_connections={MAX_CONNECTIONS}");
        let postgres = Postgres::start_with(run, &[&settings]).await?;
        let admin = connect(&postgres.url()).await;
        let config: Config = postgres.url().parse().expect("a URL of a database");
        let password = config.get_password().expect("it has one").to_vec();
        let password = String::from_utf8(password).expect("of hexadecimal digits");
        // Not a superuser: the connections that are reserved for those are not for replicas.
        let statements = format!(
            "CREATE ROLE app LOGIN PASSWORD '{password}';
             CREATE TABLE stock (article int PRIMARY KEY, in_stock int NOT NULL);
             INSERT INTO stock SELECT article, 1000000 FROM generate_series(1, {ARTICLES}) AS article;
             CREATE TABLE orders (article int NOT NULL);
             GRANT SELECT, UPDATE ON stock TO app;
             GRANT INSERT ON orders TO app;
             GRANT INSERT ON orders TO app;"
        );
        admin
            .client
            .batch_execute(&statements)
            .await
            .expect("the tables can be made");
        Ok(Self { postgres, admin })
    }

    /// How replicas reach it.
    pub(super) fn url(&self) -> String {
        self.postgres.url().replacen("://rootward:", "://app:", 1)
    }

    /// Connections of replicas now.
    pub(super) async fn connections(&self) -> i64 {
        self.number("SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'")
            .await
    }

    /// Connections that were ever established.
    pub(super) async fn established(&self) -> i64 {
        self.number("SELECT sessions FROM pg_stat_database WHERE datname = current_database()")
            .await
    }

    async fn number(&self, query: &str) -> i64 {
        let row = self.admin.client.query_one(query, &[]).await;
        row.expect("the administrator is answered").get(0)
    }
}

async fn connect(url: &str) -> Connection {
    let connected = tokio_postgres::connect(url, NoTls).await;
    let (client, connection) = connected.expect("the database can be reached");
    let task = tokio::spawn(async move {
        // Its end is an error of whoever uses the client.
        let _ = connection.await;
    });
    Connection { client, task }
}
