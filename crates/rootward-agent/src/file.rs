//! What is read from disk: the files of a configuration, and those that its values stand in. What was in each is kept
//! as a hash, so that a change is seen and no secret is held for it.
//!
//! Only files are read: a pipe, a terminal or a device may never give an end, and who waits for one hears of nothing
//! else.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rootward_config::{MAX_TARGETS_BYTES, MAX_TEXT_BYTES, Problem, Source};

/// How many files of one directory are read at most.
const MAX_FILES: usize = 10_000;

/// A file, or a directory of files, that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    file: String,
    sentence: String,
}

impl fmt::Display for Unread {
    /// What was attempted on what, and why it failed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl From<Unread> for Problem {
    fn from(Unread { file, sentence }: Unread) -> Self {
        Self::of_unreadable_file(file, sentence)
    }
}

/// One file of a configuration.
///
/// # Errors
/// When it cannot be read or is no text.
pub fn source(path: &Path, values: &Values) -> Result<Source, Unread> {
    let file = path.display().to_string();
    let bytes = match values.read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let sentence = format!("cannot read {file}: {}", why(&error));
            return Err(Unread { file, sentence });
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { file, text }),
        // The limit may have cut a character in half; whoever compiles it says that it is too long.
        Err(error) if error.as_bytes().len() > MAX_TEXT_BYTES => Ok(Source {
            file,
            text: String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }),
        Err(_) => {
            let sentence = format!("{file} is not text in UTF-8");
            Err(Unread { file, sentence })
        }
    }
}

/// Every file that these name, in their order. A directory stands for its `*.yaml`, `*.yml` and `*.toml` files, by name;
/// those whose name begins with a dot are left out.
///
/// # Errors
/// Every one that cannot be read, or is no text, or holds no such file.
pub fn sources(paths: &[PathBuf], values: &Values) -> Result<Vec<Source>, Vec<Unread>> {
    let mut sources = Vec::new();
    let mut unread = Vec::new();
    for path in paths {
        let files = match path.is_dir() {
            false => Ok(vec![path.clone()]),
            true => values.list(path).map_err(|error| why(&error)),
        };
        match files {
            Ok(files) if files.is_empty() => {
                let file = path.display().to_string();
                let sentence = format!("{file} holds no *.yaml or *.toml file");
                unread.push(Unread { file, sentence });
            }
            Ok(files) => {
                for file in files {
                    match source(&file, values) {
                        Ok(source) => sources.push(source),
                        Err(one) => unread.push(one),
                    }
                }
            }
            Err(why) => {
                let file = path.display().to_string();
                let sentence = format!("cannot read {file}: {why}");
                unread.push(Unread { file, sentence });
            }
        }
    }
    match unread.is_empty() {
        true => Ok(sources),
        false => Err(unread),
    }
}

/// What was in each file that was read, as a hash, and which files a directory had; also that one could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamp(BTreeMap<PathBuf, u64>);

impl Stamp {
    /// Whether every file still has in it what it had.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.0.iter().all(|(path, before)| hash_of(path) == *before)
    }
}

/// Reads files and remembers what was in them.
#[derive(Debug, Default)]
pub struct Values(RefCell<Stamp>);

impl Values {
    /// The value in a file: all of it, without the line break at its end.
    ///
    /// # Errors
    /// Why there is none, in words that hold nothing of it.
    pub fn value(&self, path: &str) -> Result<String, String> {
        let bytes = self.read(Path::new(path)).map_err(|error| why(&error))?;
        // What may be how long is known to who asked: a secret less than a list of targets.
        if bytes.len() > MAX_TARGETS_BYTES {
            return Err(format!("it has more than {MAX_TARGETS_BYTES} bytes"));
        }
        let text = String::from_utf8(bytes).map_err(|_| "it is not text in UTF-8".to_owned())?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
    }

    /// Remembers what is in a file that somebody else reads.
    pub fn watch(&self, path: &Path) {
        // What is wrong with it, the one who reads it says.
        let _ = self.read(path);
    }

    /// What was in all files that were read.
    #[must_use]
    pub fn stamp(self) -> Stamp {
        self.0.into_inner()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let read = bytes(path);
        self.0.borrow_mut().0.insert(path.to_owned(), hash(&read));
        read
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let listed = list(directory);
        let mut stamp = self.0.borrow_mut();
        stamp.0.insert(directory.to_owned(), hash(&listed));
        listed
    }
}

fn hash_of(path: &Path) -> u64 {
    match path.is_dir() {
        true => hash(&list(path)),
        false => hash(&bytes(path)),
    }
}

fn hash(read: &io::Result<impl Hash>) -> u64 {
    let mut hasher = DefaultHasher::new();
    match read {
        Ok(read) => read.hash(&mut hasher),
        Err(error) => error.kind().hash(&mut hasher),
    }
    hasher.finish()
}

/// At most one byte more than a file may have: who reads it then says that it is too long.
fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let kind = path.metadata()?.file_type();
    if !kind.is_file() {
        let what = match kind.is_dir() {
            true => "it is a directory",
            false => "it is a pipe or a device, and only files are read",
        };
        return Err(io::Error::other(what));
    }
    let mut bytes = Vec::new();
    let limit = MAX_TEXT_BYTES as u64 + 1;
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The configuration files of a directory, by name.
fn list(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in directory.read_dir()? {
        let file = entry?.path();
        let hidden = file
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let extension = file.extension().unwrap_or_default();
        let known = ["yaml", "yml", "toml"]
            .iter()
            .any(|known| extension == *known);
        if known && !hidden && !file.is_dir() {
            files.push(file);
        }
    }
    if files.len() > MAX_FILES {
        let sentence = format!(
            "it has {} files, and at most {MAX_FILES} are read",
            files.len()
        );
        return Err(io::Error::other(sentence));
    }
    files.sort();
    Ok(files)
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        // An open set; the system's words are better than ours.
        _ => error.to_string(),
    }
}
