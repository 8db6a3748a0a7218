#include "core/answers/scoreboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/analysis/channels.h"
#include "core/analysis/pipeline_program.h"
#include "core/answers/answer_members.h"
#include "core/answers/csv_members.h"
#include "core/answers/summary.h"
#include "core/base/report_rows.h"
#include "core/simulate/forecast.h"
#include "core/simulate/uncertain.h"

namespace heddle {

namespace {

constexpr int kSamples = 12;  ///< of numbers that are off

/// Compares periods as the ratios they are; both have one.
bool shorter(const Period& a, const Period& b) { return a.weight * b.tokens < b.weight * a.tokens; }

/// As hardware runs it; none where that is not known.
std::optional<Cycle> predicted_cycles(const Contender& c) {
  if (!c.simulated || !c.simulated->fault.empty() || c.simulated->cycles <= 0) return {};
  return c.simulated->cycles;
}

/// Of two whose periods both decide: whether one is shorter.
bool by_period(const Contender& a, const Contender& b) {
  return predicted_cycles(a) && predicted_cycles(b) && a.simulated->decides && b.simulated->decides &&
         a.simulated->period != b.simulated->period;
}

/// What comes first: legal, illegal with a period, illegal without, no schedule.
int rank_class(const Contender& c) {
  if (!c.schedule) return 3;
  if (c.valid() && !c.period.deadlock) return 0;
  return c.period.deadlock ? 2 : 1;
}

}  // namespace

double SimulatedFigures::stalled() const { return std::accumulate(stalls.begin(), stalls.end(), 0.0); }

SimulatedFigures simulated_figures(const Instance& instance, const Schedule& schedule, const ClockChoice& clock) {
  const KernelRun run = run_kernel(instance, schedule, comparison_run(clock));
  SimulatedFigures figures;
  figures.fault = run.fault;
  if (!run.fault.empty()) return figures;
  figures.cycles = run.cycles;
  const std::optional<double> deciding = deciding_period(instance.problem(), schedule);
  figures.decides = deciding.has_value();
  figures.period = deciding.value_or(run.sm.period.cycles());
  figures.microseconds = run.microseconds;
  figures.tflops = run.tflops;
  figures.clock = run.clock.text;
  figures.spread = period_spread(uncertain_numbers(instance.problem(), instance.machine(), kSamples), schedule);
  // The producer waits for slots nearly always, which is its business.
  const std::size_t first = run.sm.groups.size() > 1 ? 1 : 0;
  double time = 0;
  for (std::size_t g = first; g < run.sm.groups.size(); ++g) {
    const GroupTime& group = run.sm.groups[g];
    time += static_cast<double>(run.sm.cycles - group.idle);
    for (std::size_t r = 0; r < kStallReasons; ++r) figures.stalls[r] += static_cast<double>(group.stalls[r]);
  }
  for (double& share : figures.stalls) share = time > 0 ? share / time : 0;
  return figures;
}

const char* to_string(ContenderKind kind) {
  switch (kind) {
    case ContenderKind::Solver: return "solver";
    case ContenderKind::Hand: return "hand";
    case ContenderKind::Baseline: return "baseline";
    case ContenderKind::File: return "file";
  }
  return "file";
}

Contender measured(const Problem& problem, const Constraints& constraints, Contender c) {
  if (!c.schedule) return c;
  const Schedule& schedule = *c.schedule;
  c.verdict = check(problem, schedule, constraints);
  if (!c.verdict.valid())
    c.status = Status::Invalid;
  else if (c.status != Status::Optimal)
    c.status = Status::Feasible;
  c.period = sustainable_period(problem, schedule);
  c.usage = compute_usage(problem, schedule);
  c.stages = stage_count(schedule);
  c.barriers = static_cast<int>(ring_barriers(problem, schedule));
  for (const PipelineGroup& group : pipeline_program(problem, schedule).groups)
    c.waits += static_cast<int>(std::count_if(group.lines.begin(), group.lines.end(), [](const PipelineLine& line) {
      return line.kind == PipelineLine::Kind::Wait || line.kind == PipelineLine::Kind::Acquire;
    }));
  return c;
}

std::optional<double> gap_percent(const Scoreboard& board, const Contender& c) {
  if (!c.valid() || c.period.deadlock || board.lower_bound <= 0) return {};
  if (board.bound_on_ii && c.period.cycles() < board.lower_bound) return {};
  return 100.0 * (static_cast<double>(c.period.cycles()) / static_cast<double>(board.lower_bound) - 1);
}

std::vector<std::size_t> ranking(const Scoreboard& board) {
  std::vector<std::size_t> order(board.contenders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    const Contender &a = board.contenders[i], &b = board.contenders[j];
    const int class_a = rank_class(a), class_b = rank_class(b);
    if (class_a != class_b) return class_a < class_b;
    if (class_a > 1) return false;
    const auto time_a = predicted_cycles(a), time_b = predicted_cycles(b);
    if (time_a && time_b && a.simulated->decides != b.simulated->decides) return a.simulated->decides;
    if (by_period(a, b)) return a.simulated->period < b.simulated->period;
    if (time_a && time_b && *time_a != *time_b) return *time_a < *time_b;
    if (time_a.has_value() != time_b.has_value()) return time_a.has_value();
    return shorter(a.period, b.period);
  });
  return order;
}

std::vector<std::string> beyond_bound(const Scoreboard& board) {
  std::vector<std::string> names;
  for (const Contender& c : board.contenders) {
    if (!c.valid() || c.period.deadlock || stage_count(*c.schedule) > board.bound_stages) continue;
    const Cycle reached = board.bound_on_ii ? c.schedule->ii : std::max<Cycle>(1, c.period.cycles());
    if (reached < board.lower_bound) names.push_back(c.name);
  }
  return names;
}

namespace {

struct ColumnSpec {
  const char* title;
  const char* word;
  const char* about;
  bool number;
};

const ColumnSpec& spec(ScoreColumn column) {
  static const ColumnSpec kSpecs[] = {
      {"", "place", "place by predicted time; by period where nothing is predicted", true},
      {"schedule", "name", "its name", false},
      {"kind", "kind", "solver, hand schedule, baseline (heuristic) or file", false},
      {"period", "period", "cycles an iteration takes, where warp groups take time from each other if the machine knows how: what ranks",
       true},
      {"us", "time", "the whole kernel, simulated as hardware runs it: microseconds, at the clock that this load leaves", true},
      {"TFLOP/s", "speed", "the whole kernel, simulated, at the same clock", true},
      {"if off", "off", "cycles an iteration as hardware runs it when numbers are off: mean and 95th percentile", true},
      {"stalls %", "stalls", "of the simulated time of the groups that compute: standing still for data, units, slots or orders", true},
      {"II", "ii", "initiation interval that the schedule states, cycles", true},
      {"sustains", "sustained", "cycles per iteration that the program sustains where nothing contends, from its event graph", true},
      {"gap %", "gap", "how far that lies above the proved lower bound on II", true},
      {"stages", "stages", "iterations in flight", true},
      {"warps", "warps", "warps of the CTA", true},
      {"regs", "registers", "registers per thread of the group that needs most", true},
      {"SMEM KiB", "smem", "shared memory set aside", true},
      {"TMEM", "tmem", "tensor memory columns set aside", true},
      {"waits", "waits", "waits on barriers in one iteration, all groups", true},
      {"checker", "checker", "verdict of the independent checker", false}};
  return kSpecs[static_cast<std::size_t>(column)];
}

std::string checker_text(const Contender& c) {
  if (!c.schedule) return "no schedule";
  if (c.valid()) return c.status == Status::Optimal ? "valid, proved" : "valid";
  return count_of(static_cast<std::int64_t>(c.verdict.violations.size()), "violation");
}

int most_registers(const Contender& c) {
  int most = 0;
  for (const int budget : c.usage.register_budget) most = std::max(most, budget);
  return most;
}

/// Where the clock is not known there are only cycles.
std::string time_cell(const SimulatedFigures& of, NumberText number) {
  if (of.microseconds <= 0) return number(of.cycles / 1000) + " kcycles";
  return of.microseconds < 100'000 ? fmt::format("{:.1f}", of.microseconds) : number(std::llround(of.microseconds));
}

std::string cell(const Scoreboard& board, const Contender& c, int place, ScoreColumn column, NumberText number) {
  if (column == ScoreColumn::Name) return printable(c.name);
  if (column == ScoreColumn::Kind) return to_string(c.kind);
  if (column == ScoreColumn::Checker) return checker_text(c);
  if (column == ScoreColumn::Place) return place > 0 ? std::to_string(place) : "-";
  if (!c.schedule) return "-";
  switch (column) {
    case ScoreColumn::Period: return predicted_cycles(c) && c.simulated->period > 0 ? number(std::llround(c.simulated->period)) : "-";
    case ScoreColumn::Sustained: return c.period.deadlock ? "deadlock" : number(c.period.cycles());
    case ScoreColumn::Gap:
      if (const auto gap = gap_percent(board, c)) return fmt::format("{:.1f}", *gap);
      return "-";
    case ScoreColumn::II: return number(c.schedule->ii);
    case ScoreColumn::Stages: return number(c.stages);
    case ScoreColumn::Warps: return number(c.usage.warps);
    case ScoreColumn::Registers: return number(most_registers(c));
    case ScoreColumn::Smem: return fmt::format("{:.4g}", static_cast<double>(c.usage.smem_bytes) / 1024);
    case ScoreColumn::Tmem: return c.usage.tmem_columns > 0 ? number(rounded_columns(c.usage.tmem_columns)) : "-";
    case ScoreColumn::Time: return predicted_cycles(c) ? time_cell(*c.simulated, number) : "-";
    case ScoreColumn::Speed:
      return c.simulated && c.simulated->fault.empty() && c.simulated->tflops > 0 ? fmt::format("{:.0f}", c.simulated->tflops) : "-";
    case ScoreColumn::Off:
      if (!c.simulated || !c.simulated->fault.empty() || c.simulated->spread.mean <= 0) return "-";
      return fmt::format("{:.0f}-{:.0f}", c.simulated->spread.mean, c.simulated->spread.high);
    case ScoreColumn::Stalled: return c.simulated && c.simulated->fault.empty() ? fmt::format("{:.0f}", 100 * c.simulated->stalled()) : "-";
    case ScoreColumn::Waits: return number(c.waits);
    default: return "-";
  }
}

bool same_period(const Period& a, const Period& b) { return a.weight * b.tokens == b.weight * a.tokens; }

bool same_place(const Contender& a, const Contender& b) {
  return !by_period(a, b) && predicted_cycles(a) == predicted_cycles(b) && (predicted_cycles(a) || same_period(a.period, b.period));
}

/// What rows are sorted by; none: nothing is there.
std::optional<double> sort_key(const Scoreboard& board, const Contender& c, ScoreColumn column) {
  if (!c.schedule) return {};
  const bool simulated = predicted_cycles(c).has_value();
  const auto of_run = [&](double value) { return simulated && value > 0 ? std::optional(value) : std::nullopt; };
  switch (column) {
    case ScoreColumn::Time: return of_run(simulated ? static_cast<double>(c.simulated->cycles) : 0);
    case ScoreColumn::Speed: return of_run(simulated ? c.simulated->tflops : 0);
    case ScoreColumn::Off: return of_run(simulated ? c.simulated->spread.mean : 0);
    case ScoreColumn::Stalled: return simulated ? std::optional(c.simulated->stalled()) : std::nullopt;
    case ScoreColumn::II: return static_cast<double>(c.schedule->ii);
    case ScoreColumn::Period: return of_run(simulated ? c.simulated->period : 0);
    case ScoreColumn::Sustained:
      if (c.period.deadlock) return {};
      return static_cast<double>(c.period.weight) / static_cast<double>(c.period.tokens);
    case ScoreColumn::Gap: return gap_percent(board, c);
    case ScoreColumn::Stages: return c.stages;
    case ScoreColumn::Warps: return c.usage.warps;
    case ScoreColumn::Registers: return most_registers(c);
    case ScoreColumn::Smem: return static_cast<double>(c.usage.smem_bytes);
    case ScoreColumn::Tmem: return static_cast<double>(c.usage.tmem_columns);
    case ScoreColumn::Waits: return c.waits;
    default: return {};
  }
}

}  // namespace

const char* title(ScoreColumn column) { return spec(column).title; }
const char* about(ScoreColumn column) { return spec(column).about; }
bool is_number(ScoreColumn column) { return spec(column).number; }
bool greatest_first(ScoreColumn column) { return column == ScoreColumn::Speed; }
const char* to_string(ScoreColumn column) { return spec(column).word; }

std::vector<ScoreRow> score_rows(const Scoreboard& board, NumberText number) {
  return score_rows(board, number, board.sorted, greatest_first(board.sorted));
}

std::vector<ScoreRow> score_rows(const Scoreboard& board, NumberText number, ScoreColumn by, bool descending) {
  std::vector<ScoreRow> rows;
  const Contender* before = nullptr;
  const bool by_time = std::any_of(board.contenders.begin(), board.contenders.end(),
                                   [](const Contender& c) { return c.valid() && predicted_cycles(c).has_value(); });
  for (const std::size_t i : ranking(board)) {
    const Contender& c = board.contenders[i];
    ScoreRow row;
    row.contender = i;
    const bool cannot_run = by_time && c.simulated && !predicted_cycles(c);
    if (c.valid() && !c.period.deadlock && !cannot_run)
      row.place = before && same_place(*before, c) ? rows.back().place : static_cast<int>(rows.size()) + 1;
    for (const ScoreColumn column : kScoreColumns) row.cells.push_back(cell(board, c, row.place, column, number));
    before = &c;
    rows.push_back(std::move(row));
  }
  if (by == ScoreColumn::Place) {
    if (descending) std::reverse(rows.begin(), std::find_if(rows.begin(), rows.end(), [](const ScoreRow& row) { return row.place == 0; }));
    return rows;
  }
  const std::size_t column = static_cast<std::size_t>(by);
  std::stable_sort(rows.begin(), rows.end(), [&](const ScoreRow& a, const ScoreRow& b) {
    if (!is_number(by)) return descending ? b.cells[column] < a.cells[column] : a.cells[column] < b.cells[column];
    const Contender &in_a = board.contenders[a.contender], &in_b = board.contenders[b.contender];
    const auto x = sort_key(board, in_a, by), y = sort_key(board, in_b, by);
    // Legal ones first, whatever the others would be.
    const auto last = [](const ScoreRow& row, const auto& k) { return (row.place == 0 ? 2 : 0) + (k ? 0 : 1); };
    if (last(a, x) != last(b, y)) return last(a, x) < last(b, y);
    return x && y && (descending ? *y < *x : *x < *y);
  });
  return rows;
}

std::string score_reason(const Contender& c) {
  if (!c.schedule) return c.why_not;
  if (!c.verdict.valid()) {
    const std::size_t more = c.verdict.violations.size() - 1;
    return c.verdict.violations.front().message + (more > 0 ? fmt::format(" (and {} more)", more) : "");
  }
  std::string text = c.period.sentence;
  if (c.simulated && !c.simulated->fault.empty()) return text + "; no time is predicted: " + c.simulated->fault;
  if (!c.simulated || c.simulated->stalled() < 0.005) return text;
  text += "; waits for ";
  std::string parts;
  for (std::size_t r = 0; r < kStallReasons; ++r)
    if (const double share = c.simulated->stalls[r]; share >= 0.005)
      parts += fmt::format("{}{} {:.0f} %", parts.empty() ? "" : ", ", to_string(static_cast<StallReason>(r)), 100 * share);
  return text + parts;
}

std::string scoreboard_headline(const Scoreboard& board, NumberText number) {
  const auto legal = std::count_if(board.contenders.begin(), board.contenders.end(), [](const Contender& c) { return c.valid(); });
  const auto illegal =
      std::count_if(board.contenders.begin(), board.contenders.end(), [](const Contender& c) { return c.schedule && !c.verdict.valid(); });
  std::string text = count_of(legal, "valid schedule");
  if (illegal > 0) text += fmt::format(", {} invalid", illegal);
  text += fmt::format("; II >= {} is proved", number(board.lower_bound));
  if (!board.why.empty()) text += ": " + board.why;
  return text;
}

namespace {

std::string how_it_ended(const Scoreboard& board) {
  if (board.cancelled) return "interrupted: what is missing was not looked at";
  return board.timed_out ? "time is up: the solver's own schedule is not proved" : "";
}

/// What the simulated speeds assume: the clock of the first that has one.
std::string clock_line(const Scoreboard& board) {
  for (const std::size_t i : ranking(board)) {
    const Contender& c = board.contenders[i];
    if (!c.simulated || !c.simulated->fault.empty() || c.simulated->tflops <= 0) continue;
    return fmt::format("us and TFLOP/s are simulated; {} at {}{}{}", printable(c.name), c.simulated->clock, board.trust.empty() ? "" : "; ",
                       printable(board.trust));
  }
  return {};
}

/// A name in `beyond` would be a fault of Heddle; it is said where the numbers are.
std::string fault_line(const Scoreboard& board) {
  std::string names;
  for (const std::string& name : beyond_bound(board)) names += (names.empty() ? "" : ", ") + printable(name);
  if (names.empty()) return {};
  return fmt::format("fault: {} is below the proved bound; model, checker or evaluator is wrong, please report it", names);
}

}  // namespace

std::string scoreboard_text(const Problem& problem, const Scoreboard& board, const TextStyle& style, bool with_log) {
  std::string text =
      styled(problem_title(problem), style) + "\n" + wrapped(styled(scoreboard_headline(board, ungrouped), style), "", style.width);
  if (const std::string end = how_it_ended(board); !end.empty()) text += wrapped(styled(end, style), "", style.width);
  text += "\n";
  std::vector<TextColumn> columns;
  for (const ScoreColumn column : kScoreColumns) columns.push_back({title(column), is_number(column)});
  const std::vector<ScoreRow> rows = score_rows(board, ungrouped);
  std::vector<std::vector<std::string>> cells;
  for (const ScoreRow& row : rows) {
    cells.push_back(row.cells);
    for (std::string& cell : cells.back()) cell = styled(cell, style);
  }
  text += text_table(columns, cells);
  text += "\n";
  for (const ScoreRow& row : rows) {
    const Contender& c = board.contenders[row.contender];
    text += wrapped(fmt::format("{}: {}", styled(c.name, style), styled(score_reason(c), style)), "  ", style.width);
    if (!with_log) continue;
    if (!c.about.empty()) text += wrapped(styled(c.about, style), "    ", style.width);
    for (const std::string& line : c.log) text += wrapped(styled(line, style), "      ", style.width);
  }
  for (const std::string& line : {clock_line(board), fault_line(board)})
    if (!line.empty()) text += "\n" + wrapped(styled(line, style), "", style.width);
  return text;
}

std::string scoreboard_markdown(const Problem& problem, const Scoreboard& board) {
  std::string text =
      "**" + markdown_safe(problem_title(problem)) + "**\n\n" + markdown_safe(scoreboard_headline(board, ungrouped)) + "\n\n";
  if (const std::string end = how_it_ended(board); !end.empty()) text += markdown_safe(end) + "\n\n";
  std::vector<TextColumn> columns;
  for (const ScoreColumn column : kScoreColumns) columns.push_back({title(column), is_number(column)});
  text += markdown_head(columns);
  const std::vector<ScoreRow> rows = score_rows(board, ungrouped);
  for (const ScoreRow& row : rows) text += markdown_row(row.cells);
  text += "\n";
  for (const ScoreRow& row : rows) {
    const Contender& c = board.contenders[row.contender];
    text += fmt::format("- **{}**: {}\n", markdown_safe(c.name), markdown_safe(score_reason(c)));
  }
  for (const std::string& line : {clock_line(board), fault_line(board)})
    if (!line.empty()) text += "\n" + markdown_safe(line) + "\n";
  return text;
}

namespace {

struct ContenderLine {
  const Problem& problem = blank<Problem>;
  const Scoreboard& board = blank<Scoreboard>;
  const Contender& contender = blank<Contender>;
  int place = 0;
};

/// The same as a record of CSV.
struct ContenderRecord : ContenderLine {};

struct ScoreboardAnswer {
  const Problem& problem = blank<Problem>;
  const Constraints& constraints = blank<Constraints>;
  const Scoreboard& board = blank<Scoreboard>;
};

std::vector<ContenderLine> contender_lines(const Problem& problem, const Scoreboard& board) {
  std::vector<ContenderLine> lines;
  for (const ScoreRow& row : score_rows(board, ungrouped)) lines.push_back({problem, board, board.contenders[row.contender], row.place});
  return lines;
}

std::vector<std::string> names_in_force(const Constraints& constraints) {
  std::vector<std::string> names;
  for (const UserConstraint& c : constraints)
    if (c.enabled) names.push_back(c.name);
  return names;
}

}  // namespace

template <class Io>
void visit(Io& io, const SimulatedFigures& figures) {
  const bool ran = figures.fault.empty();
  io.written_if(!ran, "fault", figures.fault, "why there is nothing else");
  io.written_if(ran, "cycles", figures.cycles, "of the kernel");
  io.written_if(ran, "period", figures.period), io.written_if(ran, "microseconds", figures.microseconds);
  io.written_if(ran, "tflops", figures.tflops, as::if_known);
  io.written_if(ran, "clock", figures.clock, "that the times assume");
  io.written_if(ran, "off", figures.spread, "cycles an iteration when numbers are off");
  io.written_if(ran, "stalls", figures.stalls, as::by_stall_reason, "shares of the time of the groups that compute");
}

namespace {

template <class Io>
void visit(Io& io, const ContenderLine& line) {
  const Contender& c = line.contender;
  const bool there = c.schedule.has_value();
  io.written("name", c.name);
  io.written("kind", c.kind, as::word("kind", ContenderKind::File));
  io.written("about", c.about);
  io.written("place", line.place, as::if_known, "from 1; equals share one; null: not ranked");
  io.written("log", c.log, "what a heuristic decided on its way");
  io.written(
      "reason", [&] { return score_reason(c); }, "what limits it, or why it is not ranked");
  io.written_if(there, "status", c.status, as::status), io.written_if(there, "ii", ii_of(c.schedule));
  io.written_if(there, "deadlock", c.period.deadlock), io.written_if(there, "period", only_if(!c.period.deadlock, c.period.cycles()));
  io.written_if(there, "gap_percent", gap_percent(line.board, c), "how far the period lies above the proved lower bound");
  io.written_if(there, "stages", c.stages), io.written_if(there, "warps", c.usage.warps);
  io.written_if(there, "smem_bytes", c.usage.smem_bytes), io.written_if(there, "tmem_columns", c.usage.tmem_columns);
  io.written_if(there, "registers", c.usage.register_budget, "per thread of each group");
  io.written_if(there, "barriers", c.barriers);
  io.written_if(there, "waits", c.waits, "on barriers, in one iteration");
  io.written_if(there, "simulated", c.simulated), io.written_if(there, "checker", c.verdict, as::part_in(line.problem));
  io.written(
      "schedule", [&] { return c.schedule ? schedule_json(line.problem, *c.schedule) : Json(); },
      as::or_null(as::described_by(schedule_schema)));
}

template <class Io>
void visit(Io& io, const ContenderRecord& record) {
  const Contender& c = record.contender;
  const bool has = c.schedule.has_value(), ran = c.simulated && c.simulated->fault.empty();
  const SimulatedFigures& run = ran ? *c.simulated : blank<SimulatedFigures>;
  const auto gap = gap_percent(record.board, c);
  io.written_if(record.place > 0, "place", record.place), io.written("schedule", printable(c.name));
  io.written("kind", to_string(c.kind)), io.written_if(has, "status", to_string(c.status)), io.written_if(has, "valid", c.valid());
  io.written_if(has, "deadlock", c.period.deadlock);
  io.written_if(has && !c.period.deadlock, "period_cycles", c.period.cycles()), io.written("gap_percent", gap, as::fixed(3));
  io.written("ii_cycles", ii_of(c.schedule)), io.written_if(has, "stages", c.stages), io.written_if(has, "warps", c.usage.warps);
  io.written_if(has, "registers_per_thread", most_registers(c)), io.written_if(has, "smem_bytes", c.usage.smem_bytes);
  io.written_if(has, "tmem_columns", c.usage.tmem_columns), io.written_if(has, "barriers", c.barriers);
  io.written_if(has, "waits", c.waits), io.written_if(has, "violations", c.verdict.violations.size());
  io.written_if(ran, "kernel_cycles", run.cycles), io.written_if(ran, "simulated_period_cycles", run.period, as::fixed(3));
  io.written_if(ran, "microseconds", run.microseconds, as::fixed(3)), io.written_if(run.tflops > 0, "tflops", run.tflops, as::fixed(1));
  io.written_if(ran, "clock", run.clock), io.written_if(ran, "off_mean", run.spread.mean, as::fixed(1));
  io.written_if(ran, "off_percentile_95", run.spread.high, as::fixed(1));
  io.written_if(ran, "stalled_percent", 100 * run.stalled(), as::fixed(2));
  io.written("reason", [&] { return printable(score_reason(c)); });
}

template <class Io>
void visit(Io& io, const ScoreboardAnswer& of) {
  const Scoreboard& board = of.board;
  io.written("lower_bound", board.lower_bound);
  io.written("why", board.why, "what the bound rests on");
  io.written("cancelled", board.cancelled), io.written("timed_out", board.timed_out), io.written("seconds", board.seconds, as::seconds);
  io.written("solver", board.solver);
  io.written("contenders", contender_lines(of.problem, board), "in the order of the board");
  io.written("beyond_bound", beyond_bound(board), "names of those that the bound forbids: a fault of Heddle");
  io.written("constraints", names_in_force(of.constraints));
  visit_problem(io, of.problem);
}

}  // namespace

std::string scoreboard_csv(const Scoreboard& board) {
  std::vector<ContenderRecord> records;
  for (const ContenderLine& line : contender_lines(blank<Problem>, board)) records.push_back({line});
  return csv_of(records);
}

Json scoreboard_json(const Problem& problem, const Constraints& constraints, const Scoreboard& board) {
  return as::part.write(ScoreboardAnswer{problem, constraints, board});
}

Json scoreboard_schema() { return nameless_schema<ScoreboardAnswer>("heddle.compare/1", "What heddle compare answers"); }

}  // namespace heddle
