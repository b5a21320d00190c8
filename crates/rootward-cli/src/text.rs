//! Text for a terminal: lines of toned words, wrapped at a width, painted or plain.
//!
//! Everything that is shown passes here, so this is where foreign text loses what a terminal would obey. Words come
//! before colours: a page reads the same without them.

/// The widest line that is written.
pub(crate) const WIDTH: usize = 100;

/// How a word is meant; a colour is only one way to show that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    Plain,
    /// A heading, a name that matters.
    Strong,
    /// Beside the point: labels, ages.
    Quiet,
    /// Well.
    Good,
    /// Works, with something missing.
    Warning,
    /// Not seen.
    Unknown,
    /// Does not work.
    Bad,
}

impl Tone {
    /// The parameters of the terminal's "select graphic rendition".
    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Quiet => Some("2"),
            Self::Good => Some("32"),
            Self::Warning => Some("33"),
            Self::Unknown => Some("36"),
            Self::Bad => Some("1;31"),
        }
    }
}

/// Words of one tone.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    text: String,
    tone: Tone,
}

/// One line as it is meant: what stands in front of it, and what is wrapped beside that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// Written once; the lines that follow are indented by its width.
    lead: Vec<Span>,
    body: Vec<Span>,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds to what stands in front.
    pub(crate) fn lead(mut self, text: impl AsRef<str>, tone: Tone) -> Self {
        self.lead.push(span(text.as_ref(), tone));
        self
    }

    /// Adds to what is wrapped.
    pub(crate) fn body(mut self, text: impl AsRef<str>, tone: Tone) -> Self {
        self.body.push(span(text.as_ref(), tone));
        self
    }

    /// Adds to what is wrapped, as it is.
    pub(crate) fn plain(self, text: impl AsRef<str>) -> Self {
        self.body(text, Tone::Plain)
    }
}

/// A page of lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Page {
    lines: Vec<Line>,
}

impl Page {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn push(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// A blank line, unless there is nothing above it.
    pub(crate) fn gap(&mut self) {
        if !self.lines.is_empty() {
            self.lines.push(Line::new());
        }
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.lines.append(&mut other.lines);
    }

    /// The page as text that ends with a line break.
    pub(crate) fn render(&self, colour: bool) -> String {
        let mut out = String::new();
        for line in &self.lines {
            render_line(line, colour, &mut out);
        }
        out
    }
}

/// A table: rows of cells, each column as wide as its widest cell, the last cell wrapped.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<(Vec<(String, Tone)>, String)>,
}

impl Table {
    pub(crate) fn row(&mut self, cells: Vec<(String, Tone)>, last: impl Into<String>) {
        self.rows.push((cells, last.into()));
    }

    /// The rows as lines, behind an indentation.
    pub(crate) fn lines(self, indent: &str) -> Vec<Line> {
        let columns = self
            .rows
            .iter()
            .map(|(cells, _)| cells.len())
            .max()
            .unwrap_or(0);
        let width_of = |column: usize| {
            let cells = self
                .rows
                .iter()
                .filter_map(move |(cells, _)| cells.get(column));
            cells
                .map(|(text, _)| width(&clean(text)))
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width_of).collect();
        let draw = |(cells, last): (Vec<(String, Tone)>, String)| {
            let mut line = Line::new().lead(indent, Tone::Plain);
            for ((text, tone), wide) in cells.into_iter().zip(&widths) {
                let text = clean(&text);
                let padding = wide - width(&text).min(*wide) + 2;
                line = line.lead(text, tone).lead(" ".repeat(padding), Tone::Plain);
            }
            line.plain(last)
        };
        self.rows.into_iter().map(draw).collect()
    }
}

fn span(text: &str, tone: Tone) -> Span {
    Span {
        text: clean(text),
        tone,
    }
}

/// Without anything that a terminal would obey: control characters, and what turns the direction of text.
fn clean(text: &str) -> String {
    let harmless = |c: char| {
        let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || turns {
            '\u{fffd}'
        } else {
            c
        }
    };
    text.chars().map(harmless).collect()
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Wraps the body beside the lead. A word that is longer than the room stays whole.
fn render_line(line: &Line, colour: bool, out: &mut String) {
    let indent: usize = line.lead.iter().map(|span| width(&span.text)).sum();
    for span in &line.lead {
        paint(&span.text, span.tone, colour, out);
    }
    let room = WIDTH.saturating_sub(indent).max(20);
    let mut used = 0;
    for span in &line.body {
        for word in span.text.split_inclusive(' ') {
            let wide = width(word.trim_end_matches(' '));
            if used > 0 && used + wide > room {
                trim_end(out);
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                used = 0;
            }
            paint(word, span.tone, colour, out);
            used += width(word);
        }
    }
    trim_end(out);
    out.push('\n');
}

fn trim_end(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
}

fn paint(text: &str, tone: Tone, colour: bool, out: &mut String) {
    match tone.code().filter(|_| colour && !text.trim().is_empty()) {
        Some(code) => {
            // The blank after a word stays outside, so that it can be cut at the end of a line.
            let word = text.trim_end_matches(' ');
            out.push_str(&format!("\x1b[{code}m{word}\x1b[0m{}", &text[word.len()..]));
        }
        None => out.push_str(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_wrapped_beside_its_label() {
        let mut page = Page::new();
        let reason = "5 of 5 callers report that it timed out, first orders#1 ".repeat(3);
        page.push(
            Line::new()
                .lead("  why  ", Tone::Quiet)
                .plain(reason.trim_end()),
        );
        insta::assert_snapshot!(page.render(false), @"
        why  5 of 5 callers report that it timed out, first orders#1 5 of 5 callers report that it timed
             out, first orders#1 5 of 5 callers report that it timed out, first orders#1
        ");
        assert!(page.render(false).lines().all(|line| line.len() <= WIDTH));
    }

    #[test]
    fn colours_add_nothing_to_the_words() {
        let mut page = Page::new();
        page.push(
            Line::new()
                .lead("cart  ", Tone::Strong)
                .body("unhealthy ", Tone::Bad)
                .plain("since 03:12"),
        );
        let painted = page.render(true);
        assert_eq!(
            painted,
            "\u{1b}[1mcart\u{1b}[0m  \u{1b}[1;31munhealthy\u{1b}[0m since 03:12\n"
        );
        assert_eq!(page.render(false), "cart  unhealthy since 03:12\n");
    }

    #[test]
    fn foreign_text_cannot_speak_to_the_terminal() {
        let mut page = Page::new();
        page.push(Line::new().plain("x\u{1b}[2J\u{7}\u{202e}y\nz"));
        assert_eq!(
            page.render(false),
            "x\u{fffd}[2J\u{fffd}\u{fffd}y\u{fffd}z\n"
        );
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::default();
        table.row(
            vec![("up".into(), Tone::Good), ("cache".into(), Tone::Plain)],
            "fine",
        );
        table.row(
            vec![
                ("down".into(), Tone::Bad),
                ("orders-db".into(), Tone::Plain),
            ],
            "refused",
        );
        let mut page = Page::new();
        table
            .lines("  ")
            .into_iter()
            .for_each(|line| page.push(line));
        assert_eq!(
            page.render(false),
            "  up    cache      fine\n  down  orders-db  refused\n"
        );
    }
}
