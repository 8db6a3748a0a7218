// CLI11 splits words into options and values; which options exist and what their values may be comes from the table.
#include "app/command/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "app/command/ptx_form.h"
#include "app/command/triton_words.h"
#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "core/library/library.h"
#include "core/library/source.h"

namespace heddle::app {
namespace {

std::optional<double> read_seconds(std::string_view text) {
  const auto number = read_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace

double usual_seconds(double otherwise) {
  const char* named = std::getenv("HEDDLE_TIMEOUT");
  const auto seconds = named ? read_seconds(named) : std::nullopt;
  return seconds && *seconds > 0 ? *seconds : otherwise;
}

double Arguments::judge_seconds() const {
  const char* named = std::getenv("HEDDLE_JUDGE");
  const auto usual = named ? read_seconds(named) : std::nullopt;
  return seconds("--judge").value_or(usual && *usual >= 0 ? *usual : 15);
}

namespace {

bool takes_value(const std::string& word) {
  for (const CommandSpec& command : command_table()) {
    for (const OptionSpec& option : offered_options(command)) {
      if (option.type != ValueType::Switch && (word == option.flag || word == option.short_flag)) return true;
    }
  }
  return false;
}

/// Index of the first word that is neither an option nor an option's value; args.size() when there is none.
std::size_t find_command_word(const std::vector<std::string>& args) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--") return i + 1;
    if (args[i].size() < 2 || args[i][0] != '-') return i;
    if (takes_value(args[i])) ++i;
  }
  return args.size();
}

bool asks_for(const std::vector<std::string>& args, std::initializer_list<const char*> flags) {
  for (const std::string& word : args) {
    if (word == "--") return false;
    if (std::find(flags.begin(), flags.end(), word) != flags.end()) return true;
  }
  return false;
}

UsageError unknown_option(const CommandSpec& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> flags;
  for (const OptionSpec& option : all_options(command)) flags.push_back(option.flag);
  const std::string message = fmt::format("'{}' has no option '{}'", command.name, name);
  const bool elsewhere = std::any_of(command_table().begin(), command_table().end(), [&](const CommandSpec& other) {
    return std::any_of(other.options.begin(), other.options.end(), [&](const OptionSpec& option) { return option.flag == name; });
  });
  // A flag of another command is no slip of the pen.
  if (elsewhere && command.name == "eval")
    return {message, "it computes values; costs, limits and schedules play no part in them", &command};
  return {message, elsewhere ? "only other commands have it" : did_you_mean(name, flags), &command};
}

UsageError unknown_command(const std::string& word) {
  std::vector<std::string> names;
  for (const CommandSpec& command : command_table()) names.push_back(command.name);
  const std::string hint = did_you_mean(word, names);
  return {fmt::format("there is no command '{}'", word), hint.empty() ? "the commands are " + list_of(names) : hint, nullptr};
}

/// Where a command takes a PTX or a KERNEL, the first word may be neither.
std::optional<UsageError> names_nothing(const CommandSpec& command, const std::vector<std::string>& words) {
  if (ptx_form(command.name) == nullptr || words.empty() || words.front().starts_with("-")) return std::nullopt;
  const std::string& word = words.front();
  std::error_code code;
  const std::string path = word.substr(0, word.find('#'));
  if (std::filesystem::exists(path, code) || path.find('/') != std::string::npos || path.find('.') != std::string::npos)
    return std::nullopt;
  std::vector<std::string> kernels;
  for (const LibraryEntry& entry : list_library(Shelf::Kernels)) kernels.push_back(entry.name);
  if (std::ranges::find(kernels, path) != kernels.end()) return std::nullopt;
  std::string hint = did_you_mean(path, kernels);
  return UsageError{fmt::format("'{}' is no shipped kernel, and no file or folder is called so", word),
                    hint.empty() ? "heddle list has the kernels" : std::move(hint), &command};
}

/// CLI11 names the option first: "--ii: 1 required N missing", "json was given a disallowed flag override".
UsageError rephrase(const CommandSpec& command, const std::string& what) {
  for (const OptionSpec& option : all_options(command)) {
    const bool override = what.starts_with(option.flag.substr(2) + " was given");
    if (!override && !what.starts_with(option.flag + ":")) continue;
    if (option.type == ValueType::Switch) return {fmt::format("{} takes no value", option.flag), "", &command};
    const bool missing = what.find("missing") != std::string::npos;
    return {
        missing ? fmt::format("{} needs a value ({})", option.flag, option.value) : fmt::format("{} is given more than once", option.flag),
        "", &command};
  }
  return {what, "", &command};
}

bool is_path(const std::string& word) {
  std::error_code code;
  return word.find_first_of("./#") != std::string::npos || std::filesystem::exists(word, code);
}

/// A file that is not there cannot say whether it stands for more than a kernel.
bool is_missing_file(const std::string& word) {
  std::error_code code;
  return word.find_first_of("./#") != std::string::npos && !std::filesystem::exists(word, code) &&
         !std::filesystem::exists(word.substr(0, word.rfind('#')), code);
}

/// The schedule in a compiler's dump or a Triton text is the SCHEDULE, or A, where none is given.
void add_stored_schedule(const CommandSpec& command, Arguments& arguments) {
  const auto kernel = arguments.text("KERNEL");
  const auto first = std::find_if(command.positionals.begin(), command.positionals.end(),
                                  [](const PositionalSpec& p) { return p.type == PositionalType::Schedule; });
  if (!kernel || first == command.positionals.end() || arguments.has(first->name)) return;
  const std::shared_ptr<const Source> source = arguments.source();
  if (command.name != "gui" && source->triton()) return add_own_schedule(command, *first, *source->triton(), arguments);
  if (!source->dump() || !source->names_machine()) return;
  if (first->required || source->has_own()) arguments.set(first->name, {source->name()});
}

std::variant<CommandLine, UsageError> parse_for(const CommandSpec& command, std::vector<std::string> words) {
  CLI::App parser;
  parser.set_help_flag();
  parser.allow_extras();
  std::vector<OptionSpec> options = all_options(command);
  std::vector<std::vector<std::string>> values(options.size());
  std::vector<CLI::Option*> handles;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const OptionSpec& option = options[i];
    const std::string names = option.short_flag.empty() ? option.flag : option.short_flag + "," + option.flag;
    if (option.type == ValueType::Switch) {
      handles.push_back(parser.add_flag(names)->disable_flag_override());
    } else {
      CLI::Option* handle = parser.add_option(names, values[i])->type_name(option.value)->allow_extra_args(false);
      if (!option.repeats) handle->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::Throw);
      handles.push_back(handle);
    }
  }
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes its words from the back
    parser.parse(words);
  } catch (const CLI::ParseError& error) {
    return rephrase(command, error.what());
  }

  CommandLine line;
  line.command = &command;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (handles[i]->count() == 0) continue;
    for (const std::string& value : values[i]) {
      if (const std::string fault = value_fault(options[i], value); !fault.empty()) {
        return UsageError{fault, options[i].type == ValueType::Choice ? did_you_mean(value, options[i].choices) : "", &command};
      }
    }
    line.arguments.set(options[i].flag, values[i]);
  }

  std::vector<std::string> rest;
  bool only_positionals = false;
  for (const std::string& word : parser.remaining()) {
    if (word == "--" && !only_positionals) {
      only_positionals = true;
      continue;
    }
    if (!only_positionals && word.size() > 1 && word[0] == '-') return unknown_option(command, word);
    rest.push_back(word);
  }
  std::size_t used = 0;
  bool triton = false;  // the kernel has a machine of its own, and may be given another
  std::string kernel_word;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const std::string& word = rest[i];
    if (triton && used < command.positionals.size() && command.positionals[used].type == PositionalType::Machine &&
        !is_machine_word(command, used, word, rest.size() - i))
      line.arguments.set(command.positionals[used++].name, {kernel_word});
    if (!command.positionals.empty() && takes_rest(command.positionals.back().type) && used + 1 >= command.positionals.size()) {
      std::vector<std::string> files = line.arguments.all(command.positionals.back().name);
      files.push_back(word);
      line.arguments.set(command.positionals.back().name, files);
      continue;
    }
    if (used == command.positionals.size()) return UsageError{fmt::format("'{}' does not expect '{}'", command.name, word), "", &command};
    const PositionalSpec& positional = command.positionals[used++];
    if (positional.type == PositionalType::Choice && !(positional.or_path && is_path(word)) &&
        std::find(positional.choices.begin(), positional.choices.end(), word) == positional.choices.end()) {
      return UsageError{fmt::format("{} must be one of {}, not '{}'", positional.name, list_of(positional.choices), word),
                        did_you_mean(word, positional.choices), &command};
    }
    if (positional.type == PositionalType::Command && !find_command(word)) return unknown_command(word);
    line.arguments.set(positional.name, {word});
    if (positional.type != PositionalType::Kernel) continue;
    kernel_word = word;
    const std::shared_ptr<const Source> source = line.arguments.has("KERNEL") ? line.arguments.source() : find_source(word);
    triton |= source->triton() != nullptr;
    // A project names its machine too, and so does a compiler's dump.
    const bool whole = source->names_machine() && !source->triton();
    if (whole && used < command.positionals.size() && command.positionals[used].type == PositionalType::Machine)
      line.arguments.set(command.positionals[used++].name, {word});
  }
  if (triton && used < command.positionals.size() && command.positionals[used].type == PositionalType::Machine)
    line.arguments.set(command.positionals[used].name, {kernel_word});
  for (const PositionalSpec& positional : command.positionals)
    if (const auto kernel = line.arguments.text("KERNEL");
        kernel && positional.type == PositionalType::Schedule && !line.arguments.has(positional.name) && line.arguments.source()->project())
      line.arguments.set(positional.name, {*kernel});
  add_stored_schedule(command, line.arguments);
  for (const PositionalSpec& positional : command.positionals) {
    const bool may_be_whole = positional.type == PositionalType::Machine || positional.type == PositionalType::Schedule;
    if (const auto kernel = line.arguments.text("KERNEL");
        kernel && positional.required && may_be_whole && !line.arguments.has(positional.name) && is_missing_file(*kernel))
      line.arguments.set(positional.name, {*kernel});
    if (positional.required && !line.arguments.has(positional.name)) {
      return UsageError{fmt::format("'{}' needs {}: {}", command.name, positional.name, positional.about), "", &command};
    }
  }
  return line;
}

}  // namespace

const std::vector<std::string>& Arguments::all(const std::string& name) const {
  static const std::vector<std::string> none;
  const auto found = values_.find(name);
  return found == values_.end() ? none : found->second;
}

std::optional<std::string> Arguments::text(const std::string& name) const {
  const auto& values = all(name);
  return values.empty() ? std::nullopt : std::optional(values.front());
}

std::optional<std::int64_t> Arguments::integer(const std::string& name) const {
  auto value = text(name);
  if (value && value->ends_with('%')) value->pop_back();  // value_fault() says where that may stand
  return value ? read_number<std::int64_t>(*value) : std::nullopt;
}

std::optional<double> Arguments::seconds(const std::string& name) const {
  const auto value = text(name);
  return value ? read_seconds(*value) : std::nullopt;
}

const std::shared_ptr<const Source>& Arguments::source() const {
  const std::string name = with_dump_options(*text("KERNEL"), *this);
  if (!source_ || source_->name() != name) source_ = find_source(name, source_.get());
  return source_;
}

std::string with_dump_options(std::string name, const Arguments& arguments) {
  for (const char* option : {"--pass", "--loop", "--reading"})
    if (const auto word = arguments.text(option)) name += (name.find('#') == std::string::npos ? '#' : ',') + *word;
  return name;
}

std::string value_fault(const OptionSpec& option, const std::string& value) {
  switch (option.type) {
    case ValueType::Integer:
      if (const auto integer =
              read_number<std::int64_t>(option.value.ends_with('%') && value.ends_with('%') ? value.substr(0, value.size() - 1) : value);
          integer && *integer >= option.low && *integer <= option.high)
        return {};
      return option.high == std::numeric_limits<std::int64_t>::max()
                 ? fmt::format("{} needs an integer from {}, not '{}'", option.flag, option.low, value)
                 : fmt::format("{} needs an integer from {} to {}, not '{}'", option.flag, option.low, option.high, value);
    case ValueType::Seconds:
      if (const auto seconds = read_seconds(value);
          seconds && *seconds > static_cast<double>(option.low) && *seconds <= static_cast<double>(option.high))
        return {};
      return fmt::format("{} needs a number of seconds above {} and at most {}, not '{}'", option.flag, option.low, option.high, value);
    case ValueType::Choice:
      if (std::find(option.choices.begin(), option.choices.end(), value) != option.choices.end()) return {};
      return fmt::format("{} needs one of {}, not '{}'", option.flag, list_of(option.choices), value);
    case ValueType::Assignment: {
      const std::size_t equals = value.find('=');
      if (equals != 0 && equals != std::string::npos && read_number<std::int64_t>(value.substr(equals + 1))) return {};
      return fmt::format("{} needs NAME=INTEGER, not '{}'", option.flag, value);
    }
    case ValueType::Change:  // what it names is looked up once kernel and machine are read
      return value.find('=') != std::string::npos ? std::string() : fmt::format("{} needs NUMBER=VALUE, not '{}'", option.flag, value);
    case ValueType::Name:
    case ValueType::File: return value.empty() ? fmt::format("{} needs a value ({})", option.flag, option.value) : std::string();
    case ValueType::Switch: return {};
  }
  return {};
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+:,%@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::variant<CommandLine, UsageError> parse_words(const CommandSpec& command, const std::vector<std::string>& words) {
  CommandLine line;
  line.command = &command;
  line.help = asks_for(words, {"--help", "-h"});
  if (line.help) return line;
  auto parsed = parse_for(form_for(command, words), words);
  if (std::holds_alternative<UsageError>(parsed))
    if (auto nothing = names_nothing(command, words)) return *std::move(nothing);
  if (auto* good = std::get_if<CommandLine>(&parsed)) good->arguments.words = words;
  return parsed;
}

std::variant<CommandLine, UsageError> parse_command_line(const std::vector<std::string>& args) {
  CommandLine line;
  line.help = asks_for(args, {"--help", "-h"});
  const std::size_t at = find_command_word(args);
  if (at >= args.size()) {
    line.version = asks_for(args, {"--version", "-V"});
    if (line.help || line.version || args.empty()) return line;
    return UsageError{"a command is missing", "", nullptr};
  }
  const CommandSpec* command = find_command(args[at]);
  std::vector<std::string> words = args;
  if (command) {
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
  } else {
    // A file alone opens the window.
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(args[at], ignored)) return unknown_command(args[at]);
    command = find_command("gui");
  }
  auto parsed = parse_words(*command, words);
  if (auto* good = std::get_if<CommandLine>(&parsed))
    good->arguments.command_line = args.empty() ? "heddle" : "heddle " + shell_words(args);
  return parsed;
}

}  // namespace heddle::app
