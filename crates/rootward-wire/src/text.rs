//! Text of somebody else's made short and safe to show. Writers and readers of reports use the same rules.

use std::borrow::Cow;

/// The longest beginning of `text` with at most `max` bytes that ends between two characters.
#[must_use]
pub fn cut(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let end = (0..=max)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    &text[..end]
}

/// Cut to `max` bytes, with control characters (terminal escapes among them) and characters that turn the direction of
/// writing replaced by spaces.
///
/// ```
/// assert_eq!(rootward_wire::text::shown("re\u{1b}[31mloading", 12), "re [31mloadi");
/// ```
#[must_use]
pub fn shown(text: &str, max: usize) -> Cow<'_, str> {
    let short = cut(text, max);
    if short.contains(misleads) {
        Cow::Owned(short.replace(misleads, " "))
    } else {
        Cow::Borrowed(short)
    }
}

/// Whether a character can make a text look like another one: controls, and the explicit bidirectional formatting
/// characters (Unicode Standard Annex #9, section 2).
fn misleads(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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
    fn a_text_cannot_turn_the_direction_of_writing() {
        assert_eq!(shown("team\u{202e}nwod", 256), "team nwod");
        assert_eq!(shown("zespół Łódź", 256), "zespół Łódź");
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
