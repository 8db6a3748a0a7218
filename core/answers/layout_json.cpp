// Views of layouts as JSON and CSV, and the words of colours.
#include <fmt/format.h>

#include <iterator>

#include "core/answers/answer_members.h"
#include "core/answers/layout_view.h"
#include "core/base/words.h"

namespace heddle {
const char* to_string(LayoutColour colour) {
  switch (colour) {
    case LayoutColour::Warp: return "warp";
    case LayoutColour::Lane: return "lane";
    case LayoutColour::Register: return "register";
    case LayoutColour::Bank: return "bank";
    case LayoutColour::Phase: break;
  }
  return "phase";
}

std::optional<LayoutColour> parse_layout_colour(std::string_view word) { return parse_word(word, LayoutColour::Phase); }

std::int64_t colour_index(const LayoutCell& cell, const LayoutView& view, LayoutColour colour) {
  switch (colour) {
    case LayoutColour::Warp: return cell.warp;
    case LayoutColour::Lane: return cell.lane;
    case LayoutColour::Register: return cell.reg;
    case LayoutColour::Bank: return cell.bank;
    case LayoutColour::Phase: break;
  }
  return cell.issue < 0 || !view.access ? -1 : std::int64_t{cell.issue} * phases(*view.access) + cell.phase;
}

namespace {

struct AlternativeRow {
  const LayoutView& view = blank<LayoutView>;
  const LayoutAlternative& alternative = blank<LayoutAlternative>;
  std::size_t index = 0;
  Cycle bound() const { return index < view.bounds.size() ? view.bounds[index] : 0; }
};

std::vector<AlternativeRow> alternative_rows(const LayoutView& view) {
  std::vector<AlternativeRow> rows;
  for (const LayoutAlternative& alternative : view.alternatives) rows.push_back({view, alternative, rows.size()});
  return rows;
}

/// Of the instruction with the worst phase: all of them would be thousands of lines that hardly differ.
std::vector<BankStrip> worst_strips(const LayoutView& view) {
  std::vector<BankStrip> strips;
  if (!view.access || view.access->all.empty()) return strips;
  const BankStrip worst = worst_strip(*view.access);
  for (std::size_t one = 0; one < view.access->all.size(); ++one)
    if (view.access->all[one].warp == worst.warp && view.access->all[one].issue == worst.issue)
      for (int phase = 0; phase < phases(*view.access); ++phase) strips.push_back(bank_strip(*view.access, one, phase));
  return strips;
}

}  // namespace

template <class Io>
void visit(Io& io, const LaneExchange& exchange) {
  io.written("lane_bit", exchange.lane), io.written("register_bit", exchange.register_bit);
}

template <class Io>
void visit(Io& io, const ServedWord& word) {
  io.written("word", word.word), io.written("lanes", word.lanes);
}

template <class Io>
void visit(Io& io, const BankStrip& strip) {
  io.written("warp", strip.warp), io.written("issue", strip.issue), io.written("phase", strip.phase);
  io.written("first_lane", strip.first_lane), io.written("lanes", strip.lanes), io.written("ways", strip.ways);
  io.written("banks", std::vector(strip.banks.begin(), strip.banks.end()), "the words that lanes want of each, one served per cycle");
}

namespace {

template <class Io>
void visit(Io& io, const AlternativeRow& row) {
  const LayoutAlternative& alternative = row.alternative;
  const LaneExchange& exchange = alternative.instruction.exchange;
  const bool possible = alternative.refused.empty();
  io.written("layout", alternative.layout), io.written("instruction", alternative.instruction.name);
  io.written_if(exchange.used(), "exchange", exchange), io.written("taken", alternative.current);
  io.written_if(possible, "port", alternative.cost.port), io.written_if(possible, "least", alternative.cost.least);
  io.written_if(possible, "ways", alternative.cost.ways), io.written_if(possible, "issues", alternative.cost.issues);
  io.written_if(possible, "selects", alternative.cost.selects), io.written_if(possible, "bytes", alternative.bytes);
  io.written_if(possible, "registers", alternative.registers), io.written_if(possible && row.bound() > 0, "ii_at_least", row.bound());
  io.written("why", [&] { return not_taken_text(row.view, row.index); });
}

}  // namespace

template <class Io>
void visit(Io& io, const LayoutView& view) {
  const bool there = view.access.has_value();
  io.written("title", view.title), io.written("value", view.value);
  io.written("other", view.other, "the value on the other side of the access; may be empty");
  io.written("op", view.op, "of the access");
  io.written("dtype", [&] { return to_string(view.dtype); });
  io.written("rows", view.rows), io.written("columns", view.columns), io.written("registers", view.registers_text);
  io.written("memory", view.memory_text), io.written("instruction", view.instruction);
  io.written_if(there, "warps", [&] { return view.access->warps; });
  io.written_if(there, "issues", view.cost.issues);
  io.written_if(there, "port", view.cost.port, "cycles that shared memory's port is held");
  io.written_if(there, "least", view.cost.least, "the same if no lanes met");
  io.written_if(there, "ways", view.cost.ways, "of the worst phase");
  io.written("why", view.why), io.written("alternatives", alternative_rows(view));
  io.written("phases", worst_strips(view), "of the instruction with the worst of them");
}

Json layout_json(const LayoutView& view) { return as::part.write(view); }

Json layout_schema() { return nameless_schema<LayoutView>("heddle.layout/1", "What heddle layout answers of one layout"); }

std::string layout_csv(const LayoutView& view) {
  std::string text = "row,column,warp,lane,register,copies,byte,bank,issue,phase\n";
  const auto add = [&](std::int64_t number, bool known) {
    text += ',';
    if (known) fmt::format_to(std::back_inserter(text), "{}", number);
  };
  for (std::int64_t row = 0; row < view.rows; ++row)
    for (std::int64_t column = 0; column < view.columns; ++column) {
      const LayoutCell& cell = view.at(row, column);
      fmt::format_to(std::back_inserter(text), "{},{}", row, column);
      for (const std::int32_t number : {cell.warp, cell.lane, cell.reg}) add(number, number >= 0);
      add(cell.copies, cell.copies > 0);
      add(cell.byte, cell.byte >= 0);
      for (const std::int32_t number : {cell.bank, cell.issue, cell.phase}) add(number, number >= 0);
      text += '\n';
    }
  return text;
}

}  // namespace heddle
