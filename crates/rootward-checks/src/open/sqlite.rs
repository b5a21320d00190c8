//! SQLite from settings.

use std::path::PathBuf;

use rootward::{Check, Unlabelled};

use super::Unusable;

/// Which file.
///
/// ```
/// use rootward_checks::open::SqliteSettings;
///
/// let settings = SqliteSettings::new("/var/lib/cart/sessions.db");
/// assert!(settings.path.is_absolute());
/// ```
#[derive(Debug, Clone)]
pub struct SqliteSettings {
    /// The path of the file; a path, and no `file:` URL.
    pub path: PathBuf,
}

impl SqliteSettings {
    /// This file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }
}

/// As [`crate::sqlite`]: read-only, and the file is not created.
///
/// # Errors
/// When the path is empty, or names no file: `:memory:`, a `file:` URL.
///
/// ```
/// use rootward_checks::open::{self, SqliteSettings};
///
/// let check = open::sqlite("sessions", SqliteSettings::new("/var/lib/cart/sessions.db"))?.hard();
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn sqlite(
    name: impl Into<String>,
    settings: SqliteSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let path = settings.path;
    if path.as_os_str().is_empty() {
        return Err(Unusable::because(&["the path is empty"]));
    }
    if path.as_os_str() == ":memory:" || path.starts_with("file:") {
        return Err(Unusable::because(&["the path names no file"]));
    }
    Ok(crate::sqlite(name, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_said_to_be_none() {
        let cases = [
            ("", "the path is empty"),
            (":memory:", "the path names no file"),
            ("file:/var/lib/sessions.db", "the path names no file"),
        ];
        for (path, sentence) in cases {
            let unusable = sqlite("sessions", SqliteSettings::new(path));
            assert_eq!(unusable.expect_err("unusable").to_string(), sentence);
        }
    }
}
