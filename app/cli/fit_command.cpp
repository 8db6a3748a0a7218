// heddle fit: the fitted numbers of a machine file, estimated again from measured kernels.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <thread>

#include "app/cli/fit_to_races.h"
#include "app/cli/validator.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "core/answers/fit.h"
#include "core/base/atomic_file.h"
#include "core/base/suggest.h"
#include "core/formats/machine_json.h"
#include "core/library/library.h"
#include "core/machine/fitted.h"

namespace heddle::app {
namespace {

struct RowToFit {
  PublishedRow row;
  std::shared_ptr<const RowModel> model;
};

Machine with_values(Machine machine, const std::vector<FittedNumber>& numbers, const std::vector<std::int64_t>& values) {
  for (std::size_t n = 0; n < numbers.size(); ++n) find_fitted_field(numbers[n].number)->set(machine, values[n]);
  return machine;
}

/// ln(measured / predicted), every row in the machine that stands for it; rows are shared among threads.
std::optional<std::vector<double>> errors_of(const std::vector<RowToFit>& rows, const std::vector<FittedNumber>& numbers,
                                             const std::vector<std::int64_t>& values, const std::stop_token& stop) {
  std::vector<double> errors(rows.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> broken = false;
  const auto work = [&] {
    for (std::size_t r = next++; r < rows.size() && !stop.stop_requested(); r = next++) {
      const CommandInputs& inputs = rows[r].model->inputs;
      const Machine machine = with_values(inputs.machine(), numbers, values);
      KernelRunOptions options = rows[r].model->options;
      options.loop.arbitration = Arbitration::Interleaved;  // whose numbers are fitted
      options.loop.stop = stop;
      const KernelRun run = run_kernel(on_machine(inputs.instance, machine), *inputs.schedule, options);
      const Prediction prediction = prediction_of(rows[r].row, machine, run);
      if (prediction.tflops > 0)
        errors[r] = std::log(rows[r].row.tflops / prediction.tflops);
      else
        broken = true;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 1; t < std::max(1U, std::thread::hardware_concurrency()); ++t) threads.emplace_back(work);
    work();
  }
  if (stop.stop_requested() || broken) return std::nullopt;
  return errors;
}

/// The file with the new numbers in the place of the old ones and every other byte as it was, where each is found once; else written anew.
std::string text_with(const std::string& original, const Machine& machine, const FitAnswer& answer) {
  const Machine wanted = with_values(machine, answer.numbers, answer.after);
  std::string text = original;
  for (std::size_t n = 0; n < answer.numbers.size(); ++n) {
    const std::string& name = answer.numbers[n].number;
    const std::string key = fmt::format("\"{}\":", name.substr(name.find('.') + 1));
    const std::size_t at = text.find(key);
    if (at == std::string::npos || text.find(key, at + 1) != std::string::npos) return machine_text(wanted, original);
    const std::size_t digits = text.find_first_of("0123456789", at + key.size());
    if (digits == std::string::npos) return machine_text(wanted, original);
    text.replace(digits, text.find_first_not_of("0123456789", digits) - digits, std::to_string(answer.after[n]));
  }
  const Result<Machine> read = parse_machine(text, "");
  return read && machine_text(*read, original) == machine_text(wanted, original) ? text : machine_text(wanted, original);
}

}  // namespace

int run_fit(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  if (json && arguments.text("--out") == "-")
    return refuse(terminal, "--json and --out - both want standard output; give one of them", json);
  const Result<std::string> path = find_in_library(Shelf::Machines, *arguments.text("MACHINE"));
  if (!path) return report(terminal, path.error(), json);
  const Result<std::string> original = read_file(*path);
  if (!original) return report(terminal, original.error(), json);
  std::vector<Fault> warnings;
  const Result<Machine> machine = parse_machine(*original, *path, &warnings);
  if (machine && std::any_of(arguments.all("FILES").begin(), arguments.all("FILES").end(), is_race)) {
    print_warnings(terminal, warnings);
    return fit_to_races({*original, *machine}, arguments, terminal);
  }
  Result<RowsAndGround> given = read_rows_and_ground(arguments.all("FILES"), arguments.text("--ground"), warnings);
  print_warnings(terminal, warnings);
  if (!machine) return report(terminal, machine.error(), json);
  if (!given) return report(terminal, given.error(), json);
  if (machine->fitted.empty())
    return report(terminal,
                  Error::input(fmt::format("machine {} marks no number as fitted", machine->name), "its file says which in \"fitted\""),
                  json);
  if (const auto output = arguments.text("--out"))
    if (const int failed = expect_writable(terminal, *output, json)) return failed;

  const InterruptScope interrupt(arguments.deadline());
  ProgressLine line(terminal);
  Validator validator(given->ground, {{}, arguments.deadline(), !arguments.has("--no-store"), {}, interrupt.token()});
  const std::vector<std::string> kinds = arguments.all("--kind");
  std::vector<RowToFit> rows;
  std::vector<FitRow> facts;
  std::vector<Fault> faults;
  std::set<std::string> known_kinds;
  for (PublishedRow& row : given->rows) {
    if (row.counterpart) known_kinds.insert(kind_of(row));
    if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), kind_of(row)) == kinds.end()) continue;
    if (interrupt.token().stop_requested()) break;
    line.show({fmt::format("row {} of {}", &row - given->rows.data(), given->rows.size()), row.id});
    std::string why_not;
    const auto model = validator.model(row, why_not, faults);
    if (!model || model->inputs.machine().name != machine->name) continue;
    facts.push_back({row.id, kind_of(row), row.source.empty() ? row.file : row.source});
    rows.push_back({std::move(row), model});
  }
  if (!faults.empty()) return report(terminal, Error{ErrorKind::Input, std::move(faults)}, json);
  for (const std::string& kind : kinds)
    if (!known_kinds.contains(kind)) {
      const std::vector<std::string> names(known_kinds.begin(), known_kinds.end());
      return report(
          terminal,
          Error::input(fmt::format("--kind: no row has the kind '{}' (they have: {})", kind, list_of(names)), did_you_mean(kind, names)),
          json);
    }
  if (rows.empty() && !interrupt.token().stop_requested())
    return report(terminal, Error::input(fmt::format("no row that can be predicted stands for machine {}", machine->name)), json);

  std::vector<std::int64_t> now;
  for (const FittedNumber& number : machine->fitted) now.push_back(find_fitted_field(number.number)->get(*machine));
  int done = 0;
  const FitAnswer answer = fit_numbers(facts, machine->fitted, now, [&](const std::vector<std::int64_t>& values) {
    line.show({fmt::format("{} rows simulated {} times", rows.size(), done++)});
    return errors_of(rows, machine->fitted, values, interrupt.token());
  });
  const int code = tell_fit(*machine, answer, answer.complete ? text_with(*original, *machine, answer) : "", arguments, terminal);
  return interrupt.interrupted() && (code == kDone || code == kNoProof) ? kInterrupted : code;
}

}  // namespace heddle::app
