// Attention's loop in two warp groups, with costs set by hand: what the rule of motion and the enumeration of programs are tried on. The
// costs are those with which the study behind the rule was made, counted in machine code and fitted to kernels measured on an H100.
#pragma once

#include <string>
#include <vector>

#include "core/problem/problem.h"

namespace heddle::test {

enum class Attention { Plain, Causal, Fp8, Fp8Shuffled };

/// 64 rows a group, head dimension 128, `keys` a step; no loads. Ops are named "QK0" ... "PV1"; group k's are those that end in k.
Problem attention_loop(Attention kind, int keys);

/// Contention of the same study: 840 and 591 thousandths of a cycle late for a read, and so on.
Contention attention_contention();

}  // namespace heddle::test
