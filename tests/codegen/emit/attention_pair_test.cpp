// What a forward leaves for a backward, and what comes before and after that: LSE, Delta, the rounding of dQ. Their texts on the CPU,
// beside heddle eval.
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "codegen/emit/emit.h"
#include "core/motion/circle.h"
#include "core/timing/program.h"
#include "tests/codegen/emulation.h"

using namespace heddle;
using namespace heddle::codegen;
using test::run_text;

namespace {

std::string source_of(const test::Lowering& from) {
  EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
  REQUIRE(emitted.emission.has_value());
  return emitted.emission->source;
}

/// The order of its schedule, for costs of other sizes than it was found for.
test::Lowering timed_anew(test::Lowering from) {
  from.schedule = timing::earliest_schedule(from.problem, motion::program_of(from.problem, from.schedule)).schedule;
  return from;
}

bool contains(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

const Scope kWithLse{{"HEADS", 2}, {"Q_LEN", 200}, {"KV_LEN", 384}, {"LSE", 1}};

}  // namespace

TEST_CASE("a forward's text leaves LSE where it is asked for it", "[codegen][.slow]") {
  // LSE is some sixteen times as long as O: the bound is 2e-3 of O.
  for (const char* name : {"attention_forward_hopper", "attention_forward_causal_hopper", "attention_forward_blackwell",
                           "attention_forward_causal_blackwell", "attention_forward_conditional_blackwell"}) {
    INFO(name);
    CHECK(run_text(test::lowering(name, kWithLse), 2) < 1e-4);
  }
  CHECK(run_text(test::lowering("attention_forward_hopper", kWithLse), 2, {"(tid & 3) == 0", "(tid & 3) == 5"}) > 0.9);
  CHECK(run_text(test::lowering("attention_forward_hopper", kWithLse), 2, {" && row < 200", ""}) > 1e-4);
  CHECK(run_text(test::lowering("attention_forward_hopper", kWithLse), 2, {"(lane >> 2)) + e * 8", "(lane >> 2)) + e * 7"}) > 1e-3);
}

TEST_CASE("grouped heads, and values of another head size than keys, leave LSE too", "[codegen][.slow]") {
  const Scope sizes{{"HEADS", 2}, {"GROUP", 3}, {"Q_LEN", 200}, {"KV_LEN", 384}};
  for (const std::map<std::string, std::string>& heads : std::vector<std::map<std::string, std::string>>{
           {{"head_size", "64"}}, {{"head_size", "192"}, {"v_head_size", "128"}, {"kv", "64"}}}) {
    std::map<std::string, std::string> options = heads;
    options.insert({{"mask", "causal"}, {"group", "2"}, {"lse", "yes"}});
    CHECK(run_text(timed_anew(test::lowered_pattern("attention_grouped_causal", "attention", options, sizes)), 2) < 1e-4);
  }
}

TEST_CASE("texts whose heads of queries share heads of keys compute what heddle eval computes", "[codegen][.slow]") {
  const Scope whole{{"HEADS", 1}, {"GROUP", 3}, {"Q_LEN", 256}, {"KV_LEN", 256}, {"LSE", 1}};
  for (const char* name : {"attention_forward_hopper", "attention_forward_causal_blackwell"}) {
    INFO(name);
    CHECK(run_text(test::lowering(name, whole), 2) < 1e-4);
    CHECK(run_text(test::lowering(name, whole), 2, {"quotient_of(g_head1, 3)", "quotient_of(g_head1, 2)"}) > 1e-3);
  }
  const Scope backward{{"HEADS", 1}, {"GROUP", 3}, {"Q_LEN", 192}, {"KV_LEN", 128}};
  for (const char* name : {"attention_backward_hopper", "attention_backward_blackwell"}) {
    INFO(name);
    CHECK(run_text(test::lowering(name, backward), 1) < 4e-3);
  }
}

TEST_CASE("the text of attention backward with other columns of values than of keys computes what heddle eval computes",
          "[codegen][.slow]") {
  const std::map<std::string, std::string> options{{"head_size", "192"}, {"v_head_size", "128"}};
  const Scope sizes{{"HEADS", 1}, {"GROUP", 2}, {"Q_LEN", 100}, {"KV_LEN", 130}};
  CHECK(run_text(test::lowered_pattern("attention_backward_192", "attention_backward", options, sizes), 1) < 4e-3);
}

TEST_CASE("where each head of queries has a head of keys of its own, nothing says so", "[codegen]") {
  const test::Lowering one = test::lowering("attention_forward_hopper", {{"GROUP", 1}}), usual = test::lowering("attention_forward_hopper");
  CHECK(problem_hash(one.problem) == problem_hash(usual.problem));
  CHECK(source_of(one) == source_of(usual));
  CHECK_FALSE(contains(source_of(usual), "GROUP"));
}

TEST_CASE("a forward whose LSE is off is the one without it", "[codegen]") {
  const test::Lowering off = test::lowering("attention_forward_hopper", {{"LSE", 0}}), usual = test::lowering("attention_forward_hopper");
  CHECK(off.problem.params.count("LSE") == 0);
  CHECK(problem_hash(off.problem) == problem_hash(usual.problem));
  CHECK(source_of(off) == source_of(usual));
  CHECK_FALSE(contains(source_of(usual), "LSE"));
}

TEST_CASE("one of the threads that have a row stores its number, and none beyond the last query", "[codegen]") {
  const std::string whole = source_of(test::lowering("attention_forward_hopper", {{"LSE", 1}})),
                    ragged = source_of(test::lowering("attention_forward_hopper", kWithLse)),
                    rows = source_of(test::lowering("attention_forward_blackwell", {{"LSE", 1}}));
  CHECK(contains(whole, "float* __restrict__ out0"));
  CHECK(contains(whole, "if ((tid & 3) == 0) out0["));
  CHECK(contains(ragged, "if ((tid & 3) == 0 && row < 200) out0["));
  CHECK(contains(rows, "          out0[(u64("));
}

TEST_CASE("tiles of another type than their tensor are not stored by threads themselves", "[codegen]") {
  test::Lowering tile = test::lowering("attention_forward_hopper", {{"LSE", 1}});
  for (TileOp& op : tile.kernel.epilogue)
    if (op.name == "store_o0") op.kind = "store", op.inputs[0].value = "n0";
  const EmitResult emitted = emit_cuda(tile.kernel, tile.problem, tile.schedule, test::program_of(tile));
  REQUIRE_FALSE(emitted.refusals.empty());
  CHECK_THAT(emitted.refusals[0].sentence, Catch::Contains("'store_o0' stores a tile of another type than its tensor"));
}

TEST_CASE("the texts of Delta and of dQ's rounding compute what heddle eval computes, for heads of 64 to 256 columns", "[codegen][.slow]") {
  for (const std::int64_t columns : {64, 128, 192, 256}) {
    INFO(columns);
    const Scope sizes{{"ROWS", 203}, {"BLOCKS", 3}, {"D", columns}};
    CHECK(run_text(timed_anew(test::lowering("attention_delta", sizes)), 3) < 1e-5);
    CHECK(run_text(timed_anew(test::lowering("attention_round_dq", sizes)), 3) == 0);
  }
  CHECK(run_text("attention_delta", {{"ROWS", 203}, {"BLOCKS", 3}, {"D", 128}}, 3, {"even[r], 8)", "even[r], 4)"}) > 0.1);
}
