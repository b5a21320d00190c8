//! Text of the application's own made short and safe to show.

/// The longest beginning of `text` with at most `max` bytes that ends between two characters.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let end = (0..=max).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// Cut to `max` bytes, with control characters replaced by spaces.
pub(crate) fn shown(text: &str, max: usize) -> String {
    cut(text, max).replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::{cut, shown};

    #[test]
    fn a_cut_never_splits_a_character() {
        assert_eq!(cut("äöü", 3), "ä");
        assert_eq!(cut("äöü", 6), "äöü");
        assert_eq!(cut("ä", 1), "");
    }

    #[test]
    fn control_characters_do_not_reach_a_terminal() {
        assert_eq!(shown("re\u{1b}[31mloading\n", 12), "re [31mloadi");
    }
}
