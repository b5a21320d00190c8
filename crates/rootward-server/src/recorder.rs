//! Writes what the diagnosis was told into files that `rootward replay` can play again.
//!
//! A thread of its own writes, because a disk may hang; the loop never waits for it. What does not fit into the queue is
//! left out and counted, in the file, too. Files are bounded, and so is their number: the oldest of these are removed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

use rootward_core::engine::Told;
use rootward_core::{Moment, localise};
use rootward_sim::record::Recording;
use rootward_sim::scenario::MAX_EVENT_BYTES;

use crate::events;

/// A file ends when it is this large.
const MAX_FILE_BYTES: usize = 64 * 1024 * 1024;

/// The newest files that are kept.
const MAX_FILES: usize = 32;

/// What may wait to be written.
const MAX_UNWRITTEN: usize = 20_000;

/// What is written is with the system after this time.
const FLUSH_AFTER: Duration = Duration::from_secs(1);

/// Beginning of the names of all files.
const PREFIX: &str = "recording-";

/// Sends what was told to the thread that writes.
#[derive(Debug)]
pub(crate) struct Recorder {
    queue: Option<SyncSender<Message>>,
    /// Closed when the thread has written everything.
    written: Receiver<()>,
    lost: u64,
}

#[derive(Debug)]
enum Message {
    Told(Told),
    /// So many did not fit before this.
    Lost(u64),
}

impl Recorder {
    /// Makes the directory if need be, and the first file in it.
    ///
    /// # Errors
    /// When either cannot be made.
    pub(crate) fn start(directory: &Path, begun: Moment, unix_seconds: u64) -> io::Result<Self> {
        if directory.is_file() {
            let kind = io::ErrorKind::NotADirectory;
            return Err(io::Error::new(kind, "it is a file and no directory"));
        }
        fs::create_dir_all(directory)?;
        let mut tape = Tape::new(directory, begun, unix_seconds);
        tape.open(begun)?;
        let (queue, told) = mpsc::sync_channel(MAX_UNWRITTEN);
        let (done, written) = mpsc::sync_channel(0);
        thread::Builder::new()
            .name("recorder".into())
            .spawn(move || {
                write_all(&told, tape);
                drop(done);
            })?;
        Ok(Self {
            queue: Some(queue),
            written,
            lost: 0,
        })
    }

    /// Hands it over, or counts it as lost.
    pub(crate) fn take(&mut self, told: Told) {
        let Some(queue) = &self.queue else { return };
        if self.lost > 0 && queue.try_send(Message::Lost(self.lost)).is_ok() {
            self.lost = 0;
        }
        match queue.try_send(Message::Told(told)) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                if self.lost == 0 {
                    events::recording_lost();
                }
                self.lost += 1;
            }
        }
    }
}

impl Drop for Recorder {
    /// Everything that was handed over is written then, unless the disk hangs.
    fn drop(&mut self) {
        self.queue = None;
        // Nothing is ever sent: it ends when the thread does, or in vain.
        let _ = self.written.recv_timeout(FLUSH_AFTER);
    }
}

fn write_all(told: &Receiver<Message>, mut tape: Tape) {
    let mut flushed = Instant::now();
    loop {
        let written = match told.recv_timeout(FLUSH_AFTER) {
            Ok(Message::Told(told)) => tape.write(&told),
            Ok(Message::Lost(count)) => tape.note(&format!(r#"{{"type":"lost","count":{count}}}"#)),
            Err(RecvTimeoutError::Timeout) => tape.flush(),
            Err(RecvTimeoutError::Disconnected) => {
                if let Err(error) = tape.flush() {
                    events::recording_failed(&error);
                }
                return;
            }
        };
        let written = written.and_then(|()| match flushed.elapsed() < FLUSH_AFTER {
            true => Ok(()),
            false => {
                flushed = Instant::now();
                tape.flush()
            }
        });
        if let Err(error) = written {
            // The disk may have room again later: whatever comes next begins a new file.
            tape.file = None;
            events::recording_failed(&error);
        }
    }
}

/// The file that is being written.
#[derive(Debug)]
struct Tape {
    directory: PathBuf,
    /// A moment, and the same in seconds since 1970: for names.
    axis: (Moment, u64),
    number: u32,
    /// The newest map, with which every file begins.
    map: Option<Box<localise::Graph>>,
    newest: Moment,
    file: Option<Open>,
}

#[derive(Debug)]
struct Open {
    to: BufWriter<File>,
    recording: Recording,
    bytes: usize,
}

impl Tape {
    fn new(directory: &Path, begun: Moment, unix_seconds: u64) -> Self {
        Self {
            directory: directory.to_owned(),
            axis: (begun, unix_seconds),
            number: 0,
            map: None,
            newest: begun,
            file: None,
        }
    }

    fn write(&mut self, told: &Told) -> io::Result<()> {
        match told {
            Told::Map(map) => self.map = Some(map.clone()),
            Told::Event { at, .. } => self.newest = self.newest.max(*at),
        }
        if self
            .file
            .as_ref()
            .is_some_and(|file| file.bytes > MAX_FILE_BYTES)
        {
            self.flush()?;
            self.file = None;
        }
        if self.file.is_none() {
            self.open(self.newest)?;
            if let (Told::Event { .. }, Some(map)) = (told, self.map.clone()) {
                self.line(&Told::Map(map))?;
            }
        }
        self.line(told)
    }

    fn line(&mut self, told: &Told) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let line = file.recording.line(told).map_err(io::Error::other)?;
        let is_change = matches!(told, Told::Map(_)) && file.bytes > 0;
        if is_change && line.len() > MAX_EVENT_BYTES {
            // A reader takes a map of any size at the beginning of a file only.
            self.flush()?;
            self.open(self.newest)?;
            return self.line(told);
        }
        self.note(&line)
    }

    fn note(&mut self, line: &str) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        file.bytes += line.len() + 1;
        file.to.write_all(line.as_bytes())?;
        file.to.write_all(b"\n")
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.to.flush(),
            None => Ok(()),
        }
    }

    /// Begins the next file, and removes the oldest beyond the bound.
    fn open(&mut self, now: Moment) -> io::Result<()> {
        let (begun, unix_seconds) = self.axis;
        let seconds = unix_seconds + (now - begun).as_secs();
        self.number += 1;
        let name = format!("{PREFIX}{seconds:010}-{:04}", self.number);
        let path = self.directory.join(format!("{name}.jsonl"));
        // An older file of this name is not ours to overwrite.
        let file = File::options().write(true).create_new(true).open(path)?;
        self.file = Some(Open {
            to: BufWriter::new(file),
            recording: Recording::new(name, now),
            bytes: 0,
        });
        self.remove_oldest()
    }

    fn remove_oldest(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            if name.is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(".jsonl")) {
                files.push(path);
            }
        }
        files.sort_unstable();
        let surplus = files.len().saturating_sub(MAX_FILES);
        for path in &files[..surplus] {
            fs::remove_file(path)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn told(at: Moment) -> Told {
        let silence = localise::NoAnswer {
            sent: at,
            instance: "cart#0".into(),
        };
        Told::Event {
            at,
            event: localise::Event::NoAnswer(silence),
        }
    }

    fn map() -> Told {
        Told::Map(Box::new(localise::Graph {
            interval: Duration::from_secs(10),
            nodes: Vec::new(),
            edges: Vec::new(),
            instances: Vec::new(),
            hosts: Vec::new(),
        }))
    }

    fn names(directory: &Path) -> BTreeSet<String> {
        let entries = fs::read_dir(directory).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn only_the_newest_files_are_kept_and_every_one_begins_with_the_map() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("notes.txt"), "mine").unwrap();
        let mut tape = Tape::new(directory.path(), Moment::ZERO, 1_800_000_000);
        tape.open(Moment::ZERO).unwrap();
        tape.write(&map()).unwrap();
        for n in 0..40 {
            tape.file.as_mut().unwrap().bytes = MAX_FILE_BYTES + 1;
            tape.write(&told(Moment::from_millis(n * 1_000))).unwrap();
        }
        tape.flush().unwrap();
        let names = names(directory.path());
        assert_eq!(names.len(), MAX_FILES + 1);
        assert!(names.contains("notes.txt"), "that is not ours to remove");
        let newest = names
            .iter()
            .rev()
            .find(|name| name.ends_with("jsonl"))
            .unwrap();
        assert_eq!(newest, "recording-1800000039-0041.jsonl");
        let text = fs::read_to_string(directory.path().join(newest)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with(r#"{"type":"graph""#), "{text}");
        assert_eq!(
            lines[1],
            r#"{"type":"no_answer","recv":0.0,"sent":0.0,"instance":"cart#0","error":null}"#
        );
    }

    #[test]
    fn what_does_not_fit_is_counted_in_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let mut tape = Tape::new(directory.path(), Moment::ZERO, 0);
        tape.open(Moment::ZERO).unwrap();
        tape.write(&map()).unwrap();
        let (queue, unheard) = mpsc::sync_channel(2);
        let mut recorder = Recorder {
            queue: Some(queue),
            written: mpsc::sync_channel(0).1,
            lost: 0,
        };
        for _ in 0..5 {
            recorder.take(told(Moment::ZERO));
        }
        assert_eq!(recorder.lost, 3);
        let _: Vec<Message> = unheard.try_iter().collect();
        recorder.take(told(Moment::ZERO));
        drop(recorder);
        write_all(&unheard, tape);
        let name = names(directory.path()).pop_first().unwrap();
        let text = fs::read_to_string(directory.path().join(name)).unwrap();
        assert_eq!(
            text.lines().nth(1),
            Some(r#"{"type":"lost","count":3}"#),
            "{text}"
        );
        assert_eq!(text.lines().count(), 3);
    }
}
