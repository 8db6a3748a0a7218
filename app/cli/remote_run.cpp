#include "app/cli/remote_run.h"

#include <vector>

#include "app/cli/host_session.h"
#include "app/cli/lowering.h"
#include "app/command/exit_code.h"
#include "app/command/shared_options.h"
#include "codegen/run/measure.h"
#include "core/formats/constraints_json.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/formats/measurement_json.h"
#include "core/formats/schedule_json.h"

namespace heddle::app {
namespace {

/// How the kernel is to be written and run, as words again: what is asked of the solver, and where answers go, is settled here.
std::vector<std::string> running_words(const Arguments& arguments) {
  std::vector<OptionSpec> options = spec::with_run_options({spec::toggle("--no-time", "")});
  options.push_back(spec::integer("--groups", "N", 1, 16, ""));
  options.push_back(spec::integer("--seed", "N", 0, spec::kMost, ""));
  std::vector<std::string> words;
  for (const OptionSpec& option : options) {
    if (option.flag == "--again" || option.flag == "--judge" || option.flag == "--out" || option.flag == "--json" ||
        !arguments.has(option.flag))
      continue;
    if (option.type == ValueType::Switch)
      words.push_back(option.flag);
    else
      for (const std::string& value : arguments.all(option.flag)) words.insert(words.end(), {option.flag, value});
  }
  return words;
}

struct ToRun {
  Instance instance;
  Schedule schedule;
  std::vector<RemoteFile> compiled;  ///< here, where there is a compiler
};

/// The schedule that is given, or one that is solved here; and what is made of it, so that what is here to be said against it is said here.
std::optional<ToRun> schedule_to_run(const Arguments& arguments, const Terminal& terminal, bool profile, int& code) {
  std::vector<std::string> entries;
  codegen::CompileOptions compile;
  compile.compiler = compiler_of(arguments);
  compile.cache = codegen::default_cache();
  compile.entries = &entries;
  const auto compiler = codegen::find_compiler(compile.compiler);
  auto made = make_kernel(arguments, terminal, compiler.ok() ? KernelGoal::Compiled : KernelGoal::Text, compile, code);
  if (!made) return std::nullopt;
  if (!compiler.ok()) return ToRun{std::move(made->instance), std::move(made->schedule), {}};
  const auto prepared = codegen::prepare_run(measure_request(arguments, profile, *made, compile));
  if (!prepared.ok()) {
    code = report(terminal, prepared.error(), arguments.has("--json"));
    return std::nullopt;
  }
  auto compiled = cubins_for_host(entries, *compiler);
  if (!compiled.ok()) compiled = std::vector<RemoteFile>();  // a cache that cannot be read: it is compiled there
  return ToRun{std::move(made->instance), std::move(made->schedule), std::move(compiled).value()};
}

}  // namespace

std::optional<Measurement> measured_on_host(const std::string& command, const Arguments& arguments, const Terminal& terminal, int& code) {
  const Terminal silent{terminal.out, terminal.err, terminal.style, false, true, false};  // make_kernel() warns again
  if (const auto inputs = load_inputs(arguments, silent); !inputs) {
    code = report(terminal, inputs.error(), arguments.has("--json"));
    return std::nullopt;
  }
  HostSession host(arguments, terminal);
  if (!host.open(code)) return std::nullopt;
  auto made = schedule_to_run(arguments, terminal, command == "profile", code);
  if (!made) return std::nullopt;
  const Instance& instance = made->instance;
  Schedule& schedule = made->schedule;
  schedule.params.clear(), schedule.machine.clear();  // those of the problem, whatever it was solved for
  std::vector<RemoteFile> files{{"kernel.json", kernel_text(instance.kernel())},
                                {"machine.json", machine_text(instance.machine())},
                                {"schedule.json", schedule_text(instance.problem(), schedule)}};
  files.insert(files.end(), made->compiled.begin(), made->compiled.end());
  std::vector<std::string> words{command, "./kernel.json", "./machine.json", "--json", "--no-color"};
  const std::vector<std::string> running = running_words(arguments);
  words.insert(words.end(), running.begin(), running.end());
  if (!instance.changes().empty()) {
    files.push_back({"changes.json", constraints_text({}, instance.changes())});
    words.insert(words.end(), {"--constraints", "./changes.json"});
  }
  words.push_back("./schedule.json");
  const auto child = host.run(words, files, code);
  if (!child) return std::nullopt;
  auto measurement = parse_measurement(child->out, host.name());
  if (!measurement.ok()) {
    code = child->code == kDone ? report(terminal, measurement.error(), arguments.has("--json")) : host.passed_on(*child);
    return std::nullopt;
  }
  measurement->host = host.name();
  return std::move(*measurement);
}

int calibrate_on_host(const std::string& machine, const std::string& path, const Arguments& arguments, const Terminal& terminal) {
  int code = kDone;
  HostSession host(arguments, terminal);
  if (!host.open(code)) return code;
  std::vector<std::string> words{"calibrate", "./machine.json", "--no-color"};
  for (const char* flag : {"--compiler", "--limit"})
    if (const auto value = arguments.text(flag)) words.insert(words.end(), {flag, *value});
  const auto child = host.run(words, {{"machine.json", machine}}, code);
  if (!child) return code;
  if (child->code != kDone) return host.passed_on(*child);
  if (const int failed = write_text(terminal, path, child->out)) return failed;
  // The machine's file was its standard output, so its table went to standard error.
  if (!terminal.quiet)
    for (const std::string& line : host.unsaid()) (path == "-" ? terminal.err : terminal.out) << line << "\n";
  return kDone;
}

}  // namespace heddle::app
