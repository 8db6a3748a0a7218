// The Layout tab: a tile of the kernel, or of a text by itself, as a grid; the phases in which an instruction moves it; what else could be
// chosen. Everything that takes longer than a frame is worked out in the background and compared with what is open before it is shown.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/command/arguments.h"
#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/window/kit/actions.h"
#include "app/window/kit/choice_list.h"
#include "app/window/kit/focus.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/layout/layout_views_drawn.h"
#include "core/base/text_style.h"
#include "core/chart/gantt_facts.h"

namespace heddle::app {
namespace {

constexpr float kRoomBeside = 720, kRoomForBoth = 330, kRoomForTable = 520;  // pixels at scale 1
constexpr std::array kColours{LayoutColour::Warp, LayoutColour::Lane, LayoutColour::Register, LayoutColour::Bank, LayoutColour::Phase};
constexpr std::array kTypes{DType::F32, DType::Bf16, DType::F16, DType::F8e4m3, DType::F8e5m2, DType::I32, DType::I8, DType::I4};

void beside_or_below(float width, float gap = 4) {
  ImGui::SameLine(0, px(gap));
  if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

void cut_line(ImFont* font, Color color, const std::string& text, float room) {
  const FontScope scope(font);
  const std::string shown = fitted(font, text, std::max(room, px(30)));
  colored_text(color, shown);
  if (shown != text && ImGui::IsItemHovered()) tooltip(text);
}

// ---- what is asked ---------------------------------------------------------------------------------------------------

LayoutChoices choices_of(const Content& content, const ScheduleEntry* entry) {
  if (entry) return entry->schedule.layouts;  // none: all by default, whatever is in force now
  return content.problem->layouts ? content.problem->layouts->choices : LayoutChoices{};
}

LayoutAsk ask_kernel(const Content& content, const ScheduleEntry* entry, const LayoutTabState& s) {
  LayoutAsk ask;
  ask.spec = with(content.spec(), choices_of(content, entry));
  ask.problem = content.problem;
  ask.value = s.value;
  ask.op = s.op;
  return ask;
}

LayoutAsk ask_text(const Content& content, const LayoutTabState& s) {
  LayoutAsk ask;
  ask.spec.machine = content.machine;
  LayoutQuestion question;
  question.text = s.text;
  std::string fault;
  question.shape = read_shape(s.shape, fault);
  question.dtype = s.dtype;
  question.access = s.access;
  ask.text = std::move(question);
  return ask;
}

/// The alternative that was chosen, in the kernel; by itself where the kernel cannot have it.
std::optional<LayoutAsk> ask_alternative(const Content& content, const ScheduleEntry* entry, const LayoutTabState& s) {
  const LayoutView* now = s.a.view();
  if (!now) return std::nullopt;
  const LayoutAlternative* found = find_alternative(*now, s);
  if (!found) return std::nullopt;
  LayoutAsk ask = ask_kernel(content, entry, s);
  ask.spec.choices.layouts[use_of(*now, *found).value] = found->layout;
  ask.spec.choices.instructions[s.op] = found->instruction;
  LayoutQuestion alone;
  alone.text = found->layout;
  alone.shape = {now->rows, now->columns};
  alone.dtype = now->dtype;
  alone.access = found->instruction.name;
  alone.with = now->registers_text;
  ask.text = std::move(alone);
  return ask;
}

void take(LayoutScene& scene, LayoutViews::Answer answer, std::string title) {
  scene.title = std::move(title);
  if (scene.answer == answer) return;
  scene.answer = std::move(answer);
  scene.blocks.reset();
}

/// The quick view first; alternatives resolve the kernel again and again, and come later.
void want_kernel(const Content& content, const ScheduleEntry* entry, LayoutTabState& s) {
  LayoutAsk quick = ask_kernel(content, entry, s), full = quick;
  full.alternatives = true;
  LayoutViews::Answer answer;
  if (s.op.empty()) {
    answer = s.views.want(quick);
  } else {
    const LayoutViews::Answer first = s.views.want(quick);
    const LayoutViews::Answer whole = s.views.want(full);
    answer = whole && whole->view ? whole : first;
  }
  take(s.a, answer, entry && s.beside == LayoutBeside::ScheduleB ? "A: " + entry->name : std::string("taken"));
  switch (s.beside) {
    case LayoutBeside::Nothing: take(s.b, nullptr, {}); break;
    case LayoutBeside::Alternative: {
      const auto ask = ask_alternative(content, entry, s);
      take(s.b, ask ? s.views.want(*ask) : nullptr, s.alternative + ", " + s.alternative_instruction);
      break;
    }
    case LayoutBeside::ScheduleB: {
      const ScheduleEntry* b = content.baseline_entry();
      take(s.b, b ? s.views.want(ask_kernel(content, b, s)) : nullptr, b ? "B: " + b->name : std::string());
      break;
    }
  }
}

void want_text(const Content& content, LayoutTabState& s) {
  take(s.b, nullptr, {});
  if (s.text[0] == '\0') return take(s.a, nullptr, {});
  // While somebody types the picture of a moment ago stays.
  LayoutViews::Answer answer = s.views.want(ask_text(content, s));
  if (!answer && s.a.answer && s.a.answer->of.text) answer = s.a.answer;
  take(s.a, answer, "by itself");
}

/// What the kernel has, and which of it is looked at: what was chosen here, or the op that was selected elsewhere.
void refresh(const Session& session, LayoutTabState& s) {
  const Content& content = session.content();
  if (s.rows_of != content.problem) {
    s.rows_of = content.problem;
    s.rows = content.problem && content.problem->layouts ? layout_list(*content.kernel, *content.problem) : std::vector<LayoutListRow>();
    s.followed = {};
    s.pick.reset();
    s.cursor.reset();
    if (!find_row(s.rows, s.value, s.op)) s.value.clear(), s.op.clear();
  }
  const OpId op = session.selection().primary();
  if (content.problem && op != s.followed) {
    s.followed = op;
    if (op.valid() && op.index() < content.problem->ops.size()) {
      const std::string& name = content.problem->op(op).name;
      if (const auto row = find_row(s.rows, {}, name); row && name != s.op) show_layout_row(s, *row);
      if (find_row(s.rows, {}, name)) s.own = false;
    }
  }
  if (!s.value.empty() || !s.op.empty() || s.rows.empty()) return;
  // First of all an op whose lanes meet, then one that threads do.
  const auto by_threads = [&](const LayoutListRow& row) {
    const OpPlan* plan = row.op.empty() ? nullptr : content.problem->layouts->find(row.op);
    return plan && std::any_of(plan->accesses.begin(), plan->accesses.end(), [](const OpAccess& access) { return access.held != nullptr; });
  };
  const auto rank = [&](const LayoutListRow& row) {
    return !row.accessed || !row.cost.known ? 0 : (by_threads(row) ? 1 : 0) + row.cost.ways;
  };
  const auto worst =
      std::max_element(s.rows.begin(), s.rows.end(), [&](const LayoutListRow& a, const LayoutListRow& b) { return rank(a) < rank(b); });
  show_layout_row(s, static_cast<std::size_t>(worst - s.rows.begin()));
}

// ---- what stands above the grid --------------------------------------------------------------------------------------

/// The op, where it is one of the loop: the selection knows those.
OpId loop_op(const Content& content, const std::string& name) {
  return content.problem && !name.empty() ? content.problem->find_op(name) : OpId();
}

void draw_list(const Session& session, UiState& ui, LayoutTabState& s, float width) {
  const auto shown = find_row(s.rows, s.value, s.op);
  std::vector<ChoiceRow> rows;
  for (std::size_t i = 0; i < s.rows.size(); ++i) {
    const LayoutListRow& row = s.rows[i];
    std::string about = row.shape + " in " + row.space + (row.layout.empty() ? "" : ", " + row.layout);
    if (!row.unknown.empty()) about += "\n" + row.unknown;
    if (row.accessed) about += "\n" + access_words(row.instruction, row.cost);
    rows.push_back({list_label(row), row.value + (row.op.empty() ? "" : "/" + row.op), about, shown == i});
  }
  const std::string label = shown ? list_label(s.rows[*shown]) : s.rows.empty() ? "no layout is known" : s.value;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(8), std::max(0.0f, (px(22) - text_size(fonts().body, "X").y) / 2)));
  const auto chosen = choose("layout/value", "layout/value/", fitted(fonts().body, label, width - px(40)), rows, width);
  ImGui::PopStyleVar();
  if (!chosen) return;
  show_layout_row(s, *chosen);
  s.own = false;
  // What is looked at is what is selected, in the chart and in the kernel's text too.
  if (const OpId op = loop_op(session.content(), s.op); op.valid() && session.selection().primary() != op) {
    s.followed = op;
    ui.commands.push(SelectOp{op});
  }
}

void draw_links(const Session& session, UiState& ui, LayoutTabState& s) {
  const Content& content = session.content();
  const OpId op = s.own ? OpId() : loop_op(content, s.op);
  const std::string no_op = s.own ? "a text by itself has no op" : op.valid() ? "" : "no op of the loop is looked at";
  beside_or_below(piece_width("In chart"), 10);
  if (piece("layout/chart", "In chart", false, "selects the op and brings its bars into view", no_op)) {
    s.followed = op;
    ui.commands.push(SelectOp{op});
    ui.commands.push(zoom_to_selection());
  }
  beside_or_below(piece_width("In CUDA"));
  if (piece("layout/cuda", "In CUDA", false, "the lines of the op in the kernel's text", no_op)) {
    s.followed = op;
    ui.commands.push(SelectOp{op});
    ui.commands.push(show_tab(BottomTab::Cuda));
  }
  beside_or_below(piece_width("Save ..."));
  const std::string no_view = s.a.view() ? "" : "there is no layout to save";
  if (piece("layout/save", "Save ...", false, "as SVG, PNG, CSV or JSON: the ending of the file's name says which", no_view)) {
    ui.path_prompt.ask = Prompt::LayoutPath;
    ui.path_prompt.just_opened = true;
  }
  beside_or_below(piece_width("Copy as command"));
  const std::string line = layout_line(session, s);
  if (piece("layout/command", "Copy as command", false, line, line.empty() ? why_no_line(session) : "")) ui.commands.push(copy_text(line));
}

void draw_bar(const Session& session, UiState& ui, LayoutTabState& s) {
  const Content& content = session.content();
  const float whole = ImGui::GetContentRegionAvail().x;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(4), px(4)));
  if (!s.rows.empty()) {
    draw_list(session, ui, s, std::clamp(whole * 0.34f, px(180), px(340)));
    ImGui::SameLine(0, px(4));
  }
  if (piece("layout/own", "Text", s.own, "a layout by itself, typed or pasted in the notation of CuTe or Triton")) s.own = !s.own;
  if (!s.own && content.problem) {
    beside_or_below(piece_width("Choose"));
    if (piece("layout/choosing", "Choose", s.choosing, "layouts and instructions, chosen by the solver together with the schedule"))
      s.choosing = !s.choosing;
  }
  beside_or_below(px(150), 10);
  caption("colour");
  const LayoutView* view = s.a.view();
  const LayoutColour now = view ? usable_colour(*view, s.colour) : s.colour;
  for (const LayoutColour colour : kColours) {
    const std::string word = to_string(colour);
    beside_or_below(piece_width(word));
    if (piece("layout/colour/" + word, word, now == colour, "cells are coloured and numbered by " + word + "  " + keys_of("layout_colour"),
              view ? why_no_colour(*view, colour) : ""))
      s.colour = colour;
  }
  beside_or_below(px(150), 10);
  caption("a click shows a");
  for (const bool whole_register : {false, true}) {
    const char* word = whole_register ? "register" : "lane";
    beside_or_below(piece_width(word));
    if (piece(std::string("layout/click/") + word, word, s.whole_register == whole_register,
              whole_register ? "all cells that lie in the register, of all lanes" : "all cells that the lane holds") &&
        s.whole_register != whole_register) {
      s.whole_register = whole_register;
      s.pick.reset();
    }
  }
  if (!s.own && content.baseline_entry()) {
    beside_or_below(piece_width("B beside A"), 10);
    const bool on = s.beside == LayoutBeside::ScheduleB;
    if (piece("layout/beside_b", "B beside A", on, "the same value as the schedule B has it"))
      s.beside = on ? LayoutBeside::Nothing : LayoutBeside::ScheduleB;
  }
  if (s.beside == LayoutBeside::Alternative && !s.own) {
    beside_or_below(piece_width("Taken alone"), 10);
    if (piece("layout/alone", "Taken alone", false, "the alternative goes away again")) s.beside = LayoutBeside::Nothing;
  }
  draw_links(session, ui, s);
  ImGui::PopStyleVar();
}

/// Text, type, shape and access of a layout by itself, and what is wrong with it.
void draw_own(const Session& session, LayoutTabState& s) {
  const Content& content = session.content();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(4), px(4)));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(8), px(2)));
  const float whole = ImGui::GetContentRegionAvail().x, pickers = px(90 + 90 + 180 + 12);
  const float field = whole > pickers + px(200) ? whole - pickers : whole;
  input_field("layout/text", "Sw<3,3,3> o (64,64):(64,1), panels 128, {register = [[0, 1]], lane = ...}", s.text, sizeof s.text, field);
  beside_or_below(px(90));
  input_field("layout/shape", "shape", s.shape, sizeof s.shape, px(90));
  if (ImGui::IsItemHovered()) tooltip("rows and columns, 64 x 128; empty: as the text says");
  beside_or_below(px(90));
  std::vector<ChoiceRow> types;
  for (const DType type : kTypes)
    types.push_back({to_string(type), to_string(type), fmt::format("{} bits", bits_of(type)), type == s.dtype});
  if (const auto chosen = choose("layout/type", "layout/type/", to_string(s.dtype), types, px(90))) s.dtype = kTypes[*chosen];
  beside_or_below(px(180));
  std::vector<ChoiceRow> accesses{{"no access", "none", "the layout alone", s.access.empty()}};
  std::vector<std::string> names{""};
  if (content.machine)
    for (const Instruction& one : content.machine->instructions) {
      const bool shared = one.kind == InstructionKind::SharedLoad || one.kind == InstructionKind::SharedStore ||
                          one.kind == InstructionKind::MatrixLoad || one.kind == InstructionKind::MatrixStore;
      if (!shared) continue;
      names.push_back(one.name);
      accesses.push_back({one.name, one.name, one.ptx, one.name == s.access});
    }
  if (const auto chosen = choose("layout/access", "layout/access/", s.access.empty() ? "no access" : s.access, accesses, px(180)))
    s.access = names[*chosen];
  ImGui::PopStyleVar(2);
  std::string shape_fault;
  read_shape(s.shape, shape_fault);
  int shown = 0;
  const auto say = [&](const std::string& text, const std::string& hint) {
    if (shown >= 2) return;
    cut_line(fonts().small, theme().bad, hint.empty() ? text : text + ": " + hint, ImGui::GetContentRegionAvail().x);
    if (probe::on()) probe::last_item(fmt::format("layout/fault/{}", shown));
    ++shown;
  };
  if (!shape_fault.empty()) say(shape_fault, {});
  if (s.text[0] && s.a.answer && !s.a.view())
    for (const Fault& fault : s.a.answer->error.faults) say(fault.message, fault.hint);
}

// ---- the rest --------------------------------------------------------------------------------------------------------

void draw_absence(const Session& session, const LayoutTabState& s) {
  const Content& content = session.content();
  if (s.own) {
    if (s.text[0] == '\0')
      wrapped_text(
          fonts().body, theme().dim,
          "Type or paste a layout: CuTe's notation for memory, Triton's bases for registers, or a name. With an access its banks are "
          "counted.");
    return;
  }
  if (!content.problem)
    return wrapped_text(fonts().body, theme().dim,
                        "Open a kernel and a machine to see how its tiles lie, or press Text for a layout by itself.");
  if (s.rows.empty())
    return wrapped_text(fonts().body, theme().dim,
                        "Nothing is known of how the tiles of this kernel lie on this machine. Text shows a layout by itself.");
  if (s.a.answer && !s.a.view()) {
    for (const Fault& fault : s.a.answer->error.faults) wrapped_text(fonts().body, theme().text, fault.message);
    return;
  }
  colored_text(theme().dim, "working it out");
}

void draw_one(const char* name, LayoutScene& scene, LayoutTabState& s, ImVec2 size, bool with_title) {
  const float width = size.x;
  float height = size.y;
  ImGui::BeginGroup();
  if (with_title) {
    cut_line(fonts().small_bold, theme().heading, scene.title, width);
    const LayoutView* view = scene.view();
    cut_line(fonts().small, view && view->cost.ways > 1 ? theme().bad : theme().dim,
             !view
                 ? (scene.answer ? scene.answer->error.faults.empty() ? "" : scene.answer->error.faults.front().message : "working it out")
             : view->access ? access_words(view->instruction, view->cost)
                            : view->why,
             width);
    height -= 2 * ImGui::GetTextLineHeightWithSpacing();
  }
  if (scene.view())
    draw_layout_grid(name, scene, s, width, height);
  else
    ImGui::Dummy({width, std::max(height, px(20))});
  ImGui::EndGroup();
}

/// One grid, or two of the same elements.
void draw_grids(LayoutTabState& s, ImVec2 room) {
  const float foot = px(20);
  const bool pair = s.beside != LayoutBeside::Nothing && !s.own;
  const float height = std::max(room.y - foot, px(24)), gap = px(14);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(4), px(2)));
  if (pair) {
    const float half = std::floor((room.x - gap) / 2);
    draw_one("layout/grid/a", s.a, s, {half, height}, true);
    ImGui::SameLine(0, gap);
    draw_one("layout/grid/b", s.b, s, {half, height}, true);
  } else {
    draw_one("layout/grid/a", s.a, s, {room.x, height}, false);
  }
  const LayoutView& view = *s.a.view();
  std::string line = "move the mouse over a cell, click to choose its lane or register";
  if (s.cursor && s.cursor->row < view.rows && s.cursor->column < view.columns) {
    line = cell_text(view, s.cursor->row, s.cursor->column);
    const LayoutView* b = pair ? s.b.view() : nullptr;
    if (b && s.cursor->row < b->rows && s.cursor->column < b->columns) {
      const LayoutCell& other = b->at(s.cursor->row, s.cursor->column);
      if (other.byte >= 0) line += fmt::format(" | beside: byte {}, bank {}", other.byte, other.bank);
    }
  }
  if (s.pick) line += " | " + pick_text(*s.pick, view);
  if (room.y >= height + foot) {
    cut_line(fonts().small, theme().text, line, room.x);
    if (probe::on()) probe::last_item("layout/facts");
  }
  ImGui::PopStyleVar();
}

/// Whose banks are shown: those of what stands beside, where something does.
const LayoutView* banks_of(const LayoutTabState& s) {
  return s.beside != LayoutBeside::Nothing && s.b.view() && !s.own ? s.b.view() : s.a.view();
}

bool has_bounds(const LayoutView& view) { return view.bounds.size() == view.alternatives.size() && !view.alternatives.empty(); }

void draw_part_pieces(LayoutTabState& s, LayoutPart shown, bool table) {
  if (piece("layout/part/banks", "Banks", shown == LayoutPart::Banks, "which lanes meet in which bank")) s.part = LayoutPart::Banks;
  if (!table) return;
  ImGui::SameLine(0, px(4));
  if (piece("layout/part/alternatives", "Alternatives", shown == LayoutPart::Alternatives, "what else could be chosen"))
    s.part = LayoutPart::Alternatives;
}

/// Banks and alternatives; in little height the one that was chosen, by pieces above them where those are not there already.
void draw_side(const Session& session, UiState& ui, LayoutTabState& s, ImVec2 room, bool with_pieces) {
  const LayoutView& view = *s.a.view();
  const LayoutView* of_banks = banks_of(s);
  const bool table = !s.own && !s.op.empty();
  const bool both = table && room.y >= px(kRoomForBoth);
  const bool with_bounds = has_bounds(view);
  if (with_pieces && table && !both) draw_part_pieces(s, s.part == LayoutPart::Alternatives ? s.part : LayoutPart::Banks, true);
  if (!table || both || s.part != LayoutPart::Alternatives) {
    const float height = both ? std::floor(std::min(layout_banks_height(*of_banks, room.x), room.y * 0.55f)) : 0;
    ImGui::BeginChild("banks", {0, height}, false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    draw_layout_banks(*of_banks, s);
    ImGui::EndChild();
  }
  if (both) section("ALTERNATIVES", with_bounds || view.alternatives.empty() ? "" : "least II is being worked out");
  if (both || (table && s.part == LayoutPart::Alternatives)) draw_layout_alternatives(session, ui, view, with_bounds, s);
}

void draw_rest(const Session& session, UiState& ui, LayoutTabState& s) {
  const LayoutView* view = s.a.view();
  const ImVec2 whole = ImGui::GetContentRegionAvail();
  if (whole.y > px(150)) {
    const std::string head = (view->title.empty() ? std::string() : view->title + " · ") + head_text(*view);
    cut_line(fonts().small, view->cost.ways > 1 ? theme().bad : theme().text, head, whole.x);
    if (probe::on()) probe::last_item("layout/head");
  }
  const bool narrow = whole.x < px(kRoomBeside);
  if (narrow) {
    if (piece("layout/part/grid", "Grid", s.part == LayoutPart::Grid, "the tile, cell by cell")) s.part = LayoutPart::Grid;
    ImGui::SameLine(0, px(4));
    draw_part_pieces(s, s.part, !s.own && !s.op.empty());
    if (s.part == LayoutPart::Grid) return draw_grids(s, ImGui::GetContentRegionAvail());
    return draw_side(session, ui, s, ImGui::GetContentRegionAvail(), false);
  }
  ImVec2 room = ImGui::GetContentRegionAvail();
  // In a high tab the table has the whole width, below both.
  const bool below = room.y >= px(kRoomForTable) && !s.own && !s.op.empty();
  const float high = below ? std::floor(room.y * 0.6f) : room.y;
  const bool pair = s.beside != LayoutBeside::Nothing && !s.own;
  const float side = std::floor(std::clamp(room.x * (pair ? 0.36f : 0.44f), px(340), px(760))), gap = px(14);
  ImGui::BeginChild("grids", {room.x - side - gap, high}, false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  draw_grids(s, ImGui::GetContentRegionAvail());
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("side", {side, high}, false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  if (below)
    draw_layout_banks(*banks_of(s), s);
  else
    draw_side(session, ui, s, ImGui::GetContentRegionAvail(), true);
  ImGui::EndChild();
  if (!below) return;
  section("ALTERNATIVES", has_bounds(*view) || view->alternatives.empty() ? "" : "least II is being worked out");
  draw_layout_alternatives(session, ui, *view, has_bounds(*view), s);
}

}  // namespace

void show_layout_row(LayoutTabState& s, std::size_t row) {
  s.value = s.rows[row].value;
  s.op = s.rows[row].op;
  s.pick.reset();
  s.step.reset();
  s.cursor.reset();
  s.grid.fitted = true;
  if (s.beside == LayoutBeside::Alternative) s.beside = LayoutBeside::Nothing;
}

std::string layout_line(const Session& session, const LayoutTabState& s) {
  if (s.own) {
    std::vector<std::string> words{"heddle", "layout", s.text, "--type", to_string(s.dtype)};
    std::string fault;
    std::vector<std::string> extents;
    for (const std::int64_t extent : read_shape(s.shape, fault)) extents.push_back(std::to_string(extent));
    if (!extents.empty()) words.insert(words.end(), {"--shape", fmt::format("{}", fmt::join(extents, ","))});
    if (!s.access.empty()) words.insert(words.end(), {"--access", s.access});
    return s.text[0] ? shell_words(words) : std::string();
  }
  std::vector<std::string> words{"--value", s.value};
  if (!s.op.empty()) words.insert(words.end(), {"--op", s.op});
  if (s.colour != LayoutColour::Lane) words.insert(words.end(), {"--colour", to_string(s.colour)});
  return s.value.empty() ? std::string() : command_line(session, "layout", words);
}

std::string layout_stem(const LayoutTabState& s) { return s.own || s.value.empty() ? "layout" : s.value; }

SaveLayout save_layout(const LayoutTabState& s, std::string path) {
  const auto shared = [](const LayoutScene& scene) {
    // The view lives as long as its answer.
    return scene.view() ? std::shared_ptr<const LayoutView>(scene.answer, scene.view()) : nullptr;
  };
  return {std::move(path), shared(s.a), s.beside != LayoutBeside::Nothing && !s.own ? shared(s.b) : nullptr, to_string(s.colour)};
}

void draw_layout_tab(const Session& session, const Models&, UiState& ui) {
  LayoutTabState& s = ui.of<LayoutTabState>();
  s.hears_keys = ui.maximized;
  // Who comes here from elsewhere sees the op that is selected.
  if (std::exchange(s.drawn, ImGui::GetFrameCount()) + 1 < ImGui::GetFrameCount()) s.followed = {};
  s.views.begin_frame();
  refresh(session, s);
  if (!s.own && !session.content().baseline_entry() && s.beside == LayoutBeside::ScheduleB) s.beside = LayoutBeside::Nothing;
  if (s.own)
    want_text(session.content(), s);
  else if (session.content().problem && !s.rows.empty())
    want_kernel(session.content(), session.content().entry(), s);
  else
    take(s.a, nullptr, {});
  draw_bar(session, ui, s);
  if (s.own)
    draw_own(session, s);
  else
    draw_layout_choices(session, ui);
  if (s.choosing && !s.own && session.content().problem)
    draw_layout_choosing(session, ui);
  else if (s.a.view())
    draw_rest(session, ui, s);
  else
    draw_absence(session, s);
  handle_layout_keys(s, ui.chart.requested);
  s.views.end_frame();
}

}  // namespace heddle::app
