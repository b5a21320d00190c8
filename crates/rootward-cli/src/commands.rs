//! One module for each command.

pub(crate) mod agent;
pub(crate) mod checkin;
pub(crate) mod conform;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod parse;
pub(crate) mod probe;
pub(crate) mod replay;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod token;
pub(crate) mod validate;

use std::io::Write;
use std::path::Path;

use rootward_config::Problems;
use rootward_demo::aggregator::{Client, words};
use rootward_fetch::{Target, Tls};
use tokio::runtime::{Builder, Runtime};

use crate::exit::Exit;
use crate::text::{Line, Page};
use crate::trouble::Trouble;

/// A runtime for a few questions.
fn small_runtime() -> Result<Runtime, Trouble> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|error| Trouble::of_runtime(&error))
}

/// A runtime to serve with.
fn large_runtime() -> Result<Runtime, Trouble> {
    let built = Builder::new_multi_thread().enable_all().build();
    built.map_err(|error| Trouble::of_runtime(&error))
}

fn client(url: &str) -> Result<Client, Trouble> {
    Client::new(url).map_err(|error| {
        Trouble::new(Exit::WrongInput, format!("--url cannot be asked: {error}"))
            .with_help("write it like http://127.0.0.1:8791")
    })
}

/// What is asked by a URL that was typed, with the certificates of a file if it is `https://`.
fn target(url: &str, ca: Option<&Path>, example: &str) -> Result<Target, Trouble> {
    let wrong = |why: String| Trouble::new(Exit::WrongInput, why);
    let unusable = |error: rootward_fetch::TargetError| {
        wrong(format!("the URL cannot be asked: {error}"))
            .with_help(format!("write it like {example}"))
    };
    let is_secured = url
        .split_once("://")
        .is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("https"));
    if !is_secured {
        return match ca {
            Some(_) => Err(wrong("--ca is for https:// only".to_owned())),
            None => Target::parse(url).map_err(unusable),
        };
    }
    let tls = match ca {
        Some(file) => Tls::trusting_file(file)
            .map_err(|error| wrong(format!("--ca {}: {error}", file.display())))?,
        None => Tls::system()
            .map_err(|error| wrong(error.to_string()).with_help("--ca FILE says whom to trust"))?,
    };
    Target::parse_with(url, &tls).map_err(unusable)
}

/// The problems of a configuration, each in a line of its own that is not wrapped: editors jump to `file:line:column`.
fn problems(problems: &Problems) -> String {
    let mut text = String::new();
    for problem in problems.as_slice() {
        text.push_str(&format!("{problem}\n"));
    }
    match problems.left_out() {
        0 => {}
        more => text.push_str(&format!("and {more} more\n")),
    }
    text
}

/// Tells all problems of a configuration with which nothing was started.
pub(crate) fn not_started(found: &Problems) -> Trouble {
    // Not through a page: a problem stays in one line.
    let _ = std::io::stderr()
        .lock()
        .write_all(problems(found).as_bytes());
    let count = (found.as_slice().len() + found.left_out()) as u64;
    let count = words::count(count, "problem");
    Trouble::new(
        Exit::WrongInput,
        format!("the configuration has {count}; nothing was started"),
    )
}

fn lines(texts: &[String]) -> Page {
    let mut page = Page::new();
    for text in texts {
        page.push(Line::new().plain(text));
    }
    page
}
