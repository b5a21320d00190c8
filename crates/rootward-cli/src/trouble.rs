//! Why a command did not do what was asked: a sentence, a way out, and an exit code.

use std::error::Error;
use std::io;

use rootward_demo::aggregator::AskError;

use crate::exit::Exit;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// For a person to read.
    Told {
        /// How it ends.
        exit: Exit,
        /// What is wrong.
        sentence: String,
        /// What would be right.
        help: Option<String>,
    },
    /// Whoever read the output has gone, such as `head`: nothing to say, and nobody to say it to.
    ReaderGone,
}

/// Why a file could not be read.
pub(crate) fn unread(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        // An open set; the system's words are better than ours.
        _ => error.to_string(),
    }
}

impl Trouble {
    pub(crate) fn new(exit: Exit, sentence: impl Into<String>) -> Self {
        Self::Told {
            exit,
            sentence: sentence.into(),
            help: None,
        }
    }

    pub(crate) fn with_help(self, text: impl Into<String>) -> Self {
        match self {
            Self::Told { exit, sentence, .. } => Self::Told {
                exit,
                sentence,
                help: Some(text.into()),
            },
            Self::ReaderGone => Self::ReaderGone,
        }
    }

    /// An error with everything behind it, in one sentence.
    pub(crate) fn of(exit: Exit, error: &dyn Error) -> Self {
        let mut sentence = error.to_string();
        let mut next = error.source();
        while let Some(source) = next {
            sentence.push_str(": ");
            sentence.push_str(&source.to_string());
            next = source.source();
        }
        Self::new(exit, sentence)
    }

    /// A file could not be read.
    pub(crate) fn of_input(name: &str, error: &io::Error) -> Self {
        Self::new(
            Exit::WrongInput,
            format!("cannot read {name}: {}", unread(error)),
        )
    }

    /// The output could not be written.
    pub(crate) fn of_output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ReaderGone
        } else {
            Self::new(
                Exit::CouldNotStart,
                format!("failed to write the output: {error}"),
            )
        }
    }

    /// There is no runtime to ask or to serve with.
    pub(crate) fn of_runtime(error: &io::Error) -> Self {
        Self::new(
            Exit::CouldNotStart,
            format!("failed to start the runtime: {error}"),
        )
    }
}

impl From<AskError> for Trouble {
    fn from(error: AskError) -> Self {
        let trouble = Self::new(Exit::NotReached, error.to_string());
        match error {
            AskError::NotReached { .. } => trouble.with_help(
                "is it running? `rootward serve --config FILE` starts one; `--url URL` asks another one",
            ),
            AskError::NotOurs { .. } => trouble.with_help("does --url name the aggregator, and not a service?"),
            AskError::Refused { .. } => trouble,
        }
    }
}
