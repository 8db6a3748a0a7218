#include "core/kernel/scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "core/kernel/map_expression.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/op_shapes.h"

namespace heddle {
namespace {

constexpr double kSame = 1e-6;  ///< decimal digits that files write down

template <class Visit>
void visit_ops(const Kernel& kernel, Visit visit) {
  for (const auto& [list, ops] : {std::pair{"prologue", &kernel.prologue}, {"body", &kernel.body}, {"epilogue", &kernel.epilogue}})
    for (std::size_t i = 0; i < ops->size(); ++i)
      if ((*ops)[i].attrs.contains("argument")) visit((*ops)[i], fmt::format("/{}/{}/attrs/argument", list, i));
}

Scope defaults(const Kernel& kernel) {
  Scope scope;
  for (const Param& param : kernel.params) scope[param.name] = param.value;
  return scope;
}

/// Of a map that is its input times a number, that number.
std::optional<double> factor_of_map(const TileOp& op, const Scope& params) {
  const auto expression = MapExpression::parse(text_attr(op, "expr"), op.inputs.size());
  if (!expression.ok() || op.inputs.size() != 1 || expression->uses_coordinates()) return std::nullopt;
  std::array<std::int64_t, MapExpression::kMostPlaces> at{};
  for (std::size_t k = 0; k < op.at.size() && k < at.size(); ++k) {
    const auto number = op.at[k].evaluate(params);
    if (!number.ok()) return std::nullopt;
    at[k] = *number;
  }
  const auto of = [&](float x) { return static_cast<double>(expression->evaluate(std::array{x}, 0, 0, at)); };
  const double one = of(1);
  return of(0) == 0 && of(2) == 2 * one && of(-4) == -4 * one ? std::optional(one) : std::nullopt;
}

}  // namespace

std::string ScalarUse::text() const { return factor == 1 ? name : fmt::format("{} * {}", name, factor); }

std::optional<ScalarUse> scalar_use(const TileOp& op) {
  const auto* text = op.attr<std::string>("argument");
  if (!text) return std::nullopt;
  const std::size_t sign = text->find(" * ");
  ScalarUse use{text->substr(0, sign)};
  if (sign != std::string::npos) {
    const auto factor = read_number<double>(std::string_view(*text).substr(sign + 3));
    if (!factor || !(*factor > 0) || !std::isfinite(*factor)) return std::nullopt;
    use.factor = *factor;
  }
  return is_name(use.name) ? std::optional(use) : std::nullopt;
}

std::optional<double> own_factor(const TileOp& op, const Scope& params) {
  if (!scalar_use(op)) return std::nullopt;
  if (op.kind == "map") return factor_of_map(op, params);
  const auto scale = op.attrs.find("scale");
  if (scale == op.attrs.end()) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(&scale->second)) return read_number<double>(*text);
  const auto number = number_of(scale->second);
  return number ? std::optional<double>(*number) : std::nullopt;
}

ScalarValues scalars_of(const Kernel& kernel, const Scope& params) {
  ScalarValues scalars;
  visit_ops(kernel, [&](const TileOp& op, const std::string&) {
    const auto use = scalar_use(op);
    const auto factor = own_factor(op, params);
    if (!use || !factor) return;
    // Whoever has it as it is knows it to the last digit.
    if (use->factor == 1)
      scalars[use->name] = *factor;
    else
      scalars.emplace(use->name, *factor / use->factor);
  });
  return scalars;
}

bool has_scalar(const Kernel& kernel, std::string_view name) {
  bool has = false;
  visit_ops(kernel, [&](const TileOp& op, const std::string&) {
    const auto use = scalar_use(op);
    has = has || (use && use->name == name);
  });
  return has;
}

Result<Kernel> with_scalars(const Kernel& kernel, const ScalarValues& given) {
  const ScalarValues known = scalars_of(kernel, defaults(kernel));
  Error error;
  for (const auto& [name, value] : given) {
    std::vector<std::string> names;
    for (const auto& [other, number] : known) names.push_back(other);
    if (!known.contains(name))
      error.faults.push_back({kernel.source, "",
                              names.empty() ? fmt::format("it has no argument '{}', nor any other", name)
                                            : fmt::format("it has no argument '{}' (it has {})", name, list_of(names)),
                              did_you_mean(name, names)});
    else if (!(value >= kLeastScalar && value <= kMostScalar))
      error.faults.push_back({kernel.source, "", fmt::format("{} is {}, expected {} to {}", name, value, kLeastScalar, kMostScalar), ""});
  }
  if (!error.faults.empty()) return error;
  Kernel changed = kernel;
  for (auto* list : {&changed.prologue, &changed.body, &changed.epilogue})
    for (TileOp& op : *list) {
      const auto use = scalar_use(op);
      const auto value = use ? given.find(use->name) : given.end();
      if (value == given.end()) continue;
      const std::string number = fmt::format("{:.9g}", value->second * use->factor);
      if (op.kind == "map")
        op.attrs["expr"] = fmt::format("x0 * {}", number);
      else
        op.attrs["scale"] = number;
    }
  return changed;
}

std::vector<Fault> validate_scalars(const Kernel& kernel) {
  std::vector<Fault> faults;
  const Scope params = defaults(kernel);
  const ScalarValues scalars = scalars_of(kernel, params);
  visit_ops(kernel, [&](const TileOp& op, const std::string& pointer) {
    const auto fault = [&](std::string message, std::string hint) {
      faults.push_back({kernel.source, pointer, std::move(message), std::move(hint)});
    };
    const auto use = scalar_use(op);
    if (!use) return fault("expected a name, or a name times a positive number", "\"scale * 1.44269504\"");
    if (kernel.find_param(use->name)) return fault(fmt::format("'{}' is a parameter, a whole number", use->name), "call it otherwise");
    const auto factor = own_factor(op, params);
    if (!factor)
      return op.kind == "map"
                 ? fault(fmt::format("the expression of '{}' is not x0 times a number", op.name), "\"expr\": \"x0 * 0.125\"")
                 : fault(fmt::format("'{}' has no number in its place", op.name), "add \"scale\", the number without an argument");
    const double number = *factor / use->factor, said = scalars.at(use->name);
    if (!(number >= kLeastScalar && number <= kMostScalar))
      return fault(fmt::format("'{}' would be {}, expected {} to {}", use->name, number, kLeastScalar, kMostScalar), "");
    if (std::fabs(number - said) > kSame * said)
      fault(fmt::format("'{}' is {} here, and {} in another op", use->name, number, said), "one argument has one number");
  });
  return faults;
}

}  // namespace heddle
