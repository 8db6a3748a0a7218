// Every rule on sizes is an expression and whether it holds; values that would do are found by trying.
#include "core/kernel/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/kernel/index_data.h"
#include "core/kernel/multipliers.h"
#include "core/kernel/switches.h"

namespace heddle {
namespace {

constexpr std::int64_t kFarthest = std::int64_t{1} << 16;  ///< from a value that does not do

/// An expression that must not be 0, or one whose divisions must leave nothing.
struct SizeRule {
  const Expr* expr;
  bool divides;

  bool holds(const Scope& scope) const {
    if (divides) return divides_exactly(*expr, scope);
    const Result<std::int64_t> value = expr->evaluate(scope);
    return value && *value != 0;
  }
};

class SizeRules {
 public:
  SizeRules(const Kernel& kernel, const Scope& scope) : kernel_(kernel), scope_(scope) {
    for (const Condition& condition : kernel.conditions) rules_.push_back({&condition.expr, false});
    stated_ = rules_.size();
    const auto divides = [&](const Expr& expr, std::string pointer, std::string what) {
      if (expr.text().find('/') == std::string::npos || (!scope.tables && !expr.tables().empty())) return;
      rules_.push_back({&expr, true});
      places_.push_back({std::move(pointer), std::move(what)});
    };
    divides(kernel.loop.trips, "/loop/trips", "the number of trips");
    for (std::size_t d = 0; d < kernel.grid.size(); ++d)
      divides(kernel.grid[d].size, fmt::format("/grid/{}/size", d), fmt::format("the size of the grid along {}", kernel.grid[d].name));
    for (std::size_t t = 0; t < kernel.tensors.size(); ++t)
      for (std::size_t d = 0; d < kernel.tensors[t].shape.size(); ++d)
        divides(kernel.tensors[t].shape[d], fmt::format("/tensors/{}/shape/{}", t, d),
                fmt::format("an extent of tensor '{}'", kernel.tensors[t].name));
    for (std::size_t v = 0; v < kernel.values.size(); ++v)
      for (std::size_t d = 0; d < kernel.values[v].shape.size(); ++d)
        divides(kernel.values[v].shape[d], fmt::format("/values/{}/shape/{}", v, d),
                fmt::format("an extent of tile '{}'", kernel.values[v].name));
  }

  std::vector<Fault> broken() const {
    std::vector<Fault> faults;
    for (std::size_t r = 0; r < rules_.size() && (r < stated_ || faults.empty()); ++r) {
      if (rules_[r].holds(scope_)) continue;
      const std::string text = rules_[r].expr->text();
      if (r < stated_) {
        const std::string& about = kernel_.conditions[r].about;
        faults.push_back({kernel_.source, fmt::format("/conditions/{}", r),
                          fmt::format("{} does not hold{}{}", text, with(r), about.empty() ? "" : ": " + about), would_do(r)});
      } else {
        const auto& [pointer, what] = places_[r - stated_];
        faults.push_back({kernel_.source, pointer,
                          fmt::format("\"{}\" leaves a remainder{}: as {}, it would drop what is left", text, with(r), what), would_do(r)});
      }
    }
    return faults;
  }

 private:
  std::vector<const Param*> params_of(std::size_t rule) const {
    std::vector<const Param*> params;
    for (const std::string& name : rules_[rule].expr->names())
      if (const Param* param = kernel_.find_param(name)) params.push_back(param);
    return params;
  }

  /// " with KV = 176 and KV_LEN = 8192"
  std::string with(std::size_t rule) const {
    std::vector<std::string> values;
    for (const Param* param : params_of(rule)) values.push_back(fmt::format("{} = {}", param->name, scope_.at(param->name)));
    return values.empty() ? "" : fmt::format(" with {}", fmt::join(values, ", "));
  }

  /// It holds with another value of a parameter, and whatever held still does.
  bool holds(std::size_t rule, const std::string& name, std::int64_t value) const {
    Scope scope = scope_;
    scope[name] = value;
    if (!rules_[rule].holds(scope)) return false;
    return std::all_of(rules_.begin(), rules_.end(),
                       [&](const SizeRule& other) { return !other.expr->tables().empty() || other.holds(scope) || !other.holds(scope_); });
  }

  std::optional<std::int64_t> nearest(std::size_t rule, const Param& param, int direction) const {
    const std::int64_t now = scope_.at(param.name);
    std::optional<std::int64_t> best;
    for (const std::int64_t choice : param.choices)
      if ((choice - now) * direction > 0 && (!best || (choice - *best) * direction < 0) && holds(rule, param.name, choice)) best = choice;
    if (!param.choices.empty()) return best;
    for (std::int64_t value = now + direction; value >= 1 && std::abs(value - now) <= kFarthest; value += direction)
      if (holds(rule, param.name, value)) return value;
    return std::nullopt;
  }

  /// "KV_LEN = 8096 or 8272 would do, or KV = 128"
  std::string would_do(std::size_t rule) const {
    std::string text;
    for (const Param* param : params_of(rule)) {
      const auto below = nearest(rule, *param, -1), above = nearest(rule, *param, 1);
      if (!below && !above) continue;
      text += text.empty() ? "" : "; or ";
      text += fmt::format("{} = {}", param->name, below ? *below : *above);
      if (below && above) text += fmt::format(" or {}", *above);
    }
    return text.empty() ? "" : text + " would do";
  }

  const Kernel& kernel_;
  const Scope& scope_;
  std::vector<SizeRule> rules_;
  std::size_t stated_ = 0;                                     ///< by the kernel's file; the others are divisions
  std::vector<std::pair<std::string, std::string>> places_{};  ///< of divisions: pointer, and what it is
};

}  // namespace

Result<Scope> checked_scope(const Kernel& kernel, Scope scope) {
  // Before index tensors are made, for their sizes follow from parameters; then what looks them up.
  if (auto faults = SizeRules(kernel, scope).broken(); !faults.empty()) return Error{ErrorKind::Input, std::move(faults)};
  Result<Scope> whole = with_index_tables(kernel, std::move(scope));
  if (!whole) return whole;
  if (auto faults = SizeRules(kernel, *whole).broken(); !faults.empty()) return Error{ErrorKind::Input, std::move(faults)};
  for (const Param& param : kernel.params)
    if ((is_switch(kernel, param) || is_multiplier(kernel, param)) && whole->at(param.name) == param.value) whole->erase(param.name);
  return whole;
}

}  // namespace heddle
