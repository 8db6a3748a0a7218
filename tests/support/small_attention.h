// A small attention loop of two groups on a machine with contention, for tests of programs: each group has two mmas and arithmetic between.
#pragma once

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::test {

/// Per group: S (mma from shared memory), P (reads its tile and gives another), C (narrows it, for O), O (mma from registers, accumulates).
/// `same`: the second group is a copy of the first; else its P takes twice as long. A tile has `registers` per thread.
Problem small_attention(bool same = true, int registers = 64);

/// One iteration after the other in both groups; legal.
Schedule small_attention_schedule(const Problem& problem);

}  // namespace heddle::test
