// The session's side of solving: starts and abandons jobs, and turns their events into rows, numbers and log lines.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/ask/time_choice.h"
#include "app/jobs/content_store.h"
#include "app/session/proposal.h"
#include "app/session/session_core.h"
#include "core/answers/summary.h"
#include "core/check/certify.h"

namespace heddle::app {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

}  // namespace

namespace {

/// The II of its schedule is not the least, which is proved: of all orders this one was chosen for its predicted time.
bool is_by_time(const SolveOutcome& outcome) {
  return outcome.fastest && outcome.fastest->least_proved && outcome.schedule && outcome.schedule->ii > outcome.fastest->least_ii;
}

/// The row with what the outcome proves of its schedule.
ScheduleEntry proved_by(const SolveOutcome& outcome, const Content& content, const ScheduleEntry& entry) {
  ScheduleEntry settled = entry;
  settled.earlier.reset();
  take_proof(*content.problem, content.constraints, outcome, settled.schedule);
  const Certificate& proof = *settled.schedule.certificate;
  settled.status = proof.status;
  settled.lower_bound = proof.lower_bound;
  settled.explanation = proof.explanation;
  settled.objectives = proof.objectives;
  settled.by_time = is_by_time(outcome) && same_program(*outcome.schedule, settled.schedule);
  return settled;
}

}  // namespace

void SessionCore::recall_proofs() {
  const Content& content = document_.content;
  const auto waits = [](const EntryPtr& entry) { return entry->schedule.claim && entry->verdict.valid() && !entry->running; };
  if (!content.problem || !environment_.recall || std::none_of(content.schedules.begin(), content.schedules.end(), waits)) return;
  const std::optional<SolveOutcome> known = environment_.recall(request_now());
  if (!known || !known->schedule) return;
  for (EntryPtr& entry : document_.content.schedules) {
    if (!waits(entry) || entry->schedule.claim->lower_bound > known->lower_bound) continue;
    ScheduleEntry settled = proved_by(*known, content, *entry);
    const bool all = std::all_of(settled.objectives.begin(), settled.objectives.end(), [](const ObjectiveValue& o) { return o.proved; });
    settled.of_solver = settled.by_time ? known->fastest->complete
                                        : settled.status == Status::Optimal && settled.schedule.provenance.kind == "solver" &&
                                              !settled.objectives.empty() && all;
    if (settled.status == Status::Optimal)
      say(LogLevel::Good, entry->name + ": proved, as is known from an earlier search; the checker has judged it again");
    entry = std::make_shared<const ScheduleEntry>(std::move(settled));
  }
}

std::string Session::why_no_solve() const {
  if (!core_->environment_.solve) return solver_name();
  if (!content().kernel) return "open a kernel first";
  if (!content().machine) return "open a machine first";
  if (!content().problem) return content().kernel->name + " cannot be scheduled on " + content().machine->name;
  if (std::string trouble = text_trouble(); !trouble.empty()) return trouble;
  if (live().active()) return "a solve is running";
  return {};
}

void SessionCore::on(const StartSolve& c) {
  look_at_files();  // what is solved is what is there
  if (const std::string reason = session_.why_no_solve(); !reason.empty()) return say(LogLevel::Warning, "not solving: " + reason);
  work_.proposal.reset();
  if (!c.robust && show_known_answer()) return;
  if (!c.robust && session_.why_no_continue().empty()) return on(ContinueSolve{});
  begin_solve(numbered_name(c.robust ? "robust" : "solver"), {}, c.robust);
}

void SessionCore::solve_opened() {
  if (!document_.content.problem || !session_.why_no_solve().empty()) return;
  work_.proposal = BackgroundWork::RunningProposal{document_.undo.changes(), true};
  begin_solve(numbered_name("solver"));
}

std::string Session::why_no_continue() const {
  if (std::string reason = why_no_solve(); !reason.empty()) return reason;
  const ScheduleEntry* entry = content().entry();
  return entry && is_unfinished(*entry) ? "" : "the shown schedule is not one of a search that can go on";
}

void SessionCore::on(const ContinueSolve&) {
  if (const std::string reason = session_.why_no_continue(); !reason.empty()) return say(LogLevel::Warning, "not going on: " + reason);
  const std::string row = document_.content.entry()->name;
  document_.undo.remember(document_.content, "go on with " + row);
  work_.proposal = BackgroundWork::RunningProposal{document_.undo.changes(), true};
  begin_solve(row);
}

bool SessionCore::is_free_name(const std::string& name) const {
  const auto& rows = document_.content.schedules;
  return !document_.solved.contains({document_.content.document, name}) &&
         std::none_of(rows.begin(), rows.end(), [&](const EntryPtr& e) { return e->name == name; });
}

std::string SessionCore::free_name(const std::string& wanted) const {
  if (is_free_name(wanted)) return wanted;
  int number = 2;
  while (!is_free_name(fmt::format("{} ({})", wanted, number))) ++number;
  return fmt::format("{} ({})", wanted, number);
}

std::string SessionCore::numbered_name(const std::string& word) const {
  int number = 1;
  while (!is_free_name(fmt::format("{} #{}", word, number))) ++number;
  return fmt::format("{} #{}", word, number);
}

EntryPtr* SessionCore::solved_row(const std::string& name) {
  const auto found = document_.solved.find({document_.content.document, name});
  return found == document_.solved.end() ? nullptr : &found->second;
}

bool SessionCore::show_known_answer() {
  const auto& rows = document_.content.schedules;
  const auto known = std::find_if(rows.begin(), rows.end(), [](const EntryPtr& e) {
    return e->of_solver && !e->running && !e->least_ii && (e->status == Status::Optimal || e->by_time) && e->verdict.valid();
  });
  if (known == rows.end()) return false;
  const std::string name = (*known)->name;
  on(SelectSchedule{static_cast<std::size_t>(known - rows.begin())});
  say(LogLevel::Good, name + " is the best schedule for this question: there is nothing to solve");
  return true;
}

std::string Session::why_no_proof() const {
  if (std::string reason = why_no_solve(); !reason.empty()) return reason;
  const ScheduleEntry* entry = content().entry();
  if (!entry) return "there is no schedule yet";
  if (!entry->verdict.valid()) return "the schedule is not valid";
  return entry->status == Status::Optimal ? "it is proved" : "";
}

void SessionCore::on(const ProveShown&) {
  if (const std::string reason = session_.why_no_proof(); !reason.empty()) return say(LogLevel::Warning, "not proving: " + reason);
  work_.proposal.reset();
  begin_solve(numbered_name("solver"), document_.content.entry()->name);
}

void SessionCore::solve_proposal(const std::string& what) {
  if (!session_.why_no_solve().empty()) return;
  work_.proposal = BackgroundWork::RunningProposal{document_.undo.changes()};
  begin_solve(free_name(what));
}

void SessionCore::solve_changed(const std::string& what) {
  if (!session_.why_no_solve().empty() || show_known_answer()) return;
  const ScheduleEntry* shown = document_.content.entry();
  if (!shown || !shown->verdict.valid()) return solve_proposal(what);
  work_.proposal = BackgroundWork::RunningProposal{document_.undo.changes()};
  begin_solve(free_name(what), shown->name);
}

bool SessionCore::of_proposal() const { return work_.proposal && work_.proposal->step == document_.undo.changes(); }

solver::SolveRequest SessionCore::request_now() const {
  solver::SolveRequest request;
  request.problem = *document_.content.problem;
  request.constraints = document_.content.constraints;
  request.max_stages = std::max(request.max_stages, stages_wanted(document_.content));
  request.timeout_seconds = static_cast<double>(settings_.search_seconds);
  return request;
}

void SessionCore::begin_solve(std::string row, std::string proving, bool robust) {
  work_.live = {};
  work_.job_robust = robust;
  work_.live.proving = std::move(proving);
  work_.live.phase = LiveSolve::Phase::Running;
  work_.live.lower_bound = document_.content.bounds->min_ii();
  work_.live.doing = "starting";
  work_.job_row = std::move(row);
  work_.spent_before = 0;
  work_.last_phase.clear();
  solver::SolveRequest request = request_now();
  // A proposal stays close to what is on the screen, and a proof is about it; otherwise time decides between orders.
  const bool opening = work_.proposal && work_.proposal->opening;
  if (robust)
    request.uncertain = std::make_shared<UncertainNumbers>(uncertain_numbers(request.problem, *document_.content.machine));
  else if ((!work_.proposal || opening) && work_.live.proving.empty() && !document_.content.triton)
    request.by_time = time_choice(Instance(document_.content.spec(), document_.content.problem));
  work_.live.least_ii = !robust && !request.by_time && !document_.content.triton && !document_.content.dump;
  // What is on the screen is the best place to start from, and what comes of it stays close.
  const ScheduleEntry* entry = document_.content.entry();
  const bool goes_on = entry && entry->name == work_.job_row;
  if (entry && (goes_on || (work_.proposal && !opening) || !work_.live.proving.empty()) &&
      fits(*document_.content.problem, entry->schedule))
    request.incumbent = entry->schedule;
  if (goes_on) {
    work_.spent_before = entry->seconds;
    work_.live.lower_bound = std::max(work_.live.lower_bound, entry->lower_bound.value_or(0));
  }
  say(LogLevel::Info, fmt::format("{} starts: {} on {}", work_.live.proving.empty() ? work_.job_row : "the proof of " + work_.live.proving,
                                  document_.content.problem->kernel, document_.content.problem->machine));
  work_.leaving.take(std::move(work_.job));
  work_.job_problem = document_.content.problem;
  work_.job_constraints = document_.content.constraints;
  work_.job = start_solve(environment_.solve, std::move(request), environment_.wake);
  changed();
}

void SessionCore::on(const CancelSolve&) {
  if (work_.live.phase != LiveSolve::Phase::Running) return;
  work_.job->cancel();
  work_.live.phase = LiveSolve::Phase::Stopping;
  work_.live.doing = "stopping";
  say(LogLevel::Info, "cancel asked for");
  changed();
}

void SessionCore::abandon_job(const char* why) {
  if (!work_.job) return;
  if (work_.live.active()) {
    say(LogLevel::Info, fmt::format("{} stops: {}", work_.job_row, why));
    work_.live.phase = LiveSolve::Phase::Done;
    work_.live.cancelled = true;
    end_row();
  }
  work_.leaving.take(std::move(work_.job));
}

void SessionCore::end_row() {
  EntryPtr* newest = solved_row(work_.job_row);
  if (!newest || !(*newest)->running) return;
  ScheduleEntry stopped = **newest;
  stopped.running = false;
  *newest = std::make_shared<const ScheduleEntry>(std::move(stopped));
  for (EntryPtr& entry : document_.content.schedules)
    if (entry->name == work_.job_row) entry = *newest;
}

bool SessionCore::pump() {
  const bool solved = pump_solve(), answered = pump_questions(), built = pump_kernel(), ran = pump_runs(), swept = pump_sweep(),
             validated = pump_truth(), predicted = pump_predictions(), compared = pump_triton(), edited = pump_texts(),
             followed = pump_windows();
  const auto distrusted = take_store_trouble();
  if (distrusted) say(LogLevel::Warning, *distrusted);
  keep_safe();
  return solved || answered || built || ran || swept || validated || predicted || compared || edited || followed || distrusted;
}

bool SessionCore::pump_predictions() {
  const bool news = work_.predictions.pump();
  work_.predictions.follow(document_.content, view_.tab == BottomTab::Simulate);
  if (news) changed();
  return news;
}

bool SessionCore::pump_solve() {
  work_.leaving.sweep();
  if (!work_.job) return false;
  if (document_.content.problem != work_.job_problem || document_.content.constraints != work_.job_constraints) {
    abandon_job("its question is gone");
    changed();
    return true;
  }
  // The state is read first: events that come later are then found by the next call.
  const bool ended = work_.job->state() == WorkState::Finished;
  std::vector<JobEvent> events = work_.job->drain();
  work_.live.seconds = work_.job->seconds();
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
                            work_.live.phase = LiveSolve::Phase::Done;
                            end_row();
                            fail("The solver failed", Error::environment(failure.message));
                          },
                          [](solver::SolveEvent&) {}},
               *last);
  }
  if (ended && work_.live.phase == LiveSolve::Phase::Done) work_.job.reset();
  if (!events.empty()) changed();
  return !events.empty();
}

void SessionCore::take_event(const solver::SolveEvent& event, std::optional<Schedule>& newest) {
  const auto point = [this] { work_.live.history.push_back({work_.live.seconds, work_.live.lower_bound, work_.live.best}); };
  std::visit(Overloaded{
                 [&](const solver::Started& e) {
                   work_.live.res_mii = e.res_mii;
                   work_.live.rec_mii = e.rec_mii;
                   work_.live.issue_mii = e.issue_mii;
                   work_.live.explanation = e.explanation;
                   work_.live.lower_bound = std::max({work_.live.lower_bound, e.res_mii, e.rec_mii, e.issue_mii});
                   point();
                   say(LogLevel::Info, fmt::format("bounds: resource {}, recurrence {}, issue {}", e.res_mii, e.rec_mii, e.issue_mii));
                 },
                 [&](const solver::BoundRaised& e) {
                   work_.live.lower_bound = std::max(work_.live.lower_bound, e.lower_bound);
                   if (!e.why.empty()) work_.live.explanation = e.why;
                   point();
                   say(LogLevel::Info, fmt::format("II ≥ {}{}{}", e.lower_bound, e.why.empty() ? "" : ": ", e.why));
                 },
                 [&](const solver::Incumbent& e) {
                   if (!work_.live.best || e.schedule.ii < *work_.live.best)
                     say(LogLevel::Good, fmt::format("found II {} with {} stages", e.schedule.ii, stage_count(e.schedule)));
                   work_.live.best = e.schedule.ii;
                   point();
                   newest = e.schedule;
                 },
                 [&](const solver::ObjectiveSettled& e) {
                   say(LogLevel::Info,
                       fmt::format("{} {} {}", e.objective.name, e.objective.value, e.objective.proved ? "proved" : "not proved"));
                 },
                 [&](const solver::Progress& e) {
                   if (work_.live.phase == LiveSolve::Phase::Running) work_.live.doing = e.phase;
                   work_.live.queries = e.queries;
                   work_.live.conflicts = e.conflicts;
                   if (e.phase != work_.last_phase) say(LogLevel::Detail, work_.last_phase = e.phase);
                 },
                 [&](const solver::LogLine& e) { say(LogLevel::Detail, e.text); },
             },
             event);
}

void SessionCore::replace_solved(ScheduleEntry entry) {
  const auto row = std::find_if(document_.content.schedules.begin(), document_.content.schedules.end(),
                                [&](const EntryPtr& e) { return e->name == entry.name; });
  if (row == document_.content.schedules.end()) {
    // The schedule of a proposal belongs to the step that proposed it, and is compared with the one it came from.
    if (!of_proposal()) document_.undo.remember(document_.content, "solve");
    const bool beside = work_.proposal && !work_.proposal->opening;
    if (beside) document_.content.baseline = document_.content.shown;
    const EntryPtr made = make_entry(*document_.content.problem, document_.content.constraints, std::move(entry));
    document_.content.schedules.push_back(made);
    document_.content.shown = document_.content.schedules.size() - 1;
    if (!beside) view_.fit_all = true;
    document_.solved[{document_.content.document, made->name}] = made;
    return;
  }
  *row = make_entry(*document_.content.problem, document_.content.constraints, std::move(entry));
  document_.solved[{document_.content.document, (*row)->name}] = *row;
}

bool SessionCore::makes_row(const Schedule& schedule) const {
  if (work_.live.proving.empty()) return true;
  return std::none_of(document_.content.schedules.begin(), document_.content.schedules.end(),
                      [&](const EntryPtr& entry) { return entry->name == work_.live.proving && entry->schedule.ii <= schedule.ii; });
}

void SessionCore::settle_claims(const SolveOutcome& outcome) {
  bool remembered = false;
  for (EntryPtr& entry : document_.content.schedules) {
    const bool asked = !work_.live.proving.empty() && entry->name == work_.live.proving;
    if (entry->running || !entry->verdict.valid() || !(asked || entry->schedule.claim)) continue;
    if (!std::exchange(remembered, true) && !of_proposal()) document_.undo.remember(document_.content, "prove");
    ScheduleEntry settled = proved_by(outcome, document_.content, *entry);
    settled.least_ii = work_.live.least_ii;
    const Certificate& proof = *settled.schedule.certificate;
    const bool least = proof.status == Status::Optimal;
    say(least ? LogLevel::Good : LogLevel::Warning,
        least ? fmt::format("{}: proved, no schedule has an II below {}", entry->name, proof.lower_bound)
        : outcome.schedule && outcome.schedule->ii < settled.schedule.ii
            ? fmt::format("{}: not the least, there is a schedule with II {}", entry->name, outcome.schedule->ii)
            : fmt::format("{}: not proved, no schedule has an II below {}", entry->name, proof.lower_bound));
    entry = std::make_shared<const ScheduleEntry>(std::move(settled));
  }
}

void SessionCore::show_incumbent(Schedule schedule) {
  if (!fits(*document_.content.problem, schedule)) return say(LogLevel::Bad, "the solver sent a schedule of another shape");
  if (!makes_row(schedule)) return;
  ScheduleEntry entry;
  entry.name = work_.job_row;
  entry.status = Status::Feasible;
  entry.lower_bound = work_.live.lower_bound;
  if (const auto& proof = schedule.certificate)
    entry.status = proof->status, entry.lower_bound = proof->lower_bound;  // orders are still compared
  entry.explanation = work_.live.explanation;
  entry.seconds = work_.spent_before + work_.live.seconds;
  entry.running = true;
  entry.schedule = std::move(schedule);
  entry.schedule.name = entry.name;
  replace_solved(std::move(entry));
}

void SessionCore::take_outcome(SolveOutcome outcome) {
  work_.live.phase = LiveSolve::Phase::Done;
  work_.live.doing.clear();
  work_.live.status = outcome.status;
  work_.live.lower_bound = std::max(work_.live.lower_bound, outcome.lower_bound);
  work_.live.explanation = outcome.explanation;
  work_.live.queries = outcome.queries;
  work_.live.conflicts = outcome.conflicts;
  work_.live.cancelled = outcome.cancelled;
  work_.live.timed_out = outcome.timed_out;
  if (outcome.seconds.total > 0) work_.live.seconds = outcome.seconds.total;
  const bool found = outcome.schedule && fits(*document_.content.problem, *outcome.schedule);
  const bool by_time = found && is_by_time(outcome);
  if (found) work_.live.best = outcome.schedule->ii;
  if (outcome.status == Status::Optimal || outcome.status == Status::Feasible) settle_claims(outcome);
  if (found && makes_row(*outcome.schedule)) {
    ScheduleEntry entry;
    entry.name = work_.job_row;
    entry.status = outcome.status;
    entry.lower_bound = outcome.lower_bound;
    entry.explanation = outcome.explanation;
    entry.objectives = outcome.objectives;
    entry.seconds = work_.spent_before + work_.live.seconds;
    entry.by_time = by_time;
    entry.of_solver = (by_time ? outcome.fastest->complete : outcome.status == Status::Optimal) && !work_.job_robust;
    entry.robust = work_.job_robust;
    entry.least_ii = work_.live.least_ii;
    entry.schedule = std::move(*outcome.schedule);
    entry.schedule.name = entry.name;
    replace_solved(std::move(entry));
  } else {
    end_row();
  }
  work_.live.history.push_back({work_.live.seconds, work_.live.lower_bound, work_.live.best});
  const char* how = work_.live.cancelled ? " (cancelled)" : work_.live.timed_out ? " (time is up)" : "";
  const LogLevel level = outcome.cancelled                              ? LogLevel::Info
                         : by_time || outcome.status == Status::Optimal ? LogLevel::Good
                         : outcome.status == Status::Infeasible         ? LogLevel::Bad
                                                                        : LogLevel::Warning;
  const std::string ii = work_.live.best ? fmt::format("II {} · ", *work_.live.best) : "";
  const std::string standing = by_time ? fmt::format("least {}, proved · chosen for its predicted time", outcome.fastest->least_ii)
                                       : fmt::format("bound {} · {}", work_.live.lower_bound, status_word(to_string(outcome.status)));
  say(level, fmt::format("{}: {}{}{} · {:.2f} s", work_.job_row, ii, standing, how, work_.live.seconds));
  if (!outcome.explanation.empty()) say(LogLevel::Info, outcome.explanation);
  if (outcome.robust) say(LogLevel::Good, robust_text(*outcome.robust));
  if (outcome.fastest) say(LogLevel::Good, fastest_text(*outcome.fastest));
  if (work_.live.refuted()) view_.tab = BottomTab::Explain;
  if (std::exchange(work_.why_after_solve, false) || work_.live.refuted()) ask_why();
}

bool SessionCore::close(std::chrono::milliseconds limit) {
  save_settings_now();
  if (document_.autosave) document_.autosave->discard();
  const auto deadline = std::chrono::steady_clock::now() + limit;
  abandon_job("the window closes");
  if (work_.question_job) work_.question_job->cancel();
  work_.waiting.clear();
  if (!work_.leaving.wait_until(deadline) || !work_.kernel.close(deadline) || !work_.runs.close(deadline) || !work_.sweep.close(deadline) ||
      !work_.truth.close(deadline) || !work_.predictions.close(deadline) || !work_.triton.close(deadline))
    return false;
  return !work_.question_job || work_.question_job->wait_until(deadline);
}

}  // namespace heddle::app
