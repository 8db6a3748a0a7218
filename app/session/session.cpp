// Commands that open, change and show things. Solving is in session_solve.cpp.
#include "app/session/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/claims/judge_claim.h"
#include "app/session/command_line.h"
#include "app/session/files.h"
#include "core/base/atomic_file.h"
#include "core/dump/dump_files.h"
#include "core/formats/changes_json.h"
#include "core/formats/constraints_json.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"

namespace heddle::app {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Session::Session(Environment environment) : environment_(std::move(environment)), kernel_(environment_.kernel, environment_.wake), runs_(environment_.run, environment_.wake), sweep_(environment_.sweep, environment_.wake) {
  if (!environment_.clock) environment_.clock = steady_seconds;
  began_ = environment_.clock();
  if (!environment_.settings_file.empty()) settings_ = load_settings(environment_.settings_file);
  kept_ = saved_settings_ = settings_;
  look_for_lost_work();
}

Session::~Session() = default;

void Session::apply(const Command& command) {
  std::visit([this](const auto& c) { on(c); }, command);
  if (auto line = twin_of(*this, command)) last_line_ = *std::move(line);
  keep_kernel_fresh();
}

double Session::now() const { return environment_.clock() - began_; }

void Session::say(LogLevel level, std::string text) { log_.push_back({now(), level, std::move(text)}); }

void Session::fail(std::string title, Error error) {
  say(LogLevel::Bad, title);
  for (const Fault& fault : error.faults) say(LogLevel::Bad, "  " + to_string(fault));
  error_ = ErrorReport{std::move(title), std::move(error)};
}

void Session::changed() {
  // What points into the problem goes with what it pointed at, whichever command, undo or answer took that away.
  const std::size_t ops = content_.problem ? content_.problem->ops.size() : 0, edges = content_.problem ? content_.problem->edges.size() : 0;
  const auto gone = [ops](OpId op) { return !op.valid() || op.index() >= ops; };
  std::erase_if(selection_.ops, gone);
  std::erase_if(view_.highlight.ops, gone);
  std::erase_if(view_.highlight.edges, [edges](EdgeId edge) { return !edge.valid() || edge.index() >= edges; });
  if (view_.alignment.at == Alignment::At::Op && gone(view_.alignment.op)) view_.alignment = {};
  ++revision_;
}

void Session::save_settings_now() {
  kept_.layout = settings_.layout;
  kept_.recent = settings_.recent;
  if (environment_.settings_file.empty() || kept_ == saved_settings_) return;
  saved_settings_ = kept_;
  const auto saved = save_settings(environment_.settings_file, kept_);
  if (!saved) say(LogLevel::Warning, "settings were not saved: " + to_string(saved.error()));
}

// --- files

void Session::on(const OpenFile& c) {
  if (is_sweep(c.path)) return on(OpenSweep{c.path});
  const auto kind = classify_file(c.path);
  if (!kind) return fail("Cannot open " + base_name(c.path), kind.error());
  switch (*kind) {
    case FileKind::Kernel: return on(OpenKernel{c.path});
    case FileKind::Machine: return on(OpenMachine{c.path});
    case FileKind::Schedule: return on(OpenSchedule{c.path});
    case FileKind::Constraints: return on(OpenConstraints{c.path});
    case FileKind::Project: return on(OpenProject{c.path});
    case FileKind::Measurement: return on(OpenMeasurement{c.path});
    case FileKind::Dump: return on(OpenDump{c.path});
    case FileKind::DumpSolution: return on(OpenSchedule{c.path});
    case FileKind::Unknown: break;
  }
  fail("Cannot open " + base_name(c.path),
       Error::input("this is not a kernel, machine, schedule, constraints, project or measurement file, nor a sweep, nor a compiler's dump",
                    "its \"schema\" should be one of heddle.kernel/1, heddle.machine/1, heddle.schedule/1, "
                    "heddle.constraints/1, heddle.project/1, heddle.measurement/1, heddle.tuning/1; its \"schema_version\" ddg-0.1, 0.1 (schedule_graph), "
                    "curated-ddg-0.2, joint-solver-0.1 or joint-solver-0.2"));
}

void Session::on(const OpenKernel& c) {
  if (peer::is_dump(c.name)) return on(OpenDump{c.name});
  auto kernel = load_kernel(c.name);
  if (!kernel) return fail("Cannot open kernel " + base_name(c.name), kernel.error());
  Content next;
  next.kernel = std::make_shared<const Kernel>(std::move(*kernel));
  if (!content_.dump) next.machine = content_.machine;  // a dump's is for its own ops only
  remember_recent(settings_, c.name);
  adopt(std::move(next), "open kernel " + base_name(c.name));
}

void Session::on(const OpenMachine& c) {
  if (content_.dump) return refuse_machine(c.name);
  auto machine = load_machine(c.name);
  if (!machine) return fail("Cannot open machine " + base_name(c.name), machine.error());
  Content next;
  next.kernel = content_.kernel;
  next.overrides = content_.overrides;
  next.constraints = content_.constraints;
  next.changes = content_.changes;
  next.kernel_options = content_.kernel_options;
  next.machine = std::make_shared<const Machine>(std::move(*machine));
  adopt(std::move(next), "open machine " + base_name(c.name));
}

void Session::on(const OpenPair& c) {
  if (peer::is_dump(c.kernel)) return open_dump(c.kernel, c.solve);
  auto kernel = load_kernel(c.kernel);
  if (!kernel) return fail("Cannot open kernel " + base_name(c.kernel), kernel.error());
  auto machine = load_machine(c.machine);
  if (!machine) return fail("Cannot open machine " + base_name(c.machine), machine.error());
  Content next;
  next.kernel = std::make_shared<const Kernel>(std::move(*kernel));
  next.machine = std::make_shared<const Machine>(std::move(*machine));
  remember_recent(settings_, c.kernel);
  adopt(std::move(next), "open " + base_name(c.kernel));
  if (c.solve && content_.problem && why_no_solve().empty()) on(StartSolve{});
}

void Session::on(const OpenSchedule& c) {
  if (peer::is_dump(c.path)) return on(OpenDump{c.path});
  const std::string title = "Cannot open schedule " + base_name(c.path);
  const auto target = read_schedule_head(c.path);
  if (!target) return fail(title, target.error());
  // A schedule brings its own kernel and machine when others, or none, are open.
  const bool same = content_.problem && content_.problem->kernel == target->kernel &&
                    content_.problem->machine == target->machine &&
                    std::all_of(target->params.begin(), target->params.end(), [&](const auto& p) {
                      const auto it = content_.problem->params.find(p.first);
                      return it != content_.problem->params.end() && it->second == p.second;
                    });
  Content next = content_;
  if (!same) {
    next = {};
    next.document = ++documents_;
    const bool keep_kernel = content_.kernel && content_.kernel->name == target->kernel;
    const bool keep_machine = content_.machine && content_.machine->name == target->machine;
    next.kernel = keep_kernel ? content_.kernel : nullptr;
    next.machine = keep_machine ? content_.machine : nullptr;
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
    next.overrides = target->params;
    for (const Param& param : next.kernel->params)  // a file says them all
      if (const auto it = next.overrides.find(param.name); it != next.overrides.end() && it->second == param.value) next.overrides.erase(it);
    auto problem = resolve(*next.kernel, *next.machine, next.overrides);
    if (!problem) return fail(title, problem.error());
    next.problem = std::make_shared<const Problem>(std::move(*problem));
    next.bounds = std::make_shared<const Bounds>(compute_bounds(*next.problem));
  }
  auto schedule = read_schedule(c.path, *next.problem);
  if (!schedule) return fail(title, schedule.error());
  if (!fits(*next.problem, *schedule))
    return fail(title, Error::input("the schedule does not have one placement per op of " + next.problem->kernel));

  if (!same) abandon_job("another schedule's kernel was opened");
  undo_.remember(content_, "open schedule " + base_name(c.path));
  ScheduleEntry entry;
  entry.name = schedule->name.empty() ? base_name(c.path) : schedule->name;
  entry.file = c.path;
  entry.status = Status::Feasible;  // what the file says of it stays the schedule's claim
  std::vector<Fault> refuted;
  judge_claim(*next.problem, next.constraints, *schedule, c.path, &refuted);
  entry.schedule = std::move(*schedule);
  next.schedules.push_back(make_entry(*next.problem, next.constraints, std::move(entry)));
  next.shown = next.schedules.size() - 1;
  content_ = std::move(next);
  if (!same) selection_ = {}, live_ = {}, view_.highlight = {};
  error_.reset();
  view_.fit_all = true;
  changed();
  const ScheduleEntry& shown = *content_.entry();
  if (!shown.verdict.valid()) on(FirstViolation{});
  say(shown.verdict.valid() ? LogLevel::Good : LogLevel::Bad,
      shown.verdict.valid()
          ? fmt::format("{}: valid, II {}, sustainable period {}", shown.name, shown.schedule.ii, shown.period.cycles())
          : fmt::format("{}: {} violation{}, first: {}", shown.name, shown.verdict.violations.size(),
                        shown.verdict.violations.size() == 1 ? "" : "s", shown.verdict.violations.front().message));
  warn_aloud(refuted);
}

void Session::warn_aloud(const std::vector<Fault>& warnings) {
  for (const Fault& warning : warnings) say(LogLevel::Warning, to_string(warning));
  if (!warnings.empty()) view_.notice = base_name(warnings.back().file) + ": " + warnings.back().message;
}

void Session::on(const OpenConstraints& c) {
  const std::string title = "Cannot open constraints " + base_name(c.path);
  if (!content_.problem)
    return fail(title, Error::input("constraints need an open kernel and machine", "open those first"));
  // The file's changed numbers come first: what it demands is demanded of the problem that they make.
  auto changes = read_changes(c.path);
  if (!changes) return fail(title, changes.error());
  Content before = content_;
  const bool other_numbers = !changes->empty() || !content_.changes.empty();
  if (other_numbers) {
    content_.changes = std::move(*changes);
    if (const auto error = resolve_content()) {
      content_ = std::move(before);
      return fail(title, *error);
    }
  }
  auto constraints = read_constraints(c.path, *content_.problem);
  if (!constraints) {
    content_ = std::move(before);
    return fail(title, constraints.error());
  }
  abandon_job("the constraints changed");
  undo_.remember(std::move(before), "open constraints " + base_name(c.path));
  content_.constraints = std::move(*constraints);
  judge_again();
  view_.tab = BottomTab::Constraints;
  say(LogLevel::Info, fmt::format("{} constraint{} and {} changed number{} from {}", content_.constraints.size(),
                                  content_.constraints.size() == 1 ? "" : "s", content_.changes.size(),
                                  content_.changes.size() == 1 ? "" : "s", base_name(c.path)));
  changed();
}

void Session::on(const SaveSchedule& c) {
  const ScheduleEntry* entry = content_.entry();
  if (!entry) return fail("Cannot save", Error::input("there is no schedule to save", "solve or open one first"));
  const auto saved = write_file(c.path, schedule_text(*content_.problem, entry->schedule));
  if (!saved) return fail("Cannot save " + base_name(c.path), saved.error());
  say(LogLevel::Good, "saved " + c.path);
}

void Session::on(const CloseDocument&) {
  if (!content_.kernel && !content_.machine) return;
  adopt({}, "close");
}

void Session::on(const DismissError&) { error_.reset(); }

// --- the document

std::optional<Error> Session::resolve_content() {
  content_.problem = nullptr;
  content_.bounds = nullptr;
  content_.unresolved = nullptr;
  if (!content_.kernel || !content_.machine) return std::nullopt;
  auto problem = resolve(*content_.kernel, *content_.machine, content_.overrides, content_.changes);
  if (!problem) {
    content_.unresolved = std::make_shared<const Error>(problem.error());
    return problem.error();
  }
  content_.problem = std::make_shared<const Problem>(std::move(*problem));
  content_.bounds = std::make_shared<const Bounds>(compute_bounds(*content_.problem));
  return std::nullopt;
}

void Session::adopt(Content next, const std::string& what) {
  abandon_job("another problem was opened");
  last_line_.clear();
  // Another kernel is another document, with another file.
  if (next.document == 0) next.document = next.kernel && next.kernel == content_.kernel ? content_.document : ++documents_;
  undo_.remember(std::move(content_), what);
  content_ = std::move(next);
  selection_ = {};
  view_.highlight = {};
  live_ = {};
  view_.highlight = {};
  view_.alignment = {};
  error_.reset();
  if (const auto error = resolve_content()) {
    fail(fmt::format("{} cannot be scheduled on {}", content_.kernel->name, content_.machine->name), *error);
  } else if (content_.problem) {
    say(LogLevel::Info,
        fmt::format("{} on {}: {} ops, {} dependences, II ≥ {}", content_.problem->kernel, content_.problem->machine,
                    content_.problem->ops.size(), content_.problem->edges.size(), content_.bounds->min_ii()));
  }
  view_.fit_all = true;
  changed();
}

void Session::on(const SetParam& c) {
  if (!content_.kernel) return;
  const Param* param = content_.kernel->find_param(c.name);
  if (!param) return fail("Cannot set " + c.name, Error::input(content_.kernel->name + " has no parameter " + c.name));
  const auto found = content_.overrides.find(c.name);
  if (c.value == (found == content_.overrides.end() ? param->value : found->second)) return;
  Content before = content_;
  content_.overrides[c.name] = c.value;
  if (c.value == param->value) content_.overrides.erase(c.name);
  if (const auto error = resolve_content()) {
    content_ = std::move(before);
    return fail(fmt::format("{} = {} does not work", c.name, c.value), *error);
  }
  Content next = std::move(content_);
  next.schedules.clear();
  next.shown.reset();
  next.baseline.reset();
  content_ = std::move(before);
  adopt(std::move(next), fmt::format("{} = {}", c.name, c.value));
}

void Session::on(const RemoveSchedule& c) {
  if (c.index >= content_.schedules.size()) return;
  const EntryPtr entry = content_.schedules[c.index];
  if (entry->running) abandon_job("its row was removed");
  undo_.remember(content_, "remove " + entry->name);
  content_.schedules.erase(content_.schedules.begin() + static_cast<std::ptrdiff_t>(c.index));
  const auto moved_up = [&](std::optional<std::size_t> index) {
    return index && *index > c.index ? *index - 1 : index;
  };
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

void Session::judge_again(bool tighter) {
  live_ = {};
  for (EntryPtr& entry : content_.schedules) {
    ScheduleEntry again = *entry;
    // What was proved under other constraints is no longer a statement about this question.
    if (!tighter || again.status == Status::Invalid) {
      again.status = Status::Feasible;
      again.lower_bound.reset();
      again.explanation.clear();
      again.of_solver = false;
      again.schedule.claim.reset();
      for (ObjectiveValue& objective : again.objectives) objective.proved = false;
    }
    entry = make_entry(*content_.problem, content_.constraints, std::move(again));
  }
}

void Session::on(const Undo&) {
  const auto problem = content_.problem;
  if (const auto what = undo_.undo(content_)) {
    say(LogLevel::Info, "undone: " + *what);
    settle_after_travel(problem != content_.problem);
  }
}

void Session::on(const Redo&) {
  const auto problem = content_.problem;
  if (const auto what = undo_.redo(content_)) {
    say(LogLevel::Info, "done again: " + *what);
    settle_after_travel(problem != content_.problem);
  }
}

void Session::settle_after_travel(bool other_problem) {
  proposal_.reset();
  // The row that a running job fills may have gone, and rows that came back may be older than what was found since.
  for (EntryPtr& entry : content_.schedules)
    if (const auto newest = solved_.find(entry->name); entry->running && newest != solved_.end())
      entry = newest->second;
  const bool row_here = std::any_of(content_.schedules.begin(), content_.schedules.end(),
                                    [&](const EntryPtr& e) { return e->running && e->name == job_row_; });
  if (live_.active() && !row_here) abandon_job("its question was undone");
  if (!live_.active()) live_ = {};
  view_.highlight = {};
  error_.reset();
  if (other_problem) view_.fit_all = true;
  recall_answers();
  changed();
}

// --- selection and showing

void Session::on(const SelectOp& c) {
  if (!content_.problem || !c.op.valid() || c.op.index() >= content_.problem->ops.size()) return;
  if (!c.extend)
    selection_.ops = {c.op};
  else if (std::erase(selection_.ops, c.op) == 0)
    selection_.ops.push_back(c.op);
  changed();
}

void Session::on(const ClearSelection&) {
  if (selection_.empty()) return;
  selection_.ops.clear();
  changed();
}

void Session::on(const SetMode& c) {
  if (view_.mode == c.mode) return;
  view_.mode = c.mode;
  view_.fit_all = true;
  changed();
}

int Session::iterations() const {
  const ScheduleEntry* entry = content_.entry();
  const int enough = entry ? std::min(stage_count(entry->schedule), kMostIterations) + 2 : 0;
  return view_.iterations.value_or(std::clamp(enough, 3, kMostIterations));
}

void Session::on(const SetIterations& c) {
  view_.iterations = std::clamp(c.count, 1, kMostIterations);
  view_.fit_all = true;
  changed();
}

void Session::on(const SetTheme& c) {
  settings_.theme = c.theme;
  if (c.keep) kept_.theme = settings_.theme;
}

void Session::on(const SetScale& c) {
  settings_.scale_percent = std::clamp(c.percent, 50, 300);
  if (c.keep) kept_.scale_percent = settings_.scale_percent;
}

void Session::on(const SetKeys& c) {
  if (c.keys)
    settings_.keys[c.action] = *c.keys;
  else
    settings_.keys.erase(c.action);
  kept_.keys = settings_.keys;
}

void Session::on(const ResetKeys&) {
  settings_.keys.clear();
  kept_.keys.clear();
}

void Session::on(const SetWheelScrolls& c) { kept_.wheel_scrolls = settings_.wheel_scrolls = c.scrolls; }

void Session::on(const FoldPane& c) {
  switch (c.pane) {
    case Pane::Left: settings_.layout.left_folded = c.folded; break;
    case Pane::Right: settings_.layout.right_folded = c.folded; break;
    case Pane::Bottom: settings_.layout.bottom_folded = c.folded; break;
  }
}

void Session::on(const RememberUsed& c) {
  remember_used(settings_, c.what);
  kept_.used = settings_.used;
}

void Session::on(const ShowTab& c) {
  view_.tab = c.tab;
  settings_.layout.bottom_folded = false;  // what is asked for is seen
}
void Session::on(const SetHighlight& c) {
  view_.highlight = c.highlight;
  changed();
}
void Session::on(const ToggleKeys&) { view_.keys_overlay = !view_.keys_overlay; }
void Session::on(const ShowOpenDialog&) { view_.open_dialog = true; }
void Session::on(const FocusFind&) { view_.focus_find = true; }
void Session::on(const ZoomToSelection&) { view_.zoom_to_selection = true; }
void Session::on(const FitAll&) { view_.fit_all = true; }
void Session::on(const CopyText& c) { view_.clipboard = c.text; }
void Session::on(const CopyLine&) {
  if (last_line_.empty()) return;
  view_.clipboard = last_line_;
  say(LogLevel::Info, "copied: " + last_line_);
}
void Session::on(const Quit& c) { (c.even_unsaved || !worth_asking() ? view_.quit : view_.ask_leave) = true; }

}  // namespace heddle::app
