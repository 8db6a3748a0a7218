// What a kernel's time is made of.
#include "core/simulate/time_parts.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "core/library/inputs.h"
#include "core/library/library.h"

using namespace heddle;

namespace {

struct Case {
  Inputs inputs;
  KernelRun run;
  std::vector<TimePart> parts;
};

Case parts_of(const std::string& kernel, const std::string& machine, const std::string& schedule, KernelRunOptions options = {}) {
  std::vector<Fault> warnings;
  InputNames names;
  names.kernel = kernel, names.machine = machine, names.schedule = schedule;
  Result<Inputs> inputs = load_inputs(names, warnings);
  REQUIRE(inputs.ok());
  options.loop.arbitration = Arbitration::Interleaved;
  Case c{*std::move(inputs), {}, {}};
  const Inputs& in = c.inputs;
  c.run = run_kernel(in.instance, *in.schedule, options);
  c.parts = time_parts(in.instance, *in.schedule, options, c.run);
  return c;
}

double time_of(const Case& c, const std::string& name) {
  double sum = 0;
  for (const TimePart& part : c.parts)
    if (part.name == name) sum += part.microseconds;
  return sum;
}

}  // namespace

TEST_CASE("the parts of a kernel's time sum to it, and none is negative", "[core]") {
  KernelRunOptions causal, persistent;
  causal.causal = true, persistent.persistent = true;
  for (const auto& [kernel, schedule] :
       std::initializer_list<std::pair<std::string, std::string>>{{"attention_forward_hopper", "attention_forward_hopper/fa3"},
                                                                  {"attention_forward_hopper", "attention_forward_hopper/fa3-neither"}})
    for (const KernelRunOptions& options : {KernelRunOptions{}, causal, persistent}) {
      const Case c = parts_of(kernel, "h100", schedule, options);
      REQUIRE(c.run.fault.empty());
      REQUIRE(!c.parts.empty());
      double sum = 0;
      for (const TimePart& part : c.parts) {
        CHECK(part.microseconds > 0);
        CHECK(!part.about.empty());
        sum += part.microseconds;
      }
      CHECK(sum == Approx(c.run.microseconds).epsilon(1e-9));
    }
}

TEST_CASE("FA3 on H100 loses most of its time to its own arithmetic and to the clock", "[core]") {
  const Case fa3 = parts_of("attention_forward_hopper", "h100", "attention_forward_hopper/fa3");
  const double tensor = time_of(fa3, "tensor");
  CHECK(tensor == Approx(fa3.run.of_peak * static_cast<double>(fa3.run.cycles) / 1830).epsilon(1e-6));
  CHECK(time_of(fa3, "arithmetic") > 0.05 * tensor);
  CHECK(time_of(fa3, "clock") > 0.05 * tensor);
  CHECK(time_of(fa3, "launch") == Approx(5));
  KernelRunOptions fast;
  fast.clock.kind = ClockChoice::Kind::Max;
  CHECK(time_of(parts_of("attention_forward_hopper", "h100", "attention_forward_hopper/fa3", fast), "clock") == 0);
}
