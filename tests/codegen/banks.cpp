// Lines become ops, ops become sums, sums are compared.
#include "tests/codegen/banks.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/layout/plan.h"
#include "core/library/library.h"
#include "tests/support/paths.h"

namespace heddle::test {

using namespace codegen;

namespace {

struct Sum {
  long instructions = 0, phases = 0, port = 0;
  int ways = 1;
  void add(const BankCount& c) {
    instructions += c.instructions, phases += c.phases, port += c.port;
    ways = std::max(ways, c.ways);
  }
  void add(const AccessCost& c, int warps) {
    instructions += c.issues * warps, phases += c.least, port += c.port;
    ways = std::max(ways, c.ways);
  }
};

/// What one role does for one op: its own work, or putting the result where another role takes it.
using Part = std::tuple<std::size_t, OpRef::List, std::size_t, bool>;

/// Words that a thread hands over.
long words_handed(const Lowering& from, std::size_t value) {
  const auto it = std::find_if(from.problem.values.begin(), from.problem.values.end(),
                               [&](const heddle::Value& v) { return v.name == from.kernel.values[value].name; });
  return it == from.problem.values.end() ? 0 : it->registers;
}

/// One side of it, as the problem's latency has it: the stores, or as many loads.
AccessCost handed_over(const Lowering& from, const Machine& machine, std::size_t value, int warps) {
  const std::string& name = from.kernel.values[value].name;
  std::string maker;
  for (const auto* list : {&from.kernel.prologue, &from.kernel.body, &from.kernel.epilogue})
    for (const TileOp& op : *list)
      if (std::find(op.outputs.begin(), op.outputs.end(), name) != op.outputs.end()) maker = op.name;
  AccessCost cost = hand_over_cost(machine, words_handed(from, value), std::int64_t{32} * warps,
                                   hand_over_instruction(from.problem.layouts.get(), maker));
  cost.port = cost.least = cost.port / 2;
  return cost;
}

const Step* step_of(const Role& role, OpRef op, bool put) {
  for (const Section& section : role.sections)
    for (const Step& step : section.steps)
      if (step.op == op && (put ? step.kind == StepKind::Put : step.kind == StepKind::Compute)) return &step;
  return nullptr;
}

std::int64_t port_of(const Problem& problem, const std::string& op) {
  const OpId id = problem.find_op(op);
  std::int64_t cycles = 0;
  if (!id.valid()) return 0;
  for (const UnitUse& use : problem.op(id).uses)
    if (problem.unit(use.unit).role == UnitRole::Smem) cycles += use.work() * use.amount;
  return cycles;
}

}  // namespace

std::vector<BankCount> read_bank_counts(const std::string& path) {
  std::vector<BankCount> counts;
  std::ifstream file(path);
  for (BankCount c; file >> c.line >> c.kind >> c.bytes >> c.instructions >> c.phases >> c.port >> c.ways >> c.warps >> c.ragged;)
    counts.push_back(c);
  return counts;
}

int worst_ways(const std::vector<BankCount>& counts) {
  int worst = 1;
  for (const BankCount& c : counts) worst = std::max(worst, c.ways);
  return worst;
}

BankComparison compare_banks(const Lowering& from, const Program& program, const Emission& emission, const std::vector<BankCount>& counts) {
  BankComparison result;
  const auto machine = load_machine(repository_path("assets/machines/" + from.problem.machine + ".json"));
  if (!machine.ok()) return {0, {"no machine " + from.problem.machine}};
  const auto differ = [&](std::string sentence) { result.differences.push_back(std::move(sentence)); };
  struct Counted {
    std::map<bool, Sum> threads;  ///< true: stores
    Sum products, stored, loaded;
    bool ragged = false;
  };
  std::map<Part, Counted> parts;
  for (const BankCount& c : counts) {
    const auto span = std::find_if(emission.lines.begin(), emission.lines.end(),
                                   [&](const SourceSpan& s) { return s.first_line <= c.line && c.line <= s.last_line; });
    if (span == emission.lines.end()) continue;  // the address of tensor memory, once per kernel
    Counted& part = parts[{span->role, span->op.list, span->op.index, span->kind == StepKind::Put}];
    part.ragged = part.ragged || c.ragged;
    if (c.kind == "product")
      part.products.add(c);
    else if (c.kind == "box_store")
      part.stored.add(c);
    else if (c.kind == "box_load")
      part.loaded.add(c);
    else
      part.threads[c.kind == "store" || c.kind == "matrix_store"].add(c);
  }
  for (const auto& [key, counted] : parts) {
    const auto& [r, list, index, put] = key;
    const Role& role = program.roles[r];
    const OpRef ref{list, index};
    const TileOp& op = op_of(from.kernel, ref);
    const std::string who = fmt::format("{} of {}{}", op.name, role.name, put ? ", handing over" : "");
    if (counted.ragged) differ(who + ": lanes of one warp take part differently often");
    for (const Sum& bulk : {counted.products, counted.stored}) {
      // Each block of a pair reads half of what the problem, which knows of no pairs, has for B.
      if (bulk.port == 0 || (program.pair && bulk.port == counted.products.port)) continue;
      const std::int64_t port = port_of(from.problem, op.name);
      if (!from.problem.find_op(op.name).valid()) continue;  // of a prologue or an epilogue, which have no unit uses
      ++result.accesses;
      if (port == 0 || bulk.port % port != 0)
        differ(fmt::format("{}: the port is held {} cycles, which is no multiple of the problem's {}", who, bulk.port, port));
    }
    // Boxes of a load bring whole tiles, at 128 bytes a cycle.
    for (const heddle::Value& value : from.problem.values) {
      if (counted.loaded.port == 0 || !value.producer.valid() || from.problem.op(value.producer).name != op.name) continue;
      ++result.accesses;
      if (counted.loaded.port * 128 % value.bytes != 0)
        differ(fmt::format("{}: boxes of {} bytes, which are no whole tiles of {}", who, counted.loaded.port * 128, value.bytes));
    }
    // What the problem says of one execution.
    std::map<bool, Sum> expected;
    const Step* step = step_of(role, ref, put);
    if (put && step) {
      expected[true].add(handed_over(from, *machine, step->inputs.at(0).value, role.warps), role.warps);
    } else {
      if (const OpPlan* plan = from.problem.layouts ? from.problem.layouts->find(op.name) : nullptr)
        for (const OpAccess& access : plan->accesses) {
          if (!access.held) continue;  // of a copy or a product
          if (!access.cost.known)
            differ(fmt::format("{}: the problem does not know how '{}' is met", who, from.kernel.values[access.value].name));
          expected[access.store].add(access.cost, role.warps);
        }
      if (step)
        for (const Place& input : step->inputs)
          if (input.kind == Place::Kind::Buffer && program.buffers[input.index].registers)
            expected[false].add(handed_over(from, *machine, input.value, role.warps), role.warps);
    }
    long times = 0;
    for (const bool store : {false, true}) {
      const auto is = counted.threads.find(store);
      const auto should = expected.find(store);
      const bool any = is != counted.threads.end(), wanted = should != expected.end() && should->second.instructions > 0;
      if (!any && !wanted) continue;
      const std::string what = fmt::format("{}, {}", who, store ? "stores" : "loads");
      // One thread reads the index of a gather, a number at a time; the rule of the kind has its cycles of issue for each row.
      if (op.kind == "gather" && any && !store && is->second.ways == 1 && is->second.port == is->second.instructions) continue;
      if (any != wanted) {
        differ(any ? fmt::format("{}: {} instructions of warps, and the problem knows of none", what, is->second.instructions)
                   : what + ": the problem has some, and there are none");
        continue;
      }
      ++result.accesses;
      const Sum &a = is->second, &b = should->second;
      if (a.instructions % b.instructions != 0) {
        differ(fmt::format("{}: {} instructions of warps are no multiple of {}", what, a.instructions, b.instructions));
        continue;
      }
      const long here = a.instructions / b.instructions;
      if (times != 0 && here != times) differ(fmt::format("{}: {} times, and {} times the other way", what, here, times));
      times = here;
      if (a.port != here * b.port || a.phases != here * b.phases || a.ways != b.ways)
        differ(fmt::format("{}: {} times hold the port {} cycles in {} phases, at worst {}-way; the problem says {} in {}, {}-way", what,
                           here, a.port, a.phases, a.ways, here * b.port, here * b.phases, b.ways));
    }
  }
  return result;
}

}  // namespace heddle::test
