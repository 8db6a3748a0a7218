#!/usr/bin/env bash
# Makes what other machines install, into build/packages:
#   heddle_VERSION_amd64.deb           Debian 12: command line and window
#   heddle-VERSION-linux-x86_64.tar.gz         the command line, where there is nothing but glibc
#   heddle-server-VERSION-linux-x86_64.tar.gz  the same without solver, with solved schedules: for a machine with a GPU
# Usage: scripts/package.sh [--no-install]
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
if [[ ${1:-} == --no-install ]]; then INSTALL=no; shift; fi
(($# == 0)) || { sed -n '2,/^# Usage/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }

lock_build
ensure_packages "${BUILD_PACKAGES[@]}" binutils dpkg-dev || exit 6
ensure_z3 || exit 6
configure release || die 6 "CMake could not configure the build"
build release heddle heddle-gui || die 1 "the build failed"
configure server || die 6 "CMake could not configure the build"
build server heddle || die 1 "the build failed"

packages="$HEDDLE_ROOT/build/packages"
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$HEDDLE_ROOT/build/release/CMakeCache.txt")
suffix="$version-linux-$(uname -m)"
rm -rf "$packages" && mkdir -p "$packages/stage" || exit 1

# stage BUILD NAME: what the build installs, without the window, in a folder of that name.
stage() {
  cmake --install "$HEDDLE_ROOT/build/$1" --component Unspecified --prefix "$packages/stage/$2" --strip >/dev/null
}
# The libraries that the programs of a staged folder ask for, apart from glibc's, beside Z3.
carry_libraries() {
  local name path
  mkdir -p "$1/lib/heddle"
  ldd "$1/bin/heddle" | awk '$3 ~ /^\// {print $1, $3}' | while read -r name path; do
    case $name in libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.*) continue ;; esac
    [[ -e $1/lib/heddle/$name ]] || install -m 755 "$path" "$1/lib/heddle/$name"
  done
  name="$1/lib/heddle/libstdc++.so.6"   # glibc 2.35 is enough
  [[ ! -e $name ]] || python3 "$HEDDLE_ROOT/scripts/older_version.py" "$name" GLIBC_2.36 GLIBC_2.34
}
# Every kernel on every machine that can run it: a schedule that compiles clean, else one that can be written as a kernel, else the best. What
# was compiled goes along, for machines with a driver and no compiler; without a compiler here that is left out.
solve_everything() {
  local heddle="$HEDDLE_ROOT/build/release/heddle" cache="$packages/stage/cache" kernel machine file compiler
  for kernel in $("$heddle" list kernels --quiet); do
    for machine in $("$heddle" list machines --quiet); do
      file="$1/share/heddle/kernels/schedules/$kernel/$machine.json"
      "$heddle" analyze "$kernel" "$machine" >/dev/null 2>&1 || continue
      mkdir -p "${file%/*}"
      XDG_CACHE_HOME=$cache HEDDLE_STORE=off "$heddle" compile "$kernel" "$machine" --allow --schedule "$file" >/dev/null 2>&1 ||
        "$heddle" emit "$kernel" "$machine" --schedule "$file" >/dev/null 2>&1 || [[ -s $file ]] ||   # solved, though no kernel for that machine
        "$heddle" solve "$kernel" "$machine" --quiet --out "$file" >/dev/null || rm -f "$file"
    done
  done
  for machine in h100 h200; do   # what heddle bench measures: other sizes of tiles, too
    XDG_CACHE_HOME=$cache HEDDLE_STORE=off "$heddle" bench "$machine" --only prepare --out "$packages/stage/bench-$machine" --quiet >/dev/null 2>&1
    mkdir -p "$1/share/heddle/bench" && mv "$packages/stage/bench-$machine/schedules" "$1/share/heddle/bench/$machine"
  done
  [[ -d $cache/heddle/kernels ]] || return 0
  mv "$cache/heddle/kernels" "$1/share/heddle/cubins"
  compiler=$(XDG_CACHE_HOME=$cache "$heddle" compile gemm_hopper h100 --json | sed -n 's/^ *"compiler": "\(.*\)",\{0,1\}$/\1/p')
  echo "$compiler" >"$1/share/heddle/cubins/compiler"
}
pack() { tar -C "$packages/stage" --owner=0 --group=0 -czf "$packages/$1.tar.gz" "$1"; }

say "packing the command line"
stage release "heddle-$suffix" && carry_libraries "$packages/stage/heddle-$suffix" && pack "heddle-$suffix" || die 1 "no package of the command line"
say "packing what goes to a machine with a GPU"
server="$packages/stage/heddle-server-$suffix"
stage server "heddle-server-$suffix" && carry_libraries "$server" && solve_everything "$server" || die 1 "no package for servers"
[[ $("$server/bin/heddle" show attention_forward_hopper h100 2>&1) == *'II '* ]] || die 1 "the package for servers finds no schedule"
pack "heddle-server-$suffix" || die 1 "no package for servers"
say "packing for Debian"
(cd "$HEDDLE_ROOT/build/release" && cpack -G DEB -B "$packages/stage/deb") >"$packages/stage/cpack.log" 2>&1 || { cat "$packages/stage/cpack.log" >&2; exit 1; }
mv "$packages"/stage/deb/*.deb "$packages/" && rm -rf "$packages/stage"
(cd "$packages" && ls -l ./*.deb ./*.tar.gz)
