#include "solver/programs/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/analysis/turns.h"
#include "core/base/hash.h"
#include "core/base/saturate.h"
#include "core/motion/as_compiled.h"
#include "solver/programs/signature.h"

namespace heddle::programs {
namespace {

/// Depth first over the orders of one group; an order is dropped as soon as its first ops cannot keep the dependences.
class Orders {
 public:
  Orders(const GroupRules& rules, const SpaceLimits& limits)
      : rules_(rules), limits_(limits), place_(rules.ops().size(), GroupRules::kNotPlaced) {}

  struct Found {
    OrderCounts counts;
    std::vector<std::pair<Order, std::int64_t>> orders;  ///< that fit, with their registers
    bool all = true;
  };

  Found run() {
    const std::size_t n = rules_.ops().size();
    found_.counts.seen = 1;
    for (std::size_t i = 2; i < n; ++i) found_.counts.seen = sat_mul(found_.counts.seen, static_cast<std::int64_t>(i));
    add(rules_.products().empty() ? 0 : rules_.products().front(), std::vector<int>(n, 0));
    return std::move(found_);
  }

 private:
  void add(std::size_t op, std::vector<int> stage) {
    if (!found_.all || ++looked_at_ > limits_.most_orders || limits_.stop.stop_requested()) {
      found_.all = false;
      return;
    }
    place_[op] = static_cast<int>(sequence_.size());
    sequence_.push_back(op);
    if (rules_.raise_stages(place_, stage)) {
      if (sequence_.size() == place_.size()) finish(stage);
      for (std::size_t next = 0; next < place_.size(); ++next)
        if (place_[next] == GroupRules::kNotPlaced) add(next, stage);
    }
    sequence_.pop_back();
    place_[op] = GroupRules::kNotPlaced;
  }

  void finish(const std::vector<int>& stage) {
    if (!rules_.order_of(sequence_, stage)) return;
    ++found_.counts.keep_dependences;
    found_.counts.fit += rules_.more_lag() ? add_lagging(stage) : add_order(stage);
  }

  /// With these stages, which keep the dependences; whether it fits.
  bool add_order(const std::vector<int>& stage) {
    std::optional<Order> order = rules_.order_of(sequence_, stage);
    const std::int64_t registers = order ? rules_.registers(*order) : 0;
    if (!order || !rules_.registers_fit(registers)) return false;
    found_.orders.emplace_back(*std::move(order), registers);
    return true;
  }

  /// With all stages from the least ones on; whether one fits.
  bool add_lagging(const std::vector<int>& least) {
    std::set<std::vector<int>> seen{least};
    std::vector<std::vector<int>> open{least};
    bool fits = false;
    while (!open.empty()) {
      const std::vector<int> stage = std::move(open.back());
      open.pop_back();
      // A group whose ops all lag one iteration more is the same program.
      fits |= *std::min_element(stage.begin(), stage.end()) == 0 && add_order(stage);
      for (std::size_t v = 0; v < stage.size(); ++v) {
        std::vector<int> later = stage;
        if (++later[v] < rules_.stages() && rules_.raise_stages(place_, later) && seen.insert(later).second)
          open.push_back(std::move(later));
      }
    }
    return fits;
  }

  const GroupRules& rules_;
  const SpaceLimits& limits_;
  std::vector<int> place_;
  std::vector<std::size_t> sequence_;
  std::int64_t looked_at_ = 0;
  Found found_;
};

/// The ways to cut a circle of `products` into 1, 2 ... `most` turns, fewest turns first.
std::vector<Runs> cuts(std::size_t products, std::size_t most) {
  std::vector<Runs> all;
  for (std::size_t count = 1; count <= std::min(products, most); ++count)
    for (std::size_t mask = 0; mask < (std::size_t{1} << products); ++mask) {
      Runs runs;
      for (std::size_t p = 0; p < products; ++p)
        if ((mask >> p) & 1) runs.push_back(p);
      if (runs.size() == count) all.push_back(std::move(runs));
    }
  return all;
}

/// Of circles with the same steps the one with the least stands for all.
std::pair<int, std::int64_t> weight(const Order& order, std::int64_t registers) {
  int lag = 0;
  for (const timing::StreamStep& step : order) lag += step.stage;
  return {lag, registers};
}

class SpaceMaker {
 public:
  SpaceMaker(const Assembly& assembly, const SpaceLimits& limits) : assembly_(assembly), limits_(limits) {}

  ProgramSpace run() {
    if (assembly_.size() == 0) return refused("every warp group that computes also loads, and only the orders of the others are compared");
    if (assembly_.depths().choices.empty()) return refused("not even one slot of each ring fits into memory");
    for (std::size_t k = 0; k < assembly_.size(); ++k) {
      const std::string name = assembly_.groups().groups[assembly_.group(k).index()].role;
      orders_.push_back(Orders(assembly_.rules(k), limits_).run());
      if (!orders_.back().all) return refused(fmt::format("{} has too many orders of {} ops", name, assembly_.rules(k).ops().size()));
      if (orders_.back().orders.empty()) return refused(fmt::format("no order of {} keeps dependences and registers", name));
      space_.groups.emplace_back().counts = orders_.back().counts;
    }
    decide_cuts();
    for (std::size_t k = 0; k < assembly_.size(); ++k) add_circles(k);
    if (limits_.stop.stop_requested()) return refused("stopped before all circles were compared");
    finish();
    return std::move(space_);
  }

 private:
  static constexpr std::size_t kMostProducts = 12;  // 2^12 ways to cut their circle

  ProgramSpace refused(std::string why) {
    space_.refusal = std::move(why);
    return std::move(space_);
  }

  /// Per consumer its ways to cut, as many turns in each as others can have too; one empty way where no turns are kept.
  void decide_cuts() {
    std::size_t takers = 0, most = kMostTurns;
    for (std::size_t k = 0; k < assembly_.size(); ++k) {
      const std::size_t products = assembly_.rules(k).products().size();
      if (products == 0) continue;
      ++takers;
      most = std::min({most, products, kMostProducts});
    }
    most = takers == 0 ? 0 : std::min(most, kMostTurns / takers);
    for (std::size_t k = 0; k < assembly_.size(); ++k) {
      const std::size_t products = assembly_.rules(k).products().size();
      const bool takes = assembly_.takes_turns() && most > 0 && products > 0 && products <= kMostProducts;
      cuts_.push_back(takes ? cuts(products, most) : std::vector<Runs>{Runs{}});
    }
  }

  /// Circles of the other groups do not show in this one's, but as many turns as it has they must have.
  Runs partner_runs(std::size_t k, std::size_t count) const {
    const auto fit = std::find_if(cuts_[k].begin(), cuts_[k].end(), [&](const Runs& runs) { return runs.size() == count; });
    return fit == cuts_[k].end() ? Runs{} : *fit;
  }

  void add_circles(std::size_t k) {
    const Problem& problem = assembly_.problem();
    std::vector<GroupProgram>& circles = space_.groups[k].circles;
    for (const Runs& cut : cuts_[k]) {
      std::vector<ProgramPart> parts;
      for (std::size_t other = 0; other < assembly_.size(); ++other)
        parts.push_back(assembly_.part(other, orders_[other].orders.front().first, partner_runs(other, cut.size())));
      std::vector<const ProgramPart*> program_parts;
      for (const ProgramPart& part : parts) program_parts.push_back(&part);
      std::map<std::string, std::size_t> known;
      const std::size_t first = circles.size();
      for (const auto& [order, registers] : orders_[k].orders) {
        if (limits_.stop.stop_requested()) return;
        parts[k] = assembly_.part(k, order, cut);
        const timing::LoopProgram program = assembly_.program(program_parts, assembly_.depths().choices.front());
        const std::vector<motion::CircleStep> circle =
            motion::as_compiled(problem, motion::circle_of(problem, program, assembly_.group(k).index()));
        std::string text = signature(problem, assembly_.groups(), circle, assembly_.group(k));
        const auto [at, fresh] = known.emplace(text, circles.size());
        if (fresh) {
          const motion::Ticks bound = motion::group_bound(problem, circle).ticks;
          circles.push_back({order, cut, registers, bound, std::move(text)});
        } else if (GroupProgram& same = circles[at->second]; weight(order, registers) < weight(same.order, same.registers)) {
          same.order = order;
          same.registers = registers;
        }
      }
      OrderCounts& counts = space_.groups[k].counts;
      counts.differ = std::max(counts.differ, static_cast<std::int64_t>(circles.size() - first));
    }
  }

  void finish() {
    space_.copies = true;
    for (std::size_t k = 0; k < space_.groups.size(); ++k) {
      std::vector<GroupProgram>& circles = space_.groups[k].circles;
      std::sort(circles.begin(), circles.end(), [](const GroupProgram& a, const GroupProgram& b) {
        return std::tuple(a.runs.size(), a.bound, a.runs, a.signature) < std::tuple(b.runs.size(), b.bound, b.runs, b.signature);
      });
      space_.copies &= same_ops(assembly_.rules(0), assembly_.rules(k)) && same_circles(space_.groups.front(), space_.groups[k]);
    }
    space_.digest = digest();
  }

  /// Of copies one stands for all.
  std::string digest() const {
    Hash hash;
    for (std::size_t k = 0; k < (space_.copies ? 1 : space_.groups.size()); ++k) {
      std::set<std::string> texts;
      for (const GroupProgram& c : space_.groups[k].circles) texts.insert(c.signature);
      for (const std::string& text : texts) hash.add(text);
    }
    return hash.hex();
  }

  /// By number they cost the same.
  bool same_ops(const GroupRules& a, const GroupRules& b) const {
    const Problem& problem = assembly_.problem();
    return a.threads() == b.threads() && std::equal(a.ops().begin(), a.ops().end(), b.ops().begin(), b.ops().end(), [&](OpId i, OpId j) {
             const Op &x = problem.op(i), &y = problem.op(j);
             return x.kind == y.kind && x.work == y.work && x.window == y.window && x.latency == y.latency &&
                    x.instructions == y.instructions && x.from_registers == y.from_registers &&
                    std::equal(x.uses.begin(), x.uses.end(), y.uses.begin(), y.uses.end(), [](const UnitUse& u, const UnitUse& w) {
                      return u.unit == w.unit && u.offset == w.offset && u.duration == w.duration && u.amount == w.amount;
                    });
           });
  }

  static bool same_circles(const GroupSpace& a, const GroupSpace& b) {
    return std::equal(a.circles.begin(), a.circles.end(), b.circles.begin(), b.circles.end(),
                      [](const GroupProgram& x, const GroupProgram& y) {
                        return x.runs == y.runs && x.signature == y.signature && x.registers == y.registers;
                      });
  }

  const Assembly& assembly_;
  const SpaceLimits& limits_;
  std::vector<Orders::Found> orders_;
  std::vector<std::vector<Runs>> cuts_;
  ProgramSpace space_;
};

}  // namespace

ProgramSpace program_space(const Assembly& assembly, const SpaceLimits& limits) { return SpaceMaker(assembly, limits).run(); }

}  // namespace heddle::programs
