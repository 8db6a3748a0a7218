// Layouts and instructions of whole kernels: today's, those that are chosen, and what the choices cost.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "core/analysis/bounds.h"
#include "core/layout/plan.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"

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

Result<Problem> chosen(const LayoutChoices& choices) { return resolve(backward(), h100(), {}, {}, choices); }

std::string faults_of(const LayoutChoices& choices) {
  const auto problem = chosen(choices);
  return problem ? "no fault" : to_string(problem.error());
}
std::string fault_of_layout(const std::string& value, const std::string& text) { return faults_of({{{value, text}}, {}}); }
std::string fault_of_instruction(const std::string& op, const InstructionChoice& choice) { return faults_of({{}, {{op, choice}}}); }

Cycle load(const Problem& problem, const char* unit) {
  Cycle sum = 0;
  for (const Op& op : problem.ops)
    for (const UnitUse& use : op.uses)
      if (problem.unit(use.unit).name == unit) sum += use.duration;
  return sum;
}

const std::string& text_of(const Kernel& kernel, const LayoutPlan& plan, const std::string& value) {
  for (std::size_t v = 0; v < kernel.values.size(); ++v)
    if (kernel.values[v].name == value) return plan.values[v].text;
  FAIL("no value " + value);
  return value;
}

}  // namespace

TEST_CASE("today's layouts and instructions of a Hopper kernel", "[core]") {
  const Problem problem = chosen({}).value();
  const LayoutPlan& plan = *problem.layouts;
  CHECK(plan.family == LayoutPlan::Family::Products);
  for (const auto& [value, text] : {std::pair("q", "panels 128"),
                                    {"lse", "rows"},
                                    {"s0", "accumulator"},
                                    {"ph0", "accumulator"},
                                    {"dsm0", "panels 128"},
                                    {"dqs0", "panels 128"}})
    CHECK(text_of(backward(), plan, value) == text);
  CHECK(plan.find("S0")->instruction == InstructionChoice{"wgmma.ss.bf16", {}});
  CHECK(plan.find("dV0")->instruction == InstructionChoice{"wgmma.rs.bf16", {}});
  CHECK(plan.find("stage_ds0")->instruction == InstructionChoice{"stmatrix.x4", {}});
  CHECK(plan.find("stage_dq0")->instruction == InstructionChoice{"st.shared.8", {2, 3}});
  CHECK(plan.find("add_dq0")->instruction == InstructionChoice{"tma.128", {}});
  CHECK(plan.find("load_lse")->instruction == InstructionChoice{"tma.0", {}});
  const AccessCost& staged = plan.find("stage_dq0")->charged();
  CHECK(staged.known);
  CHECK(staged.port == 128);
  CHECK(staged.ways == 1);
  CHECK(staged.selects == 64 * 64);
  // lse is read by columns on the way: counted, not charged.
  const OpPlan& sub = *plan.find("sub0");
  REQUIRE(sub.accesses.size() == 1);
  CHECK(!sub.accesses[0].charged);
  CHECK(sub.accesses[0].cost.known);
  CHECK(sub.charged().port == 0);
}

TEST_CASE("today's layouts on Blackwell and of a kernel without mmas", "[core]") {
  const Kernel tensor = load_kernel("gemm_blackwell").value(), rows = load_kernel("layernorm").value();
  const Problem a = resolve(tensor, load_machine("b200").value()).value(), b = resolve(rows, h100()).value();
  CHECK(a.layouts->family == LayoutPlan::Family::TensorProducts);
  CHECK(b.layouts->family == LayoutPlan::Family::Rows);
  for (const auto& [kernel, problem] : {std::pair(&tensor, &a), {&rows, &b}}) {
    const bool products = kernel == &tensor;
    for (std::size_t v = 0; v < kernel->values.size(); ++v) {
      const TileValue& value = kernel->values[v];
      if (value.shape.size() != 2 || (value.space != Space::Smem && value.space != Space::Register)) continue;
      CAPTURE(kernel->name, value.name);
      const bool memory = value.space == Space::Smem;
      CHECK(problem->layouts->values[v].text == (products ? (memory ? "panels 128" : "thread_rows") : memory ? "panels 0" : "warp_rows"));
    }
  }
}

TEST_CASE("every access of every shipped kernel is known and meets no bank twice", "[core]") {
  for (const LibraryEntry& kernel_entry : list_library(Shelf::Kernels))
    for (const char* machine_name : {"h100", "h200", "b200"}) {
      const auto kernel = load_kernel(kernel_entry.path);
      const auto problem = resolve(*kernel, load_machine(machine_name).value());
      if (!problem || kernel->name == "toy_fig1" || kernel->name.ends_with("_dae")) continue;  // not written for warps
      for (const auto& [op, plan] : problem->layouts->ops)
        for (const OpAccess& access : plan.accesses) {
          CAPTURE(kernel->name, machine_name, op, plan.unknown);
          // Tiles that no warpgroup holds are scheduled, and refused when they are to be written.
          if (plan.unknown.find("is no tile of ") != std::string::npos) continue;
          CHECK(access.cost.known);
          // A lane's eight numbers of 32 bits are two times 16 bytes, and those of the next lane begin 32 bytes further on.
          const int ways = kernel->name == "attention_round_dq" && op == "read_sum" ? 2 : 1;
          CHECK(access.cost.ways == ways);
          CHECK(access.cost.port == ways * access.cost.least);
        }
    }
}

TEST_CASE("a dQ store whose lanes meet costs the port 256 cycles more, and panels of 32 bytes cost nothing", "[core]") {
  const Problem today = chosen({}).value();
  CHECK(load(today, "SMEM") == 2688);
  CHECK(compute_bounds(today).res_mii == 2688);

  LayoutChoices plain;
  plain.instructions = {{"stage_dq0", {"st.shared.8", {}}}, {"stage_dq1", {"st.shared.8", {}}}};
  const Problem conflicted = chosen(plain).value();
  CHECK(conflicted.layouts->find("stage_dq0")->charged().ways == 2);
  CHECK(load(conflicted, "SMEM") == 2944);
  CHECK(compute_bounds(conflicted).res_mii == 2944);
  CHECK(load(conflicted, "ALU") == load(today, "ALU") - 2 * 64);
  CHECK(problem_hash(conflicted) != problem_hash(today));
  CHECK(problem_text(conflicted).find("st.shared.8") != std::string::npos);
  CHECK(problem_text(today).find("st.shared.8") == std::string::npos);
  CHECK(choices_of(conflicted) == plain);

  LayoutChoices narrow;
  narrow.layouts = {{"dqs0", "panels 32"}, {"dqs1", "panels 32"}};
  const Problem other = chosen(narrow).value();
  CHECK(other.layouts->find("stage_dq0")->instruction == InstructionChoice{"st.shared.8", {}});
  CHECK(other.layouts->find("add_dq0")->instruction.name == "tma.32");
  CHECK(load(other, "SMEM") == 2688);
  CHECK(load(other, "ALU") == load(conflicted, "ALU"));
}

TEST_CASE("a choice that says what is done today is the same problem by another name", "[core]") {
  LayoutChoices same;
  same.layouts = {{"dqs0", "panels 128"}};
  same.instructions = {{"stage_dq0", {"st.shared.8", {2, 3}}}};
  const Problem a = chosen({}).value(), b = chosen(same).value();
  CHECK(problem_hash(a) == problem_hash(b));
  CHECK(problem_text(a) != problem_text(b));
  CHECK(b.layouts->find("stage_dq0")->chosen);
}

TEST_CASE("a layout that its users cannot read is refused with both askers", "[core]") {
  CHECK(fault_of_layout("k0", "rows 72") != "no fault");  // 72 is less than the 128 columns of a row: no layout of the tile
  CHECK(fault_of_layout("k0", "rows 136")
            .find("/layouts/k0: 'k0' is read by wgmma of 'S0', which needs panels of 32, 64 or 128 bytes; you "
                  "chose rows 136") != std::string::npos);
  CHECK(fault_of_layout("k0", "panels 0").find("which needs panels of 32, 64 or 128 bytes") != std::string::npos);
  CHECK(fault_of_layout("dqs0", "rows 68").find("'dqs0' is read by TMA of 'add_dq0', which needs panels; you chose rows 68") !=
        std::string::npos);
  CHECK(fault_of_layout("k0", "panels 64") == "no fault");
  CHECK(fault_of_layout("s0", "{register = [[0, 1]]}") != "no fault");
  CHECK(fault_of_layout("s0", "panels 128").find("'s0' lies in registers") != std::string::npos);
  CHECK(fault_of_layout("dqs0", "accumulator").find("'dqs0' lies in shared memory") != std::string::npos);
  CHECK(fault_of_layout("dqs", "rows").find("kernel 'attention_backward_hopper' has no value 'dqs'") != std::string::npos);
  CHECK(fault_of_layout("dqs", "rows").find("did you mean 'dq0'?") != std::string::npos);
  CHECK(fault_of_layout("dqs0", std::string(100'000, '(')) != "no fault");
}

TEST_CASE("an instruction that does not exist, is of another kind, or does not fit is refused with what there is", "[core]") {
  CHECK(fault_of_instruction("stage_dq0", {"tcgen05.st.32x32b.x1", {}}).find("machine 'h100' has no instruction 'tcgen05.st.32x32b.x1'") !=
        std::string::npos);
  CHECK(fault_of_instruction("stage_dq0", {"st.shared.32", {}}).find("did you mean 'st.shared.2'?") != std::string::npos);
  CHECK(fault_of_instruction("stage_dq0", {"wgmma.ss.bf16", {}})
            .find("'stage_dq0' (smem_store) cannot be written as wgmma.ss.bf16 (it can be st.shared.1, ") != std::string::npos);
  CHECK(fault_of_instruction("stage_dq0", {"stmatrix.x4.trans", {}}).find("moves elements of 16 bits, and these have 32") !=
        std::string::npos);
  CHECK(fault_of_instruction("stage_dq0", {"st.shared.8", {2, 9}}).find("/instructions/stage_dq0: ") != std::string::npos);
  CHECK(fault_of_instruction("stage_ds0", {"stmatrix.x4", {2, 3}}).find("with st.shared only") != std::string::npos);
  CHECK(fault_of_instruction("S0", {"wgmma.rs.bf16", {}}).find("its A is bf16 in smem (\"wgmma.ss.bf16\" takes it)") != std::string::npos);
  CHECK(fault_of_instruction("add_dq0", {"tma.64", {}}).find("\"tma.128\" takes it as it lies") != std::string::npos);
  // How registers go to another group is a choice of the op that makes them.
  CHECK(fault_of_instruction("exp0", {"shfl", {}}).find("'exp0' (exp2) cannot be written as shfl (it can be st.shared.4, ") !=
        std::string::npos);
  CHECK(fault_of_instruction("nothing", {"shfl", {}}).find("has no op 'nothing'") != std::string::npos);
  CHECK(fault_of_instruction("stage_ds0", {"st.shared.4", {}}) == "no fault");
}

TEST_CASE("all faulty choices are said at once, and none of them crashes", "[core]") {
  LayoutChoices bad;
  bad.layouts = {{"k0", "rows"}, {"\x1b[31m", "rows"}, {"lse", "panels 128"}, {"", ""}};
  bad.instructions = {{"S0", {"", {}}}, {"\n", {"st.shared.8", {-7, 900}}}};
  const auto problem = chosen(bad);
  REQUIRE(!problem);
  CHECK(problem.error().faults.size() >= 6);
  for (const Fault& fault : problem.error().faults) CHECK(fault.message.find('\x1b') == std::string::npos);
}

TEST_CASE("kernels on machines that nothing is written for have no layouts, and choices there are faults", "[core]") {
  const Kernel toy = load_kernel("toy_fig1").value();
  const Machine machine = load_machine("toy").value();
  const Problem problem = resolve(toy, machine).value();
  CHECK(problem.layouts->family == LayoutPlan::Family::None);
  for (const ValuePlan& value : problem.layouts->values) {
    CHECK(!value.layout);
    CHECK(!value.unknown.empty());
  }
  LayoutChoices choices;
  choices.layouts = {{toy.values[0].name, "rows"}};
  CHECK(!resolve(toy, machine, {}, {}, choices));
}

TEST_CASE("a shape that no known layout fits is counted by its bytes", "[core]") {
  Kernel kernel = load_kernel("gemm_hopper").value();
  Problem today = resolve(kernel, h100()).value();
  for (TileValue& value : kernel.values)
    if (value.space == Space::Register && value.shape.size() == 2) value.shape[0] = Expr(128);
  std::vector<Fault> faults;
  const LayoutPlan plan = plan_layouts(kernel, today.params, h100(), {}, faults);
  CHECK(faults.empty());
  bool seen = false;
  for (const auto& [name, op] : plan.ops)
    for (const OpAccess& access : op.accesses)
      if (access.held == nullptr && access.by == nullptr && access.charged) {
        seen = true;
        CHECK(!op.charged().known);
        CHECK(op.charged().port > 0);
        CHECK(op.unknown.find("is no tile of 64 rows") != std::string::npos);
      }
  CHECK(seen);
}

TEST_CASE("the alternatives of a store begin with what is done, and say why what cannot be cannot", "[core]") {
  const Problem problem = chosen({}).value();
  const auto all = alternatives_of(backward(), problem.params, h100(), *problem.layouts, "stage_dq0");
  REQUIRE(!all.empty());
  CHECK(all[0].current);
  CHECK(all[0].instruction == InstructionChoice{"st.shared.8", {2, 3}});
  CHECK(all[0].cost.port == 128);
  const auto find = [&](const std::string& layout, const InstructionChoice& instruction) -> const LayoutAlternative& {
    for (const LayoutAlternative& each : all)
      if (each.layout == layout && each.instruction == instruction) return each;
    FAIL(layout + " by " + instruction.name);
    return all[0];
  };
  CHECK(find("panels 128", {"st.shared.8", {}}).cost.port == 256);
  CHECK(find("panels 32", {"st.shared.8", {}}).cost.port == 128);
  CHECK(find("panels 32", {"st.shared.8", {}}).refused.empty());
  CHECK(find("rows 68", {"st.shared.8", {}}).refused.find("TMA of 'add_dq0'") != std::string::npos);
  CHECK(find("rows 68", {"st.shared.8", {}}).bytes > find("rows", {"st.shared.8", {}}).bytes);
  CHECK(!find("panels 128", {"stmatrix.x4.trans", {}}).refused.empty());
  for (const LayoutAlternative& each : all) {
    CHECK(each.current == (&each == &all[0]));
    // Whatever is offered can be chosen.
    if (!each.refused.empty()) continue;
    CAPTURE(each.layout, each.instruction.name);
    LayoutChoices choices;
    choices.layouts = {{"dqs0", each.layout}};
    choices.instructions = {{"stage_dq0", each.instruction}};
    const auto other = chosen(choices);
    REQUIRE(other);
    CHECK(other->layouts->find("stage_dq0")->charged() == each.cost);
  }
  CHECK(alternatives_of(backward(), problem.params, h100(), *problem.layouts, "S0").empty());
  CHECK(alternatives_of(backward(), problem.params, h100(), *problem.layouts, "nothing").empty());
}

TEST_CASE("a hand-over in words of 16 bytes takes a quarter of the instructions and as much of the port", "[core]") {
  const AccessCost words = hand_over_cost(h100(), 64, 128, "st.shared.4"), wide = hand_over_cost(h100(), 64, 128, "st.shared.16");
  CHECK(words.known);
  CHECK(words.issues == 64);
  CHECK(wide.issues == 16);
  CHECK(words.port == 2 * 64 * 4);
  CHECK(wide.port == words.port);
  CHECK(!hand_over_cost(h100(), 64, 128, "ld.shared.4").known);
  CHECK(!hand_over_cost(h100(), 64, 128, "nothing").known);
  CHECK(!hand_over_cost(load_machine("toy").value(), 64, 128, "st.shared.4").known);
}

TEST_CASE("a hand-over costs what its stores and loads take of the port, over the cycles of an empty one", "[core]") {
  const Problem problem = resolve(backward(), h100()).value();
  int crossing = 0;
  for (const Edge& edge : problem.edges) {
    if (!edge.value.valid() || problem.value(edge.value).space != Space::Register) continue;
    const Value& value = problem.value(edge.value);
    if (problem.op(edge.to).kind == "mma") continue;  // of an accumulator the rest of the product's latency is in it too
    const AccessCost cost = hand_over_cost(h100(), value.registers, 32 * problem.op(edge.from).warps, "st.shared.4");
    CHECK(edge.handoff == 61 + cost.port);
    CHECK(cost.port == 2 * value.registers * problem.op(edge.from).warps);
    ++crossing;
  }
  CHECK(crossing > 0);
  Machine of_bytes = h100();
  of_bytes.handoff.register_copy = Expr::parse("bytes").value();
  const Problem other = resolve(backward(), of_bytes).value();
  for (std::size_t e = 0; e < other.edges.size(); ++e)
    if (const Edge& edge = other.edges[e];
        edge.value.valid() && other.value(edge.value).space == Space::Register && other.op(edge.to).kind != "mma")
      CHECK(edge.handoff == other.value(edge.value).bytes);
}

TEST_CASE("numbers that were changed stay changed, and the plan no longer prices the op", "[core]") {
  const Change change = parse_change("stage_dq0.SMEM.duration=7", backward(), h100()).value();
  const Problem problem = resolve(backward(), h100(), {}, {change}).value();
  CHECK(!problem.layouts->find("stage_dq0")->priced);
  CHECK(problem.layouts->find("stage_dq1")->priced);
}
