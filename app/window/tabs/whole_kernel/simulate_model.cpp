#include "app/window/tabs/whole_kernel/simulate_model.h"

#include <fmt/format.h>

#include "core/answers/bracket.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr double kLeastPercent = 0.1;  ///< a wait below this is not worth a row

double percent_of(Cycle part, Cycle whole) { return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0; }

std::string share_text(double percent) {
  if (percent <= 0) return "-";
  return percent < 0.05 ? "<0.1 %" : fmt::format("{:.1f} %", percent);
}

void add_depths(const SpreadStudy& study, const Problem& problem, SimulateModel& model) {
  model.latencies = spreads_text(problem);
  for (const SpreadRow& row : study.rows) {
    if (!row.bracket.missing.empty()) continue;
    DepthPoint point{static_cast<double>(row.bytes) / 1024,
                     row.bracket.low.cycles(),
                     row.mean,
                     row.bracket.high.cycles(),
                     row.fault.empty(),
                     row.now,
                     row.fits,
                     ""};
    point.about = fmt::format("{}: {} bytes of shared memory{}\nat least {}, simulated {:.2f}, at most {} cycles an iteration{}",
                              depths_text(problem, study, row), grouped(row.bytes), row.fits ? "" : ", more than a CTA may use",
                              row.bracket.low.text(), row.mean, row.bracket.high.text(), row.now ? "\nas now" : "");
    model.depths.push_back(std::move(point));
  }
}

}  // namespace

SimulateModel build_simulate(const SimulationAnswer& answer, const Problem& problem) {
  SimulateModel model;
  const std::size_t loop_ops = problem.ops.size();
  if (answer.depths) add_depths(*answer.depths, problem, model);
  const KernelRun& run = answer.kernel;
  if (run.microseconds > 0) model.bar = build_time_bar(run.microseconds, run.tflops, answer.parts);
  for (std::size_t g = 0; g < run.sm.groups.size(); ++g) {
    const GroupTime& time = run.sm.groups[g];
    GroupShare share{printable(role_name(run.program.schedule, g)), percent_of(time.busy, run.sm.cycles),
                     percent_of(time.idle, run.sm.cycles)};
    for (std::size_t r = 0; r < kStallReasons; ++r) share.stalls[r] = percent_of(time.stalls[r], run.sm.cycles);
    model.groups.push_back(std::move(share));
  }
  const std::vector<Op>& ops = run.program.problem.ops;
  for (const Wait& wait : run.sm.waits) {
    const double percent = percent_of(wait.cycles, run.sm.cycles);
    if (percent < kLeastPercent) break;
    model.waits.push_back({wait.at.index() < loop_ops ? wait.at : OpId{}, printable(ops[wait.at.index()].name),
                           wait.behind.valid() ? printable(ops[wait.behind.index()].name) : "first come", printable(wait.what),
                           to_string(wait.reason), wait.cycles, percent});
  }
  for (const UsedShare& used : run.used)
    if (2 * used.part >= run.used.front().part)
      model.busy += fmt::format("{}{} {:.0f} %", model.busy.empty() ? "" : ", ", printable(used.name), 100 * used.part);
  if (run.extrapolated) model.notes.emplace_back("Extrapolated from a part of the work.");
  if (run.by_chance)
    model.notes.push_back(
        fmt::format("No named barriers keep the order on the tensor cores: the mean over {} distances between the groups.", kPhases));
  if (!run.program.free_ops.empty()) {
    std::string names;
    for (const std::string& name : run.program.free_ops) names += (names.empty() ? "" : ", ") + printable(name);
    model.notes.push_back("No cost is known outside the loop for " + names + ": taken as nothing.");
  }
  model.notes.emplace_back("The order of tiles in L2 is not modelled.");
  return model;
}

std::vector<Column<GroupShare>> group_share_columns() {
  using Row = GroupShare;
  const auto share = [](auto of) { return [of](const Row& row) { return share_text(of(row)); }; };
  std::vector<Column<Row>> columns{Column<Row>{"group", false, [](const Row& row) { return row.name; }}.wide(1.6f),
                                   Column<Row>{"issuing", true, share([](const Row& row) { return row.issuing; })}.wide(1.0f)};
  for (std::size_t r = 0; r < kStallReasons; ++r) {
    const auto reason = static_cast<StallReason>(r);
    columns.push_back(Column<Row>{to_string(reason), true, share([r](const Row& row) { return row.stalls[r]; })}.wide(1.0f));
    columns.back().about = reason == StallReason::Data     ? "stands still: waits for a value"
                           : reason == StallReason::Order  ? "stands still at a barrier that only keeps an order"
                           : reason == StallReason::Unit   ? "stands still: the unit is busy, or it is another op's turn"
                           : reason == StallReason::Credit ? "stands still: the ring's slot is not free yet"
                                                           : "";
  }
  columns.push_back(Column<Row>{"idle", true, share([](const Row& row) { return row.idle; })}.wide(1.0f));
  columns.back().about = "after its last op";
  return columns;
}

std::vector<Column<WaitRow>> wait_columns() {
  using Row = WaitRow;
  return {Column<Row>{"op", false, [](const Row& row) { return row.name; }}.wide(1.0f),
          Column<Row>{"waits for", false, [](const Row& row) { return row.behind; }}.wide(1.2f),
          Column<Row>{"through", false, [](const Row& row) { return row.through; }}.wide(1.9f),
          Column<Row>{"reason", false, [](const Row& row) { return row.reason; }}.wide(0.7f),
          Column<Row>{"cycles", true, [](const Row& row) { return grouped(row.cycles); }}.wide(1.1f).as_copied(
              [](const Row& row) { return std::to_string(row.cycles); }),
          Column<Row>{"share", true, [](const Row& row) { return share_text(row.percent); }}.wide(0.9f)};
}

}  // namespace heddle::app
