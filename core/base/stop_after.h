// A stop token for one piece of work: it is asked to stop when another token is, or when its time is over.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace heddle {

class StopAfter {
 public:
  StopAfter(const std::stop_token& other, double seconds)
      : other_(other, Ask{this}), timer_([this, seconds](const std::stop_token& end) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          const std::chrono::duration<double> time(std::clamp(seconds, 0.0, 1e6));  // far from where a clock would overflow
          std::condition_variable_any().wait_for(lock, end, time, [] { return false; });
          if (!end.stop_requested()) source_.request_stop();
        }) {}
  StopAfter(const StopAfter&) = delete;
  StopAfter& operator=(const StopAfter&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Ask {
    StopAfter* self;
    void operator()() const { self->source_.request_stop(); }
  };

  std::stop_source source_;
  std::stop_callback<Ask> other_;
  std::jthread timer_;  // last: it uses the others
};

}  // namespace heddle
