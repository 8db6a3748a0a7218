#include "app/cli/solving.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ask/time_choice.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "app/jobs/judge_claim.h"
#include "app/jobs/solve_store.h"
#include "core/analysis/bracket.h"
#include "core/answers/summary.h"
#include "core/check/certify.h"
#include "core/check/checker.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/library/triton_text.h"
#ifdef HEDDLE_HAS_SOLVER
#include "app/ask/layouts.h"
#include "app/ask/listener.h"
#include "solver/questions/within.h"
#endif

namespace heddle::app {

#ifdef HEDDLE_HAS_SOLVER
namespace {

/// What a solve reports, as facts of a progress line and, with -v, lines of its own.
class SolveProgress {
 public:
  explicit SolveProgress(ProgressLine& line) : line_(line) {}

  void operator()(const solver::SolveEvent& event) {
    std::visit([this](const auto& e) { take(e); }, event);
    line_.show({best_ ? fmt::format("II {}", best_) : "no schedule yet", fmt::format("bound {}", bound_),
                testing_ ? fmt::format("testing II {}", testing_) : phase_});
  }

 private:
  void take(const solver::Started&) {}  // the bound that it comes from is told next
  void take(const solver::BoundRaised& e) {
    if (e.lower_bound == bound_) return;
    bound_ = e.lower_bound;
    line_.say(fmt::format("bound {}: {}", bound_, e.why));
  }
  void take(const solver::Incumbent& e) {
    best_ = e.schedule.ii;
    line_.say(fmt::format("schedule with II {}, {} stages", best_, stage_count(e.schedule)));
  }
  void take(const solver::ObjectiveSettled& e) {
    line_.say(fmt::format("{} {} {}", e.objective.name, e.objective.value, e.objective.proved ? "proved" : "not proved"));
  }
  void take(const solver::Progress& e) {
    phase_ = e.phase;
    testing_ = best_ ? 0 : e.ii_under_test;
  }
  void take(const solver::LogLine& e) { line_.say(e.text); }

  ProgressLine& line_;
  Cycle best_ = 0, bound_ = 0, testing_ = 0;
  std::string phase_;
};

}  // namespace

solver::SolveListener listener_for(ProgressLine& line) {
  return [progress = SolveProgress(line)](const solver::SolveEvent& event) mutable { progress(event); };
}

SearchLimits limits_of(const Arguments& arguments) {
  SearchLimits limits;
  limits.timeout_seconds = arguments.deadline(limits.timeout_seconds).left();
  if (const auto seed = arguments.integer("--seed")) limits.seed = static_cast<std::uint64_t>(*seed);
  if (const auto stages = arguments.integer("--max-stages")) limits.max_stages = std::max(limits.max_stages, static_cast<int>(*stages));
  return limits;
}

Subject subject_of(const CommandInputs& inputs, const Arguments& arguments) {
  Subject subject{inputs.instance, inputs.constraints, inputs.schedule};
  if (inputs.open) {
    subject.left_open = inputs.left_open;
    subject.open = std::make_shared<const OpenLayouts>(*inputs.open);
  }
  subject.source = inputs.source;
  subject.limits = limits_of(arguments);
  if (inputs.most_seconds) subject.limits.timeout_seconds = std::min(subject.limits.timeout_seconds, *inputs.most_seconds);
  return subject;
}

solver::SolveRequest solve_request(const CommandInputs& inputs, const Arguments& arguments) {
  solver::SolveRequest request = solve_request(subject_of(inputs, arguments));
  request.ii = arguments.integer("--ii");
  if (arguments.has("--robust") || (arguments.integer("--within") && !latencies_vary(inputs.problem()))) {
    request.uncertain = std::make_shared<UncertainNumbers>(uncertain_numbers(inputs.problem(), inputs.machine()));
    request.within_percent = static_cast<int>(arguments.integer("--within").value_or(0));
  }
  return request;
}

std::shared_ptr<const solver::TimeChoice> time_choice_of(const CommandInputs& inputs, const Arguments& arguments) {
  for (const char* other : {"--least-ii", "--ii", "--robust", "--within"})
    if (arguments.has(other)) return nullptr;
  if (*inputs.source->why_not(SourceUse::OrderByTime)) return nullptr;
  auto choice = time_choice(inputs.instance);
  choice->can_be_written = inputs.can_be_written;
  return choice;
}

namespace {

/// What a person should know of how a search ended.
void note_end(SolveOutcome& outcome, const InterruptScope& interrupt, ProgressLine& progress) {
  const bool settled = outcome.status == Status::Optimal || outcome.status == Status::Infeasible;
  if (interrupt.interrupted() && !settled) outcome.cancelled = true;
  if (outcome.serial) progress.announce("nothing was found in time: this is one op after the other, and not proved");
}

}  // namespace

Result<SolveOutcome> solve_inputs(CommandInputs& inputs, const Arguments& arguments, const Terminal& terminal, Wanted wanted) {
  const bool depths = wants_depths_within(inputs, arguments);
  for (const char* other : {"--ii", "--choose"})
    if (depths && arguments.has(other))
      return Error::input(fmt::format("{} and --within: latencies are not always the same here, so --within looks for ring depths, "
                                      "beginning with the least II of the layouts as they are",
                                      other),
                          "leave one of them out");
  const InterruptScope interrupt;
  ProgressLine progress(terminal);
  if (depths) {
    const ContentStore store(arguments.has("--no-store") ? StorePlace{} : store_place());
    solver::WithinRequest request{
        solve_request(inputs, arguments), static_cast<int>(*arguments.integer("--within")),
        [&](const Changes& more) { return problem_with(inputs, more); },
        [&](const solver::SolveRequest& solve) { return solve_or_recall(store, solve, interrupt.token(), listener_for(progress)); }};
    inputs.within = solver::within(request, interrupt.token());
    const WithinAnswer& within = *inputs.within;
    const Changes at = within.best ? within.steps[*within.best].at : Changes{};
    inputs.instance = Instance(with(inputs.instance.spec(), at), within.problem);
    SolveOutcome outcome = inputs.within->outcome;
    note_end(outcome, interrupt, progress);
    return outcome;
  }
  if (inputs.open) {
    solver::SolveRequest request = solve_request(inputs, arguments);
    const bool robust = request.uncertain != nullptr;
    request.uncertain = nullptr;  // of the layouts as given
    Result<ChosenLayouts> chosen =
        ask_layouts(subject_of(inputs, arguments), request.ii, interrupt.token(), {.solve = listener_for(progress)});
    if (!chosen) return chosen.error();
    inputs.chosen = *std::move(chosen);
    inputs.open.reset();
    inputs.instance = Instance(with(inputs.instance.spec(), inputs.chosen->choices), inputs.chosen->problem);
    SolveOutcome outcome = inputs.chosen->outcome;
    if (!robust || !outcome.schedule) {
      request.problem = inputs.problem();
      if (wanted == Wanted::Fastest) request.by_time = time_choice_of(inputs, arguments);
      if (request.by_time) solver::choose_by_time(request, outcome, interrupt.token(), listener_for(progress));
      note_end(outcome, interrupt, progress);
      return outcome;
    }
    // The most robust order for what was chosen, in the time that is left.
  }
  const ContentStore store(arguments.has("--no-store") ? StorePlace{} : store_place());
  Recalled recalled;
  solver::SolveRequest request = solve_request(inputs, arguments);
  if (wanted == Wanted::Fastest) request.by_time = time_choice_of(inputs, arguments);
  SolveOutcome outcome = solve_or_recall(store, request, interrupt.token(), listener_for(progress), &recalled);
  if (!recalled.sentence.empty())
    progress.announce(recalled.sentence + (recalled.whole ? " (--no-store searches again)" : " (--no-store begins anew)"));
  note_end(outcome, interrupt, progress);
  return outcome;
}
#else
Result<SolveOutcome> solve_inputs(CommandInputs&, const Arguments&, const Terminal&, Wanted) {
  return Error::environment("this build has no solver", "configure with -DHEDDLE_SOLVER=ON, or give a schedule");
}
#endif

namespace {

/// In a build without solver: KERNEL/MACHINE among the shipped schedules, solved when the package was made, where it answers this question.
std::optional<Schedule> solved_beforehand(const CommandInputs& inputs, const Terminal& terminal) {
#ifdef HEDDLE_HAS_SOLVER
  (void)inputs, (void)terminal;
  return std::nullopt;
#else
  const std::string name = inputs.kernel().name + "/" + inputs.machine().name;
  const Result<std::string> path = find_in_library(Shelf::Schedules, name);
  if (!path) return std::nullopt;
  std::vector<Fault> warnings;
  Result<Schedule> schedule = read_schedule(*path, inputs.problem(), &warnings);
  if (!schedule || !check(inputs.problem(), *schedule, inputs.constraints).valid()) return std::nullopt;
  judge_claim(inputs.problem(), inputs.constraints, *schedule, *path, &warnings);
  terminal.note("no solver here: this is the shipped schedule " + name);
  print_warnings(terminal, warnings);
  return *std::move(schedule);
#endif
}

}  // namespace

bool wants_depths_within(const CommandInputs& inputs, const Arguments& arguments) {
  return arguments.integer("--within") && !arguments.has("--robust") && latencies_vary(inputs.problem());
}

Result<CommandInputs> proved_inputs(const Arguments& arguments, const Terminal& terminal) {
  Result<CommandInputs> loaded = load_inputs(arguments, terminal);
  if (!loaded || !loaded->schedule || !arguments.has("--prove")) return loaded;
  CommandInputs& inputs = loaded.value();
  Schedule& schedule = *inputs.schedule;
  if (const Verdict verdict = check(inputs.problem(), schedule, inputs.constraints); !verdict.valid()) {
    terminal.note("--prove: nothing to prove, because the schedule breaks a rule: " + verdict.violations.front().message);
    return loaded;
  }
  Result<SolveOutcome> outcome = solve_inputs(inputs, arguments, terminal, Wanted::Proof);
  if (!outcome) return outcome.error();
  take_proof(inputs.problem(), inputs.constraints, *outcome, schedule);
  const Cycle bound = outcome->lower_bound;
  if (bound == schedule.ii)
    terminal.note(fmt::format("proved again: no schedule has an II below {}", bound));
  else if (outcome->schedule && outcome->schedule->ii < schedule.ii)
    terminal.note(fmt::format("not the least: there is a schedule with II {}, and this one has {}", outcome->schedule->ii, schedule.ii));
  else
    terminal.note(fmt::format("not proved {}: no schedule has an II below {}, and this one has {}",
                              outcome->cancelled ? "when interrupted" : "in time", bound, schedule.ii));
  inputs.proof = *std::move(outcome);
  return loaded;
}

std::optional<Schedule> schedule_to_show(CommandInputs& inputs, const Arguments& arguments, const Terminal& terminal, int& code,
                                         const std::function<void(const SolveOutcome&)>& without) {
  code = kDone;
  if (inputs.schedule) return inputs.schedule;
  if (std::optional<Schedule> known = solved_beforehand(inputs, terminal)) return known;
  const bool json = arguments.has("--json");
  const Result<SolveOutcome> outcome = solve_inputs(inputs, arguments, terminal);
  if (!outcome) {
    code = report(terminal, outcome.error(), json);
    return std::nullopt;
  }
  code = exit_code(ended(*outcome));
  if (!outcome->schedule) {
    if (without) without(*outcome);
    terminal.complain(fmt::format("{}: {}", headline(*outcome, terminal.style), outcome->explanation));
    if (json) terminal.out << outcome_text(inputs.problem(), *outcome, inputs.constraints);
  } else if (outcome->timed_out || (outcome->fastest && !outcome->fastest->complete)) {
    terminal.note("the time was up before everything was compared or proved: another run may show another schedule; --timeout gives more");
  }
  return outcome->schedule;
}

}  // namespace heddle::app
