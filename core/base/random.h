// Random numbers that are the same everywhere: the standard fixes its engines but not its distributions.
#pragma once

#include <cstdint>

namespace heddle {

/// The last step of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): counters that lie close become numbers that do not.
inline std::uint64_t mixed_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// SplitMix64. Small, and any seed is as good as another.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return mixed_bits(state_ += 0x9e3779b97f4a7c15ull); }

 private:
  std::uint64_t state_;
};

/// Of 64 random bits: the sum of four uniform numbers, scaled to variance 1. Near enough to normal, and never beyond 3.5.
inline float near_normal(std::uint64_t bits) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += static_cast<double>((bits >> (16 * i)) & 0xffff) / 65536.0 - 0.5;
  return static_cast<float>(sum * 1.7320508075688772);
}

}  // namespace heddle
