// A run as lanes over time: what each role does and waits for, what units do for it, and which bytes of shared memory are written and read.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "ptx/report/spell.h"

namespace heddle::ptx {

enum class LaneBarKind : std::uint8_t { Wait, Work, Load, Store, Product, TensorMove, Mark, Hangs };

/// Long runs have a million of them: what is said of a bar stands in RunTimeline::texts, once for all that say the same.
struct LaneBar {
  LaneBarKind kind = LaneBarKind::Work;
  Time begin = 0, end = 0;
  int event = -1;     ///< index into the trace; -1: work between two events, or what never ended
  int line = 0;       ///< of the PTX
  int ended_by = -1;  ///< of a wait: the event that ended it (an arrival, a copy, a product); -1: not known
  int phase = -1;     ///< of the barrier that was waited for
  int text = 0;       ///< "wait FULL of K[1]"
  int source = 0;     ///< "gemm.cu:120"; "" without -lineinfo
};

struct RunLane {
  std::string name;  ///< "products w4-w7", "loads of producer w0"
  int cta = 0;
  int warp = -1;              ///< whose events these are (the first of its warp group); -1: a unit
  std::vector<LaneBar> bars;  ///< by begin; those of a lane do not overlap
};

/// What is done with a piece of shared memory.
struct MemoryBar {
  enum class Kind : std::uint8_t { Written, Read } kind = Kind::Written;
  Time begin = 0, end = 0;
  int event = -1;
  int text = 0;
};
struct MemoryRow {
  std::string name;                  ///< "K[1]"
  std::uint64_t begin = 0, end = 0;  ///< in the cluster's shared memory
  std::vector<MemoryBar> bars;       ///< by begin
  Time longest = 0;                  ///< of its bars, which may overlap
};

struct RunTimeline {
  std::vector<RunLane> lanes;
  std::vector<MemoryRow> memory;
  Time end = 0;
  std::int64_t left_out = 0;         ///< events behind the last one that is drawn
  Time cut = 0;                      ///< where they begin
  std::vector<std::size_t> circle;   ///< of a hang: lanes, each of which waits for the next, the last for the first
  std::vector<std::string> texts{};  ///< by LaneBar::text, source and MemoryBar::text

  /// "wait FULL of K[1], phase 3"
  std::string text_of(const LaneBar& bar) const;
  const std::string& text(int index) const { return texts[static_cast<std::size_t>(index)]; }
};

/// One lane for each warp group of a role (its warp with most events stands for it), then one for each kind of unit's work that a CTA has.
/// Stopped, it is what was drawn until then.
RunTimeline timeline_of(const RunNames& names, const std::stop_token& stop = {});

/// A wait that never ends, of a hang.
struct HungWait {
  int warp = -1, pc = -1;
  std::string text;
};
/// Draws the last state of a hang to the end of the lanes. `waits`: in the order of the circle.
void add_hang(RunTimeline& timeline, const PtxRecord& record, const std::vector<HungWait>& waits);

}  // namespace heddle::ptx
