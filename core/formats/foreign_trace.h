// Traces of other intra-kernel profilers as measurements: the JSON that Chrome and Perfetto read (Triton's Proton writes it; a FlashInfer
// trace becomes it with Perfetto's traceconv). Events are matched with a problem's ops by name, or by a file that says what stands for
// what.
//
// A process of the trace is a block, a thread a warp or a warp group. In each thread the n-th event of an op is its n-th iteration.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/records/measurement.h"

namespace heddle {

struct TraceEvent {
  std::string name;
  std::string block, lane;    ///< process and thread; " (line 2)" and the like, which Proton adds where scopes overlap, left out
  double begin = 0, end = 0;  ///< thousandths of the trace's time unit: nanoseconds, or cycles where the profiler counts those
};

struct ForeignTrace {
  std::vector<TraceEvent> events;
  std::int64_t dropped = 0;  ///< begins without an end, ends without a begin
  bool proton = false;       ///< its processes are called as Proton calls them, whose times are cycles
};

/// Faults: no JSON, no list of events, events whose numbers make no sense, none with a duration.
Result<ForeignTrace> parse_foreign_trace(std::string_view text, const std::string& file);
Result<ForeignTrace> read_foreign_trace(const std::string& path);

/// heddle.trace_map/1: {"schema", "ops": {"their name": "our op", "their name @ part of a thread's name": "our op"}, "counts": "cycles" or
/// "ns", "clock_mhz": N}. All but the schema may be left out.
struct TraceMap {
  std::map<std::string, std::string> ops;
  std::optional<bool> cycles;  ///< what times count; unset: cycles for Proton, else nanoseconds
  std::int64_t clock_mhz = 0;  ///< 0: the machine's
};
Result<TraceMap> parse_trace_map(std::string_view text, const std::string& file, std::vector<Fault>* warnings = nullptr);
Result<TraceMap> read_trace_map(const std::string& path, std::vector<Fault>* warnings = nullptr);

struct UnmatchedName {
  std::string name, nearest;  ///< the nearest op; may be empty
  std::int64_t events = 0;
};

struct TraceMeasurement {
  Measurement measurement;
  std::vector<UnmatchedName> unmatched;  ///< most events first
  std::vector<OpId> missing;             ///< ops of the problem that no event is of
  std::string about;                     ///< "1 204 events of 9 ops in 2 blocks; times are cycles"
};

/// The op that a name of the trace means: as in the map, else the same name, else the same but for case, else the only op that is the same
/// without a path before it and a number behind it. Invalid: none.
OpId match_op(const Problem& problem, const TraceMap& map, const std::string& name, const std::string& lane);

/// Input error where no event is of any op, or the map names an op that the problem lacks. Pre: the schedule fits the problem.
Result<TraceMeasurement> measure_trace(const ForeignTrace& trace, const TraceMap& map, std::int64_t machine_mhz, const Problem& problem,
                                       const Schedule& schedule);

}  // namespace heddle
