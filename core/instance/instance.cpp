#include "core/instance/instance.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/assert.h"
#include "core/kernel/switches.h"
#include "core/problem/resolve.h"

namespace heddle {

namespace {

/// With the kernel as its parameters have it.
InstanceSpec settled(InstanceSpec spec) {
  if (spec.kernel)
    if (auto kernel = heddle::settled(spec.kernel, spec.params)) spec.kernel = *std::move(kernel);
  return spec;
}

}  // namespace

struct Instance::Parts {
  Parts(InstanceSpec of, std::shared_ptr<const Problem> made) : spec(settled(std::move(of))), problem(std::move(made)) {}

  const InstanceSpec spec;
  const std::shared_ptr<const Problem> problem;
  mutable std::once_flag bounded;
  mutable std::optional<Bounds> bounds;
};

InstanceSpec spec_of(Kernel kernel, Machine machine) {
  return {std::make_shared<const Kernel>(std::move(kernel)), std::make_shared<const Machine>(std::move(machine))};
}

InstanceSpec with(InstanceSpec spec, const Changes& more) {
  spec.changes.insert(spec.changes.end(), more.begin(), more.end());
  return spec;
}

InstanceSpec with(InstanceSpec spec, const LayoutChoices& choices) {
  spec.choices = choices;
  return spec;
}

InstanceSpec with(InstanceSpec spec, const LayoutChoices& choices, const Changes& more) {
  return with(with(std::move(spec), choices), more);
}

Result<Problem> make_problem(const InstanceSpec& spec) {
  HEDDLE_ASSERT(spec.kernel && spec.machine, "a problem is of a kernel on a machine");
  Result<Problem> problem = resolve(*spec.kernel, *spec.machine, spec.params, spec.changes, spec.choices);
  if (problem) problem->max_groups = std::max(problem->max_groups, spec.least_groups);
  return problem;
}

Instance::Instance(InstanceSpec spec, std::shared_ptr<const Problem> problem)
    : parts_(std::make_shared<const Parts>(std::move(spec), std::move(problem))) {
  HEDDLE_ASSERT(parts_->spec.kernel && parts_->spec.machine && parts_->problem, "an instance is whole");
}
Instance::Instance(InstanceSpec spec, Problem problem) : Instance(std::move(spec), std::make_shared<const Problem>(std::move(problem))) {}

const InstanceSpec& Instance::spec() const { return parts_->spec; }
const std::shared_ptr<const Problem>& Instance::shared_problem() const { return parts_->problem; }
const Bounds& Instance::bounds() const {
  std::call_once(parts_->bounded, [this] { parts_->bounds = compute_bounds(*parts_->problem); });
  return *parts_->bounds;
}

Result<Instance> make_instance(InstanceSpec spec) {
  Result<Problem> problem = make_problem(spec);
  if (!problem) return problem.error();
  return Instance(std::move(spec), *std::move(problem));
}

Result<Instance> with(const Instance& instance, const Changes& more) { return make_instance(with(instance.spec(), more)); }
Result<Instance> with(const Instance& instance, const LayoutChoices& choices) { return make_instance(with(instance.spec(), choices)); }
Result<Instance> with(const Instance& instance, const LayoutChoices& choices, const Changes& more) {
  return make_instance(with(instance.spec(), choices, more));
}

Instance with(const Instance& instance, Problem problem) {
  InstanceSpec spec = with(instance.spec(), choices_of(problem));
  return {std::move(spec), std::move(problem)};
}

Instance on_machine(const Instance& instance, Machine machine) {
  InstanceSpec spec = instance.spec();
  spec.machine = std::make_shared<const Machine>(std::move(machine));
  return {std::move(spec), instance.shared_problem()};
}

Scope own_params(const Kernel& kernel, const Scope& params) {
  Scope own;
  for (const auto& [name, value] : params)
    if (const Param* param = kernel.find_param(name); !param || param->value != value) own[name] = value;
  return own;
}

}  // namespace heddle
