#!/usr/bin/env bash
# The main job with the real Claude Code against a stub model on loopback.
# See docs/testing.md.
set -euo pipefail
[ $# -eq 4 ] || { echo "usage: $0 NPM_DIR STUB_PORT CLAUDE_CONFIG_DIR PROJECT_DIR" >&2; exit 2; }
npm=$(realpath "$1") port=$2 config=$(realpath "$3") project=$(realpath "$4")
here=$(cd "$(dirname "$0")/.." && pwd)
cargo build --release --locked --quiet --manifest-path "$here/Cargo.toml" --bin signaltty
work=$(mktemp -d)

# Nothing of the caller's environment reaches the agent.
st() {
    env -i PATH="$npm/node_modules/.bin:/usr/local/bin:/usr/bin:/bin" HOME="$work" SHELL=/bin/sh \
        LANG=C.UTF-8 TERM=xterm-256color SIGNALTTY_STATE_DIR="$work/state" \
        ANTHROPIC_BASE_URL="http://127.0.0.1:$port" ANTHROPIC_API_KEY=dummy-key-000 \
        CLAUDE_CONFIG_DIR="$config" CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
        DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1 DISABLE_ERROR_REPORTING=1 \
        "$here/target/release/signaltty" "$@"
}
server() { st --no-start status --json | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' | head -n 1; }
trap 'st --no-start shutdown --force >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

until_shown() { # PATTERN
    for _ in $(seq 100); do
        if st pane read "$pane" | grep -q "$1"; then return 0; fi
        sleep 0.2
    done
    echo "the pane never showed: $1" >&2
    st pane read "$pane" >&2
    return 1
}
until_saved() {
    for _ in $(seq 100); do
        if st ls --json | grep -q '"agent_session_id": *"' && st status --json | grep -q '"saved": *true'; then return 0; fi
        sleep 0.2
    done
    echo "the conversation was never saved" >&2
    return 1
}

echo "== Claude Code talks"
pane=$(st new --name job --cwd "$project" -- claude)
until_shown '❯'
st pane send "$pane" 'my word is pineapple'
st pane keys "$pane" Enter
until_shown 'stub ok 1'
sleep 3 # the end of the turn is reported and saved within 2 s
until_saved
st ls

echo "== the server is killed"
kill -9 "$(server)"
st ls

echo "== resume"
st resume "$pane"
st ls --json | grep -A 12 '"agent":'
st pane send "$pane" 'and again'
st pane keys "$pane" Enter
until_shown 'stub ok 2'
sleep 3

echo "== the transcript is cut to its metadata lines"
kill -9 "$(server)"
id=$(st ls --json | sed -n 's/.*"agent_session_id": *"\([^"]*\)".*/\1/p' | head -n 1)
record=$(find "$config/projects" -name "$id.jsonl")
grep -v '"uuid"' "$record" >"$record.cut" || true
mv "$record.cut" "$record"
code=0
st resume "$pane" || code=$?
echo "exit code $code"
[ "$code" -eq 5 ] || { echo "expected exit code 5" >&2; exit 1; }
if pgrep -f -- "--resume $id" >/dev/null; then echo "a process was started" >&2; exit 1; fi
echo "no process was started"
st ls
