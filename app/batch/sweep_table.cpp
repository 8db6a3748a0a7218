#include "app/batch/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/answers/summary.h"
#include "core/base/text_style.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMostListed = 24;  ///< values of an axis that have a place of their own each

double sweep_number(const SweepValue& value) { return std::get<double>(value); }

/// As it is kept_number.
float kept_number(double number) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(number, -kMost, kMost));
}

/// Where a number is, or belongs, in a list of ascending ones.
std::vector<SweepValue>::const_iterator place_of_number(const std::vector<SweepValue>& values, double number) {
  return std::lower_bound(values.begin(), values.end(), number, [](const SweepValue& v, double n) { return sweep_number(v) < n; });
}

void list_number(SweepAxis& axis, double number, bool& full) {
  if (full) return;
  const auto at = place_of_number(axis.values, number);
  if (at != axis.values.end() && sweep_number(*at) == number) return;
  axis.values.insert(axis.values.begin() + (at - axis.values.begin()), number);
  if (axis.values.size() <= kMostListed) return;
  axis.values.clear();
  full = true;
}

double index_of_word(SweepAxis& axis, const std::string& word) {
  for (std::size_t i = 0; i < axis.values.size(); ++i)
    if (std::get<std::string>(axis.values[i]) == word) return static_cast<double>(i);
  axis.values.emplace_back(word);
  return static_cast<double>(axis.values.size() - 1);
}

void widen(SweepAxis& axis, double number) {
  axis.low = axis.any ? std::min(axis.low, number) : number;
  axis.high = axis.any ? std::max(axis.high, number) : number;
  axis.any = true;
}

/// An axis of numbers becomes one of words: somewhere a word stands where numbers stood.
void make_words(SweepAxis& axis, std::size_t index, std::vector<SweepPoint>& points) {
  axis.words = true;
  axis.log = false;
  axis.values.clear();
  for (SweepPoint& point : points)
    if (index < point.at.size() && point.at[index] == point.at[index])
      point.at[index] = static_cast<float>(index_of_word(axis, sweep_text(SweepValue(static_cast<double>(point.at[index])))));
}

}  // namespace

SweepStanding standing_of(std::string_view status) {
  constexpr std::array<std::string_view, 3> kProved{"optimal", "proved", "done"};
  constexpr std::array<std::string_view, 1> kFound{"feasible"};
  constexpr std::array<std::string_view, 3> kOpen{"unknown", "pruned", "timeout"};
  const auto in = [&](const auto& list) { return std::find(list.begin(), list.end(), status) != list.end(); };
  return in(kProved) ? SweepStanding::Proved : in(kFound) ? SweepStanding::Found : in(kOpen) ? SweepStanding::Open : SweepStanding::Failed;
}

double SweepAxis::position(double coordinate) const {
  if (listed()) {
    const double last = static_cast<double>(values.size()) - 1;
    if (last <= 0) return 0.5;
    const double index = words ? coordinate : static_cast<double>(place_of_number(values, coordinate) - values.begin());
    return std::clamp(index / last, 0.0, 1.0);
  }
  const auto scaled = [&](double x) { return log && low > 0 ? std::log2(std::max(x, low)) : x; };
  const double from = scaled(low), to = scaled(high);
  return to > from ? std::clamp((scaled(coordinate) - from) / (to - from), 0.0, 1.0) : 0.5;
}

std::string SweepAxis::text(double coordinate) const {
  if (coordinate != coordinate) return {};
  if (!words) return sweep_text(coordinate);
  const auto index = static_cast<std::size_t>(std::max(coordinate, 0.0));
  return index < values.size() ? sweep_text(values[index]) : std::string();
}

std::uint32_t SweepTable::intern(const std::string& word) {
  const auto [at, fresh] = interned_.try_emplace(word, static_cast<std::uint32_t>(words.size()));
  if (fresh) words.push_back(printable(word));
  return at->second;
}

std::size_t SweepTable::axis_of(const std::string& name, const SweepValue& value) {
  const auto [at, fresh] = axis_index_.try_emplace(name, axes.size());
  if (fresh) {
    axes.emplace_back().name = name;
    axes.back().words = std::holds_alternative<std::string>(value);
  }
  return at->second;
}

void SweepTable::place(const SweepRow& row, SweepPoint& point) {
  for (const auto& [name, value] : row.config) {
    const std::size_t index = axis_of(name, value);
    SweepAxis& axis = axes[index];
    double coordinate = 0;
    if (!axis.words && std::holds_alternative<std::string>(value)) make_words(axis, index, points);
    if (axis.words) {
      coordinate = index_of_word(axis, sweep_text(value));
    } else {
      // As it is kept_number: what is compared must be equal.
      coordinate = static_cast<double>(kept_number(sweep_number(value)));
      bool full = axis.any && axis.values.empty();
      list_number(axis, coordinate, full);
      widen(axis, coordinate);
    }
    if (point.at.size() <= index) point.at.resize(index + 1, static_cast<float>(SweepPoint::kNone));
    point.at[index] = static_cast<float>(coordinate);
  }
}

void SweepTable::count(const SweepPoint& point, int step) {
  const auto at = counts.try_emplace(words[point.status], 0).first;
  at->second += step;
  if (at->second == 0) counts.erase(at);
  if (point.seconds == point.seconds) seconds += step * point.seconds;
}

void SweepTable::find_best() {
  best.reset();
  for (std::size_t i = 0; i < points.size(); ++i)
    if (points[i].has_value() && (!best || points[i].value < points[*best].value)) best = i;
}

void SweepTable::clear() {
  const std::uint64_t before = revision;
  const SweepKind same = kind;
  *this = {};
  kind = same;
  revision = before + 1;
}

void SweepTable::take(const PlacedLine& placed) {
  ++revision;
  if (const auto* run = std::get_if<SweepHead>(&placed.line)) {
    head = *run;
    end.reset();
    for (const SweepParameter& parameter : head.parameters) {
      const SweepValue first = parameter.values.empty() ? SweepValue(0.0) : parameter.values.front();
      SweepAxis& axis = axes[axis_of(parameter.name, first)];
      axis.log = parameter.log;
      for (const SweepValue& value : parameter.values) {
        if (axis.words) {
          index_of_word(axis, sweep_text(value));
        } else if (const auto* number = std::get_if<double>(&value)) {
          bool full = axis.any && axis.values.empty();
          list_number(axis, static_cast<double>(kept_number(*number)), full);
          widen(axis, static_cast<double>(kept_number(*number)));
        }
      }
      for (const auto& limit : {parameter.low, parameter.high})
        if (limit && !axis.words) widen(axis, static_cast<double>(kept_number(*limit)));
    }
    return;
  }
  if (const auto* over = std::get_if<SweepEnd>(&placed.line)) {
    end = *over;
    return;
  }
  const SweepRow& row = std::get<SweepRow>(placed.line);
  end.reset();
  if (kind != SweepKind::Tuning && row.batch != batch) {
    // Another batch was begun under the same name; of the one before nothing is left.
    const std::string next = row.batch;
    if (!points.empty()) clear();
    batch = next;
  }
  of = std::max(of, row.of);
  SweepPoint point;
  point.number = row.number;
  point.status = intern(std::string(status_word(row.status)));
  point.by = intern(row.by);
  point.fidelity = intern(row.fidelity);
  point.standing = standing_of(row.status);
  point.cached = row.cached;
  point.schedule = row.schedule;
  point.why = printable(row.why);
  point.offset = placed.offset;
  point.length = placed.length;
  point.value = row.value.value_or(SweepPoint::kNone);
  point.bound = row.bound.value_or(SweepPoint::kNone);
  point.seconds = row.seconds.value_or(SweepPoint::kNone);
  point.tflops = row.tflops.value_or(SweepPoint::kNone);
  point.ii = row.ii.value_or(-1);
  point.stages = row.stages.value_or(-1);
  point.groups = row.groups.value_or(-1);
  point.warps = row.warps.value_or(-1);
  point.smem = row.smem.value_or(-1);
  point.registers = row.registers.value_or(-1);
  if (row.open) open = row.open;
  if (row.excluded) excluded = row.excluded;
  place(row, point);
  std::size_t index = points.size();
  if (kind != SweepKind::Tuning) {
    // What was done again takes the place of what it was.
    const auto [at, fresh] = job_index_.try_emplace(row.number, index);
    index = at->second;
    if (!fresh) {
      count(points[index], -1);
      points[index] = std::move(point);
      count(points[index], +1);
      return find_best();
    }
  }
  points.push_back(std::move(point));
  count(points.back(), +1);
  if (points.back().has_value() && (!best || points.back().value < points[*best].value)) best = points.size() - 1;
}

double SweepTable::ratio(const SweepPoint& point) const {
  const double bound = lower_bound().value_or(point.bound);
  return point.has_value() && bound > 0 ? point.value / bound : SweepPoint::kNone;
}

std::string SweepTable::label(const SweepPoint& point) const {
  std::string text;
  for (std::size_t a = 0; a < axes.size(); ++a)
    if (const double c = point.coordinate(a); c == c)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", axes[a].name, axes[a].text(c));
  return text;
}

const char* SweepTable::unit() const {
  if (kind != SweepKind::Tuning) return "cycles per iteration";
  return head.unit == "us" ? "us" : "cycles";
}

}  // namespace heddle::app
