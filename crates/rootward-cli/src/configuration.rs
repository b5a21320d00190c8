//! Reads a configuration from files and the environment, and compiles it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rootward_config::{Checked, MAX_TEXT_BYTES, Problems, Source, compile};

use crate::exit::Exit;
use crate::trouble::Trouble;

/// What a configuration is: right, or full of problems.
pub(crate) type Compiled = Result<Checked, Problems>;

/// Reads the files and compiles them as one configuration. A directory stands for its `*.yaml` and `*.yml` files, by
/// name.
pub(crate) fn load(paths: &[PathBuf]) -> Result<Compiled, Trouble> {
    Ok(compile(&sources(paths)?, &environment()))
}

/// Reads the files.
pub(crate) fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, Trouble> {
    let mut sources = Vec::new();
    let mut unread = Vec::new();
    for path in paths {
        match files(path) {
            Ok(files) if files.is_empty() => unread.push(Unread {
                sentence: format!("{} holds no *.yaml file", path.display()),
                exit: Exit::WrongInput,
            }),
            Ok(files) => {
                for file in files {
                    match read(&file) {
                        Ok(source) => sources.push(source),
                        Err(error) => unread.push(error),
                    }
                }
            }
            Err(error) => unread.push(Unread::of(path, &error)),
        }
    }
    let Some(first) = unread.first() else {
        return Ok(sources);
    };
    let exit = first.exit;
    let sentences: Vec<String> = unread.into_iter().map(|one| one.sentence).collect();
    Err(Trouble::new(exit, sentences.join("; ")))
}

/// Why a file gave no text.
struct Unread {
    sentence: String,
    exit: Exit,
}

impl Unread {
    fn of(path: &Path, error: &io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            // An open set; the system's words are better than ours.
            _ => error.to_string(),
        };
        Self {
            sentence: format!("cannot read {}: {why}", path.display()),
            exit: Exit::WrongInput,
        }
    }
}

fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.metadata()?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in path.read_dir()? {
        let file = entry?.path();
        let extension = file.extension().unwrap_or_default();
        if extension == "yaml" || extension == "yml" {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<Source, Unread> {
    // One byte more than may be there: the compiler then says that it is too long.
    let limit = MAX_TEXT_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .map_err(|error| Unread::of(path, &error))?;
    let file = path.display().to_string();
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { file, text }),
        // The limit may have cut a character in half.
        Err(error) if error.as_bytes().len() as u64 == limit => Ok(Source {
            file,
            text: String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }),
        Err(_) => Err(Unread {
            sentence: format!("{file} is not text in UTF-8"),
            exit: Exit::WrongInput,
        }),
    }
}

/// What `${NAME}` refers to. A variable that is not text cannot be referred to.
pub(crate) fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
