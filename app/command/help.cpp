#include "app/command/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/command/called.h"
#include "app/command/exit_code.h"
#include "app/command/ptx_form.h"
#include "core/base/text_style.h"

namespace heddle::app {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

constexpr int kWidth = 120;

struct Group {
  const char* title;
  std::vector<const char*> commands;
};

/// What one wants of a command. Every command stands in one of these.
const std::vector<Group>& groups() {
  static const std::vector<Group> all{
      {"look at what is there",
       {"list", "show", "gui", "analyze", "simulate", "traffic", "layout", "check", "audit", "diff", "schema", "version", "help"}},
      {"ask for the best, and why",
       {"solve", "period", "explain", "slack", "price", "latency", "sensitivity", "alternatives", "compare", "pareto", "family", "tune",
        "paper"}},
      {"change and make files", {"new", "export", "overlay", "adopt", "fit", "merge", "store", "completion"}},
      {"run kernels and jobs",
       {"eval", "emit", "interpret", "compile", "run", "race", "profile", "bench", "calibrate", "capture", "validate", "batch", "serve"}},
  };
  return all;
}

/// Two columns, the second aligned, and broken where it is too wide.
std::string two_columns(const Lines& lines) {
  std::size_t width = 0;
  for (const auto& [left, right] : lines) width = std::max(width, left.size());
  std::string text;
  for (const auto& [left, right] : lines) text += wrapped(right, "  " + left + std::string(width - left.size() + 3, ' '), kWidth);
  return text;
}

std::string spelled(const OptionSpec& option) {
  std::string text = option.short_flag.empty() ? "    " : option.short_flag + ", ";
  text += option.flag;
  if (!option.value.empty()) text += " " + option.value;
  return text;
}

std::string described(const OptionSpec& option) {
  if (option.choices.empty()) return option.about;
  std::string choices;
  for (const std::string& choice : option.choices) choices += (choices.empty() ? "" : " | ") + choice;
  return choices + ": " + option.about;
}

}  // namespace

std::string usage_line(const CommandSpec& command) {
  std::string text = "heddle " + command.name;
  for (const PositionalSpec& positional : command.positionals) {
    const std::string name = positional.name + (takes_rest(positional.type) ? "..." : "");
    text += positional.required ? " " + name : " [" + name + "]";
  }
  return command.options.empty() ? text : text + " [options]";
}

std::string overview() {
  std::string text = "heddle: provably best schedules for GPU kernels\n\nexamples\n";
  text += two_columns({{as_called("heddle show attention_forward_hopper h100"), "solve and draw the timeline"},
                       {as_called("heddle solve gemm_hopper h100 --out best.json"), "prove the best schedule and keep it"},
                       {as_called("heddle check gemm_hopper h100 best.json"), "judge a schedule independently"},
                       {as_called("heddle gui"), "open the window"}});
  text += "\nusage\n  " + program_called() + " COMMAND [arguments] [options]\n";
  Lines lines;
  for (const Group& group : groups()) {
    lines.clear();
    for (const char* name : group.commands) lines.emplace_back(name, find_command(name)->about);
    text += fmt::format("\n{}\n", group.title) + two_columns(lines);
  }
  text += "\noptions of every command\n";
  lines.clear();
  for (const OptionSpec& option : common_options()) lines.emplace_back(spelled(option), described(option));
  text += two_columns(lines);
  text +=
      "\nKERNEL, MACHINE and SCHEDULE are names of what is shipped (heddle list) or paths of files.\n"
      "Results go to standard output, everything else to standard error.\n\nexit codes\n";
  text += two_columns({{"0", "done"},
                       {"1", "internal error"},
                       {"2", "wrong usage"},
                       {"3", "invalid input file or name"},
                       {"4", "the answer is no: infeasible, or a schedule breaks a rule"},
                       {"5", "no proof in time"},
                       {"6", "something is missing here: display, solver, permission"},
                       {"7", "a kernel failed to compile or run"},
                       {"130", "interrupted"}});
  return as_called(text);
}

/// Examples, usage, arguments and options.
static std::string explained(const CommandSpec& command) {
  std::string text = "examples\n";
  for (const std::string& example : command.examples) text += "  " + example + "\n";
  text += "\nusage\n  " + usage_line(command) + "\n";
  Lines lines;
  for (const PositionalSpec& positional : command.positionals) lines.emplace_back(positional.name, positional.about);
  if (!lines.empty()) text += "\narguments\n" + two_columns(lines);
  lines.clear();
  for (const OptionSpec& option : all_options(command)) lines.emplace_back(spelled(option), described(option));
  return text + "\noptions\n" + two_columns(lines);
}

std::string help_for(const CommandSpec& command) {
  std::string text = wrapped(command.about, "heddle " + command.name + ": ", kWidth) + "\n" + explained(command);
  if (const CommandSpec* form = ptx_form(command.name))
    text += "\n" + wrapped(form->about, "heddle " + command.name + " of a PTX text: ", kWidth) + "\n" + explained(*form);
  return as_called(text);
}

int report_usage(const Terminal& terminal, const UsageError& error, bool json) {
  refuse(terminal, error.hint.empty() ? error.message : fmt::format("{} ({})", error.message, error.hint), json);
  if (error.command) terminal.err << "usage: " << as_called(usage_line(*error.command)) << "\n";
  terminal.err << "       " << program_called() << " " << (error.command ? error.command->name + " " : "") << "--help explains more\n";
  return kUsage;
}

}  // namespace heddle::app
