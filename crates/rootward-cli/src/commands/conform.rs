//! `rootward conform`

use std::fs;
use std::time::Duration;

use rootward_conform::{MAX_STUBS, Plan, Size};
use rootward_fetch::Target;

use crate::arguments::Conform;
use crate::commands::small_runtime;
use crate::exit::Exit;
use crate::render::conform;
use crate::terminal::Terminal;
use crate::trouble::Trouble;

/// The longest file of a token.
const MAX_TOKEN_BYTES: u64 = 4096;

pub(crate) fn run(arguments: &Conform, terminal: &Terminal) -> Result<Exit, Trouble> {
    let plan = plan(arguments)?;
    let mut begin = |size: Size| terminal.say(&format!("{}: {size}", plan.base));
    let mut progress = |what: &str, at_most: Duration| {
        terminal.progress(&format!("{what} (at most {} s)", at_most.as_secs()));
    };
    let runtime = small_runtime()?;
    let outcome = runtime.block_on(rootward_conform::run(&plan, &mut begin, &mut progress));
    runtime.shutdown_background();
    terminal.progress("");
    let outcome = outcome.map_err(|trouble| {
        if trouble.is_not_reached() {
            Trouble::new(Exit::NotReached, trouble.to_string())
                .with_help("the URL is the address of the probes, such as http://127.0.0.1:8790")
        } else {
            Trouble::new(Exit::WrongInput, trouble.to_string())
                .with_help("stop what listens there: the stub takes its place")
        }
    })?;
    if arguments.json {
        Terminal::put(format!("{:#}\n", outcome.to_json()).as_bytes())?;
    } else {
        terminal.show(&conform::page(&outcome))?;
    }
    Ok(if outcome.is_well() {
        Exit::Well
    } else {
        Exit::NotWell
    })
}

fn plan(arguments: &Conform) -> Result<Plan, Trouble> {
    let wrong = |sentence: String| Trouble::new(Exit::WrongInput, sentence);
    let base = Target::parse(&arguments.url).map_err(|error| {
        wrong(format!("the URL cannot be asked: {error}"))
            .with_help("write it like http://127.0.0.1:8790")
    })?;
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
        fall: arguments.fall.into(),
        rise: arguments.rise.into(),
        at_most: arguments.at_most,
        ..Plan::new(base)
    })
}

fn token(path: &std::path::Path) -> Result<String, Trouble> {
    let shown = path.display();
    let wrong =
        |what: String| Trouble::new(Exit::WrongInput, format!("the token in {shown} {what}"));
    let size =
        fs::metadata(path).map_err(|error| wrong(format!("cannot be read: {}", error.kind())))?;
    if size.len() > MAX_TOKEN_BYTES {
        return Err(wrong("is longer than 4 KiB".to_owned()));
    }
    let text = fs::read_to_string(path)
        .map_err(|error| wrong(format!("cannot be read: {}", error.kind())))?;
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(wrong("is empty, or not one word".to_owned()));
    }
    Ok(text.to_owned())
}
