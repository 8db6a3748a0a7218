// An expression as a flat list of steps, for grids of a million tiles.
#include <algorithm>

#include "core/base/expr_node.h"

namespace heddle {

struct BoundExpr::Step {
  Operator op = Operator::Constant;
  std::int64_t constant = 0;
  std::size_t variable = 0;
  const IndexTable* table = nullptr;  ///< null in a look-up: there is no such tensor
  std::vector<std::size_t> children;
};

namespace {

constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);

}  // namespace

BoundExpr::BoundExpr(const Expr& expr, const Scope& scope, const std::vector<std::string>& variables) {
  auto steps = std::make_shared<std::vector<Step>>();
  const auto add = [&](const auto& self, const Expr::Node& node) -> std::size_t {
    Step step;
    step.op = node.op;
    step.constant = node.constant;
    for (const Expr::Node& child : node.children) step.children.push_back(self(self, child));
    if (node.op == Operator::Name) {
      const auto variable = std::find(variables.begin(), variables.end(), node.name);
      const auto known = scope.find(node.name);
      step.variable = variable != variables.end() ? static_cast<std::size_t>(variable - variables.begin()) : kUnknown;
      if (variable == variables.end() && known != scope.end()) step.op = Operator::Constant, step.constant = known->second;
    }
    if (node.op == Operator::LookUp && scope.tables)
      if (const auto table = scope.tables->find(node.name);
          table != scope.tables->end() && table->second.shape.size() == step.children.size())
        step.table = &table->second;
    steps->push_back(std::move(step));
    return steps->size() - 1;
  };
  root_ = add(add, expr.root());
  steps_ = std::move(steps);
}

std::optional<std::int64_t> BoundExpr::evaluate(std::span<const std::int64_t> variables) const {
  if (!steps_) return 0;
  bool fine = true;
  const std::int64_t result = value(root_, variables, fine);
  return fine ? std::optional(result) : std::nullopt;
}

std::int64_t BoundExpr::value(std::size_t index, std::span<const std::int64_t> variables, bool& fine) const {
  const Step& step = (*steps_)[index];
  const auto of = [&](std::size_t child) { return value(step.children[child], variables, fine); };
  switch (step.op) {
    case Operator::Constant: return step.constant;
    case Operator::Name: fine = fine && step.variable < variables.size(); return fine ? variables[step.variable] : 0;
    case Operator::If: return of(of(0) != 0 ? 1 : 2);
    case Operator::LookUp: {
      std::int64_t place = 0;
      if (!step.table) fine = false;
      for (std::size_t d = 0; d < step.children.size() && fine; ++d) {
        const std::int64_t subscript = of(d), extent = step.table->shape[d];
        fine = fine && subscript >= 0 && subscript < extent;
        place = place * extent + subscript;
      }
      return fine ? (*step.table->values)[static_cast<std::size_t>(place)] : 0;
    }
    default: break;
  }
  std::int64_t result = of(0);
  if (step.children.size() == 1) {
    const Result<std::int64_t> one = apply(step.op, result);
    fine = fine && one.ok();
    return fine ? *one : 0;
  }
  for (std::size_t child = 1; child < step.children.size() && fine; ++child) {
    const std::int64_t right = of(child);
    if (!fine) break;
    const Result<std::int64_t> both = apply(step.op, result, right);
    fine = both.ok();
    if (fine) result = *both;
  }
  return fine ? result : 0;
}

}  // namespace heddle
