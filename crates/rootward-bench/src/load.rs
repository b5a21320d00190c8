//! The load average, printed beside every result: it says how far the neighbours may be to blame.

use std::fmt;
use std::fs;

/// The three load averages at one moment, as the kernel writes them.
#[derive(Debug, Clone)]
pub(crate) struct Load(Option<String>);

impl Load {
    pub(crate) fn now() -> Self {
        let text = fs::read_to_string("/proc/loadavg").ok();
        Self(text.map(|text| {
            let averages: Vec<&str> = text.split_whitespace().take(3).collect();
            averages.join(" ")
        }))
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("unknown"))
    }
}
