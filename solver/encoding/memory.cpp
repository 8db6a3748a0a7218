// memory: depth * size over all channels, plus residents, fits shared memory; tensor memory likewise, in columns, where the
// total is allocated as a power of two.
#include <bit>

#include "core/base/saturate.h"
#include "solver/encoding/families.h"

namespace heddle::solver {

std::vector<WeightedLit> memory_terms(const Model& model, Space space) {
  std::vector<WeightedLit> terms;
  const Problem& problem = model.problem();
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    if (problem.channels[c].space != space) continue;
    for (int j = 1; j <= model.max_depth(ChannelId(c)); ++j)
      terms.push_back({problem.channels[c].size, model.depth_at_least(ChannelId(c), j)});
  }
  return terms;
}

std::int64_t allocatable_columns(std::int64_t columns) {
  return columns < 32 ? 0 : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(columns)));
}

std::int64_t memory_with_slots(const Problem& problem, const Channel& ring, std::int64_t slots) {
  std::int64_t needed = sat_add(ring.space == Space::Tmem ? problem.resident_columns : problem.resident_smem, sat_mul(slots, ring.size));
  for (const Channel& other : problem.channels)
    if (&other != &ring && other.space == ring.space && !other.only_if_crossing) needed = sat_add(needed, other.size);
  return needed;
}

bool kept_short_by_memory(const Problem& problem, const Channel& ring) {
  const Limits& limits = problem.limits;
  return memory_with_slots(problem, ring, std::int64_t{ring.max_depth} + 1) >
         (ring.space == Space::Tmem ? allocatable_columns(limits.tmem_columns) : limits.smem_bytes);
}

void add_memory(Model& model) {
  const Problem& problem = model.problem();
  model.name(ConstraintFamily::Smem);
  model.backend().add_at_most(memory_terms(model, Space::Smem), problem.limits.smem_bytes - problem.resident_smem);

  const std::int64_t columns = allocatable_columns(problem.limits.tmem_columns);
  model.name(ConstraintFamily::Tmem);
  model.backend().add_at_most(memory_terms(model, Space::Tmem), columns - problem.resident_columns);
}

}  // namespace heddle::solver
