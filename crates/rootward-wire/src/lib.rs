//! What crosses a socket: the report of contract version 1, the API shapes, conversion to and from the core.
