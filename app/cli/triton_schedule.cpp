#include "app/cli/triton_schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check/form.h"
#include "core/library/library.h"
#ifdef HEDDLE_HAS_SOLVER
#include "solver/questions/triton.h"
#endif

namespace heddle::app {
namespace {

Error fault_of(const std::string& name, std::string message, std::string hint) {
  return Error{ErrorKind::Input, {{name, {}, std::move(message), std::move(hint)}}};
}

bool same_ops(const triton::Native& native, const Problem& problem) {
  return native.kernel.body.size() == problem.ops.size() && std::equal(problem.ops.begin(), problem.ops.end(), native.kernel.body.begin(),
                                                                       [](const Op& op, const TileOp& of) { return op.name == of.name; });
}

}  // namespace

Result<Schedule> own_schedule_of(const TritonText& text, const Problem& problem) {
  const char* const how = "name the KERNEL like FILE#triton, and leave out --subtile; or give a SCHEDULE";
  if (text.reading != triton::Reading::Triton) return fault_of(text.name, "Triton's own schedule is one of the triton reading", how);
  if (!text.native.has_own)
    return fault_of(text.name,
                    "the text has no schedule of Triton's own" + (text.native.why_no_own.empty() ? "" : ": " + text.native.why_no_own),
                    "give a SCHEDULE, or solve it");
  if (!same_ops(text.native, problem))
    return fault_of(text.name, fmt::format("the text's own schedule has other ops than {}", problem.kernel), how);
#ifdef HEDDLE_HAS_SOLVER
  std::optional<Schedule> schedule = solver::own_schedule(text.native, problem);
  if (!schedule || !form_violations(problem, *schedule).empty())
    return fault_of(text.name, "the order of the text's own schedule cannot run: an op waits for itself", "heddle audit says which ops do");
  return *std::move(schedule);
#else
  return Error::environment("this build has no solver, which works out the cycles of Triton's own schedule",
                            "configure with -DHEDDLE_SOLVER=ON, or give a schedule");
#endif
}

Result<Schedule> read_schedule_or_own(const std::string& path, const Problem& problem, std::vector<Fault>* warnings) {
  if (!names_triton(path)) return read_schedule(path, problem, warnings);
  const Result<TritonText> text = read_triton(path, triton::Reading::Triton);
  return text ? own_schedule_of(*text, problem) : text.error();
}

}  // namespace heddle::app
