// The only file of the command line that knows whether there is a solver.
#include "app/cli/solving.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "app/cli/cli.h"
#include "app/cli/interrupt.h"
#include "core/report/summary.h"
#ifdef HEDDLE_HAS_SOLVER
#include "solver/solve.h"
#endif

namespace heddle::app {

#ifdef HEDDLE_HAS_SOLVER
namespace {

/// One line on standard error, redrawn ten times a second while the solver thinks; only on a terminal. With -v every
/// event becomes a line of its own.
class ProgressLine {
 public:
  explicit ProgressLine(const Terminal& terminal) : terminal_(terminal) {
    if (terminal.err_is_tty && !terminal.quiet)
      ticker_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
  }
  ~ProgressLine() {
    if (!ticker_.joinable()) return;
    ticker_.request_stop();
    ticker_.join();
    clear();
  }

  void operator()(const solver::SolveEvent& event) {
    const std::lock_guard lock(mutex_);
    std::visit([this](const auto& e) { take(e); }, event);
  }

 private:
  void tick(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, stop, std::chrono::milliseconds(100), [&] { return stop.stop_requested(); })) {
      clear();
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
      terminal_.err << join_facts(
                           {best_ ? fmt::format("II {}", best_) : "no schedule yet", fmt::format("bound {}", bound_),
                            testing_ ? fmt::format("testing II {}", testing_) : phase_,
                            fmt::format("{:.1f} s", elapsed.count())},
                           terminal_.style)
                    << std::flush;
      shown_ = true;
    }
  }

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
    if (e.lower_bound == bound_) return;
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
    testing_ = best_ ? 0 : e.ii_under_test;
  }
  void take(const solver::LogLine& e) { say(e.text); }
  void clear() {
    if (shown_) terminal_.err << "\r\x1b[K" << std::flush;
    shown_ = false;
  }

  const Terminal& terminal_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // guards all below
  std::condition_variable_any wake_;
  bool shown_ = false;
  Cycle best_ = 0, bound_ = 0, testing_ = 0;
  std::string phase_;
  std::jthread ticker_;  // last: it uses the others
};

}  // namespace

Result<SolveOutcome> solve_inputs(const Inputs& inputs, const Arguments& arguments, const Terminal& terminal) {
  solver::SolveRequest request;
  request.problem = inputs.problem;
  request.constraints = inputs.constraints;
  request.ii = arguments.integer("--ii");
  if (const auto seconds = arguments.seconds("--timeout")) request.timeout_seconds = *seconds;
  if (const auto seed = arguments.integer("--seed")) request.seed = static_cast<std::uint64_t>(*seed);
  if (const auto stages = arguments.integer("--max-stages"))
    request.max_stages = std::max(request.max_stages, static_cast<int>(*stages));
  const InterruptScope interrupt;
  ProgressLine progress(terminal);
  SolveOutcome outcome =
      solver::solve(request, interrupt.token(), [&progress](const solver::SolveEvent& event) { progress(event); });
  const bool settled = outcome.status == Status::Optimal || outcome.status == Status::Infeasible;
  if (interrupt.interrupted() && !settled) outcome.cancelled = true;
  return outcome;
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
