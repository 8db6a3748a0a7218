#!/usr/bin/env bash
# shellcheck disable=SC2034  # some names are for the scripts that source this
# Set-up shared by run.sh and test.sh (sourced, bash): installs what is missing, fetches Z3, configures and builds.
# Everything it says goes to stderr, so that the programs own stdout. When nothing is missing it touches neither the network
# nor apt, and costs a few dozen milliseconds.

HEDDLE_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
Z3_VERSION="${HEDDLE_Z3_VERSION:-5.4.0.0}"   # of the PyPI wheel z3-solver, which carries headers and library
Z3_DIR="$HEDDLE_ROOT/build/z3"
TRITON_VERSION="${HEDDLE_TRITON_VERSION:-3.9.0}"   # of the PyPI wheel triton, which the tests with label wheel compile with
TRITON_DIR="$HEDDLE_ROOT/build/triton"
TORCH_VERSION="${HEDDLE_TORCH_VERSION:-2.15.0}"   # of the PyPI wheel torch, which the tests with label torch build packages for
TORCH_DIR="$HEDDLE_ROOT/build/torch"
INSTALL=yes                                  # --no-install clears it

BUILD_PACKAGES=(cmake ninja-build g++ pkg-config libimgui-dev libglfw3-dev libgl-dev libopengl-dev libegl-dev
                nlohmann-json3-dev libfmt-dev libcli11-dev libeigen3-dev libstb-dev catch2 fonts-dejavu-core graphviz python3)
TEST_PACKAGES=(binutils clang-format xvfb xauth xdotool python3-jsonschema libgl1-mesa-dri libegl-mesa0)

# Exit codes are those of the heddle program: 1 the build failed, 2 usage, 6 something is missing on this machine.
say() { printf 'heddle: %s\n' "$*" >&2; }
die() { local code=$1; shift; say "$*"; exit "$code"; }

# Sets MISSING to those of the given Debian packages that are not installed. A tool that came another way counts as well.
find_missing() {
  local installed package
  MISSING=()
  installed=" $(dpkg-query -W -f='${db:Status-Status}=${Package} ' "$@" 2>/dev/null) "
  for package in "$@"; do
    [[ $installed == *" installed=$package "* ]] && continue
    case $package in
      ninja-build) command -v ninja >/dev/null && continue ;;
      graphviz) command -v dot >/dev/null && continue ;;
      cmake | g++ | pkg-config | python3 | xdotool) command -v "$package" >/dev/null && continue ;;
    esac
    MISSING+=("$package")
  done
}

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo -- "$@"; fi
}

apt_install() {
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 -o Acquire::Retries=3)
  local install=("${apt[@]}" install -y --no-install-recommends "$@")
  local log="$HEDDLE_ROOT/build/install.log"
  mkdir -p "$HEDDLE_ROOT/build" || return 1
  # Lists may be empty (a fresh container) or stale (then the first try fails): refresh and try once more.
  if compgen -G '/var/lib/apt/lists/*Packages*' >/dev/null && as_root "${install[@]}" >"$log" 2>&1 </dev/null; then return 0; fi
  { as_root "${apt[@]}" update && as_root "${install[@]}"; } >"$log" 2>&1 </dev/null && return 0
  tail -n 5 "$log" >&2
  return 1
}

# Installs the packages among the arguments that are missing; returns 1 if some stay missing.
ensure_packages() {
  command -v dpkg-query >/dev/null || return 0   # not Debian: CMake says what it does not find
  find_missing "$@"
  ((${#MISSING[@]})) || return 0
  if [[ $INSTALL != yes ]]; then
    say "missing Debian packages (not installed because of --no-install): ${MISSING[*]}"
    return 1
  fi
  if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    say "missing Debian packages, and neither root nor sudo to install them. As root: apt-get install ${MISSING[*]}"
    return 1
  fi
  say "installing Debian packages (details in build/install.log): ${MISSING[*]}"
  apt_install "${MISSING[@]}" && return 0
  say "apt-get could not install all of: ${MISSING[*]} (see above; is the network reachable?)"
  return 1
}

# Z3: the wheel of Z3_VERSION under build/z3; where it cannot be had, a wheel fetched earlier or Debian's older libz3-dev.
# A stamp file remembers that, so that later runs do not ask the network again.
ensure_z3() {
  local stamp="$Z3_DIR/VERSION" fallback="$HEDDLE_ROOT/build/z3-fallback" wheel=no debian=no
  [[ -e $Z3_DIR/lib/libz3.so && -e $Z3_DIR/include/z3++.h ]] && wheel=yes
  [[ -e /usr/include/z3++.h ]] && debian=yes
  if [[ $wheel == yes ]]; then
    [[ -e $stamp ]] || echo "$Z3_VERSION" >"$stamp"
    [[ $(<"$stamp") == "$Z3_VERSION" ]] && return 0
  fi
  if [[ $wheel$debian == *yes* ]]; then
    [[ $INSTALL != yes || (-e $fallback && $(<"$fallback") == "$Z3_VERSION") ]] && return 0
  elif [[ $INSTALL != yes ]]; then
    say "missing Z3 (not fetched because of --no-install): pip package z3-solver $Z3_VERSION in build/z3, or libz3-dev"
    return 1
  fi
  FORGET_Z3=yes
  if fetch_z3_wheel; then
    rm -f "$fallback"
    return 0
  fi
  if [[ $wheel == yes ]]; then
    say "keeping the Z3 wheel $(<"$stamp") (delete build/z3-fallback to try again)"
  else
    say "using Debian's libz3-dev instead, which is older (delete build/z3-fallback to try the wheel again)"
    [[ $debian == yes ]] || ensure_packages libz3-dev || return 1
  fi
  echo "$Z3_VERSION" >"$fallback"
}

# fetch SECONDS FOLDER WHEEL: with pip, twice where the first time fails; a registry that is slow is given up after SECONDS each time.
fetch() {
  local try
  for try in 1 2; do
    timeout "$1" python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --retries 1 --timeout 30 \
      --dest "$2" "$3" >&2 </dev/null && return 0
  done
  return 1
}

fetch_z3_wheel() {
  local download="$HEDDLE_ROOT/build/z3-download"
  say "fetching Z3 $Z3_VERSION (PyPI wheel z3-solver, about 30 MB) into build/z3"
  python3 -m pip --version >/dev/null 2>&1 || ensure_packages python3-pip || return 1
  rm -rf "$download" && mkdir -p "$download/unpacked"
  if ! fetch 180 "$download" "z3-solver==$Z3_VERSION" ||
     ! python3 -m zipfile -e "$download"/z3_solver-*.whl "$download/unpacked" ||
     [[ ! -e $download/unpacked/z3/lib/libz3.so || ! -e $download/unpacked/z3/include/z3++.h ]]; then
    say "the Z3 wheel could not be fetched (no network, or none for this platform)"
    rm -rf "$download"
    return 1
  fi
  # The program asks for the library by its soname; a wheel cannot hold links, so either name may be the only file.
  local library="$download/unpacked/z3/lib/libz3.so" soname
  soname=$(objdump -p "$library" 2>/dev/null | awk '$1 == "SONAME" {print $2}')
  if [[ -n $soname && $soname != libz3.so ]]; then ln -sf libz3.so "$download/unpacked/z3/lib/$soname"; fi
  echo "$Z3_VERSION" >"$download/unpacked/z3/VERSION"
  rm -rf "$Z3_DIR" && mv "$download/unpacked/z3" "$Z3_DIR" && rm -rf "$download"
}

# Triton, for tests/wheel only: a virtual environment build/triton. Where it cannot be had those tests are skipped, and build/triton-missing
# holds the reason, so that later runs do not ask the network again. Never fails.
ensure_triton() {
  local stamp="$TRITON_DIR/VERSION" missing="$HEDDLE_ROOT/build/triton-missing" reason='' folder
  [[ -e $stamp && $(<"$stamp") == "$TRITON_VERSION" ]] && return 0
  [[ $INSTALL == yes ]] || return 0
  [[ -e $missing && $(<"$missing") == "Triton $TRITON_VERSION: "* ]] && return 0
  say "fetching Triton $TRITON_VERSION (PyPI wheel, about 290 MB) into build/triton, for the tests with label wheel"
  rm -rf "$TRITON_DIR"
  if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    reason="its wheel wants Python 3.11 or later, this is $(python3 --version 2>&1)"
  elif ! python3 -m pip --version >/dev/null 2>&1; then
    reason="pip is not installed (Debian package python3-pip)"
  elif ! python3 -m venv --without-pip "$TRITON_DIR" >&2 </dev/null; then
    reason="python3 -m venv does not work here"
  else
    folder=$("$TRITON_DIR/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    timeout 240 python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --no-compile \
      --only-binary=:all: --retries 1 --timeout 30 --target "$folder" "triton==$TRITON_VERSION" >"$HEDDLE_ROOT/build/install.log" 2>&1 </dev/null ||
      reason="the wheel could not be fetched (no network, or none for this platform): $(tail -n 1 "$HEDDLE_ROOT/build/install.log")"
  fi
  if [[ -z $reason ]]; then
    echo "$TRITON_VERSION" >"$stamp"
    rm -f "$missing"
  else
    say "no Triton: $reason; the tests with label wheel are skipped (delete build/triton-missing to try again)"
    echo "Triton $TRITON_VERSION: $reason" >"$missing"
    rm -rf "$TRITON_DIR"
  fi
}

# PyTorch, for tests/torch only: a virtual environment build/torch. CUDA's libraries are those of the toolkit, where that has them: their wheels
# are three gigabytes more. Where it cannot be had those tests are skipped, and build/torch-missing holds the reason. Never fails.
ensure_torch() {
  local stamp="$TORCH_DIR/VERSION" missing="$HEDDLE_ROOT/build/torch-missing" reason='' log="$HEDDLE_ROOT/build/install.log"
  [[ -e $stamp && $(<"$stamp") == "$TORCH_VERSION" ]] && return 0
  [[ $INSTALL == yes ]] || return 0
  [[ -e $missing && $(<"$missing") == "PyTorch $TORCH_VERSION: "* ]] && return 0
  say "fetching PyTorch $TORCH_VERSION (PyPI wheels, about 1 GB) into build/torch, for the tests with label torch"
  rm -rf "$TORCH_DIR"
  if ! python3 -m venv "$TORCH_DIR" >"$log" 2>&1 </dev/null; then
    reason="python3 -m venv does not work here (Debian package python3-venv)"
  elif ! timeout 1200 "$TORCH_DIR/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
    "torch==$TORCH_VERSION" nvidia-{cufile,cusparselt-cu13,nvshmem-cu13,nccl-cu13} typing-extensions sympy mpmath networkx jinja2 MarkupSafe filelock \
    fsspec numpy 'setuptools>=77.0.3,<82' wheel ninja pytest iniconfig packaging pluggy pygments expecttest >"$log" 2>&1 </dev/null; then
    reason="the wheels could not be fetched (no network, or none for this platform): $(tail -n 1 "$log")"
  elif ! "$TORCH_DIR/bin/python" -c 'import torch' >"$log" 2>&1; then
    reason="it does not start without more of CUDA's libraries: $(tail -n 1 "$log")"
  fi
  if [[ -z $reason ]]; then
    echo "$TORCH_VERSION" >"$stamp"
    rm -f "$missing"
  else
    say "no PyTorch: $reason; the tests with label torch are skipped (delete build/torch-missing to try again)"
    echo "PyTorch $TORCH_VERSION: $reason" >"$missing"
    rm -rf "$TORCH_DIR"
  fi
}

# configure PRESET [CMAKE ARGUMENT...]: runs CMake only if this preset was not configured here in this way, or its inputs
# changed; apart from that Ninja reruns CMake by itself.
configure() {
  local preset=$1; shift
  local folder="$HEDDLE_ROOT/build/$preset" forget=()
  local cache="$folder/CMakeCache.txt" stamp="$folder/configured-with"
  # A copied or renamed repository keeps caches that point to the old place.
  if [[ -e $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$HEDDLE_ROOT" "$cache"; then rm -rf "$folder"; fi
  if [[ -e $cache && ! -e $(sed -n 's/^Z3_LIBRARY:FILEPATH=//p' "$cache") ]] || [[ ${FORGET_Z3:-} == yes ]]; then
    forget=(-U Z3_LIBRARY -U Z3_INCLUDE)
  elif [[ -e $folder/build.ninja && ! $HEDDLE_ROOT/CMakePresets.json -nt $folder/build.ninja ]] &&
       { (($# == 0)) || [[ $(cat "$stamp" 2>/dev/null) == "$*" ]]; }; then
    return 0
  fi
  # Depend mode: by its preprocessed text ccache would give back a precompiled header made before a comment changed; GCC
  # compares whole headers to see what it holds already, and would read the changed one again ("redefinition of").
  # The namespace keeps away from what other modes left: depend mode believes their lists of headers, wrong ones too.
  if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER-env;CCACHE_DEPEND=1;CCACHE_NAMESPACE=heddle-depend;ccache}"
  fi
  say "configuring build/$preset"
  if (cd "$HEDDLE_ROOT" && cmake --preset "$preset" "${forget[@]}" "$@") >"$HEDDLE_ROOT/build/configure.log" 2>&1 </dev/null; then
    echo "$*" >"$stamp"
    return 0
  fi
  cat "$HEDDLE_ROOT/build/configure.log" >&2
  rm -f "$folder/build.ninja"   # so that the next run configures again
  return 1
}

# build PRESET [TARGET...]: silent when there is nothing to do; else one line that counts, and in full what fails.
build() {
  local preset=$1; shift
  NINJA_STATUS='[%f/%t] ' ninja -C "$HEDDLE_ROOT/build/$preset" "$@" 2>&1 </dev/null | count_steps "$preset" >&2
  return "${PIPESTATUS[0]}"
}

# count_steps PRESET: of what Ninja prints, steps become one line on a terminal, elsewhere a line for every tenth of them.
count_steps() {
  local line name="build/$1" tenth=0 counting=''
  local step='^\[([0-9]+)/([0-9]+)\] (.*)$'
  clear_count() { [[ -z $counting ]] || printf '\r\e[K'; counting=''; }
  while IFS= read -r line; do
    if [[ $line =~ $step ]]; then
      local done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
      [[ ${BASH_REMATCH[3]} == 'Re-checking globbed'* || ${BASH_REMATCH[3]} == 'Re-running CMake'* ]] && continue
      if [[ -t 2 ]]; then
        printf '\r\e[Kheddle: %s: %d of %d steps' "$name" "$done" "$all"
        counting=yes
      elif ((all >= 20 && done * 10 / all > tenth)); then
        tenth=$((done * 10 / all))
        printf 'heddle: %s: %d of %d steps\n' "$name" "$done" "$all"
      fi
      continue
    fi
    case $line in 'ninja: no work to do'* | 'ninja: Entering directory'* | '-- '*) continue ;; esac
    clear_count
    printf '%s\n' "$line"
  done
  clear_count
}

# Two set-ups at a time would tread on each other: wait for the other one. Released by unlock_build or at exit.
lock_build() {
  mkdir -p "$HEDDLE_ROOT/build"
  command -v flock >/dev/null || return 0
  exec 9>"$HEDDLE_ROOT/build/.lock"
  flock -n 9 || { say "another run.sh or test.sh is building here; waiting for it"; flock 9; }
}
unlock_build() { exec 9>&-; }
