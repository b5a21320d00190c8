//! The known word that somebody meant.

/// Words longer than this are not compared; nobody mistypes that much.
const MAX_WORD_CHARS: usize = 64;
/// The most edits between a word and the one that was meant.
const MAX_EDITS: usize = 3;

/// The known word nearest to a mistyped one; `None` if nothing is near. Upper and lower case count as equal, the first
/// of several equally near words wins, and one edit is allowed for every three characters, up to three.
///
/// ```
/// let known = ["dependencies", "name", "owner"];
/// assert_eq!(rootward_config::nearest("depedencies", known), Some("dependencies"));
/// assert_eq!(rootward_config::nearest("color", known), None);
/// ```
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word)?;
    let mut allowed = (word.len() / 3).clamp(1, MAX_EDITS);
    let mut best = None;
    for candidate in known {
        // One character has one to four bytes, so this leaves out nothing that could be near, and spares most the rest.
        if candidate.len() > 4 * (word.len() + allowed)
            || 4 * candidate.len() + allowed < word.len()
        {
            continue;
        }
        let Some(letters) = folded(candidate) else {
            continue;
        };
        // A word of one or two letters is one edit away from every other.
        if word.len().min(letters.len()) < 3 && word != letters {
            continue;
        }
        if let Some(edits) = edits(&word, &letters, allowed) {
            best = Some(candidate);
            match edits.checked_sub(1) {
                Some(fewer) => allowed = fewer,
                None => return best,
            }
        }
    }
    best
}

fn folded(word: &str) -> Option<Vec<char>> {
    let mut letters = Vec::with_capacity(word.len().min(MAX_WORD_CHARS));
    for character in word.chars() {
        if character.is_ascii() {
            letters.push(character.to_ascii_lowercase());
        } else {
            letters.extend(character.to_lowercase());
        }
        if letters.len() > MAX_WORD_CHARS {
            return None;
        }
    }
    Some(letters)
}

/// Insertions, deletions, replacements and swaps of neighbours that make one word of the other; `None` if it takes more
/// than allowed. It compares only what differs, and gives up as soon as the answer is certain.
fn edits(from: &[char], to: &[char], allowed: usize) -> Option<usize> {
    if from.len().abs_diff(to.len()) > allowed {
        return None;
    }
    let same = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let (from, to) = (&from[same..], &to[same..]);
    let same = from
        .iter()
        .rev()
        .zip(to.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (from, to) = (&from[..from.len() - same], &to[..to.len() - same]);
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut current = Vec::with_capacity(to.len() + 1);
        current.push(row + 1);
        let mut fewest_of_row = row + 1;
        for (column, other) in to.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != other);
            let mut fewest = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            let swapped =
                row > 0 && column > 0 && from[row - 1] == *other && to[column - 1] == *letter;
            if swapped {
                fewest = fewest.min(before_last[column - 1] + 1);
            }
            current.push(fewest);
            fewest_of_row = fewest_of_row.min(fewest);
        }
        // A swap reaches over this row, but never costs less than the replacement in it.
        if fewest_of_row > allowed {
            return None;
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().filter(|edits| *edits <= allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_usual_slips_are_understood() {
        for (slip, meant) in [
            ("biling", "billing"),
            ("bililng", "billing"),
            ("Billing", "billing"),
            ("stale-after", "stale_after"),
            ("staleAfter", "stale_after"),
            ("dependancies", "dependencies"),
        ] {
            assert_eq!(
                nearest(slip, ["orders", meant, "rates"]),
                Some(meant),
                "{slip}"
            );
        }
    }

    #[test]
    fn the_nearest_of_several_wins_and_nothing_is_made_up() {
        assert_eq!(
            nearest("orders-bd", ["orders-cb", "orders-db"]),
            Some("orders-db")
        );
        assert_eq!(nearest("payments", ["orders", "rates"]), None);
        assert_eq!(nearest("ab", ["ac"]), None);
        assert_eq!(nearest(&"x".repeat(100_000), ["x"]), None);
    }

    proptest! {
        #[test]
        fn one_slip_in_a_word_is_always_understood(word in "[a-z]{3,20}", at in 0_usize..20, slip in 0..4, letter in "[a-z]") {
            let at = at % (word.len() - 1);
            let slipped = match slip {
                0 => format!("{}{letter}{}", &word[..at], &word[at..]),
                1 => format!("{}{}", &word[..at], &word[at + 1..]),
                2 => format!("{}{letter}{}", &word[..at], &word[at + 1..]),
                _ => format!("{}{}{}{}", &word[..at], &word[at + 1..at + 2], &word[at..=at], &word[at + 2..]),
            };
            prop_assume!(slipped.len() >= 3);
            prop_assert_eq!(nearest(&slipped, ["somewhere-else", &word]), Some(word.as_str()));
        }

        /// Against the rule itself, written out.
        #[test]
        fn edits_are_counted_as_by_the_textbook(from in "[ab]{0,7}", to in "[abc]{0,7}", allowed in 0_usize..4) {
            let letters = |word: &str| word.chars().collect::<Vec<_>>();
            let (from, to) = (letters(&from), letters(&to));
            let mut table = vec![vec![0; to.len() + 1]; from.len() + 1];
            for (row, cells) in table.iter_mut().enumerate() { cells[0] = row; }
            for (column, cell) in table[0].iter_mut().enumerate() { *cell = column; }
            for row in 1..=from.len() {
                for column in 1..=to.len() {
                    let differs = usize::from(from[row - 1] != to[column - 1]);
                    let mut fewest = (table[row - 1][column - 1] + differs)
                        .min(table[row - 1][column] + 1)
                        .min(table[row][column - 1] + 1);
                    if row > 1 && column > 1 && from[row - 1] == to[column - 2] && from[row - 2] == to[column - 1] {
                        fewest = fewest.min(table[row - 2][column - 2] + 1);
                    }
                    table[row][column] = fewest;
                }
            }
            let expected = table[from.len()][to.len()];
            prop_assert_eq!(edits(&from, &to, allowed), (expected <= allowed).then_some(expected));
        }
    }

    #[test]
    fn lower_case_that_is_longer_than_upper_case_does_not_confuse_it() {
        assert_eq!(nearest("İİİ", ["iii"]), None);
    }
}
