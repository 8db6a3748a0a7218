// What the words of a question mean, put together: names of kernel, machine and schedule (core/library/library.h), projects, parameters,
// cuts, changed numbers and demands become one problem.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/instance/instance.h"
#include "core/kernel/subtile.h"
#include "core/library/source.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// As a person gives them; faults say which of them they are about (Fault::part: "param", "demand", "layout" ...).
struct InputNames {
  std::string kernel;                   ///< any source's (core/library/source.h)
  std::string machine;                  ///< the kernel's name again where that stands for its machine too
  std::optional<std::string> schedule;  ///< the kernel's name again: the one that its project shows
  std::vector<std::pair<std::string, std::int64_t>> params{};
  std::vector<Subtile> cuts{};
  std::optional<std::string> constraints{};  ///< a file of demands and changes
  std::vector<std::string> demands{};        ///< sentences
  std::vector<std::string> changes{};        ///< "exp0.latency=600"
  std::vector<std::string> layouts{};        ///< "dqs0=panels 64"
  std::vector<std::string> instructions{};   ///< "stage_dq0=st.shared.8"
  bool emitter_rules = false;                ///< a dump's rules for its code generator too
  /// Demands like those of a file, judged by the checker too, by the names that the program gives them; the problem allows the groups.
  std::vector<UserConstraint> caps{};
  std::shared_ptr<const Source> source{};  ///< what `kernel` is, where that was found already
};

struct Inputs {
  Instance instance;  ///< its parameters, changes and choices are those that were set; whoever asks again passes them on
  Constraints constraints;
  std::optional<Schedule> schedule;
  std::string schedule_file;             ///< where the schedule was read from
  std::shared_ptr<const Source> source;  ///< what KERNEL is

  const Kernel& kernel() const { return instance.kernel(); }
  const Machine& machine() const { return instance.machine(); }
  const Problem& problem() const { return instance.problem(); }
  const Changes& changes() const { return instance.changes(); }
  const LayoutChoices& choices() const { return instance.choices(); }
  const TritonText* triton() const { return source->triton(); }
};

/// Reads all of it. Parameters, layouts and instructions are those of the schedule's file unless `params`, `layouts` and `instructions` say
/// otherwise. Each file is read even when another one is bad, so that faults of several files come together.
Result<Inputs> load_inputs(const InputNames& names, std::vector<Fault>& warnings);

/// The problem of the same inputs with these changes on top of their own. Faults are said in the words of their source.
Result<Problem> problem_with(const Inputs& inputs, const Changes& more);
/// The same, except that `choices` replaces the layouts and instructions they say.
Result<Problem> problem_with(const Inputs& inputs, const LayoutChoices& choices, const Changes& more = {});
/// That problem with what it was made of.
Result<Instance> with(const Inputs& inputs, const LayoutChoices& choices);

/// All in one; a parameter that is given twice is a fault.
Result<Scope> params_of(const std::vector<std::pair<std::string, std::int64_t>>& given);

/// The kernel with every cut applied, in the order given; `params` in place of its defaults.
Result<Kernel> cut_kernel(Kernel kernel, const std::vector<Subtile>& cuts, const Scope& params);

/// Appends the fault, unless it is there; the hint does not count.
void add_once(std::vector<Fault>& faults, const Fault& fault);

}  // namespace heddle
