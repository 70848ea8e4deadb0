//! A client that joins while a program writes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod common;

use common::{run, sh, start};
use signaltty_pty::{AsyncPty, Child, HistoryLimit, Pty, READ_BUFFER, Screen, Size};

/// Log output, a full-screen program in between, then a progress display.
const PROGRAM: &str = r#"
    i=0
    while [ $i -lt 300 ]; do
        printf '\033[3%dmline %d\033[0m of some ünïcödé output 家 that is wrapped here\n' \
            $((i % 8)) $i
        i=$((i + 1))
    done
    printf '\033[?1049h\033[?1006;1002h\033[?25l\033[2;9r'
    i=0
    while [ $i -lt 60 ]; do
        printf '\033[?2026h\033[H\033[7m status %d \033[0m\033[K\033[%d;3H│ cell %d\033[S\033[?2026l' \
            $i $((i % 12 + 1)) $i
        i=$((i + 1))
    done
    printf '\033[r\033[?25h\033[?1002;1006l\033[?1049l\033[?2004h\033]2;done\033\\'
    i=0
    while [ $i -lt 60 ]; do
        printf '\r\033[K\033[1;33m%d%%\033[0m' $i
        i=$((i + 1))
    done
"#;

#[test]
fn whoever_joins_at_any_read_sees_the_same_in_the_end() {
    run(async {
        let size = Size::new(40, 12);
        let mut spec = sh(PROGRAM);
        spec.size = size;
        let (pty, child) = start(&spec);
        let mut screen = Screen::new(size, HistoryLimit::default());
        let mut joined: Vec<Screen> = Vec::new();
        let mut buffer = vec![0; READ_BUFFER];
        loop {
            let count = pty.read(&mut buffer).await.unwrap();
            if count == 0 {
                break;
            }
            // In small parts, so that many joins fall inside of sequences.
            for part in buffer[..count].chunks(97) {
                screen.advance(part);
                joined.iter_mut().for_each(|client| client.advance(part));
                if joined.len() < 400 {
                    let mut client = Screen::new(size, HistoryLimit::default());
                    client.advance(&screen.repaint());
                    assert_eq!(client.lines(5), screen.lines(5));
                    joined.push(client);
                }
            }
        }
        assert!(child.wait().await.unwrap().success());
        assert!(joined.len() > 100);
        let expected = screen.repaint();
        for client in &joined {
            assert_eq!(readable(&client.repaint()), readable(&expected));
        }
        assert_eq!(screen.title(), Some("done"));
        assert_eq!(screen.lines(1), ["59%"]);
        // The full-screen program has left nothing in the log.
        let logged = screen.history().lines().filter(|line| line.contains("cell")).count();
        assert_eq!(logged, 0);
    });
}

/// Bytes as text that shows where they differ.
fn readable(bytes: &[u8]) -> Vec<String> {
    bytes.split(|&byte| byte == b'\n').map(|line| line.escape_ascii().to_string()).collect()
}

#[test]
fn handles_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Screen>();
    shared::<Pty>();
    shared::<AsyncPty>();
    shared::<Child>();
}
