// One CTA's work as instruction streams: per warp group the ops before the loop, the loop's ops in the schedule's order, and the
// ops after it, with everything an op waits for. A kernel file says nothing of who runs prologue and epilogue; here
//   - loads of variable latency go to the producer, as in the loop;
//   - what defines a loop-carried value runs where the loop goes on with it, any other prologue op where it is first read;
//   - an epilogue op runs where its input comes from, one that reads nothing where its result is read; when that group has too few
//     warps, in an epilogue group of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/period.h"
#include "core/instance/instance.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/simulate.h"

namespace heddle {

enum class CtaSection : std::uint8_t { Prologue, Loop, Epilogue };

struct CtaEdge {
  enum class Kind : std::uint8_t {
    Loop,    ///< `tokens` iterations before, where the tile has such an iteration
    Credit,  ///< the reader of the slot to be refilled, in whatever tile that was
    First,   ///< of a prologue op, for the first `tokens` iterations
    Last,    ///< of the tile's last iteration, for an epilogue op
    Same,    ///< between prologue and epilogue ops of one tile
    Before,  ///< the last run of `from` in the tile before
    Slot,    ///< the epilogue op that reads the slot to be refilled
  };
  Kind kind = Kind::Loop;
  bool late = false;  ///< waits for the result, which may be late
  std::uint32_t from = 0;
  std::int32_t distance = 0;  ///< Credit: the reader's
  std::int64_t tokens = 0;
  Cycle weight = 0;
  std::uint32_t event = 0;  ///< of CtaProgram::events
};

struct CtaStream {
  struct LoopOp {
    std::uint32_t op = 0;
    std::int64_t stage = 0;
  };
  std::vector<std::uint32_t> prologue, epilogue;
  std::vector<LoopOp> loop;  ///< one window, in order
  std::int64_t stages = 1;
};

struct CtaProgram {
  Problem problem;    ///< the loop's ops first, under their numbers, then prologue and epilogue
  Schedule schedule;  ///< groups of all of them; starts of the loop's
  std::vector<CtaSection> sections;
  std::vector<CtaStream> streams;    ///< per group
  std::vector<std::uint32_t> first;  ///< per op, and one more: its edges
  std::vector<CtaEdge> edges;
  std::vector<EventEdge> events;          ///< of the edges, and one per op and unit at `unit_event`
  std::vector<std::uint32_t> unit_event;  ///< per op: the event of its first use that takes time
  std::vector<std::string> free_ops;      ///< prologue and epilogue ops without a cost rule: they take no time
};

/// The loop alone.
CtaProgram loop_program(const Problem& problem, const Schedule& schedule, const SimulateOptions& options);

/// The whole of the kernel's tile. Pre: `problem` is of the spec, or that problem with other numbers.
CtaProgram kernel_program(const InstanceSpec& spec, const Problem& problem, const Schedule& schedule, const SimulateOptions& options);

}  // namespace heddle
