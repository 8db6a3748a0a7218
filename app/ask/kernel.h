// A kernel for an instance: a schedule, its program, its text and, where that is asked for, what the compiler makes of it. What stands in
// the way of one schedule becomes a demand on the next, until one is accepted or the chain ends with its reason.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/ask/judgement.h"
#include "codegen/compile/recut.h"
#include "core/base/deadline.h"
#include "core/instance/instance.h"
#include "core/schedule/outcome.h"

namespace heddle::app {

struct Subject;  // app/ask/subject.h
template <class Answer>
struct Listener;  // app/ask/listener.h

enum class KernelGoal { Program, Text, Compiled };

/// One schedule as a kernel, as far as it comes without a compiler.
struct WrittenKernel {
  codegen::BuildOptions build;  ///< that made the program
  std::optional<codegen::Program> program;
  std::optional<codegen::Emission> emission;
  std::vector<codegen::Refusal> refusals;  ///< what stands in the way; empty: nothing
  std::string why_fixed_sizes{};           ///< sizes at run time were asked for, and `build` is without them
};
WrittenKernel written_kernel(const codegen::CompileQuestion& question, const codegen::BuildOptions& build,
                             KernelGoal goal = KernelGoal::Text);
/// The same with sizes at run time, which are given up where they stand in the way.
WrittenKernel written_for_most_sizes(const codegen::CompileQuestion& question, codegen::BuildOptions build,
                                     KernelGoal goal = KernelGoal::Text);

/// `written` compiled; where the compiler or the audit has something against it, and its build does not say where loops are cut, with its
/// loops cut elsewhere. Errors are those of `compile`; a stop ends it with what was best so far.
Result<codegen::BuiltKernel> compiled_kernel(const codegen::CompileQuestion& question, codegen::BuiltKernel written,
                                             const codegen::CompileFunction& compile, const std::stop_token& stop,
                                             const std::function<void(std::string)>& doing);

struct KernelRequest {
  codegen::BuildOptions build{};
  codegen::Recording records = codegen::Recording::None;
  std::optional<std::int64_t> trips{};  ///< of the loop; none: what the kernel says
  KernelGoal goal = KernelGoal::Text;
  bool again = false;  ///< the subject's schedule may be replaced; another one always may
  /// Answers the subject, and settles in it what it leaves open. Empty: this build has no solver.
  std::function<SolveOutcome(Subject&, const std::stop_token&)> solve{};
  codegen::CompileFunction compile{};  ///< not empty where the goal is Compiled
  Deadline deadline{};                 ///< for everything together: a better kernel than the one at hand is not looked for after it
  bool sizes_may_be_fixed = false;     ///< sizes at run time, which `build` asks for, are given up where they stand in the way
};

/// Whether its text can be written, for the choice of the fastest schedule of which it can.
std::function<bool(const Problem&, const Schedule&)> can_be_written(std::shared_ptr<const Kernel> kernel, const KernelRequest& request);

struct MadeKernel {
  Instance instance;  ///< with what the subject left open
  Schedule schedule;
  Constraints demands;                ///< beyond the subject's, that the schedule was found with
  codegen::BuiltKernel built;         ///< as far as it was asked for; its faults are those that nothing avoids
  std::optional<Judgement> judged{};  ///< where it was compared with others by machine code
};

/// What was against a schedule, and what was asked for instead.
struct KernelRefused {
  std::vector<codegen::Refusal> refusals;  ///< none: there was no such schedule
  Constraints demands;                     ///< none: here the chain ended
};

struct KernelAnswer {
  std::optional<MadeKernel> made;
  std::vector<KernelRefused> chain;
  std::vector<std::string> said;  ///< the same in sentences, and how it ended where it ended with nothing
  std::optional<Error> error;     ///< of the compiler, or of a build without solver
  bool cancelled = false;
  bool last_word = false;  ///< of no other schedule than `made`, which has faults, a kernel can be written
};

/// The listener hears each sentence as a line, but those about what ended the chain, or a part of it: then it gets the answer so far.
KernelAnswer ask_kernel(const Subject& subject, const KernelRequest& request, std::stop_token stop, const Listener<KernelAnswer>& listener);

/// Two lines for each: what it is, and the demand that avoids it or why none does.
std::vector<std::string> complaints(const std::vector<codegen::Refusal>& refusals);

}  // namespace heddle::app
