//! Reading on from where an earlier read ended.

use serde_json::{Value, json};

use crate::support::{Home, Server, wait_for};

struct Reader<'a> {
    server: &'a Server,
    pane: String,
    cursor: Value,
}

impl<'a> Reader<'a> {
    fn new(server: &'a Server, pane: &str) -> Self {
        Self { server, pane: pane.to_owned(), cursor: Value::Null }
    }

    fn next(&mut self) -> Value {
        let ask = json!({"pane": self.pane, "after": self.cursor});
        let read = self.server.ask("pane.read", ask);
        self.cursor = read["cursor"].clone();
        read
    }

    /// Reads until a line came; all of them.
    fn until(&mut self, last: &str) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        wait_for(last, || {
            let read = self.next();
            assert_eq!(read["lost"].as_u64().unwrap_or(0), 0, "{read}");
            assert_ne!(read["changed"], true, "{read}");
            lines.extend(read["text"].as_str().unwrap().lines().map(str::to_owned));
            lines.iter().any(|line| line == last).then_some(())
        });
        lines
    }
}

#[test]
fn every_line_is_read_once_while_a_program_prints_and_after_its_end() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.sh(
        &home,
        "echo ready; read x; i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done; \
         printf 'a question? '; read x; echo done; read x",
    );
    let mut reader = Reader::new(&server, &pane);
    reader.until("ready");
    server.type_line(&pane, "go");
    let lines = reader.until("line 499");
    let numbers: Vec<_> = lines.iter().filter(|line| line.starts_with("line ")).collect();
    let expected: Vec<_> = (0..500).map(|number| format!("line {number}")).collect();
    assert!(numbers.iter().copied().eq(&expected), "{numbers:?}");
    // What is being written is told apart, and comes again when it has ended.
    let read = wait_for("the question", || {
        let read = reader.next();
        (read["open"] == "a question?\n").then_some(read)
    });
    assert_eq!(read["text"], "");
    server.type_line(&pane, "yes");
    assert_eq!(reader.until("done"), ["a question? yes", "done"]);
    // The process ends; what it printed last is still to be read, from memory and
    // from the disk.
    let before = reader.cursor.clone();
    server.type_line(&pane, "bye");
    server.wait_state(&pane, "exited");
    let last = reader.next();
    assert_eq!((last["source"].as_str(), last["text"].as_str()), (Some("saved"), Some("bye\n")));
    assert_eq!(reader.next()["text"], "");
    server.wait_saved();
    reader.cursor = before;
    assert_eq!(reader.next()["text"], "bye\n");
    // Another process is another reader's.
    let old = reader.cursor.clone();
    server.ask("pane.restart", json!({"pane": pane}));
    let ask = json!({"pane": pane, "after": old});
    assert_eq!(server.call("pane.read", ask.clone()).unwrap_err().code, "IDENTITY_CHANGED");
    server.wait_saved();
    server.term();
    let server = Server::start(&home);
    assert_eq!(server.call("pane.read", ask).unwrap_err().code, "IDENTITY_CHANGED");
}

#[test]
fn lines_that_are_gone_are_counted() {
    let home = Home::new();
    let config = home.path("config.toml");
    std::fs::write(&config, "[history]\nlines = 100\n").unwrap();
    let server = Server::start_with(&home, |command| {
        command.arg("--config").arg(&config);
    });
    let pane = server.sh(
        &home,
        "echo ready; read x; i=0; while [ $i -lt 1000 ]; do echo $i; i=$((i+1)); done; \
         echo end; read x",
    );
    let mut reader = Reader::new(&server, &pane);
    reader.until("ready");
    let before = reader.cursor.clone();
    server.type_line(&pane, "go");
    server.wait_text(&pane, "end");
    reader.cursor = before;
    let read = reader.next();
    let lines: Vec<_> = read["text"].as_str().unwrap().lines().map(str::to_owned).collect();
    // `go`, the numbers and `end`.
    let lost = read["lost"].as_u64().unwrap();
    assert_eq!(lost + lines.len() as u64, 1_002);
    assert!(lost > 800 && lines[0] == (lost - 1).to_string(), "{lost} {}", lines[0]);
    assert_eq!(lines.last().unwrap(), "end");

    // The command says so too.
    let shown = |cursor: &str| {
        std::process::Command::new(env!("CARGO_BIN_EXE_signaltty"))
            .args(["--socket".as_ref(), home.socket().as_os_str()])
            .args(["pane", "read", &pane, "--after", cursor])
            .output()
            .unwrap()
    };
    let cursor = reader.cursor.as_str().unwrap().to_owned();
    let none = shown(&cursor);
    assert_eq!((none.status.code(), none.stdout.len()), (Some(0), 0), "{none:?}");
    let wrong = shown("nonsense");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("is no cursor"), "{wrong:?}");
}
