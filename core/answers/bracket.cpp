#include "core/answers/bracket.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/chart/chart_layout.h"
#include "core/chart/csv.h"

namespace heddle {
namespace {

/// Names of ops that share a text, in the order of the ops.
class NamesByText {
 public:
  void add(const std::string& text, const std::string& name) {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& entry) { return entry.first == text; });
    if (found == all_.end())
      all_.emplace_back(text, name);
    else
      found->second += ", " + name;
  }
  const std::vector<std::pair<std::string, std::string>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

bool keeps_order(const StudyOptions& options) { return options.arbitration == Arbitration::Scheduled; }

std::string fixed(double cycles) { return fmt::format("{:.2f}", cycles); }

}  // namespace

Json exact_json(const ExactCycles& cycles) {
  return Json::object().set("cycles", cycles.weight).set("iterations", cycles.tokens).set("per_iteration", cycles.cycles());
}

std::string spreads_text(const Problem& problem) {
  NamesByText names;
  for (const Op& op : problem.ops)
    if (!op.spread.empty()) names.add(fmt::format("{}, scheduled for {}", describe(op.spread.cases), op.spread.chosen()), op.name);
  std::string text;
  for (const auto& [spread, ops] : names.all()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", printable(ops), spread);
  return text;
}

std::string bracket_text(const Problem& problem, const PeriodBracket& bracket, int width) {
  const std::string title = fmt::format("latencies: {}", spreads_text(problem));
  if (!bracket.missing.empty())
    return wrapped(title, "", width) + wrapped("no bracket of the expected period: " + printable(bracket.missing), "", width);
  NamesByText means, thresholds;
  for (const LatencyThreshold& t : bracket.thresholds) {
    const Op& op = problem.ops[t.op];
    means.add(ExactCycles{op.spread.mean(), kWholeShare}.text(), op.name);
    thresholds.add(t.cycles.text(), op.name);
  }
  const auto listed = [](const NamesByText& names) {
    std::string text;
    for (const auto& [number, ops] : names.all()) text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", number, printable(ops));
    return text;
  };
  std::string text = wrapped(title, "", width);
  text +=
      wrapped(fmt::format("expected period {} to {} cycles where units keep the schedule's order", bracket.low.text(), bracket.high.text()),
              "", width);
  text += wrapped(fmt::format("at least {}: the period at the mean latencies, {}", bracket.low.text(), listed(means)), "  ", width);
  std::string most =
      fmt::format("at most {}: {} with latencies up to {}", bracket.high.text(), bracket.at_thresholds.text(), listed(thresholds));
  std::vector<std::string> more;
  for (const LatencyThreshold& t : bracket.thresholds)
    if (t.excess.weight > 0) more.push_back(t.excess.text() + " (" + printable(problem.ops[t.op].name) + ")");
  if (!more.empty()) {
    most += ", and in the mean ";
    for (std::size_t i = 0; i < more.size(); ++i) most += (i ? " + " : "") + more[i];
    most += " for what is longer";
  }
  return text + wrapped(most, "  ", width);
}

Json bracket_json(const Problem& problem, const PeriodBracket& bracket) {
  Json latencies = Json::array();
  std::size_t next = 0;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const LatencySpread& spread = problem.ops[v].spread;
    if (spread.empty()) continue;
    Json cases = Json::array();
    for (const LatencyCase& c : spread.cases)
      cases.push(Json::object().set("cycles", c.cycles).set("share", static_cast<double>(c.share) / static_cast<double>(kWholeShare)));
    Json item = Json::object().set("op", problem.ops[v].name).set("cases", std::move(cases)).set("scheduled_for", spread.chosen());
    if (bracket.missing.empty()) {
      const LatencyThreshold& t = bracket.thresholds[next++];
      item.set("in_full_up_to", exact_json(t.cycles)).set("mean_excess", exact_json(t.excess));
    }
    latencies.push(std::move(item));
  }
  const bool there = bracket.missing.empty();
  return Json::object()
      .set("missing", bracket.missing)
      .set("at_least", there ? exact_json(bracket.low) : Json())
      .set("at_most", there ? exact_json(bracket.high) : Json())
      .set("latencies", std::move(latencies));
}

std::string depths_text(const Problem& problem, const SpreadStudy& study, const SpreadRow& row) {
  std::string text;
  for (std::size_t i = 0; i < study.rings.size(); ++i)
    text += fmt::format("{}{} {}", i ? ", " : "", printable(problem.channel(study.rings[i]).name), row.depths[i]);
  return text;
}

std::string spread_summary(const Problem& problem, const Schedule& schedule, const SpreadStudy& study, const StudyOptions& options,
                           const TextStyle& style) {
  std::string text = fmt::format("period by shared memory, II {}\n", grouped(schedule.ii));
  text += wrapped(fmt::format("latencies: {}", spreads_text(problem)), "", style.width);
  if (study.rings.empty()) return text + "no ring is filled by them\n";
  text += wrapped(fmt::format("simulated: {} of {} iterations each, seeds from {}; in brackets the standard error of their mean",
                              count_of(options.runs, "run"), grouped(study.trips), options.seed),
                  "", style.width);
  if (!keeps_order(options)) text += wrapped(kNoBracket, "", style.width);
  if (study.unordered > 0 && keeps_order(options))
    text += wrapped(
        fmt::format("{} on units cannot be kept by streams that issue in order; the loop runs without, and may be below the bracket",
                    count_of(study.unordered, "order")),
        "", style.width);
  std::vector<TextColumn> columns{{"ring depths"}, {""}, {"shared memory", true}};
  if (keeps_order(options)) columns.push_back({"at least", true});
  columns.push_back({"simulated", true});
  if (keeps_order(options)) columns.push_back({"at most", true});
  std::vector<std::vector<std::string>> rows;
  for (const SpreadRow& row : study.rows) {
    const bool there = row.bracket.missing.empty();
    rows.push_back({depths_text(problem, study, row), row.now ? "as now" : "",
                    bytes_of(row.bytes, problem.limits.smem_bytes) + (row.fits ? "" : " !")});
    if (keeps_order(options)) rows.back().push_back(there ? row.bracket.low.text() : "");
    rows.back().push_back(row.fault.empty() ? fmt::format("{} ({:.2f})", fixed(row.mean), row.error) : "deadlock");
    if (keeps_order(options)) rows.back().push_back(there ? row.bracket.high.text() : "");
  }
  text += text_table(columns, rows);
  if (std::any_of(study.rows.begin(), study.rows.end(), [](const SpreadRow& row) { return !row.fits; }))
    text += "!: more than a CTA may use\n";
  if (study.cut) text += "there are more; these are the first\n";
  return text;
}

std::string spread_csv(const Problem& problem, const SpreadStudy& study, const StudyOptions& options) {
  std::vector<std::string> head;
  for (const ChannelId ring : study.rings) head.push_back("depth_" + problem.channel(ring).name);
  for (const char* name : {"smem_bytes", "fits", "now", "at_least_cycles", "simulated_cycles", "standard_error", "at_most_cycles"})
    head.emplace_back(name);
  std::string text = csv_record(head);
  for (const SpreadRow& row : study.rows) {
    const bool there = keeps_order(options) && row.bracket.missing.empty();
    std::vector<std::string> fields;
    for (const int depth : row.depths) fields.push_back(std::to_string(depth));
    fields.push_back(std::to_string(row.bytes));
    fields.emplace_back(row.fits ? "1" : "0");
    fields.emplace_back(row.now ? "1" : "0");
    fields.push_back(there ? fmt::format("{:.6f}", row.bracket.low.cycles()) : "");
    fields.push_back(row.fault.empty() ? fmt::format("{:.3f}", row.mean) : "");
    fields.push_back(row.fault.empty() ? fmt::format("{:.3f}", row.error) : "");
    fields.push_back(there ? fmt::format("{:.6f}", row.bracket.high.cycles()) : "");
    text += csv_record(fields);
  }
  return text;
}

void set_spread_study(Json& root, const Problem& problem, const SpreadStudy& study, const StudyOptions& options) {
  Json rings = Json::array(), rows = Json::array();
  for (const ChannelId ring : study.rings) rings.push(problem.channel(ring).name);
  for (const SpreadRow& row : study.rows) {
    const bool there = keeps_order(options) && row.bracket.missing.empty();
    Json depths = Json::array();
    for (const int depth : row.depths) depths.push(depth);
    rows.push(Json::object()
                  .set("depths", std::move(depths))
                  .set("smem_bytes", row.bytes)
                  .set("fits", row.fits)
                  .set("now", row.now)
                  .set("at_least", there ? exact_json(row.bracket.low) : Json())
                  .set("simulated", row.fault.empty() ? Json(row.mean) : Json())
                  .set("standard_error", row.fault.empty() ? Json(row.error) : Json())
                  .set("at_most", there ? exact_json(row.bracket.high) : Json())
                  .set("fault", row.fault));
  }
  root.set("study", "depth").set("runs", options.runs).set("trips", study.trips).set("seed", options.seed);
  root.set("no_bracket", keeps_order(options) ? "" : kNoBracket).set("cut", study.cut);
  root.set("rings", std::move(rings)).set("rows", std::move(rows));
}

}  // namespace heddle
