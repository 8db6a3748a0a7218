// Views of layouts as JSON and CSV, and the words of colours.
#include <fmt/format.h>

#include <iterator>

#include "core/answers/layout_view.h"
#include "core/base/words.h"

namespace heddle {
namespace {

Json layout_alternative_json(const LayoutView& view, std::size_t index) {
  const LayoutAlternative& alternative = view.alternatives[index];
  Json json = Json::object();
  json.set("layout", alternative.layout).set("instruction", alternative.instruction.name);
  if (alternative.instruction.exchange.used())
    json.set("exchange", Json::object()
                             .set("lane_bit", alternative.instruction.exchange.lane)
                             .set("register_bit", alternative.instruction.exchange.register_bit));
  json.set("taken", alternative.current);
  if (alternative.refused.empty()) {
    json.set("port", alternative.cost.port).set("least", alternative.cost.least).set("ways", alternative.cost.ways);
    json.set("issues", alternative.cost.issues).set("selects", alternative.cost.selects);
    json.set("bytes", alternative.bytes).set("registers", alternative.registers);
    if (index < view.bounds.size() && view.bounds[index] > 0) json.set("ii_at_least", view.bounds[index]);
  }
  return json.set("why", not_taken_text(view, index));
}

Json strip_json(const BankStrip& strip) {
  Json banks = Json::array();
  for (const std::vector<ServedWord>& bank : strip.banks) {
    Json words = Json::array();
    for (const ServedWord& word : bank) {
      Json lanes = Json::array();
      for (const int lane : word.lanes) lanes.push(lane);
      words.push(Json::object().set("word", word.word).set("lanes", std::move(lanes)));
    }
    banks.push(std::move(words));
  }
  Json json = Json::object();
  json.set("warp", strip.warp).set("issue", strip.issue).set("phase", strip.phase).set("first_lane", strip.first_lane);
  return json.set("lanes", strip.lanes).set("ways", strip.ways).set("banks", std::move(banks));
}

}  // namespace

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

Json layout_json(const LayoutView& view) {
  Json json = Json::object();
  json.set("title", view.title).set("value", view.value).set("other", view.other).set("op", view.op);
  json.set("dtype", to_string(view.dtype)).set("rows", view.rows).set("columns", view.columns);
  json.set("registers", view.registers_text).set("memory", view.memory_text).set("instruction", view.instruction);
  if (view.access) {
    json.set("warps", view.access->warps).set("issues", view.cost.issues);
    json.set("port", view.cost.port).set("least", view.cost.least).set("ways", view.cost.ways);
  }
  json.set("why", view.why);
  Json alternatives = Json::array();
  for (std::size_t i = 0; i < view.alternatives.size(); ++i) alternatives.push(layout_alternative_json(view, i));
  json.set("alternatives", std::move(alternatives));
  Json strips = Json::array();
  if (view.access && !view.access->all.empty()) {
    // Of the instruction with the worst phase: all of them would be thousands of lines that hardly differ.
    const BankStrip worst = worst_strip(*view.access);
    for (std::size_t one = 0; one < view.access->all.size(); ++one)
      if (view.access->all[one].warp == worst.warp && view.access->all[one].issue == worst.issue)
        for (int phase = 0; phase < phases(*view.access); ++phase) strips.push(strip_json(bank_strip(*view.access, one, phase)));
  }
  return json.set("phases", std::move(strips));
}

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
