// Circles of all groups stand in one line by their bound; each is combined with those of the other groups that stand before it. Programs
// are run a batch at a time and ranked in the order in which they were made, so that the answer does not depend on threads.
#include "solver/programs/enumerate.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "solver/programs/evaluate.h"

namespace heddle::programs {
namespace {

/// One per group.
using Choice = std::vector<const GroupProgram*>;

constexpr std::size_t kBatch = 1024;

struct Element {
  std::size_t group = 0, circle = 0;
};

class Programs {
 public:
  Programs(const Assembly& assembly, const ProgramSpace& space)
      : assembly_(assembly),
        space_(space),
        parts_(space.groups.size()),
        before_(space.groups.size()),
        chosen_(space.groups.size(), nullptr) {
    for (std::size_t g = 0; g < space.groups.size(); ++g)
      for (const GroupProgram& c : space.groups[g].circles) parts_[g].push_back(assembly.part(g, c.order, c.runs));
    for (std::size_t g = 0; g < (space.copies ? 1 : space.groups.size()); ++g)
      for (std::size_t c = 0; c < space.groups[g].circles.size(); ++c) line_.push_back({g, c});
    std::stable_sort(line_.begin(), line_.end(), [&](const Element& a, const Element& b) { return circle(a).bound < circle(b).bound; });
  }

  /// Calls `visit` with every choice of circles, one per group, until it says no. `stage(bound)` comes before all choices whose greatest
  /// bound that is and ends everything by saying no.
  template <class Stage, class Visit>
  void walk(Stage stage, Visit visit) {
    for (auto& list : before_) list.clear();
    going_ = true;
    for (const Element& element : line_) {
      const GroupProgram& last = circle(element);
      if (!stage(last.bound)) return;
      // Of copies any may have the last; it is the first group, and the others have what stands before it, or the same.
      for (std::size_t g = 0; space_.copies && g < before_.size(); ++g) before_[g].push_back(&space_.groups[g].circles[element.circle]);
      chosen_[element.group] = &last;
      combine(0, element.group, last.runs.size(), visit);
      if (!going_) return;
      if (!space_.copies) before_[element.group].push_back(&last);
    }
  }

  const Choice& chosen() const { return chosen_; }

  bool registers_fit() const {
    std::vector<std::int64_t> uses;
    for (const GroupProgram* c : chosen_) uses.push_back(c->registers);
    return assembly_.registers_fit(uses);
  }

  /// Of two copies with different circles: the other begins.
  std::optional<Choice> other_way_round() const {
    if (!space_.copies || chosen_.size() != 2) return std::nullopt;
    Choice other(2);
    for (std::size_t g = 0; g < 2; ++g) other[g] = &space_.groups[g].circles[number(1 - g, chosen_)];
    if (number(0, chosen_) == number(1, chosen_)) return std::nullopt;
    return other;
  }

  timing::LoopProgram program(const Choice& circles) const {
    std::vector<const ProgramPart*> parts;
    for (std::size_t g = 0; g < circles.size(); ++g) parts.push_back(&parts_[g][number(g, circles)]);
    return assembly_.program(parts, assembly_.depths().choices.front());
  }

 private:
  std::size_t number(std::size_t group, const Choice& circles) const {
    return static_cast<std::size_t>(circles[group] - space_.groups[group].circles.data());
  }

  const GroupProgram& circle(const Element& e) const { return space_.groups[e.group].circles[e.circle]; }

  template <class Visit>
  void combine(std::size_t group, std::size_t fixed, std::size_t turns, Visit& visit) {
    if (group == fixed) return combine(group + 1, fixed, turns, visit);
    if (group >= chosen_.size()) {
      if (registers_fit()) going_ = visit();
      return;
    }
    for (const GroupProgram* c : before_[group]) {
      if (c->runs.size() != turns && !c->runs.empty() && turns != 0) continue;
      chosen_[group] = c;
      combine(group + 1, fixed, turns != 0 ? turns : c->runs.size(), visit);
      if (!going_) return;
    }
  }

  const Assembly& assembly_;
  const ProgramSpace& space_;
  std::vector<Element> line_;
  std::vector<std::vector<ProgramPart>> parts_;           ///< of all circles
  std::vector<std::vector<const GroupProgram*>> before_;  ///< per group: the circles that stand before the element at hand
  Choice chosen_;
  bool going_ = true;
};

}  // namespace

Enumeration enumerate(const Assembly& assembly, const ProgramSpace& space, Ranking& ranking, const EnumerateLimits& limits,
                      const ProgressListener& listener) {
  Enumeration answer;
  Programs programs(assembly, space);
  const auto any_bound = [&](motion::Ticks) { return !limits.stop.stop_requested(); };
  programs.walk(any_bound, [&] { return ++answer.programs <= limits.most_programs; });
  if (answer.programs > limits.most_programs || limits.stop.stop_requested()) {
    answer.why = limits.stop.stop_requested() ? "stopped" : "there are more programs than are run";
    return answer;
  }

  Evaluator evaluator(assembly, limits.stop);
  std::vector<Choice> batch;
  std::int64_t chosen = 0;  // in the batch, each counted once
  const auto run_batch = [&] {
    answer.compared += std::exchange(chosen, 0);
    std::vector<Ranked> done = evaluator.evaluated(
        batch.size(), [&](std::size_t k) { return programs.program(batch[k]); }, ranking);
    batch.clear();
    if (limits.stop.stop_requested()) return false;
    for (Ranked& found : done) {
      if (motion::shorter(found.period, answer.least)) answer.least = found.period;
      ranking.add(std::move(found));
    }
    if (listener)
      listener({"comparing programs", answer.compared, answer.programs,
                ranking.empty() ? motion::MotionPeriod() : ranking.kept().front().period, 0});
    return !limits.deadline.passed();
  };
  bool in_time = true;
  const auto worth_it = [&](motion::Ticks bound) { return in_time && !ranking.too_long(bound); };
  programs.walk(worth_it, [&] {
    batch.push_back(programs.chosen());
    ++chosen;
    if (auto other = programs.other_way_round()) batch.push_back(*std::move(other));
    if (batch.size() >= kBatch) in_time = run_batch();
    return in_time;
  });
  if (in_time && !batch.empty()) in_time = run_batch();
  const bool all = in_time || answer.compared == answer.programs;
  answer.complete = all && !limits.stop.stop_requested();
  if (!answer.complete) answer.why = limits.stop.stop_requested() ? "stopped" : "the time was over";
  return answer;
}

}  // namespace heddle::programs
