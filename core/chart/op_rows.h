// One row per op with everything a table shows about it; the text timeline's table and the CSV export are this,
// formatted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/text_style.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct OpRow {
  OpId op;
  std::string key;   ///< the letter that stands for it in narrow bars
  std::string uses;  ///< "TC 0+128, SMEM 0+128 x96": unit, offset + duration, amount when not 1
  int stage = 0;
  Cycle start = 0, slot = 0, end = 0;  ///< end: when the result is usable
  GroupId group;
  /// How far the op alone could start later (core/analysis/slack.h); empty when nothing holds it.
  std::optional<Cycle> slack;
};

/// In op order. Without a schedule only `op`, `key` and `uses` are set.
std::vector<OpRow> op_rows(const Problem& problem, const Schedule* schedule);

/// "TC 0+128, SMEM 0+128 x96".
std::string describe_uses(const Problem& problem, const Op& op);

/// "a" ... "z", "A" ... "Z", "0" ... "9", then "#".
std::string op_key(OpId op);

/// Aligned text, in order of start when there is a schedule.
std::string op_table(const Problem& problem, const Schedule* schedule);

}  // namespace heddle
