// A latency that is not always the same: the cycles it may take and how often it takes each of them. Which one it is depends on where
// the data lie (L2, the far half of L2, DRAM) and on who else asks for them, not on the program. A schedule is made for one of the listed
// values; run, it meets all of them.
//
// Shares are whole parts per million, so that they add up exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/id.h"

namespace heddle {

inline constexpr std::int64_t kWholeShare = 1'000'000;
/// No list of latencies is meant to be longer.
inline constexpr std::size_t kMostLatencies = 64;

struct LatencyCase {
  Cycle cycles = 0;
  std::int64_t share = 0;  ///< parts per million
  bool operator==(const LatencyCase&) const = default;
};

struct LatencySpread {
  std::vector<LatencyCase> cases;  ///< by cycles; empty: the latency is always the same
  std::size_t at = 0;              ///< the case that the plain latency stands for

  bool empty() const { return cases.empty(); }
  Cycle chosen() const { return cases[at].cycles; }  ///< Pre: not empty, as for the next two
  std::int64_t mean() const;                         ///< in millionths of a cycle
  /// E[(latency - threshold)+] in millionths of a cycle.
  std::int64_t mean_excess(Cycle threshold) const;
  bool operator==(const LatencySpread&) const = default;
};

/// The median case: at least half of all draws are as long or shorter. Schedules are made for it unless another case is asked for.
std::size_t median_case(const std::vector<LatencyCase>& cases);

/// The case that a number drawn from 0 to kWholeShare - 1 stands for.
std::size_t drawn_case(const std::vector<LatencyCase>& cases, std::int64_t number);

/// "270:80%,700:18%,1400:2%"
std::string describe(const std::vector<LatencyCase>& cases);
/// "80%", "0.05%"
std::string percent_text(std::int64_t share);

/// Reads what describe() writes; cases that are no CYCLES:P% are left out, and `unread` says which. Nothing is judged.
std::vector<LatencyCase> parse_cases(std::string_view text, std::vector<std::string>& unread);
/// A decimal number of at most `places` digits behind its point, times ten to their power: "0.8" with 6 is 800000.
std::optional<std::int64_t> parse_decimal(std::string_view text, int places);

/// One thing that is wrong with a list of latencies, for a reader that knows where each of them stands.
struct SpreadFault {
  std::optional<std::size_t> at;  ///< which; nothing: the list
  std::string message, hint;
};
/// Shares out of range, a sum that is not all of them, too few or too many.
std::vector<SpreadFault> share_faults(const std::vector<std::int64_t>& shares);
/// Cycles that do not rise.
std::vector<SpreadFault> order_faults(const std::vector<Cycle>& cycles);

}  // namespace heddle
