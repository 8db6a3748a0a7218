// Usage by hand; random schedules are compared with plain tables in checker_property_test.cpp.
#include "core/analysis/usage.h"

#include <catch2/catch.hpp>

#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;

namespace {
std::vector<std::pair<Cycle, std::int64_t>> pairs(const UsageCurve& profile) {
  std::vector<std::pair<Cycle, std::int64_t>> result;
  for (const UsageStep& step : profile) result.push_back({step.at, step.value});
  return result;
}
using Steps = std::vector<std::pair<Cycle, std::int64_t>>;
}  // namespace

TEST_CASE("a profile folds intervals modulo II and merges equal neighbours", "[core]") {
  ModuloUsage profile(10);
  profile.add(8, 4, 1);   // 8 to 2
  profile.add(-8, 3, 1);  // 2 to 5
  profile.add(3, 25, 2);  // twice always, once more from 3 to 8
  profile.add(5, 0, 9);
  CHECK(pairs(profile.steps()) == Steps{{0, 5}, {3, 7}, {5, 6}, {8, 5}});
  CHECK(peak(profile.steps()) == 7);
  CHECK(pairs(ModuloUsage(10).steps()) == Steps{{0, 0}});
}

TEST_CASE("usage of units, memory and registers of a small pipeline", "[core]") {
  Problem p = empty_problem();
  const UnitId tc = add_unit(p, "TC");
  add_unit(p, "idle");
  const OpId load = add_op(p, "load", 12), mma = add_op(p, "mma", 6, 1, {{tc, 0, 6, 1}}), use = add_op(p, "use", 2, 2);
  p.ops[0].variable_latency = true;
  p.ops[1].warps = 4;
  add_edge(p, load, mma, 12);
  add_channel(p, load, 100, {{mma, 0, 6, 0}});
  p.edges[0].value = ValueId(0);
  const ValueId acc = add_registers(p, mma, 20);
  add_edge(p, mma, use, 6).value = acc;
  p.resident_smem = 50;
  p.limits.register_overhead = 3;
  const Usage usage = compute_usage(p, place(p, 10, {{0, 0}, {13, 1}, {21, 1}}));
  CHECK(pairs(usage.units[0]) == Steps{{0, 0}, {3, 1}, {9, 0}});
  CHECK(pairs(usage.units[1]) == Steps{{0, 0}});
  CHECK(usage.busy == std::vector<Cycle>{6, 0});
  CHECK(pairs(usage.smem_live) == Steps{{0, 250}, {9, 150}});  // filled at 0, read until 19
  CHECK(usage.smem_bytes == 250);
  CHECK(usage.tmem_columns == 0);
  CHECK(pairs(usage.registers[0]) == Steps{{0, 24}});
  CHECK(pairs(usage.registers[1]) == Steps{{0, 23}, {1, 3}, {3, 23}});  // 13 to 21
  CHECK(usage.register_peak == std::vector<int>{24, 23});
  CHECK(usage.register_budget == std::vector<int>{24, 24});
  CHECK(usage.warps == 5);
}
