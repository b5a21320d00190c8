//! The few values a stand-in keeps, shared by its connections and bounded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// Values kept over all databases. With the longest value that the protocol side takes, a stand-in
/// holds at most 16 MiB.
const MAX_VALUES: usize = 256;

/// Values by database and key. Clones are the same shelf.
#[derive(Clone, Debug, Default)]
pub(super) struct Shelf(Arc<Mutex<HashMap<(u8, Bytes), Bytes>>>);

/// There is no room for another key.
#[derive(Debug)]
pub(super) struct Full;

impl Shelf {
    pub(super) fn get(&self, database: u8, key: &Bytes) -> Option<Bytes> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&(database, key.clone()))
            .cloned()
    }

    pub(super) fn set(&self, database: u8, key: &Bytes, value: &Bytes) -> Result<(), Full> {
        // Copied, because what was received shares its memory with the whole read buffer.
        let slot = (database, Bytes::copy_from_slice(key));
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if values.len() >= MAX_VALUES && !values.contains_key(&slot) {
            return Err(Full);
        }
        values.insert(slot, Bytes::copy_from_slice(value));
        Ok(())
    }
}
