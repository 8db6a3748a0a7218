// One value for what is asked about: this kernel, on this machine, with these parameters, changed numbers and layouts. Everything above
// makes problems here and passes the value on, so that nothing of it is left out when a question is asked a little differently.
#pragma once

#include <memory>

#include "core/analysis/bounds.h"
#include "core/base/result.h"
#include "core/kernel/kernel.h"
#include "core/layout/choices.h"
#include "core/machine/machine.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"

namespace heddle {

/// What is asked about: a kernel on a machine, and what was said otherwise than their files say it.
struct InstanceSpec {
  std::shared_ptr<const Kernel> kernel;  ///< cut where that was asked
  std::shared_ptr<const Machine> machine;
  Scope params{};           ///< in place of the kernel's defaults; defaults not included
  Changes changes{};        ///< of numbers
  LayoutChoices choices{};  ///< of layouts and instructions
  int least_groups = 0;     ///< the problem allows so many at least
};

/// As their files say it.
InstanceSpec spec_of(Kernel kernel, Machine machine);

/// With these changes on top of its own.
InstanceSpec with(InstanceSpec spec, const Changes& more);
/// With these layouts and instructions in place of its own.
InstanceSpec with(InstanceSpec spec, const LayoutChoices& choices);
InstanceSpec with(InstanceSpec spec, const LayoutChoices& choices, const Changes& more);

/// The problem alone, for whom it is all that matters. All faults of resolve(). Pre: there are a kernel and a machine.
Result<Problem> make_problem(const InstanceSpec& spec);

/// A spec with its problem. Immutable; copies share everything.
class Instance {
 public:
  /// Pre: the problem is what make_problem() makes of the spec, whoever made it.
  Instance(InstanceSpec spec, std::shared_ptr<const Problem> problem);
  Instance(InstanceSpec spec, Problem problem);

  /// Its kernel is the one that its parameters leave (core/kernel/switches.h).
  const InstanceSpec& spec() const;
  const Kernel& kernel() const { return *spec().kernel; }
  const Machine& machine() const { return *spec().machine; }
  const Changes& changes() const { return spec().changes; }
  const LayoutChoices& choices() const { return spec().choices; }
  const Problem& problem() const { return *shared_problem(); }
  const std::shared_ptr<const Problem>& shared_problem() const;
  /// Worked out when they are asked for first; any thread may ask.
  const Bounds& bounds() const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

/// Pre and faults as of make_problem().
Result<Instance> make_instance(InstanceSpec spec);
Result<Instance> with(const Instance& instance, const Changes& more);
Result<Instance> with(const Instance& instance, const LayoutChoices& choices);
Result<Instance> with(const Instance& instance, const LayoutChoices& choices, const Changes& more);

/// The same where somebody has made the problem already. Pre: but for layouts and instructions, which it says, it is the instance's.
Instance with(const Instance& instance, Problem problem);
/// On a machine that differs in numbers of which no problem is made: what L2 supplies, the clock under load, the pace of warp groups.
Instance on_machine(const Instance& instance, Machine machine);

/// Of these parameters those that differ from the kernel's defaults, and those that it does not have: they are faults of the problem.
Scope own_params(const Kernel& kernel, const Scope& params);

}  // namespace heddle
