#include "app/cli/validator.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "app/cli/kernel_run_options.h"
#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "core/formats/published_json.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/schedule/question.h"
#ifdef HEDDLE_HAS_SOLVER
#include "app/jobs/solve_store.h"
#endif

namespace heddle::app {
namespace {

constexpr const char* kNotReached = "not reached before the end";

std::vector<std::string> words_of(const PublishedRow& row, const NamedMachine* named, const std::optional<std::string>& clock) {
  const Counterpart& counterpart = *row.counterpart;
  std::vector<std::string> words{counterpart.kernel, named ? named->machine : row.machine};
  if (counterpart.schedule) words.push_back(*counterpart.schedule);
  for (const auto& [name, value] : counterpart.params) words.insert(words.end(), {"--param", fmt::format("{}={}", name, value)});
  words.insert(words.end(), counterpart.options.begin(), counterpart.options.end());
  const auto add = [&](const char* flag, const std::string& value) { words.insert(words.end(), {flag, value}); };
  if (counterpart.persistent) words.push_back("--persistent");
  if (counterpart.clock_mhz > 0) add("--clock", fmt::format("{:.0f}", counterpart.clock_mhz));
  if (row.zeros) add("--data", "zeros");
  if (clock) add("--clock", *clock);
  // Where an anchor was measured on the very device, its power limit is in it.
  const std::string measured = named ? named->measured : "";
  if (!measured.empty())
    add("--measured", measured);
  else if (const auto power = named && named->use_power_w ? named->use_power_w : row.power_w)
    add("--power", std::to_string(*power));
  return words;
}

/// How many SMs there are is no number of the problem, which is of one.
Instance with_sms(const Instance& instance, std::int64_t sms) {
  InstanceSpec spec = instance.spec();
  auto machine = std::make_shared<Machine>(*spec.machine);
  machine->sm_count = sms;
  spec.machine = std::move(machine);
  return Instance(std::move(spec), instance.shared_problem());
}

}  // namespace

Prediction prediction_of(const PublishedRow& row, const Machine& machine, const KernelRun& run) {
  if (!run.fault.empty()) return {{}, 0, {}, {}, run.fault == kStopped ? kNotReached : run.fault};
  const double tflops = row.flops > 0 ? row.flops / run.microseconds / 1e6 : run.tflops;
  const std::string busiest = run.used.empty() ? "" : fmt::format("{} {:.0f} %", run.used[0].name, 100 * run.used[0].part);
  return {machine.arch, tflops, run.clock.text, busiest, tflops > 0 ? "" : "its speed is not known in TFLOP/s", run.microseconds};
}

Result<Validation> Validator::run(std::vector<PublishedRow> rows) {
  std::vector<ValidatedRow> answers;
  std::vector<Fault> faults;
  for (PublishedRow& row : rows) {
    if (options_.progress) options_.progress(answers.size(), rows.size(), row.id);
    ValidatedRow answer{std::move(row), {}};
    answer.prediction = predict(answer.row, faults);
    answers.push_back(std::move(answer));
  }
  if (!faults.empty()) return Error{ErrorKind::Input, std::move(faults)};
  return sum_up(std::move(answers), ground_, !options_.stop.stop_requested());
}

Prediction Validator::predict(const PublishedRow& row, std::vector<Fault>& faults) {
  std::string why_not;
  Known* entry = options_.stop.stop_requested() ? nullptr : known(row, why_not, faults);
  if (!entry) return {{}, 0, {}, {}, why_not.empty() ? kNotReached : why_not};
  const RowModel& model = *entry->model;
  if (!entry->run) {
    KernelRunOptions options = model.options;
    options.loop.stop = options_.stop;
    const CommandInputs& inputs = model.inputs;
    entry->run = run_kernel(inputs.instance, *inputs.schedule, options);
  }
  return prediction_of(row, model.inputs.machine(), *entry->run);
}

std::shared_ptr<const RowModel> Validator::model(const PublishedRow& row, std::string& why_not, std::vector<Fault>& faults) {
  const Known* entry = known(row, why_not, faults);
  return entry ? entry->model : nullptr;
}

Validator::Known* Validator::known(const PublishedRow& row, std::string& why_not, std::vector<Fault>& faults) {
  const NamedMachine* named = row.known_machine ? nullptr : ground_.find(row);
  if (!row.counterpart)
    why_not = "no kernel or schedule here stands for it";
  else if (!row.known_machine && !named)
    why_not = fmt::format("no machine here stands for '{}'", row.machine);
  if (!why_not.empty()) return nullptr;
  Question line{words_of(row, named, options_.clock), named ? named->sms : std::nullopt, row.counterpart->schedule_text};
  auto found = known_.find(line);
  if (found == known_.end()) {
    std::vector<Fault> own;
    Known fresh = load(line, own);
    if (row.known_machine && !own.empty()) {  // one's own measurement: its row says so, the others are compared
      fresh.why_not = own.front().message;
      own.clear();
    }
    for (Fault& fault : own) {
      fault.message = fault.file.empty() ? fault.message : fmt::format("{}: {} {}", fault.file, fault.pointer, fault.message);
      // A bad machine file is one fault, not one for every row that names it.
      if (std::any_of(faults.begin(), faults.end(), [&](const Fault& f) { return f.message == fault.message; })) continue;
      fault.file = row.file;
      fault.pointer = "/heddle";
      faults.push_back(std::move(fault));
    }
    if (!own.empty()) fresh.why_not = "its counterpart is wrong";
    if (options_.stop.stop_requested() && !fresh.model) return nullptr;  // another time it may be found
    found = known_.emplace(std::move(line), std::move(fresh)).first;
  }
  why_not = found->second.why_not;
  return found->second.model ? &found->second : nullptr;
}

Validator::Known Validator::load(const Question& line, std::vector<Fault>& wrong) {
  const auto parsed = parse_words(*find_command("simulate"), line.words);
  if (const auto* usage = std::get_if<UsageError>(&parsed)) {
    wrong.push_back({"", "", usage->message, usage->hint});
    return {};
  }
  const Arguments& words = std::get<CommandLine>(parsed).arguments;
  std::ostringstream unread;
  PrintableStream nowhere(unread);
  const Terminal silent{nowhere, nowhere, {}, false, true, false};
  Result<CommandInputs> inputs = load_inputs(words, silent);
  if (!inputs) {
    wrong = inputs.error().faults;
    return {};
  }
  if (line.sms) inputs->instance = with_sms(inputs->instance, *line.sms);
  const Result<KernelRunOptions> options = kernel_run_options(words, inputs->machine());
  if (!options) {
    wrong = options.error().faults;
    return {};
  }
  Known known;
  if (!line.schedule_text.empty()) {
    const Result<ScheduleHead> head = parse_schedule_head(line.schedule_text, "");
    if (head && !head->layouts.empty()) {
      Result<Instance> laid = with(*inputs, head->layouts);
      if (!laid) {
        known.why_not = "its layouts cannot be: " + laid.error().faults.front().message;
        return known;
      }
      inputs->instance = *std::move(laid);
    }
    Result<Schedule> own = parse_schedule(line.schedule_text, "", inputs->problem());
    if (!own) {
      known.why_not = "its schedule is for another problem: " + own.error().faults.front().message;
      return known;
    }
    inputs->schedule = *std::move(own);
  }
  if (!inputs->schedule)
    if (const Result<Ok> solved = solve(*inputs, words); !solved) {
      known.why_not = solved.error().faults.front().message;
      return known;
    }
  KernelRunOptions run = *options;
  known.model = std::make_shared<const RowModel>(RowModel{line.words, *std::move(inputs), std::move(run)});
  return known;
}

/// Rows of other sizes often ask about one loop: it is solved once.
Result<Ok> Validator::solve(CommandInputs& inputs, const Arguments& words) {
#ifdef HEDDLE_HAS_SOLVER
  const std::string question = question_hash(inputs.problem(), inputs.constraints);
  auto known = solved_.find(question);
  if (known == solved_.end()) {
    solver::SolveRequest request = solve_request(inputs, words);
    request.timeout_seconds = std::min(request.timeout_seconds, options_.deadline.left());
    const ContentStore store(options_.store ? store_place() : StorePlace{});
    const SolveOutcome outcome = solve_or_recall(store, request, options_.stop);
    if (options_.stop.stop_requested()) return Error::input(kNotReached);
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

namespace {

Result<std::vector<PublishedRow>> read_rows(const std::vector<std::string>& files, std::vector<Fault>& warnings) {
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

Result<RowsAndGround> read_rows_and_ground(std::vector<std::string> files, const std::optional<std::string>& ground_file,
                                           std::vector<Fault>& warnings) {
  const Result<std::string> published = library_file("assets/published/measurements.jsonl"),
                            shipped = library_file("assets/published/validation.json");
  if (!published) return published.error();
  if (!shipped) return shipped.error();
  if (files.empty()) files.push_back(*published);
  Result<ValidationGround> ground = read_validation_ground(ground_file.value_or(*shipped), &warnings);
  Result<std::vector<PublishedRow>> rows = read_rows(files, warnings);
  if (ground && rows) return RowsAndGround{*std::move(rows), *std::move(ground)};
  Error error = ground ? rows.error() : ground.error();
  if (!ground && !rows) error.faults.insert(error.faults.end(), rows.error().faults.begin(), rows.error().faults.end());
  return error;
}

}  // namespace heddle::app
