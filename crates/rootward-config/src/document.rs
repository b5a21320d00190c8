//! What the documents for operators say of each key, for editors that show it beside the key: the row of its table.

/// A document with a table of keys for each mapping.
#[derive(Debug)]
pub(crate) struct Document {
    text: &'static str,
}

impl Document {
    /// That of the aggregator's files.
    pub(crate) const AGGREGATOR: Self = Self {
        text: include_str!("../../../docs/configuration.md"),
    };
    /// That of an agent's file.
    pub(crate) const AGENT: Self = Self {
        text: include_str!("../../../docs/sidecar.md"),
    };
    /// One that says nothing.
    pub(crate) const NONE: Self = Self { text: "" };

    /// What stands in the row of a key: what it is, and the other columns with their heads.
    pub(crate) fn about(&self, path: &str, key: &str) -> Option<String> {
        let mut rows = self.rows(path)?;
        let heads = cells(rows.next()?);
        let wanted = format!("`{key}`");
        let row = rows.find(|row| {
            cells(row)
                .first()
                .is_some_and(|cell| cell.contains(&wanted))
        })?;
        // What is as elsewhere is said there.
        let first = cells(row).get(1).copied().unwrap_or_default();
        let elsewhere = first
            .strip_prefix("as in `")
            .and_then(|rest| rest.split('`').next());
        let elsewhere = elsewhere.or((first == "as above").then_some("defaults"));
        if let Some(path) = elsewhere.filter(|other| *other != path) {
            return self.about(path, key);
        }
        let mut text = String::new();
        for (head, cell) in heads.into_iter().zip(cells(row)).skip(1) {
            let cell = plain(cell);
            match head {
                _ if cell.is_empty() => {}
                _ if text.is_empty() => text = cell,
                head => text.push_str(&format!("\n{head}: {cell}")),
            }
        }
        (!text.is_empty()).then_some(text)
    }

    /// The path under which the keys of a mapping are described: what `defaults` has in common with a service is described
    /// with the service.
    pub(crate) fn home<'p>(&self, path: &'p str) -> &'p str {
        match path {
            "defaults.health.auth" => "services[].health.auth",
            other => other,
        }
    }

    /// The lines of the tables under the heading of a mapping.
    fn rows(&self, path: &str) -> Option<impl Iterator<Item = &'static str>> {
        let heading = match path {
            "" => "\n## The file\n".to_owned(),
            "checks[]" => "\n## A check\n".to_owned(),
            path => format!("\n## `{path}`\n"),
        };
        let start = self.text.find(&heading)? + heading.len();
        let body = &self.text[start..];
        let body = &body[..body.find("\n## ").unwrap_or(body.len())];
        Some(body.lines().filter(|line| line.starts_with('|')))
    }
}

fn cells(row: &'static str) -> Vec<&'static str> {
    let row = row.trim_matches('|');
    row.split(" | ")
        .map(|cell| cell.trim_matches([' ', '|']))
        .collect()
}

/// Without the marks that are for readers of the document: links lose where they lead.
fn plain(cell: &str) -> String {
    let mut text = String::new();
    let mut rest = cell;
    while let Some((before, link)) = rest.split_once('[') {
        let named = link.split_once("](").and_then(|(name, after)| {
            let (_, after) = after.split_once(')')?;
            Some((name, after))
        });
        text.push_str(before);
        match named {
            Some((name, after)) if !name.contains('[') => {
                text.push_str(name);
                rest = after;
            }
            _ => {
                text.push('[');
                rest = link;
            }
        }
    }
    text.push_str(rest);
    text.replace('`', "")
}
