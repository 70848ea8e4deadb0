//! Lists of records, of which some may be unreadable.

use signaltty_core::id::IdError;

use super::convert::Reader;
use super::part::Part;
use super::problem::Problem;

/// Reads each record of a list, noting those that had to be left out.
pub(super) fn records<V, T>(
    list: &'static str,
    parts: Vec<Part<V>>,
    problems: &mut Vec<Problem>,
    read: impl Fn(V, &mut Reader<'_>) -> Result<T, IdError>,
) -> Vec<T> {
    let mut records = Vec::with_capacity(parts.len());
    for (index, part) in parts.into_iter().enumerate() {
        let record = match part {
            Part::Read(value) => {
                read(value, &mut Reader::new(problems)).map_err(|error| error.to_string())
            }
            Part::Unreadable(why) => Err(why),
        };
        match record {
            Ok(record) => records.push(record),
            Err(why) => problems.push(Problem::RecordLeftOut { list, index, why }),
        }
    }
    records
}
