// The event graph of a program (core/timing/program.h), and in which order warp groups take turns on the units
// they share.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/cycle_ratio.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/timing/program.h"

namespace heddle::timing {

/// Whether small uses of a unit of larger capacity may coexist where two of them fit, or none do.
enum class UnitSharing { Pairs, OneAtATime };

struct ProgramGraph {
  struct Origin {
    enum class Kind { Data, Credit, Stream, Wait, Turn, Unit };
    Kind kind = Kind::Data;
    ChannelId channel;      ///< Credit
    ValueId value;          ///< Data; may be invalid
    UnitId unit;            ///< Unit and Turn
    std::size_t place = 0;  ///< Unit: which neighbours on the unit's ring
  };
  std::vector<RatioEdge> edges;  ///< nodes are ops
  std::vector<Origin> origin;    ///< per edge

  void add(RatioEdge edge, Origin from) {
    edges.push_back(edge);
    origin.push_back(from);
  }
  std::string what(const Problem& problem, std::size_t edge) const;
};

/// With turns on all units: prescribed ones as they are, the others as program.h says. `groups` says where ops are and
/// how deep rings are.
ProgramGraph with_turns(const Problem& problem, const LoopProgram& program, const Schedule& groups, UnitSharing sharing);

}  // namespace heddle::timing
