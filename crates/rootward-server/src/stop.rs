//! The one signal that ends everything: given once, heard by every wait.

use tokio::sync::watch;

/// Gives the signal. Dropping it gives it too, so that nothing outlives its owner.
#[derive(Debug)]
pub(crate) struct StopSender(watch::Sender<bool>);

/// Hears the signal.
#[derive(Debug, Clone)]
pub(crate) struct Stop(watch::Receiver<bool>);

pub(crate) fn pair() -> (StopSender, Stop) {
    let (sender, receiver) = watch::channel(false);
    (StopSender(sender), Stop(receiver))
}

impl StopSender {
    /// Gives the signal.
    pub(crate) fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Returns as soon as the signal was given, at once if it was given before.
    pub(crate) async fn heard(&mut self) {
        // An error means that the sender is gone, which is the signal as well.
        let _ = self.0.wait_for(|given| *given).await;
    }
}
