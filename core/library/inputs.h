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
#include "core/kernel/kernel.h"
#include "core/kernel/subtile.h"
#include "core/layout/choices.h"
#include "core/library/triton_text.h"
#include "core/machine/machine.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// As a person gives them; faults name them as the command line does (--param, --demand ...).
struct InputNames {
  std::string kernel;                   ///< a name, a file, a project, a compiler's dump or a Triton text with the loop that is meant
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
  std::optional<std::int64_t> max_groups{}, max_stages{};
};

struct Inputs {
  Kernel kernel;  ///< as read, sub-tiled where asked, for questions that resolve it again with other numbers
  Machine machine;
  Scope params;           ///< what the user set; defaults not included
  Changes changes;        ///< of numbers; whoever resolves again passes them on
  LayoutChoices choices;  ///< of layouts and instructions; the same
  int least_groups = 0;   ///< of the problem's max_groups
  Problem problem;
  Constraints constraints;
  std::optional<Schedule> schedule;
  std::string schedule_file;                 ///< where the schedule was read from
  std::shared_ptr<const TritonText> triton;  ///< what the kernel was made of, where it is a loop of a Triton text
};

/// Reads all of it. Parameters, layouts and instructions are those of the schedule's file unless `params`, `layouts` and `instructions` say
/// otherwise. Each file is read even when another one is bad, so that faults of several files come together.
Result<Inputs> load_inputs(const InputNames& names, std::vector<Fault>& warnings);

/// The problem of the same inputs with these changes on top of their own.
Result<Problem> resolve_again(const Inputs& inputs, const Changes& more);

/// The problem of the same inputs, except that `choices` replaces the layouts and instructions they say. `more` is added to their changes.
Result<Problem> resolve_with(const Inputs& inputs, const LayoutChoices& choices, const Changes& more = {});

/// All in one; a parameter that is given twice is a fault.
Result<Scope> params_of(const std::vector<std::pair<std::string, std::int64_t>>& given);

/// The kernel with every cut applied, in the order given; `params` as for resolve().
Result<Kernel> cut_kernel(Kernel kernel, const std::vector<Subtile>& cuts, const Scope& params);

/// Appends the fault, unless it is there; the hint does not count.
void add_once(std::vector<Fault>& faults, const Fault& fault);

}  // namespace heddle
