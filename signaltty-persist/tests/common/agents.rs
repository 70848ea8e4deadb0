//! Arbitrary agents and conversations.

use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use signaltty_core::agent::{
    AgentPlace, Anchor, Continuity, Conversation, Extent, FileIdentity, LaunchOption,
    LaunchOptions, Marker, MarkerOrigin, ReportedArgv, SavedAgent, TurnId, Turns,
};
use signaltty_core::env::ConfigEnv;
use signaltty_core::restore::{FailureCode, Refusal, ResumeFailure};
use signaltty_core::time::UnixMillis;
use signaltty_persist::redact::without_keys;

use super::arbitrary::{os, text};

pub(super) fn agent() -> impl Strategy<Value = SavedAgent> {
    let kind = select(&["claude", "codex", "my-agent_2"][..]);
    let argv = option::of(vec(os(), 0..3));
    let failure = option::of((select(FailureCode::ALL), text(), any::<u64>()));
    let place = select(&[AgentPlace::Own, AgentPlace::Shell, AgentPlace::Left][..]);
    let flags = (any::<bool>(), any::<bool>(), place, options(), option::of(conversation()));
    (kind, option::of(conversation()), argv, failure, flags, turns(), continuity()).prop_map(
        |(kind, conversation, argv, failure, flags, turns, continuity)| SavedAgent {
            place: flags.2,
            options: flags.3,
            kind: kind.parse().unwrap(),
            conversation,
            previous_in_doubt: flags.0 && flags.4.is_some(),
            previous: flags.4,
            reported_argv: argv.map(ReportedArgv),
            last_failure: failure.map(|(code, message, at)| ResumeFailure {
                refusal: Refusal::new(code, message),
                at: UnixMillis(at),
            }),
            interrupted: flags.0,
            question_expired: flags.1,
            turns,
            continuity,
        },
    )
}

fn continuity() -> impl Strategy<Value = Continuity> {
    let times = (option::of(any::<u64>()), option::of(any::<u64>()));
    (any::<u32>(), times, any::<u8>()).prop_map(|(resumed, (proven, rewritten), starts)| {
        let (proven_at, rewritten_at) = (proven.map(UnixMillis), rewritten.map(UnixMillis));
        let in_doubt = starts % 2 == 1;
        Continuity { resumed, proven_at, rewritten_at, starts, in_doubt }
    })
}

fn options() -> impl Strategy<Value = LaunchOptions> {
    let name = "--[a-z]{1,8}";
    let values = vec((name, option::of(os())), 0..4);
    (values, vec(name, 0..3)).prop_map(|(kept, dropped)| {
        let mut options = LaunchOptions::default();
        for (name, value) in kept {
            if let Some(option) = LaunchOption::new(&name, value) {
                options.keep(option);
            }
        }
        for name in dropped {
            options.drop_named(&name);
        }
        // A key by chance is not what round trips are about.
        without_keys(&options)
    })
}

fn turns() -> impl Strategy<Value = Turns> {
    let origin = select(&[MarkerOrigin::Planned, MarkerOrigin::Automatic][..]);
    let flags = (any::<bool>(), any::<bool>());
    let marker = (1..9u64, origin, flags).prop_map(|(turn, origin, (prepared, sent))| Marker {
        turn: TurnId::new(turn).unwrap(),
        origin,
        prepared,
        sent,
    });
    (0..9u64, 0..9u64, option::of(marker), any::<u8>()).prop_map(
        |(newest, active, marker, attempts)| {
            Turns::from_saved(newest, TurnId::new(active), marker, attempts)
        },
    )
}

fn conversation() -> impl Strategy<Value = Conversation> {
    let names = ["CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME"];
    let vars = vec((select(names.to_vec()), os()), 0..3);
    let session = "[a-zA-Z0-9][a-zA-Z0-9._-]{0,40}";
    (session, os(), vars, option::of(anchors()), option::of(session)).prop_map(
        move |(id, cwd, vars, anchor, previous)| Conversation {
            id: id.parse().unwrap(),
            cwd: cwd.into(),
            config_env: ConfigEnv::filter(vars, &names, Path::new("/w")),
            anchor,
            previous: previous.map(|id| id.parse().unwrap()),
        },
    )
}

fn anchors() -> impl Strategy<Value = Anchor> {
    vec(anchor(), 1..4).prop_map(|anchors| {
        let mut base = None;
        for mut anchor in anchors {
            anchor.base = base.map(Box::new);
            base = Some(anchor);
        }
        base.unwrap()
    })
}

fn anchor() -> impl Strategy<Value = Anchor> {
    let extent = prop_oneof![
        any::<(u64, [u8; 32])>().prop_map(|(bytes, sha256)| Extent::Lines { bytes, sha256 }),
        any::<u64>().prop_map(|messages| Extent::Rows { messages }),
    ];
    let file = option::of(any::<(u64, u64)>());
    (os(), file, extent, option::of(text()), 1..=u64::MAX).prop_map(
        |(record, file, extent, last_message, user_messages)| Anchor {
            record: PathBuf::from("/r").join(record),
            file: file.map(|(device, inode)| FileIdentity { device, inode }),
            extent,
            last_message: last_message.map(Into::into),
            user_messages,
            base: None,
        },
    )
}
