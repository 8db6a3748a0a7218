// Runs a few lines of PTX as one cluster, with numbers to read from a buffer and a place for results.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/run/cluster.h"

namespace heddle::test {

struct SmallRunOptions {
  std::uint32_t threads = 32, cluster = 1;
  std::uint64_t shared = 4096;  ///< dynamic, named `memory` in the text
  std::vector<std::uint64_t> numbers;
  std::int64_t limit = 200'000;
  std::uint32_t maxnreg = 0;
};

/// A block of so many threads, and a cluster of so many blocks.
inline SmallRunOptions threads(std::uint32_t count, std::uint32_t cluster = 1) {
  SmallRunOptions options;
  options.threads = count;
  options.cluster = cluster;
  return options;
}

/// The text's parameters are `in` (the numbers, 8 bytes each) and `out`; in registers: d0 has in, d1 has out, t the thread's number in the
/// CTA, m the address of shared memory, c the CTA's rank. Free ones: r0 to r99, d2 to d59, s0 to s19, p0 to p29, f0 to f29.
class SmallRun {
 public:
  explicit SmallRun(const std::string& body, const SmallRunOptions& options = {});

  ptx::ClusterRun& run() { return *run_; }
  /// The 8 bytes of `out` at that index; they are 0 at first. 0xBAD where they are unknown.
  std::uint64_t out(std::size_t index) const;
  bool found(ptx::CheckRule rule) const;
  /// All findings, and why the run stopped.
  std::string said() const;
  bool clean() const { return said().empty(); }

 private:
  ptx::PtxModule module_;
  ptx::Launch launch_;
  ptx::Costs costs_;
  std::unique_ptr<ptx::ClusterRun> run_;
};

}  // namespace heddle::test
