// Changed numbers: in words, in files, and resolved as an edited file would be.
#include "core/problem/changes.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <random>

#include "core/base/atomic_file.h"
#include "core/formats/changes_json.h"
#include "core/formats/constraints_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/golden.h"
#include "tests/support/mutate_json.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

Change change_of(const std::string& text, const Kernel& kernel, const Machine& machine) {
  const auto change = parse_change(text, kernel, machine);
  if (!change) FAIL(to_string(change.error()));
  return *change;
}

std::string hash_with(const Kernel& kernel, const Machine& machine, const std::vector<std::string>& texts = {}) {
  Changes changes;
  for (const std::string& text : texts) changes.push_back(change_of(text, kernel, machine));
  const auto problem = resolve(kernel, machine, {}, changes);
  if (!problem) FAIL(to_string(problem.error()));
  CHECK(problem->changes == texts);
  return problem_hash(*problem);
}

std::string fault_of(const std::string& text) {
  const Kernel kernel = load_kernel("attention_forward_hopper").value();
  const Machine machine = load_machine("h100").value();
  const auto change = parse_change(text, kernel, machine);
  if (!change) return to_string(change.error());
  const auto problem = resolve(kernel, machine, {}, {*change});
  return problem ? "" : to_string(problem.error());
}

}  // namespace

TEST_CASE("percentages round to the nearest and never to nothing", "[core]") {
  const auto percent = [](std::int64_t number, std::int64_t p) {
    Change change;
    change.effect = ChangeEffect::Percent;
    change.value = p;
    return changed(change, number);
  };
  CHECK(percent(276, 10) == 304);  // 303.6
  CHECK(percent(276, -10) == 248);
  CHECK(percent(4, 10) == 4);
  CHECK(percent(5, 10) == 6);  // 5.5
  CHECK(percent(1, -99) == 1);
  CHECK(percent(0, 50) == 0);
  CHECK(percent(kAbsurd, 1'000'000) == kAbsurd * 10'001);
}

TEST_CASE("changes are read and written in the same words", "[core]") {
  const Kernel kernel = load_kernel("attention_forward_hopper").value();
  const Machine machine = load_machine("h100").value();
  for (const char* text : {"exp0.latency=600", "exp0.window=+10%", "exp0.warps=8", "exp0.duration=-10%", "exp0.MUFU.duration=+1",
                           "mma.ss.latency=-20", "mma.ss.TC.duration=+50%", "mma.rs.SMEM.amount=1", "TC.capacity=+1",
                           "limits.smem_bytes=200000", "handoff.register_copy=+10%", "handoff.signal=0", "groups=2"})
    CHECK(describe(change_of(text, kernel, machine)) == text);
  CHECK(change_of("mma.ss.latency=1", kernel, machine).rule == "mma.ss");
  CHECK(change_of("exp0.MUFU.duration=+1", kernel, machine).unit == "MUFU");
}

TEST_CASE("a change of what does not exist, or to what cannot be, is a fault with a guess", "[core]") {
  CHECK(fault_of("exp9.latency=6") == "'exp9.latency=6': there is no number 'exp9.latency' (did you mean 'exp0'?)");
  CHECK(fault_of("exp0.latncy=6") == "'exp0.latncy=6': there is no number 'exp0.latncy' (did you mean 'latency'?)");
  CHECK(fault_of("limits.smem_byte=6") == "'limits.smem_byte=6': there is no number 'limits.smem_byte' (did you mean 'smem_bytes'?)");
  CHECK(fault_of("exp0.latency=10%") == "'exp0.latency=10%': '10%' is no value (percent are written +10% or -10%, above -100)");
  for (const char* value : {"", "+", "-", "++1", "+-1", "-100%", "1e3", "99999999999999999999", "4.5", "%", "+%"})
    CHECK(fault_of(std::string("exp0.latency=") + value).find("is no value") != std::string::npos);
  CHECK(fault_of("exp0.latency=-3000") == "change 'exp0.latency=-3000': latency of op 'exp0' becomes -2448, expected 0 to 2147483648");
  CHECK(fault_of("TC.capacity=0") == "change 'TC.capacity=0': capacity of unit TC becomes 0, expected 1 to 2147483648");
  CHECK(fault_of("exp0.TC.duration=+1") == "change 'exp0.TC.duration=+1': op 'exp0' does not use unit 'TC'");
  CHECK(fault_of("exp0.MUFU.amount=2") == "change 'exp0.MUFU.amount=2': amount of MUFU of op 'exp0' becomes 2, expected 0 to 1");
  CHECK(fault_of("exp0.warps=64").find("op 'exp0' needs 64 warps, a CTA on machine 'h100' has at most 32") != std::string::npos);
  CHECK(fault_of("groups=0") == "change 'groups=0': number of warp groups becomes 0, expected 1 to 32");
}

TEST_CASE("a problem with changes is the problem of the edited files", "[core]") {
  const Machine machine = load_machine("h100").value();
  for (const char* name : {"attention_forward_hopper", "attention_backward_hopper", "gemm_hopper", "layernorm"}) {
    const Kernel kernel = load_kernel(name).value();
    const Problem base = resolve(kernel, machine).value();
    CAPTURE(name);
    for (std::size_t i = 0; i < kernel.body.size(); ++i) {
      const Op& op = base.ops[i];
      const auto edited = [&](auto&& edit) {
        Kernel copy = kernel;
        edit(copy.body[i].cost.emplace());
        return hash_with(copy, machine);
      };
      const auto set = [&](const char* field, std::int64_t value) {
        return hash_with(kernel, machine, {fmt::format("{}.{}={}", op.name, field, value)});
      };
      CHECK(set("latency", 777) == edited([](CostOverride& cost) { cost.latency = Expr(777); }));
      CHECK(set("window", 99) == edited([](CostOverride& cost) { cost.window = Expr(99); }));
      CHECK(set("warps", 8) == edited([](CostOverride& cost) { cost.warps = Expr(8); }));
      CHECK(set("latency", op.latency) == problem_hash(base));
      CHECK(set("duration", 55) == edited([&](CostOverride& cost) {
              auto& uses = cost.uses.emplace();
              for (const UnitUse& use : op.uses) uses.push_back({base.unit(use.unit).name, Expr(use.offset), Expr(55), Expr(use.amount)});
            }));
    }
    Machine edited = machine;
    edited.units[0].capacity = 2;
    edited.limits.smem_bytes = 200'000;
    edited.limits.register_overhead += 4;
    edited.handoff.signal = Expr(112);
    Kernel two_groups = kernel;
    two_groups.max_groups = 2;
    CHECK(hash_with(two_groups, edited) ==
          hash_with(kernel, machine,
                    {"TC.capacity=+1", "limits.smem_bytes=200000", "limits.register_overhead=+4", "handoff.signal=+20", "groups=2"}));
  }
}

TEST_CASE("a change of a rule touches the ops that it costs and no others", "[core]") {
  Kernel kernel = load_kernel("attention_forward_hopper").value();
  const Machine machine = load_machine("h100").value();
  for (TileOp& op : kernel.body)
    if (op.name == "exp1") op.cost.emplace().latency = Expr(500);
  const Problem base = resolve(kernel, machine).value();
  const Problem after = resolve(kernel, machine, {}, {change_of("exp2.latency=+10%", kernel, machine)}).value();
  int touched = 0;
  for (std::size_t i = 0; i < base.ops.size(); ++i) {
    const bool mine = base.ops[i].rule == "exp2" && base.ops[i].name != "exp1";
    touched += mine;
    CHECK(after.ops[i].latency == (mine ? (base.ops[i].latency * 110 + 50) / 100 : base.ops[i].latency));
  }
  CHECK(touched == 3);  // exp0, alpha0, alpha1
  CHECK(problem_hash(base) != problem_hash(after));
}

TEST_CASE("an order with a latency of its own keeps it when its op's latency changes", "[core]") {
  Kernel kernel = load_kernel("toy_fig1").value();
  const Machine machine = load_machine("toy").value();
  kernel.order.push_back({"S", "O", Expr(5), 0});
  kernel.order.push_back({"P", "S", std::nullopt, 1});
  const Changes slower{change_of("S.latency=9", kernel, machine), change_of("P.latency=7", kernel, machine)};
  const Problem problem = resolve(kernel, machine, {}, slower).value();
  const auto orders = std::vector<Edge>(problem.edges.end() - 2, problem.edges.end());
  CHECK(orders[0].latency == 5);
  CHECK(orders[1].latency == 7);
}

TEST_CASE("changes apply in order, and those switched off not at all", "[core]") {
  const Kernel kernel = load_kernel("toy_fig1").value();
  const Machine machine = load_machine("toy").value();
  Changes changes{change_of("S.latency=100", kernel, machine), change_of("S.latency=+10%", kernel, machine),
                  change_of("S.latency=3", kernel, machine)};
  changes[2].enabled = false;
  changes[0].name = "slow";
  const Problem problem = resolve(kernel, machine, {}, changes).value();
  CHECK(problem.ops[0].latency == 110);
  CHECK(problem.changes == std::vector<std::string>{"slow (S.latency=100)", "S.latency=+10%"});
}

TEST_CASE("every kind of change survives a round trip", "[core]") {
  const auto file = test::repository_path("tests/golden/changes.json");
  const Kernel kernel = load_kernel("toy_fig1").value();
  const Machine machine = load_machine("toy").value();
  std::vector<Fault> warnings;
  const auto changes = read_changes(file, &warnings);
  if (!changes) FAIL(to_string(changes.error()));
  CHECK(warnings.empty());
  CHECK(changes->size() == 9);
  CHECK(changes->at(5).place.pointer == "/changes/5");
  const auto problem = resolve(kernel, machine, {}, *changes);
  if (!problem) FAIL(to_string(problem.error()));
  const auto constraints = read_constraints(file, *problem, &warnings);
  if (!constraints) FAIL(to_string(constraints.error()));
  CHECK(warnings.empty());
  CHECK(test::golden_difference("changes.json", constraints_text(*constraints, *changes)) == "");
}

TEST_CASE("keys of others in a constraints file survive a save", "[core]") {
  const std::string text = R"({"schema": "heddle.constraints/1", "x-me": 1,
    "constraints": [{"name": "a", "kind": "pin", "ops": ["S"], "at": 1, "x-why": "because"}],
    "changes": [{"name": "b", "kind": "groups", "to": 2, "x-who": "me"}]})";
  const Problem problem = resolve(load_kernel("toy_fig1").value(), load_machine("toy").value()).value();
  const auto constraints = parse_constraints(text, "c.json", problem);
  const auto changes = parse_changes(text, "c.json");
  REQUIRE(constraints.ok());
  REQUIRE(changes.ok());
  const std::string saved = constraints_text(*constraints, *changes, text);
  for (const char* key : {"\"x-me\": 1", "\"x-why\": \"because\"", "\"x-who\": \"me\""}) CHECK(saved.find(key) != std::string::npos);
  CHECK(constraints_text({}, *changes).find("\"changes\"") != std::string::npos);
}

TEST_CASE("a constraints file may demand layouts and instructions, alone or with constraints, and a save keeps them", "[core]") {
  LayoutChoices choices;
  choices.layouts = {{"dqs0", "panels 32"}};
  choices.instructions = {{"stage_dq0", {"st.shared.8", {}}}, {"stage_dq1", {"st.shared.8", {2, 3}}}};
  const std::string text = constraints_text({}, {}, {}, choices);
  const std::string file = "layout_demands_test.json";
  REQUIRE(write_file(file, text));
  std::vector<Fault> warnings;
  const auto read = read_layout_demands(file, &warnings);
  REQUIRE(read.ok());
  CHECK(*read == choices);
  CHECK(read_changes(file, &warnings).value().empty());
  const Problem problem = resolve(load_kernel("toy_fig1").value(), load_machine("toy").value()).value();
  CHECK(read_constraints(file, problem, &warnings).value().empty());
  CHECK(warnings.empty());
  const auto only = parse_constraints(R"({"schema": "heddle.constraints/1", "layouts": {"dqs0": "panels 32"}})", "c.json", problem);
  CHECK(only.ok());
  CHECK_FALSE(parse_constraints(R"({"schema": "heddle.constraints/1"})", "c.json", problem).ok());
  REQUIRE(write_file(file, R"({"schema": "heddle.constraints/1", "layouts": {"dqs0": 3}})"));
  const auto wrong = read_layout_demands(file);
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().faults.front().pointer == "/layouts/dqs0");
  std::remove(file.c_str());
}

TEST_CASE("all faults of changes come at once, and point into the file", "[core]") {
  const auto read = parse_changes(R"({"schema": "heddle.constraints/1", "constraints": [], "changes": [
    {"kind": "latnecy", "op": "S", "to": 1}, {"kind": "latency", "to": 1}, {"kind": "latency", "op": "S", "rule": "mma", "to": 1},
    {"kind": "capacity", "to": 1}, {"kind": "limit", "field": "smem_bytes"}, {"kind": "groups", "to": 1, "add": 1},
    {"name": "x", "kind": "groups", "to": -1}, {"name": "x", "kind": "groups", "percent": -100}, 3]})",
                                  "c.json");
  REQUIRE(!read.ok());
  std::vector<std::string> pointers;
  for (const Fault& fault : read.error().faults) pointers.push_back(fault.pointer);
  CHECK(pointers == std::vector<std::string>{"/changes/0/kind", "/changes/1", "/changes/2", "/changes/3", "/changes/4", "/changes/5",
                                             "/changes/6/to", "/changes/7/percent", "/changes/7", "/changes/8"});
  const auto names = parse_changes(R"({"schema": "heddle.constraints/1", "changes": [
    {"kind": "latency", "op": "SS", "to": 1}, {"kind": "capacity", "unit": "TCC", "to": 1},
    {"kind": "limit", "field": "smem", "to": 1}, {"kind": "groups", "to": 99}]})",
                                   "c.json");
  REQUIRE(names.ok());
  const auto problem = resolve(load_kernel("toy_fig1").value(), load_machine("toy").value(), {}, *names);
  REQUIRE(!problem.ok());
  pointers.clear();
  for (const Fault& fault : problem.error().faults) {
    CHECK(fault.file == "c.json");
    pointers.push_back(fault.pointer);
  }
  CHECK(pointers == std::vector<std::string>{"/changes/0/op", "/changes/1/unit", "/changes/2/field", "/changes/3/to"});
}

TEST_CASE("damaged changes are read or refused, and what is read can be resolved and written", "[core]") {
  const std::string whole = read_file(test::repository_path("tests/golden/changes.json")).value();
  const Kernel kernel = load_kernel("toy_fig1").value();
  const Machine machine = load_machine("toy").value();
  constexpr std::uint64_t kSeed = 20260102;
  INFO("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  int good = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = test::mutate_json(whole, random);
    const auto changes = parse_changes(text, "fuzz.json");
    if (!changes) {
      if (changes.error().faults.empty()) FAIL("an error without a fault, for:\n" << text);
      continue;
    }
    if (const auto problem = resolve(kernel, machine, {}, *changes); !problem) {
      if (problem.error().faults.empty()) FAIL("an error without a fault, for:\n" << text);
    } else {
      ++good;
    }
    const auto again = parse_changes(constraints_text({}, *changes, text), "fuzz.json");
    if (!again) FAIL(to_string(again.error()) << "\nfor:\n" << text);
  }
  CHECK(good > 30);
}
