//! `rootward replay FILE`

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use rootward_sim::replay::Replay;
use rootward_sim::scenario::{Problem, write_line};

use crate::arguments;
use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::text::{Line, Page, Tone};
use crate::trouble::Trouble;

/// Wrong lines that are told; the rest are counted.
const TOLD: usize = 20;

pub(crate) fn run(arguments: &arguments::Replay, terminal: &Terminal) -> Result<Exit, Trouble> {
    let file = arguments.file.as_path();
    if file == Path::new("-") {
        return play(io::stdin().lock(), "standard input", terminal);
    }
    let opened =
        File::open(file).map_err(|error| Trouble::of_input(&file.display().to_string(), &error))?;
    play(
        BufReader::new(opened),
        &file.display().to_string(),
        terminal,
    )
}

fn play(mut input: impl BufRead, name: &str, terminal: &Terminal) -> Result<Exit, Trouble> {
    let mut replay = Replay::new();
    let mut wrong = 0;
    let mut line = Vec::new();
    while next_line(&mut input, replay.max_bytes(), &mut line)
        .map_err(|error| Trouble::of_input(name, &error))?
    {
        if let Err(problem) = replay.take(&line) {
            if !replay.has_map() {
                return Err(refused(&problem));
            }
            wrong += 1;
            if wrong <= TOLD {
                complain(terminal, &problem.to_string());
            }
        }
        answers(&mut replay)?;
    }
    replay.finish().map_err(|problem| refused(&problem))?;
    answers(&mut replay)?;
    if wrong > TOLD {
        let more = format!("and {} more lines are wrong", wrong - TOLD);
        complain(terminal, &more);
    }
    Ok(if wrong == 0 {
        Exit::Well
    } else {
        Exit::WrongInput
    })
}

/// Prints what is due.
fn answers(replay: &mut Replay) -> Result<(), Trouble> {
    while let Some(answer) = replay.answer() {
        let mut text = write_line(&answer)
            .map_err(|problem| Trouble::new(Exit::CouldNotStart, problem.to_string()))?;
        text.push('\n');
        Terminal::put(text.as_bytes())?;
    }
    Ok(())
}

/// Reads the next line, of one that is too long only as much as tells that it is. False at the end.
fn next_line(input: &mut impl BufRead, max: usize, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    // One for the line break, one to see that it is too long.
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(2);
    let read = input.by_ref().take(limit).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > max {
        skip_line(input)?;
    }
    Ok(read > 0)
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |at| at + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}

fn complain(terminal: &Terminal, what: &str) {
    let mut page = Page::new();
    page.push(Line::new().lead("rootward: ", Tone::Bad).plain(what));
    terminal.note(&page);
}

fn refused(problem: &Problem) -> Trouble {
    Trouble::new(Exit::WrongInput, problem.to_string())
        .with_help("the format is described in fixtures/rootcause/README.md")
}
