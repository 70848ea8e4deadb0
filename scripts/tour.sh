#!/usr/bin/env bash
# A tour of the full-screen client as a person takes it: first start without a
# server, a workspace, two splits, the demonstration agent, leaving, a killed
# server, tombstones, one key, and the conversation goes on. Each step waits for
# what a person would see; the first that does not come ends the tour.
#
#   scripts/tour.sh [PATH/TO/signaltty]
#
# Everything happens in a throw-away directory and a tmux of its own.
set -euo pipefail

bin=${1:-target/debug/signaltty}
[ -x "$bin" ] || { echo "tour: $bin is not there; build it with: cargo build" >&2; exit 2; }
bin=$(realpath "$bin")
command -v tmux >/dev/null || {
    echo "tour: tmux is missing; install the Debian package tmux" >&2
    exit 2
}

dir=$(mktemp -d "${TMPDIR:-/tmp}/tour.XXXXXX")
mkdir -m 700 "$dir"/{home,run,work,demo}
limit=${TOUR_LIMIT:-60}
tmux=(tmux -S "$dir/tmux" -f /dev/null)
# Nothing of the caller's surroundings but the search path.
env=(env -i PATH="$(dirname "$bin"):$PATH" HOME="$dir/home" XDG_RUNTIME_DIR="$dir/run"
    TERM=screen-256color LANG=C.UTF-8 SHELL=/bin/sh PS1='tour$ ' SIGNALTTY_LOGIND=0
    SIGNALTTY_DEMO_HOME="$dir/demo")

cli() { "${env[@]}" "$bin" --no-start "$@"; }

finish() {
    code=$?
    [ "$code" = 0 ] || { echo "tour: the screen at the end:" >&2; screen >&2 || true; }
    cli shutdown --force >/dev/null 2>&1 || true
    "${tmux[@]}" kill-server >/dev/null 2>&1 || true
    rm -rf "$dir"
    exit "$code"
}
trap finish EXIT

screen() { "${tmux[@]}" capture-pane -p -t tour; }
keys() { "${tmux[@]}" send-keys -t tour "$@"; }
text() { "${tmux[@]}" send-keys -t tour -l -- "$1"; }

# Waits until a command succeeds.
until_true() {
    local what=$1 end=$((SECONDS + limit))
    shift
    until "$@" >/dev/null 2>&1; do
        if [ "$SECONDS" -ge "$end" ]; then
            echo "tour: waited $limit s for: $what" >&2
            exit 1
        fi
        sleep 0.05
    done
    echo "ok: $what"
}
shown() { screen | grep -qF -- "$1"; }
see() { until_true "$1" shown "$2"; }
panes() { [ "$(cli ls --json | grep -o '"state":"'"$1"'"' | wc -l)" = "$2" ]; }
saved() {
    cli status --json | grep -q '"saved":true' &&
        cli ls --json | grep -q '"agent_session_id":"' &&
        ! cli ls --json | grep -q '"lifecycle":"working"'
}
gone() { ! kill -0 "$1"; }

"${tmux[@]}" new-session -d -s tour -x 140 -y 40 "${env[@]}" sh
cd "$dir/work"
keys "cd '$dir/work'" Enter
see "a shell" 'tour$'

keys "signaltty" Enter
see "first start, with no server: nothing is open" "Nothing is open yet."
keys Enter
see "a question where and what" "New workspace"
keys Enter
see "a workspace with a shell" "work 1/1"
until_true "its pane is live" panes live 1
keys 'C-]' '-'
until_true "one split" panes live 2
keys 'C-]' '|'
until_true "another split" panes live 3
text 'echo one$((1 + 1))three'
keys Enter
see "typing goes to the newest pane" "one2three"

keys 'C-]' e
see "a question what to run" "New pane"
text "signaltty __demo-agent"
keys Enter
see "the demonstration agent" "you>"
text "remember the tour"
keys Enter
see "it answers" "noted: the tour"
until_true "its conversation is saved" saved

keys 'C-]' d
see "left; everything goes on" "everything goes on"
pid=$(cli status --json | grep -o '"pid":[0-9]*' | head -n 1 | cut -d : -f 2)
kill -KILL "$pid"
until_true "the server is killed" gone "$pid"

keys "clear; signaltty" Enter
see "a new start shows tombstones" "Its process did not survive"
see "and offers what can be done" "1 resumable"
see "with the keys of the pane" "[r] resume"
until_true "nothing claims to be alive" panes live 0
keys r
see "one key: the same conversation, verified" "· verified"
see "the agent is back" "you>"
text "what did I say?"
keys Enter
see "and remembers" "1. remember the tour"
keys 'C-]' d
see "left again" "everything goes on"
echo "the tour is complete"
