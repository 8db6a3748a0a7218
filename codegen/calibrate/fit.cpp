// Least squares on one variable: the old formula's value.
#include "codegen/calibrate/fit.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace heddle::codegen {
namespace {

constexpr double kSmallestScale = 0.02, kLargestScale = 50;
constexpr std::string_view kForm = "; form: ";
constexpr std::size_t kLongestFormula = 3500;  ///< of the 4096 characters that an expression may have

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

}  // namespace

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
    summary.push_back({rule.kind, shapes, l.worst, worst_interval});
  }
  // There and back again: half of it each way.
  const auto one_way = [&](const std::string& which, Expr& formula) {
    Points both = points_of(points, which, &MicroResult::latency);
    if (both.empty()) return;
    for (auto& [dims, cycles] : both) cycles /= 2;
    const FittedFormula fitted = fit_formula(formula, both);
    formula = fitted.formula;
    summary.push_back({which, static_cast<int>(both.size()), fitted.worst, 0});
  };
  const std::size_t before = summary.size();
  one_way("handoff.register_copy", made.handoff.register_copy);
  one_way("handoff.signal", made.handoff.signal);
  if (summary.size() > before) made.handoff.source = fmt::format("measured: heddle calibrate on {}, there and back again, halved", where);
  return made;
}

}  // namespace heddle::codegen
