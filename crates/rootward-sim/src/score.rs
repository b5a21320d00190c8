//! How good a localiser is, on many incidents, in numbers.
//!
//! An incident is asked about at the end of each interval. What counts as right first, right exactly, in time and
//! calibrated is said at [`judge()`]; [`incidents`] says which incidents there are for which seeds; [`print()`] makes the table.

mod calibration;
mod judge;
mod suite;
mod table;
mod tally;

pub use calibration::Calibration;
pub use judge::{Verdict, exact, exact_of, first_right, judge, known, reciprocal_rank};
pub use suite::{Contestant, FalseCause, Seeds, Size, Suite, calm, false_causes, incidents, run};
pub use table::print;
pub use tally::{Row, Score, Tally};
