#include "solver/programs/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace heddle::programs {
namespace {

using motion::Step;
using motion::StepKind;

class Words {
 public:
  Words(const Problem& problem, const Schedule& groups, const motion::Circles& circles, GroupId group)
      : problem_(problem), groups_(groups), circles_(circles), group_(group), place_(problem.ops.size(), 0), stage_(problem.ops.size(), 0) {
    std::vector<std::size_t> count(groups.groups.size(), 0);
    for (std::size_t v = 0; v < problem.ops.size(); ++v) place_[v] = count[groups.ops[v].group.index()]++;
    for (const Step& step : circle())
      if (step.kind != StepKind::Await && step.op.valid()) stage_[step.op.index()] = step.stage;
  }

  std::string text() const {
    std::string all;
    for (const Step& step : merged()) fmt::format_to(std::back_inserter(all), "{};", word(step));
    return all;
  }

 private:
  const std::vector<Step>& circle() const { return circles_.groups[group_.index()]; }

  std::size_t beginning() const {
    std::size_t best = 0;
    bool issue = false;
    for (std::size_t i = 0; i < circle().size(); ++i) {
      const Step& step = circle()[i];
      if (step.kind == StepKind::Await || !step.op.valid()) continue;
      const bool issues = step.kind == StepKind::Issue && step.first;
      const Step& known = circle()[best];
      const bool better =
          !known.op.valid() || known.kind == StepKind::Await || (issues && !issue) || (issues == issue && step.op < known.op);
      if (!better) continue;
      best = i;
      issue = issues;
    }
    return best;
  }

  std::vector<Step> merged() const {
    std::vector<Step> steps;
    for (std::size_t i = 0; i < circle().size(); ++i) {
      const Step& step = circle()[(beginning() + i) % circle().size()];
      if (step.kind == StepKind::Arithmetic && !steps.empty() && steps.back().kind == StepKind::Arithmetic) {
        WarpWork& sum = steps.back().work;
        sum.alone += step.work.alone;
        sum.reads += step.work.reads;
        sum.specials += step.work.specials;
        sum.issue += step.work.issue;
      } else {
        steps.push_back(step);
      }
    }
    return steps;
  }

  std::string name(OpId op) const {
    const GroupId other = groups_.group(op);
    if (other == group_) return fmt::format("{}", place_[op.index()]);
    if (other.index() == 0 && problem_.has_producer_group()) return fmt::format("load{}", op.index());
    const std::size_t count = groups_.groups.size();
    return fmt::format("+{}:{}", (other.index() + count - group_.index()) % count, place_[op.index()]);
  }

  std::string distance(const Step& step) const {
    const GroupId other = groups_.group(step.op);
    if (other == group_) return fmt::format("{}", step.stage + step.distance - stage_[step.op.index()]);
    if (other.index() == 0 && problem_.has_producer_group()) return {};
    return fmt::format("{}", step.distance);
  }

  std::size_t turn(const Step& step) const {
    return static_cast<std::size_t>(
        std::count(circles_.turns.begin(), circles_.turns.begin() + static_cast<std::ptrdiff_t>(step.turn), group_.index()));
  }

  std::string word(const Step& step) const {
    switch (step.kind) {
      case StepKind::Arithmetic: return fmt::format("a{}.{}.{}.{}", step.work.alone, step.work.reads, step.work.specials, step.work.issue);
      case StepKind::Issue:
        return fmt::format("i{}.{}.{}.{}.{}.{}{}", name(step.op), step.count, step.each, step.held, step.registers ? 'r' : 's',
                           step.first ? 'f' : '-', step.last ? 'l' : '-');
      case StepKind::Copy: return fmt::format("c{}.{}.{}", name(step.op), step.held, step.latency);
      case StepKind::Await:
        if (step.credit) return fmt::format("r{}", step.channel.index());
        return fmt::format("w{}.{}.{}.{}", name(step.op), distance(step), step.extra, step.ready);
      case StepKind::Take: return fmt::format("t{}", turn(step));
      case StepKind::Pass: return fmt::format("p{}", turn(step));
    }
    return {};
  }

  const Problem& problem_;
  const Schedule& groups_;
  const motion::Circles& circles_;
  const GroupId group_;
  std::vector<std::size_t> place_;  ///< by op, among the ops of its group
  std::vector<int> stage_;
};

}  // namespace

std::string signature(const Problem& problem, const Schedule& groups, const motion::Circles& circles, GroupId group) {
  return Words(problem, groups, circles, group).text();
}

}  // namespace heddle::programs
