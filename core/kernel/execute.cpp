// Two steps: everything that can be known beforehand is checked and turned into indices (all faults at once), then the
// grid is walked. A value keeps as many of its past iterations as its most distant reader needs.
#include "core/kernel/execute.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "core/base/saturate.h"
#include "core/base/suggest.h"
#include "core/kernel/conditions.h"
#include "core/kernel/map_expression.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/op_semantics.h"
#include "core/kernel/rounding.h"
#include "core/kernel/switches.h"

namespace heddle {
namespace {

constexpr std::int64_t kMaxTileElements = std::int64_t{1} << 24;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 28;
constexpr int kMaxDistance = 1024;
constexpr std::int64_t kNever = -1;

enum Phase { kPrologue, kBody, kEpilogue };
constexpr std::array<const char*, 3> kPhaseNames{"prologue", "body", "epilogue"};

/// A tile value while a block runs.
struct Storage {
  std::vector<std::int64_t> shape;
  std::int64_t size = 1;
  Array prologue, epilogue;                       ///< filled when written
  bool in_prologue = false, in_epilogue = false;  ///< defined so far in this block
  bool body_defines = false;
  struct Version {
    Array array;
    std::int64_t iteration = kNever;
  };
  std::vector<Version> versions;  ///< ring over iterations
};

struct ExecutedOp {
  const TileOp* op = nullptr;
  std::size_t index = 0;  ///< in its list, for messages
  OpFunction function = nullptr;
  struct Source {
    std::size_t value = 0;
    int distance = 0;
  };
  std::vector<Source> sources;
  std::optional<std::size_t> result;
  GlobalTensor* tensor = nullptr;
  std::int64_t work = 1;
};

class Executor {
 public:
  Executor(const Kernel& kernel, const Scope& scope, TensorMap& tensors, const std::stop_token& stop)
      : kernel_(kernel), scope_(scope), tensors_(tensors), stop_(stop) {}

  Result<ExecutionCount> plan() {
    prepare();
    if (!faults_.empty()) return failure();
    return planned_;
  }

  Result<ExecutionCount> run(const BlockListener& listener) {
    if (auto planned = plan(); !planned.ok()) return planned;
    std::vector<std::int64_t> position(kernel_.grid.size(), 0);
    const std::int64_t told = std::max<std::int64_t>(1, count_.blocks / 1000);
    for (std::int64_t block = 0; block < count_.blocks; ++block) {
      if (listener && block % told == 0) listener(block, count_.blocks);
      for (std::size_t d = 0; d < position.size(); ++d) scope_[kernel_.grid[d].name] = position[d];
      if (!run_block()) {
        if (!faults_.empty()) return failure();
        count_.cancelled = true;
        break;
      }
      for (std::size_t d = 0; d < position.size() && ++position[d] == grid_[d]; ++d) position[d] = 0;
    }
    return count_;
  }

 private:
  Error failure() const { return Error{ErrorKind::Input, faults_}; }

  void fault(std::string pointer, std::string message, std::string hint = {}) {
    faults_.push_back({kernel_.source, std::move(pointer), std::move(message), std::move(hint)});
  }

  std::string pointer(Phase phase, std::size_t index) const { return fmt::format("/{}/{}", kPhaseNames[phase], index); }

  std::optional<std::int64_t> number(const Expr& expr, const std::string& where) {
    const auto value = expr.evaluate(scope_);
    if (value.ok()) return *value;
    for (const Fault& f : value.error().faults) fault(where, f.message, f.hint);
    return std::nullopt;
  }

  // ---- before the run

  void prepare() {
    storage_.resize(kernel_.values.size());
    for (std::size_t i = 0; i < kernel_.values.size(); ++i) prepare_value(i);
    count_.blocks = 1;
    for (std::size_t d = 0; d < kernel_.grid.size(); ++d) {
      const auto where = fmt::format("/grid/{}/size", d);
      const auto size = number(kernel_.grid[d].size, where);
      if (size && *size < 1) fault(where, fmt::format("a grid dimension must be at least 1, found {}", *size));
      grid_.push_back(size.value_or(1));
      count_.blocks = sat_mul(count_.blocks, std::max<std::int64_t>(grid_.back(), 1));
    }
    const auto trips = number(kernel_.loop.trips, "/loop/trips");
    if (trips && *trips < 0) fault("/loop/trips", fmt::format("the number of trips must not be negative, found {}", *trips));
    count_.trips = std::max<std::int64_t>(trips.value_or(0), 0);
    const std::array lists{&kernel_.prologue, &kernel_.body, &kernel_.epilogue};
    for (int phase = kPrologue; phase <= kEpilogue; ++phase)
      for (std::size_t i = 0; i < lists[phase]->size(); ++i) prepare_op(static_cast<Phase>(phase), i, (*lists[phase])[i]);
    if (!faults_.empty()) return;
    std::int64_t elements = 0;
    for (const Storage& s : storage_) elements = sat_add(elements, sat_mul(s.size, static_cast<std::int64_t>(s.versions.size()) + 2));
    if (elements > kMaxElements)
      fault("/values", fmt::format("the tiles of one block have {} elements in all; at most {} are held", elements, kMaxElements));
    planned_ = count_;
    for (int phase = kPrologue; phase <= kEpilogue; ++phase)
      for (const ExecutedOp& step : steps_[phase]) {
        const std::int64_t times = sat_mul(count_.blocks, phase == kBody ? count_.trips : 1);
        planned_.ops = sat_add(planned_.ops, times);
        planned_.work = sat_add(planned_.work, sat_mul(step.work, times));
      }
    if (std::max(planned_.work, count_.blocks) > kMaxWork)
      fault("",
            fmt::format("these sizes need about {:.3g} multiply-adds on the CPU; at most {:.3g} are done",
                        static_cast<double>(planned_.work), static_cast<double>(kMaxWork)),
            "choose smaller parameters");
  }

  void prepare_value(std::size_t i) {
    const TileValue& value = kernel_.values[i];
    Storage& storage = storage_[i];
    for (std::size_t d = 0; d < value.shape.size(); ++d) {
      const auto where = fmt::format("/values/{}/shape/{}", i, d);
      const auto extent = number(value.shape[d], where);
      if (!extent) return;
      if (*extent < 1) return fault(where, fmt::format("value '{}': an extent must be at least 1, found {}", value.name, *extent));
      storage.shape.push_back(*extent);
      storage.size = sat_mul(storage.size, *extent);
    }
    if (storage.size > kMaxTileElements)
      return fault(fmt::format("/values/{}/shape", i),
                   fmt::format("value '{}' has {} elements; a tile has at most {}", value.name, storage.size, kMaxTileElements));
    storage.versions.resize(1);
    value_index_.emplace(value.name, i);
  }

  std::optional<std::size_t> value_of(const std::string& name, const std::string& where, const TileOp& op) {
    const auto it = value_index_.find(name);
    if (it != value_index_.end()) return it->second;
    std::vector<std::string> names;
    for (const TileValue& v : kernel_.values) names.push_back(v.name);
    if (!kernel_.find_value(name))
      fault(where, fmt::format("op '{}' names value '{}', which is not declared", op.name, name), did_you_mean(name, names));
    return std::nullopt;
  }

  void prepare_op(Phase phase, std::size_t index, const TileOp& op) {
    const auto where = pointer(phase, index);
    const OpKind* kind = find_op_kind(op.kind);
    ExecutedOp step{&op, index, find_op_function(op.kind), {}, {}, nullptr, 1};
    if (!kind || !step.function)
      return fault(where + "/kind", fmt::format("op '{}' of kind '{}' cannot be executed", op.name, op.kind),
                   kind ? "this graph has numbers only: it can be scheduled but not executed" : "");
    const auto inputs = static_cast<int>(op.inputs.size());
    if (inputs < kind->min_inputs || inputs > kind->max_inputs)
      return fault(where + "/in", fmt::format("op '{}': {} takes {} to {} inputs, found {}", op.name, op.kind, kind->min_inputs,
                                              kind->max_inputs, inputs));
    if (static_cast<int>(op.outputs.size()) != kind->outputs)
      return fault(where + "/out",
                   fmt::format("op '{}': {} defines {} values, found {}", op.name, op.kind, kind->outputs, op.outputs.size()));
    std::vector<std::vector<std::int64_t>> shapes;
    std::vector<const TileShape*> views;
    for (const Operand& operand : op.inputs) {
      const auto value = value_of(operand.value, where + "/in", op);
      if (!value) return;
      if (operand.distance < 0 || operand.distance > (phase == kPrologue ? 0 : kMaxDistance))
        return fault(where + "/in", fmt::format("op '{}' reads '{}' {} iterations back; here 0 to {} are possible", op.name, operand.value,
                                                operand.distance, phase == kPrologue ? 0 : kMaxDistance));
      step.sources.push_back({*value, operand.distance});
      auto& versions = storage_[*value].versions;
      versions.resize(std::max(versions.size(), static_cast<std::size_t>(operand.distance) + 1));
      shapes.push_back(storage_[*value].shape);
      views.push_back(&storage_[*value].shape);
    }
    std::vector<std::int64_t> result_shape;
    if (kind->outputs == 1) {
      step.result = value_of(op.outputs[0], where + "/out", op);
      if (!step.result) return;
      result_shape = storage_[*step.result].shape;
      if (phase == kBody) storage_[*step.result].body_defines = true;
    }
    if (kind->reads_tensor || kind->writes_tensor) {
      const auto it = tensors_.find(op.tensor);
      if (it == tensors_.end()) return fault(where + "/tensor", fmt::format("op '{}': no tensor '{}'", op.name, op.tensor));
      step.tensor = &it->second;
      if (kind->writes_tensor && !is_written(step.tensor->role))
        return fault(where + "/tensor", fmt::format("op '{}' writes tensor '{}', which is read only", op.name, op.tensor));
    }
    for (ShapeFault& f : shape_faults(op, views, step.result ? &result_shape : nullptr,
                                      step.tensor ? std::optional(step.tensor->array.shape.size()) : std::nullopt))
      fault(where + f.where, fmt::format("op '{}' ({}): {}", op.name, op.kind, f.message), std::move(f.hint));
    step.work = work_of(op, shapes, result_shape);
    steps_[phase].push_back(std::move(step));
  }

  // ---- the run

  /// False: a fault, or asked to stop.
  bool run_block() {
    for (Storage& s : storage_) {
      s.in_prologue = s.in_epilogue = false;
      for (auto& version : s.versions) version.iteration = kNever;
    }
    std::int64_t trips = count_.trips;
    if (kernel_.loop.tile_trips) {
      const auto own = number(*kernel_.loop.tile_trips, "/loop/tile_trips");
      if (!own) return false;
      if (*own < 0 || *own > trips)
        return fault("/loop/tile_trips",
                     fmt::format("{} is {} here; the loop has 0 to {} trips", kernel_.loop.tile_trips->text(), *own, trips)),
               false;
      trips = *own;
    }
    scope_[kernel_.loop.variable] = 0;
    if (!run_list(kPrologue, 0)) return false;
    for (std::int64_t i = 0; i < trips; ++i) {
      scope_[kernel_.loop.variable] = i;
      if (!run_list(kBody, i)) return false;
    }
    scope_[kernel_.loop.variable] = trips;
    return run_list(kEpilogue, trips - 1);
  }

  bool run_list(Phase phase, std::int64_t iteration) {
    return std::all_of(steps_[phase].begin(), steps_[phase].end(), [&](const ExecutedOp& s) { return run_step(phase, s, iteration); });
  }

  /// What an operand holds at this point, or nullptr when nothing has defined it.
  const Array* read(Phase phase, const ExecutedOp::Source& source, std::int64_t iteration) const {
    const Storage& s = storage_[source.value];
    if (phase == kEpilogue && s.in_epilogue && source.distance == 0) return &s.epilogue;
    if (phase != kPrologue && s.body_defines) {
      const std::int64_t wanted = iteration - source.distance;
      if (wanted >= 0) {
        const auto& version = s.versions[static_cast<std::size_t>(wanted) % s.versions.size()];
        return version.iteration == wanted ? &version.array : nullptr;
      }
    }
    return s.in_prologue ? &s.prologue : nullptr;
  }

  Array& write(Phase phase, std::size_t value, std::int64_t iteration) {
    Storage& s = storage_[value];
    if (phase == kPrologue) {
      s.in_prologue = true;
      return s.prologue;
    }
    if (phase == kEpilogue) {
      s.in_epilogue = true;
      return s.epilogue;
    }
    auto& version = s.versions[static_cast<std::size_t>(iteration) % s.versions.size()];
    version.iteration = iteration;
    return version.array;
  }

  bool run_step(Phase phase, const ExecutedOp& step, std::int64_t iteration) {
    if (stop_.stop_requested()) return false;
    const auto where = pointer(phase, step.index);
    std::array<const Array*, MapExpression::kMostInputs> few{};  // no kind takes more
    for (std::size_t i = 0; i < step.sources.size(); ++i) {
      few[i] = read(phase, step.sources[i], iteration);
      if (!few[i]) {
        fault(where + "/in", undefined(step, i, iteration),
              "ops run in the order of the file; the prologue defines what the first iterations read back");
        return false;
      }
    }
    at_.clear(), rows_.clear();
    if (looks_rows_up(*step.op)) {
      auto rows = looked_up_rows(*step.op, storage_[*step.result].shape[0], scope_);
      if (!rows.ok()) {
        for (const Fault& f : rows.error().faults) fault(where + "/at/0", f.message, f.hint);
        return false;
      }
      rows_ = *std::move(rows), at_.push_back(0);
    }
    for (std::size_t d = at_.size(); d < step.op->at.size(); ++d) {
      const auto coordinate = number(step.op->at[d], fmt::format("{}/at/{}", where, d));
      if (!coordinate) return false;
      at_.push_back(*coordinate);
    }
    std::optional<std::int64_t> before;
    if (const auto end = end_of_rows(*step.op)) {
      before = number(*end, where + "/attrs/before");
      if (!before) return false;
    }
    // An operand may be the very array that is overwritten (SSA within one phase excludes it, a bad file does not).
    Array* result = step.result ? &scratch_ : nullptr;
    if (result) {
      result->shape = storage_[*step.result].shape;
      result->data.resize(static_cast<std::size_t>(storage_[*step.result].size));
    }
    const auto complaint =
        step.function({step.op, std::span(few.data(), step.sources.size()), result, step.tensor, at_, &stop_, rows_, before});
    if (!complaint.empty()) {
      fault(where, fmt::format("op '{}' ({}): {}", step.op->name, step.op->kind, complaint));
      return false;
    }
    if (result) {
      round_all(kernel_.values[*step.result].dtype, result->data);
      std::swap(write(phase, *step.result, iteration), *result);
    }
    ++count_.ops;
    count_.work = sat_add(count_.work, step.work);
    return true;
  }

  std::string undefined(const ExecutedOp& step, std::size_t source, std::int64_t iteration) const {
    const Operand& operand = step.op->inputs[source];
    if (operand.distance > std::max<std::int64_t>(iteration, 0))
      return fmt::format("op '{}' reads '{}[-{}]' in iteration {}, but the prologue does not define '{}'", step.op->name, operand.value,
                         operand.distance, std::max<std::int64_t>(iteration, 0), operand.value);
    return fmt::format("op '{}' reads '{}' before anything defines it", step.op->name, operand.value);
  }

  const Kernel& kernel_;
  Scope scope_;
  TensorMap& tensors_;
  const std::stop_token& stop_;
  std::vector<Fault> faults_;
  ExecutionCount planned_, count_;
  std::vector<std::int64_t> grid_;
  std::map<std::string, std::size_t, std::less<>> value_index_;
  std::vector<Storage> storage_;
  std::array<std::vector<ExecutedOp>, 3> steps_;
  std::vector<std::int64_t> at_, rows_;
  Array scratch_;
};

}  // namespace

Result<Scope> parameter_scope(const Kernel& kernel, const Scope& overrides, bool small) {
  Scope scope;
  std::vector<std::string> names;
  for (const Param& p : kernel.params) {
    scope[p.name] = small ? p.eval_value.value_or(p.value) : p.value;
    names.push_back(p.name);
  }
  Error error;
  for (const auto& [name, value] : overrides) {
    if (!scope.contains(name))
      error.faults.push_back(
          {kernel.source, "/params",
           fmt::format("kernel '{}' has no parameter '{}'; it has {}", kernel.name, name, names.empty() ? "none" : list_of(names)),
           did_you_mean(name, names)});
    scope[name] = value;
  }
  // Before conditions, whose sentences are about sizes that there can be.
  for (const Param& p : kernel.params)
    if (const std::int64_t value = scope.at(p.name), least = is_switch(kernel, p) ? 0 : 1; value < least)
      error.faults.push_back(
          {kernel.source, "/params", fmt::format("parameter '{}' is {}, expected at least {}", p.name, value, least), ""});
  if (!error.faults.empty()) return error;
  return checked_scope(kernel, std::move(scope));
}

Result<ExecutionCount> plan_execution(const Kernel& kernel, const Scope& scope, TensorMap& tensors) {
  const Result<Kernel> now = settled(kernel, scope);
  if (!now) return now.error();
  return Executor(*now, scope, tensors, {}).plan();
}

Result<ExecutionCount> execute(const Kernel& kernel, const Scope& scope, TensorMap& tensors, const std::stop_token& stop,
                               const BlockListener& listener) {
  const Result<Kernel> now = settled(kernel, scope);
  if (!now) return now.error();
  return Executor(*now, scope, tensors, stop).run(listener);
}

}  // namespace heddle
