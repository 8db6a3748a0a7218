// From the shown schedule to a kernel, in the background: its program and CUDA text, the check of that program on the CPU, and
// what the compiler makes of the text. Plain functions that a thread runs; the answers hold what they are about.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/ask/kernel.h"
#include "app/jobs/kernel_options.h"
#include "app/jobs/source_model.h"
#include "codegen/compile/build_log.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

/// What a kernel is made of.
struct KernelSubject {
  InstanceSpec spec;
  std::shared_ptr<const Problem> problem;  ///< of the spec
  std::shared_ptr<const Schedule> schedule;
  std::string schedule_name;
  KernelOptions options;
};
/// The same problem, the same program and the same way to write it. Whenever kernel or machine say something else there is another problem;
/// where their files lie changes nothing.
bool same_kernel(const KernelSubject& a, const KernelSubject& b);
/// And what is proved of it, which stands at the top of the text.
bool same_text(const KernelSubject& a, const KernelSubject& b);

/// Its loops are cut elsewhere than `of` says where ptxas wants it; an emission is absent exactly when there are refusals.
struct KernelText : WrittenKernel {
  KernelSubject of;
  SourceModel source;
  SourceModel steps;  ///< of every role as pseudocode, where there is a program
  KernelOffers offers;
};
/// `cuts`: where its loops are cut, if not as `of` says.
KernelText write_kernel(const KernelSubject& of, const std::optional<codegen::BuildOptions>& cuts = {});

struct KernelCheck {
  KernelSubject of;
  std::int64_t wanted = 0, done = 0;  ///< interleavings
  std::int64_t tiles = 0, trips = 0;
  std::size_t roles = 0;
  bool data = false;             ///< with real data; else with the names of values
  std::string fault;             ///< of the last interleaving, as the interpreter names it; empty: none
  std::string kind, role, step;  ///< the same in parts, where it is a fault of one step
  OpId op;                       ///< whose step went wrong; invalid: no op of the loop
  std::string failure;           ///< it could not be run at all
  double seconds = 0;
};
struct CheckRequest {
  std::int64_t interleavings = 0;
  bool data = false;  ///< at the kernel's evaluation sizes, every element compared with what its graph computes
};
/// Runs the program of `text` in so many orders of events, until one goes wrong.
KernelCheck check_kernel(const KernelText& text, const CheckRequest& request, std::stop_token stop,
                         const std::function<void(std::string)>& say);

struct KernelBuild {
  KernelSubject of;
  std::shared_ptr<const KernelText> text;  ///< that was compiled in the end: another one than was given where loops are cut elsewhere
  std::optional<Error> error;              ///< the text does not compile, or there is no compiler
  codegen::Compiled compiled;              ///< unless there is an error
  codegen::MachineAudit audit;
  std::string audit_lines;                 ///< the same for people
  std::vector<codegen::Refusal> findings;  ///< of the audit
  std::vector<codegen::Refusal> faults;    ///< what makes the kernel another one than the schedule says
  std::vector<codegen::BuildMessage> messages;
};
/// Where ptxas has something against the text, it is written with its loops cut elsewhere, as `heddle compile` does. Pre: `text` has an
/// emission.
KernelBuild build_kernel(std::shared_ptr<const KernelText> text, const codegen::CompileFunction& compile, const std::stop_token& stop,
                         const std::function<void(std::string)>& say);

/// What compiles kernels here; tests put others in.
struct KernelTools {
  std::function<Result<std::string>()> find_compiler;
  codegen::CompileFunction compile;
  std::function<KernelCheck(const KernelText&, const CheckRequest&, std::stop_token, const std::function<void(std::string)>&)> check =
      check_kernel;
};
KernelTools built_in_tools();

}  // namespace heddle::app
