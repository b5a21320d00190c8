//! Targets that stand in a file of their own: a list of URLs, or what Prometheus calls file-based service discovery.

use crate::expand::Text;
use crate::keys;
use crate::place::{Field, Located};
use crate::problem::Fault;
use crate::raw::RawUrl;
use crate::read::{Fields, Item, Reader};
use crate::rule::Rule;
use crate::sections::{given, url};
use crate::syntax;
use crate::url::TargetUrl;
use crate::{MAX_TARGETS_BYTES, Source};

/// What a file of targets looks like.
const EXAMPLE: &str = "http://10.0.0.7:8790";

/// Reads the file that `targets` names. What is wrong with it is reported where it stands there.
pub(crate) fn read(health: &Fields<'_>, reader: &mut Reader<'_>) -> Field<Vec<RawUrl>> {
    let item = match reader.item(health, "targets") {
        Field::Given(item) => item,
        Field::Refused => return Field::Refused,
        Field::Absent => return Field::Absent,
    };
    let place = item.place;
    let Some(file) = item.value.file() else {
        let help = "write it like targets: {file: /etc/rootward/cart.yaml}";
        let fault = Fault::new("targets stand in a file of their own", help).of(Rule::WrongType);
        reader.log.problem(&place, fault);
        return Field::Refused;
    };
    let text = match (reader.files)(file) {
        Ok(text) if text.len() > MAX_TARGETS_BYTES => {
            Err(format!("it has more than {MAX_TARGETS_BYTES} bytes"))
        }
        other => other,
    };
    let text = match text {
        Ok(text) => text,
        Err(why) => {
            let file = crate::problem::harmless(file);
            let message = format!("cannot read {file}: {why}");
            let help = "the file must be there before this is started";
            let fault = Fault::new(message, help).of(Rule::UnresolvedReference);
            reader.log.problem(&place, fault);
            return Field::Refused;
        }
    };
    let source = Source {
        file: file.to_owned(),
        text,
    };
    match inside(&source, reader) {
        Some(value) => Field::Given(Located { value, place }),
        None => Field::Refused,
    }
}

/// The targets in the file, or `None` if something is wrong with it, which was reported.
fn inside(source: &Source, reader: &mut Reader<'_>) -> Option<Vec<RawUrl>> {
    let before = reader.log.count();
    let file = reader.log.add(source.file.clone());
    let document = syntax::parse(source, file, reader.log)?;
    let mut reader = Reader {
        file,
        env: reader.env,
        files: reader.files,
        log: reader.log,
    };
    let document = reader.document(&document);
    let items = given(reader.items(&document, &format!("[{EXAMPLE}]")))?;
    let mut urls = Vec::new();
    for item in &items {
        if item.has("targets") {
            urls.extend(group(item, &mut reader));
        } else {
            urls.extend(url(item, &mut reader));
        }
    }
    if urls.is_empty() && reader.log.count() == before {
        // Whoever writes the file may have found nobody because something is wrong there.
        let help = "write one URL for each instance";
        let fault = Fault::new("the file has no targets", help).of(Rule::Missing);
        reader.log.problem(&document.place, fault);
    }
    (reader.log.count() == before).then_some(urls)
}

/// One group of Prometheus' file-based service discovery. Its labels are read and used by nothing.
fn group(item: &Item<'_>, reader: &mut Reader<'_>) -> Vec<RawUrl> {
    let Some(fields) = given(reader.mapping(item, &keys::TARGET_GROUP)) else {
        return Vec::new();
    };
    if let Some(labels) = given(reader.item(&fields, "labels")) {
        reader.entries(&labels, "labels: {NAME: VALUE}");
    }
    let targets = given(reader.list(&fields, "targets", "10.0.0.7:8790"));
    let each = targets.iter().flatten();
    each.filter_map(|item| match reader.scalar(item, host_and_port) {
        Field::Given(url) => Some(RawUrl {
            url,
            instance: Field::Absent,
        }),
        Field::Refused | Field::Absent => None,
    })
    .collect()
}

/// `HOST:PORT`, which is asked for its report over HTTP, or a URL.
fn host_and_port(text: &Text) -> Result<TargetUrl, Fault> {
    match text.value().contains("://") {
        true => TargetUrl::parse(text.value()),
        false => TargetUrl::parse(&format!("http://{}", text.value())),
    }
}
