// Views of layouts in words: facts, the grid fitted to the terminal, the banks of the worst phase, the alternatives.
#include <fmt/format.h>

#include <algorithm>

#include "core/answers/layout_choice.h"
#include "core/answers/layout_picture.h"
#include "core/answers/layout_view.h"
#include "core/chart/chart_layout.h"

namespace heddle {
namespace {

constexpr std::int64_t kMostGridRows = 20, kHeadRows = 12, kTailRows = 4;
constexpr std::size_t kMostAlternatives = 24;
constexpr int kColours[] = {32, 33, 94, 95, 96, 92, 93, 35};

class Grid {
 public:
  Grid(const LayoutView& view, const TextStyle& style, LayoutColour colour, bool all)
      : view_(view), style_(style), colour_(colour), all_(all), piece_(piece_columns(view, LayoutColour::Lane)) {
    for (std::int64_t row = 0; row < view.rows; ++row)
      for (std::int64_t column = piece_; column < view.columns; column += piece_)
        warps_differ_ = warps_differ_ || view.at(row, column).warp != view.at(row, 0).warp;
    for (const std::int64_t row : shown_rows())
      for (std::int64_t column = 0; row >= 0 && column < view.columns; column += piece_)
        width_ = std::max(width_, display_width(cell_text(view.at(row, column))));
    width_ = std::max(width_, display_width(std::to_string(view.columns)));
    fit_columns();
  }

  std::string text() const {
    std::string out = legend();
    std::string head = label({});
    for (const std::int64_t column : columns_) head += column < 0 ? gap() : padded(std::to_string(column), false);
    out += trimmed(head);
    for (const std::int64_t row : shown_rows()) {
      if (row < 0) {
        out += fmt::format("  {} {} more\n", style_.utf8 ? "⋮" : ":", count_of(view_.rows - kHeadRows - kTailRows, "row"));
        continue;
      }
      std::string name = std::to_string(row);
      if (view_.registers && !warps_differ_) name += fmt::format(" w{}", view_.at(row, 0).warp);
      std::string line = label(name);
      for (const std::int64_t column : columns_) line += column < 0 ? gap() : painted(view_.at(row, column));
      out += trimmed(line);
    }
    return out;
  }

 private:
  std::vector<std::int64_t> shown_rows() const {
    std::vector<std::int64_t> rows;
    const bool cut = !all_ && view_.rows > kMostGridRows;
    for (std::int64_t row = 0; row < (cut ? kHeadRows : view_.rows); ++row) rows.push_back(row);
    if (!cut) return rows;
    rows.push_back(-1);
    for (std::int64_t row = view_.rows - kTailRows; row < view_.rows; ++row) rows.push_back(row);
    return rows;
  }

  void fit_columns() {
    const std::int64_t pieces = view_.columns / piece_;
    const std::int64_t room = std::max<std::int64_t>(3, (std::max(40, style_.width) - kLabel) / (width_ + 1));
    const bool cut = !all_ && pieces > room;
    const std::int64_t tail = cut ? std::max<std::int64_t>(1, room / 3) : 0, head = cut ? room - 1 - tail : pieces;
    for (std::int64_t i = 0; i < head; ++i) columns_.push_back(i * piece_);
    if (!cut) return;
    columns_.push_back(-1);
    for (std::int64_t i = pieces - tail; i < pieces; ++i) columns_.push_back(i * piece_);
  }

  std::string cell_text(const LayoutCell& cell) const {
    std::string text;
    if (view_.registers)
      text = cell.lane < 0 ? "-" : (warps_differ_ ? fmt::format("w{}.", cell.warp) : "") + fmt::format("{}:{}", cell.lane, cell.reg);
    if (view_.memory && cell.bank >= 0) text += fmt::format("{}b{}", text.empty() ? "" : " ", cell.bank);
    if (colour_ == LayoutColour::Phase && cell.issue >= 0) text += fmt::format(" {}.{}", cell.issue, cell.phase);
    if (cell.meets()) text += "!";
    return text.empty() ? "-" : text;
  }

  std::string padded(const std::string& text, bool right) const {
    const std::string blank(static_cast<std::size_t>(std::max(0, width_ - display_width(text))), ' ');
    return " " + (right ? blank + text : text + blank);
  }
  std::string painted(const LayoutCell& cell) const {
    const std::string text = padded(cell_text(cell), false);
    const std::int64_t index = colour_index(cell, view_, colour_);
    if (!style_.color || index < 0) return text;
    return fmt::format("\x1b[{}m{}\x1b[0m", kColours[static_cast<std::size_t>(index) % std::size(kColours)], text);
  }
  std::string gap() const { return padded(style_.utf8 ? "…" : "..", false); }
  static std::string label(const std::string& text) { return fmt::format("  {:<{}}", text, kLabel - 3); }
  static std::string trimmed(std::string line) {
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line + "\n";
  }

  std::string legend() const {
    std::vector<std::string> says;
    if (view_.registers) says.push_back(warps_differ_ ? "warp.lane:register" : "lane:register");
    if (view_.memory) says.emplace_back(view_.registers ? "b and the bank" : "b and its bank");
    if (colour_ == LayoutColour::Phase && view_.access) says.emplace_back("instruction.phase");
    std::string text = "tile: a cell is ";
    for (std::size_t i = 0; i < says.size(); ++i) text += (i == 0 ? "" : ", ") + says[i];
    if (piece_ > 1) text += fmt::format(", of the first of {} columns side by side", piece_);
    if (std::any_of(view_.cells.begin(), view_.cells.end(), [](const LayoutCell& cell) { return cell.meets(); })) text += "; ! lanes meet";
    return wrapped(text, "", std::max(40, style_.width));
  }

  static constexpr int kLabel = 12;
  const LayoutView& view_;
  const TextStyle& style_;
  LayoutColour colour_;
  bool all_ = false, warps_differ_ = false;
  std::int64_t piece_ = 1;
  int width_ = 1;
  std::vector<std::int64_t> columns_;  // -1: left out
};

/// The banks from left to right, below each the lanes that are served in the first cycle, in the second ...; "!" from the second on.
std::string strip_text(const BankStrip& strip, const TextStyle& style) {
  std::string out = fmt::format("worst phase: warp {}, instruction {}, lanes {} to {}: {}", strip.warp, strip.issue, strip.first_lane,
                                strip.first_lane + strip.lanes - 1, count_of(strip.ways, "cycle"));
  if (strip.ways > 1) out += ", 1 if no lanes met";
  out += "\n";
  bool shared = false;
  const int per_line = style.width >= 12 + kBanks * 4 ? kBanks : 16;
  for (int first = 0; first < kBanks; first += per_line) {
    std::string line = fmt::format("  {:<9}", "bank");
    for (int bank = first; bank < first + per_line; ++bank) line += fmt::format("{:>4}", bank);
    out += line + "\n";
    for (int cycle = 0; cycle < strip.ways; ++cycle) {
      line = fmt::format("  {:<9}", fmt::format("cycle {}", cycle + 1));
      bool any = false;
      for (int bank = first; bank < first + per_line; ++bank) {
        const std::vector<ServedWord>& words = strip.banks[static_cast<std::size_t>(bank)];
        if (static_cast<std::size_t>(cycle) >= words.size()) {
          line += fmt::format("{:>4}", cycle == 0 ? (style.utf8 ? "·" : ".") : "");
          continue;
        }
        const ServedWord& word = words[static_cast<std::size_t>(cycle)];
        any = true;
        shared = shared || word.lanes.size() > 1;
        line += fmt::format("{:>4}", fmt::format("{}{}{}", word.lanes.front(), word.lanes.size() > 1 ? "+" : "", cycle > 0 ? "!" : ""));
      }
      while (line.back() == ' ') line.pop_back();
      if (any || cycle == 0) out += line + "\n";
    }
  }
  if (shared) out += "  +: more lanes want the same word\n";
  return out;
}

std::string fact(const char* name, const std::string& text, int width) {
  return text.empty() ? std::string() : wrapped(printable(text), fmt::format("  {:<13}", name), std::max(60, width));
}

std::string tile_text(const LayoutView& view) { return fmt::format("{} x {} {}", view.rows, view.columns, to_string(view.dtype)); }

std::string port_text(const LayoutView& view) {
  if (!view.access) return {};
  std::string text = fmt::format("{} cycles", grouped(view.cost.port));
  if (view.cost.port != view.cost.least) text += fmt::format(", {} if no lanes met ({}-way)", grouped(view.cost.least), view.cost.ways);
  if (view.cost.selects > 0) text += fmt::format("; {} elements pass a select", grouped(view.cost.selects));
  return text;
}

std::string instructions_text(const LayoutView& view) {
  if (!view.access) return view.instruction;
  const Access& access = *view.access;
  return fmt::format("{}; {} x {}, {} of {}{}", view.instruction, count_of(access.warps, "warp"), count_of(access.issues, "instruction"),
                     count_of(phases(access), "phase"), count_of(std::min(access.lanes_per_phase, kWarpLanes), "lane"),
                     view.assumed ? " (phases are assumed, not measured)" : "");
}

constexpr const char* kExchange = "  xL/R: lanes with bit L of their number move the registers whose bit R is the other one first\n";

std::string alternatives_text(const LayoutView& view, const TextStyle& style, bool all) {
  if (view.alternatives.empty()) return {};
  const bool bounds = std::any_of(view.bounds.begin(), view.bounds.end(), [](Cycle bound) { return bound > 0; });
  std::vector<std::vector<std::string>> rows;
  // Those that cannot be are many, and say little without being asked.
  std::size_t refused = 0, left = 0;
  for (std::size_t i = 0; i < view.alternatives.size(); ++i) {
    if (!all && !view.alternatives[i].refused.empty() && !view.alternatives[i].current) {
      ++refused;
      continue;
    }
    if (!all && rows.size() == kMostAlternatives) {
      ++left;
      continue;
    }
    const LayoutAlternative& one = view.alternatives[i];
    const std::string instruction = brief_text(one.instruction);
    std::vector<std::string> row{shortened(printable(one.layout), 28), instruction};
    const bool known = one.refused.empty() && one.cost.known;
    for (const std::int64_t number : {std::int64_t{one.cost.ways}, one.cost.port, one.cost.issues})
      row.push_back(known ? grouped(number) : std::string());
    row.push_back(known && one.cost.selects > 0 ? grouped(one.cost.selects) : std::string());
    row.push_back(one.bytes > 0 ? grouped(one.bytes) : std::string());
    row.push_back(one.registers > 0 ? fmt::format("+{}", one.registers) : std::string());
    row.push_back(bounds && i < view.bounds.size() && view.bounds[i] > 0 ? grouped(view.bounds[i]) : std::string());
    row.push_back(not_taken_text(view, i));
    rows.push_back(std::move(row));
  }
  std::string out = "\nalternatives\n" + text_table({{"layout"},
                                                     {"instruction"},
                                                     {"ways", true},
                                                     {"cycles", true},
                                                     {"issues", true},
                                                     {"selects", true},
                                                     {"bytes", true},
                                                     {"registers", true},
                                                     {"II >=", true},
                                                     {"verdict"}},
                                                    rows, std::max(100, style.width));
  if (left > 0) out += fmt::format("  {} more: {}\n", left, said_by(style, "all"));
  if (refused > 0) out += fmt::format("  {} more cannot be written so: {} says why\n", refused, said_by(style, "all"));
  if (std::any_of(view.alternatives.begin(), view.alternatives.end(), [](const auto& one) { return one.instruction.exchange.used(); }))
    out += kExchange;
  if (bounds) out += "  II >=: what arithmetic alone leaves with it, at least; no schedule is looked for\n";
  for (const LayoutAlternative& one : view.alternatives)
    if (!view.op.empty() && !one.current && one.refused.empty()) {
      std::string choice = one.instruction.name;
      if (one.instruction.exchange.used())
        choice += fmt::format(",{},{}", one.instruction.exchange.lane, one.instruction.exchange.register_bit);
      const std::string& memory = view.value_in_memory ? view.value : view.other;
      return out + fmt::format("  to take one: {} {}=\"{}\" {} {}={}\n", said_by(style, "layout"), memory, one.layout,
                               said_by(style, "instruction"), view.op, choice);
    }
  return out;
}

std::string facts_text(const LayoutView& view, int width) {
  std::string out = printable(view.title) + (view.op.empty() ? "" : ", moved by " + view.op) + "\n";
  out += fact("tile", tile_text(view), width);
  const std::int32_t held = view.cells.empty() ? 0 : view.cells.front().copies;
  out += fact("registers", view.registers_text + (held > 1 ? fmt::format("; every element is held {} times", held) : ""), width);
  out += fact("memory", view.memory_text, width);
  out += fact("other side", view.other, width);
  out += fact("instruction", instructions_text(view), width);
  out += fact("port", port_text(view), width);
  return out + fact("why", view.why, width);
}

}  // namespace

std::string not_taken_text(const LayoutView& view, std::size_t index) {
  const LayoutAlternative& one = view.alternatives[index];
  if (one.current) return "taken";
  if (!one.refused.empty()) return one.refused;
  if (!one.cost.known) return "what it costs is not known";
  std::size_t taken = 0;
  while (taken < view.alternatives.size() && !view.alternatives[taken].current) ++taken;
  if (taken == view.alternatives.size()) return {};
  const LayoutAlternative& now = view.alternatives[taken];
  const bool bounded = index < view.bounds.size() && taken < view.bounds.size() && view.bounds[index] > 0;
  if (bounded && view.bounds[index] > view.bounds[taken])
    return fmt::format("II is {} more, at least", grouped(view.bounds[index] - view.bounds[taken]));
  if (one.cost.port > now.cost.port) return fmt::format("{} more cycles of shared memory", grouped(one.cost.port - now.cost.port));
  std::string worse, better;
  const auto compare = [&](std::int64_t with, std::int64_t without, const char* what) {
    if (with == without) return;
    std::string& side = with > without ? worse : better;
    side += fmt::format("{}{} {} {}", side.empty() ? "" : ", ", grouped(std::abs(with - without)), with > without ? "more" : "fewer", what);
  };
  if (bounded) compare(view.bounds[index], view.bounds[taken], "cycles of II at least");
  compare(one.cost.port, now.cost.port, "cycles");
  compare(one.cost.issues, now.cost.issues, "instructions");
  compare(one.cost.selects, now.cost.selects, "selects");
  compare(one.bytes, now.bytes, "bytes");
  compare(one.registers, now.registers, "registers");
  if (worse.empty() && better.empty()) return "as good";
  if (worse.empty()) return "better: " + better;
  return better.empty() ? worse : worse + "; but " + better;
}

std::string layout_summary(const LayoutView& view, const TextStyle& style, LayoutColour colour, bool all) {
  std::string out = facts_text(view, style.width) + "\n" + Grid(view, style, colour, all).text();
  if (view.access && !view.access->all.empty()) out += "\n" + strip_text(worst_strip(*view.access), style);
  return out + alternatives_text(view, style, all);
}

std::string layout_pair_summary(const LayoutView& a, const LayoutView& b, const TextStyle& style) {
  std::string out;
  for (const LayoutView* view : {&a, &b}) {
    out += (view == &a ? "A  " : "\nB  ") + facts_text(*view, style.width) + "\n";
    out += Grid(*view, style, LayoutColour::Lane, false).text();
    if (view->access && !view->access->all.empty()) out += "\n" + strip_text(worst_strip(*view->access), style);
  }
  out += "\nwhat differs\n";
  if (a.rows != b.rows || a.columns != b.columns) return out + fmt::format("  the tiles: {} and {}\n", tile_text(a), tile_text(b));
  std::int64_t elsewhere = 0, bytes = 0;
  for (std::size_t i = 0; i < a.cells.size(); ++i) {
    elsewhere += a.cells[i].warp != b.cells[i].warp || a.cells[i].lane != b.cells[i].lane || a.cells[i].reg != b.cells[i].reg;
    bytes += a.cells[i].byte != b.cells[i].byte;
  }
  const std::string of = grouped(std::ssize(a.cells));
  if (a.registers && b.registers) {
    const ConversionClass kind = conversion_class(*a.registers, *b.registers, a.bits);
    out += fmt::format("  registers: {} of {} elements are first held elsewhere; from A to B: {}\n", grouped(elsewhere), of,
                       kind == ConversionClass::Same ? "nothing to do" : to_string(kind));
  }
  if (a.memory && b.memory) out += fmt::format("  memory: {} of {} elements lie at another byte\n", grouped(bytes), of);
  if (a.access && b.access) {
    const std::int64_t more = b.cost.port - a.cost.port;
    out += fmt::format("  port: {} and {} cycles{}\n", grouped(a.cost.port), grouped(b.cost.port),
                       more == 0 ? ", the same" : fmt::format(", B needs {} {}", grouped(std::abs(more)), more > 0 ? "more" : "fewer"));
  }
  return out;
}

std::string layout_list_summary(const std::vector<LayoutListRow>& rows, const TextStyle& style) {
  std::vector<std::vector<std::string>> table;
  bool bracketed = false, exchanged = false;
  std::string last;
  for (const LayoutListRow& row : rows) {
    const bool again = row.value == last;
    last = row.value;
    std::vector<std::string> cells{again ? "" : row.value, again ? "" : row.shape, again ? "" : row.space};
    cells.push_back(again ? "" : !row.layout.empty() ? shortened(printable(row.layout), 30) : row.unknown.empty() ? "-" : "not known");
    cells.push_back(row.op);
    cells.push_back(brief_text(row.choice));
    exchanged = exchanged || row.choice.exchange.used();
    const bool known = row.accessed && row.cost.known;
    cells.push_back(!known ? "" : row.cost.ways > 1 ? fmt::format("{}!", row.cost.ways) : "1");
    bracketed = bracketed || (known && !row.charged);
    cells.push_back(!known ? "" : row.charged ? grouped(row.cost.port) : fmt::format("({})", grouped(row.cost.port)));
    table.push_back(std::move(cells));
  }
  std::string out = text_table({{"value"}, {"tile"}, {"in"}, {"layout"}, {"op"}, {"instruction"}, {"ways", true}, {"cycles", true}}, table);
  if (std::any_of(rows.begin(), rows.end(), [](const LayoutListRow& row) { return row.cost.ways > 1; }))
    out += "  !: lanes of a warp meet in a bank, so often\n";
  if (bracketed) out += "  (cycles) are counted, and not part of the op's cost\n";
  if (exchanged) out += kExchange;
  // One reason often holds for many values.
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const LayoutListRow& row : rows) {
    if (row.unknown.empty()) continue;
    auto said = std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) { return reason.first == row.unknown; });
    if (said == reasons.end()) said = reasons.insert(said, {row.unknown, {}});
    if (!said->second.ends_with(row.value)) said->second += (said->second.empty() ? "" : ", ") + row.value;
  }
  for (const auto& [why, values] : reasons) out += wrapped(printable(values + ": " + why), "  ", std::max(40, style.width));
  return out;
}

}  // namespace heddle
