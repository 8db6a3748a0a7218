// Mistakes planted one at a time in our own kernels are found, but for those of a table with their reasons; harmless edits are no mistakes.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/ptx/report/mutant_campaign.h"

using namespace heddle;
using namespace heddle::test;

namespace {

struct Row {
  std::string statement, reason;
};
/// Of tests/ptx/mutants.txt, by "text kind line".
std::map<std::string, Row> table() {
  std::map<std::string, Row> rows;
  std::ifstream file(std::string(HEDDLE_SOURCE_DIR) + "/tests/ptx/mutants.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t statement = line.find(" | "), reason = line.rfind(" | ");
    REQUIRE(statement < reason);
    const auto [at, made] = rows.try_emplace(line.substr(0, statement));
    CHECK(made);
    at->second = {line.substr(statement + 3, reason - statement - 3), line.substr(reason + 3)};
  }
  return rows;
}

struct Tally {
  int planted = 0, found = 0, core = 0, core_found = 0;
};

/// Arrivals, expected bytes and waits for products: what every ring rests on.
bool is_core(const std::string& kind) {
  return kind == "drop_arrive" || kind == "expect_more" || kind == "expect_half" || kind == "drop_product_wait" ||
         kind == "drop_tensor_commit";
}

/// Every mutant of one text, judged and compared with the table.
void plant_all(const std::string& name, Tally& tally) {
  const CampaignKernel kernel = campaign_kernel(name);
  std::map<std::string, Row> rows = table();
  std::erase_if(rows, [&](const auto& row) { return !row.first.starts_with(name + " "); });
  for (const PtxMutant& mutant : ptx_mutants(kernel.text, executed_lines(kernel))) {
    const JudgedMutant one = judged(kernel, mutant);
    const bool found = one.judged == Judged::Wrong || one.judged == Judged::Doubtful;
    const std::string key = name + " " + one.kind + " " + std::to_string(one.line);
    INFO(key << ": " << one.statement << "\n" << one.said);
    ++tally.planted;
    tally.found += found ? 1 : 0;
    tally.core += is_core(one.kind) ? 1 : 0;
    tally.core_found += found && is_core(one.kind) ? 1 : 0;
    const auto row = rows.find(key);
    if (found) {
      CHECK(row == rows.end());  // the table has no line for what is found
      continue;
    }
    CHECK(row != rows.end());
    if (row == rows.end()) continue;
    CHECK(row->second.statement == one.statement);
    CHECK(row->second.reason.size() > 20);
    rows.erase(row);
  }
  for (const auto& [key, row] : rows) FAIL_CHECK("the table tells of " << key << ", which was not planted or is found");
}

void edit(const std::string& name, int count, std::uint64_t seed) {
  const CampaignKernel kernel = campaign_kernel(name);
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
  plant_all("gemm_blackwell", tally);
  CHECK(tally.planted > 100);
  CHECK(tally.core_found == tally.core);
}

TEST_CASE("harmless edits of our kernels are no mistakes", "[ptx]") {
  const std::string name = GENERATE("gemm_hopper", "attention_forward_hopper", "gemm_blackwell");
  edit(name, 16, kSeed);
}

TEST_CASE("of all planted mistakes 92 of 100 are found, of arrivals, bytes and waits for products 98", "[.slow][ptx]") {
  Tally tally;
  for (const char* name : {"gemm_hopper", "attention_forward_hopper", "gemm_blackwell"}) plant_all(name, tally);
  INFO(tally.found << " of " << tally.planted << ", " << tally.core_found << " of " << tally.core);
  CHECK(tally.planted >= 500);
  CHECK(tally.found * 100 >= tally.planted * 92);
  CHECK(tally.core_found * 100 >= tally.core * 98);
}

TEST_CASE("200 harmless edits of each of our kernels are no mistakes", "[.slow][ptx]") {
  const std::string name = GENERATE("gemm_hopper", "attention_forward_hopper", "gemm_blackwell");
  edit(name, 200, kSeed);
}
