//! Libraries that list failures alone: hellofresh/health-go and etherlabsio/healthcheck. What is not listed passed, or is
//! not checked; nobody can tell from the answer.

use crate::category::Texts;
use crate::found::{Found, Part, under};
use crate::json::{Json, Object};
use crate::words::Word;

/// Reads a status, and the failures under a key.
pub(crate) fn read(object: &Object, key: &str) -> Option<Found> {
    let said = under(object, "status");
    let mut found = Found::of(said);
    for failures in object.all(key) {
        let Json::Object(failures) = failures else {
            continue;
        };
        for (name, why) in failures.entries() {
            let mut texts = Texts::default();
            texts.add_all(why);
            found
                .parts
                .push(Part::new(name, Word::Down).because(&texts));
        }
    }
    found.unless_empty()
}
