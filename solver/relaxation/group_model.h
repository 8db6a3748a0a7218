// Warp groups for the order search: who shares an instruction stream, whose windows then exclude each other, and the
// hand-offs between those who do not. With them the relaxation lacks only memory, registers, credits of rings below their
// greatest depth, waits of ops without a window, and most demands of the user.
#pragma once

#include "core/problem/problem.h"
#include "solver/relaxation/order_model.h"
#include "solver/relaxation/register_model.h"

namespace heddle::solver {

/// Whether groups decide anything: at least two are left for ops of fixed latency.
bool has_group_choice(const Problem& problem);

/// Adds the groups of the part's ops, and what `registers` says of them. Pre: the model is neither refuted nor too large.
void add_groups(OrderModel& model, const Problem& problem, const RelaxedPart& part, const GroupRegisters* registers = nullptr);

}  // namespace heddle::solver
