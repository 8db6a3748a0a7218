// A parsed command line: which command, and its values by the names used in the command table, already of the right
// type.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/command/command_table.h"
#include "core/base/deadline.h"

namespace heddle {
class Source;
}

namespace heddle::app {

/// What a search may take where no --timeout is said: HEDDLE_TIMEOUT, else `otherwise`.
double usual_seconds(double otherwise);

class Arguments {
 public:
  bool has(const std::string& name) const { return values_.count(name) > 0; }
  /// Empty when not given.
  const std::vector<std::string>& all(const std::string& name) const;
  std::optional<std::string> text(const std::string& name) const;
  std::optional<std::int64_t> integer(const std::string& name) const;
  std::optional<double> seconds(const std::string& name) const;
  /// When the whole command has to be over: --timeout seconds after the command line was read, `otherwise` seconds where it has none.
  Deadline deadline(double otherwise) const { return Deadline(seconds("--timeout").value_or(usual_seconds(otherwise)), begun_); }
  /// The same; never where the command line has no --timeout.
  Deadline deadline() const { return has("--timeout") ? deadline(0) : Deadline(); }

  /// What comparing machine code may take: --judge, else HEDDLE_JUDGE, else 15. 0: it is not compared.
  double judge_seconds() const;

  /// What KERNEL is, with what --pass, --loop and --reading say of it; one for the whole command, so that its file is read once.
  /// Pre: there is a KERNEL.
  const std::shared_ptr<const Source>& source() const;

  void set(const std::string& name, std::vector<std::string> values) { values_[name] = std::move(values); }
  /// The whole line as a shell would read it again, for what remembers how it was made.
  std::string command_line;
  std::vector<std::string> words;  ///< what the command was given, as it was typed

 private:
  std::map<std::string, std::vector<std::string>> values_;
  mutable std::shared_ptr<const Source> source_;  ///< of the words by which it was asked for last
  Deadline::Clock::time_point begun_ = Deadline::Clock::now();
};

/// The name of a compiler's dump or a Triton text with what --pass, --loop and --reading say (core/dump/dump_files.h,
/// core/triton/read/files.h).
std::string with_dump_options(std::string name, const Arguments& arguments);

struct CommandLine {
  const CommandSpec* command = nullptr;  ///< nullptr: no command was given
  Arguments arguments;
  bool help = false, version = false;
};

/// What is wrong with a value of this option; empty when it is fine.
std::string value_fault(const OptionSpec& option, const std::string& value);

/// As one word of a POSIX shell's command line: quoted where it needs it.
std::string shell_word(std::string_view word);
/// Words as a POSIX shell would read them again, separated by blanks.
std::string shell_words(const std::vector<std::string>& words);

/// What is wrong with the command line, and what was probably meant.
struct UsageError {
  std::string message, hint;
  const CommandSpec* command = nullptr;  ///< whose help to point at
};

/// The command may stand anywhere among its options.
std::variant<CommandLine, UsageError> parse_command_line(const std::vector<std::string>& args);
/// Words for this command, without its name.
std::variant<CommandLine, UsageError> parse_words(const CommandSpec& command, const std::vector<std::string>& words);

}  // namespace heddle::app
