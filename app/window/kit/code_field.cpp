#include "app/window/kit/code_field.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/platform/imgui_compat.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMostOffers = 9;  ///< in view at once

std::size_t line_start(const std::string& text, std::size_t at) {
  const std::size_t newline = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return newline == std::string::npos ? 0 : newline + 1;
}

void replace_range(ImGuiInputTextCallbackData& data, std::size_t begin, std::size_t end, const std::string& with) {
  data.DeleteChars(static_cast<int>(begin), static_cast<int>(end - begin));
  data.InsertChars(static_cast<int>(begin), with.data(), with.data() + with.size());
  data.CursorPos = data.SelectionStart = data.SelectionEnd = static_cast<int>(begin + with.size());
}

void accept(ImGuiInputTextCallbackData& data, CodeField& field) {
  const Completion& item = field.offers.items[std::min(field.chosen, field.offers.items.size() - 1)];
  if (field.offers.end <= static_cast<std::size_t>(data.BufTextLen)) replace_range(data, field.offers.begin, field.offers.end, item.insert);
  field.offering = false;
}

/// A new line begins where the one before it begins, deeper behind an opening bracket.
void indent(ImGuiInputTextCallbackData& data) {
  const std::string text(data.Buf, static_cast<std::size_t>(data.BufTextLen));
  const auto caret = static_cast<std::size_t>(data.CursorPos);
  const std::size_t begin = line_start(text, caret - 1);
  std::size_t blanks = 0;
  while (begin + blanks < caret - 1 && text[begin + blanks] == ' ') ++blanks;
  const std::size_t last = text.find_last_not_of(" \n", caret - 1);
  if (last != std::string::npos && last >= begin && (text[last] == '{' || text[last] == '[')) blanks += 2;
  const std::string spaces(blanks, ' ');
  data.InsertChars(data.CursorPos, spaces.data(), spaces.data() + spaces.size());
}

/// Text that was changed elsewhere; the caret goes to the end of what differs.
void take_over(ImGuiInputTextCallbackData& data, const std::string& next) {
  const std::string old(data.Buf, static_cast<std::size_t>(data.BufTextLen));
  std::size_t front = 0, back = 0;
  while (front < old.size() && front < next.size() && old[front] == next[front]) ++front;
  while (back < old.size() - front && back < next.size() - front && old[old.size() - 1 - back] == next[next.size() - 1 - back]) ++back;
  replace_range(data, front, old.size() - back, next.substr(front, next.size() - back - front));
}

int on_event(ImGuiInputTextCallbackData* data) {
  CodeField& field = *static_cast<CodeField*>(data->UserData);
  switch (data->EventFlag) {
    case ImGuiInputTextFlags_CallbackResize:
      field.text.resize(static_cast<std::size_t>(data->BufTextLen));
      data->Buf = field.text.data();
      return 0;
    case ImGuiInputTextFlags_CallbackCharFilter:
      if (data->EventChar != '\n' || !field.offering || !field.stepped || field.offers.items.empty()) return 0;
      field.take = true;
      return 1;
    case ImGuiInputTextFlags_CallbackCompletion:
      if (field.offering && !field.offers.items.empty())
        accept(*data, field);
      else
        data->InsertChars(data->CursorPos, "  ");
      field.caret = static_cast<std::size_t>(data->CursorPos);
      return 0;
    default: break;
  }
  // One event a frame: an edit, else "always".
  if (data->EventFlag == ImGuiInputTextFlags_CallbackEdit) {
    if (static_cast<std::size_t>(data->BufTextLen) == field.length + 1 && data->CursorPos > 0 && data->Buf[data->CursorPos - 1] == '\n')
      indent(*data);
    field.caret = static_cast<std::size_t>(data->CursorPos);
    return 0;
  }
  if (field.next) {
    take_over(*data, *field.next);
    field.next.reset();
    field.offering = false;
  }
  if (std::exchange(field.take, false)) accept(*data, field);
  if (field.offering && !field.offers.items.empty()) {
    const bool down = key_pressed(Key::Down, true), up = key_pressed(Key::Up, true);
    if (down || up) {
      data->CursorPos = data->SelectionStart = data->SelectionEnd = static_cast<int>(field.caret);
      const std::size_t count = field.offers.items.size();
      field.chosen = (field.chosen + (down ? 1 : count - 1)) % count;
      field.stepped = true;
    }
  }
  if (field.jump) {
    data->CursorPos = data->SelectionStart = data->SelectionEnd = std::min(static_cast<int>(*field.jump), data->BufTextLen);
    field.jump.reset();
  }
  field.caret = static_cast<std::size_t>(std::max(data->CursorPos, 0));
  return 0;
}

/// Pixels from the begin of a line to a byte of it; letters outside ASCII may be of another width.
float offset_in_line(std::string_view line, std::size_t bytes, float letter) {
  const std::string_view front = line.substr(0, std::min(bytes, line.size()));
  const bool plain = std::all_of(front.begin(), front.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return plain ? letter * static_cast<float>(front.size()) : text_size(fonts().mono_small, front).x;
}

void paint_offers(const CodeField& field, ImVec2 below, float line, ImVec2 low, ImVec2 high) {
  const std::vector<Completion>& items = field.offers.items;
  const std::size_t shown = std::min(items.size(), kMostOffers);
  const std::size_t first = std::min(field.chosen >= shown ? field.chosen - shown + 1 : 0, items.size() - shown);
  ImFont* font = fonts().mono_small;
  float widest = px(80);
  for (std::size_t i = first; i < first + shown; ++i) widest = std::max(widest, text_size(font, items[i].word).x);
  const std::string& about = items[std::min(field.chosen, items.size() - 1)].about;
  const float row = line + px(4), width = std::min(widest + px(20), high.x - low.x);
  const float wrap = px(300);
  const float said = about.empty() ? 0 : std::min(wrap, high.x - low.x) + px(16);
  ImVec2 at(std::clamp(below.x, low.x, std::max(low.x, high.x - width - said)), below.y + px(2));
  const float height = row * static_cast<float>(shown) + px(6);
  if (at.y + height > high.y) at.y = std::max(low.y, below.y - line - height - px(2));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto box = [&](ImVec2 a, ImVec2 b) {
    list.AddRectFilled(a, b, theme().raised, px(4));
    list.AddRect(a, b, theme().border, px(4));
  };
  box(at, {at.x + width, at.y + height});
  for (std::size_t i = 0; i < shown; ++i) {
    const ImVec2 from(at.x + px(3), at.y + px(3) + row * static_cast<float>(i));
    const bool chosen = first + i == field.chosen;
    if (chosen) list.AddRectFilled(from, {at.x + width - px(3), from.y + row}, theme().selected, px(3));
    paint_text(font, {from.x + px(6), from.y + px(2)}, chosen ? theme().text : theme().dim,
               fitted(font, items[first + i].word, width - px(16)));
  }
  if (probe::on()) probe::item("editor/offers", at.x, at.y, at.x + width, at.y + height);
  if (about.empty()) return;
  const ImVec2 note(at.x + width + px(4), at.y);
  const float text_width = std::min(wrap, std::max(px(80), high.x - note.x - px(14)));
  const ImVec2 size = fonts().small->CalcTextSizeA(font_size(fonts().small), 1e9f, text_width, about.c_str());
  box(note, {note.x + text_width + px(14), note.y + size.y + px(10)});
  paint_wrapped(fonts().small, {note.x + px(7), note.y + px(5)}, theme().dim, about, text_width);
}

}  // namespace

void code_field(const char* name, CodeField& field, const CodeLook& look, float height) {
  const Theme& t = theme();
  ImFont* font = fonts().mono_small;
  const FontScope scope(font);
  const float letter = text_size(font, std::string(64, 'm')).x / 64, line = ImGui::GetFontSize();
  std::vector<std::size_t> starts{0};
  for (std::size_t i = 0; i < field.text.size(); ++i)
    if (field.text[i] == '\n') starts.push_back(i + 1);
  std::size_t widest = 0;
  for (std::size_t i = 0; i < starts.size(); ++i)
    widest = std::max(widest, (i + 1 < starts.size() ? starts[i + 1] - 1 : field.text.size()) - starts[i]);
  const float digits = static_cast<float>(std::max<std::size_t>(3, std::to_string(starts.size()).size()));
  const float gutter = std::floor(letter * digits + px(26));
  ImGui::BeginChild(name, {0, height}, false, ImGuiWindowFlags_HorizontalScrollbar);
  const ImVec2 origin = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const ImVec2 size(std::max(room.x - gutter, letter * static_cast<float>(widest + 4)),
                    std::max(room.y, line * static_cast<float>(starts.size() + 1) + px(6)));
  // The field takes keys and mouse and paints what is marked; its letters are painted over it, in colours.
  const std::string before = field.text;
  if ((!field.active || field.read_only) && field.next) field.text = *std::exchange(field.next, std::nullopt);
  ImGui::SetCursorScreenPos({origin.x + gutter, origin.y});
  ImGui::PushStyleColor(ImGuiCol_Text, 0);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
  if (field.jump) ImGui::SetKeyboardFocusHere();
  const std::size_t caret = field.caret;
  field.length = field.text.size();
  field.edited = false;
  // Dear ImGui tells of keys that change a text even where it is read only, and then has no room of its own to insert into.
  const ImGuiInputTextFlags edits = ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_CallbackEdit |
                                    ImGuiInputTextFlags_CallbackCompletion | ImGuiInputTextFlags_CallbackCharFilter;
  ImGui::InputTextMultiline(
      "##text", field.text.data(), field.text.capacity() + 1, size,
      ImGuiInputTextFlags_CallbackAlways | ImGuiInputTextFlags_NoUndoRedo | (field.read_only ? ImGuiInputTextFlags_ReadOnly : edits),
      on_event, &field);
  field.text.resize(std::strlen(field.text.c_str()));
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor(2);
  field.active = ImGui::IsItemActive();
  if (probe::on()) probe::last_item(std::string(name) + "/text");
  if (key_pressed(Key::Escape)) {  // it would take back all that was typed since the keyboard came here
    field.text = before;
    field.offering = false;
  }
  field.edited = field.text != before;
  field.moved = !field.edited && field.caret != caret;
  const ImGuiIO& io = ImGui::GetIO();
  field.undo = field.active && io.KeyCtrl && !io.KeyShift && key_pressed(Key::Z);
  field.redo = field.active && io.KeyCtrl && ((io.KeyShift && key_pressed(Key::Z)) || key_pressed(Key::Y));
  if (field.edited || field.moved) field.stepped = false, field.chosen = 0;

  const float top = ImGui::GetScrollY(), seen = ImGui::GetWindowHeight();
  if (field.show) {
    ImGui::SetScrollY(std::max(0.0f, (static_cast<float>(*field.show) - 3) * line));
    field.show.reset();
  }
  const std::size_t at = std::min(field.caret, field.text.size());
  const std::size_t row = static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), at) - starts.begin()) - 1;
  if (field.active && (field.edited || field.moved)) {
    const float y = line * static_cast<float>(row);
    if (y < top) ImGui::SetScrollY(std::max(0.0f, y - line));
    if (y + 2 * line > top + seen) ImGui::SetScrollY(y + 3 * line - seen);
    const float x = gutter + letter * static_cast<float>(at - starts[std::min(row, starts.size() - 1)]);
    if (x > ImGui::GetScrollX() + ImGui::GetWindowWidth() - 2 * letter) ImGui::SetScrollX(x - ImGui::GetWindowWidth() + 8 * letter);
    if (x - gutter < ImGui::GetScrollX()) ImGui::SetScrollX(std::max(0.0f, x - gutter - 4 * letter));
  }

  ImGui::SetCursorScreenPos(origin);
  ImGui::BeginChild("letters", {gutter + size.x, size.y}, false, ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoBackground);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto first = static_cast<std::size_t>(std::max(0.0f, std::floor(top / line)));
  const std::size_t end = std::min(starts.size(), first + static_cast<std::size_t>(seen / line) + 2);
  std::size_t piece = 0;
  for (std::size_t i = first; i < end; ++i) {
    if (starts[i] > field.text.size()) break;  // lines went in this very frame
    const float y = origin.y + line * static_cast<float>(i);
    const std::size_t stop = std::min(field.text.find('\n', starts[i]), field.text.size());
    const std::string_view words = std::string_view(field.text).substr(starts[i], stop - starts[i]);
    if (look.lit && look.lit->first <= i && i <= look.lit->second)
      list.AddRectFilled({origin.x + gutter - px(4), y}, {origin.x + gutter + size.x, y + line}, with_alpha(t.accent, 0.13f));
    const auto mark = std::find_if(look.marks.begin(), look.marks.end(), [&](const CodeMark& m) { return m.line == i; });
    const bool marked = mark != look.marks.end();
    paint_text_right(font, origin.x + gutter - px(12), y,
                     marked                     ? t.bad
                     : i == row && field.active ? t.text
                                                : t.faint,
                     std::to_string(i + 1));
    if (marked) {
      list.AddCircleFilled({origin.x + px(6), y + line / 2}, px(3.5f), t.bad);
      const std::size_t ink = words.find_first_not_of(' ');
      const float from = origin.x + gutter + letter * static_cast<float>(ink == std::string_view::npos ? 0 : ink);
      const float to = std::max(from + letter, origin.x + gutter + offset_in_line(words, words.size(), letter));
      list.AddLine({from, y + line - 1}, {to, y + line - 1}, t.bad, px(1.5f));
    }
    while (piece < look.pieces.size() && look.pieces[piece].end <= starts[i]) ++piece;
    std::size_t done = 0;
    const auto paint = [&](std::size_t from, std::size_t to, Color color) {
      if (to <= from || from >= words.size()) return;
      paint_text(font, {origin.x + gutter + offset_in_line(words, from, letter), y}, color, words.substr(from, to - from));
    };
    for (std::size_t p = piece; p < look.pieces.size() && look.pieces[p].begin < stop; ++p) {
      const std::size_t from = std::max(look.pieces[p].begin, starts[i]) - starts[i], to = std::min(look.pieces[p].end, stop) - starts[i];
      paint(done, from, t.text);
      paint(from, to, look.pieces[p].color);
      done = std::max(done, to);
    }
    paint(done, words.size(), t.text);
  }
  const std::string_view caret_line =
      std::string_view(field.text).substr(std::min(starts[std::min(row, starts.size() - 1)], field.text.size()));
  const ImVec2 beam(origin.x + gutter + offset_in_line(caret_line, at - std::min(starts[std::min(row, starts.size() - 1)], at), letter),
                    origin.y + line * static_cast<float>(row));
  if (field.active && std::fmod(ImGui::GetTime(), 1.0) < 0.65) list.AddLine(beam, {beam.x, beam.y + line}, t.text, px(1.5f));
  if (field.active && field.offering && !field.offers.items.empty())
    paint_offers(field, {beam.x, beam.y + line}, line, {origin.x + ImGui::GetScrollX(), origin.y + top},
                 {origin.x + room.x - px(4), origin.y + top + seen});
  ImGui::EndChild();
  // What is wrong at a line, where the mouse is on it.
  if (ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows))
    for (const CodeMark& mark : look.marks) {
      const float y = origin.y + line * static_cast<float>(mark.line), mouse = io.MousePos.y;
      if (mouse >= y && mouse < y + line) {
        tooltip(mark.message);
        break;
      }
    }
  ImGui::EndChild();
}

}  // namespace heddle::app
