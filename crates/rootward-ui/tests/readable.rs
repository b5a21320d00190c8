//! The page can be read: enough contrast in both schemes, no colour outside the tokens, no motion for
//! those who ask for none.

use std::collections::BTreeMap;

use rootward_ui::{all, find};

/// WCAG 2.2 AA: text at body size.
const TEXT: f64 = 4.5;
/// WCAG 2.2 AA: shapes, borders that carry meaning, the focus ring.
const SHAPE: f64 = 3.0;

/// (what is written or drawn, what it stands on, what is needed)
const PAIRS: &[(&str, &str, f64)] = &[
    ("ink", "paper", TEXT),
    ("ink", "surface", TEXT),
    ("ink", "notice", TEXT),
    ("ink-second", "paper", TEXT),
    ("ink-second", "surface", TEXT),
    ("ink-quiet", "paper", TEXT),
    ("ink-quiet", "surface", TEXT),
    ("ink-faded", "paper", TEXT),
    ("ink-faded", "surface", TEXT),
    ("notice-ink", "notice", TEXT),
    ("cause-ink", "cause", TEXT),
    ("fail", "paper", TEXT),
    ("fail", "surface", TEXT),
    ("impact-ink", "impact", TEXT),
    ("impact-ink", "impact-hatch", TEXT),
    ("amber-ink", "amber", TEXT),
    ("amber-ink", "paper", TEXT),
    ("amber-ink", "surface", TEXT),
    ("line-strong", "paper", SHAPE),
    ("line-strong", "surface", SHAPE),
    ("focus", "paper", SHAPE),
    ("focus", "surface", SHAPE),
    ("focus", "notice", SHAPE),
];

type Colours = BTreeMap<String, [f64; 3]>;

fn sheet(name: &str) -> &'static str {
    let asset = find(name).unwrap_or_else(|| panic!("{name} is served"));
    std::str::from_utf8(asset.body).expect("every asset is text")
}

fn colours(css: &str) -> Colours {
    css.split(';')
        .filter_map(|declaration| declaration.rsplit_once("--")?.1.split_once(": #"))
        .map(|(name, hex)| {
            assert_eq!(hex.len(), 6, "--{name} is written with six digits");
            let part = |at: usize| {
                f64::from(
                    u8::from_str_radix(&hex[at..at + 2], 16).expect("a colour is hexadecimal"),
                ) / 255.0
            };
            (name.to_owned(), [part(0), part(2), part(4)])
        })
        .collect()
}

fn schemes() -> [(&'static str, Colours); 2] {
    let (light, dark) = sheet("/assets/tokens.css")
        .split_once("@media")
        .expect("both schemes are there");
    assert!(dark.starts_with(" (prefers-color-scheme: dark)"));
    [("light", colours(light)), ("dark", colours(dark))]
}

fn luminance(colour: [f64; 3]) -> f64 {
    let [r, g, b] = colour.map(|c| {
        if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (a, b) = (luminance(one), luminance(other));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Saturation in the sense of HSL.
fn saturation([r, g, b]: [f64; 3]) -> f64 {
    let (high, low) = (r.max(g).max(b), r.min(g).min(b));
    let light = f64::midpoint(high, low);
    if high <= low {
        0.0
    } else {
        (high - low) / (1.0 - (2.0 * light - 1.0).abs())
    }
}

#[test]
fn contrast_is_computed_as_the_guideline_says() {
    assert!((contrast([1.0; 3], [0.0; 3]) - 21.0).abs() < 1e-9);
    // #767676 on white is the well-known lightest grey that passes.
    let grey = f64::from(0x76_u8) / 255.0;
    assert!((contrast([grey; 3], [1.0; 3]) - 4.54).abs() < 0.01);
}

#[test]
fn text_and_shapes_have_enough_contrast_in_both_schemes() {
    for (scheme, colours) in schemes() {
        for &(front, back, needed) in PAIRS {
            let ratio = contrast(colours[front], colours[back]);
            assert!(
                ratio >= needed,
                "{scheme}: --{front} on --{back} is {ratio:.2}, needs {needed}"
            );
        }
    }
}

#[test]
fn every_colour_exists_in_both_schemes_and_is_paired() {
    let [(_, light), (_, dark)] = schemes();
    assert!(light.keys().eq(dark.keys()));
    for name in light.keys().filter(|name| *name != "line") {
        let paired = PAIRS
            .iter()
            .any(|(front, back, _)| front == name || back == name);
        assert!(paired, "--{name} has no pair to be measured with");
    }
}

#[test]
fn the_root_cause_is_the_only_saturated_red() {
    for (scheme, colours) in schemes() {
        let vivid =
            |[r, g, b]: [f64; 3]| r > 0.5 && g < 0.3 && b < 0.3 && saturation([r, g, b]) > 0.6;
        let reds: Vec<_> = colours
            .iter()
            .filter(|(_, c)| vivid(**c))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(reds, ["cause"], "{scheme}");
    }
}

#[test]
fn colours_are_written_in_the_tokens_alone() {
    for asset in all().filter(|asset| asset.path != "/assets/tokens.css") {
        let text = sheet(asset.path);
        if asset.content_type.starts_with("text/css") {
            let text: String = text
                .split("*/")
                .filter_map(|part| part.split("/*").next())
                .collect();
            for value in text
                .split(':')
                .skip(1)
                .map(|rest| rest.split([';', '{', '}']).next().unwrap())
            {
                let literal = value.contains('#') || value.contains("rgb") || value.contains("hsl");
                assert!(!literal, "{} writes the colour{value}", asset.path);
            }
        }
        for token in text
            .split("var(--")
            .skip(1)
            .map(|rest| rest.split(')').next().unwrap())
        {
            let declared = sheet("/assets/tokens.css").contains(&format!("--{token}:"));
            assert!(
                declared,
                "{} uses --{token}, which is not declared",
                asset.path
            );
        }
    }
}

#[test]
fn nothing_moves_for_those_who_ask_for_stillness_and_nothing_blinks() {
    let mut moving = 0;
    for asset in all().filter(|asset| asset.content_type.starts_with("text/css")) {
        let text = sheet(asset.path);
        let mut parts = text.split("@media (prefers-reduced-motion: no-preference)");
        let always = parts.next().unwrap().to_owned();
        let rest: String = parts
            .map(|part| {
                moving += 1;
                part.split_once("\n}").unwrap().1
            })
            .collect();
        for motion in ["animation", "transition", "@keyframes", "scroll-behavior"] {
            assert!(
                !(always.clone() + &rest).contains(motion),
                "{}: {motion} for everybody",
                asset.path
            );
        }
        assert!(!text.contains("infinite"), "{} blinks", asset.path);
    }
    assert!(moving > 0, "the motion that there is was found");
}
