#!/usr/bin/env bash
# The main job with the real Claude Code against a stub of its model on loopback.
# See docs/testing.md.
#
#   claude-main-job.sh [--npm DIR] [--signaltty PROGRAM]
#
# --npm        a directory in which npm has installed Claude Code; without it,
#              the version below is installed in a scratch directory
# --signaltty  a built program; without it, one is built
set -euo pipefail
shopt -s inherit_errexit
version=2.1.332
here=$(cd "$(dirname "$0")/.." && pwd)
npm='' signaltty=''
while [ $# -gt 0 ]; do
    case $1 in
        --npm) npm=$(realpath "$2") && shift 2 ;;
        --signaltty) signaltty=$(realpath "$2") && shift 2 ;;
        *) echo "usage: $0 [--npm DIR] [--signaltty PROGRAM]" >&2 && exit 2 ;;
    esac
done

work=$(mktemp -d) stub=''
clean_up() {
    [ -z "$signaltty" ] || st --no-start shutdown --force >/dev/null 2>&1 || true
    [ -z "$stub" ] || { kill "$stub" && wait "$stub"; } 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
die() { echo "FAILED: $*" >&2; exit 1; }

if [ -z "$npm" ]; then
    npm=$work/npm
    npm install --silent --no-audit --no-fund --prefix "$npm" "@anthropic-ai/claude-code@$version"
fi
if [ -z "$signaltty" ]; then
    cargo build --release --locked --quiet --manifest-path "$here/Cargo.toml" --bin signaltty
    signaltty=${CARGO_TARGET_DIR:-$here/target}/release/signaltty
fi
real=$npm/node_modules/.bin/claude
[ -x "$real" ] || die "there is no $real"

# Every start of `claude` leaves a line.
mkdir "$work/first" "$work/project" "$work/config"
touch "$work/starts" "$work/log"
cat >"$work/first/claude" <<END
#!/bin/sh
echo "\$*" >>'$work/starts'
exec '$real' "\$@"
END
chmod +x "$work/first/claude"
starts() { wc -l <"$work/starts"; }

# No onboarding, a key that was agreed to, a directory that is trusted.
key=no-key-for-a-stub-on-loopback
python3 - "$key" "$work/project" >"$work/config/.claude.json" <<'END'
import json, sys
key, project = sys.argv[1:]
print(json.dumps({
    "hasCompletedOnboarding": True,
    "theme": "dark",
    "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []},
    "projects": {project: {"hasTrustDialogAccepted": True}},
}))
END

until_true() { # WHAT COMMAND...
    local what=$1 tries=150
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || die "waited in vain for $what"
        sleep 0.2
    done
}
python3 "$here/scripts/stub_model.py" --port-file "$work/port" --log "$work/log" &
stub=$!
until_true 'the stub' test -s "$work/port"

# Nothing of the caller's environment reaches the agent.
st() {
    env -i PATH="$work/first:/usr/local/bin:/usr/bin:/bin" HOME="$work" SHELL=/bin/sh \
        LANG=C.UTF-8 TERM=xterm-256color SIGNALTTY_STATE_DIR="$work/state" \
        ANTHROPIC_BASE_URL="http://127.0.0.1:$(cat "$work/port")" ANTHROPIC_API_KEY="$key" \
        CLAUDE_CONFIG_DIR="$work/config" CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
        DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1 DISABLE_ERROR_REPORTING=1 \
        "$signaltty" "$@"
}
at() { # KEY... < JSON
    python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1:]:
    value = value[int(key) if key.isdigit() else key] if value is not None else None
print(value if isinstance(value, str) else json.dumps(value))' "$@"
}
of_pane() { st ls --json | at workspaces 0 tabs 0 panes 0 "$@"; }
shows() { st pane read "$pane" | grep -qF -- "$1"; }
say() { # TEXT ANSWER
    st pane send "$pane" "$1" >/dev/null
    st pane keys "$pane" Enter >/dev/null
    until_true "the answer to: $1" shows "$2"
}
# The end of a turn is reported a moment after its answer is seen, so that has
# to be true for a while.
is_saved() {
    for _ in 1 2 3 4 5; do
        case $(of_pane lifecycle) in idle | done) ;; *) return 1 ;; esac
        [ "$(of_pane agent agent_session_id)" != null ] || return 1
        [ "$(st status --json | at saved)" = true ] || return 1
        sleep 0.2
    done
}
kill_server() {
    local pid
    pid=$(st --no-start status --json | at pid)
    kill -9 "$pid"
    until_true 'the end of the server' eval "! kill -0 $pid 2>/dev/null"
}

echo "== Claude Code $("$real" --version) talks"
pane=$(st new --name job --cwd "$work/project" --json -- claude | at pane_id)
until_true 'its prompt' shows '❯'
say 'my word is pineapple' 'heard 1: my word is pineapple'
say 'my number is 4711' 'heard 2: my number is 4711'
until_true 'the save' is_saved
id=$(of_pane agent agent_session_id)
echo "conversation $id"

echo "== the server is killed"
kill_server
st ls
[ "$(of_pane state)" = resumable ] || die "the pane is $(of_pane state)"

echo "== resume"
st resume "$pane"
[ "$(of_pane agent verdict)" = verified ] || die "ls --json does not say verified"
[ "$(of_pane agent agent_session_id)" = "$id" ] || die "it is another conversation"
[ "$(of_pane agent evidence)" != '[]' ] || die "verified without evidence"
say 'and again' 'heard 3: and again'
python3 - "$work/log" "$id" <<'END' || die "the model saw something else"
import json, sys
path, id = sys.argv[1:]
requests = [json.loads(line) for line in open(path, encoding="utf-8")]
mine = [r for r in requests if "and again" in r["users"]]
earlier = ["my word is pineapple", "my number is 4711", "and again"]
for request in mine:
    said = [text for text in request["users"] if text in earlier]
    print("the model saw session", request["session"], "and", said)
    assert request["session"] == id and said == earlier, request
assert mine, requests
END
until_true 'the save' is_saved

echo "== the transcript is cut to its metadata lines"
kill_server
record=$(find "$work/config/projects" -name "$id.jsonl")
[ -f "$record" ] || die "there is no record of $id"
grep -v '"uuid"' "$record" >"$record.cut" || true
echo "$(wc -l <"$record.cut") of $(wc -l <"$record") lines are left"
mv "$record.cut" "$record"
before=$(starts) code=0
st resume --json "$pane" >"$work/refused" || code=$?
reason=$(at error details reason <"$work/refused")
at error message <"$work/refused"
echo "exit code $code, code $reason, claude was started $before times before and $(starts) after"
[ "$code" -eq 5 ] || die "expected exit code 5"
case $reason in gone | damaged) ;; *) die "expected gone or damaged" ;; esac
[ "$(starts)" -eq "$before" ] || die "a process was started"
[ "$(of_pane state)" = resumable ] || die "the pane is $(of_pane state)"
echo "== everything held"
