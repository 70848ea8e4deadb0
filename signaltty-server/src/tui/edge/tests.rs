//! A panic anywhere leaves the terminal whole.

use std::process::Command;

use crate::cli::RawTerminal;

/// What the test below runs in a process of its own.
#[test]
fn child_that_panics() {
    if std::env::var_os("SIGNALTTY_TEST_PANIC").is_none() {
        return;
    }
    let _raw = RawTerminal::enter().unwrap();
    super::end_with_a_panic();
    // Not the thread that holds the guard.
    let thread = std::thread::spawn(|| panic!("on purpose"));
    let _ = thread.join();
    unreachable!("the process ends with the panic");
}

/// As it is in `signaltty attach`: one thread, which unwinds.
#[test]
fn child_that_panics_while_attached() {
    if std::env::var_os("SIGNALTTY_TEST_PANIC").is_none() {
        return;
    }
    let _raw = RawTerminal::enter().unwrap();
    panic!("on purpose");
}

#[test]
fn c088_a_panic_of_any_thread_restores_the_terminal_and_ends_the_client() {
    panics("tui::edge::tests::child_that_panics");
    panics("tui::edge::tests::child_that_panics_while_attached");
}

/// Runs a test of this program that panics, on a terminal of its own.
fn panics(name: &str) {
    let me = std::env::current_exe().unwrap();
    let program = format!(
        "before=$(stty -g); SIGNALTTY_TEST_PANIC=1 '{}' --exact {name} --nocapture; code=$?; \
         [ \"$before\" = \"$(stty -g)\" ] && echo same modes, code $code",
        me.display()
    );
    // `script` gives it a terminal of its own.
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &program, "/dev/null"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("same modes, code 101"), "{said}");
    assert!(said.contains("on purpose") && said.contains("\x1b[?1049l"), "{said}");
}
