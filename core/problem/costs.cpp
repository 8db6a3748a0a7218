#include "core/problem/costs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/assert.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/base/suggest.h"
#include "core/kernel/map_expression.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/op_shapes.h"
#include "core/layout/plan.h"
#include "core/problem/warp_work.h"

namespace heddle {

namespace {

using Tiles = std::vector<const Tile*>;

std::string variant_of(const TileOp& op, const Tiles& inputs) {
  if (std::string variant = text_attr(op, "variant"); !variant.empty()) return variant;
  if (op.kind == "elementwise") return text_attr(op, "fn");
  if ((op.kind == "tma_load" || op.kind == "gather") &&
      std::any_of(op.at.begin(), op.at.end(), [](const Expr& at) { return !at.tables().empty(); }))
    return "indexed";
  if (op.kind == "tma_store" && end_of_rows(op)) return "before";
  if (inputs.empty()) return "";
  const Space space = inputs[0]->space;
  if (op.kind != "mma") return to_string(space);
  return space == Space::Smem ? "ss" : space == Space::Register ? "rs" : space == Space::Tmem ? "ts" : "";
}

const Tile* largest(const Tiles& tiles) {
  const auto it = std::max_element(tiles.begin(), tiles.end(), [](const Tile* a, const Tile* b) { return a->elems < b->elems; });
  return it == tiles.end() ? nullptr : *it;
}

/// The names of an access to shared memory.
void name_access(Scope& scope, const TiledOp& of, const Machine& machine) {
  const OpPlan* plan = of.plan;
  AccessCost cost = plan ? plan->charged() : AccessCost{};
  if (!cost.known && cost.port == 0) {
    if (of.op.kind == "mma" && scope.contains("M"))
      cost = product_cost(machine, of.inputs[0]->space, DType::Bf16, {scope["M"], scope["N"], scope["K"], of.inputs[0]->bits});
    if (!cost.known) cost.port = cost.least = ceil_div(scope["bytes"], 128);
  }
  scope["port"] = cost.port;
  scope["port_least"] = cost.least;
  scope["issues"] = cost.issues;
  scope["selects"] = cost.selects;
  scope["shuffles"] = plan && plan->change ? plan->change->shuffles : 0;
}

Scope names_for(const TiledOp& of, const Machine& machine, FaultLog& faults) {
  const TileOp& op = of.op;
  const Tiles &inputs = of.inputs, &outputs = of.outputs;
  Scope scope;
  if (const OpKind* kind = find_op_kind(op.kind))
    for (const OpAttribute& attribute : kind->attributes) scope[attribute.name] = 0;
  for (const auto& [name, attr] : op.attrs) {
    if (const auto* number = std::get_if<std::int64_t>(&attr)) scope[name] = *number;
    if (const auto* flag = std::get_if<bool>(&attr)) scope[name] = *flag;
  }
  const Tile none{Space::Register, 0, 0, 0, 0, 0, 0};
  const auto or_none = [&](const Tile* tile) { return tile ? *tile : none; };
  Tiles all = outputs;
  all.insert(all.end(), inputs.begin(), inputs.end());
  const Tile tile = or_none(largest(all)), in = or_none(largest(inputs)), out = or_none(largest(outputs));
  if (op.kind == "map") {
    const MapExpression::Counts counts = map_counts(op);
    scope["fma"] = counts.fma;
    scope["alu"] = counts.alu;
    scope["mufu"] = counts.mufu;
  }
  // What is reduced to one number is a row, not a column of statistics that many threads hold.
  const bool row = is_reduction(op.kind) && tile.cols == 1 && out.elems == 1;
  scope["rows"] = row ? tile.cols : tile.rows;
  scope["cols"] = row ? tile.rows : tile.cols;
  scope["elems"] = tile.elems;
  scope["columns"] = tile.columns;
  scope["in_elems"] = in.elems;
  scope["in_bytes"] = in.bytes;
  scope["out_elems"] = out.elems;
  scope["bytes"] = outputs.empty() ? in.bytes : out.bytes;
  scope["bits"] = !inputs.empty() ? inputs[0]->bits : !outputs.empty() ? outputs[0]->bits : 0;
  scope["inputs"] = static_cast<std::int64_t>(inputs.size());
  if (op.kind == "mma") {
    if (const auto shape = mma_shape(of, faults)) {
      scope["M"] = shape->m;
      scope["N"] = shape->n;
      scope["K"] = shape->k;
    }
  }
  name_access(scope, of, machine);
  scope["single_rows"] = of.single_rows;
  return scope;
}

/// The names of a rule's `warp`: those of the rule, and what warps count in.
Scope warp_names(Scope names, const Machine& machine) {
  const std::int64_t copies = names["cols"] == 1 ? 4 : 1;
  names["per_thread"] = ceil_div(sat_mul(copies, names["elems"]), std::int64_t{128});
  names["special_interval"] = machine.contention.special_interval.value;
  return names;
}

/// Evaluates the formulas of one rule or override, which stands at `place`, into `op`.
class Coster {
 public:
  Coster(Op& op, const Machine& machine, const Scope& scope, FaultPlace place, FaultLog& faults)
      : op_(op), machine_(machine), scope_(scope), place_(std::move(place)), faults_(faults) {}

  void uses(const std::vector<UnitCost>& costs) {
    op_.uses.clear();
    for (std::size_t i = 0; i < costs.size(); ++i) use(costs[i], fmt::format("/uses/{}", i));
  }

  /// `part`: of the rule, which the field is a member of.
  template <class T>
  void number(T& target, const Expr& expr, Range range, const char* field, const std::string& part = {}) {
    if (const auto value = faults_.number(expr, scope_, range, at(part + "/" + field), what(field))) target = static_cast<T>(*value);
  }

  /// Thousandths, as 1/256.
  void work(std::int64_t& target, const std::optional<Expr>& expr, const char* field) {
    std::int64_t thousandths = 0;
    if (!expr) return;
    number(thousandths, *expr, {0, 1000 * kAbsurd}, field, "/warp");
    target = (sat_mul(thousandths, 256) + 500) / 1000;
  }

  /// What is true of the shares alone the reader has judged.
  void latencies(const std::vector<RuleLatency>& rules, Range range) {
    std::vector<LatencyCase> cases;
    std::vector<Cycle> cycles;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const auto value = faults_.number(rules[i].cycles, scope_, range, at(fmt::format("/latency/{}/cycles", i)), what("latency"));
      if (!value) return;
      cases.push_back({*value, rules[i].share});
      cycles.push_back(*value);
    }
    for (SpreadFault& fault : order_faults(cycles))
      faults_.add(at(fmt::format("/latency/{}/cycles", *fault.at)), fmt::format("{}: {}", what("latency"), fault.message),
                  std::move(fault.hint));
    op_.spread = {cases, median_case(cases)};
    op_.latency = op_.spread.chosen();
  }

 private:
  FaultPlace at(const std::string& below) const { return {place_.file, place_.pointer + below}; }
  std::string what(const char* field) const { return fmt::format("{} of op '{}'", field, op_.name); }

  void use(const UnitCost& cost, const std::string& part) {
    const Unit* unit = machine_.find_unit(cost.unit);
    if (!unit) {
      std::vector<std::string> known;
      for (const Unit& u : machine_.units) known.push_back(u.name);
      std::string hint = did_you_mean(cost.unit, known);
      if (hint.empty()) hint = "it has " + list_of(known);
      faults_.add(at(part + "/unit"),
                  fmt::format("op '{}' uses unit '{}', which machine '{}' does not have", op_.name, cost.unit, machine_.name),
                  std::move(hint));
      return;
    }
    UnitUse out{UnitId(static_cast<std::size_t>(unit - machine_.units.data())), 0, 0, 0};
    number(out.offset, cost.offset, {0, kAbsurd}, "offset", part);
    number(out.duration, cost.duration, {0, kAbsurd}, "duration", part);
    number(out.amount, cost.amount, {0, kAbsurd}, "amount", part);
    number(out.in_sum, cost.in_sum, {0, kAbsurd}, "in_sum", part);
    if (out.amount > unit->capacity)
      faults_.add(at(part + "/amount"),
                  fmt::format("op '{}' uses {} of unit '{}', which has {}", op_.name, out.amount, unit->name, unit->capacity),
                  "no schedule can run it");
    if (out.duration > 0 && out.amount > 0) op_.uses.push_back(out);
  }

  Op& op_;
  const Machine& machine_;
  const Scope& scope_;
  const FaultPlace place_;
  FaultLog& faults_;
};

void add_no_rule(const TileOp& op, const Machine& machine, const FaultPlace& place, FaultLog& faults) {
  std::vector<std::string> known;
  for (const CostRule& rule : machine.rules) known.push_back(rule.kind);
  std::string hint = did_you_mean(op.kind, known);
  if (hint.empty()) hint = "pick a machine that can run it, add a rule, or give the op a `cost` with uses and latency";
  faults.add({place.file, place.pointer + "/kind"},
             fmt::format("machine '{}' has no cost rule for kind '{}' of op '{}'", machine.name, op.kind, op.name), std::move(hint));
}

void add_no_variant(const TileOp& op, const std::string& variant, const Machine& machine, const FaultPlace& place, FaultLog& faults) {
  std::vector<std::string> known;
  for (const CostRule& rule : machine.rules)
    if (rule.kind.starts_with(op.kind + ".")) known.push_back(rule.kind.substr(op.kind.size() + 1));
  std::string hint = did_you_mean(variant, known);
  if (hint.empty()) hint = known.empty() ? "it has no variants of this kind" : "it has " + list_of(known);
  faults.add({place.file, place.pointer + "/attrs/variant"},
             fmt::format("machine '{}' has no variant '{}' of {}, which op '{}' asks for", machine.name, variant, op.kind, op.name),
             std::move(hint));
}

}  // namespace

const CostRule* find_rule(const Machine& machine, const TileOp& op, const Tiles& inputs) {
  if (const std::string variant = variant_of(op, inputs); !variant.empty())
    if (const CostRule* rule = machine.find_rule(op.kind + "." + variant)) return rule;
  return machine.find_rule(op.kind);
}

Scope hand_over_names(const Machine& machine, const Problem& problem, const Value& value) {
  const Op& maker = problem.op(value.producer);
  AccessCost cost = hand_over_cost(machine, value.registers, std::int64_t{maker.warps} * machine.limits.threads_per_warp,
                                   hand_over_instruction(problem.layouts.get(), maker.name));
  if (!cost.known) cost.port = 2 * ceil_div(value.bytes, std::int64_t{128});
  return {{"bytes", value.bytes}, {"port", cost.port}, {"issues", cost.issues}};
}

Op cost_of(const TiledOp& of, const Machine& machine, const Scope& params, FaultLog& faults) {
  const TileOp& op = of.op;
  const FaultPlace& place = of.place;
  Op out;
  out.name = op.name;
  out.kind = op.kind;
  // An mma by name only has no operands that resolve() could look at.
  if (op.kind == "opaque")
    if (const std::string shown = text_attr(op, "stands_for"); !shown.empty()) out.kind = shown;
  const Scope names = names_for(of, machine, faults);
  // Without M, N and K the formulas would only repeat what the shape faults already say.
  const bool shapeless = op.kind == "mma" && !names.contains("M");
  const CostOverride none;
  const CostOverride& own = op.cost ? *op.cost : none;
  const CostRule* rule = find_rule(machine, op, of.inputs);
  constexpr Range cycles{0, kAbsurd}, warps{1, 1 << 20};

  if (!rule && !(own.uses && own.latency)) add_no_rule(op, machine, place, faults);
  if (const std::string variant = text_attr(op, "variant"); rule && !variant.empty() && !machine.find_rule(op.kind + "." + variant))
    add_no_variant(op, variant, machine, place, faults);
  if (rule && !shapeless) {
    Coster coster(out, machine, names, {machine.file, fmt::format("/rules/{}", rule - machine.rules.data())}, faults);
    if (!own.uses) coster.uses(rule->uses);
    if (!own.latency && rule->latencies.empty()) coster.number(out.latency, rule->latency, cycles, "latency");
    if (!own.latency && !rule->latencies.empty()) coster.latencies(rule->latencies, cycles);
    if (!own.window) coster.number(out.window, rule->window, cycles, "window");
    if (!own.warps) coster.number(out.warps, rule->warps, warps, "warps");
  }
  if (rule) {
    out.rule = rule->kind;
    out.aligned = rule->aligned;
    out.asynchronous = rule->asynchronous;
    out.variable_latency = rule->variable_latency;
  }
  if (rule && !shapeless && rule->instructions && !own.uses)
    Coster(out, machine, names, {machine.file, fmt::format("/rules/{}", rule - machine.rules.data())}, faults)
        .number(out.instructions, *rule->instructions, {1, 1 << 20}, "instructions");
  if (op.cost) {
    // In the kernel's own file its parameters come first: a GEMM may well have a parameter M.
    Scope scope = params;
    scope.insert(names.begin(), names.end());
    const FaultPlace at{place.file, place.pointer + "/cost"};
    Coster coster(out, machine, scope, at, faults);
    if (own.uses) coster.uses(*own.uses);
    if (own.latency) coster.number(out.latency, *own.latency, cycles, "latency");
    if (own.window) coster.number(out.window, *own.window, cycles, "window");
    if (own.warps) coster.number(out.warps, *own.warps, warps, "warps");
    out.aligned = own.aligned.value_or(out.aligned);
    out.asynchronous = own.asynchronous.value_or(out.asynchronous);
    out.variable_latency = own.variable_latency.value_or(out.variable_latency);
    if (own.blocking && !out.spread.empty())
      faults.add({at.file, at.pointer + "/blocking"},
                 fmt::format("op '{}' holds its warps until its result is there, and that is not always as late", op.name),
                 "give it one latency, or leave out blocking");
    if (own.blocking) {
      out.window = std::max(out.window, out.latency);
      out.asynchronous = false;
    }
  }
  out.work = usual_work(out, machine.units);
  const bool product = warp_role(out, machine.units) == WarpRole::Product;
  out.instructions = product ? std::max(1, out.instructions) : 0;
  out.from_registers = product && !of.inputs.empty() && of.inputs[0] && of.inputs[0]->space == Space::Register;
  if (rule && !rule->warp.empty() && !own.uses && !own.window && warp_role(out, machine.units) == WarpRole::Arithmetic) {
    const Scope scope = warp_names(names, machine);
    Coster coster(out, machine, scope, {machine.file, fmt::format("/rules/{}", rule - machine.rules.data())}, faults);
    coster.work(out.work.alone, rule->warp.alone, "alone");
    coster.work(out.work.exposed, rule->warp.exposed, "exposed");
    coster.work(out.work.reads, rule->warp.reads, "reads");
    coster.work(out.work.specials, rule->warp.specials, "specials");
    coster.work(out.work.issue, rule->warp.issue, "issue");
  }
  return out;
}

std::optional<Tile> measure(const TileValue& value, const Scope& params, const FaultPlace& place, FaultLog& faults) {
  Tile tile;
  tile.space = value.space;
  tile.bits = bits_of(value.dtype);
  bool good = true;
  for (std::size_t i = 0; i < value.shape.size(); ++i) {
    const auto extent = faults.number(value.shape[i], params, {1, kAbsurd}, {place.file, fmt::format("{}/shape/{}", place.pointer, i)},
                                      fmt::format("extent {} of value '{}'", i, value.name));
    if (!extent) {
      good = false;
      continue;
    }
    // A single extent is a column, so that row statistics are [rows].
    if (i == 0 || i + 1 < value.shape.size())
      tile.rows = sat_mul(tile.rows, *extent);
    else
      tile.cols = *extent;
  }
  if (!good) return std::nullopt;
  tile.elems = sat_mul(tile.rows, tile.cols);
  const std::int64_t bits = sat_mul(tile.elems, tile.bits);
  if (bits > 8 * kAbsurd) {
    faults.add({place.file, place.pointer + "/shape"},
               fmt::format("value '{}' has {} x {} elements of {} bits; no tile is larger than 2 GiB", value.name, tile.rows, tile.cols,
                           tile.bits));
    return std::nullopt;
  }
  tile.bytes = ceil_div(bits, 8);
  tile.columns = ceil_div(tile.rows, 128) * ceil_div(tile.cols * tile.bits, 32);
  return tile;
}

std::int64_t registers_per_thread(const Tile& tile, std::int64_t threads) {
  return std::max<std::int64_t>(1, ceil_div(tile.elems * tile.bits, 32 * threads));
}

std::optional<MmaShape> mma_shape(const TiledOp& of, FaultLog& faults) {
  const TileOp& op = of.op;
  const Tiles &inputs = of.inputs, &outputs = of.outputs;
  const FaultPlace& place = of.place;
  HEDDLE_ASSERT(inputs.size() >= 2 && !outputs.empty(), "the arity of a valid kernel's ops is right");
  const Tile &a = *inputs[0], &b = *inputs[1], &d = *outputs[0];
  const bool ta = flag_attr(op, "transpose_a"), tb = flag_attr(op, "transpose_b");
  const std::int64_t k_of_b = tb ? b.cols : b.rows, columns_of_b = tb ? b.rows : b.cols;
  // With attribute `column` D may be narrower than B, with `row` K may be less than B's: they take what B has from there on.
  const std::int64_t *column = op.attr<std::int64_t>("column"), *row = op.attr<std::int64_t>("row");
  const MmaShape shape{ta ? a.cols : a.rows, column ? d.cols : columns_of_b, ta ? a.rows : a.cols};
  bool good = true;
  const auto part = [&](const char* what, std::int64_t first, std::int64_t count, std::int64_t all) {
    if (first >= 0 && first <= all - count) return;
    faults.add(place, fmt::format("mma '{}': {} {} to {} of B, which has {}", op.name, what, first, sat_add(first, count - 1), all));
    good = false;
  };
  if (column) part("columns", *column, shape.n, columns_of_b);
  if (row) part("rows", *row, shape.k, k_of_b);
  if (!row && k_of_b != shape.k) {
    faults.add(place, fmt::format("mma '{}': A gives K = {}, B gives K = {}", op.name, shape.k, k_of_b),
               "A is [M,K] (transpose_a: [K,M]), B is [K,N] (transpose_b: [N,K])");
    good = false;
  }
  const auto match = [&](const Tile& tile, const char* role) {
    if (tile.rows == shape.m && tile.cols == shape.n) return;
    faults.add(place,
               fmt::format("mma '{}': {} is {} x {}, expected M x N = {} x {}", op.name, role, tile.rows, tile.cols, shape.m, shape.n));
    good = false;
  };
  match(d, "the output");
  if (inputs.size() > 2) match(*inputs[2], "the accumulator");
  if (!good) return std::nullopt;
  return shape;
}

}  // namespace heddle
