// Waiting for work in the background, on any machine.
#pragma once

#include <chrono>
#include <thread>

namespace heddle::test {

/// Longer than anything that a test waits for takes on the slowest and busiest machine. What takes longer hangs, and the test says where.
constexpr std::chrono::minutes kPatience{5};

/// Looks every millisecond whether it is `done`, and takes a step (`pump()`, `frame()`) between; false when patience ends.
template <class Done, class Step>
bool wait_until(Done done, Step step) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    step();
  }
  return true;
}
template <class Done>
bool wait_until(Done done) {
  return wait_until(done, [] {});
}

}  // namespace heddle::test
