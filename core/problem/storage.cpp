#include "core/problem/storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "core/base/saturate.h"
#include "core/layout/plan.h"

namespace heddle {
namespace {

constexpr int kMaxDepth = 8;
constexpr int kMaxSpreadDepth = 64;  ///< of a ring that has to outlast the longest of several latencies
constexpr std::int64_t kMostStorage = std::int64_t{1} << 31;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Read {
  OpId op;
  int distance = 0;
};

/// Values that share storage, in the order in which one iteration writes them.
struct StorageSet {
  std::vector<ValueId> versions;
};

/// Two accesses to the same storage that no dependence orders.
struct Conflict {
  ValueId value;  ///< the one that is overwritten
  OpId first, then;
};

class Storage {
 public:
  Storage(const EvaluatedKernel& of, const Machine& machine, Problem& problem, FaultLog& faults)
      : kernel_(of.kernel), machine_(machine), tiles_(of.tiles), signal_(of.handoff_signal), problem_(problem), faults_(faults) {
    for (std::size_t i = 0; i < kernel_.values.size(); ++i) index_.emplace(kernel_.values[i].name, i);
    for (std::size_t i = 0; i < problem.values.size(); ++i) body_.emplace(problem.values[i].name, ValueId(i));
    reads_.resize(problem.values.size());
    successors_.resize(problem.ops.size());
    least_.resize(problem.ops.size());
    in_body_ = names_read(kernel_.body);
    after_ = names_read(kernel_.epilogue);
    for (const Edge& edge : problem.edges) {
      if (edge.value.valid()) reads_[edge.value.index()].push_back({edge.to, edge.distance});
      successors_[edge.from.index()].push_back({edge.to, edge.distance});
    }
    // A reader counts once per distance, however many of its operands name the value.
    for (std::vector<Read>& reads : reads_) {
      const auto key = [](const Read& r) { return std::pair(r.op, r.distance); };
      std::sort(reads.begin(), reads.end(), [&](const Read& a, const Read& b) { return key(a) < key(b); });
      reads.erase(std::unique(reads.begin(), reads.end(), [&](const Read& a, const Read& b) { return key(a) == key(b); }), reads.end());
    }
  }

  void run() {
    find_roots();
    if (!faults_.empty()) return;
    place_body_values();
    place_invariants();
    add_resident(Space::Smem, problem_.layouts ? problem_.layouts->scratch_bytes() : 0);
    check_residents();
    limit_depths();
  }

 private:
  FaultPlace value_place(std::size_t index) const { return {kernel_.source, fmt::format("/values/{}", index)}; }
  std::size_t value_index(ValueId id) const { return index_.at(problem_.value(id).name); }
  OpId producer(ValueId id) const { return problem_.value(id).producer; }
  std::int64_t slot_size(std::size_t index) const {
    return kernel_.values[index].space == Space::Tmem ? tiles_[index]->columns : tiles_[index]->bytes;
  }
  /// What a value takes of the slot that it shares with others.
  struct Extent {
    std::int64_t first = 0, end = 0;
    bool overlaps(const Extent& other) const { return first < other.end && other.first < end; }
    bool covers(const Extent& other) const { return first <= other.first && other.end <= end; }
  };
  Extent extent(ValueId id) const { return {first_[value_index(id)], first_[value_index(id)] + slot_size(value_index(id))}; }
  std::int64_t limit(Space space) const { return space == Space::Tmem ? machine_.limits.tmem_columns : machine_.limits.smem_bytes; }
  static const char* unit_name(Space space) { return space == Space::Tmem ? "columns of tensor memory" : "bytes of shared memory"; }

  void find_roots() {
    root_.assign(kernel_.values.size(), kNone);
    first_.assign(kernel_.values.size(), 0);
    for (std::size_t i = 0; i < kernel_.values.size(); ++i) {
      std::size_t at = i;
      for (; !kernel_.values[at].alias_of.empty(); at = index_.at(kernel_.values[at].alias_of)) {
        const FaultPlace place{kernel_.source, fmt::format("/values/{}/alias_at", at)};
        if (const auto first = faults_.number(kernel_.values[at].alias_at, problem_.params, {0, kMostStorage}, place, "alias_at"))
          first_[i] = sat_add(first_[i], *first);
      }
      root_[i] = at;
      if (at == i || !tiles_[i] || !tiles_[at] || kernel_.values[i].space == Space::Register) continue;
      if (first_[i] > 0 && sat_add(first_[i], slot_size(i)) > slot_size(at))
        faults_.add(value_place(i), fmt::format("value '{}' ends behind the end of '{}', whose storage it shares: {} of {} {}",
                                                kernel_.values[i].name, kernel_.values[at].name, sat_add(first_[i], slot_size(i)),
                                                slot_size(at), unit_name(kernel_.values[i].space)));
      else if (slot_size(i) > slot_size(at))
        faults_.add(value_place(i), fmt::format("value '{}' is larger than '{}', whose storage it shares", kernel_.values[i].name,
                                                kernel_.values[at].name));
    }
  }

  /// Least total distance of a path from `from` to `to` with at least one edge; 2 stands for "more than 1, or none".
  int least_distance(OpId from, OpId to) {
    std::vector<std::uint8_t>& least = least_[from.index()];
    if (!least.empty()) return least[to.index()];
    least.assign(problem_.ops.size(), 2);
    std::deque<std::pair<OpId, int>> queue;
    const auto relax = [&](OpId op, int base) {
      for (const Read& next : successors_[op.index()]) {
        const int distance = std::min(base + next.distance, 2);
        if (distance >= least[next.op.index()]) continue;
        least[next.op.index()] = static_cast<std::uint8_t>(distance);
        if (next.distance == 0)
          queue.emplace_front(next.op, distance);
        else
          queue.emplace_back(next.op, distance);
      }
    };
    relax(from, 0);
    while (!queue.empty()) {
      const auto [op, distance] = queue.front();
      queue.pop_front();
      if (distance == least[op.index()]) relax(op, distance);
    }
    return least[to.index()];
  }

  /// Position of every op in some order that respects the dependences inside one iteration.
  std::vector<std::size_t> topological_ranks() const {
    std::vector<std::size_t> open(problem_.ops.size(), 0), rank(problem_.ops.size(), 0), ready;
    for (const auto& list : successors_)
      for (const Read& next : list) open[next.op.index()] += next.distance == 0;
    for (std::size_t i = 0; i < open.size(); ++i)
      if (open[i] == 0) ready.push_back(i);
    for (std::size_t done = 0; done < ready.size(); ++done) {
      rank[ready[done]] = done;
      for (const Read& next : successors_[ready[done]])
        if (next.distance == 0 && --open[next.op.index()] == 0) ready.push_back(next.op.index());
    }
    return rank;
  }

  bool ordered(OpId first, OpId then, int distance) { return first == then || least_distance(first, then) <= distance; }

  std::vector<Conflict> conflicts(const StorageSet& set, bool one_copy) {
    std::vector<Conflict> found;
    const std::vector<ValueId>& v = set.versions;
    for (std::size_t k = 0; k < v.size(); ++k) {
      // What overwrites it: later versions, and, with one copy, those of the next iteration, up to one that overwrites all of it.
      const Extent mine = extent(v[k]);
      const std::size_t end = one_copy ? v.size() + k + 1 : v.size();
      for (std::size_t j = k + 1; j < end; ++j) {
        const ValueId next = v[j % v.size()];
        const int later = j < v.size() ? 0 : 1;
        if (!mine.overlaps(extent(next))) continue;
        if (later == 0 && !ordered(producer(v[k]), producer(next), 0)) found.push_back({v[k], producer(v[k]), producer(next)});
        for (const Read& read : reads_[v[k].index()])
          if (later < read.distance || !ordered(read.op, producer(next), later - read.distance))
            found.push_back({v[k], read.op, producer(next)});
        if (extent(next).covers(mine)) break;
      }
    }
    return found;
  }

  void report(const std::vector<Conflict>& found) {
    for (const Conflict& c : found)
      faults_.add(value_place(value_index(c.value)),
                  fmt::format("op '{}' overwrites the storage of value '{}' while op '{}' may still use it: no dependence orders them",
                              problem_.op(c.then).name, problem_.value(c.value).name, problem_.op(c.first).name),
                  fmt::format("add an order edge from '{}' to '{}', or give one of the values its own storage", problem_.op(c.first).name,
                              problem_.op(c.then).name));
  }

  /// Some mma accumulates onto a version of the set and writes another: there is no second copy to write to.
  bool accumulates_in_place(std::size_t root) const {
    return std::any_of(kernel_.body.begin(), kernel_.body.end(), [&](const TileOp& op) {
      if (op.kind != "mma" || op.inputs.size() < 3 || op.outputs.empty()) return false;
      const auto in = index_.find(op.inputs[2].value), out = index_.find(op.outputs[0]);
      return in != index_.end() && out != index_.end() && root_[in->second] == root && root_[out->second] == root;
    });
  }

  void check_accumulators() {
    for (std::size_t i = 0; i < kernel_.body.size(); ++i) {
      const TileOp& op = kernel_.body[i];
      if (op.kind != "mma" || op.inputs.size() < 3 || op.outputs.empty()) continue;
      const auto in = index_.find(op.inputs[2].value), out = index_.find(op.outputs[0]);
      if (in == index_.end() || out == index_.end() || root_[in->second] == root_[out->second]) continue;
      if (kernel_.values[out->second].space != Space::Tmem || kernel_.values[in->second].space != Space::Tmem) continue;
      faults_.add({kernel_.source, fmt::format("/body/{}/out/0", i)},
                  fmt::format("mma '{}' accumulates in place in tensor memory, but '{}' and '{}' have separate storage", op.name,
                              op.inputs[2].value, op.outputs[0]),
                  "set alias_of on one of them");
    }
  }

  void place_body_values() {
    check_accumulators();
    std::map<std::size_t, StorageSet> sets;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < problem_.values.size(); ++i) {
      const ValueId id(i);
      const Space space = problem_.values[i].space;
      if (space == Space::Register) add_register_channel(id);
      if (space != Space::Smem && space != Space::Tmem) continue;
      const std::size_t root = root_[value_index(id)];
      if (!sets.contains(root)) order.push_back(root);
      sets[root].versions.push_back(id);
    }
    const std::vector<std::size_t> rank = topological_ranks();
    for (const std::size_t root : order) {
      std::vector<ValueId>& v = sets[root].versions;
      std::stable_sort(v.begin(), v.end(), [&](ValueId a, ValueId b) { return rank[producer(a).index()] < rank[producer(b).index()]; });
      place_set(root, sets[root]);
    }
  }

  void place_set(std::size_t root, const StorageSet& set) {
    const Space space = kernel_.values[root].space;
    const std::int64_t size = slot_size(root);
    bool read = false, carried = false;
    for (const ValueId id : set.versions)
      for (const Read& r : reads_[id.index()]) {
        read = true;
        carried = carried || r.distance > 0;
      }
    if (!read) {
      const bool kept =
          std::any_of(set.versions.begin(), set.versions.end(), [&](ValueId id) { return after_.contains(problem_.value(id).name); });
      if (kept) add_resident(space, size);
      return;
    }
    if (carried) {
      const std::vector<Conflict> found = conflicts(set, true);
      if (found.empty()) return add_resident(space, size);
      if (accumulates_in_place(root)) return report(found);
    }
    if (const std::vector<Conflict> found = conflicts(set, false); !found.empty()) return report(found);
    add_channel(space, size, set.versions, false);
  }

  void add_register_channel(ValueId id) {
    if (reads_[id.index()].empty()) return;
    add_channel(Space::Smem, problem_.value(id).bytes, {id}, true);
  }

  void add_channel(Space space, std::int64_t size, const std::vector<ValueId>& values, bool only_if_crossing) {
    Channel channel;
    channel.name = problem_.value(values[0]).name;
    channel.space = space;
    channel.size = size;
    channel.values = values;
    channel.writer = producer(values[0]);
    channel.only_if_crossing = only_if_crossing;
    channel.max_depth = static_cast<int>(std::clamp<std::int64_t>(
        limit(space) / std::max<std::int64_t>(size, 1), 1, problem_.op(channel.writer).spread.empty() ? kMaxDepth : kMaxSpreadDepth));
    for (const ValueId id : values)
      for (const Read& r : reads_[id.index()]) {
        const Op& op = problem_.op(r.op);
        // Threads give tensor memory back when what they load is in their registers (tcgen05.wait::ld), which is known no sooner than its
        // arrival there.
        const bool until_there = op.asynchronous || op.kind.starts_with("tmem_load");
        const Reader reader{r.op, r.distance, until_there ? op.latency : op.window, completes_on_barrier(problem_, r.op) ? 0 : signal_};
        const bool known = std::any_of(channel.readers.begin(), channel.readers.end(),
                                       [&](const Reader& o) { return o.op == reader.op && o.distance == reader.distance; });
        if (!known) channel.readers.push_back(reader);
      }
    problem_.channels.push_back(std::move(channel));
  }

  void add_resident(Space space, std::int64_t size) {
    std::int64_t& total = space == Space::Tmem ? problem_.resident_columns : problem_.resident_smem;
    total = sat_add(total, size);
  }

  static std::set<std::string> names_read(const std::vector<TileOp>& ops) {
    std::set<std::string> names;
    for (const TileOp& op : ops)
      for (const Operand& in : op.inputs) names.insert(in.value);
    return names;
  }

  /// Tiles that only the prologue defines and that the loop or what follows it reads.
  void place_invariants() {
    std::set<std::size_t> rewritten, counted;
    for (const Value& value : problem_.values) rewritten.insert(root_[index_.at(value.name)]);
    for (const TileOp& op : kernel_.prologue)
      for (const std::string& name : op.outputs) {
        const auto found = index_.find(name);
        if (found == index_.end() || body_.contains(name)) continue;
        const TileValue& value = kernel_.values[found->second];
        if (value.space != Space::Smem && value.space != Space::Tmem) continue;
        const std::size_t root = root_[found->second];
        if (rewritten.contains(root)) {
          if (in_body_.contains(name))
            faults_.add(value_place(found->second),
                        fmt::format("loop invariant '{}' shares storage with a value that the loop writes", name),
                        "give one of them its own storage");
          continue;
        }
        if (!in_body_.contains(name) && !after_.contains(name)) continue;
        if (counted.insert(root).second) add_resident(value.space, slot_size(root));
      }
  }

  void check_residents() {
    for (const Space space : {Space::Smem, Space::Tmem}) {
      const std::int64_t total = space == Space::Tmem ? problem_.resident_columns : problem_.resident_smem;
      if (total > limit(space))
        faults_.add({kernel_.source, "/values"},
                    fmt::format("tiles that stay on chip for the whole loop take {} {}, machine '{}' has {}", total, unit_name(space),
                                machine_.name, limit(space)),
                    "use smaller tiles");
    }
  }

  /// A ring can only have what residents and one slot of every other ring leave. Searches and bounds then need not find
  /// that out: two score tiles and two resident accumulators fill tensor memory, so each score ring is one deep.
  void limit_depths() {
    for (const Space space : {Space::Smem, Space::Tmem}) {
      std::int64_t taken = space == Space::Tmem ? problem_.resident_columns : problem_.resident_smem;
      for (const Channel& c : problem_.channels)
        if (c.space == space && !c.only_if_crossing) taken = sat_add(taken, c.size);
      for (Channel& c : problem_.channels) {
        if (c.space != space || c.size < 1) continue;
        const std::int64_t left = limit(space) - sat_add(taken, c.only_if_crossing ? 0 : -c.size);
        c.max_depth = static_cast<int>(std::clamp<std::int64_t>(left / c.size, 1, c.max_depth));
      }
    }
  }

  const Kernel& kernel_;
  const Machine& machine_;
  const std::vector<std::optional<Tile>>& tiles_;
  const Cycle signal_;
  Problem& problem_;
  FaultLog& faults_;
  std::map<std::string, std::size_t, std::less<>> index_;  ///< into kernel_.values
  std::map<std::string, ValueId, std::less<>> body_;
  std::vector<std::size_t> root_;                 ///< of kernel_.values: whose storage it is ...
  std::vector<std::int64_t> first_;               ///< ... and where in it
  std::vector<std::vector<Read>> reads_;          ///< per body value
  std::vector<std::vector<Read>> successors_;     ///< per op
  std::vector<std::vector<std::uint8_t>> least_;  ///< cache of least_distance, per source
  std::set<std::string> in_body_, after_;         ///< names read by the body, by the epilogue
};

}  // namespace

bool completes_on_barrier(const Problem& problem, OpId op) {
  const Op& o = problem.op(op);
  return o.asynchronous && !o.aligned &&
         std::any_of(problem.values.begin(), problem.values.end(), [&](const Value& v) { return v.producer == op; });
}

void place_values(const EvaluatedKernel& of, const Machine& machine, Problem& problem, FaultLog& faults) {
  Storage(of, machine, problem, faults).run();
}

}  // namespace heddle
