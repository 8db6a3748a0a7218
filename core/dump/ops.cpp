#include "core/dump/ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/saturate.h"
#include "core/base/scanner.h"

namespace heddle::dump {
namespace {

constexpr int kHops = 8;  ///< steps back through a program when looking for a name

struct Word {
  const char* kind;    ///< without its dialect
  const char* word;    ///< for names; empty: the kind itself
  const char* native;  ///< kind of core/kernel/op_kind.h
  bool view;
};

constexpr Word kWords[] = {
    {"descriptor_load", "load", "tma_load", false},
    {"descriptor_gather", "gather", "gather", false},
    {"async_tma_copy_global_to_local", "load", "tma_load", false},
    {"descriptor_store", "store", "tma_store", false},
    {"async_tma_copy_local_to_global", "store", "tma_store", false},
    {"descriptor_reduce", "reduce_add", "atomic_add", false},
    {"load", "load", "load", false},
    {"store", "store", "store", false},
    {"tc_gen5_mma", "mma", "mma", false},
    {"tc_gen5_mma_scaled", "mma", "mma", false},
    {"warp_group_dot", "mma", "mma", false},
    {"dot", "mma", "mma", false},
    {"tmem_load", "", "tmem_load", false},
    {"tmem_store", "", "tmem_store", false},
    {"local_load", "smem_load", "smem_load", false},
    {"local_store", "smem_store", "smem_store", false},
    {"local_alloc", "smem_alloc", "copy", true},
    {"tmem_alloc", "", "copy", true},
    {"memdesc_trans", "transpose", "copy", true},
    {"memdesc_subview", "subview", "copy", true},
    {"memdesc_index", "subview", "copy", true},
    {"memdesc_reshape", "reshape", "copy", true},
    {"memdesc_reinterpret", "reinterpret", "copy", true},
    {"convert_layout", "", "copy", false},
    {"expand_dims", "", "broadcast", true},
    {"broadcast", "", "broadcast", true},
    {"splat", "", "broadcast", true},
    {"reshape", "", "copy", true},
    {"trans", "", "copy", true},
    {"reduce", "reduce", "reduce_sum", false},
    {"exp2", "", "exp2", false},
    {"exp", "", "exp2", false},
    {"truncf", "convert", "convert", false},
    {"extf", "convert", "convert", false},
    {"fp_to_fp", "convert", "convert", false},
    {"sitofp", "convert", "convert", false},
    {"fptosi", "convert", "convert", false},
    {"mulf", "mul", "elementwise", false},
    {"addf", "add", "elementwise", false},
    {"subf", "sub", "elementwise", false},
    {"divf", "div", "elementwise", false},
    {"maxnumf", "max", "elementwise", false},
    {"maximumf", "max", "elementwise", false},
    {"minnumf", "min", "elementwise", false},
    {"minimumf", "min", "elementwise", false},
    {"for", "inner_loop", "opaque", false},
};

std::string without_dialect(const std::string& kind) { return kind.substr(kind.rfind('.') == std::string::npos ? 0 : kind.rfind('.') + 1); }

const Word* word_of(const std::string& kind) {
  const std::string plain = without_dialect(kind);
  const auto it = std::find_if(std::begin(kWords), std::end(kWords), [&](const Word& w) { return plain == w.kind; });
  return it == std::end(kWords) ? nullptr : it;
}

/// What expressions and operands accept: letters, digits, underscores.
std::string identifier(std::string text, const char* otherwise) {
  constexpr std::size_t kLongest = 40;
  if (text.size() > kLongest) text.resize(kLongest);
  for (char& c : text)
    if (!in_name(c)) c = '_';
  return text.empty() ? otherwise : text;
}

bool is_load(const OpInfo& op) {
  const Word* word = word_of(op.kind);
  return word && (std::string_view(word->native) == "tma_load" ||
                  (std::string_view(word->native) == "load" && !op.results.empty() && op.results[0].tile()));
}

bool is_store(const OpInfo& op) {
  const Word* word = word_of(op.kind);
  return word && (std::string_view(word->native) == "tma_store" || std::string_view(word->native) == "store");
}

bool is_mma(const OpInfo& op) {
  const Word* word = word_of(op.kind);
  return word && std::string_view(word->native) == "mma";
}

/// The argument of the kernel that a descriptor or pointer comes from; empty when the way is long.
std::string origin(const OpTable& table, const OpInfo& op) {
  const OpInfo* at = &op;
  for (int hop = 0; hop < kHops && !at->operands.empty(); ++hop) {
    const OperandRef& first = at->operands[0];
    if (first.kind == OperandRef::Kind::Arg) return identifier(first.arg, "");
    if (first.kind != OperandRef::Kind::Op) return {};
    at = &table.ops[first.op];
  }
  return {};
}

/// "max" or "sum" of a reduction: the op that its region returns stands right before it.
std::string combiner(const OpTable& table, std::size_t op) {
  if (op == 0 || !table.ops[op - 1].kind.ends_with("reduce.return") || table.ops[op - 1].operands.empty()) return {};
  const OperandRef& returned = table.ops[op - 1].operands[0];
  if (returned.kind != OperandRef::Kind::Op) return {};
  const Word* word = word_of(table.ops[returned.op].kind);
  if (!word || !*word->word) return {};
  return std::string_view(word->word) == "add" ? "sum" : word->word;
}

TileType operand_type(const OpTable& table, const OpInfo& op, std::size_t position) {
  if (position >= op.operands.size() || op.operands[position].kind != OperandRef::Kind::Op) return {};
  const OperandRef& ref = op.operands[position];
  const auto& results = table.ops[ref.op].results;
  return ref.result >= 0 && static_cast<std::size_t>(ref.result) < results.size() ? results[static_cast<std::size_t>(ref.result)]
                                                                                  : TileType{};
}

/// The tile an op is about: what it defines, else (stores, products into tensor memory) what it writes or reads.
TileType tile_of(const OpTable& table, const OpInfo& op) {
  if (is_mma(op))
    if (TileType accumulator = operand_type(table, op, 2); accumulator.tile()) return accumulator;
  for (const TileType& type : op.results)
    if (type.tile()) return type;
  TileType best;
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    if (TileType type = operand_type(table, op, i); type.tile() && type.elements() > best.elements() - (best.tile() ? 0 : 1)) best = type;
  return best.tile() || op.results.empty() ? best : op.results[0];
}

std::string description(const OpTable& table, const OpInfo& op, const std::string& word, const TileType& tile) {
  if (is_mma(op)) {
    const TileType a = operand_type(table, op, 0);
    if (a.shape.size() == 2 && tile.shape.size() == 2)
      return fmt::format("{} {}x{}x{} {}", word, tile.shape[0], tile.shape[1], a.shape[1], a.element);
  }
  const std::string type = tile.text();
  return type.empty() ? word : word + " " + type;
}

}  // namespace

Cycle published_occupancy(const OpInfo& op, const OpTable& table) {
  constexpr Cycle kIssue = 30, kMost = 4096;
  if (is_mma(op)) {
    // ceil(M N K / rate): 4096 multiply-adds of 16-bit operands per cycle, fewer of wider ones.
    const TileType a = operand_type(table, op, 0), c = operand_type(table, op, 2);
    if (a.shape.size() != 2 || c.shape.size() != 2 || a.bits < 1) return 0;
    const std::int64_t rate = std::max<std::int64_t>(1, 4096 * 16 / a.bits);
    const std::int64_t products = sat_mul(sat_mul(c.shape[0], c.shape[1]), a.shape[1]);
    return std::clamp<Cycle>(sat_add(products, rate - 1) / rate, kIssue, kMost);
  }
  if (is_load(op) && !op.results.empty()) return std::max<Cycle>(kIssue, sat_mul(6, op.results[0].bytes() / 1024));
  if (is_store(op)) {
    const TileType tile = tile_of(table, op);
    const std::int64_t rate = without_dialect(op.kind) == "store" ? 6 : 52;
    return tile.tile() ? std::max<Cycle>(kIssue, sat_mul(rate, tile.bytes() / 1024)) : 0;
  }
  return 0;
}

std::int64_t loop_run_by(const OpTable& table, std::size_t op) {
  while (op-- > 0)
    if (without_dialect(table.ops[op].kind) == "yield") return table.ops[op].loop;
  return -1;
}

namespace {

class Describer {
 public:
  Describer(DumpLoop& loop, const OpTable& table, const std::vector<int>& node_ops) : loop_(loop), table_(table), node_ops_(node_ops) {
    for (const OpInfo& op : table.ops)
      if (op.kind == "scf.yield" && op.loop == loop.id) yield_ = &op;
  }

  void run() {
    for (std::size_t i = 0; i < loop_.nodes.size(); ++i) node(i);
    for (DumpEdge& e : loop_.edges) edge(e);
    residents();
  }

 private:
  const OpInfo* op_of(std::size_t node) const {
    return node_ops_[node] < 0 ? nullptr : &table_.ops[static_cast<std::size_t>(node_ops_[node])];
  }

  void node(std::size_t index) {
    DumpNode& n = loop_.nodes[index];
    const OpInfo* op = op_of(index);
    const Word* known = word_of(n.kind);
    std::string word = n.super ? "inner_loop" : known && *known->word ? known->word : without_dialect(n.kind);
    n.native = known ? known->native : n.kind.empty() ? "opaque" : "elementwise";
    n.view = known && known->view && n.self_latency == 0 && n.latency == 0;
    std::string suffix;
    if (op) {
      n.result = tile_of(table_, *op);
      if (is_load(*op) || is_store(*op)) suffix = origin(table_, *op);
      if (word == "reduce") {
        const std::string how = combiner(table_, static_cast<std::size_t>(node_ops_[index]));
        if (!how.empty()) word += "_" + how;
        if (how == "max" || how == "min") n.native = "reduce_" + how;
      }
      const bool defines = std::any_of(op->results.begin(), op->results.end(),
                                       [](const TileType& t) { return t.tile() || t.space == TileType::Space::Token; });
      n.scalar = !defines && !n.result.tile() && !n.super;
      // Published rules only fill what a file lacks; a file without occupancies has none anywhere.
      if (n.occupancy == 0 && !n.super) {
        n.occupancy = published_occupancy(*op, table_);
        n.occupancy_derived = n.occupancy > n.self_latency;
      }
    }
    n.occupancy = std::max(n.occupancy, n.self_latency);
    n.what = op ? description(table_, *op, suffix.empty() ? word : word + " " + suffix, n.result) : word;
    n.name = identifier(word, n.unit.empty() ? "op" : identifier(n.unit, "op").c_str());
    if (!suffix.empty()) n.name += "_" + suffix;
    n.name += fmt::format("_{}", n.id);
    if (n.what.empty()) n.what = n.unit.empty() ? "op" : n.unit;
  }

  /// Takes the stricter of all operands through which the edge may run.
  void take(DumpEdge& e, const TileType& type, bool& found) const {
    const DumpNode& from = loop_.nodes[e.from];
    Carrier carrier = Carrier::Scalar;
    if (type.space == TileType::Space::Register && from.native != "tma_load" && from.native != "load")
      carrier = Carrier::Register;
    else if (type.tile() || type.space == TileType::Space::Token)
      carrier = Carrier::Memory;
    const bool token = type.space == TileType::Space::Token && from.native != "tma_load";
    e.order_only = token && (!found || e.order_only);
    if (!found || strictness(carrier) > strictness(e.carrier)) {
      e.carrier = carrier;
      e.bytes = carrier == Carrier::Register ? type.bytes() : 0;
    }
    found = true;
  }

  static int strictness(Carrier carrier) { return carrier == Carrier::Scalar ? 0 : carrier == Carrier::Memory ? 1 : 2; }

  void take_result(DumpEdge& e, const OperandRef& ref, bool& found) const {
    if (ref.kind != OperandRef::Kind::Op || static_cast<int>(ref.op) != node_ops_[e.from]) return;
    const auto& results = table_.ops[ref.op].results;
    if (ref.result >= 0 && static_cast<std::size_t>(ref.result) < results.size())
      take(e, results[static_cast<std::size_t>(ref.result)], found);
  }

  void edge(DumpEdge& e) const {
    const OpInfo *from = op_of(e.from), *to = op_of(e.to);
    if (loop_.nodes[e.from].scalar) e.carrier = Carrier::Scalar;
    if (!from || !to || loop_.nodes[e.from].super) return;
    bool found = false;
    for (const OperandRef& operand : to->operands) {
      if (e.distance == 0) take_result(e, operand, found);
      if (e.distance == 0 || operand.kind != OperandRef::Kind::IterArg || operand.loop != loop_.id || operand.index < 0) continue;
      if (yield_ && static_cast<std::size_t>(operand.index) < yield_->operands.size())
        take_result(e, yield_->operands[static_cast<std::size_t>(operand.index)], found);
    }
  }

  /// Tiles in shared or tensor memory that an op of the loop uses and no op of the loop allocates.
  void residents() {
    std::vector<int> node_of(table_.ops.size(), -1);
    for (std::size_t i = 0; i < loop_.nodes.size(); ++i)
      if (node_ops_[i] >= 0) node_of[static_cast<std::size_t>(node_ops_[i])] = static_cast<int>(i);
    std::vector<std::size_t> allocations;
    for (std::size_t i = 0; i < loop_.nodes.size(); ++i) {
      const OpInfo* op = op_of(i);
      if (!op) continue;
      for (const OperandRef& operand : op->operands) {
        if (operand.kind != OperandRef::Kind::Op || node_of[operand.op] >= 0) continue;
        const OpInfo& source = table_.ops[operand.op];
        if (source.results.empty() || source.loop == loop_.id) continue;
        const TileType& tile = source.results[0];
        if (tile.space != TileType::Space::Smem && tile.space != TileType::Space::Tmem) continue;
        const auto known = std::find(allocations.begin(), allocations.end(), operand.op);
        if (known == allocations.end()) {
          allocations.push_back(operand.op);
          loop_.residents.push_back({tile, {i}, word_of(source.kind) ? word_of(source.kind)->kind : source.kind});
        } else {
          auto& users = loop_.residents[static_cast<std::size_t>(known - allocations.begin())].users;
          if (users.back() != i) users.push_back(i);
        }
      }
    }
  }

  DumpLoop& loop_;
  const OpTable& table_;
  const std::vector<int>& node_ops_;
  const OpInfo* yield_ = nullptr;
};

}  // namespace

void describe(DumpLoop& loop, const OpTable& table, const std::vector<int>& node_ops) { Describer(loop, table, node_ops).run(); }

}  // namespace heddle::dump
