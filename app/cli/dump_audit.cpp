// The audit of a compiler's dump, its loops solved again.
#include <algorithm>

#include "app/cli/audit_page.h"
#include "app/cli/solving.h"
#include "app/command/interrupt.h"
#include "core/analysis/period.h"
#include "core/analysis/usage.h"
#include "core/dump/audit_json.h"
#include "core/dump/audit_report.h"
#include "core/dump/native.h"
#include "core/library/dump_text.h"

namespace heddle::app {
namespace {

#ifdef HEDDLE_HAS_SOLVER
constexpr double kSecondsPerLoop = 10;
constexpr std::size_t kReadings = 3;  ///< in which a loop is solved

bool proved(const SolveOutcome& outcome, const char* name) {
  for (const ObjectiveValue& o : outcome.objectives)
    if (o.name == name) return o.proved;
  return false;
}

/// The same loop solved again, in both readings.
void improve(const dump::Dump& dump, dump::DumpLoopAudit& audit, const Arguments& arguments, double seconds, std::stop_token stop) {
  const dump::DumpLoop& loop = dump.loops[audit.loop];
  dump::Improvement& found = audit.improvement.emplace();
  const auto solved = [&](dump::DumpReading reading, bool emitter, Problem& problem) -> std::optional<SolveOutcome> {
    Result<Problem> resolved = make_problem(spec_of(to_kernel(dump, loop, reading), to_machine(dump, loop, reading)));
    if (!resolved) return std::nullopt;
    problem = *std::move(resolved);
    solver::SolveRequest request;
    request.problem = problem;
    request.timeout_seconds = std::min(seconds, arguments.deadline().left());
    if (const auto seed = arguments.integer("--seed")) request.seed = static_cast<std::uint64_t>(*seed);
    request.constraints = dump::problem_rules(dump, loop, problem);
    if (emitter) {
      for (UserConstraint& rule : dump::emitter_rules(loop, problem, dump::registers_beside(dump, loop)))
        request.constraints.push_back(std::move(rule));
      request.known_bound = found.proved ? found.ii : 0;
      request.objectives.clear();
    }
    if (reading == dump::DumpReading::IssueSlots) request.objectives = {solver::Objective::Stages};
    return solver::solve(request, stop);
  };
  Problem problem;
  const dump::DumpReading reading = dump::default_reading(dump.format);
  found.full = reading == dump::DumpReading::Full;
  if (const auto outcome = solved(reading, false, problem)) {
    found.explanation = outcome->explanation;
    found.seconds = outcome->seconds.total;
    if (outcome->schedule) {
      const Schedule& s = *outcome->schedule;
      const Usage usage = compute_usage(problem, s);
      found.ii = s.ii;
      found.lower_bound = outcome->lower_bound;
      found.proved = outcome->status == Status::Optimal;
      found.stages = stage_count(s);
      found.stages_proved = proved(*outcome, "stages");
      found.groups = static_cast<int>(s.groups.size());
      found.warps = usage.warps;
      found.smem = usage.smem_bytes;
      found.tmem = usage.tmem_columns;
      found.sustainable = sustainable_period(problem, s).cycles();
    }
  }
  if (!found.full) return;
  if (const auto outcome = solved(dump::DumpReading::Full, true, problem); outcome && outcome->status == Status::Optimal)
    found.emitter_ii = outcome->schedule->ii;
  if (const auto outcome = solved(dump::DumpReading::IssueSlots, false, problem);
      outcome && outcome->status == Status::Optimal && proved(*outcome, "stages")) {
    found.issue_slots_ii = outcome->schedule->ii;
    found.issue_slots_stages = stage_count(*outcome->schedule);
  }
}
#endif

}  // namespace

Result<AuditPage> audit_of(const DumpText& text, [[maybe_unused]] const Arguments& arguments, const Terminal& terminal,
                           [[maybe_unused]] std::size_t files_left) {
  const DumpText::SharedDump read = text.document();
  if (!read) return read.error();
  const dump::Dump& dump = **read;
  const std::optional<std::int64_t> only = text.address()->loop;
  if (only)
    if (const auto loop = text.loop(); !loop) return loop.error();
  dump::DumpAudit audit = dump::audit(dump, only);
#ifdef HEDDLE_HAS_SOLVER
  if (!arguments.has("--no-solve")) {
    const InterruptScope interrupt;
    std::size_t left = kReadings * audit.loops.size() * files_left;
    for (dump::DumpLoopAudit& loop : audit.loops) {
      const double fair = arguments.deadline().left() / static_cast<double>(left);
      if (!interrupt.interrupted() && loop.problem_fault.empty() && !dump.loops[loop.loop].nodes.empty())
        improve(dump, loop, arguments, arguments.has("--timeout") ? fair : kSecondsPerLoop, interrupt.token());
      left -= kReadings;
    }
  }
#endif
  AuditPage page;
  page.headline = styled(audit_headline(dump, audit), terminal.style);
  page.text = audit_text(dump, audit, terminal.style);
  page.markdown = audit_markdown(dump, audit);
  page.json = audit_json(dump, audit);
  page.clean = audit.clean();
  return page;
}

}  // namespace heddle::app
