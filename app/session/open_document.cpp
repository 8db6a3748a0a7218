#include "app/session/open_document.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/command/option_words.h"
#include "app/session/files.h"

namespace heddle::app {
namespace {

double steady_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

OpenDocument::OpenDocument(std::function<double()> clock) : clock_(clock ? std::move(clock) : steady_seconds), began_(clock_()) {}

double OpenDocument::now() const { return clock_() - began_; }

void OpenDocument::say(LogLevel level, std::string text) { log.push_back({now(), level, std::move(text)}); }

void OpenDocument::fail(std::string title, Error why) {
  why = in_options(std::move(why));
  say(LogLevel::Bad, title);
  for (const Fault& fault : why.faults) say(LogLevel::Bad, "  " + to_string(fault));
  error = ErrorReport{std::move(title), std::move(why)};
}

void OpenDocument::warn_aloud(const std::vector<Fault>& warnings) {
  for (const Fault& warning : in_options({ErrorKind::Input, warnings}).faults) say(LogLevel::Warning, to_string(warning));
  if (!warnings.empty()) view.notice = base_name(warnings.back().file) + ": " + warnings.back().message;
}

void OpenDocument::changed() {
  // A finding about one schedule says nothing about another.
  const ScheduleEntry* entry = content.entry();
  if (std::string now = entry ? entry->name : std::string(); now != highlight_of_) {
    view.highlight = {};
    highlight_of_ = std::move(now);
  }
  // What points into the problem goes with what it pointed at, whichever command, undo or answer took that away.
  const std::size_t ops = content.problem ? content.problem->ops.size() : 0, edges = content.problem ? content.problem->edges.size() : 0;
  const auto gone = [ops](OpId op) { return !op.valid() || op.index() >= ops; };
  std::erase_if(selection.ops, gone);
  std::erase_if(view.highlight.ops, gone);
  std::erase_if(view.highlight.edges, [edges](EdgeId edge) { return !edge.valid() || edge.index() >= edges; });
  if (view.alignment.at == Alignment::At::Op && gone(view.alignment.op)) view.alignment = {};
  ++revision;
}

}  // namespace heddle::app
