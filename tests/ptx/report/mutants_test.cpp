// Mistakes planted one at a time in our own kernels are found, but for those of a table with their reasons; harmless edits are no mistakes.
#include <catch2/catch.hpp>

#include "tests/ptx/report/mutant_campaign.h"

using namespace heddle;
using namespace heddle::test;

namespace {

constexpr const char* kTable = "mutants.txt";

void edit(const std::string& name, int count, std::uint64_t seed) {
  const CampaignKernel kernel = own_kernel(name);
  CHECK(kernel.said.empty());
  for (const PtxMutant& mutant : harmless_ptx_edits(kernel.text, count, seed)) {
    const JudgedMutant one = judged(kernel, mutant);
    INFO(name << ", seed " << seed << ", " << one.kind << " at line " << one.line << ": " << one.statement << "\n" << one.said);
    CHECK(one.judged == Judged::Clean);
  }
}

constexpr std::uint64_t kSeed = 20261129;

}  // namespace

TEST_CASE("mistakes planted in the Blackwell GEMM are found, the others stand in the table with their reasons", "[ptx]") {
  Tally tally;
  plant(own_kernel("gemm_blackwell"), missed_table(kTable), 1, tally);
  CHECK(tally.planted > 100);
  CHECK(tally.core_found == tally.core);
}

TEST_CASE("harmless edits of our kernels are no mistakes", "[ptx]") {
  const std::string name = GENERATE("gemm_hopper", "attention_forward_hopper", "gemm_blackwell", "attention_forward_blackwell");
  edit(name, 16, kSeed);
}

TEST_CASE("of all planted mistakes 92 of 100 are found, of arrivals, bytes and waits for products 98", "[.slow][ptx]") {
  Tally tally;
  for (const char* name : {"gemm_hopper", "attention_forward_hopper", "gemm_blackwell", "attention_forward_blackwell"})
    plant(own_kernel(name), missed_table(kTable), 1, tally);
  INFO(tally.found << " of " << tally.planted << ", " << tally.core_found << " of " << tally.core);
  CHECK(tally.planted >= 900);
  CHECK(tally.found * 100 >= tally.planted * 92);
  CHECK(tally.core_found * 100 >= tally.core * 98);
}

TEST_CASE("200 harmless edits of each of our kernels are no mistakes", "[.slow][ptx]") {
  const std::string name = GENERATE("gemm_hopper", "attention_forward_hopper", "gemm_blackwell", "attention_forward_blackwell");
  edit(name, 200, kSeed);
}
