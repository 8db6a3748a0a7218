// What the program says about itself: help, version, completion.

#include "app/command/arguments.h"
#include "app/command/commands.h"
#include "app/command/completion.h"
#include "app/command/exit_code.h"
#include "app/command/help.h"
#include "app/command/terminal.h"
#include "core/base/json.h"
#include "core/base/version.h"
#ifdef HEDDLE_HAS_SOLVER
#include "solver/search/solve.h"
#endif

namespace heddle::app {

int run_help(const Arguments& arguments, const Terminal& terminal) {
  const auto name = arguments.text("COMMAND");
  terminal.out << (name ? help_for(*find_command(*name)) : overview());
  return kDone;
}

int run_completion(const Arguments& arguments, const Terminal& terminal) {
  terminal.out << completion_script(*arguments.text("SHELL"));
  return kDone;
}

namespace {

#ifdef __clang__
constexpr const char* kCompiler = "Clang " __clang_version__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

}  // namespace

int run_version(const Arguments& arguments, const Terminal& terminal) {
#ifdef HEDDLE_HAS_SOLVER
  const std::string solver = solver::solver_version();
#else
  const std::string solver;
#endif
  if (arguments.has("--json")) {
    terminal.out << Json(Json::Object{{"heddle", version()}, {"solver", solver}, {"compiler", kCompiler}}).pretty();
    return kDone;
  }
  terminal.out << "heddle " << version() << "\n";
  if (terminal.quiet) return kDone;
  terminal.out << "solver: " << (solver.empty() ? "none in this build" : solver) << "\n";
  terminal.out << "compiler: " << kCompiler << "\n";
  return kDone;
}

}  // namespace heddle::app
