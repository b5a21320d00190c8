//! The fault localisation from outside: the properties every answer must have, on random incidents.

mod properties;
mod random;
