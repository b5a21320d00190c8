//! What a person sees: the page and its assets, embedded.
