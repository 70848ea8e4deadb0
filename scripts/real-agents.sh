#!/usr/bin/env bash
# The real agents against a stub of their models on loopback. See
# docs/testing.md.
#
#   real-agents.sh [--npm DIR] [--signaltty PROGRAM] [VERB] [AGENT...]
#
# --npm        where the agents are installed with npm, or will be: a directory
#              to keep, since all four take 1.5 GB. Also REAL_AGENTS_NPM.
# --signaltty  a built program; without it, one is built
# VERB         which cases: resume, continue or follow; else resume
# AGENT        claude, codex, opencode or grok; without any, all of them
#
# It needs npm, Python 3 and, for an installation, the network. No account: the
# keys are made up, and every home is a scratch directory.
set -euo pipefail

# The versions that docs/agents.md speaks of. To raise one: change it here, run
# this script for that agent into an empty --npm directory, look at what failed
# and at what the agent's section says, and change both in one commit.
declare -A package=(
    [claude]=@anthropic-ai/claude-code@2.1.332
    [codex]=@openai/codex@0.171.0
    [opencode]=opencode-ai@1.18.33
    [grok]=@xai-official/grok@1.0.41
)

here=$(cd "$(dirname "$0")/.." && pwd)
npm=${REAL_AGENTS_NPM:-} signaltty='' verb=() agents=()
usage() { sed -n '5,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
        --npm) npm=${2:?} && shift 2 ;;
        --signaltty) signaltty=$(realpath "${2:?}") && shift 2 ;;
        claude | codex | opencode | grok) agents+=("$1") && shift ;;
        [a-z]*) verb=("$1") && shift ;;
        *) usage ;;
    esac
done
[ ${#agents[@]} -gt 0 ] || agents=(claude codex opencode grok)
[ -n "$npm" ] || { echo "where shall npm install the agents? pass --npm DIR" >&2; exit 2; }
mkdir -p "$npm"
npm=$(realpath "$npm")
for agent in "${agents[@]}"; do
    # What is there is used: its version is printed with the first case.
    [ -x "$npm/node_modules/.bin/$agent" ] ||
        npm install --silent --no-audit --no-fund --prefix "$npm" "${package[$agent]}"
done
if [ -z "$signaltty" ]; then
    cargo build --locked --quiet --manifest-path "$here/Cargo.toml" --bin signaltty
    signaltty=${CARGO_TARGET_DIR:-$here/target}/debug/signaltty
fi
PYTHONDONTWRITEBYTECODE=1 exec python3 "$here/scripts/real_agents/main.py" \
    "$here" "$npm" "$signaltty" "${verb[@]}" "${agents[@]}"
