// Who wrote each piece of shared memory (and of tensor memory) last, and who read it since: so a race is found from one run, even where
// this run's timing hid it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ptx/judge/clock.h"
#include "ptx/judge/finding.h"

namespace heddle::ptx {

enum class Proxy : std::uint8_t { Generic, Async };

/// Bytes [begin, end) of one CTA's shared memory.
struct ByteRange {
  std::uint32_t begin = 0, end = 0;
};

/// One access, by whoever does it.
struct ShadowAccess {
  Component by = 0;  ///< the component whose epoch ends it: the warp, or a queue, or a barrier
  Epoch epoch = 0;   ///< kPending: a copy's write, whose phase is not known yet
  Proxy proxy = Proxy::Generic;
  int pc = -1;
  int warp = -1;          ///< who issued it
  const char* what = "";  ///< "load", "product's operand B": begins the sentence
  /// An atomic, or ld and st with .volatile, .relaxed, .acquire, .release: two of them do not race.
  bool strong = false;
  std::int64_t cycle = 0;  ///< for the finding
  bool sure = false;       ///< no write was left out before: a read by threads of what nobody wrote is found
};

/// Shared memory of one CTA. An address is a byte of it; exact by bytes.
class Shadow {
 public:
  Shadow(std::uint32_t bytes, const Components& components, Findings& findings);
  ~Shadow();
  Shadow(Shadow&& other) noexcept;

  /// What is read must be known to be written (and, through the async proxy, made visible to it). `known` is what the reader
  /// knows, its own earlier steps among it (Warp::release).
  void read(std::span<const ByteRange> where, const ShadowAccess& access, const KnownClocks& known);
  /// Earlier writes and reads must be known to be over.
  void write(std::span<const ByteRange> where, const ShadowAccess& access, const KnownClocks& known);
  /// A copy that was pending has written: what it still owns of `where` is now known by `epoch` of its barrier.
  void settle(std::span<const ByteRange> where, Component by, int pc, Epoch epoch);

  /// Who wrote byte `at` last, and which instruction; -1: nobody.
  int written_by(std::uint32_t at) const;
  int written_at(std::uint32_t at) const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace heddle::ptx
