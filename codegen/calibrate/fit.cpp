// Least squares on one variable: the old formula's value, less the number that it adds.
#include "codegen/calibrate/fit.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text_style.h"

namespace heddle::codegen {
namespace {

constexpr double kSmallestScale = 0.02, kLargestScale = 50;
constexpr std::string_view kForm = "; form: ";
constexpr double kExplained = 0.15, kAsNear = 0.02;  ///< worst residual of a rule of phases
constexpr int kSchedulers = 4;                       ///< of an SM: each issues for a quarter of its warps
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

double worst_residual(const Expr& formula, const Points& points) {
  double worst = 0;
  for (const auto& [dims, measured] : points)
    if (const auto x = value_of(formula, dims)) worst = std::max(worst, std::fabs(static_cast<double>(*x) - measured) / measured);
  return worst;
}

bool names_port(const Expr& formula) {
  const std::vector<std::string> names = formula.names();
  return std::find(names.begin(), names.end(), "port") != names.end();
}

std::string cycles_text(double cycles) { return cycles < 100 ? fmt::format("{:.3g}", cycles) : fmt::format("{:.0f}", cycles); }

/// "12, 34.5"
std::string cycles_of(const Points& points) {
  std::string text;
  for (const auto& [dims, measured] : points) text += (text.empty() ? "" : ", ") + cycles_text(measured);
  return text;
}

/// What of a formula is scaled: all but a number that is added to it, which becomes a part of the shift.
struct Form {
  Expr grows;
  std::string least;  ///< of the whole; empty: 1, where the shift is negative

  std::string text(const std::string& scaled, std::int64_t shift) const {
    const std::string sum = shift == 0 ? scaled : fmt::format("{} {} {}", scaled, shift > 0 ? '+' : '-', std::abs(shift));
    return !least.empty() ? fmt::format("max({}, {})", least, sum) : shift < 0 ? fmt::format("max(1, {})", sum) : sum;
  }
};

Form form_of(const Expr& old, const Points& points) {
  const std::string& text = old.text();
  if (old.is_constant()) {
    double mean = 0, furthest = 0;
    for (const auto& [dims, measured] : points) mean += measured / static_cast<double>(points.size());
    for (const auto& [dims, measured] : points) furthest = std::max(furthest, std::fabs(measured - mean) / mean);
    const bool sized = std::all_of(points.begin(), points.end(), [](const auto& point) { return point.first.contains("bytes"); });
    if (furthest > kExplained && sized) return {Expr::parse("ceil_div(bytes, 64)").value(), text};
    return {old, {}};
  }
  // "a + 30" and "30 + a": whether that is a sum of the two tell the values.
  constexpr std::string_view kDigits = "0123456789", kPlus = " + ";
  const std::size_t head = text.find_first_not_of(kDigits), tail = text.find_last_not_of(kDigits);
  for (const bool behind : {true, false}) {
    const std::size_t at = behind ? (tail == std::string::npos || tail < 2 ? std::string::npos : tail - 2) : head;
    if (at == std::string::npos || text.compare(at, kPlus.size(), kPlus) != 0) continue;
    const std::string number = behind ? text.substr(tail + 1) : text.substr(0, head);
    const auto rest = Expr::parse(behind ? text.substr(0, at) : text.substr(at + kPlus.size())), added = Expr::parse(number);
    if (!rest.ok() || !added.ok()) continue;
    const bool sum = std::all_of(points.begin(), points.end(), [&](const auto& point) {
      const auto whole = value_of(old, point.first), part = value_of(*rest, point.first), one = value_of(*added, point.first);
      return whole && part && one && *whole == *part + *one;
    });
    if (sum) return {*rest, {}};
  }
  return {old, {}};
}

/// ceil_div(text * thousandths, 1000), shorter where it can be.
std::string scaled(const std::string& text, std::int64_t thousandths) {
  if (thousandths == 1000) return text;
  // One name, or one call: its last parenthesis closes its first.
  const std::size_t open = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
  bool single = open == std::string::npos;
  if (!single && text[open] == '(' && open > 0) {
    int depth = 0;
    std::size_t at = open;
    for (; at < text.size(); ++at) {
      depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
      if (depth == 0) break;
    }
    single = at + 1 == text.size();
  }
  const std::string factor = single ? text : "(" + text + ")";
  return thousandths % 1000 == 0 ? fmt::format("{} * {}", factor, thousandths / 1000)
                                 : fmt::format("ceil_div({} * {}, 1000)", factor, thousandths);
}

/// Calibrating again replaces what the last time said, not what the form was derived from.
std::string measured_by(int shapes, const std::string& where, double worst, const std::string& before) {
  return fmt::format("measured: heddle calibrate on {}, {}, worst residual {:.0f} %{}{}", where, count_of(shapes, "shape"), 100 * worst,
                     kForm, before);
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
    CalibratedRule line{row.name, shapes, {}, {}, phases.worst, {}};
    if (phases.told) {
      row.lanes_per_phase = phases.lanes;
      row.cycles = Expr(phases.cycles);
      row.assumed = false;
      row.source = measured_by(shapes, where, phases.worst, before);
      line.says = fmt::format("{} lanes at a time, {}", phases.lanes, count_of(phases.cycles, "cycle"));
      if (phases.least > 0) {
        row.issue = Expr(std::max<std::int64_t>(1, std::llround(kSchedulers * phases.least)));
        line.says += fmt::format(", an instruction at least {}", cycles_text(phases.least));
      }
    } else {
      row.source = fmt::format("measured: heddle calibrate on {}, but no rule of phases explains the times{}{}", where, kForm, before);
      row.assumed = true;
      line.says = "no rule of phases explains the times: assumed as before";
    }
    std::string cycles, ways;
    for (const auto& [kernel, time] : measured) {
      cycles += (cycles.empty() ? "" : ", ") + cycles_text(time);
      ways += fmt::format("{}{}", ways.empty() ? "" : ", ", kernel->ways);
    }
    line.says += fmt::format("; {} cycles at {} ways", cycles, ways);
    summary.push_back(std::move(line));
  }
  made.instructions = Catalogue(std::move(rows));
}

}  // namespace

FittedPhases fit_phases(const std::vector<std::pair<const MicroKernel*, double>>& measured, int before) {
  double least = 0;
  for (const auto& [kernel, cycles] : measured) least = least == 0 ? cycles : std::min(least, cycles);
  FittedPhases best;
  // Where phases alone explain nothing: an issue that takes longer than the fewest of them.
  for (const double floor : {0.0, least}) {
    bool rival = false;  // another rule that explains the times as well
    best = {};
    for (const int lanes : {4, 8, 16, 32}) {
      double xm = 0, xx = 0;  // least squares of relative errors
      std::vector<std::pair<double, double>> points;
      for (const auto& [kernel, cycles] : measured) {
        const double x = static_cast<double>(bank_cycles(*kernel, lanes));
        points.emplace_back(x, cycles);
        if (cycles > floor) xm += x / cycles, xx += x * x / (cycles * cycles);
      }
      if (xx <= 0) return best;
      FittedPhases rule{lanes, std::max<std::int64_t>(1, std::llround(xm / xx)), floor, 0, false};
      for (const auto& [x, cycles] : points)
        rule.worst = std::max(rule.worst, std::fabs(std::max(floor, static_cast<double>(rule.cycles) * x) - cycles) / cycles);
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
    if (best.told) break;
  }
  return best;
}

FittedFormula fit_formula(const Expr& old, const Points& points) {
  FittedFormula fitted{old, 0, false};
  const Form form = form_of(old, points);
  std::vector<std::pair<double, double>> xy;
  double furthest = 0;
  for (const auto& [dims, measured] : points) {
    const auto before = value_of(old, dims), x = value_of(form.grows, dims);
    if (!before || !x) return fitted;
    xy.emplace_back(static_cast<double>(*x), measured);
    furthest = std::max(furthest, std::fabs(static_cast<double>(*before) - measured));
  }
  if (xy.empty()) return fitted;
  double mx = 0, my = 0, sxx = 0, sxy = 0;
  for (const auto& [x, y] : xy) mx += x, my += y;
  mx /= static_cast<double>(xy.size()), my /= static_cast<double>(xy.size());
  for (const auto& [x, y] : xy) sxx += (x - mx) * (x - mx), sxy += (x - mx) * (y - my);
  double scale = sxx > 0 ? sxy / sxx : 1;
  if (!(scale >= kSmallestScale && scale <= kLargestScale)) scale = 1;
  const auto thousandths = static_cast<std::int64_t>(std::llround(1000 * scale));
  const auto shift = static_cast<std::int64_t>(std::llround(my - static_cast<double>(thousandths) / 1000 * mx));
  if (furthest > 1 && old.text().size() < kLongestFormula) {
    const std::string text = form.grows.is_constant() ? fmt::format("{}", std::max<std::int64_t>(1, std::llround(my)))
                                                      : form.text(scaled(form.grows.text(), thousandths), shift);
    if (auto formula = Expr::parse(text); formula.ok()) {
      fitted.formula = std::move(*formula);
      fitted.changed = true;
    }
  }
  fitted.worst = worst_residual(fitted.formula, points);
  return fitted;
}

Machine calibrated(const Machine& machine, const std::vector<CalibrationPoint>& points, const std::string& where,
                   std::vector<CalibratedRule>& summary) {
  Machine made = machine;
  for (CostRule& rule : made.rules) {
    const Points latency = points_of(points, rule.kind, &MicroResult::latency),
                 interval = points_of(points, rule.kind, &MicroResult::interval),
                 // Warps of a synchronous instruction are busy as long as one takes among many; those of an asynchronous one while issuing.
        window = rule.asynchronous ? points_of(points, rule.kind, &MicroResult::window) : interval;
    if (latency.empty()) continue;
    const FittedFormula l = fit_formula(rule.latency, latency), w = fit_formula(rule.window, window);
    UnitCost *longest = nullptr, *port = nullptr;
    std::int64_t most = 0;
    for (UnitCost& use : rule.uses) {
      if (names_port(use.duration))
        port = &use;
      else if (const auto x = value_of(use.duration, latency.front().first); x && *x > most)
        most = *x, longest = &use;
    }
    const FittedFormula d = longest ? fit_formula(longest->duration, interval) : FittedFormula{};
    CalibratedRule line{rule.kind, static_cast<int>(latency.size()), {}, l.worst, {}, {}};
    if (!window.empty()) line.window = w.worst;
    if (!interval.empty() && longest) line.interval = d.worst;
    if (!interval.empty() && !longest && port) line.interval = worst_residual(port->duration, interval);
    if (longest) longest->duration = d.formula;
    rule.latency = l.formula;
    rule.window = w.formula;
    const double worst = std::max({l.worst, line.window.value_or(0), line.interval.value_or(0)});
    const auto tell = [&](const char* what, double residual, const Points& measured) {
      if (residual > kExplained) line.says += fmt::format("{}{} {}", line.says.empty() ? "measured: " : "; ", what, cycles_of(measured));
    };
    tell("window", line.window.value_or(0), window);
    tell("latency", l.worst, latency);
    tell("interval", line.interval.value_or(0), interval);
    const std::size_t form = rule.source.find(kForm);
    rule.source = measured_by(line.shapes, where, worst, form == std::string::npos ? rule.source : rule.source.substr(form + kForm.size()));
    summary.push_back(std::move(line));
  }
  // There and back again: half of it each way.
  const auto one_way = [&](const std::string& which, Expr& formula) {
    Points both = points_of(points, which, &MicroResult::latency);
    if (both.empty()) return;
    for (auto& [dims, cycles] : both) cycles /= 2;
    const FittedFormula fitted = fit_formula(formula, both);
    formula = fitted.formula;
    summary.push_back({which, static_cast<int>(both.size()), {}, fitted.worst, {}, {}});
  };
  const std::size_t before = summary.size();
  one_way("handoff.register_copy", made.handoff.register_copy);
  one_way("handoff.signal", made.handoff.signal);
  if (summary.size() > before) made.handoff.source = fmt::format("measured: heddle calibrate on {}, there and back again, halved", where);
  calibrate_catalogue(made, points, where, summary);
  return made;
}

}  // namespace heddle::codegen
