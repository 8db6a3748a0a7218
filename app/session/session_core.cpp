#include "app/session/session_core.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/jobs/content_store.h"
#include "app/jobs/judge_claim.h"
#include "app/session/files.h"
#include "core/base/text_style.h"
#include "core/formats/schedule_json.h"
#include "core/kernel/switches.h"
#include "core/library/library.h"
#include "core/library/source.h"

namespace heddle::app {
namespace {

/// The problem has just the kernel, machine and parameters that the schedule's file says.
bool is_of(const ScheduleHead& head, const Problem* problem) {
  return problem && problem->kernel == head.kernel && problem->machine == head.machine &&
         std::all_of(head.params.begin(), head.params.end(), [&](const auto& param) {
           const auto own = problem->params.find(param.first);
           return own != problem->params.end() && own->second == param.second;
         });
}

Error unknown_file() {
  return Error::input(
      "this is not a kernel, machine, schedule, constraints, project or measurement file, nor a sweep, nor a compiler's dump, nor "
      "a Triton kernel, nor a PTX or its launch",
      "its \"schema\" should be one of heddle.kernel/1, heddle.machine/1, heddle.schedule/1, "
      "heddle.constraints/1, heddle.project/1, heddle.measurement/1, heddle.tuning/1, heddle.launch/1; its \"schema_version\" ddg-0.1, 0.1 "
      "(schedule_graph), "
      "curated-ddg-0.2, joint-solver-0.1 or joint-solver-0.2");
}

}  // namespace

SessionCore::SessionCore(Environment environment) : environment_(std::move(environment)) {
  projects_.look_for_lost_work(environment_.autosave_folder);
  windows_.begin(std::exchange(environment_.handed_over, std::nullopt));
}

SessionCore::~SessionCore() = default;

bool SessionCore::pump() {
  bool news = solving_.pump();
  if (solving_.take_wants_why()) showing_.ask_why();
  if (questions_.pump()) {
    questions_.leave_answers();
    news = true;
  }
  const auto take = [&](auto& state) { news = state.pump() || news; };
  take(kernel_), take(runs_), take(sweep_), take(truth_), take(predictions_), take(sources_), take(launch_), take(texts_), take(windows_);
  const auto distrusted = take_store_trouble();
  if (distrusted) document_.say(LogLevel::Warning, *distrusted);
  projects_.keep_safe();
  return news || distrusted;
}

bool SessionCore::close(std::chrono::milliseconds limit) {
  showing_.save_settings_now();
  projects_.leave();
  const auto deadline = std::chrono::steady_clock::now() + limit;
  solving_.abandon("the window closes");
  questions_.cancel();
  return solving_.close(deadline) && kernel_.close(deadline) && runs_.close(deadline) && sweep_.close(deadline) && truth_.close(deadline) &&
         predictions_.close(deadline) && sources_.close(deadline) && launch_.close(deadline) && questions_.close(deadline);
}

void SessionCore::on(const OpenFile& c) {
  if (is_sweep(c.path)) return sweep_.on(OpenSweep{c.path});
  if (is_shipped_kernel(c.path)) return on(OpenKernel{c.path, c.solve});  // by its name
  const auto kind = classify_file(c.path);
  if (!kind) return document_.fail("Cannot open " + base_name(c.path), kind.error());
  switch (*kind) {
    case FileKind::Kernel: return on(OpenKernel{c.path, c.solve});
    case FileKind::Machine: return on(OpenMachine{c.path, c.solve});
    case FileKind::Schedule: return on(OpenSchedule{c.path});
    case FileKind::Constraints: return edits_.on(OpenConstraints{c.path});
    case FileKind::Project: return projects_.on(OpenProject{c.path});
    case FileKind::Measurement: return on(OpenMeasurement{c.path});
    case FileKind::Launch: on(CloseDocument{}); return launch_.on(OpenLaunch{c.path});
    case FileKind::Compilers: return void(sources_.open({c.path}));
    case FileKind::Unknown: break;
  }
  document_.fail("Cannot open " + base_name(c.path), unknown_file());
}

void SessionCore::on(const OpenKernel& c) {
  if (sources_.open({c.name})) return;
  auto kernel = load_kernel(c.name);
  if (!kernel) return document_.fail("Cannot open kernel " + base_name(c.name), kernel.error());
  Content next;
  next.kernel = std::make_shared<const Kernel>(std::move(*kernel));
  if (document_.content.allows(SourceUse::OtherMachine)) next.machine = document_.content.machine;  // else it is for its own ops only
  if (next.machine && !make_problem(next.spec())) take_usual_machine(next);
  remember_recent(document_.settings, c.name);
  edits_.adopt(std::move(next), "open kernel " + base_name(c.name));
  if (c.solve) solving_.solve_opened();
}

void SessionCore::take_usual_machine(Content& next) {
  const std::vector<std::string> others = machines_for(*next.kernel);
  auto machine = others.empty() ? Result<Machine>(Error::input("no machine runs it")) : load_machine(others.front());
  if (!machine) return;
  document_.say(LogLevel::Info, fmt::format("{} does not run on {}: opened on {}", next.kernel->name, next.machine->name, machine->name));
  next.machine = std::make_shared<const Machine>(std::move(*machine));
}

void SessionCore::on(const OpenMachine& c) {
  if (document_.content.source) return sources_.switch_machine(c.name);
  auto machine = load_machine(c.name);
  if (!machine) return document_.fail("Cannot open machine " + base_name(c.name), machine.error());
  Content next;
  next.kernel = document_.content.kernel;
  next.overrides = document_.content.overrides;
  next.constraints = document_.content.constraints;
  next.changes = document_.content.changes;
  next.choices = document_.content.choices;
  next.kernel_options = document_.content.kernel_options;
  next.machine = std::make_shared<const Machine>(std::move(*machine));
  edits_.adopt(std::move(next), "open machine " + base_name(c.name));
  if (c.solve) solving_.solve_opened();
}

void SessionCore::on(const SwitchMachine& c) {
  if (!document_.content.kernel || document_.content.source) return on(OpenMachine{c.name});
  edits_.switch_machine(c);
}

void SessionCore::on(const OpenPair& c) {
  if (sources_.open({c.kernel, c.machine, c.solve})) return;
  auto kernel = load_kernel(c.kernel);
  if (!kernel) return document_.fail("Cannot open kernel " + base_name(c.kernel), kernel.error());
  auto machine = load_machine(c.machine);
  if (!machine) return document_.fail("Cannot open machine " + base_name(c.machine), machine.error());
  Content next;
  next.kernel = std::make_shared<const Kernel>(std::move(*kernel));
  next.machine = std::make_shared<const Machine>(std::move(*machine));
  remember_recent(document_.settings, c.kernel);
  edits_.adopt(std::move(next), "open " + base_name(c.kernel));
  if (c.solve) solving_.solve_opened();
}

Result<Content> SessionCore::content_of(const ScheduleHead& head) {
  const Content& now = document_.content;
  Content next;
  next.document = ++document_.documents;
  if (now.kernel && now.kernel->name == head.kernel) next.kernel = now.kernel;
  if (now.machine && now.machine->name == head.machine) next.machine = now.machine;
  if (!next.kernel) {
    auto kernel = load_kernel(head.kernel);
    if (!kernel) return kernel.error();
    next.kernel = std::make_shared<const Kernel>(std::move(*kernel));
  }
  if (!next.machine) {
    auto machine = load_machine(head.machine);
    if (!machine) return machine.error();
    next.machine = std::make_shared<const Machine>(std::move(*machine));
  }
  next.overrides = own_params(*next.kernel, head.params);  // a file says them all
  auto kernel = settled(next.kernel, next.overrides);
  if (!kernel) return kernel.error();
  next.kernel = *std::move(kernel);
  next.choices = next.brought = head.layouts;
  auto problem = make_problem(next.spec());
  if (!problem) return problem.error();
  next.problem = std::make_shared<const Problem>(std::move(*problem));
  next.bounds = std::make_shared<const Bounds>(compute_bounds(*next.problem));
  return next;
}

void SessionCore::on(const OpenSchedule& c) {
  if (sources_.open_schedule(c.path)) return;
  const std::string title = "Cannot open schedule " + base_name(c.path);
  const auto target = read_schedule_head(c.path);
  if (!target) return document_.fail(title, target.error());
  // A schedule brings its own kernel and machine when others, or none, are open, and its own layouts; not to be compared with what is
  // shown.
  const bool same = is_of(*target, document_.content.problem.get()) && (c.as_baseline || document_.content.choices == target->layouts);
  auto opened = same ? Result<Content>(document_.content) : content_of(*target);
  if (!opened) return document_.fail(title, opened.error());
  auto schedule = read_schedule(c.path, *opened->problem);
  if (!schedule) return document_.fail(title, schedule.error());
  if (!fits(*opened->problem, *schedule))
    return document_.fail(title, Error::input("the schedule does not have one placement per op of " + opened->problem->kernel));
  if (!same) {
    files_.attach(*opened, document_.content);
    solving_.abandon("another schedule's kernel was opened");
  }
  add_schedule(c, *std::move(opened), *std::move(schedule));
}

void SessionCore::add_schedule(const OpenSchedule& c, Content next, Schedule schedule) {
  const bool same = next.problem == document_.content.problem;
  document_.undo.remember(document_.content, "open schedule " + base_name(c.path));
  std::vector<Fault> refuted;
  judge_claim(*next.problem, next.constraints, schedule, c.path, &refuted);
  next.schedules.push_back(make_entry(*next.problem, next.constraints, entry_of_file(std::move(schedule), c.path)));
  const bool as_b = c.as_baseline && next.shown;
  (as_b ? next.baseline : next.shown) = next.schedules.size() - 1;
  if (next.baseline == next.shown) next.baseline.reset();
  document_.content = std::move(next);
  solving_.recall_proofs();
  if (!same) document_.selection = {}, solving_.forget(), document_.view.highlight = {};
  ViewState& view = document_.view;
  if (as_b && (view.chart_view == ChartView::A || view.chart_view == ChartView::Three)) view.chart_view = ChartView::Split;
  document_.error.reset();
  view.fit_all = true;
  document_.changed();
  if (!document_.content.schedules.back()->verdict.valid() && !as_b) rows_.on(FirstViolation{});
  say_verdict(*document_.content.schedules.back());
  document_.warn_aloud(refuted);
}

void SessionCore::say_verdict(const ScheduleEntry& entry) {
  const std::vector<Violation>& broken = entry.verdict.violations;
  if (entry.verdict.valid())
    document_.say(LogLevel::Good,
                  fmt::format("{}: valid, II {}, sustainable period {}", entry.name, entry.schedule.ii, entry.period.cycles()));
  else
    document_.say(LogLevel::Bad,
                  fmt::format("{}: {}, first: {}", entry.name, count_of(broken.size(), "violation"), broken.front().message));
}

void SessionCore::on(const OpenMeasurement& c) {
  const RunPtr run = runs_.open(c.path);
  if (!run) return;
  // With nothing open, what was measured comes with it, where it is here.
  const Measurement& m = run->measurement;
  if (!document_.content.kernel && load_kernel(m.kernel) && load_machine(m.machine)) {
    on(OpenPair{m.kernel, m.machine, false});
    for (const auto& [name, value] : m.params)
      if (document_.content.kernel && document_.content.kernel->find_param(name)) edits_.on(SetParam{name, value});
  }
  runs_.show_opened(c.path);
}

void SessionCore::on(const CloseDocument&) {
  if (launch_.open()) launch_.close_launch();
  if (!document_.content.kernel && !document_.content.machine && !document_.content.source) return;
  edits_.adopt({}, "close");
}

void SessionCore::on(const Undo&) {
  const auto problem = document_.content.problem;
  if (const auto what = document_.undo.undo(document_.content)) {
    document_.say(LogLevel::Info, "undone: " + *what);
    edits_.settle_travel(problem != document_.content.problem);
  }
}

void SessionCore::on(const Redo&) {
  const auto problem = document_.content.problem;
  if (const auto what = document_.undo.redo(document_.content)) {
    document_.say(LogLevel::Info, "done again: " + *what);
    edits_.settle_travel(problem != document_.content.problem);
  }
}

}  // namespace heddle::app
