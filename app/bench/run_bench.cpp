#include "app/bench/run_bench.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "app/bench/contention_step.h"
#include "app/bench/order.h"
#include "app/bench/report.h"
#include "app/command/arguments.h"
#include "app/jobs/heddle_child.h"
#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/process.h"
#include "core/base/version.h"
#include "core/formats/measurement_json.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

/// A step is not begun where less is left.
constexpr double kLeastSeconds = 10;

class Bench {
 public:
  Bench(const BenchOptions& options, const std::vector<BenchStep>& steps, std::stop_token stop, const BenchHearer& hearer)
      : options_(options), steps_(steps), stop_(std::move(stop)), hearer_(hearer) {}

  Result<BenchRecord> run() {
    if (const auto ready = open_folder(); !ready.ok()) return ready.error();
    for (const BenchStep& step : steps_) {
      const StepRecord* old = record_.find(step.name);
      if (old && is_final(old->verdict.outcome) && !options_.again) {
        hearer_.ended(step, *old, true);
        continue;
      }
      if (stop_.stop_requested()) break;
      hearer_.begins(step);
      const Clock::time_point begin = Clock::now();
      const Result<StepVerdict> verdict = verdict_of(step);
      if (!verdict) return verdict.error();
      const double seconds = seconds_since(begin);
      StepRecord found{step.name, *verdict, seconds, fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))};
      record_.keep(found);
      if (step.kind == BenchStepKind::FollowUp) conclude(step, found.verdict.outcome);
      if (const auto kept = write_down(); !kept.ok()) return kept.error();
      hearer_.ended(step, found, false);
      if (found.verdict.outcome == StepOutcome::Unavailable && shows_gpu(step)) break;  // no other step has one
    }
    return record_;
  }

 private:
  std::string file(const std::string& name) const { return (fs::path(options_.folder) / name).string(); }
  std::string measurement_file(const std::string& step) const { return file(step + ".json"); }

  Result<Ok> open_folder() {
    std::error_code failed;
    fs::create_directories(file("schedules"), failed);
    if (failed) return Error::environment(fmt::format("the folder {} cannot be made: {}", options_.folder, failed.message()));
    record_.machine = options_.machine;
    record_.heddle = version();
    const std::string kept = file("bench.json");
    if (!fs::exists(kept, failed)) return Ok{};
    const Result<std::string> text = read_file(kept);
    if (!text) return text.error();
    Result<BenchRecord> earlier = parse_bench(*text, kept);
    if (!earlier) return earlier.error();
    if (earlier->machine != options_.machine)
      return Error{
          ErrorKind::Input,
          {{kept, "/machine", fmt::format("this folder has measurements for '{}', not for '{}'", earlier->machine, options_.machine),
            "name another folder with --out"}}};
    record_.steps = std::move(earlier->steps);
    return Ok{};
  }

  Result<Ok> write_down() const {
    if (auto written = write_file(file("bench.json"), bench_text(record_)); !written.ok()) return written;
    return write_file(file("report.txt"), bench_report(record_, steps_, options_.folder, TextStyle{}));
  }

  StepOutcome outcome_of(const std::string& step) const {
    const StepRecord* found = record_.find(step);
    return found ? found->verdict.outcome : StepOutcome::NoTime;
  }

  /// What a follow-up tells about its check: where the fault is, or one place less to look at.
  void conclude(const BenchStep& step, StepOutcome outcome) {
    const StepRecord* check = record_.find(step.needs);
    const bool ran = outcome == StepOutcome::Good || outcome == StepOutcome::Slow || is_bad(outcome);
    if (!check || !ran) return;
    StepRecord concluded = *check;
    std::string& next = concluded.verdict.next;
    next = !is_bad(outcome) ? step.if_right : next.empty() ? step.if_not : next + "; " + step.if_not;
    record_.keep(std::move(concluded));
  }

  double seconds_left() const { return 60 * options_.minutes - seconds_since(begun_); }

  /// Why the step is not run; nothing where it is.
  std::optional<StepVerdict> reason_not_to(const BenchStep& step) const {
    const auto verdict = [](StepOutcome outcome, std::string finding) { return StepVerdict{outcome, std::move(finding), {}}; };
    if (!step.needs.empty()) {
      const bool failed = is_bad(outcome_of(step.needs));
      if (step.kind == BenchStepKind::FollowUp && !failed) return verdict(StepOutcome::Unneeded, step.needs + " has not failed");
      if (step.kind != BenchStepKind::FollowUp && failed)
        return verdict(StepOutcome::Skipped, fmt::format("{}: {}", step.needs, to_string(outcome_of(step.needs))));
    }
    if (options_.minutes > 0 && seconds_left() < kLeastSeconds) return verdict(StepOutcome::NoTime, "the minutes were over");
    std::error_code ignored;
    if (!step.subject.empty() && step.kind != BenchStepKind::Prepare && !fs::exists(schedule_file(options_.folder, step.subject), ignored))
      return verdict(StepOutcome::Skipped, "there is no schedule: see prepare-" + step.subject);
    if (!step.order.empty() && !fs::exists(schedule_file(options_.folder, step.subject), ignored) &&
        !fs::exists(packed_schedule(step.subject), ignored))
      if (const auto file = library_file(step.order); !file.ok() || !fs::exists(*file, ignored))
        return verdict(StepOutcome::Skipped, step.order + " does not lie beside this program");
    if (!step.tool.empty() && find_tool(step).empty()) return verdict(StepOutcome::Unavailable, step.tool.front() + " is not on PATH");
    return std::nullopt;
  }

  static std::string find_tool(const BenchStep& step) { return find_program(step.tool.front(), {"/usr/local/cuda/bin"}); }

  /// With schedule and output files, and what runs it.
  std::vector<std::string> command_line(const BenchStep& step) const {
    std::vector<std::string> words = step.words;
    constexpr std::ptrdiff_t kBehindMachine = 3;
    const std::string schedule = step.subject.empty() ? "" : schedule_file(options_.folder, step.subject);
    std::error_code ignored;
    if (step.subject.empty()) {
      // Its words say where it writes.
    } else if (step.kind == BenchStepKind::Prepare) {
      if (fs::exists(schedule, ignored))
        words.insert(words.begin() + kBehindMachine, schedule);
      else
        words.insert(words.end(), {"--schedule", schedule});
      if (options_.judge_seconds && step.order.empty())
        words.insert(words.end(), {"--judge", fmt::format("{:g}", *options_.judge_seconds)});
    } else {
      words.insert(words.begin() + kBehindMachine, schedule);
      words.insert(words.end(), {"--out", measurement_file(step.name)});
    }
    words.insert(words.begin(), options_.program);
    if (step.tool.empty()) return words;
    std::vector<std::string> tool = step.tool;
    tool.front() = find_tool(step);
    tool.insert(tool.end(), words.begin(), words.end());
    return tool;
  }

  std::optional<Measurement> measured(const std::string& step) const {
    const auto read = read_measurement(measurement_file(step));
    return read.ok() ? std::optional(*read) : std::nullopt;
  }

  Result<StepVerdict> verdict_of(const BenchStep& step) const {
    if (auto reason = reason_not_to(step)) return *std::move(reason);
    std::error_code ignored;
    fs::remove(measurement_file(step.name), ignored);
    if (step.kind == BenchStepKind::Prepare)
      if (const auto taken = take_schedule(step); !taken.ok()) return taken.error();
    const bool cut = options_.minutes > 0 && seconds_left() < step.limit_seconds;
    BenchStep limited = step;
    if (cut) limited.limit_seconds = seconds_left();

    const std::vector<std::string> words = command_line(step);
    std::ofstream log(file(step.name + ".log"));
    log << "$ " << shell_words(words) << "\n" << std::flush;
    const auto heard = [&](std::string_view line) {
      log << line << "\n" << std::flush;
      hearer_.says(without_name(line));
    };
    const Result<ChildResult> child = run_child(words, stop_, heard, {limited.limit_seconds, 5});
    if (!child) return child.error();
    log << child->out;
    if (cut && child->timed_out) return StepVerdict{StepOutcome::NoTime, "the minutes were over before it ended", {}};
    const std::optional<Measurement> mine = measured(step.name), other = step.beside.empty() ? std::nullopt : measured(step.beside);
    StepVerdict verdict = judge_step(limited, *child, mine ? &*mine : nullptr, other ? &*other : nullptr, step.name + ".log");
    const bool shown = verdict.outcome == StepOutcome::Good || verdict.outcome == StepOutcome::Slow;
    if (step.kind != BenchStepKind::Contention || !shown) return verdict;
    const StepRecord* beside = step.beside.empty() ? nullptr : record_.find(step.beside);
    return judge_contention(step, std::move(verdict), measurement_file(step.name), options_.machine, beside ? &beside->verdict : nullptr);
  }

  /// Of the package; may not be there.
  std::string packed_schedule(const std::string& subject) const {
    return options_.schedules.empty() ? std::string() : (fs::path(options_.schedules) / (subject + ".json")).string();
  }

  /// One that was solved before, else the order that the step names, where the folder has none yet.
  Result<Ok> take_schedule(const BenchStep& step) const {
    std::error_code ignored;
    const std::string ours = schedule_file(options_.folder, step.subject), packed = packed_schedule(step.subject);
    const bool solved = fs::exists(packed, ignored);
    if (step.subject.empty() || fs::exists(ours, ignored) || (!solved && step.order.empty())) return Ok{};
    if (solved) {
      const Result<std::string> text = read_file(packed);
      return text ? write_file(ours, *text) : text.error();
    }
    const Result<std::string> file = library_file(step.order);
    const Result<std::string> text = file ? order_on(options_.machine, *file) : file;
    return text ? write_file(ours, *text) : text.error();
  }

  const BenchOptions& options_;
  const std::vector<BenchStep>& steps_;
  const std::stop_token stop_;
  const BenchHearer& hearer_;
  const Clock::time_point begun_ = Clock::now();
  BenchRecord record_;
};

}  // namespace

bool shows_gpu(const BenchStep& step) { return step.kind == BenchStepKind::Check || step.kind == BenchStepKind::Contention; }

Result<BenchRecord> run_bench(const BenchOptions& options, const std::vector<BenchStep>& steps, std::stop_token stop,
                              const BenchHearer& hearer) {
  return Bench(options, steps, std::move(stop), hearer).run();
}

}  // namespace heddle::app
