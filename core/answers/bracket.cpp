#include "core/answers/bracket.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/answers/answer_members.h"
#include "core/answers/simulation.h"
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

struct CaseLine {
  Cycle cycles = 0;
  double share = 0;
};

struct LatencyLine {
  std::string op;
  std::vector<CaseLine> cases;
  Cycle chosen = 0;
  std::optional<LatencyThreshold> threshold;
};

struct BracketAnswer {
  const PeriodBracket& bracket = blank<PeriodBracket>;
  std::vector<LatencyLine> latencies;
};

struct SpreadAnswer {
  const Problem& problem = blank<Problem>;
  const Schedule& schedule = blank<Schedule>;
  const SpreadStudy& study = blank<SpreadStudy>;
  const StudyOptions& options = blank<StudyOptions>;
};

std::vector<LatencyLine> latency_lines(const Problem& problem, const PeriodBracket& bracket) {
  std::vector<LatencyLine> lines;
  auto next = bracket.thresholds.begin();
  for (const Op& op : problem.ops) {
    if (op.spread.empty()) continue;
    lines.push_back({op.name, {}, op.spread.chosen(), {}});
    LatencyLine& line = lines.back();
    for (const LatencyCase& c : op.spread.cases)
      line.cases.push_back({c.cycles, static_cast<double>(c.share) / static_cast<double>(kWholeShare)});
    if (bracket.missing.empty()) line.threshold = *next++;
  }
  return lines;
}

template <class Io>
void visit(Io& io, const CaseLine& line) {
  io.written("cycles", line.cycles), io.written("share", line.share);
}

template <class Io>
void visit(Io& io, const LatencyLine& line) {
  const bool there = line.threshold.has_value();
  io.written("op", line.op), io.written("cases", line.cases), io.written("scheduled_for", line.chosen);
  io.written_if(there, "in_full_up_to", [&] { return line.threshold->cycles; });
  io.written_if(there, "mean_excess", [&] { return line.threshold->excess; });
}

template <class Io>
void visit(Io& io, const BracketAnswer& answer) {
  const PeriodBracket& bracket = answer.bracket;
  io.part("bracket", "both ends of the expected period, where latencies are not always the same");
  io.written("missing", bracket.missing, "why there is none; empty: there is one");
  io.written("at_least", only_if(bracket.missing.empty(), bracket.low));
  io.written("at_most", only_if(bracket.missing.empty(), bracket.high)), io.written("latencies", answer.latencies);
}

}  // namespace

template <class Io>
void visit(Io& io, const as::InContext<SpreadRow, StudyOptions>& in) {
  const SpreadRow& row = in.part;
  const bool there = keeps_order(in.context) && row.bracket.missing.empty();
  io.written("depths", row.depths), io.written("smem_bytes", row.bytes), io.written("fits", row.fits), io.written("now", row.now);
  io.written("at_least", only_if(there, row.bracket.low)), io.written("simulated", only_if(row.fault.empty(), row.mean));
  io.written("standard_error", only_if(row.fault.empty(), row.error)), io.written("at_most", only_if(there, row.bracket.high));
  io.written("fault", row.fault);
}

namespace {

template <class Io>
void visit(Io& io, const SpreadAnswer& answer) {
  const SpreadStudy& study = answer.study;
  visit_subject(io, answer.problem, answer.schedule);
  io.written("study", "depth");
  io.written("runs", answer.options.runs), io.written("trips", study.trips), io.written("seed", answer.options.seed, as::seed);
  io.written("no_bracket", keeps_order(answer.options) ? "" : kNoBracket);
  io.written("cut", study.cut);
  io.written("rings", study.rings, as::list(as::NameIn{answer.problem}), "whose depths the rows have");
  io.written("rows", study.rows, as::list(as::part_in(answer.options)));
}

}  // namespace

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
  return as::part.write(BracketAnswer{bracket, latency_lines(problem, bracket)});
}

Json bracket_schema(Json& definitions) { return as::part.schema(BracketAnswer{}, definitions); }

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

Json spread_json(const Problem& problem, const Schedule& schedule, const SpreadStudy& study, const StudyOptions& options) {
  return document_json(kSimulationSchema, SpreadAnswer{problem, schedule, study, options});
}

Json spread_schema(Json& definitions) { return inner_schema<SpreadAnswer>(kSimulationSchema, "depth_study", definitions); }

}  // namespace heddle
