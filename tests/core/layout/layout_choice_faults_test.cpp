// Choices of layouts and instructions that nothing can be written for, or that the checker would count otherwise: refused by the planner.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

#include "core/check/layouts.h"
#include "core/layout/known.h"
#include "core/layout/layout_store.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"

using namespace heddle;

namespace {

const Machine& h100() {
  static const Machine machine = load_machine("h100").value();
  return machine;
}
const Kernel& layernorm() {
  static const Kernel kernel = load_kernel("layernorm").value();
  return kernel;
}

std::string faults_of(const Kernel& kernel, const LayoutChoices& choices) {
  const auto problem = resolve(kernel, h100(), {}, {}, choices);
  return problem ? "no fault" : to_string(problem.error());
}

int registers_of(const Problem& problem, const std::string& value) {
  for (const Value& each : problem.values)
    if (each.name == value) return each.registers;
  FAIL("no value " + value);
  return 0;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// layernorm's rows of 1024 as a lane has them side by side: 32 columns of each row, and two rows.
const char* const kWideTile =
    "{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0]], lane = [[0, 32], [0, 64], [0, 128], [0, 256], [0, 512]], "
    "warp = [[2, 0], [4, 0]]}";
const char* const kWideVector = "{register = [[1], [2], [4], [8], [16]], lane = [[32], [64], [128], [256], [512]], warp = [[0], [0]]}";

/// layernorm whose result comes back from shared memory to registers instead of leaving by TMA.
Kernel without_tma() {
  Kernel kernel = layernorm();
  TileValue back = *kernel.find_value("yh");
  back.name = "back";
  kernel.values.push_back(back);
  TileOp& last = kernel.body.back();
  REQUIRE(last.name == "store_y");
  last = TileOp{};
  last.name = "read_back";
  last.kind = "smem_load";
  last.inputs.resize(1);
  last.inputs[0].value = "ys";
  last.outputs = {"back"};
  return kernel;
}

}  // namespace

TEST_CASE("a vector that lies otherwise than the tile that it is laid over is refused", "[core]") {
  LayoutChoices choices;
  choices.layouts = {{"gamma", kWideVector}, {"beta", kWideVector}};
  choices.instructions = {{"load_gamma", {"ld.global.16", {}}}};
  const std::string said = faults_of(layernorm(), choices);
  CHECK(has(said,
            "/layouts/gamma: 'gamma' and 'y', which lies as warp_rows, meet in elementwise of 'affine': a number per column lies where "
            "its column does; you chose {register"));
  CHECK(has(said, "/layouts/beta: 'beta' and 'y'"));
  CHECK(has(said, "by default it lies as "));
  // Nor may the tiles go alone: their vectors stay.
  LayoutChoices tiles;
  for (const char* name : {"x", "centered", "squared", "normal", "y"}) tiles.layouts[name] = kWideTile;
  const std::string alone = faults_of(layernorm(), tiles);
  CHECK(has(alone, "/layouts/y: 'y' and 'gamma'"));
  // What a reduction makes lies as before, its rows are where they were; with vectors that follow all of it can be.
  CHECK_FALSE(has(alone, "/layouts/squared"));
  tiles.layouts["gamma"] = tiles.layouts["beta"] = kWideVector;
  CHECK(faults_of(layernorm(), tiles) == "no fault");
  LayoutChoices rows;
  rows.layouts = {{"mean", "{register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = [[4], [2]]}"}};
  CHECK(has(faults_of(layernorm(), rows), "/layouts/mean: 'mean' and 'x', which lies as warp_rows, meet in reduce_sum of 'mean'"));
}

TEST_CASE("what is done by default can be chosen for every value of every shipped kernel", "[core]") {
  int chosen = 0;
  for (const LibraryEntry& entry : list_library(Shelf::Kernels)) {
    const Kernel kernel = load_kernel(entry.path).value();
    const auto problem = resolve(kernel, h100());
    if (!problem) continue;
    LayoutChoices choices;
    for (std::size_t v = 0; v < kernel.values.size(); ++v)
      if (const ValuePlan& plan = problem->layouts->values[v]; plan.layout) choices.layouts[kernel.values[v].name] = plan.text;
    chosen += static_cast<int>(choices.layouts.size());
    CAPTURE(kernel.name);
    const auto same = resolve(kernel, h100(), {}, {}, choices);
    CHECK((same ? std::string() : to_string(same.error())) == "");
    if (!same) continue;
    CHECK(problem_hash(*same) == problem_hash(*problem));
    CHECK(judge_layouts(same->layouts)->violations.empty());
  }
  CHECK(chosen > 100);
}

TEST_CASE("padded tiles are refused where no box refuses them, and so are the alternatives that have them", "[core]") {
  const Kernel kernel = without_tma();
  const auto problem = resolve(kernel, h100());
  REQUIRE(problem);
  CHECK(faults_of(kernel, {{{"ys", "rows"}}, {}}) == "no fault");
  CHECK(has(faults_of(kernel, {{{"ys", "rows 1032"}}, {}}),
            "/layouts/ys: 'ys' has 8192 elements and would take the room of 8248, and padding is not written yet; you chose rows 1032"));
  bool padded = false;
  for (const LayoutAlternative& each : alternatives_of(kernel, problem->params, h100(), *problem->layouts, "stage")) {
    if (each.layout != "rows 1032") continue;
    padded = true;
    CHECK_FALSE(each.refused.empty());
    if (each.instruction.name == "st.shared.16") CHECK(has(each.refused, "padding is not written yet"));
  }
  CHECK(padded);
}

TEST_CASE("a chosen layout that holds elements twice takes the registers and the selects that it takes", "[core]") {
  const std::string twice =
      "{register = [[0, 1], [0, 2], [0, 4], [0, 256], [0, 512], [1, 0], [0, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], "
      "warp = [[2, 0], [4, 0]]}";
  const Problem before = resolve(layernorm(), h100()).value();
  LayoutChoices choices;
  choices.layouts = {{"yh", twice}};
  choices.instructions = {{"stage", {"st.shared.8", {0, 3}}}};
  const auto problem = resolve(layernorm(), h100(), {}, {}, choices);
  REQUIRE(problem);
  CHECK(registers_of(before, "yh") == 32);
  CHECK(registers_of(*problem, "yh") == 64);
  CHECK(problem->layouts->find("stage")->cost.selects == 2 * 8 * 1024);
  CHECK(judge_layouts(problem->layouts)->violations.empty());
}

TEST_CASE("a tile is held by all lanes of four warps", "[core]") {
  CHECK(
      has(faults_of(layernorm(), {{{"yh",
                                    "{register = [[0, 1], [0, 2], [0, 4], [0, 128], [0, 256], [0, 512], [1, 0]], lane = [[0, 8], [0, 16], "
                                    "[0, 32], [0, 64]], warp = [[2, 0], [4, 0]]}"}},
                                  {}}),
          "spreads 'yh' over 16 lanes of 4 warps, and a group has 32 lanes in each of 4 warps"));
  CHECK(has(faults_of(layernorm(), {{{"yh",
                                      "{register = [[0, 1], [0, 2], [0, 4], [0, 256], [0, 512], [1, 0], [2, 0]], lane = [[0, 8], [0, 16], "
                                      "[0, 32], [0, 64], [0, 128]], warp = [[4, 0]]}"}},
                                    {}}),
            "spreads 'yh' over 32 lanes of 2 warps"));
}

TEST_CASE("what the planner accepts of random layouts and instructions the checker counts alike", "[core]") {
  const Kernel kernel = without_tma();
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto pick = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  // Bits of row and column, spread over registers, lanes and warps; some of the lanes' low ones stay, so that something fits.
  const auto registers_text = [&] {
    std::vector<std::string> bits;
    for (int bit = 0; bit < 10; ++bit) bits.push_back(fmt::format("[0, {}]", 1 << bit));
    for (int bit = 0; bit < 3; ++bit) bits.push_back(fmt::format("[{}, 0]", 1 << bit));
    std::shuffle(bits.begin() + pick(5), bits.end(), random);
    const auto axis = [&](std::size_t from, std::size_t to) {
      return fmt::format("[{}]", fmt::join(bits.begin() + from, bits.begin() + to, ", "));
    };
    std::string registers = axis(0, 6), lanes = axis(6, 11), warps = axis(11, 13);
    if (pick(3) == 0) registers.insert(registers.size() - 1, ", [0, 0]");
    return fmt::format("{{register = {}, lane = {}, warp = {}}}", registers, lanes, warps);
  };
  const std::vector<std::string> memories{
      "rows", "panels 0", "panels 128", "panels 64", "panels 32", "Sw<3,3,4> o (8,1024):(1024,1)", "(8,1024):(1,8)"};
  std::vector<std::string> stores, loads;
  for (const Instruction& row : h100().instructions) {
    if (row.kind == InstructionKind::SharedStore || row.kind == InstructionKind::MatrixStore) stores.push_back(row.name);
    if (row.kind == InstructionKind::SharedLoad || row.kind == InstructionKind::MatrixLoad) loads.push_back(row.name);
  }
  int accepted = 0;
  for (int round = 0; round < 600; ++round) {
    LayoutChoices choices;
    if (pick(4)) choices.layouts["yh"] = registers_text();
    if (pick(2)) choices.layouts["back"] = registers_text();
    if (pick(2)) choices.layouts["ys"] = memories[static_cast<std::size_t>(pick(static_cast<int>(memories.size())))];
    if (pick(2)) {
      InstructionChoice& store = choices.instructions["stage"];
      store.name = stores[static_cast<std::size_t>(pick(static_cast<int>(stores.size())))];
      if (pick(2)) store.exchange = {pick(5), pick(6)};
    }
    if (pick(4) == 0) choices.instructions["read_back"] = {loads[static_cast<std::size_t>(pick(static_cast<int>(loads.size())))], {}};
    const auto problem = resolve(kernel, h100(), {}, {}, choices);
    if (!problem) continue;
    ++accepted;
    const auto judgement = judge_layouts(problem->layouts);
    for (const Violation& violation : judgement->violations) {
      CAPTURE(choices.layouts, choices.instructions["stage"].name, choices.instructions["stage"].exchange.lane,
              choices.instructions["stage"].exchange.register_bit);
      FAIL_CHECK(violation.message);
    }
  }
  CHECK(accepted > 10);
}

TEST_CASE("a row of the same name with other members is another instruction", "[core]") {
  const auto held = std::make_shared<const Layout>(accumulator_layout(64));
  std::vector<Fault> faults;
  const auto memory = stored_layout("panels 128", {64, 64}, 16, {}, faults);
  REQUIRE(memory);
  Instruction row = *h100().find_instruction("stmatrix.x4");
  CHECK(stored_access(held, memory->layout, 16, row, {}).cost.issues == 4);
  Instruction two = row, turned = row, other = row;
  two.matrices = 2;
  turned.transposed = true;
  other.kind = InstructionKind::SharedStore;
  CHECK(stored_access(held, memory->layout, 16, two, {}).cost.issues == 8);
  CHECK_FALSE(stored_access(held, memory->layout, 16, turned, {}).refusal.empty());
  CHECK_FALSE(stored_access(held, memory->layout, 16, other, {}).refusal.empty());
  CHECK(stored_access(held, memory->layout, 16, row, {}).refusal.empty());
}

TEST_CASE("an instruction for an op that hands nothing over is refused", "[core]") {
  const auto said = [](const Kernel& kernel, const char* op, const char* instruction) {
    return faults_of(kernel, {{}, {{op, {instruction, {}}}}});
  };
  const Kernel attention = load_kernel("attention_forward_hopper").value();
  CHECK(has(said(attention, "max0", "st.shared.16"),
            "/instructions/max0: 'max0' hands over 2 registers of each thread, no multiple of the 4 that st.shared.16 moves"));
  CHECK(said(attention, "max0", "st.shared.8") == "no fault");
  CHECK(said(layernorm(), "center", "st.shared.16") == "no fault");
  CHECK(has(said(layernorm(), "center", "st.shared.2"), "'center' (elementwise) cannot be written as st.shared.2"));
  int outside = 0;
  for (const TileOp& op : attention.epilogue)
    if (op.kind == "elementwise" && outside++ == 0)
      CHECK(has(said(attention, op.name.c_str(), "st.shared.4"), "hands nothing over: it is outside the loop"));
  CHECK(outside > 0);
  // A result that no op of the loop reads.
  Kernel unread = layernorm();
  unread.values.push_back(*unread.find_value("yh"));
  unread.values.back().name = "unread";
  for (TileOp& op : unread.body)
    if (op.name == "narrow") {
      TileOp second = op;
      second.name = "second";
      second.outputs = {"unread"};
      unread.body.push_back(second);
      break;
    }
  CHECK(has(said(unread, "second", "st.shared.4"), "'second' hands nothing over: no other op of the loop reads it"));
}

TEST_CASE("an op whose rule names port_least is not priced by what the plan says of port", "[core]") {
  Machine machine = h100();
  for (CostRule& rule : machine.rules)
    if (rule.kind == "smem_store")
      for (UnitCost& use : rule.uses)
        if (use.unit == "SMEM") use.duration = Expr::parse("port_least").value();
  const Problem problem = resolve(layernorm(), machine).value();
  CHECK(resolve(layernorm(), h100()).value().layouts->find("stage")->priced);
  CHECK_FALSE(problem.layouts->find("stage")->priced);
}
