#include "app/window/parts/what_if_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/session/proposal_commands.h"
#include "core/analysis/slack.h"
#include "core/chart/chart_layout.h"
#include "core/check/reuse.h"
#include "core/instance/instance.h"
#include "core/simulate/forecast.h"

namespace heddle::app {
namespace {

constexpr std::int64_t kLeastRoom = 16;  ///< above the low end: twice nothing would be nothing

Result<Problem> problem_with(const Content& content, const Changes& changes) {
  InstanceSpec spec = content.spec();
  spec.changes = changes;
  return make_problem(spec);
}

std::int64_t value_in(const Problem& problem, const WhatIfNumber& number) {
  const Op& op = problem.op(number.op);
  if (number.number.kind == ChangeKind::Latency) return op.latency;
  for (const UnitUse& use : op.uses)
    if (problem.unit(use.unit).name == number.number.unit) return use.duration;
  return 0;
}

WhatIfNumber of_op(const Content& content, OpId op, ChangeKind kind, const std::string& unit) {
  WhatIfNumber number;
  number.op = op;
  number.number.kind = kind;
  number.number.op = content.problem->op(op).name;
  number.number.unit = unit;
  number.label = kind == ChangeKind::Latency ? "latency" : unit + " duration";
  number.now = number.base = value_in(*content.problem, number);
  Changes others = content.changes;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (!same_number(others[i], number.number)) continue;
    number.change = i;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (const auto problem = problem_with(content, others)) number.base = value_in(*problem, number);
    break;
  }
  number.low = std::min((number.base + 1) / 2, number.now);
  number.high = std::max({2 * number.base, number.low + kLeastRoom, number.now});
  return number;
}

bool judgeable(const Content& content) { return content.problem && content.entry() && content.entry()->verdict.valid(); }

}  // namespace

std::vector<WhatIfNumber> numbers_of_op(const Content& content, OpId op) {
  std::vector<WhatIfNumber> numbers;
  if (!content.problem || !op.valid() || op.index() >= content.problem->ops.size()) return numbers;
  numbers.push_back(of_op(content, op, ChangeKind::Latency, {}));
  std::vector<UnitId> seen;
  for (const UnitUse& use : content.problem->op(op).uses) {
    if (std::find(seen.begin(), seen.end(), use.unit) != seen.end()) continue;
    seen.push_back(use.unit);
    numbers.push_back(of_op(content, op, ChangeKind::Duration, content.problem->unit(use.unit).name));
  }
  return numbers;
}

Changes changes_with(const Content& content, const WhatIfNumber& number, std::int64_t value) {
  Changes changes = content.changes;
  std::erase_if(changes, [&](const Change& c) { return same_number(c, number.number); });
  Change change = number.number;
  change.effect = ChangeEffect::To;
  change.value = value;
  changes.push_back(std::move(change));
  return changes;
}

namespace {

std::string period_words(const Content& content, const Problem& then, const Schedule& schedule) {
  if (!content.allows(SourceUse::OrderByTime)) return {};
  const std::optional<double> now = deciding_period(*content.problem, schedule);
  if (!now) return {};
  const std::optional<double> changed = deciding_period(then, schedule);
  return fmt::format("period {:.1f} → {} in this order", *now, changed ? fmt::format("{:.1f}", *changed) : "none: it cannot run");
}

}  // namespace

WhatIfTrial try_value(const Content& content, const WhatIfNumber& number, std::int64_t value) {
  using Fate = WhatIfTrial::Fate;
  WhatIfTrial trial;
  trial.value = value;
  auto problem = problem_with(content, changes_with(content, number, value));
  if (!problem) {
    trial.fate = Fate::Impossible;
    trial.sentence = "that cannot be: " + problem.error().faults.front().message;
    return trial;
  }
  trial.problem = std::make_shared<const Problem>(*std::move(problem));
  trial.least_ii = compute_bounds(*trial.problem).min_ii();
  if (!judgeable(content)) {
    trial.sentence = content.entry() ? "the shown schedule breaks a rule already" : "there is no schedule yet";
    return trial;
  }
  const Schedule& shown = content.entry()->schedule;
  trial.period = period_words(content, *trial.problem, shown);
  const Verdict verdict = check(*trial.problem, shown, content.constraints);
  if (verdict.valid()) {
    trial.fate = Fate::Valid;
    trial.schedule = shown;
    trial.sentence = "this schedule stays valid";
    return trial;
  }
  trial.objection = verdict.violations.front().message;
  trial.schedule = best_in_order(*trial.problem, shown, content.constraints);
  if (!trial.schedule) {
    trial.fate = Fate::Broken;
    trial.sentence = "this schedule breaks, with other starts too";
  } else if (trial.schedule->ii > shown.ii) {
    trial.fate = Fate::Longer;
    trial.sentence = fmt::format("the same order needs II {}", grouped(trial.schedule->ii));
  } else if (trial.schedule->ops == shown.ops) {
    trial.fate = Fate::Refitted;
    trial.sentence = "stays valid with other ring depths or register budgets";
  } else {
    trial.fate = Fate::Retimed;
    trial.sentence = fmt::format("the same order with other starts has II {}", grouped(trial.schedule->ii));
  }
  return trial;
}

WhatIfReach::WhatIfReach(const Content& content, const WhatIfNumber& number) : content_(content), number_(number) {
  if (judgeable(content)) phase_ = Phase::Strict;
  good_ = number.now;
  bad_ = kAbsurd + 1;
}

bool WhatIfReach::accepted(std::int64_t value) {
  const auto problem = problem_with(content_, changes_with(content_, number_, value));
  if (!problem) return false;
  const Verdict verdict = check(*problem, content_.entry()->schedule, content_.constraints);
  if (!verdict.valid()) refused_ = verdict.violations.front().message;
  return verdict.valid();
}

bool WhatIfReach::retimed(std::int64_t value) const {
  const auto problem = problem_with(content_, changes_with(content_, number_, value));
  if (!problem) return false;
  const Schedule& shown = content_.entry()->schedule;
  const auto moved = best_in_order(*problem, shown, content_.constraints);
  return moved && moved->ii <= shown.ii;
}

void WhatIfReach::found(std::int64_t valid_to) {
  valid_to_ = valid_to;
  objection_ = valid_to >= kUnlimited ? "" : refused_;
  good_ = std::min(valid_to, number_.high);
  bad_ = number_.high;
  phase_ = good_ >= number_.high ? Phase::Done : Phase::RetimeEnd;
}

bool WhatIfReach::step() {
  switch (phase_) {
    case Phase::Strict: {
      // Halving is sound only where more of this number forbids more and permits nothing.
      const auto far = problem_with(content_, changes_with(content_, number_, std::max(number_.high, number_.now + 1)));
      phase_ = far && at_least_as_strict(*far, *content_.problem) ? Phase::Grow : Phase::Done;
      break;
    }
    case Phase::Grow:
      if (good_ + stride_ >= bad_)
        phase_ = Phase::Far;
      else if (accepted(good_ + stride_))
        good_ += stride_, stride_ *= 2;
      else
        bad_ = good_ + stride_, phase_ = Phase::Halve;
      break;
    case Phase::Far:
      if (accepted(kAbsurd)) {
        found(kUnlimited);
      } else {
        bad_ = kAbsurd;
        phase_ = Phase::Halve;
      }
      break;
    case Phase::Halve:
      if (bad_ - good_ <= 1) {
        // What the last refusal was about need not be what one cycle more breaks.
        accepted(bad_);
        found(good_);
      } else {
        const std::int64_t middle = good_ + (bad_ - good_) / 2;
        (accepted(middle) ? good_ : bad_) = middle;
      }
      break;
    case Phase::RetimeEnd:
      if (retimed(bad_))
        retimed_to_ = bad_, phase_ = Phase::Done;
      else
        phase_ = Phase::Retime;
      break;
    case Phase::Retime:
      if (bad_ - good_ <= 1)
        retimed_to_ = good_, phase_ = Phase::Done;
      else if (const std::int64_t middle = good_ + (bad_ - good_) / 2; retimed(middle))
        good_ = middle;
      else
        bad_ = middle;
      break;
    case Phase::Done: break;
  }
  return !done();
}

std::string WhatIfReach::sentence() const {
  if (!valid_to_) return {};
  if (*valid_to_ >= kUnlimited) return "this schedule stays valid however long it gets";
  std::string text = fmt::format("this schedule stays valid up to {}", grouped(*valid_to_));
  if (*valid_to_ == number_.now) text += ": not a cycle more";
  if (retimed_to_ && *retimed_to_ > *valid_to_)
    text += fmt::format("; with other starts {}up to {}", *retimed_to_ >= number_.high ? "at least " : "", grouped(*retimed_to_));
  return text;
}

Command change_to(const Content& content, const WhatIfNumber& number, std::int64_t value, bool solve) {
  if (value == number.base && number.change) return RemoveChange{*number.change, solve};
  return SetChange{changes_with(content, number, value).back(), solve};
}

std::vector<LatencyRow> latency_rows(const LatencyRange& answer) {
  std::vector<LatencyRow> rows;
  for (LatencySegment& segment : segments_of(answer.steps)) {
    const LatencyStep& s = segment.step;
    LatencyRow row;
    row.latencies = s.low == s.high ? grouped(s.low) : fmt::format("{} to {}", grouped(s.low), grouped(s.high));
    if (s.lower_bound >= kNoFiniteII)
      row.ii = "no schedule";
    else if (s.ii >= kNoFiniteII)
      row.ii = fmt::format("{} or more", grouped(s.lower_bound));
    else if (!s.proved())
      row.ii = fmt::format("{} to {}", grouped(s.lower_bound), grouped(s.ii));
    else
      row.ii = grouped(s.ii);
    if (segment.rise > 0)
      row.ii += segment.every == 1 ? fmt::format(", +{} per cycle", grouped(segment.rise))
                                   : fmt::format(", +{} every {}", grouped(segment.rise), grouped(segment.every));
    row.status = s.proved() ? "proved" : "not proved";
    row.now = answer.latency >= s.low && answer.latency <= s.high;
    row.segment = std::move(segment);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Column<LatencyRow>> latency_columns() {
  using Row = LatencyRow;
  const auto step = [](const Row& r) -> const LatencyStep& { return r.segment.step; };
  const auto status = [](const Row& r) { return r.status; };
  const auto why = [=](const Row& r) { return step(r).why; };
  return {
      {"latency", false, [](const Row& r) { return r.latencies + (r.now ? "  now" : ""); }, [=](const Row& r) { return step(r).low; }},
      Column<Row>{"II", false, [](const Row& r) { return r.ii; }}.sorted_by(
          [=](const Row& r) { return std::pair(step(r).ii, step(r).lower_bound); }),
      Column<Row>{"status", false, status}.sorted_by(status),
      Column<Row>{"why not smaller", false, why}.sorted_by(why),
  };
}

std::string latency_sentence(const LatencyRange& answer) {
  if (!answer.fault.empty()) return answer.fault;
  const std::vector<LatencyRow> rows = latency_rows(answer);
  if (rows.empty()) return {};
  std::string text;
  if (rows.size() == 1 && rows[0].segment.rise == 0) {
    text = fmt::format("II {} from {} to {}", rows[0].ii, grouped(answer.from), grouped(answer.to));
  } else {
    constexpr std::size_t kMost = 4;
    for (std::size_t i = 0; i < std::min(rows.size(), kMost); ++i)
      text += fmt::format("{}{}{}", i == 0 ? "II " : ", then ", rows[i].ii,
                          i + 1 < rows.size() ? " until " + grouped(rows[i].segment.step.high) : "");
    if (rows.size() > kMost) text += fmt::format(", and {} more", rows.size() - kMost);
  }
  const bool proved = std::all_of(rows.begin(), rows.end(), [](const LatencyRow& r) { return r.segment.step.proved(); });
  return text + (proved ? ", proved" : ", not all proved");
}

std::string latency_as_text(const LatencyRange& answer) {
  std::string text = "latency from\tto\tII\trise\tevery\tbound\tstatus\twhy not smaller\n";
  for (const LatencyRow& row : latency_rows(answer)) {
    const LatencyStep& s = row.segment.step;
    text +=
        fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", s.low, s.high, s.ii >= kNoFiniteII ? "-" : std::to_string(s.ii), row.segment.rise,
                    row.segment.every, s.lower_bound >= kNoFiniteII ? "no schedule" : std::to_string(s.lower_bound), row.status, s.why);
  }
  return text;
}

std::vector<ChangeRow> change_rows(const Content& content) {
  std::vector<ChangeRow> rows;
  for (std::size_t i = 0; i < content.changes.size(); ++i) {
    const Change& change = content.changes[i];
    ChangeRow row;
    row.number = number_name(change);
    row.value = describe(change).substr(row.number.size() + 1);
    row.enabled = change.enabled;
    Changes others = content.changes;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (content.kernel && content.machine)
      if (const auto problem = problem_with(content, others)) {
        const std::vector<std::int64_t> values = values_of(*problem, change);
        if (values.size() == 1) row.was = grouped(values.front());
        if (values.size() > 1) row.was = fmt::format("{} to {}", grouped(values.front()), grouped(values.back()));
      }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace heddle::app
