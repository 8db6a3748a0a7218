// What is left to the solver about layouts, and the numbers that follow.
#include <algorithm>
#include <catch2/catch.hpp>

#include <functional>
#include <map>

#include "core/formats/choices_json.h"
#include "core/instance/layout_decisions.h"
#include "core/library/library.h"
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
  return open_layouts(with(spec_of(backward(), h100()), choices), names);
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
  // dQ with both its tiles, and each half of dS.
  CHECK(open({"all"}).value().decisions.size() == 3);
}

TEST_CASE("a tensor that may be packed is one decision with its tiles, in both orders", "[core]") {
  const OpenLayouts asked = open({"dQ"}).value();
  REQUIRE(asked.decisions.size() == 1);
  const LayoutDecision& decision = asked.decisions[0];
  CHECK(decision.values == std::vector<std::string>{"dQ", "dqs0", "dqs1"});
  CHECK(decision.ops == std::vector<std::string>{"stage_dq0", "stage_dq1"});
  CHECK(asked.complete);
  const std::size_t halves = open({"dqs0"}).value().decisions[0].candidates.size();
  std::map<std::string, std::size_t> orders;
  for (const LayoutCandidate& each : decision.candidates) {
    ++orders[each.choices.layouts.at("dQ")];
    for (const char* tile : {"dqs0", "dqs1"}) {
      CHECK((each.choices.layouts.at(tile) == "packed") == (each.choices.layouts.at("dQ") == "prepacked"));
      CHECK((each.choices.layouts.at(tile) == "packed lines") == (each.choices.layouts.at("dQ") == "prepacked lines"));
    }
  }
  CHECK(orders["natural"] == halves * halves);
  CHECK(orders["prepacked"] > 0);
  // Of a packed result four registers are also stored by one stmatrix, as pairs of 16 bits.
  const auto by_matrix = std::find_if(decision.candidates.begin(), decision.candidates.end(), [](const LayoutCandidate& each) {
    return choices_text(each.choices) ==
           "dQ=prepacked lines, dqs0=packed lines, dqs1=packed lines, stage_dq0=stmatrix.x4, stage_dq1=stmatrix.x4";
  });
  REQUIRE(by_matrix != decision.candidates.end());
  CHECK(by_matrix->cost().port == 256);
  CHECK(by_matrix->cost().issues == 16);
  CHECK(by_matrix->dominated_by);
  // Each thread stores 16 bytes at once, beside those of the next lane. No lanes meet in a bank, and no registers are exchanged.
  const LayoutCandidate& best = decision.candidates[decision.open().front()];
  CHECK(choices_text(best.choices) == "dQ=prepacked, dqs0=packed, dqs1=packed, stage_dq0=st.shared.16, stage_dq1=st.shared.16");
  CHECK(best.cost().port == 256);
  CHECK(best.cost().issues == 16);
  CHECK(best.cost().selects == 0);
  CHECK(best.cost().ways == 1);
}

TEST_CASE("how 4-bit weights are packed is found: one load of 16 bytes for each thread, and no cycle more of the port than bytes take",
          "[core]") {
  const Kernel kernel = load_kernel("gemm_w4a16_hopper").value();
  const auto ask = [&](const Scope& sizes, const LayoutChoices& said = {}) {
    InstanceSpec spec = with(spec_of(kernel, h100()), said);
    spec.params = sizes;
    return open_layouts(spec, {"all"}).value();
  };
  const OpenLayouts asked = ask({});
  REQUIRE(asked.decisions.size() == 1);
  const LayoutDecision& decision = asked.decisions[0];
  CHECK(decision.values == std::vector<std::string>{"W", "w0", "w1"});
  REQUIRE(decision.open().size() == 1);
  const LayoutCandidate& best = decision.candidates[decision.open().front()];
  CHECK(choices_text(best.choices) == "W=prepacked, w0=packed, w1=packed, fetch0=ld.shared.16, fetch1=ld.shared.16");
  CHECK(best.costs[0].port == 64 * 128 / 2 / 128);
  CHECK(best.costs[0].issues == 2);
  CHECK(decision.candidates[0].current);
  CHECK(decision.candidates[0].costs[0].port == 128);
  CHECK(decision.candidates[0].costs[0].issues == 32);
  // Said, or impossible: it stays in its order, and that is said of the latter.
  LayoutChoices natural;
  natural.layouts["W"] = "natural";
  const OpenLayouts said = ask({}, natural);
  for (const LayoutCandidate& each : said.decisions.at(0).candidates) CHECK(each.choices.layouts.at("W") == "natural");
  const OpenLayouts ragged = ask({{"K", 8224}});
  REQUIRE(ragged.left_out.size() == 1);
  CHECK(ragged.left_out[0].find(
            "W: in another order: the tensor 'W' cannot be prepacked: its rows are no multiple of 64, or its columns none of 64") == 0);
  for (const LayoutCandidate& each : ragged.decisions.at(0).candidates) CHECK(each.choices.layouts.at("W") == "natural");
  InstanceSpec spec = spec_of(kernel, h100());
  spec.params = {{"K", 8224}};
  const auto named = open_layouts(spec, {"W"});
  REQUIRE(!named.ok());
  CHECK(to_string(named.error()).find("cannot be prepacked") != std::string::npos);
}

TEST_CASE("an order that a tensor does not have, or cannot have, is a fault at its name", "[core]") {
  const auto faults = [](const char* kernel, const Scope& sizes, const char* tensor, const char* order) {
    LayoutChoices choices;
    choices.layouts[tensor] = order;
    const auto problem = resolve(load_kernel(kernel).value(), h100(), sizes, {}, choices);
    return problem.ok() ? std::string() : to_string(problem.error());
  };
  CHECK(faults("gemm_w4a16_hopper", {}, "W", "prepacked").empty());
  CHECK(faults("attention_backward_hopper", {}, "dq0", "panels 32").find("'stage_dq0' moves it to 'dqs0', of which that can be said") !=
        std::string::npos);
  CHECK(faults("gemm_w4a16_hopper", {}, "W", "panels 64").find("it is natural or prepacked") != std::string::npos);
  CHECK(faults("gemm_w4a16_hopper", {{"K", 416}}, "W", "prepacked").find("/layouts/W") != std::string::npos);
  CHECK(faults("gemm_w4a16_hopper", {}, "X", "prepacked").find("has no value 'X'") != std::string::npos);
  CHECK(faults("attention_backward_hopper", {{"Q_LEN", 320}}, "dQ", "prepacked").empty());
  CHECK(faults("attention_backward_hopper", {{"Q_LEN", 300}}, "dQ", "prepacked").find("multiple of 64") != std::string::npos);
  // A tile that lies otherwise than its tensor.
  LayoutChoices one;
  one.layouts = {{"W", "prepacked"}, {"w0", "panels 64"}};
  const auto problem = resolve(load_kernel("gemm_w4a16_hopper").value(), h100(), {}, {}, one);
  REQUIRE(!problem.ok());
  CHECK(to_string(problem.error()).find("'w0' is a tile of a prepacked tensor, and lies as it does there; you chose panels 64") !=
        std::string::npos);
  one.layouts = {{"w0", "packed"}};
  CHECK(!resolve(load_kernel("gemm_w4a16_hopper").value(), h100(), {}, {}, one).ok());
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

TEST_CASE("what cannot be written packed is not taken for a candidate: a part of a block, a tile with another user, too large a box",
          "[core]") {
  const auto why = [](const std::function<void(Kernel&)>& change) {
    Kernel kernel = backward();
    change(kernel);
    LayoutChoices choices;
    choices.layouts["dQ"] = "prepacked";
    const auto problem = resolve(kernel, h100(), {}, {}, choices);
    const OpenLayouts asked = open_layouts(spec_of(kernel, h100()), {"all"}).value();
    for (const LayoutDecision& decision : asked.decisions)
      for (const LayoutCandidate& each : decision.candidates)
        if (const auto order = each.choices.layouts.find("dQ"); order != each.choices.layouts.end()) CHECK(order->second == "natural");
    return problem.ok() ? std::string() : to_string(problem.error());
  };
  const auto op = [](Kernel& kernel, const char* name) -> TileOp& {
    return *std::find_if(kernel.body.begin(), kernel.body.end(), [&](const TileOp& each) { return each.name == name; });
  };
  CHECK(why([&](Kernel& k) { op(k, "add_dq0").at[1] = *Expr::parse("i*64 + 32"); }).find("'add_dq0' does not begin at whole blocks") !=
        std::string::npos);
  CHECK(why([&](Kernel& k) { op(k, "add_dq0").at[1] = *Expr::parse("max(i*64, 0)"); }).find("does not begin at whole blocks") !=
        std::string::npos);
  const auto elsewhere = [&](Kernel& k) {
    Tensor other = *k.find_tensor("dQ");
    other.name = "dQ2", other.packing = Packing::Natural;
    k.tensors.push_back(other);
    TileOp more = op(k, "add_dq0");
    more.name = "more", more.tensor = "dQ2";
    k.body.push_back(more);
  };
  CHECK(why(elsewhere).find("TMA of 'more' has a tile of it, too") != std::string::npos);
}

TEST_CASE("what is said of a tile may fit one order of its tensor only, which is then taken", "[core]") {
  LayoutChoices said;
  said.instructions["stage_dq0"] = said.instructions["stage_dq1"] = {"stmatrix.x4", {}};
  CHECK(!resolve(backward(), h100(), {}, {}, said).ok());
  const OpenLayouts asked = open({"all"}, said).value();
  REQUIRE(!asked.decisions.empty());
  for (const LayoutCandidate& each : asked.decisions[0].candidates) CHECK(each.choices.layouts.at("dQ") == "prepacked lines");
}

TEST_CASE("pieces of 32 bytes would stage an f32 accumulator without conflicts, and TMA of this machine does not exchange such", "[core]") {
  const Problem problem = resolve(backward(), h100()).value();
  for (const LayoutAlternative& each : alternatives_of(backward(), problem.params, h100(), *problem.layouts, "stage_dq0")) {
    if (each.layout != "panels 128 atoms 32" || each.instruction.name != "st.shared.8" || each.instruction.exchange.used()) continue;
    CHECK(each.cost.port == 128);
    CHECK(each.cost.ways == 1);
    CHECK(each.refused == "'dqs0' is read by TMA of 'add_dq0', which exchanges pieces of 16 bytes, not of 32, on this machine");
    return;
  }
  FAIL("no such alternative");
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
  CHECK(faults_of({""}).find("there are dQ, dqs0") != std::string::npos);
  CHECK(faults_of({"\x1b[2J"}).find('\x1b') == std::string::npos);
  const auto nothing = open_layouts(spec_of(load_kernel("toy_fig1").value(), load_machine("toy").value()), {"all"});
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
  const auto many = open_layouts(spec_of(kernel, h100()), {"ys"});
  REQUIRE(many.ok());
  CHECK(!many->complete);
  CHECK(open_layouts(spec_of(load_kernel("layernorm").value(), h100()), {"ys"}).value().complete);
  CHECK(open({"all"}).value().complete);
}
