// memory: depth * size over all channels, plus residents, fits shared memory; tensor memory likewise, in columns, where the
// total is allocated as a power of two.
#include <bit>

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

void add_memory(Model& model) {
  const Problem& problem = model.problem();
  model.name(Family::Smem);
  model.backend().add_at_most(memory_terms(model, Space::Smem), problem.limits.smem_bytes - problem.resident_smem);

  const std::int64_t columns = allocatable_columns(problem.limits.tmem_columns);
  model.name(Family::Tmem);
  model.backend().add_at_most(memory_terms(model, Space::Tmem), columns - problem.resident_columns);
}

}  // namespace heddle::solver
