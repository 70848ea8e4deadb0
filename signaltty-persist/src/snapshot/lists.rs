//! Lists of records, of which some may be unreadable or there twice.

use std::collections::BTreeSet;

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

/// Leaves out records whose id an earlier one has.
pub(super) fn unique<T, K: Ord + ToString>(
    list: &'static str,
    records: Vec<T>,
    key: impl Fn(&T) -> K,
    problems: &mut Vec<Problem>,
) -> Vec<T> {
    let mut seen = BTreeSet::new();
    let mut kept = Vec::with_capacity(records.len());
    for (index, record) in records.into_iter().enumerate() {
        let id = key(&record);
        let text = id.to_string();
        if seen.insert(id) {
            kept.push(record);
        } else {
            let why = format!("{text} is there already");
            problems.push(Problem::RecordLeftOut { list, index, why });
        }
    }
    kept
}
