//! Recorded programs come to the screens that tmux made of the same bytes, with
//! their styles; `scripts/record_screens.py` recorded both.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use signaltty_pty::{Cell, HistoryLimit, Screen, Size, Style};

const SIZE: Size = Size::new(80, 24);

/// The steps of a program, in order: the bytes and what tmux shows after them.
fn steps(program: &str) -> Vec<(String, Vec<u8>, Shown)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(program);
    let mut bytes: Vec<PathBuf> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_none())
        .collect();
    bytes.sort();
    bytes
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let shown = fs::read(path.with_extension("screen")).unwrap();
            (name, fs::read(&path).unwrap(), Shown::parse(&shown))
        })
        .collect()
}

/// A screen as tmux shows it.
struct Shown {
    cursor: (usize, usize),
    alternate: bool,
    screen: Screen,
}

impl Shown {
    fn parse(text: &[u8]) -> Self {
        let end = text.iter().position(|byte| *byte == b'\n').unwrap();
        let (head, rows) = text.split_at(end);
        let head = std::str::from_utf8(head).unwrap();
        let numbers: Vec<usize> = head.split(' ').map(|word| word.parse().unwrap()).collect();
        // Rows with their styles, which only a terminal can read.
        let mut screen = Screen::new(SIZE, HistoryLimit::default());
        let rows = &rows[1..rows.len() - 1];
        for (number, row) in rows.split(|byte| *byte == b'\n').enumerate() {
            screen.advance(format!("\x1b[{};1H", number + 1).as_bytes());
            screen.advance(row);
        }
        Self { cursor: (numbers[0], numbers[1]), alternate: numbers[2] == 1, screen }
    }
}

/// The characters of each row with their styles; tmux leaves out blanks at the
/// end, whatever their colour.
fn rows(screen: &Screen) -> Vec<String> {
    (0..SIZE.rows)
        .map(|row| {
            let mut cells: Vec<Cell<'_>> = screen.cells(row).collect();
            while cells.last().is_some_and(|cell| cell.c == ' ') {
                cells.pop();
            }
            let mut style = Style::default();
            cells.iter().fold(String::new(), |mut text, cell| {
                if cell.style != style {
                    style = cell.style;
                    text.push_str(&format!("{{{style:?}}}"));
                }
                text.push(cell.c);
                text.extend(cell.marks);
                text
            })
        })
        .collect()
}

fn compare(program: &str, step: &str, screen: &Screen, shown: &Shown) {
    for (number, (ours, theirs)) in rows(screen).iter().zip(rows(&shown.screen)).enumerate() {
        assert_eq!(*ours, theirs, "{program} {step}, row {number}");
    }
    assert_eq!(screen.alternate(), shown.alternate, "{program} {step}");
    if let Some((col, row)) = screen.cursor() {
        // At the margin tmux says where the next character would go.
        let col = usize::from(col);
        let there = col == shown.cursor.0 || col + 1 == shown.cursor.0;
        assert!(there && usize::from(row) == shown.cursor.1, "{program} {step}: {col} {row}");
    }
}

/// Replays a program in chunks of a size, and after each step looks at the
/// screen, at what its repaint draws, and at it after a sleep.
fn replay(program: &str) {
    let steps = steps(program);
    assert!(steps.len() >= 3, "{program}");
    for chunk in [1, 7, 64 * 1024] {
        let mut screen = Screen::new(SIZE, HistoryLimit::default());
        for (step, bytes, shown) in &steps {
            bytes.chunks(chunk).for_each(|bytes| screen.advance(bytes));
            compare(program, step, &screen, shown);
            let mut other = Screen::new(SIZE, HistoryLimit::default());
            other.advance(&screen.repaint());
            compare(program, &format!("{step}, repainted"), &other, shown);
            screen = screen.sleep().expect("between sequences").wake();
            compare(program, &format!("{step}, after a sleep"), &screen, shown);
        }
    }
}

#[test]
fn bash_with_readline() {
    replay("bash");
}

#[test]
fn vim_with_windows_and_colours() {
    replay("vim");
}

#[test]
fn less_with_colours_and_a_search() {
    replay("less");
}

#[test]
fn git_log_in_a_pager() {
    replay("git-log");
}

#[test]
fn top_with_its_fields() {
    replay("top");
}

#[test]
fn htop_with_its_bars() {
    replay("htop");
}
