// heddle family: tile sizes, sub-tiling and warp groups as decisions.
#include <fmt/format.h>

#include <algorithm>

#include "app/ask/family.h"
#include "app/cli/questions/asking.h"
#include "app/command/called.h"
#include "app/command/commands.h"
#include "app/command/option_words.h"
#include "core/base/split.h"
#include "core/base/suggest.h"
#include "core/formats/choices_json.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "solver/questions/kernel_set_members.h"

namespace heddle::app {
namespace {

struct NamedFamily {
  KernelSetSpec spec;
  std::vector<std::string> typed;  ///< per kernel, as the user named it
};

Result<NamedFamily> read_question(const Arguments& arguments, const Terminal& terminal) {
  NamedFamily question;
  Error error;
  std::vector<Fault> warnings;
  const auto take = [&](const Error& e) {
    error.faults.insert(error.faults.end(), e.faults.begin(), e.faults.end());
    if (e.kind == ErrorKind::Environment) error.kind = e.kind;
  };
  for (const std::string& name : split(*arguments.text("KERNELS"), ',')) {
    Result<Kernel> kernel = load_kernel(name, &warnings);
    if (!kernel) {
      take(kernel.error());
      continue;
    }
    const auto same =
        std::find_if(question.spec.kernels.begin(), question.spec.kernels.end(), [&](const auto& k) { return k->name == kernel->name; });
    if (same != question.spec.kernels.end()) take(Error::input(fmt::format("kernel '{}' is named twice", kernel->name)));
    question.spec.kernels.push_back(std::make_shared<const Kernel>(*std::move(kernel)));
    question.typed.push_back(name);
  }
  if (Result<Machine> machine = load_machine(*arguments.text("MACHINE"), &warnings))
    question.spec.each.machine = std::make_shared<const Machine>(*std::move(machine));
  else
    take(machine.error());
  if (const Result<Scope> params = parse_params(arguments))
    question.spec.each.params = *params;
  else
    take(params.error());
  for (const std::string& text : arguments.all("--vary")) {
    if (Result<Variation> v = parse_variation(text))
      question.spec.vary.push_back(*std::move(v));
    else
      take(v.error());
  }
  // A fixed cut is a choice of one.
  for (const std::string& text : arguments.all("--subtile"))
    if (Result<Variation> v = parse_variation("subtile:" + text)) question.spec.vary.push_back(*std::move(v));
  if (!question.spec.kernels.empty() && error.faults.empty())
    for (const std::string& text : arguments.all("--set")) {
      if (const Result<Change> change = parse_change(text, *question.spec.kernels.front(), *question.spec.each.machine))
        question.spec.each.changes.push_back(*change);
      else
        take(change.error());
    }
  std::vector<Fault> unread;
  for (const std::string& text : arguments.all("--layout")) add_layout(text, question.spec.each.choices, unread);
  for (const std::string& text : arguments.all("--instruction")) add_instruction(text, question.spec.each.choices, unread);
  if (!unread.empty()) take(in_options({ErrorKind::Input, std::move(unread)}));
  question.spec.all_choices = arguments.has("--all-choices");
  print_warnings(terminal, warnings);
  if (!error.faults.empty()) return error;
  if (question.spec.kernels.size() < 2 && question.spec.vary.empty() && !question.spec.all_choices) {
    std::vector<std::string> known;
    for (const Param& p : question.spec.kernels.front()->params)
      if (p.choices.size() > 1) known.push_back(p.name);
    return Error::input("nothing varies: a family needs --vary, --all-choices or several kernels",
                        known.empty() ? "for instance --vary groups=2..4" : "parameters with choices: " + list_of(known));
  }
  return question;
}

FamilyOptions family_options_of(const Arguments& arguments) {
  FamilyOptions options;
  options.objectives = arguments.all("--objective");
  if (const auto s = arguments.seconds("--member-timeout")) options.member_seconds = *s;
  options.exhaustive = arguments.has("--exhaustive");
  options.jobs = static_cast<int>(arguments.integer("--jobs").value_or(1));
  if (const auto stages = arguments.integer("--max-stages")) options.most_stages = static_cast<int>(*stages);
  return options;
}

/// The command that solves the best member alone.
std::string again(const NamedFamily& question, const KernelSetMember& m, const std::string& machine) {
  std::string text = "heddle solve ";
  for (std::size_t k = 0; k < question.typed.size(); ++k)
    if (question.spec.kernels[k]->name == m.kernel) text += question.typed[k];
  text += " " + machine;
  for (const auto& [name, value] : question.spec.each.params)
    if (m.problem.params.contains(name)) text += fmt::format(" -p {}={}", name, value);
  for (const auto& [name, value] : m.choices) text += fmt::format(" -p {}={}", name, value);
  for (const Subtile& s : m.subtiles) text += fmt::format(" --subtile {}={}", s.param, s.factor);
  for (const Change& change : question.spec.each.changes) text += " --set " + describe(change);
  for (const auto& [value, layout] : question.spec.each.choices.layouts) text += fmt::format(" --layout '{}={}'", value, layout);
  for (const auto& [op, choice] : question.spec.each.choices.instructions)
    text += fmt::format(" --instruction {}={}", op, instruction_text(choice));
  if (m.groups != m.usual_groups) text += fmt::format(" --groups {}", m.groups);
  return printable(text);
}

}  // namespace

int run_family(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const auto file = arguments.text("--out");
  if (json && file == "-") return refuse(terminal, "--json and --out - both want standard output; give --out a file", json);
  const Result<NamedFamily> question = read_question(arguments, terminal);
  if (!question) return report(terminal, question.error(), json);
  if (file)
    if (const int failed = expect_writable(terminal, *file, json)) return failed;

  const Result<KernelSetAnswer> asked_for = asked<KernelSetAnswer>(terminal, [&](auto stop, const auto& listener) {
    return ask_family(question->spec, family_options_of(arguments), limits_of(arguments), stop, listener);
  });
  if (!asked_for) return report(terminal, asked_for.error(), json);
  const KernelSetAnswer& family = *asked_for;

  int code = exit_code(ended(family));
  const KernelSetMember* winner = family.best.empty() ? nullptr : &family.members[family.best.front().member];
  std::ostream& out = file == "-" ? terminal.err : terminal.out;
  out << told(family, telling(terminal, json));
  if (winner && !json && !terminal.quiet)
    out << "again: " << as_called(printable(again(*question, *winner, *arguments.text("MACHINE")))) << "\n";
  if (file && winner) {
    if (const int failed = write_text(terminal, *file, schedule_text(winner->problem, *winner->outcome.schedule)))
      code = failed;
    else if (file != "-")
      terminal.note("schedule of the best member saved as " + *file);
  }
  return code;
}

}  // namespace heddle::app
