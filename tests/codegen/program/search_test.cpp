// The search for what a schedule leaves open: which candidates are built, which one is taken, and why the others were not.
#include "codegen/program/search.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/codegen/fixture.h"

using namespace heddle;
using namespace heddle::codegen;

TEST_CASE("of every candidate that cannot be built the search says why, and it goes on only where memory is short", "[codegen]") {
  int refused = 0;
  for (const auto* names : {&test::lowered_kernels(), &test::blackwell_kernels()})
    for (const std::string& name : *names) {
      CAPTURE(name);
      const test::Lowering from = test::lowering(name);
      ProgramSearch search(from.kernel, from.problem, {}, {});
      const BuildResult best = search.best(from.schedule);
      REQUIRE(best.program);
      const std::vector<Trial>& trials = search.trials();
      const auto first = std::find_if(trials.begin(), trials.end(), [](const Trial& t) { return t.refusals.empty(); });
      REQUIRE(first != trials.end());
      CHECK(first->candidate.depths == from.schedule.depths);
      for (auto before = trials.begin(); before != first; ++before, ++refused) {
        REQUIRE(before->refusals.size() == 1);
        CHECK(before->refusals[0].rule == "shared_memory");
      }
      CHECK(best.program->smem_bytes == test::program_of(from).smem_bytes);
    }
  CHECK(refused > 0);
}

TEST_CASE("roomier ways come first, and rings are deepened only after a program is found", "[codegen]") {
  const test::Lowering from = test::lowering("gemm_hopper");
  ProgramSearch search(from.kernel, from.problem, {}, {}), least(from.kernel, from.problem, {}, {.deep_rings = false});
  REQUIRE(search.best(from.schedule).program);
  REQUIRE(least.best(from.schedule).program);
  CHECK_FALSE(search.trials().front().candidate.staging.overlay);
  CHECK(search.trials().front().candidate.staging.panels == 0);
  REQUIRE(search.trials().size() > least.trials().size());
  for (std::size_t k = 0; k < search.trials().size(); ++k)
    CHECK((search.trials()[k].candidate.depths == from.schedule.depths) == (k < least.trials().size()));
}

TEST_CASE("what no candidate can mend ends the search at once", "[codegen]") {
  const test::Lowering from = test::lowering("gemm_hopper");
  ProgramSearch search(from.kernel, from.problem, {}, {.cluster = 3});
  const BuildResult none = search.best(from.schedule);
  REQUIRE_FALSE(none.program);
  REQUIRE(search.trials().size() == 1);
  CHECK(none.refusals.at(0).rule == "cluster");
  CHECK(search.trials()[0].refusals.at(0).sentence == none.refusals[0].sentence);
}
