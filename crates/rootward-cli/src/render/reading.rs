//! How an answer was understood: the whole, its components, the format, the reasons.

use rootward_core::ErrorCategory;
use rootward_formats::{Overall, Reading};

use super::{check_tone, fact};
use crate::text::{Line, Page, Table, Tone};

pub(crate) fn page(reading: &Reading) -> Page {
    let mut page = Page::new();
    let phrase = |category: Option<ErrorCategory>| category.map_or("", ErrorCategory::phrase);
    let mut title = Line::new().body(reading.overall.as_str(), tone(reading.overall));
    if reading.error_category.is_some() {
        title = title.plain(format!(": {}", phrase(reading.error_category)));
    }
    page.push(title);
    page.push(fact("format", reading.format.as_str()));
    page.push(fact("why", &reading.why));
    if !reading.components.is_empty() {
        page.gap();
        let mut table = Table::default();
        for component in &reading.components {
            let status = component.status;
            table.row(
                vec![
                    (component.name.clone(), Tone::Plain),
                    (status.as_str().to_owned(), check_tone(&status.into())),
                ],
                phrase(component.error_category),
            );
        }
        table
            .lines("  ")
            .into_iter()
            .for_each(|line| page.push(line));
    }
    page
}

const fn tone(overall: Overall) -> Tone {
    match overall {
        Overall::Healthy => Tone::Good,
        Overall::Degraded | Overall::Starting => Tone::Warning,
        Overall::Unhealthy => Tone::Bad,
        Overall::Unknown => Tone::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use rootward_formats::{Answer, Choice, read};

    use super::*;

    fn shown(body: &str, code: u16) -> String {
        let answer = Answer::new(body.as_bytes()).http_status(code);
        page(&read(&answer, Choice::Auto)).render(false)
    }

    #[test]
    fn the_whole_comes_first_and_then_how_it_was_understood() {
        let spring = r#"{"status":"DOWN","components":{"db":{"status":"DOWN","details":{"error":"connect timed out"}},"ping":{"status":"UP"}}}"#;
        let all = [
            shown(spring, 503),
            shown(r#"{"status":"ok"}"#, 404),
            shown("<html>", 200),
        ];
        insta::assert_snapshot!(all.join("\n"), @r"
    unhealthy
      format     spring-boot-actuator
      why        looks like spring-boot-actuator; it calls itself unhealthy; 2 components: 1 down

      db    down  timed out
      ping  up

    unknown: HTTP error status
      format     generic-status
      why        looks like generic-status; it calls itself healthy; the code says that this was no
                 proper answer, and the worse of both counts

    unknown: not a valid answer
      format     http-only
      why        the body is a page; a 2xx proves that something answers, not what
    ");
    }
}
