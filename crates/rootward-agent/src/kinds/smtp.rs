//! A mail server.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::{PASSWORD, ROOTS, USER};

pub(super) static KIND: Kind = Kind {
    name: "smtp",
    keys: &[
        Key::new("url", Shape::Text)
            .required("write it like smtp://mail:587")
            .secret(),
        USER,
        PASSWORD,
        Key::new("starttls", Shape::Flag),
        Key::new("password_in_clear", Shape::Flag),
        ROOTS,
        Key::new("hello", Shape::Text),
    ],
    example: "{url: smtp://mail:587, starttls: true}",
    build: built!("smtp", build),
};

#[cfg(feature = "smtp")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, SmtpSettings};

    let mut smtp = SmtpSettings {
        user: settings.optional_text("user").map(Into::into),
        password: settings.optional_text("password").map(Into::into),
        starttls: settings.flag("starttls"),
        password_in_clear: settings.flag("password_in_clear"),
        roots: super::http::roots(settings),
        ..SmtpSettings::new(settings.text("url"))
    };
    if let Some(hello) = settings.optional_text("hello") {
        smtp.hello = hello.to_owned();
    }
    Ok(open::smtp(name, smtp)?)
}
