//! Numbers as other languages write them: a whole number may arrive as `900.0`, and not every number is one.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, Unexpected, Visitor};

/// Reads an optional whole number that is not negative. A fraction is dropped: an age of 900.4 ms is 900.
pub(crate) fn whole<'de, D, N>(deserializer: D) -> Result<Option<N>, D::Error>
where
    D: Deserializer<'de>,
    N: TryFrom<u64>,
{
    deserializer.deserialize_option(Whole(PhantomData))
}

/// Reads an optional number. Whether it can be believed is judged where it is used.
pub(crate) fn any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    deserializer.deserialize_option(Any)
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Option<f64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_f64(self)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Some(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "JSON has one kind of number")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "JSON has one kind of number")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(value as f64))
    }
}

struct Whole<N>(PhantomData<N>);

/// The largest whole number that survives every JSON library: 2^53.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

impl<'de, N: TryFrom<u64>> Visitor<'de> for Whole<N> {
    type Value = Option<N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match size_of::<N>() {
            1 => f.write_str("a whole number from 0 to 255"),
            _ => f.write_str("a whole number of 0 or more"),
        }
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_u64(self)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        N::try_from(value)
            .map(Some)
            .map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(value), &self)),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value was found to lie between 0 and 2^53"
    )]
    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        if (0.0..=MAX_EXACT).contains(&value) {
            self.visit_u64(value as u64)
        } else {
            Err(E::invalid_value(Unexpected::Float(value), &self))
        }
    }
}
