// A parsed command line: which command, and its values by the names used in the command table, already of the right
// type.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/cli/command_table.h"

namespace heddle::app {

class Arguments {
 public:
  bool has(const std::string& name) const { return values_.count(name) > 0; }
  /// Empty when not given.
  const std::vector<std::string>& all(const std::string& name) const;
  std::optional<std::string> text(const std::string& name) const;
  std::optional<std::int64_t> integer(const std::string& name) const;
  std::optional<double> seconds(const std::string& name) const;

  void set(const std::string& name, std::vector<std::string> values) { values_[name] = std::move(values); }

 private:
  std::map<std::string, std::vector<std::string>> values_;
};

/// The name of a compiler's dump with what --loop and --reading say (core/io/peer/dump_files.h).
std::string with_dump_options(std::string name, const Arguments& arguments);

struct CommandLine {
  const CommandSpec* command = nullptr;  ///< nullptr: no command was given
  Arguments arguments;
  bool help = false, version = false;
};

/// By the ending of its name, ".heddle.json": given as KERNEL it stands for MACHINE too, and, where no other is given, for
/// SCHEDULE.
bool is_project(const std::string& name);

/// What is wrong with the command line, and what was probably meant.
struct UsageError {
  std::string message, hint;
  const CommandSpec* command = nullptr;  ///< whose help to point at
};

/// The command may stand anywhere among its options.
std::variant<CommandLine, UsageError> parse_command_line(const std::vector<std::string>& args);

}  // namespace heddle::app
