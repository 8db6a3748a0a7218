// What every schedule takes at least, whatever its II and however many stages it has: one slot of every ring, the values that an op
// reads and writes, the widest ops. Where that alone is more than there is, nothing needs to be searched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"

namespace heddle {

/// A capacity that no schedule can keep to.
struct Shortage {
  enum class Kind { Smem, Tmem, Registers, RegisterFile, Warps, Groups, Depth };
  Kind kind = Kind::Smem;
  std::int64_t needed = 0, limit = 0;       ///< bytes, columns, registers, warps, groups or slots
  std::string sentence;                     ///< who needs how much, and what the limit is
  std::vector<OpId> ops;                    ///< that need it
  std::vector<ChannelId> channels;          ///< the same for memory and depths
  std::optional<std::size_t> constraint{};  ///< the user's, by its place in the list, where the limit is not the machine's
};

/// Each capacity once, with its tightest limit. Empty proves nothing. Pre: names in `constraints` are the problem's.
std::vector<Shortage> find_shortages(const Problem& problem, const Constraints& constraints);

/// The sentences, for an answer that says that nothing fits.
std::string sentence_of(const std::vector<Shortage>& shortages);

/// The fewest slots of each ring that any schedule has, at any II.
std::vector<std::int64_t> least_depths(const Problem& problem);

}  // namespace heddle
