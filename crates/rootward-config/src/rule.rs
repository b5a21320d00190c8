//! The kinds of problems, under identifiers that programs may rely on.

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The configuration is never run.
    Error,
    /// It is run, and this is probably not meant.
    Warning,
}

impl Severity {
    /// The word of SARIF for it (2.1.0, section 3.27.10), which is the one of our own format too.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// The kind of a problem. Its identifier never changes its meaning; new kinds may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A file that cannot be read.
    UnreadableFile,
    /// Text that is neither YAML nor TOML, or uses what is not supported of them.
    Syntax,
    /// A file, a value or a nesting beyond the bounds.
    TooLarge,
    /// A key that does not exist there.
    UnknownKey,
    /// A key that is planned.
    NotBuilt,
    /// A key, a value or an entry that has to be there.
    Missing,
    /// A list where a value is expected, and the like.
    WrongType,
    /// A value that is not allowed.
    InvalidValue,
    /// A variable or a file that a value is taken from, and that cannot be had.
    UnresolvedReference,
    /// Something given twice.
    Duplicate,
    /// A name that nothing has.
    UnknownName,
    /// Values of which each is allowed and that do not fit together.
    Contradiction,
    /// A dependency without `criticality`.
    UnlabelledDependency,
    /// Services that depend on each other in a circle.
    DependencyCycle,
    /// A resource of which nothing will ever be known.
    UnusedResource,
    /// A secret that is written out.
    PlainSecret,
    /// A check that takes every instance out of the rotation at once.
    SharedReadinessGate,
}

impl Rule {
    /// All of them, as documents list them.
    pub const ALL: [Self; 17] = [
        Self::UnreadableFile,
        Self::Syntax,
        Self::TooLarge,
        Self::UnknownKey,
        Self::NotBuilt,
        Self::Missing,
        Self::WrongType,
        Self::InvalidValue,
        Self::UnresolvedReference,
        Self::Duplicate,
        Self::UnknownName,
        Self::Contradiction,
        Self::UnlabelledDependency,
        Self::DependencyCycle,
        Self::UnusedResource,
        Self::PlainSecret,
        Self::SharedReadinessGate,
    ];

    /// Its identifier.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::UnreadableFile => "config/unreadable-file",
            Self::Syntax => "config/syntax",
            Self::TooLarge => "config/too-large",
            Self::UnknownKey => "config/unknown-key",
            Self::NotBuilt => "config/not-built",
            Self::Missing => "config/missing",
            Self::WrongType => "config/wrong-type",
            Self::InvalidValue => "config/invalid-value",
            Self::UnresolvedReference => "config/unresolved-reference",
            Self::Duplicate => "config/duplicate",
            Self::UnknownName => "config/unknown-name",
            Self::Contradiction => "config/contradiction",
            Self::UnlabelledDependency => "config/unlabelled-dependency",
            Self::DependencyCycle => "config/dependency-cycle",
            Self::UnusedResource => "config/unused-resource",
            Self::PlainSecret => "config/plain-secret",
            Self::SharedReadinessGate => "config/shared-readiness-gate",
        }
    }

    /// What it is, in a line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::UnreadableFile => "a file that cannot be read, or is no text",
            Self::Syntax => {
                "text that is neither YAML nor TOML, or uses what is not supported of them"
            }
            Self::TooLarge => "a file, a value or a nesting beyond the bounds",
            Self::UnknownKey => "a key that does not exist there",
            Self::NotBuilt => "a key that is planned, or a check that this build does not have",
            Self::Missing => "a key, a value or an entry that has to be there",
            Self::WrongType => "a list where a value is expected, and the like",
            Self::InvalidValue => "a value that is not allowed",
            Self::UnresolvedReference => {
                "a variable or a file that a value is taken from, and that cannot be had"
            }
            Self::Duplicate => "something given twice",
            Self::UnknownName => "a name that nothing has",
            Self::Contradiction => "values of which each is allowed and that do not fit together",
            Self::UnlabelledDependency => "a dependency without `criticality`",
            Self::DependencyCycle => "services that depend on each other in a circle",
            Self::UnusedResource => "a resource of which nothing will ever be known",
            Self::PlainSecret => "a secret that is written out",
            Self::SharedReadinessGate => {
                "a check of what is shared takes every instance out of the rotation at once"
            }
        }
    }

    /// How bad it is.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::UnreadableFile
            | Self::Syntax
            | Self::TooLarge
            | Self::UnknownKey
            | Self::NotBuilt
            | Self::Missing
            | Self::WrongType
            | Self::InvalidValue
            | Self::UnresolvedReference
            | Self::Duplicate
            | Self::UnknownName
            | Self::Contradiction => Severity::Error,
            Self::UnlabelledDependency
            | Self::DependencyCycle
            | Self::UnusedResource
            | Self::PlainSecret
            | Self::SharedReadinessGate => Severity::Warning,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rule;

    #[test]
    fn the_document_lists_every_rule_as_it_is() {
        let document = include_str!("../../../docs/validate.md");
        let row = |rule: Rule| {
            let severity = rule.severity().as_str();
            format!("| `{}` | {severity} | {} |", rule.id(), rule.about())
        };
        let listed: Vec<&str> = document
            .lines()
            .filter(|line| line.starts_with("| `config/"))
            .collect();
        let rows: Vec<String> = Rule::ALL.map(row).into();
        assert_eq!(
            listed,
            rows,
            "write into the document:\n{}",
            rows.join("\n")
        );
    }
}
