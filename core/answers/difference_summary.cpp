// Text of a comparison.
#include "core/answers/difference_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/answers/summary.h"

namespace heddle {
namespace {

const char* arrow(const MetricRow& row, const TextStyle& style) {
  if (row.direction == 0) return "";
  if (style.utf8) return row.direction > 0 ? "▲ " : "▼ ";
  return row.direction > 0 ? "+ " : "- ";
}

const char* judgement(const MetricRow& row) { return row.better > 0 ? "B better" : row.better < 0 ? "A better" : ""; }

std::string side_text(char letter, const ComparedSchedule& one, const TextStyle& style) {
  std::string text = styled(fmt::format("{}  {}: {}", letter, one.name, standing(one, ungrouped)), style) + "\n";
  if (!one.period.sentence.empty()) text += "   " + styled(one.period.sentence, style) + "\n";
  if (!one.verdict.valid()) text += "   " + styled("first violation: " + one.verdict.violations.front().message, style) + "\n";
  return text;
}

}  // namespace

std::string difference_headline(const Difference& difference, const ComparedSchedule& a, const ComparedSchedule& b, const TextStyle& style) {
  std::string text = relation(difference, *a.schedule, *b.schedule);
  if (difference.first) text += "; " + difference.first->sentence;
  return styled(text, style);
}

std::string difference_summary(const Problem& problem, const ComparedSchedule& a, const ComparedSchedule& b, const Difference& difference,
                               const Alignment& alignment, bool all, const TextStyle& style) {
  std::string text = problem_title(problem) + "\n";
  text += side_text('A', a, style) + side_text('B', b, style);
  text += std::string(relation(difference, *a.schedule, *b.schedule)) + "\n";
  if (difference.first) text += styled(fmt::format("first divergence, cycle {}: {}", difference.first->at, difference.first->sentence), style) + "\n";

  std::vector<std::vector<std::string>> rows;
  for (const MetricRow& row : metric_rows(problem, a, b, difference, ungrouped))
    rows.push_back({styled(row.name, style), styled(row.a, style), styled(row.b, style), row.change.empty() ? "" : arrow(row, style) + styled(row.change, style),
                    judgement(row)});
  text += "\nnumbers\n" + text_table({{""}, {"A", true}, {"B", true}, {"B against A"}, {""}}, rows);

  rows.clear();
  for (const OpDifferenceRow& row : op_difference_rows(problem, *a.schedule, *b.schedule, difference, ungrouped)) {
    if (!all && !row.difference.differs()) continue;
    rows.push_back({printable(problem.op(row.op).name), std::to_string(row.difference.a_start), std::to_string(row.a_slot), std::to_string(row.a_stage),
                    printable(row.a_group), std::to_string(row.difference.b_start), std::to_string(row.b_slot), std::to_string(row.b_stage),
                    printable(row.b_group), row.difference.delta == 0 ? "0" : fmt::format("{:+}", row.difference.delta), styled(row.change, style)});
  }
  const std::string aligned = styled(describe(alignment, problem, difference.shift, ungrouped), style);
  if (rows.empty()) return text + "\nops, " + aligned + ": none starts at another time or in another group\n";
  const std::size_t differing = static_cast<std::size_t>(std::count_if(difference.ops.begin(), difference.ops.end(), [](const OpDifference& op) { return op.differs(); }));
  text += fmt::format("\nops, {}: {} of {} differ\n", aligned, differing, difference.ops.size());
  return text + text_table({{"op"}, {"A start", true}, {"slot", true}, {"stage", true}, {"group"}, {"B start", true}, {"slot", true}, {"stage", true},
                            {"group"}, {"delta", true}, {""}},
                           rows);
}

}  // namespace heddle
