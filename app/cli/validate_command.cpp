// heddle validate: every row of a file of measurements that names what stands for it, simulated and compared.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/cli/kernel_run_options.h"
#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "core/answers/validation.h"
#include "core/formats/published_json.h"
#include "core/library/library.h"
#include "core/schedule/question.h"
#ifdef HEDDLE_HAS_SOLVER
#include "app/jobs/solve_store.h"
#endif

namespace heddle::app {
namespace {

constexpr const char* kNotReached = "not reached before the end";

/// The row as a command line of heddle simulate, and where there are other numbers than in the machine file.
struct RowRun {
  std::vector<std::string> words;
  std::optional<std::int64_t> sms;
  auto operator<=>(const RowRun&) const = default;
};

class Validator {
 public:
  Validator(const Arguments& arguments, const Terminal& terminal, const ValidationGround& ground)
      : arguments_(arguments), terminal_(terminal), ground_(ground), interrupt_(arguments.deadline()), progress_(terminal) {}

  /// Faults of counterparts are input errors: a file that says what to simulate says it wrongly.
  Result<Validation> run(std::vector<PublishedRow> rows) {
    std::vector<ValidatedRow> answers;
    std::vector<Fault> faults;
    for (PublishedRow& row : rows) {
      progress_.show({fmt::format("row {} of {}", answers.size() + 1, rows.size()), row.id});
      ValidatedRow answer{std::move(row), {}};
      if (stopped())
        answer.prediction.why_not = kNotReached;
      else
        answer.prediction = predict(answer.row, faults);
      answers.push_back(std::move(answer));
    }
    if (!faults.empty()) return Error{ErrorKind::Input, std::move(faults)};
    return sum_up(std::move(answers), ground_, !stopped());
  }

  /// What the end means to a shell.
  int code(const Validation& validation) const {
    if (interrupt_.interrupted()) return kInterrupted;
    if (interrupt_.timed_out()) return kNoProof;
    return validation.holds() ? kDone : kNegative;
  }

 private:
  bool stopped() const { return interrupt_.token().stop_requested(); }

  Prediction predict(const PublishedRow& row, std::vector<Fault>& faults) {
    const auto without = [](std::string why) { return Prediction{{}, 0, {}, {}, std::move(why)}; };
    if (!row.counterpart) return without("no kernel or schedule here stands for it");
    const NamedMachine* named = row.known_machine ? nullptr : ground_.find(row);
    if (!row.known_machine && !named) return without(fmt::format("no machine here stands for '{}'", row.machine));
    const RowRun line = run_of(row, named, arguments_);
    if (const auto known = known_.find(line); known != known_.end()) return counted(known->second, row);
    std::vector<Fault> own;
    const Result<Simulated> simulated = simulate(line, own);
    for (Fault& fault : own) {
      fault.message = fault.file.empty() ? fault.message : fmt::format("{}: {} {}", fault.file, fault.pointer, fault.message);
      fault.file = row.file;
      fault.pointer = "/heddle";
      faults.push_back(std::move(fault));
    }
    if (!own.empty()) return without("its counterpart is wrong");
    if (!simulated) return without(simulated.error().faults.front().message);
    known_.emplace(line, *simulated);
    return counted(*simulated, row);
  }

  static RowRun run_of(const PublishedRow& row, const NamedMachine* named, const Arguments& arguments) {
    const Counterpart& counterpart = *row.counterpart;
    RowRun line{{counterpart.kernel, named ? named->machine : row.machine}, named ? named->sms : std::nullopt};
    if (counterpart.schedule) line.words.push_back(*counterpart.schedule);
    for (const auto& [name, value] : counterpart.params)
      line.words.insert(line.words.end(), {"--param", fmt::format("{}={}", name, value)});
    line.words.insert(line.words.end(), counterpart.options.begin(), counterpart.options.end());
    const auto add = [&](const char* flag, const std::string& value) { line.words.insert(line.words.end(), {flag, value}); };
    if (row.zeros) add("--data", "zeros");
    if (const auto clock = arguments.text("--clock")) add("--clock", *clock);
    // Where an anchor was measured on the very device, its power limit is in it.
    const std::string measured = named ? named->measured : "";
    if (!measured.empty())
      add("--measured", measured);
    else if (const auto power = named && named->use_power_w ? named->use_power_w : row.power_w)
      add("--power", std::to_string(*power));
    return line;
  }

  struct Simulated {
    std::string arch;
    double microseconds = 0, tflops = 0;
    std::string clock, binds;
  };

  /// A row's own flops where it says what it counts: masked and padded parts of tiles do not count as work.
  static Prediction counted(const Simulated& simulated, const PublishedRow& row) {
    const double tflops = row.flops > 0 ? row.flops / simulated.microseconds / 1e6 : simulated.tflops;
    return {simulated.arch, tflops, simulated.clock, simulated.binds, tflops > 0 ? "" : "its speed is not known in TFLOP/s"};
  }

  /// `wrong`: what the row's words say that does not exist. Any other error is why there is no prediction.
  Result<Simulated> simulate(const RowRun& line, std::vector<Fault>& wrong) {
    const auto parsed = parse_words(*find_command("simulate"), line.words);
    if (const auto* usage = std::get_if<UsageError>(&parsed)) {
      wrong.push_back({"", "", usage->message, usage->hint});
      return Error{};
    }
    const Arguments& words = std::get<CommandLine>(parsed).arguments;
    const Terminal silent{terminal_.out, terminal_.err, terminal_.style, false, true, false};
    Result<Inputs> inputs = load_inputs(words, silent);
    if (inputs) {
      if (line.sms) inputs->machine.sm_count = *line.sms;
      Result<KernelRunOptions> options = kernel_run_options(words, inputs->machine);
      if (options) return simulate(*inputs, *options, words);
      wrong = options.error().faults;
    } else {
      wrong = inputs.error().faults;
    }
    return Error{};
  }

  Result<Simulated> simulate(Inputs& inputs, KernelRunOptions& options, const Arguments& words) {
    if (!inputs.schedule)
      if (const Result<Ok> solved = solve(inputs, words); !solved) return solved.error();
    options.loop.stop = interrupt_.token();
    const KernelRun run = run_kernel(inputs.kernel, inputs.machine, inputs.changes, inputs.problem, *inputs.schedule, options);
    if (run.fault == kStopped) return Error::input(kNotReached);
    if (!run.fault.empty()) return Error::input(run.fault);
    const std::string busiest = run.used.empty() ? "" : fmt::format("{} {:.0f} %", run.used[0].name, 100 * run.used[0].part);
    return Simulated{inputs.machine.arch, run.microseconds, run.tflops, run.clock.text, busiest};
  }

  /// Rows of other sizes often ask about one loop: it is solved once.
  Result<Ok> solve(Inputs& inputs, const Arguments& words) {
#ifdef HEDDLE_HAS_SOLVER
    const std::string question = question_hash(inputs.problem, inputs.constraints);
    auto known = solved_.find(question);
    if (known == solved_.end()) {
      solver::SolveRequest request = solve_request(inputs, words);
      request.timeout_seconds = std::min(request.timeout_seconds, arguments_.deadline().left());
      const ContentStore store(arguments_.has("--no-store") ? StorePlace{} : store_place());
      const SolveOutcome outcome = solve_or_recall(store, request, interrupt_.token());
      if (stopped()) return Error::input(kNotReached);
      known = solved_.emplace(question, outcome.schedule).first;
    }
    if (!known->second) return Error::input("the solver found no schedule");
    inputs.schedule = known->second;
    return Ok{};
#else
    (void)inputs, (void)words;
    return Error::input("this build has no solver to find its schedule");
#endif
  }

  const Arguments& arguments_;
  const Terminal& terminal_;
  const ValidationGround& ground_;
  const InterruptScope interrupt_;
  ProgressLine progress_;
  std::map<RowRun, Simulated> known_;
  std::map<std::string, std::optional<Schedule>> solved_;
};

/// All files' rows; faults of all files together.
Result<std::vector<PublishedRow>> read_all(const std::vector<std::string>& files, std::vector<Fault>& warnings) {
  std::vector<PublishedRow> rows;
  Error error;
  for (const std::string& file : files) {
    Result<std::vector<PublishedRow>> read = read_published(file, &warnings);
    if (read)
      std::move(read->begin(), read->end(), std::back_inserter(rows));
    else
      error.faults.insert(error.faults.end(), read.error().faults.begin(), read.error().faults.end());
  }
  if (!error.faults.empty()) return error;
  return rows;
}

}  // namespace

int run_validate(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json"), markdown = arguments.has("--markdown");
  if (json && markdown) return refuse(terminal, "--json and --markdown both want standard output; give one of them", json);
  const Result<std::string> published = library_file("assets/published/measurements.jsonl"),
                            shipped = library_file("assets/published/validation.json");
  if (!published) return report(terminal, published.error(), json);
  if (!shipped) return report(terminal, shipped.error(), json);
  if (const auto options = kernel_run_options(arguments, {}); !options) return report(terminal, options.error(), json);
  std::vector<std::string> files = arguments.all("FILES");
  if (files.empty()) files.push_back(*published);
  std::vector<Fault> warnings;
  const Result<ValidationGround> ground = read_validation_ground(arguments.text("--ground").value_or(*shipped), &warnings);
  Result<std::vector<PublishedRow>> rows = read_all(files, warnings);
  print_warnings(terminal, warnings);
  if (!ground || !rows) {
    Error error = ground ? rows.error() : ground.error();
    if (!ground && !rows) error.faults.insert(error.faults.end(), rows.error().faults.begin(), rows.error().faults.end());
    return report(terminal, error, json);
  }
  Validator validator(arguments, terminal, *ground);
  const Result<Validation> validation = validator.run(*std::move(rows));
  if (!validation) return report(terminal, validation.error(), json);
  if (json)
    terminal.out << validation_json(*validation).pretty();
  else if (markdown)
    terminal.out << validation_markdown(*validation);
  else if (terminal.quiet)
    terminal.out << validation_headline(*validation) << "\n";
  else
    terminal.out << validation_text(*validation, terminal.style);
  return validator.code(*validation);
}

}  // namespace heddle::app
