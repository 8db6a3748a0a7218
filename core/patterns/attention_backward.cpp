// Attention backward: a block of keys for two consumer warp groups of 64 keys each, which exchange dS through shared memory for dQ; or,
// where dK and dV of 64 keys fill a group's registers, a block of 64 keys whose dV is in one group and whose dK in the other. The loop goes
// over blocks of queries, from the last ones back, for all heads of queries that share the keys.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/patterns/draft.h"

namespace heddle::pattern {
namespace {

constexpr std::int64_t kMostPerGroup = 256;  ///< columns of dK and dV of 64 keys: half as many registers of each thread, of 240

/// What the parts of the kernel are written from.
struct Backward {
  std::int64_t head, v_head;  ///< columns of Q and K, of V
  bool causal;
  DType dtype;
  int tiles = head + v_head <= kMostPerGroup ? 2 : 1;  ///< of 64 keys, in a block
  std::string d = std::to_string(head), dv = std::to_string(v_head), keys = std::to_string(64 * tiles);
  std::string blocks = "ceil_div(Q_LEN, 64)", query = "(ceil_div(Q_LEN, 64) - 1 - i / GROUP)*64", member = "head*GROUP + i % GROUP";

  /// Of 64 columns: what one mma makes of K's panels.
  int dq_parts() const { return static_cast<int>(head / 64); }
  std::string first_key(int tile) const { return tile == 0 ? "bk*" + keys : "bk*" + keys + " + 64"; }
};

/// "s" -> "s0"
std::string of(const std::string& name, int tile) { return name + std::to_string(tile); }

void add_tensors(KernelDraft& k, const Backward& b) {
  const Texts queries{"HEADS*GROUP", "Q_LEN", b.d}, keys{"HEADS", "KV_LEN", b.d}, values{"HEADS", "KV_LEN", b.dv};
  const Texts rows{"HEADS*GROUP", "Q_LEN"};
  k.tensor("Q", b.dtype, queries);
  k.tensor("K", b.dtype, keys);
  k.tensor("V", b.dtype, values);
  k.tensor("dO", b.dtype, {"HEADS*GROUP", "Q_LEN", b.dv});
  k.tensor("LSE", DType::F32, rows);
  k.tensor("Delta", DType::F32, rows);
  k.tensor("dQ", DType::F32, queries, TensorRole::InOut);
  k.kernel.tensors.back().packing = Packing::Free;
  k.tensor("dK", b.dtype, keys, TensorRole::Output);
  k.tensor("dV", b.dtype, values, TensorRole::Output);
}

void add_values(KernelDraft& k, const Backward& b) {
  k.smem("q", b.dtype, {"64", b.d});
  k.smem("do", b.dtype, {"64", b.dv});
  for (const char* name : {"lse", "delta"}) k.smem(name, DType::F32, {"64"});
  for (int c = 0; c < b.tiles; ++c) {
    k.smem(of("k", c), b.dtype, {"64", b.d});
    k.smem(of("v", c), b.dtype, {"64", b.dv});
    for (const char* name : {"s", "t", "x", "p", "dp", "e", "ds"})
      if (b.causal || name != std::string("t")) k.registers(of(name, c), DType::F32, {"64", "64"});
    for (const char* name : {"ph", "dsh"}) k.registers(of(name, c), b.dtype, {"64", "64"});
    k.smem(of("dsm", c), b.dtype, {"64", "64"});
    for (const auto& [name, columns] : {std::pair{"dv", b.dv}, {"dk", b.d}}) {
      k.registers(of(name, c), DType::F32, {"64", columns});
      k.registers(of(name + std::string("h"), c), b.dtype, {"64", columns});
      k.smem(of(name + std::string("s"), c), b.dtype, {"64", columns});
    }
  }
  for (int part = 0; part < b.dq_parts(); ++part) {
    if (b.tiles == 2) k.registers(of("half", part), DType::F32, {"64", "64"});
    k.registers(of("dq", part), DType::F32, {"64", "64"});
    k.smem(of("dqs", part), DType::F32, {"64", "64"});
  }
}

/// P and dS of a tile of keys, and what they add to dV and dK.
void add_scores(KernelDraft& k, const Backward& b, int c) {
  const auto own = [&](const char* name) { return of(name, c); };
  const auto last = [&](const char* name) { return of(name, c) + "[-1]"; };
  const double root = std::sqrt(static_cast<double>(b.head));
  const std::string base_2 = fmt::format("{:.9g}", std::log2(std::exp(1.0)) / root), factor = fmt::format("{:.9g}", 1 / root), sub = "sub";
  k.loop(own("S"), "mma").in({own("k"), "q"}).out(own("s")).with("transpose_b", true);
  if (b.causal)
    k.loop(own("mask"), "mask")
        .in({own("s")})
        .out(own("t"))
        .at("", {b.first_key(c), b.query + " + KV_LEN - Q_LEN"})
        .with("value", std::string("-1e30"))
        .with("transpose", true);
  k.loop(own("sub"), "elementwise")
      .in({own(b.causal ? "t" : "s"), "lse"})
      .out(own("x"))
      .with("fn", sub)
      .with("scale", base_2)
      .with("axis", std::int64_t{1});
  k.loop(own("exp"), "exp2").in({own("x")}).out(own("p"));
  k.loop(own("cvt_p"), "convert").in({own("p")}).out(own("ph"));
  k.loop(own("dP"), "mma").in({own("v"), "do"}).out(own("dp")).with("transpose_b", true);
  k.loop(own("sub_delta"), "elementwise")
      .in({own("dp"), "delta"})
      .out(own("e"))
      .with("fn", sub)
      .with("scale", factor)
      .with("axis", std::int64_t{1});
  k.loop(own("mul"), "elementwise").in({own("p"), own("e")}).out(own("ds")).with("fn", std::string("mul"));
  k.loop(own("cvt_ds"), "convert").in({own("ds")}).out(own("dsh"));
  k.loop(own("dV"), "mma").in({own("ph"), "do", last("dv")}).out(own("dv"));
  k.loop(own("dK"), "mma").in({own("dsh"), "q", last("dk")}).out(own("dk"));
  k.loop(own("stage_ds"), "smem_store").in({own("dsh")}).out(own("dsm"));
}

/// 64 columns of dQ, of all tiles' dS.
void add_dq(KernelDraft& k, const Backward& b, int part) {
  const std::int64_t column = std::int64_t{64} * part;
  for (int c = 0; c < b.tiles; ++c) {
    Texts operands{of("dsm", c), of("k", c)};
    if (c > 0) operands.push_back(of("half", part));
    k.loop(of("dQ", part) + of("_k", c), "mma")
        .in(operands)
        .out(of(c + 1 < b.tiles ? "half" : "dq", part))
        .with("transpose_a", true)
        .with("column", column);
  }
  k.loop(of("stage_dq", part), "smem_store").in({of("dq", part)}).out(of("dqs", part));
  k.loop(of("add_dq", part), "atomic_add").in({of("dqs", part)}).at("dQ", {b.member, b.query, std::to_string(column)});
}

std::string words_of(const Backward& b) {
  const std::string share = b.tiles == 2
                                ? "two consumer warp groups own 64 keys each and exchange dS through shared memory, from which dQ is made"
                                : "two consumer warp groups share its ops; dQ is made";
  return fmt::format(
      "Attention backward{}, head dimension {}{}, {} keys per block, 64 queries per step: {}, 64 columns at a time. LSE is the base-2 "
      "logarithm of the row sums (scores times log2(e)/sqrt({})), Delta the row sums of dO * O over sqrt({}), both from a small kernel "
      "that runs before. dQ is a sum over blocks in f32, which another kernel rounds.",
      b.causal ? ", causal (aligned at the last query and the last key)" : "", b.head,
      b.v_head == b.head ? "" : " and " + b.dv + " of values", b.keys, share, b.head, b.head);
}

Result<Kernel> make_backward(const PatternValues& v) {
  const std::int64_t head = v.number("head_size"), v_head = v.word("v_head_size") == "auto" ? head : std::stoll(v.word("v_head_size"));
  const Backward b{head, v_head, v.word("mask") == "causal", v.dtype("dtype")};
  const std::int64_t q_len = v.number("q_len"), kv_len = v.number("kv_len");
  if (b.causal && kv_len < q_len)
    return bad_option("kv_len",
                      fmt::format("a causal mask needs at least as many keys as queries; 'kv_len' is {}, 'q_len' {}", kv_len, q_len));

  KernelDraft k;
  k.param("HEADS", v.number("heads"), std::min<std::int64_t>(v.number("heads"), 2), "batch times heads of keys and values");
  k.param("GROUP", v.number("group"), std::min<std::int64_t>(v.number("group"), 2), "heads of queries for each head of keys");
  k.param("Q_LEN", q_len, std::min<std::int64_t>(q_len, 200), "queries per head");
  k.param("KV_LEN", kv_len, std::min<std::int64_t>(kv_len, 260), "keys per head");
  if (b.causal) k.condition("KV_LEN >= Q_LEN", "the mask is aligned at the last query and the last key, so every query sees a key");
  add_tensors(k, b);
  k.grid("bk", "ceil_div(KV_LEN, " + b.keys + ")");
  k.grid("head", "HEADS");
  k.kernel.loop.trips = expr("GROUP * " + b.blocks);
  if (b.causal) k.kernel.loop.tile_trips = expr("GROUP * (" + b.blocks + " - max(0, " + b.first_key(0) + " + Q_LEN - KV_LEN) / 64)");
  add_values(k, b);

  for (int c = 0; c < b.tiles; ++c) {
    k.before(of("load_k", c), "tma_load").at("K", {"head", b.first_key(c), "0"}).out(of("k", c));
    k.before(of("load_v", c), "tma_load").at("V", {"head", b.first_key(c), "0"}).out(of("v", c));
    k.before(of("init_dk", c), "fill").out(of("dk", c)).with("value", std::string("0"));
    k.before(of("init_dv", c), "fill").out(of("dv", c)).with("value", std::string("0"));
  }
  k.loop("load_q", "tma_load").at("Q", {b.member, b.query, "0"}).out("q");
  k.loop("load_lse", "tma_load").at("LSE", {b.member, b.query}).out("lse");
  k.loop("load_do", "tma_load").at("dO", {b.member, b.query, "0"}).out("do");
  k.loop("load_delta", "tma_load").at("Delta", {b.member, b.query}).out("delta");
  for (int c = 0; c < b.tiles; ++c) add_scores(k, b, c);
  for (int part = 0; part < b.dq_parts(); ++part) add_dq(k, b, part);
  for (int c = 0; c < b.tiles; ++c)
    for (const std::string name : {"dv", "dk"}) {
      k.after(of("narrow_" + name, c), "convert").in({of(name, c)}).out(of(name + "h", c));
      k.after(of("stage_" + name, c), "smem_store").in({of(name + "h", c)}).out(of(name + "s", c));
      k.after(of("store_" + name, c), "tma_store").in({of(name + "s", c)}).at(name == "dv" ? "dV" : "dK", {"head", b.first_key(c), "0"});
    }
  const std::string rows = "HEADS * GROUP * Q_LEN * ";
  k.kernel.around = {
      {"prepare", expr(rows + std::to_string(4 * (head + v_head))), "Delta = rowsum(dO * O): reads O and dO (16 bits), clears dQ (f32)"},
      {"convert", expr(rows + std::to_string(6 * head)), "dQ from f32 to 16 bits"}};
  k.kernel.max_groups = 3;
  k.kernel.about = words_of(b);
  k.kernel.reference = b.causal ? "attention_backward_causal" : "attention_backward";
  return std::move(k.kernel);
}

}  // namespace

Pattern attention_backward() {
  return {
      "attention_backward",
      "dQ, dK and dV of attention: with or without a causal mask, with grouped queries if wanted.",
      {size("heads", 64, 1, "batch times heads of keys and values"), grouped_queries(), size("q_len", 8192, 1, "queries per head"),
       size("kv_len", 8192, 1, "keys per head"),
       choice("head_size", {"64", "128", "192"}, "128",
              "columns of Q and K, and of V where nothing else is said; with 256 the tiles of 64 keys and 64 queries, dQ, P and dS take "
              "286720 bytes of shared memory, and a block has 232448"),
       choice("v_head_size", {"auto", "64", "128", "192"}, "auto", "columns of V; auto: head_size"),
       choice("mask", {"none", "causal"}, "none", "causal: a query sees the keys up to its own place"),
       choice("dtype", {"bf16", "f16"}, "bf16", "type of the tensors")},
      make_backward};
}

}  // namespace heddle::pattern
