//! The demo as a whole: started, played, stopped.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use rootward_config::{Source, compile};
use rootward_server::App;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::aggregator::Client;
use crate::chapters;
use crate::error::{Error, Kind};
use crate::narration::{Narration, Narrator, NobodyListens};
use crate::shop::plan::{RESOURCES, SERVICES, instance_count};
use crate::shop::{Shop, configuration, speed};
use crate::stage::{Pace, Stage};
use crate::story::{Story, TOUR};
use crate::summary::Summary;

/// Where the aggregator and its page listen on 127.0.0.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// On this one, or the demo does not start. 0 takes any that is free.
    Exactly(u16),
    /// On this one if it is free, else on any.
    Preferably(u16),
}

/// A running shop with its aggregator.
#[derive(Debug)]
pub struct Demo {
    shop: Shop,
    configuration: String,
    client: Client,
    preferred: Option<u16>,
    stop: oneshot::Sender<()>,
    aggregator: JoinHandle<()>,
}

impl Demo {
    /// Starts the stand-ins, the services and the aggregator, in this order. Nothing was polled yet when it returns.
    ///
    /// # Errors
    /// When one of them does not start, most likely because the port for the page is in use.
    pub async fn start(port: Port) -> Result<Self, Error> {
        let shop = Shop::start().await?;
        let (Port::Exactly(wanted) | Port::Preferably(wanted)) = port;
        let first = build(&shop, wanted);
        let (app, configuration, preferred) = match (first, port) {
            (Ok((app, text)), _) => (app, text, None),
            (Err(error), Port::Preferably(_)) if error.is_listen() => {
                let (app, text) = build(&shop, 0)?;
                (app, text, Some(wanted))
            }
            (Err(error), _) => return Err(error),
        };
        let client = Client::new(&format!("http://{}", app.local_addr())).map_err(Kind::Address)?;
        let (stop, stopped) = oneshot::channel();
        let aggregator = tokio::spawn(async move {
            let stop = async {
                // A sender that is gone wants the same.
                let _ = stopped.await;
            };
            // That it ended early shows in every question that a story asks it.
            let _ = app.run(stop).await;
        });
        Ok(Self {
            shop,
            configuration,
            client,
            preferred,
            stop,
            aggregator,
        })
    }

    /// Where the page is, such as `http://127.0.0.1:8791/`.
    #[must_use]
    pub fn page(&self) -> String {
        format!("{}/", self.client.url())
    }

    /// The configuration that the aggregator runs on, as YAML.
    #[must_use]
    pub fn configuration(&self) -> &str {
        &self.configuration
    }

    /// Plays a story, or without one the tour of the most telling chapters, and says what came of it.
    ///
    /// # Errors
    /// When the narrator finds that nobody listens any more. The shop keeps running as it is.
    pub async fn play(
        &self,
        story: Option<Story>,
        pace: Pace,
        narrator: &mut dyn Narrator,
    ) -> Result<Summary, NobodyListens> {
        self.open(narrator)?;
        let chapters = story.map_or(TOUR, Story::chapters);
        let mut stage = Stage::new(&self.shop, &self.client, narrator, pace);
        for (at, chapter) in chapters.iter().enumerate() {
            stage.chapter(at + 1, chapters.len(), chapter.title())?;
            chapters::play(*chapter, &mut stage).await?;
        }
        stage.finish()
    }

    /// Stops the aggregator, the services and the stand-ins, and returns when none of their tasks is left.
    pub async fn stop(self) {
        // It may have ended by itself.
        let _ = self.stop.send(());
        let _ = self.aggregator.await;
        self.shop.stop().await;
    }

    /// Who is on the stage, and what of it is real.
    fn open(&self, narrator: &mut dyn Narrator) -> Result<(), NobodyListens> {
        let opening = format!(
            "A shop of {} services ({} instances) in this process. Each embeds the crate rootward and answers its \
             probes on a port of its own on 127.0.0.1.",
            SERVICES.len(),
            instance_count()
        );
        let stand_ins = format!(
            "Its {} databases and caches are stand-ins for PostgreSQL and Redis that speak enough of their protocols; \
             the pools, clients and checks that use them are the real ones. Nothing below is scripted: every line \
             about a status was asked of the aggregator, which has polled the services.",
            RESOURCES.len()
        );
        let speed = format!(
            "Checks and polls run every {} s, so that you need not wait; the default in production is 10 s.",
            speed::CHECK_INTERVAL.as_secs()
        );
        for text in [opening, stand_ins, speed] {
            narrator.narrate(&Narration::Paragraph(text))?;
        }
        if let Some(port) = self.preferred {
            let text = format!("Port {port} is in use, so the page is on another one.");
            narrator.narrate(&Narration::Paragraph(text))?;
        }
        narrator.narrate(&Narration::Page(self.page()))
    }
}

/// The aggregator on a configuration written for this shop.
fn build(shop: &Shop, port: u16) -> Result<(App, String), Error> {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let text = configuration::text(shop.addresses(), listen);
    let source = Source {
        file: configuration::FILE.to_owned(),
        text: text.clone(),
    };
    let checked = compile(&[source], &BTreeMap::new()).map_err(Kind::Configuration)?;
    let app = App::build(checked).map_err(Kind::Aggregator)?;
    Ok((app, text))
}
