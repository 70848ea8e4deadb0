//! Lists of records, of which some may be unreadable.

use signaltty_core::id::IdError;

use super::convert::Reader;
use super::part::Part;
use super::problem::Problem;
use super::salvage::Salvage;

/// Reads each record of a list, noting those that had to be left out.
pub(super) fn records<V: Salvage, T>(
    list: &'static str,
    parts: Vec<Part<V>>,
    problems: &mut Vec<Problem>,
    read: impl Fn(V, &mut Reader<'_>) -> Result<T, IdError>,
) -> Vec<T> {
    let mut records = Vec::with_capacity(parts.len());
    for (index, part) in parts.into_iter().enumerate() {
        let (value, left_out) = match part {
            Part::Read(value) => (Ok(value), Vec::new()),
            Part::Salvaged(value, left_out) => (Ok(value), left_out),
            Part::Unreadable(why) => (Err(why), Vec::new()),
        };
        let record = value.and_then(|value| {
            let name = value.called().to_owned();
            let record = read(value, &mut Reader::new(problems)).map_err(|error| error.to_string());
            if record.is_ok() {
                Reader::new(problems).left_out(&name, left_out);
            }
            record
        });
        match record {
            Ok(record) => records.push(record),
            Err(why) => problems.push(Problem::RecordLeftOut { list, index, why }),
        }
    }
    records
}
