#include "codegen/program/cluster.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/expr_node.h"

namespace heddle::codegen {
namespace {

/// Blocks along a dimension of the grid; of a size that is given at run time any number is expected.
bool has_neighbours(const ProgramDraft& draft, std::size_t dim) {
  const Expr& size = draft.kernel.grid[dim].size;
  const auto now = size.evaluate(draft.problem.params);
  return now.ok() && (*now >= 2 || mentions(size.root(), draft.program.sizes));
}

/// An mma with cta_group::2 has the rows of A of both blocks and half of B's columns from each (PTX ISA, tcgen05.mma).
void pair_up(ProgramDraft& draft) {
  const auto loaded_in_loop = [&](const std::string& value) -> const TileOp* {
    for (const TileOp& op : draft.kernel.body)
      if (op.kind == "tma_load" && !op.outputs.empty() && op.outputs[0] == value) return &op;
    return nullptr;
  };
  const auto follows = [&](const TileOp& load, std::size_t dim) {
    return std::any_of(load.at.begin(), load.at.end(), [&](const Expr& at) {
      const auto names = at.names();
      return std::find(names.begin(), names.end(), draft.kernel.grid[dim].name) != names.end();
    });
  };
  std::set<std::size_t> halves;
  std::optional<std::size_t> along;
  for (std::size_t d = 0; d < draft.kernel.grid.size() && !along; ++d) {
    if (!has_neighbours(draft, d)) continue;
    halves.clear();
    bool fits = true;
    for (const TileOp& op : draft.kernel.body) {
      if (op.kind != "mma") continue;
      const TileOp* a = loaded_in_loop(op.inputs[0].value);
      const TileOp* b = loaded_in_loop(op.inputs[1].value);
      fits = fits && a && b && follows(*a, d) && !follows(*b, d);
      if (fits) halves.insert(draft.value_index(op.inputs[1].value));
    }
    if (fits && !halves.empty()) along = d;
  }
  if (!along)
    return draft.refuse(
        "cluster", {},
        "a pair of blocks needs mmas whose first operand each block loads for itself in the loop and whose second is the same "
        "for neighbouring blocks");
  draft.program.pair = true;
  draft.program.cluster = 2;
  draft.program.cluster_dim = *along;
  for (const std::size_t v : halves) {
    Buffer& buffer = draft.program.buffers[draft.buffer_of[v]];
    if (buffer.values.size() > 1 || buffer.slot_bytes % 2048 != 0)
      return draft.refuse("cluster", {}, fmt::format("'{}' cannot be halved for a pair of blocks", buffer.name));
    buffer.shared = true;
    buffer.slot_bytes /= 2;
    draft.program.barriers[draft.full_of.at(v)].tx_bytes /= 2;
  }
  // Where roles with mmas wait, both blocks arrive.
  for (RoleDraft& role_draft : draft.roles) {
    const auto is_product = [](const Step& s) { return s.kind == StepKind::Issue && s.engine == Engine::Mma; };
    std::vector<Step> steps = role_draft.begin;
    for (const LoopStep& s : role_draft.loop) steps.push_back(s.step);
    steps.insert(steps.end(), role_draft.end.begin(), role_draft.end.end());
    if (std::none_of(steps.begin(), steps.end(), is_product)) continue;
    if (std::any_of(steps.begin(), steps.end(), [](const Step& s) { return s.kind == StepKind::Compute; }))
      return draft.refuse("cluster", {},
                          fmt::format("role '{}' has mmas and other work; pairs of blocks need them apart", role_draft.role.name));
    std::set<std::size_t> awaited;
    for (const Step& s : steps)
      if (s.kind == StepKind::Wait) awaited.insert(s.barrier);
    for (const std::size_t b : awaited) draft.program.barriers[b].arrivals *= 2;
  }
}

}  // namespace

void share_loads(ProgramDraft& draft) {
  if (draft.options.cluster == 1) return;
  if (draft.options.cluster != 2)
    return draft.refuse("cluster", {}, fmt::format("clusters of {} blocks; 2 can be written", draft.options.cluster));
  if (draft.program.blackwell()) return pair_up(draft);
  const auto names_of = [](const std::vector<Expr>& list) {
    std::set<std::string> names;
    for (const Expr& e : list)
      for (const std::string& name : e.names()) names.insert(name);
    return names;
  };
  // Loads of the loop that are the same for neighbours along a dimension; the more bytes, the better. Vectors have too few to be shared.
  const auto shared_along = [&](std::size_t dim) {
    std::vector<std::size_t> values;
    for (const TileOp& op : draft.kernel.body) {
      if (op.kind != "tma_load" || op.outputs.empty() || names_of(op.at).contains(draft.kernel.grid[dim].name)) continue;
      const std::size_t value = draft.value_index(op.outputs[0]), buffer = draft.buffer_of[value];
      if (buffer != kNone && draft.kernel.values[value].shape.size() > 1 && draft.program.buffers[buffer].values.size() == 1 &&
          draft.program.buffers[buffer].empty)
        values.push_back(value);
    }
    return values;
  };
  std::int64_t most = 0;
  for (std::size_t d = 0; d < draft.kernel.grid.size(); ++d) {
    if (!has_neighbours(draft, d)) continue;
    std::int64_t bytes = 0;
    for (const std::size_t v : shared_along(d)) bytes += draft.tiles[v]->bytes;
    if (bytes > most) most = bytes, draft.program.cluster_dim = d;
  }
  if (most == 0) return draft.refuse("cluster", {}, "no tile that the loop loads is the same for neighbouring blocks");
  draft.program.cluster = draft.options.cluster;
  for (const std::size_t v : shared_along(draft.program.cluster_dim)) {
    Buffer& buffer = draft.program.buffers[draft.buffer_of[v]];
    buffer.shared = true;
    draft.program.barriers[*buffer.empty].arrivals *= draft.program.cluster;
  }
}

Problem of_pair(const Kernel& kernel, const Problem& problem) {
  Problem pair = problem;
  for (Channel& channel : pair.channels)
    for (const TileOp& op : kernel.body)
      if (op.kind == "mma" && op.inputs[1].value == channel.name) channel.size /= 2;
  return pair;
}

}  // namespace heddle::codegen
