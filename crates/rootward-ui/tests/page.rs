//! The page is complete, small, and holds to its policy: nothing from elsewhere, nothing inline, and no
//! way for an answer to become markup.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rootward_ui::{Asset, CONTENT_SECURITY_POLICY, FIRST_CONFIGURATION, all, find, index};

/// What a person on a phone downloads at most, uncompressed.
const LARGEST_PAGE_BYTES: usize = 120 * 1024;

/// The name of a vocabulary, not an address: nothing is fetched from it.
const SVG_VOCABULARY: &str = "http://www.w3.org/2000/svg";

fn text(asset: &Asset) -> &'static str {
    std::str::from_utf8(asset.body).expect("every asset is text")
}

fn with_extension(extension: &str) -> Vec<&'static Asset> {
    all()
        .filter(|asset| {
            Path::new(asset.path)
                .extension()
                .is_some_and(|e| e == extension)
        })
        .collect()
}

/// Every piece of `text` between `before` and the next `after`.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Vec<&'a str> {
    text.split(before)
        .skip(1)
        .filter_map(|rest| rest.split(after).next())
        .collect()
}

#[test]
fn every_file_of_the_page_is_served() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let on_disk: BTreeSet<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "first-configuration.yaml")
        .map(|name| {
            if name == "index.html" {
                "/".to_owned()
            } else {
                format!("/assets/{name}")
            }
        })
        .collect();
    let served: BTreeSet<String> = all().map(|asset| asset.path.to_owned()).collect();
    assert_eq!(served, on_disk);
    assert_eq!(all().count(), served.len(), "no path is served twice");
}

#[test]
fn whatever_the_page_names_is_served_and_whatever_is_served_is_named() {
    let html = text(index());
    let mut named: Vec<String> = ["href=\"", "src=\""]
        .iter()
        .flat_map(|attribute| between(html, attribute, "\""))
        .filter(|address| address.starts_with("assets/"))
        .map(|address| format!("/{address}"))
        .collect();
    let mut reached = BTreeSet::from(["/".to_owned()]);
    while let Some(path) = named.pop() {
        let asset = find(&path).unwrap_or_else(|| panic!("{path} is named and not served"));
        if reached.insert(path) && asset.content_type.starts_with("text/javascript") {
            let imports = between(text(asset), " from \"./", "\"");
            named.extend(imports.iter().map(|module| format!("/assets/{module}")));
        }
    }
    let served: BTreeSet<String> = all().map(|asset| asset.path.to_owned()).collect();
    assert_eq!(reached, served);
}

#[test]
fn modules_import_only_what_their_neighbours_export() {
    for module in with_extension("js") {
        for import in between(text(module), "import {", ";") {
            let (names, from) = import.split_once('}').unwrap();
            let source = from.split('"').nth(1).unwrap().trim_start_matches("./");
            let neighbour = text(find(&format!("/assets/{source}")).unwrap());
            for name in names
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
            {
                let exported = ["function ", "async function ", "const "]
                    .iter()
                    .any(|kind| neighbour.contains(&format!("export {kind}{name}")));
                assert!(
                    exported,
                    "{} imports {name}, which {source} does not export",
                    module.path
                );
                let body = text(module).replacen(import, "", 1);
                assert!(
                    body.contains(name),
                    "{} imports {name} and does not use it",
                    module.path
                );
            }
        }
    }
}

#[test]
fn places_that_scripts_fill_exist_in_the_page() {
    let html = text(index());
    let script = text(find("/assets/main.js").unwrap());
    let listed = between(script, "Object.fromEntries([", "]")[0];
    let ids = listed.split(',').map(|id| id.trim().trim_matches('"'));
    let asked = between(script, "getElementById(\"", "\"");
    let mut seen = 0;
    for id in ids.chain(asked) {
        assert!(
            html.contains(&format!("id=\"{id}\"")),
            "no element has the id {id}"
        );
        seen += 1;
    }
    assert!(seen >= 6);
}

#[test]
fn views_use_only_elements_that_the_page_draws() {
    let dom = text(find("/assets/dom.js").unwrap());
    let drawn: BTreeSet<&str> = between(dom, "TAGS = new Set([", "]")[0]
        .split('"')
        .skip(1)
        .step_by(2)
        .collect();
    let mut seen = 0;
    for module in with_extension("js") {
        let compact: String = text(module).split_whitespace().collect();
        let calls: Vec<&str> = compact.split("h(\"").collect();
        for pair in calls.windows(2) {
            // `startsWith("` and the like end in the same two characters.
            if pair[0].ends_with(|c: char| c.is_alphanumeric() || c == '.') {
                continue;
            }
            let tag = pair[1].split('"').next().unwrap();
            assert!(
                drawn.contains(tag),
                "{} draws <{tag}>, which dom.js refuses",
                module.path
            );
            seen += 1;
        }
    }
    assert!(seen > 50, "the views were searched");
    for refused in [
        "script", "style", "iframe", "object", "embed", "form", "link", "img",
    ] {
        assert!(
            !drawn.contains(refused),
            "<{refused}> must not be drawn from an answer"
        );
    }
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    for asset in all() {
        let own = text(asset)
            .replace(SVG_VOCABULARY, "")
            .replace(FIRST_CONFIGURATION, "");
        for address in [
            "http:", "https:", "ws://", "wss://", "url(", "@import", "\"//",
        ] {
            assert!(!own.contains(address), "{} contains {address}", asset.path);
        }
    }
}

#[test]
fn no_answer_can_become_markup_or_script() {
    let ways_in = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "setHTML",
        "document.write",
        "DOMParser",
        "createContextualFragment",
        "srcdoc",
        "eval(",
        "new Function",
        "javascript:",
        "import(",
    ];
    for asset in with_extension("js") {
        for way in ways_in {
            assert!(!text(asset).contains(way), "{} contains {way}", asset.path);
        }
        if asset.path != "/assets/dom.js" {
            for touch in [
                "createElement",
                "setAttribute",
                "appendChild",
                "insertBefore",
                ".append(",
            ] {
                assert!(
                    !text(asset).contains(touch),
                    "{} touches the tree: {touch}",
                    asset.path
                );
            }
        }
    }
}

#[test]
fn nothing_is_inline_so_that_the_policy_can_be_strict() {
    let html = text(index());
    assert!(!html.contains("<style"), "styles are files");
    for script in between(html, "<script", "</script>") {
        let (attributes, content) = script.split_once('>').unwrap();
        assert!(
            attributes.contains("src=\"assets/") && content.is_empty(),
            "scripts are files"
        );
    }
    for tag in between(html, "<", ">") {
        for attribute in tag
            .split_whitespace()
            .skip(1)
            .filter_map(|part| part.split('=').next())
        {
            assert!(
                !attribute.starts_with("on") && attribute != "style",
                "inline {attribute} in <{tag}>"
            );
        }
    }
    for asset in with_extension("js") {
        for inline in [
            ".style",
            "cssText",
            "\"style\"",
            "style:",
            ".onclick",
            ".onload",
        ] {
            assert!(
                !text(asset).contains(inline),
                "{} contains {inline}",
                asset.path
            );
        }
    }
}

#[test]
fn the_policy_allows_only_the_page_itself() {
    for directive in CONTENT_SECURITY_POLICY.split(';').map(str::trim) {
        let (name, sources) = directive.split_once(' ').unwrap();
        for source in sources.split_whitespace() {
            let narrow =
                matches!(source, "'none'" | "'self'") || (name, source) == ("img-src", "data:");
            assert!(narrow, "{name} allows {source}");
        }
    }
    assert!(CONTENT_SECURITY_POLICY.starts_with("default-src 'none'; "));
}

#[test]
fn every_asset_says_what_it_is() {
    assert!(index().content_type.starts_with("text/html; charset=utf-8"));
    for asset in all().filter(|asset| asset.path != "/") {
        let expected = match Path::new(asset.path).extension().and_then(|e| e.to_str()) {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            other => panic!("{} has an unexpected ending {other:?}", asset.path),
        };
        assert_eq!(asset.content_type, expected, "{}", asset.path);
        let opening = if expected.starts_with("text/javascript") {
            "// "
        } else {
            "/* "
        };
        if expected.starts_with("text/") {
            assert!(
                text(asset).starts_with(opening),
                "{} does not say why it exists",
                asset.path
            );
        }
    }
}

#[test]
fn only_whole_known_paths_are_found() {
    assert_eq!(find("/"), Some(index()));
    for path in [
        "",
        "assets/main.js",
        "/assets/",
        "/assets/../assets/main.js",
        "/assets/main.js/",
        "/index.html",
    ] {
        assert_eq!(find(path), None, "{path:?}");
    }
}

#[test]
fn the_page_stays_small() {
    let bytes: usize = all().map(|asset| asset.body.len()).sum();
    println!("the page has {bytes} bytes in {} files", all().count());
    assert!(
        bytes < LARGEST_PAGE_BYTES,
        "{bytes} bytes, allowed are {LARGEST_PAGE_BYTES}"
    );
}

#[test]
fn the_configuration_offered_for_copying_is_the_one_that_others_can_check() {
    let script = text(find("/assets/first-configuration.js").unwrap());
    assert_eq!(
        between(script, "FIRST_CONFIGURATION = `", "`;"),
        [FIRST_CONFIGURATION]
    );
}
