// Which instructions the compiled kernels have, and how many: a serialised wgmma, a spill, a conversion that is no longer
// packed or a wait too many shows here first. HEDDLE_UPDATE_GOLDENS=1 writes tests/golden/census.txt anew.
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/compile/compile.h"
#include "codegen/emit/emit.h"
#include "core/base/atomic_file.h"
#include "tests/codegen/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

struct Case {
  const char* kernel;
  Scope params;
  std::string schedule;  ///< below kernels/schedules; empty: the solver's, with the tests
  int cluster = 1;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = [] {
    std::vector<Case> all;
    for (const std::string& name : test::lowered_kernels()) all.push_back({name.c_str(), {}, ""});
    for (const char* hand : {"fa3", "fa3-overlap", "fa3-pingpong", "fa3-neither"}) all.push_back({"attention_forward_hopper", {}, hand});
    const Scope wide{{"KV", 176}};
    for (const char* hand : {"fa3-kv176", "fa3-overlap-kv176", "fa3-pingpong-kv176", "fa3-neither-kv176"})
      all.push_back({"attention_forward_hopper", wide, hand});
    for (const char* backward : {"", "fa3-backward"}) all.push_back({"attention_backward_hopper", {}, backward});
    for (const char* hand : {"cutlass-cooperative", "cutlass-pingpong"}) all.push_back({"gemm_short_k_hopper", {}, hand});
    all.push_back({"gemm_hopper", {}, "cutlass-cooperative"});
    for (const char* pair : {"gemm_hopper", "attention_forward_hopper", "attention_forward_causal_hopper", "swiglu_dual_gemm_hopper"})
      all.push_back({pair, {}, "", 2});
    return all;
  }();
  return list;
}

/// "1234 instructions, 8 wgmma ..." -> 1234 and the rest.
std::pair<double, std::string> halves(const std::string& text) {
  return {std::atof(text.c_str()), text.substr(std::min(text.find(','), text.size()))};
}

}  // namespace

TEST_CASE("the compiled kernels have the instructions that they had", "[codegen][.slow]") {
  const auto compiler = find_compiler();
  if (!compiler.ok()) {
    std::cout << "skipped: " << compiler.error().faults.front().message << "\n";
    return;
  }
  const std::string path = test::repository_path("tests/golden/census.txt");
  std::map<std::string, std::string> actual;
  for (const Case& c : cases()) {
    const test::Lowering from = c.schedule.empty()
                                    ? test::lowering(c.kernel, c.params)
                                    : test::lowering(c.kernel, c.params, fmt::format("kernels/schedules/{}/{}.json", c.kernel, c.schedule));
    const Program program = test::program_of(from, {}, {.cluster = c.cluster});
    const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
    CAPTURE(c.kernel, c.schedule);
    REQUIRE(emitted.emission.has_value());
    const auto compiled = compile_cuda(emitted.emission->source);
    REQUIRE(compiled.ok());
    CAPTURE(compiled->log);
    CHECK(judge(compiled->report, program).empty());
    CHECK(compiled->report.remarks.empty());
    actual[fmt::format("{} {}{}", c.kernel, c.schedule.empty() ? "solver" : c.schedule, c.cluster > 1 ? " in pairs" : "")] =
        census_text(compiled->census);
  }
  if (const char* update = std::getenv("HEDDLE_UPDATE_GOLDENS"); update && *update) {
    std::string text = "compiler: " + *compiler + "\n";
    for (const auto& [name, census] : actual) text += name + ": " + census + "\n";
    REQUIRE(write_file(path, text).ok());
  }
  const auto golden = read_file(path);
  REQUIRE(golden.ok());
  std::istringstream lines(*golden);
  std::string line;
  std::getline(lines, line);
  if (line != "compiler: " + *compiler) {
    std::cout << "skipped: tests/golden/census.txt is not of " << *compiler << "\n";
    return;
  }
  std::size_t compared = 0;
  while (std::getline(lines, line)) {
    const std::string name = line.substr(0, line.find(": "));
    REQUIRE(actual.contains(name));
    CAPTURE(name);
    const auto [count, kinds] = halves(actual[name]);
    const auto [golden_count, golden_kinds] = halves(line.substr(name.size() + 2));
    CHECK(kinds == golden_kinds);
    CHECK(count == Approx(golden_count).epsilon(0.02));  // moves and address arithmetic
    ++compared;
  }
  CHECK(compared == actual.size());
}
