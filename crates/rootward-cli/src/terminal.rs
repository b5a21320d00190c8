//! Writes pages: the only place that does. Colour only where somebody looks and has not refused it.

use std::io::{self, IsTerminal, Write};

use crate::exit::Exit;
use crate::text::{Line, Page, Tone};
use crate::trouble::Trouble;

/// Standard output and standard error of this process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    colour_out: bool,
    colour_err: bool,
}

impl Terminal {
    pub(crate) fn of_this_process() -> Self {
        // https://no-color.org: set and not empty.
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            colour_out: !refused && io::stdout().is_terminal(),
            colour_err: !refused && io::stderr().is_terminal(),
        }
    }

    /// Whether standard error may be coloured.
    pub(crate) const fn colour_err(&self) -> bool {
        self.colour_err
    }

    /// Writes a page to standard output.
    pub(crate) fn show(&self, page: &Page) -> Result<(), Trouble> {
        Self::put(page.render(self.colour_out).as_bytes())
    }

    /// Writes bytes to standard output as they are.
    pub(crate) fn put(bytes: &[u8]) -> Result<(), Trouble> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)
            .and_then(|()| out.flush())
            .map_err(|error| Trouble::of_output(&error))
    }

    /// Writes a page to standard error. Nothing can be done if that fails.
    pub(crate) fn note(&self, page: &Page) {
        let _ = io::stderr()
            .lock()
            .write_all(page.render(self.colour_err).as_bytes());
    }

    /// Says a line on standard error that is no answer.
    pub(crate) fn say(&self, text: &str) {
        let mut page = Page::new();
        page.push(Line::new().plain(text));
        self.note(&page);
    }

    /// Shows what is being done, in place of what was shown before; an empty text takes it away. Nothing where nobody looks.
    pub(crate) fn progress(&self, text: &str) {
        let mut err = io::stderr().lock();
        if err.is_terminal() {
            // Nothing can be done if that fails.
            let _ = write!(err, "\r\u{1b}[K{text}").and_then(|()| err.flush());
        }
    }

    /// Says what went wrong on standard error, and how it ends.
    pub(crate) fn complain(&self, trouble: &Trouble) -> Exit {
        match trouble {
            Trouble::ReaderGone => Exit::Well,
            Trouble::Told {
                exit,
                sentence,
                help,
            } => {
                let mut page = Page::new();
                page.push(Line::new().lead("rootward: ", Tone::Bad).plain(sentence));
                for line in help.iter().flat_map(|help| help.lines()) {
                    page.push(Line::new().lead("          ", Tone::Plain).plain(line));
                }
                self.note(&page);
                *exit
            }
        }
    }
}
