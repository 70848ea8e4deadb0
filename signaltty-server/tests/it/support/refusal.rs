//! Requests that must be refused without a trace.

use serde_json::{Value, json};

use super::{Home, Server};

/// A request, the code of its error, the reason in its details, and what its
/// message says.
pub type Case<'a> = (&'a str, Value, &'a str, &'a str, &'a [&'a str]);

/// Asks and compares; the session and the state directory must stay as they are.
pub fn check(home: &Home, server: &Server, cases: &[Case<'_>]) {
    server.wait_saved();
    let tree = server.ask("session.list", json!({}));
    let files = home.files();
    for (method, params, code, reason, says) in cases {
        let shown = format!("{method} {params}").chars().take(200).collect::<String>();
        let failure = server.call(method, params.clone()).expect_err(&shown);
        assert_eq!(failure.code, *code, "{shown}: {}", failure.message);
        assert_eq!(failure.reason(), *reason, "{shown}: {}", failure.message);
        for text in *says {
            let message = &failure.message;
            assert!(message.contains(text), "{shown}: no {text:?} in {message:?}");
        }
        let short = failure.message.len() < 1_000;
        assert!(short, "{shown}: {} bytes", failure.message.len());
        assert_eq!(server.ask("session.list", json!({})), tree, "{shown}");
        assert_eq!(server.status()["saved"], true, "{shown}");
    }
    assert_eq!(home.files(), files);
}
