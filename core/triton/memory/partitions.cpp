// The rules are those of Triton's NVWS InsertAref, InsertTmemAref, LowerAref and PartitionLoops (2026), restated.
#include "core/triton/memory/partitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/saturate.h"
#include "core/triton/memory/pipeline.h"
#include "core/triton/memory/specialization.h"
#include "core/triton/read/decisions.h"
#include "core/triton/read/ops.h"
#include "core/triton/read/order.h"

namespace heddle::triton {
namespace {

using dump::TileType;
using mlir::Op;
using mlir::OpId;
using mlir::ValueId;
using Set = std::set<std::int64_t>;

Set numbers_in(std::string_view text) {
  const std::vector<std::int64_t> numbers = partition_numbers(text);
  return Set(numbers.begin(), numbers.end());
}

class PartitionPlanner {
 public:
  PartitionPlanner(const TritonProgram& program, const Places& places) : program_(program), module_(*program.module), places_(places) {}

  Partitions run() {
    for (const LoopSite& site : program_.loops)
      // The tag is Triton's own; a text that was given partitions by others may do without.
      if (op(site.op).find("ttg.warp_specialize.tag") || (site.wants_specialization && site.partitioned)) {
        if (out_.loop.valid())
          doubt("several loops are partitioned: only the first is counted");
        else
          out_.loop = site.op;
      }
    if (!out_.loop.valid()) return std::move(out_);
    for (std::size_t i = out_.loop.index() + 1; i < module_.ops.size() && places_.at(OpId(i)) < places_.at(out_.loop); ++i)
      inside_.push_back(OpId(i));
    if (inside_.size() > 4096) {
      doubt("the partitioned loop is too long to follow");
      return std::move(out_);
    }
    loads();
    tensors();
    registers();
    results();
    captures();
    warps();
    return std::move(out_);
  }

 private:
  const Op& op(OpId id) const { return module_.op(id); }
  const Type& type(ValueId id) const { return program_.type(id); }
  void doubt(std::string why) {
    if (out_.doubts.size() < 4 && std::ranges::find(out_.doubts, why) == out_.doubts.end()) out_.doubts.push_back(std::move(why));
  }
  bool within(OpId id) const { return places_.begins(out_.loop) <= places_.at(id) && places_.at(id) < places_.at(out_.loop); }

  /// Of an op, or of what holds it.
  Set partitions(OpId id) const {
    for (; id.valid() && id != out_.loop; id = module_.around(id))
      if (const mlir::Attribute* found = op(id).find("ttg.partition")) return numbers_in(found->value);
    return {};
  }

  /// Of the k-th value that a loop carries.
  Set carried_by(OpId loop, std::size_t k) const {
    const mlir::Attribute* outputs = op(loop).find("ttg.partition.outputs");
    if (!outputs) return {};
    std::string_view text = outputs->value;
    for (std::size_t i = 0;; ++i) {
      const std::size_t begin = text.find("array<");
      if (begin == std::string_view::npos) return {};
      const std::size_t end = text.find('>', begin);
      if (end == std::string_view::npos) return {};
      if (i == k) return numbers_in(text.substr(begin, end - begin));
      text.remove_prefix(end);
    }
  }

  Set makers(ValueId value) const {
    const mlir::Value& known = module_.value(value);
    if (known.definer.valid()) return partitions(known.definer);
    if (!known.block.valid()) return {};
    const OpId loop = module_.region(module_.block(known.block).parent).parent;
    return loop.valid() && op(loop).name == "scf.for" && known.index > 0 ? carried_by(loop, known.index - 1) : Set{};
  }

  std::int64_t depth(OpId id) {
    for (OpId around = module_.around(id); around.valid(); around = module_.around(around))
      if (op(around).find("tt.num_stages")) return std::max<std::int64_t>(1, op(around).integer("tt.num_stages", 1));
    if (!program_.metadata.num_stages)
      doubt("rings between partitions are as deep as num_stages says, which this text does not: 3 is taken");
    return std::max<std::int64_t>(1, program_.metadata.num_stages.value_or(3));
  }

  /// The first op behind views and allocations that reads a load.
  OpId first_reader(ValueId value) const {
    OpId first;
    for (const ValueId name : places_.names(value))
      for (const OpId reader : places_.readers(name)) {
        const Op& each = op(reader);
        if (is_view(each.name) || each.name == "scf.yield" || !within(reader)) continue;
        OpId found = reader;
        if (present_name(each.name) == "ttg.local_alloc" && !each.results.empty()) found = first_reader(each.results.front());
        if (found.valid() && (!first.valid() || places_.at(found) < places_.at(first))) first = found;
      }
    return first;
  }

  void loads() {
    std::set<std::size_t> seen;
    for (const OpId id : inside_) {
      const Op& load = op(id);
      if (!is_descriptor_load(load.name) || load.results.empty()) continue;
      const OpId reader = first_reader(load.results.front());
      if (!reader.valid() || partitions(reader) == partitions(id)) continue;
      Exchange exchange{id,  module_.value(load.results.front()).name, Exchange::What::Load, depth(id), type(load.results.front()), true,
                        true};
      exchange.barriers = seen.insert(reader.index()).second;
      out_.exchanges.push_back(std::move(exchange));
    }
  }

  bool constant(ValueId value, std::string_view word) const {
    const OpId made = module_.value(value).definer;
    return made.valid() && op(made).name == "arith.constant" && std::string_view(op(made).words).starts_with(word);
  }

  /// Whether what is stored was computed from what the same memory held.
  bool goes_on(OpId store, ValueId storage) const {
    const std::vector<ValueId> operands = plain_operands(op(store));
    if (operands.empty()) return false;
    std::vector<ValueId> values{operands.front()};
    for (std::size_t i = 0; i < values.size() && i < 256; ++i) {
      const OpId made = module_.value(values[i]).definer;
      if (!made.valid() || !within(made)) continue;
      const Op& each = op(made);
      if (each.name.ends_with(".tmem_load")) {
        if (!each.operands.empty() && each.operands.front() == storage) return true;
        continue;
      }
      for (const ValueId operand : each.operands)
        if (std::ranges::find(values, operand) == values.end()) values.push_back(operand);
    }
    return false;
  }

  void tensors() {
    for (std::size_t i = 0; i < module_.ops.size(); ++i) {
      const Op& alloc = module_.ops[i];
      const OpId id(i);
      if (present_name(alloc.name) != "ttng.tmem_alloc" || alloc.results.empty()) continue;
      const ValueId storage = alloc.results.front();
      Set users = alloc.operands.empty() || !within(id) ? Set{} : partitions(id);
      bool inside = false, outside = false, renewed = false, kept = false, read = false;
      for (const OpId reader : places_.readers(storage)) {
        const Op& each = op(reader);
        if (!within(reader)) {
          outside = true;
          continue;
        }
        inside = true;
        for (const std::int64_t p : partitions(reader)) users.insert(p);
        const std::vector<ValueId> operands = plain_operands(each);
        if (each.name.find("tc_gen5_mma") != std::string::npos && operands.size() > 3 && operands[2] == storage &&
            constant(operands[3], "false"))
          renewed = true;
        if (each.name.ends_with(".tmem_load")) read = true;
        if (each.name.ends_with(".tmem_store")) {
          if (goes_on(reader, storage))
            kept = true;
          else
            renewed = true;
        }
      }
      if (!inside || (users.size() < 2 && !outside)) continue;
      Exchange exchange{id, module_.value(storage).name, Exchange::What::Tensor, 1, type(storage), true, true};
      const bool forbidden = op(out_.loop).find("tt.disallow_acc_multi_buffer") != nullptr;
      if (alloc.operands.empty() && renewed && !kept && read && !forbidden) exchange.slots = 2;
      // One partition alone carries on what was stored in front of the loop: only its end is waited for.
      exchange.both_taken = users.size() > 1;
      out_.exchanges.push_back(std::move(exchange));
    }
  }

  void registers() {
    const auto crosses = [&](ValueId value, OpId made, const std::string& name) {
      const Type& tile = type(value);
      const Set from = makers(value);
      if (from.empty()) return;
      bool crossing = false;
      for (const OpId reader : places_.readers(value)) {
        if (!within(reader) || op(reader).name == "scf.yield" || is_view(op(reader).name)) continue;
        for (const std::int64_t p : partitions(reader)) crossing |= !from.contains(p);
      }
      if (!crossing) return;
      if (tile.tile.space != TileType::Space::Register) {
        if (tile.tile.space == TileType::Space::None && !tile.descriptor)
          doubt(fmt::format("%{} is computed in one partition and read in another: how a number is handed on is not counted", name));
        return;
      }
      if (made.valid() && is_descriptor_load(op(made).name)) return;
      if (tile.tile.shape.size() > 1) doubt(fmt::format("%{} is handed from one partition to another through shared memory", name));
      out_.exchanges.push_back({made.valid() ? made : out_.loop, name, Exchange::What::Registers, 1, tile, true, true});
    };
    if (const mlir::Block* body = module_.body(out_.loop))
      for (std::size_t k = 1; k < body->arguments.size(); ++k) crosses(body->arguments[k], {}, module_.value(body->arguments[k]).name);
    for (const OpId id : inside_)
      for (const ValueId result : op(id).results)
        if (op(id).name != "scf.for") crosses(result, id, module_.value(result).name);
  }

  void results() {
    const Op& loop = op(out_.loop);
    for (std::size_t k = 0; k < loop.results.size(); ++k) {
      const Set from = carried_by(out_.loop, k);
      const Type& tile = type(loop.results[k]);
      if (from.empty() || from.contains(0) || tile.tile.space != TileType::Space::Register || places_.readers(loop.results[k]).empty())
        continue;
      out_.left.push_back(tile);
      out_.captured_bytes = sat_add(out_.captured_bytes, 8 + 4 * static_cast<std::int64_t>(tile.tile.shape.size()));
      ++out_.captured;
    }
  }

  bool beyond_first(const Set& set) const {
    return std::ranges::any_of(set, [](std::int64_t p) { return p > 0; });
  }

  void captures() {
    std::set<std::size_t> taken;
    const auto take = [&](ValueId value) {
      const mlir::Value& known = module_.value(value);
      if (known.definer.valid() ? within(known.definer) : inside_block(known.block)) return;
      if (known.definer.valid() && (op(known.definer).name == "arith.constant" || op(known.definer).name == "ub.poison")) return;
      const Type& each = type(value);
      if (each.tile.space == TileType::Space::Token || each.tile.space == TileType::Space::Tmem) return;
      if (!taken.insert(value.index()).second) return;
      if (each.tile.space == TileType::Space::Register) return doubt(fmt::format("the tile %{} is handed to a partition", known.name));
      out_.captured_bytes = sat_add(out_.captured_bytes, capture_bytes(each));
      ++out_.captured;
    };
    const auto take_loop = [&](OpId id) {
      const Op& loop = op(id);
      for (std::size_t k = 0; k < loop.operands.size(); ++k)
        if (k < 3 || beyond_first(carried_by(id, k - 3))) take(loop.operands[k]);
    };
    take_loop(out_.loop);
    for (const OpId id : inside_) {
      if (!beyond_first(partitions(id)) || op(id).name == "scf.yield") continue;
      if (op(id).name == "scf.for") {
        take_loop(id);
        continue;
      }
      for (const ValueId operand : op(id).operands) take(operand);
    }
    for (const Exchange& exchange : out_.exchanges) {
      const std::int64_t rank = static_cast<std::int64_t>(exchange.type.tile.shape.size()) + 1;
      const std::int64_t memory = exchange.what == Exchange::What::Tensor ? 8 : 8 + 4 * rank;
      const std::int64_t barriers = exchange.barriers ? (exchange.both_taken ? 2 : 1) : 0;
      out_.captured_bytes = sat_add(out_.captured_bytes, memory + 16 * barriers);
      out_.captured += 1 + barriers;
    }
  }

  bool inside_block(mlir::BlockId block) const {
    if (!block.valid()) return false;
    const OpId around = module_.region(module_.block(block).parent).parent;
    return around.valid() && (around == out_.loop || within(around));
  }

  void warps() {
    const mlir::Attribute* stages = op(out_.loop).find("ttg.partition.stages");
    std::int64_t count = stages ? std::ranges::count(stages->value, ',') + 1 : 0;
    for (const OpId id : inside_)
      for (const std::int64_t p : partitions(id)) count = std::max(count, std::min<std::int64_t>(p + 1, 16));
    const std::vector<OpId> first = in_order_of(0);
    if (std::ranges::any_of(first, [&](OpId id) { return is_descriptor_load(op(id).name) || is_tensor_product(op(id).name); }))
      doubt("partition 0 loads or multiplies: Triton numbers partitions anew, and may make one of its own for the warps of the kernel");
    std::vector<PartitionNeed> needs;
    for (std::int64_t p = 1; p < count && p < 16; ++p) {
      PartitionNeed need{program_.num_warps, 1, 0};
      for (const OpId id : in_order_of(p)) need.add(program_, op(id));
      needs.push_back(need);
    }
    out_.warps = shrunk_warps(program_, needs);
    for (std::size_t i = 0; i < out_.warps.size(); ++i) {
      if (out_.warps[i] >= kTensorWarps) continue;
      for (const OpId id : in_order_of(static_cast<std::int64_t>(i) + 1))
        if (least_warps(op(id)) == kTensorWarps)
          out_.starved = id;
        else if (out_.starved.valid() && least_warps(op(id)) > 0)
          out_.starved_by = id;
      if (out_.starved.valid()) return;
    }
  }

  /// The ops of a partition as they run: in a loop with stages cluster after cluster.
  std::vector<OpId> in_order_of(std::int64_t partition) const {
    std::vector<OpId> found;
    for (const OpId id : inside_)
      if (partitions(id).contains(partition) && op(id).name != "scf.yield" && op(module_.around(id)).name != "tt.reduce")
        found.push_back(id);
    for (auto run = found.begin(); run != found.end();) {
      const auto has_cluster = [&](OpId id) { return op(id).parent == op(*run).parent && cluster_of(op(id)).has_value(); };
      const auto end = std::find_if_not(run, found.end(), has_cluster);
      std::stable_sort(run, end, [&](OpId a, OpId b) { return *cluster_of(op(a)) < *cluster_of(op(b)); });
      run = end == run ? run + 1 : end;
    }
    return found;
  }

  const TritonProgram& program_;
  const mlir::Module& module_;
  const Places& places_;
  std::vector<OpId> inside_;
  Partitions out_;
};

}  // namespace

std::int64_t capture_bytes(const Type& type) {
  // A memdesc in shared memory is passed with its offsets, other values as they are.
  if (type.tile.space == TileType::Space::Smem) return 8 + 4 * static_cast<std::int64_t>(type.tile.shape.size());
  if (type.tile.space == TileType::Space::Tmem || type.pointer || type.descriptor) return 8;
  return (std::max<std::int64_t>(1, type.tile.bits) + 7) / 8;
}

Partitions partitions_of(const TritonProgram& program, const Places& places) { return PartitionPlanner(program, places).run(); }

}  // namespace heddle::triton
