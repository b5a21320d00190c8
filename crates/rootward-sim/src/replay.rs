//! Plays a recorded incident to the engine, line by line, and asks at the end of each interval.

use rootward_core::localise::Settings;

use crate::Localiser as _;
use crate::engine::CoreEngine;
use crate::scenario::{Answer, Event, Line, LineReader, Problem};

/// Intervals without an event after which a recording is taken to be wrong: a day at one interval a second.
pub const MAX_GAP: u32 = 86_400;

/// A recording that is being played.
///
/// Lines go in by [`take`](Self::take); after each, [`answer`](Self::answer) gives what has become due, one by one.
/// Answers come for every interval up to the last event, each after all events with `recv <= t`.
///
/// ```
/// use rootward_sim::replay::Replay;
/// let lines = [
///     r#"{"type":"graph","interval_s":10,"nodes":[{"id":"api","kind":"service","polled":true}],"edges":[],
///         "instances":[{"id":"api#0","service":"api"}]}"#,
///     r#"{"type":"no_answer","recv":21.0,"sent":19.0,"instance":"api#0"}"#,
/// ];
/// let mut replay = Replay::new();
/// let mut asked = Vec::new();
/// for line in lines {
///     replay.take(line.as_bytes())?;
///     asked.extend(std::iter::from_fn(|| replay.answer()).map(|answer| answer.t));
/// }
/// replay.finish()?;
/// asked.extend(std::iter::from_fn(|| replay.answer()).map(|answer| answer.t));
/// assert_eq!(asked, [10.0, 20.0]);
/// # Ok::<(), rootward_sim::scenario::Problem>(())
/// ```
#[derive(Debug, Default)]
pub struct Replay {
    reader: LineReader,
    playing: Option<Playing>,
}

#[derive(Debug)]
struct Playing {
    engine: CoreEngine,
    interval: f64,
    asked: u32,
    last: f64,
    waiting: Option<Event>,
    ended: bool,
}

impl Replay {
    /// Before the first line.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next line. Answers that are due must have been fetched.
    ///
    /// # Errors
    /// When the line is wrong. It is left out; the next may be good.
    pub fn take(&mut self, line: &[u8]) -> Result<(), Problem> {
        match self.reader.read(line)? {
            Line::Skipped => {}
            Line::Graph(graph) => {
                let engine = CoreEngine::new(&graph, Settings::default())
                    .map_err(|error| self.reader.refuse(error.to_string()))?;
                self.playing = Some(Playing {
                    engine,
                    interval: graph.interval_s,
                    asked: 0,
                    last: 0.0,
                    waiting: None,
                    ended: false,
                });
            }
            Line::Map(graph) => {
                if let Some(playing) = &mut self.playing {
                    playing.settle();
                    let drawn = playing.engine.set_map(&graph);
                    drawn.map_err(|error| self.reader.refuse(error.to_string()))?;
                }
            }
            Line::Event(event) => {
                if let Some(playing) = &mut self.playing {
                    playing.settle();
                    let recv = event.recv();
                    if recv - playing.last > f64::from(MAX_GAP) * playing.interval {
                        return Err(self.reader.refuse(format!(
                            "recv {recv} is more than {MAX_GAP} intervals after the event before; seconds count from the beginning of the recording"
                        )));
                    }
                    playing.last = recv;
                    playing.waiting = Some(event);
                }
            }
        }
        Ok(())
    }

    /// To be called after the last line. Answers may be due then, too.
    ///
    /// # Errors
    /// When there was no map.
    pub fn finish(&mut self) -> Result<(), Problem> {
        self.reader.finish()?;
        if let Some(playing) = &mut self.playing {
            playing.settle();
            playing.ended = true;
        }
        Ok(())
    }

    /// Whether there was a map. Without one, events mean nothing.
    #[must_use]
    pub fn has_map(&self) -> bool {
        self.playing.is_some()
    }

    /// The longest line that may come next; a longer one is refused by its first bytes.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.reader.max_bytes()
    }

    /// The next answer that is due.
    pub fn answer(&mut self) -> Option<Answer> {
        let playing = self.playing.as_mut()?;
        let t = f64::from(playing.asked + 1) * playing.interval;
        let due = match &playing.waiting {
            Some(event) => t < event.recv(),
            None => playing.ended && t <= playing.last,
        };
        if !due {
            playing.settle();
            return None;
        }
        playing.asked += 1;
        Some(playing.engine.answer(t))
    }
}

impl Playing {
    /// Gives the engine the event that waits for the answers before it.
    fn settle(&mut self) {
        if let Some(event) = self.waiting.take() {
            self.engine.apply(&event);
        }
    }
}
