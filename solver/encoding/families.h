// The constraint families of core/problem/problem.h, one file each. Every function adds its whole family to a model; every
// constraint is named (Model::name), so that an infeasible problem can be explained in the user's words.
#pragma once

#include <vector>

#include "solver/encoding/model.h"

namespace heddle::solver {

void add_dependences(Model& model);  ///< with hand-offs
void add_units(Model& model);        ///< capacity per slot
void add_issue(Model& model);        ///< windows inside a group, and ops that wait
void add_groups(Model& model);       ///< load bound, warps in the CTA, order of first use
void add_channels(Model& model);     ///< depth and credit
void add_memory(Model& model);       ///< shared memory bytes, tensor memory columns
void add_user(Model& model);         ///< what the user demands

/// Everything except registers, which are added where a schedule breaks them (encoding/registers.h).
void add_all_families(Model& model);

/// At most so many warps in the CTA, if `condition` holds.
void require_warps_at_most(Model& model, std::int64_t most, Lit condition = kTrue);

// Totals that objectives bound, as weighted literals.
std::vector<WeightedLit> memory_terms(const Model& model, Space space);

/// Tensor memory is allocated in powers of two from 32 columns up: what fits into `columns`.
std::int64_t allocatable_columns(std::int64_t columns);
/// Bytes or columns with so many slots in this ring and one in every other that must exist.
std::int64_t memory_with_slots(const Problem& problem, const Channel& ring, std::int64_t slots);
/// Memory, not the longest ring that makes sense, keeps this ring from having one slot more.
bool kept_short_by_memory(const Problem& problem, const Channel& ring);

}  // namespace heddle::solver
