// Reports to signaltty what opencode does in a pane's shell.
// Written by `signaltty integration install opencode`; the mark is @OWNER@.
// `signaltty integration uninstall opencode` removes this file.
import { spawn } from "node:child_process";

const PROGRAM = @PROGRAM@;

// One at a time, so that reports arrive in their order.
let last = Promise.resolve();

function report(payload) {
  last = last.then(() => new Promise((done) => {
    try {
      const hook = spawn(PROGRAM, ["hook", "opencode", "@OWNER@"], {
        stdio: ["pipe", "ignore", "ignore"],
      });
      hook.on("error", done);
      hook.on("close", done);
      hook.stdin.on("error", () => {});
      hook.stdin.end(JSON.stringify(payload));
    } catch {
      done();
    }
  }));
}

export const Signaltty = async ({ client }) => {
  if (!process.env.SIGNALTTY_SOCKET || !process.env.SIGNALTTY_LAUNCH) return {};

  // A subagent works in a conversation of its own, below the person's.
  const persons = new Map();
  async function isPersons(id) {
    if (!persons.has(id)) {
      const found = await client.session.get({ path: { id } });
      if (found?.data?.id !== id) return false;
      persons.set(id, !found.data.parentID);
    }
    return persons.get(id);
  }

  // Whose turn a person broke off. That it is over comes next, more than once.
  const brokenOff = new Set();

  return {
    event: async ({ event }) => {
      try {
        const { sessionID: id, status, error } = event.properties ?? {};
        const known = ["session.status", "session.idle", "permission.asked", "permission.replied"];
        if (event.type === "session.error" && error?.name === "MessageAbortedError") {
          brokenOff.add(id);
        } else if (event.type === "session.status" && status?.type !== "idle") {
          brokenOff.delete(id);
        }
        if (!known.includes(event.type) || typeof id !== "string") return;
        const off = event.type === "session.idle" && brokenOff.has(id);
        if (!(await isPersons(id))) return;
        report({
          hook_event_name: event.type,
          session_id: id,
          status: off ? "broken_off" : status?.type,
        });
      } catch {
        // Nothing here may disturb the agent.
      }
    },
  };
};
