#include "core/library/inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check/form.h"
#include "core/formats/changes_json.h"
#include "core/formats/choices_json.h"
#include "core/formats/constraints_json.h"
#include "core/kernel/switches.h"
#include "core/library/layout_demands.h"
#include "core/library/library.h"
#include "core/library/project_file.h"
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

/// Faults are said in the source's words.
Result<Problem> problem_of(const InstanceSpec& spec, const Source& source) {
  Result<Problem> problem = make_problem(spec);
  return problem ? problem : source.in_own_words(problem.error(), *spec.kernel);
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

/// A spec knows no file: faults of choices are said of the word of the command line, of the file that demands them, or of the
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
        fault.message = fmt::format("{}={}: {}", name, text, fault.message), fault.part = "layout", given = true;
    for (const auto& [name, choice] : said.instructions)
      if (fault.pointer == pointer_to("/instructions", name))
        fault.message = fmt::format("{}={}: {}", name, instruction_text(choice), fault.message), fault.part = "instruction", given = true;
    if (given)
      fault.pointer.clear();
    else if (names_one_of(fault.pointer, demanded))
      fault.file = constraints_file;
    else if (fault.pointer.starts_with("/layouts/") || fault.pointer.starts_with("/instructions/"))
      fault.file = schedule_file;
  }
  return error;
}

/// A sentence that says what a constraint of the file says already adds nothing.
Result<Ok> add_demands(const std::vector<std::string>& sentences, const Problem& problem, Constraints& constraints) {
  Error error;
  for (const std::string& sentence : sentences) {
    const Result<UserConstraint> demand = parse_constraint(sentence, problem);
    if (!demand) {
      for (Fault fault : demand.error().faults) {
        fault.part = "demand";
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

/// load_inputs() in five steps, one after the other.
class Loading {
 public:
  Loading(const InputNames& names, std::vector<Fault>& warnings)
      : names_(names), warnings_(warnings), source_(names.source ? names.source : find_source(names.kernel)) {}

  Result<Inputs> run() {
    if (const Result<Ok> read = read_sources(); !read) return read.error();
    take_what_files_say();
    if (faults_.failed()) return faults_.error();
    if (const Result<Ok> taken = take_words(); !taken) return taken.error();
    read_demands(make_the_problem());
    return finish();
  }

 private:
  template <class T>
  void keep(Result<T> read, std::shared_ptr<const T>& into) {
    faults_.add(read);
    if (read) into = std::make_shared<const T>(*std::move(read));
  }
  void fail(Error error) { faults_.add(Result<Ok>(std::move(error))); }
  void append(const Constraints& more) { constraints_.insert(constraints_.end(), more.begin(), more.end()); }

  /// The project, or kernel and machine; what of the words can be read without them.
  Result<Ok> read_sources() {
    if (const ProjectFile* file = source_->project()) {
      const Result<Project>& read = file->read(&warnings_);
      if (!read) return read.error();
      project_ = &*read;
    }
    if (project_)
      spec_.kernel = project_->spec.kernel;
    else
      keep(source_->kernel(&warnings_), spec_.kernel);
    if (project_ && names_.machine == names_.kernel)
      spec_.machine = project_->spec.machine;
    else
      keep(names_.machine == names_.kernel ? source_->machine(&warnings_) : load_machine(names_.machine, &warnings_), spec_.machine);
    const Result<Scope> given = params_of(names_.params);
    faults_.add(given);
    if (given) given_ = *given;
    for (const std::string& text : names_.layouts) add_layout(text, said_, unread_);
    for (const std::string& text : names_.instructions) add_instruction(text, said_, unread_);
    if (!unread_.empty()) fail({ErrorKind::Input, unread_});
    return Ok{};
  }

  /// Parameters, changes and layouts of the project, and of the schedule's file.
  void take_what_files_say() {
    const bool of_project = project_ && names_.schedule == names_.kernel;
    if (project_) {
      spec_.params = project_->spec.params;
      spec_.changes = project_->spec.changes;
      of_file_ = project_->spec.choices;
      choosers_kernel_ = project_->spec.kernel->name;
      constraints_ = project_->constraints;
      if (of_project && project_->shown) schedule_ = project_->schedules[*project_->shown].schedule;
    }
    if (!names_.schedule || of_project) return;
    const bool own = source_->dump() && *names_.schedule == source_->name();
    const Result<std::string> path = own ? source_->name() : find_schedule(*names_.schedule, spec_.kernel ? spec_.kernel->name : "");
    faults_.add(path);
    if (!path) return;
    schedule_file_ = *path;
    const Result<ScheduleHead> head = read_schedule_head(*path, source_.get());
    faults_.add(head);
    if (!head) return;
    of_file_ = head->layouts, choosers_kernel_ = head->kernel;
    // A schedule of another kernel has other parameters too; those would only hide what is wrong.
    for (const auto& [key, value] : head->params)
      if (spec_.kernel && spec_.kernel->find_param(key)) spec_.params[key] = value;
  }

  /// Over that what was said: parameters, cuts, changes and layouts; of the file of demands what is about numbers and layouts.
  Result<Ok> take_words() {
    for (const auto& [name, value] : given_) spec_.params[name] = value;
    Result<Kernel> cut = cut_kernel(*spec_.kernel, names_.cuts, spec_.params);
    if (!cut) return cut.error();
    spec_.kernel = std::make_shared<const Kernel>(*std::move(cut));
    if (auto now = settled(spec_.kernel, spec_.params)) spec_.kernel = *std::move(now);
    const Kernel& kernel = *spec_.kernel;
    for (const std::string& sentence : names_.demands)
      if (!take_layout_demand(sentence, kernel, said_, unread_)) sentences_.push_back(sentence);
    for (Fault& fault : unread_)
      if (fault.part.empty()) fault.part = "demand";
    if (!unread_.empty()) fail({ErrorKind::Input, unread_});
    if (const std::optional<std::string>& file = names_.constraints) {
      const Result<Changes> changes = read_changes(*file, &warnings_);
      faults_.add(changes);
      if (changes) spec_ = with(std::move(spec_), *changes);
      Result<LayoutChoices> choices = read_layout_demands(*file, &warnings_);
      faults_.add(choices);
      if (choices) demanded_ = *std::move(choices);
    }
    for (const std::string& text : names_.changes) {
      const Result<Change> change = parse_change(text, kernel, *spec_.machine);
      faults_.add(change);
      if (change) spec_.changes.push_back(*change);
    }
    spec_.choices = choices_for(kernel, of_file_, choosers_kernel_ == kernel.name, choices_for(kernel, demanded_, true, said_));
    for (const UserConstraint& cap : names_.caps)
      if (cap.kind == ConstraintKind::MaxGroups) spec_.least_groups = static_cast<int>(cap.high);
    return Ok{};
  }

  /// Where changes could not be read, without any: what else is wrong is found all the same.
  Result<Problem> make_the_problem() const {
    InstanceSpec spec = spec_;
    if (faults_.failed()) spec.changes.clear();
    return with_places(problem_of(spec, *source_), said_, demanded_, names_.constraints.value_or(""), schedule_file_);
  }

  /// Demands of the file and of the words, and the rules that a dump or a Triton text brings; then the schedule.
  void read_demands(Result<Problem> made) {
    if (names_.constraints || !sentences_.empty()) read_constraints_of_user(made);
    if (names_.emitter_rules && !(made && source_->dump() && source_->names_machine()))
      fail(Error::about("emitter", "is about a compiler's dump", names_.kernel + " is none"));
    if (made) {
      const Result<Constraints> rules = source_->rules(*made, names_.emitter_rules);
      faults_.add(rules);
      if (rules) append(*rules);
    }
    if (made && !schedule_file_.empty()) {
      Result<Schedule> schedule = read_schedule(schedule_file_, *made, &warnings_, source_.get());
      faults_.add(schedule);
      if (schedule) schedule_ = *std::move(schedule);
    }
    faults_.add(made);
    if (made && schedule_ && !form_violations(*made, *schedule_).empty())
      fail(Error::about("shown schedule", "the project's schedule is one of other ops"));
    if (made) problem_ = std::make_shared<const Problem>(*std::move(made));
  }
  void read_constraints_of_user(const Result<Problem>& made) {
    // What is wrong with the changes must not hide what is wrong with the constraints: they are read without the changes then.
    const Result<Problem> unchanged = made ? made : make_problem({spec_.kernel, spec_.machine, spec_.params});
    if (!unchanged) return;
    if (names_.constraints) {
      const Result<Constraints> constraints = read_constraints(*names_.constraints, *unchanged, &warnings_);
      faults_.add(constraints);
      if (constraints) append(*constraints);
    }
    faults_.add(add_demands(sentences_, *unchanged, constraints_));
  }

  /// Caps, and what can be judged only when the number of groups is known.
  Result<Inputs> finish() {
    if (faults_.failed()) return faults_.error();
    Inputs inputs{Instance(std::move(spec_), problem_), std::move(constraints_), std::move(schedule_), std::move(schedule_file_), source_};
    inputs.constraints.insert(inputs.constraints.end(), names_.caps.begin(), names_.caps.end());
    Error error;
    const int most = inputs.problem().max_groups;
    for (const UserConstraint& c : inputs.constraints)
      if (c.enabled && c.kind == ConstraintKind::InGroup && c.low >= most)
        error.faults.push_back({names_.constraints.value_or(""), "",
                                fmt::format("demand '{}' names group {}, there are groups 0 to {}", c.name, c.low, most - 1), "",
                                "groups"});
    if (!error.faults.empty()) return error;
    return inputs;
  }

  const InputNames& names_;
  std::vector<Fault>& warnings_;
  FaultCollector faults_;
  std::shared_ptr<const Source> source_;
  const Project* project_ = nullptr;  ///< that the source is
  InstanceSpec spec_;                 ///< as far as it is known
  Scope given_;                       ///< parameters
  LayoutChoices said_, demanded_, of_file_;
  std::string choosers_kernel_;  ///< of whom `of_file_` is
  std::vector<Fault> unread_;
  std::vector<std::string> sentences_;  ///< demands, those that are not about layouts
  std::shared_ptr<const Problem> problem_;
  Constraints constraints_;
  std::optional<Schedule> schedule_;
  std::string schedule_file_;
};

}  // namespace

void add_once(std::vector<Fault>& faults, const Fault& fault) {
  const bool known = std::any_of(faults.begin(), faults.end(), [&](const Fault& f) {
    return f.file == fault.file && f.pointer == fault.pointer && f.message == fault.message && f.part == fault.part;
  });
  if (!known) faults.push_back(fault);
}

Result<Scope> params_of(const std::vector<std::pair<std::string, std::int64_t>>& given) {
  Scope scope;
  for (const auto& [name, value] : given)
    if (!scope.emplace(name, value).second) return Error::about("param", fmt::format("sets {} twice", name));
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

Result<Problem> problem_with(const Inputs& inputs, const Changes& more) {
  return problem_of(with(inputs.instance.spec(), more), *inputs.source);
}

Result<Problem> problem_with(const Inputs& inputs, const LayoutChoices& choices, const Changes& more) {
  return problem_of(with(inputs.instance.spec(), choices, more), *inputs.source);
}

Result<Instance> with(const Inputs& inputs, const LayoutChoices& choices) {
  Result<Problem> problem = problem_with(inputs, choices);
  if (!problem) return problem.error();
  return Instance(with(inputs.instance.spec(), choices), *std::move(problem));
}

Result<Inputs> load_inputs(const InputNames& names, std::vector<Fault>& warnings) { return Loading(names, warnings).run(); }

}  // namespace heddle
