#!/usr/bin/env bash
# Installs what is missing, builds Heddle, and opens the window on attention forward / H100; with arguments it runs the
# command line program instead. Only the programs write to stdout.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

usage() {
  cat <<TEXT
Usage: ./run.sh [--no-install]              build, then open the window on attention forward / H100
       ./run.sh [--no-install] ARGS...      build the command line program, then run: heddle ARGS...

--no-install  install nothing; say what is missing

The programs lie in build/release: heddle (command line) and heddle-gui (window, built when it is asked for). What heddle
itself understands:

TEXT
}

if [[ ${1:-} == --no-install ]]; then INSTALL=no; shift; fi

lock_build
ensure_packages "${BUILD_PACKAGES[@]}" || [[ $INSTALL == no ]] || exit 6
ensure_z3 || [[ $INSTALL == no ]] || exit 6
# The window is built when it is asked for: without arguments where there is a display, or by the command gui.
targets=(heddle) minutes=4
if [[ " $* " == *" gui "* || ($# == 0 && -n ${DISPLAY:-}${WAYLAND_DISPLAY:-}) ]]; then targets+=(heddle-gui) minutes=5; fi
programs="$HEDDLE_ROOT/build/release"
configure release || die 6 "CMake could not configure the build: something above is missing"
[[ -e $programs/heddle ]] || say "first build, about $minutes minutes on two cores"
build release "${targets[@]}" || die 1 "the build failed (see above)"
unlock_build

# What messages call the program: what was typed here.
HEDDLE_CALLED=$0
[[ $0 == */* ]] || HEDDLE_CALLED="bash $0"
[[ $INSTALL == yes ]] || HEDDLE_CALLED+=" --no-install"
export HEDDLE_CALLED

if (($#)); then
  if [[ $1 == --help || $1 == -h ]]; then usage; fi
  exec "$programs/heddle" "$@"
fi

if [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
  "$programs/heddle-gui" attention_forward_hopper h100
  code=$?
  ((code == 6)) || exit "$code"   # 6: the display cannot be opened; the text below is what we can still show
fi
"$programs/heddle" show attention_forward_hopper h100
code=$?
say "this is the text timeline, because there is no display. For the window run ./run.sh in a desktop session, over"
say "'ssh -X', or as 'xvfb-run ./run.sh'; for a picture: ninja -C build/release heddle-gui, and then"
say "build/release/heddle-gui --solve --screenshot FILE.png"
exit "$code"
