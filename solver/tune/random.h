// What the tuner draws.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/base/random.h"

namespace heddle::solver {

class TuneRandom {
 public:
  explicit TuneRandom(std::uint64_t seed) : bits_(seed) {}
  TuneRandom(std::uint64_t seed, std::uint64_t stream) : bits_(SplitMix64(seed).next() ^ (stream * 0x9e3779b97f4a7c15ull)) {}

  std::uint64_t next() { return bits_.next(); }
  /// 0 to count - 1. Pre: count > 0.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(static_cast<unsigned __int128>(next()) * static_cast<std::uint64_t>(count) >> 64);
  }
  /// [0, 1)
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  double normal() { return std::sqrt(-2 * std::log(1 - unit())) * std::cos(2 * std::numbers::pi * unit()); }

 private:
  SplitMix64 bits_;
};

}  // namespace heddle::solver
