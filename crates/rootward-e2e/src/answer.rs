//! What came back from a server that was asked a simple question.

/// What came back from a server that was asked a simple question over a connection of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The right one.
    Right,
    /// The connection was refused: nobody listens.
    Refused,
    /// Nothing within the time that was given.
    None,
    /// Something else, in the server's or the client's words.
    Other(String),
}
