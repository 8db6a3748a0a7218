// Where Triton 3.9 puts barriers between partitions (NVWS InsertAref and InsertTmemAref), and in which order a partition runs its ops
// (schedule-loops, once more for each), restated.
#include "core/triton/back/partition_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/triton/memory/partitions.h"
#include "core/triton/memory/pipeline.h"
#include "core/triton/memory/places.h"
#include "core/triton/read/op_words.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

using Group = std::int64_t;

constexpr std::size_t kMostFollowed = 2048;  ///< ops, each in every partition that runs it; a longer loop is not followed

class WaitGraph {
 public:
  WaitGraph(const TritonProgram& program, const PartitionFlow& flow) : program_(program), module_(*program.module), flow_(flow) {}

  std::optional<CircleOfWaits> run() {
    std::size_t runs = 0;
    for (const auto& groups : flow_.partitions) runs += groups.size();
    if (runs > kMostFollowed) return std::nullopt;
    for (const Exchange& each : partitions_of(program_, Places(program_)).exchanges) slots_.emplace(each.op, each.slots);
    for (std::size_t i = 0; i < flow_.ops.size(); ++i)
      if (flow_.tile[i] && !is_view(op(i).name))
        for (const Group group : flow_.partitions[i]) event(i, group);
    for (std::size_t i = 0; i < flow_.ops.size(); ++i)
      if (flow_.tile[i]) hand_over(i);
    in_sequence();
    return circle();
  }

 private:
  /// What a partition does for an op: runs it; stores a carried tile for another one as its turn begins; takes tensor memory back as its
  /// turn ends.
  enum class What { Store = -1, Run = 0, TakeBack = 1 };
  struct Event {
    std::size_t op;
    Group group;
    What what;
    std::int64_t stage, cluster;
    bool steering = false;  ///< one of those by which schedule-loops decides whether the partition is a pipeline
  };
  struct Wait {
    std::size_t from, to;  ///< `to` waits for `from`
    std::int64_t distance;
    enum class For { Tile, Slot, Turn } what = For::Tile;  ///< Turn: they are of one partition
  };

  const mlir::Op& op(std::size_t i) const { return module_.op(flow_.ops[i]); }
  bool in(std::size_t i, Group group) const { return std::ranges::find(flow_.partitions[i], group) != flow_.partitions[i].end(); }

  std::size_t event(std::size_t i, Group group, What what = What::Run) {
    const auto [known, fresh] = event_.emplace(std::tuple(i, group, what), events_.size());
    if (!fresh) return known->second;
    const mlir::Op& each = op(i);
    const bool steering = what != What::Run || is_descriptor_load(each.name) || is_tensor_product(each.name) ||
                          touches_tensor_memory(each.name) || is_filled_tensor(i);
    events_.push_back({i, group, what, stage_of(each).value_or(0), cluster_of(each).value_or(0), steering});
    return known->second;
  }

  bool is_filled_tensor(std::size_t i) const { return present_name(op(i).name) == "ttng.tmem_alloc" && !plain_operands(op(i)).empty(); }
  bool gives_memory(std::size_t i) const {
    return std::ranges::any_of(op(i).results, [&](mlir::ValueId v) {
      const auto space = program_.type(v).tile.space;
      return space == dump::TileType::Space::Smem || space == dump::TileType::Space::Tmem;
    });
  }

  void wait(std::size_t to, std::size_t from, std::int64_t distance, Wait::For what) { waits_.push_back({from, to, distance, what}); }

  /// Who reads what `i` makes in this partition; with iterations. A view of memory is nothing that runs.
  void readers_in(std::size_t i, Group group, int distance, std::vector<std::pair<std::size_t, int>>& found) const {
    for (const std::size_t e : flow_.readers[i]) {
      const PartitionFlow::Edge& edge = flow_.edges[e];
      if (edge.token || !flow_.tile[edge.to] || !in(edge.to, group)) continue;
      const std::pair reader(edge.to, distance + edge.distance);
      if (is_view(op(edge.to).name))
        readers_in(edge.to, group, reader.second, found);
      else if (std::ranges::find(found, reader) == found.end())
        found.push_back(reader);
    }
  }

  std::int64_t slots_of(mlir::OpId id) const {
    const auto found = slots_.find(id);
    return found == slots_.end() ? 1 : found->second;
  }

  /// The load that fills an allocation of the same partition, or the op itself.
  std::size_t filler(std::size_t i) const {
    if (present_name(op(i).name) == "ttg.local_alloc")
      for (const std::size_t e : flow_.sources[i])
        if (const std::size_t load = flow_.edges[e].from;
            is_descriptor_load(op(load).name) && flow_.partitions[load] == flow_.partitions[i])
          return load;
    return i;
  }

  void hand_over(std::size_t i) {
    std::set<Group> takers;
    for (const std::size_t e : flow_.readers[i]) {
      const PartitionFlow::Edge& edge = flow_.edges[e];
      if (!flow_.tile[edge.to]) continue;
      for (const Group group : flow_.partitions[edge.to]) {
        if (in(i, group) || flow_.partitions[i].empty()) continue;
        if (edge.token)
          pass_tensor(i, edge, group);
        else
          takers.insert(group);
      }
    }
    for (const Group group : takers) {
      std::vector<std::pair<std::size_t, int>> readers;
      readers_in(i, group, 0, readers);
      if (readers.empty()) continue;
      if (gives_memory(i))
        give(i, group, readers, false);
      else
        for (const int carried : {0, 1}) {
          std::vector<std::pair<std::size_t, int>> part;
          for (const auto& [reader, distance] : readers)
            if ((distance > 0) == (carried > 0)) part.emplace_back(reader, distance);
          if (!part.empty()) give(i, group, part, carried > 0);
        }
    }
  }

  /// What is handed over in memory to an op that a load of the same partition feeds too shares that load's barriers and is as deep.
  std::int64_t slots_between(std::size_t filled, Group from, const std::vector<std::pair<std::size_t, int>>& readers) const {
    std::int64_t slots = slots_of(flow_.ops[filled]);
    if (!gives_memory(filled)) return slots;
    std::vector<std::size_t> behind;
    for (const auto& [reader, distance] : readers) behind.push_back(reader);
    for (std::size_t k = 0; k < behind.size(); ++k)
      for (const std::size_t e : flow_.sources[behind[k]]) {
        const std::size_t source = flow_.edges[e].from;
        if (is_view(op(source).name))
          behind.push_back(source);
        else if (const std::size_t load = filler(source); load != source && in(load, from))
          slots = std::max(slots, slots_of(flow_.ops[load]));
      }
    return slots;
  }

  /// A tile through shared memory, or in tensor memory that it was allocated with.
  void give(std::size_t i, Group group, const std::vector<std::pair<std::size_t, int>>& readers, bool carried) {
    const Group from = flow_.partitions[i].front();
    const std::size_t filled = filler(i);
    // A carried tile is stored when the next turn begins.
    const std::size_t put = carried ? event(i, from, What::Store) : event(filled, from);
    events_[put].steering = true;
    const std::int64_t slots = carried ? 1 : slots_between(filled, from, readers);
    const auto first = std::ranges::min_element(readers);
    std::size_t earliest = event(first->first, group);
    for (const auto& [reader, distance] : readers) {
      const std::size_t take = event(reader, group);
      const std::int64_t behind = carried ? distance - 1 : distance;
      wait(take, put, behind, Wait::For::Tile);
      // Registers are read once, by the first reader; memory is free when the last one is through.
      if (gives_memory(i) || reader == first->first) wait(put, take, slots - behind, Wait::For::Slot);
      if (std::tuple(events_[take].stage, events_[take].cluster, reader) <
          std::tuple(events_[earliest].stage, events_[earliest].cluster, events_[earliest].op))
        earliest = take;
    }
    events_[earliest].steering = true;
  }

  /// Tensor memory goes from one partition to the next with its token; the one that has it first takes it back when its turn ends.
  void pass_tensor(std::size_t i, const PartitionFlow::Edge& edge, Group group) {
    const std::size_t from = event(i, flow_.partitions[i].front());
    if (edge.distance == 0) return wait(event(edge.to, group), from, 0, Wait::For::Tile);
    std::int64_t slots = 1;
    if (const mlir::ValueId storage = tensor_storage(program_, op(edge.to)); storage.valid())
      slots = slots_of(module_.value(storage).definer);
    wait(event(edge.to, group, What::TakeBack), from, edge.distance - 1 + slots - 1, Wait::For::Slot);
  }

  /// Loads by pointer are helpers that run in whichever partition reads them.
  std::set<Group> groups_of_helper(std::size_t helper) const {
    std::set<Group> groups;
    std::vector<std::size_t> reached{helper};
    for (std::size_t k = 0; k < reached.size(); ++k)
      for (const std::size_t e : flow_.readers[reached[k]]) {
        const std::size_t reader = flow_.edges[e].to;
        if (flow_.tile[reader])
          groups.insert(flow_.partitions[reader].begin(), flow_.partitions[reader].end());
        else if (std::ranges::find(reached, reader) == reached.end())
          reached.push_back(reader);
      }
    return groups;
  }

  /// A partition is a pipeline by stage and cluster where its memory, mmas and barriers stand in several stages; else one stage in
  /// the order of the text.
  void in_sequence() {
    std::map<Group, std::set<std::int64_t>> stages;
    for (const Event& each : events_)
      if (each.steering) stages[each.group].insert(each.stage);
    for (std::size_t i = 0; i < flow_.ops.size(); ++i)
      if (!flow_.tile[i] && op(i).name == "tt.load")
        for (const Group group : groups_of_helper(i)) stages[group].insert(stage_of(op(i)).value_or(0));
    std::map<Group, std::vector<std::size_t>> turns;
    for (std::size_t e = 0; e < events_.size(); ++e) {
      if (stages[events_[e].group].size() < 2) events_[e].stage = events_[e].cluster = 0;
      turns[events_[e].group].push_back(e);
    }
    for (auto& [group, turn] : turns) {
      const auto place = [&](std::size_t e) { return std::tuple(events_[e].cluster, static_cast<int>(events_[e].what), events_[e].op); };
      std::ranges::sort(turn, [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
      for (std::size_t k = 0; k < turn.size(); ++k) {
        const std::size_t before = turn[k], after = turn[(k + 1) % turn.size()];
        const std::int64_t next_turn = k + 1 == turn.size() ? 1 : 0;
        waits_.push_back({before, after, next_turn + events_[before].stage - events_[after].stage, Wait::For::Turn});
      }
    }
  }

  /// A circle whose distances add up to nothing or less: each of its events comes before itself.
  std::optional<CircleOfWaits> circle() const {
    const std::int64_t scale = static_cast<std::int64_t>(events_.size()) + 1;
    std::vector<std::int64_t> at(events_.size(), 0);
    std::vector<std::size_t> by(events_.size(), waits_.size());
    std::size_t within = 0;
    for (std::size_t round = 0; round <= events_.size(); ++round) {
      bool changed = false;
      for (std::size_t w = 0; w < waits_.size(); ++w) {
        const Wait& each = waits_[w];
        const std::int64_t value = at[each.from] + std::clamp<std::int64_t>(each.distance, -1'000'000, 1'000'000) * scale - 1;
        if (value >= at[each.to]) continue;
        at[each.to] = value;
        by[each.to] = w;
        within = each.to;
        changed = true;
      }
      if (!changed) return std::nullopt;
    }
    for (std::size_t k = 0; k < events_.size(); ++k) within = waits_[by[within]].from;
    std::vector<std::size_t> around;
    for (std::size_t e = within; around.empty() || e != within; e = waits_[by[e]].from) around.push_back(by[e]);
    // Begin with something that waits for another partition.
    const auto begin = std::ranges::find_if(around, [&](std::size_t w) { return waits_[w].what != Wait::For::Turn; });
    if (begin == around.end()) return std::nullopt;
    std::rotate(around.begin(), begin, around.end());
    return describe(around);
  }

  std::string name(std::size_t e) const { return fmt::format("{} (partition {})", name_of(program_, op(events_[e].op)), events_[e].group); }

  CircleOfWaits describe(const std::vector<std::size_t>& around) const {
    CircleOfWaits found;
    std::string words = name(waits_[around.front()].to);
    found.ops.push_back(flow_.ops[events_[waits_[around.front()].to].op]);
    for (std::size_t k = 0; k < around.size(); ++k) {
      const Wait& each = waits_[around[k]];
      // Ops that follow each other in one partition are one step.
      const bool turn = each.what == Wait::For::Turn;
      if (turn && k + 1 < around.size() && waits_[around[k + 1]].what == Wait::For::Turn) continue;
      words += fmt::format("{} {} {}{}", found.ops.size() > 1 ? ", which" : "", turn ? "comes after" : "waits for", name(each.from),
                           each.what == Wait::For::Slot ? " to free a slot" : "");
      found.ops.push_back(flow_.ops[events_[each.from].op]);
    }
    found.words = std::move(words);
    return found;
  }

  const TritonProgram& program_;
  const mlir::Module& module_;
  const PartitionFlow& flow_;
  std::map<mlir::OpId, std::int64_t> slots_;
  std::vector<Event> events_;
  std::map<std::tuple<std::size_t, Group, What>, std::size_t> event_;
  std::vector<Wait> waits_;
};

}  // namespace

std::optional<CircleOfWaits> circle_of_waits(const TritonProgram& program, const PartitionFlow& flow) {
  return WaitGraph(program, flow).run();
}

}  // namespace heddle::triton
