#include "solver/programs/signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/problem/warp_work.h"

namespace heddle::programs {
namespace {

using motion::CircleStep;
using motion::CircleStepKind;

class Words {
 public:
  Words(const Problem& problem, const Schedule& groups, const std::vector<motion::CircleStep>& circle, GroupId group)
      : problem_(problem),
        groups_(groups),
        steps_(circle),
        group_(group),
        number_(problem.ops.size(), 0),
        begun_(problem.ops.size(), steps_.size()),
        stage_(problem.ops.size(), 0) {
    std::vector<std::size_t> count(groups.groups.size(), 0);
    for (std::size_t v = 0; v < problem.ops.size(); ++v) number_[v] = count[groups.ops[v].group.index()]++;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      if (steps_[i].kind != CircleStepKind::Await && steps_[i].op.valid() && steps_[i].first) {
        begun_[steps_[i].op.index()] = i;
        stage_[steps_[i].op.index()] = steps_[i].stage;
      }
  }

  std::string text() {
    for (std::size_t i = 0; i < steps_.size(); i = add(i)) {
    }
    return fmt::format("{}", fmt::join(words_, " "));
  }

 private:
  /// The word that begins here; returns where the next one does.
  std::size_t add(std::size_t i) {
    const CircleStep& step = steps_[i];
    switch (step.kind) {
      case CircleStepKind::Arithmetic: return add_stretch(i);
      case CircleStepKind::Issue:
        words_.push_back(fmt::format("{}{}", step.first && step.last ? 'i' : step.first ? 'f' : 'l', number(step.op)));
        break;
      case CircleStepKind::Copy: words_.push_back(fmt::format("c{}", number(step.op))); break;
      case CircleStepKind::Await: return add_wait(i);
      case CircleStepKind::Take: words_.emplace_back("t"); break;
      case CircleStepKind::Pass: words_.emplace_back("p"); break;
    }
    return i + 1;
  }

  std::size_t add_stretch(std::size_t i) {
    std::vector<std::pair<std::size_t, bool>> ops;  // and whether it is a half
    for (; i < steps_.size() && steps_[i].kind == CircleStepKind::Arithmetic; ++i)
      ops.emplace_back(number(steps_[i].op), !(steps_[i].first && steps_[i].last));
    std::sort(ops.begin(), ops.end());
    std::vector<std::string> names;
    for (const auto& [op, half] : ops) names.push_back(fmt::format("{}{}", op, half ? "/2" : ""));
    words_.push_back(fmt::format("a{{{}}}", fmt::join(names, ",")));
    return i;
  }

  std::size_t add_wait(std::size_t i) {
    const CircleStep& step = steps_[i];
    if (for_own_product(step)) {
      const int newest = -stage_[step.op.index()] - (begun_[step.op.index()] >= i ? 1 : 0), awaited = -step.stage - step.distance;
      words_.push_back(newest > awaited ? fmt::format("w{}-{}", number(step.op), newest - awaited) : fmt::format("w{}", number(step.op)));
      return i + 1;
    }
    const bool behind_arithmetic = i > 0 && steps_[i - 1].kind == CircleStepKind::Arithmetic;
    std::size_t end = i;
    for (; end < steps_.size() && steps_[end].kind == CircleStepKind::Await && !for_own_product(steps_[end]); ++end)
      if (for_consumer(steps_[end]))
        words_.push_back(fmt::format("x+{}:{}-{}", groups_on(steps_[end].op), number(steps_[end].op), steps_[end].distance));
    if (behind_arithmetic && end < steps_.size() && steps_[end].kind == CircleStepKind::Arithmetic) words_.emplace_back("|");
    return end;
  }

  bool for_own_product(const CircleStep& step) const {
    return groups_.group(step.op) == group_ && warp_role(problem_, step.op) == WarpRole::Product;
  }
  bool for_consumer(const CircleStep& step) const {
    const GroupId other = groups_.group(step.op);
    return other != group_ && !(other.index() == 0 && problem_.has_producer_group());
  }
  std::size_t groups_on(OpId op) const {
    const std::size_t count = groups_.groups.size();
    return (groups_.group(op).index() + count - group_.index()) % count;
  }
  std::size_t number(OpId op) const { return number_[op.index()]; }

  const Problem& problem_;
  const Schedule& groups_;
  const std::vector<CircleStep>& steps_;
  const GroupId group_;
  std::vector<std::size_t> number_;  ///< by op, among the ops of its group
  std::vector<std::size_t> begun_;   ///< by op: its first step here
  std::vector<int> stage_;
  std::vector<std::string> words_;
};

}  // namespace

std::string signature(const Problem& problem, const Schedule& groups, const std::vector<motion::CircleStep>& circle, GroupId group) {
  return Words(problem, groups, circle, group).text();
}

}  // namespace heddle::programs
