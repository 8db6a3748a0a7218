// Nothing of ours throws on purpose; what libraries throw, when memory runs out for one, is caught here last and becomes an exit code.
#include "app/cli/cli.h"
#include "app/command/exit_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <new>

#include "app/batch/job_process.h"
#include "app/command/arguments.h"
#include "app/command/called.h"
#include "app/command/commands.h"
#include "app/command/help.h"
#include "app/command/interrupt.h"
#include "app/command/terminal.h"
#include "app/jobs/content_store.h"
#include "codegen/run/child.h"

namespace heddle::app {
namespace {

/// As far as one can tell of a command line that could not be parsed.
bool wants_json(const std::vector<std::string>& args) {
  const auto end = std::find(args.begin(), args.end(), "--");
  return std::find(args.begin(), end, "--json") != end;
}

int dispatch(const std::vector<std::string>& args, Terminal& terminal) {
  const auto parsed = parse_command_line(args);
  if (const auto* error = std::get_if<UsageError>(&parsed)) return report_usage(terminal, *error, wants_json(args));
  const CommandLine& line = std::get<CommandLine>(parsed);
  if (line.help) {
    terminal.out << (line.command ? help_for(*line.command) : overview());
    return kDone;
  }
  if (line.version) return run_version(line.arguments, terminal);
  if (!line.command) {
    terminal.err << overview();
    return kUsage;
  }
  terminal.style.option = [](std::string_view part) { return "--" + std::string(part); };
  terminal.quiet = line.arguments.has("--quiet");
  terminal.verbose = line.arguments.has("--verbose");
  if (line.arguments.has("--no-color")) terminal.style.color = false;
  if (!line.command->run) {
    const Error error = Error::environment("this build has no solver", "configure with -DHEDDLE_SOLVER=ON");
    return report(terminal, error, line.arguments.has("--json"));
  }
  const int code = line.command->run(line.arguments, terminal);
  if (const auto trouble = take_store_trouble()) terminal.note("warning: " + *trouble);
  return code;
}

/// The last line of defence: nothing of ours throws on purpose, but memory may run out in a library.
int run_guarded(const std::vector<std::string>& args, Terminal& terminal) {
  InterruptScope::begin_command();
  try {
    return dispatch(args, terminal);
  } catch (const std::bad_alloc&) {
    return report(terminal, Error::environment("out of memory"), wants_json(args));
  } catch (const std::exception& error) {
    terminal.complain(fmt::format("internal error: {}", error.what()));
    return kInternal;
  }
}

}  // namespace

int run_cli(std::vector<std::string> args, std::ostream& out, std::ostream& err) {
  PrintableStream safe_out(out), safe_err(err);
  Terminal terminal{safe_out, safe_err, {}, false};
  return run_guarded(args, terminal);
}

int run_cli(int argc, char** argv) {
  // Heddle started by itself to run a kernel (codegen/run/run.h).
  if (argc == 2 && std::string_view(argv[1]) == codegen::kChildCommand) return codegen::run_child(codegen::kChildDescriptor);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of that file, not the end
  const int taken = enter_job(argc, argv);
  argc -= taken;
  argv += taken;
  if (taken == 0) called_as(argc > 0 ? argv[0] : nullptr);  // what a job says is the same wherever it runs
  ProcessTerminal process;
  Terminal terminal = process.terminal();
  const int code = run_guarded(std::vector<std::string>(argv + std::min(argc, 1), argv + argc), terminal);
  terminal.out.flush();
  if (std::cout.good()) return code;
  terminal.complain("standard output cannot be written");
  return code == kDone ? kEnvironment : code;
}

}  // namespace heddle::app
