#!/usr/bin/env bash
# A second window for B: another process with just what is open, of which the first and the second each say which they are; selection and
# zoom of one are followed by the other; either goes without the other; nothing stays behind.
# Usage: two_windows.sh HEDDLE_GUI. Exit 77: skipped, because Xvfb or xdotool is missing.
# With HEDDLE_PICTURES=DIR pictures of both windows are left there.
set -uo pipefail
gui=${1:?usage: two_windows.sh HEDDLE_GUI}
schedules=$(realpath "$(dirname "$0")/../schedules")
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
fail() { echo "FAILED: $*"; cat "$work"/*.txt 2>/dev/null; xdotool search --name Heddle 2>/dev/null | while read -r w; do xdotool getwindowname "$w"; done; exit 1; }
await() {  # SECONDS COMMAND...: repeats the command until it succeeds
  local tries=$(($1 * 10))
  shift
  for _ in $(seq "$tries"); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done
  return 1
}

exec 3>"$work/display"
Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp -noreset 2>"$work/server.txt" &
server=$!
await 60 test -s "$work/display" || fail "Xvfb does not start"
export DISPLAY=:$(<"$work/display")
export XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state TMPDIR=$work/tmp
mkdir "$TMPDIR"

# What is done with keys is done again, slower each time, where the machine had not drawn in time what they were for.
slowly=1
rest() { sleep "$(($1 * slowly / 10)).$(($1 * slowly % 10))"; }  # TENTHS of a second
often() {  # COMMAND...
  for slowly in 2 4 8 16; do
    "$@" && slowly=1 && return 0
  done
  return 1
}

project=$work/two.heddle.json
python3 - "$schedules" >"$project" <<'PYTHON'
import json, sys
whole = json.load(open(sys.argv[1] + "/gemm_hopper_h100.json"))
later = json.loads(json.dumps(whole))
later["name"] = "the same, called otherwise"
print(json.dumps({"schema": "heddle.project/1", "kernel": {"source": "gemm_hopper"}, "machine": {"source": "h100"}, "a": 0, "b": 1,
                  "schedules": [{"name": "first", "schedule": whole}, {"name": "second", "schedule": later}]}))
PYTHON

window() { xdotool search --name "$1" 2>/dev/null | head -1; }
"$gui" "$project" --no-solve 2>"$work/first.txt" 3>&- &
first=$!
await 60 xdotool search --name 'gemm_hopper on h100' || fail "no first window"
a=$(window 'gemm_hopper on h100')

# By its name in the palette.
open_b() {
  xdotool windowfocus "$a" key --window "$a" ctrl+p 2>/dev/null
  rest 5
  xdotool type --window "$a" '>open b in a second' 2>/dev/null
  rest 5
  xdotool key --window "$a" Return
  await 20 xdotool search --name '^2 · gemm_hopper on h100' || { xdotool key --window "$a" Escape Escape; return 1; }
}
often open_b || fail "no second window"
b=$(window '^2 · ')
second=$(xdotool getwindowpid "$b")
[[ -n $second && $second != "$first" ]] || fail "the second window is no process of its own"
await 60 xdotool search --name '^1 · gemm_hopper on h100' || fail "the first window does not say that it is 1"
[[ -z $(ls "$TMPDIR") ]] || fail "temporary files: $(ls "$TMPDIR")"

if [[ -n ${HEDDLE_PICTURES:-} ]]; then mkdir -p "$HEDDLE_PICTURES"; fi
picture() {  # NAME WINDOW
  [[ -n ${HEDDLE_PICTURES:-} ]] || return 0
  xdotool windowraise "$2"
  sleep 0.6
  import -window "$2" "$HEDDLE_PICTURES/$1.png"
}
picture opened_a "$a"
picture opened_b "$b"

# What B shows and selects, A does too: both say so in a project. A try that failed is not ended by Escape, which would take the selection back
# where no dialog was open: the next one writes into the dialog that is.
saved() {  # WINDOW FILE
  xdotool windowraise "$1" windowfocus "$1" key --window "$1" ctrl+shift+s 2>/dev/null
  rest 7
  xdotool key --window "$1" ctrl+a
  rest 5
  xdotool type --window "$1" "$2"
  rest 5
  xdotool key --window "$1" Return
  await 20 test -s "$2"
}
view() { python3 -c 'import json, sys; p = json.load(open(sys.argv[1])); print(p["selection"], p["view"]["begin"], p["view"]["end"])' "$1"; }
xdotool windowraise "$b" windowfocus "$b" mousemove --window "$b" 800 204
sleep 0.3
xdotool click --repeat 8 --delay 60 4   # the wheel: nearer
sleep 0.5
xdotool click 1
sleep 1
picture leads_b "$b"
picture follows_a "$a"
often saved "$b" "$work/b.heddle.json" || fail "B was not saved"
[[ $(view "$work/b.heddle.json") == "['"* ]] || fail "nothing is selected in B"
follows() {
  rm -f "$work/a.heddle.json"
  saved "$a" "$work/a.heddle.json" && shown=$(view "$work/a.heddle.json") && [[ $shown == "$(view "$work/b.heddle.json")" ]]
}
often follows || fail "A shows ${shown:-nothing, as it was not saved}, B $(view "$work/b.heddle.json")"
python3 - "$work" <<'PYTHON' || fail "the second window does not have B in A's place"
import json, sys
a, b = (json.load(open(f"{sys.argv[1]}/{name}.heddle.json")) for name in "ab")
sys.exit(0 if (a["a"], a["b"], b["a"]) == (0, 1, 1) and "b" not in b and len(b["schedules"]) == 2 else 1)
PYTHON

# The first goes, the second stays and is alone; it goes too, and nothing is left.
leave() {  # WINDOW PROCESS
  for _ in $(seq 10); do
    xdotool windowraise "$1" windowfocus "$1" key --window "$1" ctrl+q 2>/dev/null
    await 3 bash -c "! kill -0 $2" && return 0
  done
  return 1
}
leave "$a" "$first" || fail "the first window does not leave"
wait "$first"
code=$?
first=''
[[ $code == 0 ]] || fail "exit code $code"
kill -0 "$second" || fail "the second window went with the first"
await 60 xdotool search --name '^gemm_hopper on h100' || fail "the second window does not say that it is alone"
leave "$b" "$second" || fail "the second window does not leave"
second=''
[[ -z $(ls "$TMPDIR") && -z $(find "$XDG_STATE_HOME" -name '*.heddle.json' 2>/dev/null) ]] || fail "something is left behind"
grep -v -e '^libEGL warning' -e '^MESA' "$work/first.txt" && fail "the program talks to standard error"
echo ok
