// The steps each report all that they find: parameters, machine limits, tiles, op costs, edges, storage.
#include "core/problem/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/base/suggest.h"
#include "core/kernel/conditions.h"
#include "core/kernel/switches.h"
#include "core/kernel/validate.h"
#include "core/layout/plan.h"
#include "core/problem/changes.h"
#include "core/problem/costs.h"
#include "core/problem/fault_log.h"
#include "core/problem/single_rows.h"
#include "core/problem/storage.h"
#include "core/problem/warp_work.h"

namespace heddle {
namespace {

constexpr std::size_t kMostOps = 2000;
constexpr int kMostIterationsBack = 1 << 20;

class Resolver {
 public:
  Resolver(const Kernel& kernel, const Machine& machine, const Changes& changes, const LayoutChoices& choices)
      : kernel_(kernel), machine_(machine), changes_(changes, kernel, machine_, faults_), choices_(choices) {}

  Result<Problem> run(const Scope& overrides) {
    problem_.kernel = kernel_.name;
    problem_.machine = machine_.name;
    problem_.arch = machine_.arch;
    if (!machine_.arch.empty() && machine_.clock_mhz > 0)
      problem_.clock_note =
          fmt::format("1 cycle = {:.2f} ns at {} MHz", 1000.0 / static_cast<double>(machine_.clock_mhz), machine_.clock_mhz);
    problem_.changes = changes_.in_force();
    problem_.units = machine_.units;
    problem_.limits = machine_.limits;
    problem_.contention = machine_.contention;
    problem_.barrier_wait = machine_.streams.wait;
    check_machine();
    check_kernel();
    resolve_params(overrides);
    if (!faults_.empty()) return faults_.error();
    measure_tiles();
    define_values();
    const auto plan = faults_.empty() ? std::make_shared<LayoutPlan>(plan_layouts()) : std::make_shared<LayoutPlan>();
    cost_ops(*plan);
    if (!faults_.empty()) return faults_.error();
    problem_.layouts = plan;
    count_registers();
    add_operand_edges();
    add_order_edges();
    if (!faults_.empty()) return faults_.error();
    place_values({kernel_, tiles_, signal_}, machine_, problem_, faults_);
    if (!faults_.empty()) return faults_.error();
    return std::move(problem_);
  }

 private:
  FaultPlace in_kernel(std::string pointer) const { return {kernel_.source, std::move(pointer)}; }
  FaultPlace in_machine(std::string pointer) const { return {machine_.file, std::move(pointer)}; }

  void check_machine() {
    const Limits& l = machine_.limits;
    const auto check = [&](std::int64_t value, std::int64_t low, const char* name, std::int64_t high = kAbsurd) {
      if (value < low || value > high)
        faults_.add(in_machine(fmt::format("/limits/{}", name)), fmt::format("{} is {}, expected {} to {}", name, value, low, high));
    };
    check(l.smem_bytes, 0, "smem_bytes");
    check(l.tmem_columns, 0, "tmem_columns");
    check(l.registers_per_sm, 0, "registers_per_sm");
    check(l.registers_per_thread, 0, "registers_per_thread", 4096);  // budgets are decided granule by granule
    check(l.register_granule, 1, "register_granule");
    check(l.register_overhead, 0, "register_overhead");
    check(l.producer_registers, 0, "producer_registers");
    check(l.warps_per_cta, 1, "warps_per_cta");
    check(l.threads_per_warp, 1, "threads_per_warp");
    for (std::size_t i = 0; i < machine_.units.size(); ++i)
      if (machine_.units[i].capacity < 1 || machine_.units[i].capacity > kAbsurd)
        faults_.add(
            in_machine(fmt::format("/units/{}/capacity", i)),
            fmt::format("capacity of unit '{}' is {}, expected 1 to {}", machine_.units[i].name, machine_.units[i].capacity, kAbsurd));
    if (const auto signal = faults_.number(machine_.handoff.signal, {}, {0, kAbsurd}, in_machine("/handoff/signal"), "hand-off signal"))
      signal_ = changes_.signal(*signal);
  }

  void check_kernel() {
    problem_.max_groups = static_cast<int>(std::min<std::int64_t>(changes_.max_groups(kernel_.max_groups), machine_.limits.warps_per_cta));
    if (kernel_.max_groups < 1)
      faults_.add(in_kernel("/max_groups"), fmt::format("max_groups is {}, expected at least 1", kernel_.max_groups));
    if (kernel_.body.size() > kMostOps)
      return faults_.add(in_kernel("/body"),
                         fmt::format("the loop body has {} ops, at most {} are accepted", kernel_.body.size(), kMostOps));
    // Readers have done this already; kernels built by a program have not.
    for (const Fault& fault : validate(kernel_)) faults_.add({fault.file, fault.pointer}, fault.message, fault.hint);
  }

  void resolve_params(const Scope& overrides) {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < kernel_.params.size(); ++i) {
      const Param& param = kernel_.params[i];
      known.push_back(param.name);
      const auto override = overrides.find(param.name);
      const bool given = override != overrides.end();
      const FaultPlace place = given ? FaultPlace{} : in_kernel(fmt::format("/params/{}/value", i));
      if (const auto value = faults_.number(Expr(given ? override->second : param.value), {}, {is_switch(kernel_, param) ? 0 : 1, kAbsurd},
                                            place, fmt::format("parameter '{}'", param.name)))
        problem_.params[param.name] = *value;
    }
    for (const auto& [name, value] : overrides)
      if (!kernel_.find_param(name)) {
        std::string hint = did_you_mean(name, known);
        if (hint.empty()) hint = known.empty() ? "it has none" : "it has " + list_of(known);
        faults_.add({}, fmt::format("kernel '{}' has no parameter '{}'", kernel_.name, name), std::move(hint));
      }
    if (faults_.empty()) {
      if (Result<Scope> scope = checked_scope(kernel_, problem_.params))
        problem_.params = *std::move(scope);
      else
        for (const Fault& fault : scope.error().faults) faults_.add({fault.file, fault.pointer}, fault.message, fault.hint);
    }
    if (faults_.empty())
      faults_.number(kernel_.loop.trips, problem_.params, {1, kAbsurd}, in_kernel("/loop/trips"), "number of loop trips");
  }

  void measure_tiles() {
    for (std::size_t i = 0; i < kernel_.values.size(); ++i) {
      value_index_.emplace(kernel_.values[i].name, i);
      tiles_.push_back(measure(kernel_.values[i], problem_.params, in_kernel(fmt::format("/values/{}", i)), faults_));
    }
  }

  const Tile* tile_of(const std::string& name) const {
    const auto& tile = tiles_[value_index_.at(name)];
    return tile ? &*tile : nullptr;
  }

  /// Every output of the body becomes a Value; registers are counted once producers have warps.
  void define_values() {
    for (std::size_t i = 0; i < kernel_.body.size(); ++i)
      for (const std::string& name : kernel_.body[i].outputs) {
        const std::size_t index = value_index_.at(name);
        const Tile* tile = tile_of(name);
        defined_.emplace(name, ValueId(problem_.values.size()));
        problem_.values.push_back({name, kernel_.values[index].space, OpId(i), tile ? tile->bytes : 0, 0});
        if (tile) check_fits(*tile, index);
      }
  }

  void check_fits(const Tile& tile, std::size_t index) {
    const FaultPlace place = in_kernel(fmt::format("/values/{}", index));
    const std::string& name = kernel_.values[index].name;
    const Limits& l = machine_.limits;
    if (tile.space == Space::Smem && tile.bytes > l.smem_bytes)
      faults_.add(
          place,
          fmt::format("value '{}' has {} bytes, shared memory of machine '{}' holds {}", name, tile.bytes, machine_.name, l.smem_bytes),
          "use smaller tiles");
    if (tile.space == Space::Tmem && l.tmem_columns == 0)
      faults_.add(place, fmt::format("value '{}' lives in tensor memory, which machine '{}' does not have", name, machine_.name),
                  "pick a machine that has it, or keep the value in registers");
    else if (tile.space == Space::Tmem && tile.columns > l.tmem_columns)
      faults_.add(place,
                  fmt::format("value '{}' takes {} columns, tensor memory of machine '{}' has {}", name, tile.columns, machine_.name,
                              l.tmem_columns),
                  "use smaller tiles");
  }

  LayoutPlan plan_layouts() {
    std::vector<Fault> found;
    LayoutPlan plan = heddle::plan_layouts(kernel_, problem_.params, machine_, choices_, found);
    for (Fault& fault : found)
      faults_.add({std::move(fault.file), std::move(fault.pointer)}, std::move(fault.message), std::move(fault.hint));
    return plan;
  }

  Cycle port_cycles(const Op& op) const {
    Cycle sum = 0;
    for (const UnitUse& use : op.uses)
      if (problem_.unit(use.unit).role == UnitRole::Smem) sum += use.work();
    return sum;
  }
  /// Whether its port cycles come from the plan: by a rule that names them, and nobody gave or changed them.
  bool is_priced(const TileOp& op, const std::vector<const Tile*>& inputs, const Op& cost, Cycle by_rule) const {
    const CostRule* rule = op.cost && op.cost->uses ? nullptr : find_rule(machine_, op, inputs);
    return rule && port_cycles(cost) == by_rule && std::any_of(rule->uses.begin(), rule->uses.end(), [&](const UnitCost& use) {
             const Unit* unit = machine_.find_unit(use.unit);
             const std::vector<std::string> names = use.duration.names();
             return unit && unit->role == UnitRole::Smem &&
                    std::any_of(names.begin(), names.end(), [](const std::string& name) { return name == "port" || name == "shuffles"; });
           });
  }

  void cost_ops(LayoutPlan& plan) {
    for (std::size_t i = 0; i < kernel_.body.size(); ++i) {
      const TileOp& op = kernel_.body[i];
      op_index_.emplace(op.name, OpId(i));
      std::vector<const Tile*> inputs, outputs;
      for (const Operand& in : op.inputs) inputs.push_back(tile_of(in.value));
      for (const std::string& name : op.outputs) outputs.push_back(tile_of(name));
      const auto missing = [](const std::vector<const Tile*>& tiles) {
        return std::find(tiles.begin(), tiles.end(), nullptr) != tiles.end();
      };
      // Without its tiles an op has no cost; what is wrong with them is already said.
      Op& cost = problem_.ops.emplace_back();
      if (missing(inputs) || missing(outputs)) continue;
      const FaultPlace place = in_kernel(fmt::format("/body/{}", i));
      const auto planned = plan.ops.find(op.name);
      OpPlan* access = planned == plan.ops.end() ? nullptr : &planned->second;
      cost = cost_of({op, inputs, outputs, place, access, single_rows(kernel_, op, problem_.params)}, machine_, problem_.params, faults_);
      cost.variable_latency &= kernel_.producer;
      const Cycle by_rule = port_cycles(cost);
      const Op unchanged = cost;
      changes_.apply(cost, op.cost ? &*op.cost : nullptr, machine_.units);
      follow_change(cost, unchanged, machine_.units);
      if (access && (access->cost.port > 0 || (access->change && access->change->shuffles > 0)))
        access->priced = is_priced(op, inputs, cost, by_rule);
      if (const std::int64_t most = machine_.limits.warps_per_cta; cost.warps > most)
        faults_.add(place,
                    fmt::format("op '{}' needs {} warps, a CTA on machine '{}' has at most {}", op.name, cost.warps, machine_.name, most),
                    "split the tile");
    }
    check_lanes();
  }

  /// Warp w of a group reaches the lanes of tensor memory from 32 (w mod 4) on, and a tile has 128. So who loads or stores there has four
  /// warps, or, where the kernel says so itself, several per quarter of the lanes that share its columns; a group is as wide as its widest
  /// op, so no op of the loop has more.
  void check_lanes() {
    constexpr int kWarps = 4;
    const auto moves = [](const TileOp& op) { return op.kind == "tmem_load" || op.kind == "tmem_store"; };
    if (!machine_.arch.starts_with("sm_10") || std::none_of(kernel_.body.begin(), kernel_.body.end(), moves)) return;
    // All of them must say the same; one alone is as wrong as it was.
    int width = 0;
    for (std::size_t i = 0; i < kernel_.body.size(); ++i) {
      const TileOp& op = kernel_.body[i];
      if (!moves(op)) continue;
      const bool said = op.cost && op.cost->warps && problem_.ops[i].warps % kWarps == 0;
      width = said && (width == 0 || width == problem_.ops[i].warps) ? problem_.ops[i].warps : kWarps;
      if (!said || width != problem_.ops[i].warps) break;
    }
    for (std::size_t i = 0; i < kernel_.body.size(); ++i) {
      const Op& cost = problem_.ops[i];
      if (moves(kernel_.body[i]) ? cost.warps == width || cost.name.empty() : cost.warps <= width) continue;
      faults_.add(
          in_kernel(fmt::format("/body/{}", i)),
          fmt::format("op '{}' needs {} warps; warp groups that load from tensor memory or store to it have exactly {}, a quarter of "
                      "the lanes for each",
                      kernel_.body[i].name, cost.warps, width),
          fmt::format("give it {} warps", width));
    }
  }

  std::int64_t registers_of(std::size_t index, int warps) {
    const TileValue& value = kernel_.values[index];
    const std::int64_t threads = warps * machine_.limits.threads_per_warp;
    std::int64_t registers = registers_per_thread(*tiles_[index], threads);
    const FaultPlace place = in_kernel(fmt::format("/values/{}", index));
    if (value.registers) {
      const auto given = faults_.number(*value.registers, problem_.params, {0, kAbsurd}, {place.file, place.pointer + "/registers"},
                                        fmt::format("registers of value '{}'", value.name));
      registers = given.value_or(0);
    }
    // A layout that was chosen may hold elements several times.
    if (const ValuePlan& plan = problem_.layouts->values[index]; plan.chosen && plan.layout && !plan.layout->in_memory())
      registers = std::max(registers, ceil_div(sat_mul(plan.layout->extent(LayoutAxis::Register), tiles_[index]->bits), std::int64_t{32}));
    if (registers > machine_.limits.registers_per_thread) {
      faults_.add(place,
                  fmt::format("value '{}' takes {} registers in each of {} threads, machine '{}' allows {}", value.name, registers, threads,
                              machine_.name, machine_.limits.registers_per_thread),
                  machine_.limits.tmem_columns > 0 && threads < 128 ? "one warp issues this op; its result belongs into tensor memory"
                                                                    : "use smaller tiles");
      registers = 0;
    }
    return registers;
  }

  void count_registers() {
    for (Value& value : problem_.values)
      if (value.space == Space::Register)
        value.registers = static_cast<int>(registers_of(value_index_.at(value.name), problem_.op(value.producer).warps));
    // Loop invariants are spread over the threads of the narrowest op that reads them.
    std::map<std::size_t, int> narrowest;
    for (std::size_t i = 0; i < kernel_.body.size(); ++i)
      for (const Operand& in : kernel_.body[i].inputs) {
        const std::size_t index = value_index_.at(in.value);
        if (defined_.contains(in.value) || kernel_.values[index].space != Space::Register) continue;
        const int warps = problem_.ops[i].warps;
        const auto [it, fresh] = narrowest.emplace(index, warps);
        if (!fresh) it->second = std::min(it->second, warps);
      }
    std::int64_t total = 0;
    for (const auto& [index, warps] : narrowest) total += registers_of(index, warps);
    if (total > machine_.limits.registers_per_thread)
      faults_.add(in_kernel("/prologue"), fmt::format("loop invariants take {} registers per thread, machine '{}' allows {}", total,
                                                      machine_.name, machine_.limits.registers_per_thread));
    else
      problem_.resident_registers = static_cast<int>(total);
  }

  /// Until when the op reserves its units: how long an mma chained onto the same accumulator has to wait.
  static Cycle busy(const Op& op) {
    Cycle end = 0;
    for (const UnitUse& use : op.uses) end = std::max(end, use.offset + use.duration);
    return end;
  }

  void add_edge(const Edge& edge) {
    const auto [it, fresh] = edge_index_.emplace(std::tuple(edge.from, edge.to, edge.value, edge.distance), problem_.edges.size());
    if (fresh) return problem_.edges.push_back(edge);
    // One value read by two operands of the same op: the stricter of the two counts.
    Edge& old = problem_.edges[it->second];
    const Cycle crossing = std::max(old.latency + old.handoff, edge.latency + edge.handoff);
    old.latency = std::max(old.latency, edge.latency);
    old.handoff = crossing - old.latency;
    old.waits = old.waits || edge.waits;
    old.hold = std::max(old.hold, edge.hold);
  }

  void add_operand_edges() {
    for (std::size_t i = 0; i < kernel_.body.size(); ++i)
      for (std::size_t j = 0; j < kernel_.body[i].inputs.size(); ++j) {
        const Operand& in = kernel_.body[i].inputs[j];
        const FaultPlace place = in_kernel(fmt::format("/body/{}/in/{}", i, j));
        const auto value = defined_.find(in.value);
        if (value != defined_.end() && check_distance(in.distance, place)) add_edge(operand_edge(OpId(i), j, value->second, in.distance));
      }
  }

  Edge operand_edge(OpId to, std::size_t position, ValueId value, int distance) {
    const Value& v = problem_.value(value);
    const Op &producer = problem_.op(v.producer), &reader = problem_.op(to);
    Edge edge{v.producer, to, value, producer.latency, distance, 0, producer.asynchronous, 0};
    if (v.space == Space::Register) {
      if (const auto copy = faults_.number(machine_.handoff.register_copy, hand_over_names(machine_, problem_, v), {0, kAbsurd},
                                           in_machine("/handoff/register_copy"), "hand-off of value '" + v.name + "'"))
        edge.handoff = changes_.register_copy(*copy);
    } else if (!completes_on_barrier(problem_, v.producer)) {
      edge.handoff = signal_;
    }
    const bool accumulator = reader.kind == "mma" && position == 2;
    if (accumulator && producer.kind == "mma" && producer.asynchronous && reader.asynchronous) {
      // Products onto one accumulator run back to back: the next may issue when the unit is free, and nothing waits.
      // Another group would have to wait for the result itself.
      edge.latency = std::min(producer.latency, busy(producer));
      edge.handoff += producer.latency - edge.latency;
      edge.waits = false;
    }
    if (v.space == Space::Register && reader.asynchronous && !accumulator) edge.hold = reader.latency;
    return edge;
  }

  bool check_distance(int distance, const FaultPlace& place) {
    if (distance >= 0 && distance <= kMostIterationsBack) return true;
    faults_.add(place, fmt::format("distance {} is outside 0 to {}", distance, kMostIterationsBack));
    return false;
  }

  void add_order_edges() {
    for (std::size_t i = 0; i < kernel_.order.size(); ++i) {
      const OrderEdge& order = kernel_.order[i];
      const std::string pointer = fmt::format("/order/{}", i);
      if (!check_distance(order.distance, in_kernel(pointer + "/distance"))) continue;
      const OpId from = op_index_.at(order.from), to = op_index_.at(order.to);
      const Op& before = problem_.op(from);
      Edge edge{
          from, to, ValueId{}, before.latency, order.distance, completes_on_barrier(problem_, from) ? 0 : signal_, before.asynchronous, 0};
      if (order.latency)
        edge.latency = faults_
                           .number(*order.latency, problem_.params, {0, kAbsurd}, in_kernel(pointer + "/latency"),
                                   fmt::format("latency of the order '{}' before '{}'", order.from, order.to))
                           .value_or(0);
      if (order.handoff)
        edge.handoff = faults_
                           .number(*order.handoff, problem_.params, {0, kAbsurd}, in_kernel(pointer + "/handoff"),
                                   fmt::format("hand-off of the order '{}' before '{}'", order.from, order.to))
                           .value_or(0);
      add_edge(edge);
    }
  }

  const Kernel& kernel_;
  Machine machine_;  ///< with the changes in its capacities and limits
  FaultLog faults_;
  const ChangedNumbers changes_;
  const LayoutChoices& choices_;
  Problem problem_;
  std::vector<std::optional<Tile>> tiles_;                       ///< parallel to kernel_.values
  std::map<std::string, std::size_t, std::less<>> value_index_;  ///< into kernel_.values
  std::map<std::string, ValueId, std::less<>> defined_;          ///< values of the body
  std::map<std::string, OpId, std::less<>> op_index_;
  std::map<std::tuple<OpId, OpId, ValueId, int>, std::size_t> edge_index_;
  Cycle signal_ = 0;
};

}  // namespace

Result<Problem> resolve(const Kernel& kernel, const Machine& machine, const Scope& overrides, const Changes& changes,
                        const LayoutChoices& choices) {
  const Result<std::optional<Kernel>> other = settled_otherwise(kernel, overrides);
  if (!other) return other.error();
  const Kernel& now = *other ? **other : kernel;
  Result<Problem> problem = Resolver(now, machine, changes, choices).run(overrides);
  if (problem) return problem;
  return Error{problem.error().kind, in_file(problem.error().faults, now)};
}

}  // namespace heddle
