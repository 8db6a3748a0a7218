// Orders are tried one after the other, all of them: the groups of which anything is claimed are small.
#include "core/check/program_count.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "core/base/hash.h"

namespace heddle::check_period {
namespace {

constexpr int kMostStages = 64;
constexpr std::int64_t kRoundsUntilWaits = 4;  ///< of a circle, until every product has met its wait

/// Sets of ops that edges connect, in the order of the problem.
std::vector<std::vector<OpId>> connected(const Problem& problem) {
  std::vector<std::size_t> root(problem.ops.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](std::size_t v) {
    while (root[v] != v) v = root[v] = root[root[v]];
    return v;
  };
  const auto counts = [&](OpId op) { return !problem.op(op).variable_latency; };
  for (const Edge& e : problem.edges)
    if (counts(e.from) && counts(e.to))
      root[std::max(find(e.from.index()), find(e.to.index()))] = std::min(find(e.from.index()), find(e.to.index()));
  std::map<std::size_t, std::vector<OpId>> sets;
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (counts(OpId(v))) sets[find(v)].push_back(OpId(v));
  std::vector<std::vector<OpId>> all;
  for (auto& [first, ops] : sets) all.push_back(std::move(ops));
  return all;
}

std::vector<std::size_t> numbers_of(const Problem& problem, const std::vector<OpId>& ops) {
  std::vector<std::size_t> number(problem.ops.size(), problem.ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) number[ops[i].index()] = i;
  return number;
}

bool alike(const Problem& problem, const std::vector<OpId>& a, const std::vector<OpId>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Op &x = problem.op(a[i]), &y = problem.op(b[i]);
    if (x.kind != y.kind || x.window != y.window || x.latency != y.latency || x.asynchronous != y.asynchronous || x.work != y.work ||
        x.instructions != y.instructions || x.from_registers != y.from_registers || x.uses.size() != y.uses.size())
      return false;
    for (std::size_t u = 0; u < x.uses.size(); ++u)
      if (x.uses[u].unit != y.uses[u].unit || x.uses[u].work() != y.uses[u].work()) return false;
  }
  const auto edges = [&](const std::vector<OpId>& ops) {
    const auto number = numbers_of(problem, ops);
    std::multiset<std::tuple<std::size_t, std::size_t, int, bool, bool, int>> all;
    for (const Edge& e : problem.edges)
      if (number[e.to.index()] < ops.size())
        all.emplace(std::min(number[e.from.index()], ops.size()), number[e.to.index()], e.distance, e.waits, e.hold > 0,
                    e.value.valid() ? problem.value(e.value).registers : -1);
    return all;
  };
  return edges(a) == edges(b);
}

/// Register values of a group and until when each is needed.
class RegisterCount {
 public:
  RegisterCount(const Problem& problem, const std::vector<OpId>& ops) : problem_(problem) {
    const auto here = [&](OpId op) { return std::find(ops.begin(), ops.end(), op) != ops.end(); };
    for (std::size_t v = 0; v < problem.values.size(); ++v) {
      const Value& value = problem.values[v];
      if (value.space != Space::Register || value.registers <= 0 || !here(value.producer)) continue;
      values_.push_back({ValueId(v), {}});
      for (const Edge& e : problem.edges)
        if (e.value == ValueId(v) && here(e.to)) values_.back().second.push_back(&e);
    }
  }

  /// Registers at every op of the circle are within the budget.
  bool fit(const std::vector<Placed>& circle, std::int64_t budget) const {
    std::map<OpId, std::int64_t> time;
    const auto n = static_cast<std::int64_t>(circle.size());
    for (std::int64_t i = 0; i < n; ++i) time[circle[static_cast<std::size_t>(i)].op] = circle[static_cast<std::size_t>(i)].stage * n + i;
    // Most orders need too much even if every product were done at once, and waits take longer to find.
    return most(circle.size(), time, {}) <= budget && most(circle.size(), time, first_waits(circle, time)) <= budget;
  }

 private:
  std::int64_t most(std::size_t ops, const std::map<OpId, std::int64_t>& time, const std::map<OpId, std::int64_t>& awaited) const {
    const auto n = static_cast<std::int64_t>(ops);
    std::vector<std::int64_t> use(ops, problem_.resident_registers + problem_.limits.register_overhead);
    for (const auto& [value, readers] : values_) {
      const std::int64_t begin = time.at(problem_.value(value).producer);
      std::int64_t end = begin + 1;
      for (const Edge* e : readers) {
        std::int64_t last = time.at(e->to);
        if (const auto wait = awaited.find(e->to); e->hold > 0 && wait != awaited.end()) last = wait->second;
        end = std::max(end, last + e->distance * n);
      }
      for (std::int64_t t = begin; t < end; ++t) use[static_cast<std::size_t>(t % n)] += problem_.value(value).registers;
    }
    return *std::max_element(use.begin(), use.end());
  }

  /// Of each product the place of the op before which a wait covers it first.
  std::map<OpId, std::int64_t> first_waits(const std::vector<Placed>& circle, const std::map<OpId, std::int64_t>& time) const {
    const auto n = static_cast<std::int64_t>(circle.size());
    const std::vector<Deed> deeds = text_circle_of(problem_, circle, {}).deeds;
    std::map<OpId, std::int64_t> waits;
    std::vector<std::pair<OpId, std::int64_t>> flight;  // with when each was issued, counted in ops
    for (std::int64_t round = 0; round < kRoundsUntilWaits; ++round)
      for (std::size_t i = 0; i < deeds.size(); ++i) {
        const OpId op = deeds[i].op;
        if (deeds[i].act == Act::Issue) flight.emplace_back(op, round * n + time.at(op) % n);
        if (deeds[i].act != Act::Drain) continue;
        std::size_t next = i;
        while (deeds[next].act == Act::Drain || deeds[next].act == Act::Await) next = (next + 1) % deeds.size();
        for (; flight.size() > static_cast<std::size_t>(deeds[i].behind); flight.erase(flight.begin())) {
          const auto [product, issued] = flight.front();
          std::int64_t now = round * n + time.at(deeds[next].op) % n;
          if (now <= issued) now += n;
          waits[product] = time.at(product) + now - issued;
        }
      }
    return waits;
  }

  const Problem& problem_;
  std::vector<std::pair<ValueId, std::vector<const Edge*>>> values_;  ///< with what reads them in the group
};

/// Ways in which a group of these products, in the order of its circle, takes `turns` turns.
std::vector<Turning> ways(const std::vector<OpId>& products, std::size_t turns) {
  std::vector<Turning> all;
  const std::size_t m = products.size();
  const auto before = [&](std::size_t k) { return products[(k + m - 1) % m]; };
  if (turns == 0) all.emplace_back();
  for (std::size_t a = 0; turns == 1 && a < m; ++a) all.push_back({{{products[a], 0}}, {{before(a), 0}}});
  for (std::size_t a = 0; turns == 2 && a < m; ++a)
    for (std::size_t b = a + 1; b < m; ++b) all.push_back({{{products[a], 0}, {products[b], 1}}, {{before(b), 0}, {before(a), 1}}});
  return all;
}

/// An order with its turns, for all that have its signature.
struct Representative {
  std::vector<Placed> stream;
  Turning turning;
};

struct GroupCount {
  std::vector<OpId> ops;
  std::int64_t in_stages = 0, orders = 0, first_way = 0;
  std::map<std::size_t, std::vector<Representative>> by_turns;
  std::set<std::string> signatures;
};

class Enumeration {
 public:
  Enumeration(const Problem& problem, const CountedSpace& space, std::stop_token stop)
      : problem_(problem), space_(space), stop_(std::move(stop)) {}

  ProgramCount run() {
    std::vector<std::vector<OpId>> sets = connected(problem_);
    count_.groups = sets.size();
    if (sets.empty() || sets.size() > 2) return refuse(std::to_string(sets.size()) + " groups of ops: programs of one or two are counted");
    for (const auto& set : sets)
      if (set.size() > kMostOps)
        return refuse(std::to_string(set.size()) + " ops in a group: at most " + std::to_string(kMostOps) + " are counted");
    count_.copies = sets.size() == 2 && alike(problem_, sets[0], sets[1]);
    with_turns_ = sets.size() == 2 && takes_turns(sets[0]) && takes_turns(sets[1]);
    Hash hash;
    for (std::size_t g = 0; g < sets.size(); ++g) {
      groups_.push_back({});
      groups_[g].ops = sets[g];
      if (g == 1 && count_.copies) break;  // its circles are the first one's, op for op
      count_group(groups_[g]);
      if (count_.stopped) return count_;
      for (const std::string& signature : groups_[g].signatures) {
        hash.add(signature);
        count_.signatures.push_back(signature);
      }
      count_.in_stages += groups_[g].in_stages;
      count_.orders += groups_[g].orders;
      count_.circles += groups_[g].first_way;
    }
    count_.digest = hash.hex();
    for (const auto& [turns, circles] : groups_[0].by_turns) {
      const auto a = static_cast<std::int64_t>(circles.size());
      if (groups_.size() == 1)
        count_.programs += a;
      else if (count_.copies)
        count_.programs += a * (a + 1) / 2;
      else if (const auto other = groups_[1].by_turns.find(turns); other != groups_[1].by_turns.end())
        count_.programs += a * static_cast<std::int64_t>(other->second.size());
    }
    return count_;
  }

  void visit(const std::function<bool(const JudgedProgram&)>& visitor) {
    for (const auto& [turns, circles] : groups_[0].by_turns)
      for (std::size_t a = 0; a < circles.size(); ++a) {
        if (groups_.size() == 1) {
          if (stop_.stop_requested() || !visitor(JudgedProgram{{circles[a].stream}, {}, {}})) return stop_here();
          continue;
        }
        const auto& others = count_.copies ? circles : groups_[1].by_turns[turns];
        for (std::size_t b = count_.copies ? a : 0; b < others.size(); ++b)
          if (stop_.stop_requested() || !visitor(program_of(circles[a], others[b], turns))) return stop_here();
      }
  }

  const ProgramCount& count() const { return count_; }

 private:
  ProgramCount refuse(std::string why) {
    count_.refused = std::move(why);
    return count_;
  }
  void stop_here() { count_.stopped = true; }

  bool takes_turns(const std::vector<OpId>& ops) const {
    bool product = false, other = false;
    for (const OpId op : ops) (is_product(problem_, op) ? product : other) = true;
    return product && other;
  }

  void count_group(GroupCount& group) {
    std::vector<OpId> order = group.ops;  // the first product, then all orders of the others
    const auto first = std::find_if(order.begin(), order.end(), [&](OpId op) { return is_product(problem_, op); });
    if (first != order.end()) std::rotate(order.begin(), first, first + 1);
    const RegisterCount registers(problem_, group.ops);
    const auto numbers = numbers_of(problem_, group.ops);
    const std::int64_t budget = space_.registers > 0 ? space_.registers : problem_.limits.registers_per_thread;
    std::map<std::size_t, std::set<std::string>> known;  // by number of turns
    do {
      if (stop_.stop_requested()) return stop_here();
      const std::vector<int> stages = least_stages(problem_, order);
      if (stages.empty() || *std::max_element(stages.begin(), stages.end()) >= space_.stages) continue;
      ++group.in_stages;
      std::vector<Placed> stream;
      for (std::size_t i = 0; i < order.size(); ++i) stream.push_back({order[i], stages[i]});
      if (!registers.fit(stream, budget)) continue;
      ++group.orders;
      add_circles(group, stream, numbers, known);
    } while (std::next_permutation(order.begin() + 1, order.end()));
  }

  void add_circles(GroupCount& group, const std::vector<Placed>& stream, const std::vector<std::size_t>& numbers,
                   std::map<std::size_t, std::set<std::string>>& known) const {
    std::vector<OpId> products;
    for (const Placed& p : stream)
      if (is_product(problem_, p.op)) products.push_back(p.op);
    for (std::size_t turns = with_turns_ ? 1 : 0; turns <= (with_turns_ ? 2u : 0u); ++turns) {
      bool first = turns < 2;
      for (Turning& way : ways(products, turns)) {
        std::string text = signature(circle_of(problem_, stream, way), numbers);
        if (known[turns].insert(text).second) {
          group.first_way += first;
          group.by_turns[turns].push_back({stream, std::move(way)});
          group.signatures.insert(std::move(text));
        }
        first = false;
      }
    }
  }

  /// The two groups' turns, one after the other.
  JudgedProgram program_of(const Representative& a, const Representative& b, std::size_t turns) const {
    JudgedProgram loop{{a.stream, b.stream}, {}, {}};
    Turning other = b.turning;
    if (count_.copies) {  // b is one of the first group's
      const auto numbers = numbers_of(problem_, groups_[0].ops);
      const auto copy = [&](OpId op) { return groups_[1].ops[numbers[op.index()]]; };
      for (Placed& p : loop.groups[1]) p.op = copy(p.op);
      other = {};
      for (const auto& [op, turn] : b.turning.takes) other.takes[copy(op)] = turn;
    }
    for (std::size_t turn = 0; turn < turns; ++turn) {
      add_products(loop.turns, loop.groups[0], a.turning, turn);
      add_products(loop.turns, loop.groups[1], other, turn);
    }
    return loop;
  }

  /// Those of one turn, in the order of the circle.
  void add_products(std::vector<OpId>& list, const std::vector<Placed>& stream, const Turning& turning, std::size_t turn) const {
    const std::size_t n = stream.size();
    std::size_t at = 0;
    const auto taken = [&](std::size_t i) { return turning.takes.find(stream[i % n].op); };
    while (taken(at) == turning.takes.end() || taken(at)->second != turn) ++at;
    for (std::size_t i = at; i < at + n; ++i) {
      if (i > at && taken(i) != turning.takes.end()) break;
      if (is_product(problem_, stream[i % n].op)) list.push_back(stream[i % n].op);
    }
  }

  const Problem& problem_;
  const CountedSpace& space_;
  std::stop_token stop_;
  ProgramCount count_;
  std::vector<GroupCount> groups_;
  bool with_turns_ = false;
};

}  // namespace

std::vector<int> least_stages(const Problem& problem, const std::vector<OpId>& circle) {
  const auto place = numbers_of(problem, circle);
  std::vector<int> stages(circle.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (const Edge& e : problem.edges) {
      const std::size_t from = place[e.from.index()], to = place[e.to.index()];
      if (e.from == e.to || from >= circle.size() || to >= circle.size()) continue;
      const int needed = stages[from] - e.distance + (to > from ? 0 : 1);
      if (stages[to] >= needed) continue;
      if (needed > kMostStages) return {};
      stages[to] = needed;
      moved = true;
    }
  }
  return stages;
}

ProgramCount count_programs(const Problem& problem, const CountedSpace& space, std::stop_token stop) {
  return Enumeration(problem, space, std::move(stop)).run();
}

ProgramCount visit_programs(const Problem& problem, const CountedSpace& space, const std::function<bool(const JudgedProgram&)>& visit,
                            std::stop_token stop) {
  Enumeration enumeration(problem, space, std::move(stop));
  if (const ProgramCount count = enumeration.run(); !count.refused.empty() || count.stopped) return count;
  enumeration.visit(visit);
  return enumeration.count();
}

LeastByRule least_by_rule(const Problem& problem, const CountedSpace& space, std::stop_token stop) {
  LeastByRule least;
  const auto compare = [&](const JudgedProgram& program) {
    RuledPeriod period = period_by_rule(problem, program);
    if (period.iterations > 0 && (least.period.iterations == 0 || longer(least.period, period))) {
      least.period = std::move(period);
      least.program = program;
    }
    return true;
  };
  least.count = visit_programs(problem, space, compare, std::move(stop));
  return least;
}

bool is_counted(const Problem& problem, const ProgramCount& count, const JudgedProgram& loop) {
  const DeedCircles circles = circles_of(problem, loop);
  for (const std::vector<OpId>& set : connected(problem)) {
    const auto numbers = numbers_of(problem, set);
    for (std::size_t g = 0; g < circles.groups.size(); ++g) {
      const auto here = [&](const Placed& p) { return numbers[p.op.index()] < set.size(); };
      const auto shared = static_cast<std::size_t>(std::count_if(loop.groups[g].begin(), loop.groups[g].end(), here));
      if (shared == 0) continue;
      if (shared != set.size() || shared != loop.groups[g].size()) return false;
      if (std::find(count.signatures.begin(), count.signatures.end(), signature(circles.groups[g], numbers)) == count.signatures.end())
        return false;
    }
  }
  return true;
}

}  // namespace heddle::check_period
