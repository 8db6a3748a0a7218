// What rounds of alternated runs say about who is faster.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace heddle {

/// Chance that two equally fast contenders differ so one-sidedly: the two-sided sign test over rounds in which both were timed (index by
/// index); rounds in which they tie say nothing. 1 without others. In every round both were slowed by the same clock and heat, so that
/// signs hold where the spread of each contender's times does not.
double sign_test(const std::vector<double>& a, const std::vector<double>& b);

/// A rank is settled when the sign test of each two neighbours, by median, is at most this: eight rounds of eight, eleven of twelve. It is
/// asked after every round, so the chance of a wrong order is some times greater; 1 % instead of 5 % leaves room for that.
inline constexpr double kSettled = 0.01;

/// Contenders by the median of their times, the fastest first; those without times are left out, equal ones stay as they were.
std::vector<std::size_t> ranked_by_median(const std::vector<std::vector<double>>& times);

/// Of each two neighbours in that order, whether their order is settled: one less than there are ranks.
std::vector<bool> settled_neighbours(const std::vector<std::vector<double>>& times);

/// Kendall's tau-b of two lists of the same length, with its correction for ties (M. Kendall, The treatment of ties in ranking problems,
/// Biometrika 33, 1945): 1 the same order, -1 the opposite one; nothing where a list does not order anything.
std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace heddle
