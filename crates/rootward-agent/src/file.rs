//! What is read from disk: the file of the agent, and the files that its values stand in. What was in each is kept as a
//! hash, so that a change is seen and no secret is held for it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rootward_config::{MAX_TEXT_BYTES, Source};

/// The longest value that is taken from a file of its own, in bytes.
const MAX_VALUE_BYTES: usize = 16 * 1024;

/// The file of the agent.
///
/// # Errors
/// When it cannot be read or is no text, in a sentence.
pub(crate) fn source(path: &Path, values: &Values) -> Result<Source, String> {
    let file = path.display().to_string();
    let bytes = values
        .read(path)
        .map_err(|error| format!("cannot read {file}: {}", why(&error)))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { file, text }),
        Err(_) => Err(format!("{file} is not text in UTF-8")),
    }
}

/// What was in each file that was read, as a hash; also that one could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stamp(BTreeMap<PathBuf, u64>);

impl Stamp {
    /// Whether every file still has in it what it had.
    pub(crate) fn holds(&self) -> bool {
        self.0
            .iter()
            .all(|(path, before)| hash(&bytes(path)) == *before)
    }
}

/// Reads files and remembers what was in them.
#[derive(Debug, Default)]
pub(crate) struct Values(RefCell<Stamp>);

impl Values {
    /// The value in a file: all of it, without the line break at its end.
    ///
    /// # Errors
    /// Why there is none, in words that hold nothing of it.
    pub(crate) fn value(&self, path: &str) -> Result<String, String> {
        let bytes = self.read(Path::new(path)).map_err(|error| why(&error))?;
        if bytes.len() > MAX_VALUE_BYTES {
            return Err(format!("it has more than {MAX_VALUE_BYTES} bytes"));
        }
        let text = String::from_utf8(bytes).map_err(|_| "it is not text in UTF-8".to_owned())?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
    }

    /// What was in all files that were read.
    pub(crate) fn stamp(self) -> Stamp {
        self.0.into_inner()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let read = bytes(path);
        self.0.borrow_mut().0.insert(path.to_owned(), hash(&read));
        read
    }
}

fn hash(read: &io::Result<Vec<u8>>) -> u64 {
    let mut hasher = DefaultHasher::new();
    match read {
        Ok(bytes) => bytes.hash(&mut hasher),
        Err(error) => error.kind().hash(&mut hasher),
    }
    hasher.finish()
}

/// At most one byte more than a file may have: who reads it then says that it is too long.
fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = MAX_TEXT_BYTES as u64 + 1;
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        // An open set; the system's words are better than ours.
        _ => error.to_string(),
    }
}
