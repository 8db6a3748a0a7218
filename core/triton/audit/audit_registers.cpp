// How many registers of a thread hold tiles at the fullest place of a loop: layouts say exactly what each tile takes, and the text says
// how long each is alive. Addresses, flags and loop control come on top. What arithmetic makes of loaded tiles ptxas may take element by
// element, so that it need not be there whole; sums, results of mmas and what a wgmma reads must be.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/triton/audit/audit_parts.h"
#include "core/triton/read/flow.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

constexpr std::int64_t kBesideTiles = 24;  ///< addresses, loop control: what kernels without tiles take
constexpr std::int64_t kStepBits = 256;    ///< of a row that one mma.sync takes: m16n8k16 for 16 bits

struct Live {
  std::int64_t from = 0, until = -1;  ///< places in the block; -1 before it
  std::int64_t registers = 0;
  bool into_product = false;
  bool whole = false;  ///< it must be there with all its elements at once
};

class Registers {
 public:
  Registers(const TritonProgram& program, const LoopSite& loop)
      : program_(program), module_(*program.module), body_(*module_.body(loop.op)), loop_(module_.op(loop.op)) {
    const mlir::BlockId parent = loop_.parent;
    warps_ = program.num_warps;
    if (parent.valid())
      if (const mlir::Region& region = module_.region(module_.block(parent).parent); region.warps > 0) warps_ = region.warps;
  }

  std::int64_t warps() const { return warps_; }

  void run() {
    for (const mlir::ValueId argument : body_.arguments) define(argument, -1);
    const auto count = static_cast<std::int64_t>(body_.ops.size());
    for (std::int64_t at = 0; at < count; ++at) {
      const mlir::Op& op = module_.op(body_.ops[static_cast<std::size_t>(at)]);
      const OpWord* word = find_op(op.name);
      // The sum of an mma stays where it is; what it multiplies must outlast it.
      for (std::size_t i = 0; i < op.operands.size(); ++i)
        use(op.operands[i], op.name == "scf.yield" ? count : at, i < 2 && word && word->role == OpRole::Product);
      if (!in_registers(op)) continue;
      for (const mlir::ValueId result : op.results) define(result, at);
    }
    for (std::int64_t at = 0; at < count; ++at) {
      std::int64_t sum = 0;
      for (const auto& [value, live] : live_)
        if (alive(live, at)) sum += live.registers;
      if (sum > most_) most_ = sum, where_ = at;
      std::int64_t whole = 0;
      for (const auto& [value, live] : live_)
        if (live.whole && alive(live, at)) whole += live.registers;
      whole_ = std::max(whole_, whole);
    }
  }

  std::int64_t most() const { return most_; }
  /// Of tiles that must be there whole.
  std::int64_t whole() const { return whole_; }
  const mlir::Op& where() const { return module_.op(body_.ops[static_cast<std::size_t>(where_)]); }
  mlir::OpId where_id() const { return body_.ops[static_cast<std::size_t>(where_)]; }
  /// The largest tiles there: "%acc_5 128x128 f32: 64".
  std::vector<std::string> holders() const {
    std::vector<std::pair<std::int64_t, std::string>> list;
    for (const auto& [value, live] : live_)
      if (alive(live, where_))
        list.emplace_back(live.registers,
                          fmt::format("%{}, {}: {}", module_.value(value).name, program_.type(value).tile.text(), live.registers));
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> lines;
    for (const auto& [registers, line] : list) lines.push_back(line);
    return lines;
  }

 private:
  /// After an op: made by then, read later. Operands of an mma must outlast it.
  static bool alive(const Live& live, std::int64_t at) {
    return live.from <= at && (live.until > at || (live.into_product && live.until == at));
  }

  /// A load that fills memory leaves nothing in registers.
  bool in_registers(const mlir::Op& op) const {
    const OpWord* word = find_op(op.name);
    if (!word) return true;
    if (word->role == OpRole::Constant || word->role == OpRole::DescriptorLoad || word->role == OpRole::Gather) return false;
    if (word->role != OpRole::PointerLoad) return true;
    const auto stage = stage_of(op);
    for (const mlir::OpId id : body_.ops) {
      const mlir::Op& reader = module_.op(id);
      const bool reads = std::any_of(reader.operands.begin(), reader.operands.end(), [&](mlir::ValueId v) {
        return std::find(op.results.begin(), op.results.end(), v) != op.results.end();
      });
      const auto read_in = stage_of(reader);
      if (reads && (!stage || !read_in || *read_in == *stage)) return true;
    }
    return false;
  }

  /// What is really held where a view is named; invalid: nothing.
  mlir::ValueId root(mlir::ValueId value) const {
    for (int step = 0; step < 64; ++step) {
      const mlir::OpId definer = module_.value(value).definer;
      if (!definer.valid()) return value;
      const mlir::Op& op = module_.op(definer);
      const OpWord* word = find_op(op.name);
      if (word && word->role == OpRole::Constant) return {};
      if (!word || word->role != OpRole::View || op.name == "ttg.convert_layout" || op.operands.empty()) return value;
      if (!program_.type(op.operands.front()).tile.tile()) return {};  // a scalar in every element
      value = op.operands.front();
    }
    return value;
  }

  void define(mlir::ValueId value, std::int64_t at) {
    if (root(value) != value || !is_number_tile(program_.type(value))) return;
    if (program_.type(value).tile.space != dump::TileType::Space::Register) return;
    const std::int64_t registers = at_once(value);
    const mlir::OpId definer = module_.value(value).definer;
    const OpWord* word = definer.valid() ? find_op(module_.op(definer).name) : nullptr;
    const bool product = definer.valid() && (module_.op(definer).name == "tt.dot" || (word && word->role == OpRole::Product));
    const bool carried = !definer.valid() || at < 0;
    if (registers > 0) live_[value] = {at, at, registers, false, product || (carried && !by_pieces(value))};
  }

  /// An operand of mma.sync that passes through shared memory: it is read from there for each instruction.
  bool by_pieces(mlir::ValueId value) const {
    const TritonLayout& layout = program_.type(value).layout;
    const mlir::OpId definer = module_.value(value).definer;
    if (layout.kind != TritonLayout::Kind::DotOperand || layout.parent.empty() || layout.parent.front().version != 2) return false;
    if (!definer.valid()) return false;
    const mlir::Op& op = module_.op(definer);
    const std::string name = present_name(op.name);
    return name == "ttg.local_load" ||
           (name == "ttg.convert_layout" && needs_shared_memory(program_.operand_type(op, 0), program_.type(value)));
  }

  /// Registers that a tile takes at once: of what comes by pieces, those of two steps along the sum, one in use and one on its way.
  std::int64_t at_once(mlir::ValueId value) const {
    const Type& type = program_.type(value);
    const std::int64_t all = registers_per_thread(type, warps_);
    if (!by_pieces(value) || type.tile.shape.size() < 2) return all;
    const std::int64_t sum = type.tile.shape[type.tile.shape.size() - (type.layout.op_idx == 0 ? 1 : 2)];
    const std::int64_t step = kStepBits / std::max<std::int64_t>(1, type.tile.bits);
    return sum <= 2 * step ? all : std::max<std::int64_t>(1, all * 2 * step / sum);
  }

  void use(mlir::ValueId value, std::int64_t at, bool into_product) {
    const mlir::ValueId held = root(value);
    if (!held.valid()) return;
    auto it = live_.find(held);
    if (it == live_.end()) {
      const mlir::OpId definer = module_.value(held).definer;
      const bool here = definer.valid() && std::find(body_.ops.begin(), body_.ops.end(), definer) != body_.ops.end();
      if (here) return;
      define(held, -1);  // from outside: there in every iteration
      it = live_.find(held);
      if (it == live_.end()) return;
      it->second.until = static_cast<std::int64_t>(body_.ops.size());
    }
    if (at >= it->second.until) it->second.until = at, it->second.into_product = into_product;
    it->second.whole |= into_product;
  }

  const TritonProgram& program_;
  const mlir::Module& module_;
  const mlir::Block& body_;
  const mlir::Op& loop_;
  std::int64_t warps_ = 4;
  std::map<mlir::ValueId, Live> live_;
  std::int64_t most_ = 0, where_ = 0, whole_ = 0;
};

}  // namespace

std::optional<Finding> audit_registers(const TritonProgram& program, const LoopSite& loop, const Machine& machine) {
  const mlir::Block* body = program.module->body(loop.op);
  if (!body || body->ops.empty() || body->ops.size() > 4096) return std::nullopt;
  // Operands of mma.sync are loaded piece by piece, and a loop that is still to be divided will hold less in each group.
  if (program.target < 90 || (loop.wants_specialization && loop.partition.empty())) return std::nullopt;
  Registers registers(program, loop);
  registers.run();
  if (registers.most() == 0) return std::nullopt;
  const std::int64_t threads = std::max<std::int64_t>(1, std::max(program.num_warps, registers.warps()) * machine.limits.threads_per_warp);
  const std::int64_t limit = std::min(machine.limits.registers_per_thread, machine.limits.registers_per_sm / threads);
  Finding finding{"registers", RowMark::Fine, {}, {}, {registers.where_id()}};
  finding.sentence = fmt::format("{} of {} registers of a thread hold tiles at the fullest place, line {}", registers.most(), limit,
                                 registers.where().line);
  if (registers.most() + kBesideTiles > limit) {
    finding.weight = RowMark::Waste;
    finding.sentence += registers.whole() > limit  ? ": the compiler must spill"
                        : registers.most() > limit ? fmt::format(
                                                         ": {} of them must be there whole, and whether the compiler takes the others "
                                                         "piece by piece is not known: look for spills (ptxas -v)",
                                                         registers.whole())
                                                   : ": with addresses and loop control it will be tight, look for spills (ptxas -v)";
    finding.details = registers.holders();
  }
  return finding;
}

}  // namespace heddle::triton
