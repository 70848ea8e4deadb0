//! Screens as text. Styles are left out: what a screen says must be readable
//! without colours.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use super::view;
use crate::cli;
use crate::tui::areas::{arrangement, on_screen};
use crate::tui::fixture::{Facts, PANES, checkouts, client, id, press, told, told_all, tree};
use crate::tui::model::{Mode, Model};
use crate::tui::msg::Msg;
use crate::tui::update::update;

const SIZES: [(u16, u16); 4] = [(80, 24), (40, 12), (20, 5), (300, 100)];

fn text(model: &Model) -> String {
    let (cols, rows) = model.size;
    let mut buffer = Buffer::empty(Rect::new(0, 0, cols, rows));
    let cursor = view(model, &mut buffer);
    let mut text = String::new();
    for y in 0..rows {
        let mut line = String::new();
        let mut hidden = 0;
        for x in 0..cols {
            let symbol = buffer[(x, y)].symbol();
            if hidden == 0 {
                line.push_str(symbol);
                hidden = symbol.width();
            }
            hidden = hidden.saturating_sub(1);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if let Some(cursor) = cursor {
        text.push_str(&format!("cursor {},{}\n", cursor.col, cursor.row));
    }
    text
}

/// The largest screens are mostly one line again and again: it is written once, and
/// how often it is there, so that a reviewer sees the rest.
fn folded(text: String) -> String {
    if text.lines().count() < 100 {
        return text;
    }
    let lines: Vec<_> = text.lines().collect();
    let pieces = lines.chunk_by(|one, other| one == other).map(|run| match run {
        [line, _, _, ..] => format!("{line}\n({} such lines)\n", run.len()),
        few => few.iter().map(|line| format!("{line}\n")).collect(),
    });
    pieces.collect()
}

/// Compares a view at every size with what was agreed on.
fn check(name: &str, make: impl Fn((u16, u16)) -> Model) {
    for size in SIZES {
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), folded(text(&make(size))));
    }
    for size in [(1, 1), (2, 1), (1, 2), (3, 3), (1000, 2)] {
        text(&make(size));
    }
}

const FEW: &[(&str, &[&[Facts]])] =
    &[("api", &[&[PANES[0], PANES[10]], &[PANES[2]]]), ("web", &[&[PANES[7]]])];

fn few(size: (u16, u16)) -> Model {
    let printed = "\x1b[1m> write the tests\x1b[0m\r\n\r\n● 日本語 is wide\r\n";
    client(size, tree(FEW), &[(1, printed), (11, "$ ls\r\nsrc  target\r\n$ ")])
}

/// One pane alone.
fn one(facts: Facts) -> impl Fn((u16, u16)) -> Model {
    move |size| client(size, tree(&[("api", &[&[facts]])]), &[(facts.0, "some output")])
}

#[test]
fn panes_are_drawn_as_the_layout_has_them() {
    check("panes", few);
    check("three", |size| {
        let panes: &[Facts] = &[PANES[0], PANES[6], PANES[10]];
        client(size, tree(&[("api", &[panes])]), &[(1, "left"), (11, "below")])
    });
}

#[test]
fn s0_13_each_tombstone_says_what_it_is_and_what_can_be_done() {
    check("restored", one(PANES[6]));
    check("resumable", one(PANES[7]));
    check("resuming", one(PANES[8]));
    check("exited", one(PANES[9]));
}

#[test]
fn s0_18_a_tombstone_says_all_that_the_plain_commands_say() {
    let all = |size| {
        let mut tree = tree(&[("api", &[&[PANES[7]]])]);
        tree.workspaces[0].tabs[0].panes[0] = told_all();
        client(size, tree, &[])
    };
    check("told", all);
    check("about", |size| {
        let mut model = all(size);
        press(&mut model, &["C-]", "m"]);
        model
    });
    let (mut model, node) = (all((300, 100)), told_all());
    let shown = text(&model);
    let notes = cli::notes(&node, model.now);
    assert_eq!(notes.len(), 9, "{notes:?}");
    for note in &notes {
        assert!(shown.contains(&note.text), "{note:?}: {shown}");
    }
    for wanted in ["Which of the two files?", "it lists another", "contradicted: e20c8dbf-a7ca"] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    press(&mut model, &["C-]", "m"]);
    let shown = text(&model);
    for (name, value) in cli::facts(&node).into_iter().filter(|(name, _)| *name != "title") {
        let line = shown.lines().any(|line| line.contains(name) && line.contains(&value));
        assert!(line, "{name} {value}: {shown}");
    }
    assert!(notes.iter().all(|note| shown.contains(&note.text)), "{shown}");
    // And where it is not all on one page, all of it can be read.
    for size in [(40, 12), (20, 5)] {
        let mut model = all(size);
        press(&mut model, &["C-]", "m", "G"]);
        assert!(text(&model).contains("had"), "{}", text(&model));
        press(&mut model, &["Down", "Down", "Up"]);
        assert!(text(&model).contains("Down for more"), "one line up: {}", text(&model));
        press(&mut model, &["q"]);
        assert!(matches!(model.mode, Mode::Normal));
    }
}

#[test]
fn d12_a_live_pane_says_that_there_is_something_to_know_of_it() {
    let mut tree = tree(&[("api", &[&[PANES[0]]])]);
    let without = text(&client((100, 12), tree.clone(), &[]));
    assert!(!without.contains("tells more"), "{without}");
    let agent = tree.workspaces[0].tabs[0].panes[0].agent.as_mut().unwrap();
    agent.integration = Some("run signaltty integration install claude".into());
    let mut model = client((100, 24), tree, &[]);
    assert!(text(&model).contains("C-] m tells more"), "{}", text(&model));
    press(&mut model, &["C-]", "m"]);
    assert!(text(&model).contains("integration install claude"), "{}", text(&model));
}

#[test]
fn what_is_over_the_panes() {
    check("welcome", |size| client(size, tree(&[]), &[]));
    let pressed = |keys: &'static [&'static str]| {
        move |size| {
            let mut model = few(size);
            press(&mut model, keys);
            model
        }
    };
    check("prefix", pressed(&["C-]"]));
    check("help", pressed(&["C-]", "?"]));
    check("sidebar", pressed(&["C-]", "s", "j", "j"]));
    check("new_workspace", pressed(&["C-]", "w", "Tab", "Right"]));
    check("rename", pressed(&["C-]", ",", "x"]));
    check("close", pressed(&["C-]", "x"]));
    check("answer", pressed(&["C-]", "a", "C-]", "y"]));
    check("zoomed", pressed(&["C-]", "z"]));
    check("project", pressed(&["C-]", "S"]));
    check("unbound", pressed(&["C-]", "F9"]));
    check("gone", |size| {
        let mut model = few(size);
        update(&mut model, Msg::Lost("The connection ended.".into()));
        model
    });
}

#[test]
fn s0_43_checkouts_of_one_repository_are_together_with_their_branches() {
    let open: &[(&str, &[&[Facts]])] =
        &[("api", &[&[PANES[10]]]), ("web", &[&[PANES[7]]]), ("fix", &[&[PANES[0]]])];
    let repository: &[(&str, &str, &[&str])] = &[
        ("/src/api", "main", &["api"]),
        ("/src/fix", "fix/login", &["fix"]),
        ("/src/api.next", "next", &[]),
    ];
    let grouped = |size| {
        let mut model = client(size, tree(open), &[(11, "$ ")]);
        checkouts(&mut model, "/src/api", repository);
        model
    };
    check("grouped", |size| {
        let mut model = grouped(size);
        press(&mut model, &["C-]", "s"]);
        model
    });
    check("checkouts", |size| {
        let mut model = grouped(size);
        press(&mut model, &["C-]", "g", "j", "j"]);
        model
    });
    check("new_checkout", |size| {
        let mut model = grouped(size);
        press(&mut model, &["C-]", "g", "n", "x"]);
        model
    });
    let text = text(&grouped((100, 30)));
    let at = |wanted: &str| text.find(wanted).unwrap_or_else(|| panic!("{wanted}: {text}"));
    assert!(at("api/") < at("fix fix/login") && at("fix fix/login") < at("web auto"), "{text}");
}

#[test]
fn c082_what_people_were_told_is_a_list_with_its_whole_text_below() {
    let inbox = |size| {
        let mut model = few(size);
        told(&mut model);
        model
    };
    check("news", inbox);
    check("inbox", |size| {
        let mut model = inbox(size);
        press(&mut model, &["C-]", "i"]);
        model
    });
    let mut last = inbox((80, 24));
    press(&mut last, &["C-]", "i", "G"]);
    let shown = text(&last);
    assert!(shown.contains("done (its program)"), "{shown}");
    assert!(shown.contains(&format!("({}, its program)", id(1))), "{shown}");
    check("empty_inbox", |size| {
        let mut model = few(size);
        press(&mut model, &["C-]", "i"]);
        model
    });
}

#[test]
fn a_link_to_another_machine_is_named() {
    let far = |size| {
        let mut model = few(size);
        model.host = Some("build.example".into());
        model
    };
    check("far", far);
    check("far_lost", |size| {
        let mut model = far(size);
        update(&mut model, Msg::Lost("the link to build.example ended: timed out".into()));
        model
    });
    check("far_new", |size| {
        let mut model = far(size);
        model.cwd = std::path::PathBuf::new();
        press(&mut model, &["C-]", "w"]);
        model
    });
}

#[test]
fn the_focused_pane_stays_in_view_on_a_terminal_that_is_too_small() {
    let mut model = client((80, 24), tree(FEW), &[(1, "first"), (11, "second")]);
    for (layout, down) in [("/", "j"), ("|", "l")] {
        let text = format!("v1:[{}{layout}{}]", id(1), id(11));
        model.tree.workspaces[0].tabs[0].layout = text;
        for size in [(18, 5), (18, 4), (18, 3), (9, 24), (4, 5)] {
            model.size = size;
            model.focused.clear();
            for wanted in [1, 11] {
                let found = arrangement(&model).unwrap().rects;
                let rect = found.into_iter().find(|(pane, _)| *pane == id(wanted)).unwrap().1;
                assert_eq!(model.focus(), Some(id(wanted)));
                assert!(!on_screen(&model, rect).is_empty(), "{size:?} {layout} {wanted}");
                press(&mut model, &["C-]", down]);
            }
        }
        model.size = (80, 24);
        assert_eq!(model.zoom(), None, "and large again they are beside each other");
    }
}

#[test]
fn scrolling_shows_what_was_searched_for() {
    check("scrolled", |size| {
        let mut model = one(PANES[9])(size);
        press(&mut model, &["C-]", "/", "o", "k", "Enter", "v", "Right", "Right"]);
        // Without a row for the pane there is nothing to scroll.
        assert_eq!(matches!(model.mode, Mode::Scroll(_)), size.1 > 2);
        model
    });
}

#[test]
fn s0_13_states_and_attention_differ_without_colour_at_every_size() {
    for size in SIZES {
        // The title line of a pane, and its line in the sidebar.
        let mut seen: Vec<(String, String, Facts)> = Vec::new();
        for facts in PANES {
            let (state, attention) = (facts.1, facts.3);
            let mut model = one((11, state, "unknown", attention))(size);
            let screen = text(&model);
            let title = screen.lines().next().unwrap();
            let title = title.split('│').next_back().unwrap().to_owned();
            // On a small terminal it lies over the panes while it has the focus.
            press(&mut model, &["C-]", "s"]);
            let side = text(&model);
            let mut side = side.lines().map(|line| line.split('│').next().unwrap());
            let side = side.find(|line| line.starts_with("> 1")).map(str::to_owned);
            // On five rows there is room for what needs somebody first.
            assert!(side.is_some() || size.1 < 6, "{size:?} {facts:?}");
            let side = side.unwrap_or_else(|| format!("{facts:?}"));
            for (other_title, other_side, other) in &seen {
                if (other.1, other.3) != (state, attention) {
                    assert_ne!(&title, other_title, "{size:?} {facts:?} {other:?}");
                    assert_ne!(&side, other_side, "{size:?} {facts:?} {other:?}");
                }
            }
            seen.push((title, side, facts));
        }
    }
}

#[test]
fn what_needs_a_person_comes_first_and_is_one_jump_away() {
    let all: &[&[Facts]] = &[&[PANES[0]], &[PANES[1]], &[PANES[2]], &[PANES[3]], &[PANES[4]]];
    let mut model = client((100, 30), tree(&[("api", all)]), &[]);
    let shown = text(&model);
    let at = |wanted: &str| shown.find(wanted).unwrap();
    assert!(at("NEEDS YOU (4)") < at("!!") && at("!!") < at("> 1"));
    for wanted in [3, 4, 5, 2] {
        press(&mut model, &["C-]", "a"]);
        assert_eq!(model.focus(), Some(id(wanted)));
    }
}
