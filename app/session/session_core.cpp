// Here are the commands that open, change and show things; those that solve are in session_solve.cpp.
#include "app/session/session_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "app/jobs/judge_claim.h"
#include "app/session/files.h"
#include "app/session/triton_source.h"
#include "core/answers/layout_choice.h"
#include "core/base/atomic_file.h"
#include "core/formats/changes_json.h"
#include "core/formats/constraints_json.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/library/source.h"

namespace heddle::app {
namespace {

double steady_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

SessionCore::SessionCore(const Session& session, Environment environment)
    : session_(session), environment_(std::move(environment)), work_(environment_) {
  if (!environment_.clock) environment_.clock = steady_seconds;
  began_ = environment_.clock();
  if (!environment_.settings_file.empty()) settings_ = load_settings(environment_.settings_file);
  kept_ = saved_settings_ = settings_;
  look_for_lost_work();
  begin_as_another();
}

SessionCore::~SessionCore() = default;

double SessionCore::now() const { return environment_.clock() - began_; }

void SessionCore::say(LogLevel level, std::string text) { log_.push_back({now(), level, std::move(text)}); }

void SessionCore::fail(std::string title, Error error) {
  say(LogLevel::Bad, title);
  for (const Fault& fault : error.faults) say(LogLevel::Bad, "  " + to_string(fault));
  error_ = ErrorReport{std::move(title), std::move(error)};
}

void SessionCore::changed() {
  // A finding about one schedule says nothing about another.
  const ScheduleEntry* entry = document_.content.entry();
  if (std::string now = entry ? entry->name : std::string(); now != highlight_of_) {
    view_.highlight = {};
    highlight_of_ = std::move(now);
  }
  // What points into the problem goes with what it pointed at, whichever command, undo or answer took that away.
  const std::size_t ops = document_.content.problem ? document_.content.problem->ops.size() : 0,
                    edges = document_.content.problem ? document_.content.problem->edges.size() : 0;
  const auto gone = [ops](OpId op) { return !op.valid() || op.index() >= ops; };
  std::erase_if(document_.selection.ops, gone);
  std::erase_if(view_.highlight.ops, gone);
  std::erase_if(view_.highlight.edges, [edges](EdgeId edge) { return !edge.valid() || edge.index() >= edges; });
  if (view_.alignment.at == Alignment::At::Op && gone(view_.alignment.op)) view_.alignment = {};
  leave_answers();
  ++revision_;
}

void SessionCore::save_settings_now() {
  kept_.panes = settings_.panes;
  kept_.recent = settings_.recent;
  if (environment_.settings_file.empty() || kept_ == saved_settings_) return;
  saved_settings_ = kept_;
  const auto saved = save_settings(environment_.settings_file, kept_);
  if (!saved) say(LogLevel::Warning, "settings were not saved: " + to_string(saved.error()));
}

// --- files

void SessionCore::on(const OpenFile& c) {
  if (is_sweep(c.path)) return on(OpenSweep{c.path});
  if (is_shipped_kernel(c.path)) return on(OpenKernel{c.path, c.solve});  // by its name
  const auto kind = classify_file(c.path);
  if (!kind) return fail("Cannot open " + base_name(c.path), kind.error());
  switch (*kind) {
    case FileKind::Kernel: return on(OpenKernel{c.path, c.solve});
    case FileKind::Machine: return on(OpenMachine{c.path, c.solve});
    case FileKind::Schedule: return on(OpenSchedule{c.path});
    case FileKind::Constraints: return on(OpenConstraints{c.path});
    case FileKind::Project: return on(OpenProject{c.path});
    case FileKind::Measurement: return on(OpenMeasurement{c.path});
    case FileKind::Dump: return on(OpenDump{c.path});
    case FileKind::DumpSolution: return on(OpenSchedule{c.path});
    case FileKind::Triton: return open_triton(c.path, {}, c.solve);
    case FileKind::Unknown: break;
  }
  fail("Cannot open " + base_name(c.path),
       Error::input(
           "this is not a kernel, machine, schedule, constraints, project or measurement file, nor a sweep, nor a compiler's dump, nor "
           "a Triton kernel",
           "its \"schema\" should be one of heddle.kernel/1, heddle.machine/1, heddle.schedule/1, "
           "heddle.constraints/1, heddle.project/1, heddle.measurement/1, heddle.tuning/1; its \"schema_version\" ddg-0.1, 0.1 "
           "(schedule_graph), "
           "curated-ddg-0.2, joint-solver-0.1 or joint-solver-0.2"));
}

void SessionCore::on(const OpenKernel& c) {
  const SourceKind kind = compilers_kind(c.name);
  if (kind == SourceKind::Dump) return on(OpenDump{c.name});
  if (kind == SourceKind::Triton) return open_triton(c.name, {}, c.solve);
  auto kernel = load_kernel(c.name);
  if (!kernel) return fail("Cannot open kernel " + base_name(c.name), kernel.error());
  Content next;
  next.kernel = std::make_shared<const Kernel>(std::move(*kernel));
  if (!document_.content.dump) next.machine = document_.content.machine;  // a dump's is for its own ops only
  if (next.machine && !make_problem(next.spec())) {
    // Of another architecture: it takes the machine that runs it.
    const std::vector<std::string> others = machines_for(*next.kernel);
    if (auto machine = others.empty() ? Result<Machine>(Error::input("no machine runs it")) : load_machine(others.front())) {
      say(LogLevel::Info, fmt::format("{} does not run on {}: opened on {}", next.kernel->name, next.machine->name, machine->name));
      next.machine = std::make_shared<const Machine>(std::move(*machine));
    }
  }
  remember_recent(settings_, c.name);
  adopt(std::move(next), "open kernel " + base_name(c.name));
  if (c.solve) solve_opened();
}

void SessionCore::on(const OpenMachine& c) {
  if (document_.content.dump) return refuse_machine(c.name);
  if (document_.content.triton) return on(SwitchMachine{c.name, c.solve});
  auto machine = load_machine(c.name);
  if (!machine) return fail("Cannot open machine " + base_name(c.name), machine.error());
  Content next;
  next.kernel = document_.content.kernel;
  next.overrides = document_.content.overrides;
  next.constraints = document_.content.constraints;
  next.changes = document_.content.changes;
  next.choices = document_.content.choices;
  next.kernel_options = document_.content.kernel_options;
  next.machine = std::make_shared<const Machine>(std::move(*machine));
  adopt(std::move(next), "open machine " + base_name(c.name));
  if (c.solve) solve_opened();
}

void SessionCore::on(const OpenPair& c) {
  const SourceKind kind = compilers_kind(c.kernel);
  if (kind == SourceKind::Dump) return open_dump(c.kernel, c.solve);
  if (kind == SourceKind::Triton) return open_triton(c.kernel, c.machine, c.solve);
  auto kernel = load_kernel(c.kernel);
  if (!kernel) return fail("Cannot open kernel " + base_name(c.kernel), kernel.error());
  auto machine = load_machine(c.machine);
  if (!machine) return fail("Cannot open machine " + base_name(c.machine), machine.error());
  Content next;
  next.kernel = std::make_shared<const Kernel>(std::move(*kernel));
  next.machine = std::make_shared<const Machine>(std::move(*machine));
  remember_recent(settings_, c.kernel);
  adopt(std::move(next), "open " + base_name(c.kernel));
  if (c.solve) solve_opened();
}

void SessionCore::on(const OpenSchedule& c) {
  const SourceKind kind = compilers_kind(c.path);
  if (kind == SourceKind::Dump) return on(OpenDump{c.path});
  if (kind == SourceKind::Triton) return open_triton_schedule(c.path);
  const std::string title = "Cannot open schedule " + base_name(c.path);
  const auto target = read_schedule_head(c.path);
  if (!target) return fail(title, target.error());
  // A schedule brings its own kernel and machine when others, or none, are open, and its own layouts; not to be compared with what is
  // shown.
  const bool same = document_.content.problem && document_.content.problem->kernel == target->kernel &&
                    document_.content.problem->machine == target->machine &&
                    (c.as_baseline || document_.content.choices == target->layouts) &&
                    std::all_of(target->params.begin(), target->params.end(), [&](const auto& p) {
                      const auto it = document_.content.problem->params.find(p.first);
                      return it != document_.content.problem->params.end() && it->second == p.second;
                    });
  Content next = document_.content;
  if (!same) {
    next = {};
    next.document = ++document_.documents;
    const bool keep_kernel = document_.content.kernel && document_.content.kernel->name == target->kernel;
    const bool keep_machine = document_.content.machine && document_.content.machine->name == target->machine;
    next.kernel = keep_kernel ? document_.content.kernel : nullptr;
    next.machine = keep_machine ? document_.content.machine : nullptr;
    if (!next.kernel) {
      auto kernel = load_kernel(target->kernel);
      if (!kernel) return fail(title, kernel.error());
      next.kernel = std::make_shared<const Kernel>(std::move(*kernel));
    }
    if (!next.machine) {
      auto machine = load_machine(target->machine);
      if (!machine) return fail(title, machine.error());
      next.machine = std::make_shared<const Machine>(std::move(*machine));
    }
    next.overrides = own_params(*next.kernel, target->params);  // a file says them all
    next.choices = next.brought = target->layouts;
    auto problem = make_problem(next.spec());
    if (!problem) return fail(title, problem.error());
    next.problem = std::make_shared<const Problem>(std::move(*problem));
    next.bounds = std::make_shared<const Bounds>(compute_bounds(*next.problem));
  }
  auto schedule = read_schedule(c.path, *next.problem);
  if (!schedule) return fail(title, schedule.error());
  if (!fits(*next.problem, *schedule))
    return fail(title, Error::input("the schedule does not have one placement per op of " + next.problem->kernel));

  if (!same) {
    attach_texts(next);
    abandon_job("another schedule's kernel was opened");
  }
  document_.undo.remember(document_.content, "open schedule " + base_name(c.path));
  ScheduleEntry entry;
  entry.name = schedule->name.empty() ? base_name(c.path) : schedule->name;
  entry.file = c.path;
  entry.status = Status::Feasible;  // what the file says of it stays the schedule's claim
  std::vector<Fault> refuted;
  judge_claim(*next.problem, next.constraints, *schedule, c.path, &refuted);
  entry.schedule = std::move(*schedule);
  next.schedules.push_back(make_entry(*next.problem, next.constraints, std::move(entry)));
  const bool as_b = c.as_baseline && next.shown;
  (as_b ? next.baseline : next.shown) = next.schedules.size() - 1;
  if (as_b && (view_.chart_view == ChartView::A || view_.chart_view == ChartView::Three)) view_.chart_view = ChartView::Split;
  if (next.baseline == next.shown) next.baseline.reset();
  document_.content = std::move(next);
  recall_proofs();
  if (!same) document_.selection = {}, work_.live = {}, view_.highlight = {};
  error_.reset();
  view_.fit_all = true;
  changed();
  const ScheduleEntry& shown = *document_.content.schedules.back();
  if (!shown.verdict.valid() && !as_b) on(FirstViolation{});
  say(shown.verdict.valid() ? LogLevel::Good : LogLevel::Bad,
      shown.verdict.valid() ? fmt::format("{}: valid, II {}, sustainable period {}", shown.name, shown.schedule.ii, shown.period.cycles())
                            : fmt::format("{}: {} violation{}, first: {}", shown.name, shown.verdict.violations.size(),
                                          shown.verdict.violations.size() == 1 ? "" : "s", shown.verdict.violations.front().message));
  warn_aloud(refuted);
}

void SessionCore::warn_aloud(const std::vector<Fault>& warnings) {
  for (const Fault& warning : warnings) say(LogLevel::Warning, to_string(warning));
  if (!warnings.empty()) view_.notice = base_name(warnings.back().file) + ": " + warnings.back().message;
}

void SessionCore::on(const OpenConstraints& c) {
  const std::string title = "Cannot open constraints " + base_name(c.path);
  if (!document_.content.problem) return fail(title, Error::input("constraints need an open kernel and machine", "open those first"));
  // The file's changed numbers come first: what it demands is demanded of the problem that they make.
  auto changes = read_changes(c.path);
  if (!changes) return fail(title, changes.error());
  const auto layouts = read_layout_demands(c.path);
  if (!layouts) return fail(title, layouts.error());
  Content before = document_.content;
  const Asked asked = asked_now();
  const bool other_numbers = !changes->empty() || !document_.content.changes.empty();
  if (other_numbers || !layouts->empty()) {
    document_.content.changes = std::move(*changes);
    lay_out(document_.content, merged(document_.content.choices, *layouts));
    if (const auto error = resolve_content()) {
      document_.content = std::move(before);
      return fail(title, *error);
    }
  }
  auto constraints = read_constraints(c.path, *document_.content.problem);
  if (!constraints) {
    document_.content = std::move(before);
    return fail(title, constraints.error());
  }
  abandon_job("the constraints changed");
  document_.undo.remember(std::move(before), "open constraints " + base_name(c.path));
  document_.content.constraints = std::move(*constraints);
  judge_again(asked);
  view_.tab = BottomTab::Constraints;
  say(LogLevel::Info, fmt::format("{} constraint{} and {} changed number{} from {}", document_.content.constraints.size(),
                                  document_.content.constraints.size() == 1 ? "" : "s", document_.content.changes.size(),
                                  document_.content.changes.size() == 1 ? "" : "s", base_name(c.path)));
  changed();
}

void SessionCore::on(const SaveSchedule& c) {
  const ScheduleEntry* entry = document_.content.entry();
  if (!entry) return fail("Cannot save", Error::input("there is no schedule to save", "solve or open one first"));
  const auto saved = write_file(c.path, schedule_text(problem_to_write(), entry->schedule));
  if (!saved) return fail("Cannot save " + base_name(c.path), saved.error());
  say(LogLevel::Good, "saved " + c.path);
}

void SessionCore::on(const CloseDocument&) {
  if (!document_.content.kernel && !document_.content.machine && !document_.content.triton) return;
  adopt({}, "close");
}

void SessionCore::on(const DismissError&) { error_.reset(); }

// --- the document

std::optional<Error> SessionCore::resolve_content() {
  document_.content.problem = nullptr;
  document_.content.bounds = nullptr;
  document_.content.unresolved = nullptr;
  if (!document_.content.kernel || !document_.content.machine) return std::nullopt;
  auto problem = make_problem(document_.content.spec());
  if (!problem) {
    const auto& source = document_.content.triton;
    Error error = source && source->native
                      ? triton::unresolved_text(problem.error(), *source->program, *source->native, *document_.content.kernel)
                      : problem.error();
    // Choices stand in no file here; the sentences name what they are about.
    for (Fault& fault : error.faults)
      if (fault.file.empty() && (fault.pointer.starts_with("/layouts/") || fault.pointer.starts_with("/instructions/")))
        fault.pointer.clear();
    document_.content.unresolved = std::make_shared<const Error>(error);
    return error;
  }
  document_.content.problem = std::make_shared<const Problem>(std::move(*problem));
  document_.content.bounds = std::make_shared<const Bounds>(compute_bounds(*document_.content.problem));
  return std::nullopt;
}

void SessionCore::adopt(Content next, const std::string& what) {
  abandon_job("another problem was opened");
  last_line_.clear();
  // Another kernel is another document, with another file.
  if (next.document == 0)
    next.document = next.kernel && next.kernel == document_.content.kernel ? document_.content.document : ++document_.documents;
  attach_texts(next);
  document_.undo.remember(std::move(document_.content), what);
  document_.content = std::move(next);
  document_.selection = {};
  view_.highlight = {};
  work_.live = {};
  view_.highlight = {};
  view_.alignment = {};
  error_.reset();
  if (const auto error = resolve_content()) {
    const std::vector<std::string> others = machines_for(*document_.content.kernel, document_.content.overrides);
    fail(fmt::format("{} cannot be scheduled on {}{}", document_.content.kernel->name, document_.content.machine->name,
                     others.empty() ? "" : fmt::format("; it runs on {}", fmt::join(others, ", "))),
         *error);
  } else if (document_.content.problem) {
    say(LogLevel::Info,
        fmt::format("{} on {}: {} ops, {} dependences, II ≥ {}", document_.content.problem->kernel, document_.content.problem->machine,
                    document_.content.problem->ops.size(), document_.content.problem->edges.size(), document_.content.bounds->min_ii()));
  }
  view_.fit_all = true;
  changed();
}

void SessionCore::on(const SetParam& c) {
  if (!document_.content.kernel) return;
  const Param* param = document_.content.kernel->find_param(c.name);
  if (!param) return fail("Cannot set " + c.name, Error::input(document_.content.kernel->name + " has no parameter " + c.name));
  const auto found = document_.content.overrides.find(c.name);
  if (c.value == (found == document_.content.overrides.end() ? param->value : found->second)) return;
  Content before = document_.content;
  document_.content.overrides[c.name] = c.value;
  if (c.value == param->value) document_.content.overrides.erase(c.name);
  if (const auto error = resolve_content()) {
    document_.content = std::move(before);
    return fail(fmt::format("{} = {} does not work", c.name, c.value), *error);
  }
  Content next = std::move(document_.content);
  next.schedules.clear();
  next.shown.reset();
  next.baseline.reset();
  document_.content = std::move(before);
  adopt(std::move(next), fmt::format("{} = {}", c.name, c.value));
}

void SessionCore::on(const RemoveSchedule& c) {
  if (c.index >= document_.content.schedules.size()) return;
  const EntryPtr entry = document_.content.schedules[c.index];
  if (entry->running) abandon_job("its row was removed");
  document_.undo.remember(document_.content, "remove " + entry->name);
  document_.content.schedules.erase(document_.content.schedules.begin() + static_cast<std::ptrdiff_t>(c.index));
  const auto moved_up = [&](std::optional<std::size_t> index) { return index && *index > c.index ? *index - 1 : index; };
  if (document_.content.baseline == c.index) document_.content.baseline.reset();
  document_.content.baseline = moved_up(document_.content.baseline);
  if (document_.content.shown == c.index)
    // The row above takes its place, the first one where there is none above.
    document_.content.shown = document_.content.schedules.empty() ? std::nullopt : std::optional(c.index > 0 ? c.index - 1 : 0);
  else
    document_.content.shown = moved_up(document_.content.shown);
  if (document_.content.baseline == document_.content.shown) document_.content.baseline.reset();
  changed();
}

void SessionCore::judge_again(const Asked& before) {
  work_.live = {};
  const Content& now = document_.content;
  const auto same_problem = [&](const std::shared_ptr<const Problem>& problem) {
    return problem == now.problem || (problem && problem_hash(*problem) == problem_hash(*now.problem));
  };
  const auto still_demanded = [&](const UserConstraint& c) {
    return !c.enabled || std::find(now.constraints.begin(), now.constraints.end(), c) != now.constraints.end();
  };
  const auto holds = [&](const EarlierStanding& earlier) {
    return earlier.standing.status != Status::Invalid && same_problem(earlier.asked.problem) &&
           std::all_of(earlier.asked.constraints.begin(), earlier.asked.constraints.end(), still_demanded);
  };
  for (EntryPtr& entry : document_.content.schedules) {
    ScheduleEntry again = *entry;
    if (!again.earlier) again.earlier = std::make_shared<const EarlierStanding>(EarlierStanding{before, again, again.schedule.claim});
    Standing& standing = again;
    if (holds(*again.earlier)) {
      standing = again.earlier->standing;
      again.schedule.claim = again.earlier->claim;
    } else {
      // What was proved is no statement about this question.
      std::vector<ObjectiveValue> objectives = std::move(standing.objectives);
      for (ObjectiveValue& objective : objectives) objective.proved = false;
      standing = {};
      standing.status = Status::Feasible;
      standing.objectives = std::move(objectives);
      again.schedule.claim.reset();
    }
    entry = make_entry(*document_.content.problem, document_.content.constraints, std::move(again));
  }
}

void SessionCore::on(const Undo&) {
  const auto problem = document_.content.problem;
  if (const auto what = document_.undo.undo(document_.content)) {
    say(LogLevel::Info, "undone: " + *what);
    settle_after_travel(problem != document_.content.problem);
  }
}

void SessionCore::on(const Redo&) {
  const auto problem = document_.content.problem;
  if (const auto what = document_.undo.redo(document_.content)) {
    say(LogLevel::Info, "done again: " + *what);
    settle_after_travel(problem != document_.content.problem);
  }
}

void SessionCore::settle_after_travel(bool other_problem) {
  work_.proposal.reset();
  // The row that a running job fills may have gone, and rows that came back may be older than what was found since.
  for (EntryPtr& entry : document_.content.schedules)
    if (const EntryPtr* newest = solved_row(entry->name); entry->running && newest) entry = *newest;
  const bool row_here = std::any_of(document_.content.schedules.begin(), document_.content.schedules.end(),
                                    [&](const EntryPtr& e) { return e->running && e->name == work_.job_row; });
  if (work_.live.active() && !row_here) abandon_job("its question was undone");
  if (!work_.live.active()) work_.live = {};
  view_.highlight = {};
  error_.reset();
  if (other_problem) view_.fit_all = true;
  recall_answers();
  changed();
}

// --- selection and showing

void SessionCore::on(const SelectOp& c) {
  if (!document_.content.problem || !c.op.valid() || c.op.index() >= document_.content.problem->ops.size()) return;
  if (!c.extend)
    document_.selection.ops = {c.op};
  else if (std::erase(document_.selection.ops, c.op) == 0)
    document_.selection.ops.push_back(c.op);
  changed();
}

void SessionCore::on(const ClearSelection&) {
  if (document_.selection.empty()) return;
  document_.selection.ops.clear();
  changed();
}

void SessionCore::on(const SetMode& c) {
  if (view_.mode == c.mode) return;
  view_.mode = c.mode;
  view_.fit_all = true;
  changed();
}

int Session::iterations() const {
  const ScheduleEntry* entry = content().entry();
  const int enough = entry ? std::min(stage_count(entry->schedule), kMostIterations) + 2 : 0;
  return view().iterations.value_or(std::clamp(enough, 3, kMostIterations));
}

void SessionCore::on(const SetIterations& c) {
  view_.iterations = std::clamp(c.count, 1, kMostIterations);
  view_.fit_all = true;
  changed();
}

void SessionCore::on(const ChangeView& c) {
  // Only these are what the window makes its models from.
  const auto drawn = [this] {
    return std::tuple(view_.chart_view, view_.critical, view_.barriers, view_.tensor, view_.queues, view_.highlight);
  };
  const auto before = drawn();
  c.change(view_, settings_.panes);
  if (drawn() != before) changed();
}

void SessionCore::on(const ChangeSettings& c) {
  c.change(settings_);
  if (c.keep) c.change(kept_);
}

void SessionCore::on(const CopyLine&) {
  if (last_line_.empty()) return;
  view_.clipboard = last_line_;
  say(LogLevel::Info, "copied: " + last_line_);
}
void SessionCore::on(const Quit& c) { (c.even_unsaved || !session_.worth_asking() ? view_.quit : view_.ask_leave) = true; }

}  // namespace heddle::app
