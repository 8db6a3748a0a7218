// Pauses of random length wherever a job's thread and the session hand something over, while one of these lives: every order of the
// two is met sooner or later.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "core/base/hand_over.h"

namespace heddle::test {

class RandomPauses {
 public:
  explicit RandomPauses(std::uint64_t seed) {
    count() = seed << 20;
    hand_over_pause = pause;
  }
  ~RandomPauses() { hand_over_pause = nullptr; }
  RandomPauses(const RandomPauses&) = delete;
  RandomPauses& operator=(const RandomPauses&) = delete;

 private:
  static std::atomic<std::uint64_t>& count() {
    static std::atomic<std::uint64_t> count{0};
    return count;
  }
  static void pause() {
    std::uint64_t x = (count().fetch_add(1) + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u;
    x ^= x >> 29;
    switch (x % 8) {
      case 0: return std::this_thread::sleep_for(std::chrono::microseconds((x >> 8) % 4000));
      case 1: return std::this_thread::sleep_for(std::chrono::microseconds((x >> 8) % 200));
      case 2:
      case 3: return std::this_thread::yield();
      default: return;
    }
  }
};

}  // namespace heddle::test
