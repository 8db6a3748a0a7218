#include "app/session/solving.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/ask/time_choice.h"
#include "app/jobs/content_store.h"
#include "app/session/environment.h"
#include "app/session/open_document.h"
#include "app/session/proposal.h"
#include "app/session/rows.h"
#include "app/session/texts.h"
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
  if (outcome.schedule && outcome.schedule->certificate && same_program(*outcome.schedule, settled.schedule))
    settled.schedule.certificate->period = outcome.schedule->certificate->period;
  const Certificate& proof = *settled.schedule.certificate;
  settled.status = proof.status;
  settled.lower_bound = proof.lower_bound;
  settled.explanation = proof.explanation;
  settled.objectives = proof.objectives;
  settled.by_time = is_by_time(outcome) && same_program(*outcome.schedule, settled.schedule);
  return settled;
}

}  // namespace

void Solving::recall_proofs() {
  const Content& content = content_;
  const auto waits = [](const EntryPtr& entry) { return entry->schedule.claim && entry->verdict.valid() && !entry->running; };
  if (!content.problem || !environment_.recall || std::none_of(content.schedules.begin(), content.schedules.end(), waits)) return;
  const std::optional<SolveOutcome> known = environment_.recall(request_now());
  if (!known || !known->schedule) return;
  for (EntryPtr& entry : content_.schedules) {
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

std::string Solving::why_no_solve() const {
  if (!environment_.solve) return environment_.solver_name;
  if (!content_.kernel) return "open a kernel first";
  if (!content_.machine) return "open a machine first";
  if (!content_.problem) return content_.kernel->name + " cannot be scheduled on " + content_.machine->name;
  if (std::string trouble = text_trouble(content_); !trouble.empty()) return trouble;
  if (live_.active()) return "a solve is running";
  return {};
}

void Solving::start(const StartSolve& c) {
  if (const std::string reason = why_no_solve(); !reason.empty()) return say(LogLevel::Warning, "not solving: " + reason);
  proposal_.reset();
  if (!c.robust && show_known_answer()) return;
  if (!c.robust && why_no_continue().empty()) return on(ContinueSolve{});
  begin_solve(numbered_name(c.robust ? "robust" : "solver"), {}, c.robust);
}

void Solving::solve_opened() {
  if (!content_.problem || !why_no_solve().empty()) return;
  proposal_ = Proposed{document_.undo.changes(), true};
  begin_solve(numbered_name("solver"));
}

std::string Solving::why_no_continue() const {
  if (std::string reason = why_no_solve(); !reason.empty()) return reason;
  const ScheduleEntry* entry = content_.entry();
  return entry && is_unfinished(*entry) ? "" : "the shown schedule is not one of a search that can go on";
}

void Solving::on(const ContinueSolve&) {
  if (const std::string reason = why_no_continue(); !reason.empty()) return say(LogLevel::Warning, "not going on: " + reason);
  const std::string row = content_.entry()->name;
  document_.undo.remember(content_, "go on with " + row);
  proposal_ = Proposed{document_.undo.changes(), true};
  begin_solve(row);
}

bool Solving::is_free_name(const std::string& name) const {
  const auto& rows = content_.schedules;
  return !solved_.contains({content_.document, name}) &&
         std::none_of(rows.begin(), rows.end(), [&](const EntryPtr& e) { return e->name == name; });
}

std::string Solving::free_name(const std::string& wanted) const {
  if (is_free_name(wanted)) return wanted;
  int number = 2;
  while (!is_free_name(fmt::format("{} ({})", wanted, number))) ++number;
  return fmt::format("{} ({})", wanted, number);
}

std::string Solving::numbered_name(const std::string& word) const {
  int number = 1;
  while (!is_free_name(fmt::format("{} #{}", word, number))) ++number;
  return fmt::format("{} #{}", word, number);
}

EntryPtr* Solving::solved_row(const std::string& name) {
  const auto found = solved_.find({content_.document, name});
  return found == solved_.end() ? nullptr : &found->second;
}

bool Solving::show_known_answer() {
  const auto& rows = content_.schedules;
  const auto known = std::find_if(rows.begin(), rows.end(), [](const EntryPtr& e) {
    return e->of_solver && !e->running && !e->least_ii && (e->status == Status::Optimal || e->by_time) && e->verdict.valid();
  });
  if (known == rows.end()) return false;
  const std::string name = (*known)->name;
  rows_.on(SelectSchedule{static_cast<std::size_t>(known - rows.begin())});
  say(LogLevel::Good, name + " is the best schedule for this question: there is nothing to solve");
  return true;
}

std::string Solving::why_no_proof() const {
  if (std::string reason = why_no_solve(); !reason.empty()) return reason;
  const ScheduleEntry* entry = content_.entry();
  if (!entry) return "there is no schedule yet";
  if (!entry->verdict.valid()) return "the schedule is not valid";
  return entry->status == Status::Optimal ? "it is proved" : "";
}

void Solving::on(const ProveShown&) {
  if (const std::string reason = why_no_proof(); !reason.empty()) return say(LogLevel::Warning, "not proving: " + reason);
  proposal_.reset();
  begin_solve(numbered_name("solver"), content_.entry()->name);
}

void Solving::solve_proposal(const std::string& what) {
  if (!why_no_solve().empty()) return;
  proposal_ = Proposed{document_.undo.changes()};
  begin_solve(free_name(what));
}

void Solving::solve_changed(const std::string& what) {
  if (!why_no_solve().empty() || show_known_answer()) return;
  const ScheduleEntry* shown = content_.entry();
  if (!shown || !shown->verdict.valid()) return solve_proposal(what);
  proposal_ = Proposed{document_.undo.changes()};
  begin_solve(free_name(what), shown->name);
}

bool Solving::of_proposal() const { return proposal_ && proposal_->step == document_.undo.changes(); }

solver::SolveRequest Solving::request_now() const {
  solver::SolveRequest request;
  request.problem = *content_.problem;
  request.constraints = content_.constraints;
  request.max_stages = std::max(request.max_stages, stages_wanted(content_));
  request.timeout_seconds = static_cast<double>(settings_.search_seconds);
  return request;
}

void Solving::begin_solve(std::string row, std::string proving, bool robust) {
  live_ = {};
  job_robust_ = robust;
  live_.proving = std::move(proving);
  live_.phase = LiveSolve::Phase::Running;
  live_.lower_bound = content_.bounds->min_ii();
  live_.doing = "starting";
  job_row_ = std::move(row);
  spent_before_ = 0;
  last_phase_.clear();
  solver::SolveRequest request = request_now();
  // A proposal stays close to what is on the screen, and a proof is about it; otherwise time decides between orders.
  const bool opening = proposal_ && proposal_->opening;
  if (robust)
    request.uncertain = std::make_shared<UncertainNumbers>(uncertain_numbers(request.problem, *content_.machine));
  else if ((!proposal_ || opening) && live_.proving.empty() && content_.allows(SourceUse::OrderByTime))
    request.by_time = time_choice(content_.instance());
  live_.least_ii = !robust && !request.by_time && content_.allows(SourceUse::OrderByTime) && content_.allows(SourceUse::WholeKernel);
  // What is on the screen is the best place to start from, and what comes of it stays close.
  const ScheduleEntry* entry = content_.entry();
  const bool goes_on = entry && entry->name == job_row_;
  if (entry && (goes_on || (proposal_ && !opening) || !live_.proving.empty()) && fits(*content_.problem, entry->schedule))
    request.incumbent = entry->schedule;
  if (goes_on) {
    spent_before_ = entry->seconds;
    live_.lower_bound = std::max(live_.lower_bound, entry->lower_bound.value_or(0));
  }
  say(LogLevel::Info, fmt::format("{} starts: {} on {}", live_.proving.empty() ? job_row_ : "the proof of " + live_.proving,
                                  content_.problem->kernel, content_.problem->machine));
  leaving_.take(std::move(job_));
  job_problem_ = content_.problem;
  job_constraints_ = content_.constraints;
  job_ = start_solve(environment_.solve, std::move(request), environment_.wake);
  changed();
}

void Solving::on(const CancelSolve&) {
  if (live_.phase != LiveSolve::Phase::Running) return;
  job_->cancel();
  live_.phase = LiveSolve::Phase::Stopping;
  live_.doing = "stopping";
  say(LogLevel::Info, "cancel asked for");
  changed();
}

void Solving::abandon(const char* why) {
  if (!job_) return;
  if (live_.active()) {
    say(LogLevel::Info, fmt::format("{} stops: {}", job_row_, why));
    live_.phase = LiveSolve::Phase::Done;
    live_.cancelled = true;
    end_row();
  }
  leaving_.take(std::move(job_));
}

void Solving::end_row() {
  EntryPtr* newest = solved_row(job_row_);
  if (!newest || !(*newest)->running) return;
  ScheduleEntry stopped = **newest;
  stopped.running = false;
  *newest = std::make_shared<const ScheduleEntry>(std::move(stopped));
  for (EntryPtr& entry : content_.schedules)
    if (entry->name == job_row_) entry = *newest;
}

void Solving::follow_travel() {
  proposal_.reset();
  // The row that a running job fills may have gone, and rows that came back may be older than what was found since.
  for (EntryPtr& entry : content_.schedules)
    if (const EntryPtr* newest = solved_row(entry->name); entry->running && newest) entry = *newest;
  const bool row_here = std::any_of(content_.schedules.begin(), content_.schedules.end(),
                                    [&](const EntryPtr& e) { return e->running && e->name == job_row_; });
  if (live_.active() && !row_here) abandon("its question was undone");
  if (!live_.active()) live_ = {};
}

void Solving::on(const RemoveSchedule& c) {
  if (c.index >= content_.schedules.size()) return;
  const EntryPtr entry = content_.schedules[c.index];
  if (entry->running) abandon("its row was removed");
  document_.undo.remember(content_, "remove " + entry->name);
  content_.schedules.erase(content_.schedules.begin() + static_cast<std::ptrdiff_t>(c.index));
  const auto moved_up = [&](std::optional<std::size_t> index) { return index && *index > c.index ? *index - 1 : index; };
  if (content_.baseline == c.index) content_.baseline.reset();
  content_.baseline = moved_up(content_.baseline);
  if (content_.shown == c.index)
    // The row above takes its place, the first one where there is none above.
    content_.shown = content_.schedules.empty() ? std::nullopt : std::optional(c.index > 0 ? c.index - 1 : 0);
  else
    content_.shown = moved_up(content_.shown);
  if (content_.baseline == content_.shown) content_.baseline.reset();
  changed();
}

bool Solving::pump() {
  leaving_.sweep();
  if (!job_) return false;
  if (content_.problem != job_problem_ || content_.constraints != job_constraints_) {
    abandon("its question is gone");
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

void Solving::take_event(const solver::SolveEvent& event, std::optional<Schedule>& newest) {
  const auto point = [this] { live_.history.push_back({live_.seconds, live_.lower_bound, live_.best}); };
  std::visit(Overloaded{
                 [&](const solver::Started& e) {
                   live_.res_mii = e.res_mii;
                   live_.rec_mii = e.rec_mii;
                   live_.issue_mii = e.issue_mii;
                   live_.explanation = e.explanation;
                   live_.lower_bound = std::max({live_.lower_bound, e.res_mii, e.rec_mii, e.issue_mii});
                   point();
                   say(LogLevel::Info, fmt::format("bounds: resource {}, recurrence {}, issue {}", e.res_mii, e.rec_mii, e.issue_mii));
                 },
                 [&](const solver::BoundRaised& e) {
                   live_.lower_bound = std::max(live_.lower_bound, e.lower_bound);
                   if (!e.why.empty()) live_.explanation = e.why;
                   point();
                   say(LogLevel::Info, fmt::format("II ≥ {}{}{}", e.lower_bound, e.why.empty() ? "" : ": ", e.why));
                 },
                 [&](const solver::Incumbent& e) {
                   if (!live_.best || e.schedule.ii < *live_.best)
                     say(LogLevel::Good, fmt::format("found II {} with {} stages", e.schedule.ii, stage_count(e.schedule)));
                   live_.best = e.schedule.ii;
                   point();
                   newest = e.schedule;
                 },
                 [&](const solver::ObjectiveSettled& e) {
                   say(LogLevel::Info,
                       fmt::format("{} {} {}", e.objective.name, e.objective.value, e.objective.proved ? "proved" : "not proved"));
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

void Solving::replace_solved(ScheduleEntry entry) {
  const auto row =
      std::find_if(content_.schedules.begin(), content_.schedules.end(), [&](const EntryPtr& e) { return e->name == entry.name; });
  if (row == content_.schedules.end()) {
    // The schedule of a proposal belongs to the step that proposed it, and is compared with the one it came from.
    if (!of_proposal()) document_.undo.remember(content_, "solve");
    const bool beside = proposal_ && !proposal_->opening;
    if (beside) content_.baseline = content_.shown;
    const EntryPtr made = make_entry(*content_.problem, content_.constraints, std::move(entry));
    content_.schedules.push_back(made);
    content_.shown = content_.schedules.size() - 1;
    if (!beside) view_.fit_all = true;
    solved_[{content_.document, made->name}] = made;
    return;
  }
  *row = make_entry(*content_.problem, content_.constraints, std::move(entry));
  solved_[{content_.document, (*row)->name}] = *row;
}

bool Solving::makes_row(const Schedule& schedule) const {
  if (live_.proving.empty()) return true;
  return std::none_of(content_.schedules.begin(), content_.schedules.end(),
                      [&](const EntryPtr& entry) { return entry->name == live_.proving && entry->schedule.ii <= schedule.ii; });
}

void Solving::settle_claims(const SolveOutcome& outcome) {
  bool remembered = false;
  for (EntryPtr& entry : content_.schedules) {
    const bool asked = !live_.proving.empty() && entry->name == live_.proving;
    if (entry->running || !entry->verdict.valid() || !(asked || entry->schedule.claim)) continue;
    if (!std::exchange(remembered, true) && !of_proposal()) document_.undo.remember(content_, "prove");
    ScheduleEntry settled = proved_by(outcome, content_, *entry);
    settled.least_ii = live_.least_ii;
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

void Solving::show_incumbent(Schedule schedule) {
  if (!fits(*content_.problem, schedule)) return say(LogLevel::Bad, "the solver sent a schedule of another shape");
  if (!makes_row(schedule)) return;
  ScheduleEntry entry;
  entry.name = job_row_;
  entry.status = Status::Feasible;
  entry.lower_bound = live_.lower_bound;
  if (const auto& proof = schedule.certificate)
    entry.status = proof->status, entry.lower_bound = proof->lower_bound;  // orders are still compared
  entry.explanation = live_.explanation;
  entry.seconds = spent_before_ + live_.seconds;
  entry.running = true;
  entry.schedule = std::move(schedule);
  entry.schedule.name = entry.name;
  replace_solved(std::move(entry));
}

void Solving::take_outcome(SolveOutcome outcome) {
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
  const bool by_time = found && is_by_time(outcome);
  if (found) live_.best = outcome.schedule->ii;
  if (outcome.status == Status::Optimal || outcome.status == Status::Feasible) settle_claims(outcome);
  if (found && makes_row(*outcome.schedule)) {
    ScheduleEntry entry;
    entry.name = job_row_;
    entry.status = outcome.status;
    entry.lower_bound = outcome.lower_bound;
    entry.explanation = outcome.explanation;
    entry.objectives = outcome.objectives;
    entry.seconds = spent_before_ + live_.seconds;
    entry.by_time = by_time;
    entry.of_solver = (by_time ? outcome.fastest->complete : outcome.status == Status::Optimal) && !job_robust_;
    entry.robust = job_robust_;
    entry.least_ii = live_.least_ii;
    entry.schedule = std::move(*outcome.schedule);
    entry.schedule.name = entry.name;
    replace_solved(std::move(entry));
  } else {
    end_row();
  }
  live_.history.push_back({live_.seconds, live_.lower_bound, live_.best});
  const char* how = live_.cancelled ? " (cancelled)" : live_.timed_out ? " (time is up)" : "";
  const LogLevel level = outcome.cancelled                              ? LogLevel::Info
                         : by_time || outcome.status == Status::Optimal ? LogLevel::Good
                         : outcome.status == Status::Infeasible         ? LogLevel::Bad
                                                                        : LogLevel::Warning;
  const std::string ii = live_.best ? fmt::format("II {} · ", *live_.best) : "";
  const std::string standing = by_time ? fmt::format("least {}, proved · chosen for its predicted time", outcome.fastest->least_ii)
                                       : fmt::format("bound {} · {}", live_.lower_bound, status_word(to_string(outcome.status)));
  say(level, fmt::format("{}: {}{}{} · {:.2f} s", job_row_, ii, standing, how, live_.seconds));
  if (!outcome.explanation.empty()) say(LogLevel::Info, outcome.explanation);
  if (outcome.robust) say(LogLevel::Good, robust_text(*outcome.robust));
  if (outcome.fastest) say(LogLevel::Good, fastest_text(*outcome.fastest));
  if (live_.refuted()) view_.tab = BottomTab::Explain;
  wants_why_ = wants_why_ || std::exchange(why_after_solve_, false) || live_.refuted();
}

}  // namespace heddle::app
