// The session's side of sweeps: files are followed, tuning runs started, and any point opened as a schedule.
#include <fmt/format.h>

#include <filesystem>

#include "app/jobs/file_names.h"
#include "app/jobs/judge_claim.h"
#include "app/session/command_line.h"
#include "app/session/files.h"
#include "app/session/session_core.h"
#include "core/base/text_style.h"
#include "core/formats/schedule_json.h"
#include "core/kernel/subtile.h"
#include "core/library/library.h"
#include "core/schedule/constraint_text.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

/// A shipped name, or a file: as the line says it, or beside the sweep's own file.
template <class T>
Result<T> load_beside(const std::string& name, const std::string& sweep, Result<T> (*loader)(const std::string&, std::vector<Fault>*)) {
  auto loaded = loader(name, nullptr);
  if (loaded.ok() || fs::path(name).is_absolute()) return loaded;
  const std::string beside = (fs::path(sweep).parent_path() / name).string();
  std::error_code ignored;
  return fs::exists(split_cuts(beside).kernel, ignored) ? loader(beside, nullptr) : std::move(loaded);
}

bool is_named(Shelf shelf, const std::string& file, const std::string& own_name, const std::string& wanted) {
  return wanted == file || wanted == own_name || wanted == name_in_library(shelf, file);
}

/// The parameters that are other ones than the kernel's own; input error: it has no such parameter.
Result<Scope> overrides_of(const Kernel& kernel, const Scope& params) {
  for (const auto& [name, value] : params)
    if (!kernel.find_param(name)) return Error::input(fmt::format("{} has no parameter {}", kernel.name, printable(name)));
  return own_params(kernel, params);
}

}  // namespace

std::string Session::why_no_tune() const {
  if (!content().kernel) return "open a kernel first";
  if (!content().machine) return "open a machine first";
  if (std::string reason = why_not(content().source(), SourceUse::Tuning); !reason.empty()) return reason;
  if (std::string reason = why_no_program(); !reason.empty()) return reason;
  if (sweep().running()) return "a sweep is being run";
  if (sweep().tools().program.empty()) return "the command-line program heddle, which tunes, is not beside this one";
  if (sweep().tools().folder.empty()) return "there is no folder to keep histories in";
  return {};
}

std::string Session::why_no_more() const {
  if (const std::string reason = why_no_tune(); !reason.empty()) return reason;
  const SweepTable& table = sweep().table();
  if (!sweep().file() || table.kind != SweepKind::Tuning) return "no tuner's history is open";
  // A point of it may be open, whose kernel is cut.
  const std::string whole = split_cuts(content().kernel->source).kernel;
  if (!is_named(Shelf::Kernels, whole, split_cuts(content().kernel->name).kernel, table.head.kernel) ||
      !is_named(Shelf::Machines, content().machine->file, content().machine->name, table.head.machine))
    return fmt::format("the history is of {} on {}", printable(table.head.kernel), printable(table.head.machine));
  return {};
}

void SessionCore::on(const OpenSweep& c) {
  const auto kind = classify_sweep(c.path);
  if (!kind) return fail("Cannot open " + base_name(c.path), kind.error());
  work_.sweep.open({c.path, *kind});
  // With nothing open, what was swept comes with it, where it is here.
  if (!document_.content.kernel) {
    SweepNews first;
    SweepLines lines({c.path, *kind});
    constexpr std::uint32_t kEnough = 1u << 20;
    std::error_code ignored;
    const auto size = static_cast<std::uint64_t>(fs::file_size(c.path, ignored));
    if (const auto text = read_sweep_line(c.path, 0, static_cast<std::uint32_t>(std::min<std::uint64_t>(size, kEnough))))
      lines.take(*text, first);
    SweepHead head;
    for (const PlacedLine& line : first.lines) {
      if (!head.kernel.empty()) break;
      if (const auto* run = std::get_if<SweepHead>(&line.line)) head = *run;
      if (const auto* row = std::get_if<SweepRow>(&line.line))
        for (const auto& [name, value] : row->config)
          (name == "kernel" ? head.kernel : name == "machine" ? head.machine : head.method) = sweep_text(value);
    }
    auto kernel = load_beside(head.kernel, c.path, load_kernel);
    auto machine = load_beside(head.machine, c.path, load_machine);
    if (kernel && machine) {
      Content next;
      next.kernel = std::make_shared<const Kernel>(*std::move(kernel));
      next.machine = std::make_shared<const Machine>(*std::move(machine));
      adopt(std::move(next), "open " + base_name(c.path));
    }
  }
  view_.tab = BottomTab::Sweep;
  remember_recent(settings_, c.path);
  say(LogLevel::Info, "opened " + c.path);
  changed();
}

void SessionCore::on(const CloseSweep&) {
  if (!work_.sweep.file()) return;
  work_.sweep.cancel();
  work_.sweep.shut();
  changed();
}

void SessionCore::on(const StartTune& c) {
  const std::string reason = c.more ? session_.why_no_more() : session_.why_no_tune();
  if (!reason.empty()) return say(LogLevel::Warning, "not tuned: " + reason);
  SweepFile file{c.more ? work_.sweep.file()->path : std::string(), SweepKind::Tuning};
  if (!c.more) {
    std::error_code error;
    fs::create_directories(work_.sweep.tools().folder, error);
    if (error)
      return fail("Cannot tune", Error::environment(fmt::format("{} cannot be made: {}", work_.sweep.tools().folder, error.message())));
    const std::string stem = fmt::format("{}/{}_{}", work_.sweep.tools().folder, time_stamp(),
                                         safe_file_name(document_.content.kernel->name + "_" + document_.content.machine->name));
    for (int i = 1; i == 1 || fs::exists(file.path, error); ++i)
      file.path = i == 1 ? stem + ".tuning.jsonl" : fmt::format("{}_{}.tuning.jsonl", stem, i);
  }
  std::vector<std::string> words{work_.sweep.tools().program};
  for (std::string& word : tune_words(document_.content, c.options, file.path, c.more ? &work_.sweep.table().head : nullptr))
    words.push_back(std::move(word));
  view_.tab = BottomTab::Sweep;
  work_.sweep.start(std::move(words), std::move(file));
  say(LogLevel::Info, fmt::format("tuning {} on {}", document_.content.kernel->name, document_.content.machine->name));
  changed();
}

void SessionCore::on(const CancelTune&) {
  if (!work_.sweep.running()) return;
  work_.sweep.cancel();
  say(LogLevel::Info, "the sweep was cancelled; its history can be continued");
  changed();
}

bool SessionCore::pump_sweep() {
  std::optional<SweepRunEnd> ended;
  const bool news = work_.sweep.pump(ended);
  if (ended && !ended->failure.empty()) say(LogLevel::Bad, "tuning: " + ended->failure);
  if (ended && ended->failure.empty() && !ended->cancelled) say(LogLevel::Good, "tuning has ended");
  if (news) changed();
  return news;
}

void SessionCore::on(const OpenPoint& c) {
  const SweepTable& table = work_.sweep.table();
  if (!work_.sweep.file() || c.index >= table.points.size()) return;
  const SweepFile file = *work_.sweep.file();
  const SweepPoint& point = table.points[c.index];
  const std::string what = fmt::format("{} {}", file.kind == SweepKind::Tuning ? "evaluation" : "job", point.number),
                    title = "Cannot open " + what;
  const auto line = read_sweep_line(file.path, point.offset, point.length);
  if (!line) return fail(title, line.error());
  const auto source = parse_sweep_point(file.kind, *line, table.head, file.path);
  if (!source) return fail(title, source.error());
  std::string kernel_name = source->kernel;
  for (const Subtile& cut : source->subtiles) kernel_name += cut_suffix(cut);
  // Its problem: the one that is open, where it is the same.
  Content next;
  const bool same_kernel =
      document_.content.kernel && is_named(Shelf::Kernels, document_.content.kernel->source, document_.content.kernel->name, kernel_name);
  const bool same_machine = document_.content.machine &&
                            is_named(Shelf::Machines, document_.content.machine->file, document_.content.machine->name, source->machine);
  next.kernel = same_kernel ? document_.content.kernel : nullptr;
  next.machine = same_machine ? document_.content.machine : nullptr;
  if (!next.kernel) {
    auto kernel = load_beside(kernel_name, file.path, load_kernel);
    if (!kernel) return fail(title, kernel.error());
    next.kernel = std::make_shared<const Kernel>(*std::move(kernel));
  }
  if (!next.machine) {
    auto machine = load_beside(source->machine, file.path, load_machine);
    if (!machine) return fail(title, machine.error());
    next.machine = std::make_shared<const Machine>(*std::move(machine));
  }
  const auto overrides = overrides_of(*next.kernel, source->params);
  if (!overrides) return fail(title, overrides.error());
  next.overrides = *overrides;
  if (!source->schedule.empty()) {
    const auto head = parse_schedule_head(source->schedule, file.path);
    if (!head) return fail(title, head.error());
    next.choices = next.brought = head->layouts;
  }
  const Content& now = document_.content;
  const bool same =
      same_kernel && same_machine && now.problem && now.overrides == next.overrides && now.changes.empty() && now.choices == next.choices;
  if (c.as_baseline && !same)
    return say(LogLevel::Warning, fmt::format("{} is of other parameters: it can be shown, not compared with what is shown", what));
  if (!same) {
    auto problem = make_problem(next.spec());
    if (!problem) return fail(title, problem.error());
    next.problem = std::make_shared<const Problem>(*std::move(problem));
  }
  const std::shared_ptr<const Problem> held = same ? document_.content.problem : next.problem;  // opening it makes another
  const Problem& problem = *held;
  std::optional<Schedule> schedule;
  if (!source->schedule.empty()) {
    auto read = parse_schedule(source->schedule, file.path, problem);
    if (!read) return fail(title, read.error());
    if (!fits(problem, *read)) return fail(title, Error::input("its schedule does not have one placement per op of " + problem.kernel));
    schedule = *std::move(read);
  }
  Constraints demands;
  for (const std::string& sentence : source->demands) {
    auto demand = parse_constraint(sentence, problem);
    if (!demand) return fail(title, demand.error());
    demands.push_back(*std::move(demand));
  }
  const bool demanded = c.as_baseline || demands == now.constraints;  // B is judged by what is demanded of A
  if (!schedule && same) {
    // Found again, or found that there is none: as if it were asked for by hand.
    if (!demanded) return constrain(std::move(demands), "what " + what + " demands", true);
    if (session_.why_no_solve().empty()) on(StartSolve{});
    return;
  }
  if (!same) {
    next.constraints = demands;
    next.kernel_options = now.kernel_options;
    adopt(std::move(next), "open " + what);
    if (!now.problem) return;
    if (!schedule) return solve_opened();
  } else {
    if (!demanded) abandon_job("other demands were opened");
    document_.undo.remember(now, "open " + what);
    if (!demanded) {
      const Asked before = asked_now();
      document_.content.constraints = std::move(demands);
      judge_again(before);
    }
  }
  const std::string name = source->name.empty() ? what : fmt::format("#{} {}", point.number, source->name);
  // Configurations are compared by this, and not by II.
  if (table.kind == SweepKind::Tuning && point.has_value() && schedule->provenance.note.empty())
    schedule->provenance.note = fmt::format("{} of the whole kernel, predicted: {:.0f}{}. That is what the tuner compares.", table.unit(),
                                            point.value, point.tflops == point.tflops ? fmt::format(", {:.1f} TFLOP/s", point.tflops) : "");
  // What the file says was proved is its claim, about just this problem without demands.
  if (source->lower_bound && source->demands.empty() && source->problem_hash == problem_hash(problem)) {
    Certificate& claim = schedule->claim.emplace();
    claim.status = *source->lower_bound == schedule->ii ? Status::Optimal : Status::Feasible;
    claim.ii = schedule->ii;
    claim.lower_bound = *source->lower_bound;
    claim.explanation = source->explanation;
    claim.problem_hash = source->problem_hash;
  }
  std::vector<Fault> refuted;
  judge_claim(problem, now.constraints, *schedule, file.path, &refuted);
  add_row({*std::move(schedule), name, c.as_baseline});
  recall_proofs();
  changed();
  warn_aloud(refuted);
}

}  // namespace heddle::app
