// Axes that a kernel leaves free: where they go, which are not free, and what their order changes.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <random>

#include "core/base/atomic_file.h"
#include "core/check/layouts.h"
#include "core/formats/kernel_json.h"
#include "core/instance/layout_decisions.h"
#include "core/kernel/free_axes.h"
#include "core/layout/known.h"
#include "core/layout/layout_store.h"
#include "core/layout/plan.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

const LayoutChoices kRelabelled{{{"keys", "relabelled"}}, {}};

const Kernel& attention() {
  static const Kernel kernel = load_kernel("attention_forward_fp8_hopper").value();
  return kernel;
}
const Machine& h100() {
  static const Machine machine = load_machine("h100").value();
  return machine;
}

std::string faults_of_file(const std::string& kernel, const std::string& free) {
  auto text = read_file(test::repository_path("kernels/" + kernel + ".json"));
  REQUIRE(text.ok());
  if (const std::size_t at = text->find("  \"free\""); at != std::string::npos) text->erase(at, text->find("  \"prologue\"") - at);
  text->insert(text->find("  \"prologue\""), "  \"free\": [" + free + "],\n");
  const auto read = parse_kernel(*text, "mine.json");
  return read.ok() ? std::string() : to_string(read.error());
}

std::vector<std::string> violations_of(const LayoutPlan& plan) {
  std::vector<std::string> found;
  for (const Violation& violation : judge_layouts(std::make_shared<const LayoutPlan>(plan))->violations) {
    CHECK(violation.family == "layout");
    found.push_back(violation.message);
  }
  return found;
}

bool any(const std::vector<std::string>& messages, const std::string& part) {
  return std::any_of(messages.begin(), messages.end(), [&](const std::string& each) { return each.find(part) != std::string::npos; });
}

std::size_t index_of(const Kernel& kernel, const std::string& name) {
  return static_cast<std::size_t>(kernel.find_value(name) - kernel.values.data());
}

}  // namespace

TEST_CASE("an axis is followed through products, reductions and arithmetic", "[core]") {
  Scope params;
  for (const Param& p : attention().params) params[p.name] = p.value;
  const AxisWalk walk = walk_axis(attention(), params, attention().free.at(0));
  CHECK(walk.objection.empty());
  std::vector<TileAxis> along = walk.along, expected{{"k", 0}, {"vt", 1}};
  for (const char* name : {"s", "x", "p", "ph"})
    for (const char* group : {"0", "1"}) expected.push_back({std::string(name) + group, 1});
  std::sort(along.begin(), along.end());
  std::sort(expected.begin(), expected.end());
  CHECK(along == expected);
}

TEST_CASE("an axis is not free where a mask, a store or an index depends on it", "[core]") {
  const auto says = [](const std::string& kernel, const std::string& free, const std::string& part) {
    const std::string faults = faults_of_file(kernel, free);
    INFO(kernel << " " << free << ": " << faults);
    CHECK(faults.find(part) != std::string::npos);
  };
  const std::string keys = R"({"name": "keys", "value": "k", "dimension": 0})";
  CHECK(faults_of_file("attention_forward_fp8_hopper", keys).empty());
  CHECK(faults_of_file("attention_forward_hopper", keys).empty());
  says("attention_forward_causal_hopper", keys, "/free/0: axis 'keys' is not free: 'mask0' (mask) takes an element for what stands");
  says("attention_forward_fp8_hopper", R"({"name": "queries", "value": "q0", "dimension": 0})", "'store_o0' (tma_store) takes 'out0'");
  says("attention_forward_fp8_hopper", R"({"name": "d", "value": "vt", "dimension": 0})", "axis 'd' is not free: ");
  says("attention_forward_fp8_hopper", keys + ", " + keys, "/free/1/name: name 'keys' is already taken");
  says("attention_forward_fp8_hopper", R"({"name": "k", "value": "k", "dimension": 0})", "/free/0/name: name 'k' is already taken");
  says("attention_forward_fp8_hopper", R"({"name": "keys", "value": "kk", "dimension": 0})", "/free/0/value: unknown value 'kk'");
  says("attention_forward_fp8_hopper", R"({"name": "keys", "value": "m0", "dimension": 1})", "/free/0/dimension: 'm0' has 1 dimension");
  says("attention_forward_fp8_hopper", R"({"name": "keys", "value": "k", "dimension": 7})", "/free/0/dimension");
  says("attention_forward_fp8_hopper", R"({"name": "keys", "value": "k"})", "dimension");

  Kernel kernel = attention();
  for (TileOp& op : kernel.body)
    if (op.name == "sub1") op.attrs["expr"] = std::string("fma(x0, x1, x2) + col");
  CHECK(validate_free_axes(kernel).at(0).message == "axis 'keys' is not free: 'sub1' (map) computes with the place of an element");
  const Kernel gather = load_kernel(test::repository_path("tests/kernels/gemm_gather.json")).value();
  const auto fetch = std::find_if(gather.body.begin(), gather.body.end(), [](const TileOp& op) { return op.kind == "gather"; });
  REQUIRE(fetch != gather.body.end());
  Scope params;
  for (const Param& p : gather.params) params[p.name] = p.value;
  CHECK(walk_axis(gather, params, {"rows", fetch->outputs[0], 0}).objection.find("by an index") != std::string::npos);
}

TEST_CASE("a relabelled accumulator, as numbers of 8 bits, is an operand but for the order of its registers", "[core]") {
  for (const std::int64_t columns : {32, 64, 96, 128, 256}) {
    const Layout natural = accumulator_layout(columns), other = relabelled(natural, 1).value(), wanted = operand_layout(columns, 8);
    CHECK(conversion_class(other, wanted, 32) == ConversionClass::Rename);
    CHECK(conversion_class(natural, wanted, 32) == ConversionClass::Shuffle);
    CHECK(shuffles_of(natural, wanted, 8) == columns / 4);  // two for each of the thread's columns / 8 registers
    CHECK(known_name(other, 32) == "accumulator relabelled");
    CHECK(same_places(known_layout("accumulator relabelled", {64, columns}, 32).value(), other));
  }
  // The published permutation: the key of slot k of the operand is at these places of the accumulator's columns.
  const Layout other = relabelled(accumulator_layout(32), 1).value();
  const std::vector<std::int64_t> moves{1, 8, 2, 4, 16};
  for (std::size_t bit = 0; bit < moves.size(); ++bit) {
    const auto of = [&](const Layout& layout, std::int64_t column) { return places_of(layout, {0, column}).at(0); };
    CHECK(of(other, std::int64_t{1} << bit) == of(accumulator_layout(32), moves[bit]));
  }
  CHECK_FALSE(relabelled(accumulator_layout(24), 1));
  CHECK_FALSE(known_layout("operand relabelled", {64, 64}, 8));
  CHECK_FALSE(known_layout("rows relabelled", {64, 64}, 8));
}

TEST_CASE("a relabelled axis goes from the rows that TMA brings to the operand, and no register changes its lane", "[core]") {
  for (const auto& [choices, kind, shuffles] :
       {std::tuple{LayoutChoices{}, ConversionClass::Shuffle, 128}, {kRelabelled, ConversionClass::Rename, 0}}) {
    const Problem problem = resolve(attention(), h100(), {}, {}, choices).value();
    const OpPlan* convert = problem.layouts->find("cvt0");
    REQUIRE((convert && convert->change));
    CHECK(convert->change->kind == kind);
    CHECK(convert->change->shuffles == shuffles);
    CHECK(violations_of(*problem.layouts).empty());
  }
  const LayoutPlan plan = *resolve(attention(), h100(), {}, {}, kRelabelled).value().layouts;
  const auto text = [&](const char* name) { return plan.values[index_of(attention(), name)].text; };
  CHECK(text("k") == "panels 128 relabelled");
  for (const char* name : {"s0", "x0", "p0", "s1"}) CHECK(text(name) == "accumulator relabelled");
  CHECK(text("ph0") == "operand");
  CHECK(text("vt") == "panels 128");
  CHECK(text("o0") == "accumulator");
}

TEST_CASE("an axis that is relabelled on one side only is refused", "[core]") {
  const auto says = [](const LayoutChoices& choices, const std::string& part) {
    const auto problem = resolve(attention(), h100(), {}, {}, choices);
    REQUIRE_FALSE(problem.ok());
    INFO(to_string(problem.error()));
    CHECK(to_string(problem.error()).find(part) != std::string::npos);
  };
  says({{{"k", "panels 128 relabelled"}}, {}}, "of 'k', which lies as panels 128 relabelled: columns and rows are ordered otherwise");
  says({{{"s1", "accumulator relabelled"}}, {}}, "/layouts/s1");
  says({{{"keys", "relabelled"}, {"k", "panels 128"}}, {}}, "columns and rows are ordered otherwise");
  says({{{"keys", "sorted"}}, {}}, "the axis 'keys' cannot be ordered as \"sorted\"");
  says({{{"kes", "relabelled"}}, {}}, "has no value 'kes'");

  // By the checker, whatever the plan says.
  const LayoutPlan plain = *resolve(attention(), h100(), {}, {}, {}).value().layouts;
  const LayoutPlan good = *resolve(attention(), h100(), {}, {}, kRelabelled).value().layouts;
  for (const auto& [from, to] : {std::pair{&good, &plain}, {&plain, &good}})
    for (const char* name : {"k", "s0", "s1"}) {
      LayoutPlan wrong = *from;
      wrong.values[index_of(attention(), name)].layout = to->values[index_of(attention(), name)].layout;
      CHECK(any(violations_of(wrong), "has columns in another order in its result than in B"));
    }
  LayoutPlan wrong = good;
  wrong.values[index_of(attention(), "ph0")].layout =
      std::make_shared<const Layout>(relabelled(*good.values[index_of(attention(), "ph0")].layout, 1).value());
  CHECK(any(violations_of(wrong), "PV0 has K in another order in its A than in B"));
  wrong = plain;
  wrong.values[index_of(attention(), "vt")].layout =
      std::make_shared<const Layout>(relabelled(*plain.values[index_of(attention(), "vt")].layout, 0).value());
  CHECK(any(violations_of(wrong), "PV0 has columns in another order in its result than in B"));
  wrong = plain;
  wrong.ops.at("cvt0").change->shuffles = 64;
  CHECK(any(violations_of(wrong), "cvt0 is said to fetch registers of other lanes 64 times, and counted are 128"));
}

TEST_CASE("an axis cannot be relabelled where nothing can bring it so", "[core]") {
  const auto why = [](const std::function<void(Kernel&)>& change, const Scope& params = {}) {
    Kernel kernel = attention();
    change(kernel);
    std::vector<Fault> faults;
    Scope all;
    for (const Param& p : kernel.params) all[p.name] = p.value;
    for (const auto& [name, value] : params) all[name] = value;
    plan_layouts(kernel, all, h100(), kRelabelled, faults);
    return faults.empty() ? std::string() : faults[0].message;
  };
  CHECK(why([](Kernel&) {}).empty());
  CHECK(why([](Kernel&) {}, {{"KV", 176}, {"KV_LEN", 8448}}).empty());
  CHECK(why([](Kernel&) {}, {{"KV_LEN", 8440}}).find("with whole tiles in its tensor") != std::string::npos);
  CHECK(why([](Kernel&) {}, {{"KV", 24}, {"KV_LEN", 240}}).find("a multiple of 16") != std::string::npos);
  const std::string mask = why([](Kernel& kernel) {
    for (TileOp& op : kernel.body)
      if (op.name == "exp0") op.kind = "mask";
  });
  CHECK(mask == "the axis 'keys' cannot be relabelled: 'exp0' (mask) takes an element for what stands at its place");
}

TEST_CASE("the order of a free axis is a decision, and shuffles are dominated by none", "[core]") {
  for (const char* names : {"keys", "all"}) {
    const OpenLayouts open = open_layouts(spec_of(attention(), h100()), {names}).value();
    REQUIRE(open.decisions.size() == 1);
    const LayoutDecision& keys = open.decisions[0];
    CHECK(open.complete);
    CHECK(keys.name() == "keys");
    CHECK(keys.ops == std::vector<std::string>{"cvt0", "cvt1"});
    REQUIRE(keys.candidates.size() == 2);
    CHECK(keys.candidates[0].current);
    CHECK(keys.candidates[0].cost().port == 256);
    CHECK(keys.candidates[1].cost().port == 0);
    CHECK(keys.candidates[0].dominated_by == std::optional<std::size_t>(1));
    CHECK(open.left == 1);
    CHECK(choices_with(open, {1}) == kRelabelled);
    // Its numbers are those of the problem that is resolved with it.
    const Problem other = resolve(attention(), h100(), {}, {}, kRelabelled).value();
    CHECK(numbers_in(open.shape, other) == keys.candidates[1].numbers);
  }
  const OpenLayouts said = open_layouts(with(spec_of(attention(), h100()), kRelabelled), {"all"}).value();
  REQUIRE(said.decisions.size() == 1);
  CHECK(said.decisions[0].candidates.size() == 1);
}

TEST_CASE("shuffles are counted alike by plan and checker", "[core]") {
  const auto seed = std::random_device{}();
  std::mt19937 random(seed);
  CAPTURE(seed);
  Kernel kernel = attention();
  LayoutPlan plan = *resolve(kernel, h100(), {}, {}, {}).value().layouts;
  const std::size_t from = index_of(kernel, "p0"), to = index_of(kernel, "ph0");
  for (int round = 0; round < 40; ++round) {
    // Registers and lanes of a warp in any order.
    Layout layout = operand_layout(128, 8);
    std::vector<Coordinates> bases = layout.of(LayoutAxis::Register);
    const std::size_t registers = bases.size();
    bases.insert(bases.end(), layout.of(LayoutAxis::Lane).begin(), layout.of(LayoutAxis::Lane).end());
    std::shuffle(bases.begin(), bases.end(), random);
    layout.of(LayoutAxis::Register).assign(bases.begin(), bases.begin() + static_cast<std::ptrdiff_t>(registers));
    layout.of(LayoutAxis::Lane).assign(bases.begin() + static_cast<std::ptrdiff_t>(registers), bases.end());
    const auto held = plan.values[from].layout, wanted = std::make_shared<const Layout>(layout);
    plan.values[to].layout = wanted;
    const StoredConversion how = stored_conversion(held, wanted, 8);
    plan.ops.at("cvt0").change = LayoutChange{from, to, 8, how.kind, 4 * how.shuffles};
    CHECK_FALSE(any(violations_of(plan), "cvt0"));
    plan.ops.at("cvt0").change->shuffles += 4;
    CHECK(any(violations_of(plan), "cvt0"));
  }
}
