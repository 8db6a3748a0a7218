#include "core/triton/audit/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/answers/summary.h"
#include "core/base/report_rows.h"
#include "core/chart/csv.h"
#include "core/check/checker.h"
#include "core/formats/schedule_json.h"

namespace heddle::triton {
namespace {

Cycle best_period(const Comparison& comparison) {
  Cycle best = 0;
  for (const Side& side : comparison.sides)
    if (runs(side) && (best == 0 || side.period < best)) best = side.period;
  return best;
}

double percent(Cycle value, Cycle base) {
  return 100.0 * static_cast<double>(value - base) / static_cast<double>(std::max<Cycle>(1, base));
}

/// "4 % less", "0.3 % more", "as many".
std::string against(Cycle value, Cycle base) {
  if (value == base) return "as many";
  const double off = std::abs(percent(value, base));
  return fmt::format("{} % {}", off < 9.95 ? fmt::format("{:.1f}", off) : fmt::format("{:.0f}", off), value < base ? "less" : "more");
}

/// The text has no schedule of Triton's own; this is what the rules of its pipeliner would make of it.
bool predicted(const Side& side) { return side.whose == Whose::Tritons && side.schedule && side.native && !side.native->has_own; }

/// The first rule that a schedule breaks; empty where it breaks none, or that cannot be told.
std::string broken_rule(const Side& side) {
  if (!side.schedule || !side.problem || side.status != Status::Invalid) return {};
  const Verdict verdict = check(*side.problem, *side.schedule, side.constraints);
  if (verdict.violations.empty()) return {};
  const std::size_t more = verdict.violations.size() - 1;
  return verdict.violations.front().message + (more > 0 ? fmt::format(" (and {} more)", more) : "");
}

/// Whether the bound says that no schedule of this side's reading takes fewer cycles.
bool proved(const Side& side) { return side.status == Status::Optimal; }

std::string standing_of(const Side& side) {
  if (!side.schedule) return "no schedule";
  if (predicted(side) && side.status == Status::Feasible) return "valid, predicted";
  switch (side.status) {
    case Status::Optimal: return "valid, proved best";
    case Status::Feasible:
      return side.whose == Whose::Tritons || side.lower_bound == 0 ? "valid" : fmt::format("valid, bound {}", side.lower_bound);
    case Status::Invalid: return "breaks a rule";
    case Status::Infeasible:
    case Status::Unknown: break;
  }
  return "not judged";
}

const std::vector<TextColumn>& side_columns() {
  static const std::vector<TextColumn> columns{{"schedule"},       {"II", true},      {"period", true}, {"% above best", true},
                                               {"groups", true},   {"warps", true},   {"stages", true}, {"SMEM KiB", true},
                                               {"TMEM col", true}, {"checker, proof"}};
  return columns;
}

std::vector<std::string> side_cells(const Comparison& comparison, const Side& side) {
  std::vector<std::string> cells{title(side.whose)};
  if (!side.schedule) {
    cells.resize(side_columns().size() - 1, "-");
    cells.push_back(standing_of(side));
    return cells;
  }
  const Cycle best = best_period(comparison);
  cells.push_back(std::to_string(side.schedule->ii));
  cells.push_back(side.period > 0 ? std::to_string(side.period) : "stuck");
  cells.push_back(runs(side) ? fmt::format("{:.1f}", percent(side.period, best)) : "-");
  cells.push_back(std::to_string(side.groups));
  cells.push_back(std::to_string(side.warps));
  cells.push_back(std::to_string(side.stages));
  cells.push_back(fmt::format("{:.4g}", static_cast<double>(side.shared_bytes) / 1024));
  cells.push_back(side.tmem_columns > 0 ? std::to_string(side.tmem_columns) : "-");
  cells.push_back(standing_of(side));
  return cells;
}

/// What a side is, and why it is no faster or is not there.
std::string about_side(const Side& side) {
  std::string text = predicted(side) ? "What Triton's compiler would choose, predicted by the rules of its passes." : about(side.whose);
  if (!side.schedule) return text + (side.why_not.empty() ? "" : " None: " + side.why_not + ".");
  if (const std::string rule = broken_rule(side); !rule.empty()) text += " It breaks a rule: " + rule + ".";
  if (side.explanation.empty()) return text;
  return text + (side.explanation.starts_with("II ") ? " " : fmt::format(" II {}: ", side.schedule->ii)) + side.explanation + ".";
}

}  // namespace

bool runs(const Side& side) { return side.schedule && side.status != Status::Invalid && side.period > 0; }

TextReading reading_of(const Side& side) {
  return side.taken_from.value_or(side.whose) == Whose::BestOfMachine ? TextReading::Free : TextReading::Triton;
}

std::vector<std::string> prices(const Comparison& comparison, NumberText number) {
  std::vector<std::string> lines;
  const Side &own = comparison.of(Whose::Tritons), &passes = comparison.of(Whose::BestOfTriton),
             &machine = comparison.of(Whose::BestOfMachine);
  const auto cycles = [&](Cycle count) { return number(count) + (count == 1 ? " cycle" : " cycles"); };
  if (runs(own) && runs(passes)) {
    const Cycle more = own.period - passes.period;
    lines.push_back(
        more > 0    ? fmt::format("Triton's order costs {} per iteration more than the best that its passes could build ({:.1f} %): "
                                     "that much can be had by other stages, clusters and partitions.",
                                  cycles(more), percent(own.period, passes.period))
        : more == 0 ? fmt::format("Triton's order is as good as {} that its passes could build.", proved(passes) ? "the best" : "any found")
                    : std::string("No schedule better than Triton's own was found in time."));
  }
  const Side& from = runs(passes) ? passes : own;
  if (runs(from) && runs(machine)) {
    const Cycle more = from.period - machine.period;
    const char* what = &from == &passes ? "Staying within what Triton's passes can build" : "Triton's order";
    lines.push_back(more > 0 ? fmt::format("{} costs {} per iteration ({:.1f} %): warp specialization, other hand-offs, other rings.", what,
                                           cycles(more), percent(from.period, machine.period))
                             : fmt::format("{} costs nothing here.", what));
  }
  return lines;
}

const char* title(NextStep step) {
  switch (step) {
    case NextStep::GivenBack: return "Give it back to Triton";
    case NextStep::Cuda: return "What Triton's passes cannot build, as Heddle's own CUDA";
    case NextStep::Python: return "Its overlap within Triton, as the rotated loop in Python";
  }
  return "";
}

std::vector<NextStep> ways_out(const Comparison& comparison) {
  std::vector<NextStep> ways;
  const Side &own = comparison.of(Whose::Tritons), &passes = comparison.of(Whose::BestOfTriton),
             &machine = comparison.of(Whose::BestOfMachine);
  if (runs(passes) && (!runs(own) || predicted(own) || passes.period < own.period)) ways.push_back(NextStep::GivenBack);
  if (!runs(passes) || !runs(machine) || machine.period >= passes.period) return ways;
  ways.push_back(NextStep::Cuda);
  const std::vector<TileOp>& body = passes.kernel->body;
  // The first mma of the next iteration can be put in front of the last one of this.
  if (passes.problem->limits.tmem_columns == 0 &&
      std::count_if(body.begin(), body.end(), [](const TileOp& op) { return op.kind == "mma"; }) > 1)
    ways.push_back(NextStep::Python);
  return ways;
}

namespace {

const std::vector<TextColumn>& option_columns() {
  static const std::vector<TextColumn> columns{{"num_stages", true},  {"num_warps", true}, {"period", true},
                                               {"against now", true}, {"SMEM KiB", true},  {"remark"}};
  return columns;
}

const OptionRow* now_of(const Comparison& comparison) {
  const auto it = std::find_if(comparison.options.begin(), comparison.options.end(), [](const OptionRow& row) { return row.now; });
  return it == comparison.options.end() ? nullptr : &*it;
}

std::vector<std::vector<std::string>> option_cells(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows;
  const OptionRow* now = now_of(comparison);
  for (const OptionRow& row : comparison.options) {
    const bool known = row.period > 0;
    std::string off = "-";
    if (known && now && now->period > 0 && !row.now)
      off = row.period == now->period ? "same" : fmt::format("{:+.1f} %", percent(row.period, now->period));
    rows.push_back({std::to_string(row.num_stages), std::to_string(row.num_warps), known ? std::to_string(row.period) : "-", off,
                    row.shared_bytes > 0 ? fmt::format("{:.4g}", static_cast<double>(row.shared_bytes) / 1024) : "-",
                    row.now ? (row.why_not.empty() ? "as compiled" : "as compiled; " + row.why_not) : row.why_not});
  }
  return rows;
}

}  // namespace

std::string best_option(const Comparison& comparison, NumberText number) {
  const OptionRow* best = nullptr;
  for (const OptionRow& row : comparison.options)
    if (row.period > 0 && row.why_not.empty() &&
        (!best || row.period < best->period || (row.period == best->period && row.now && !best->now)))
      best = &row;
  if (!best) return {};
  if (best->now) return "None of these options is better than what the text was compiled with.";
  const OptionRow* now = now_of(comparison);
  return fmt::format("{} and num_warps = {} would take {} cycles per iteration{}, by the model.",
                     comparison.stages_of_loop ? fmt::format("tl.range(..., num_stages={})", best->num_stages)
                                               : fmt::format("num_stages = {}", best->num_stages),
                     best->num_warps, number(best->period),
                     now && now->period > 0 ? " (" + against(best->period, now->period) + " than now)" : "");
}

namespace {

constexpr const char* kModel = "Cycles are predictions by the model of the machine file; nothing was run.";
/// What the table of options is of.
std::string about_options(const Comparison& comparison) {
  return fmt::format(
      "What other options would give, by the model: Triton's own rules for stages and rings with these numbers.{}",
      comparison.stages_of_loop ? " No mma is in the loop, so that Triton asks only the loop: tl.range(..., num_stages=N)." : "");
}

Json side_json(const Comparison& comparison, const Side& side) {
  Json item = Json::object();
  item.set("whose", title(side.whose)).set("reading", to_string(reading_of(side))).set("about", about(side.whose));
  if (side.native)
    item.set("ops", side.native->ops)
        .set("tile_ops", side.native->tile_ops)
        .set("edges", side.native->edges)
        .set("fused", side.native->fused);
  if (!side.schedule) return item.set("schedule", Json()).set("why_not", side.why_not);
  const Cycle best = best_period(comparison);
  item.set("status", to_string(side.status)).set("ii", side.schedule->ii).set("period", side.period > 0 ? Json(side.period) : Json());
  item.set("percent_above_best", runs(side) ? Json(percent(side.period, best)) : Json());
  item.set("lower_bound", side.lower_bound > 0 ? Json(side.lower_bound) : Json()).set("explanation", side.explanation);
  if (const std::string rule = broken_rule(side); !rule.empty()) item.set("broken_rule", rule);
  item.set("groups", side.groups).set("warps", side.warps).set("stages", side.stages);
  item.set("smem_bytes", side.shared_bytes).set("tmem_columns", side.tmem_columns).set("seconds", seconds_json(side.seconds));
  return item.set("schedule", side.problem ? schedule_json(*side.problem, *side.schedule) : Json());
}

std::string title_of(const Comparison& comparison) {
  return fmt::format("{} on {}", printable(comparison.kernel), printable(comparison.machine));
}

}  // namespace

const char* title(Whose whose) {
  switch (whose) {
    case Whose::Tritons: return "Triton's";
    case Whose::BestOfTriton: return "the best Triton could do";
    case Whose::BestOfMachine: return "the best the machine could do";
  }
  return "";
}

std::string row_name(Whose whose) {
  const std::string name = title(whose);
  return name.starts_with("the ") ? name.substr(4) : name;
}

const char* about(Whose whose) {
  switch (whose) {
    case Whose::Tritons: return "The order that Triton's compiler chose: its stages and clusters, run by its own rules.";
    case Whose::BestOfTriton:
      return "The best order that Triton's own passes could carry out if they were given other stages, clusters and partitions.";
    case Whose::BestOfMachine:
      return "The best schedule of the same computation that the machine allows: warp specialized, tiles cut where that helps.";
  }
  return "";
}

std::string headline(const Comparison& comparison, NumberText number) {
  constexpr std::array kNames{"Triton's own schedule", "the best that its passes could build", "the best the machine could do"};
  std::string text, missing;
  const Side* first = nullptr;
  for (std::size_t i = 0; i < comparison.sides.size(); ++i) {
    const Side& side = comparison.sides[i];
    if (!runs(side)) {
      // Without a reason it is still being looked for.
      const std::string rule = broken_rule(side);
      if (!rule.empty() && missing.find(rule) != std::string::npos) continue;  // it is Triton's own, of which that was said
      if (!rule.empty())
        missing += fmt::format("; {} ({} cycles per iteration) breaks a rule: {}", kNames[i], number(side.period), rule);
      else if (!side.why_not.empty())
        missing += fmt::format("; {} is not known{}", kNames[i], side.whose == Whose::Tritons ? ": " + side.why_not : "");
      continue;
    }
    text += text.empty() ? "" : ", ";
    if (first)
      text += fmt::format("{} {} ({})", kNames[i], number(side.period), against(side.period, first->period));
    else
      text += fmt::format("{} {} {} cycles per iteration", kNames[i], predicted(side) ? "would take" : "takes", number(side.period));
    if (!first) first = &side;
  }
  if (text.empty() && missing.empty()) text = "no schedule yet";
  if (text.empty()) missing = missing.substr(2);  // its separator
  return printable(text + missing) + (comparison.cancelled ? " (interrupted)" : "");
}

std::string comparison_text(const Comparison& comparison, const TextStyle& style) {
  std::string text = styled(title_of(comparison), style) + "\n";
  text += wrapped(styled(headline(comparison, ungrouped), style), "", style.width) + "\n";
  std::vector<std::vector<std::string>> rows;
  for (const Side& side : comparison.sides) {
    rows.push_back(side_cells(comparison, side));
    for (std::string& cell : rows.back()) cell = styled(cell, style);
  }
  text += text_table(side_columns(), rows) + "\n";
  for (const Side& side : comparison.sides)
    text += wrapped(styled(std::string(title(side.whose)) + ": " + about_side(side), style), "  ", style.width);
  for (const std::string& line : prices(comparison, ungrouped)) text += "\n" + wrapped(styled(line, style), "", style.width);
  if (!comparison.options.empty()) {
    text += "\n" + wrapped(styled(about_options(comparison), style), "", style.width);
    text += text_table(option_columns(), option_cells(comparison), style.width);
    if (const std::string best = best_option(comparison, ungrouped); !best.empty()) text += wrapped(styled(best, style), "", style.width);
  }
  return text + "\n" + styled(kModel, style) + "\n";
}

std::string comparison_markdown(const Comparison& comparison) {
  std::string text =
      "### " + markdown_safe(title_of(comparison) + ": " + headline(comparison, ungrouped)) + "\n\n" + markdown_head(side_columns());
  for (const Side& side : comparison.sides) text += markdown_row(side_cells(comparison, side));
  text += "\n";
  for (const Side& side : comparison.sides) text += fmt::format("- **{}**: {}\n", title(side.whose), markdown_safe(about_side(side)));
  for (const std::string& line : prices(comparison, ungrouped)) text += "\n" + markdown_safe(line) + "\n";
  if (!comparison.options.empty()) {
    text += "\n" + markdown_safe(about_options(comparison)) + "\n\n" + markdown_head(option_columns());
    for (const std::vector<std::string>& row : option_cells(comparison)) text += markdown_row(row);
    if (const std::string best = best_option(comparison, ungrouped); !best.empty()) text += "\n" + markdown_safe(best) + "\n";
  }
  return text + "\n" + kModel + "\n";
}

std::string comparison_csv(const Comparison& comparison) {
  std::string text = csv_record({"schedule", "status", "ii_cycles", "period_cycles", "percent_above_best", "lower_bound_cycles", "groups",
                                 "warps", "stages", "smem_bytes", "tmem_columns", "reason"});
  const Cycle best = best_period(comparison);
  for (const Side& side : comparison.sides) {
    const bool has = side.schedule.has_value();
    const auto number = [&](std::int64_t value) { return has ? std::to_string(value) : std::string(); };
    text += csv_record({title(side.whose), has ? to_string(side.status) : "", number(has ? side.schedule->ii : 0),
                        side.period > 0 ? number(side.period) : "", runs(side) ? fmt::format("{:.3f}", percent(side.period, best)) : "",
                        side.lower_bound > 0 ? number(side.lower_bound) : "", number(side.groups), number(side.warps), number(side.stages),
                        number(side.shared_bytes), number(side.tmem_columns), printable(has ? side.explanation : side.why_not)});
  }
  return text;
}

Json comparison_json(const Comparison& comparison) {
  Json root = Json::object(), sides = Json::array(), options = Json::array();
  root.set("kernel", comparison.kernel).set("machine", comparison.machine).set("file", comparison.file).set("loop", comparison.loop);
  root.set("headline", headline(comparison, ungrouped)).set("cancelled", comparison.cancelled);
  for (const Side& side : comparison.sides) sides.push(side_json(comparison, side));
  for (const OptionRow& row : comparison.options) {
    Json item = Json::object();
    item.set("num_stages", row.num_stages).set("num_warps", row.num_warps).set("period", row.period > 0 ? Json(row.period) : Json());
    item.set("smem_bytes", row.shared_bytes > 0 ? Json(row.shared_bytes) : Json()).set("now", row.now).set("why_not", row.why_not);
    options.push(std::move(item));
  }
  Json lines = Json::array();
  for (const std::string& line : prices(comparison, ungrouped)) lines.push(line);
  return root.set("sides", std::move(sides)).set("prices", std::move(lines)).set("options", std::move(options));
}

}  // namespace heddle::triton
