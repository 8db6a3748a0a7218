// The timeline as data, drawing-free: what the window, SVG, PNG and text timelines all draw. Positions are in cycles and
// rows; colours are roles. Rebuilt only when the schedule or the options change.
//
// Four views of one schedule:
//   steady    one II window, every op once at its slot, wrapped bars split in two pieces that share an identity
//   unrolled  `iterations` consecutive iterations as they overlap, absolute time
//   pipeline  a run of `iterations` iterations from cold start to drain, with filling, steady state and draining marked; where the kernel's
//             prologue and epilogue are given, these ops before and after it, once per tile
//   contended the program's own periodic run in the rule of motion (core/motion/motion.h): when things happen on hardware, where warp
//   groups
//             take time from each other, and not when the schedule starts them; a row of each group says what holds it and why it waits
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/usage.h"
#include "core/chart/barrier_lanes.h"
#include "core/chart/queue_lanes.h"
#include "core/check/checker.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/end_ops.h"
#include "core/simulate/simulate.h"

namespace heddle {

enum class GanttMode { Steady, Unrolled, Pipeline, Contended };
inline constexpr GanttMode kGanttModes[] = {GanttMode::Steady, GanttMode::Unrolled, GanttMode::Pipeline, GanttMode::Contended};
const char* to_string(GanttMode mode);

struct GanttOptions {
  GanttMode mode = GanttMode::Steady;
  int iterations = 3;                ///< all but steady; contended: at least so many, in whole periods
  const Verdict* verdict = nullptr;  ///< marks violating bars
  const EndOps* ends = nullptr;      ///< pipeline only: the kernel's prologue and epilogue
  bool barriers = false;             ///< lanes of barriers and phases too
  const Kernel* tensor = nullptr;    ///< of this kernel, of which the problem was made: lanes of tensor memory too
  bool queues = false;               ///< lanes of rings as queues too
};

struct GanttRow {
  GroupId group;
  UnitRole role = UnitRole::Other;
  std::string label;  ///< unit name; rows of one group are contiguous
  int lanes = 1;      ///< bars that overlap in a row are stacked in lanes
};

struct GanttGroup {
  GroupId group;
  std::string label, detail;  ///< "consumer A", "4 warps · 240 regs"
  std::size_t first_row = 0, rows = 0;
};

struct GanttBar {
  OpId op;
  int iteration = 0;  ///< relative: 0, 1, 2 ... (steady: minus the stage, so older work is negative)
  std::size_t row = 0;
  int lane = 0;
  Cycle begin = 0, end = 0;  ///< occupancy of the row's unit (or the issue window where nothing else is used)
  Cycle window_end = 0;      ///< end of the issue window, for shading
  Cycle latency_end = 0;     ///< when the result is usable, for the thin tail
  std::string label;
  UnitRole role = UnitRole::Other;
  bool critical = false;  ///< on the binding unit, the critical recurrence, or the limiting cycle
  bool violating = false;
  std::string mark;                              ///< "x2": two lanes of a warp meet in one bank of shared memory; empty: none do
  bool wraps_left = false, wraps_right = false;  ///< this piece continues at the other edge
};

/// An op of the kernel's prologue or epilogue: once per tile, predicted, neither scheduled nor proved.
struct GanttEndBar {
  std::size_t end = 0;  ///< of EndOps::ops
  bool prologue = true;
  std::size_t row = 0;
  int lane = 0;
  Cycle begin = 0, end_at = 0;  ///< as of a GanttBar
  Cycle window_end = 0, latency_end = 0;
  std::string label, kind;
  UnitRole role = UnitRole::Other;
};

/// Contended only: a stretch in which a group's warps do no arithmetic.
struct GanttPause {
  enum class Kind {
    Issue,  ///< puts an asynchronous op's instructions, or cannot yet because too many of them wait
    Wait,   ///< for a result, a free slot, a look at a barrier
    Turn,   ///< for its turn on the tensor core
  };
  Kind kind = Kind::Wait;
  OpId op;            ///< what is issued, or what goes on afterwards
  std::string label;  ///< its name
  std::size_t row = 0;
  int lane = 0;
  Cycle begin = 0, end = 0;
  std::string why;  ///< "QK0 runs until then"; empty: nothing to say
};
const char* to_string(GanttPause::Kind kind);  ///< "issue", "wait", "turn"
/// "waits 120 cycles before max0: QK0 runs until then"
std::string pause_text(const GanttPause& pause);

struct GanttArrow {
  EdgeId edge;
  std::size_t from_bar = 0, to_bar = 0;
  bool crosses_groups = false, carried = false;
};

struct GanttMark {
  Cycle at = 0;
  std::string label;    ///< "iteration k+1", "steady state" ...
  bool strong = false;  ///< II boundaries are strong
};

enum class LaneMeasure { Unit, Bytes, Columns, Registers };

struct GanttLane {
  std::string label, detail;  ///< "tensor core", "100 %"
  UnitRole role = UnitRole::Other;
  UsageCurve profile;         ///< over [begin, end) of the model
  std::int64_t capacity = 0;  ///< the dashed line; 0: none
  std::int64_t peak = 0;
  std::int64_t allocated = 0;  ///< memories: set aside for good, whether it holds anything or not; 0: no such thing
  LaneMeasure measure = LaneMeasure::Unit;
  /// What its full height stands for; at least 1.
  std::int64_t full() const;
};
/// A value of the lane as people read it: "50 %", "145 of 192 KiB", "256 of 512 columns", "198 of 240".
std::string lane_value(const GanttLane& lane, std::int64_t value);

struct GanttModel {
  GanttMode mode = GanttMode::Steady;
  Cycle ii = 1, begin = 0, end = 1;  ///< contended: ii is the period, rounded to whole cycles
  std::vector<GanttGroup> groups;
  std::vector<GanttRow> rows;
  std::vector<GanttBar> bars;      ///< sorted by row, lane, begin; bars of one lane do not overlap
  std::vector<GanttEndBar> ends;   ///< by row, lane, begin; no two bars of a lane overlap
  std::vector<GanttPause> pauses;  ///< by row, begin; no two of a row overlap
  std::vector<GanttArrow> arrows;
  std::vector<GanttMark> marks;
  std::vector<GanttLane> lanes;       ///< units, SMEM, TMEM, registers per group
  std::vector<BarrierLane> barriers;  ///< where they are asked for; then those of tensor memory
  std::vector<QueueLane> queues;      ///< where they are asked for
  std::size_t all_lanes() const { return lanes.size() + barriers.size() + queues.size(); }
};

/// Pre: one placement per op, groups that exist, II >= 1. Any timing is fine, also one that breaks every rule. Contended has no lanes;
/// where the program cannot run, it has no bars either, and its only mark says why.
GanttModel build_gantt(const Problem& problem, const Schedule& schedule, const GanttOptions& options = {});

}  // namespace heddle
