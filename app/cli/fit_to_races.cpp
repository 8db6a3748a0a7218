#include "app/cli/fit_to_races.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "core/answers/fit_races.h"
#include "core/base/atomic_file.h"
#include "core/formats/machine_json.h"
#include "core/formats/machine_numbers.h"
#include "core/formats/race_json.h"
#include "core/library/raced_problems.h"

namespace heddle::app {
namespace {

/// Races of this machine, as problems.
struct RacesRead {
  RacedProblems problems;
  std::set<std::string> devices;
  std::size_t races = 0;
};

Result<RacesRead> read_races(const Machine& machine, const Arguments& arguments, const Terminal& terminal) {
  RacesRead read;
  Error error;
  std::vector<Fault> warnings;
  const auto keep = [&](const Error& wrong) { error.faults.insert(error.faults.end(), wrong.faults.begin(), wrong.faults.end()); };
  for (const std::string& file : arguments.all("FILES")) {
    const Result<Race> race = read_race(file, &warnings);
    if (!race) {
      keep(race.error());
      continue;
    }
    if (race->machine != machine.name) {
      terminal.note(fmt::format("{} is left out: a race for machine {}", file, printable(race->machine)));
      continue;
    }
    if (const Result<Ok> added = read.problems.add(*race, file, machine); !added) keep(added.error());
    read.devices.insert(race->device.empty() ? machine.name : race->device), ++read.races;
  }
  for (const Fault& warning : warnings) terminal.note("warning: " + to_string(warning));
  if (!error.faults.empty()) return error;
  if (read.problems.programs().empty()) return Error::input(fmt::format("no race has times for machine {}", machine.name));
  return read;
}

/// Of numbers that were fitted to them.
std::string new_source(const RacesRead& read) {
  std::string devices;
  for (const std::string& device : read.devices) devices += (devices.empty() ? "" : ", ") + device;
  return fmt::format("fitted: to {} of {} on {} (heddle fit)", count_of(read.problems.programs().size(), "program"),
                     count_of(read.races, "race"), devices);
}

/// The file with the new numbers and where they come from, every other byte as it was where both are found; else written anew.
std::string refitted_text(const MachineFile& file, const FitAnswer& answer, const std::string& source) {
  Machine wanted = file.machine;
  std::string text = file.text;
  for (std::size_t n = 0; n < answer.numbers.size(); ++n) {
    if (answer.after[n] == answer.before[n]) continue;
    RangedNumber& number = *contention_number(wanted.contention, answer.numbers[n].number);
    const std::string old_source = Json(number.source).line();
    number.value = answer.after[n], number.source = source;
    // "contention.late_per_read/shared" is "late_per_read shared value" of "contention" there.
    std::string part = answer.numbers[n].number, name = part.substr(part.find('.') + 1) + " value";
    part.erase(part.find('.'));
    std::replace(name.begin(), name.end(), '/', ' ');
    const std::vector<MachineNumber> all = machine_numbers(text);
    const auto at = std::find_if(all.begin(), all.end(), [&](const MachineNumber& m) { return m.part == part && m.name == name; });
    if (at == all.end()) continue;
    if (const std::size_t old = text.find(old_source, at->end); old != std::string::npos)
      text.replace(old, old_source.size(), Json(source).line());
    text = with_number(text, *at, std::to_string(answer.after[n]));
  }
  const Result<Machine> read = parse_machine(text, "");
  return read && machine_text(*read, file.text) == machine_text(wanted, file.text) ? text : machine_text(wanted, file.text);
}

}  // namespace

bool is_race(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return false;
  const Result<Json> json = parse_json(*text, path);
  const Json* schema = json ? json->find("schema") : nullptr;
  return schema && schema->line() == "\"heddle.race/1\"";
}

int fit_to_races(const MachineFile& file, const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const Machine& machine = file.machine;
  for (const char* flag : {"--kind", "--ground"})
    if (arguments.has(flag)) return refuse(terminal, fmt::format("{} is about measurements of whole kernels, not races", flag), json);
  for (const std::string& name : arguments.all("FILES"))
    if (!is_race(name))
      return refuse(terminal,
                    fmt::format("{} is no race; races and whole kernels determine other numbers: fit them one after the other", name),
                    json);
  if (!machine.contention.known)
    return report(terminal, Error::input(fmt::format("machine {} has no numbers of contention", machine.name)), json);
  if (const auto output = arguments.text("--out"))
    if (const int failed = expect_writable(terminal, *output, json)) return failed;
  const Result<RacesRead> read = read_races(machine, arguments, terminal);
  if (!read) return report(terminal, read.error(), json);
  if (read->problems.stuck() > 0)
    terminal.note(fmt::format("{} left out: by the rule of motion it cannot run", count_of(read->problems.stuck(), "program")));

  const InterruptScope interrupt(arguments.deadline());
  ProgressLine line(terminal);
  int done = 0;
  const Result<FitAnswer> answer = fit_races(read->problems.programs(), machine.contention, [&](const Contention& contention) {
    line.show({fmt::format("{} programs run {} times", read->problems.programs().size(), done++)});
    return read->problems.periods(contention, interrupt.token());
  });
  if (!answer) return report(terminal, answer.error(), json);
  const int code = tell_fit(machine, *answer, answer->complete ? refitted_text(file, *answer, new_source(*read)) : "", arguments, terminal);
  return interrupt.interrupted() && (code == kDone || code == kNoProof) ? kInterrupted : code;
}

int tell_fit(const Machine& machine, const FitAnswer& answer, const std::string& text, const Arguments& arguments,
             const Terminal& terminal) {
  const std::string output = arguments.text("--out").value_or("");
  if (answer.complete && !output.empty())
    if (const int failed = write_text(terminal, output, text)) return failed;
  std::ostream& out = output == "-" ? terminal.err : terminal.out;
  if (arguments.has("--json"))
    out << fit_json(machine, answer).pretty();
  else if (terminal.quiet)
    out << fit_headline(machine, answer) << "\n";
  else
    out << fit_text(machine, answer, terminal.style);
  return answer.complete ? kDone : kNoProof;
}

}  // namespace heddle::app
