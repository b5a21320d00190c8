//! One connection that is kept from run to run, by checks that need no driver.

use std::sync::Arc;

use rootward::{Check, CheckContext, ErrorCategory, Failure, Outcome, Unlabelled};
use tokio::sync::Mutex;

/// How one kind of server is spoken with.
pub(crate) trait Protocol: Send + Sync + 'static {
    /// A connection on which can be asked: logged in, if that is needed.
    type Connection: Send;

    fn connect(
        &self,
        context: &CheckContext,
    ) -> impl Future<Output = Result<Self::Connection, Failure>> + Send;

    fn ask(
        &self,
        connection: &mut Self::Connection,
    ) -> impl Future<Output = Result<Outcome, Failure>> + Send;
}

/// A check that asks in this protocol, on one connection that is kept from run to run.
pub(crate) fn check<P: Protocol>(name: impl Into<String>, protocol: P) -> Check<Unlabelled> {
    let kept = Arc::new(Kept {
        protocol,
        connection: Mutex::new(None),
    });
    Check::with_context(name, move |context| {
        let kept = Arc::clone(&kept);
        async move { kept.ask(&context).await }
    })
}

/// A connection that is kept. Only a run that ends well leaves it there: one that fails or is cut off takes it along,
/// and the next run makes another.
struct Kept<P: Protocol> {
    protocol: P,
    connection: Mutex<Option<P::Connection>>,
}

impl<P: Protocol> Kept<P> {
    /// Asks on the connection that is kept, or on a new one.
    ///
    /// A server may close a connection that was idle for long, or have been started again. So where the kept one turns
    /// out to be closed, the run asks once more on a new one: only that says how the server is.
    async fn ask(&self, context: &CheckContext) -> Result<Outcome, Failure> {
        let mut kept = self.connection.lock().await;
        if let Some(mut connection) = kept.take() {
            match self.protocol.ask(&mut connection).await {
                Ok(answer) => {
                    *kept = Some(connection);
                    return Ok(answer);
                }
                Err(failure) if failure.category() == ErrorCategory::ConnectionReset => {}
                Err(failure) => return Err(failure),
            }
        }
        let mut connection = self.protocol.connect(context).await?;
        let answer = self.protocol.ask(&mut connection).await?;
        *kept = Some(connection);
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use rootward::Name;

    use super::*;

    fn context() -> CheckContext {
        let name = |text| Name::parse(text).expect("a name");
        CheckContext::new(
            name("cart"),
            name("cart-0"),
            name("it"),
            Duration::from_secs(20),
        )
    }

    /// Counts its connections; the first says that it is well, the second has been closed, the third speaks nonsense.
    #[derive(Default)]
    struct Counting(AtomicU32, AtomicU32);

    impl Protocol for Counting {
        type Connection = u32;

        async fn connect(&self, _context: &CheckContext) -> Result<u32, Failure> {
            Ok(self.0.fetch_add(1, Ordering::Relaxed))
        }

        async fn ask(&self, connection: &mut u32) -> Result<Outcome, Failure> {
            match (*connection, self.1.fetch_add(1, Ordering::Relaxed)) {
                (0, 2) => Err(Failure::new(ErrorCategory::ConnectionReset)),
                (1, 4) => Err(Failure::new(ErrorCategory::Protocol)),
                _ => Ok(Outcome::Up),
            }
        }
    }

    #[tokio::test]
    async fn a_connection_is_kept_after_a_good_answer_and_only_then() {
        let kept = Kept {
            protocol: Counting::default(),
            connection: Mutex::new(None),
        };
        let context = context();
        let mut seen = Vec::new();
        for _ in 0..5 {
            let up = kept.ask(&context).await.is_ok();
            seen.push((up, kept.protocol.0.load(Ordering::Relaxed)));
        }
        // Closed meanwhile: asked once more, on a new one. Nonsense: that run fails, and the next has a new one.
        let expected = [(true, 1), (true, 1), (true, 2), (false, 2), (true, 3)];
        assert_eq!(seen, expected);
    }
}
