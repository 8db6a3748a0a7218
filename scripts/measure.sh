#!/bin/sh
# Measures everything on the GPU of this machine: heddle bench, with the program of this repository's build.
#
#   scripts/measure.sh h200 [OPTIONS OF heddle bench]
#
# A machine with a GPU and nothing else gets the package for servers (scripts/package.sh) and runs: bin/heddle bench h200
exec "$(dirname "$0")/../build/release/heddle" bench "$@"
