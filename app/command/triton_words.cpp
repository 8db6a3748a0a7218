#include "app/command/triton_words.h"

#include <algorithm>
#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/base/suggest.h"
#include "core/library/library.h"
#include "core/library/triton_text.h"

namespace heddle::app {
namespace {

/// Whether a word that follows a Triton text is its MACHINE, and no SCHEDULE or OP: a shipped name, a machine's file, or what is nearly a
/// shipped name.
bool names_machine(const std::string& word, bool or_nearly) {
  std::vector<std::string> names;
  for (const LibraryEntry& entry : list_library(Shelf::Machines)) names.push_back(entry.name);
  if (std::find(names.begin(), names.end(), word) != names.end()) return true;
  std::error_code code;
  if (!std::filesystem::is_regular_file(word, code)) return or_nearly && !nearest(word, names).empty();
  const Result<std::string> text = read_file(word);
  return text && text->find("\"heddle.machine/1\"") != std::string::npos;
}

bool looks_at_schedules(const CommandSpec& command) {
  for (const char* name : {"check", "diff", "show", "simulate", "traffic", "export", "slack"})
    if (command.name == name) return true;
  return false;
}

}  // namespace

bool is_machine_word(const CommandSpec& command, std::size_t at, const std::string& word, std::size_t left) {
  const std::size_t places = command.positionals.size() - at;
  const bool more_to_come = takes_rest(command.positionals.back().type);
  if (!more_to_come && left >= places) return true;  // as many words as there are places
  const bool file_next = at + 1 < command.positionals.size() && (command.positionals[at + 1].type == PositionalType::Schedule ||
                                                                 command.positionals[at + 1].type == PositionalType::Files);
  return names_machine(word, file_next);
}

void add_own_schedule(const CommandSpec& command, const PositionalSpec& schedule, const TritonText& text, Arguments& arguments) {
  const auto reading = text.said();
  if (reading == triton::TextReading::Free && !schedule.required) return;
  if (!reading && !looks_at_schedules(command)) return;
  if (!schedule.required && (!text.cuts().empty() || !(reading ? text.has_own() : text.by(triton::TextReading::Triton)->has_own()))) return;
  const std::string own = reading ? text.name() : with_reading(text.name(), triton::TextReading::Triton);
  if (!reading) arguments.set("--reading", {triton::to_string(triton::TextReading::Triton)});
  arguments.set(schedule.name, {own});
}

}  // namespace heddle::app
