#include "core/kernel/switches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/assert.h"
#include "core/kernel/free_axes.h"
#include "core/kernel/multipliers.h"
#include "core/kernel/op_kind.h"

namespace heddle {
namespace {

struct NamedList {
  const char* name;
  std::vector<TileOp> Kernel::*ops;
};
constexpr std::array<NamedList, 3> kNamedLists{{{"prologue", &Kernel::prologue}, {"body", &Kernel::body}, {"epilogue", &Kernel::epilogue}}};

bool same_tile(const TileValue& a, const TileValue& b) {
  return a.dtype == b.dtype && a.space == b.space &&
         std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end(),
                    [](const Expr& x, const Expr& y) { return x.text() == y.text(); });
}

/// Every op that defines a value.
std::map<std::string, std::vector<const TileOp*>> definitions_of(const Kernel& kernel) {
  std::map<std::string, std::vector<const TileOp*>> definitions;
  for (const NamedList& list : kNamedLists)
    for (const TileOp& op : kernel.*list.ops)
      for (const std::string& out : op.outputs) definitions[out].push_back(&op);
  return definitions;
}

/// Where it is off, its input stands for its result.
bool hands_on(const Kernel& kernel, const TileOp& op, std::size_t definitions) {
  if (op.inputs.size() != 1 || op.outputs.size() != 1 || definitions != 1) return false;
  const TileValue *in = kernel.find_value(op.inputs[0].value), *out = kernel.find_value(op.outputs[0]);
  return in && out && same_tile(*in, *out);
}

bool same_condition(const std::optional<Expr>& a, const std::optional<Expr>& b) { return a && b && a->text() == b->text(); }

/// Where it does not hold, the multiplier is left out.
Expr more_than_one(const std::string& multiplier) {
  Result<Expr> more = Expr::parse(multiplier + " != 1");
  HEDDLE_ASSERT(more.ok(), "a parameter's name is a name of the grammar");
  return *std::move(more);
}

/// Every condition, with its place.
template <class Visit>
void visit_conditions(const Kernel& kernel, Visit visit) {
  for (const std::string& name : multipliers(kernel)) visit(more_than_one(name), "/params");
  for (std::size_t t = 0; t < kernel.tensors.size(); ++t)
    if (kernel.tensors[t].when) visit(*kernel.tensors[t].when, fmt::format("/tensors/{}/if", t));
  for (const NamedList& list : kNamedLists)
    for (std::size_t i = 0; i < (kernel.*list.ops).size(); ++i)
      if (const auto& when = (kernel.*list.ops)[i].when) visit(*when, fmt::format("/{}/{}/if", list.name, i));
}

using Conditions = std::set<std::string>;

Scope scope_of(const Kernel& kernel, const Scope& params) {
  Scope scope;
  for (const Param& p : kernel.params) {
    const auto given = params.find(p.name);
    scope[p.name] = given == params.end() ? p.value : given->second;
  }
  return scope;
}

/// Those that do not hold.
Result<Conditions> conditions_off(const Kernel& kernel, const Scope& scope) {
  Conditions off;
  std::vector<Fault> faults;
  visit_conditions(as_in_file(kernel), [&](const Expr& when, const std::string& pointer) {
    const Result<std::int64_t> value = when.evaluate(scope);
    if (!value)
      for (const Fault& f : value.error().faults) faults.push_back({kernel.source, pointer, f.message, f.hint});
    else if (*value == 0)
      off.insert(when.text());
  });
  if (!faults.empty()) return Error{ErrorKind::Input, std::move(faults)};
  return off;
}

class Settling {
 public:
  Settling(std::shared_ptr<const Kernel> whole, const Conditions& off) : kernel_(*whole), off_(off), result_(kernel_) {
    result_.whole = std::move(whole);
    result_.off.assign(off.begin(), off.end());
  }

  Kernel run() {
    result_.tensors = kept(kernel_.tensors);
    for (const NamedList& list : kNamedLists) result_.*list.ops = kept(kernel_.*list.ops);
    for (const auto& [value, ops] : definitions_) {
      const TileOp& op = *ops.front();
      if (!std::all_of(ops.begin(), ops.end(), [&](const TileOp* made) { return is_off(*made); })) continue;
      gone_.insert(value);
      if (hands_on(kernel_, op, ops.size())) handed_.emplace(value, op.inputs[0]);
    }
    forget_values();
    for (const std::string& name : multipliers(kernel_))
      if (off_.contains(more_than_one(name).text())) leave_out(result_, name);
    return std::move(result_);
  }

 private:
  template <class T>
  bool is_off(const T& thing) const {
    return thing.when && off_.contains(thing.when->text());
  }

  /// What stays has no condition any more.
  template <class T>
  std::vector<T> kept(const std::vector<T>& things) const {
    std::vector<T> kept;
    for (const T& thing : things)
      if (!is_off(thing)) kept.emplace_back(thing).when.reset();
    return kept;
  }

  /// In a circle of ops that are all off nothing is left to read, which whoever validates the kernel says.
  Operand followed(Operand operand) const {
    for (std::size_t step = 0; step <= handed_.size(); ++step) {
      const auto it = handed_.find(operand.value);
      if (it == handed_.end()) break;
      operand = {it->second.value, operand.distance + it->second.distance};
    }
    return operand;
  }

  void forget_values() {
    std::set<std::string> ops;
    for (const NamedList& list : kNamedLists)
      for (TileOp& op : result_.*list.ops) {
        ops.insert(op.name);
        for (Operand& in : op.inputs) in = followed(in);
      }
    std::erase_if(result_.values, [&](const TileValue& v) { return gone_.contains(v.name); });
    for (TileValue& v : result_.values) v.alias_of = followed({v.alias_of, 0}).value;
    for (FreeAxis& axis : result_.free) axis.value = followed({axis.value, 0}).value;
    std::erase_if(result_.free, [&](const FreeAxis& axis) { return gone_.contains(axis.value); });
    std::erase_if(result_.order, [&](const OrderEdge& edge) { return !ops.contains(edge.from) || !ops.contains(edge.to); });
  }

  const Kernel& kernel_;
  const Conditions& off_;
  Kernel result_;
  std::map<std::string, std::vector<const TileOp*>> definitions_ = definitions_of(kernel_);
  std::set<std::string> gone_;             ///< values
  std::map<std::string, Operand> handed_;  ///< of those, what is read instead
};

/// `shared`: the kernel, where somebody has it so.
Result<std::optional<Kernel>> settle(const Kernel& kernel, const Scope& params, const std::shared_ptr<const Kernel>& shared) {
  std::size_t conditions = 0;
  visit_conditions(as_in_file(kernel), [&](const Expr&, const std::string&) { ++conditions; });
  if (conditions == 0) return std::optional<Kernel>();
  const Scope scope = scope_of(kernel, params);
  const Result<Conditions> off = conditions_off(kernel, scope);
  if (!off) return off.error();
  if (kernel.whole && std::equal(off->begin(), off->end(), kernel.off.begin(), kernel.off.end())) return std::optional<Kernel>();
  Kernel made = Settling(kernel.whole ? kernel.whole : shared ? shared : std::make_shared<const Kernel>(kernel), *off).run();
  made.source = kernel.source;  // where it was read from may be said later
  std::erase_if(made.free, [&](const FreeAxis& axis) { return !walk_axis(made, scope, axis).objection.empty(); });
  return std::optional(std::move(made));
}

}  // namespace

const Kernel& as_in_file(const Kernel& kernel) { return kernel.whole ? *kernel.whole : kernel; }

Result<Kernel> settled(const Kernel& kernel, const Scope& params) {
  Result<std::optional<Kernel>> other = settled_otherwise(kernel, params);
  if (!other) return other.error();
  return *other ? *std::move(*other) : kernel;
}

Result<std::shared_ptr<const Kernel>> settled(const std::shared_ptr<const Kernel>& kernel, const Scope& params) {
  Result<std::optional<Kernel>> other = settle(*kernel, params, kernel);
  if (!other) return other.error();
  return *other ? std::make_shared<const Kernel>(*std::move(*other)) : kernel;
}

Result<std::optional<Kernel>> settled_otherwise(const Kernel& kernel, const Scope& params) { return settle(kernel, params, nullptr); }

bool is_switch(const Kernel& kernel, const Param& param) {
  bool named = false;
  visit_conditions(as_in_file(kernel), [&](const Expr& when, const std::string&) {
    const std::vector<std::string> names = when.names();
    named = named || std::find(names.begin(), names.end(), param.name) != names.end();
  });
  for (const Condition& condition : kernel.conditions) {  // of one that is held
    const std::vector<std::string> names = condition.expr.names();
    named = named || std::find(names.begin(), names.end(), param.name) != names.end();
  }
  return named && param.value == 0;
}

Scope with_switches(const Kernel& kernel, Scope params) {
  for (const Param& param : kernel.params)
    if (is_switch(kernel, param) || is_multiplier(kernel, param)) params.emplace(param.name, param.value);
  return params;
}

Kernel barest(const Kernel& kernel) {
  Conditions all;
  visit_conditions(as_in_file(kernel), [&](const Expr& when, const std::string&) { all.insert(when.text()); });
  return Settling(std::make_shared<const Kernel>(as_in_file(kernel)), all).run();
}

Kernel held(Kernel kernel) {
  Conditions seen;
  visit_conditions(as_in_file(kernel), [&](const Expr& when, const std::string&) {
    if (!seen.insert(when.text()).second) return;
    const bool off = std::find(kernel.off.begin(), kernel.off.end(), when.text()) != kernel.off.end();
    Result<Expr> holds = Expr::parse(fmt::format("({}) {} 0", when.text(), off ? "==" : "!="));
    HEDDLE_ASSERT(holds.ok(), "a condition in brackets is an expression");
    kernel.conditions.push_back({*std::move(holds), "the kernel was changed as it is for such sizes"});
  });
  kernel.whole = nullptr;
  kernel.off.clear();
  return kernel;
}

std::vector<Fault> in_file(std::vector<Fault> faults, const Kernel& kernel) {
  if (!kernel.whole) return faults;
  const auto move = [](std::string& pointer, const std::string& prefix, const auto& here, const auto& there) {
    if (!pointer.starts_with(prefix)) return;
    std::size_t number = 0;
    const char* begin = pointer.data() + prefix.size();
    const auto [end, code] = std::from_chars(begin, pointer.data() + pointer.size(), number);
    if (code != std::errc{} || number >= here.size()) return;
    const auto found = std::find_if(there.begin(), there.end(), [&](const auto& thing) { return thing.name == here[number].name; });
    if (found != there.end()) pointer = fmt::format("{}{}{}", prefix, found - there.begin(), std::string(end));
  };
  for (Fault& fault : faults) {
    if (fault.file != kernel.source) continue;
    for (const NamedList& list : kNamedLists)
      move(fault.pointer, fmt::format("/{}/", list.name), kernel.*list.ops, (*kernel.whole).*list.ops);
    move(fault.pointer, "/values/", kernel.values, kernel.whole->values);
    move(fault.pointer, "/tensors/", kernel.tensors, kernel.whole->tensors);
    move(fault.pointer, "/free/", kernel.free, kernel.whole->free);
  }
  return faults;
}

namespace {

/// A value that shares the storage of one that is not always there.
void judge_aliases(const Kernel& kernel, const std::map<std::string, std::vector<const TileOp*>>& definitions, std::vector<Fault>& faults) {
  const auto condition_of = [&](const std::string& value) -> std::optional<Expr> {
    const auto made = definitions.find(value);
    if (made == definitions.end() || made->second.empty()) return std::nullopt;
    const bool handed = hands_on(kernel, *made->second.front(), made->second.size());
    return handed ? std::nullopt : made->second.front()->when;
  };
  for (std::size_t v = 0; v < kernel.values.size(); ++v) {
    const TileValue& value = kernel.values[v];
    if (value.alias_of.empty()) continue;
    const auto when = condition_of(value.alias_of);
    if (when && !same_condition(when, condition_of(value.name)))
      faults.push_back({kernel.source, fmt::format("/values/{}/alias_of", v),
                        fmt::format("'{}' is there only if {}, and '{}' is not", value.alias_of, when->text(), value.name),
                        fmt::format("give the op that makes '{}' the same \"if\"", value.name)});
  }
}

/// What looks up an index tensor that is not always there.
void judge_tables(const Kernel& kernel, std::vector<Fault>& faults) {
  const auto judge = [&](const Expr& expr, const std::string& pointer, const std::optional<Expr>& when) {
    for (const std::string& table : expr.tables())
      if (const Tensor* tensor = kernel.find_tensor(table); tensor && tensor->when && !same_condition(tensor->when, when))
        faults.push_back({kernel.source, pointer, fmt::format("index tensor '{}' is there only if {}", table, tensor->when->text()),
                          "give what looks it up the same \"if\""});
  };
  for (std::size_t d = 0; d < kernel.grid.size(); ++d) judge(kernel.grid[d].size, fmt::format("/grid/{}/size", d), std::nullopt);
  judge(kernel.loop.trips, "/loop/trips", std::nullopt);
  if (kernel.loop.tile_trips) judge(*kernel.loop.tile_trips, "/loop/tile_trips", std::nullopt);
  for (const NamedList& list : kNamedLists)
    for (std::size_t i = 0; i < (kernel.*list.ops).size(); ++i) {
      const TileOp& op = (kernel.*list.ops)[i];
      for (std::size_t k = 0; k < op.at.size(); ++k) judge(op.at[k], fmt::format("/{}/{}/at/{}", list.name, i, k), op.when);
      if (const auto end = end_of_rows(op)) judge(*end, fmt::format("/{}/{}/attrs/before", list.name, i), op.when);
    }
}

}  // namespace

std::vector<Fault> validate_switches(const Kernel& kernel) {
  std::vector<Fault> faults;
  const auto definitions = definitions_of(kernel);
  const auto judge = [&](const NamedList& list, std::size_t index, const TileOp& op) {
    const auto fault = [&](const std::string& member, const std::string& what, const Expr& when) {
      faults.push_back({kernel.source, fmt::format("/{}/{}{}", list.name, index, member),
                        fmt::format("{} is there only if {}, and '{}' is there {}", what, when.text(), op.name,
                                    op.when ? "if " + op.when->text() : "always"),
                        fmt::format("give '{}' the same \"if\"", op.name)});
    };
    for (std::size_t k = 0; k < op.inputs.size(); ++k)
      if (const auto found = definitions.find(op.inputs[k].value); found != definitions.end())
        for (const TileOp* made : found->second)
          if (made->when && !hands_on(kernel, *made, found->second.size()) && !same_condition(made->when, op.when)) {
            fault(fmt::format("/in/{}", k), fmt::format("'{}'", op.inputs[k].value), *made->when);
            break;
          }
    if (const Tensor* tensor = kernel.find_tensor(op.tensor); tensor && tensor->when && !same_condition(tensor->when, op.when))
      fault("/tensor", fmt::format("tensor '{}'", op.tensor), *tensor->when);
  };
  for (const NamedList& list : kNamedLists)
    for (std::size_t i = 0; i < (kernel.*list.ops).size(); ++i) judge(list, i, (kernel.*list.ops)[i]);
  judge_aliases(kernel, definitions, faults);
  judge_tables(kernel, faults);
  return faults;
}

}  // namespace heddle
