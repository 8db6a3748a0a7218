#include "tests/ptx/run/small_run.h"

#include <algorithm>
#include <cstring>

#include "ptx/text/parse.h"

namespace heddle::test {

namespace {

constexpr std::uint64_t kIn = 0x500000000000ull, kOut = 0x510000000000ull;
constexpr std::uint64_t kOutBytes = 1 << 16;

std::string text_around(const std::string& body, const SmallRunOptions& options) {
  std::string head = R"(.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 128 .b8 memory[];
.visible .entry small(.param .u64 in, .param .u64 out)
)";
  if (options.maxnreg != 0) head += ".maxnreg " + std::to_string(options.maxnreg) + "\n";
  head += R"({
.reg .b32 r<100>; .reg .b32 t, m, c; .reg .b64 d<60>; .reg .b16 s<20>; .reg .pred p<30>; .reg .f32 f<30>;
ld.param.u64 d0, [in];
ld.param.u64 d1, [out];
mov.u32 t, %tid.x;
mov.u32 m, memory;
mov.u32 c, %cluster_ctarank;
)";
  return head + body + "\nret;\n}\n";
}

}  // namespace

SmallRun::SmallRun(const std::string& body, const SmallRunOptions& options) {
  auto parsed = ptx::parse(text_around(body, options), "small.ptx");
  if (!parsed.ok()) return;
  module_ = std::move(parsed.value());
  launch_.block = {options.threads, 1, 1};
  launch_.cluster = {options.cluster, 1, 1};
  launch_.grid = {options.cluster, 1, 1};
  launch_.dynamic_shared = options.shared;
  launch_.parameters.resize(16);
  std::memcpy(launch_.parameters.data(), &kIn, 8);
  std::memcpy(launch_.parameters.data() + 8, &kOut, 8);
  ptx::GlobalBuffer in{"in", kIn, std::max<std::uint64_t>(8 * options.numbers.size(), 1024), {}, false};
  in.contents.resize(8 * options.numbers.size());
  if (!options.numbers.empty()) std::memcpy(in.contents.data(), options.numbers.data(), in.contents.size());
  launch_.buffers = {in, {"out", kOut, kOutBytes, {}, true}};
  ptx::ClusterOptions how;
  how.limit = options.limit;
  run_ = std::make_unique<ptx::ClusterRun>(module_, module_.functions.front(), launch_, costs_, how);
  run_->run();
}

std::uint64_t SmallRun::out(std::size_t index) const { return run_->global.read(kOut + 8 * index, 8).value_or(0xBAD); }

bool SmallRun::found(ptx::CheckRule rule) const {
  return std::ranges::any_of(run_->findings.all(), [&](const ptx::CheckFinding& finding) { return finding.rule == rule; });
}

std::string SmallRun::said() const {
  if (!run_) return "the text has no structure";
  std::string text;
  for (const ptx::CheckFinding& finding : run_->findings.all())
    text += std::string(ptx::row_of(finding.rule).name) + ": " + finding.sentence + "\n";
  return run_->stopped() ? text + "stopped: " + run_->stop_reason() + "\n" : text;
}

}  // namespace heddle::test
