//! Times as agents write them into their records.

#[cfg(any(feature = "claude", feature = "codex"))]
use std::time::{Duration, SystemTime};

/// A moment in milliseconds since 1970, in UTC.
pub(crate) type Millis = u64;

/// Reads a time such as `2026-11-30T19:28:48.168Z`, with any number of digits
/// after the second.
pub(crate) fn read(text: &str) -> Option<Millis> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let mut time = time.splitn(3, ':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    let sane = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60
        && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !sane {
        return None;
    }
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(3);
    let millis = digits.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    let seconds = ((days(year, month, day)? * 24 + hour) * 60 + minute) * 60 + second;
    Some(seconds * 1000 + millis)
}

/// A moment of the system's clock.
#[cfg(any(feature = "claude", feature = "codex"))]
pub(crate) fn of(time: SystemTime) -> Option<Millis> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).ok()
}

/// Days from 1970 to a date of the Gregorian calendar. A year is counted from
/// March, so that the leap day is its last.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let before = (153 * month + 2) / 5;
    // From March of the year 0 to January of 1970.
    (year * 365 + leap_days + before + day).checked_sub(719_469)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_to_the_millisecond() {
        for (text, millis) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1970-03-01T00:00:00.5Z", Some(59 * 86_400_000 + 500)),
            ("2000-02-29T12:00:00Z", Some(951_825_600_000)),
            ("2026-11-30T19:28:48.168Z", Some(1_796_066_928_168)),
            ("2026-11-30T19:33:09.546252616Z", Some(1_796_067_189_546)),
            ("2026-11-30T19:28:48.168", None),
            ("2026-11-30 19:28:48Z", None),
            ("2026-13-30T19:28:48Z", None),
            ("2026-11-30T24:28:48Z", None),
            ("2026-11-30T19:28:48.x\u{e4}Z", None),
            ("99999999999-11-30T19:28:48Z", None),
            ("-1-11-30T19:28:48Z", None),
            ("Z", None),
            ("", None),
        ] {
            assert_eq!(read(text), millis, "{text}");
        }
    }
}
