// Partitions that Triton's lowering to warp groups accepts, and that it does not change without a word (3.9; docs/triton_partitions.md has
// the experiments).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/base/text_style.h"
#include "core/triton/back/partition_waits.h"
#include "core/triton/back/rules.h"
#include "core/triton/kernel/partition_flow.h"
#include "core/triton/memory/partitions.h"
#include "core/triton/memory/pipeline.h"
#include "core/triton/memory/places.h"
#include "core/triton/read/decisions.h"
#include "core/triton/read/op_words.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

using Groups = std::vector<std::int64_t>;

constexpr std::size_t kMostJudged = 4096;  ///< ops of a loop

class PartitionJudge {
 public:
  PartitionJudge(const TritonProgram& program, const LoopSite& loop, std::vector<RuleViolation>& found)
      : program_(program), module_(*program.module), root_(specialized_loop(program, loop.op)), flow_(program, loop), found_(found) {}

  void run() {
    const auto listed = [](const Groups& groups) { return !groups.empty(); };
    if (written_otherwise()) return;
    const std::size_t before = found_.size();
    if (std::ranges::none_of(flow_.partitions, listed)) return warps();
    if (flow_.ops.size() > kMostJudged)
      return broken(Rule::Partition, {root_},
                    fmt::format("the loop has {} ops: partitions are judged of {} at most", flow_.ops.size(), kMostJudged));
    if (!carried_out()) return;
    warps();
    numbers();
    alone();
    views();
    shared_tiles();
    tensor_memory();
    warps_left();
    reductions();
    if (found_.size() != before) return;
    round_trips();
    idle();
    if (found_.size() != before) return;
    if (const auto circle = circle_of_waits(program_, flow_))
      broken(Rule::Partition, circle->ops, fmt::format("partitions wait for each other in a circle, for ever: {}", circle->words));
  }

 private:
  const mlir::Op& op(std::size_t i) const { return module_.op(flow_.ops[i]); }
  const Groups& groups(std::size_t i) const { return flow_.partitions[i]; }
  std::string describe(std::size_t i) const { return describe_op(program_, op(i)); }
  std::string short_name(std::size_t i) const { return name_of(program_, op(i)); }
  static std::string words(const Groups& groups) {
    return fmt::format("partition{} {}", groups.size() == 1 ? "" : "s", fmt::join(groups, ", "));
  }

  void broken(Rule rule, std::vector<mlir::OpId> ops, std::string message) {
    const int line = ops.empty() ? 0 : module_.op(ops.front()).line;
    found_.push_back({rule, std::move(message), std::move(ops), line});
  }

  /// Triton 3.4 has single numbers, and ops without one; behind partition-scheduling the text is half lowered.
  bool written_otherwise() {
    bool lists = false, lowered = false;
    std::optional<std::size_t> number;
    for (std::size_t i = 0; i < flow_.ops.size(); ++i) {
      const mlir::Attribute* list = op(i).find("ttg.partition");
      lowered |= op(i).name.starts_with("nvws.");
      if (list && list->value.starts_with("array"))
        lists = true;
      else if (list)
        number = i;
    }
    if (lists && number && !lowered)
      broken(Rule::Partition, {flow_.ops[*number]},
             fmt::format("{} has ttg.partition = {}, where other ops of the loop have lists: expected array<i32: N>", describe(*number),
                         op(*number).find("ttg.partition")->value));
    return lowered || number;
  }

  bool within_root(mlir::OpId id) const {
    for (; id.valid(); id = module_.around(id))
      if (id == root_) return true;
    return false;
  }

  /// Whether Triton takes notice of partitions at all.
  bool carried_out() {
    const mlir::Op& root = module_.op(root_);
    if (!root.find("tt.warp_specialize")) {
      broken(Rule::Partition, {root_},
             fmt::format("ops of the loop (line {}) have ttg.partition, but the loop has no tt.warp_specialize, without which Triton takes "
                         "no notice of them",
                         root.line));
      return false;
    }
    bool loads = false;
    for (std::size_t i = 0; i < module_.ops.size() && !loads; ++i)
      loads = is_descriptor_load(module_.ops[i].name) && within_root(mlir::OpId(i));
    if (!loads)
      broken(Rule::Partition, {root_},
             fmt::format("the loop (line {}) has no load by descriptor: Triton 3.9 does not specialize it, whatever its partitions are",
                         root.line));
    return loads;
  }

  void warps() {
    const mlir::Op& root = module_.op(root_);
    if (program_.num_warps % 4 != 0 && root.find("tt.warp_specialize"))
      broken(Rule::Partition, {root_},
             fmt::format("the loop (line {}) is to be warp specialized, and the kernel has {}: Triton refuses all but multiples of 4",
                         root.line, count_of(program_.num_warps, "warp")));
  }

  void numbers() {
    const mlir::Attribute* stages = module_.op(root_).find("ttg.partition.stages");
    const std::int64_t count = stages ? std::ranges::count(stages->value, ',') + 1 : 0;
    std::vector<std::size_t> without;
    for (std::size_t i = 0; i < flow_.ops.size(); ++i) {
      if (groups(i).empty() && flow_.tile[i]) without.push_back(i);
      for (const std::int64_t group : groups(i)) {
        if (group < 0)
          broken(Rule::Partition, {flow_.ops[i]}, fmt::format("{} is in partition {}: expected numbers from 0", describe(i), group));
        else if (stages && group >= count)
          broken(Rule::Partition, {flow_.ops[i]},
                 fmt::format("{} is in partition {}, but ttg.partition.stages of the loop (line {}) names {}, numbered from 0", describe(i),
                             group, module_.op(root_).line, count_of(count, "partition")));
      }
    }
    if (without.empty()) return;
    std::vector<mlir::OpId> ids;
    for (const std::size_t i : without) ids.push_back(flow_.ops[i]);
    const std::string others =
        without.size() > 1 ? fmt::format(" and {}", count_of(static_cast<std::int64_t>(without.size()) - 1, "other")) : "";
    broken(Rule::Partition, ids,
           fmt::format("{}{} {} no ttg.partition, as the other ops on tiles have: Triton would choose one by its own heuristics",
                       describe(without.front()), others, without.size() == 1 ? "has" : "have"));
  }

  /// Triton copies what several partitions compute, but for what cannot be done twice.
  void alone() {
    for (std::size_t i = 0; i < flow_.ops.size(); ++i) {
      // An scf.if is divided among the partitions of what it holds.
      if (groups(i).size() < 2 || !flow_.tile[i] || op(i).name.starts_with("scf.")) continue;
      const std::string present = present_name(op(i).name);
      const bool works = is_descriptor_load(present) || is_tensor_product(present) || touches_tensor_memory(present) ||
                         present == "tt.reduce" || present.ends_with("_alloc") || op(i).results.empty();
      const bool carried = std::ranges::any_of(op(i).results, [&](mlir::ValueId value) { return is_carried(value); });
      if (works)
        broken(Rule::Partition, {flow_.ops[i]},
               fmt::format("{} is in {}: Triton copies only ops on registers, expected one partition", describe(i), words(groups(i))));
      else if (carried)
        broken(Rule::Partition, {flow_.ops[i]},
               fmt::format("{} is in {} and is carried into the next iteration, which one partition alone can do", describe(i),
                           words(groups(i))));
    }
  }

  bool is_carried(mlir::ValueId value) const {
    const mlir::OpId made = module_.value(value).definer;
    if (!made.valid()) return false;
    const mlir::Op& last = module_.op(module_.block(module_.op(made).parent).ops.back());
    return last.name == "scf.yield" && std::ranges::find(last.operands, value) != last.operands.end();
  }

  void views() {
    for (std::size_t i = 0; i < flow_.ops.size(); ++i) {
      if (!is_view(op(i).name) || !flow_.tile[i] || groups(i).empty()) continue;
      for (const std::size_t e : flow_.readers[i])
        if (const std::size_t reader = flow_.edges[e].to; !groups(reader).empty() && groups(reader) != groups(i)) {
          broken(Rule::Partition, {flow_.ops[i], flow_.ops[reader]},
                 fmt::format("{} is in {} and {} that reads it in {}: expected a view of memory where it is read", describe(i),
                             words(groups(i)), short_name(reader), words(groups(reader))));
          break;
        }
    }
  }

  /// A tile in memory goes to one partition, the other ones would find all of its uses taken.
  void shared_tiles() {
    for (std::size_t i = 0; i < flow_.ops.size(); ++i) {
      if (!present_name(op(i).name).ends_with("_alloc") || !flow_.tile[i] || groups(i).empty()) continue;
      std::map<std::int64_t, std::size_t> takers;
      for (const std::size_t e : flow_.readers[i])
        if (!flow_.edges[e].token)
          for (const std::int64_t group : groups(flow_.edges[e].to)) takers.emplace(group, flow_.edges[e].to);
      if (takers.size() < 2) continue;
      const auto first = takers.begin(), last = std::prev(takers.end());
      broken(Rule::Partition, {flow_.ops[i], flow_.ops[first->second], flow_.ops[last->second]},
             fmt::format("{} is read by {} (partition {}) and {} (partition {}): Triton hands a tile in memory to one partition only",
                         describe(i), short_name(first->second), first->first, short_name(last->second), last->first));
    }
  }

  struct Users {
    std::map<std::int64_t, mlir::OpId> products, loads, others;  ///< one op for each partition
  };

  /// Whether a store writes what is known before the loop.
  bool clears(mlir::OpId store) const {
    const std::vector<mlir::ValueId> operands = plain_operands(module_.op(store));
    const mlir::OpId made = operands.empty() ? mlir::OpId{} : module_.value(operands.front()).definer;
    return made.valid() && !within_root(made);
  }

  /// Of every accumulator in and around the loop; what has no token passes from one partition to one other.
  void tensor_memory() {
    std::map<mlir::ValueId, Users> storages;
    for (std::size_t i = 0; i < module_.ops.size(); ++i) {
      const mlir::Op& each = module_.ops[i];
      const bool product = is_tensor_product(each.name);
      if ((!product && !touches_tensor_memory(each.name)) || !within_root(mlir::OpId(i))) continue;
      const mlir::ValueId storage = tensor_storage(program_, each);
      if (!storage.valid()) continue;
      Users& users = storages[storage];
      const bool load = present_name(each.name) == "ttng.tmem_load";
      for (const std::int64_t group : partitions_of_op(each))
        (product ? users.products : load ? users.loads : users.others)[group] = mlir::OpId(i);
    }
    for (const auto& [storage, users] : storages) {
      const std::string name = "%" + module_.value(storage).name;
      // Triton 3.6 leaves a store that only clears the accumulator to the mmas.
      std::map<std::int64_t, mlir::OpId> warps = users.loads;
      for (const auto& [group, id] : users.others)
        if (!users.products.contains(group) || !clears(id)) warps.emplace(group, id);
      // One partition alone may carry on what it stored; what an mma began anew for it is not handed over inside of it.
      const bool carries_on = users.products.size() == 1 && warps.size() == 1 && !users.others.empty();
      for (const auto& [group, id] : users.loads)
        if (users.products.contains(group) && !carries_on)
          broken(Rule::Tensor, {id, users.products.at(group)},
                 fmt::format("{} reads {} in partition {}, where {} writes it: Triton's lowering fails unless another partition reads it",
                             describe_op(program_, module_.op(id)), name, group, name_of(program_, module_.op(users.products.at(group)))));
      if (warps.size() > 1)
        broken(Rule::Tensor, {warps.rbegin()->second, warps.begin()->second},
               fmt::format("{} (partition {}) and {} (partition {}) both use {}: beside its mmas one partition alone may, else Triton "
                           "runs into an assertion",
                           describe_op(program_, module_.op(warps.rbegin()->second)), warps.rbegin()->first,
                           name_of(program_, module_.op(warps.begin()->second)), warps.begin()->first, name));
    }
    for (std::size_t i = 0; i < flow_.ops.size(); ++i) {
      if (present_name(op(i).name) != "ttng.tmem_alloc" || plain_operands(op(i)).empty() || groups(i).empty()) continue;
      for (const std::size_t e : flow_.sources[i])
        if (const std::size_t source = flow_.edges[e].from; !groups(source).empty() && groups(source) != groups(i)) {
          broken(Rule::Tensor, {flow_.ops[i], flow_.ops[source]},
                 fmt::format("{} is in {} and {} that makes what it stores in {}: expected the same, since Triton may leave the others too "
                             "few warps to store it",
                             describe(i), words(groups(i)), short_name(source), words(groups(source))));
          break;
        }
    }
  }

  /// Triton cuts down warps as far as the last op of a partition allows that has a say.
  void warps_left() {
    const Partitions partitions = partitions_of(program_, Places(program_));
    if (!partitions.starved.valid() || !partitions.starved_by.valid() || !within_root(partitions.starved)) return;
    const mlir::Op& copy = module_.op(partitions.starved_by);
    broken(Rule::Partition, {partitions.starved, partitions.starved_by},
           fmt::format("{} is in {} with {}, which comes after it: Triton 3.9 then leaves them 2 warps, where tensor memory takes 4",
                       describe_op(program_, module_.op(partitions.starved)), words(partitions_of_op(module_.op(partitions.starved))),
                       describe_op(program_, copy)));
  }

  /// What is inside of a reduction goes with it.
  void reductions() {
    for (std::size_t i = 0; i < flow_.ops.size(); ++i) {
      if (op(i).name != "tt.reduce" || groups(i).empty()) continue;
      for (std::size_t k = flow_.ops[i].index() + 1; k < module_.ops.size() && module_.ops[k].span.end <= op(i).span.end; ++k)
        if (const Groups inside = partitions_of_op(module_.ops[k]); !inside.empty() && inside != groups(i)) {
          broken(Rule::Partition, {flow_.ops[i], mlir::OpId(k)},
                 fmt::format("{} is in {}, but {} (line {}) inside of it in {}: expected the same", describe(i), words(groups(i)),
                             module_.ops[k].name, module_.ops[k].line, words(inside)));
          break;
        }
    }
  }

  bool cheap(std::size_t i) const {
    const mlir::Op& each = op(i);
    return flow_.tile[i] && groups(i).size() == 1 && !each.name.starts_with("scf.") && !is_descriptor_load(each.name) &&
           !is_tensor_product(each.name) && !touches_tensor_memory(each.name) && !is_partition_view(each.name) && !each.results.empty();
  }

  /// Ops on registers between two ops of another partition are computed there again: nothing is handed over and back, and where they were
  /// put nothing may be left.
  void round_trips() {
    std::set<std::size_t> copied;
    for (std::size_t from = 0; from < flow_.ops.size(); ++from) {
      if (!flow_.tile[from] || groups(from).size() != 1) continue;
      const std::int64_t home = groups(from).front();
      for (const std::size_t e : flow_.readers[from]) {
        const std::size_t start = flow_.edges[e].to;
        if (copied.contains(start) || !cheap(start) || groups(start).front() == home) continue;
        const std::vector<std::size_t> path = path_home(start, home, copied);
        if (path.empty()) continue;
        copied.insert(path.begin(), path.end());
        const auto reduction = std::find_if(path.begin(), path.end() - 1, [&](std::size_t i) { return op(i).name == "tt.reduce"; });
        const bool refused = reduction != path.end() - 1;
        const std::size_t at = refused ? *reduction : path.front();
        broken(Rule::Partition, {flow_.ops[at], flow_.ops[from]},
               fmt::format("{} is in {}, between {} and {} of partition {}: Triton computes such ops again where they are needed{}",
                           describe(at), words(groups(start)), short_name(from), short_name(path.back()), home,
                           refused ? ", and fails on a reduction" : ", and hands nothing over"));
      }
    }
  }

  /// From an op along ops of its partition to one of partition `home`, which is the last; empty: none.
  std::vector<std::size_t> path_home(std::size_t start, std::int64_t home, const std::set<std::size_t>& copied) const {
    std::map<std::size_t, std::size_t> parent;
    std::vector<std::size_t> open{start};
    std::set<std::size_t> seen;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (!seen.insert(at).second) continue;
      for (const std::size_t e : flow_.readers[at]) {
        const std::size_t next = flow_.edges[e].to;
        if (seen.contains(next) || copied.contains(next) || !cheap(next)) continue;
        if (groups(next).front() == home) {
          std::vector<std::size_t> path{next, at};
          for (std::size_t k = at; parent.contains(k);) path.push_back(k = parent.at(k));
          std::ranges::reverse(path);
          return path;
        }
        if (groups(next).front() != groups(start).front()) continue;
        parent.emplace(next, at);
        open.push_back(next);
      }
    }
    return {};
  }

  /// Helpers go wherever they are read: a partition of nothing else has no work.
  void idle() {
    std::set<std::int64_t> busy;
    for (std::size_t i = 0; i < module_.ops.size(); ++i)
      if (module_.ops[i].find("ttg.partition") && within_root(mlir::OpId(i)) && !own(mlir::OpId(i)))
        for (const std::int64_t group : partitions_of_op(module_.ops[i])) busy.insert(group);
    for (std::size_t i = 0; i < flow_.ops.size(); ++i)
      if (flow_.tile[i]) busy.insert(groups(i).begin(), groups(i).end());
    for (std::size_t i = 0; i < flow_.ops.size(); ++i)
      for (const std::int64_t group : groups(i))
        if (!flow_.tile[i] && busy.insert(group).second)
          broken(Rule::Partition, {flow_.ops[i]},
                 fmt::format("partition {} has no op on tiles: {} is copied to where it is read, and Triton makes a warp group that does "
                             "nothing",
                             group, describe(i)));
  }

  /// Of the judged loop's own block, or what terminates or is around it.
  bool own(mlir::OpId id) const {
    const mlir::Op& each = module_.op(id);
    return each.name == "scf.yield" || !each.regions.empty() || std::ranges::find(flow_.ops, id) != flow_.ops.end();
  }

  const TritonProgram& program_;
  const mlir::Module& module_;
  const mlir::OpId root_;
  const PartitionFlow flow_;
  std::vector<RuleViolation>& found_;
};

}  // namespace

void judge_partitions(const TritonProgram& program, const LoopSite& loop, std::vector<RuleViolation>& found) {
  if (program.target < 100) return;
  PartitionJudge(program, loop, found).run();
}

}  // namespace heddle::triton
