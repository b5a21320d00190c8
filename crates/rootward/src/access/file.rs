//! Reads a small file of secrets as a whole.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use zeroize::Zeroizing;

/// The bytes of a regular file of at most `most` bytes, or why there are none, in words that follow "the file …".
///
/// A pipe or a device is not opened: it could keep us waiting for ever.
pub(super) fn read(path: &Path, most: usize) -> Result<Zeroizing<Vec<u8>>, String> {
    let failed = |error: std::io::Error| format!("cannot be read: {}", reason(&error));
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err("is not a regular file".to_owned());
    }
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Zeroizing::new(Vec::new());
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > most {
        return Err(format!("is longer than {most} bytes"));
    }
    Ok(bytes)
}

/// The usual reasons in words that do not change with the platform.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is none".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        // An open set; the platform's own words are better than ours.
        _ => error.to_string(),
    }
}
