//! Times as people read them.

use jiff::Timestamp;

use super::text::safe;

/// How long ago something was, given its time in RFC 3339.
pub(crate) fn ago(now: Timestamp, at: &str) -> String {
    let Ok(then) = at.parse::<Timestamp>() else {
        return safe(at);
    };
    let seconds = now.as_second().saturating_sub(then.as_second());
    match seconds {
        // Clocks of two programs may differ a little, and no more.
        ..-5 => safe(at),
        -5..5 => "just now".to_owned(),
        5..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        86_400..172_800 => "1 day ago".to_owned(),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_relative_and_bad_ones_are_shown_as_they_are() {
        let now = "2026-03-10T12:00:00Z".parse().unwrap();
        let cases = [
            ("2026-03-10T12:00:00Z", "just now"),
            ("2026-03-10T12:00:04Z", "just now"),
            ("2026-03-10T11:59:20Z", "40 s ago"),
            ("2026-03-10T12:58:00+01:00", "2 min ago"),
            ("2026-03-10T09:00:00Z", "3 h ago"),
            ("2026-03-09T11:00:00Z", "1 day ago"),
            ("2026-02-10T12:00:00Z", "28 days ago"),
            ("2026-03-10T13:00:00Z", "2026-03-10T13:00:00Z"),
            ("soon\x1b", "soon\\x1b"),
        ];
        for (at, expected) in cases {
            assert_eq!(ago(now, at), expected, "{at}");
        }
    }
}
