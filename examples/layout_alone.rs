//! Uses layouts without a session: leaves can be of any type.
//!
//! Run it with `cargo run -p signaltty-core --example layout_alone`.

use std::error::Error;

use signaltty_core::layout::{
    Direction, Layout, Limits, Point, Rect, Size, Weight, neighbour, rects,
};

fn main() -> Result<(), Box<dyn Error>> {
    let limits = Limits::default();
    let size = Size { cols: 41, rows: 9 };
    let mut layout = Layout::single('a');
    layout.split('a', Direction::Right, 'b', &limits, Some(size))?;
    layout.split('b', Direction::Down, 'c', &limits, Some(size))?;
    layout.set_weight('a', Weight::new(2).ok_or("a share is not 0")?)?;
    say(&picture(&layout, size));

    // The text form is exact, and what it says is checked.
    let text = layout.to_string();
    let read: Layout<char> = text.parse()?;
    say(&format!("{text} is read as the same layout: {}", read == layout));
    let all = rects(&layout, Rect::from(size));
    say(&format!("right of a: {:?}", neighbour(&all, 'a', Direction::Right, None)));

    // A refused edit changes nothing.
    let tiny = Size { cols: 3, rows: 1 };
    if let Err(refused) = layout.split('c', Direction::Right, 'd', &limits, Some(tiny)) {
        say(&format!("not split: {refused}"));
    }
    layout.move_leaf('a', 'c', Direction::Right, &limits, Some(size))?;
    say(&picture(&layout, size));
    Ok(())
}

/// Each cell as the letter of its pane; separators are blank.
fn picture(layout: &Layout<char>, size: Size) -> String {
    let all = rects(layout, Rect::from(size));
    let letter = |col: u16, row: u16| {
        let found = all.iter().find(|(_, rect)| rect.contains(Point { col, row }));
        found.map_or(' ', |(leaf, _)| *leaf)
    };
    let line = |row| (0..size.cols).map(|col| letter(col, row)).collect::<String>() + "\n";
    (0..size.rows).map(line).collect()
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
fn say(line: &str) {
    println!("{line}");
}
