// heddle new: a kernel file from a pattern, or what there is to choose from.
#include <fmt/format.h>

#include <filesystem>

#include "app/command/arguments.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/terminal.h"
#include "core/base/json.h"
#include "core/formats/kernel_json.h"
#include "core/patterns/pattern.h"

namespace heddle::app {
namespace {

const char* type_name(PatternOption::Type type) {
  switch (type) {
    case PatternOption::Type::Choice: return "choice";
    case PatternOption::Type::Integer: return "integer";
    case PatternOption::Type::Flag: return "flag";
  }
  return "";
}

Json option_json(const PatternOption& option) {
  Json json = Json::Object{{"name", option.name}, {"about", option.about}, {"type", type_name(option.type)}, {"default", option.standard}};
  if (option.type == PatternOption::Type::Integer) return json.set("low", option.low).set("high", option.high).set("step", option.step);
  Json choices = Json::array();
  for (const std::string& choice : option.choices) choices.push(choice);
  return json.set("choices", std::move(choices));
}

int list(const std::vector<const Pattern*>& wanted, const Arguments& arguments, const Terminal& terminal) {
  if (arguments.has("--json")) {
    Json all = Json::array();
    for (const Pattern* pattern : wanted) {
      Json options = Json::array();
      for (const PatternOption& option : pattern->options) options.push(option_json(option));
      all.push(Json::Object{{"name", pattern->name}, {"about", pattern->about}, {"options", std::move(options)}});
    }
    terminal.out << Json(Json::Object{{"patterns", std::move(all)}}).pretty();
    return kDone;
  }
  std::string text;
  for (const Pattern* pattern : wanted) {
    if (terminal.quiet) {
      text += pattern->name + "\n";
      continue;
    }
    text += fmt::format("{}{}: {}\n", text.empty() ? "" : "\n", pattern->name, pattern->about);
    std::vector<std::vector<std::string>> rows;
    for (const PatternOption& option : pattern->options)
      rows.push_back({fmt::format("{}={}", option.name, option.standard), allowed_text(option), option.about});
    text += text_table({{"option"}, {"possible"}, {""}}, rows);
  }
  terminal.out << text;
  return kDone;
}

/// NAME=VALUE words; a word without "=" is a fault.
Result<PatternChoices> choices_of(const std::vector<std::string>& words) {
  PatternChoices choices;
  Error error;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      error.faults.push_back(
          {"", "", fmt::format("expected NAME=VALUE, found '{}'", printable(word)), "heddle new PATTERN --list has the names"});
    else if (!choices.emplace(word.substr(0, equals), word.substr(equals + 1)).second)
      error.faults.push_back({"", "/" + word.substr(0, equals), fmt::format("'{}' is given twice", printable(word.substr(0, equals))), ""});
  }
  if (!error.faults.empty()) return error;
  return choices;
}

}  // namespace

int run_new(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const Pattern* pattern = arguments.has("PATTERN") ? find_pattern(*arguments.text("PATTERN")) : nullptr;
  if (!pattern || arguments.has("--list")) {
    std::vector<const Pattern*> wanted;
    for (const Pattern& p : patterns())
      if (!pattern || pattern == &p) wanted.push_back(&p);
    return list(wanted, arguments, terminal);
  }
  const std::string path = arguments.text("--out").value_or("-");
  const Result<PatternChoices> choices = choices_of(arguments.all("SETTINGS"));
  if (!choices) return report(terminal, choices.error(), json);
  std::error_code ignored;
  if (path != "-" && std::filesystem::exists(path, ignored))
    return report(terminal, Error::input(fmt::format("'{}' exists already", path), "choose another name, or remove it first"), json);
  const std::string stem = path == "-" ? std::string() : std::filesystem::path(path).stem().string();
  const Result<Kernel> kernel = kernel_of(*pattern, *choices, arguments.text("--name").value_or(stem));
  if (!kernel) return report(terminal, kernel.error(), json);
  // A name that no kernel can have is found by reading what is about to be written.
  const std::string text = brief_kernel_text(*kernel);
  if (const Result<Kernel> read = parse_kernel(text, path == "-" ? pattern->name : path); !read)
    return report(terminal, read.error(), json);
  if (const int code = write_text(terminal, path, text); code != kDone || path == "-") return code;
  if (json) {
    terminal.out << Json(Json::Object{{"kernel", kernel->name}, {"pattern", pattern->name}, {"file", path}}).pretty();
  } else {
    terminal.note(fmt::format("wrote {}: {}", path, kernel->about));
    terminal.note(fmt::format("next: heddle eval {0}; heddle solve {0} h100; heddle compile {0} h100", path));
  }
  return kDone;
}

}  // namespace heddle::app
