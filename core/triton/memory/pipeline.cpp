// The rules are those of Triton's lib/Dialect/TritonGPU/Transforms/Pipeliner/LowerLoops.cpp and MMAv5PipelineUtility.cpp (2025 and 2026),
// restated.
#include "core/triton/memory/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/base/text_style.h"
#include "core/triton/memory/latencies.h"
#include "core/triton/memory/neighbours.h"
#include "core/triton/memory/plan.h"
#include "core/triton/memory/scratch.h"
#include "core/triton/read/linear.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

using mlir::Op;
using mlir::OpId;
using mlir::ValueId;

bool is_load(std::string_view name) { return name == "tt.load" || is_descriptor_load(name); }
constexpr std::size_t kMostLoads = 512;         ///< more are no kernel
constexpr std::int64_t kNarrowestRingCopy = 4;  ///< bytes

bool is_zero(const mlir::Module& module, ValueId value) {
  const mlir::Value& known = module.value(value);
  if (!known.definer.valid()) return false;
  const Op& definer = module.op(known.definer);
  if (definer.name == "tt.splat" && !definer.operands.empty()) return is_zero(module, definer.operands.front());
  if (definer.name != "arith.constant") return false;
  std::string_view words = definer.words;
  if (words.starts_with("dense<")) words.remove_prefix(6);
  if (words.starts_with("false")) return true;
  char* end = nullptr;
  const std::string text(words.substr(0, 40));
  const double number = std::strtod(text.c_str(), &end);
  return end != text.c_str() && number == 0 && !text.starts_with("0x");
}

class LoopPlanner {
 public:
  LoopPlanner(const TritonProgram& program, const Places& places, OpId loop)
      : program_(program), module_(*program.module), places_(places) {
    plan_.loop = loop;
    body_ = module_.body(loop);
  }

  LoopPlan run() {
    if (!body_) return plan_;
    for (const OpId id : body_->ops) plan_.scheduled |= op(id).find("loop.stage") != nullptr;
    if (plan_.scheduled) products();
    if (!plan_.scheduled) predict();
    for (const OpId id : body_->ops)
      if (is_load(op(id).name) && !op(id).results.empty() && plan_.loads.size() < kMostLoads) plan_.loads.push_back(load(id));
    groups();
    return std::move(plan_);
  }

 private:
  const Op& op(OpId id) const { return module_.op(id); }
  const Type& type(ValueId id) const { return program_.type(id); }
  std::optional<std::int64_t> stage(OpId id) const {
    const mlir::Attribute* found = op(id).find("loop.stage");
    if (!found) return std::nullopt;
    return op(id).integer("loop.stage", 0);
  }
  Position order(OpId id) const {
    return {op(id).integer("loop.stage", 0), op(id).integer("loop.cluster", 0), static_cast<std::size_t>(places_.at(id))};
  }

  /// The op of the loop's own block that is or holds an op; invalid: it lies elsewhere.
  OpId top(OpId id) const {
    while (id.valid()) {
      const OpId around = module_.around(id);
      if (around == plan_.loop) return id;
      id = around;
    }
    return {};
  }

  /// Who reads a value in the loop, through views and from one iteration to the next.
  std::vector<OpId> users(ValueId value) const {
    std::vector<ValueId> values{value};
    std::vector<OpId> found;
    for (std::size_t i = 0; i < values.size() && i < 256; ++i)
      for (const OpId reader : places_.readers(values[i])) {
        const Op& each = op(reader);
        const auto add = [&](ValueId next) {
          if (std::ranges::find(values, next) == values.end()) values.push_back(next);
        };
        if (each.name == "scf.yield" && module_.around(reader) == plan_.loop) {
          for (std::size_t k = 0; k < each.operands.size(); ++k)
            if (each.operands[k] == values[i] && k + 1 < body_->arguments.size()) add(body_->arguments[k + 1]);
          continue;
        }
        if (is_view(each.name) && !each.results.empty()) {
          add(each.results.front());
          continue;
        }
        if (const OpId outer = top(reader); outer.valid() && std::ranges::find(found, outer) == found.end()) found.push_back(outer);
      }
    return found;
  }

  static bool fills(const Op& user) { return present_name(user.name) == "ttg.local_alloc" && user.operands.size() == 1; }

  /// Whether only an allocation reads the load, so that the copy can go straight to where it is read.
  bool goes_to_memory(OpId id) const {
    const Op& load = op(id);
    if (!fills_with_zeros(module_, load)) return false;
    const std::vector<OpId>& readers = places_.readers(load.results.front());
    if (readers.size() != 1 || !fills(op(readers.front()))) return false;
    if (!is_descriptor_load(load.name) || load.operands.empty()) return true;
    const Type& descriptor = type(load.operands.front());
    return descriptor.layout.kind == TritonLayout::Kind::None || descriptor.layout == type(op(readers.front()).results.front()).layout;
  }

  bool read_by_wgmma(OpId id) const {
    if (!goes_to_memory(id)) return false;
    const Op& alloc = op(places_.readers(op(id).results.front()).front());
    return std::ranges::any_of(users(alloc.results.front()), [&](OpId user) { return op(user).name.ends_with(".warp_group_dot"); });
  }

  /// An mma of tensor memory whose operands are loaded ahead is waited for an iteration later.
  bool read_by_tensor_product(OpId id) const {
    if (!goes_to_memory(id)) return false;
    const Op& alloc = op(places_.readers(op(id).results.front()).front());
    return std::ranges::any_of(users(alloc.results.front()), [&](OpId user) { return is_tensor_product(op(user).name); });
  }

  /// Bytes that a thread copies at once: neighbours along one dimension that its first registers hold.
  std::int64_t vector_bytes(const Type& tile) const {
    const std::optional<Linear> linear = linear_of(tile);
    if (!linear) return 4;
    std::size_t best = 0;
    for (std::size_t d = 0; d < linear->bits.size(); ++d) {
      std::size_t length = 0;
      while (length < linear->registers.size() && static_cast<int>(length) < linear->bits[d] &&
             linear->registers[length] == 1u << (linear->offset(d) + static_cast<int>(length)))
        ++length;
      best = std::max(best, length);
    }
    return std::max<std::int64_t>(8, tile.tile.bits << best) / 8;
  }

  /// Whether an asynchronous copy can do the work of a load: it moves 4 bytes of a thread at least.
  bool copied(OpId id) { return is_descriptor_load(op(id).name) || copied_at_once(id) >= kNarrowestRingCopy; }

  std::int64_t copied_at_once(OpId id) {
    if (!neighbours_) neighbours_.emplace(program_);
    const Type& tile = type(op(id).results.front());
    const std::int64_t bytes = std::min(vector_bytes(tile), neighbours_->copied_at_once(op(id)));
    return lies_across(id) ? std::min<std::int64_t>(bytes, tile.tile.bits / 8) : bytes;
  }

  /// Where all readers move the tile to one that an mma's operand is a view of, shared memory is ordered as that is: whether along another
  /// dimension than the tile's own registers.
  bool lies_across(OpId id) const {
    const std::optional<Linear> own = linear_of(type(op(id).results.front()));
    const std::vector<OpId>& readers = places_.readers(op(id).results.front());
    const auto first_dimension = [](const Linear& linear) {
      for (std::size_t d = 0; d < linear.bits.size() && !linear.registers.empty(); ++d)
        if (linear.bits[d] > 0 && ((linear.registers.front() >> linear.offset(d)) & ((1u << linear.bits[d]) - 1)) != 0) return d;
      return linear.bits.size();
    };
    return own && !readers.empty() && std::ranges::all_of(readers, [&](OpId reader) {
             if (present_name(op(reader).name) != "ttg.convert_layout") return false;
             const Type& wanted = type(op(reader).results.front());
             const std::optional<Linear> linear = wanted.layout.kind == TritonLayout::Kind::Linear ? linear_of(wanted) : std::nullopt;
             return linear && first_dimension(*linear) != first_dimension(*own);
           });
  }

  /// Latencies that Triton will give to the loads of a loop that it has not scheduled.
  void predict() {
    const auto site = std::ranges::find(program_.loops, plan_.loop, &LoopSite::op);
    if (site == program_.loops.end() || program_.form == TextForm::Final || program_.form == TextForm::Scheduled) return;
    for (const LoadLatency& load : load_latencies(program_, *site, stages_meant(program_, *site), false))
      if (load.latency > 0) latencies_[load.op] = load.latency;
  }

  void to_be_scheduled(OpId id, LoadPlan& plan) {
    const auto latency = latencies_.find(id);
    if (latency == latencies_.end()) {
      plan.why = "its loop is not pipelined";
      return;
    }
    if (!becomes_copy(id, plan)) return;
    plan.slots = latency->second + (read_by_wgmma(id) || read_by_tensor_product(id) ? 1 : 0);
    plan.why = op(id).find("tt.latency") ? fmt::format("{} slots, as tt.latency tells Triton", plan.slots)
                                         : fmt::format("{}, as Triton's rules give it", count_of(plan.slots, "slot"));
    take_allocations(op(id), plan);
  }

  /// Whether what is loaded ahead becomes an asynchronous copy; sets what a slot takes, or why not.
  bool becomes_copy(OpId id, LoadPlan& plan) {
    const Type& tile = type(op(id).results.front());
    if (!tile.tile.tile()) {
      // From Triton 3.6 on a number is copied as a tile of one element, if it has 4 bytes.
      const bool copies = tile.tile.bits >= 32 && !pads_conversions(program_);
      if (!copies) plan.why = "a number is loaded ahead into registers";
      plan.bytes = tile.pointer ? 8 : std::max<std::int64_t>(1, tile.tile.bits / 8);
      return copies;
    }
    if (copied(id)) return true;
    plan.why = fmt::format(
        "loaded ahead into registers: by addresses and mask a thread knows of {} at once, and an asynchronous copy moves at least {}",
        count_of(copied_at_once(id), "byte"), kNarrowestRingCopy);
    return false;
  }

  LoadPlan load(OpId id) {
    const Op& load = op(id);
    const Type& tile = type(load.results.front());
    LoadPlan plan;
    plan.op = id;
    plan.descriptor = is_descriptor_load(load.name);
    plan.bytes = tile.tile.bytes();
    plan.alignment = load_alignment(program_, places_, load);
    if (!plan_.scheduled) {
      to_be_scheduled(id, plan);
      return plan;
    }
    if (!stage(id)) {
      plan.why = "its loop is not pipelined";
      return plan;
    }
    plan.stage = *stage(id);
    std::vector<OpId> readers = users(load.results.front());
    for (const OpId reader : std::vector<OpId>(readers))
      if (fills(op(reader)))
        for (const OpId behind : users(op(reader).results.front())) readers.push_back(behind);
    std::int64_t last = -1;
    bool later = false;
    for (const OpId reader : readers)
      if (const auto at = stage(reader)) {
        plan.use_stage = plan.use_stage < 0 ? *at : std::min(plan.use_stage, *at);
        const std::int64_t until = *at + (order(reader).cluster > order(id).cluster ? 1 : 0);
        if (last < 0 || until < last) last = until, later = until > *at;
      }
    for (const ProductPlan& product : plan_.products)
      if (product.barriers > 0 && std::ranges::find(readers, product.op) != readers.end()) last = std::max(last, product.wait_stage);
    const bool left = !plan.descriptor && plan.use_stage <= plan.stage;
    const std::int64_t distance = last < 0 || left ? 0 : last - plan.stage;
    if (distance <= 0) {
      plan.why = plan.use_stage < 0 ? "nothing in the loop reads it"
                                    : fmt::format("not pipelined: it is read in the stage in which it is loaded ({})", plan.stage);
      return plan;
    }
    if (!becomes_copy(id, plan)) return plan;
    const bool extra = read_by_wgmma(id);
    plan.slots = distance + (extra ? 1 : 0);
    plan.why = fmt::format("{}: loaded in stage {}, {} stage {}{}", count_of(plan.slots, "slot"), plan.stage,
                           last == plan.use_stage || later ? "read in" : "its mma is waited for in", later ? plan.use_stage : last,
                           extra ? ", and one more for the mma that is still reading" : "");
    if (later) plan.why += ", and one more because it is read in a later cluster than it is loaded in";
    take_allocations(load, plan);
    find_overwritten(load, plan);
    return plan;
  }

  /// Whether a wgmma may still be read for when the next one is issued: Triton waits at once for what the same iteration reads.
  bool flies(OpId id) const {
    return op(id).name.ends_with(".warp_group_dot") && std::ranges::all_of(op(id).results, [&](ValueId result) {
             return std::ranges::all_of(places_.readers(result), [&](OpId reader) {
               return module_.around(reader) != plan_.loop || op(reader).name == "scf.yield";
             });
           });
  }

  /// Where a reader of a slot is through with it. All wgmma that fly are waited for behind the last one of the next iteration.
  Position through(OpId reader) const {
    for (const ProductPlan& product : plan_.products)
      if (product.op == reader) return product.wait;
    if (!flies(reader)) return order(reader);
    Position last;
    for (const OpId id : body_->ops)
      if (flies(id)) last = std::max(last, order(id));
    return {order(reader).stage + 1, last.cluster, last.place};
  }

  /// Registers are filled once for all who read them: behind the copy in the text, in stage and cluster of the first one. What reads memory
  /// reads it where it stands.
  void find_overwritten(const Op& load, LoadPlan& plan) const {
    const Position copy = order(plan.op), next{copy.stage + plan.slots, copy.cluster, copy.place};
    const std::vector<OpId> readers = users(load.results.front());
    const auto first = std::ranges::min_element(readers, {}, [&](OpId id) { return order(id); });
    const bool registers =
        std::ranges::any_of(readers, [&](OpId id) { return std::ranges::find(plan.replaced, id) == plan.replaced.end(); });
    if (registers && next < Position{order(*first).stage, order(*first).cluster, copy.place + 1}) plan.overwritten.push_back({*first});
    for (const OpId alloc : plan.replaced)
      for (const OpId reader : users(op(alloc).results.front()))
        if (next < through(reader)) plan.overwritten.push_back({reader, order(reader) < next});
  }

  /// Allocations that become the ring itself.
  void take_allocations(const Op& load, LoadPlan& plan) const {
    if (!fills_with_zeros(module_, load)) return;
    for (const OpId reader : places_.readers(load.results.front()))
      if (fills(op(reader)) && same_place(load, op(reader))) plan.replaced.push_back(reader);
  }

  bool same_place(const Op& load, const Op& alloc) const {
    if (!is_descriptor_load(load.name) || load.operands.empty()) return true;
    const Type& descriptor = type(load.operands.front());
    return descriptor.layout.kind == TritonLayout::Kind::None || descriptor.layout == type(alloc.results.front()).layout;
  }

  /// Consecutive loads by descriptor that can share a barrier.
  void groups() {
    const auto plan_at = [&](OpId id) -> LoadPlan* {
      const auto found = std::ranges::find_if(plan_.loads, [&](const LoadPlan& load) { return load.op == id; });
      return found == plan_.loads.end() || !found->descriptor || found->slots == 0 ? nullptr : &*found;
    };
    int next = 0;
    for (std::size_t i = 0; i < body_->ops.size(); ++i) {
      LoadPlan* first = plan_at(body_->ops[i]);
      if (!first || first->group >= 0) continue;
      std::vector<OpId> readers;
      const auto take = [&](LoadPlan& load) {
        load.group = next;
        const ValueId value = op(load.op).results.front();
        const bool direct = goes_to_memory(load.op);
        for (const OpId reader : places_.readers(value)) {
          if (direct && module_.around(reader) == plan_.loop)
            for (const OpId behind : places_.readers(op(reader).results.front())) readers.push_back(behind);
          else if (const OpId outer = top(reader); outer.valid())
            readers.push_back(outer);
        }
      };
      take(*first);
      for (std::size_t k = i + 1; k < body_->ops.size(); ++k) {
        const OpId id = body_->ops[k];
        LoadPlan* load = plan_at(id);
        if (std::ranges::find(readers, id) != readers.end() || (load && load->group >= 0)) break;
        if (!load) continue;
        if (load->slots != first->slots) break;
        if (load->stage == first->stage && op(id).integer("loop.cluster", 0) == op(first->op).integer("loop.cluster", 0)) take(*load);
      }
      ++next;
    }
  }

  /// The op in the loop that makes an operand of an mma: a load that is not ahead, or an allocation that is written anew.
  /// `known` turns false where that cannot be told.
  OpId late_operand(ValueId operand, std::int64_t product_stage, bool& known) {
    for (int i = 0; i < 64; ++i) {
      const OpId made = module_.value(operand).definer;
      if (!made.valid()) {
        if (top_block_argument(operand)) known = false;
        return {};
      }
      if (!top(made).valid()) return {};  // made in front of the loop
      const Op& definer = op(made);
      if (is_view(definer.name) && !definer.operands.empty()) {
        operand = definer.operands.front();
        continue;
      }
      const std::string name = present_name(definer.name);
      if (name != "ttg.local_alloc" && name != "ttng.tmem_alloc") {
        known = false;
        return {};
      }
      if (definer.operands.empty()) {
        known = false;
        return {};
      }
      const OpId source = module_.value(definer.operands.front()).definer;
      if (!source.valid() || !top(source).valid()) return source.valid() ? OpId{} : made;
      if (is_load(op(source).name) && name == "ttg.local_alloc") {
        const bool copied_ahead = stage(source).value_or(0) < product_stage && copied(source);
        return copied_ahead ? OpId{} : source;
      }
      return made;
    }
    return {};
  }

  bool top_block_argument(ValueId value) const {
    const mlir::Value& known = module_.value(value);
    return known.block.valid() && module_.block(known.block).parent.valid() &&
           module_.region(module_.block(known.block).parent).parent == plan_.loop;
  }

  void products() {
    for (std::size_t i = 0; i < module_.ops.size(); ++i) {
      const OpId id(i), outer = is_tensor_product(module_.ops[i].name) ? top(id) : OpId{};
      if (!outer.valid() || plan_.products.size() >= kMostLoads) continue;
      plan_.products.push_back(product(id, outer));
    }
  }

  ProductPlan product(OpId id, OpId outer) {
    const Op& each = op(id);
    ProductPlan plan;
    plan.op = outer;
    const std::vector<ValueId> operands = plain_operands(each);
    plan.stage = plan.wait_stage = stage(outer).value_or(0);
    plan.wait = order(outer);
    if (operands.size() < 3) return plan;
    const OpId made = module_.value(operands[2]).definer;
    if (!made.valid() || present_name(op(made).name) != "ttng.tmem_alloc") return plan;
    plan.accumulator = made;
    const std::int64_t latency = each.integer("tt.self_latency", 0);
    if (latency == 0) return plan;

    std::optional<OpId> sync;
    const auto earliest = [&](OpId candidate) {
      if (!sync || order(candidate) < order(*sync)) sync = candidate;
    };
    const ValueId storage = op(made).results.front();
    for (const OpId reader : places_.readers(storage))
      if (op(reader).name.ends_with(".tmem_load") && module_.op(reader).parent == each.parent) earliest(reader);
    bool known = true;
    std::vector<OpId> late;
    const bool scaled = each.name.ends_with("_scaled");
    for (std::size_t k : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{4}}) {
      if (k >= 3 && (!scaled || k >= operands.size())) continue;
      if (const OpId found = late_operand(operands[k], plan.stage, known); found.valid()) late.push_back(found);
    }
    for (const OpId found : late) {
      if (present_name(op(found).name) == "ttg.local_alloc" || present_name(op(found).name) == "ttng.tmem_alloc")
        plan_.hoisted.push_back(found);
      if (known && top(found) == found) earliest(found);
    }
    plan.wait_stage = plan.stage + latency;
    if (sync && known) {
      plan.wait_stage = order(*sync) < order(outer) ? plan.stage + 1 : order(*sync).stage;
      plan.wait = order(*sync);
    }
    plan.wait.stage = plan.wait_stage;
    plan.barriers = std::max<std::int64_t>(1, plan.wait_stage - plan.stage + 1);
    for (const OpId found : late)
      if (is_load(op(found).name) && plan.wait_stage > plan.stage)
        for (const OpId reader : places_.readers(op(found).results.front()))
          if (fills(op(reader))) plan_.outlasting.emplace_back(reader, plan.wait_stage - plan.stage);

    std::optional<OpId> first, last;
    for (const OpId reader : places_.readers(storage)) {
      const OpId user = top(reader);
      if (!user.valid()) continue;
      if (!first || order(user) < order(*first)) first = user;
      if (!last || order(*last) < order(user)) last = user;
    }
    if (first && last) {
      plan.copies = order(*last).stage - order(*first).stage;
      const Position a = order(*first), b = order(*last);
      if (a.cluster < b.cluster || (a.cluster == b.cluster && a.place < b.place)) ++plan.copies;
      plan.copies = std::max<std::int64_t>(1, plan.copies);
    }
    return plan;
  }

  const TritonProgram& program_;
  const mlir::Module& module_;
  const Places& places_;
  const mlir::Block* body_ = nullptr;
  std::optional<Neighbours> neighbours_;  ///< made where a load by pointer asks
  std::map<OpId, std::int64_t> latencies_;
  LoopPlan plan_;
};

}  // namespace

std::vector<ValueId> plain_operands(const Op& op) {
  std::vector<ValueId> out;
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    if (i >= op.bracketed.size() || !op.bracketed[i]) out.push_back(op.operands[i]);
  return out;
}

bool is_descriptor_load(std::string_view name) {
  return name == "tt.descriptor_load" || name == "tt.descriptor_gather" || name == "tt.experimental_descriptor_load" ||
         name == "tt.experimental_descriptor_gather";
}

bool fills_with_zeros(const mlir::Module& module, const Op& load) {
  return load.name != "tt.load" || load.operands.size() < 3 || is_zero(module, load.operands[2]);
}

std::int64_t load_alignment(const TritonProgram& program, const Places& places, const Op& load) {
  if (load.results.empty()) return 16;
  if (is_descriptor_load(load.name) && !load.operands.empty() &&
      program.type(load.operands.front()).layout.kind == TritonLayout::Kind::SharedNvmma)
    return alignment_of(program.type(load.operands.front()), false);
  for (const OpId id : places.readers(load.results.front())) {
    const Op& reader = program.module->op(id);
    if (present_name(reader.name) == "ttg.local_alloc" && reader.operands.size() == 1 && !reader.results.empty())
      return alignment_of(program.type(reader.results.front()), reader.name.starts_with("triton_gpu."));
  }
  return is_descriptor_load(load.name) ? 1024 : 16;
}

LoopPlan plan_of_loop(const TritonProgram& program, const Places& places, OpId loop) { return LoopPlanner(program, places, loop).run(); }

}  // namespace heddle::triton
