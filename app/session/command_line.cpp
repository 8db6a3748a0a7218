// The table of commands says which of them takes what.
#include "app/session/command_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/command_table.h"
#include "core/io/library.h"
#include "core/schedule/constraint_text.h"

namespace heddle::app {

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+:,%@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string command_line(const Session& session, std::string_view subcommand, const std::vector<std::string>& extra) {
  const Content& content = session.content();
  if (!content.kernel || !content.machine) return {};
  const CommandSpec* command = find_command(subcommand);
  const auto takes = [&](std::string_view flag) {
    return !command || std::any_of(command->options.begin(), command->options.end(),
                                   [&](const OptionSpec& option) { return option.flag == flag; });
  };
  const auto positionals = [&](PositionalType type) {
    return command ? std::count_if(command->positionals.begin(), command->positionals.end(),
                                   [&](const PositionalSpec& positional) { return positional.type == type; })
                   : 1;
  };
  std::vector<std::string> words{"heddle", std::string(subcommand)};
  if (positionals(PositionalType::Kernel) > 0) words.push_back(name_in_library(Shelf::Kernels, content.kernel->source));
  if (positionals(PositionalType::Machine) > 0) words.push_back(name_in_library(Shelf::Machines, content.machine->file));
  const auto add = [&](const char* flag, std::string value) {
    if (!takes(flag)) return;
    words.emplace_back(flag);
    words.push_back(std::move(value));
  };
  for (const auto& [name, value] : content.overrides) add("--param", fmt::format("{}={}", name, value));
  for (const Change& change : content.changes)
    if (change.enabled) add("--set", describe(change));
  for (const UserConstraint& constraint : content.constraints)
    if (constraint.enabled) add("--demand", describe(constraint));
  words.insert(words.end(), extra.begin(), extra.end());
  // With several schedules the caller has to say which is which.
  if (const ScheduleEntry* entry = content.entry(); entry && !entry->file.empty() && positionals(PositionalType::Schedule) == 1)
    words.push_back(name_in_library(Shelf::Schedules, entry->file));
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

namespace {

std::vector<std::string> mode_words(const Session& session) {
  std::vector<std::string> words{"--mode", to_string(session.view().mode)};
  if (session.view().mode == GanttMode::Steady) return words;
  words.emplace_back("--iterations");
  words.push_back(fmt::format("{}", session.iterations()));
  return words;
}

}  // namespace

std::string shown_as_command(const Session& session) { return command_line(session, "show", mode_words(session)); }

std::string export_command(const Session& session, const Export& wish) {
  std::vector<std::string> words = mode_words(session);
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  switch (wish.kind) {
    case ExportKind::Svg:
      add({"--format", "svg", "--theme", wish.light ? "light" : "dark"});
      if (const auto& visible = session.view().chart.visible; wish.visible_only && visible)
        add({"--begin", fmt::format("{}", visible->first), "--end", fmt::format("{}", visible->second)});
      break;
    case ExportKind::Trace: words = {"--format", "trace"}; break;
    case ExportKind::Text: add({"--format", "text", "--width", "160"}); break;
    case ExportKind::Csv: words = {"--format", "csv"}; break;
    case ExportKind::Png: {
      if (session.project_file().empty() || session.unsaved()) return {};
      std::string line = "heddle-gui " + shell_word(session.project_file()) + " --screenshot " + shell_word(wish.path);
      for (const std::string& word : words) line += " " + shell_word(word);
      return line + " --theme " + to_string(session.settings().theme);
    }
  }
  add({"--out", wish.path});
  return command_line(session, "export", words);
}

}  // namespace heddle::app
