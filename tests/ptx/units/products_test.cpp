// Products of warp groups, and those that a warp does itself: a small kernel that breaks each rule, and one that does not.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/ptx/units/unit_case.h"

using namespace heddle;
using namespace heddle::ptx;
using namespace heddle::test;

namespace {

UnitResult run(const std::string& body) {
  UnitCase small;
  small.body = body;
  return run_unit_case(small);
}

std::string registers(int first, int count) {
  std::string all = "{";
  for (int i = 0; i < count; ++i) all += fmt::format("{}%f{}", i == 0 ? "" : ", ", first + i);
  return all + "}";
}

/// Descriptors %rd0 (A: 64 x 16 at kTiles) and %rd1 (B: 32 x 16 behind it), 128-byte pattern.
const std::string kDescriptors = fmt::format(R"(  add.s32 %r10, %r2, {};
  shr.u32 %r10, %r10, 4;
  cvt.u64.u32 %rd0, %r10;
  or.b64 %rd0, %rd0, 0x4000004000010000;
  add.s64 %rd1, %rd0, 256;
  setp.eq.s32 %p1, %r0, %r0;
)",
                                             kTiles);
const std::string kFence = "  wgmma.fence.sync.aligned;\n", kCommit = "  wgmma.commit_group.sync.aligned;\n",
                  kWait = "  wgmma.wait_group.sync.aligned 0;\n";
const std::string kProduct =
    "  wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 " + registers(0, 16) + ", %rd0, %rd1, %p1, 1, 1, 0, 0;\n";
const std::string kUse = "  add.f32 %f40, %f0, %f1;\n";
const std::string kTouch = "  mul.f32 %f3, %f3, %f41;\n";
const std::string kTileThere = barriers(2) + by_one(load_tile(kTiles, 0), "COPIED") + wait(0, 0, "W") + kDescriptors;

}  // namespace

TEST_CASE("a product is fenced, committed and waited for") {
  const UnitResult right = run(kTileThere + kTouch + kFence + kProduct + kProduct + kCommit + kWait + kUse);
  INFO(right.said());
  CHECK(right.clean());
  CHECK(run(kTileThere + kTouch + kProduct + kCommit + kWait).has(CheckRule::MissingProductFence));
  CHECK(run(kTileThere + kFence + kTouch + kProduct + kCommit + kWait).has(CheckRule::MissingProductFence));
  CHECK(run(kTileThere + kFence + kProduct + kWait + kUse).has(CheckRule::NotCommitted));
  CHECK(run(kTileThere + kFence + kProduct + kWait + kUse).has(CheckRule::RegisterInFlight));
  CHECK(run(kTileThere + kFence + kProduct).has(CheckRule::NotCommitted));
  const UnitResult early = run(kTileThere + kFence + kProduct + kCommit + kUse + kWait);
  INFO(early.said());
  CHECK(early.has(CheckRule::RegisterInFlight));
  const UnitResult one_left =
      run(kTileThere + kFence + kProduct + kCommit + kProduct + kCommit + "  wgmma.wait_group.sync.aligned 1;\n" + kUse);
  CHECK(one_left.has(CheckRule::RegisterInFlight));
}

TEST_CASE("a product's operand is read behind its barrier, and overwritten behind the product") {
  const std::string copy = barriers(2) + by_one(load_tile(kTiles, 0), "COPIED") + kDescriptors;
  const std::string product = kFence + kProduct + kCommit;
  CHECK(run(copy + product + kWait + wait(0, 0, "W")).has(CheckRule::ReadBeforeReady));
  const std::string again = "  bar.sync 0;\n" + by_one(load_tile(kTiles, 1), "AGAIN") + wait(1, 0, "V");
  const UnitResult right = run(kTileThere + product + kWait + again);
  INFO(right.said());
  CHECK(right.clean());
  CHECK(run(kTileThere + product + again + kWait).has(CheckRule::OverwriteBeforeRead));
}

TEST_CASE("only the bytes of an operand are read") {
  // Rows 32 to 63 of operand B's columns 0 to 31 are nobody's.
  const std::string write =
      fmt::format("  mul.lo.s32 %r11, %r0, 4;\n  add.s32 %r11, %r11, %r2;\n  st.shared.f32 [%r11+{}], %f60;\n", kTiles + 4096 + 32 * 128);
  const UnitResult right = run(kTileThere + kFence + kProduct + kCommit + write + kWait);
  INFO(right.said());
  CHECK(right.has(CheckRule::OverwriteBeforeRead) == false);
}

TEST_CASE("the four warps of a group issue the same product") {
  const std::string other = "  setp.eq.s32 %p2, %r1, 3;\n  @%p2 bra OTHER;\n" + kProduct + "  bra BOTH;\nOTHER:\n" + kProduct + "BOTH:\n";
  CHECK(run(kTileThere + kFence + other + kCommit + kWait).has(CheckRule::NotConverged));
  const std::string shifted = "  cvt.u64.u32 %rd5, %r1;\n  add.s64 %rd1, %rd1, %rd5;\n";
  CHECK(run(kTileThere + shifted + kFence + kProduct + kCommit + kWait).has(CheckRule::ProductShape));
  const std::string missing = "  setp.eq.s32 %p2, %r1, 3;\n  @%p2 bra SKIPPED;\n" + kFence + kProduct + kCommit + kWait + "SKIPPED:\n";
  CHECK(run(kTileThere + missing).has(CheckRule::Hang));
}

TEST_CASE("operand A in registers stays untouched until the product is over") {
  const std::string product =
      "  wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 " + registers(0, 16) + ", {%r40, %r41, %r42, %r43}, %rd1, %p1, 1, 1, 0;\n";
  const std::string make = "  mov.b32 %r40, 0;\n  add.s32 %r40, %r0, %r40;\n";
  const UnitResult right = run(kTileThere + make + kFence + product + kCommit + kWait + make);
  INFO(right.said());
  CHECK(right.clean());
  CHECK(run(kTileThere + kFence + make + product + kCommit + kWait).has(CheckRule::MissingProductFence));
  CHECK(run(kTileThere + make + kFence + product + kCommit + make + kWait).has(CheckRule::RegisterInFlight));
}

TEST_CASE("sparse products are refused by name") {
  const std::string sparse =
      "  wgmma.mma_async.sp.sync.aligned.m64n32k32.f32.bf16.bf16 " + registers(0, 16) + ", %rd0, %rd1, %r20, 0, %p1, 1, 1, 0, 0;\n";
  CHECK(run(kTileThere + kFence + sparse).stopped.find("wgmma.mma_async.sp") != std::string::npos);
}

TEST_CASE("ldmatrix reads 16 bytes a row, mma.sync registers only") {
  UnitCase small;
  small.target = "sm_80";
  small.threads = 64;
  const std::string write =
      fmt::format("  mul.lo.s32 %r10, %r0, 16;\n  add.s32 %r10, %r10, %r2;\n  st.shared.v4.b32 [%r10], {{%r0, %r0, %r0, %r0}};\n");
  const std::string read = "  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r10];\n";
  const std::string multiply =
      "  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r20, %r21, %r22, %r23}, {%r20, %r21}, {%f0, %f1, %f2, "
      "%f3};\n";
  small.body = write + read + multiply + "  st.shared.f32 [%r10], %f0;\n";
  const UnitResult own = run_unit_case(small);  // each warp reads what it wrote itself
  INFO(own.said());
  CHECK(own.clean());
  small.body = write + "  xor.b32 %r10, %r10, 512;\n" + read;
  CHECK(run_unit_case(small).has(CheckRule::ReadBeforeReady));
  small.body = write + "  bar.sync 0;\n  xor.b32 %r10, %r10, 512;\n" + read;
  CHECK(run_unit_case(small).clean());
  small.body = write + "  add.s32 %r10, %r10, 8;\n" + read;
  CHECK(run_unit_case(small).has(CheckRule::Misaligned));
}

// As ptxas of CUDA 13.0 takes and refuses them.
TEST_CASE("shapes and types that wgmma does not have are found by line", "[ptx]") {
  const auto product = [](const std::string& form, int count, int immediates) {
    std::string tail;
    for (int i = 0; i < immediates; ++i) tail += i < 2 ? ", 1" : ", 0";
    return kTileThere + kFence + "  wgmma.mma_async.sync.aligned." + form + " " + registers(0, count) + ", %rd0, %rd1, %p1" + tail + ";\n" +
           kCommit + kWait;
  };
  struct Form {
    const char* words;
    int registers, immediates;
  };
  for (const Form& right : {Form{"m64n24k16.f32.bf16.bf16", 12, 4},
                            {"m64n16k16.f16.f16.f16", 4, 4},
                            {"m64n40k8.f32.tf32.tf32", 20, 2},
                            {"m64n40k32.f16.e4m3.e5m2", 10, 2},
                            {"m64n24k32.s32.u8.s8", 12, 0},
                            {"m64n8k256.s32.b1.b1.and.popc", 4, 0}}) {
    INFO(right.words);
    CHECK_FALSE(run(product(right.words, right.registers, right.immediates)).has(CheckRule::ProductShape));
  }
  for (const Form& wrong : {Form{"m64n12k16.f32.bf16.bf16", 6, 4},
                            {"m64n0k16.f32.bf16.bf16", 1, 4},
                            {"m64n264k16.f32.bf16.bf16", 32, 4},
                            {"m64n16k8.f32.f16.f16", 8, 4},
                            {"m64n16k2147483647.f32.f16.f16", 8, 4},
                            {"m64n16k16.f16.bf16.bf16", 4, 4},
                            {"m64n16k16.f32.f16.bf16", 8, 4},
                            {"m64n16k16.s32.f16.f16", 8, 4},
                            {"m64n16k16.f32.f16.f16", 4, 4},
                            {"m64n40k32.s32.s8.s8", 20, 0},
                            {"m64n16k16.f32.f32.f32", 8, 4},
                            {"m32n16k16.f32.f16.f16", 8, 4}}) {
    const UnitResult found = run(product(wrong.words, wrong.registers, wrong.immediates));
    INFO(wrong.words << ": " << found.said());
    CHECK(found.has(CheckRule::ProductShape));
  }
}
