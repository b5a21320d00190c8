//! Lines of text to a map and events, or a sentence about the first line that is wrong.
//!
//! Lines of a type that is not known are skipped: a newer writer may say more. Fields that are not known are, too.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::event::Event;
use super::graph::{Graph, shown};
use super::problem::Problem;

/// The longest line of a map: about 100,000 nodes with 500,000 edges.
pub const MAX_GRAPH_BYTES: usize = 128 << 20;
/// The longest line of an event.
pub const MAX_EVENT_BYTES: usize = 4 << 20;

/// A whole scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// What depends on what.
    pub graph: Graph,
    /// What was received, in the order of `recv`.
    pub events: Vec<Event>,
}

/// What a line was.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// The map.
    Graph(Box<Graph>),
    /// The map that holds from here on. What was said by and about whom it still has stays.
    Map(Box<Graph>),
    /// Something received.
    Event(Event),
    /// Nothing for us: an empty line, or one of a type that is not known.
    Skipped,
}

/// Reads the lines of one scenario, one after the other.
#[derive(Debug, Default)]
pub struct LineReader {
    number: usize,
    names: Option<Names>,
    newest: f64,
}

#[derive(Debug)]
struct Names {
    nodes: BTreeSet<String>,
    instances: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Typed {
    #[serde(rename = "type")]
    kind: Option<serde_json::Value>,
}

impl LineReader {
    /// Before the first line.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next line, with or without its line break.
    ///
    /// # Errors
    /// When it is not a line of a scenario, with its number and what would be right. The reader stays usable: the next
    /// line may be good.
    pub fn read(&mut self, line: &[u8]) -> Result<Line, Problem> {
        self.number += 1;
        self.line(line)
            .map_err(|what| Problem::at(self.number, what))
    }

    /// A problem of the line that was read last, found by whoever uses it.
    pub(crate) fn refuse(&self, what: String) -> Problem {
        Problem::at(self.number, what)
    }

    /// The longest line that may come next.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        match self.names {
            None => MAX_GRAPH_BYTES,
            Some(_) => MAX_EVENT_BYTES,
        }
    }

    /// How many lines were read.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// To be asked after the last line.
    ///
    /// # Errors
    /// When there was no map.
    pub fn finish(&self) -> Result<(), Problem> {
        match self.names {
            Some(_) => Ok(()),
            None => Err(Problem::whole(
                "it has no line of type `graph`, which must come before the events",
            )),
        }
    }

    fn line(&mut self, line: &[u8]) -> Result<Line, String> {
        let max = self.max_bytes();
        if line.len() > max {
            return Err(format!("it is longer than {max} bytes"));
        }
        let text = std::str::from_utf8(line)
            .map_err(|error| format!("byte {} is not UTF-8", error.valid_up_to() + 1))?
            .trim();
        if text.is_empty() {
            return Ok(Line::Skipped);
        }
        let typed: Typed = parse(text)?;
        match typed.kind {
            None => {
                Err("it has no `type`; known are graph, map, report, no_answer and change".into())
            }
            Some(serde_json::Value::String(kind)) => match kind.as_str() {
                "graph" => self.graph(parse(text)?),
                "map" => self.map(parse(text)?),
                "report" => self.event(Event::Report(parse(text)?)),
                "no_answer" => self.event(Event::NoAnswer(parse(text)?)),
                "change" => self.event(Event::Change(parse(text)?)),
                _ => Ok(Line::Skipped),
            },
            Some(_) => Err("`type` must be a text, such as \"report\"".into()),
        }
    }

    fn map(&mut self, mut line: serde_json::Value) -> Result<Line, String> {
        if self.names.is_none() {
            return Err("a line of type `map` before that of type `graph`".into());
        }
        line["type"] = "graph".into();
        let graph: Graph = serde_json::from_value(line).map_err(|error| error.to_string())?;
        self.drawn(graph).map(Line::Map)
    }

    fn graph(&mut self, graph: Graph) -> Result<Line, String> {
        if self.names.is_some() {
            let what =
                "a second line of type `graph`; a map that changes stands in lines of type `map`";
            return Err(what.into());
        }
        self.drawn(graph).map(Line::Graph)
    }

    fn drawn(&mut self, graph: Graph) -> Result<Box<Graph>, String> {
        let problems = graph.problems();
        if !problems.is_empty() {
            return Err(problems.join("; "));
        }
        self.names = Some(Names {
            nodes: graph.nodes.iter().map(|node| node.id.clone()).collect(),
            instances: graph.instances.iter().map(|one| one.id.clone()).collect(),
        });
        Ok(Box::new(graph))
    }

    fn event(&mut self, event: Event) -> Result<Line, String> {
        let Some(names) = &self.names else {
            return Err("an event before the map; the line of type `graph` comes first".into());
        };
        let known = match &event {
            Event::Report(report) => names.knows_report(report),
            Event::NoAnswer(silence) => names.knows_instance(&silence.instance),
            Event::Change(change) => names.knows_node(&change.service),
        };
        known?;
        let recv = event.recv();
        let finite = match &event {
            Event::Report(report) => report.sent.is_finite() && recv.is_finite(),
            Event::NoAnswer(silence) => silence.sent.is_finite() && recv.is_finite(),
            Event::Change(_) => recv.is_finite(),
        };
        if !finite || recv < 0.0 {
            return Err("`recv` and `sent` are seconds from 0".into());
        }
        if recv < self.newest {
            return Err(format!(
                "recv {recv} is before {} of an earlier line; events stand in the order of recv",
                self.newest
            ));
        }
        self.newest = recv;
        Ok(Line::Event(event))
    }
}

impl Names {
    fn knows_instance(&self, id: &str) -> Result<(), String> {
        if self.instances.contains(id) {
            return Ok(());
        }
        let id = shown(id);
        Err(format!("instance `{id}` is not among those of the map"))
    }

    fn knows_node(&self, id: &str) -> Result<(), String> {
        if self.nodes.contains(id) {
            return Ok(());
        }
        let id = shown(id);
        Err(format!("`{id}` is not among the nodes of the map"))
    }

    fn knows_report(&self, report: &super::Report) -> Result<(), String> {
        self.knows_instance(&report.instance)?;
        for dep in &report.deps {
            self.knows_node(&dep.to)?;
            if dep.age_s.is_some_and(|age| !age.is_finite() || age < 0.0) {
                let to = shown(&dep.to);
                return Err(format!("`age_s` of `{to}` must be seconds from 0"));
            }
        }
        Ok(())
    }
}

/// Reads a scenario that is in memory.
///
/// # Errors
/// The first line that is wrong.
pub fn read_scenario(text: &str) -> Result<Scenario, Problem> {
    let mut reader = LineReader::new();
    let mut graph = None;
    let mut events = Vec::new();
    for line in text.lines() {
        match reader.read(line.as_bytes())? {
            Line::Graph(found) => graph = Some(*found),
            Line::Event(event) => events.push(event),
            Line::Map(_) => {
                return Err(reader.refuse("the map changes, which only a replay can follow".into()));
            }
            Line::Skipped => {}
        }
    }
    reader.finish()?;
    let Some(graph) = graph else {
        return Err(Problem::whole("it has no line of type `graph`"));
    };
    Ok(Scenario { graph, events })
}

/// JSON of a known shape, or a sentence: of the parser's text only what our own types wrote is used.
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = match serde_path_to_error::deserialize::<_, T>(&mut parser) {
        Ok(value) => value,
        Err(located) => {
            let path = located.path().to_string();
            return Err(sentence(&path, &located.into_inner()));
        }
    };
    parser
        .end()
        .map_err(|error| format!("something follows the JSON at column {}", error.column()))?;
    Ok(value)
}

fn sentence(path: &str, error: &serde_json::Error) -> String {
    let place = match path {
        "." | "?" => String::new(),
        path => format!("`{}`: ", shown(path)),
    };
    let message = error.to_string();
    let between = |prefix: &str| {
        let (field, _) = message.strip_prefix(prefix)?.split_once('`')?;
        Some(field.to_owned())
    };
    if let Some(field) = between("missing field `") {
        return format!("{place}the field `{field}` is missing");
    }
    if let Some(field) = between("duplicate field `") {
        return format!("{place}the field `{field}` stands twice");
    }
    if let Some((_, expected)) = message.rsplit_once(", expected ") {
        let expected = expected
            .rsplit_once(" at line ")
            .map_or(expected, |(ours, _)| ours);
        return format!("{place}something else than expected: {expected}");
    }
    format!("it is not JSON at column {}", error.column())
}
