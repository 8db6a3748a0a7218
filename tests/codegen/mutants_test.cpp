// How much of what can be wrong in a program the interpreter notices. What it lets pass must be on a list, with the reason
// why the changed program is as good as the one it came from.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

#include <catch2/catch.hpp>
#include <fmt/format.h>

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

// Rings protect each other: the producer is one stream, and wgmmas of one role finish in order.
const std::vector<Harmless> kHarmless{
    {"gemm_hopper", "later producer, steady state 0: 'wait empty b[i]'",
     "before it loads b[i] the producer has waited for a0[i-1] and a1[i-1], which are freed when b[i-3] has been read"},
    {"gemm_hopper", "earlier consumer A, steady state 2: 'arrive empty b[i-1]", "b[i+2] comes after a1[i+1], which waits for a1[i-1], freed after the same wgmma"},
    {"gemm_hopper", "earlier consumer A, epilogue 3: 'arrive empty b[8]", "the same in the next tile"},
    {"swiglu_dual_gemm_hopper", "producer, steady state 0: 'wait empty bu[i]'",
     "before it the producer has waited for a1[i-2] and a0[i-2], freed after the last wgmmas that read bu[i-2]"},
    {"swiglu_dual_gemm_hopper", "consumer A, steady state 2: 'retire wgmma groups, 2",
     "bu[i+1] comes after a0[i+1], which waits for a0[i-1], freed after G0[i-1], which was issued after U0[i-1]"},
    {"swiglu_dual_gemm_hopper", "consumer A, epilogue 3: 'retire wgmma groups, 1", "the same; what reads registers comes after another wait"},
    {"gemm_hopper", "earlier consumer B, steady state 1: 'arrive empty b[i]",
     "b[i+3] comes after a0[i+2] in the producer's stream, which waits for a0[i], freed after the wgmma that reads b[i]"},
    {"attention_forward_hopper", "earlier consumer B, steady state 2: 'arrive empty k[i]",
     "k[i+2] comes after v[i+1], which waits for v[i-1], freed after PV1[i-1], which was issued after QK1[i]"},
    {"attention_forward_hopper", "earlier consumer A, epilogue 3: 'arrive empty k[8]", "as for v[8]"},
    {"attention_forward_hopper", "epilogue 3: 'arrive empty v[8]", "the next tile's loads wait for Q to be free, which is after the last wgmma"},
    {"attention_forward_causal_hopper", "earlier consumer B, steady state 2: 'arrive empty k[i]", "as without a mask"},
    {"attention_forward_causal_hopper", "epilogue 3: 'arrive empty v[n-1]", "as without a mask"},
    {"attention_forward_causal_hopper", "producer, begin of the tile 0: 'wait empty q1'",
     "before it the producer waits for q0, free after PV0[n-1], whose turn comes after that of PV1[n-1], for which QK1[n-1] was awaited"},
    {"attention_forward_causal_hopper", "epilogue 3: 'arrive empty k[n-1]", "the same"},
    {"swiglu_dual_gemm_hopper", "consumer A, prologue 1: 'commit wgmma group'", "the next commit closes both, and nobody waits for one of them alone"},
    {"swiglu_dual_gemm_hopper", "earlier consumer A, steady state 2: 'arrive empty bu[i-1]",
     "bu[i+1] comes after a0[i+1] in the producer's stream, which waits for a0[i-1], freed after G0[i-1], which was issued after U0[i-1]"},
    {"swiglu_dual_gemm_hopper", "earlier consumer A, steady state 2: 'arrive empty bg[i-1]",
     "the same with a0 of the next iteration: bg is the last load of an iteration"},
    {"swiglu_dual_gemm_hopper", "earlier consumer A, epilogue 3: 'arrive empty b", "the same"},
    {"swiglu_dual_gemm_hopper", "consumer B, steady state 1: 'commit wgmma group'", "as in consumer A"},
    {"swiglu_dual_gemm_hopper", "consumer B, steady state 1: 'retire wgmma groups, 1", "bg[i+2] comes after a1[i+2], which waits for a1[i], freed after both"},
    {"swiglu_dual_gemm_hopper", "earlier consumer B, steady state 1: 'arrive empty b", "the same"},
    {"layernorm", "'wait empty centered", "var has one slot, so the roles are never two iterations apart, and centered has three slots"},
    {"layernorm", "'arrive full centered", "consumer B has waited for var[i], which consumer A signals after centered[i]"},
    {"layernorm", "'arrive empty centered", "as for 'wait empty centered'"},
    {"layernorm", "epilogue 6: 'advance c1", "the ring of one role: writing and reading it go on together from another slot"},
};

const Harmless* harmless(const std::string& kernel, const std::string& what) {
  const auto it = std::find_if(kHarmless.begin(), kHarmless.end(), [&](const Harmless& h) { return kernel == h.kernel && what.find(h.what) != std::string::npos; });
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
  std::cout << fmt::format("{} of {} mutants caught; the others change nothing:\n{}", caught, count, std::getenv("HEDDLE_VERBOSE") ? survivors : "  (HEDDLE_VERBOSE=1 lists them)\n");
  CHECK(caught * 100 >= count * 94);
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
    if (const auto found = run_symbolic(from.kernel, program, {.seed = seed}); found && found->kind == FaultKind::Deadlock) fault = to_string(*found);
  CHECK(fault.find("deadlock: producer at 'wait empty") == 0);
  CHECK(fault.find("nobody can go on") != std::string::npos);
}
