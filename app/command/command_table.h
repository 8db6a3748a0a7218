// Every command with its arguments, options and examples, as data. Parsing, --help, shell completion and the tests all
// read this one table, so they cannot disagree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::app {

class Arguments;
struct Terminal;

enum class ValueType { Switch, Assignment, Change, Name, Integer, Seconds, Choice, File };

struct OptionSpec {
  std::string flag;        ///< "--timeout"
  std::string short_flag;  ///< "-o", or empty
  std::string value;       ///< what help calls the value; empty for switches
  std::string about;
  ValueType type = ValueType::Switch;
  std::vector<std::string> choices;  ///< Choice only
  std::int64_t low = 0, high = 0;    ///< Integer and Seconds: the range accepted
  bool repeats = false;
};

enum class PositionalType { Kernel, Machine, Schedule, Name, Choice, Command, Files, Settings };
/// Comes last and takes all words that are left.
inline bool takes_rest(PositionalType type) { return type == PositionalType::Files || type == PositionalType::Settings; }

struct PositionalSpec {
  std::string name;  ///< "KERNEL"
  std::string about;
  PositionalType type = PositionalType::Kernel;
  bool required = true;
  std::vector<std::string> choices;  ///< Choice; Settings: beginnings that completion offers
  bool or_path = false;              ///< Choice: or the path of something that is there
};

struct CommandSpec {
  std::string name, about;
  std::vector<std::string> examples;  ///< whole command lines
  std::vector<PositionalSpec> positionals;
  std::vector<OptionSpec> options;                          ///< besides common_options()
  int (*run)(const Arguments&, const Terminal&) = nullptr;  ///< null: a question, in a build without solver
};

const std::vector<CommandSpec>& command_table();

/// --help, --quiet, --verbose, --no-color: accepted by every command, before or after its name.
const std::vector<OptionSpec>& common_options();

/// nullptr when unknown.
const CommandSpec* find_command(std::string_view name);

/// The command's own options, then the common ones.
std::vector<OptionSpec> all_options(const CommandSpec& command);

}  // namespace heddle::app
