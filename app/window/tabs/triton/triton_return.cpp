#include "app/window/tabs/triton/triton_return.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/command/arguments.h"
#include "app/command/option_words.h"
#include "app/jobs/triton_return.h"
#include "app/session/commands.h"
#include "app/session/triton_origins.h"
#include "app/window/kit/actions.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/triton_return_state.h"
#include "app/window/parts/ui_state.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFewChanges = 5;

/// The text that was written last; empty: none yet.
std::string written(const Session& session) {
  const std::vector<Exported>& all = session.view().exported;
  const auto last = std::find_if(all.rbegin(), all.rend(), [](const Exported& one) { return one.good && one.path.ends_with(".ttgir"); });
  return last == all.rend() ? std::string() : last->path;
}

std::string folder_of(const std::string& path) {
  std::error_code code;
  const fs::path whole = fs::absolute(path, code);
  return (code ? fs::path(path) : whole).parent_path().lexically_normal().string();
}

bool is_way_out(triton::NextStep step, const triton::Comparison* comparison) {
  if (!comparison || comparison->cancelled) return false;
  const std::vector<triton::NextStep> ways = triton::ways_out(*comparison);
  return std::find(ways.begin(), ways.end(), step) != ways.end();
}

/// One sentence, as it is drawn.
std::pair<std::string, Color> verdict(const WayBack& way) {
  if (!way.why_not.empty()) return {drawable(pretty(way.why_not)), theme().dim};
  if (!way.broken.empty())
    return {drawable(pretty(count_of(static_cast<std::int64_t>(way.broken.size()), "rule") +
                            " broken: Triton would compile it without a word, so it is not written.")),
            theme().bad};
  return {drawable(pretty(fmt::format("In order by Triton's rules ({} families); {}.", kTritonRules,
                                      way.given->changes.empty()
                                          ? "the text would stay as it is, byte for byte"
                                          : count_of(static_cast<std::int64_t>(way.given->changed), "op") + " would change"))),
          theme().good};
}

void draw_buttons(const Session& session, const WayBack& way, const triton::Comparison* comparison, UiState& ui) {
  const float height = px(26), gap = px(6);
  if (button("triton/write", "Write .ttgir ...", ButtonKind::Plain, why_not_given(way), {0, height})) {
    ui.path_prompt.ask = Prompt::TtgirPath;
    ui.path_prompt.just_opened = true;
  }
  const std::string file = written(session);
  const auto next = [&](const char* label) {
    ImGui::SameLine(0, gap);
    same_line_if_room(button_width(label));
  };
  next("Copy the line for Python");
  const std::string line = file.empty() ? "" : use_line(folder_of(file));
  if (button("triton/use", "Copy the line for Python", ButtonKind::Plain,
             file.empty() ? "write the text first: the line names its folder" : "", {0, height}))
    ui.commands.push(copy_text(line));
  if (!file.empty() && ImGui::IsItemHovered())
    tooltip("before the first launch of your program, with PYTHONPATH=" + python_folder() + ":\n" + line);
  if (!file.empty()) {
    next("Copy finish command");
    const std::string finish = finish_command(file, (*session.content().triton()->program())->target);
    if (button("triton/finish", "Copy finish command", ButtonKind::Plain, {}, {0, height})) ui.commands.push(copy_text(finish));
    if (ImGui::IsItemHovered()) tooltip("compiles it with the rest of Triton's passes, without a GPU:\n" + finish);
  }
  if (!is_way_out(triton::NextStep::Python, comparison)) return;
  next("Copy rotated loop");
  if (button("triton/rotated", "Copy rotated loop", ButtonKind::Plain, {}, {0, height})) {
    const Result<std::string> python = rotated_python(session.content());
    ui.of<TritonReturnState>().complaint = python ? "" : in_words(in_options(python.error()).faults.front());
    if (python) ui.commands.push(copy_text(*python));
  }
  if (ImGui::IsItemHovered())
    tooltip("overlap that Triton's passes do not make: the loop in Python, its first mma peeled and carried, ready to paste");
}

void draw_rows(const Session& session, const WayBack& way, UiState& ui, const std::function<void()>& ended) {
  TritonReturnState& state = ui.of<TritonReturnState>();
  const auto row = [&](std::size_t i, const std::string& text, OpId op, Color ink) {
    const bool lit = op.valid() && session.selection().contains(op);
    const RowArea area = pick_row(fmt::format("triton/change/{}", i).c_str(), lit, px(22));
    const std::string shown = fitted(fonts().small, drawable(text), area.max.x - area.min.x - px(16));
    paint_text(fonts().small, ImVec2(area.min.x + px(8), area.min.y + px(4)), ink, shown);
    if (area.hovered) tooltip(drawable(text) + (op.valid() ? "\nclick: show the op" : ""));
    if (area.clicked && op.valid()) ui.commands.push(SelectOp{op});
    if (area.clicked && !op.valid()) ui.commands.push(show_editor(SourceOf::Kernel));
    ended();
  };
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(8), px(1)));
  std::size_t i = 0;
  for (const WayBack::Broken& broken : way.broken) row(i++, broken.text, broken.ops.empty() ? OpId() : broken.ops.front(), theme().bad);
  const std::size_t most = state.all ? way.changes.size() : std::min(way.changes.size(), kFewChanges);
  for (; i < most; ++i) row(i, way.changes[i].text, way.changes[i].op, theme().text);
  ImGui::PopStyleVar();
  if (way.changes.size() > kFewChanges) {
    const FontScope small(fonts().small);
    if (link("triton/all_changes", state.all ? "fewer" : fmt::format("all {} changes", way.changes.size()))) state.all = !state.all;
    ended();
  }
}

}  // namespace

void draw_triton_return_line(const Session& session, const triton::Comparison* comparison, UiState& ui) {
  const WayBack& way = way_back_of(session, ui);
  draw_buttons(session, way, comparison, ui);
  ImGui::SameLine(0, px(10));
  if (ImGui::GetContentRegionAvail().x < px(140)) ImGui::NewLine();
  const auto [text, ink] = verdict(way);
  const std::string shown = fitted(fonts().small, text, ImGui::GetContentRegionAvail().x);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  paint_text(fonts().small, ImVec2(at.x, at.y + px(5)), ink, shown);
  ImGui::Dummy(ImVec2(text_size(fonts().small, shown).x, px(26)));
  if (probe::on()) probe::last_item("triton/verdict");
  if (ImGui::IsItemHovered()) tooltip(text);
}

void draw_triton_return(const Session& session, const triton::Comparison* comparison, bool headed, UiState& ui,
                        const std::function<void()>& ended) {
  const WayBack& way = way_back_of(session, ui);
  const ScheduleEntry* entry = session.content().entry();
  section("GIVE IT BACK TO TRITON", entry ? drawable(entry->name) : "");
  const auto say = [&](const std::string& text, Color ink) {
    wrapped_text(fonts().small, ink, drawable(pretty(text)));
    ended();
  };
  if (!headed) {
    const auto [text, ink] = verdict(way);
    wrapped_text(fonts().small, ink, text);
    ended();
    draw_buttons(session, way, comparison, ui);
    ended();
  }
  if (const std::string& complaint = ui.of<TritonReturnState>().complaint; !complaint.empty()) say(complaint, theme().warning);
  if (way.given) {
    say(predicted(way.before, way.given->memory, *session.content().machine), theme().text);
    for (const std::string& note : way.given->notes) say(note, theme().dim);
  }
  draw_rows(session, way, ui, ended);
  if (constexpr auto cuda = triton::NextStep::Cuda; is_way_out(cuda, comparison))
    say(fmt::format("{}: the CUDA tab, or {}", title(cuda), command_of(cuda, shell_word(comparison->file))), theme().dim);
}

}  // namespace heddle::app
