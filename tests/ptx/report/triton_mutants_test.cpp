// The same in kernels that Triton's wheel made: tests/wheel/mutants_test.py makes them, names their folder by HEDDLE_TRITON_TEXTS and runs
// these cases, which are hidden otherwise.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/ptx/report/mutant_campaign.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// Every `step`th mistake of all kernels. The numbers of each are printed: they stand in docs/ptx.md.
void plant_all(int step) {
  const char* folder = std::getenv("HEDDLE_TRITON_TEXTS");
  REQUIRE(folder != nullptr);
  const MissedTable table = missed_table("triton_mutants.txt");
  Tally all;
  for (const char* name : {"gemm_pointers_90", "gemm_pointers_100", "gemm_90", "gemm_100", "gemm_specialized_100", "attention_90",
                           "attention_100", "attention_specialized_100"}) {
    Tally tally;
    plant(campaign_kernel(name, std::filesystem::path(folder) / name / "0.json"), table, step, tally);
    WARN(name << ": " << tally.found << " of " << tally.planted);
    CHECK(tally.planted * step > 20);
    all.planted += tally.planted;
    all.found += tally.found;
    all.core += tally.core;
    all.core_found += tally.core_found;
  }
  INFO(all.found << " of " << all.planted << ", " << all.core_found << " of " << all.core);
  if (step > 1) return;
  // Fewer than of our own: Triton puts a barrier of the CTA around every copy, and each of them alone can be left out.
  CHECK(all.found * 100 >= all.planted * 80);
  CHECK(all.core_found * 100 >= all.core * 97);
}

}  // namespace

TEST_CASE("of the mistakes planted in Triton's kernels a sample is found, or listed with the reason", "[.wheel-sample]") { plant_all(7); }

TEST_CASE("all mistakes planted in Triton's kernels are found, or listed with the reason", "[.wheel-all]") { plant_all(1); }
