// Barriers as lanes of time: of every ring and hand-over of a schedule's program, when a slot is being filled, full and read and in which
// phase its barrier is; of every turn on the tensor cores, which warp group has it. Times are the schedule's own, as in the chart's bars.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct BarrierSpan {
  enum class State {
    Filling,  ///< the writer has the slot; its full barrier has not completed this phase
    Full,     ///< written or signalled, and nobody has taken it up yet
    Read,     ///< from the first wait that takes it up to the last release
    Held,     ///< a turn: this group may issue
    Passed    ///< a turn: given away, and not taken up by this group yet
  };
  Cycle begin = 0, end = 0;
  State state = State::Full;
  int slot = 0, phase = 0;
  int iteration = 0;                  ///< whose work is in the slot
  GroupId group;                      ///< who writes, reads or will read first, has the turn or gets it
  OpId op;                            ///< whose line began the stretch
  ValueId value;                      ///< in tensor memory (core/chart/tensor_map.h): what is there ...
  std::string name;                   ///< ... the same in letters ...
  int first_column = 0, columns = 0;  ///< ... in which columns of the slot ...
  UnitRole role = UnitRole::Other;    ///< ... and the unit that writes it
};

struct BarrierLane {
  enum class Kind { Ring, Signal, Turn, Tensor } kind = Kind::Ring;
  std::string label, detail;  ///< "K", "2 slots"
  UnitRole role = UnitRole::Other;
  int slots = 1;
  int first_column = 0, columns = 0;  ///< in tensor memory: of slot 0, and of every slot
  std::vector<BarrierSpan> spans;     ///< by slot, then begin
};

/// Where in its lane a stretch is drawn, from 0 at the top to 1 at the bottom, and as whose work.
struct BarrierStrip {
  double top = 0, high = 1;
  UnitRole role = UnitRole::Other;
};
BarrierStrip strip_of(const BarrierLane& lane, const BarrierSpan& span);

/// What is drawn of time: [begin, end) of iterations 0 .. iterations - 1; without them of a loop that runs for ever.
struct BarrierRange {
  Cycle begin = 0, end = 1;
  std::optional<int> iterations;
};

/// Rings in the order of the problem's channels, then hand-overs without a ring, then turns. What no barrier keeps is left out.
/// Pre: the schedule's sizes fit the problem, II >= 1.
std::vector<BarrierLane> barrier_lanes(const Problem& problem, const Schedule& schedule, const BarrierRange& range);

const char* to_string(BarrierSpan::State state);  ///< "filling", "full", "read", "held", "passed on"

/// "load_k fills it: 0 to 640 (640 cycles), slot 1 of 2, phase 0, iteration 3". `steady`: iterations are told from k.
std::string span_text(const Problem& problem, const Schedule& schedule, const BarrierLane& lane, const BarrierSpan& span, bool steady);

}  // namespace heddle
