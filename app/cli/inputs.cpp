// Each file is read even when another one is bad, so that the user sees all faults in one run.
#include "app/cli/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/claims/judge_claim.h"
#include "app/cli/solving.h"
#include "core/check/form.h"
#include "core/dump/dump_files.h"
#include "core/formats/changes_json.h"
#include "core/formats/constraints_json.h"
#include "core/formats/schedule_json.h"
#include "core/kernel/subtile.h"
#include "core/library/library.h"
#include "core/library/project_json.h"
#include "core/problem/resolve.h"

namespace heddle::app {
namespace {

/// The two readers of a constraints file both look at the whole of it.
void add_once(std::vector<Fault>& faults, const Fault& fault) {
  const bool known = std::any_of(faults.begin(), faults.end(), [&](const Fault& f) {
    return f.file == fault.file && f.pointer == fault.pointer && f.message == fault.message;
  });
  if (!known) faults.push_back(fault);
}

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

/// A cap from the command line is a demand like those of a file: named, and judged by the checker too.
UserConstraint cap(std::string name, ConstraintKind kind, std::int64_t limit) {
  UserConstraint constraint;
  constraint.name = std::move(name);
  constraint.kind = kind;
  constraint.high = limit;
  return constraint;
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
    const bool known = std::any_of(constraints.begin(), constraints.end(), [&](const UserConstraint& c) {
      return c.enabled && describe(c) == demand->name;
    });
    if (!known) constraints.push_back(*demand);
  }
  if (!error.faults.empty()) return error;
  return Ok{};
}

}  // namespace

Result<Scope> parse_params(const Arguments& arguments) {
  Scope scope;
  for (const std::string& text : arguments.all("--param")) {
    const std::size_t equals = text.find('=');
    std::int64_t value = 0;
    std::from_chars(text.data() + equals + 1, text.data() + text.size(), value);
    if (!scope.emplace(text.substr(0, equals), value).second)
      return Error::input(fmt::format("--param sets {} twice", text.substr(0, equals)));
  }
  return scope;
}

Result<Kernel> apply_subtiles(Kernel kernel, const Arguments& arguments, const Scope& params) {
  for (const std::string& text : arguments.all("--subtile")) {
    const std::size_t equals = text.find('=');
    Subtile request{text.substr(0, equals), 0};
    std::from_chars(text.data() + equals + 1, text.data() + text.size(), request.factor);
    Result<Kernel> cut = subtile(kernel, request, params);
    if (!cut) return cut;
    kernel = *std::move(cut);
  }
  return kernel;
}

Result<Problem> resolve_again(const Inputs& inputs, const Changes& more) {
  Changes changes = inputs.changes;
  changes.insert(changes.end(), more.begin(), more.end());
  Result<Problem> problem = resolve(inputs.kernel, inputs.machine, inputs.params, changes);
  if (problem) problem->max_groups = std::max(problem->max_groups, inputs.least_groups);
  return problem;
}

void print_warnings(const Terminal& terminal, const std::vector<Fault>& warnings) {
  std::vector<Fault> once;
  for (const Fault& warning : warnings) add_once(once, warning);
  for (const Fault& warning : once) terminal.note("warning: " + to_string(warning));
}

Result<Inputs> load_inputs(const Arguments& arguments, const Terminal& terminal) {
  std::vector<Fault> warnings;
  FaultCollector faults;
  const std::string source = with_dump_options(*arguments.text("KERNEL"), arguments);
  std::optional<Project> project;
  if (is_project(source)) {
    Result<Project> read = read_project(source, &warnings);
    if (!read) {
      print_warnings(terminal, warnings);
      return read.error();
    }
    project = *std::move(read);
  }
  Result<Kernel> kernel = project ? Result<Kernel>(*project->kernel) : load_kernel(source, &warnings);
  faults.add(kernel);
  // What stands for its machine too is given twice.
  const std::string target = arguments.text("MACHINE") == arguments.text("KERNEL") ? source : *arguments.text("MACHINE");
  const Result<Machine> machine = project && target == source ? Result<Machine>(*project->machine) : load_machine(target, &warnings);
  faults.add(machine);
  const Result<Scope> given = parse_params(arguments);
  faults.add(given);

  Inputs inputs;
  Scope params;
  std::string schedule_path;
  const auto wanted = arguments.text("SCHEDULE");
  const bool of_project = project && wanted == source;
  if (project) {
    params = project->params;
    inputs.changes = project->changes;
    inputs.constraints = project->constraints;
    if (of_project && project->shown) inputs.schedule = project->schedules[*project->shown].schedule;
  }
  if (const auto& name = wanted; name && !of_project) {
    const Result<std::string> path = find_in_library(Shelf::Schedules, *name);
    faults.add(path);
    if (path) {
      schedule_path = *path;
      const Result<ScheduleHead> head = read_schedule_head(*path);
      faults.add(head);
      // A schedule of another kernel has other parameters too; those would only hide what is wrong.
      if (head && kernel) {
        for (const auto& [key, value] : head->params)
          if (kernel->find_param(key)) params[key] = value;
      }
    }
  }
  if (faults.failed()) {
    print_warnings(terminal, warnings);
    return faults.error();
  }

  for (const auto& [name, value] : *given) params[name] = value;
  kernel = apply_subtiles(*kernel, arguments, params);
  if (!kernel) {
    print_warnings(terminal, warnings);
    return kernel.error();
  }
  const auto demands = arguments.text("--constraints");
  if (demands) {
    Result<Changes> changes = read_changes(*demands, &warnings);
    faults.add(changes);
    if (changes) inputs.changes.insert(inputs.changes.end(), changes->begin(), changes->end());
  }
  for (const std::string& text : arguments.all("--set")) {
    const Result<Change> change = parse_change(text, *kernel, *machine);
    faults.add(change);
    if (change) inputs.changes.push_back(*change);
  }
  Result<Problem> problem = resolve(*kernel, *machine, params, faults.failed() ? Changes{} : inputs.changes);
  if (demands || arguments.has("--demand")) {
    // What is wrong with the changes must not hide what is wrong with the constraints: they are read without the changes then.
    const Result<Problem> unchanged = problem ? problem : resolve(*kernel, *machine, params);
    if (unchanged && demands) {
      Result<Constraints> constraints = read_constraints(*demands, *unchanged, &warnings);
      faults.add(constraints);
      if (constraints) inputs.constraints.insert(inputs.constraints.end(), constraints->begin(), constraints->end());
    }
    if (unchanged) faults.add(add_demands(arguments.all("--demand"), *unchanged, inputs.constraints));
  }
  const bool emitter = arguments.has("--emitter"), dump = problem && !project && source.find_first_of("./#") != std::string::npos && peer::is_dump(source);
  if (emitter && !dump) faults.add(Result<Ok>(Error::input("--emitter is about a compiler's dump", source + " is none")));
  if (dump) {
    const Result<Constraints> rules = peer::read_dump_rules(source, *problem, emitter);
    faults.add(rules);
    if (rules) inputs.constraints.insert(inputs.constraints.end(), rules->begin(), rules->end());
  }
  if (problem && !schedule_path.empty()) {
    Result<Schedule> schedule = read_schedule(schedule_path, *problem, &warnings);
    faults.add(schedule);
    if (schedule) inputs.schedule = *std::move(schedule);
  }
  faults.add(problem);
  if (problem && inputs.schedule && !form_violations(*problem, *inputs.schedule).empty())
    faults.add(Result<Ok>(Error::input("the project's schedule is one of other ops", "give none of --param, --set and --subtile, or another SCHEDULE")));
  print_warnings(terminal, warnings);
  if (faults.failed()) return faults.error();
  inputs.kernel = *kernel;
  inputs.machine = *machine;
  inputs.params = params;
  inputs.problem = *std::move(problem);
  if (const auto groups = arguments.integer("--groups")) {
    inputs.least_groups = static_cast<int>(*groups);
    inputs.problem.max_groups = std::max(inputs.problem.max_groups, inputs.least_groups);
    inputs.constraints.push_back(cap(fmt::format("--groups {}", *groups), ConstraintKind::MaxGroups, *groups));
  }
  if (const auto stages = arguments.integer("--max-stages"))
    inputs.constraints.push_back(cap(fmt::format("--max-stages {}", *stages), ConstraintKind::MaxStages, *stages));
  // How many groups there are is known only now.
  Error error;
  for (const UserConstraint& c : inputs.constraints)
    if (c.enabled && c.kind == ConstraintKind::InGroup && c.low >= inputs.problem.max_groups)
      error.faults.push_back({demands.value_or(""), "", fmt::format("demand '{}' names group {}, there are groups 0 to {}", c.name, c.low, inputs.problem.max_groups - 1),
                              "--groups N allows more"});
  if (!error.faults.empty()) return error;
  if (inputs.schedule) {
    std::vector<Fault> refuted;
    judge_claim(inputs.problem, inputs.constraints, *inputs.schedule, schedule_path.empty() ? source : schedule_path, &refuted);
    print_warnings(terminal, refuted);
    if (arguments.has("--prove"))
      if (const Result<Ok> proved = prove_schedule(inputs, arguments, terminal); !proved) return proved.error();
  }
  return inputs;
}

}  // namespace heddle::app
