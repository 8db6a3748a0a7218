// How much of what can be wrong in a program the interpreter notices. What it lets pass must be on a list, with the reason
// why the changed program is as good as the one it came from.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/interpret/interpret.h"
#include "tests/codegen/fixture.h"
#include "tests/codegen/mutants.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

struct Harmless {
  const char* kernel;
  const char* what;  ///< part of the mutant's text
  const char* why;
};

constexpr const char* kMeetsAnyway =
    "the warps have met since they touched what the product fills or reads; the builder lets them meet again";
constexpr const char* kLongOver = "about the tile before's last product, which the end of that tile has awaited";
constexpr const char* kReadBefore = "the step before reads nothing of what is given back";
constexpr const char* kFilledBefore = "the step before is not about what is told of";
constexpr const char* kAwaitsOwnProduct =
    "the same role fills S again, when it has awaited the product that reads it, because the end of the tile waits for its result";
constexpr const char* kRoomLeft = "the allocation is a power of two and has columns to spare";
constexpr const char* kReadByThen = "dQ, which the role has awaited, was made after dP had been read";
constexpr const char* kAgain = "the same stands there again before anything relies on it";
constexpr const char* kOtherResult = "one role stores both results, and waits for all stores again before each of them";
constexpr const char* kOwnTile = "the next product that fills what was loaded is the role's own, and its warps meet before it";

const std::vector<Harmless> kHarmless{
    {"layernorm", "'advance c1: slot +1 of 3", "the ring of one role: writing and reading it go on together from another slot"},
    {"gemm_pointers_hopper", "'retire store commit groups", kOtherResult},
    {"gemm_pointers_hopper", "'sync the role's warps", kOtherResult},
    {"gemm_pointers_hopper", "'close the commit group of stores'", kOtherResult},
    {"attention_forward_blackwell", "consumer A, prologue 1: 'fence: accesses to tensor memory so far", kMeetsAnyway},
    {"attention_forward_blackwell", "consumer A, prologue 1: 'sync", kMeetsAnyway},
    {"attention_forward_blackwell", "consumer B, prologue 1: 'fence: accesses to tensor memory so far", kMeetsAnyway},
    {"attention_forward_blackwell", "consumer B, prologue 1: 'sync", kMeetsAnyway},
    {"attention_forward_blackwell", "consumer B, prologue 1: 'wait full O0[0]'", kLongOver},
    {"attention_forward_blackwell", "'arrive empty alpha0", kReadBefore},
    {"attention_forward_blackwell", "earlier consumer B, epilogue 3: 'signal empty S1", kAwaitsOwnProduct},
    {"attention_backward_blackwell", "consumer A, prologue 1: 'fence: accesses to tensor memory so far", kMeetsAnyway},
    {"attention_backward_blackwell", "consumer A, prologue 1: 'sync", kMeetsAnyway},
    {"attention_backward_blackwell", "dropped consumer A, prologue 2: 'sync", kMeetsAnyway},
    {"attention_backward_blackwell", "dropped consumer A, steady state 3: 'sync", kMeetsAnyway},
    {"attention_backward_blackwell", "dropped consumer A, epilogue 4: 'sync", kMeetsAnyway},
    {"attention_backward_blackwell", "'arrive full dS", kFilledBefore},
    {"attention_backward_blackwell", "earlier consumer A, epilogue 4: 'signal empty S", kAwaitsOwnProduct},
    {"attention_backward_blackwell", "consumer A, epilogue 5", "the warp whose store has read the tile arrives itself"},
    {"attention_backward_blackwell", "consumer A, end of the tile 6: 'retire store commit groups", kAgain},
    {"attention_backward_blackwell", "consumer A, end of the tile 6: 'sync", kAgain},
    {"attention_backward_blackwell", "'wait empty dP", kReadByThen},
    {"attention_backward_blackwell", "consumer B, prologue 1: 'fence: accesses to tensor memory so far", kMeetsAnyway},
    {"attention_backward_blackwell", "consumer B, prologue 1: 'sync", kMeetsAnyway},
    {"attention_backward_blackwell", "dropped consumer B, steady state 2: 'sync", kAgain},
    {"attention_backward_blackwell", "dropped consumer B, epilogue 3: 'sync", kAgain},
    {"attention_backward_blackwell", "consumer B, epilogue 3: 'fence: accesses to tensor memory so far", kOwnTile},
    {"attention_backward_blackwell", "earlier consumer B, epilogue 3: 'arrive full dqs2", kOwnTile},
    {"attention_backward_blackwell", "earlier consumer B, steady state 2: 'arrive full dqs2", kFilledBefore},
    {"attention_backward_blackwell", "dropped consumer B, end of the tile 4: 'sync", kAgain},
    {"attention_forward_blackwell/fa4-noemu-nosplit", "consumer C, prologue 1: 'wait full O0[0]'", kLongOver},
    {"attention_forward_blackwell/fa4-noemu-nosplit", "consumer C, prologue 1: 'wait full O1[0]'", kLongOver},
    {"attention_forward_blackwell/fa4-noemu-nosplit", "'arrive empty alpha0", kReadBefore},
    {"attention_forward_blackwell/fa4-noemu-nosplit", "'arrive empty alpha1", kReadBefore},
    {"attention_forward_parts_blackwell/fa4-noemu", "consumer C, prologue 1: 'wait full O0[0]'", kLongOver},
    {"attention_forward_parts_blackwell/fa4-noemu", "consumer C, prologue 1: 'wait full O1[0]'", kLongOver},
    {"attention_forward_parts_blackwell/fa4-noemu", "'arrive empty alpha0", kReadBefore},
    {"attention_forward_parts_blackwell/fa4-noemu", "'arrive empty alpha1", kReadBefore},
    {"attention_forward_tile_blackwell/fa4-1q", "consumer B, prologue 1: 'wait full O[0]'", kLongOver},
    {"attention_forward_tile_blackwell/fa4-1q", "O begins half a slot later", kRoomLeft},
    {"attention_forward_tile_blackwell/fa4-1q", "one slot more for O", kRoomLeft},
};

const Harmless* harmless(const std::string& kernel, const std::string& what) {
  const auto it = std::find_if(kHarmless.begin(), kHarmless.end(),
                               [&](const Harmless& h) { return kernel == h.kernel && what.find(h.what) != std::string::npos; });
  return it == kHarmless.end() ? nullptr : &*it;
}

struct Case {
  std::string name;  ///< of the kernel, or of its hand schedule
  test::Lowering from;
  BuildOptions options{};
};

std::vector<Case> solved(const std::vector<std::string>& kernels) {
  std::vector<Case> cases;
  for (const std::string& name : kernels) cases.push_back({name, test::lowering(name), {}});
  return cases;
}

/// Of so many hundred mutants this many are caught; what is not must have a reason.
void check_mutants(const std::vector<Case>& cases, int percent) {
  int count = 0, caught = 0;
  std::set<const Harmless*> used;
  std::string survivors;
  for (const auto& [name, from, options] : cases) {
    const Program program = test::program_of(from, 9, options);
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const auto fault = run_symbolic(from.kernel, program, {.seed = seed, .tiles = 3});
      CAPTURE(name);
      if (fault) REQUIRE(to_string(*fault) == "");
    }
    for (const test::Mutant& mutant : test::mutants(from.kernel, program)) {
      ++count;
      bool found = false;
      for (std::uint64_t seed = 0; seed < 400 && !found; ++seed)
        found = run_symbolic(from.kernel, mutant.program, {.seed = seed, .tiles = 1 + static_cast<std::int64_t>(seed % 3)}).has_value();
      caught += found;
      if (found) continue;
      const Harmless* why = harmless(name, mutant.what);
      CAPTURE(name, mutant.what);
      CHECK(why);
      used.insert(why);
      if (why) survivors += fmt::format("  {}: {}\n    harmless: {}\n", name, mutant.what, why->why);
    }
  }
  std::cout << fmt::format("{} of {} mutants caught; the others change nothing:\n{}", caught, count,
                           std::getenv("HEDDLE_VERBOSE") ? survivors : "  (HEDDLE_VERBOSE=1 lists them)\n");
  CHECK(caught * 100 >= count * percent);
  // A reason that no mutant needs any more is no reason.
  for (const Harmless& h : kHarmless) {
    if (std::none_of(cases.begin(), cases.end(), [&](const Case& c) { return c.name == h.kernel; })) continue;
    CAPTURE(h.kernel, h.what);
    CHECK(used.contains(&h));
  }
}

}  // namespace

TEST_CASE("the interpreter catches every mutant of the shipped kernels' programs that can go wrong", "[codegen]") {
  check_mutants(solved(test::lowered_kernels()), 99);
}

TEST_CASE("the interpreter catches every mutant of the Blackwell kernels' programs that can go wrong", "[codegen][tensor]") {
  std::vector<Case> cases = solved(test::blackwell_kernels());
  for (const char* path : {"attention_forward_blackwell/fa4-noemu-nosplit", "attention_forward_parts_blackwell/fa4-noemu",
                           "attention_forward_tile_blackwell/fa4-1q", "gemm_blackwell/cutlass-sm100"}) {
    const std::string file = path;
    cases.push_back({file, test::lowering(file.substr(0, file.find('/')), {}, "kernels/schedules/" + file + ".json"), {}});
  }
  cases.push_back({"gemm_blackwell in pairs", test::lowering("gemm_blackwell"), {.cluster = 2}});
  check_mutants(cases, 98);
}

TEST_CASE("the interpreter says who went wrong where", "[codegen]") {
  const test::Lowering from = test::lowering("gemm_hopper");
  Program program = test::program_of(from, 9);
  for (codegen::Section& section : program.roles[1].sections)
    std::erase_if(section.steps, [&](const Step& step) { return step.kind == StepKind::Arrive && !program.barriers[step.barrier].full; });
  std::string fault;
  for (std::uint64_t seed = 0; seed < 50 && fault.empty(); ++seed)
    if (const auto found = run_symbolic(from.kernel, program, {.seed = seed}); found && found->kind == FaultKind::Deadlock)
      fault = to_string(*found);
  CHECK(fault.find("deadlock: producer at 'wait empty") == 0);
  CHECK(fault.find("no role can go on") != std::string::npos);
}
