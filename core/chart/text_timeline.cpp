// Everything is drawn on a canvas of cells (one glyph and one colour each), then written line by line.
#include "core/chart/text_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "core/chart/op_rows.h"

namespace heddle {
namespace {

constexpr int kMinimumWidth = 40;
constexpr int kMinimumBars = 20;  // numbers beside the lanes give way to bars
constexpr int kShortLabel = 18, kLongLabel = 26;
constexpr int kMostSlots = 8;         // of a ring's barriers
constexpr int kColumnsPerCycle = 12;  // at most: a two-cycle window needs no more

struct Glyphs {
  std::array<const char*, 4> fill;  // by distance from the newest iteration
  std::array<const char*, 9> level;
  const char *tail, *strong, *weak;
};

const Glyphs kAscii{{"=", "-", "~", "."}, {" ", ".", ":", "-", "=", "+", "*", "%", "#"}, ".", "|", ":"};
const Glyphs kUnicode{{"━", "─", "╌", "┈"}, {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "·", "│", "┊"};

int color_of(UnitRole role) {
  switch (role) {
    case UnitRole::Tensor: return 94;
    case UnitRole::Copy: return 92;
    case UnitRole::Special: return 93;
    case UnitRole::Float: return 95;
    case UnitRole::Alu: return 33;
    case UnitRole::Smem: return 32;
    case UnitRole::Tmem: return 35;
    case UnitRole::Sync: return 91;
    case UnitRole::Other: return 0;
  }
  return 0;
}

struct Cell {
  std::string glyph = " ";
  int color = 0;
  int bar = -1;  // index of the bar drawn here, to see collisions
};

class Drawing {
 public:
  Drawing(const GanttModel& model, const TextStyle& style) : model_(model), style_(style), glyphs_(style.utf8 ? kUnicode : kAscii) {
    for (const GanttGroup& group : model.groups) label_ = std::max(label_, display_width(group.label));
    for (const GanttRow& row : model.rows) label_ = std::max(label_, 2 + display_width(row.label));
    for (const GanttLane& lane : model.lanes) label_ = std::max(label_, 2 + display_width(lane.label));
    for (const BarrierLane& lane : model.barriers) label_ = std::max(label_, 2 + display_width(lane.label));
    for (const QueueLane& lane : model.queues) label_ = std::max(label_, 2 + display_width(lane.label));
    label_ = std::min(label_, std::clamp(style.width / 4, kShortLabel, kLongLabel)) + 2;
    span_ = std::max<Cycle>(1, model.end - model.begin);
    int detail = 0;
    for (const GanttLane& lane : model.lanes) detail = std::max(detail, 1 + display_width(lane.detail));
    for (const BarrierLane& lane : model.barriers) detail = std::max(detail, 1 + display_width(lane.detail));
    for (const QueueLane& lane : model.queues) detail = std::max(detail, 1 + display_width(lane.detail));
    Cycle room = std::max(kMinimumWidth, style.width) - label_ - 1;
    details_ = room - detail >= kMinimumBars;
    if (details_) room -= detail;
    columns_ = static_cast<int>(span_ <= room ? span_ * std::min<Cycle>(room / span_, kColumnsPerCycle) : room);
  }

  std::string render() {
    draw_ruler();
    for (const GanttGroup& group : model_.groups) draw_group(group);
    draw_lanes();
    draw_barriers();
    draw_queues();
    draw_legend();
    list_ends();
    list_pauses();
    return text_;
  }

 private:
  using Line = std::vector<Cell>;

  int column(Cycle at) const { return static_cast<int>(static_cast<__int128>(at - model_.begin) * columns_ / span_); }

  void put(Line& line, int at, const std::string& glyph, int color = 0, int bar = -1) {
    if (at >= 0 && at < static_cast<int>(line.size())) line[static_cast<std::size_t>(at)] = {glyph, color, bar};
  }

  void put_text(Line& line, int at, const std::string& text, int color = 0, int bar = -1) {
    std::string glyph;
    for (std::size_t i = 0; i < text.size(); ++i) {
      glyph += text[i];
      if (i + 1 == text.size() || (static_cast<unsigned char>(text[i + 1]) & 0xc0) != 0x80) {
        put(line, at++, glyph, color, bar);
        glyph.clear();
      }
    }
  }

  /// Label column, cells, and what stands beside them, without trailing blanks.
  void write(const std::string& label, const Line& line, const std::string& detail = {}) {
    std::string out = clip(styled(label, style_), label_ - 1);
    out += std::string(static_cast<std::size_t>(label_ - display_width(out)), ' ');
    int color = 0;
    for (const Cell& cell : line) {
      if (style_.color && cell.color != color) out += fmt::format("\x1b[{}m", cell.color);
      color = cell.color;
      out += cell.glyph;
    }
    if (style_.color && color != 0) out += "\x1b[0m";
    if (!detail.empty()) out += " " + detail;
    out.erase(out.find_last_not_of(' ') + 1);
    text_ += out + '\n';
  }

  static std::string clip(const std::string& text, int width) {
    std::string out;
    int used = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80 && ++used > width) break;
      out += text[i];
    }
    return out;
  }

  void draw_ruler() {
    Line names(static_cast<std::size_t>(columns_) + 1), ticks = names;
    int free = 0;
    for (const GanttMark& mark : model_.marks) {
      const std::string label = styled(mark.label, style_);
      const int at = std::min(column(mark.at), columns_ + 1 - display_width(label));
      if (label.empty() || at < free) continue;
      put_text(names, at, label);
      free = at + display_width(label) + 2;
    }
    if (free > 0) write("", names);
    // 1, 2, 5, 10, 20, 50 ... until the numbers have room.
    const Cycle spacing = static_cast<Cycle>(std::to_string(model_.end).size()) + 3;
    Cycle decade = 1, step = 1;
    for (int i = 1; step * columns_ / span_ < spacing && step < span_; ++i) {
      if (i % 3 == 0) decade *= 10;
      step = decade * (i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 5);
    }
    free = 0;
    for (Cycle at = first_tick(step); at <= model_.end; at += step) {
      const std::string number = std::to_string(at);
      if (column(at) < free || column(at) + static_cast<int>(number.size()) > columns_ + 1) continue;
      put_text(ticks, column(at), number);
      free = column(at) + static_cast<int>(number.size()) + 1;
    }
    write("cycle", ticks);
  }

  Cycle first_tick(Cycle step) const {
    const Cycle rest = model_.begin % step;
    return rest == 0 ? model_.begin : model_.begin - rest + (rest > 0 ? step : 0);
  }

  Line background() const {
    Line line(static_cast<std::size_t>(columns_) + 1);
    for (const GanttMark& mark : model_.marks) {
      const int at = column(mark.at);
      if (at >= 0 && at <= columns_) line[static_cast<std::size_t>(at)].glyph = mark.strong ? glyphs_.strong : glyphs_.weak;
    }
    return line;
  }

  void draw_group(const GanttGroup& group) {
    text_ += clip(styled(join_facts({group.label, group.detail}, style_), style_), std::max(kMinimumWidth, style_.width)) + '\n';
    for (std::size_t r = group.first_row; r < group.first_row + group.rows && r < model_.rows.size(); ++r) {
      const GanttRow& row = model_.rows[r];
      for (int lane = 0; lane < std::max(1, row.lanes); ++lane) {
        Line line = background();
        draw_tails(line, r, lane);
        draw_bars(line, r, lane);
        draw_end_bars(line, r, lane);
        draw_pauses(line, r, lane);
        write(lane == 0 ? "  " + row.label : "", line);
      }
    }
  }

  void draw_tails(Line& line, std::size_t row, int lane) {
    for (const GanttBar& bar : model_.bars) {
      if (bar.row != row || bar.lane != lane || bar.latency_end <= bar.end) continue;
      const int last = std::min(column(bar.latency_end), columns_);
      for (int at = column(bar.end); at < last; ++at) put(line, at, glyphs_.tail);
      tails_ = true;
    }
  }

  void draw_bars(Line& line, std::size_t row, int lane) {
    for (std::size_t b = 0; b < model_.bars.size(); ++b) {
      const GanttBar& bar = model_.bars[b];
      if (bar.row == row && bar.lane == lane) draw_bar(line, bar, static_cast<int>(b));
    }
  }

  /// In round brackets: prologue and epilogue are not part of the schedule.
  void draw_end_bars(Line& line, std::size_t row, int lane) {
    const int loop = static_cast<int>(model_.bars.size());
    for (std::size_t b = 0; b < model_.ends.size(); ++b) {
      const GanttEndBar& bar = model_.ends[b];
      if (bar.row != row || bar.lane != lane) continue;
      ends_ = true;
      const int begin = std::clamp(column(bar.begin), 0, columns_ - 1), end = std::clamp(column(bar.end_at), begin + 1, columns_);
      const int color = color_of(bar.role), index = loop + static_cast<int>(b), width = end - begin;
      if (line[static_cast<std::size_t>(begin)].bar >= 0) {
        collisions_ = true;
        put(line, begin, "+", 0, index);
        continue;
      }
      for (int at = begin; at < end; ++at) put(line, at, " ", color, index);
      put(line, begin, "(", color, index);
      if (width > 1) put(line, end - 1, ")", color, index);
      if (width > 2) put_text(line, begin + 1, clip(styled(bar.label, style_), width - 2), color, index);
    }
  }

  /// Waits as dots, turns as colons, issue as equals signs.
  void draw_pauses(Line& line, std::size_t row, int lane) {
    for (const GanttPause& pause : model_.pauses) {
      if (pause.row != row || pause.lane != lane) continue;
      const int begin = std::clamp(column(pause.begin), 0, columns_ - 1), end = std::clamp(column(pause.end), begin + 1, columns_);
      const char* glyph = pause.kind == GanttPause::Kind::Issue ? "=" : pause.kind == GanttPause::Kind::Turn ? ":" : ".";
      for (int at = begin; at < end; ++at) put(line, at, glyph);
    }
  }

  void draw_bar(Line& line, const GanttBar& bar, int index) {
    int begin = std::clamp(column(bar.begin), 0, columns_ - 1);
    const int end = std::clamp(column(bar.end), begin + 1, columns_);
    const int color = color_of(bar.role);
    const auto taken = [&](int at) { return line[static_cast<std::size_t>(at)].bar >= 0; };
    while (begin + 1 < end && taken(begin)) ++begin;
    if (taken(begin)) {
      put(line, begin, "+", 0, index);
      collisions_ = true;
      return;
    }
    const std::string fill = bar.violating ? "!" : fill_of(std::abs(bar.iteration));
    violating_ |= bar.violating;
    wrapped_ |= bar.wraps_left || bar.wraps_right;
    for (int at = begin; at < end; ++at) put(line, at, fill, color, index);
    const int width = end - begin;
    if (width == 1) {
      put(line, begin, op_key(bar.op), color, index);
      return;
    }
    put(line, begin, bar.wraps_left ? "<" : "[", color, index);
    if (width > 2) put(line, end - 1, bar.wraps_right ? ">" : "]", color, index);
    std::string label = styled(bar.label, style_);
    if (bar.critical) label += '*';
    if (display_width(label) > width - 2)
      label = op_key(bar.op);
    else
      critical_ |= bar.critical;
    put_text(line, begin + 1, label, color, index);
  }

  /// The steady view has few iterations, so the last fill stands for all older ones; elsewhere fills come in turn.
  const char* fill_of(int age) {
    const int fills = static_cast<int>(glyphs_.fill.size());
    oldest_ = std::max(oldest_, age);
    return glyphs_.fill[static_cast<std::size_t>(model_.mode == GanttMode::Steady ? std::min(age, fills - 1) : age % fills)];
  }

  std::string fills_explained() const {
    const int fills = static_cast<int>(glyphs_.fill.size());
    std::string text;
    for (int age = 0; age <= std::min(oldest_, fills - 1); ++age) {
      const bool steady = model_.mode == GanttMode::Steady;
      text += fmt::format("{}{} k", age ? " " : "", glyphs_.fill[static_cast<std::size_t>(age)]);
      if (age > 0) text += fmt::format("{}{}", steady ? '-' : '+', age);
    }
    return oldest_ >= fills ? text + (model_.mode == GanttMode::Steady ? " and older" : " and so on") : text;
  }

  void draw_lanes() {
    if (model_.lanes.empty()) return;
    text_ += "use\n";
    for (const GanttLane& lane : model_.lanes) {
      Line line(static_cast<std::size_t>(columns_) + 1);
      const std::int64_t full = lane.full();
      for (int c = 0; c < columns_; ++c) {
        const std::int64_t value = most_in(lane.profile, c);
        const auto level = static_cast<std::size_t>(std::clamp<__int128>((static_cast<__int128>(value) * 8 + full - 1) / full, 0, 8));
        put(line, c, glyphs_.level[level], color_of(lane.role));
      }
      write("  " + lane.label, line, details_ ? styled(lane.detail, style_) : "");
    }
  }

  /// A line per slot, at most kMostSlots of a ring. Turns have the number of the group, in the order of the rows.
  void draw_barriers() {
    if (model_.barriers.empty()) return;
    for (const BarrierLane& lane : model_.barriers) {
      const bool tensor = lane.kind == BarrierLane::Kind::Tensor;
      if (&lane == &model_.barriers.front() || tensor != ((&lane - 1)->kind == BarrierLane::Kind::Tensor))
        text_ += tensor ? "tensor memory\n" : "barriers\n";
      std::size_t at = 0;
      for (int slot = 0; slot < std::min(lane.slots, kMostSlots); ++slot) {
        Line line = background();
        std::pair<ValueId, int> named;  // a value says its name once
        for (; at < lane.spans.size() && lane.spans[at].slot == slot; ++at) {
          const BarrierSpan& span = lane.spans[at];
          const int begin = std::clamp(column(span.begin), 0, columns_ - 1), end = std::clamp(column(span.end), begin + 1, columns_);
          for (int c = begin; c < end; ++c) put(line, c, mark_of(span), color_of(strip_of(lane, span).role));
          if (tensor && display_width(span.name) < end - begin && named != std::pair(span.value, span.iteration)) {
            put_text(line, begin, span.name, color_of(span.role));
            named = {span.value, span.iteration};
          }
          if (!tensor && (span.state == BarrierSpan::State::Read || lane.kind == BarrierLane::Kind::Signal))
            put(line, begin, span.phase == 0 ? "0" : "1", color_of(lane.role));
        }
        write(slot == 0 ? "  " + lane.label : "", line, details_ && slot == 0 ? styled(lane.detail, style_) : "");
      }
    }
  }

  /// The most slots in each column's cycles, taken and filled, and who waits.
  void draw_queues() {
    if (model_.queues.empty()) return;
    text_ += "queues\n";
    for (const QueueLane& lane : model_.queues) {
      write("  " + lane.label, counts(lane, lane.taken), details_ ? styled(lane.detail, style_) : "");
      write("    filled", counts(lane, lane.filled));
      Line line(static_cast<std::size_t>(columns_) + 1);
      for (const QueueMark& mark : lane.marks) {
        const int begin = std::clamp(column(mark.begin), 0, columns_ - 1), end = std::clamp(column(mark.end), begin + 1, columns_);
        const char* letter = mark.state == QueueMark::State::Full ? "f" : "s";
        for (int c = begin; c < end; ++c) {
          const std::string& there = line[static_cast<std::size_t>(c)].glyph;
          put(line, c, there == " " || there == letter ? letter : "b", mark.state == QueueMark::State::Full ? 93 : 91);
        }
      }
      if (!lane.marks.empty()) write("    waits", line);
    }
  }

  Line counts(const QueueLane& lane, const UsageCurve& curve) {
    Line line(static_cast<std::size_t>(columns_) + 1);
    for (int c = 0; c < columns_; ++c) {
      const std::int64_t value = most_in(curve, c);
      put(line, c, value <= 9 ? std::to_string(value) : "+", color_of(lane.role));
    }
    return line;
  }

  /// The highest value anywhere in this column's cycles.
  std::int64_t most_in(const UsageCurve& curve, int c) const {
    const Cycle from = model_.begin + static_cast<Cycle>(static_cast<__int128>(c) * span_ / columns_);
    const Cycle to = std::max(from + 1, model_.begin + static_cast<Cycle>(static_cast<__int128>(c + 1) * span_ / columns_));
    auto step = std::upper_bound(curve.begin(), curve.end(), from, [](Cycle at, const UsageStep& s) { return at < s.at; });
    std::int64_t value = step == curve.begin() ? 0 : (step - 1)->value;
    for (; step != curve.end() && step->at < to; ++step) value = std::max(value, step->value);
    return value;
  }

  static std::string mark_of(const BarrierSpan& span) {
    using State = BarrierSpan::State;
    switch (span.state) {
      case State::Filling: return ".";
      case State::Full: return "=";
      case State::Read: return "#";
      case State::Held: return std::string(1, static_cast<char>('A' + static_cast<int>(span.group.index() % 26)));
      case State::Passed: return "-";
    }
    return " ";
  }

  void draw_legend() {
    std::vector<std::string> parts;
    const std::string one = columns_ >= span_ ? fmt::format("1 cycle is {} column{}", columns_ / span_, columns_ == span_ ? "" : "s")
                                              : fmt::format("1 column is {:.4g} cycles", static_cast<double>(span_) / columns_);
    parts.push_back(one);
    if (oldest_ > 0) parts.push_back(fills_explained());
    if (wrapped_) parts.push_back("< > continues at the other edge");
    if (tails_) parts.push_back(fmt::format("{} until the result is usable", glyphs_.tail));
    if (ends_) parts.push_back("( ) prologue and epilogue: once per tile, predicted, not scheduled");
    if (critical_) parts.push_back("* limits II");
    if (violating_) parts.push_back("! violates a rule");
    if (collisions_) parts.push_back("+ several ops in one column");
    if (!model_.barriers.empty() && model_.barriers.back().kind == BarrierLane::Kind::Tensor)
      parts.push_back("tensor memory: . being written, = there, # being read");
    if (!model_.barriers.empty() && model_.barriers.front().kind != BarrierLane::Kind::Tensor)
      parts.push_back("barriers: . filling, = full, # read, 0 1 phase; turns: letter of the group, - passed on");
    if (!model_.queues.empty())
      parts.push_back("queues: slots taken and, of those, filled; s starving: a reader could go; f full: the writer could; b both");
    std::string line;
    for (const std::string& part : parts) {
      const std::string next = line.empty() ? part : line + "   " + part;
      if (!line.empty() && display_width(next) > std::max(kMinimumWidth, style_.width)) {
        text_ += line + '\n';
        line = part;
      } else {
        line = next;
      }
    }
    text_ += line + '\n';
  }

  /// What stands in round brackets: most of it is too short for its name.
  void list_ends() {
    for (const bool prologue : {true, false}) {
      std::string line;
      std::vector<const GanttEndBar*> bars;
      for (const GanttEndBar& bar : model_.ends)
        if (bar.prologue == prologue) bars.push_back(&bar);
      std::stable_sort(bars.begin(), bars.end(), [](const GanttEndBar* a, const GanttEndBar* b) { return a->begin < b->begin; });
      for (const GanttEndBar* bar : bars)
        line += fmt::format("{}{} at {} for {}", line.empty() ? prologue ? "prologue: " : "epilogue: " : ", ", printable(bar->label),
                            bar->begin, bar->end_at - bar->begin);
      if (!line.empty()) text_ += wrapped(styled(line, style_), "", std::max(kMinimumWidth, style_.width));
    }
  }

  /// The longest of each kind of wait, by group.
  void list_pauses() {
    if (model_.pauses.empty()) return;
    text_ += "warps: = issues an asynchronous op, . waits, : waits for its turn; the longest of each\n";
    constexpr std::size_t kMostTold = 6;
    for (const GanttGroup& group : model_.groups) {
      std::map<std::pair<OpId, std::string>, const GanttPause*> longest;
      for (const GanttPause& pause : model_.pauses) {
        if (model_.rows[pause.row].group != group.group || pause.kind == GanttPause::Kind::Issue) continue;
        const GanttPause*& one = longest[{pause.op, pause.why}];
        if (!one || pause.end - pause.begin > one->end - one->begin) one = &pause;
      }
      std::vector<const GanttPause*> told;
      for (const auto& [what, pause] : longest) told.push_back(pause);
      std::stable_sort(told.begin(), told.end(),
                       [](const GanttPause* a, const GanttPause* b) { return a->end - a->begin > b->end - b->begin; });
      if (told.size() > kMostTold) told.resize(kMostTold);
      for (const GanttPause* pause : told)
        text_ += wrapped(fmt::format("{} {}, from {}", printable(group.label), printable(pause_text(*pause)), pause->begin), "  ",
                         std::max(kMinimumWidth, style_.width));
    }
  }

  const GanttModel& model_;
  const TextStyle& style_;
  const Glyphs& glyphs_;
  int label_ = 5, columns_ = 1;
  Cycle span_ = 1;
  std::string text_;
  int oldest_ = 0;
  bool details_ = false, tails_ = false, wrapped_ = false, critical_ = false, violating_ = false, collisions_ = false, ends_ = false;
};

}  // namespace

std::string text_timeline(const GanttModel& model, const TextStyle& style) { return Drawing(model, style).render(); }

}  // namespace heddle
