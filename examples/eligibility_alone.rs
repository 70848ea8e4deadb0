//! Asks without a session what becomes of saved panes: which tombstone each is,
//! and whether its interrupted turn may be continued by itself.
//!
//! Run it with `cargo run -p signaltty-core --example eligibility_alone`.

use std::time::Duration;

use signaltty_core::agent::{
    AgentPolicy, Anchor, Conversation, Extent, LoadedRule, NameError, SavedAgent, WitnessSource,
};
use signaltty_core::env::ConfigEnv;
use signaltty_core::restore::{Facts, PaneState, classify, eligibility};
use signaltty_core::workspace::Switches;

fn main() -> Result<(), NameError> {
    let policy = AgentPolicy::new(
        vec![WitnessSource::LiveRegistry],
        LoadedRule::NotReported,
        Duration::from_secs(10),
    );
    // An agent that was working when its server was killed.
    let mut agent = SavedAgent::new("claude".parse()?);
    agent.interrupted = true;
    let _ = agent.turns.begin();

    let off = Switches::default();
    let on = Switches { auto_resume: true, auto_continue: true, history: true };
    ask("no conversation is known", &agent, on, &policy);
    agent.conversation = Some(conversation()?);
    ask("its workspace did not ask for it", &agent, off, &policy);
    ask("its workspace asked for it", &agent, on, &policy);
    agent.turns.plan();
    ask("a planned restart asked for it", &agent, off, &policy);
    agent.turns.finish();
    ask("the turn was finished after all", &agent, on, &policy);
    Ok(())
}

fn ask(what: &str, agent: &SavedAgent, switches: Switches, policy: &AgentPolicy) {
    let state = PaneState::Tombstone(classify(None, Some(agent)));
    let decided = eligibility(&Facts {
        state: &state,
        agent: Some(agent),
        end: None,
        archived: false,
        switches,
        policy: Some(policy),
        holder: None,
        tried: false,
        max_attempts: 3,
    });
    let decided = match decided {
        Ok(recovery) => format!("continue turn {}", recovery.turn()),
        Err(why) if why.settles() => format!("give up: {why}"),
        Err(why) => format!("leave: {why}"),
    };
    say(&format!("{what:<34} {state:<10} {decided}"));
}

fn conversation() -> Result<Conversation, NameError> {
    Ok(Conversation {
        id: "11111111-aaaa".parse()?,
        cwd: "/home/me/api".into(),
        config_env: ConfigEnv::default(),
        anchor: Some(Anchor {
            record: "/home/me/.agent/11111111-aaaa.jsonl".into(),
            file: None,
            extent: Extent::Rows { messages: 4 },
            last_message: None,
            user_messages: 2,
            base: None,
        }),
        previous: None,
    })
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
fn say(line: &str) {
    println!("{line}");
}
