// Random numbers that are the same everywhere: the standard fixes the engine but not its distributions.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace heddle::solver {

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). Small, and any seed is as good as another.
class TuneRandom {
 public:
  explicit TuneRandom(std::uint64_t seed) : state_(seed) {}
  TuneRandom(std::uint64_t seed, std::uint64_t stream) : state_(seed) { state_ = next() ^ (stream * 0x9e3779b97f4a7c15ull); }

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// 0 to count - 1. Pre: count > 0.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(static_cast<unsigned __int128>(next()) * static_cast<std::uint64_t>(count) >> 64);
  }
  /// [0, 1)
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  double normal() { return std::sqrt(-2 * std::log(1 - unit())) * std::cos(2 * std::numbers::pi * unit()); }

 private:
  std::uint64_t state_;
};

}  // namespace heddle::solver
