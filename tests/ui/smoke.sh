#!/usr/bin/env bash
# The real program on a real (virtual) display: it starts, solves, a bar is dragged, undo and palette work, it leaves when
# asked, and says nothing; a picture of its own pixels is written.
# Usage: smoke.sh HEDDLE_GUI. Exit 77: skipped, because Xvfb or xdotool is missing.
set -uo pipefail
gui=${1:?usage: smoke.sh HEDDLE_GUI}
for tool in Xvfb xdotool; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
work=$(mktemp -d)
server='' window_program=''
finish() {
  [[ -n $window_program ]] && kill "$window_program" 2>/dev/null
  [[ -n $server ]] && kill "$server" 2>/dev/null
  wait 2>/dev/null
  rm -rf "$work"
}
trap finish EXIT
fail() { echo "FAILED: $*"; cat "$work"/*.txt 2>/dev/null; exit 1; }

# Without a display: a sentence and exit code 6.
env -u DISPLAY -u WAYLAND_DISPLAY "$gui" toy_fig1 toy 2>"$work/none.txt"
[[ $? == 6 ]] || fail "without a display the exit code should be 6"
grep -q 'no display' "$work/none.txt" || fail "without a display there should be a sentence"

# The server picks a free display and says which.
exec 3>"$work/display"
Xvfb -displayfd 3 -screen 0 1600x900x24 -nolisten tcp -noreset 2>"$work/server.txt" &
server=$!
for _ in $(seq 600); do [[ -s $work/display ]] && break; sleep 0.1; done
[[ -s $work/display ]] || fail "Xvfb does not start"
export DISPLAY=:$(<"$work/display")
for _ in $(seq 600); do xdotool getdisplaygeometry >/dev/null 2>&1 && break; sleep 0.1; done
export XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state

"$gui" toy_fig1 toy --param T=16 2>"$work/gui.txt" &
window_program=$!
window=''
for _ in $(seq 600); do
  window=$(xdotool search --name 'toy_fig1 on toy' 2>/dev/null | head -1)
  [[ -n $window ]] && break
  kill -0 "$window_program" 2>/dev/null || fail "the program ended at once"
  sleep 0.1
done
[[ -n $window ]] || fail "no window with the kernel's name appeared"

# Without a window manager nobody gives the window the focus, and a slow machine may take its time: try for a while.
settings=$XDG_CONFIG_HOME/heddle/settings.json
reached() {  # PATTERN ACTION...: repeats the action until the settings say so
  local pattern=$1
  shift
  for _ in $(seq 20); do
    xdotool windowfocus "$window" 2>/dev/null
    sleep 0.3
    "$@"
    for _ in $(seq 15); do
      kill -0 "$window_program" 2>/dev/null || fail "the program died"
      grep -q "$pattern" "$settings" 2>/dev/null && return 0
      sleep 0.2
    done
  done
  return 1
}
reached '"scale_percent": 1[1-9]0' xdotool key ctrl+equal || fail "Ctrl+= did not reach the window"
reached '"scale_percent": 100' xdotool key ctrl+0 || fail "Ctrl+0 did not reach the window"
light_by_palette() {
  xdotool key ctrl+p
  sleep 0.4
  xdotool type '>light theme'
  sleep 0.4
  xdotool key Return
}
reached '"theme": "light"' light_by_palette || fail "the palette did not reach the window"

# What is done shows in the file that keeps unsaved work safe; another size than the kernel's own makes it work. Where the bar is, a picture of the same window says.
kept() { find "$XDG_STATE_HOME/heddle/autosave" -name '*.heddle.json' -exec cat {} + 2>/dev/null; }
await() {  # COMMAND...: repeats it until it succeeds
  for _ in $(seq 100); do "$@" && return 0; sleep 0.1; done
  return 1
}
# What is done with keys and pointer is done again, slower each time, where the machine had not drawn in time what they were for.
slowly=1
rest() { sleep "$(($1 * slowly / 10)).$(($1 * slowly % 10))"; }  # TENTHS of a second
often() {  # COMMAND...
  for slowly in 1 2 4 8 16; do
    "$@" && slowly=1 && return 0
    xdotool key Escape
    rest 5
  done
  return 1
}
solved() { kept | grep -q 'solver #1'; }
pinned() { kept | grep -q '"pin"'; }
unpinned() { ! kept | grep -q '"pin"'; }
await solved || await solved || fail "the toy was not solved"
env -u DISPLAY "$gui" toy_fig1 toy --solve --do list --screenshot "$work/list.png" --size 1600x900 >"$work/list" 2>/dev/null
if [[ $? == 0 ]]; then
  bar=$(sed -n 's|^gantt/bar/P@0 \([0-9]*\),\([0-9]*\) \([0-9]*\)x\([0-9]*\)$|\1 \2 \3 \4|p' "$work/list")
  read -r x y w h <<<"$bar"
  [[ -n ${h:-} ]] || fail "the picture has no bar P"
  drag_bar() {
    xdotool mousemove --window "$window" $((x + w / 2)) $((y + h / 2))
    rest 2
    xdotool mousedown 1
    rest 2
    for _ in 1 2 3 4 5 6 7 8; do
      xdotool mousemove_relative -- $((w / 8)) 0
      rest 1
    done
    rest 2
    xdotool mouseup 1
    await pinned
  }
  often drag_bar || fail "a dragged bar proposed nothing"
  take_back() { xdotool key ctrl+z && await unpinned; }
  often take_back || fail "Ctrl+Z did not take the pin back"
fi

# Shared: saved, then the chart as PNG out of the real window's own pixels, then picture and trace beside the project.
if [[ -n ${bar:-} ]]; then
  place() {  # NAME: its middle in the export dialog, as a picture of the same window has it
    sed -n "s|^$1 \\([0-9]*\\),\\([0-9]*\\) \\([0-9]*\\)x\\([0-9]*\\)\$|\\1 \\2 \\3 \\4|p" "$work/dialog" | { read -r x y w h; echo $((x + w / 2)) $((y + h / 2)); }
  }
  env -u DISPLAY "$gui" toy_fig1 toy --solve --do export --do click:export/png --do list --screenshot "$work/list.png" --size 1600x900 >"$work/dialog" 2>/dev/null
  grep -q '^export/go ' "$work/dialog" || fail "the picture has no export dialog"
  press() {  # NAME
    xdotool mousemove --window "$window" $(place "$1")
    rest 2
    xdotool click 1
  }
  saved() { [[ -s $work/share.heddle.json ]]; }
  save_project() {
    xdotool key ctrl+shift+s
    rest 7
    xdotool key ctrl+a
    rest 5
    xdotool type "$work/share.heddle.json"
    rest 5
    xdotool key Return
    await saved
  }
  often save_project || fail "the project was not saved"
  chart() { [[ -s $work/share.png ]]; }
  export_chart() {
    xdotool mousemove --window "$window" 5 5 key ctrl+e
    rest 5
    press export/png
    rest 4
    press export/go
    await chart
  }
  often export_chart || fail "the chart was not exported"
  read -r width height colors <<<"$(python3 "$(dirname "$0")/png_facts.py" "$work/share.png")"
  center=$(sed -n 's|^pane/center [0-9]*,[0-9]* \([0-9]*\)x\([0-9]*\)$|\1 \2|p' "$work/dialog")
  # Where the chart has to be scrolled, the picture has the height of the window.
  [[ $width == "${center% *}" && $height -ge ${center#* } ]] || fail "the picture is $width x $height, the chart is $center"
  ((colors > 30)) || fail "the picture has only $colors colours"
  rm "$work/share.png"
  traced() { [[ -s $work/share.png && -s $work/share.trace.json ]]; }
  share() { press export/share && await traced; }
  share || share || fail "share wrote no picture and trace"
  xdotool sleep 0.3 key Escape
fi

# The window may end between two tries: a key that finds none is no failure.
for _ in $(seq 10); do
  xdotool key Escape 2>/dev/null
  xdotool windowfocus "$window" key ctrl+q 2>/dev/null
  for _ in $(seq 30); do kill -0 "$window_program" 2>/dev/null || break 2; sleep 0.1; done
done
kill -0 "$window_program" 2>/dev/null && fail "Ctrl+Q does not end the program"
wait "$window_program"
code=$?
window_program=''
[[ $code == 0 ]] || fail "exit code $code"
grep -v -e '^libEGL warning' -e '^MESA' "$work/gui.txt" && fail "the program talks to standard error"

# A picture needs no display.
env -u DISPLAY "$gui" toy_fig1 toy --solve --screenshot "$work/picture.png" --size 900x600 2>"$work/picture.txt"
code=$?
[[ $code == 6 ]] && { echo "ok (pictures skipped: no EGL)"; exit 0; }
[[ $code == 0 && -s $work/picture.png ]] || fail "no screenshot"
echo ok
