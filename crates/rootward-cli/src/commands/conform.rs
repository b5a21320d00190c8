//! `rootward conform`

use std::fs;
use std::time::Duration;

use rootward_conform::{Launch, MAX_STUBS, Plan, Size};
use rootward_fetch::Target;

use crate::arguments::Conform;
use crate::commands::{small_runtime, target};
use crate::exit::Exit;
use crate::render::conform;
use crate::signals::Signals;
use crate::terminal::Terminal;
use crate::trouble::{Trouble, unread};

/// The longest file of a token.
const MAX_TOKEN_BYTES: u64 = 4096;

/// How much of a line of a program that did not start is shown, in characters.
const MAX_LINE: usize = 240;

pub(crate) fn run(arguments: &Conform, terminal: &Terminal) -> Result<Exit, Trouble> {
    let plan = plan(arguments)?;
    let mut begin = |size: Size| terminal.say(&format!("{}: {size}", plan.base));
    let mut progress = |what: &str, at_most: Duration| {
        terminal.progress(&format!("{what} (at most {} s)", at_most.as_secs()));
    };
    let runtime = small_runtime()?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        // Given up, it takes the service that it started with it.
        Ok::<_, Trouble>(tokio::select! {
            outcome = rootward_conform::run(&plan, &mut begin, &mut progress) => Ok(outcome),
            signal = signals.next() => Err(Exit::Interrupted(signal)),
        })
    });
    runtime.shutdown_background();
    terminal.progress("");
    let outcome = match ended? {
        Ok(outcome) => outcome.map_err(|trouble| told(&trouble))?,
        Err(interrupted) => return Ok(interrupted),
    };
    if arguments.json {
        Terminal::put(format!("{:#}\n", outcome.to_json()).as_bytes())?;
    } else {
        terminal.show(&conform::page(&outcome))?;
    }
    Ok(exit(outcome.counts()))
}

/// What the numbers of promises say that were kept, broken and not tested.
const fn exit((kept, broken, _): (usize, usize, usize)) -> Exit {
    match (kept, broken) {
        // Nobody may take that for a service that keeps its promises.
        (0, 0) => Exit::NotReached,
        (_, 0) => Exit::Well,
        (_, _) => Exit::NotWell,
    }
}

fn told(trouble: &rootward_conform::Trouble) -> Trouble {
    use rootward_conform::Trouble as Theirs;
    let (exit, help) = match trouble {
        Theirs::NotReached { .. } => (
            Exit::NotReached,
            "the URL is the address of the probes, such as http://127.0.0.1:8790".to_owned(),
        ),
        Theirs::NoPort { .. } => (
            Exit::WrongInput,
            "stop what listens there: the stub takes its place".to_owned(),
        ),
        Theirs::Taken { .. } => (
            Exit::WrongInput,
            "stop it, or leave the command out to test it as it is".to_owned(),
        ),
        Theirs::NoProgram { .. } => (
            Exit::WrongInput,
            "the command behind -- is a program and its arguments; there is no shell".to_owned(),
        ),
        Theirs::NotStarted(reason) => (Exit::NotReached, last_words(reason.output())),
    };
    Trouble::new(exit, trouble.to_string()).with_help(help)
}

fn last_words(output: &[String]) -> String {
    if output.is_empty() {
        return "it has said nothing".to_owned();
    }
    let mut text = "the last that it said:".to_owned();
    for line in output {
        let line: String = line.chars().take(MAX_LINE).collect();
        text.push_str("\n  ");
        text.push_str(&line);
    }
    text
}

fn plan(arguments: &Conform) -> Result<Plan, Trouble> {
    let wrong = |sentence: String| Trouble::new(Exit::WrongInput, sentence);
    let example = "http://127.0.0.1:8790";
    let base = target(&arguments.url, arguments.ca.as_deref(), example)?;
    if arguments.stubs.len() > MAX_STUBS {
        return Err(wrong(format!("at most {MAX_STUBS} stubs can be given")));
    }
    for (index, stub) in arguments.stubs.iter().enumerate() {
        let before = &arguments.stubs[..index];
        let same = |other: &&rootward_conform::Stub| {
            other.component == stub.component || other.port == stub.port
        };
        if before.iter().any(|other| same(&other)) {
            return Err(wrong(format!(
                "--stub {} is given twice, or its port is",
                stub.component
            )));
        }
    }
    Ok(Plan {
        token: arguments.token_file.as_deref().map(token).transpose()?,
        stubs: arguments.stubs.clone(),
        grpc: arguments.grpc.as_deref().map(grpc).transpose()?,
        limits: arguments.limits,
        launch: launch(arguments),
        fall: arguments.fall.into(),
        rise: arguments.rise.into(),
        at_most: arguments.at_most,
        ..Plan::new(base)
    })
}

fn grpc(address: &str) -> Result<Target, Trouble> {
    let wrong = |why: String| {
        Trouble::new(Exit::WrongInput, format!("--grpc cannot be asked: {why}"))
            .with_help("write it like 127.0.0.1:50051")
    };
    if !address.contains(':') || address.contains('/') {
        return Err(wrong("it is no host and port".to_owned()));
    }
    Target::parse(&format!("http://{address}")).map_err(|error| wrong(error.to_string()))
}

fn launch(arguments: &Conform) -> Option<Launch> {
    let (program, rest) = arguments.command.split_first()?;
    let mut launch = Launch::new(program, rest);
    launch.start_within = arguments.start_within;
    launch.drain_within = arguments.drain_within;
    Some(launch)
}

fn token(path: &std::path::Path) -> Result<String, Trouble> {
    let shown = path.display();
    let wrong =
        |what: String| Trouble::new(Exit::WrongInput, format!("the token in {shown} {what}"));
    let size =
        fs::metadata(path).map_err(|error| wrong(format!("cannot be read: {}", unread(&error))))?;
    if size.len() > MAX_TOKEN_BYTES {
        return Err(wrong("is longer than 4 KiB".to_owned()));
    }
    let text = fs::read_to_string(path)
        .map_err(|error| wrong(format!("cannot be read: {}", unread(&error))))?;
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(wrong("is empty, or not one word".to_owned()));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::exit;
    use crate::exit::Exit;

    #[test]
    fn a_service_of_which_nothing_was_tested_is_not_called_well() {
        assert_eq!(exit((0, 0, 70)), Exit::NotReached);
        assert_eq!(exit((1, 0, 69)), Exit::Well);
        assert_eq!(exit((69, 1, 0)), Exit::NotWell);
    }
}
