// Command lines that make no sense, help, and completion: all of it follows the command table.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/inputs.h"
#include "app/command/arguments.h"
#include "app/command/command_table.h"
#include "app/command/exit_code.h"
#include "core/base/text_style.h"
#include "core/layout/notation.h"
#include "core/library/library.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;
using heddle::test::contains;
using heddle::test::run_heddle;

namespace {

/// The words of a text that is broken into lines, and set in columns.
std::string words_of(const std::string& text) {
  std::istringstream in(text);
  std::string words;
  for (std::string word; in >> word;) words += (words.empty() ? "" : " ") + word;
  return words;
}

/// How often a line of the text begins with this.
int lines_with(const std::string& text, const std::string& begin) {
  std::istringstream in(text);
  int count = 0;
  for (std::string line; std::getline(in, line);) count += line.starts_with(begin);
  return count;
}

/// Usage errors say something on stderr and nothing on stdout, except where --json promises an object there.
void check_usage_error(std::vector<std::string> args, const std::string& part) {
  const auto run = run_heddle(args);
  INFO(run.err);
  CHECK(run.code == kUsage);
  const bool json = std::find(args.begin(), args.end(), "--json") != args.end();
  if (json)
    CHECK(run.out.find("{\n  \"error\": \"usage\",") == 0);
  else
    CHECK(run.out.empty());
  CHECK(contains(run.err, part));
}

}  // namespace

TEST_CASE("no arguments: an overview on standard error and exit code 2", "[app]") { check_usage_error({}, "usage"); }

TEST_CASE("misspelt commands, options and words get a suggestion", "[app]") {
  check_usage_error({"slove", "toy_fig1", "toy"}, "did you mean 'solve'?");
  check_usage_error({"solve", "toy_fig1", "toy", "--timout", "3"}, "did you mean '--timeout'?");
  check_usage_error({"show", "toy_fig1", "toy", "--mode", "stedy"}, "did you mean 'steady'?");
  check_usage_error({"list", "kernls"}, "did you mean 'kernels'?");
  check_usage_error({"help", "anlyze"}, "did you mean 'analyze'?");
  check_usage_error({"completion", "bsh"}, "did you mean 'bash'?");
  check_usage_error({"frobnicate"}, "the commands are");
}

TEST_CASE("with --json a request that makes no sense is answered by an object", "[app]") {
  check_usage_error({"explain", "--json"}, "needs KERNEL");
  check_usage_error({"frobnicate", "--json"}, "there is no command");
  check_usage_error({"solve", "toy_fig1", "toy", "--ii", "0", "--json"}, "--ii needs an integer");
  check_usage_error({"solve", "toy_fig1", "toy", "--ii", "3", "--require-optimal", "--json"}, "leave one out");
}

TEST_CASE("a flag of other commands is not taken for a misspelt one", "[app]") {
  check_usage_error({"eval", "toy_fig1", "--set", "S.latency=4"}, "costs, limits and schedules play no part");
  check_usage_error({"analyze", "toy_fig1", "toy", "--timeout", "4"}, "only other commands have it");
}

TEST_CASE("missing, superfluous and malformed arguments are usage errors that say what was expected", "[app]") {
  check_usage_error({"solve"}, "needs KERNEL");
  check_usage_error({"solve", "toy_fig1"}, "needs MACHINE");
  check_usage_error({"check", "toy_fig1", "toy"}, "needs SCHEDULE");
  check_usage_error({"solve", "toy_fig1", "toy", "more"}, "does not expect 'more'");
  check_usage_error({"solve", "toy_fig1", "toy", "--ii"}, "--ii needs a value");
  check_usage_error({"solve", "toy_fig1", "toy", "--ii", "0"}, "an integer from 1");
  check_usage_error({"solve", "toy_fig1", "toy", "--ii", "-5"}, "an integer from 1");
  check_usage_error({"solve", "toy_fig1", "toy", "--ii", "1.5"}, "an integer from 1");
  check_usage_error({"solve", "toy_fig1", "toy", "--ii", "99999999999999999999"}, "an integer from 1");
  check_usage_error({"solve", "toy_fig1", "toy", "--ii", "1", "--ii", "2"}, "more than once");
  for (const char* seconds : {"0", "-1", "nan", "inf", "1e30", "soon", ""})
    check_usage_error({"solve", "toy_fig1", "toy", "--timeout", seconds}, "--timeout needs");
  check_usage_error({"solve", "toy_fig1", "toy", "--json=yes"}, "takes no value");
  for (const char* param : {"T", "T=", "=3", "T=x", "T=3.5", "T=3 "})
    check_usage_error({"solve", "toy_fig1", "toy", "--param", param}, "NAME=INTEGER");
  check_usage_error({"solve", "toy_fig1", "toy", "--ii", "2", "--require-optimal"}, "--require-optimal");
  check_usage_error({"export", "toy_fig1", "toy"}, "--format");
  check_usage_error({""}, "there is no command");
}

TEST_CASE("with --json standard output gets one object whatever is wrong", "[app]") {
  for (const auto& args : {std::vector<std::string>{"--json"},
                           {"solve", "--json"},
                           {"solve", "toy_fig1", "toy", "--json", "--out", "-"},
                           {"alternatives", "toy_fig1", "toy", "--count", "0", "--json"},
                           {"pareto", "toy_fig1", "toy", "--resume", "--json"},
                           {"paper", "--json"},
                           {"paper", "toy_fig1", "toy", "--all", "--json"},
                           {"price", "toy_fig1", "toy", "--max-stages", "1", "--ii", "3", "--json"},
                           {"sensitivity", "toy_fig1", "toy", "--ii", "3", "--json"}}) {
    const auto run = run_heddle(args);
    INFO(run.err);
    CHECK(run.code == kUsage);
    const nlohmann::json answer = nlohmann::json::parse(run.out, nullptr, false);
    REQUIRE(answer.is_object());
    CHECK(answer.at("error") == "usage");
    CHECK(answer.at("faults").size() == 1);
  }
  CHECK(run_heddle({"solve", "--", "--json"}).out.empty());  // a kernel of that name
}

TEST_CASE("the command may stand after its options", "[app]") {
  for (const auto& args : {std::vector<std::string>{"--json", "analyze", "toy_fig1", "toy"},
                           {"--param", "T=3", "analyze", "--json", "toy_fig1", "toy"},
                           {"analyze", "toy_fig1", "--json", "toy", "--param=T=3"},
                           {"analyze", "--json", "--", "toy_fig1", "toy"}}) {
    const auto run = run_heddle(args);
    INFO(run.err);
    CHECK(run.code == kDone);
    CHECK(contains(run.out, "res_mii"));
  }
}

TEST_CASE("the overview and every command's help name everything in the table", "[app]") {
  const std::string overview = run_heddle({"--help"}).out;
  for (const CommandSpec& command : command_table()) {
    CHECK(lines_with(overview, "  " + command.name + "  ") == 1);
    CHECK(contains(words_of(overview), words_of(command.about)));
    const auto run = run_heddle({command.name, "--help"});
    CHECK(run.code == kDone);
    CHECK(run.err.empty());
    CHECK(run.out == run_heddle({"help", command.name}).out);
    CHECK(run.out == run_heddle({"-h", command.name}).out);
    CHECK(run.out.find("examples") < run.out.find("usage"));
    CHECK(!command.examples.empty());
    for (const std::string& example : command.examples) CHECK(contains(run.out, example));
    for (const OptionSpec& option : all_options(command)) CHECK(contains(run.out, option.flag));
    for (const PositionalSpec& positional : command.positionals) CHECK(contains(run.out, positional.name));
  }
}

TEST_CASE("no line of help is wider than 120 columns", "[app]") {
  std::string help = run_heddle({"--help"}).out;
  for (const CommandSpec& command : command_table()) help += run_heddle({command.name, "--help"}).out;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(display_width(line) <= 120);
  }
}

TEST_CASE("every example of the help is a command line that parses", "[app]") {
  for (const CommandSpec& command : command_table()) {
    for (const std::string& example : command.examples) {
      INFO(example);
      CHECK(contains(example, "heddle " + command.name));
      CHECK(!contains(example, "--out -"));
      std::vector<std::string> words;
      std::istringstream text(example.substr(example.find("heddle ") + 7));
      // As a shell does: what stands in double quotes is one word.
      for (std::string word; text >> word && word != "|" && word != ">";) {
        for (std::string more; word.starts_with('"') && !(word.size() > 1 && word.ends_with('"')) && text >> more;) word += " " + more;
        const bool quoted = word.size() > 1 && word.starts_with('"') && word.ends_with('"');
        words.push_back(quoted ? word.substr(1, word.size() - 2) : word);
      }
      if (command.name == "completion" && words.back().ends_with(")")) words.back().pop_back();  // source <(heddle completion bash)
      for (std::string& word : words)                                                            // a text of the reader's own
        if (word.starts_with("attention.ttgir"))
          word.replace(0, std::string("attention.ttgir").size(),
                       test::repository_path("tests/triton/texts/attention_forward.sm90.scheduled.ttgir"));
      const auto parsed = parse_command_line(words);
      REQUIRE(std::holds_alternative<CommandLine>(parsed));
      const Arguments& arguments = std::get<CommandLine>(parsed).arguments;
      if (!arguments.has("KERNEL")) continue;
      if (command.name == "layout" && !arguments.has("MACHINE")) {  // a layout by itself
        CHECK(parse_layout(*arguments.text("KERNEL"),
                           {arguments.has("--shape") ? std::vector<std::int64_t>{64, 64} : std::vector<std::int64_t>{}, 16})
                  .ok());
        continue;
      }
      const auto kernel = heddle::load_kernel(*arguments.text("KERNEL"));
      REQUIRE(kernel.ok());
      const auto params = parse_params(arguments);
      REQUIRE(params.ok());
      for (const auto& [name, value] : *params)
        CHECK(std::any_of(kernel->params.begin(), kernel->params.end(), [&, name = name](const auto& p) { return p.name == name; }));
    }
  }
}

TEST_CASE("options accepted by the parser are those of the table", "[app]") {
  for (const CommandSpec& command : command_table()) {
    for (const OptionSpec& option : all_options(command)) {
      if (option.type == ValueType::Switch || option.flag == "--help") continue;
      // A bad value is refused by the option itself, so the option exists; a file or assignment may be empty.
      const auto run = run_heddle({command.name, option.flag, ""});
      INFO(command.name << " " << option.flag << ": " << run.err);
      CHECK(run.code == kUsage);
      CHECK(contains(run.err, option.flag + " needs"));
    }
  }
}

TEST_CASE("completion scripts name every command and every option", "[app]") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto run = run_heddle({"completion", shell});
    CHECK(run.code == kDone);
    CHECK_FALSE(contains(run.out, "@VALUES@"));
    for (const CommandSpec& command : command_table()) {
      CHECK(contains(run.out, command.name));
      for (const OptionSpec& option : all_options(command)) {
        const std::string spelled = shell == std::string("fish") ? "-l " + option.flag.substr(2) : option.flag;
        INFO(shell << " " << command.name << " " << spelled);
        CHECK(contains(run.out, spelled));
      }
      for (const PositionalSpec& positional : command.positionals)
        for (const std::string& choice : positional.choices) CHECK(contains(run.out, choice));
    }
  }
}

TEST_CASE("the bash completion is valid bash and completes commands, options and their values", "[app]") {
  if (std::system("bash -c true > /dev/null 2>&1") != 0) return;
  test::ScratchFolder folder;
  const std::string script = folder.write("completion.bash", run_heddle({"completion", "bash"}).out);
  const auto completes = [&](const std::string& words, const std::string& expected) {
    // COMP_WORDS as the shell would set it; the last word is the one being completed.
    const std::string program =
        folder.write("drive.bash", "source " + script + "\nCOMP_WORDS=(" + words + ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_heddle\n" +
                                       "printf '%s\\n' \"${COMPREPLY[@]}\" | grep -qx -- '" + expected + "'\n");
    INFO(words);
    CHECK(std::system(("bash " + program).c_str()) == 0);
  };
  completes("heddle so", "solve");
  completes("heddle solve toy_fig1 toy --time", "--timeout");
  completes("heddle show toy_fig1 toy --mode pi", "pipeline");
  completes("heddle --quiet completion z", "zsh");
  completes("heddle list mac", "machines");
}

TEST_CASE("the window program is started, or its absence is an environment error", "[app]") {
  test::ScratchFolder folder;
  setenv("HEDDLE_GUI", folder.path("no-such-program").c_str(), 1);
  auto run = run_heddle({"gui"});
  CHECK(run.code == kEnvironment);
  CHECK(contains(run.err, "no-such-program"));
  const std::string program = folder.write("window", "#!/bin/sh\nexit $#\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  setenv("HEDDLE_GUI", program.c_str(), 1);
  CHECK(run_heddle({"gui", "one", "two", "three"}).code == 3);
  CHECK(run_heddle({"gui", "--tab", "slack", "one", "--no-solve"}).code == 4);  // as they were typed
  CHECK(run_heddle({"gui", "--tab", "slak"}).code == kUsage);
  CHECK(run_heddle({folder.write("kernel.json", "{}")}).code == 1);  // a file alone opens the window
  unsetenv("HEDDLE_GUI");
}

TEST_CASE("version and --version agree", "[app]") {
  CHECK(run_heddle({"version"}).out == run_heddle({"--version"}).out);
  CHECK(contains(run_heddle({"version"}).out, "heddle "));
}
