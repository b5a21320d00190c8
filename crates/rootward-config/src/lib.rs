//! What an operator writes: raw text to problems or a checked configuration. No I/O of its own.
