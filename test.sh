#!/usr/bin/env bash
# shellcheck disable=SC2317  # the stages are called by name
# Installs what is missing, builds everything, and runs the tests. Ends with one summary line per stage; exit code 0 only if
# every stage passed.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

usage() {
  cat <<TEXT
Usage: ./test.sh [--no-install] [--label X]... [--slow] [--asan] [--tsan] [--strange] [--variants] [--all] [-- CTEST ARGUMENT...]

With no option: builds the release preset and runs every test that is not slow.
--label X     only tests with this label (core, solver, property, app, ui, cli, layering, ...; torch, which needs --slow, fetches PyTorch)
--slow        the slow tests too
--asan        address and undefined-behaviour sanitizers instead: core, solver, app and window tests
--tsan        thread sanitizer instead: the app tests, jobs among them, and the window tests that need no OpenGL
--strange     address sanitizer by clang instead: only the command line, with strange input
--variants    builds heddle without window and without solver instead, and inspects what it links
--all         the release tests, then --asan, --tsan and --variants: everything, about 35 minutes from nothing on two cores
--ci          what .ci/run does: the release tests, and that heddle links without a solver
--werror      warnings are errors
--no-install  install nothing; say what is missing
TEXT
}

stages=() labels=() slow=no werror=() ctest_arguments=()
while (($#)); do
  case $1 in
    --no-install) INSTALL=no ;;
    --label) [[ -n ${2:-} ]] || die 2 "--label wants a name"; labels+=("$2"); shift ;;
    --slow) slow=yes ;;
    --werror) werror=(-DHEDDLE_WERROR=ON) ;;
    --asan) stages+=(asan) ;;
    --tsan) stages+=(tsan) ;;
    --strange) stages+=(strange) ;;
    --variants) stages+=(variants) ;;
    --all) stages+=(release asan tsan variants) ;;
    --ci) stages+=(release bare) ;;
    --help | -h) usage; exit 0 ;;
    --) shift; ctest_arguments=("$@"); break ;;
    *) usage >&2; die 2 "unknown option: $1" ;;
  esac
  shift
done
((${#stages[@]})) || stages=(release)
if [[ " ${labels[*]} " == *' torch '* && $slow == no ]]; then die 2 "--label torch needs --slow: its tests are slow ones"; fi

lock_build
ensure_packages "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}" || [[ $INSTALL == no ]] || exit 6
if [[ " ${stages[*]} " == *' strange '* ]]; then ensure_packages clang libclang-rt-dev || true; fi
if [[ " ${stages[*]} " == *' bare '* ]]; then ensure_packages clang || true; fi   # compiles tests in half of GCC's time
ensure_z3 || [[ $INSTALL == no ]] || exit 6
# The release stage runs the tests with Triton's own wheel, unless other labels are asked for.
if [[ " ${stages[*]} " == *' release '* && " ${labels[*]:-wheel} " == *' wheel '* ]]; then ensure_triton; fi

# Gigabytes, and minutes of compiling: only where it is asked for.
if [[ " ${labels[*]} " == *' torch '* ]]; then ensure_torch; fi

filters=()
[[ $slow == yes ]] || filters+=(-LE '^slow$')
if ((${#labels[@]})); then filters+=(-L "^($(IFS='|'; echo "${labels[*]}"))\$"); fi

# run_ctest PRESET ARGUMENT...
run_ctest() {
  local preset=$1; shift
  ctest --test-dir "$HEDDLE_ROOT/build/$preset" --output-on-failure --no-tests=error -j "$(nproc)" "$@" \
    "${filters[@]}" "${ctest_arguments[@]}" </dev/null 9>&-   # a test's left-over child must not hold the build lock
}

stage_release() {
  local clang=()
  if echo '#include <string>' | clang++ -std=c++20 -x c++ -c - -o /dev/null 2>/dev/null; then clang=(-DHEDDLE_CLANG_TESTS=ON); fi
  configure release "${werror[@]}" "${clang[@]}" && build release && run_ctest release
}
opens_gl='ui/(picture|flows|cli_equivalent|smoke|crash|golden_states)'
# OpenGL's drivers and cuDNN keep memory and are unloaded, so what opens them is run without the search for leaks.
stage_asan() {
  local keeps="($opens_gl|gpu/library)"
  configure asan && build asan test_{core,ptx,codegen,solver,app,cli,gpu,monkey,strange,ui} || return 1
  UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1 \
    run_ctest asan -R '^(core|ptx|codegen|solver|app|cli|gpu|monkey|strange|ui)/' -E "^$keeps\$" &&
    ASAN_OPTIONS=detect_leaks=0 run_ctest asan -R "^$keeps\$"
}
stage_tsan() {
  configure tsan && build tsan test_{app,monkey,ui} || return 1
  TSAN_OPTIONS="halt_on_error=1" run_ctest tsan -R '^(app|monkey|ui)/' -E "^$opens_gl\$"
}
# What meets strange input first, the command line, a thousand times. clang takes about half of GCC's time for that, and is a second reader of
# all code but the window's. Continuous integration, which has 15 minutes on two cores, does without: most of them go into compiling once.
stage_strange() {
  local compiler=()
  if ! echo 'int main() {}' | clang++ -fsanitize=address -x c++ - -o /dev/null 2>/dev/null; then
    say "clang cannot sanitize here; g++ does, which takes longer"
    compiler=(-DCMAKE_CXX_COMPILER=g++)
  fi
  configure strange "${compiler[@]}" "${werror[@]}" && build strange test_strange heddle &&
    HEDDLE_STRANGE_JOBS=$(nproc) ASAN_OPTIONS=detect_leaks=1 run_ctest strange -R '^strange/'
}
# The command line without the solver, from the rooms that the release build has; and the option builds can be configured.
stage_bare() {
  build release heddle-bare || return 1
  python3 "$HEDDLE_ROOT/tests/layering/linkage.py" "$HEDDLE_ROOT/build/release/heddle-bare" --never z3 GL glfw EGL X11 imgui || return 1
  configure no-solver && configure no-gui
}
# The option builds: each must configure and link without what it leaves out.
stage_variants() {
  local folder="$HEDDLE_ROOT/build"
  configure no-solver -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG= -DHEDDLE_GUI=OFF -DHEDDLE_TESTS=OFF "${werror[@]}" &&
    build no-solver heddle || return 1
  python3 "$HEDDLE_ROOT/tests/layering/linkage.py" "$folder/no-solver/heddle" --never z3 GL glfw EGL X11 imgui || return 1
  configure no-gui
}

summary=() failed=0 begin=$SECONDS
for stage in "${stages[@]}"; do
  started=$SECONDS
  say "stage $stage"
  if "stage_$stage"; then verdict=passed; else verdict=FAILED failed=1; fi
  summary+=("$(printf '%-12s %-7s %4d s' "$stage" "$verdict" $((SECONDS - started)))")
done
printf '\nSummary (%d s)\n' $((SECONDS - begin))
printf '  %s\n' "${summary[@]}"
exit "$failed"
