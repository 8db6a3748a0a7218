// Expressions are rewritten as trees: a factor and a divisor of 1 go, a remainder is 0, and what adds it goes too.
#include "core/kernel/multipliers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/expr_node.h"
#include "core/kernel/switches.h"

namespace heddle {
namespace {

/// Every expression of the kernel but its conditions.
template <class AnyKernel, class Visit>
void visit_exprs(AnyKernel& kernel, Visit visit) {
  const auto maybe = [&](auto& expr) {
    if (expr) visit(*expr);
  };
  const auto all = [&](auto& exprs) {
    for (auto& expr : exprs) visit(expr);
  };
  for (auto& tensor : kernel.tensors) {
    all(tensor.shape), maybe(tensor.below), maybe(tensor.when);
    if (tensor.data && tensor.data->call)
      for (auto& [name, argument] : tensor.data->call->arguments) visit(argument);
  }
  for (auto& dim : kernel.grid) visit(dim.size);
  visit(kernel.loop.trips), maybe(kernel.loop.tile_trips);
  for (auto& value : kernel.values) all(value.shape), visit(value.alias_at), maybe(value.registers);
  for (auto* ops : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (auto& op : *ops) {
      all(op.at), maybe(op.when);
      if (!op.cost) continue;
      maybe(op.cost->latency), maybe(op.cost->window), maybe(op.cost->warps);
      if (op.cost->uses)
        for (auto& use : *op.cost->uses) visit(use.offset), visit(use.duration), visit(use.amount), visit(use.in_sum);
    }
  for (auto& edge : kernel.order) maybe(edge.latency), maybe(edge.handoff);
  for (auto& other : kernel.around) visit(other.bytes);
}

bool divides(const Expr::Node& node) { return node.op == Operator::Divide || node.op == Operator::Modulo || node.op == Operator::CeilDiv; }
bool stands_for(const Expr::Node& node, const std::string& name) { return node.op == Operator::Name && node.name == name; }
bool is_constant(const Expr::Node& node, std::int64_t number) { return node.op == Operator::Constant && node.constant == number; }

struct Uses {
  bool divisor = false;
  bool other = false;  ///< than as a factor or a divisor

  void look_at(const Expr::Node& node, const std::string& name) {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const bool by = divides(node) && i == 1, times = node.op == Operator::Multiply;
      if (!stands_for(node.children[i], name))
        look_at(node.children[i], name);
      else if (by)
        divisor = true;
      else if (!times)
        other = true;
    }
  }
};

/// An attribute may be an expression.
bool named_in_attributes(const Kernel& kernel, const std::string& name) {
  for (const auto* ops : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (const TileOp& op : *ops)
      for (const auto& attr : op.attrs)
        if (const auto* text = std::get_if<std::string>(&attr.second))
          if (const auto expr = Expr::parse(*text); expr.ok() && mentions(expr->root(), {name})) return true;
  return false;
}

Expr::Node without(Expr::Node node, const std::string& name) {
  const bool by_one = divides(node) && stands_for(node.children[1], name);
  if (by_one && node.op == Operator::Modulo) return Expr(0).root();
  if (by_one) return without(std::move(node.children[0]), name);
  if (node.op == Operator::Multiply)
    for (const std::size_t i : {1, 0})
      if (stands_for(node.children[i], name)) {
        const Expr::Node rest = std::move(node.children[1 - i]);
        return stands_for(rest, name) ? Expr(1).root() : without(rest, name);
      }
  for (Expr::Node& child : node.children) child = without(std::move(child), name);
  const bool sum = node.op == Operator::Add, difference = node.op == Operator::Subtract;
  if ((sum || difference) && is_constant(node.children[1], 0)) return std::move(node.children[0]);
  if (sum && is_constant(node.children[0], 0)) return std::move(node.children[1]);
  if (node.op == Operator::Multiply && (is_constant(node.children[0], 0) || is_constant(node.children[1], 0))) return Expr(0).root();
  return node;
}

}  // namespace

std::vector<std::string> multipliers(const Kernel& kernel) {
  std::vector<std::string> names;
  for (const Param& param : kernel.params) {
    if (param.value != 1) continue;
    Uses uses;
    visit_exprs(kernel, [&](const Expr& expr) {
      if (stands_for(expr.root(), param.name)) uses.other = true;
      uses.look_at(expr.root(), param.name);
    });
    if (uses.divisor && !uses.other && !named_in_attributes(kernel, param.name)) names.push_back(param.name);
  }
  return names;
}

bool is_multiplier(const Kernel& kernel, const Param& param) {
  if (param.value != 1) return false;
  const std::vector<std::string> names = multipliers(as_in_file(kernel));
  const std::string for_good = fmt::format("({} != 1) == 0", param.name);
  return std::find(names.begin(), names.end(), param.name) != names.end() ||
         std::any_of(kernel.conditions.begin(), kernel.conditions.end(), [&](const Condition& c) { return c.expr.text() == for_good; });
}

void leave_out(Kernel& kernel, const std::string& multiplier) {
  visit_exprs(kernel, [&](Expr& expr) {
    if (mentions(expr.root(), {multiplier})) expr = Expr(without(expr.root(), multiplier));
  });
}

}  // namespace heddle
