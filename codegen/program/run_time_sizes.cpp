#include "codegen/program/run_time_sizes.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/expr_node.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/switches.h"

namespace heddle::codegen {
namespace {

class FixedParams {
 public:
  explicit FixedParams(const Kernel& kernel) : kernel_(kernel) {
    for (const TileValue& value : kernel.values) {
      for (const Expr& extent : value.shape) fix(extent, fmt::format("the shape of tile '{}' depends on it", value.name));
      fix(value.alias_at, fmt::format("where tile '{}' begins depends on it", value.name));
      if (value.registers) fix(*value.registers, fmt::format("the registers of '{}' depend on it", value.name));
    }
    for (const Tensor& tensor : kernel.tensors) look_at(tensor);
    for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
      for (const TileOp& op : *list) look_at(op);
    for (const OrderEdge& edge : kernel.order)
      for (const auto& cycles : {edge.latency, edge.handoff})
        if (cycles) fix(*cycles, fmt::format("the schedule depends on it: the order of '{}' and '{}'", edge.from, edge.to));
    if (kernel.loop.tile_trips) on_device(kernel.loop.tile_trips->root(), "the trips of a tile");
    for (const SizeExpr& size : size_exprs(kernel)) on_host(size.expr->root(), size.what);
    for (const Condition& condition : kernel.conditions) on_host(condition.expr.root(), "a condition");
    for (const std::string& off : kernel.off)
      if (const auto expr = Expr::parse(off); expr.ok()) on_host(expr->root(), "a condition");
  }

  std::string of(const std::string& param) const {
    const auto why = why_.find(param);
    return why == why_.end() ? "" : why->second;
  }

 private:
  void fix(const Expr& expr, const std::string& why) {
    for (const std::string& name : expr.names()) why_.emplace(name, why);
  }
  void fix_node(const Expr::Node& node, const std::string& why) { fix(Expr(node), why); }

  void look_at(const Tensor& tensor) {
    const bool whole_blocks = tensor.packing == Packing::Packed || tensor.dtype == DType::I4;
    for (const Expr& extent : tensor.shape) {
      // Whoever calls the kernel brings the numbers; where one lies follows from all extents but the first.
      if (tensor.role == TensorRole::Index && &extent != &tensor.shape.front())
        fix(extent, fmt::format("where numbers of '{}' lie depends on it", tensor.name));
      if (whole_blocks) fix(extent, fmt::format("the order of '{}' in memory depends on it", tensor.name));
    }
  }

  void look_at(const TileOp& op) {
    const Tensor* tensor = kernel_.find_tensor(op.tensor);
    const bool whole_blocks = tensor && (tensor->packing == Packing::Packed || tensor->dtype == DType::I4);
    for (const Expr& at : op.at) {
      on_device(at.root(), fmt::format("a coordinate of '{}'", op.name));
      if (whole_blocks) fix(at, fmt::format("'{}' moves blocks of '{}', which are counted in whole ones", op.name, op.tensor));
    }
    const std::optional<Expr> before = end_of_rows(op);
    if (before) on_device(before->root(), fmt::format("the end of '{}'", op.name));
    for (const auto& [name, value] : op.attrs)
      if (const auto* text = std::get_if<std::string>(&value); text && !(before && name == "before"))
        if (const auto expr = Expr::parse(*text); expr.ok()) fix(*expr, fmt::format("attribute '{}' of '{}' depends on it", name, op.name));
    if (!op.cost) return;
    const std::string why = fmt::format("the schedule depends on it: what '{}' costs", op.name);
    for (const auto& cycles : {op.cost->latency, op.cost->window, op.cost->warps})
      if (cycles) fix(*cycles, why);
    if (op.cost->uses)
      for (const UnitCost& use : *op.cost->uses)
        for (const Expr* expr : {&use.offset, &use.duration, &use.amount, &use.in_sum}) fix(*expr, why);
  }

  /// A thread divides by literals only (index_text.h).
  void on_device(const Expr::Node& node, const std::string& what) {
    const bool divides = node.op == Operator::Divide || node.op == Operator::Modulo || node.op == Operator::CeilDiv;
    if (divides) fix_node(node.children[1], what + " is divided by it");
    if (node.op == Operator::CubeRoot) fix_node(node, what + " needs a cube root of it");
    for (const Expr::Node& child : node.children) on_device(child, what);
  }

  void on_host(const Expr::Node& node, const std::string& what) {
    if (node.op == Operator::If || node.op == Operator::CubeRoot) fix_node(node, what + " needs a choice or a cube root of it");
    if (node.op == Operator::LookUp) fix_node(node, what + " looks it up");
    for (const Expr::Node& child : node.children) on_host(child, what);
  }

  const Kernel& kernel_;
  std::map<std::string, std::string> why_;
};

}  // namespace

std::vector<SizeExpr> size_exprs(const Kernel& kernel) {
  std::vector<SizeExpr> sizes{{&kernel.loop.trips, "the number of trips"}};
  for (const GridDim& dim : kernel.grid) sizes.push_back({&dim.size, fmt::format("the size of the grid along {}", dim.name)});
  for (const Tensor& tensor : kernel.tensors)
    for (const Expr& extent : tensor.shape) sizes.push_back({&extent, fmt::format("an extent of tensor '{}'", tensor.name)});
  return sizes;
}

std::vector<RunTimeParam> run_time_params(const Kernel& kernel) {
  const FixedParams fixed(kernel);
  std::vector<RunTimeParam> params;
  for (const Param& param : kernel.params) {
    std::string why = fixed.of(param.name);
    bool used = false;
    for (const SizeExpr& size : size_exprs(kernel)) used = used || mentions(size.expr->root(), {param.name});
    if (why.empty() && !used) why = "no tensor, no grid and no number of trips depends on it";
    params.push_back({param.name, std::move(why)});
  }
  return params;
}

Scope sizes_with_all(const Kernel& kernel, const Scope& params) {
  constexpr std::int64_t kNear = 64;
  std::vector<Expr> off;  // of those that sizes decide
  const std::vector<std::string> sizes = run_time_names(kernel);
  for (const std::string& text : kernel.off)
    if (const auto expr = Expr::parse(text); expr.ok() && mentions(expr->root(), sizes)) off.push_back(*expr);
  Scope chosen = with_switches(kernel, params), changed;
  const auto holds = [&](const Expr& expr) {
    const auto value = expr.evaluate(chosen);
    return value.ok() && *value != 0;
  };
  const auto all = [&] {
    return std::all_of(off.begin(), off.end(), holds) &&
           std::all_of(kernel.conditions.begin(), kernel.conditions.end(), [&](const Condition& c) { return holds(c.expr); });
  };
  for (const std::string& size : sizes) {
    const auto own = params.find(size);
    const auto own_hold = [&] {
      return std::all_of(off.begin(), off.end(), [&](const Expr& e) { return !mentions(e.root(), {size}) || holds(e); });
    };
    if (own == params.end()) continue;
    for (std::int64_t more = 1; more <= kNear && !own_hold(); ++more) chosen[size] = changed[size] = own->second + more;
  }
  return all() ? changed : Scope();
}

std::vector<std::string> run_time_names(const Kernel& kernel) {
  std::vector<std::string> names;
  for (const RunTimeParam& param : run_time_params(kernel))
    if (param.fixed_by.empty()) names.push_back(param.name);
  return names;
}

}  // namespace heddle::codegen
