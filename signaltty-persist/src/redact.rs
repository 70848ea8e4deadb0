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
pub const OPTIONS: [&str; 12] = [
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
    "passphrase",
];

/// Ends of names in `NAME=value`, as `env` takes them, also as the value of an
/// option: `--env=NAME=value`, `-eNAME=value`.
pub const VARIABLES: [&str; 6] =
    ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_PASSPHRASE"];

/// Headers whose value is left out, in one argument: `Authorization: …`, also as
/// the value of an option: `--header=Authorization: …`, `-HAuthorization: …`.
pub const HEADERS: [&str; 3] = ["authorization", "x-api-key", "proxy-authorization"];

/// Arguments without the values of known key options. The same again changes
/// nothing.
pub fn redact(argv: &[OsString]) -> Vec<OsString> {
    each(argv).map(|(argument, safe)| safe.unwrap_or_else(|| argument.clone())).collect()
}

/// The option, variable or header whose value was left out of saved arguments,
/// where there is one: they are not what was run, and must not be run.
pub fn left_out(argv: &[OsString]) -> Option<&OsStr> {
    let mut before: Option<&OsString> = None;
    each(argv).find_map(|(argument, safe)| {
        let option = before.replace(argument);
        // What would be left out is the mark already.
        if safe.as_ref() != Some(argument) {
            return None;
        }
        let name = argument.as_bytes().strip_suffix(REDACTED.as_bytes())?.trim_ascii_end();
        match name.split_last() {
            None => option.map(OsString::as_os_str),
            // Without its `=` or `:`.
            Some((_, name)) => Some(OsStr::from_bytes(name)),
        }
    })
}

/// Each argument, and what is saved instead where it holds a key.
fn each(argv: &[OsString]) -> impl Iterator<Item = (&OsString, Option<OsString>)> {
    let mut value_follows = false;
    argv.iter().map(move |argument| {
        let bytes = argument.as_bytes();
        // Whatever follows an option that takes a value is that value, also
        // where it looks like an option.
        if std::mem::take(&mut value_follows) {
            return (argument, Some(REDACTED.into()));
        }
        value_follows = is_option(bytes);
        (argument, one(bytes))
    })
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
    if !bytes.starts_with(b"-") {
        return pair(bytes);
    }
    if bytes.starts_with(b"--") {
        let at = bytes.iter().position(|byte| *byte == b'=')?;
        let (name, value) = (bytes.get(..at)?, bytes.get(at + 1..)?);
        if is_option(name) {
            return (!value.is_empty()).then(|| join(name, b"=", REDACTED.as_bytes()));
        }
        return pair(value).map(|safe| join(name, b"=", safe.as_bytes()));
    }
    // The value of an option of one letter may follow it at once.
    let (option, value) = bytes.split_at_checked(2)?;
    pair(value).map(|safe| join(option, b"", safe.as_bytes()))
}

/// A variable or a header, with its value.
fn pair(bytes: &[u8]) -> Option<OsString> {
    let at = |separator: u8| bytes.iter().position(|byte| *byte == separator);
    if let Some((name, rest)) = at(b'=').and_then(|at| bytes.split_at_checked(at)) {
        let upper = name.to_ascii_uppercase();
        let named = VARIABLES.iter().any(|end| upper.ends_with(end.as_bytes()));
        if rest.len() > 1 && named && is_word(name) {
            return Some(join(name, b"=", REDACTED.as_bytes()));
        }
    }
    let (name, rest) = at(b':').and_then(|at| bytes.split_at_checked(at))?;
    let lower = name.to_ascii_lowercase();
    let header = HEADERS.iter().any(|header| header.as_bytes() == lower);
    (header && rest.len() > 1).then(|| join(name, b": ", REDACTED.as_bytes()))
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

fn join(name: &[u8], separator: &[u8], value: &[u8]) -> OsString {
    OsString::from_vec([name, separator, value].concat())
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
            ("x|--passphrase|p", "x|--passphrase|[redacted]"),
            ("wget|--header=X-Api-Key: k", "wget|--header=X-Api-Key: [redacted]"),
            ("curl|-HAuthorization:Bearer t", "curl|-HAuthorization: [redacted]"),
            ("x|--env=A_TOKEN=t", "x|--env=A_TOKEN=[redacted]"),
            ("docker|run|-eA_TOKEN=t|i", "docker|run|-eA_TOKEN=[redacted]|i"),
            ("x|--env=LANG=C|-DA=b", "x|--env=LANG=C|-DA=b"),
            ("sh|-c|a: b; C_KEY=1 d", "sh|-c|a: b; C_KEY=1 d"),
        ] {
            let once = redact(&words(given));
            assert_eq!(once, words(saved), "{given}");
            assert_eq!(redact(&once), once, "{given} again");
        }
        for (saved, name) in [
            ("x|--api-key|[redacted]", Some("--api-key")),
            ("x|--api-key=[redacted]", Some("--api-key")),
            ("x|--header=X-Api-Key: [redacted]", Some("--header=X-Api-Key")),
            ("env|A_KEY=[redacted]|sh", Some("A_KEY")),
            ("x|--api-key|sk-1", None),
            ("echo|[redacted]|a: [redacted]", None),
        ] {
            assert_eq!(left_out(&words(saved)), name.map(OsStr::new), "{saved}");
        }
        let odd = OsString::from_vec(b"--token=\xff".to_vec());
        assert_eq!(redact(&[odd]), words("--token=[redacted]"));
    }
}
