//! A calendar day, as a label's review date.

use std::fmt;

/// A day of the Gregorian calendar, from 1970 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// Always a day that exists: only [`Date::parse`] makes one.
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Reads `2026-10-01`; `None` for anything else and for days that do not exist.
    ///
    /// ```
    /// use rootward_config::Date;
    /// assert_eq!(Date::parse("2028-02-29").unwrap().to_string(), "2028-02-29");
    /// assert_eq!(Date::parse("2026-02-29"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let shape = text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
        if text.len() != 10 || !shape {
            return None;
        }
        let year: u16 = text[..4].parse().ok()?;
        let month: u8 = text[5..7].parse().ok()?;
        let day: u8 = text[8..].parse().ok()?;
        let leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            _ => return None,
        };
        (year >= 1970 && (1..=days).contains(&day)).then_some(Self { year, month, day })
    }

    /// The year.
    #[must_use]
    pub fn year(self) -> u16 {
        self.year
    }

    /// The month, from 1.
    #[must_use]
    pub fn month(self) -> u8 {
        self.month
    }

    /// The day of the month, from 1.
    #[must_use]
    pub fn day(self) -> u8 {
        self.day
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day } = self;
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_days_that_exist_are_dates() {
        for text in ["2026-10-01", "2000-02-29", "1970-01-01", "9999-12-31"] {
            assert_eq!(
                Date::parse(text).map(|date| date.to_string()).as_deref(),
                Some(text)
            );
        }
        for text in [
            "",
            "2026-10-1",
            "2026-13-01",
            "2026-00-01",
            "2026-04-31",
            "1900-02-29",
            "1969-12-31",
            "2026/10/01",
            "2026-10-01T00",
            "２０２６-10-01",
            "+026-10-01",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }
}
