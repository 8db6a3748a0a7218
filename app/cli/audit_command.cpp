// heddle audit: what is wrong with the schedules that a compiler made, on one screen; loops are solved again, and a Triton text gets its
// three schedules. Each file is of one compiler or the other, by its content.

#include <algorithm>

#include "app/cli/solving.h"
#include "app/cli/triton_solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/option_words.h"
#include "core/analysis/period.h"
#include "core/analysis/usage.h"
#include "core/answers/summary.h"
#include "core/base/json.h"
#include "core/dump/audit_json.h"
#include "core/dump/audit_report.h"
#include "core/dump/native.h"
#include "core/library/dump_text.h"
#include "core/library/triton_text.h"
#include "core/triton/audit/audit.h"

namespace heddle::app {
namespace {

/// Of one file, whatever compiler it is of.
struct AuditPage {
  std::string headline, text;  ///< in the terminal's style
  std::string markdown;
  Json json;
  bool clean = true;  ///< nothing is wrong
  bool interrupted = false;
};

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

/// `files_left`, this one included, share what is left of --timeout.
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
        improve(dump, loop, arguments, arguments.has("--timeout") ? fair : usual_seconds(kSecondsPerLoop), interrupt.token());
      left -= kReadings;
    }
  }
#endif
  return AuditPage{.headline = styled(audit_headline(dump, audit), terminal.style),
                   .text = audit_text(dump, audit, terminal.style),
                   .markdown = audit_markdown(dump, audit),
                   .json = audit_json(dump, audit),
                   .clean = audit.clean()};
}

#ifdef HEDDLE_HAS_SOLVER
constexpr double kSecondsPerText = 30;

/// Why the schedules are missing, as a row of the audit.
void say_unsolved(const Error& error, triton::TextAudit& audit) {
  triton::Finding finding{"schedules", RowMark::Fine, "the three schedules were not worked out", {}, {}};
  for (const Fault& fault : error.faults) finding.details.push_back(fault.message);
  audit.findings.push_back(std::move(finding));
}
#endif

Result<AuditPage> audit_of(const TritonText& text, [[maybe_unused]] const Arguments& arguments, const Terminal& terminal,
                           [[maybe_unused]] std::size_t files_left) {
  const TritonText::SharedProgram read = text.program();
  if (!read) return read.error();
  const triton::TritonProgram& program = **read;
  const triton::LoopSite* only = nullptr;
  if (text.address()->loop) {
    // What is wrong with a loop that cannot be scheduled is the audit's to say.
    const Result<triton::LoweredLoop> named = text.loop();
    if (!named) return named.error();
    only = &named->site();
  }
  triton::TextAudit audit = triton::audit(program, limits_of_target(program), only);
  std::optional<triton::Comparison> comparison;
  const triton::LoopSite* loop = only && only->why_not.empty() ? only : only ? nullptr : triton::usual_loop(program);
  AuditPage page;
#ifdef HEDDLE_HAS_SOLVER
  if (!arguments.has("--no-solve") && loop) {
    const InterruptScope interrupt;
    const double seconds =
        arguments.has("--timeout") ? arguments.deadline().left() / static_cast<double>(files_left) : usual_seconds(kSecondsPerText);
    const Result<Machine> machine = text.machine(nullptr);
    Result<triton::Comparison> three = machine ? solve_three({text.loop(*loop), *machine}, arguments, terminal, seconds, interrupt.token())
                                               : Result<triton::Comparison>(machine.error());
    if (three)
      comparison = *std::move(three);
    else
      say_unsolved(three.error(), audit);
    page.interrupted = interrupt.interrupted();
  }
#else
  (void)loop;
#endif
  const triton::Comparison* found = comparison ? &*comparison : nullptr;
  page.headline = styled(audit_headline(audit), terminal.style);
  if (found) page.headline += "; " + styled(headline(*found, ungrouped), terminal.style);
  page.text = audit_text(audit, found, terminal.style);
  page.markdown = audit_markdown(audit, found);
  page.json = audit_json(audit, found);
  page.clean = audit.clean();
  return page;
}

Result<AuditPage> audit_of(const std::string& name, const Arguments& arguments, const Terminal& terminal, std::size_t files_left) {
  const std::shared_ptr<const Source> source = compilers_file(name);
  if (source && source->triton()) return audit_of(*source->triton(), arguments, terminal, files_left);
  if (source && source->dump()) return audit_of(*source->dump(), arguments, terminal, files_left);
  const Result<std::shared_ptr<const DumpText>> text = taken_for_dump(name);
  return text ? audit_of(**text, arguments, terminal, files_left) : text.error();
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
    Result<AuditPage> page = audit_of(with_dump_options(name, arguments), arguments, terminal, files.size() - file);
    if (!page) {
      code = report(terminal, page.error(), false);
      all.push(Json::object()
                   .set("file", name)
                   .set("error", code == kInvalidInput ? "input" : "environment")
                   .set("faults", faults_json(in_options(page.error()).faults)));
      continue;
    }
    if (json)
      all.push(std::move(page->json.set("file", name)));
    else if (terminal.quiet)
      terminal.out << page->headline << "\n";
    else
      terminal.out << (first ? "" : "\n") << (markdown ? page->markdown : page->text);
    first = false;
    if (!page->clean && code == kDone) code = kNegative;
    if (page->interrupted) {
      code = kInterrupted;
      break;
    }
  }
  if (json) terminal.out << (files.size() == 1 ? (*all.items())[0] : all).pretty();
  return code;
}

}  // namespace heddle::app
