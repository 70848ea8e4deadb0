//! Keys that people put on a command line are not saved (D-30).
//!
//! A guess by name: what is in the list is left out, and what is not is saved as
//! it was given. The security of a key that has another name is up to the
//! person; an environment variable is the better place.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use signaltty_core::agent::LaunchOptions;

/// What stands in the place of a value.
pub const REDACTED: &str = "[redacted]";

/// Options whose value is left out, in `--option value` and `--option=value`,
/// whatever comes before the name: `--openai-api-key` is one.
pub const OPTIONS: [&str; 11] = [
    "api-key",
    "apikey",
    "access-key",
    "secret-key",
    "private-key",
    "auth-token",
    "access-token",
    "token",
    "secret",
    "password",
    "passwd",
];

/// Ends of names in `NAME=value`, as `env` takes them.
pub const VARIABLES: [&str; 5] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD"];

/// Headers whose value is left out, in one argument: `Authorization: …`.
pub const HEADERS: [&str; 3] = ["authorization", "x-api-key", "proxy-authorization"];

/// Arguments without the values of known key options. The same again changes
/// nothing.
pub fn redact(argv: &[OsString]) -> Vec<OsString> {
    let mut out = Vec::with_capacity(argv.len());
    let mut value_follows = false;
    for argument in argv {
        let bytes = argument.as_bytes();
        // Whatever follows an option that takes a value is that value, also
        // where it looks like an option.
        out.push(if std::mem::take(&mut value_follows) {
            REDACTED.into()
        } else if is_option(bytes) {
            value_follows = true;
            argument.clone()
        } else {
            one(bytes).unwrap_or_else(|| argument.clone())
        });
    }
    out
}

/// Options of a launch without those that hold a known key: of them only the
/// name is kept. An option whose value was left out could not be carried over.
pub fn without_keys(options: &LaunchOptions) -> LaunchOptions {
    let mut safe = LaunchOptions::default();
    for option in options.kept() {
        let name = OsString::from(option.name());
        let argv: Vec<_> = std::iter::once(name).chain(option.value().map(Into::into)).collect();
        if redact(&argv) == argv {
            safe.keep(option.clone());
        } else {
            safe.drop_named(option.name());
        }
    }
    for name in options.dropped() {
        safe.drop_named(name);
    }
    safe
}

/// An argument that has name and value in it.
fn one(bytes: &[u8]) -> Option<OsString> {
    let at = |separator: u8| bytes.iter().position(|byte| *byte == separator);
    if let Some((name, rest)) = at(b'=').and_then(|at| bytes.split_at_checked(at)) {
        let upper = name.to_ascii_uppercase();
        let named = VARIABLES.iter().any(|end| upper.ends_with(end.as_bytes()));
        let variable = named && !name.starts_with(b"-") && is_word(name);
        if rest.len() > 1 && (variable || is_option(name)) {
            return Some(join(name, b"=", REDACTED));
        }
    }
    let (name, rest) = at(b':').and_then(|at| bytes.split_at_checked(at))?;
    let lower = name.to_ascii_lowercase();
    let header = HEADERS.iter().any(|header| header.as_bytes() == lower);
    (header && rest.len() > 1).then(|| join(name, b": ", REDACTED))
}

fn is_option(name: &[u8]) -> bool {
    let Some(name) = name.strip_prefix(b"--") else {
        return false;
    };
    let name = name.to_ascii_lowercase();
    let name: Vec<u8> = name.iter().map(|byte| if *byte == b'_' { b'-' } else { *byte }).collect();
    OPTIONS.iter().any(|option| {
        let before = name.strip_suffix(option.as_bytes());
        before.is_some_and(|before| before.is_empty() || before.ends_with(b"-"))
    })
}

fn is_word(name: &[u8]) -> bool {
    name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

fn join(name: &[u8], separator: &[u8], value: &str) -> OsString {
    OsString::from_vec([name, separator, OsStr::new(value).as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use signaltty_core::agent::LaunchOption;

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split('|').map(OsString::from).collect()
    }

    #[test]
    fn d30_options_that_hold_a_key_keep_their_name_alone() {
        let mut options = LaunchOptions::default();
        for (name, value) in [
            ("--model", "opus"),
            ("--api-key", "sk-1"),
            ("--config", "OPENAI_API_KEY=sk-2"),
            ("--header", "Authorization: Bearer sk-3"),
        ] {
            options.keep(LaunchOption::new(name, Some(value.into())).unwrap());
        }
        let safe = without_keys(&options);
        let kept: Vec<_> = safe.kept().iter().map(LaunchOption::name).collect();
        assert_eq!(kept, ["--model"]);
        let dropped: Vec<_> = safe.dropped().iter().map(|name| &**name).collect();
        assert_eq!(dropped, ["--api-key", "--config", "--header"]);
        assert_eq!(without_keys(&safe), safe, "again");
    }

    #[test]
    fn d30_values_of_known_key_options_are_left_out() {
        for (given, saved) in [
            ("claude|--model|opus", "claude|--model|opus"),
            ("x|--api-key|sk-1|y", "x|--api-key|[redacted]|y"),
            ("x|--api-key=sk-1|y", "x|--api-key=[redacted]|y"),
            ("x|--OpenAI_API_Key=sk-1", "x|--OpenAI_API_Key=[redacted]"),
            ("x|--auth-token|--strange", "x|--auth-token|[redacted]"),
            ("x|--password=", "x|--password="),
            ("x|--max-tokens|5", "x|--max-tokens|5"),
            ("x|--tokenizer|5", "x|--tokenizer|5"),
            ("x|--mytoken|5", "x|--mytoken|5"),
            ("env|OPENAI_API_KEY=sk|sh", "env|OPENAI_API_KEY=[redacted]|sh"),
            ("env|LANG=C|sh", "env|LANG=C|sh"),
            ("curl|-H|Authorization: Bearer t", "curl|-H|Authorization: [redacted]"),
            ("x|--token", "x|--token"),
            ("sh|-c|a: b; C_KEY=1 d", "sh|-c|a: b; C_KEY=1 d"),
        ] {
            let once = redact(&words(given));
            assert_eq!(once, words(saved), "{given}");
            assert_eq!(redact(&once), once, "{given} again");
        }
        let odd = OsString::from_vec(b"--token=\xff".to_vec());
        assert_eq!(redact(&[odd]), words("--token=[redacted]"));
    }
}
