// The plan of a scheduled text: rings in front of their loops, barriers, tiles that a copy by TMA fills or empties, and what the text has
// already. What later passes do, restated from Triton's SoftwarePipeliner, TMAStoresPipeline, TMALowering, MMALowering and
// ReduceDataDuplication (2025 and 2026):
// - A load by descriptor that is not pipelined gets a tile and a barrier of its own. An allocation that only takes it in is that tile.
// - A store by descriptor goes through a tile in shared memory; in a loop one tile of each shape serves all, from before the loop on.
// - An mma of tensor memory that nobody waits for later gets a barrier for the moment.
// - An accumulator that begins empty is allocated where it is used first.
// - A conversion in front of a store to shared memory vanishes, and so does one of a value that is read from shared memory.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "core/base/saturate.h"
#include "core/base/text_style.h"
#include "core/triton/memory/partitions.h"
#include "core/triton/memory/pipeline.h"
#include "core/triton/memory/plan.h"
#include "core/triton/memory/row_layouts.h"
#include "core/triton/memory/scratch.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

using dump::TileType;
using mlir::Op;
using mlir::OpId;
using mlir::ValueId;

constexpr std::size_t kMostPlanned = 1000;

bool is_descriptor_store(std::string_view name) {
  return name == "tt.descriptor_store" || name == "tt.descriptor_reduce" || name == "tt.descriptor_scatter" ||
         name == "tt.experimental_descriptor_store" || name == "tt.experimental_descriptor_scatter";
}

class ScheduledPlanner {
 public:
  ScheduledPlanner(const TritonProgram& program, const Places& places)
      : program_(program), module_(*program.module), places_(places), rows_(program, places) {}

  MemoryPlan run() {
    if (program_.form == TextForm::Partitioned) partitions();
    for (const LoopSite& site : program_.loops)
      if (module_.op(site.op).name == "scf.for") loop(plan_of_loop(program_, places_, site.op));
    for (const LoopSite& site : program_.loops)
      if (site.products > 0) products_before(site.op);
    for (std::size_t i = 0; i < module_.ops.size() && explicit_.size() < kMostPlanned; ++i) allocation(OpId(i));
    // In the order in which they are made, as the allocator sees them.
    std::ranges::stable_sort(explicit_, [](const Made& a, const Made& b) { return a.piece.life.begin < b.piece.life.begin; });
    for (Made& made : explicit_) plan_.add(std::move(made.buffer), made.piece);
    add_warp_states(plan_, program_, places_);
    if (captured_) plan_.add(captured_->buffer, captured_->piece);
    for (std::size_t i = 0; i < module_.ops.size() && plan_.shared.size() < kMostPlanned; ++i) momentary(OpId(i));
    if (program_.form != TextForm::Partitioned) sink_tensor_allocations();
    tie_rows(plan_, program_, places_);
    return std::move(plan_);
  }

 private:
  struct Made {
    TritonBuffer buffer;
    MemoryPiece piece;
  };

  const Op& op(OpId id) const { return module_.op(id); }
  const Type& type(ValueId id) const { return program_.type(id); }

  Life whole_loop(OpId loop) const { return {places_.begins(loop), places_.at(loop) + Places::kStep}; }

  /// Of a buffer in shared memory.
  struct Slots {
    std::int64_t count, bytes, alignment;
  };

  TritonBuffer& make(TritonBuffer::What what, OpId id, std::string why, const Slots& slots, Life life) {
    TritonBuffer buffer;
    buffer.what = what;
    buffer.op = id;
    buffer.name = name_of(program_, id);
    buffer.why = std::move(why);
    buffer.slots = slots.count;
    buffer.bytes = slots.bytes;
    explicit_.push_back({std::move(buffer), piece_at(places_, id, sat_mul(slots.count, slots.bytes), slots.alignment, life)});
    return explicit_.back().buffer;
  }

  /// Where a loop goes on from what an mma of wgmma in front of it gave, the wait behind the loop names that mma's operands too:
  /// they stay until then.
  void products_before(OpId loop) {
    std::vector<ValueId> open(op(loop).operands.begin(), op(loop).operands.end());
    std::set<std::size_t> seen;
    while (!open.empty() && seen.size() < 4096) {
      const OpId made = module_.value(open.back()).definer;
      open.pop_back();
      if (!made.valid() || !seen.insert(made.index()).second || op(made).parent != op(loop).parent) continue;
      const Op& maker = op(made);
      if (!maker.name.ends_with(".warp_group_dot")) {
        if (maker.regions.empty()) open.insert(open.end(), maker.operands.begin(), maker.operands.end());
        continue;
      }
      for (std::size_t k = 0; k < 2 && k < maker.operands.size(); ++k)
        if (const OpId alloc = module_.value(places_.root(maker.operands[k])).definer;
            alloc.valid() && op(alloc).name.ends_with(".local_alloc")) {
          until_[alloc.index()] = places_.at(loop) + Places::kStep;
          plan_.doubt(fmt::format("line {}: what the mma in front of the loop reads is taken to stay until the loop ends", maker.line));
        }
    }
  }

  bool partitioned(OpId id) const {
    return partitions_.loop.valid() && places_.begins(partitions_.loop) <= places_.at(id) && places_.at(id) <= places_.at(partitions_.loop);
  }

  /// Rings and barriers between partitions, and what they are given.
  void partitions() {
    partitions_ = partitions_of(program_, places_);
    for (const std::string& doubt : partitions_.doubts) plan_.doubt(doubt);
    if (!partitions_.loop.valid()) return plan_.doubt("the loop is partitioned, but nothing says that it is to be specialized");
    const Life life = whole_loop(partitions_.loop);
    const Life to_the_end{life.begin, places_.at(program_.function)};
    for (const Exchange& exchange : partitions_.exchanges) {
      const std::string slots = fmt::format("{} between partitions", count_of(exchange.slots, "slot"));
      if (exchange.what == Exchange::What::Load) {
        ahead_.insert(exchange.op.index());
        between_.insert(exchange.op.index());
        for (const OpId reader : places_.readers(op(exchange.op).results.front()))
          if (present_name(op(reader).name) == "ttg.local_alloc" && op(reader).operands.size() == 1) replaced_.insert(reader.index());
        make(TritonBuffer::What::Ring, exchange.op, slots,
             {exchange.slots, exchange.type.tile.bytes(), load_alignment(program_, places_, op(exchange.op))}, life);
      } else if (exchange.what == Exchange::What::Tensor) {
        copies_[exchange.op.index()] = exchange.slots;
        if (partitioned(exchange.op)) hoisted_[exchange.op.index()] = partitions_.loop;
      } else {
        make(TritonBuffer::What::Ring, exchange.op, slots, {1, exchange.type.tile.bytes(), 16}, life);
      }
      for (const char* which : {"full", "empty"})
        if (exchange.barriers)
          make(TritonBuffer::What::Barriers, exchange.op, fmt::format("a barrier for each slot: it is {}", which), {exchange.slots, 8, 16},
               to_the_end);
    }
    for (const Type& left : partitions_.left)
      make(TritonBuffer::What::Operand, partitions_.loop, "what a partition leaves to the ops behind the loop", {1, left.tile.bytes(), 16},
           {life.begin, life.end + Places::kStep});
    if (partitions_.captured_bytes <= 0) return;
    TritonBuffer buffer;
    buffer.what = TritonBuffer::What::Scratch;
    buffer.op = partitions_.loop;
    buffer.name = "captures";
    buffer.bytes = partitions_.captured_bytes;
    buffer.why = fmt::format("{} values are handed to the partitions", partitions_.captured);
    // Read when the partitions begin, together with all that they use.
    const Life moment{places_.at(partitions_.loop) - 1, places_.at(partitions_.loop) + Places::kStep};
    captured_ = Made{buffer, piece_at(places_, partitions_.loop, buffer.bytes, 8, moment)};
  }

  void loop(const LoopPlan& plan) {
    Life life = whole_loop(plan.loop);
    if (partitioned(plan.loop)) {
      life.end = std::min(life.end, places_.at(partitions_.loop) - 1);  // of the partition's own loop
      // What is not handed to another partition is pipelined as ever.
      std::vector<LoadPlan> own;
      for (const LoadPlan& load : plan.loads)
        if (!ahead_.count(load.op.index())) own.push_back(load);
      return rings(own, life);
    }
    for (const ProductPlan& product : plan.products) {
      if (product.barriers > 0) {
        pipelined_products_.insert(product.op.index());
        make(TritonBuffer::What::Barriers, product.op,
             fmt::format("{}: the mma is issued in stage {} and waited for in stage {}", count_of(product.barriers, "barrier"),
                         product.stage, product.wait_stage),
             {product.barriers, 8, 16}, life);
      }
      if (product.accumulator.valid() && product.copies > 1) copies_[product.accumulator.index()] = product.copies;
    }
    for (const OpId id : plan.hoisted) hoisted_[id.index()] = plan.loop;
    for (const auto& [id, iterations] : plan.outlasting) outlasting_[id.index()] = {plan.loop, iterations};
    rings(plan.loads, life);
  }

  void rings(const std::vector<LoadPlan>& loads, Life life) {
    std::set<int> groups;
    for (const LoadPlan& load : loads) {
      if (load.slots == 0) continue;
      ahead_.insert(load.op.index());
      for (const OpId id : load.replaced) replaced_.insert(id.index());
      make(TritonBuffer::What::Ring, load.op, load.why, {load.slots, load.bytes, load.alignment}, life);
    }
    for (const LoadPlan& load : loads)
      if (load.group >= 0 && load.slots > 0 && groups.insert(load.group).second)
        make(TritonBuffer::What::Barriers, load.op, fmt::format("{} barriers, one for each slot", load.slots), {load.slots, 8, 16}, life);
  }

  /// A load by descriptor outside of the pipeline.
  void copied_tile(OpId id, const Op& load) {
    const ValueId value = load.results.front();
    Life life = places_.moment(id);
    bool only_memory = true;
    for (const OpId reader : places_.readers(value)) {
      const Op& each = op(reader);
      const bool same = present_name(each.name) == "ttg.local_alloc" && each.operands.size() == 1 && !load.operands.empty() &&
                        (type(load.operands.front()).layout.kind == TritonLayout::Kind::None ||
                         type(load.operands.front()).layout == type(each.results.front()).layout);
      if (!same) {
        only_memory = false;
        continue;
      }
      replaced_.insert(reader.index());
      life.end = std::max(life.end, places_.life(reader, each.results.front()).end);
    }
    const bool in_loop = loop_around(id).valid();
    make(only_memory && !in_loop ? TritonBuffer::What::Resident : TritonBuffer::What::Operand, id,
         in_loop ? "loaded and waited for in one iteration: its latency is exposed" : "loaded once",
         {1, type(value).tile.bytes(), load_alignment(program_, places_, load)}, life)
        .synchronous = in_loop;
    make(TritonBuffer::What::Barriers, id, "a barrier for one copy", {1, 8, 16}, places_.moment(id));
  }

  OpId loop_around(OpId id) const {
    for (OpId around = module_.around(id); around.valid(); around = module_.around(around))
      if (op(around).name == "scf.for") return around;
    return {};
  }

  void staged_store(OpId id, const Op& store) {
    // "%desc[%i, %j], %tile" or with offsets: the tile is the last operand that is one.
    const Type* tile = nullptr;
    for (const ValueId operand : store.operands)
      if (type(operand).tile.space == TileType::Space::Register && type(operand).tile.shape.size() >= 2) tile = &type(operand);
    if (!tile)
      for (const ValueId operand : store.operands)
        if (type(operand).tile.space == TileType::Space::Register) tile = &type(operand);
    if (!tile) return;
    const Type& descriptor = type(store.operands.front());
    const std::int64_t alignment = descriptor.layout.kind == TritonLayout::Kind::SharedNvmma ? alignment_of(descriptor, false) : 1024;
    const OpId loop = loop_around(id);
    const bool pipelined = loop.valid() && op(loop).integer("tt.num_stages", program_.metadata.num_stages.value_or(3)) > 1;
    if (!pipelined) {
      make(TritonBuffer::What::Operand, id, "the tile on its way to global memory", {1, tile->tile.bytes(), alignment}, places_.moment(id));
      return;
    }
    // In a partition it is gone before the partitions end.
    Life life = whole_loop(loop);
    if (partitioned(id)) life.end = places_.at(partitions_.loop) - 1;
    if (!staging_.insert({loop.index(), tile->tile.text()}).second) return;
    make(TritonBuffer::What::Operand, id, "the tile on its way to global memory, kept through the loop", {1, tile->tile.bytes(), alignment},
         life);
  }

  void allocation(OpId id) {
    const Op& each = op(id);
    const std::string name = present_name(each.name);
    if (is_descriptor_load(each.name) && !each.results.empty() && !ahead_.contains(id.index())) copied_tile(id, each);
    if (is_descriptor_store(each.name) && !each.operands.empty()) staged_store(id, each);
    if (each.results.empty()) {
      return product_at_once(id, each, name);
    }
    if (name == "ttg.local_alloc" && !replaced_.contains(id.index())) {
      const Type& made = type(each.results.front());
      const auto moved = hoisted_.find(id.index());
      const auto lasting = outlasting_.find(id.index());
      Life life = moved != hoisted_.end()        ? whole_loop(moved->second)
                  : lasting != outlasting_.end() ? whole_loop(lasting->second.first)
                                                 : places_.life(id, each.results.front());
      if (const auto until = until_.find(id.index()); until != until_.end()) life.end = std::max(life.end, until->second);
      // Those of the iterations before are different pieces, since each was allocated where it was filled.
      for (std::int64_t k = 0; lasting != outlasting_.end() && k < std::min<std::int64_t>(lasting->second.second, 8); ++k)
        make(TritonBuffer::What::Operand, id, "of the iteration before: its mma may still be reading",
             {1, made.tile.bytes(), alignment_of(made, false)}, life);
      const bool ring = each.operands.empty() && made.tile.shape.size() > (made.barrier ? 1u : 2u);
      const std::int64_t slots = ring ? std::max<std::int64_t>(1, made.tile.shape.front()) : 1;
      make(made.barrier            ? TritonBuffer::What::Barriers
           : each.operands.empty() ? TritonBuffer::What::Ring
           : resident(id)          ? TritonBuffer::What::Resident
                                   : TritonBuffer::What::Operand,
           id,
           made.barrier            ? "barriers"
           : each.operands.empty() ? count_of(slots, "slot")
                                   : "a tile stored for an mma",
           {slots, made.tile.bytes() / slots, each.integer("alignment", alignment_of(made, each.name.starts_with("triton_gpu.")))}, life);
    }
    if (name == "ttng.tmem_alloc") {
      const auto moved = hoisted_.find(id.index());
      const auto copies = copies_.find(id.index());
      plan_.add(tensor_alloc(program_, places_, id,
                             moved == hoisted_.end() ? places_.life(id, each.results.front()) : whole_loop(moved->second),
                             copies == copies_.end() ? 1 : copies->second));
    }
    product_at_once(id, each, name);
  }

  /// When a use comes first: in front of its loop by stage and cluster, but for the last stage, which begins with the loop.
  using FirstUse = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  FirstUse first_use(OpId alloc, OpId reader) const {
    const OpId loop = loop_around(reader);
    if (!loop.valid()) return {places_.at(reader), 0, 0, 0};
    const Op& use = op(outermost(reader));
    const std::int64_t stage = use.integer("loop.stage", 0), last = op(loop).integer("tt.scheduled_max_stage", 0);
    if (stage >= last) return {places_.begins(loop), last, 0, places_.at(alloc)};
    return {places_.begins(loop), stage, use.integer("loop.cluster", 0), places_.at(reader)};
  }

  /// Tensor memory is given out in the order of the allocations, and Triton moves those that begin empty down to their first use.
  void sink_tensor_allocations() {
    std::vector<FirstUse> when;
    for (const TritonBuffer& buffer : plan_.tensor_buffers) {
      const Op& alloc = op(buffer.op);
      const OpId loop = loop_around(buffer.op);
      const bool stays = !alloc.operands.empty() && !hoisted_.contains(buffer.op.index());
      FirstUse first = loop.valid() ? FirstUse{places_.begins(loop), std::numeric_limits<std::int64_t>::max(), 0, places_.at(buffer.op)}
                                    : FirstUse{places_.at(buffer.op), 0, 0, 0};
      if (!stays) {
        std::optional<FirstUse> found;
        for (const ValueId name : places_.names(alloc.results.front()))
          for (const OpId reader : places_.readers(name)) {
            const std::string& user = op(reader).name;
            if (is_view(user) || user.starts_with("scf.")) continue;
            if (const FirstUse use = first_use(buffer.op, reader); !found || use < *found) found = use;
          }
        first = found.value_or(first);
      }
      when.push_back(first);
    }
    std::vector<std::size_t> order(when.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return when[a] < when[b]; });
    std::vector<TensorPiece> pieces;
    std::vector<TritonBuffer> buffers;
    for (const std::size_t i : order) {
      pieces.push_back(plan_.tensor[i]);
      buffers.push_back(std::move(plan_.tensor_buffers[i]));
    }
    plan_.tensor = std::move(pieces);
    plan_.tensor_buffers = std::move(buffers);
  }

  bool resident(OpId id) const { return !loop_around(id).valid(); }

  /// Whether a tile comes through a ring from another partition: that one is told when an mma has read it, and the mma is not
  /// waited for.
  bool from_other_partition(ValueId value) const {
    for (int i = 0; i < 32; ++i) {
      const OpId made = module_.value(value).definer;
      if (!made.valid()) return false;
      if (between_.contains(made.index())) return true;
      const Op& maker = op(made);
      if (maker.operands.empty() || (!is_view(maker.name) && present_name(maker.name) != "ttg.local_alloc")) return false;
      value = maker.operands.front();
    }
    return false;
  }

  void product_at_once(OpId id, const Op& each, std::string_view name) {
    if (!name.starts_with("ttng.tc_gen5_mma") || pipelined_products_.contains(outermost(id).index()) ||
        pipelined_products_.contains(id.index()) || each.find("is_async"))
      return;
    if (partitioned(id) && std::ranges::any_of(each.operands, [&](ValueId operand) { return from_other_partition(operand); })) return;
    make(TritonBuffer::What::Barriers, id, "a barrier for an mma that is waited for at once", {1, 8, 16}, places_.moment(id));
  }

  /// The op of its loop's block that holds an op.
  OpId outermost(OpId id) const {
    const OpId loop = loop_around(id);
    while (module_.around(id) != loop && module_.around(id).valid()) id = module_.around(id);
    return id;
  }

  /// Whether every reader takes the value from shared memory anyway.
  bool only_stored(const Op& each) const {
    const std::vector<OpId>& readers = places_.readers(each.results.front());
    return !readers.empty() && std::ranges::all_of(readers, [&](OpId reader) {
      const std::string name = present_name(op(reader).name);
      return is_descriptor_store(name) || name == "ttg.local_alloc" || name == "ttg.local_store";
    });
  }

  /// Through views and casts, which a value read from shared memory takes in any layout.
  bool comes_from_ring(ValueId value) const {
    for (int i = 0; i < 32; ++i) {
      const OpId made = module_.value(value).definer;
      if (!made.valid()) return false;
      if (ahead_.contains(made.index()) || is_descriptor_load(op(made).name)) return fills_with_zeros(module_, op(made));
      const std::string name = present_name(op(made).name);
      const bool view = name == "tt.expand_dims" || name == "tt.broadcast" || name == "ttg.convert_layout" || name == "arith.extf" ||
                        name == "arith.truncf" || name == "tt.fp_to_fp";
      if (!view || op(made).operands.empty()) return false;
      value = op(made).operands.front();
    }
    return false;
  }

  /// Scratch while an op runs.
  void momentary(OpId id) {
    const Op& each = op(id);
    if (each.name.starts_with("ttg.warp_specialize")) return add_specialize(plan_, program_, places_, id);
    if (present_name(each.name) == "ttg.convert_layout" && !each.results.empty() && !each.operands.empty()) {
      if (only_stored(each)) return;
      if (comes_from_ring(each.operands.front())) return;
      const Type& from = type(each.operands.front());
      const Type& to = type(each.results.front());
      if (to.layout.kind == TritonLayout::Kind::DotOperand && needs_shared_memory(from, to)) {
        TritonBuffer buffer;
        buffer.what = TritonBuffer::What::Operand;
        buffer.op = id;
        buffer.name = name_of(program_, id);
        buffer.bytes = to.tile.bytes();
        buffer.why = "an operand of an mma passes through shared memory";
        // It is read again by every mma: in a loop behind, until that ends.
        plan_.add(std::move(buffer), piece_at(places_, id, to.tile.bytes(), 16, places_.life(id, each.results.front())));
        return doubt_in_branch(id, each);
      }
    }
    const std::size_t before = plan_.shared.size();
    rows_.scratch(plan_, id);
    if (plan_.shared.size() == before || present_name(each.name) != "ttg.convert_layout") return;
    if (moves_with_products(id, each))
      plan_.doubt(fmt::format("line {}: later passes may move or drop the conversion of a tile in a loop with mmas", each.line));
    doubt_in_branch(id, each);
  }

  void doubt_in_branch(OpId id, const Op& each) {
    const OpId around = module_.around(id);
    if (around.valid() && op(around).name == "scf.if" && loop_around(id).valid())
      plan_.doubt(fmt::format("line {}: later passes move the conversion of a tile out of its branch, or into parts", each.line));
  }

  /// A conversion of a whole tile in a loop that multiplies: where it is in the end depends on what its neighbours become.
  bool moves_with_products(OpId id, const Op& each) const {
    const std::vector<std::int64_t>& shape = type(each.results.front()).tile.shape;
    if (shape.size() < 2 || shape.back() == 1) return false;
    const OpId loop = loop_around(id);
    return loop.valid() && std::ranges::any_of(program_.loops, [&](const LoopSite& site) { return site.op == loop && site.products > 0; });
  }

  const TritonProgram& program_;
  const mlir::Module& module_;
  const Places& places_;
  const RowLayouts rows_;
  Partitions partitions_;
  std::optional<Made> captured_;
  MemoryPlan plan_;
  std::vector<Made> explicit_;
  std::set<std::size_t> ahead_, between_, replaced_, pipelined_products_;
  std::map<std::size_t, OpId> hoisted_;
  std::map<std::size_t, std::pair<OpId, std::int64_t>> outlasting_;
  std::map<std::size_t, std::int64_t> copies_, until_;
  std::set<std::pair<std::size_t, std::string>> staging_;
};

}  // namespace

MemoryPlan plan_of_scheduled(const TritonProgram& program, const Places& places) { return ScheduledPlanner(program, places).run(); }

}  // namespace heddle::triton
