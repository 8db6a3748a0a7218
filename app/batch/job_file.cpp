// Which members a job has is read off the command table.
#include "app/batch/job_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "app/command/arguments.h"
#include "app/command/command_table.h"
#include "app/jobs/answer_digest.h"
#include "app/jobs/solve_job.h"
#include "core/base/atomic_file.h"
#include "core/base/hash.h"
#include "core/base/json_reader.h"
#include "core/base/suggest.h"
#include "core/base/version.h"
#include "core/formats/schema.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

constexpr const char* kJobSchema = "heddle.job/1";
constexpr std::size_t kLongestWord = 4096;

/// What a batch may do: the commands that take a kernel.
bool takes_kernel(const CommandSpec& command) {
  const bool window = command.name == "gui";  // which is no job
  return !window && !command.positionals.empty() && command.positionals.front().type == PositionalType::Kernel;
}

std::string member_name(const PositionalSpec& positional) {
  std::string name = positional.name;
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return name;
}

bool somebody_elses(const std::string& key) { return key.starts_with("x-") || key == "$schema" || key == "generator" || key == "schema"; }

/// A word of the command line must survive the way there.
std::optional<std::string> word_at(const Cursor& at) {
  const std::string* text = at.json().string();
  const bool plain = text && !text->empty() && text->size() <= kLongestWord &&
                     std::none_of(text->begin(), text->end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (plain) return *text;
  at.fault(fmt::format("a text of 1 to {} characters without control characters was expected, not {}", kLongestWord, describe(at.json())));
  return std::nullopt;
}

std::optional<std::string> number_at(const Cursor& at, const char* expected) {
  if (const std::int64_t* integer = at.json().integer()) return fmt::format("{}", *integer);
  if (at.json().number()) return at.json().number_text();
  at.fault(fmt::format("{} was expected, not {}", expected, describe(at.json())));
  return std::nullopt;
}

/// Reads one job without "each" into description and words.
class JobReader {
 public:
  /// `word`: the member that names the command.
  JobReader(const Json& json, ReadLog& log, const char* word = "do") : log_(log), root_(json, {}, log), word_(word) {}

  void run(Job& job) {
    if (!root_.json().is_object()) return root_.fault(fmt::format("an object was expected, not {}", describe(root_.json())));
    if (const Json* schema = root_.json().find("schema"); schema && (!schema->string() || *schema->string() != kJobSchema))
      at("schema").fault(fmt::format("\"{}\" was expected, not {}", kJobSchema, describe(*schema)));
    const CommandSpec* command = command_of();
    if (!command) return;
    job.command = command->name;
    job.description = Json::object();
    job.description.set("do", command->name);
    job.words = {command->name};
    positionals(*command, job);
    params(*command, job);
    options(*command, job);
    for (const JsonMember& member : *root_.json().members())
      if (!known_.count(member.key) && !somebody_elses(member.key)) {
        std::vector<std::string> known(known_.begin(), known_.end());
        const std::string hint = did_you_mean(member.key, known);
        at(member.key)
            .fault(fmt::format("'{}' has no member '{}'", command->name, member.key),
                   hint.empty() ? "its members are " + list_of(known) : hint);
      }
    // After all options, so that no name is taken for one.
    if (!arguments_.empty()) job.words.push_back("--");
    job.words.insert(job.words.end(), arguments_.begin(), arguments_.end());
  }

 private:
  Cursor at(const std::string& key) { return Cursor(*root_.json().find(key), pointer_to("", key), log_); }
  const Json* find(const std::string& key) {
    known_.insert(key);
    return root_.json().find(key);
  }

  const CommandSpec* command_of() {
    if (!find(word_)) {
      root_.fault(fmt::format("\"{}\" is missing", word_), fmt::format("which command, \"{}\": \"solve\" for example", word_));
      return nullptr;
    }
    const auto word = word_at(at(word_));
    if (!word) return nullptr;
    const CommandSpec* command = find_command(*word);
    if (command && takes_kernel(*command)) return command;
    std::vector<std::string> names;
    for (const CommandSpec& candidate : command_table())
      if (takes_kernel(candidate)) names.push_back(candidate.name);
    const std::string hint = did_you_mean(*word, names);
    at(word_).fault(fmt::format("no job does '{}'", *word), hint.empty() ? "one of " + list_of(names, 64) : hint);
    return nullptr;
  }

  void positionals(const CommandSpec& command, Job& job) {
    bool whole = false;  // a project or a dump stands for the machine too
    for (const PositionalSpec& positional : command.positionals) {
      const std::string key = member_name(positional);
      if (!find(key)) {
        if (positional.required && !(whole && positional.type != PositionalType::Name))
          root_.fault(fmt::format("\"{}\" is missing: {}", key, positional.about));
        continue;
      }
      const Cursor where = at(key);
      if (positional.type == PositionalType::Files && where.json().is_array()) {
        for (const Cursor& item : where.items())
          if (const auto word = word_at(item)) arguments_.push_back(*word);
      } else if (const auto word = word_at(where)) {
        arguments_.push_back(*word);
        whole |= positional.type == PositionalType::Kernel && word->find_first_of("./#") != std::string::npos;
      }
      job.description.set(key, where.json());
    }
  }

  void params(const CommandSpec& command, Job& job) {
    if (!find("params")) return;
    const Cursor where = at("params");
    const bool taken = std::any_of(command.options.begin(), command.options.end(), [](const OptionSpec& o) { return o.flag == "--param"; });
    if (!taken) return where.fault(fmt::format("'{}' has no parameters", command.name));
    if (!where.json().is_object()) return where.fault(fmt::format("an object was expected, not {}", describe(where.json())));
    std::map<std::string, Json> sorted;
    for (const JsonMember& member : *where.json().members()) {
      const Cursor value(member.value, pointer_to(where.pointer(), member.key), log_);
      const Json name(member.key);
      const auto key = word_at(Cursor(name, value.pointer(), log_));
      const auto integer = value.integer(-kLargestNumber, kLargestNumber);
      if (!key || !integer) continue;
      if (key->find('=') != std::string::npos) value.fault("the name of a parameter has no '='");
      sorted.emplace(*key, *integer);
    }
    Json object = Json::object();
    for (auto& [name, value] : sorted) {
      job.words.push_back(fmt::format("--param={}={}", name, *value.integer()));
      object.set(name, std::move(value));
    }
    job.description.set("params", std::move(object));
  }

  void options(const CommandSpec& command, Job& job) {
    const bool json = std::any_of(command.options.begin(), command.options.end(), [](const OptionSpec& o) { return o.flag == "--json"; });
    if (json) job.words.push_back("--json");
    job.words.push_back("--no-color");
    if (!find("options")) return;
    const Cursor where = at("options");
    if (!where.json().is_object()) return where.fault(fmt::format("an object was expected, not {}", describe(where.json())));
    std::map<std::string, Json> sorted;
    for (const JsonMember& member : *where.json().members()) {
      const Cursor value(member.value, pointer_to(where.pointer(), member.key), log_);
      const OptionSpec* option = option_of(command, member.key, value);
      if (option && add_option(*option, value, job)) sorted.emplace(member.key, member.value);
    }
    Json object = Json::object();
    for (auto& [name, value] : sorted) object.set(name, std::move(value));
    job.description.set("options", std::move(object));
  }

  const OptionSpec* option_of(const CommandSpec& command, const std::string& name, const Cursor& where) {
    std::vector<std::string> names;
    for (const OptionSpec& option : command.options) {
      const std::string plain = option.flag.substr(2);
      if (plain == "json" || plain == "param") continue;
      if (plain == name) return &option;
      names.push_back(plain);
    }
    if (name == "json") {
      where.fault("every job answers in JSON", "leave it out");
    } else if (name == "param") {
      where.fault("parameters stand in \"params\"", "\"params\": {\"KV\": 128}");
    } else {
      const std::string hint = did_you_mean(name, names);
      where.fault(fmt::format("'{}' has no option '{}'", command.name, name),
                  hint.empty() ? "its options are " + list_of(names, 64) : hint);
    }
    return nullptr;
  }

  bool add_option(const OptionSpec& option, const Cursor& value, Job& job) {
    if (option.type == ValueType::Switch) {
      const auto on = value.boolean();
      if (on && *on) job.words.push_back(option.flag);
      return on.value_or(false);
    }
    if (option.repeats && value.json().is_array()) {
      bool good = true;
      for (const Cursor& item : value.items()) good &= add_value(option, item, job);
      return good;
    }
    return add_value(option, value, job);
  }

  bool add_value(const OptionSpec& option, const Cursor& value, Job& job) {
    const bool numeric = option.type == ValueType::Integer || option.type == ValueType::Seconds;
    const auto text = numeric ? number_at(value, "a number") : word_at(value);
    if (!text) return false;
    if (std::string fault = value_fault(option, *text); !fault.empty()) {
      value.fault(std::move(fault), option.type == ValueType::Choice ? did_you_mean(*text, option.choices) : "");
      return false;
    }
    job.words.push_back(option.flag + "=" + *text);
    return true;
  }

  ReadLog& log_;
  Cursor root_;
  const char* word_;
  std::set<std::string> known_;
  std::vector<std::string> arguments_;
};

/// One list of a grid: where its values go, and where they stand.
struct Axis {
  std::vector<std::string> path;  // {"params", "KV"}
  std::string pointer;            // "/each/params/KV"
  std::vector<Json> values;
};

/// The values of a list or of {"from", "to", "step"}.
std::vector<Json> axis_values(const Cursor& at) {
  if (const Json::Array* items = at.json().items()) {
    if (items->empty()) at.fault("a list of at least one value was expected");
    return *items;
  }
  ObjectReader range(at);
  const std::int64_t from = range.integer("from", -kLargestNumber, kLargestNumber),
                     to = range.integer("to", -kLargestNumber, kLargestNumber);
  const std::int64_t step = range.integer("step", 1, kLargestNumber, 1);
  std::vector<Json> values;
  if (!range.good()) return values;
  if (to < from) at.fault(fmt::format("\"from\" {} must not lie above \"to\" {}", from, to));
  for (std::int64_t value = from; value <= to && values.size() <= kMostJobs; value += step) values.push_back(value);
  return values;
}

std::vector<Axis> axes_of(const Json& line, ReadLog& log) {
  std::vector<Axis> axes;
  const Json* each = line.find("each");
  const Cursor root(*each, "/each", log);
  if (!each->is_object()) {
    root.fault(fmt::format("an object was expected, not {}", describe(*each)), "lists where the job would have values");
    return axes;
  }
  const auto add = [&](std::vector<std::string> path, const Json& value, const std::string& pointer) {
    const Json* fixed = line.find(path.front());
    if (fixed && path.size() > 1) fixed = fixed->find(path.back());
    if (fixed) log.fault(pointer, "has a value outside \"each\" already", "leave out one of the two");
    axes.push_back({std::move(path), pointer, axis_values(Cursor(value, pointer, log))});
  };
  for (const JsonMember& member : *each->members()) {
    const std::string pointer = pointer_to("/each", member.key);
    if (member.key == "params" || member.key == "options") {
      if (!member.value.is_object()) {
        log.fault(pointer, fmt::format("an object was expected, not {}", describe(member.value)));
        continue;
      }
      for (const JsonMember& inner : *member.value.members()) add({member.key, inner.key}, inner.value, pointer_to(pointer, inner.key));
    } else {
      add({member.key}, member.value, pointer);
    }
  }
  if (axes.empty()) root.fault("at least one list was expected");
  return axes;
}

void set_at(Json& job, const std::vector<std::string>& path, const Json& value) {
  if (path.size() == 1) {
    job.set(path[0], value);
    return;
  }
  if (!job.find(path[0])) job.set(path[0], Json::object());
  if (Json* inner = job.find(path[0]); inner->is_object()) inner->set(path[1], value);
}

/// What a fault of a grid's point says, at the place in the line where its value was written.
std::string pointer_in_grid(const std::string& pointer, const std::vector<Axis>& axes, const std::vector<std::size_t>& at) {
  for (std::size_t a = 0; a < axes.size(); ++a) {
    std::string plain;
    for (const std::string& part : axes[a].path) plain = pointer_to(plain, part);
    if (pointer == plain || pointer.starts_with(plain + "/")) return pointer_to(axes[a].pointer, at[a]) + pointer.substr(plain.size());
  }
  return pointer;
}

/// Digests of what names stand for, read once each.
class FileDigests {
 public:
  const std::string& of(Shelf shelf, const std::string& name) {
    const auto [entry, fresh] = known_.try_emplace({static_cast<int>(shelf), name});
    if (fresh) entry->second = digest(shelf, name);
    return entry->second;
  }

 private:
  static std::string digest(Shelf shelf, const std::string& name) {
    // A loop of a dump, KERNEL#LOOP, is the file before the sign.
    for (const std::string& candidate : {name, name.substr(0, name.find('#'))}) {
      const Result<std::string> path = find_in_library(shelf, candidate);
      const Result<std::string> text = path ? read_file(*path) : Result<std::string>(path.error());
      if (text) return Hash().add(*text).hex();
    }
    return "absent";
  }

  std::map<std::pair<int, std::string>, std::string> known_;
};

std::string identity(const Job& job, FileDigests& contents) {
  Hash hash;
  hash.add(std::string_view(version())).add(std::string_view(answer_digest())).add(built_in_solver_name()).add(job.words.size());
  for (const std::string& word : job.words) hash.add(word);
  const CommandSpec& command = *find_command(job.command);
  const auto one = [&](Shelf shelf, const std::string& name) {
    const std::string& found = contents.of(shelf, name);
    const Json* kernel = found == "absent" && shelf == Shelf::Schedules ? job.description.find("kernel") : nullptr;  // a short name
    return kernel && kernel->string() ? contents.of(shelf, *kernel->string() + "/" + name) : found;
  };
  const auto add = [&](const Json& value, Shelf shelf) {
    if (const std::string* text = value.string()) {
      std::string rest = *text;  // family takes several kernels
      for (std::size_t comma; (comma = rest.find(',')) != std::string::npos && shelf == Shelf::Kernels; rest = rest.substr(comma + 1))
        hash.add(contents.of(shelf, rest.substr(0, comma)));
      hash.add(one(shelf, rest));
    } else if (const Json::Array* items = value.items()) {
      for (const Json& item : *items)
        if (item.string()) hash.add(one(shelf, *item.string()));
    }
  };
  for (const PositionalSpec& positional : command.positionals) {
    const Json* value = job.description.find(member_name(positional));
    if (!value) continue;
    add(*value, positional.type == PositionalType::Kernel    ? Shelf::Kernels
                : positional.type == PositionalType::Machine ? Shelf::Machines
                                                             : Shelf::Schedules);
  }
  if (const Json* options = job.description.find("options"))
    for (const char* reads : {"constraints", "below", "also"})
      if (const Json* value = options->find(reads)) add(*value, Shelf::Schedules);
  return hash.hex();
}

/// An unknown key is a typing mistake, and then the job is not the one that was meant.
void take_warnings(ReadLog& log) { log.faults.insert(log.faults.end(), log.warnings.begin(), log.warnings.end()); }

class FileReader {
 public:
  FileReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  JobFile run() {
    int number = 0;
    while (!text_.empty()) {
      ++number;
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      const std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      const std::size_t first = line.find_first_not_of(" \t\r");
      if (first == line.npos || line[first] == '#') continue;
      read_line(line, number);
    }
    Hash hash;
    for (std::size_t i = 0; i < file_.jobs.size(); ++i) {
      file_.jobs[i].number = i + 1;
      hash.add(file_.jobs[i].id);
    }
    file_.batch = hash.add(file_.jobs.size()).hex();
    return std::move(file_);
  }

 private:
  void bad_line(std::string_view line, int number, std::vector<Fault> faults) {
    cut_off(faults, "faults");
    Job job;
    job.line = number;
    job.description = Json::object();
    job.id = Hash().add(line).add(number).hex();
    job.faults = std::move(faults);
    file_.jobs.push_back(std::move(job));
  }

  void read_line(std::string_view line, int number) {
    const std::string where = fmt::format("{}:{}", name_, number);
    const Result<Json> json = parse_json(line, where);
    if (!json) return bad_line(line, number, json.error().faults);
    ReadLog log{where, {}, {}, {}};
    std::vector<Job> jobs;
    if (json->find("each"))
      read_grid(*json, log, jobs);
    else
      JobReader(*json, log).run(jobs.emplace_back());
    take_warnings(log);
    if (log.faults.empty() && file_.jobs.size() + jobs.size() > kMostJobs)
      log.fault("", fmt::format("a job file has at most {} jobs", kMostJobs));
    if (!log.faults.empty()) return bad_line(line, number, std::move(log.faults));
    for (Job& job : jobs) {
      job.line = number;
      job.id = identity(job, contents_);
      file_.jobs.push_back(std::move(job));
    }
  }

  void read_grid(const Json& line, ReadLog& log, std::vector<Job>& jobs) {
    const std::vector<Axis> axes = axes_of(line, log);
    if (!log.faults.empty()) return;
    std::size_t count = 1;
    for (const Axis& axis : axes) {
      count *= axis.values.size();
      if (count > kMostJobs) return log.fault("/each", fmt::format("is a grid of more than {} jobs", kMostJobs));
    }
    Json base = line;
    std::erase_if(*base.members(), [](const JsonMember& member) { return member.key == "each"; });
    std::set<std::pair<std::string, std::string>> said;
    for (std::size_t index = 0; index < count && log.faults.size() < kMostFaults; ++index) {
      std::vector<std::size_t> at(axes.size());
      std::size_t rest = index;
      for (std::size_t a = axes.size(); a-- > 0; rest /= axes[a].values.size()) at[a] = rest % axes[a].values.size();
      Json point = base;
      for (std::size_t a = 0; a < axes.size(); ++a) set_at(point, axes[a].path, axes[a].values[at[a]]);
      ReadLog own{log.file, {}, {}, {}};
      JobReader(point, own).run(jobs.emplace_back());
      for (const Fault& fault : own.faults) {
        const std::string pointer = pointer_in_grid(fault.pointer, axes, at);
        if (said.emplace(pointer, fault.message).second) log.fault(pointer, fault.message, fault.hint);
      }
    }
  }

  std::string_view text_;
  const std::string& name_;
  FileDigests contents_;
  JobFile file_;
};

}  // namespace

std::vector<Fault> JobFile::faults() const {
  std::vector<Fault> all;
  for (const Job& job : jobs) all.insert(all.end(), job.faults.begin(), job.faults.end());
  return all;
}

Json job_schema() {
  using namespace schema;
  return line(kJobSchema, "A line of a Heddle job file", [](Object& root) {
    Json& shared = root.definitions();
    const auto either = [](Json a, Json b) { return Json::object().set("anyOf", Json::array().push(std::move(a)).push(std::move(b))); };
    const auto map_of = [](Json values) { return type("object").set("additionalProperties", std::move(values)); };
    const Json word = defined(
        shared, "word", type("string").set("minLength", 1).set("maxLength", kLongestWord).set("pattern", R"(^[^\u0000-\u001f\u007f]*$)"));
    const Json scalar = defined(shared, "scalar", either(word, Json::object().set("type", Json::array().push("number").push("boolean"))));
    const Json whole = integer(-kLargestNumber, kLargestNumber);
    Object range(shared), each(shared);
    range.called("range", "from, from + step, ... up to the last one that is not above to").required("from", whole).required("to", whole);
    range.optional("step", integer(1, kLargestNumber));
    const Json filled = type("array").set("minItems", 1), values = defined(shared, "values", either(filled, range.finish()));
    each.called("each",
                "Members as above with lists in place of values: one job per element of their cross product, in the order written, "
                "the last one varying fastest.");

    root.called("",
                "JSON Lines: each line is one job, or with \"each\" a grid of jobs. Which options a command has, heddle help COMMAND "
                "says.");
    std::vector<std::string> commands;
    for (const CommandSpec& command : command_table()) {
      if (!takes_kernel(command)) continue;
      commands.push_back(command.name);
      for (const PositionalSpec& positional : command.positionals) {
        const std::string key = member_name(positional);
        root.optional(key.c_str(), positional.type == PositionalType::Files ? either(word, list(word)) : word);
        each.optional(key.c_str(), filled);
      }
    }
    root.optional("do", words(commands)).optional("params", map_of(whole), "parameters of the kernel");
    root.optional("options", map_of(either(scalar, list(scalar))),
                  "the command's long options without \"--\"; true for switches, a list where one may be given several times");
    each.optional("do", filled).optional("params", map_of(values)).optional("options", map_of(values));
    root.optional("each", each.also(Json::object().set("minProperties", 1)).finish());
    const Json does = Json::object().set("required", Json::array().push("do"));
    Json grid = Json::object().set("required", Json::array().push("each")).set("properties", Json::object().set("each", does));
    root.also(either(does, std::move(grid)));
  });
}

Job parse_job(const Json& json, const std::string& name, const char* word) {
  ReadLog log{name, {}, {}, {}};
  Job job;
  JobReader(json, log, word).run(job);
  take_warnings(log);
  job.faults = std::move(log.faults);
  cut_off(job.faults, "faults");
  return job;
}

JobFile parse_jobs(std::string_view text, const std::string& name) { return FileReader(text, name).run(); }

Result<JobFile> read_jobs(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  return parse_jobs(*text, path);
}

}  // namespace heddle::app
