//! Foreign text made short and safe to show.

use std::borrow::Cow;

/// The longest beginning of `text` with at most `max` bytes that ends between two characters.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let end = (0..=max)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    &text[..end]
}

/// Cut to `max` bytes, with control characters (terminal escapes among them) replaced by spaces.
pub(crate) fn shown(text: &str, max: usize) -> Cow<'_, str> {
    let short = cut(text, max);
    if short.contains(char::is_control) {
        Cow::Owned(short.replace(char::is_control, " "))
    } else {
        Cow::Borrowed(short)
    }
}

/// A target without what must never be in one: user, password and query (JDBC writes passwords there).
pub(crate) fn without_credentials(target: &str) -> Cow<'_, str> {
    let end = target.find(['?', '#']).unwrap_or(target.len());
    let target = &target[..end];
    let host = target.find("://").map_or(0, |at| at + 3);
    // A password may hold a slash that nobody escaped, so everything before the last '@' goes.
    match target[host..].rfind('@') {
        Some(at) => Cow::Owned(format!("{}{}", &target[..host], &target[host + at + 1..])),
        None => Cow::Borrowed(target),
    }
}

#[cfg(test)]
mod tests {
    use super::{cut, shown, without_credentials};

    #[test]
    fn a_cut_never_splits_a_character() {
        assert_eq!(cut("äöü", 3), "ä");
        assert_eq!(cut("äöü", 6), "äöü");
        assert_eq!(cut("ä", 1), "");
    }

    #[test]
    fn terminal_escapes_do_not_reach_a_terminal() {
        assert_eq!(shown("team\u{1b}[31m red\n", 256), "team [31m red ");
    }

    #[test]
    fn credentials_in_a_target_are_removed() {
        for (written, kept) in [
            (
                "postgresql://orders-db:5432/orders",
                "postgresql://orders-db:5432/orders",
            ),
            (
                "postgresql://bob:s3cret@orders-db:5432/orders",
                "postgresql://orders-db:5432/orders",
            ),
            (
                "postgresql://bob:s3/c@ret@orders-db/orders",
                "postgresql://orders-db/orders",
            ),
            (
                "jdbc:postgresql://db/orders?user=bob&password=s3cret",
                "jdbc:postgresql://db/orders",
            ),
            ("bob:s3cret@orders-db", "orders-db"),
            ("orders-db", "orders-db"),
        ] {
            assert_eq!(without_credentials(written), kept);
        }
    }
}
