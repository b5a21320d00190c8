//! `rootward demo`

use rootward_config::DEFAULT_LISTEN_INTERNAL;
use rootward_demo::{Demo, Narration, Narrator, NobodyListens, Pace, Port, Story};

use crate::arguments;
use crate::commands::{large_runtime, lines};
use crate::exit::Exit;
use crate::log;
use crate::render::narration;
use crate::signals::Signals;
use crate::terminal::Terminal;
use crate::trouble::Trouble;

pub(crate) fn run(arguments: &arguments::Demo, terminal: &Terminal) -> Result<Exit, Trouble> {
    let story = arguments.scenario.as_deref().map(story).transpose()?;
    log::start("off", terminal)?;
    let port = arguments.port.map_or(
        Port::Preferably(DEFAULT_LISTEN_INTERNAL.port()),
        Port::Exactly,
    );
    let runtime = large_runtime()?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        let demo = Demo::start(port).await.map_err(|error| {
            if error.is_listen() {
                Trouble::of(Exit::WrongInput, &error)
                    .with_help("without --port the demo takes another port by itself")
            } else {
                Trouble::of(Exit::CouldNotStart, &error)
            }
        })?;
        let ended = if arguments.print_config {
            Terminal::put(demo.configuration().as_bytes()).map(|()| Exit::Well)
        } else {
            tell(&demo, story, arguments.exit, &mut signals, terminal).await
        };
        // A second signal while it stops ends it at once.
        tokio::select! {
            () = demo.stop() => ended,
            signal = signals.next() => Ok(Exit::Interrupted(signal)),
        }
    });
    runtime.shutdown_background();
    ended
}

async fn tell(
    demo: &Demo,
    story: Option<Story>,
    exit: bool,
    signals: &mut Signals,
    terminal: &Terminal,
) -> Result<Exit, Trouble> {
    let pace = if exit { Pace::Fast } else { Pace::ForReaders };
    let mut teller = Teller {
        terminal,
        trouble: None,
    };
    let summary = tokio::select! {
        played = demo.play(story, pace, &mut teller) => match played {
            Ok(summary) => summary,
            Err(NobodyListens) => return Err(teller.trouble.unwrap_or(Trouble::ReaderGone)),
        },
        signal = signals.next() => return Ok(Exit::Interrupted(signal)),
    };
    terminal.show(&narration::summary(&summary))?;
    if !exit {
        let at = demo.page();
        terminal.show(&lines(&[
            String::new(),
            format!("The shop keeps running at {at} as the story left it. Ctrl-C stops it."),
        ]))?;
        signals.next().await;
    }
    Ok(if summary.all_held() {
        Exit::Well
    } else {
        Exit::NotWell
    })
}

fn story(name: &str) -> Result<Story, Trouble> {
    Story::parse(name).ok_or_else(|| {
        let sentence = format!("the demo has no scenario {name:?}");
        Trouble::new(Exit::WrongInput, sentence).with_help(arguments::scenarios())
    })
}

/// Tells the narration on standard output.
struct Teller<'a> {
    terminal: &'a Terminal,
    trouble: Option<Trouble>,
}

impl Narrator for Teller<'_> {
    fn narrate(&mut self, told: &Narration) -> Result<(), NobodyListens> {
        let mut page = narration::page(told);
        if let Narration::Page(at) = told {
            page.push(narration::place("terminal", &status_command(at)));
        }
        self.terminal.show(&page).map_err(|trouble| {
            self.trouble = Some(trouble);
            NobodyListens
        })
    }
}

/// The command that asks the aggregator of the demo, as this program was called.
fn status_command(page: &str) -> String {
    let program = std::env::args()
        .next()
        .unwrap_or_else(|| "rootward".to_owned());
    let url = page.trim_end_matches('/');
    if url == arguments::DEFAULT_URL {
        format!("{program} status")
    } else {
        format!("{program} status --url {url}")
    }
}
