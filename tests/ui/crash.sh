#!/usr/bin/env bash
# Work survives kill -9: a window is killed in the middle of it, and the next one offers what the first one had.
# Usage: crash.sh HEDDLE_GUI. Exit 77: skipped, because Xvfb or xdotool is missing.
set -uo pipefail
gui=${1:?usage: crash.sh HEDDLE_GUI}
for tool in Xvfb xdotool; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
work=$(mktemp -d)
server='' first='' second=''
finish() {
  for program in $first $second $server; do kill "$program" 2>/dev/null; done
  wait 2>/dev/null
  rm -rf "$work"
}
trap finish EXIT
fail() { echo "FAILED: $*"; cat "$work"/*.txt 2>/dev/null; ls -la "$work"/state/heddle/autosave 2>/dev/null; exit 1; }

# Without -noreset the server begins anew when its last window is killed, and refuses the next one meanwhile.
exec 3>"$work/display"
Xvfb -displayfd 3 -screen 0 1280x720x24 -nolisten tcp -noreset 2>"$work/server.txt" &
server=$!
for _ in $(seq 600); do [[ -s $work/display ]] && break; sleep 0.1; done
[[ -s $work/display ]] || fail "Xvfb does not start"
export DISPLAY=:$(<"$work/display")
export XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state
kept=$XDG_STATE_HOME/heddle/autosave

await() {  # SECONDS COMMAND...: repeats the command until it succeeds
  local tries=$(($1 * 10))
  shift
  for _ in $(seq "$tries"); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done
  return 1
}
files() { find "$kept" -name '*.heddle.json' 2>/dev/null; }
one_file() { [[ $(files | wc -l) == 1 ]]; }
no_file() { [[ -z $(files) ]]; }
holds() { files | xargs grep -qs "$1"; }

# Another size than the file says is work, and must be kept within a second; the schedule that the solver finds goes with it.
"$gui" toy_fig1 toy --param T=16 2>"$work/first.txt" &
first=$!
await 60 one_file || fail "nothing was kept"
await 60 holds 'solver #1' || fail "the schedule was not kept"
kill -9 "$first"
wait "$first" 2>/dev/null
first=''
one_file || fail "the file went with the process"
dead=$(files)

# Another window offers it: it is not removed, and the second one, which has nothing yet, leaves it alone.
"$gui" --welcome 2>"$work/second.txt" &
second=$!
await 60 xdotool search --name Heddle || fail "no second window"
window=$(xdotool search --name Heddle | head -1)
[[ -e $dead ]] || fail "the second window removed what it should offer"
# Restore stands at the right end of the bar above the status line.
restored() { xdotool search --name 'toy_fig1 on toy'; }
click_restore() {
  xdotool windowfocus "$window" 2>/dev/null
  xdotool mousemove --window "$window" 1226 674
  sleep 0.3
  xdotool click 1
  await 10 restored
}
await 20 click_restore || fail "Restore does nothing"
[[ ! -e $dead ]] || fail "the dead file should belong to the living window now"
one_file || fail "restored work must be kept as well"
holds 'solver #1' || fail "the restored schedule is not in the kept file"

# A clean exit leaves nothing.
for _ in $(seq 10); do
  xdotool windowfocus "$window" key ctrl+q 2>/dev/null
  await 3 bash -c "! kill -0 $second" && break
done
kill -0 "$second" 2>/dev/null && fail "Ctrl+Q does not end the program"
wait "$second"
code=$?
second=''
[[ $code == 0 ]] || fail "exit code $code"
no_file || fail "a clean exit leaves a file"
echo ok
