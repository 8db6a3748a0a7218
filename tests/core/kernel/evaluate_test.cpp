// Shipped kernels mean what their names say: executed on random inputs they agree with a direct formula in double
// precision, and a kernel with one thing wrong does not.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/formats/kernel_json.h"
#include "core/kernel/evaluate.h"
#include "core/library/library.h"
#include "core/patterns/pattern.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

Kernel shipped(const std::string& name) {
  std::vector<Fault> warnings;
  auto kernel = read_kernel(test::repository_path("kernels/" + name + ".json"), &warnings);
  INFO(name << ": " << (kernel.ok() ? std::string() : to_string(kernel.error())));
  REQUIRE(kernel.ok());
  for (const Fault& warning : warnings) FAIL_CHECK(to_string(warning));
  return *kernel;
}

std::string summary(const EvalReport& report) {
  std::string text = report.kernel;
  for (const TensorComparison& t : report.tensors)
    text += "\n  " + t.tensor + ": max abs " + std::to_string(t.max_abs_error) + ", rms " + std::to_string(t.rms_error) + ", beyond " +
            std::to_string(t.beyond) + ", worst " + t.worst;
  return text;
}

EvalReport evaluated(const Kernel& kernel, const Scope& overrides = {}, std::uint64_t seed = 1) {
  auto report = evaluate(kernel, overrides, seed);
  INFO(kernel.name << ": " << (report.ok() ? std::string() : to_string(report.error())));
  REQUIRE(report.ok());
  return *report;
}

TileOp& op_named(Kernel& kernel, const std::string& name) {
  for (auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (TileOp& op : *list)
      if (op.name == name) return op;
  FAIL("no op " << name);
  return kernel.body.front();
}

void check_passes(const Kernel& kernel, const Scope& overrides = {}) {
  const EvalReport report = evaluated(kernel, overrides);
  INFO(summary(report));
  CHECK(report.pass);
  CHECK_FALSE(report.tensors.empty());
  for (const TensorComparison& t : report.tensors) {
    CHECK(t.compared);
    CHECK(t.not_finite == 0);
    CHECK(t.rms_value > 0);
    CHECK_FALSE(t.tolerance.reason.empty());
  }
}

void check_fails(const Kernel& kernel, const Scope& overrides = {}) {
  const EvalReport report = evaluated(kernel, overrides);
  INFO(summary(report));
  CHECK_FALSE(report.pass);
}

const Scope kSmallForward{{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 256}};

}  // namespace

TEST_CASE("every shipped kernel agrees with its formula at its evaluation sizes", "[core]") {
  for (const LibraryEntry& entry : list_library(Shelf::Kernels)) {
    const Kernel kernel = shipped(entry.name);
    CHECK_FALSE(kernel.reference.empty());
    check_passes(kernel);
  }
}

TEST_CASE("attention forward agrees with KV tiles of 176 and 64", "[core]") {
  check_passes(shipped("attention_forward_hopper"), {{"KV", 176}, {"HEADS", 1}, {"KV_LEN", 704}});
  check_passes(shipped("attention_forward_blackwell"), {{"KV", 64}, {"HEADS", 1}, {"KV_LEN", 320}});
}

TEST_CASE("rows outside the tensors are read as zero and not written", "[core]") {
  check_passes(shipped("gemm_hopper"), {{"M", 70}, {"N", 300}, {"K", 100}});
  check_passes(shipped("gemm_blackwell"), {{"M", 130}, {"N", 8}, {"K", 8}});
  check_passes(shipped("swiglu_dual_gemm_hopper"), {{"M", 65}, {"N", 24}, {"K", 72}});
  check_passes(shipped("attention_forward_hopper"), {{"HEADS", 2}, {"Q_LEN", 77}, {"KV_LEN", 256}});
  check_passes(shipped("attention_backward_hopper"), {{"HEADS", 2}, {"Q_LEN", 77}, {"KV_LEN", 150}});
  check_passes(shipped("attention_backward_blackwell"), {{"HEADS", 2}, {"Q_LEN", 77}, {"KV_LEN", 150}});
  check_passes(shipped("attention_backward_causal_hopper"), {{"HEADS", 2}, {"Q_LEN", 77}, {"KV_LEN", 150}});
  check_passes(shipped("attention_backward_causal_blackwell"), {{"HEADS", 1}, {"GROUP", 3}, {"Q_LEN", 150}, {"KV_LEN", 150}});
  check_passes(shipped("layernorm"), {{"ROWS", 13}, {"BLOCKS", 1}});
}

TEST_CASE("attention whose heads of queries share heads of keys agrees with its formula", "[core]") {
  for (const LibraryEntry& entry : list_library(Shelf::Kernels)) {
    const bool forward = entry.name.starts_with("attention_forward"), backward = entry.name.starts_with("attention_backward");
    if (!forward && !backward) continue;
    Scope sizes{{"HEADS", 2}, {"GROUP", 3}};
    if (entry.name.find("varlen") == std::string::npos) sizes.insert({{"Q_LEN", 130}, {"KV_LEN", 192}});
    if (entry.name.starts_with("attention_forward_tile") || entry.name.find("parts") != std::string::npos) sizes["KV_LEN"] = 256;
    check_passes(shipped(entry.name), sizes);
  }
}

TEST_CASE("attention backward with other columns of values than of keys agrees with its formula", "[core]") {
  const Scope sizes{{"HEADS", 1}, {"GROUP", 2}, {"Q_LEN", 90}, {"KV_LEN", 130}};
  for (const auto& [keys, values] : {std::pair{"192", "128"}, {"64", "128"}, {"128", "192"}}) {
    const auto kernel = kernel_of(*find_pattern("attention_backward"), {{"head_size", keys}, {"v_head_size", values}, {"mask", "causal"}});
    REQUIRE(kernel.ok());
    check_passes(*kernel, sizes);
  }
}

TEST_CASE("keys that do not fill a whole number of tiles are masked, and without the mask reported as wrong, not hidden", "[core]") {
  const Scope sizes{{"HEADS", 1}, {"Q_LEN", 64}, {"KV_LEN", 200}};
  Kernel kernel = shipped("attention_forward_hopper");
  check_passes(kernel, sizes);
  kernel.whole = nullptr;                                                        // what whole steps left of it
  std::erase_if(kernel.params, [](const Param& p) { return p.name == "LSE"; });  // a switch of nothing now
  check_fails(kernel, sizes);
  kernel.loop.trips = Expr::parse("(KV_LEN - KV_LEN % KV) / KV").value();
  check_fails(kernel, sizes);
  kernel.loop.trips = Expr::parse("KV_LEN / KV").value();
  const auto report = evaluate(kernel, sizes);
  REQUIRE_FALSE(report.ok());
  CHECK_THAT(to_string(report.error()), Catch::Contains("/loop/trips: \"KV_LEN / KV\" leaves a remainder"));
}

TEST_CASE("another seed gives other numbers and the same verdict", "[core]") {
  const Kernel kernel = shipped("gemm_hopper");
  const Scope sizes{{"M", 64}, {"N", 64}, {"K", 64}};
  const EvalReport first = evaluated(kernel, sizes, 1), again = evaluated(kernel, sizes, 1), second = evaluated(kernel, sizes, 2);
  CHECK(first.tensors[0].rms_value == again.tensors[0].rms_value);
  CHECK(first.tensors[0].rms_value != second.tensors[0].rms_value);
  CHECK(second.pass);
}

TEST_CASE("a kernel with one thing wrong fails the comparison", "[core]") {
  SECTION("the rescale of O is dropped") {
    Kernel kernel = shipped("attention_forward_hopper");
    op_named(kernel, "PV0").inputs[2] = {"o0", 1};
    check_fails(kernel, kSmallForward);
  }
  SECTION("the running sum forgets the earlier tiles' scale") {
    Kernel kernel = shipped("attention_forward_blackwell");
    op_named(kernel, "sum1").inputs.pop_back();
    check_fails(kernel, {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}});
  }
  SECTION("an operand is not transposed") {
    Kernel kernel = shipped("attention_forward_hopper");
    op_named(kernel, "QK1").attrs["transpose_b"] = false;
    check_fails(kernel, kSmallForward);
  }
  SECTION("the second group reads the first group's rows") {
    Kernel kernel = shipped("gemm_hopper");
    op_named(kernel, "MMA1").inputs[0].value = "a0";
    check_fails(kernel);
  }
  SECTION("one of two accumulations is read one iteration late") {
    Kernel kernel = shipped("swiglu_dual_gemm_hopper");
    op_named(kernel, "U0").inputs[2].distance = 2;
    check_fails(kernel);
  }
  SECTION("a chunk of dQ is added at the wrong column") {
    Kernel kernel = shipped("attention_backward_blackwell");
    op_named(kernel, "add_dq3").at = op_named(kernel, "add_dq2").at;
    check_fails(kernel, {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 128}});
  }
  SECTION("a block of queries on the diagonal is left out") {
    Kernel kernel = shipped("attention_backward_causal_hopper");
    kernel.loop.tile_trips = Expr::parse("ceil_div(Q_LEN, 64) - max(0, bk*128 + 64 + Q_LEN - KV_LEN) / 64").value();
    check_fails(kernel, {{"HEADS", 1}, {"Q_LEN", 192}, {"KV_LEN", 192}});
  }
  SECTION("a tile of keys and queries is masked as one of queries and keys") {
    Kernel kernel = shipped("attention_backward_causal_hopper");
    op_named(kernel, "mask1").attrs.erase("transpose");
    check_fails(kernel, {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 128}});
  }
  SECTION("Delta is left out of dS") {
    Kernel kernel = shipped("attention_backward_hopper");
    op_named(kernel, "mul1").inputs[1].value = "dp1";
    check_fails(kernel, {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 128}});
  }
  SECTION("the variance is not divided by the number of columns") {
    Kernel kernel = shipped("layernorm");
    op_named(kernel, "variance").attrs.erase("mean");
    check_fails(kernel);
  }
  SECTION("part of the output is never written") {
    Kernel kernel = shipped("gemm_hopper");
    kernel.epilogue.pop_back();
    const EvalReport report = evaluated(kernel);
    CHECK_FALSE(report.pass);
    CHECK(report.tensors[0].not_finite == 128 * 512);
  }
}

TEST_CASE("a kernel without a formula is executed and says that nothing was compared", "[core]") {
  Kernel kernel = shipped("gemm_hopper");
  kernel.reference.clear();
  const EvalReport report = evaluated(kernel);
  CHECK(report.pass);
  CHECK(report.reference.empty());
  CHECK_FALSE(report.tensors[0].compared);
  CHECK(report.count.ops > 0);
}

TEST_CASE("the report counts blocks, trips, ops and multiply-adds", "[core]") {
  const EvalReport report = evaluated(shipped("gemm_hopper"), {{"M", 256}, {"N", 512}, {"K", 192}});
  CHECK(report.count.blocks == 4);
  CHECK(report.count.trips == 3);
  CHECK(report.count.ops == 4 * (2 + 3 * 5 + 6));
  CHECK(report.count.work > 256 * 512 * 192);
  CHECK(report.params.at("TILE_N") == 256);
}

TEST_CASE("what cannot be evaluated is an input error that names the op", "[core]") {
  const auto message = [](const Kernel& kernel, const Scope& overrides = {}) {
    const auto report = evaluate(kernel, overrides);
    REQUIRE_FALSE(report.ok());
    CHECK(report.error().kind == ErrorKind::Input);
    return to_string(report.error());
  };
  Kernel kernel = shipped("attention_forward_hopper");
  SECTION("unknown parameter") { CHECK_THAT(message(kernel, {{"KVLEN", 5}}), Catch::Contains("did you mean 'KV_LEN'?")); }
  SECTION("too much work") {
    CHECK_THAT(message(kernel, {{"HEADS", 1000}, {"Q_LEN", 65536}, {"KV_LEN", 128}}), Catch::Contains("elements in all"));
    CHECK_THAT(message(kernel, {{"Q_LEN", 16384}, {"KV_LEN", 16384}}), Catch::Contains("multiply-adds"));
    CHECK_THAT(message(shipped("layernorm"), {{"BLOCKS", 1LL << 60}, {"ROWS", 8}}), Catch::Contains("64 bits"));
  }
  SECTION("sizes below one") {
    CHECK_THAT(message(kernel, {{"Q_LEN", 0}}), Catch::Contains("at least 1"));
    CHECK_THAT(message(kernel, {{"KV", -3}}), Catch::Contains("at least 1"));
    CHECK_THAT(message(kernel, {{"KV", 0}}), Catch::Contains("at least 1"));
  }
  SECTION("shapes that do not fit") {
    kernel.values[0].shape[1] = Expr(64);
    CHECK_THAT(message(kernel, kSmallForward), Catch::Contains("op 'QK0' (mma)") && Catch::Contains("128x64"));
  }
  SECTION("a value read before it is defined") {
    std::swap(kernel.body[2], kernel.body[3]);
    CHECK_THAT(message(kernel, kSmallForward), Catch::Contains("op 'max0' reads 's0' before anything defines it"));
  }
  SECTION("a first iteration without a start value") {
    std::erase_if(kernel.prologue, [](const TileOp& op) { return op.name == "init_m0"; });
    CHECK_THAT(message(kernel, kSmallForward), Catch::Contains("reads 'm0[-1]' in iteration 0"));
  }
  SECTION("an op without meaning") {
    op_named(kernel, "exp1").kind = "opaque";
    CHECK_THAT(message(kernel, kSmallForward), Catch::Contains("numbers only"));
  }
  SECTION("an unknown formula") {
    kernel.reference = "atention_forward";
    CHECK_THAT(message(kernel, kSmallForward), Catch::Contains("did you mean 'attention_forward'?"));
  }
  SECTION("a formula about other tensors") {
    kernel.reference = "gemm";
    CHECK_THAT(message(kernel, kSmallForward), Catch::Contains("needs a tensor 'A'"));
  }
}

TEST_CASE("evaluation stops when asked", "[core]") {
  std::stop_source stop;
  stop.request_stop();
  const auto report = evaluate(shipped("gemm_hopper"), {}, 1, stop.get_token());
  REQUIRE(report.ok());
  CHECK(report->cancelled);
  CHECK_FALSE(report->pass);
}
