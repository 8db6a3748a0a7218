#include "core/library/inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check/form.h"
#include "core/dump/dump_files.h"
#include "core/formats/changes_json.h"
#include "core/formats/choices_json.h"
#include "core/formats/constraints_json.h"
#include "core/library/layout_demands.h"
#include "core/library/library.h"
#include "core/library/project_json.h"
#include "core/problem/resolve.h"
#include "core/schedule/constraint_text.h"

namespace heddle {
namespace {

/// Keeps the faults of several failed results; an environment error among them decides the kind.
class FaultCollector {
 public:
  template <class T>
  void add(const Result<T>& result) {
    if (result) return;
    for (const Fault& fault : result.error().faults) add_once(error_.faults, fault);
    if (result.error().kind == ErrorKind::Environment) error_.kind = ErrorKind::Environment;
    failed_ = true;
  }
  bool failed() const { return failed_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool failed_ = false;
};

/// A kernel as load_kernel reads it; of a Triton text what it was made of is kept.
Result<Kernel> kernel_or_text(const std::string& name, std::shared_ptr<const TritonText>& text, std::vector<Fault>& warnings) {
  const CutName cut = split_cuts(name);
  const Result<std::string> path = find_in_library(Shelf::Kernels, cut.kernel);
  if (!path || !names_triton(*path) || dump::is_dump(*path)) return load_kernel(name, &warnings);
  Result<TritonText> read = read_triton(*path);
  if (!read) return read.error();
  Result<Kernel> kernel = read->kernel;
  for (const Subtile& part : cut.cuts)
    if (kernel) kernel = subtile(*kernel, part);
  text = std::make_shared<const TritonText>(*std::move(read));
  return kernel;
}

/// Of a Triton text faults are said of the text.
Result<Problem> resolve_inputs(const Kernel& kernel, const Machine& machine, const Scope& params, const Changes& changes,
                               const LayoutChoices& choices, const TritonText* text) {
  Result<Problem> problem = resolve(kernel, machine, params, changes, choices);
  return problem || !text ? problem : triton::unresolved_text(problem.error(), text->program, text->native, kernel);
}

/// What the schedule's file chooses, and over it what was said. Of a schedule of another kernel only what is about this one's values and
/// ops: it has others, which would only hide what is wrong. In a schedule of this kernel a name that it does not have is a fault.
LayoutChoices choices_for(const Kernel& kernel, const LayoutChoices& of_file, bool of_this_kernel, const LayoutChoices& said) {
  LayoutChoices choices = said;
  if (of_this_kernel) {
    choices.layouts.insert(of_file.layouts.begin(), of_file.layouts.end());
    choices.instructions.insert(of_file.instructions.begin(), of_file.instructions.end());
    return choices;
  }
  for (const auto& [name, text] : of_file.layouts)
    if (kernel.find_value(name)) choices.layouts.emplace(name, text);
  for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (const TileOp& op : *list)
      if (const auto it = of_file.instructions.find(op.name); it != of_file.instructions.end()) choices.instructions.insert(*it);
  return choices;
}

bool names_one_of(const std::string& pointer, const LayoutChoices& choices) {
  const auto names = [&](const char* list, const auto& members) {
    return std::any_of(members.begin(), members.end(), [&](const auto& member) { return pointer == pointer_to(list, member.first); });
  };
  return names("/layouts", choices.layouts) || names("/instructions", choices.instructions);
}

/// resolve() knows no file: faults of choices are said of the word of the command line, of the file that demands them, or of the
/// schedule's.
Result<Problem> with_places(Result<Problem> problem, const LayoutChoices& said, const LayoutChoices& demanded,
                            const std::string& constraints_file, const std::string& schedule_file) {
  if (problem) return problem;
  Error error = problem.error();
  for (Fault& fault : error.faults) {
    if (!fault.file.empty()) continue;
    bool given = false;
    for (const auto& [name, text] : said.layouts)
      if (fault.pointer == pointer_to("/layouts", name))
        fault.message = fmt::format("--layout {}={}: {}", name, text, fault.message), given = true;
    for (const auto& [name, choice] : said.instructions)
      if (fault.pointer == pointer_to("/instructions", name))
        fault.message = fmt::format("--instruction {}={}: {}", name, instruction_text(choice), fault.message), given = true;
    if (given)
      fault.pointer.clear();
    else if (names_one_of(fault.pointer, demanded))
      fault.file = constraints_file;
    else if (fault.pointer.starts_with("/layouts/") || fault.pointer.starts_with("/instructions/"))
      fault.file = schedule_file;
  }
  return error;
}

/// A cap from the command line is a demand like those of a file: named, and judged by the checker too.
UserConstraint cap(std::string name, ConstraintKind kind, std::int64_t limit) {
  UserConstraint constraint;
  constraint.name = std::move(name);
  constraint.kind = kind;
  constraint.high = limit;
  return constraint;
}

/// The same inputs with these changes and choices instead of their own.
Result<Problem> resolve_otherwise(const Inputs& inputs, const Changes& changes, const LayoutChoices& choices) {
  Result<Problem> problem = resolve_inputs(inputs.kernel, inputs.machine, inputs.params, changes, choices, inputs.triton.get());
  if (problem) problem->max_groups = std::max(problem->max_groups, inputs.least_groups);
  return problem;
}

/// A sentence that says what a constraint of the file says already adds nothing.
Result<Ok> add_demands(const std::vector<std::string>& sentences, const Problem& problem, Constraints& constraints) {
  Error error;
  for (const std::string& sentence : sentences) {
    const Result<UserConstraint> demand = parse_constraint(sentence, problem);
    if (!demand) {
      for (Fault fault : demand.error().faults) {
        fault.message = "--demand " + fault.message;
        error.faults.push_back(std::move(fault));
      }
      continue;
    }
    const bool known = std::any_of(constraints.begin(), constraints.end(),
                                   [&](const UserConstraint& c) { return c.enabled && describe(c) == demand->name; });
    if (!known) constraints.push_back(*demand);
  }
  if (!error.faults.empty()) return error;
  return Ok{};
}

}  // namespace

void add_once(std::vector<Fault>& faults, const Fault& fault) {
  const bool known = std::any_of(faults.begin(), faults.end(), [&](const Fault& f) {
    return f.file == fault.file && f.pointer == fault.pointer && f.message == fault.message;
  });
  if (!known) faults.push_back(fault);
}

Result<Scope> params_of(const std::vector<std::pair<std::string, std::int64_t>>& given) {
  Scope scope;
  for (const auto& [name, value] : given)
    if (!scope.emplace(name, value).second) return Error::input(fmt::format("--param sets {} twice", name));
  return scope;
}

Result<Kernel> cut_kernel(Kernel kernel, const std::vector<Subtile>& cuts, const Scope& params) {
  for (const Subtile& part : cuts) {
    Result<Kernel> cut = subtile(kernel, part, params);
    if (!cut) return cut;
    kernel = *std::move(cut);
  }
  return kernel;
}

Result<Problem> resolve_again(const Inputs& inputs, const Changes& more) { return resolve_with(inputs, inputs.choices, more); }

Result<Problem> resolve_with(const Inputs& inputs, const LayoutChoices& choices, const Changes& more) {
  Changes changes = inputs.changes;
  changes.insert(changes.end(), more.begin(), more.end());
  return resolve_otherwise(inputs, changes, choices);
}

Result<Inputs> load_inputs(const InputNames& names, std::vector<Fault>& warnings) {
  FaultCollector faults;
  const std::string& source = names.kernel;
  std::optional<Project> project;
  if (is_project(source)) {
    Result<Project> read = read_project(source, &warnings);
    if (!read) return read.error();
    project = *std::move(read);
  }
  Inputs inputs;
  Result<Kernel> kernel = project ? Result<Kernel>(*project->kernel) : kernel_or_text(source, inputs.triton, warnings);
  faults.add(kernel);
  const auto machine_of = [&]() -> Result<Machine> {
    if (names.machine != source) return load_machine(names.machine, &warnings);
    if (project) return *project->machine;
    if (!inputs.triton) return load_machine(source, &warnings);
    const Result<std::string> shipped = triton::machine_for(inputs.triton->program);
    return shipped ? load_machine(*shipped, &warnings) : shipped.error();
  };
  const Result<Machine> machine = machine_of();
  faults.add(machine);
  const Result<Scope> given = params_of(names.params);
  faults.add(given);

  LayoutChoices said, of_file;
  std::string choosers_kernel;  // of whom `of_file` is
  std::vector<Fault> unread;
  for (const std::string& text : names.layouts) add_layout(text, said, unread);
  for (const std::string& text : names.instructions) add_instruction(text, said, unread);
  if (!unread.empty()) faults.add(Result<Ok>(Error{ErrorKind::Input, unread}));

  Scope params;
  const bool of_project = project && names.schedule == source;
  if (project) {
    params = project->params;
    inputs.changes = project->changes;
    of_file = project->choices;
    choosers_kernel = project->kernel->name;
    inputs.constraints = project->constraints;
    if (of_project && project->shown) inputs.schedule = project->schedules[*project->shown].schedule;
  }
  if (const auto& name = names.schedule; name && !of_project) {
    const Result<std::string> path = find_schedule(*name, kernel ? kernel->name : "");
    faults.add(path);
    if (path) {
      inputs.schedule_file = *path;
      const Result<ScheduleHead> head = read_schedule_head(*path);
      faults.add(head);
      if (head) of_file = head->layouts, choosers_kernel = head->kernel;
      // A schedule of another kernel has other parameters too; those would only hide what is wrong.
      if (head && kernel) {
        for (const auto& [key, value] : head->params)
          if (kernel->find_param(key)) params[key] = value;
      }
    }
  }
  if (faults.failed()) return faults.error();

  for (const auto& [name, value] : *given) params[name] = value;
  kernel = cut_kernel(*kernel, names.cuts, params);
  if (!kernel) return kernel.error();
  std::vector<std::string> sentences;  // those that are not about layouts
  for (const std::string& sentence : names.demands)
    if (!take_layout_demand(sentence, *kernel, said, unread)) sentences.push_back(sentence);
  for (Fault& fault : unread)
    if (!fault.message.starts_with("--")) fault.message = "--demand " + fault.message;
  if (!unread.empty()) faults.add(Result<Ok>(Error{ErrorKind::Input, unread}));
  const std::optional<std::string>& demands = names.constraints;
  LayoutChoices demanded;  // by the file of constraints
  if (demands) {
    Result<Changes> changes = read_changes(*demands, &warnings);
    faults.add(changes);
    if (changes) inputs.changes.insert(inputs.changes.end(), changes->begin(), changes->end());
    Result<LayoutChoices> choices = read_layout_demands(*demands, &warnings);
    faults.add(choices);
    if (choices) demanded = *std::move(choices);
  }
  for (const std::string& text : names.changes) {
    const Result<Change> change = parse_change(text, *kernel, *machine);
    faults.add(change);
    if (change) inputs.changes.push_back(*change);
  }
  inputs.choices = choices_for(*kernel, of_file, choosers_kernel == kernel->name, choices_for(*kernel, demanded, true, said));
  Result<Problem> problem = with_places(
      resolve_inputs(*kernel, *machine, params, faults.failed() ? Changes{} : inputs.changes, inputs.choices, inputs.triton.get()), said,
      demanded, demands.value_or(""), inputs.schedule_file);
  if (demands || !sentences.empty()) {
    // What is wrong with the changes must not hide what is wrong with the constraints: they are read without the changes then.
    const Result<Problem> unchanged = problem ? problem : resolve(*kernel, *machine, params);
    if (unchanged && demands) {
      Result<Constraints> constraints = read_constraints(*demands, *unchanged, &warnings);
      faults.add(constraints);
      if (constraints) inputs.constraints.insert(inputs.constraints.end(), constraints->begin(), constraints->end());
    }
    if (unchanged) faults.add(add_demands(sentences, *unchanged, inputs.constraints));
  }
  const bool emitter = names.emitter_rules,
             dump = problem && !project && source.find_first_of("./#") != std::string::npos && dump::is_dump(source);
  if (emitter && !dump) faults.add(Result<Ok>(Error::input("--emitter is about a compiler's dump", source + " is none")));
  if (dump) {
    const Result<Constraints> rules = dump::read_dump_rules(source, *problem, emitter);
    faults.add(rules);
    if (rules) inputs.constraints.insert(inputs.constraints.end(), rules->begin(), rules->end());
  }
  if (problem && inputs.triton && inputs.triton->reading == triton::Reading::Triton) {
    const TritonText& text = *inputs.triton;
    const Constraints rules = triton::triton_rules(text.program, text.native, *problem);
    inputs.constraints.insert(inputs.constraints.end(), rules.begin(), rules.end());
  }
  if (problem && !inputs.schedule_file.empty()) {
    Result<Schedule> schedule = read_schedule(inputs.schedule_file, *problem, &warnings);
    faults.add(schedule);
    if (schedule) inputs.schedule = *std::move(schedule);
  }
  faults.add(problem);
  if (problem && inputs.schedule && !form_violations(*problem, *inputs.schedule).empty())
    faults.add(Result<Ok>(
        Error::input("the project's schedule is one of other ops", "give none of --param, --set and --subtile, or another SCHEDULE")));
  if (faults.failed()) return faults.error();
  inputs.kernel = *kernel;
  inputs.machine = *machine;
  inputs.params = params;
  inputs.problem = *std::move(problem);
  if (names.max_groups) {
    inputs.least_groups = static_cast<int>(*names.max_groups);
    inputs.problem.max_groups = std::max(inputs.problem.max_groups, inputs.least_groups);
    inputs.constraints.push_back(cap(fmt::format("--groups {}", *names.max_groups), ConstraintKind::MaxGroups, *names.max_groups));
  }
  if (names.max_stages)
    inputs.constraints.push_back(cap(fmt::format("--max-stages {}", *names.max_stages), ConstraintKind::MaxStages, *names.max_stages));
  // How many groups there are is known only now.
  Error error;
  for (const UserConstraint& c : inputs.constraints)
    if (c.enabled && c.kind == ConstraintKind::InGroup && c.low >= inputs.problem.max_groups)
      error.faults.push_back(
          {demands.value_or(""), "",
           fmt::format("demand '{}' names group {}, there are groups 0 to {}", c.name, c.low, inputs.problem.max_groups - 1),
           "--groups N allows more"});
  if (!error.faults.empty()) return error;
  return inputs;
}

}  // namespace heddle
