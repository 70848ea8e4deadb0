//! The client's documents are made of what it is made of.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use signaltty_core::scope::Scope;

use super::fixture::{Facts, PANES, checkouts, client, id, press, told, tree};
use super::gui::Gui;
use super::input::{ACTIONS, Bindings, Preset};
use super::model::{Dirty, Mode, Model};
use super::msg::{After, Effect, Msg};
use super::svg::svg;
use super::update::update;
use super::view::{LIST_KEYS, PAGE_KEYS, SCROLL_KEYS, SIDEBAR_KEYS, key_rows, view};
use crate::protocol::{EventLine, WireError};

/// Compares a text with a part of a document, or puts it there if
/// `SIGNALTTY_UPDATE_DOCS` is set.
fn document(path: &str, mark: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let text = fs::read_to_string(&path).unwrap();
    let (start, end) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let (before, rest) = text.split_once(&start).unwrap();
    let (found, after) = rest.split_once(&end).unwrap();
    if std::env::var_os("SIGNALTTY_UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{start}{wanted}{end}{after}")).unwrap();
        return;
    }
    assert_eq!(found, wanted, "SIGNALTTY_UPDATE_DOCS=1 brings {} up to date", path.display());
}

fn code(keys: &str) -> String {
    let keys = keys.split(' ').filter(|key| !key.is_empty());
    let keys: Vec<_> = keys.map(|key| format!("`{}`", key.replace('|', "\\|"))).collect();
    keys.join(" ")
}

#[test]
fn the_guides_keys_are_those_of_the_bindings() {
    let own = Bindings::new(Preset::Signaltty, None, &[]).unwrap();
    let tmux = Bindings::new(Preset::Tmux, None, &[]).unwrap();
    let mut text = format!(
        "| after `{}` | preset `tmux`, after `{}` | what it does | name in `gui.json` |\n\
         | --- | --- | --- | --- |\n",
        own.prefix, tmux.prefix
    );
    let rows = key_rows(&own).into_iter().zip(key_rows(&tmux));
    for ((keys, what, name), (tmux, ..)) in rows {
        let (keys, tmux) = (code(&keys), code(&tmux));
        writeln!(text, "| {keys} | {tmux} | {what} | {} |", code(name)).unwrap();
    }
    for (title, rows) in [
        ("In a pane without a process", &PAGE_KEYS[..]),
        ("While scrolling", &SCROLL_KEYS),
        ("In the sidebar", &SIDEBAR_KEYS),
        ("In a list of notifications or checkouts", &LIST_KEYS),
    ] {
        writeln!(text, "\n{title}:\n\n| key | what it does |\n| --- | --- |").unwrap();
        for (keys, what) in rows {
            writeln!(text, "| {} | {what} |", code(keys)).unwrap();
        }
    }
    document("docs/guide.md", "keys", &text);
    assert_eq!(key_rows(&own).len(), ACTIONS.len() + 1);
}

/// Draws a client as it is on a screen.
fn picture(model: &Model) -> String {
    let (cols, rows) = model.size;
    let mut buffer = Buffer::empty(Rect::new(0, 0, cols, rows));
    view(model, &mut buffer);
    svg(&buffer)
}

#[test]
fn the_guides_pictures_are_what_the_client_draws() {
    let size = (110, 28);
    let talk = "\x1b[1m> make the tests pass\x1b[0m\r\n\r\n\x1b[32m●\x1b[0m Three tests fail for \
                the same reason.\r\n\x1b[32m●\x1b[0m Edited src/lib.rs\r\n\r\n> ";
    let shell = "$ cargo test\r\n\x1b[32mtest result: ok.\x1b[0m 12 passed\r\n$ ";
    let panes: &[Facts] = &[PANES[0], PANES[10], PANES[6]];
    let live = || {
        let tree = tree(&[("api", &[panes]), ("web", &[&[PANES[2]], &[PANES[3]]])]);
        client(size, tree, &[(1, talk), (11, shell)])
    };
    let tombstones: &[Facts] = &[PANES[7], PANES[6]];
    let restarted = client(size, tree(&[("api", &[tombstones]), ("web", &[&[PANES[9]]])]), &[]);
    let mut asking = live();
    press(&mut asking, &["C-]", "a", "C-]", "y"]);
    let mut opening = live();
    press(&mut opening, &["C-]", "w", "Tab", "Right"]);
    for (name, model) in
        [("panes", live()), ("restart", restarted), ("answer", asking), ("new", opening)]
    {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/screens/{name}.svg"));
        let wanted = picture(&model);
        if std::env::var_os("SIGNALTTY_UPDATE_DOCS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &wanted).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == wanted, "SIGNALTTY_UPDATE_DOCS=1 draws {} anew", path.display());
    }
}

#[test]
fn keys_of_a_tombstone_do_what_it_says() {
    let mut model = client((80, 24), tree(&[("api", &[&[PANES[7]]])]), &[]);
    let called = |effects: Vec<Effect>| -> Vec<&'static str> {
        let method = |effect| match effect {
            Effect::Call { method, .. } => Some(method),
            _ => None,
        };
        effects.into_iter().filter_map(method).collect()
    };
    // Each is answered before the next key: what comes earlier is for the program.
    let refuse = |model: &mut Model, after: After| {
        let result = Err(WireError::new("REFUSED", "its record is damaged"));
        update(model, Msg::Done { after, result });
    };
    assert_eq!(called(press(&mut model, &["r"])), ["pane.resume"]);
    refuse(&mut model, After::Resumed(id(8)));
    assert_eq!(called(press(&mut model, &["c"])), ["pane.continue"]);
    refuse(&mut model, After::Continued(id(8)));
    assert_eq!(called(press(&mut model, &["x"])), [""; 0], "asks first");
    assert_eq!(called(press(&mut model, &["n", "z"])), [""; 0]);
    assert_eq!(called(press(&mut model, &["x", "y"])), ["pane.close"]);
    assert_eq!(called(press(&mut model, &["n", "y"])), ["pane.restart"]);
    assert_eq!(called(press(&mut model, &["A"])), ["workspace.set", "pane.resume"]);
    assert_eq!(called(press(&mut model, &["R"])), ["pane.resume"]);
    // A plain pane runs its command again by hand, and has nothing to resume.
    let mut model = client((80, 24), tree(&[("api", &[&[PANES[11]]])]), &[]);
    assert_eq!(called(press(&mut model, &["r", "c", "n"])), [""; 0]);
    assert_eq!(called(press(&mut model, &["Enter"])), ["pane.restart"]);
}

#[test]
fn what_is_typed_reaches_the_program_and_draws_nothing_by_itself() {
    let mut model = client((80, 24), tree(&[("api", &[&[PANES[10]]])]), &[(11, "\x1b[?1h")]);
    model.dirty = Dirty::No;
    let typed = press(&mut model, &["a", "Up", "C-c"]);
    let bytes: Vec<Vec<u8>> = typed
        .into_iter()
        .filter_map(|effect| match effect {
            Effect::Type { bytes, .. } => Some(bytes),
            _ => None,
        })
        .collect();
    assert_eq!(bytes, [b"a".to_vec(), b"\x1bOA".to_vec(), b"\x03".to_vec()]);
    assert_eq!(model.dirty, Dirty::No);
    press(&mut model, &["C-]"]);
    assert_eq!(model.dirty, Dirty::Foreground);
}

#[test]
fn one_event_reaches_the_person_once_and_not_while_they_look() {
    let panes: &[&[Facts]] = &[&[PANES[10]], &[PANES[0]]];
    let mut model = client((80, 24), tree(&[("api", panes)]), &[]);
    let event = |n: u8| {
        let payload = serde_json::json!({"pane_id": id(n).to_string(), "attention": "unread"});
        let at = "1970-01-01T00:00:00Z".into();
        Msg::Event(EventLine { event: "attention.changed".into(), seq: Some(1), at, payload })
    };
    let reached = |effects: Vec<Effect>| {
        effects.iter().filter(|effect| matches!(effect, Effect::Reach { .. })).count()
    };
    assert_eq!(reached(update(&mut model, event(1))), 1);
    assert_eq!(reached(update(&mut model, event(11))), 0, "it is looked at");
    update(&mut model, Msg::Watched(false));
    assert_eq!(reached(update(&mut model, event(11))), 1, "nobody looks");
}

fn calls(effects: &[Effect]) -> Vec<(&'static str, serde_json::Value)> {
    let call = |effect: &Effect| match effect {
        Effect::Call { method, params, .. } => Some((*method, params.clone())),
        _ => None,
    };
    effects.iter().filter_map(call).collect()
}

#[test]
fn a_notification_is_read_by_hand_and_leads_to_its_pane() {
    let panes: &[&[Facts]] = &[&[PANES[10]], &[PANES[7]]];
    let mut model = client((80, 24), tree(&[("api", panes)]), &[]);
    told(&mut model);
    let opened = calls(&press(&mut model, &["C-]", "i"]));
    assert_eq!(opened[0].0, "notification.list");
    let read = calls(&press(&mut model, &["j", "d"]));
    assert_eq!(read, [("notification.read", serde_json::json!({"notification": "notif_2"}))]);
    assert_eq!(calls(&press(&mut model, &["D"])), [("notification.read", serde_json::json!({}))]);
    // The list stays until a person leaves it or goes somewhere.
    let gone = calls(&press(&mut model, &["k", "Enter"]));
    assert_eq!(gone[0], ("notification.read", serde_json::json!({"notification": "notif_1"})));
    assert_eq!(model.focus(), Some(id(8)));
    assert!(matches!(model.mode, Mode::Normal));
    // One without a pane says so, and one that was read already does nothing more.
    press(&mut model, &["C-]", "i", "j", "Enter"]);
    assert!(model.message.as_ref().is_some_and(|message| message.text.contains("no pane")));
    // What comes meanwhile is asked for.
    let payload = serde_json::json!({});
    let at = "1970-01-01T00:00:00Z".into();
    let event = EventLine { event: "notification.created".into(), seq: Some(1), at, payload };
    let asked = calls(&update(&mut model, Msg::Event(event)));
    assert!(asked.iter().any(|(method, _)| *method == "notification.list"), "{asked:?}");
}

#[test]
fn s0_43_checkouts_are_opened_made_and_removed_by_git() {
    let mut model = client((80, 24), tree(&[("api", &[&[PANES[10]]])]), &[]);
    press(&mut model, &["C-]", "g"]);
    assert!(model.message.as_ref().is_some_and(|message| message.text.contains("no Git")));
    checkouts(
        &mut model,
        "/src/api",
        &[("/src/api", "main", &["api"]), ("/src/fix", "fix/login", &[])],
    );
    let asked = calls(&press(&mut model, &["C-]", "g"]));
    assert_eq!(asked, [("worktree.list", serde_json::json!({"cwd": "/src/api"}))], "asked anew");
    // One with a workspace is shown, another one opened.
    let shown = calls(&press(&mut model, &["Enter"]));
    assert!(shown.iter().all(|(method, _)| *method != "worktree.open"), "{shown:?}");
    let opened = calls(&press(&mut model, &["C-]", "g", "j", "Enter"]));
    let fix = serde_json::json!({"worktree": "/src/fix", "cwd": "/src/api"});
    assert!(opened.contains(&("worktree.open", fix.clone())), "{opened:?}");
    let refuse = |model: &mut Model| {
        let result = Err(WireError::new("NO_ROOM", "there is no room"));
        update(model, Msg::Done { after: After::Show, result });
    };
    refuse(&mut model);
    let made = press(&mut model, &["C-]", "g", "n", "x", "Enter"]);
    let wanted = serde_json::json!({"branch": "x", "cwd": "/src/api"});
    let made = calls(&made);
    assert!(made.contains(&("worktree.create", wanted)), "{made:?}");
    let node = serde_json::json!({
        "path": "/src/api.x", "head": null, "branch": "x", "main": false, "bare": false,
        "locked": null, "prunable": null, "workspaces": [],
    });
    let after = After::Made(serde_json::json!("/src/api"));
    let then = calls(&update(&mut model, Msg::Done { after, result: Ok(node) }));
    let new = serde_json::json!({"worktree": "/src/api.x", "cwd": "/src/api"});
    assert!(then.contains(&("worktree.open", new)), "{then:?}");
    refuse(&mut model);
    // A removal is asked about first.
    let asked = calls(&press(&mut model, &["C-]", "g", "j", "x"]));
    assert!(asked.iter().all(|(method, _)| *method != "worktree.remove"), "{asked:?}");
    let removed = calls(&press(&mut model, &["y"]));
    assert!(removed.contains(&("worktree.remove", fix)), "{removed:?}");
}

#[test]
fn s0_49_a_scope_of_a_checkout_becomes_that_of_its_repository() {
    let open: &[(&str, &[&[Facts]])] = &[("api", &[&[PANES[10]]]), ("fix", &[&[PANES[0]]])];
    let scoped = |root: &str| {
        let mut model =
            Model::new(Gui::default(), (80, 24), "/src".into(), Scope::Project(root.into()));
        update(&mut model, Msg::Listed(tree(open)));
        model
    };
    let repository: &[(&str, &str, &[&str])] =
        &[("/src/api", "main", &["api"]), ("/src/fix", "fix/login", &["fix"])];
    // An older client named the project by the checkout that its workspace is in.
    let mut model = scoped("/src/fix");
    let saved = checkouts(&mut model, "/src/api", repository);
    assert_eq!(model.scope, Scope::Project("/src/api".into()));
    assert!(saved.contains(&Effect::SaveScope(model.scope.clone())));
    // S0-48: before Git was asked about everything, nothing is taken for gone.
    let mut model = scoped("/elsewhere");
    assert_eq!(model.scope, Scope::Project("/elsewhere".into()));
    checkouts(&mut model, "/src/api", repository);
    assert_eq!(model.scope, Scope::All);
}

#[test]
fn the_turn_of_a_conversation_that_was_reopened_by_hand_can_be_continued() {
    let mut tree = tree(&[("api", &[&[PANES[0], PANES[1]]])]);
    for node in &mut tree.workspaces[0].tabs[0].panes {
        node.agent.as_mut().unwrap().interrupted = true;
    }
    let mut model = client((80, 24), tree, &[]);
    let effects = press(&mut model, &["C-]", "C"]);
    // The other one is unconfirmed.
    let continued = vec![("pane.continue", serde_json::json!({"pane": id(1).to_string()}))];
    assert_eq!(calls(&effects), continued);
    assert!(calls(&press(&mut model, &["C-]", "R"])).is_empty());
}

#[test]
fn what_came_of_a_turn_that_was_to_be_continued_is_said_as_it_is() {
    let mut model = client((80, 24), tree(&[("api", &[&[PANES[7]]])]), &[]);
    let effects = press(&mut model, &["c"]);
    let after = effects.into_iter().find_map(|effect| match effect {
        Effect::Call { method: "pane.continue", after, .. } => Some(after),
        _ => None,
    });
    let mut said = |answer: serde_json::Value| {
        let result = Ok(answer);
        update(&mut model, Msg::Done { after: after.clone().unwrap(), result });
        model.message.clone().unwrap()
    };
    let continued = serde_json::json!({
        "pane_id": id(8).to_string(), "agent_session_id": "x", "receipt": "last tool call: Bash",
    });
    let message = said(continued);
    assert_eq!(message.text, "✳ claude: the interrupted turn goes on; last tool call: Bash");
    assert!(!message.bad);
    let message = said(serde_json::json!({"pane_id": "x", "verdict": "unconfirmed"}));
    assert!(message.bad && message.text.contains("open, but unconfirmed"), "{message:?}");
}

#[test]
fn the_sidebar_begins_at_the_pane_that_one_came_from() {
    let panes: &[Facts] = &[PANES[10], PANES[9]];
    let mut model = client((80, 24), tree(&[("api", &[panes])]), &[]);
    press(&mut model, &["C-]", "l"]);
    assert_eq!(model.focus(), Some(id(10)));
    // What ended is closed without a question.
    let effects = press(&mut model, &["C-]", "s", "x"]);
    let closed = ("pane.close", serde_json::json!({"pane": id(10).to_string()}));
    assert!(calls(&effects).contains(&closed), "{effects:?}");
    assert!(calls(&press(&mut model, &["g", "x"])).is_empty());
    assert_eq!(model.message.unwrap().text, "this line is no pane; j and k go to one");
}

#[test]
fn the_key_of_the_banner_switches_on_what_it_names() {
    const OTHER: Facts = (12, "resumable", "idle", "none");
    let tombstones: &[Facts] = &[PANES[7], PANES[6]];
    let both = tree(&[("api", &[tombstones]), ("web", &[&[OTHER]])]);
    let mut model = client((120, 24), both, &[]);
    let bar = |model: &Model| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 120, 24));
        view(model, &mut buffer);
        (0..120).map(|x| buffer[(x, 23)].symbol().to_owned()).collect::<String>()
    };
    assert!(bar(&model).contains("2 resumable: R all"), "{}", bar(&model));
    assert!(bar(&model).contains("A always in api"), "{}", bar(&model));
    let done = calls(&press(&mut model, &["A"]));
    let switched = serde_json::json!({"workspace": "ws_api", "auto_resume": true});
    assert_eq!(done[0], ("workspace.set", switched));
    let resumed: Vec<_> = done.iter().filter(|(method, _)| *method == "pane.resume").collect();
    assert_eq!(resumed.len(), 1, "those of the other workspace are left alone: {done:?}");
    // The other workspace does so already.
    press(&mut model, &["C-]", "N"]);
    assert!(!bar(&model).contains("always"), "{}", bar(&model));
}

#[test]
fn s0_42_an_answer_is_for_the_question_on_the_screen_and_its_key_reaches_no_agent() {
    let asks = |question: Option<(&str, &str)>| {
        let mut tree = tree(&[("api", &[&[PANES[3]]])]);
        let node = &mut tree.workspaces[0].tabs[0].panes[0];
        node.decision_id = question.map(|(id, _)| id.into());
        node.decision = question.map(|(_, text)| text.into());
        tree
    };
    let (first, second) = (("q00000001", "Bash: ls -la"), ("q00000002", "Bash: rm -rf /"));
    let pane = id(PANES[3].0);
    let event = |name: &str, question: &str| {
        let payload = serde_json::json!({"pane_id": pane.to_string(), "decision_id": question});
        let (event, at) = (name.to_owned(), String::new());
        Msg::Event(EventLine { event, seq: Some(1), at, payload })
    };
    let shown = |model: &Model| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 120, 24));
        view(model, &mut buffer);
        buffer.content().iter().map(|cell| cell.symbol()).collect::<String>()
    };

    // It is answered by its name.
    let mut model = client((120, 24), asks(Some(first)), &[]);
    press(&mut model, &["C-]", "y"]);
    assert!(shown(&model).contains(first.1));
    let answer = serde_json::json!({
        "pane": pane.to_string(), "decision_id": first.0, "answer": "allow",
    });
    assert!(calls(&press(&mut model, &["y"])).contains(&("pane.answer", answer)));

    // Another one takes its place, by an event or by the list; or none does.
    let changes: [(&str, Vec<Msg>); 4] = [
        ("something else", vec![event("decision.asked", second.0)]),
        ("something else", vec![Msg::Listed(asks(Some(second)))]),
        ("does not ask any more", vec![event("decision.ended", first.0)]),
        ("does not ask any more", vec![Msg::Listed(asks(None))]),
    ];
    for (said, change) in changes {
        let mut model = client((120, 24), asks(Some(first)), &[]);
        press(&mut model, &["C-]", "y"]);
        for msg in change {
            update(&mut model, msg);
        }
        let text = shown(&model);
        assert!(text.contains(said) && !text.contains(second.1), "{text}");
        // The key that was on its way decides nothing and is typed nowhere.
        let late = press(&mut model, &["y"]);
        assert!(calls(&late).is_empty(), "{late:?}");
        assert!(!late.iter().any(|effect| matches!(effect, Effect::Type { .. })), "{late:?}");
        assert!(matches!(model.mode, Mode::Normal));
    }

    // What is said of another question leaves it alone.
    let mut model = client((120, 24), asks(Some(first)), &[]);
    press(&mut model, &["C-]", "y"]);
    update(&mut model, event("decision.ended", second.0));
    assert!(shown(&model).contains(first.1));
}
