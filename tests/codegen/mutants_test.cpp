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

const std::vector<Harmless> kHarmless{
    {"layernorm", "'advance c1: slot +1 of 3", "the ring of one role: writing and reading it go on together from another slot"},
};

const Harmless* harmless(const std::string& kernel, const std::string& what) {
  const auto it = std::find_if(kHarmless.begin(), kHarmless.end(),
                               [&](const Harmless& h) { return kernel == h.kernel && what.find(h.what) != std::string::npos; });
  return it == kHarmless.end() ? nullptr : &*it;
}

}  // namespace

TEST_CASE("the interpreter catches every mutant of the shipped kernels' programs that can go wrong", "[codegen]") {
  int count = 0, caught = 0;
  std::set<const Harmless*> used;
  std::string survivors;
  for (const std::string& name : test::lowered_kernels()) {
    const test::Lowering from = test::lowering(name);
    for (const test::Mutant& mutant : test::mutants(from.kernel, test::program_of(from, 9))) {
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
  CHECK(caught * 100 >= count * 99);
  // A reason that no mutant needs any more is no reason.
  for (const Harmless& h : kHarmless) {
    CAPTURE(h.kernel, h.what);
    CHECK(used.contains(&h));
  }
}

TEST_CASE("the interpreter says who went wrong where", "[codegen]") {
  const test::Lowering from = test::lowering("gemm_hopper");
  Program program = test::program_of(from, 9);
  for (Section& section : program.roles[1].sections)
    std::erase_if(section.steps, [&](const Step& step) { return step.kind == StepKind::Arrive && !program.barriers[step.barrier].full; });
  std::string fault;
  for (std::uint64_t seed = 0; seed < 50 && fault.empty(); ++seed)
    if (const auto found = run_symbolic(from.kernel, program, {.seed = seed}); found && found->kind == FaultKind::Deadlock)
      fault = to_string(*found);
  CHECK(fault.find("deadlock: producer at 'wait empty") == 0);
  CHECK(fault.find("no role can go on") != std::string::npos);
}
