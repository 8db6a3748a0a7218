// heddle bench: the day a GPU is there.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/bench/report.h"
#include "app/bench/run_bench.h"
#include "app/command/arguments.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "app/command/terminal.h"
#include "app/jobs/heddle_child.h"
#include "codegen/program/target.h"
#include "codegen/run/driver.h"
#include "core/base/json.h"
#include "core/base/suggest.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

bool is_meant(const BenchStep& step, const std::string& word) {
  return step.name == word || to_string(step.kind) == word || step.subject == word;
}

/// Those that --only names, with the steps that prepare them; `wrong` is a word that names none.
std::vector<BenchStep> chosen(std::vector<BenchStep> steps, const std::vector<std::string>& only, std::string& wrong) {
  if (only.empty()) return steps;
  for (const std::string& word : only)
    if (std::none_of(steps.begin(), steps.end(), [&](const BenchStep& step) { return is_meant(step, word); })) wrong = word;
  const auto wanted = [&](const BenchStep& step) {
    return std::any_of(only.begin(), only.end(), [&](const std::string& word) { return is_meant(step, word); });
  };
  std::vector<std::string> subjects, needed;
  for (const BenchStep& step : steps)
    if (wanted(step)) subjects.push_back(step.subject), needed.push_back(step.needs);
  const auto among = [](const std::vector<std::string>& list, const std::string& word) {
    return !word.empty() && std::find(list.begin(), list.end(), word) != list.end();
  };
  std::erase_if(steps, [&](const BenchStep& step) {
    const bool prepares = step.kind == BenchStepKind::Prepare && (among(subjects, step.subject) || among(needed, step.name));
    return !wanted(step) && !prepares;
  });
  return steps;
}

std::vector<std::string> known_words(const std::vector<BenchStep>& steps) {
  std::vector<std::string> words;
  for (const BenchStep& step : steps)
    for (const std::string& word : {step.name, std::string(to_string(step.kind)), step.subject})
      if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  return words;
}

int list_steps(const std::vector<BenchStep>& steps, const Terminal& terminal, bool json) {
  if (json) {
    Json list = Json::array();
    for (const BenchStep& step : steps)
      list.push(Json::object().set("step", step.name).set("kind", to_string(step.kind)).set("about", step.about));
    terminal.out << list.pretty();
    return kDone;
  }
  std::vector<std::vector<std::string>> rows;
  for (const BenchStep& step : steps) rows.push_back({step.name, to_string(step.kind), step.about});
  terminal.out << text_table({{"step", false}, {"kind", false}, {"what it shows", false}}, rows);
  return kDone;
}

/// "h100" of a shipped name or of a file's path.
std::string short_name(const std::string& machine) { return std::filesystem::path(machine).stem().string(); }

/// Schedules that the package brings along.
std::string packed_schedules(const std::string& machine) {
  const Result<std::string> folder = library_file("bench/" + short_name(machine));
  std::error_code ignored;
  return folder && std::filesystem::is_directory(*folder, ignored) ? *folder : std::string();
}

}  // namespace

int run_bench_command(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const std::string machine = *arguments.text("MACHINE");
  const auto loaded = load_machine(machine);
  if (!loaded.ok()) return report(terminal, loaded.error(), json);
  const bool blackwell = loaded->arch.starts_with("sm_10");
  if (codegen::refuse_machine(*loaded))
    return refuse(terminal,
                  fmt::format("heddle bench has steps for Hopper (h100, h200) and Blackwell (b200), and '{}' is {}", printable(machine),
                              loaded->arch.empty() ? "no GPU" : printable(loaded->arch)),
                  json);
  BenchOptions options{.machine = machine, .folder = arguments.text("--out").value_or("bench-" + short_name(machine))};
  options.program = heddle_beside();
  options.schedules = arguments.text("--schedules").value_or(packed_schedules(machine));
  options.minutes = static_cast<double>(arguments.integer("--minutes").value_or(0));
  options.judge_seconds = arguments.seconds("--judge");
  options.again = arguments.has("--again");
  const std::vector<BenchStep> all = bench_steps(machine, options.folder, blackwell);
  std::string wrong;
  const std::vector<BenchStep> steps = chosen(all, arguments.all("--only"), wrong);
  if (!wrong.empty()) {
    const std::string guess = did_you_mean(wrong, known_words(all));
    return refuse(terminal,
                  fmt::format("no step, kind or kernel of heddle bench is called '{}'; {}", printable(wrong),
                              guess.empty() ? "heddle bench MACHINE --list shows them" : guess),
                  json);
  }
  if (arguments.has("--list")) return list_steps(steps, terminal, json);
  if (options.program.empty()) return report(terminal, Error::environment("the program heddle does not lie beside this one"), json);
  const bool needs_gpu = std::any_of(steps.begin(), steps.end(), [](const BenchStep& step) { return step.kind != BenchStepKind::Prepare; });
  if (const auto driver = codegen::cuda::open_driver(); needs_gpu && !driver.ok()) {
    Error error = driver.error();
    error.faults.front().hint = "what needs no GPU: heddle bench " + machine + " --only prepare";
    return report(terminal, error, json);
  }

  const InterruptScope interrupt;
  Result<BenchRecord> record = BenchRecord{};
  {
    ProgressLine line(terminal);
    std::size_t number = 0;
    BenchHearer hearer;
    hearer.begins = [&](const BenchStep& step) { line.show({fmt::format("{} of {}", number + 1, steps.size()), step.name, step.about}); };
    hearer.says = [&](std::string_view text) { line.say("  " + printable(text)); };
    hearer.ended = [&](const BenchStep&, const StepRecord& found, bool known_before) {
      ++number;
      if (known_before || found.verdict.outcome == StepOutcome::Unneeded) {
        line.say(step_text(found));
        return;
      }
      line.announce(step_text(found));
    };
    record = run_bench(options, steps, interrupt.token(), hearer);
  }
  if (!record) return report(terminal, record.error(), json);
  if (json)
    terminal.out << bench_text(*record);
  else
    terminal.out << bench_report(*record, steps, options.folder, terminal.style);
  terminal.note(fmt::format("{} has all measurements", printable((std::filesystem::path(options.folder) / "report.txt").string())));
  if (interrupt.interrupted()) return kInterrupted;
  int code = kDone;
  for (const BenchStep& step : steps) {
    const StepRecord* found = record->find(step.name);
    if (!found) continue;
    if (is_bad(found->verdict.outcome)) return kKernelFailed;
    if (found->verdict.outcome == StepOutcome::Unavailable && shows_gpu(step)) code = kEnvironment;
  }
  return code;
}

}  // namespace heddle::app
