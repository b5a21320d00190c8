//! Spreads instances over time: numbers that follow from names, so that forty instances do not do the same at the same
//! moment, and one instance does the same in every run of a test.

use rootward_core::Name;

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// A hash of the names, in their order.
pub(crate) fn hash<'a>(names: impl IntoIterator<Item = &'a Name>) -> u64 {
    let names = names.into_iter();
    mixed(names.fold(FNV_OFFSET, |hash, name| fnv(hash, name.as_str())))
}

/// FNV-1a over the text and an end mark, so that `a`, `bc` and `ab`, `c` differ.
fn fnv(hash: u64, text: &str) -> u64 {
    let bytes = text.bytes().chain([0]);
    bytes.fold(hash, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
    })
}

/// The last step of splitmix64: every bit of the result depends on every bit of the input.
pub(crate) const fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
