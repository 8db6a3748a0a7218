#!/usr/bin/env bash
# A compiler launcher of CMake: what GCC was to compile, clang++ compiles. For tests, whose compilation takes half of GCC's time so
# (HEDDLE_CLANG_TESTS); both use the same standard library, so their objects link.
words=()
for word in "${@:2}"; do
  case $word in --param=ggc-* | -Wno-subobject-linkage | -Wno-restrict | -Wno-maybe-uninitialized) ;; *) words+=("$word") ;; esac
done
exec clang++ "${words[@]}"
