// Draws for the generators: the same seed gives the same draws on every machine and with every library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/base/random.h"

namespace heddle::strange {

class Dice {
 public:
  /// Neighbouring seeds must not give one sequence with a shift: the seed is mixed before it is a state.
  explicit Dice(std::uint64_t seed) : bits_(mixed_bits(seed)) {}

  std::uint64_t next() { return bits_.next(); }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % (static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  const T& pick(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(next() % items.size())];
  }
  std::string pick(std::initializer_list<const char*> items) { return *(items.begin() + next() % items.size()); }
  std::int64_t pick(std::initializer_list<std::int64_t> items) { return *(items.begin() + next() % items.size()); }

  /// Mostly small, now and then at or near an end of the range, or a power of two.
  std::int64_t odd(std::int64_t low, std::int64_t high) {
    const auto within = [&](std::int64_t value) { return std::clamp(value, low, high); };
    switch (between(0, 9)) {
      case 0: return low;
      case 1: return high;
      case 2: return within(high - between(0, 2));
      case 3: return within(std::int64_t{1} << between(0, 40));
      case 4: return between(low, high);
      default: return within(low + between(0, 8));
    }
  }

 private:
  SplitMix64 bits_;
};

/// Names that nobody would give: one letter, very long, words of programs, figures; letters, digits, '_', '.' and '-'. Each once.
class Names {
 public:
  explicit Names(Dice& dice) : dice_(dice) {}

  std::string name(const std::string& stem) { return fresh(odd(stem, true)); }
  std::string identifier(const std::string& stem) { return fresh(odd(stem, false)); }

 private:
  std::string odd(const std::string& stem, bool any) {
    switch (dice_.between(0, any ? 9 : 4)) {
      case 0:
        return dice_.pick({"null", "nan", "inf", "true", "NULL", "constructor", "__proto__", "pin", "groups", "stage", "II", "min", "if"});
      case 1: return std::string(1, static_cast<char>('a' + dice_.between(0, 25)));
      case 2: return dice_.chance(20) ? stem + std::string(static_cast<std::size_t>(dice_.between(60, 150)), 'x') : stem;
      case 5: return dice_.pick({"0", "1e9", "007", "3-4", "a.b", "a.latency", "limits.smem_bytes", "x--y", "_", "a...b", "2.5"});
      default: return stem;
    }
  }
  std::string fresh(const std::string& wanted) {
    std::string name = wanted;
    while (!taken_.insert(name).second) name = wanted + "_" + std::to_string(count_++);
    return name;
  }

  Dice& dice_;
  std::set<std::string> taken_;
  int count_ = 0;
};

}  // namespace heddle::strange
