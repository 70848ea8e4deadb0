//! What a person does with the mouse. The screen has 80 columns: the sidebar has
//! 28 and its line, and two panes of 25 share the rest.

use bytes::Bytes;
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::fixture::{Facts, PANES, client, id, press, tree};
use super::model::{Mode, Model, Stream};
use super::msg::{Effect, FromStream, Msg};
use super::update::update;

const LEFT: (u16, u16) = (31, 3);
const RIGHT: (u16, u16) = (60, 5);
/// The line between the panes.
const BORDER: (u16, u16) = (54, 5);

fn two(printed: &[(u8, &str)]) -> Model {
    let panes: &[Facts] = &[PANES[0], PANES[10]];
    client((80, 24), tree(&[("api", &[panes]), ("web", &[&[PANES[7]]])]), printed)
}

fn at(model: &mut Model, kind: MouseEventKind, (column, row): (u16, u16)) -> Vec<Effect> {
    held(model, kind, (column, row), KeyModifiers::NONE)
}

fn held(
    model: &mut Model,
    kind: MouseEventKind,
    (column, row): (u16, u16),
    modifiers: KeyModifiers,
) -> Vec<Effect> {
    update(model, Msg::Mouse(MouseEvent { kind, column, row, modifiers }))
}

const DOWN: MouseEventKind = MouseEventKind::Down(MouseButton::Left);
const DRAG: MouseEventKind = MouseEventKind::Drag(MouseButton::Left);
const UP: MouseEventKind = MouseEventKind::Up(MouseButton::Left);

fn methods(effects: &[Effect]) -> Vec<&'static str> {
    let method = |effect: &Effect| match effect {
        Effect::Call { method, .. } => Some(*method),
        _ => None,
    };
    effects.iter().filter_map(method).collect()
}

fn print_history(model: &mut Model, n: u8, lines: &str) {
    let Stream::Open { number, .. } = model.panes[&id(n)].stream else { panic!() };
    let what = FromStream::History(Bytes::copy_from_slice(lines.as_bytes()));
    update(model, Msg::Stream { pane: id(n), number, what });
}

#[test]
fn a_click_chooses_a_pane_and_a_line_of_the_sidebar() {
    let mut model = two(&[]);
    assert_eq!(model.focus(), Some(id(1)));
    let done = at(&mut model, DOWN, RIGHT);
    assert_eq!(model.focus(), Some(id(11)));
    assert!(methods(&done).contains(&"pane.focus"), "the next client begins there: {done:?}");
    // The line of the other workspace's only pane.
    let lines = super::list::lines(&model);
    let line = lines.iter().rposition(super::list::Line::selectable).unwrap();
    at(&mut model, DOWN, (3, u16::try_from(line).unwrap()));
    assert_eq!(model.focus(), Some(id(8)));
}

#[test]
fn a_border_follows_the_mouse_and_the_server_has_the_last_word() {
    let mut model = two(&[]);
    let tab = &mut model.tree.workspaces[0].tabs[0];
    (tab.cols, tab.rows) = (51, 22);
    let before = model.tree.workspaces[0].tabs[0].layout.clone();
    assert!(at(&mut model, DOWN, BORDER).is_empty());
    let done = at(&mut model, DRAG, (BORDER.0 + 6, BORDER.1));
    assert!(methods(&done).contains(&"tab.layout"), "{done:?}");
    let after = model.tree.workspaces[0].tabs[0].layout.clone();
    assert_ne!(after, before);
    // Where it is let go does not matter any more, and no pane got a click.
    assert!(at(&mut model, UP, RIGHT).is_empty());
    assert!(at(&mut model, DRAG, LEFT).is_empty());
    assert_eq!(model.focus(), Some(id(1)));
}

#[test]
fn the_wheel_goes_up_through_the_output_and_down_out_of_it_again() {
    let mut model = two(&[]);
    let asked = at(&mut model, MouseEventKind::ScrollUp, RIGHT);
    assert_eq!(asked, [Effect::History { pane: id(11) }]);
    let lines: String = (0..100).map(|n| format!("line {n}\n")).collect();
    print_history(&mut model, 11, &lines);
    let top = |model: &Model| match &model.mode {
        Mode::Scroll(scroll) => Some(scroll.top),
        _ => None,
    };
    let first = top(&model).unwrap();
    at(&mut model, MouseEventKind::ScrollUp, RIGHT);
    assert_eq!(top(&model), Some(first - 3));
    for _ in 0..2 {
        at(&mut model, MouseEventKind::ScrollDown, RIGHT);
    }
    assert_eq!(top(&model), None, "below everything is the live screen");
}

#[test]
fn what_is_dragged_over_is_copied_when_the_button_is_let_go() {
    let mut model = two(&[(1, "some output")]);
    at(&mut model, DOWN, LEFT);
    let asked = at(&mut model, DRAG, (LEFT.0 + 1, LEFT.1));
    assert!(asked.contains(&Effect::History { pane: id(1) }), "{asked:?}");
    // As many rows as the pane has, so that what is shown does not move.
    print_history(&mut model, 1, &"0123456789 words\n".repeat(22));
    at(&mut model, DRAG, (LEFT.0 + 4, LEFT.1));
    let done = at(&mut model, UP, (LEFT.0 + 4, LEFT.1));
    assert_eq!(done, [Effect::Copy("23456".into())]);
    assert!(matches!(model.mode, Mode::Normal));
    // A click alone copies nothing.
    at(&mut model, DOWN, LEFT);
    assert!(at(&mut model, UP, LEFT).is_empty());
}

#[test]
fn a_program_that_asks_for_the_mouse_gets_it_but_with_shift() {
    let mut model = two(&[(1, "\x1b[?1002h\x1b[?1006h")]);
    let typed = |effects: Vec<Effect>| -> Vec<u8> {
        let bytes = |effect| match effect {
            Effect::Type { bytes, .. } => bytes,
            _ => Vec::new(),
        };
        effects.into_iter().flat_map(bytes).collect()
    };
    // Counted from the pane's own corner, from 1.
    assert_eq!(typed(at(&mut model, DOWN, LEFT)), b"\x1b[<0;3;3M");
    assert_eq!(typed(at(&mut model, UP, LEFT)), b"\x1b[<0;3;3m");
    assert_eq!(typed(at(&mut model, MouseEventKind::ScrollUp, LEFT)), b"\x1b[<64;3;3M");
    let own = held(&mut model, MouseEventKind::ScrollUp, LEFT, KeyModifiers::SHIFT);
    assert_eq!(own, [Effect::History { pane: id(1) }]);
    // A pager on the other screen without a mouse is scrolled by its keys.
    let mut model = two(&[(1, "\x1b[?1049h")]);
    assert_eq!(typed(at(&mut model, MouseEventKind::ScrollUp, LEFT)), b"\x1b[A".repeat(3));
    // A question takes no clicks.
    press(&mut model, &["C-]", "x"]);
    assert!(at(&mut model, DOWN, RIGHT).is_empty());
    assert_eq!(model.focus(), Some(id(1)));
}
