// Candidates come from what the catalogue offers for each op (core/layout/alternatives.cpp); numbers from resolving the kernel with each.
#include "core/instance/layout_decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/saturate.h"
#include "core/base/suggest.h"
#include "core/base/text_style.h"

namespace heddle {
namespace {

constexpr std::int64_t kGroupWarps = 4;       ///< that hold a tile together
constexpr std::size_t kMostCandidates = 512;  ///< of a decision under one layout; each may be a problem to resolve

bool moves(const TileOp& op) { return op.kind == "smem_store" || op.kind == "smem_load"; }
const std::string& in_shared(const TileOp& op) { return op.kind == "smem_store" ? op.outputs[0] : op.inputs[0].value; }

/// One op's ways under one layout of the memory.
struct Way {
  std::string op;
  InstructionChoice instruction;
  AccessCost cost;
  int registers = 0;
};

bool same_place(const UnitUse& a, const UnitUse& b) { return a.unit == b.unit && a.offset == b.offset; }

/// A use that is missing is one of 0 cycles.
void widen(std::vector<UnitUse>& uses, const std::vector<UnitUse>& others) {
  for (const UnitUse& other : others) {
    const auto same = [&](const UnitUse& use) { return same_place(use, other); };
    if (std::count_if(uses.begin(), uses.end(), same) <
        std::count_if(others.begin(), others.end(), [&](const UnitUse& use) { return same_place(use, other); })) {
      uses.push_back(other);
      uses.back().duration = uses.back().in_sum = 0, uses.back().amount = 1;
    }
  }
}

class Asking {
 public:
  Asking(const InstanceSpec& spec, LayoutsFor what)
      : spec_(spec),
        kernel_(*spec.kernel),
        machine_(*spec.machine),
        what_(what),
        said_(what == LayoutsFor::Choosing ? spec.choices : LayoutChoices{}) {}

  Result<OpenLayouts> run(const std::vector<std::string>& names) {
    Result<Problem> given = make_problem(spec_);
    // What is said of its tiles may fit one order of a tensor only.
    for (const Tensor& tensor : kernel_.tensors)
      for (const std::string& order : orders_of(tensor)) {
        if (given || spec_.choices.layouts.contains(tensor.name) || order == kNaturalOrder) continue;
        LayoutChoices ordered = spec_.choices;
        ordered.layouts[tensor.name] = order;
        if (Result<Problem> other = make_problem(with(spec_, ordered))) {
          spec_.choices = std::move(ordered);
          given = std::move(other);
        }
      }
    if (!given) return given.error();
    question_.problem = *std::move(given);
    question_.shape = question_.problem;
    const std::set<std::string> values = values_named(names);
    if (!faults_.empty()) return Error{ErrorKind::Input, std::move(faults_)};
    std::set<std::string> decided;  // with their tensor
    for (const Tensor& tensor : kernel_.tensors)
      if (tensor.packing == Packing::Free && values.contains(tensor.name)) {
        decide(tensor, names);
        for (const std::string& tile : tiles_of(tensor)) decided.insert(tile);
      }
    for (const FreeAxis& axis : kernel_.free)
      if (values.contains(axis.name)) decide(axis, names);
    for (const std::string& value : values)
      if (std::any_of(kernel_.values.begin(), kernel_.values.end(), [&](const TileValue& v) { return v.name == value; }) &&
          !decided.contains(value))
        decide(value, names);
    if (!faults_.empty()) return Error{ErrorKind::Input, std::move(faults_)};
    give_numbers();
    join_those_that_share_numbers();
    for (LayoutDecision& decision : question_.decisions) drop_dominated(decision);
    for (const LayoutDecision& decision : question_.decisions) {
      question_.combinations = sat_mul(question_.combinations, static_cast<std::int64_t>(decision.candidates.size()));
      question_.left = sat_mul(question_.left, static_cast<std::int64_t>(decision.open().size()));
    }
    return std::move(question_);
  }

 private:
  void fault(const std::string& name, std::string message, std::string hint = {}) {
    faults_.push_back({"", "", fmt::format("{}: {}", printable(name), message), std::move(hint), "left open"});
  }

  /// The values in shared memory, and the free axes, that are meant.
  std::set<std::string> values_named(const std::vector<std::string>& names) {
    std::set<std::string> known, found;
    std::map<std::string, std::string> value_of;  // of values and ops
    for (const TileOp& op : kernel_.body)
      if (moves(op) && !op.inputs.empty() && !op.outputs.empty()) {
        known.insert(in_shared(op));
        value_of[in_shared(op)] = value_of[op.name] = in_shared(op);
      }
    for (const FreeAxis& axis : kernel_.free) known.insert(axis.name);
    for (const Tensor& tensor : kernel_.tensors)
      if (tensor.packing == Packing::Free && what_ == LayoutsFor::Choosing) known.insert(tensor.name);
    for (const std::string& name : known) value_of[name] = name;
    const std::string all =
        known.empty() ? "its loop moves no tile between registers and shared memory" : "there are " + list_of({known.begin(), known.end()});
    for (const std::string& name : names) {
      if (const auto it = value_of.find(name); it != value_of.end()) {
        found.insert(it->second);
      } else if (name == "all") {
        found.insert(known.begin(), known.end());
      } else {
        std::vector<std::string> every;
        for (const auto& [each, value] : value_of) every.push_back(each);
        const std::string near = did_you_mean(name, every);
        fault(name, fmt::format("kernel '{}' has nothing of this name whose layout can be chosen", kernel_.name),
              near.empty() ? all : near);
      }
    }
    return found;
  }

  /// Those of its tiles that the loop moves between registers and shared memory.
  std::vector<std::string> tiles_of(const Tensor& tensor) const {
    std::vector<std::string> tiles;
    for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
      for (const TileOp& copy : *list) {
        if (copy.tensor != tensor.name || !is_copy(copy)) continue;
        const std::string& tile = tile_of_copy(copy);
        const auto moved = [&](const TileOp& op) { return moves(op) && in_shared(op) == tile; };
        if (std::any_of(kernel_.body.begin(), kernel_.body.end(), moved) && std::find(tiles.begin(), tiles.end(), tile) == tiles.end())
          tiles.push_back(tile);
      }
    return tiles;
  }

  /// Not decided, or only in part: the reason is a fault where it was asked for by name.
  void leave_out(const std::string& name, const std::string& why, const std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), "all") == names.end())
      fault(name, why);
    else
      question_.left_out.push_back(fmt::format("{}: {}", name, why));
  }

  /// That as given comes first.
  void add(LayoutDecision decision) {
    const auto current = std::find_if(decision.candidates.begin(), decision.candidates.end(), [](const auto& c) { return c.current; });
    if (current != decision.candidates.end()) std::rotate(decision.candidates.begin(), current, current + 1);
    if (!decision.candidates.empty()) question_.decisions.push_back(std::move(decision));
  }

  void decide(const std::string& value, const std::vector<std::string>& names) {
    std::string why;
    LayoutDecision all = candidates_of(value, *question_.problem.layouts, why), decision{all.values, all.ops, {}};
    if (all.candidates.empty()) return leave_out(value, why, names);
    for (LayoutCandidate& candidate : all.candidates) keep(std::move(candidate), decision);
    add(std::move(decision));
  }

  /// How a tensor's bytes are ordered, together with its tiles: in each order they can lie otherwise.
  void decide(const Tensor& tensor, const std::vector<std::string>& names) {
    const auto given = spec_.choices.layouts.find(tensor.name);
    const auto said = said_.layouts.find(tensor.name);
    const std::string now = given == spec_.choices.layouts.end() ? std::string(kNaturalOrder) : given->second;
    LayoutDecision decision;
    std::string why;
    for (const std::string& order : orders_of(tensor)) {
      if (said != said_.layouts.end() && said->second != order) continue;
      LayoutCandidate ordered;
      ordered.choices.layouts[tensor.name] = order;
      ordered.current = order == now;
      std::vector<Fault> faults;
      const LayoutPlan plan = plan_layouts(kernel_, question_.problem.params, machine_, merged(spec_.choices, ordered.choices), faults);
      if (!faults.empty()) {
        why = faults.front().message;
        continue;
      }
      LayoutDecision all{{tensor.name}, {}, {std::move(ordered)}};
      for (const std::string& tile : tiles_of(tensor)) all = product(all, candidates_of(tile, plan, why));
      if (decision.values.empty()) decision = {all.values, all.ops, {}};
      for (LayoutCandidate& candidate : all.candidates) keep(std::move(candidate), decision);
    }
    const auto orders = [&](const LayoutCandidate& c) {
      return c.choices.layouts.at(tensor.name) != decision.candidates[0].choices.layouts.at(tensor.name);
    };
    const bool both = std::any_of(decision.candidates.begin(), decision.candidates.end(), orders);
    if (decision.candidates.empty() || (!both && said == said_.layouts.end() && !why.empty()))
      leave_out(tensor.name, fmt::format("in another order: {}", why), names);
    add(std::move(decision));
  }

  /// Each of the one with each of the other. What they are decided by is not resolved yet.
  LayoutDecision product(const LayoutDecision& a, const LayoutDecision& b) {
    LayoutDecision both{a.values, a.ops, {}};
    both.values.insert(both.values.end(), b.values.begin(), b.values.end());
    both.ops.insert(both.ops.end(), b.ops.begin(), b.ops.end());
    for (const LayoutCandidate& x : a.candidates)
      for (const LayoutCandidate& y : b.candidates) {
        if (both.candidates.size() >= kMostCandidates) {
          question_.complete = false;
          return both;
        }
        LayoutCandidate& candidate = both.candidates.emplace_back(x);
        candidate.choices = merged(std::move(candidate.choices), y.choices);
        candidate.costs.insert(candidate.costs.end(), y.costs.begin(), y.costs.end());
        candidate.bytes += y.bytes, candidate.registers = std::max(x.registers, y.registers);
        candidate.current = x.current && y.current;
      }
    return both;
  }

  /// Of a value in shared memory under a plan, not resolved yet. `why` there are none, where it says nothing yet.
  LayoutDecision candidates_of(const std::string& value, const LayoutPlan& plan, std::string& why) {
    LayoutDecision decision;
    decision.values = {value};
    std::map<std::string, std::vector<Way>> by_layout;  // in ways of the first op, then of the others
    std::map<std::string, std::int64_t> bytes;
    std::vector<std::string> layouts;  // as given first
    LayoutChoices given;
    for (const TileOp& op : kernel_.body) {
      if (!moves(op) || op.inputs.empty() || op.outputs.empty() || in_shared(op) != value) continue;
      decision.ops.push_back(op.name);
      std::map<std::string, std::vector<Way>> ways;
      for (const LayoutAlternative& each : alternatives_of(kernel_, question_.problem.params, machine_, plan, op.name)) {
        if (each.current) {
          given.layouts[value] = each.layout, given.instructions[op.name] = each.instruction;
          if (layouts.empty()) layouts.push_back(each.layout);
        }
        if (!each.refused.empty() || !each.cost.known) continue;
        if (const auto said = said_.layouts.find(value); said != said_.layouts.end() && each.layout != text_in(plan, value)) continue;
        if (const auto said = said_.instructions.find(op.name); said != said_.instructions.end() && !(each.instruction == said->second))
          continue;
        ways[each.layout].push_back({op.name, each.instruction, each.cost, each.registers});
        bytes[each.layout] = each.bytes;
        if (std::find(layouts.begin(), layouts.end(), each.layout) == layouts.end()) layouts.push_back(each.layout);
      }
      if (ways.empty() && why.empty()) {
        const OpPlan* known = plan.find(op.name);
        why = known && !known->unknown.empty() ? known->unknown : fmt::format("no instruction is known by which '{}' can move it", op.name);
      }
      combine(ways, decision.ops.size() == 1, by_layout);
    }
    if (by_layout.empty() && why.empty()) why = fmt::format("no layout fits every op that moves '{}'", value);
    for (const std::string& layout : layouts)
      if (const auto it = by_layout.find(layout); it != by_layout.end())
        add_candidates(decision, {value, layout, bytes[layout]}, it->second, given);
    return decision;
  }

  /// The order of an axis, with the ops by which registers change their layout: how many of them go to other lanes follows from it.
  void decide(const FreeAxis& axis, const std::vector<std::string>& names) {
    LayoutDecision decision;
    decision.values = {axis.name};
    const auto given = spec_.choices.layouts.find(axis.name);
    const auto said = said_.layouts.find(axis.name);
    const std::string now = given == spec_.choices.layouts.end() ? std::string(kNaturalOrder) : given->second;
    std::vector<std::pair<LayoutCandidate, LayoutPlan>> ways;
    std::string why;
    for (const std::string_view order : {kNaturalOrder, kRelabelledOrder}) {
      if (said != said_.layouts.end() && said->second != order) continue;
      LayoutCandidate candidate;
      candidate.choices.layouts[axis.name] = order;
      candidate.current = order == now;
      std::vector<Fault> faults;
      LayoutPlan plan = plan_layouts(kernel_, question_.problem.params, machine_, merged(spec_.choices, candidate.choices), faults);
      if (!faults.empty())
        why = faults.front().message;
      else
        ways.emplace_back(std::move(candidate), std::move(plan));
    }
    for (const TileOp& op : kernel_.body)
      if (std::any_of(ways.begin(), ways.end(), [&](const auto& way) {
            const OpPlan* plan = way.second.find(op.name);
            return plan && plan->change;
          }))
        decision.ops.push_back(op.name);
    for (auto& [candidate, plan] : ways) {
      for (const std::string& op : decision.ops) {
        const OpPlan* moved = plan.find(op);
        const std::int64_t shuffles = moved && moved->change ? moved->change->shuffles : 0;
        candidate.costs.push_back({.known = true, .port = shuffles, .least = shuffles, .issues = shuffles / kGroupWarps});
      }
      keep(std::move(candidate), decision);
    }
    if (decision.candidates.size() < 2 && said == said_.layouts.end() && !why.empty()) return leave_out(axis.name, why, names);
    add(std::move(decision));
  }

  const std::string& text_in(const LayoutPlan& plan, const std::string& value) const {
    for (std::size_t v = 0; v < kernel_.values.size(); ++v)
      if (kernel_.values[v].name == value) return plan.values[v].text;
    return value;
  }

  /// Every op must be able to move the value as it lies. `all` has, layout by layout, each combination of ways one after the other.
  void combine(const std::map<std::string, std::vector<Way>>& ways, bool first, std::map<std::string, std::vector<Way>>& all) {
    if (first) {
      all = ways;
      return;
    }
    std::map<std::string, std::vector<Way>> joined;
    for (const auto& [layout, before] : all) {
      const auto now = ways.find(layout);
      if (now == ways.end()) continue;
      const std::size_t ops = count_ops(before);
      for (std::size_t at = 0; at < before.size(); at += ops)
        for (const Way& way : now->second) {
          if (joined[layout].size() >= kMostCandidates * (ops + 1)) {
            question_.complete = false;
            break;
          }
          joined[layout].insert(joined[layout].end(), before.begin() + static_cast<std::ptrdiff_t>(at),
                                before.begin() + static_cast<std::ptrdiff_t>(at + ops));
          joined[layout].push_back(way);
        }
    }
    all = std::move(joined);
  }
  static std::size_t count_ops(const std::vector<Way>& ways) {
    std::set<std::string> ops;
    for (const Way& way : ways) ops.insert(way.op);
    return std::max<std::size_t>(ops.size(), 1);
  }

  /// A value, and how it lies in shared memory.
  struct LaidValue {
    const std::string &value, &layout;
    std::int64_t bytes;
  };
  static void add_candidates(LayoutDecision& decision, const LaidValue& of, const std::vector<Way>& ways, const LayoutChoices& given) {
    const std::size_t ops = decision.ops.size();
    for (std::size_t at = 0; at + ops <= ways.size(); at += ops) {
      LayoutCandidate candidate;
      candidate.bytes = of.bytes;
      candidate.choices.layouts[of.value] = of.layout;
      for (std::size_t k = 0; k < ops; ++k) {
        const Way& way = ways[at + k];
        candidate.choices.instructions[way.op] = way.instruction;
        candidate.costs.push_back(way.cost);
        candidate.registers = std::max(candidate.registers, way.registers);
      }
      candidate.current = candidate.choices == given;
      decision.candidates.push_back(std::move(candidate));
    }
  }

  /// Unless it is no problem at all: too large for the machine, say.
  void keep(LayoutCandidate candidate, LayoutDecision& decision) {
    const Problem* problem = problem_with(decision, candidate);
    if (!problem) return;
    for (std::size_t v = 0; v < problem->ops.size() && v < question_.shape.ops.size(); ++v)
      widen(question_.shape.ops[v].uses, problem->ops[v].uses);
    decision.candidates.push_back(std::move(candidate));
  }

  /// Costs follow from few numbers, so few problems are resolved.
  const Problem* problem_with(const LayoutDecision& decision, const LayoutCandidate& candidate) {
    std::vector<std::int64_t> key{candidate.bytes};
    for (const AccessCost& cost : candidate.costs) key.insert(key.end(), {cost.port, cost.least, cost.issues, cost.selects});
    // In another order of a tensor the same accesses leave registers otherwise.
    std::vector<std::string> of = decision.values;
    for (const Tensor& tensor : kernel_.tensors)
      if (const auto order = candidate.choices.layouts.find(tensor.name);
          tensor.packing == Packing::Free && order != candidate.choices.layouts.end())
        of.push_back(order->second);
    const auto [known, fresh] = problems_[of].try_emplace(key);
    if (fresh) {
      if (Result<Problem> problem = make_problem(with(spec_, merged(spec_.choices, candidate.choices))))
        known->second = *std::move(problem);
    }
    return known->second ? &*known->second : nullptr;
  }

  void give_numbers() {
    for (LayoutDecision& decision : question_.decisions) give_numbers(decision);
    std::erase_if(question_.decisions, [](const LayoutDecision& decision) { return decision.candidates.empty(); });
  }
  void give_numbers(LayoutDecision& decision) {
    std::map<const Problem*, std::optional<ProblemNumbers>> numbers;
    std::vector<LayoutCandidate> kept;
    for (LayoutCandidate& candidate : decision.candidates) {
      const Problem* problem = problem_with(decision, candidate);
      const auto [known, fresh] = numbers.try_emplace(problem);
      if (fresh) known->second = numbers_in(question_.shape, *problem);
      if (!known->second) {
        question_.complete = false;
        continue;
      }
      candidate.numbers = *known->second;
      kept.push_back(std::move(candidate));
    }
    decision.candidates = std::move(kept);
  }

  /// Numbers that a decision moves. The last three, of what is taken anyway, are sums over values, so several may.
  std::set<std::size_t> moved_by(const LayoutDecision& decision) const {
    const ProblemNumbers given = numbers_of(question_.shape);
    std::set<std::size_t> moved;
    for (const LayoutCandidate& candidate : decision.candidates)
      for (std::size_t i = 0; i + 3 < given.size(); ++i)
        if (candidate.numbers[i] != given[i]) moved.insert(i);
    return moved;
  }

  void join_those_that_share_numbers() {
    std::vector<LayoutDecision>& all = question_.decisions;
    for (std::size_t a = 0; a < all.size(); ++a)
      for (std::size_t b = a + 1; b < all.size(); ++b) {
        const std::set<std::size_t> of_a = moved_by(all[a]), of_b = moved_by(all[b]);
        if (std::none_of(of_a.begin(), of_a.end(), [&](std::size_t i) { return of_b.contains(i); })) continue;
        all[a] = joined(all[a], all[b]);
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(b));
        b = a;
      }
  }

  LayoutDecision joined(const LayoutDecision& a, const LayoutDecision& b) {
    LayoutDecision all = product(a, b), both{all.values, all.ops, {}};
    for (LayoutCandidate& candidate : all.candidates) keep(std::move(candidate), both);
    give_numbers(both);
    return both;
  }

  InstanceSpec spec_;  ///< its choices are those with which the candidates of a decision are as given
  const Kernel& kernel_;
  const Machine& machine_;
  const LayoutsFor what_;
  const LayoutChoices said_;  ///< what candidates agree with
  OpenLayouts question_;
  std::vector<Fault> faults_;
  std::map<std::vector<std::string>, std::map<std::vector<std::int64_t>, std::optional<Problem>>>
      problems_;  ///< by values, with the order of tensors, and what their ops cost
};

}  // namespace

AccessCost LayoutCandidate::cost() const {
  AccessCost sum;
  for (const AccessCost& each : costs) sum = sum_of(sum, each);
  return sum;
}

void drop_dominated(LayoutDecision& decision) {
  std::vector<LayoutCandidate>& all = decision.candidates;
  const auto at_most = [](const ProblemNumbers& a, const ProblemNumbers& b) {
    return std::equal(a.begin(), a.end(), b.begin(), [](std::int64_t x, std::int64_t y) { return x <= y; });
  };
  // Among equals: fewer cycles of the port, less else, as given.
  const auto rank = [&](std::size_t i) {
    const AccessCost sum = all[i].cost();
    return std::tuple(sum.port, sum.selects, sum.issues, all[i].registers, all[i].bytes, !all[i].current, i);
  };
  // Many have the same numbers: of those the first by rank is compared with the others'.
  std::map<ProblemNumbers, std::size_t> best;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const auto [of, fresh] = best.try_emplace(all[i].numbers, i); !fresh && rank(i) < rank(of->second)) of->second = i;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const std::size_t first = best.at(all[i].numbers); first != i) all[i].dominated_by = first;
  for (const auto& [numbers, i] : best)
    for (const auto& [others, j] : best)
      if (i != j && !all[i].dominated_by && !all[j].dominated_by && at_most(others, numbers)) all[i].dominated_by = j;
  for (LayoutCandidate& each : all)
    while (each.dominated_by && all[*each.dominated_by].dominated_by) each.dominated_by = all[*each.dominated_by].dominated_by;
}

std::vector<std::size_t> LayoutDecision::open() const {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (!candidates[i].dominated_by) left.push_back(i);
  return left;
}

Result<OpenLayouts> open_layouts(const InstanceSpec& spec, const std::vector<std::string>& names, LayoutsFor what) {
  return Asking(spec, what).run(names);
}

std::optional<ProblemNumbers> numbers_in(const Problem& shape, Problem problem) {
  for (std::size_t v = 0; v < problem.ops.size() && v < shape.ops.size(); ++v) {
    std::vector<UnitUse> uses = shape.ops[v].uses;
    std::vector<bool> taken(uses.size());
    for (UnitUse& use : uses) use.duration = use.in_sum = 0, use.amount = 1;
    for (const UnitUse& use : problem.ops[v].uses) {
      std::size_t at = 0;
      while (at < uses.size() && (taken[at] || !same_place(uses[at], use))) ++at;
      if (at == uses.size()) return std::nullopt;
      uses[at] = use, taken[at] = true;
    }
    problem.ops[v].uses = std::move(uses);
  }
  if (!same_shape(shape, problem)) return std::nullopt;
  return numbers_of(problem);
}

LayoutChoices choices_with(const OpenLayouts& question, const std::vector<std::size_t>& chosen) {
  LayoutChoices choices = choices_of(question.problem);
  for (std::size_t d = 0; d < question.decisions.size(); ++d)
    choices = merged(std::move(choices), question.decisions[d].candidates.at(chosen.at(d)).choices);
  return choices;
}

std::optional<LayoutChoices> only_choices(const OpenLayouts& question) {
  if (question.left > 1 || !question.complete) return std::nullopt;
  std::vector<std::size_t> chosen;
  for (const LayoutDecision& decision : question.decisions) chosen.push_back(decision.open().front());
  return choices_with(question, chosen);
}

Problem easiest(const OpenLayouts& question, const std::vector<std::vector<std::size_t>>& candidates) {
  const ProblemNumbers given = numbers_of(question.shape);
  ProblemNumbers numbers = given;
  for (std::size_t d = 0; d < question.decisions.size(); ++d)
    for (std::size_t i = 0; i < given.size(); ++i) {
      std::int64_t least = question.decisions[d].candidates[candidates[d].front()].numbers[i];
      for (const std::size_t c : candidates[d]) least = std::min(least, question.decisions[d].candidates[c].numbers[i]);
      numbers[i] += least - given[i];
    }
  Problem problem = with_numbers(question.shape, numbers);
  problem.layouts = nullptr;  // a set of combinations has no one plan that the checker could hold it to
  return problem;
}

}  // namespace heddle
