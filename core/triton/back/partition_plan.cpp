#include "core/triton/back/partition_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/triton/kernel/partition_flow.h"
#include "core/triton/memory/pipeline.h"
#include "core/triton/memory/places.h"
#include "core/triton/read/decisions.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

using Numbers = std::set<std::int64_t>;

std::string list_text(const Numbers& numbers) {
  return numbers.empty() ? "array<i32>" : fmt::format("array<i32: {}>", fmt::join(numbers, ", "));
}

class GroupPlanner {
 public:
  GroupPlanner(const TritonProgram& program, const LoopSite& loop, const std::vector<std::pair<mlir::OpId, int>>& groups)
      : program_(program), loop_(loop), module_(*program.module), flow_(program, loop), lists_(flow_.ops.size()) {
    std::map<mlir::OpId, std::size_t> place;
    for (std::size_t i = 0; i < flow_.ops.size(); ++i) place.emplace(flow_.ops[i], i);
    for (const auto& [id, group] : groups)
      if (const auto found = place.find(id); found != place.end()) given_[found->second] = group;
  }

  Result<PartitionPlan> run() {
    if (as_written()) return written();
    if (const std::string why = why_not(); !why.empty())
      return Error{ErrorKind::Input, {{program_.file, fmt::format("{}", loop_.line), why, {}}}};
    assign_tiles();
    renumber();
    assign_helpers();
    return planned();
  }

 private:
  const mlir::Op& op(std::size_t i) const { return module_.op(flow_.ops[i]); }

  /// Whether the groups are the partitions of the text under other names.
  bool as_written() const {
    std::map<std::int64_t, int> group_of;
    std::map<int, std::int64_t> number_of;
    bool any = false;
    for (const auto& [i, group] : given_) {
      if (!flow_.tile[i]) continue;
      const std::vector<std::int64_t>& list = flow_.partitions[i];
      if (list.empty()) return false;
      any = true;
      // An op that several partitions compute belongs to any of them.
      if (list.size() > 1) continue;
      if (group_of.emplace(list.front(), group).first->second != group) return false;
      if (number_of.emplace(group, list.front()).first->second != list.front()) return false;
    }
    return any;
  }

  PartitionPlan written() const {
    PartitionPlan plan;
    for_all_ops([&](mlir::OpId id, std::optional<std::size_t>) {
      if (std::vector<std::int64_t> list = partitions_of_op(module_.op(id)); !list.empty()) plan.ops.emplace_back(id, std::move(list));
    });
    for (const mlir::Attribute& each : module_.op(loop_.op).attributes)
      if (each.name == "tt.warp_specialize" || each.name.starts_with("ttg.")) plan.of_the_loop.emplace_back(each.name, each.value);
    return plan;
  }

  std::string why_not() const {
    if (program_.target < 100)
      return fmt::format("the text is for sm_{}: Triton makes warp groups of partitions on Blackwell only (sm_100)", program_.target);
    if (program_.form != TextForm::Scheduled && program_.form != TextForm::Partitioned)
      return fmt::format("the text is in {} form: partitions are read in scheduled texts", to_string(program_.form));
    if (const mlir::OpId around = specialized_loop(program_, loop_.op); around != loop_.op)
      return fmt::format("the loop around it (line {}) is divided among partitions as a whole: they can be kept, not changed",
                         module_.op(around).line);
    if (module_.around(loop_.op) != program_.function) return "the loop lies inside of another op: partitions are for the outermost one";
    for (std::size_t i = 0; i < flow_.ops.size(); ++i)
      if (op(i).name.starts_with("scf."))
        return fmt::format("there is an {} in it (line {}): partitions can be kept, not changed", op(i).name, op(i).line);
    for (std::size_t i = 0; i < flow_.ops.size(); ++i)
      if (flow_.tile[i] && given_.contains(i) && !follows_readers(i)) return {};
    return "no op on tiles is in a warp group";
  }

  bool follows_readers(std::size_t i) const {
    // A change of layout may be work of its own.
    return is_view(op(i).name) ||
           (is_partition_view(op(i).name) && !(present_name(op(i).name) == "ttg.convert_layout" && given_.contains(i)));
  }

  Numbers of_readers(std::size_t i, bool tiles_only) const {
    Numbers found;
    for (const std::size_t e : flow_.readers[i])
      if (const std::size_t reader = flow_.edges[e].to; reader != i && (flow_.tile[reader] || !tiles_only))
        found.insert(lists_[reader].begin(), lists_[reader].end());
    return found;
  }
  Numbers of_sources(std::size_t i) const {
    for (const std::size_t e : flow_.sources[i])
      if (const std::size_t source = flow_.edges[e].from; flow_.tile[source] && !flow_.edges[e].token && !lists_[source].empty())
        return {*lists_[source].begin()};
    return {};
  }

  /// By the schedule's own numbers. Views stand where they are read, allocations where they are filled, and what the schedule does not
  /// name where its reader is, or else its source.
  void assign_tiles() {
    for (const auto& [i, group] : given_)
      if (flow_.tile[i] && !follows_readers(i)) lists_[i] = {group};
    for (bool changed = true; changed;) {
      changed = false;
      for (const bool last_resort : {false, true}) {
        for (std::size_t i = flow_.ops.size(); i-- > 0;) {
          if (!flow_.tile[i] || (given_.contains(i) && !follows_readers(i))) continue;
          if (!follows_readers(i) && !lists_[i].empty()) continue;
          Numbers list = follows_readers(i) ? of_readers(i, true) : choose(i, last_resort);
          if (list == lists_[i] || list.empty()) continue;
          lists_[i] = std::move(list);
          changed = true;
        }
        if (changed) break;
      }
    }
    Numbers all;
    for (const Numbers& list : lists_) all.insert(list.begin(), list.end());
    for (std::size_t i = 0; i < flow_.ops.size(); ++i)
      if (flow_.tile[i] && lists_[i].empty()) lists_[i] = {*all.begin()};
  }

  Numbers choose(std::size_t i, bool last_resort) const {
    const bool allocates = present_name(op(i).name).ends_with("_alloc") && !plain_operands(op(i)).empty();
    if (allocates)
      if (Numbers list = of_sources(i); !list.empty()) return list;
    Numbers list = of_readers(i, true);
    if (list.size() == 1) return list;
    if (Numbers source = of_sources(i); last_resort && !source.empty()) return source;
    return last_resort && !list.empty() ? Numbers{*list.begin()} : Numbers{};
  }

  /// The numbers that Triton's partition-scheduling gives: stores behind the rest, then mmas, never first, and loads.
  void renumber() {
    enum Class { Other, Store, Product, Load };
    std::vector<std::int64_t> seen;
    std::map<std::int64_t, Class> classes;
    for (std::size_t i = 0; i < flow_.ops.size(); ++i)
      for (const std::int64_t group : lists_[i]) {
        if (classes.emplace(group, Other).second) seen.push_back(group);
        const std::string present = present_name(op(i).name);
        Class& mine = classes[group];
        const bool store = present == "tt.descriptor_store" || present == "tt.descriptor_reduce";
        const Class does = store ? Store : is_tensor_product(present) ? Product : is_descriptor_load(present) ? Load : Other;
        const auto rank = [](Class c) { return c == Other ? 0 : c == Load ? 1 : c == Product ? 2 : 3; };
        if (rank(does) > rank(mine)) mine = does;
      }
    std::map<std::int64_t, std::int64_t> number;
    std::int64_t next = 0;
    for (const Class each : {Other, Store, Product, Load}) {
      if (each == Product && next == 0) next = 1;
      for (const std::int64_t group : seen)
        if (classes[group] == each) {
          number[group] = next++;
          if (each == Product) products_.insert(number[group]);
        }
    }
    count_ = next;
    for (Numbers& list : lists_) {
      Numbers renumbered;
      for (const std::int64_t group : list) renumbered.insert(number[group]);
      list = std::move(renumbered);
      all_.insert(list.begin(), list.end());
    }
  }

  void assign_helpers() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = flow_.ops.size(); i-- > 0;) {
        if (flow_.tile[i]) continue;
        Numbers list = of_readers(i, false);
        list.insert(lists_[i].begin(), lists_[i].end());
        if (list == lists_[i]) continue;
        lists_[i] = std::move(list);
        changed = true;
      }
    }
    // An op without readers (an assumption) goes with the first partition.
    for (Numbers& list : lists_)
      if (list.empty()) list = {*all_.begin()};
  }

  /// Ops of the loop and what is inside of them, each with its place in the flow or that of the op around it; the terminator has none.
  template <class Visit>
  void for_all_ops(const Visit& visit) const {
    std::map<mlir::OpId, std::size_t> place;
    for (std::size_t i = 0; i < flow_.ops.size(); ++i) place.emplace(flow_.ops[i], i);
    const std::size_t end = module_.op(loop_.op).span.end;
    std::optional<std::size_t> around;
    for (std::size_t k = loop_.op.index() + 1; k < module_.ops.size() && module_.ops[k].span.begin < end; ++k) {
      const mlir::OpId id(k);
      if (module_.around(id) == loop_.op) {
        const auto found = place.find(id);
        around = found == place.end() ? std::nullopt : std::optional(found->second);
      }
      visit(id, around);
    }
  }

  /// Of the k-th value that the loop carries: who makes it; a token, and what comes from outside, belongs to who reads it.
  Numbers of_carried(const mlir::Block& body, const mlir::Op* yield, std::size_t k) const {
    const mlir::OpId made = yield && k < yield->operands.size() ? module_.value(yield->operands[k]).definer : mlir::OpId{};
    const auto maker = std::find(flow_.ops.begin(), flow_.ops.end(), made);
    const mlir::ValueId argument = body.arguments[k + 1];
    const bool token = program_.type(argument).tile.space == dump::TileType::Space::Token;
    if (maker != flow_.ops.end() && made.valid() && !token) return lists_[static_cast<std::size_t>(maker - flow_.ops.begin())];
    Numbers found;
    for (std::size_t i = 0; i < flow_.ops.size(); ++i)
      if (std::find(op(i).operands.begin(), op(i).operands.end(), argument) != op(i).operands.end())
        found.insert(lists_[i].begin(), lists_[i].end());
    return found;
  }

  PartitionPlan planned() const {
    PartitionPlan plan;
    for_all_ops([&](mlir::OpId id, std::optional<std::size_t> place) {
      const Numbers& list = place ? lists_[*place] : all_;
      plan.ops.emplace_back(id, std::vector<std::int64_t>(list.begin(), list.end()));
    });
    std::string stages, outputs;
    for (std::int64_t n = 0; n < count_; ++n) stages += fmt::format("{}{} : i32", n == 0 ? "" : ", ", products_.contains(n) ? 1 : 0);
    const mlir::Block& body = *module_.body(loop_.op);
    const mlir::Op* yield = !body.ops.empty() && module_.op(body.ops.back()).name == "scf.yield" ? &module_.op(body.ops.back()) : nullptr;
    for (std::size_t k = 0; k + 1 < body.arguments.size(); ++k) outputs += (k == 0 ? "" : ", ") + list_text(of_carried(body, yield, k));
    plan.of_the_loop = {{"tt.warp_specialize", ""}, {"ttg.partition", list_text(all_)}};
    if (!outputs.empty()) plan.of_the_loop.emplace_back("ttg.partition.outputs", "[" + outputs + "]");
    plan.of_the_loop.emplace_back("ttg.partition.stages", "[" + stages + "]");
    const mlir::Attribute* tag = module_.op(loop_.op).find("ttg.warp_specialize.tag");
    plan.of_the_loop.emplace_back("ttg.warp_specialize.tag", tag ? tag->value : "0 : i32");
    return plan;
  }

  const TritonProgram& program_;
  const LoopSite& loop_;
  const mlir::Module& module_;
  const PartitionFlow flow_;
  std::map<std::size_t, int> given_;
  std::vector<Numbers> lists_;  ///< parallel to flow_.ops: the schedule's groups, then Triton's numbers
  Numbers all_, products_;
  std::int64_t count_ = 0;
};

}  // namespace

Result<PartitionPlan> plan_partitions(const TritonProgram& program, const LoopSite& loop,
                                      const std::vector<std::pair<mlir::OpId, int>>& groups) {
  return GroupPlanner(program, loop, groups).run();
}

}  // namespace heddle::triton
