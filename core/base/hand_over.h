// A place where one thread hands something to another. Tests pause there, so that every order of the two is met; otherwise it costs
// one load.
#pragma once

#include <atomic>

namespace heddle {

/// Safe from any thread; null: no pause.
inline std::atomic<void (*)()> hand_over_pause{nullptr};

inline void hand_over_point() {
  if (void (*pause)() = hand_over_pause.load(std::memory_order_acquire)) pause();
}

}  // namespace heddle
