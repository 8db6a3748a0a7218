// The session's side of solving: starts and abandons jobs, and turns their events into rows, numbers and log lines.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/session/proposal.h"
#include "app/session/session.h"
#include "app/store/content_store.h"
#include "core/check/certify.h"

namespace heddle::app {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

}  // namespace

std::string Session::why_no_solve() const {
  if (!environment_.solve) return environment_.solver_name;
  if (!content_.kernel) return "open a kernel first";
  if (!content_.machine) return "open a machine first";
  if (!content_.problem) return content_.kernel->name + " cannot be scheduled on " + content_.machine->name;
  if (live_.active()) return "a solve is running";
  return {};
}

void Session::on(const StartSolve&) {
  if (const std::string reason = why_no_solve(); !reason.empty())
    return say(LogLevel::Warning, "not solving: " + reason);
  proposal_.reset();
  begin_solve(fmt::format("solver #{}", ++solves_));
}

std::string Session::why_no_proof() const {
  if (std::string reason = why_no_solve(); !reason.empty()) return reason;
  const ScheduleEntry* entry = content_.entry();
  if (!entry) return "there is no schedule yet";
  if (!entry->verdict.valid()) return "the schedule is not legal";
  return entry->status == Status::Optimal ? "it is proved" : "";
}

void Session::on(const ProveShown&) {
  if (const std::string reason = why_no_proof(); !reason.empty()) return say(LogLevel::Warning, "not proving: " + reason);
  proposal_.reset();
  const std::string row = content_.entry()->name;
  begin_solve(fmt::format("solver #{}", ++solves_), row);
}

void Session::solve_proposal(const std::string& what) {
  if (!why_no_solve().empty()) return;
  const auto taken = [&](const std::string& name) {
    return solved_.count(name) > 0 || std::any_of(content_.schedules.begin(), content_.schedules.end(),
                                                  [&](const EntryPtr& e) { return e->name == name; });
  };
  std::string row = what;
  for (int i = 2; taken(row); ++i) row = fmt::format("{} ({})", what, i);
  proposal_ = RunningProposal{undo_.changes()};
  begin_solve(std::move(row));
}

void Session::begin_solve(std::string row, std::string proving) {
  live_ = {};
  live_.proving = std::move(proving);
  compare_next_ = false;
  live_.phase = LiveSolve::Phase::Running;
  live_.lower_bound = content_.bounds->min_ii();
  live_.doing = "starting";
  job_row_ = std::move(row);
  last_phase_.clear();
  solver::SolveRequest request;
  request.problem = *content_.problem;
  request.constraints = content_.constraints;
  request.max_stages = std::max(request.max_stages, stages_wanted(content_));
  // What is on the screen is the best place to start from, and what comes of it stays close.
  if (const ScheduleEntry* entry = content_.entry(); (proposal_ || !live_.proving.empty()) && entry && fits(*content_.problem, entry->schedule))
    request.incumbent = entry->schedule;
  say(LogLevel::Info,
      fmt::format("{} starts: {} on {}", live_.proving.empty() ? job_row_ : "the proof of " + live_.proving, content_.problem->kernel,
                  content_.problem->machine));
  leaving_.take(std::move(job_));
  job_problem_ = content_.problem;
  job_constraints_ = content_.constraints;
  job_ = start_solve(environment_.solve, std::move(request), environment_.wake);
  changed();
}

void Session::on(const CancelSolve&) {
  if (live_.phase != LiveSolve::Phase::Running) return;
  job_->cancel();
  live_.phase = LiveSolve::Phase::Stopping;
  live_.doing = "stopping";
  say(LogLevel::Info, "cancel asked for");
  changed();
}

void Session::abandon_job(const char* why) {
  if (!job_) return;
  if (live_.active()) {
    say(LogLevel::Info, fmt::format("{} stops: {}", job_row_, why));
    live_.phase = LiveSolve::Phase::Done;
    live_.cancelled = true;
    end_row();
  }
  leaving_.take(std::move(job_));
}

void Session::end_row() {
  const auto found = solved_.find(job_row_);
  if (found == solved_.end() || !found->second->running) return;
  ScheduleEntry stopped = *found->second;
  stopped.running = false;
  found->second = std::make_shared<const ScheduleEntry>(std::move(stopped));
  for (EntryPtr& entry : content_.schedules)
    if (entry->name == job_row_) entry = found->second;
}

bool Session::pump() {
  const bool solved = pump_solve(), answered = pump_questions(), built = pump_kernel(), ran = pump_runs(), swept = pump_sweep();
  const auto distrusted = take_store_trouble();
  if (distrusted) say(LogLevel::Warning, *distrusted);
  keep_safe();
  return solved || answered || built || ran || swept || distrusted;
}

bool Session::pump_solve() {
  leaving_.sweep();
  if (!job_) return false;
  if (content_.problem != job_problem_ || content_.constraints != job_constraints_) {
    abandon_job("its question is gone");
    changed();
    return true;
  }
  // The state is read first: events that come later are then found by the next call.
  const bool ended = job_->state() == WorkState::Finished;
  std::vector<JobEvent> events = job_->drain();
  live_.seconds = job_->seconds();
  std::optional<Schedule> newest;
  std::optional<JobEvent> last;
  for (JobEvent& event : events) {
    if (const auto* found = std::get_if<solver::SolveEvent>(&event))
      take_event(*found, newest);
    else
      last = std::move(event);
  }
  if (newest) show_incumbent(std::move(*newest));
  if (last) {
    std::visit(Overloaded{[&](SolveOutcome& outcome) { take_outcome(std::move(outcome)); },
                          [&](JobFailure& failure) {
                            live_.phase = LiveSolve::Phase::Done;
                            end_row();
                            fail("The solver failed", Error::environment(failure.message));
                          },
                          [](solver::SolveEvent&) {}},
               *last);
  }
  if (ended && live_.phase == LiveSolve::Phase::Done) job_.reset();
  if (!events.empty()) changed();
  return !events.empty();
}

void Session::take_event(const solver::SolveEvent& event, std::optional<Schedule>& newest) {
  const auto point = [this] { live_.history.push_back({live_.seconds, live_.lower_bound, live_.best}); };
  std::visit(Overloaded{
                 [&](const solver::Started& e) {
                   live_.res_mii = e.res_mii;
                   live_.rec_mii = e.rec_mii;
                   live_.issue_mii = e.issue_mii;
                   live_.explanation = e.explanation;
                   live_.lower_bound = std::max({live_.lower_bound, e.res_mii, e.rec_mii, e.issue_mii});
                   point();
                   say(LogLevel::Info,
                       fmt::format("bounds: resource {}, recurrence {}, issue {}", e.res_mii, e.rec_mii, e.issue_mii));
                 },
                 [&](const solver::BoundRaised& e) {
                   live_.lower_bound = std::max(live_.lower_bound, e.lower_bound);
                   if (!e.why.empty()) live_.explanation = e.why;
                   point();
                   say(LogLevel::Info, fmt::format("II ≥ {}{}{}", e.lower_bound, e.why.empty() ? "" : ": ", e.why));
                 },
                 [&](const solver::Incumbent& e) {
                   if (!live_.best || e.schedule.ii < *live_.best)
                     say(LogLevel::Good,
                         fmt::format("found II {} with {} stages", e.schedule.ii, stage_count(e.schedule)));
                   live_.best = e.schedule.ii;
                   point();
                   newest = e.schedule;
                 },
                 [&](const solver::ObjectiveSettled& e) {
                   say(LogLevel::Info, fmt::format("{} {} {}", e.objective.name, e.objective.value,
                                                   e.objective.proved ? "proved" : "not proved"));
                 },
                 [&](const solver::Progress& e) {
                   if (live_.phase == LiveSolve::Phase::Running) live_.doing = e.phase;
                   live_.queries = e.queries;
                   live_.conflicts = e.conflicts;
                   if (e.phase != last_phase_) say(LogLevel::Detail, last_phase_ = e.phase);
                 },
                 [&](const solver::LogLine& e) { say(LogLevel::Detail, e.text); },
             },
             event);
}

void Session::replace_solved(ScheduleEntry entry) {
  const auto row = std::find_if(content_.schedules.begin(), content_.schedules.end(),
                                [&](const EntryPtr& e) { return e->name == entry.name; });
  if (row == content_.schedules.end()) {
    // The schedule of a proposal belongs to the step that proposed it, and is compared with the one it came from.
    const bool proposed = proposal_ && proposal_->step == undo_.changes();
    if (!proposed) undo_.remember(content_, "solve");
    if (proposal_) content_.baseline = content_.shown;
    const EntryPtr made = make_entry(*content_.problem, content_.constraints, std::move(entry));
    content_.schedules.push_back(made);
    if (compare_next_) content_.baseline = content_.shown;
    compare_next_ = false;
    content_.shown = content_.schedules.size() - 1;
    if (!proposal_) view_.fit_all = true;
    solved_[made->name] = made;
    return;
  }
  *row = make_entry(*content_.problem, content_.constraints, std::move(entry));
  solved_[(*row)->name] = *row;
}

bool Session::makes_row(const Schedule& schedule) const {
  if (live_.proving.empty()) return true;
  return std::none_of(content_.schedules.begin(), content_.schedules.end(), [&](const EntryPtr& entry) {
    return entry->name == live_.proving && entry->schedule.ii <= schedule.ii;
  });
}

void Session::settle_claims(const SolveOutcome& outcome) {
  bool remembered = false;
  for (EntryPtr& entry : content_.schedules) {
    const bool asked = !live_.proving.empty() && entry->name == live_.proving;
    if (entry->running || !entry->verdict.valid() || !(asked || entry->schedule.claim)) continue;
    if (!std::exchange(remembered, true)) undo_.remember(content_, "prove");
    ScheduleEntry settled = *entry;
    take_proof(*content_.problem, content_.constraints, outcome, settled.schedule);
    const Certificate& proof = *settled.schedule.certificate;
    settled.status = proof.status;
    settled.lower_bound = proof.lower_bound;
    settled.explanation = proof.explanation;
    settled.objectives = proof.objectives;
    const bool least = proof.status == Status::Optimal;
    say(least ? LogLevel::Good : LogLevel::Warning,
        least ? fmt::format("{}: proved, no schedule has an II below {}", entry->name, proof.lower_bound)
        : outcome.schedule && outcome.schedule->ii < settled.schedule.ii
            ? fmt::format("{}: not the least, there is a schedule with II {}", entry->name, outcome.schedule->ii)
            : fmt::format("{}: not proved, no schedule has an II below {}", entry->name, proof.lower_bound));
    entry = std::make_shared<const ScheduleEntry>(std::move(settled));
  }
}

void Session::show_incumbent(Schedule schedule) {
  if (!fits(*content_.problem, schedule)) return say(LogLevel::Bad, "the solver sent a schedule of another shape");
  if (!makes_row(schedule)) return;
  ScheduleEntry entry;
  entry.name = job_row_;
  entry.status = Status::Feasible;
  entry.lower_bound = live_.lower_bound;
  entry.explanation = live_.explanation;
  entry.seconds = live_.seconds;
  entry.running = true;
  entry.schedule = std::move(schedule);
  entry.schedule.name = entry.name;
  replace_solved(std::move(entry));
}

void Session::take_outcome(SolveOutcome outcome) {
  live_.phase = LiveSolve::Phase::Done;
  live_.doing.clear();
  live_.status = outcome.status;
  live_.lower_bound = std::max(live_.lower_bound, outcome.lower_bound);
  live_.explanation = outcome.explanation;
  live_.queries = outcome.queries;
  live_.conflicts = outcome.conflicts;
  live_.cancelled = outcome.cancelled;
  live_.timed_out = outcome.timed_out;
  if (outcome.seconds.total > 0) live_.seconds = outcome.seconds.total;
  const bool found = outcome.schedule && fits(*content_.problem, *outcome.schedule);
  if (found) live_.best = outcome.schedule->ii;
  if (outcome.status == Status::Optimal || outcome.status == Status::Feasible) settle_claims(outcome);
  if (found && makes_row(*outcome.schedule)) {
    ScheduleEntry entry;
    entry.name = job_row_;
    entry.status = outcome.status;
    entry.lower_bound = outcome.lower_bound;
    entry.explanation = outcome.explanation;
    entry.objectives = outcome.objectives;
    entry.seconds = live_.seconds;
    entry.of_solver = outcome.status == Status::Optimal;
    entry.schedule = std::move(*outcome.schedule);
    entry.schedule.name = entry.name;
    replace_solved(std::move(entry));
  } else {
    end_row();
  }
  live_.history.push_back({live_.seconds, live_.lower_bound, live_.best});
  const char* how = live_.cancelled ? " (cancelled)" : live_.timed_out ? " (out of time)" : "";
  const LogLevel level = outcome.cancelled                      ? LogLevel::Info
                         : outcome.status == Status::Optimal    ? LogLevel::Good
                         : outcome.status == Status::Infeasible ? LogLevel::Bad
                                                                : LogLevel::Warning;
  const std::string ii = live_.best ? fmt::format("II {} · ", *live_.best) : "";
  say(level, fmt::format("{}: {}bound {} · {}{} · {:.2f} s", job_row_, ii, live_.lower_bound, to_string(outcome.status),
                         how, live_.seconds));
  if (!outcome.explanation.empty()) say(LogLevel::Info, outcome.explanation);
  if (live_.refuted()) view_.tab = BottomTab::Explain;
  if (std::exchange(why_after_solve_, false) || live_.refuted()) ask_why();
}

bool Session::close(std::chrono::milliseconds limit) {
  save_settings_now();
  if (autosave_) autosave_->discard();
  const auto deadline = std::chrono::steady_clock::now() + limit;
  abandon_job("the window closes");
  if (question_job_) question_job_->cancel();
  waiting_.clear();
  if (!leaving_.wait_until(deadline) || !kernel_.close(deadline) || !runs_.close(deadline) || !sweep_.close(deadline)) return false;
  return !question_job_ || question_job_->wait_until(deadline);
}

}  // namespace heddle::app
