// What the writers of Chrome traces share: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
// (trace event format). One cycle is written as one nanosecond; timestamps there are microseconds.
#pragma once

#include <string>
#include <utility>

#include "core/io/json.h"
#include "core/base/id.h"

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

}  // namespace heddle
