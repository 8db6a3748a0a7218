#include "app/session/sweep_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/jobs/file_names.h"
#include "app/jobs/heddle_child.h"
#include "app/jobs/judge_claim.h"
#include "app/session/command_line.h"
#include "app/session/edits.h"
#include "app/session/files.h"
#include "app/session/open_document.h"
#include "app/session/rows.h"
#include "app/session/solving.h"
#include "app/session/texts.h"
#include "core/base/environment.h"
#include "core/base/text_style.h"
#include "core/formats/schedule_json.h"
#include "core/kernel/subtile.h"
#include "core/library/library.h"
#include "core/schedule/constraint_text.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFaultsShown = 200;
constexpr int kStoppedByHand = 130, kTerminated = 143;  // exit codes of heddle when it was interrupted

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

/// Kernel and machine that a sweep was of, as its first lines say.
SweepHead head_of(const SweepFile& file) {
  SweepNews first;
  SweepLines lines(file);
  constexpr std::uint32_t kEnough = 1u << 20;
  std::error_code ignored;
  const auto size = static_cast<std::uint64_t>(fs::file_size(file.path, ignored));
  if (const auto text = read_sweep_line(file.path, 0, static_cast<std::uint32_t>(std::min<std::uint64_t>(size, kEnough))))
    lines.take(*text, first);
  SweepHead head;
  for (const PlacedLine& line : first.lines) {
    if (!head.kernel.empty()) break;
    if (const auto* run = std::get_if<SweepHead>(&line.line)) head = *run;
    if (const auto* row = std::get_if<SweepRow>(&line.line))
      for (const auto& [name, value] : row->config)
        (name == "kernel" ? head.kernel : name == "machine" ? head.machine : head.method) = sweep_text(value);
  }
  return head;
}

Result<Constraints> demands_of(const SweepPointSource& source, const Problem& problem) {
  Constraints demands;
  for (const std::string& sentence : source.demands) {
    auto demand = parse_constraint(sentence, problem);
    if (!demand) return demand.error();
    demands.push_back(*std::move(demand));
  }
  return demands;
}

}  // namespace

SweepTools built_in_sweep_tools() { return {heddle_beside(), {}}; }

std::string sweeps_path() { return user_path(UserFolder::State, "sweeps"); }

void SweepState::open(SweepFile file) {
  shut();
  table_.kind = file.kind;
  file_ = file;
  follower_ = follow_sweep(std::move(file), wake_);
}

void SweepState::shut() {
  leaving_.take(std::move(follower_));
  file_.reset();
  const std::uint64_t before = table_.revision;
  table_ = {};
  table_.revision = before + 1;
  faults_.clear();
  bytes_ = 0;
  half_ = missing_ = false;
}

void SweepState::start(std::vector<std::string> words, SweepFile file) {
  run_.start(
      [words = std::move(words)](std::stop_token stop, const auto& say) {
        const auto child = run_heddle_child(words, std::move(stop), say);
        SweepRunEnd end;
        if (!child.ok()) {
          end.failure = to_string(child.error());
        } else if (child->cancelled || child->code == kStoppedByHand || child->code == kTerminated) {
          end.cancelled = true;
        } else if (child->code != 0) {
          end.failure = ending_of(*child, words[1]);
        }
        return end;
      },
      wake_);
  // A history that goes on is followed already.
  if (!file_ || file_->path != file.path) open(std::move(file));
}

bool SweepState::close(std::chrono::steady_clock::time_point until) {
  leaving_.take(std::move(follower_));
  return run_.close(until) && leaving_.wait_until(until);
}

std::string SweepState::why_no_tune() const {
  if (!content_.kernel) return "open a kernel first";
  if (!content_.machine) return "open a machine first";
  if (std::string reason = content_.why_not(SourceUse::Tuning); !reason.empty()) return reason;
  if (std::string reason = files_.why_no_program(content_); !reason.empty()) return reason;
  if (running()) return "a sweep is being run";
  if (tools_.program.empty()) return "the command-line program heddle, which tunes, is not beside this one";
  if (tools_.folder.empty()) return "there is no folder to keep histories in";
  return {};
}

std::string SweepState::why_no_more() const {
  if (const std::string reason = why_no_tune(); !reason.empty()) return reason;
  const SweepTable& table = table_;
  if (!file_ || table.kind != SweepKind::Tuning) return "no tuner's history is open";
  // A point of it may be open, whose kernel is cut.
  const std::string whole = split_cuts(content_.kernel->source).kernel;
  if (!is_named(Shelf::Kernels, whole, split_cuts(content_.kernel->name).kernel, table.head.kernel) ||
      !is_named(Shelf::Machines, content_.machine->file, content_.machine->name, table.head.machine))
    return fmt::format("the history is of {} on {}", printable(table.head.kernel), printable(table.head.machine));
  return {};
}

void SweepState::on(const OpenSweep& c) {
  const auto kind = classify_sweep(c.path);
  if (!kind) return fail("Cannot open " + base_name(c.path), kind.error());
  open({c.path, *kind});
  // With nothing open, what was swept comes with it, where it is here.
  if (!content_.kernel) open_subject({c.path, *kind});
  view_.tab = BottomTab::Sweep;
  remember_recent(settings_, c.path);
  say(LogLevel::Info, "opened " + c.path);
  changed();
}

void SweepState::open_subject(const SweepFile& file) {
  const SweepHead head = head_of(file);
  auto kernel = load_beside(head.kernel, file.path, load_kernel);
  auto machine = load_beside(head.machine, file.path, load_machine);
  if (!kernel || !machine) return;
  Content next;
  next.kernel = std::make_shared<const Kernel>(*std::move(kernel));
  next.machine = std::make_shared<const Machine>(*std::move(machine));
  edits_.adopt(std::move(next), "open " + base_name(file.path));
}

void SweepState::on(const CloseSweep&) {
  if (!file_) return;
  run_.cancel();
  shut();
  changed();
}

void SweepState::on(const StartTune& c) {
  const std::string reason = c.more ? why_no_more() : why_no_tune();
  if (!reason.empty()) return say(LogLevel::Warning, "not tuned: " + reason);
  SweepFile file{c.more ? file_->path : std::string(), SweepKind::Tuning};
  if (!c.more) {
    std::error_code error;
    fs::create_directories(tools_.folder, error);
    if (error) return fail("Cannot tune", Error::environment(fmt::format("{} cannot be made: {}", tools_.folder, error.message())));
    const std::string stem =
        fmt::format("{}/{}_{}", tools_.folder, time_stamp(), safe_file_name(content_.kernel->name + "_" + content_.machine->name));
    for (int i = 1; i == 1 || fs::exists(file.path, error); ++i)
      file.path = i == 1 ? stem + ".tuning.jsonl" : fmt::format("{}_{}.tuning.jsonl", stem, i);
  }
  std::vector<std::string> words{tools_.program};
  for (std::string& word : tune_words(content_, c.options, file.path, c.more ? &table_.head : nullptr)) words.push_back(std::move(word));
  view_.tab = BottomTab::Sweep;
  start(std::move(words), std::move(file));
  say(LogLevel::Info, fmt::format("tuning {} on {}", content_.kernel->name, content_.machine->name));
  changed();
}

void SweepState::on(const CancelTune&) {
  if (!running()) return;
  run_.cancel();
  say(LogLevel::Info, "the sweep was cancelled; its history can be continued");
  changed();
}

bool SweepState::follow() {
  bool news = false;
  for (SweepNews& piece : follower_->drain()) {
    news = true;
    if (piece.from_start) {
      table_.clear();
      faults_.clear();
    }
    for (const PlacedLine& line : piece.lines) table_.take(line);
    for (Fault& fault : piece.faults)
      if (faults_.size() < kMostFaultsShown) faults_.push_back(std::move(fault));
    if (!piece.failure.empty()) faults_.push_back({file_->path, {}, piece.failure, {}});
    missing_ = piece.missing;
    if (missing_) continue;
    bytes_ = piece.bytes;
    half_ = piece.half;
  }
  return news;
}

bool SweepState::pump() {
  leaving_.sweep();
  const bool told = run_.pump();
  if (told && run_.phase() == Task<SweepRunEnd>::Phase::Failed) say(LogLevel::Bad, "tuning: " + run_.failure());
  if (told && run_.phase() == Task<SweepRunEnd>::Phase::Done) {
    const SweepRunEnd& end = *run_.answer();
    if (!end.failure.empty())
      say(LogLevel::Bad, "tuning: " + end.failure);
    else if (!end.cancelled)
      say(LogLevel::Good, "tuning has ended");
  }
  const bool grown = follower_ && follow();
  if (told || grown) changed();
  return told || grown;
}

Result<Content> SweepState::content_of(const SweepPointSource& source) const {
  std::string name = source.kernel;
  for (const Subtile& cut : source.subtiles) name += cut_suffix(cut);
  // Its problem: the one that is open, where it is the same.
  Content next;
  if (content_.kernel && is_named(Shelf::Kernels, content_.kernel->source, content_.kernel->name, name)) next.kernel = content_.kernel;
  if (content_.machine && is_named(Shelf::Machines, content_.machine->file, content_.machine->name, source.machine))
    next.machine = content_.machine;
  if (!next.kernel) {
    auto kernel = load_beside(name, file_->path, load_kernel);
    if (!kernel) return kernel.error();
    next.kernel = std::make_shared<const Kernel>(*std::move(kernel));
  }
  if (!next.machine) {
    auto machine = load_beside(source.machine, file_->path, load_machine);
    if (!machine) return machine.error();
    next.machine = std::make_shared<const Machine>(*std::move(machine));
  }
  const auto overrides = overrides_of(*next.kernel, source.params);
  if (!overrides) return overrides.error();
  next.overrides = *overrides;
  if (source.schedule.empty()) return next;
  const auto head = parse_schedule_head(source.schedule, file_->path);
  if (!head) return head.error();
  next.choices = next.brought = head->layouts;
  return next;
}

Result<std::optional<Schedule>> SweepState::schedule_of(const SweepPoint& point, const SweepPointSource& source,
                                                        const Problem& problem) const {
  if (source.schedule.empty()) return std::optional<Schedule>();
  auto schedule = parse_schedule(source.schedule, file_->path, problem);
  if (!schedule) return schedule.error();
  if (!fits(problem, *schedule)) return Error::input("its schedule does not have one placement per op of " + problem.kernel);
  // Configurations are compared by this, and not by II.
  if (table_.kind == SweepKind::Tuning && point.has_value() && schedule->provenance.note.empty())
    schedule->provenance.note = fmt::format("{} of the whole kernel, predicted: {:.0f}{}. That is what the tuner compares.", table_.unit(),
                                            point.value, point.tflops == point.tflops ? fmt::format(", {:.1f} TFLOP/s", point.tflops) : "");
  // What the file says was proved is its claim, about just this problem without demands.
  if (source.lower_bound && source.demands.empty() && source.problem_hash == problem_hash(problem)) {
    Certificate& claim = schedule->claim.emplace();
    claim.status = *source.lower_bound == schedule->ii ? Status::Optimal : Status::Feasible;
    claim.ii = schedule->ii;
    claim.lower_bound = *source.lower_bound;
    claim.explanation = source.explanation;
    claim.problem_hash = source.problem_hash;
  }
  return std::optional<Schedule>(*std::move(schedule));
}

Result<SweepState::OpenedPoint> SweepState::read_point(const SweepPoint& point) const {
  const auto line = read_sweep_line(file_->path, point.offset, point.length);
  if (!line) return line.error();
  const auto source = parse_sweep_point(file_->kind, *line, table_.head, file_->path);
  if (!source) return source.error();
  auto next = content_of(*source);
  if (!next) return next.error();
  const bool same = next->kernel == content_.kernel && next->machine == content_.machine && content_.problem &&
                    next->overrides == content_.overrides && content_.changes.empty() && next->choices == content_.choices;
  return OpenedPoint{*source, *std::move(next), same, {}, {}, {}};
}

Result<Ok> SweepState::make_problem_of(OpenedPoint& opened, const SweepPoint& point) const {
  auto made = opened.same ? Result<Problem>(Problem()) : make_problem(opened.content.spec());
  if (!made) return made.error();
  opened.problem = opened.same ? content_.problem : std::make_shared<const Problem>(*std::move(made));  // opening it makes another
  auto schedule = schedule_of(point, opened.source, *opened.problem);
  if (!schedule) return schedule.error();
  auto demands = demands_of(opened.source, *opened.problem);
  if (!demands) return demands.error();
  opened.schedule = *std::move(schedule);
  opened.demands = *std::move(demands);
  return Ok{};
}

void SweepState::on(const OpenPoint& c) {
  if (!file_ || c.index >= table_.points.size()) return;
  const SweepPoint& point = table_.points[c.index];
  const std::string what = fmt::format("{} {}", file_->kind == SweepKind::Tuning ? "evaluation" : "job", point.number),
                    title = "Cannot open " + what;
  auto opened = read_point(point);
  if (!opened) return fail(title, opened.error());
  if (c.as_baseline && !opened->same)
    return say(LogLevel::Warning, fmt::format("{} is of other parameters: it can be shown, not compared with what is shown", what));
  if (const auto made = make_problem_of(*opened, point); !made) return fail(title, made.error());
  const bool demanded = c.as_baseline || opened->demands == content_.constraints;  // B is judged by what is demanded of A
  if (!opened->schedule && opened->same) {
    // Found again, or found that there is none: as if it were asked for by hand.
    if (!demanded) return edits_.constrain(std::move(opened->demands), "what " + what + " demands", true);
    if (solving_.why_no_solve().empty()) texts_.on(StartSolve{});
    return;
  }
  if (!put_in_force(*opened, demanded, "open " + what)) return;
  const std::string name = opened->source.name.empty() ? what : fmt::format("#{} {}", point.number, opened->source.name);
  add_row(*opened, {*opened->schedule, name, c.as_baseline});
}

bool SweepState::put_in_force(OpenedPoint& opened, bool demanded, const std::string& what) {
  if (!opened.same) {
    opened.content.constraints = std::move(opened.demands);
    opened.content.kernel_options = content_.kernel_options;
    edits_.adopt(std::move(opened.content), what);
    if (content_.problem && !opened.schedule) solving_.solve_opened();
    return content_.problem && opened.schedule;
  }
  if (demanded)
    document_.undo.remember(content_, what);
  else
    edits_.demand(std::move(opened.demands), what, "other demands were opened");
  return true;
}

void SweepState::add_row(const OpenedPoint& opened, AdoptSchedule row) {
  std::vector<Fault> refuted;
  judge_claim(*opened.problem, content_.constraints, row.schedule, file_->path, &refuted);
  rows_.add(row);
  solving_.recall_proofs();
  changed();
  warn_aloud(refuted);
}

}  // namespace heddle::app
