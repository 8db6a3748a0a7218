// Deletion on a model in which every constraint has a guard. The simplest rules are tried alone first: many refutations
// need only dependences and units, and an explanation without registers is better than one with them.
#include "solver/search/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "solver/encoding/families.h"
#include "solver/encoding/registers.h"

namespace heddle::solver {
namespace {

/// For one try to leave something out.
constexpr std::uint64_t kTryEffort = kEffortPerSecond;

using Rule = std::pair<ConstraintFamily, std::size_t>;
using Names = std::vector<ConstraintName>;
using Choice = std::function<bool(const ConstraintName&)>;

Rule rule_of(const ConstraintName& name) {
  const bool many = name.family == ConstraintFamily::Unit || name.family == ConstraintFamily::User;
  return {name.family, many ? name.index : 0};
}

bool about_registers(ConstraintFamily family) { return family == ConstraintFamily::Registers || family == ConstraintFamily::RegisterFile; }

/// How early a family is considered when looking for the simplest set that already contradicts itself.
int level_of(ConstraintFamily family) {
  switch (family) {
    case ConstraintFamily::Unit:
    case ConstraintFamily::Dependence:
    case ConstraintFamily::HandOff:
    case ConstraintFamily::Credit: return 0;
    case ConstraintFamily::Issue:
    case ConstraintFamily::Blocking:
    case ConstraintFamily::Groups:
    case ConstraintFamily::Warps: return 1;
    case ConstraintFamily::Smem:
    case ConstraintFamily::Tmem: return 2;
    case ConstraintFamily::Registers:
    case ConstraintFamily::RegisterFile: return 3;
    case ConstraintFamily::User: break;
  }
  return 4;
}
constexpr int kLevels = 5;

/// What a user demands is left out first where possible, then what is hardest to understand.
std::vector<Rule> deletion_order(const std::set<Rule>& rules) {
  std::vector<Rule> order(rules.begin(), rules.end());
  std::stable_sort(order.begin(), order.end(), [](const Rule& a, const Rule& b) {
    const bool a_user = a.first == ConstraintFamily::User, b_user = b.first == ConstraintFamily::User;
    return a_user != b_user ? a_user : a.first > b.first;
  });
  return order;
}

bool contains(const Names& names, const ConstraintName& name) { return std::find(names.begin(), names.end(), name) != names.end(); }

/// All families under guards, on a problem that may have more groups than are allowed; that limit is a constraint as well.
class NamedModel {
 public:
  NamedModel(const Problem& problem, int allowed_groups, const Constraints& constraints, const ModelOptions& options)
      : model_(problem, constraints, options), registers_(model_) {
    add_all_families(model_);
    model_.name(ConstraintFamily::Groups);
    for (auto g = static_cast<std::size_t>(std::max(0, allowed_groups)); g < model_.group_count(); ++g)
      for (std::size_t v = 0; v < model_.op_count(); ++v) model_.backend().add_clause({-model_.in_group(OpId(v), g)});
  }

  /// Yes fills `schedule`; registers are refined only if asked, else those constraints count that are there.
  Answer check(const Choice& chosen, bool refine, std::uint64_t effort) {
    while (true) {
      std::vector<Lit> guards;
      for (const auto& [guard, name] : model_.names())
        if (chosen(name)) guards.push_back(guard);
      ++queries_;
      const Answer answer = model_.backend().check(guards, effort);
      if (answer != Answer::Yes) return answer;
      schedule_ = model_.extract();
      if (!refine || !registers_.refine(schedule_)) return Answer::Yes;
    }
  }

  const Schedule& schedule() const { return schedule_; }
  RegisterFamily& registers() { return registers_; }
  std::int64_t queries() const { return queries_; }
  std::int64_t conflicts() const { return model_.backend().conflicts(); }

  /// After No.
  Names core() const {
    Names names;
    for (const Lit lit : model_.backend().core())
      for (const auto& [guard, name] : model_.names())
        if (guard == lit && !contains(names, name)) names.push_back(name);
    return names;
  }

 private:
  Model model_;
  RegisterFamily registers_;
  Schedule schedule_;
  std::int64_t queries_ = 0;
};

class Finder {
 public:
  /// `groups`: how many the model has, of which only some are allowed.
  Finder(const Problem& problem, int groups, const Constraints& constraints, const ModelOptions& options,
         const std::function<void(const std::string&)>& progress)
      : original_(problem), problem_(problem), constraints_(constraints), options_(options), progress_(progress) {
    options_.named = true;
    problem_.max_groups = std::min(groups, most_groups());
  }

  Core run() {
    {
      NamedModel model(problem_, original_.max_groups, constraints_, options_);
      contradiction(model);
      if (core_.schedulable == Answer::No) {
        minimize_rules(model);
        minimize_parts(model);
      }
      count(model);
    }
    try {
      if (core_.schedulable == Answer::No) recheck();
      if (core_.rechecked) consider_more_groups();
    } catch (const Stopped&) {  // what was found stands, unverified
    }
    return std::move(core_);
  }

  /// Set when the core has a schedule with so many groups: then their number belongs into it.
  std::optional<int> groups_that_escape() const { return groups_that_escape_; }

 private:
  int most_groups() const { return std::max(original_.max_groups, static_cast<int>(original_.ops.size()) + 1); }
  bool exhausted() const { return options_.limits.stop.stop_requested() || Clock::now() >= options_.limits.deadline; }
  void say(std::string text) const {
    if (progress_) progress_(text);
  }
  void count(const NamedModel& model) {
    core_.queries += model.queries();
    core_.conflicts += model.conflicts();
  }
  void take(const NamedModel& model) {
    names_ = model.core();
    rules_.clear();
    for (const ConstraintName& name : names_) rules_.insert(rule_of(name));
  }

  void contradiction(NamedModel& model) {
    for (int level = 0; level < kLevels && !exhausted(); ++level) {
      say(fmt::format("II {}: looking for what contradicts itself, step {} of {}", options_.ii, level + 1, kLevels));
      const bool last = level + 1 == kLevels;
      core_.schedulable =
          model.check([&](const ConstraintName& n) { return level_of(n.family) <= level; }, level >= 3, last ? 0 : 2 * kTryEffort);
      if (core_.schedulable == Answer::No) return take(model);
    }
    if (exhausted()) core_.schedulable = Answer::Unknown;
  }

  void minimize_rules(NamedModel& model) {
    for (const Rule& rule : deletion_order(rules_)) {
      if (!rules_.contains(rule)) continue;
      say(fmt::format("{} rules contradict each other; leaving one out", rules_.size()));
      std::set<Rule> rest = rules_;
      rest.erase(rule);
      const bool refine = std::any_of(rest.begin(), rest.end(), [](const Rule& r) { return about_registers(r.first); });
      const Answer answer = model.check([&](const ConstraintName& n) { return rest.contains(rule_of(n)); }, refine, kTryEffort);
      if (answer == Answer::No) take(model);
    }
  }

  void minimize_parts(NamedModel& model) {
    core_.parts_needed = true;
    std::stable_sort(names_.begin(), names_.end(), [](const ConstraintName& a, const ConstraintName& b) { return a.family > b.family; });
    for (const ConstraintName& part : Names(names_)) {
      if (!contains(names_, part)) continue;
      say(fmt::format("{} constraints contradict each other; leaving one out", names_.size()));
      const Answer answer = model.check([&](const ConstraintName& n) { return !(n == part) && contains(names_, n); }, false, kTryEffort);
      if (answer == Answer::Unknown) core_.parts_needed = false;
      if (answer != Answer::No) continue;
      const Names order = std::exchange(names_, model.core());
      std::stable_sort(names_.begin(), names_.end(), [&](const ConstraintName& a, const ConstraintName& b) {
        return std::find(order.begin(), order.end(), a) < std::find(order.begin(), order.end(), b);
      });
    }
    for (const ConstraintName& name : names_) {
      const auto [family, index] = rule_of(name);
      const auto same = [&, family = family, index = index](const CoreMember& m) { return m.family == family && m.index == index; };
      auto member = std::find_if(core_.members.begin(), core_.members.end(), same);
      if (member == core_.members.end()) {
        core_.members.push_back({family, index, {}, {}});
        member = core_.members.end() - 1;
      }
      member->parts.push_back(name);
    }
    for (CoreMember& member : core_.members)
      std::sort(member.parts.begin(), member.parts.end(),
                [](const ConstraintName& a, const ConstraintName& b) { return std::tie(a.index, a.ops) < std::tie(b.index, b.ops); });
    std::sort(core_.members.begin(), core_.members.end(),
              [](const CoreMember& a, const CoreMember& b) { return std::tie(a.family, a.index) < std::tie(b.family, b.index); });
  }

  /// A model that knows nothing of what was tried before.
  void recheck() {
    say("checking the core once more, from scratch");
    NamedModel model(problem_, original_.max_groups, constraints_, options_);
    require_registers(model);
    core_.rechecked = model.check([&](const ConstraintName& n) { return contains(names_, n); }, false, 0) == Answer::No;
    for (CoreMember& member : core_.members) {
      const auto others = [&](const ConstraintName& n) { return contains(names_, n) && rule_of(n) != Rule{member.family, member.index}; };
      const Answer answer = model.check(others, false, kTryEffort);
      if (answer == Answer::Yes) member.without = model.schedule();
    }
    count(model);
  }

  void require_registers(NamedModel& model) {
    for (const ConstraintName& name : names_) {
      if (name.family == ConstraintFamily::Registers)
        for (const OpId op : name.ops) model.registers().require(op);
      if (about_registers(name.family)) model.registers().budget_at_most(original_.limits.registers_per_thread);
    }
  }

  /// More than one additional group can matter only where ops want to be apart, and never where that limit is a member.
  void consider_more_groups() {
    const bool apart = std::any_of(core_.members.begin(), core_.members.end(), [](const CoreMember& m) {
      return m.family == ConstraintFamily::Issue || m.family == ConstraintFamily::Blocking || m.family == ConstraintFamily::User ||
             about_registers(m.family);
    });
    const bool limited =
        std::any_of(core_.members.begin(), core_.members.end(), [](const CoreMember& m) { return m.family == ConstraintFamily::Groups; });
    if (!apart || limited || problem_.max_groups >= most_groups()) return;
    say("checking the core with more warp groups");
    Problem roomy = problem_;
    roomy.max_groups = most_groups();
    NamedModel model(roomy, roomy.max_groups, constraints_, options_);
    require_registers(model);
    const Answer answer = model.check([&](const ConstraintName& n) { return contains(names_, n); }, false, 2 * kTryEffort);
    if (answer != Answer::No) core_.groups_considered = problem_.max_groups;
    if (answer == Answer::Yes) {
      std::set<GroupId> used;
      for (const Placement& p : model.schedule().ops) used.insert(p.group);
      const int first = problem_.has_producer_group() ? 1 : 0;
      groups_that_escape_ = std::max(problem_.max_groups + 1, static_cast<int>(used.size()) + first);
    }
    count(model);
  }

  const Problem& original_;
  Problem problem_;  ///< with one group more than allowed
  const Constraints& constraints_;
  ModelOptions options_;
  const std::function<void(const std::string&)>& progress_;
  Core core_;
  Names names_;           ///< the present core
  std::set<Rule> rules_;  ///< of the present core
  std::optional<int> groups_that_escape_;
};

Core find(const Problem& problem, const Constraints& constraints, const ModelOptions& options,
          const std::function<void(const std::string&)>& progress) {
  // One group more than allowed is nearly always enough to see whether their number matters.
  int groups = std::max(1, problem.max_groups) + 1;
  while (true) {
    Finder finder(problem, groups, constraints, options, progress);
    Core core = finder.run();
    if (!finder.groups_that_escape()) return core;
    groups = *finder.groups_that_escape();
  }
}

/// The user's tightest limit on registers, if it is tighter than the machine's.
std::optional<std::size_t> register_constraint(const Problem& problem, const Constraints& constraints) {
  std::optional<std::size_t> tightest;
  std::int64_t least = problem.limits.registers_per_thread;
  for (std::size_t i = 0; i < constraints.size(); ++i)
    if (constraints[i].enabled && constraints[i].kind == ConstraintKind::MaxRegisters && constraints[i].high < least) {
      least = constraints[i].high;
      tightest = i;
    }
  return tightest;
}

}  // namespace

std::vector<EdgeId> edges_of(const CoreMember& member) {
  std::vector<EdgeId> edges;
  for (const ConstraintName& part : member.parts) edges.push_back(EdgeId(part.index));
  return edges;
}

bool Core::verified() const {
  return rechecked && parts_needed &&
         std::all_of(members.begin(), members.end(), [](const CoreMember& m) { return m.without.has_value(); });
}

Core find_core(const Problem& problem, const Constraints& constraints, ModelOptions options,
               const std::function<void(const std::string&)>& progress) {
  const std::optional<std::size_t> cap = register_constraint(problem, constraints);
  if (!cap) return find(problem, constraints, options, progress);
  // The machine's own limit may be reason enough.
  Constraints without = constraints;
  for (UserConstraint& c : without)
    if (c.kind == ConstraintKind::MaxRegisters) c.enabled = false;
  Core core = find(problem, without, options, progress);
  if (core.schedulable == Answer::No) return core;
  core = find(problem, constraints, options, progress);
  core.register_constraint = cap;
  return core;
}

}  // namespace heddle::solver
