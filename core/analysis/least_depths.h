// The ring depths that take the least shared memory and keep what is asked of the expected period's bracket (bracket.h), for a fixed order.
//
// More slots give every cycle of the event graph more tokens or leave it as it is, so no end of the bracket rises with any depth. Hence a
// ring needs at least as many slots as it needs beside rings of the greatest depth; from there, depths are tried in the order of the
// memory they take. The first that do are the least, and all that take less are excluded: those with a ring below its need by the rise of
// the bracket, the others because they were tried.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "core/analysis/bracket.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct DepthRange {
  ChannelId ring;
  int least = 1, most = 1;
};

struct LeastDepths {
  enum class End {
    Found,   ///< `depths` are the least
    None,    ///< no depths in the ranges do; `bracket` is that of the greatest
    GaveUp,  ///< after kMostDepths tries, or when stopped: nothing below `excluded` bytes does
  };
  End end = End::None;
  std::vector<int> depths;  ///< per channel of the problem, those outside the ranges as they were
  std::int64_t bytes = 0;   ///< shared memory of the CTA with them
  PeriodBracket bracket;
  std::int64_t tried = 0;     ///< choices of depths whose bracket was computed
  std::int64_t excluded = 0;  ///< GaveUp only
};

inline constexpr std::int64_t kMostDepths = 20'000;

/// What is asked of a bracket. A lower upper end is never judged worse.
using BracketJudge = std::function<bool(const PeriodBracket&)>;

/// Channels outside `ranges` keep their depth. Pre: as for sustainable_period(); the ranges are not empty.
LeastDepths least_depths(const Problem& problem, const Schedule& schedule, const std::vector<DepthRange>& ranges, const BracketJudge& judge,
                         const std::stop_token& stop = {});

}  // namespace heddle
