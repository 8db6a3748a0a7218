// heddle audit: what is wrong with the schedules that a compiler dumped, on one screen.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "core/analysis/period.h"
#include "core/analysis/usage.h"
#include "core/answers/summary.h"
#include "core/base/json.h"
#include "core/dump/audit_json.h"
#include "core/dump/audit_report.h"
#include "core/dump/dump_files.h"
#include "core/dump/native.h"
#include "core/problem/resolve.h"

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
void improve(const dump::Dump& dump, dump::LoopAudit& audit, const Arguments& arguments, double seconds, std::stop_token stop) {
  const dump::Loop& loop = dump.loops[audit.loop];
  dump::Improvement& found = audit.improvement.emplace();
  const auto solved = [&](dump::Reading reading, bool emitter, Problem& problem) -> std::optional<SolveOutcome> {
    Result<Problem> resolved = resolve(to_kernel(dump, loop, reading), to_machine(dump, loop, reading));
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
    if (reading == dump::Reading::IssueSlots) request.objectives = {solver::Objective::Stages};
    return solver::solve(request, stop);
  };
  Problem problem;
  const dump::Reading reading = dump::default_reading(dump.format);
  found.full = reading == dump::Reading::Full;
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
  if (const auto outcome = solved(dump::Reading::Full, true, problem); outcome && outcome->status == Status::Optimal)
    found.emitter_ii = outcome->schedule->ii;
  if (const auto outcome = solved(dump::Reading::IssueSlots, false, problem);
      outcome && outcome->status == Status::Optimal && proved(*outcome, "stages")) {
    found.issue_slots_ii = outcome->schedule->ii;
    found.issue_slots_stages = stage_count(*outcome->schedule);
  }
}
#endif

struct Audited {
  dump::Dump dump;
  dump::Audit audit;
};

Result<Audited> audit_file(const std::string& name, const Arguments& arguments) {
  const Result<dump::Address> address = dump::parse_address(with_dump_options(name, arguments));
  if (!address) return address.error();
  Result<dump::Dump> dump = dump::read_dump(*address);
  if (!dump) return dump.error();
  if (address->loop)
    if (const auto loop = dump::find_loop(*dump, *address); !loop) return loop.error();
  Audited audited{*std::move(dump), {}};
  audited.audit = dump::audit(audited.dump, address->loop);
  return audited;
}

}  // namespace

int run_audit(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json"), markdown = arguments.has("--markdown");
  if (json && markdown) return refuse(terminal, "--json and --markdown both want standard output; give one of them", json);
  int code = kDone;
  Json all = Json::array();
  bool first = true;
  const std::vector<std::string>& files = arguments.all("FILES");
  for (std::size_t file = 0; file < files.size(); ++file) {
    const std::string& name = files[file];
    Result<Audited> audited = audit_file(name, arguments);
    if (!audited) {
      code = report(terminal, audited.error(), false);
      all.push(Json::object()
                   .set("file", name)
                   .set("error", code == kInvalidInput ? "input" : "environment")
                   .set("faults", faults_json(audited.error().faults)));
      continue;
    }
#ifdef HEDDLE_HAS_SOLVER
    if (!arguments.has("--no-solve")) {
      const InterruptScope interrupt;
      std::size_t left = kReadings * audited->audit.loops.size() * (files.size() - file);
      for (dump::LoopAudit& loop : audited->audit.loops) {
        const double fair = arguments.deadline().left() / static_cast<double>(left);
        if (!interrupt.interrupted() && loop.problem_fault.empty() && !audited->dump.loops[loop.loop].nodes.empty())
          improve(audited->dump, loop, arguments, arguments.has("--timeout") ? fair : kSecondsPerLoop, interrupt.token());
        left -= kReadings;
      }
    }
#endif
    const auto& [dump, audit] = *audited;
    if (json)
      all.push(dump::audit_json(dump, audit).set("file", name));
    else if (terminal.quiet)
      terminal.out << styled(audit_headline(dump, audit), terminal.style) << "\n";
    else
      terminal.out << (first ? "" : "\n") << (markdown ? audit_markdown(dump, audit) : audit_text(dump, audit, terminal.style));
    first = false;
    if (!audit.clean() && code == kDone) code = kNegative;
  }
  if (json) terminal.out << (files.size() == 1 ? (*all.items())[0] : all).pretty();
  return code;
}

}  // namespace heddle::app
