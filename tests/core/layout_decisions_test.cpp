// What is left to the solver about layouts, and the numbers that follow.
#include <algorithm>
#include <catch2/catch.hpp>

#include "core/formats/choices_json.h"
#include "core/library/library.h"
#include "core/problem/layout_decisions.h"
#include "core/problem/resolve.h"
#include "tests/support/random_problem.h"

using namespace heddle;

namespace {

const Kernel& backward() {
  static const Kernel kernel = load_kernel("attention_backward_hopper").value();
  return kernel;
}
const Machine& h100() {
  static const Machine machine = load_machine("h100").value();
  return machine;
}

Result<OpenLayouts> open(const std::vector<std::string>& names, const LayoutChoices& choices = {}) {
  return open_layouts(backward(), h100(), {}, {}, choices, names);
}

std::string faults_of(const std::vector<std::string>& names) {
  const auto asked = open(names);
  REQUIRE(!asked.ok());
  std::string text;
  for (const Fault& fault : asked.error().faults) text += to_string(fault) + "\n";
  return text;
}

}  // namespace

TEST_CASE("the numbers of a problem are read and written back, and decide everything that its shape does not", "[core]") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    const Problem problem = test::random_problem(seed);
    ProblemNumbers numbers = numbers_of(problem);
    CHECK(problem_hash(with_numbers(problem, numbers)) == problem_hash(problem));
    for (std::int64_t& number : numbers) number += 1;
    const Problem stricter = with_numbers(problem, numbers);
    CHECK(same_shape(problem, stricter));
    CHECK(at_least_as_strict(stricter, problem));
    CHECK(numbers_of(stricter) == numbers);
    Problem renamed = problem;
    renamed.ops[0].name += "x";
    CHECK(!same_shape(problem, renamed));
  }
}

TEST_CASE("a value in shared memory is one decision with all ops that store and load it", "[core]") {
  const OpenLayouts one = open({"dqs0"}).value();
  REQUIRE(one.decisions.size() == 1);
  CHECK(one.decisions[0].values == std::vector<std::string>{"dqs0"});
  CHECK(one.decisions[0].ops == std::vector<std::string>{"stage_dq0"});
  CHECK(one.combinations == static_cast<std::int64_t>(one.decisions[0].candidates.size()));
  const OpenLayouts same = open({"stage_dq0", "dqs0"}).value();
  REQUIRE(same.decisions.size() == 1);
  CHECK(same.decisions[0].candidates.size() == one.decisions[0].candidates.size());
  CHECK(open({"all"}).value().decisions.size() == 4);
}

TEST_CASE("the numbers of a combination are those of the problem that is resolved with it", "[core]") {
  const OpenLayouts asked = open({"all"}).value();
  for (std::size_t step = 0; step < 40; ++step) {
    std::vector<std::size_t> chosen;
    std::vector<std::vector<std::size_t>> only;
    for (std::size_t d = 0; d < asked.decisions.size(); ++d) {
      chosen.push_back((step * (2 * d + 3) + d) % asked.decisions[d].candidates.size());
      only.push_back({chosen.back()});
    }
    const Problem problem = resolve(backward(), h100(), {}, {}, choices_with(asked, chosen)).value();
    CHECK(numbers_in(asked.shape, problem) == numbers_of(easiest(asked, only)));
  }
}

TEST_CASE("a dominated candidate needs no less of anything than the one that it names", "[core]") {
  const OpenLayouts asked = open({"all"}).value();
  int dropped = 0;
  for (const LayoutDecision& decision : asked.decisions) {
    CHECK(decision.candidates[0].current);
    CHECK(!decision.open().empty());
    for (const LayoutCandidate& each : decision.candidates) {
      if (!each.dominated_by) continue;
      ++dropped;
      const LayoutCandidate& better = decision.candidates[*each.dominated_by];
      CHECK(!better.dominated_by);
      const Problem strict = with_numbers(asked.shape, each.numbers), easy = with_numbers(asked.shape, better.numbers);
      CHECK(at_least_as_strict(strict, easy));
    }
  }
  CHECK(dropped > 10);
}

TEST_CASE("every way of staging an f32 accumulator is a candidate with its cost", "[core]") {
  const OpenLayouts asked = open({"dqs0"}).value();
  const auto port_of = [&](const std::string& text) -> std::int64_t {
    for (const LayoutCandidate& each : asked.decisions[0].candidates)
      if (choices_text(each.choices) == text) return each.costs.at(0).port;
    return 0;
  };
  CHECK(port_of("dqs0=panels 128, stage_dq0=st.shared.8") == 256);      // 4 cycles for each of 64 stores of a warp
  CHECK(port_of("dqs0=panels 32, stage_dq0=st.shared.8") == 128);       // rows of 32 bytes: 2
  CHECK(port_of("dqs0=panels 128, stage_dq0=st.shared.8,2,3") == 128);  // lanes that take pieces in turn: 2
}

TEST_CASE("what a file or a person says of a layout is not open", "[core]") {
  LayoutChoices said;
  said.layouts["dqs0"] = "panels 32";
  const OpenLayouts asked = open({"dqs0"}, said).value();
  REQUIRE(asked.decisions.size() == 1);
  for (const LayoutCandidate& each : asked.decisions[0].candidates) CHECK(each.choices.layouts.at("dqs0") == "panels 32");
  said.instructions["stage_dq0"] = {"st.shared.4", {}};
  const OpenLayouts both = open({"dqs0"}, said).value();
  REQUIRE(both.decisions.size() == 1);
  CHECK(both.decisions[0].candidates.size() == 1);
}

TEST_CASE("names that do not exist are refused with the nearest, and what cannot be chosen with the reason", "[core]") {
  CHECK(faults_of({"dqs2"}).find("kernel 'attention_backward_hopper' has nothing of this name whose layout can be chosen") !=
        std::string::npos);
  CHECK(faults_of({"dqs2"}).find("dqs0") != std::string::npos);
  CHECK(faults_of({"S0"}).find("S0") != std::string::npos);
  CHECK(faults_of({""}).find("there are dqs0") != std::string::npos);
  CHECK(faults_of({"\x1b[2J"}).find('\x1b') == std::string::npos);
  const auto nothing = open_layouts(load_kernel("toy_fig1").value(), load_machine("toy").value(), {}, {}, {}, {"all"});
  REQUIRE(nothing.ok());
  CHECK(nothing->decisions.empty());
  CHECK(nothing->combinations == 1);
}

TEST_CASE("where there are more candidates than are looked at, that is told", "[core]") {
  Kernel kernel = load_kernel("layernorm").value();
  const auto xh = std::find_if(kernel.values.begin(), kernel.values.end(), [](const TileValue& v) { return v.name == "xh"; });
  REQUIRE(xh != kernel.values.end());
  TileValue loaded = *xh;
  for (int k = 0; k < 6; ++k) {
    loaded.name = "again" + std::to_string(k);
    kernel.values.push_back(loaded);
    TileOp load;
    load.name = "load_again" + std::to_string(k);
    load.kind = "smem_load";
    load.inputs.push_back({"ys", 0});
    load.outputs = {loaded.name};
    kernel.body.push_back(load);
  }
  const auto many = open_layouts(kernel, h100(), {}, {}, {}, {"ys"});
  REQUIRE(many.ok());
  CHECK(!many->complete);
  CHECK(open_layouts(load_kernel("layernorm").value(), h100(), {}, {}, {}, {"ys"}).value().complete);
  CHECK(open({"all"}).value().complete);
}
