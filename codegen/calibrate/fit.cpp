// Least squares on one variable: the old formula's value.
#include "codegen/calibrate/fit.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace heddle::codegen {
namespace {

constexpr double kSmallestScale = 0.02, kLargestScale = 50;
constexpr std::string_view kForm = "; form: ";
constexpr double kExplained = 0.15, kAsNear = 0.02;  ///< worst residual of a rule of phases
constexpr std::size_t kLongestFormula = 3500;        ///< of the 4096 characters that an expression may have

/// Names that the shapes do not set are attributes that were not given: 0, as costs have them.
std::optional<std::int64_t> value_of(const Expr& formula, Scope dims) {
  for (const std::string& name : formula.names()) dims.try_emplace(name, 0);
  const auto value = formula.evaluate(dims);
  return value.ok() ? std::optional(*value) : std::nullopt;
}

using Points = std::vector<std::pair<Scope, double>>;

Points points_of(const std::vector<CalibrationPoint>& all, const std::string& rule, double MicroResult::*number) {
  Points points;
  for (const CalibrationPoint& point : all)
    if (point.kernel->rule == rule && point.result.*number > 0)
      points.emplace_back(point.kernel->dims, std::max(1.0, point.result.*number));
  return points;
}

/// Calibrating again replaces what the last time said, not what the form was derived from.
std::string measured_by(int shapes, const std::string& where, double worst, const std::string& before) {
  return fmt::format("measured: heddle calibrate on {}, {} shape{}, worst residual {:.0f} %{}{}", where, shapes, shapes == 1 ? "" : "s",
                     100 * worst, kForm, before);
}

/// Rows whose lanes were timed: lanes of a phase and its cycles.
void calibrate_catalogue(Machine& made, const std::vector<CalibrationPoint>& points, const std::string& where,
                         std::vector<CalibratedRule>& summary) {
  std::vector<Instruction> rows = made.instructions.rows();
  for (Instruction& row : rows) {
    std::vector<std::pair<const MicroKernel*, double>> measured;
    for (const CalibrationPoint& point : points)
      if (point.kernel->instruction == row.name && !row.name.empty() && point.kernel->issued > 0 && point.result.interval > 0)
        measured.emplace_back(point.kernel, point.result.interval / point.kernel->issued);
    if (measured.empty()) continue;
    const FittedPhases phases = fit_phases(measured, row.lanes_per_phase);
    const int shapes = static_cast<int>(measured.size());
    const std::size_t form = row.source.find(kForm);
    const std::string before = form == std::string::npos ? row.source : row.source.substr(form + kForm.size());
    CalibratedRule line{row.name, shapes, 0, phases.worst, {}};
    if (phases.told) {
      row.lanes_per_phase = phases.lanes;
      row.cycles = Expr(phases.cycles);
      row.assumed = false;
      row.source = measured_by(shapes, where, phases.worst, before);
      line.says = fmt::format("{} lanes at a time, {} cycle{}", phases.lanes, phases.cycles, phases.cycles == 1 ? "" : "s");
    } else {
      row.source = fmt::format("measured: heddle calibrate on {}, but no rule of phases explains the times{}{}", where, kForm, before);
      line.says = "no rule of phases explains the times: assumed as before";
    }
    summary.push_back(std::move(line));
  }
  made.instructions = Catalogue(std::move(rows));
}

}  // namespace

FittedPhases fit_phases(const std::vector<std::pair<const MicroKernel*, double>>& measured, int before) {
  FittedPhases best;
  bool rival = false;  // another rule that explains the times as well
  for (const int lanes : {4, 8, 16, 32}) {
    double xm = 0, xx = 0;  // least squares of relative errors
    std::vector<std::pair<double, double>> points;
    for (const auto& [kernel, cycles] : measured) {
      const double x = static_cast<double>(bank_cycles(*kernel, lanes));
      points.emplace_back(x, cycles);
      xm += x / cycles, xx += x * x / (cycles * cycles);
    }
    if (xx <= 0) return best;
    FittedPhases rule{lanes, std::max<std::int64_t>(1, std::llround(xm / xx)), 0, false};
    for (const auto& [x, cycles] : points)
      rule.worst = std::max(rule.worst, std::fabs(static_cast<double>(rule.cycles) * x - cycles) / cycles);
    // As near: one cycle a phase rather than more, then what the catalogue has.
    const bool as_near = best.lanes != 0 && std::fabs(rule.worst - best.worst) < kAsNear;
    const bool simpler = rule.cycles < best.cycles || (rule.cycles == best.cycles && lanes == before);
    if (as_near && rule.cycles == best.cycles && lanes != before && best.lanes != before) rival = true;
    if (best.lanes == 0 || (as_near ? simpler : rule.worst < best.worst)) {
      if (!as_near) rival = false;
      best = rule;
    }
  }
  best.told = best.worst <= kExplained && !rival;
  return best;
}

FittedFormula fit_formula(const Expr& old, const Points& points) {
  FittedFormula fitted{old, 0, false};
  std::vector<std::pair<double, double>> xy;
  for (const auto& [dims, measured] : points) {
    const auto x = value_of(old, dims);
    if (!x) return fitted;
    xy.emplace_back(static_cast<double>(*x), measured);
  }
  if (xy.empty()) return fitted;
  double mx = 0, my = 0, sxx = 0, sxy = 0, furthest = 0;
  for (const auto& [x, y] : xy) mx += x, my += y, furthest = std::max(furthest, std::fabs(x - y));
  mx /= static_cast<double>(xy.size()), my /= static_cast<double>(xy.size());
  for (const auto& [x, y] : xy) sxx += (x - mx) * (x - mx), sxy += (x - mx) * (y - my);
  double scale = sxx > 0 ? sxy / sxx : 1;
  if (!(scale >= kSmallestScale && scale <= kLargestScale)) scale = 1;
  const auto thousandths = static_cast<std::int64_t>(std::llround(1000 * scale));
  const auto shift = static_cast<std::int64_t>(std::llround(my - static_cast<double>(thousandths) / 1000 * mx));
  if (furthest > 1 && old.text().size() < kLongestFormula) {
    std::string text = thousandths == 1000 ? old.text()
                       : old.is_constant() ? old.text()
                                           : fmt::format("ceil_div(({}) * {}, 1000)", old.text(), thousandths);
    std::int64_t add = shift;
    if (old.is_constant()) {  // one number for every shape
      text = fmt::format("{}", std::max<std::int64_t>(1, std::llround(my)));
      add = 0;
    }
    if (add > 0) text = fmt::format("{} + {}", text, add);
    if (add < 0) text = fmt::format("max(1, {} - {})", text, -add);
    if (auto formula = Expr::parse(text); formula.ok()) {
      fitted.formula = std::move(*formula);
      fitted.changed = true;
    }
  }
  for (const auto& [dims, measured] : points)
    if (const auto x = value_of(fitted.formula, dims))
      fitted.worst = std::max(fitted.worst, std::fabs(static_cast<double>(*x) - measured) / measured);
  return fitted;
}

Machine calibrated(const Machine& machine, const std::vector<CalibrationPoint>& points, const std::string& where,
                   std::vector<CalibratedRule>& summary) {
  Machine made = machine;
  for (CostRule& rule : made.rules) {
    const Points latency = points_of(points, rule.kind, &MicroResult::latency);
    if (latency.empty()) continue;
    const Points window = points_of(points, rule.kind, &MicroResult::window),
                 interval = points_of(points, rule.kind, &MicroResult::interval);
    const FittedFormula l = fit_formula(rule.latency, latency);
    // Warps of a synchronous instruction are busy as long as one takes among many; those of an asynchronous one while issuing.
    const FittedFormula w = fit_formula(rule.window, rule.asynchronous ? window : interval);
    double worst_interval = 0;
    UnitCost* longest = nullptr;
    std::int64_t most = 0;
    for (UnitCost& use : rule.uses)
      if (const auto x = value_of(use.duration, latency.front().first); x && *x > most) most = *x, longest = &use;
    if (longest) {
      const FittedFormula d = fit_formula(longest->duration, interval);
      longest->duration = d.formula;
      worst_interval = d.worst;
    }
    rule.latency = l.formula;
    rule.window = w.formula;
    const int shapes = static_cast<int>(latency.size());
    const std::size_t form = rule.source.find(kForm);
    rule.source = measured_by(shapes, where, std::max(l.worst, worst_interval),
                              form == std::string::npos ? rule.source : rule.source.substr(form + kForm.size()));
    summary.push_back({rule.kind, shapes, l.worst, worst_interval, {}});
  }
  // There and back again: half of it each way.
  const auto one_way = [&](const std::string& which, Expr& formula) {
    Points both = points_of(points, which, &MicroResult::latency);
    if (both.empty()) return;
    for (auto& [dims, cycles] : both) cycles /= 2;
    const FittedFormula fitted = fit_formula(formula, both);
    formula = fitted.formula;
    summary.push_back({which, static_cast<int>(both.size()), fitted.worst, 0, {}});
  };
  const std::size_t before = summary.size();
  one_way("handoff.register_copy", made.handoff.register_copy);
  one_way("handoff.signal", made.handoff.signal);
  if (summary.size() > before) made.handoff.source = fmt::format("measured: heddle calibrate on {}, there and back again, halved", where);
  calibrate_catalogue(made, points, where, summary);
  return made;
}

}  // namespace heddle::codegen
