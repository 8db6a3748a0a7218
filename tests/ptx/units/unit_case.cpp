#include "tests/ptx/units/unit_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/run/cluster.h"
#include "ptx/text/parse.h"

namespace heddle::test {
using namespace ptx;

TensorMap UnitCase::bf16_tile() {
  TensorMap map;
  map.name = "T";
  map.element = MapElement::Bf16;
  map.address = 0x500000000000;
  map.extents = {1024, 1024};
  map.strides = {2048};
  map.box = {64, 64};
  map.steps = {1, 1};
  map.swizzle = 128;
  return map;
}

bool UnitResult::has(CheckRule rule) const {
  return std::any_of(findings.begin(), findings.end(), [&](const CheckFinding& one) { return one.rule == rule; });
}

bool UnitResult::clean() const {
  const auto note = [](const CheckFinding& one) { return row_of(one.rule).rank == Rank::Note; };
  return stopped.empty() && std::all_of(findings.begin(), findings.end(), note);
}

std::string UnitResult::said() const {
  std::string all;
  for (const CheckFinding& one : findings) all += fmt::format("{}: {}\n", row_of(one.rule).key, one.sentence);
  return all + (stopped.empty() ? "" : "stopped: " + stopped);
}

namespace {

std::string text_of(const UnitCase& small) {
  return fmt::format(R"(.version 9.0
.target {}
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.visible .entry small(.param .align 64 .b8 load[128], .param .align 64 .b8 store[128], .param .u64 buffer)
.maxntid {}
{{
  .reg .pred %p<16>;
  .reg .b16 %h<8>;
  .reg .b32 %r<64>;
  .reg .b64 %rd<32>;
  .reg .b128 %q<2>;
  .reg .f32 %f<64>;
  mov.u32 %r0, %tid.x;
  shr.u32 %r1, %r0, 5;
  mov.u32 %r2, memory;
  mov.u32 %r3, %cluster_ctarank;
{}
  ret;
}}
)",
                     small.target, small.threads, small.body);
}

}  // namespace

UnitResult run_unit_case(const UnitCase& small) {
  UnitResult result;
  const Result<PtxModule> module = parse(text_of(small), "small.ptx");
  if (!module) {
    result.stopped = to_string(module.error());
    return result;
  }
  Launch launch;
  launch.grid = {small.grid * small.cluster, 1, 1};
  launch.cluster = {small.cluster, 1, 1};
  launch.block = {static_cast<std::uint32_t>(small.threads), 1, 1};
  launch.dynamic_shared = 65536;
  launch.parameters.assign(264, 0);
  const std::uint64_t buffer = 0x600000000000;
  for (std::size_t i = 0; i < 8; ++i) launch.parameters[256 + i] = static_cast<std::uint8_t>(buffer >> 8 * i);
  launch.maps = {{0, true, small.load}, {128, true, small.store}};
  launch.buffers = {{"buffer", buffer, 4096, {}, false}};
  const Costs costs = costs_of(nullptr);
  ClusterOptions options;
  options.limit = 200'000;
  ClusterRun run(module.value(), *module.value().find("small"), launch, costs, options);
  run.run();
  result.findings = run.findings.all();
  result.stopped = run.hit_limit() ? "the limit" : run.stop_reason();
  result.trace = run.trace;
  return result;
}

std::string by_one(const std::string& what, const std::string& label) {
  return fmt::format("  setp.ne.s32 %p15, %r0, 0;\n  @%p15 bra {0};\n{1}{0}:\n", label, what);
}

std::string barriers(int count, int arrivals) {
  std::string inits;
  for (int i = 0; i < count; ++i) inits += fmt::format("  mbarrier.init.shared::cta.b64 [%r2+{}], {};\n", 8 * i, arrivals);
  return by_one(inits + "  fence.mbarrier_init.release.cluster;\n", "MADE") + "  bar.sync 0;\n";
}

std::string wait(int barrier, int parity, const std::string& label) {
  return fmt::format("{0}:\n  mbarrier.try_wait.parity.shared::cta.b64 %p14, [%r2+{1}], {2};\n  @!%p14 bra {0};\n", label, 8 * barrier,
                     parity);
}

std::string load_tile(int to, int barrier, int expect) {
  return fmt::format(R"(  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+{1}], {2};
  mov.u64 %rd31, load;
  add.s32 %r63, %r2, {0};
  add.s32 %r62, %r2, {1};
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r63], [%rd31, {{0, 0}}], [%r62];
)",
                     to, 8 * barrier, expect);
}

}  // namespace heddle::test
