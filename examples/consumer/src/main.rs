//! Arranges three panes, prints where they are, and goes through the saved form
//! of a session and back, without a file.

use std::error::Error;

use signaltty_core::layout::{Direction, Layout, Limits, Rect, Size, Weight, rects};
use signaltty_core::saved::SavedSession;
use signaltty_persist::schema::{Header, from_json, to_json};

fn main() -> Result<(), Box<dyn Error>> {
    let (limits, size) = (Limits::default(), Size { cols: 120, rows: 40 });
    let mut layout = Layout::single('e');
    layout.split('e', Direction::Right, 's', &limits, Some(size))?;
    layout.split('s', Direction::Down, 'l', &limits, Some(size))?;
    layout.set_weight('e', Weight::new(2).ok_or("a share is not 0")?)?;
    for (name, rect) in rects(&layout, Rect::from(size)) {
        println!("{name}: {} columns, {} rows", rect.cols(), rect.rows());
    }

    let session = SavedSession::default();
    let header = Header::default();
    let json = to_json(&session, &header)?;
    assert_eq!(from_json(&json)?.session, session);
    println!("{} bytes of JSON", json.len());
    Ok(())
}
