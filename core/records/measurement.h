// What running a kernel on a GPU has shown, as plain data: was its result right, how fast was it, and what did its ops do when.
// One measurement is one run of one schedule's kernel on one device. Everything but kernel, machine and status may be absent:
// a kernel that never started has no times, one that was only timed has no profile. Nothing here is ever predicted, except
// where a name says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/expr.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// How far a run came.
enum class RunStatus {
  Verified,    ///< every output as the criterion demands, repeated runs bitwise equal
  Unverified,  ///< it ran; its result was not asked for
  Wrong,       ///< an output breaks its criterion
  Unstable,    ///< outputs keep their criterion, but two runs on the same data differ: a race
  TimedOut,    ///< killed at the limit: the kernel does not end
  Faulted,     ///< the device reported a fault, or the process that ran the kernel died
  Refused,     ///< the driver did not start it: launch refused, out of memory, no tensor map
  NoGpu        ///< no driver, no device, or one that cannot run this kernel
};
const char* to_string(RunStatus status);  ///< "verified" ... "timed-out" ... "no-gpu"

struct MeasuredDevice {
  std::string name;  ///< as the driver says, "NVIDIA H200"
  std::string arch;  ///< "sm_90"
  int sms = 0;
  std::string driver;  ///< "580.65.06", or the CUDA version it supports where no more is known: "CUDA 13.0"
  std::int64_t memory_bytes = 0, l2_bytes = 0;
  double max_clock_mhz = 0;  ///< SM clock it may reach
  double clock_mhz = 0;      ///< SM clock while the kernel ran, %clock64 against the global timer; 0: not measured
};

struct MeasuredBuild {
  std::string compiler;  ///< "NVRTC 13.0"
  std::string ptxas;     ///< "V13.0.88"; empty: the cubin does not say
  std::string cubin_hash;
  int registers = 0;  ///< at launch
  std::int64_t spill_bytes = 0, smem_bytes = 0;
  int threads = 0, blocks = 0;  ///< of the launch
};

/// Where the wrong elements of an output lie; codegen/run/error_pattern.h says what each tells of.
enum class ErrorPattern {
  None,        ///< none is wrong
  Everything,  ///< nearly all are
  Panels,      ///< panels of 128 bytes of its rows are wrong, others right
  Chunks,      ///< chunks of 16 bytes are exchanged, or all rows but the first of every eight are wrong
  Rows,        ///< rows of a block of 16 are exchanged
  Tiles,       ///< blocks of 64 rows by 128 bytes are wrong, others right
  Scattered
};
const char* to_string(ErrorPattern pattern);  ///< "none" ... "scattered"

/// One output tensor under one input.
struct OutputCheck {
  std::string tensor;
  std::string input;      ///< "small integers", "random", "outlier rows"
  std::string criterion;  ///< the inequality in words
  bool passed = false;
  double worst = 0, bound = 0;           ///< |computed - reference| at the worst element, and what is allowed there; bound 0: bit for bit
  std::string at;                        ///< the worst element, "C[12, 40]"
  std::int64_t wrong = 0, elements = 0;  ///< beyond their bound, and in all
  std::int64_t untouched = 0;            ///< still the NaN that was there before the run
  ErrorPattern pattern = ErrorPattern::None;
};

struct Verification {
  std::vector<OutputCheck> checks;
  int repeats = 0;            ///< runs on the same data
  bool repeats_equal = true;  ///< bitwise
  std::string reference;      ///< who computed what the results were compared with
};

/// One contender, timed twice: cold, in blocks of launches after a rest each, and sustained, many launches without a pause. A GPU at
/// its power limit lowers its clock, so the two differ, and neither may be compared with the other.
struct TimedKernel {
  std::string name;               ///< "heddle", "cuBLAS 13.1.0"
  std::vector<double> blocks_us;  ///< cold: microseconds per launch, one number per block, in the order measured
  double median_us = 0;           ///< of them
  double tflops = 0;              ///< cold; 0: the number of operations is not known
  double sustained_us = 0;        ///< microseconds per launch, mean of all; 0: not measured
  double sustained_tflops = 0;    ///< 0: not measured, or the number of operations is not known
};

/// A vendor's library that computes the same.
struct TimedLibrary {
  TimedKernel times;                ///< interleaved with the kernel, on the same buffers; no blocks: it was not timed
  std::string absent;               ///< why not
  std::vector<OutputCheck> checks;  ///< of its results, by the criteria that the kernel's are held to; empty: it was not checked
};

struct Timing {
  std::int64_t flops = 0;  ///< of one launch; 0: unknown
  TimedKernel kernel;
  std::vector<TimedLibrary> libraries;
  std::string no_library;           ///< why the list is empty
  std::string left_out;             ///< what its time does not contain though its caller needs it: "zeroing dQ"; empty: nothing
  int launches = 0, warmups = 0;    ///< per cold block; before the first
  int sustained_launches = 0;       ///< without a pause; 0: not measured
  int buffer_sets = 1;              ///< rotated, so that their sum exceeds L2 three times
  double pause_seconds = 0;         ///< of rest before each cold block
  double cycles_per_iteration = 0;  ///< of the steady loop, by the SM's own counter; 0: not measured
  /// The library that took least time when cold; nullptr where none was timed.
  const TimedKernel* fastest_library() const;
  /// Cold speed as a fraction of that of `other`; nothing unless both were timed.
  std::optional<double> ratio(const TimedKernel& other) const;
  /// The same of the sustained speeds.
  std::optional<double> sustained_ratio(const TimedKernel& other) const;
  /// Of the fastest library's; nothing without one.
  std::optional<double> ratio() const;
};

/// One op in one warp group, medians over recorded iterations, warps and blocks; cycles.
struct OpTiming {
  std::string op;
  std::string group;  ///< the role's name
  std::int64_t samples = 0;
  double start = 0;     ///< after the start of its iteration (schedule time 0 of that iteration)
  double duration = 0;  ///< synchronous: to its end; asynchronous: to the return of the wait for it
  double spread = 0;    ///< of the duration: 90th minus 10th percentile
  double predicted_start = 0, predicted_duration = 0;
  bool observed_end = true;  ///< false: no op of its group waits for it, the duration is that of issuing it
  double start_residual() const { return start - predicted_start; }
  double duration_residual() const { return duration - predicted_duration; }
};

/// One op of the recorded window, on the SM's clock; cycles from the window's first record.
struct TimelineEntry {
  std::string op, group;
  std::int64_t iteration = 0;
  Cycle start = 0, end = 0;
};

/// What the recording build has shown (codegen/profile).
struct KernelProfile {
  double median_us = 0, plain_us = 0;                ///< time per launch of the recording build and of the plain one, interleaved
  bool trusted = false;                              ///< they differ by less than kProfileCost: the records show the kernel that was timed
  std::int64_t records = 0, dropped = 0;             ///< decoded; of blocks or warps whose records make no sense
  int blocks = 0;                                    ///< recorded
  std::int64_t first_iteration = 0, iterations = 0;  ///< of the loop, the recorded window
  std::vector<OpTiming> ops;
  std::vector<TimelineEntry> timeline;  ///< of one block, first warp of every group, by start
  double cost() const { return plain_us > 0 ? median_us / plain_us - 1 : 0; }
};
inline constexpr double kProfileCost = 0.03;

struct KernelRun;

/// What the simulator expected of a run (heddle simulate; heddle validate says how far such numbers can be trusted).
struct PredictedRun {
  double cycles_per_iteration = 0;  ///< of the steady loop, with what a warp group's own work and barriers take beyond their units' rates
  double microseconds = 0, tflops = 0;  ///< of the kernel, at the clock that it expects under this load
};

struct Measurement {
  std::string kernel, machine;
  Scope params;
  std::string schedule;         ///< its name
  std::string schedule_hash;    ///< schedule_hash() of it: tells what a chart shows from what was measured
  std::string schedule_text{};  ///< the schedule itself, as a heddle.schedule/1; empty in older files
  Cycle predicted_ii = 0;       ///< of the schedule
  std::optional<PredictedRun> predicted{};
  std::optional<double> measured_ii;  ///< cycles between the same op of successive iterations in the steady loop, median
  RunStatus status = RunStatus::NoGpu;
  std::string sentence;               ///< what happened, for a person
  std::string command, date, heddle;  ///< as typed; ISO 8601, UTC; version
  std::string host;                   ///< of `heddle run --on`, as it was given; empty: the machine where the command was typed
  std::optional<MeasuredDevice> device;
  std::optional<MeasuredBuild> build;
  std::optional<Verification> verification;
  std::optional<Timing> timing;
  std::optional<KernelProfile> profile;
  /// Measured over predicted II, minus 1.
  std::optional<double> ii_residual() const;
  /// Measured cycles per iteration over what the simulator expected, minus 1.
  std::optional<double> prediction_residual() const;
};

/// Of a simulated kernel; nothing where the simulation has no numbers. Where DRAM is what the kernel waits for, so do its iterations.
std::optional<PredictedRun> predicted_run(const KernelRun& run);

/// Of II, groups, starts and depths, and of the problem: what a kernel is made from. Names, provenance and certificate do not
/// count.
std::string schedule_hash(const Problem& problem, const Schedule& schedule);

// Measured latencies as changes of a problem's numbers, to solve again with.

struct Adopted {
  Changes changes;                      ///< of latencies that differ by a cycle or more, and of windows that they cut short
  std::vector<std::string> bound_only;  ///< ops whose end was not seen: only a bound of their latency is known
  std::vector<std::string> unknown;     ///< ops of the profile that the problem does not have
};

/// Measured latencies include waiting for units that other groups use at the same time.
Adopted adopt(const Problem& problem, const KernelProfile& profile);

}  // namespace heddle
