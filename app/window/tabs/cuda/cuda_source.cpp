// The text of the CUDA tab: numbered, coloured, a bar of its op's colour beside every line that belongs to one. A line selects its
// op; the lines of selected ops are marked and brought into view, those of the op under the mouse are tinted.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/commands.h"
#include "app/session/kernel_state.h"
#include "app/window/kit/focus.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/cuda/cuda_state.h"
#include "app/window/tabs/cuda/cuda_views.h"

namespace heddle::app {
namespace {

Color color_of(Ink ink) {
  const Theme& t = theme();
  switch (ink) {
    case Ink::Plain: return t.text;
    case Ink::Keyword: return t.accent;
    case Ink::Number: return t.second;
    case Ink::Comment: return t.dim;
    case Ink::Quoted: return t.good;
    case Ink::Directive: return t.warning;
    case Ink::Call: return t.text;
  }
  return t.text;
}

/// The part of the program that the chart's bar stands for, where a bar was what selected the op.
SourcePart wanted_part(const Session& session, const Models& models, const UiState& ui, OpId op) {
  const auto& current = ui.chart.current;
  const ScheduleEntry* entry = session.content().entry();
  if (!models.gantt || !entry || !current || *current >= models.gantt->bars.size()) return SourcePart::Steady;
  const GanttBar& bar = models.gantt->bars[*current];
  return bar.op == op ? part_of_bar(*models.gantt, bar, entry->schedule, session.iterations()) : SourcePart::Steady;
}

OpId hovered_bar(const Models& models, const UiState& ui) {
  const auto& hovered = ui.chart.hovered;
  return models.gantt && hovered && *hovered < models.gantt->bars.size() ? models.gantt->bars[*hovered].op : OpId();
}

/// Asks for the lines of what was newly selected.
void follow_selection(const Session& session, const Models& models, UiState& ui, const SourceModel& source) {
  CudaTabState& s = ui.of<CudaTabState>();
  const std::vector<OpId>& selected = session.selection().ops;
  if (s.followed == selected) return;
  s.followed = selected;
  const OpId op = session.selection().primary();
  if (!op.valid()) return;
  if (const auto block = block_for(source, op, wanted_part(session, models, ui, op))) s.go_to = source.blocks[*block].first;
}

struct LineLook {
  float letter;  ///< width of one
  float alpha;
  bool lit;
};
void paint_line(const SourceModel& source, std::size_t index, ImVec2 at, const LineLook& look) {
  const float letter = look.letter, alpha = look.alpha;
  const bool lit = look.lit;
  const SourceLine& line = source.lines[index];
  const std::string_view text = source.line(index);
  ImFont* font = fonts().mono_small;
  std::uint32_t done = line.begin;
  const auto piece = [&](std::uint32_t begin, std::uint32_t end, Color color) {
    if (end <= begin) return;
    paint_text(font, {at.x + letter * static_cast<float>(begin - line.begin), at.y}, with_alpha(color, alpha),
               text.substr(begin - line.begin, end - begin));
  };
  for (std::uint32_t t = line.first_token; t < line.first_token + line.tokens; ++t) {
    const SourceToken& token = source.tokens[t];
    piece(done, token.begin, theme().text);
    // On a tinted line everything is as readable as text.
    piece(token.begin, token.end, lit && token.ink == Ink::Comment ? theme().text : color_of(token.ink));
    done = token.end;
  }
  piece(done, line.end, theme().text);
}

/// Where ptxas put an op of a steady loop, beside the line that says where the schedule has it.
std::string machine_place(const KernelBuild& build, std::size_t line) {
  for (const codegen::OpCodePlace& place : build.audit.places) {
    const codegen::SourceSpan& span = build.text->emission->lines[place.span];
    if (static_cast<std::size_t>(span.first_line) == line)
      return fmt::format("machine code: after {} issue cycles of the loop, {}", place.issue, count_of(place.instructions, "instruction"));
  }
  return "";
}

/// Where the lines of the selected op and the matches are, over the height of the text.
void paint_overview(const Session& session, const UiState& ui, const SourceModel& source, ImVec2 low, ImVec2 high) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float height = high.y - low.y, lines = static_cast<float>(std::max<std::size_t>(source.lines.size(), 1));
  const auto tick = [&](std::size_t first, std::size_t last, Color color, float left) {
    const float y0 = low.y + height * static_cast<float>(first) / lines, y1 = low.y + height * static_cast<float>(last + 1) / lines;
    list.AddRectFilled({low.x + left, y0}, {high.x, std::max(y1, y0 + px(2))}, color);
  };
  for (const SourceBlock& block : source.blocks)
    if (block.op.valid() && session.selection().contains(block.op)) tick(block.first, block.last, theme().accent, 0);
  for (const std::size_t line : ui.of<CudaTabState>().matches) tick(line, line, theme().warning, px(2));
}

}  // namespace

void draw_source(const Session& session, const Models& models, UiState& ui, const SourceModel& source, bool old) {
  const Theme& t = theme();
  CudaTabState& s = ui.of<CudaTabState>();
  if (!old) follow_selection(session, models, ui, source);
  ImFont* font = fonts().mono_small;
  const float letter = text_size(font, std::string(64, 'm')).x / 64, height = std::floor(text_size(font, "X").y + px(3));
  const float digits = static_cast<float>(std::max<std::size_t>(3, std::to_string(source.lines.size()).size()));
  const float gutter = letter * digits + px(20), strip = px(6);
  const float alpha = old ? 0.45f : 1.0f;
  const ImVec2 corner = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
  const OpId pointed = hovered_bar(models, ui);
  const auto& task = session.kernel().built();
  const bool compiled =
      !old && task.answer() && !task.answer()->error && KernelState::is_current(task, KernelState::subject_of(session.content()));
  const KernelBuild* built = compiled && task.answer()->text && task.answer()->text->emission ? &*task.answer() : nullptr;
  OpId hovered;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  const float bar = gutter + letter * static_cast<float>(source.widest + 2) > size.x - strip ? ImGui::GetStyle().ScrollbarSize : 0;
  ImGui::BeginChild("source", {std::max(size.x - strip, px(40)), whole_rows(size.y - bar, height) + bar}, false,
                    ImGuiWindowFlags_HorizontalScrollbar);
  // Longer lines end where the text scrolls.
  if (const ImVec2 at = ImGui::GetWindowPos(), extent = ImGui::GetWindowSize(); probe::on())
    probe::item("pane/source", at.x, at.y, at.x + extent.x, at.y + extent.y);
  if (s.go_to) {
    const float room = ImGui::GetWindowHeight();
    ImGui::SetScrollY(std::max(0.0f, (static_cast<float>(*s.go_to) - std::floor(room * 0.3f / height)) * height));
    s.go_to.reset();
  }
  const float left = ImGui::GetCursorScreenPos().x, wide = gutter + letter * static_cast<float>(source.widest + 2);
  draw_seen_rows(
      source.lines.size(),
      [&](std::size_t index) {
        const SourceBlock* block = source.block_of(index);
        const bool ours = block && block->op.valid() && !old;
        const bool selected = ours && session.selection().contains(block->op);
        const bool lit = ours && (block->op == pointed || block->op == s.tinted);
        const RowArea row = pick_row(fmt::format("cuda/line/{}", index + 1).c_str(), selected, height);
        ImDrawList& list = *ImGui::GetWindowDrawList();
        if (lit && !selected) list.AddRectFilled({left, row.min.y}, {std::max(row.max.x, left + wide), row.max.y}, t.hovered);
        if (s.marked == index) list.AddRect({left, row.min.y}, {row.max.x - px(1), row.max.y}, t.warning, px(2));
        const float y = row.min.y + px(1);
        paint_text_right(font, left + letter * digits + px(4), y, selected ? t.text : t.faint, std::to_string(index + 1));
        if (ours)
          list.AddRectFilled({left + letter * digits + px(8), row.min.y},
                             {left + letter * digits + px(8) + px(selected ? 5 : 3), row.max.y},
                             role_ink(models.ops[block->op.index()].role));
        paint_line(source, index, {left + gutter, y}, {letter, alpha, selected || lit});
        if (const std::string place = built ? machine_place(*built, index + 1) : ""; !place.empty())
          paint_text(font, {left + gutter + letter * static_cast<float>(source.line(index).size() + 3), y}, with_alpha(t.second, alpha),
                     place);
        if (row.clicked && ours) {
          s.followed = {block->op};  // the line is where the eye is already
          if (ImGui::GetIO().KeyCtrl) s.followed.clear();
          ui.commands.push(SelectOp{block->op, ImGui::GetIO().KeyCtrl});
        }
        if (row.double_clicked && ours) ui.commands.push(zoom_to_selection());
        if (!row.hovered) return;
        if (ours) hovered = block->op;
        if (block && !old) tooltip(describe(*block));
      },
      height);
  ImGui::Dummy({wide, 0});
  settle_on_rows(height);
  ImGui::EndChild();
  ImGui::PopStyleVar();
  s.hovered = s.tinted = hovered;
  paint_overview(session, ui, source, {corner.x + size.x - strip + px(1), corner.y}, {corner.x + size.x, corner.y + size.y});
}

std::string why_no_source_step(const Session& session) {
  const auto subject = KernelState::subject_of(session.content());
  if (!subject) return "there is no schedule yet";
  if (!KernelState::is_current(session.kernel().text(), subject) || !session.kernel().text().answer()->emission)
    return "there is no CUDA text of it yet";
  const OpId op = session.selection().primary();
  if (!op.valid()) return "no op is selected";
  return blocks_of(session.kernel().text().answer()->source, op).empty() ? "the text has no line of this op" : "";
}

void step_source(const Session& session, UiState& ui, int direction) {
  const SourceModel& source = session.kernel().text().answer()->source;
  const std::vector<std::size_t> blocks = blocks_of(source, session.selection().primary());
  CudaTabState& s = ui.of<CudaTabState>();
  std::size_t at = direction > 0 ? 0 : blocks.size() - 1;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const SourceBlock& block = source.blocks[blocks[i]];
    if (s.marked && *s.marked >= block.first && *s.marked <= block.last)
      at = (i + blocks.size() + static_cast<std::size_t>(direction + static_cast<int>(blocks.size()))) % blocks.size();
  }
  s.go_to = s.marked = source.blocks[blocks[at]].first;
  s.steps = false;
  ui.commands.push(show_tab(BottomTab::Cuda));
}

}  // namespace heddle::app
