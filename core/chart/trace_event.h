// What the writers of Chrome traces share: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
// (trace event format). One cycle is written as one nanosecond; timestamps there are microseconds.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/id.h"
#include "core/base/json.h"

namespace heddle {

/// Of a trace that has one process.
inline constexpr int kTraceProcess = 1;

inline double trace_microseconds(Cycle cycles) { return static_cast<double>(cycles) / 1000.0; }

/// An event that says something of a process or a thread.
inline Json trace_metadata(const char* what, int process, int thread, Json::Object args) {
  return Json::Object{{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", std::move(args)}};
}

/// Its name; `what` is process_name or thread_name.
inline Json trace_name(const char* what, int process, int thread, const std::string& name) {
  return trace_metadata(what, process, thread, {{"name", name}});
}

/// Slices that overlap cannot share a thread: given in order of their begins, each takes the lowest lane that is free (greedy colouring of
/// intervals, which needs no more lanes than slices overlap).
template <class Time>
class Lanes {
 public:
  int take(Time begin, Time end) {
    const auto lane = std::find_if(free_at_.begin(), free_at_.end(), [&](Time free) { return free <= begin; });
    const auto number = static_cast<int>(lane - free_at_.begin());
    if (lane == free_at_.end())
      free_at_.push_back(end);
    else
      *lane = end;
    return number;
  }
  int count() const { return static_cast<int>(free_at_.size()); }

 private:
  std::vector<Time> free_at_;
};

}  // namespace heddle
