#include "core/answers/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/answers/answer_members.h"
#include "core/base/report_rows.h"

namespace heddle {
namespace {

constexpr double kClose = 0.10;
constexpr double kSame = 0.0005;  ///< gains below this are none

ValidatedKind kind_from(const std::string& kind, const std::string& arch, std::vector<double> ratios, const ValidationGround& ground) {
  ValidatedKind sum;
  sum.kind = kind;
  sum.arch = arch;
  sum.rows = ratios.size();
  std::sort(ratios.begin(), ratios.end());
  const std::size_t n = ratios.size();
  sum.low = ratios.front();
  sum.high = ratios.back();
  sum.median = n % 2 == 1 ? ratios[n / 2] : (ratios[n / 2 - 1] + ratios[n / 2]) / 2;
  double logs = 0, squares = 0;
  for (const double ratio : ratios) logs += std::log(ratio), squares += std::log(ratio) * std::log(ratio);
  const double mean = logs / static_cast<double>(n);
  sum.mean = std::exp(mean);
  sum.spread = std::sqrt(std::max(0.0, squares / static_cast<double>(n) - mean * mean));
  const auto close = std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return std::abs(ratio - 1) <= kClose; });
  sum.close = static_cast<double>(close) / static_cast<double>(n);
  for (const Band& band : ground.bands)
    if (band.kind == kind && band.arch == arch) sum.band = band;
  return sum;
}

ValidatedPair judged(const ValidatedRow& row, const OrderingPair& pair, const ValidatedRow& other) {
  ValidatedPair result{row.row.id, pair, row.row.tflops / other.row.tflops, {}, {}, !row.row.fitted.empty() && !other.row.fitted.empty()};
  for (const ValidatedRow* side : {&row, &other})
    if (!side->predicted()) {
      result.why_not = fmt::format("{}: {}", side->row.id, side->prediction.why_not);
      return result;
    }
  if (row.row.counterpart == other.row.counterpart && row.row.zeros == other.row.zeros)
    result.why_not = "both are the same simulation";
  else
    result.predicted = row.prediction.tflops / other.prediction.tflops;
  return result;
}

using Rows = std::vector<std::vector<std::string>>;

Rows kind_rows(const Validation& validation) {
  Rows rows;
  for (const ValidatedKind& kind : validation.kinds)
    rows.push_back({kind_title(kind), std::to_string(kind.rows), fmt::format("{:.2f}", kind.median), fmt::format("{:.2f}", kind.mean),
                    fmt::format("{:.0f} %", 100 * kind.spread), fmt::format("{:.2f} to {:.2f}", kind.low, kind.high),
                    fmt::format("{:.0f} %", 100 * kind.close), band_text(kind)});
  return rows;
}

Rows pair_rows(const Validation& validation, bool expressed) {
  Rows rows;
  for (const ValidatedPair& pair : validation.pairs) {
    if (pair.predicted.has_value() != expressed) continue;
    rows.push_back(
        {fmt::format("{} > {}", printable(pair.id), printable(pair.pair.than)), printable(pair.pair.changes), gain_text(pair.measured)});
    if (expressed)
      rows.back().insert(rows.back().end(), {gain_text(*pair.predicted), pair_verdict(pair), printable(pair.pair.not_yet)});
    else
      rows.back().push_back(printable(pair.why_not));
  }
  return rows;
}

Rows row_rows(const Validation& validation) {
  Rows rows;
  for (const ValidatedRow& row : validation.rows)
    if (row.predicted())
      rows.push_back({printable(row.row.id), kind_of(row.row), shortened(printable(row.row.implementation), 32), printable(row.row.machine),
                      fmt::format("{:.0f}", row.row.tflops), fmt::format("{:.0f}", row.prediction.tflops),
                      fmt::format("{:.2f}", row.ratio()), row.prediction.binds,
                      row.row.fitted.empty() ? "" : "fitted: " + printable(row.row.fitted)});
  return rows;
}

/// Reasons with the number of rows that have them.
std::map<std::string, std::size_t> reasons(const Validation& validation) {
  std::map<std::string, std::size_t> count;
  for (const ValidatedRow& row : validation.rows)
    if (!row.predicted()) ++count[row.prediction.why_not];
  return count;
}

const std::vector<std::string> kKindTitles{
    "kind", "rows", "median", "geometric mean", "spread", "from least to greatest", "within 10 %", "band of the median"};
const std::vector<std::string> kPairTitles{"pair", "what the first has", "measured", "predicted", "", "known"};
const std::vector<std::string> kUnsaidTitles{"pair", "what the first has", "measured", "why not"};
const std::vector<std::string> kRowTitles{"id", "kind", "implementation", "machine", "measured", "predicted", "ratio", "busiest", ""};

std::string markdown_table(const std::vector<std::string>& titles, const Rows& rows) {
  std::vector<TextColumn> columns;
  for (const std::string& title : titles) columns.push_back({title});
  std::string text = markdown_head(columns);
  for (const auto& row : rows) text += markdown_row(row);
  return text;
}

std::string table_of(const std::vector<std::string>& titles, const Rows& rows, const std::vector<std::size_t>& numbers, int width) {
  std::vector<TextColumn> columns;
  for (std::size_t i = 0; i < titles.size(); ++i)
    columns.push_back({titles[i], std::find(numbers.begin(), numbers.end(), i) != numbers.end()});
  return text_table(columns, rows, width);
}

}  // namespace

std::string kind_of(const PublishedRow& row) { return row.kind == "measurement" ? row.kind : row.kernel + (row.causal ? "_causal" : ""); }

std::string kind_title(const ValidatedKind& kind) { return fmt::format("{}, {}", kind.kind, kind.arch.empty() ? "no machine" : kind.arch); }

std::string gain_text(double gain) { return fmt::format("{:+.1f} %", 100 * (gain - 1)); }

std::string pair_verdict(const ValidatedPair& pair) {
  if (!pair.predicted) return "not expressed";
  if (pair.fitted) return "fitted to it";
  if (pair.size_right()) return "sign and size right";
  if (pair.sign_right()) return "sign right, size not";
  return std::abs(*pair.predicted - 1) < kSame ? "no difference predicted" : "sign wrong";
}

std::string band_text(const ValidatedKind& kind) {
  if (!kind.band) return "";
  return fmt::format("{:.2f} to {:.2f}{}", kind.band->low, kind.band->high, kind.inside() ? "" : ": LEFT");
}

bool ValidatedPair::sign_right() const { return predicted && std::abs(*predicted - 1) >= kSame && (*predicted > 1) == (measured > 1); }

bool ValidatedPair::size_right() const { return sign_right() && std::abs(*predicted - measured) <= kSizePoints; }

bool Validation::holds() const {
  return std::all_of(kinds.begin(), kinds.end(), [](const ValidatedKind& kind) { return kind.inside(); }) &&
         std::all_of(pairs.begin(), pairs.end(), [](const ValidatedPair& pair) { return pair.expected(); });
}

Validation sum_up(std::vector<ValidatedRow> rows, const ValidationGround& ground, bool complete) {
  Validation validation;
  validation.complete = complete;
  std::map<std::pair<std::string, std::string>, std::vector<double>> ratios;
  std::map<std::string, const ValidatedRow*> by_id;
  for (const ValidatedRow& row : rows) {
    by_id[row.row.id] = &row;
    if (row.predicted() && row.row.fitted.empty()) ratios[{row.prediction.arch, kind_of(row.row)}].push_back(row.ratio());
  }
  for (const auto& [key, list] : ratios) validation.kinds.push_back(kind_from(key.second, key.first, list, ground));
  for (const ValidatedRow& row : rows)
    for (const OrderingPair& pair : row.row.pairs)
      if (const auto other = by_id.find(pair.than); other != by_id.end()) validation.pairs.push_back(judged(row, pair, *other->second));
  validation.rows = std::move(rows);
  return validation;
}

Trust trust_of(const ValidationGround& ground, const std::string& kind, const std::string& arch) {
  for (const Band& band : ground.bands)
    if (band.kind == kind && band.arch == arch && band.rows > 0)
      return {
          true, fmt::format("validated, spread {:.0f} %", 100 * band.spread),
          fmt::format("validated for {} on {}: measured / predicted {:.2f} in the median, spread {:.0f} %, over {} published measurements",
                      kind, arch, band.median, 100 * band.spread, band.rows)};
  return {false, "model, not validated", "the model's word, not validated: no published measurements of this kind of kernel on " + arch};
}

std::string validation_headline(const Validation& validation) {
  const auto run = std::count_if(validation.rows.begin(), validation.rows.end(), [](const ValidatedRow& row) { return row.predicted(); });
  std::size_t expressed = 0, signs = 0, sizes = 0, unsaid = 0;
  for (const ValidatedPair& pair : validation.pairs)
    if (!pair.fitted)
      unsaid += !pair.predicted, expressed += pair.predicted.has_value(), signs += pair.sign_right(), sizes += pair.size_right();
  const auto left =
      std::count_if(validation.kinds.begin(), validation.kinds.end(), [](const ValidatedKind& kind) { return !kind.inside(); });
  const auto turned =
      std::count_if(validation.pairs.begin(), validation.pairs.end(), [](const ValidatedPair& pair) { return !pair.expected(); });
  std::string text = fmt::format("{} of {} rows predicted; pairs: {} of {} have the right sign, {} the right size, {} cannot be expressed",
                                 run, validation.rows.size(), signs, expressed, sizes, unsaid);
  if (left > 0) text += fmt::format("; the median of {} left its band", count_of(left, "kind"));
  if (turned > 0) text += fmt::format("; {} changed sign", count_of(turned, "pair"));
  return text + (validation.complete ? "" : "; stopped before its end");
}

std::string validation_text(const Validation& validation, const TextStyle& style) {
  std::string text = validation_headline(validation) + "\n";
  text += "\nTFLOP/s, and measured over predicted\n" + table_of(kRowTitles, row_rows(validation), {4, 5, 6}, style.width);
  text += "\nmeasured over predicted, by kind\n" + table_of(kKindTitles, kind_rows(validation), {1, 2, 3, 4, 6}, style.width);
  if (const Rows said = pair_rows(validation, true); !said.empty())
    text += "\npairs that differ in one thing: how much faster the first is\n" + table_of(kPairTitles, said, {2, 3}, style.width);
  if (const Rows unsaid = pair_rows(validation, false); !unsaid.empty())
    text += "\npairs that the model cannot express\n" + table_of(kUnsaidTitles, unsaid, {2}, style.width);
  const auto why = reasons(validation);
  if (!why.empty()) text += "\nrows without a prediction\n";
  for (const auto& [reason, count] : why) text += wrapped(printable(reason), fmt::format("  {:3}  ", count), style.width);
  return text;
}

std::string validation_markdown(const Validation& validation) {
  std::string text = markdown_safe(validation_headline(validation)) + "\n\nMeasured over predicted:\n\n" +
                     markdown_table(kKindTitles, kind_rows(validation));
  if (const Rows said = pair_rows(validation, true); !said.empty()) text += "\nPairs:\n\n" + markdown_table(kPairTitles, said);
  if (const Rows unsaid = pair_rows(validation, false); !unsaid.empty())
    text += "\nPairs that the model cannot express:\n\n" + markdown_table(kUnsaidTitles, unsaid);
  return text + "\nRows (TFLOP/s):\n\n" + markdown_table(kRowTitles, row_rows(validation));
}

template <class Io>
void visit(Io& io, const ValidatedRow& row) {
  io.written("id", row.row.id), io.written("kind", kind_of(row.row)), io.written("machine", row.row.machine);
  io.written("implementation", row.row.implementation);
  io.written("measured", row.row.tflops, "TFLOP/s, as the next");
  io.written("predicted", only_if(row.predicted(), row.prediction.tflops));
  io.written("ratio", only_if(row.predicted(), row.ratio()), "of measured over predicted");
  io.written("clock", row.prediction.clock), io.written("busiest", row.prediction.binds);
  io.written("fitted", row.row.fitted, "which number of Heddle's was made from it; then it does not count");
  io.written("why_not", row.prediction.why_not);
}

template <class Io>
void visit(Io& io, const ValidatedKind& kind) {
  const auto band = [&] { return kind.band ? std::optional(std::vector{kind.band->low, kind.band->high}) : std::nullopt; };
  io.written("kind", kind.kind), io.written("arch", kind.arch);
  io.written("rows", kind.rows, "those that nothing was fitted to");
  io.written("median", kind.median, "of measured over predicted");
  io.written("geometric_mean", kind.mean);
  io.written("spread", kind.spread, "standard deviation of the ratio's logarithm");
  io.written("least", kind.low), io.written("greatest", kind.high);
  io.written("within_10_percent", kind.close, "part of the rows");
  io.written("band", band, "in which the median has to lie");
  io.written("inside", kind.inside());
}

template <class Io>
void visit(Io& io, const ValidatedPair& pair) {
  const bool known = pair.predicted.has_value();
  io.written("id", pair.id), io.written("than", pair.pair.than), io.written("changes", pair.pair.changes);
  io.written("measured", pair.measured, "how much faster the first is, as the next");
  io.written("predicted", pair.predicted, "null: the model cannot express what the two differ in");
  io.written("sign_right", only_if(known, known && pair.sign_right()));
  io.written("size_right", only_if(known, known && pair.size_right())), io.written("expected", pair.expected());
  io.written("fitted", pair.fitted), io.written("not_yet", pair.pair.not_yet), io.written("why_not", pair.why_not);
}

template <class Io>
void visit(Io& io, const Validation& validation) {
  io.written("holds", validation.holds()), io.written("complete", validation.complete), io.written("rows", validation.rows);
  io.written("kinds", validation.kinds), io.written("pairs", validation.pairs);
}

Json validation_json(const Validation& validation) { return as::part.write(validation); }

Json validated_schema() { return nameless_schema<Validation>("heddle.validate/1", "What heddle validate answers"); }

}  // namespace heddle
