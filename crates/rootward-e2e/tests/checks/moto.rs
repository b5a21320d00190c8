//! moto: AWS's interfaces on this machine, with its judgement of keys, signatures and policies.

use std::process::Command;

use rootward::Check;
use rootward_checks::open::AwsSettings;
use rootward_e2e::{Error, Private, Run};
use serde_json::Value;

use crate::every::{LONG, SHORT, run, run_until};

/// How many questions of the preparation are asked before keys are judged: those of [`PREPARE`], in this order.
const UNJUDGED: &str = "9";

/// Two users with a key each: one may look at the bucket and the queue, one may nothing. moto has an action
/// `s3:HeadBucket` of its own, where AWS judges by `s3:ListBucket`.
const PREPARE: &str = r#"
import boto3, json, sys, urllib.request
# The same keys each time, so that a check goes on with its own after a restart.
urllib.request.urlopen(urllib.request.Request(sys.argv[1] + "/moto-api/seed?a=42", method="POST")).close()
at = dict(endpoint_url=sys.argv[1], region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
iam, s3, sqs = (boto3.client(name, **at) for name in ("iam", "s3", "sqs"))
keys = {}
for user in ("may", "may-not"):
    iam.create_user(UserName=user)
    key = iam.create_access_key(UserName=user)["AccessKey"]
    keys[user] = [key["AccessKeyId"], key["SecretAccessKey"]]
iam.put_user_policy(UserName="may", PolicyName="look", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Action": ["s3:ListBucket", "s3:HeadBucket", "sqs:GetQueueAttributes"], "Resource": "*"}]}))
s3.create_bucket(Bucket="images")
keys["queue"] = sqs.create_queue(QueueName="mails")["QueueUrl"]
for number in range(2):
    sqs.send_message(QueueUrl=keys["queue"], MessageBody="x")
print(json.dumps(keys))
"#;

pub(crate) struct Moto {
    pub(crate) server: Private,
    run: Run,
    keys: Value,
}

impl Moto {
    pub(crate) async fn start() -> Result<Self, Error> {
        let run = Run::from_environment()?;
        let mut server = Private::python(&run, "moto")?;
        let port = server.port().to_string();
        let arguments = move |command: &mut Command| {
            command.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port]);
            command.env("INITIAL_NO_AUTH_ACTION_COUNT", UNJUDGED);
        };
        server.run(arguments).await?;
        let mut moto = Self {
            server,
            run,
            keys: Value::Null,
        };
        moto.prepare().await?;
        Ok(moto)
    }

    /// What it forgets when it ends is made once more: users, policies, the same keys, the bucket, the queue.
    pub(crate) async fn prepare(&mut self) -> Result<(), Error> {
        let mut command = Command::new(self.run.python()?);
        command.args(["-c", PREPARE, &self.endpoint()]);
        let output = tokio::task::spawn_blocking(move || command.output())
            .await
            .expect("it does not panic")
            .expect("Python starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        self.keys = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
        Ok(())
    }

    /// Frozen, killed, and started again with what it held before: the same check sees each, and is up again in the end.
    pub(crate) async fn is_survived<L>(&mut self, check: &Check<L>) -> Result<(), Error> {
        run_until(check, LONG, "up").await;
        self.server.freeze()?;
        let frozen = run(check, SHORT).await;
        assert!(
            frozen == "cut off" || frozen.starts_with("down, timeout, "),
            "{frozen}"
        );
        self.server.thaw()?;
        run_until(check, LONG, "up").await;
        self.server.kill().await?;
        run_until(check, LONG, "down, connection_refused, ").await;
        self.server.start_again().await?;
        self.prepare().await?;
        run_until(check, LONG, "up").await;
        Ok(())
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.port())
    }

    pub(crate) fn queue(&self) -> String {
        self.keys["queue"].as_str().expect("a URL").to_owned()
    }

    /// The settings of a user: `may`, `may-not`.
    pub(crate) fn of(&self, user: &str) -> AwsSettings {
        let key = |at: usize| self.keys[user][at].as_str().expect("a key").to_owned();
        AwsSettings::new(self.endpoint(), "us-east-1", key(0), key(1))
    }
}
