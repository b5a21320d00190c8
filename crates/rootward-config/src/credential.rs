//! What the aggregator shows to a service that it asks: a token, or a name and a password.

use std::fmt;

use crate::expand::Text;
use crate::keys;
use crate::place::Field;
use crate::problem::Fault;
use crate::read::{Fields, Reader};
use crate::rule::Rule;

/// Text that is shown to nobody: `Debug` has no part of it, and there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text, for the one who sends it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What is shown with each poll of a target, and to nobody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// `Authorization: Bearer …` (RFC 6750).
    Bearer(Secret),
    /// `Authorization: Basic …` (RFC 7617).
    Basic {
        /// Without a colon.
        user: String,
        /// The password.
        password: Secret,
    },
}

/// Reads `auth`: the inner `None` is what `auth: none` says.
pub(crate) fn read(fields: &Fields<'_>, reader: &mut Reader<'_>) -> Field<Option<Credential>> {
    let item = match reader.item(fields, "auth") {
        Field::Given(item) => item,
        Field::Refused => return Field::Refused,
        Field::Absent => return Field::Absent,
    };
    let place = item.place;
    let refused = |reader: &mut Reader<'_>, rule, message: &str, help: &str| {
        let fault = Fault::new(message, help).of(rule);
        reader.log.problem(&place, fault);
        Field::Refused
    };
    if item.value.is_text() {
        return reader.scalar(&item.value, |text| match text.value() {
            "none" => Ok(None),
            _ => Err(Fault::new(
                "this is no way to say who asks",
                format!("write {}, or none", keys::AUTH.example),
            )),
        });
    }
    let Field::Given(auth) = reader.mapping(&item.value, &keys::AUTH) else {
        return Field::Refused;
    };
    let auth = auth.value;
    let bearer = secret(&auth, "bearer", token, reader);
    let basic = reader.section(&auth, "basic", &keys::BASIC);
    let credential = match (bearer, basic) {
        (Field::Given(token), Field::Absent) => Credential::Bearer(token.value),
        (Field::Absent, Field::Given(basic)) => {
            let basic = basic.value;
            let user = reader.value(&basic, "user", user);
            let user = reader.required(&basic, "user", user, "say who asks");
            let password = secret(&basic, "password", password, reader);
            let help = "write password: {file: /run/secrets/NAME}";
            let password = reader.required(&basic, "password", password, help);
            let (Field::Given(user), Field::Given(password)) = (user, password) else {
                return Field::Refused;
            };
            Credential::Basic {
                user: user.value,
                password: password.value,
            }
        }
        (Field::Given(_), Field::Given(_)) => {
            return refused(
                reader,
                Rule::Contradiction,
                "both `bearer` and `basic` are given",
                "keep one of them",
            );
        }
        (Field::Absent, Field::Absent) if !auth.has_unknown() => {
            let help = format!("write {}", keys::AUTH.example);
            return refused(reader, Rule::Missing, "it says nothing to show", &help);
        }
        (_, _) => return Field::Refused,
    };
    Field::Given(crate::place::Located {
        value: Some(credential),
        place,
    })
}

/// A secret under a key. One that is written out is read, and warned of.
fn secret(
    fields: &Fields<'_>,
    key: &'static str,
    parse: impl FnOnce(&str) -> Result<(), Fault>,
    reader: &mut Reader<'_>,
) -> Field<Secret> {
    let mut written_out = false;
    let field = reader.value(fields, key, |text: &Text| {
        written_out = !text.is_expanded();
        parse(text.value())?;
        Ok(Secret(text.value().to_owned()))
    });
    if let Field::Given(secret) = &field
        && written_out
    {
        let message = "a secret is written out, and this file is read by many";
        let help = "write {file: /run/secrets/NAME} or {env: NAME}";
        let fault = Fault::new(message, help).of(Rule::PlainSecret);
        reader.log.warning(&secret.place, fault);
    }
    field
}

/// What RFC 6750 allows in a token.
fn token(value: &str) -> Result<(), Fault> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._~+/=:".contains(c);
    match value.chars().all(allowed) {
        true => Ok(()),
        false => Err(Fault::new(
            "the token has a character that a token cannot have",
            "tokens are made of letters, digits and - . _ ~ + / = :, in one line",
        )),
    }
}

fn user(text: &Text) -> Result<String, Fault> {
    let value = text.value();
    match value.contains(':') || value.chars().any(char::is_control) {
        false => Ok(value.to_owned()),
        true => Err(Fault::new(
            "the user has a colon or a control character",
            "HTTP cannot send it; give this caller another name",
        )),
    }
}

fn password(value: &str) -> Result<(), Fault> {
    match value.chars().any(char::is_control) {
        false => Ok(()),
        true => Err(Fault::new(
            "the password has a control character",
            "write it in one line",
        )),
    }
}
