// One small PTX body in a kernel with two tensor maps and a pointer, run on a cluster: what is found.
#pragma once

#include <string>
#include <vector>

#include "ptx/judge/finding.h"
#include "ptx/launch/launch.h"
#include "ptx/run/trace.h"

namespace heddle::test {

struct UnitCase {
  int threads = 128;
  unsigned cluster = 1;
  unsigned grid = 1;
  std::string target = "sm_90a";
  std::string body;
  ptx::TensorMap load = bf16_tile(), store = bf16_tile();  ///< at bytes 0 and 128 of the parameters; a pointer to `buffer` at 256

  /// 64 x 64 numbers of 16 bits: 8192 bytes, rows of 128.
  static ptx::TensorMap bf16_tile();
};

struct UnitResult {
  std::vector<ptx::CheckFinding> findings;
  std::string stopped;
  ptx::Trace trace;

  bool has(ptx::CheckRule rule) const;
  /// Nothing wrong and nothing doubtful, and it came to its end.
  bool clean() const;
  /// All findings, a line each, for a test that fails.
  std::string said() const;
};

/// %r0: thread, %r1: warp, %r2: address of 64 KB of shared memory, %r3: CTA in the cluster. The body may use %r4 to %r63, %p0 to %p15, %rd,
/// %f and its own labels.
UnitResult run_unit_case(const UnitCase& small);

/// `mbarrier.init` of the 8-byte barriers 0 to count - 1 for so many arrivals by thread 0, a fence, and a barrier of all threads.
std::string barriers(int count, int arrivals = 1);
/// All lanes that come here wait for a barrier's phase.
std::string wait(int barrier, int parity, const std::string& label);
/// Only thread 0 does it. `label`: unique.
std::string by_one(const std::string& what, const std::string& label);
/// The first map's tile to byte `to` (of %r2), signalled at a barrier, of which so many bytes are expected.
std::string load_tile(int to, int barrier, int expect = 8192);

constexpr int kTile = 8192;
/// Where tiles begin: behind the barriers.
constexpr int kTiles = 1024;

}  // namespace heddle::test
