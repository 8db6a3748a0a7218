// Cells of the scoreboard.
#include "core/answers/scoreboard_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/channels.h"
#include "core/base/text_style.h"

namespace heddle {
namespace {

struct ColumnSpec {
  const char* title;
  const char* about;
  bool number;
};

const ColumnSpec& spec(ScoreColumn column) {
  static const ColumnSpec kSpecs[] = {
      {"", "place by sustainable period", true},
      {"schedule", "its name", false},
      {"kind", "solver, hand schedule, baseline (heuristic) or file", false},
      {"II", "initiation interval that the schedule states, cycles", true},
      {"period", "cycles per iteration that the program sustains, from its event graph", true},
      {"gap %", "how far the period lies above the proved lower bound", true},
      {"kcycles", "the whole kernel, simulated with units that serve whoever comes first: thousands of cycles", true},
      {"stalls %", "of the simulated time of the groups that compute: standing still for data, units, slots or orders", true},
      {"stages", "iterations in flight", true},
      {"warps", "warps of the CTA", true},
      {"regs", "registers per thread of the group that needs most", true},
      {"SMEM KiB", "shared memory set aside", true},
      {"TMEM", "tensor memory columns set aside", true},
      {"waits", "waits on barriers in one iteration, all groups", true},
      {"checker", "verdict of the independent checker", false}};
  return kSpecs[static_cast<std::size_t>(column)];
}

std::string checker_text(const Contender& c) {
  if (!c.schedule) return "no schedule";
  if (c.valid()) return c.status == Status::Optimal ? "valid, proved" : "valid";
  return count_of(static_cast<std::int64_t>(c.verdict.violations.size()), "violation");
}

std::string cell(const Scoreboard& board, const Contender& c, int place, ScoreColumn column, NumberText number) {
  if (column == ScoreColumn::Name) return printable(c.name);
  if (column == ScoreColumn::Kind) return to_string(c.kind);
  if (column == ScoreColumn::Checker) return checker_text(c);
  if (column == ScoreColumn::Place) return place > 0 ? std::to_string(place) : "-";
  if (!c.schedule) return "-";
  switch (column) {
    case ScoreColumn::Period: return c.period.deadlock ? "deadlock" : number(c.period.cycles());
    case ScoreColumn::Gap:
      if (const auto gap = gap_percent(board, c)) return fmt::format("{:.1f}", *gap);
      return "-";
    case ScoreColumn::II: return number(c.schedule->ii);
    case ScoreColumn::Stages: return number(c.stages);
    case ScoreColumn::Warps: return number(c.usage.warps);
    case ScoreColumn::Registers: {
      int most = 0;
      for (const int budget : c.usage.register_budget) most = std::max(most, budget);
      return number(most);
    }
    case ScoreColumn::Smem: return fmt::format("{:.4g}", static_cast<double>(c.usage.smem_bytes) / 1024);
    case ScoreColumn::Tmem: return c.usage.tmem_columns > 0 ? number(rounded_columns(c.usage.tmem_columns)) : "-";
    case ScoreColumn::Kernel:
      if (!c.simulated || !c.simulated->fault.empty()) return "-";
      return c.simulated->cycles < 10'000'000 ? fmt::format("{:.1f}", static_cast<double>(c.simulated->cycles) / 1000) : number(c.simulated->cycles / 1000);
    case ScoreColumn::Stalled: return c.simulated && c.simulated->fault.empty() ? fmt::format("{:.0f}", 100 * c.simulated->stalled()) : "-";
    case ScoreColumn::Waits: return number(c.waits);
    default: return "-";
  }
}

bool same_period(const Period& a, const Period& b) { return a.weight * b.tokens == b.weight * a.tokens; }

}  // namespace

const char* title(ScoreColumn column) { return spec(column).title; }
const char* about(ScoreColumn column) { return spec(column).about; }
bool is_number(ScoreColumn column) { return spec(column).number; }

std::vector<ScoreRow> score_rows(const Scoreboard& board, NumberText number) {
  std::vector<ScoreRow> rows;
  const Contender* before = nullptr;
  for (const std::size_t i : ranking(board)) {
    const Contender& c = board.contenders[i];
    ScoreRow row;
    row.contender = i;
    if (c.valid() && !c.period.deadlock)
      row.place = before && same_period(before->period, c.period) ? rows.back().place : static_cast<int>(rows.size()) + 1;
    for (const ScoreColumn column : kScoreColumns) row.cells.push_back(cell(board, c, row.place, column, number));
    before = &c;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string score_reason(const Contender& c) {
  if (!c.schedule) return c.why_not;
  if (!c.verdict.valid()) {
    const std::size_t more = c.verdict.violations.size() - 1;
    return c.verdict.violations.front().message + (more > 0 ? fmt::format(" (and {} more)", more) : "");
  }
  std::string text = c.period.sentence;
  if (!c.simulated || !c.simulated->fault.empty() || c.simulated->stalled() < 0.005) return text;
  text += "; stands still for ";
  std::string parts;
  for (std::size_t r = 0; r < kStallReasons; ++r)
    if (const double share = c.simulated->stalls[r]; share >= 0.005)
      parts += fmt::format("{}{} {:.0f} %", parts.empty() ? "" : ", ", to_string(static_cast<StallReason>(r)), 100 * share);
  return text + parts;
}

std::string scoreboard_headline(const Scoreboard& board, NumberText number) {
  const auto legal = std::count_if(board.contenders.begin(), board.contenders.end(), [](const Contender& c) { return c.valid(); });
  const auto illegal = std::count_if(board.contenders.begin(), board.contenders.end(),
                                     [](const Contender& c) { return c.schedule && !c.verdict.valid(); });
  std::string text = count_of(legal, "legal schedule");
  if (illegal > 0) text += fmt::format(", {} illegal", illegal);
  text += fmt::format("; II >= {} is proved", number(board.lower_bound));
  if (!board.why.empty()) text += ": " + board.why;
  return text;
}

}  // namespace heddle
