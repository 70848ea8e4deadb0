#!/usr/bin/env bash
# Runs each argument as a shell command in a pane of one tab, side by side, and
# waits for all of them:
#
#     examples/run_in_panes.sh 'cargo test' 'cargo clippy' 'npm test'
#
# Prints how each ended, with the last line of those that failed, and exits with
# 1 if one did. The panes stay, so that `signaltty` shows what they printed.
# Needs jq. SIGNALTTY names another signaltty.
set -euo pipefail

signaltty=${SIGNALTTY:-signaltty}
[ $# -gt 0 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }

first=$1
shift
made=$("$signaltty" new --json --name "run $$" -- sh -c "$first")
workspace=$(jq -r .workspace_id <<<"$made")
panes=("$(jq -r .pane_id <<<"$made")")
commands=("$first")
for command in "$@"; do
    panes+=("$("$signaltty" pane split "${panes[-1]}" --json -- sh -c "$command" | jq -r .pane_id)")
    commands+=("$command")
done

failed=0
for at in "${!panes[@]}"; do
    pane=${panes[$at]}
    "$signaltty" wait "$pane" --until exited --timeout 24h >/dev/null
    exit=$("$signaltty" pane info "$pane" --json | jq -c .exit)
    if [ "$(jq .code <<<"$exit")" = 0 ]; then
        echo "ok      ${commands[$at]}"
    else
        failed=1
        last=$("$signaltty" pane read "$pane" --json --lines 1 | jq -r .text)
        echo "failed  ${commands[$at]} ($(jq -r 'if .signal then "signal \(.signal)" else "code \(.code)" end' <<<"$exit")): $last"
    fi
done
echo "the panes are in $workspace; close them with: $signaltty workspace close $workspace"
exit "$failed"
