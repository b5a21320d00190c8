//! What a person sees: the page and its assets, embedded.
//!
//! The page is plain HTML, CSS and JavaScript modules in `assets/`, served as they are written: there is
//! no build step. It reads the aggregator's API and nothing else. Its addresses are relative, so it works
//! behind a prefix as well as at `/`.
//!
//! A server answers [`index`] at `/` and every other [`Asset`] at its [`path`](Asset::path), each with
//! [`CONTENT_SECURITY_POLICY`]. Nothing in the page needs a wider policy; the tests hold it to that.

use std::fmt;

/// The policy that every answer with an [`Asset`] carries: own scripts, own styles, own API, nothing else.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

/// The configuration that the page offers to a newcomer whose map is empty.
///
/// It is here so that a test next to the compiler of configurations can prove that it is accepted.
pub const FIRST_CONFIGURATION: &str = include_str!("../assets/first-configuration.yaml");

/// A file of the page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Asset {
    /// Where it is served, with the leading slash: `/` or `/assets/main.js`.
    pub path: &'static str,
    /// Its media type, with the character set where it is text.
    pub content_type: &'static str,
    /// Its bytes, not compressed.
    pub body: &'static [u8],
}

impl fmt::Debug for Asset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asset")
            .field("path", &self.path)
            .field("content_type", &self.content_type)
            .field("bytes", &self.body.len())
            .finish()
    }
}

/// The page itself, served at `/`.
///
/// ```
/// let page = rootward_ui::index();
/// assert_eq!(page.path, "/");
/// assert!(page.content_type.starts_with("text/html"));
/// ```
pub fn index() -> &'static Asset {
    &INDEX
}

/// The asset served at exactly this path, or `None`.
///
/// The comparison is of whole paths: nothing is decoded, joined or looked up on a disk.
///
/// ```
/// assert!(rootward_ui::find("/assets/main.js").is_some());
/// assert!(rootward_ui::find("/assets/../Cargo.toml").is_none());
/// ```
pub fn find(path: &str) -> Option<&'static Asset> {
    all().find(|asset| asset.path == path)
}

/// Every asset, the page first.
pub fn all() -> impl Iterator<Item = &'static Asset> {
    std::iter::once(&INDEX).chain(ASSETS)
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

static INDEX: Asset = Asset {
    path: "/",
    content_type: HTML,
    body: include_bytes!("../assets/index.html"),
};

macro_rules! asset {
    ($name:literal, $content_type:expr) => {
        Asset {
            path: concat!("/assets/", $name),
            content_type: $content_type,
            body: include_bytes!(concat!("../assets/", $name)),
        }
    };
}

static ASSETS: &[Asset] = &[
    asset!("api.js", SCRIPT),
    asset!("dom.js", SCRIPT),
    asset!("favicon.svg", SVG),
    asset!("first-configuration.js", SCRIPT),
    asset!("frame.css", CSS),
    asset!("icons.js", SCRIPT),
    asset!("keys.js", SCRIPT),
    asset!("main.js", SCRIPT),
    asset!("parts.js", SCRIPT),
    asset!("rounds.js", SCRIPT),
    asset!("route.js", SCRIPT),
    asset!("status.css", CSS),
    asset!("time.js", SCRIPT),
    asset!("tokens.css", CSS),
    asset!("view-detail.js", SCRIPT),
    asset!("view-incident.js", SCRIPT),
    asset!("view-notes.js", SCRIPT),
    asset!("view-overview.js", SCRIPT),
    asset!("view-rows.js", SCRIPT),
    asset!("view-states.js", SCRIPT),
    asset!("views.css", CSS),
    asset!("words.js", SCRIPT),
];
