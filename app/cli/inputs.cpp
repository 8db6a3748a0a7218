#include "app/cli/inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/command/option_words.h"
#include "app/jobs/judge_claim.h"
#include "core/base/scanner.h"
#include "core/check/checker.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

/// "KEY=NUMBER" of every use of an option, whose form the parser has checked.
std::vector<std::pair<std::string, std::int64_t>> numbers_of(const Arguments& arguments, const char* option) {
  std::vector<std::pair<std::string, std::int64_t>> numbers;
  for (const std::string& text : arguments.all(option)) {
    const std::size_t equals = text.find('=');
    numbers.emplace_back(text.substr(0, equals), number_in_front<std::int64_t>(text.substr(equals + 1)));
  }
  return numbers;
}

std::vector<Subtile> cuts_of(const Arguments& arguments) {
  std::vector<Subtile> cuts;
  for (const auto& [param, factor] : numbers_of(arguments, "--subtile")) cuts.push_back({param, factor});
  return cuts;
}

InputNames names_of(const Arguments& arguments) {
  InputNames names;
  names.source = arguments.source();
  names.kernel = names.source->name();
  // What stands for its machine too is given twice.
  names.machine = arguments.text("MACHINE") == arguments.text("KERNEL") ? names.kernel : *arguments.text("MACHINE");
  names.schedule = arguments.text("SCHEDULE");
  names.params = numbers_of(arguments, "--param");
  names.cuts = cuts_of(arguments);
  names.constraints = arguments.text("--constraints");
  names.demands = arguments.all("--demand");
  names.changes = arguments.all("--set");
  names.layouts = arguments.all("--layout");
  names.instructions = arguments.all("--instruction");
  names.emitter_rules = arguments.has("--emitter");
  for (const auto& [option, kind] :
       {std::pair{"--groups", ConstraintKind::MaxGroups}, std::pair{"--max-stages", ConstraintKind::MaxStages}})
    if (const auto most = arguments.integer(option)) {
      UserConstraint& cap = names.caps.emplace_back();
      cap.name = fmt::format("{} {}", option, *most);
      cap.kind = kind;
      cap.high = *most;
    }
  return names;
}

/// What keeps a search to what Triton's passes can build is not held against what Triton built.
void drop_broken_rules(CommandInputs& inputs) {
  const Result<Constraints> rules = inputs.source->rules(inputs.problem(), false);
  for (const UserConstraint& rule : rules ? *rules : Constraints{}) {
    const std::vector<Violation> broken = check(inputs.problem(), *inputs.schedule, {rule}).violations;
    if (std::any_of(broken.begin(), broken.end(), [](const Violation& v) { return v.family == "user"; }))
      std::erase(inputs.constraints, rule);
  }
}

/// What --choose names becomes a question.
Result<Ok> leave_open(CommandInputs& inputs, const std::vector<std::string>& names) {
  if (names.empty()) return Ok{};
  if (inputs.schedule)
    return Error::input("--choose leaves layouts to the solver, and a schedule has its own", "leave SCHEDULE out, or --choose");
  if (const std::string reason = inputs.source->why_not(SourceUse::Layouts); !reason.empty()) return Error::input("--choose: " + reason);
  inputs.left_open = names;
  Result<OpenLayouts> question = open_again(inputs, inputs.choices());
  if (!question) return question.error();
  inputs.open = *std::move(question);
  return Ok{};
}

}  // namespace

Result<OpenLayouts> open_again(const CommandInputs& inputs, const LayoutChoices& said, const Changes& more) {
  return open_layouts(with(inputs.instance.spec(), said, more), inputs.left_open);
}

Result<Scope> parse_params(const Arguments& arguments) {
  Result<Scope> params = params_of(numbers_of(arguments, "--param"));
  return params ? params : in_options(params.error());
}

Result<Kernel> apply_subtiles(Kernel kernel, const Arguments& arguments, const Scope& params) {
  return cut_kernel(std::move(kernel), cuts_of(arguments), params);
}

void print_warnings(const Terminal& terminal, const std::vector<Fault>& warnings) {
  std::vector<Fault> once;
  for (const Fault& warning : warnings) add_once(once, warning);
  for (const Fault& warning : in_options({ErrorKind::Input, once}).faults) terminal.note("warning: " + to_string(warning));
}

Result<CommandInputs> load_inputs(const Arguments& arguments, const Terminal& terminal) {
  InputNames names = names_of(arguments);
  // A Triton text as SCHEDULE means Triton's own, which is worked out once the problem is there.
  std::optional<std::string> own;
  if (names.schedule)
    if (const auto file = compilers_file(*names.schedule, names.source.get()); file && file->triton()) std::swap(own, names.schedule);
  std::vector<Fault> warnings;
  Result<heddle::Inputs> read = heddle::load_inputs(names, warnings);
  print_warnings(terminal, warnings);
  if (!read) return in_options(read.error());
  CommandInputs inputs{*std::move(read), {}, {}, {}, {}, {}};
  for (const std::string& note : inputs.source->notes()) terminal.note("note: " + note);
  if (own) {
    Result<Schedule> schedule = own == names.kernel ? inputs.source->own_schedule(inputs.problem())
                                                    : read_schedule(*own, inputs.problem(), nullptr, inputs.source.get());
    if (!schedule) return in_options(schedule.error());
    inputs.schedule = *std::move(schedule);
    inputs.schedule_file = *own;
    drop_broken_rules(inputs);
  }
  if (inputs.schedule) {
    std::vector<Fault> refuted;
    judge_claim(inputs.problem(), inputs.constraints, *inputs.schedule, inputs.schedule_file.empty() ? names.kernel : inputs.schedule_file,
                &refuted);
    print_warnings(terminal, refuted);
  }
  if (const Result<Ok> open = leave_open(inputs, arguments.all("--choose")); !open) return open.error();
  return inputs;
}

}  // namespace heddle::app
