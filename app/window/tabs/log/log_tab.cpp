// The Log tab: what happened, searchable.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/commands.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/notes.h"
#include "app/window/parts/ui_state.h"

namespace heddle::app {
namespace {

Color ink_of(LogLevel level) {
  switch (level) {
    case LogLevel::Info: return theme().text;
    case LogLevel::Good: return theme().good;
    case LogLevel::Warning: return theme().warning;
    case LogLevel::Bad: return theme().bad;
    case LogLevel::Detail: return theme().faint;
  }
  return theme().text;
}

std::string as_text(const Log& log) {
  std::string text;
  for (const LogEntry& entry : log) text += fmt::format("{:9.3f}  {}\n", entry.seconds, entry.text);
  return text;
}

}  // namespace

void draw_log_tab(const Session& session, const Models&, UiState& ui) {
  const Log& log = session.log();
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(8), px(3)));
  input_field("log/filter", "search the log", ui.log_filter, sizeof ui.log_filter, px(240));
  ImGui::SameLine();
  if (button("log/copy", "Copy", ButtonKind::Plain)) ui.commands.push(copy_text(as_text(log)));
  ImGui::PopStyleVar();
  const float notes = session.content().notes.empty() ? 0 : std::min(px(360), ImGui::GetContentRegionAvail().x * 0.4f);
  if (notes > 0) {
    ImGui::BeginChild("notes", ImVec2(notes, 0));
    draw_notes(session, ui);
    ImGui::EndChild();
    ImGui::SameLine(0, px(16));
  }
  const float line = text_size(fonts().mono_small, "X").y + px(2);
  ImGui::BeginChild("lines", ImVec2(0, whole_rows(ImGui::GetContentRegionAvail().y, line)));
  push_font(fonts().mono_small);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(8), px(2)));
  std::vector<const LogEntry*> shown;
  for (const LogEntry& entry : log)
    if (matches(entry.text, ui.log_filter)) shown.push_back(&entry);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(shown.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const LogEntry& entry = *shown[static_cast<std::size_t>(i)];
      colored_text(theme().faint, fmt::format("{:8.3f}", entry.seconds));
      ImGui::SameLine(0, px(12));
      // A command line is to be read as it is typed.
      colored_text(ink_of(entry.level), entry.text.starts_with("copied: ") ? entry.text : drawable(pretty(entry.text)));
    }
  }
  clipper.End();
  ImGui::PopStyleVar();
  // Follows the end, unless somebody has scrolled up to read.
  if (log.size() != ui.log_seen && ImGui::GetScrollY() >= ImGui::GetScrollMaxY() - px(40)) ImGui::SetScrollHereY(1);
  ui.log_seen = log.size();
  settle_on_rows(line);
  pop_font();
  ImGui::EndChild();
}

}  // namespace heddle::app
