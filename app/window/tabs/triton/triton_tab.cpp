// The Triton tab: the three schedules of the open kernel, the price of the difference, and what its options would give.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/session/source_document.h"
#include "app/session/triton_state.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/header_model.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/triton/triton_model.h"
#include "app/window/tabs/triton/triton_return.h"

namespace heddle::app {
namespace {

/// What the tab keeps between frames.
struct TritonTabState {
  std::uint64_t revision = 0;  ///< of the session that `model` was made from; 0: none yet
  std::shared_ptr<TritonModel> model;
  std::vector<float> ends;  ///< of rows and sentences as they were last drawn, from the top, in pixels
};

constexpr const char* kTritonPurpose =
    "Open a Triton kernel (a .ttgir text, a log of MLIR_ENABLE_DUMP=1, a folder of Triton's cache or kernel dump): its own schedule, the "
    "best one that Triton's passes could build, and the best one the machine could run, beside each other with the price of the "
    "difference.";

constexpr float kLow = 230;  ///< less does not show table, prices and what comes next

void draw_head(const Session& session, const TritonModel& model, UiState& ui) {
  const float height = px(26), gap = px(6);
  const char* work = model.running ? "Cancel" : "Work out again";
  const float buttons =
      button_width(work) + button_width("Copy") + button_width("Copy as Markdown") + button_width("Copy as command") + 4 * gap;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const bool beside = width - buttons > px(260);
  const float room = beside ? width - buttons - px(10) : width;
  const std::string text = drawable(pretty(model.title));
  const std::string doing = model.running ? model.doing : model.cancelled ? "cancelled" : std::string();
  const float for_doing = doing.empty() ? 0 : text_size(fonts().small, doing).x + px(16);
  const std::string shown = fitted(fonts().bold, text, std::max(room - for_doing, px(60)));
  paint_text(fonts().bold, ImVec2(at.x, at.y + px(4)), theme().text, shown);
  if (!doing.empty())
    paint_text(fonts().small, ImVec2(at.x + text_size(fonts().bold, shown).x + px(16), at.y + px(5)), theme().warning, doing);
  ImGui::Dummy(ImVec2(room, height));
  if (probe::on()) probe::last_item("triton/headline");
  if (ImGui::IsItemHovered() && !model.headline.empty()) tooltip(drawable(pretty(model.headline)));
  if (beside) ImGui::SetCursorScreenPos(ImVec2(at.x + width - buttons + gap, at.y));
  if (model.running) {
    if (button("triton/cancel", work, ButtonKind::Plain, {}, {0, height})) ui.commands.push(CancelTriton{});
  } else if (button("triton/again", work, ButtonKind::Plain, session.content().problem ? "" : "there is nothing to compare", {0, height})) {
    ui.commands.push(CompareTriton{});
  }
  ImGui::SameLine(0, gap);
  const std::string nothing = model.rows.empty() ? "there is nothing to copy yet" : "";
  if (button("triton/copy", "Copy", ButtonKind::Plain, nothing, {0, height})) ui.commands.push(copy_text(triton_tsv(model)));
  if (ImGui::IsItemHovered() && nothing.empty()) tooltip("tables and sentences, tab-separated");
  ImGui::SameLine(0, gap);
  if (button("triton/markdown", "Copy as Markdown", ButtonKind::Plain, nothing, {0, height}))
    if (const TritonState::Known* known = session.triton().of(session.content()); known && known->comparison)
      ui.commands.push(copy_text(triton::comparison_markdown(*known->comparison)));
  if (ImGui::IsItemHovered() && nothing.empty()) tooltip("for a pull request, as heddle compare --markdown prints it");
  ImGui::SameLine(0, gap);
  copy_command_button("triton/command", session, ui, triton_command(session), {0, height});
}

/// As wide as its widest cell.
template <class Row>
std::vector<Column<Row>> measured(std::vector<Column<Row>> columns, const std::vector<Row>& rows) {
  for (Column<Row>& column : columns) {
    float width = text_size(fonts().small_bold, column.title).x + px(12);  // and the mark of the column that rows are sorted by
    for (const Row& row : rows) width = std::max(width, text_size(column.number ? fonts().mono_small : fonts().body, column.text(row)).x);
    column = column.wide(width + px(8), ImGuiTableColumnFlags_WidthFixed);
  }
  return columns;
}

template <class Row>
float width_of(const std::vector<Column<Row>>& columns) {
  float width = px(8);
  for (const Column<Row>& column : columns) width += column.width + 2 * ImGui::GetStyle().CellPadding.x;
  return width;
}

/// Where the room is short, what matters least is left out.
template <class Row>
void leave_out(std::vector<Column<Row>>& columns, std::initializer_list<const char*> least_first) {
  for (const char* title : least_first)
    if (width_of(columns) > ImGui::GetContentRegionAvail().x)
      std::erase_if(columns, [&](const Column<Row>& c) { return c.title == title; });
}

constexpr ImGuiTableFlags kTable = ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoSavedSettings |
                                   ImGuiTableFlags_NoHostExtendX | ImGuiTableFlags_PadOuterX;

void draw_rows(const Session& session, TritonModel& model, UiState& ui) {
  std::vector<Column<TritonRow>> columns = measured(triton_columns(model.tensor), model.rows);
  // Why there is none of them takes what the numbers leave, and is cut.
  Column<TritonRow>& standing = column_of(columns, "standing");
  const float whole = standing.width;
  standing.width = std::min(whole, px(140));
  leave_out(columns, {"II", "stages", "against the best", "tensor col", "groups"});
  Column<TritonRow>& last = column_of(columns, "standing");
  last.width = std::clamp(last.width + ImGui::GetContentRegionAvail().x - width_of(columns), last.width, whole);
  last.draw = [](const TritonRow& row) {
    const std::string shown = fitted(fonts().body, drawable(row.standing), std::max(ImGui::GetContentRegionAvail().x, px(40)));
    colored_text(row.there || row.tone == Tone::Busy ? tone_ink(row.tone) : theme().warning, shown);
    if (shown != drawable(row.standing) && ImGui::IsItemHovered()) tooltip(drawable(row.standing));
  };
  TableLook look;
  look.flags = kTable;
  draw_sorted_table("triton_three", look, columns, model.rows, [&](const TritonRow& row, std::size_t i) {
    const bool pressed = table_row(fmt::format("triton/row/{}", i), row.shown);
    if (pressed && !row.shown) ui.commands.push(ShowSide{row.whose});
    if (ImGui::IsItemHovered()) {
      const std::string reason = session.sources().why_no_side(row.whose);
      tooltip(row.about + (reason.empty() ? "\nclick: show it in the chart" : "\n" + drawable(reason)));
    }
    ImGui::SameLine(0, 0);
    cell_text(drawable(row.name), false, row.there ? theme().text : theme().dim);
  });
}

void draw_options(TritonModel& model) {
  std::vector<Column<TritonOption>> columns = measured(option_columns(), model.options);
  const auto ink = [](const TritonOption& o) {
    return !o.fits ? theme().faint : o.now ? theme().text : o.better ? theme().good : theme().dim;
  };
  for (Column<TritonOption>& column : columns) column.ink = ink;
  // The remark takes what is left, and is cut.
  Column<TritonOption>& remark = column_of(columns, "remark");
  const float excess = width_of(columns) - ImGui::GetContentRegionAvail().x;
  if (excess > 0) remark.width = std::max(remark.width - excess, px(60));
  remark.draw = [ink](const TritonOption& o) {
    const std::string shown = fitted(fonts().body, drawable(o.remark), std::max(ImGui::GetContentRegionAvail().x, px(40)));
    colored_text(ink(o), shown);
    if (shown != o.remark && ImGui::IsItemHovered()) tooltip(drawable(o.remark));
  };
  TableLook look;
  look.flags = kTable;
  draw_sorted_table("triton_options", look, columns, model.options,
                    [&](const TritonOption& option, std::size_t) { cell_text(option.stages, true, ink(option)); });
}

}  // namespace

void draw_triton_tab(const Session& session, const Models&, UiState& ui) {
  if (!session.content().triton()) {
    wrapped_text(fonts().body, theme().text, "Is Triton's schedule of your kernel a good one?");
    wrapped_text(fonts().small, theme().dim, kTritonPurpose);
    if (button("triton/open", "Open a Triton kernel ...", ButtonKind::Plain)) ui.commands.push(show_open_dialog());
    return;
  }
  TritonTabState& state = ui.of<TritonTabState>();
  // While it runs, its clock does too.
  if (state.revision != session.revision() || session.triton().active() || !state.model)
    state = {session.revision(), std::make_shared<TritonModel>(build_triton_tab(session)), std::move(state.ends)};
  TritonModel& model = *state.model;
  draw_head(session, model, ui);
  const TritonState::Known* known = session.triton().of(session.content());
  const triton::Comparison* comparison = known && !known->running ? known->comparison.get() : nullptr;
  // Where the window is low what is to be done with it stands first; its sentences follow below the table.
  const bool returns = session.content().problem != nullptr, low = returns && ImGui::GetContentRegionAvail().y < px(kLow);
  if (low) draw_triton_return_line(session, comparison, ui);
  // What is seen of it ends with a whole row or sentence.
  const float room = ImGui::GetContentRegionAvail().y;
  float height = 0;
  for (const float end : state.ends)
    if (end <= room) height = end;
  if (state.ends.empty() || state.ends.back() <= room || height <= 0) height = room;
  state.ends.clear();
  ImGui::BeginChild("triton", ImVec2(0, height));
  const auto ended = [&] { state.ends.push_back(ImGui::GetCursorPosY()); };
  const auto sentences = [&](const std::vector<std::string>& all, Color ink) {
    for (const std::string& sentence : all) {
      wrapped_text(fonts().small, ink, drawable(pretty(sentence)));
      ended();
    }
  };
  const auto rows_ended = [&](std::size_t rows) {
    const float row = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
    const float bottom = ImGui::GetCursorPosY() - ImGui::GetStyle().ItemSpacing.y;
    for (std::size_t i = rows; i-- > 0;) state.ends.push_back(bottom - row * static_cast<float>(i));
  };
  sentences(model.faults, theme().warning);
  if (!model.rows.empty()) {
    draw_rows(session, model, ui);
    rows_ended(model.rows.size());
  }
  ImGui::Dummy(ImVec2(0, px(2)));
  sentences(model.prices, theme().text);
  if (returns) draw_triton_return(session, comparison, low, ui, ended);
  if (!model.options.empty()) {
    section("WHAT OTHER OPTIONS WOULD GIVE", "by the model");
    draw_options(model);
    rows_ended(model.options.size());
    if (!model.best_option.empty()) sentences({model.best_option}, theme().text);
  }
  if (!model.reasons.empty()) section("WHY NOT BETTER");
  sentences(model.reasons, theme().text);
  ImGui::EndChild();
}

}  // namespace heddle::app
