#include "app/window/tabs/layout/layout_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_facts.h"

namespace heddle::app {
namespace {

using Row = LayoutChoiceRow;

const std::vector<Column<Row>>& columns() {
  using Key = std::optional<std::int64_t>;
  static const std::vector<Column<Row>> kColumns{
      {"layout", false, [](const Row& r) { return r.layout; }, {}, "how the tile lies in shared memory"},
      {"instruction",
       false,
       [](const Row& r) { return r.brief; },
       {},
       "that moves it; xL/R: lanes with bit L of their number move the registers whose bit R is the other one first"},
      {"port", true, [](const Row& r) { return r.cost.known ? grouped(r.cost.port) : std::string("-"); },
       [](const Row& r) { return r.cost.known ? Key(r.cost.port) : Key(); }, "cycles that the port of shared memory is busy"},
      {"ways", true, [](const Row& r) { return r.cost.known ? std::to_string(r.cost.ways) : std::string("-"); },
       [](const Row& r) { return r.cost.known ? Key(r.cost.ways) : Key(); }, "lanes that meet in one bank, at most; 1: none do"},
      {"issue", true, [](const Row& r) { return r.cost.known ? grouped(r.issues) : std::string("-"); },
       [](const Row& r) { return r.cost.known ? Key(r.issues) : Key(); }, "instructions of each warp, selects of an exchange among them"},
      {"bytes", true, [](const Row& r) { return grouped(r.bytes); }, [](const Row& r) { return Key(r.bytes); },
       "of the tile in shared memory, padding included"},
      {"regs", true, [](const Row& r) { return std::to_string(r.registers); }, [](const Row& r) { return Key(r.registers); },
       "per thread, beyond those of the tile itself"},
      {"II at least", true, [](const Row& r) { return r.bound > 0 ? grouped(r.bound) : std::string("-"); },
       [](const Row& r) { return r.bound > 0 ? Key(r.bound) : Key(); }, "what the loop's work on every unit leaves with it"},
      {"why not", false, [](const Row& r) { return r.why; }, {}, "why it was not taken"}};
  return kColumns;
}

}  // namespace

LayoutBlocks blocks_of(const LayoutView& view, LayoutColour colour) {
  LayoutBlocks out;
  const auto rows = static_cast<std::int32_t>(view.rows), wide = static_cast<std::int32_t>(view.columns);
  if (view.cells.size() < static_cast<std::size_t>(view.rows * view.columns)) return out;
  std::vector<std::size_t> above(static_cast<std::size_t>(wide), 0);  // one more than the block that the row above has there; 0: none
  for (std::int32_t r = 0; r < rows; ++r) {
    std::vector<std::size_t> here(static_cast<std::size_t>(wide), 0);
    for (std::int32_t c = 0; c < wide;) {
      const std::int64_t index = colour_index(view.at(r, c), view, colour);
      std::int32_t end = c + 1;
      while (end < wide && colour_index(view.at(r, end), view, colour) == index) ++end;
      out.count = std::max(out.count, index + 1);
      std::size_t block = above[static_cast<std::size_t>(c)];
      const bool goes_on = block > 0 && out.blocks[block - 1].index == index && out.blocks[block - 1].column == c &&
                           out.blocks[block - 1].columns == end - c && out.blocks[block - 1].row + out.blocks[block - 1].rows == r;
      if (goes_on) {
        ++out.blocks[block - 1].rows;
      } else {
        out.blocks.push_back({r, c, 1, end - c, index});
        block = out.blocks.size();
      }
      here[static_cast<std::size_t>(c)] = block;
      c = end;
    }
    above = std::move(here);
  }
  return out;
}

std::string why_no_colour(const LayoutView& view, LayoutColour colour) {
  switch (colour) {
    case LayoutColour::Warp:
    case LayoutColour::Lane:
    case LayoutColour::Register: return view.registers ? "" : "it lies in no register";
    case LayoutColour::Bank: return view.memory ? "" : "it does not lie in shared memory";
    case LayoutColour::Phase: return view.access ? "" : "no instruction moves it here";
  }
  return {};
}

LayoutColour usable_colour(const LayoutView& view, LayoutColour wanted) {
  for (const LayoutColour colour : {wanted, LayoutColour::Bank, LayoutColour::Lane})
    if (why_no_colour(view, colour).empty()) return colour;
  return wanted;
}

std::optional<LayoutPick> pick_of(const LayoutCell& cell, bool whole_register) {
  if (cell.reg < 0) return std::nullopt;
  if (whole_register) return LayoutPick{true, -1, -1, cell.reg};
  return LayoutPick{false, cell.warp, cell.lane, -1};
}

std::string pick_text(const LayoutPick& pick, const LayoutView& view) {
  const std::int64_t held = std::count_if(view.cells.begin(), view.cells.end(), [&](const LayoutCell& c) { return pick.has(c); });
  if (pick.whole_register) return fmt::format("register {} holds {} of all lanes", pick.reg, count_of(held, "element"));
  return fmt::format("lane {} of warp {} holds {}", pick.lane, pick.warp, count_of(held, "element"));
}

std::string cell_text(const LayoutView& view, std::int64_t row, std::int64_t column) {
  const LayoutCell& cell = view.at(row, column);
  std::string text = fmt::format("row {}, column {}", row, column);
  if (cell.reg >= 0) {
    text += fmt::format(" · warp {}, lane {}, register {}", cell.warp, cell.lane, cell.reg);
    if (cell.copies > 1) text += fmt::format(", {} copies", cell.copies);
  }
  if (cell.byte >= 0) text += fmt::format(" · byte {}, bank {}", grouped(cell.byte), cell.bank);
  if (cell.issue >= 0) {
    text += fmt::format(" · instruction {}, phase {}", cell.issue, cell.phase);
    if (cell.meets()) text += fmt::format(", {} words of its bank", cell.ways);
  }
  return text;
}

std::string head_text(const LayoutView& view) {
  std::string text = fmt::format("{} x {} {}", view.rows, view.columns, to_string(view.dtype));
  if (!view.registers_text.empty()) text += " · registers: " + view.registers_text;
  if (!view.memory_text.empty()) text += " · memory: " + view.memory_text;
  if (view.access)
    text += " · " + access_words(view.instruction, view.cost);
  else if (!view.instruction.empty())
    text += " · " + view.instruction;
  return text;
}

std::int64_t phase_steps(const LayoutView& view) {
  if (!view.access) return 0;
  return static_cast<std::int64_t>(view.access->all.size()) * std::max(1, phases(*view.access));
}

BankStrip phase_at(const LayoutView& view, std::int64_t step) {
  const std::int64_t each = std::max(1, phases(*view.access)), last = std::max<std::int64_t>(0, phase_steps(view) - 1);
  const std::int64_t at = std::clamp<std::int64_t>(step, 0, last);
  return bank_strip(*view.access, static_cast<std::size_t>(at / each), static_cast<int>(at % each));
}

namespace {

std::optional<std::int64_t> step_at(const LayoutView& view, int warp, int issue, int phase) {
  const std::vector<WarpAccess>& all = view.access->all;
  const auto found = std::find_if(all.begin(), all.end(), [&](const WarpAccess& a) { return a.warp == warp && a.issue == issue; });
  if (found == all.end()) return std::nullopt;
  return (found - all.begin()) * std::max(1, phases(*view.access)) + phase;
}

}  // namespace

std::optional<std::int64_t> step_of(const LayoutView& view, const LayoutCell& cell) {
  if (!view.access || cell.issue < 0 || cell.phase < 0) return std::nullopt;
  return step_at(view, cell.warp, cell.issue, cell.phase);
}

std::int64_t worst_step(const LayoutView& view) {
  if (phase_steps(view) == 0) return 0;
  const BankStrip worst = worst_strip(*view.access);
  return step_at(view, worst.warp, worst.issue, worst.phase).value_or(0);
}

std::string phase_text(const LayoutView& view, const BankStrip& strip) {
  const auto meeting = std::count_if(strip.banks.begin(), strip.banks.end(), [](const auto& words) { return words.size() > 1; });
  std::string text = fmt::format("warp {}, instruction {} of {}, phase {} of {}", strip.warp, strip.issue + 1, view.access->issues,
                                 strip.phase + 1, std::max(1, phases(*view.access)));
  text += meeting == 0 ? ": no lanes meet" : fmt::format(": {}-way, lanes meet in {}", strip.ways, count_of(meeting, "bank"));
  return text;
}

LayoutUse use_of(const LayoutView& view, const LayoutAlternative& alternative) {
  return {view.value_in_memory || view.other.empty() ? view.value : view.other, alternative.layout, view.op, alternative.instruction};
}

std::vector<LayoutChoiceRow> layout_choice_rows(const LayoutView& view) {
  std::vector<LayoutChoiceRow> rows;
  for (std::size_t i = 0; i < view.alternatives.size(); ++i) {
    const LayoutAlternative& a = view.alternatives[i];
    LayoutChoiceRow row;
    row.index = i;
    row.layout = a.layout;
    row.instruction = choice_text(a.instruction);
    row.brief = brief_text(a.instruction);
    row.cost = a.cost;
    // A select per register and lane comes on top of the instructions themselves.
    row.issues = a.cost.issues + (view.access ? a.cost.selects / (kWarpLanes * std::max(1, view.access->warps)) : 0);
    row.bytes = a.bytes;
    row.registers = a.registers;
    if (i < view.bounds.size()) row.bound = view.bounds[i];
    row.current = a.current;
    row.possible = a.refused.empty();
    row.why = not_taken_text(view, i);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::span<const Column<LayoutChoiceRow>> layout_choice_columns() { return columns(); }

std::string list_label(const LayoutListRow& row) {
  std::string text = row.value;
  if (!row.op.empty()) text += " · " + row.op;
  if (!row.instruction.empty()) text += " · " + row.instruction;
  if (row.accessed && row.cost.known && row.cost.ways > 1) text += " " + conflict_mark(row.cost.ways);
  return text;
}

std::optional<std::size_t> find_row(const std::vector<LayoutListRow>& rows, const std::string& value, const std::string& op) {
  const auto find = [&](auto&& is) -> std::optional<std::size_t> {
    const auto found = std::find_if(rows.begin(), rows.end(), is);
    return found == rows.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - rows.begin()));
  };
  if (!op.empty()) {
    if (const auto both = find([&](const LayoutListRow& r) { return r.op == op && r.value == value; })) return both;
    if (const auto by_op = find([&](const LayoutListRow& r) { return r.op == op; })) return by_op;
  }
  return value.empty() ? std::nullopt : find([&](const LayoutListRow& r) { return r.value == value; });
}

std::vector<std::int64_t> read_shape(std::string_view text, std::string& fault) {
  std::vector<std::int64_t> shape;
  fault.clear();
  for (std::size_t i = 0; i < text.size();) {
    if (std::string_view(" ,x()[]").find(text[i]) != std::string_view::npos) {
      ++i;
      continue;
    }
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), extent);
    const bool good = error == std::errc() && extent > 0 && extent <= kMostLayoutElements && shape.size() < kMostLayoutDimensions;
    if (!good) {
      fault = "a shape is rows and columns, as 64 x 128";
      return {};
    }
    shape.push_back(extent);
    i = static_cast<std::size_t>(end - text.data());
  }
  return shape;
}

}  // namespace heddle::app
