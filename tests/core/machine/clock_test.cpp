// The clock under load and what L2 supplies: from machine files to the time of a kernel.
#include "core/machine/clock.h"

#include <catch2/catch.hpp>

#include "core/formats/machine_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "core/simulate/supply.h"

using namespace heddle;

namespace {

Machine h100() { return *load_machine("h100"); }

ClockChoice at(ClockChoice::Kind kind, std::int64_t mhz = 0) {
  ClockChoice choice;
  choice.kind = kind;
  choice.mhz = mhz;
  return choice;
}

}  // namespace

TEST_CASE("the more the tensor cores work, the lower the sustained clock, and never above the maximum", "[core]") {
  const Machine machine = h100();
  const auto loaded = static_cast<double>(machine.clock.loaded_mhz);
  CHECK(clock_of(machine, {}, 0.95).mhz == Approx(loaded).margin(1));
  CHECK(clock_of(machine, {}, 0.95).mhz == Approx(1550).epsilon(0.02));  // what its formula was made from, before all rows were fitted
  CHECK(clock_of(machine, {}, 0.76).mhz == Approx(1600).epsilon(0.02));
  double before = 1e9;
  for (const double use : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const double mhz = clock_of(machine, {}, use).mhz;
    CHECK(mhz <= before);
    CHECK(mhz <= 1980);
    before = mhz;
  }
  ClockChoice choice;
  choice.power_w = 350;
  CHECK(clock_of(machine, choice, 0.95).mhz == Approx(loaded / 1.26).margin(2));  // the cube root of 2
  choice = {};
  choice.zeros = true;
  CHECK(clock_of(machine, choice, 0.95).mhz > 1.1 * loaded);
}

TEST_CASE("a clock can be the maximum, a number, or scaled to a device by what was measured there", "[core]") {
  const Machine machine = h100();
  CHECK(clock_of(machine, at(ClockChoice::Kind::Max), 1).mhz == 1980);
  CHECK(clock_of(machine, at(ClockChoice::Kind::Fixed, 1200), 1).mhz == 1200);
  ClockChoice choice;
  choice.speed = *speed_of(machine, "cublas_8192=700");
  CHECK(choice.speed == Approx(700.0 / 795));
  CHECK(clock_of(machine, choice, 0.95).mhz == Approx(static_cast<double>(machine.clock.loaded_mhz) * 700 / 795).margin(2));
  CHECK(clock_of(machine, choice, 0.95).text.find("scaled to this device") != std::string::npos);
  choice.speed = 10;
  CHECK(clock_of(machine, choice, 0.95).mhz == 1980);
  for (const char* wrong : {"cublas_8192", "cublas_8192=", "cublas_8192=0", "cublas_8192=1e9", "cublas_8192=7x", "cublas=700"})
    CHECK_FALSE(speed_of(machine, wrong).ok());
}

TEST_CASE("a machine that says nothing of load runs at its one clock", "[core]") {
  const Machine toy = *load_machine("toy");
  CHECK(clock_of(toy, {}, 1).mhz == static_cast<double>(toy.clock_mhz));
  CHECK(clock_of(toy, at(ClockChoice::Kind::Max), 1).mhz == static_cast<double>(toy.clock_mhz));
}

TEST_CASE("clock and supply survive a save, and a formula that cannot be evaluated is a fault", "[core]") {
  const Machine machine = h100();
  const auto again = parse_machine(machine_text(machine), "again.json");
  REQUIRE(again.ok());
  CHECK(again->clock.sustained_mhz.text() == machine.clock.sustained_mhz.text());
  CHECK(again->clock.anchors.size() == 1);
  CHECK(again->shared.l2_bytes == machine.shared.l2_bytes);
  CHECK(again->shared.launch_ns == machine.shared.launch_ns);
  const auto fault_of = [](const std::string& formula) {
    const auto wrong = parse_machine(R"({"schema": "heddle.machine/1", "name": "m", "units": [],
      "clock": {"max_mhz": 100, "power_w": 1, "sustained_mhz": ")" +
                                         formula + R"("},
      "limits": {"smem_bytes": 0, "tmem_columns": 0, "registers_per_sm": 1, "registers_per_thread": 1, "warps_per_cta": 1}})",
                                     "m.json");
    return wrong ? std::string() : to_string(wrong.error());
  };
  CHECK(fault_of("100").empty());
  CHECK(fault_of("100 - tensr").find("/clock/sustained_mhz: unknown name 'tensr'") != std::string::npos);
  CHECK(fault_of("100 - tensor").find("expected more than 0") != std::string::npos);
}

TEST_CASE("loads take as long as L2 needs to supply all SMs, and a multicast halves what is shared", "[core]") {
  const Instance instance = *make_instance(spec_of(*load_kernel("gemm_hopper"), h100()));
  const Problem& problem = instance.problem();
  const auto tma = [&](const Problem& p) {
    Cycle sum = 0;
    for (const Op& op : p.ops)
      for (const UnitUse& use : op.uses)
        if (p.unit(use.unit).role == UnitRole::Copy) sum += use.duration;
    return sum;
  };
  const std::int64_t bytes = (128 + 256) * 64 * 2;
  const SuppliedProblem alone = supplied_by_l2(instance, 1, 132);
  CHECK(alone.l2_bytes == bytes);
  CHECK(tma(alone.problem) >= bytes / 44);
  CHECK(tma(alone.problem) <= bytes / 44 + 2 * static_cast<Cycle>(problem.ops.size()));
  const SuppliedProblem pair = supplied_by_l2(instance, 2, 132);
  CHECK(pair.l2_bytes == (128 + 128) * 64 * 2);  // the larger tile is loaded once for both
  CHECK(tma(pair.problem) < tma(alone.problem));
  CHECK(tma(supplied_by_l2(instance, 1, 10).problem) == tma(problem));  // ten SMs get all they can take
  Machine unknown = h100();
  unknown.shared.l2_bytes = 0;
  CHECK(tma(supplied_by_l2(on_machine(instance, unknown), 1, 132).problem) == tma(problem));
}
