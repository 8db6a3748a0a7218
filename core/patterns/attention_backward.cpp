// Attention backward: a block of keys for two consumer warp groups of 64 keys each, which exchange dS through shared memory for dQ. The
// loop goes over blocks of queries, from the last ones back, for all heads of queries that share the keys.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/patterns/draft.h"

namespace heddle::pattern {
namespace {

/// What the parts of the kernel are written from.
struct Backward {
  std::int64_t head;  ///< columns of Q, K and V
  bool causal;
  DType dtype;
  std::string d = std::to_string(head);
  std::string blocks = "ceil_div(Q_LEN, 64)", query = "(ceil_div(Q_LEN, 64) - 1 - i / GROUP)*64", member = "head*GROUP + i % GROUP";

  /// Of 64 columns: what one mma makes of K's panels.
  int dq_parts() const { return static_cast<int>(head / 64); }
};

/// "s" -> "s0"
std::string of(const std::string& name, int consumer) { return name + std::to_string(consumer); }

std::string first_key(int consumer) { return consumer == 0 ? "bk*128" : "bk*128 + 64"; }

void add_tensors(KernelDraft& k, const Backward& b) {
  const Texts queries{"HEADS*GROUP", "Q_LEN", b.d}, keys{"HEADS", "KV_LEN", b.d}, rows{"HEADS*GROUP", "Q_LEN"};
  k.tensor("Q", b.dtype, queries);
  k.tensor("K", b.dtype, keys);
  k.tensor("V", b.dtype, keys);
  k.tensor("dO", b.dtype, queries);
  k.tensor("LSE", DType::F32, rows);
  k.tensor("Delta", DType::F32, rows);
  k.tensor("dQ", DType::F32, queries, TensorRole::InOut);
  k.kernel.tensors.back().packing = Packing::Free;
  k.tensor("dK", b.dtype, keys, TensorRole::Output);
  k.tensor("dV", b.dtype, keys, TensorRole::Output);
}

void add_values(KernelDraft& k, const Backward& b) {
  for (const char* name : {"q", "do"}) k.smem(name, b.dtype, {"64", b.d});
  for (const char* name : {"lse", "delta"}) k.smem(name, DType::F32, {"64"});
  for (const int c : {0, 1}) {
    for (const char* name : {"k", "v"}) k.smem(of(name, c), b.dtype, {"64", b.d});
    for (const char* name : {"s", "t", "x", "p", "dp", "e", "ds"})
      if (b.causal || name != std::string("t")) k.registers(of(name, c), DType::F32, {"64", "64"});
    for (const char* name : {"ph", "dsh"}) k.registers(of(name, c), b.dtype, {"64", "64"});
    k.smem(of("dsm", c), b.dtype, {"64", "64"});
    for (const char* name : {"dv", "dk"}) k.registers(of(name, c), DType::F32, {"64", b.d});
    for (const char* name : {"dvh", "dkh"}) k.registers(of(name, c), b.dtype, {"64", b.d});
    for (const char* name : {"dvs", "dks"}) k.smem(of(name, c), b.dtype, {"64", b.d});
  }
  for (int part = 0; part < b.dq_parts(); ++part) {
    for (const char* name : {"half", "dq"}) k.registers(of(name, part), DType::F32, {"64", "64"});
    k.smem(of("dqs", part), DType::F32, {"64", "64"});
  }
}

/// P and dS of a consumer's keys, and what they add to dV and dK.
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
        .at("", {first_key(c), b.query + " + KV_LEN - Q_LEN"})
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

/// 64 columns of dQ, of both consumers' dS.
void add_dq(KernelDraft& k, const Backward& b, int part) {
  const std::int64_t column = std::int64_t{64} * part;
  const std::string name = of("dQ", part);
  k.loop(name + "_k0", "mma").in({"dsm0", "k0"}).out(of("half", part)).with("transpose_a", true).with("column", column);
  k.loop(name + "_k1", "mma").in({"dsm1", "k1", of("half", part)}).out(of("dq", part)).with("transpose_a", true).with("column", column);
  k.loop(of("stage_dq", part), "smem_store").in({of("dq", part)}).out(of("dqs", part));
  k.loop(of("add_dq", part), "atomic_add").in({of("dqs", part)}).at("dQ", {b.member, b.query, std::to_string(column)});
}

Result<Kernel> make_backward(const PatternValues& v) {
  const Backward b{v.number("head_size"), v.word("mask") == "causal", v.dtype("dtype")};
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
  k.grid("bk", "ceil_div(KV_LEN, 128)");
  k.grid("head", "HEADS");
  k.kernel.loop.trips = expr("GROUP * " + b.blocks);
  if (b.causal) k.kernel.loop.tile_trips = expr("GROUP * (" + b.blocks + " - max(0, bk*128 + Q_LEN - KV_LEN) / 64)");
  add_values(k, b);

  for (const int c : {0, 1}) {
    k.before(of("load_k", c), "tma_load").at("K", {"head", first_key(c), "0"}).out(of("k", c));
    k.before(of("load_v", c), "tma_load").at("V", {"head", first_key(c), "0"}).out(of("v", c));
    k.before(of("init_dk", c), "fill").out(of("dk", c)).with("value", std::string("0"));
    k.before(of("init_dv", c), "fill").out(of("dv", c)).with("value", std::string("0"));
  }
  k.loop("load_q", "tma_load").at("Q", {b.member, b.query, "0"}).out("q");
  k.loop("load_lse", "tma_load").at("LSE", {b.member, b.query}).out("lse");
  k.loop("load_do", "tma_load").at("dO", {b.member, b.query, "0"}).out("do");
  k.loop("load_delta", "tma_load").at("Delta", {b.member, b.query}).out("delta");
  for (const int c : {0, 1}) add_scores(k, b, c);
  for (int part = 0; part < b.dq_parts(); ++part) add_dq(k, b, part);
  for (const int c : {0, 1})
    for (const std::string name : {"dv", "dk"}) {
      k.after(of("narrow_" + name, c), "convert").in({of(name, c)}).out(of(name + "h", c));
      k.after(of("stage_" + name, c), "smem_store").in({of(name + "h", c)}).out(of(name + "s", c));
      k.after(of("store_" + name, c), "tma_store").in({of(name + "s", c)}).at(name == "dv" ? "dV" : "dK", {"head", first_key(c), "0"});
    }
  k.kernel.around = {{"prepare", expr(fmt::format("HEADS * GROUP * Q_LEN * {} * 8", b.head)),
                      "Delta = rowsum(dO * O): reads O and dO (16 bits), clears dQ (f32)"},
                     {"convert", expr(fmt::format("HEADS * GROUP * Q_LEN * {} * 6", b.head)), "dQ from f32 to 16 bits"}};
  k.kernel.max_groups = 3;
  k.kernel.about = fmt::format(
      "Attention backward{}, head dimension {}, 128 keys per block, 64 queries per step: two consumer warp groups own 64 keys each and "
      "exchange dS through shared memory, from which dQ is made, 64 columns at a time. LSE is the base-2 logarithm of the row sums "
      "(scores times log2(e)/sqrt({})), Delta the row sums of dO * O over sqrt({}), both from a small kernel that runs before. dQ is a sum "
      "over "
      "blocks in f32, which another kernel rounds.",
      b.causal ? ", causal (aligned at the last query and the last key)" : "", b.head, b.head, b.head);
  k.kernel.reference = b.causal ? "attention_backward_causal" : "attention_backward";
  return std::move(k.kernel);
}

}  // namespace

Pattern attention_backward() {
  return {"attention_backward",
          "dQ, dK and dV of attention: with or without a causal mask, with grouped queries if wanted.",
          {size("heads", 64, 1, "batch times heads of keys and values"), grouped_queries(), size("q_len", 8192, 1, "queries per head"),
           size("kv_len", 8192, 1, "keys per head"), choice("head_size", {"64", "128"}, "128", "columns of Q, K and V"),
           choice("mask", {"none", "causal"}, "none", "causal: a query sees the keys up to its own place"),
           choice("dtype", {"bf16", "f16"}, "bf16", "type of the tensors")},
          make_backward};
}

}  // namespace heddle::pattern
