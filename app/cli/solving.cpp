// The only file of the command line that knows whether there is a solver.
#include "app/cli/solving.h"

#include <fmt/format.h>

#include <chrono>

#include "app/cli/cli.h"
#include "app/cli/interrupt.h"
#include "core/report/summary.h"
#ifdef HEDDLE_HAS_SOLVER
#include "solver/solve.h"
#endif

namespace heddle::app {

#ifdef HEDDLE_HAS_SOLVER
namespace {

/// One line on standard error that is redrawn at most ten times a second, only on a terminal; -v prints events as
/// lines.
class ProgressLine {
 public:
  explicit ProgressLine(const Terminal& terminal)
      : terminal_(terminal), live_(terminal.err_is_tty && !terminal.quiet) {}
  ~ProgressLine() { clear(); }

  void operator()(const solver::SolveEvent& event) {
    std::visit([this](const auto& e) { take(e); }, event);
    const auto now = std::chrono::steady_clock::now();
    if (!live_ || now - drawn_ < std::chrono::milliseconds(100)) return;
    drawn_ = now;
    clear();
    const std::string line =
        join_facts({best_ ? fmt::format("II {}", best_) : "no schedule yet", fmt::format("bound {}", bound_), phase_,
                    testing_ ? fmt::format("testing {}", testing_) : "", fmt::format("{:.1f} s", seconds_)},
                   terminal_.style);
    terminal_.err << line.substr(0, 4u * static_cast<std::size_t>(terminal_.style.width)) << std::flush;
    shown_ = true;
  }

 private:
  void say(const std::string& line) {
    if (!terminal_.verbose) return;
    clear();
    terminal_.complain(line);
  }
  void take(const solver::Started& e) {
    bound_ = std::max({e.res_mii, e.rec_mii, e.issue_mii});
    say(fmt::format("bound {}: {}", bound_, e.explanation));
  }
  void take(const solver::BoundRaised& e) {
    bound_ = e.lower_bound;
    say(fmt::format("bound {}: {}", bound_, e.why));
  }
  void take(const solver::Incumbent& e) {
    best_ = e.schedule.ii;
    say(fmt::format("schedule with II {}, {} stages", best_, stage_count(e.schedule)));
  }
  void take(const solver::ObjectiveSettled& e) {
    say(fmt::format("{} {} {}", e.objective.name, e.objective.value, e.objective.proved ? "proved" : "not proved"));
  }
  void take(const solver::Progress& e) {
    phase_ = printable(e.phase);
    testing_ = e.ii_under_test;
    seconds_ = e.seconds;
  }
  void take(const solver::LogLine& e) { say(e.text); }
  void clear() {
    if (shown_) terminal_.err << "\r\x1b[K" << std::flush;
    shown_ = false;
  }

  const Terminal& terminal_;
  const bool live_;
  bool shown_ = false;
  Cycle best_ = 0, bound_ = 0, testing_ = 0;
  double seconds_ = 0;
  std::string phase_;
  std::chrono::steady_clock::time_point drawn_{};
};

}  // namespace

Result<SolveOutcome> solve_inputs(const Inputs& inputs, const Arguments& arguments, const Terminal& terminal) {
  solver::SolveRequest request;
  request.problem = inputs.problem;
  request.constraints = inputs.constraints;
  request.ii = arguments.integer("--ii");
  if (const auto seconds = arguments.seconds("--timeout")) request.timeout_seconds = *seconds;
  if (const auto seed = arguments.integer("--seed")) request.seed = static_cast<std::uint64_t>(*seed);
  if (const auto stages = arguments.integer("--max-stages")) request.max_stages = static_cast<int>(*stages);
  const InterruptScope interrupt;
  ProgressLine progress(terminal);
  return solver::solve(request, interrupt.token(), [&progress](const solver::SolveEvent& event) { progress(event); });
}
#else
Result<SolveOutcome> solve_inputs(const Inputs&, const Arguments&, const Terminal&) {
  return Error::environment("this build has no solver", "configure with -DHEDDLE_SOLVER=ON, or give a schedule");
}
#endif

int exit_code_of(const SolveOutcome& outcome, bool require_optimal) {
  if (outcome.status == Status::Invalid) return kInternal;
  if (outcome.cancelled) return kInterrupted;
  if (outcome.status == Status::Infeasible) return kNegative;
  if (outcome.status == Status::Unknown || !outcome.schedule) return kNoProof;
  return require_optimal && outcome.status != Status::Optimal ? kNoProof : kDone;
}

std::optional<Schedule> schedule_to_show(Inputs& inputs, const Arguments& arguments, const Terminal& terminal,
                                         int& code) {
  code = kDone;
  if (inputs.schedule) return inputs.schedule;
  const Result<SolveOutcome> outcome = solve_inputs(inputs, arguments, terminal);
  if (!outcome) {
    code = report(terminal, outcome.error(), false);
    return std::nullopt;
  }
  code = exit_code_of(*outcome, false);
  if (!outcome->schedule)
    terminal.complain(fmt::format("{}: {}", headline(*outcome, terminal.style), outcome->explanation));
  return outcome->schedule;
}

}  // namespace heddle::app
