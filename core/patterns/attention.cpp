// Attention forward: online softmax in base 2, the factor log2(e) / sqrt(head size) folded into maximum and difference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/patterns/draft.h"

namespace heddle::pattern {
namespace {

/// Keys per step that leave room in registers and shared memory. `columns`: of K and V together.
std::string usual_keys(std::int64_t columns) { return columns <= 320 ? "128" : columns <= 384 ? "96" : "64"; }

/// What a backward pass reads: of the natural scores in base 2.
void leave_lse(KernelDraft& k, const Texts& queries, const Texts& own, const std::string& number) {
  k.tensor("LSE", DType::F32, {queries[0], queries[1]}, TensorRole::Output);
  k.registers("lse", DType::F32, {"Q_ROWS"}, number);
  k.after("lse", "map").in({"m", "l"}).out("lse").with("expr", std::string("x0 + log2(x1)"));
  k.after("store_lse", "store").in({"lse"}).at("LSE", {own[0], own[1]});
}

Result<Kernel> make_attention(const PatternValues& v) {
  const std::int64_t head = v.number("head_size"), group = v.number("group"), q_len = v.number("q_len"), kv_len = v.number("kv_len");
  const std::int64_t v_head = v.word("v_head_size") == "auto" ? head : std::stoll(v.word("v_head_size"));
  const std::int64_t kv = std::stoll(v.word("kv") == "auto" ? usual_keys(head + v_head) : v.word("kv"));
  const bool causal = v.word("mask") == "causal", blocks = v.word("mask") == "blocks", grouped = group > 1, lse = v.flag("lse");
  const std::string d = std::to_string(head), dv = std::to_string(v_head);
  const DType dtype = v.dtype("dtype");
  if (blocks && kv_len % kv != 0)
    return bad_option("kv_len", fmt::format("'kv_len' is {}, no multiple of the {} keys per loop step", kv_len, kv),
                      fmt::format("{} or {} would be one", std::max(kv_len / kv, std::int64_t{1}) * kv, (kv_len / kv + 1) * kv));
  if (blocks && (lse || v_head != head))
    return bad_option(lse ? "lse" : "v_head_size", "blocks of keys have one head size and leave no LSE");
  if (causal && kv_len < q_len)
    return bad_option("kv_len",
                      fmt::format("a causal mask needs at least as many keys as queries; 'kv_len' is {}, 'q_len' {}", kv_len, q_len));

  const std::int64_t rows = v.number("q_rows");
  if (blocks && q_len % rows != 0)
    return bad_option("q_len", fmt::format("'q_len' is {}, no multiple of the {} queries of a block", q_len, rows));

  KernelDraft k;
  k.param("HEADS", v.number("heads"), std::min<std::int64_t>(v.number("heads"), 2), "batch times heads of keys and values");
  if (grouped) k.param("GROUP", group, group, "heads of queries for each head of keys");
  // For heddle eval: a ragged tile, and one step more than the mask leaves; of blocks some in a row.
  const std::int64_t few = std::min<std::int64_t>(q_len, blocks ? 6 * rows : 200);
  k.param("Q_LEN", q_len, few, "queries per head");
  k.param("KV_LEN", kv_len, std::min(kv_len, (few / kv + 2) * kv), blocks ? "keys per head, a multiple of KV" : "keys per head");
  k.param("KV", kv, kv, "keys per loop step");
  k.param("Q_ROWS", rows, rows, "queries per block");
  if (blocks) k.condition("KV_LEN % KV == 0", "blocks of keys are whole");
  if (causal) k.condition("KV_LEN >= Q_LEN", "the mask is aligned at the last query and the last key, so every query sees a key");
  if (blocks) k.condition("Q_LEN % Q_ROWS == 0", "blocks of queries are whole");
  const std::string heads = grouped ? "HEADS*GROUP" : "HEADS";
  const Texts queries{heads, "Q_LEN", d}, keys{"HEADS", "KV_LEN", d};
  k.tensor("Q", dtype, queries);
  k.tensor("K", dtype, keys);
  k.tensor("V", dtype, {"HEADS", "KV_LEN", dv});
  k.tensor("O", dtype, {heads, "Q_LEN", dv}, TensorRole::Output);
  if (blocks) {
    const std::string mask = "bigbird(rows=Q_LEN/Q_ROWS, cols=KV_LEN/KV, seed=1)";
    k.index("rowptr", {"Q_LEN/Q_ROWS + 1"}, mask + ".rowptr").rising = true;
    k.index("colidx", {"max(1, rowptr[Q_LEN/Q_ROWS])"}, mask + ".colidx").below = expr("KV_LEN/KV");
  }
  k.grid("bq", "ceil_div(Q_LEN, Q_ROWS)");
  if (grouped) k.grid("member", "GROUP");
  k.grid("head", "HEADS");
  k.kernel.loop.trips = expr(blocks ? "KV_LEN / KV" : "ceil_div(KV_LEN, KV)");
  if (causal) k.kernel.loop.tile_trips = expr("min(ceil_div(KV_LEN, KV), ceil_div(bq*Q_ROWS + Q_ROWS + KV_LEN - Q_LEN, KV))");
  const std::string row_blocks = "rowptr[bq + 1] - rowptr[bq]";
  if (blocks) k.kernel.loop.tile_trips = expr(row_blocks);
  const std::string scale = fmt::format("{:.9g}", std::log2(std::exp(1.0)) / std::sqrt(static_cast<double>(head)));
  const Texts own{grouped ? "head*GROUP + member" : "head", "bq*Q_ROWS", "0"},
      step{"head", blocks ? fmt::format("if(i < {}, colidx[rowptr[bq] + i], -1)*KV", row_blocks) : "i*KV", "0"};
  const std::string number = "Q_ROWS / 32";  // every row's statistics are in the four threads that have a part of it

  k.smem("k", dtype, {"KV", d});
  k.smem("v", dtype, {"KV", dv});
  k.smem("q", dtype, {"Q_ROWS", d});
  k.registers("s", DType::F32, {"Q_ROWS", "KV"});
  k.registers("t", DType::F32, {"Q_ROWS", "KV"});
  k.registers("m", DType::F32, {"Q_ROWS"}, number);
  k.registers("alpha", DType::F32, {"Q_ROWS"}, number);
  k.registers("x", DType::F32, {"Q_ROWS", "KV"});
  k.registers("p", DType::F32, {"Q_ROWS", "KV"});
  k.registers("l", DType::F32, {"Q_ROWS"}, number);
  k.registers("ph", dtype, {"Q_ROWS", "KV"});
  k.registers("r", DType::F32, {"Q_ROWS", dv});
  k.registers("o", DType::F32, {"Q_ROWS", dv});
  k.registers("inv", DType::F32, {"Q_ROWS"}, number);
  k.registers("n", DType::F32, {"Q_ROWS", dv});
  k.registers("h", dtype, {"Q_ROWS", dv});
  k.smem("out", dtype, {"Q_ROWS", dv});

  k.before("load_q", "tma_load").at("Q", own).out("q");
  k.before("init_m", "fill").out("m").with("value", std::string(blocks ? "-1e20" : "-1e30"));  // above what is masked: that is nothing then
  k.before("init_l", "fill").out("l").with("value", std::string(blocks ? "1e-30" : "0"));      // rows without blocks
  k.before("init_o", "fill").out("o").with("value", std::string("0"));

  k.loop("load_k", "tma_load").at("K", step).out("k");
  k.loop("load_v", "tma_load").at("V", step).out("v");
  k.loop("QK", "mma").in({"q", "k"}).out("s").with("transpose_b", true);
  if (causal) k.loop("mask", "mask").in({"s"}).out("t").at("", {"bq*Q_ROWS + KV_LEN - Q_LEN", "i*KV"}).with("value", std::string("-1e30"));
  if (!causal && !blocks)
    k.loop("mask", "mask")
        .in({"s"})
        .out("t")
        .at("", {"KV_LEN", "i*KV"})
        .with("before", true)
        .with("value", std::string("-1e30"))
        .only_if("KV_LEN % KV != 0");
  // All of a block is kept, or none of it: iterations beyond the last block.
  if (blocks)
    k.loop("mask", "mask")
        .in({"s"})
        .out("t")
        .at("", {"0", fmt::format("if(i < {}, -KV, Q_ROWS)", row_blocks)})
        .with("value", std::string("-1e30"));
  k.loop("max", "reduce_max").in({"t", "m[-1]"}).out("m").with("scale", scale);
  k.loop("alpha", "exp2").in({"m[-1]", "m"}).out("alpha");
  k.loop("sub", "elementwise").in({"t", "m"}).out("x").with("fn", std::string("sub")).with("scale", scale);
  k.loop("exp", "exp2").in({"x"}).out("p");
  k.loop("sum", "reduce_sum").in({"p", "l[-1]", "alpha"}).out("l");
  k.loop("cvt", "convert").in({"p"}).out("ph");
  k.loop("rescale", "elementwise").in({"o[-1]", "alpha"}).out("r").with("fn", std::string("mul"));
  k.loop("PV", "mma").in({"ph", "v", "r"}).out("o");

  k.after("inv", "elementwise").in({"l"}).out("inv").with("fn", std::string("recip"));
  if (lse) leave_lse(k, queries, own, number);
  k.after("normalize", "elementwise").in({"o", "inv"}).out("n").with("fn", std::string("mul"));
  k.after("narrow", "convert").in({"n"}).out("h");
  k.after("stage", "smem_store").in({"h"}).out("out");
  k.after("store_o", "tma_store").in({"out"}).at("O", own);

  const std::string products = fmt::format("Q @ transpose({}) / sqrt({})", grouped ? "repeat(K, GROUP)" : "K", d);
  const std::string scores = causal ? fmt::format("causal({})", products) : products, values = grouped ? "repeat(V, GROUP)" : "V";
  const std::string formula = lse ? fmt::format("S = {}; O = softmax(S) @ {}; LSE = log2(sum(exp(S)))", scores, values)
                                  : fmt::format("O = softmax({}) @ {}", scores, values);
  k.kernel.about = fmt::format("{}: attention forward, {} queries per block, {} keys per step, online softmax in base 2.", formula,
                               v.number("q_rows"), kv);
  if (blocks)
    k.kernel.about = fmt::format(
        "Attention forward over the blocks of {} queries and {} keys that rowptr and colidx list (here: BigBird), online softmax in "
        "base 2. Iterations beyond a row's last block are masked.",
        v.number("q_rows"), kv);
  k.kernel.reference = blocks                      ? grouped ? "" : "attention_block_sparse"
                       : grouped || v_head != head ? formula
                       : causal                    ? "attention_forward_causal"
                                                   : "attention_forward";
  return for_consumers(k.kernel, "Q_ROWS", v.number("q_rows") / kConsumerRows);
}

}  // namespace

Pattern attention() {
  return {"attention",
          "O = softmax(Q K^T / sqrt(head_size)) V: attention forward, with or without a mask, with grouped queries if wanted.",
          {size("heads", 64, 1, "batch times heads of keys and values"), grouped_queries(), size("q_len", 8448, 1, "queries per head"),
           size("kv_len", 8448, 1, "keys per head; with mask=blocks a multiple of the keys per step"),
           choice("head_size", {"64", "128", "192", "256"}, "128", "columns of Q and K, and of V and O where nothing else is said"),
           choice("v_head_size", {"auto", "64", "128", "192", "256"}, "auto", "columns of V and O; auto: head_size"),
           choice("mask", {"none", "causal", "blocks"}, "none",
                  "causal: a query sees the keys up to its own place; blocks: a list for each block of queries"),
           flag("lse", "per query the base-2 logarithm of the sum of its exponentials too, for a backward pass"),
           choice("dtype", {"bf16", "f16"}, "bf16", "type of the tensors"),
           choice("q_rows", {"64", "128"}, "128", "queries per block, 64 for each consumer warp group"),
           choice("kv", {"auto", "64", "80", "96", "112", "128", "144", "160", "176"}, "auto",
                  "keys per loop step; auto: as many as registers and shared memory have room for")},
          make_attention};
}

}  // namespace heddle::pattern
