#include "app/window/tabs/truth/truth_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/command/arguments.h"
#include "core/base/text_style.h"

namespace heddle::app {
namespace {

std::size_t place_in(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  const auto place = static_cast<std::size_t>(found - names.begin());
  if (found == names.end()) names.push_back(name);
  return place;
}

TruthRow row_of(const TruthAnswer& answer, std::size_t index, TruthModel& model) {
  const ValidatedRow& from = answer.validation.rows[index];
  TruthRow row;
  row.index = index;
  row.id = printable(from.row.id);
  row.kind = printable(kind_of(from.row));
  row.implementation = printable(from.row.implementation);
  row.machine = printable(from.row.machine);
  row.fitted = printable(from.row.fitted);
  row.clock = printable(from.prediction.clock);
  row.busiest = printable(from.prediction.binds);
  row.why_not = printable(from.prediction.why_not);
  row.measured = from.row.tflops;
  if (!from.predicted()) return row;
  row.predicted = from.prediction.tflops;
  row.ratio = from.ratio();
  row.color = place_in(model.kinds, row.kind);
  const auto& stands = answer.models[index];
  row.shape = place_in(model.machines, stands ? printable(stands->inputs.machine().name) : row.machine);
  return row;
}

TruthKind kind_row(const ValidatedKind& from) {
  TruthKind row;
  row.name = printable(kind_title(from));
  row.count = from.rows;
  row.rows = std::to_string(from.rows);
  row.median = fmt::format("{:.2f}", from.median);
  row.mean = fmt::format("{:.2f}", from.mean);
  row.spread = fmt::format("{:.0f} %", 100 * from.spread);
  row.range = fmt::format("{:.2f} to {:.2f}", from.low, from.high);
  row.close = fmt::format("{:.0f} %", 100 * from.close);
  row.band = band_text(from);
  row.order = from.median;
  row.average = from.mean;
  row.deviation = from.spread;
  row.least = from.low;
  row.part_close = from.close;
  row.inside = from.inside();
  return row;
}

TruthPair pair_row(const ValidatedPair& from, const Validation& validation) {
  TruthPair row;
  const auto at = std::find_if(validation.rows.begin(), validation.rows.end(), [&](const ValidatedRow& r) { return r.row.id == from.id; });
  row.row = static_cast<std::size_t>(at - validation.rows.begin());
  row.who = fmt::format("{} > {}", printable(from.id), printable(from.pair.than));
  row.what = printable(from.pair.changes);
  row.measured = gain_text(from.measured);
  row.measured_gain = from.measured;
  row.verdict = pair_verdict(from);
  row.known = printable(from.predicted ? from.pair.not_yet : from.why_not);
  if (from.predicted) {
    row.predicted = gain_text(*from.predicted);
    row.predicted_gain = *from.predicted;
  }
  row.tone = !from.predicted || from.fitted ? Tone::Neutral : !from.expected() ? Tone::Bad : from.size_right() ? Tone::Good : Tone::Warning;
  return row;
}

}  // namespace

TruthModel build_truth(const TruthAnswer& answer) {
  TruthModel model;
  model.headline = validation_headline(answer.validation);
  model.holds = answer.validation.holds();
  for (std::size_t i = 0; i < answer.validation.rows.size(); ++i) model.rows.push_back(row_of(answer, i, model));
  for (const ValidatedKind& kind : answer.validation.kinds) model.kind_rows.push_back(kind_row(kind));
  for (const ValidatedPair& pair : answer.validation.pairs) model.pairs.push_back(pair_row(pair, answer.validation));
  bool any = false;
  for (const TruthRow& row : model.rows) {
    if (!row.has_point()) continue;
    const auto [less, more] = std::minmax(row.measured, row.predicted);
    model.low = any ? std::min(model.low, less) : less;
    model.high = any ? std::max(model.high, more) : more;
    any = true;
  }
  model.low /= 1.1;
  model.high *= 1.1;
  return model;
}

std::string speeds_text(const TruthRow& row) {
  return fmt::format("measured {:.0f}, predicted {:.0f} TFLOP/s · ratio {:.2f}", row.measured, row.predicted, row.ratio);
}

std::string about_truth(const TruthRow& row) {
  std::string text = fmt::format("{} · {}\n{} on {}", row.id, row.kind, row.implementation, row.machine);
  if (row.has_point())
    text += fmt::format("\n{}", speeds_text(row));
  else
    text += fmt::format("\nmeasured {:.0f} TFLOP/s; not predicted: {}", row.measured, row.why_not);
  if (!row.clock.empty()) text += "\n" + row.clock;
  if (!row.busiest.empty()) text += "\nbusiest: " + row.busiest;
  if (!row.fitted.empty()) text += "\nfitted: " + row.fitted;
  return text;
}

TimeBar build_bar(const ValidatedRow& row, const std::vector<TimePart>& parts) {
  if (!row.predicted()) return {};
  TimeBar bar = build_time_bar(row.prediction.microseconds, row.prediction.tflops, parts);
  bar.measured = row.row.tflops > 0 ? bar.predicted * row.prediction.tflops / row.row.tflops : 0;
  return bar;
}

std::string simulate_line(const TruthAnswer& answer, std::size_t row) {
  if (row >= answer.models.size() || !answer.models[row]) return {};
  std::vector<std::string> words{"heddle", "simulate"};
  words.insert(words.end(), answer.models[row]->words.begin(), answer.models[row]->words.end());
  return shell_words(words);
}

std::vector<Column<TruthRow>> truth_columns() {
  using Row = TruthRow;
  const auto number = [](double Row::*member, const char* format) {
    return [member, format](const Row& row) { return row.*member > 0 ? fmt::format(fmt::runtime(format), row.*member) : std::string(); };
  };
  // In thousandths; rows without one come last.
  const auto key = [](double Row::*member) {
    return
        [member](const Row& row) { return row.*member > 0 ? std::optional<std::int64_t>(std::llround(row.*member * 1000)) : std::nullopt; };
  };
  const auto plain = [](double Row::*member) {
    return [member](const Row& row) { return row.*member > 0 ? fmt::format("{:.3f}", row.*member) : std::string(); };
  };
  return {
      {"id", false, [](const Row& row) { return row.id; }},
      {"kind", false, [](const Row& row) { return row.kind; }},
      {"implementation", false, [](const Row& row) { return row.implementation; }},
      {"machine", false, [](const Row& row) { return row.machine; }},
      Column<Row>{"measured", true, number(&Row::measured, "{:.0f}"), key(&Row::measured), "TFLOP/s"}.as_copied(plain(&Row::measured)),
      Column<Row>{"predicted", true, number(&Row::predicted, "{:.0f}"), key(&Row::predicted), "TFLOP/s"}.as_copied(plain(&Row::predicted)),
      Column<Row>{"ratio", true, number(&Row::ratio, "{:.2f}"), key(&Row::ratio), "measured over predicted"}.as_copied(plain(&Row::ratio)),
      {"busiest", false, [](const Row& row) { return row.busiest; }},
      {"note", false, [](const Row& row) {
         return !row.has_point() ? row.why_not : row.fitted.empty() ? std::string() : "fitted: " + row.fitted;
       }}};
}

std::vector<Column<TruthKind>> kind_columns() {
  using Row = TruthKind;
  const auto field = [](std::string Row::*member) { return [member](const Row& row) { return row.*member; }; };
  return {{"kind", false, field(&Row::name)},
          Column<Row>{"rows", true, field(&Row::rows), {}, "those that nothing was fitted to"}.sorted_by(
              [](const Row& row) { return row.count; }),
          Column<Row>{"median", true, field(&Row::median), {}, "of measured over predicted"}.sorted_by(
              [](const Row& row) { return row.order; }),
          Column<Row>{"mean", true, field(&Row::mean), {}, "geometric"}.sorted_by([](const Row& row) { return row.average; }),
          Column<Row>{"spread", true, field(&Row::spread), {}, "standard deviation of the ratio's logarithm"}.sorted_by(
              [](const Row& row) { return row.deviation; }),
          Column<Row>{"least to greatest", true, field(&Row::range)}.sorted_by([](const Row& row) { return row.least; }),
          Column<Row>{"within 10 %", true, field(&Row::close)}.sorted_by([](const Row& row) { return row.part_close; }),
          {"band", false, field(&Row::band), {}, "where the median has to lie"}};
}

std::vector<Column<TruthPair>> pair_columns() {
  using Row = TruthPair;
  const auto field = [](std::string Row::*member) { return [member](const Row& row) { return row.*member; }; };
  return {{"pair", false, field(&Row::who)},
          {"what the first has", false, field(&Row::what)},
          Column<Row>{"measured", true, field(&Row::measured), {}, "how much faster the first is"}.sorted_by(
              [](const Row& row) { return row.measured_gain; }),
          Column<Row>{"predicted", true, field(&Row::predicted), {}, "how much faster the first is"}.sorted_by(
              [](const Row& row) { return row.predicted_gain; }),
          {"verdict", false, field(&Row::verdict)},
          {"note", false, field(&Row::known)}};
}

}  // namespace heddle::app
