#include "codegen/interpret/state.h"

#include <algorithm>
#include <set>

#include "codegen/program/text.h"

namespace heddle::codegen {
namespace {

/// Columns that values and their pieces begin and end at.
void cut_columns(BlockState& state) {
  state.edges.resize(state.program.buffers.size());
  state.columns.resize(state.kernel.values.size());
  std::vector<std::set<int>> edges(state.program.buffers.size());
  const auto note = [&](std::size_t buffer, std::size_t value, const Piece& piece) {
    if (!state.program.buffers[buffer].tensor()) return;
    TensorColumns& columns = state.columns[value];
    if (columns.count == 0) columns = columns_of(state.kernel, state.program.params, value);
    for (const int number : {piece.number, piece.number + 1}) edges[buffer].insert(columns.first + columns.count * number / piece.count);
  };
  for (std::size_t b = 0; b < state.program.buffers.size(); ++b) {
    if (state.program.buffers[b].tensor()) edges[b] = {0, state.program.buffers[b].columns};
    for (const std::size_t value : state.program.buffers[b].values) note(b, value, {});
  }
  for (const Barrier& barrier : state.program.barriers) note(barrier.buffer, barrier.value, {});
  for (std::size_t r = 0; r < state.program.roles.size(); ++r)
    for (const Section& section : state.program.roles[r].sections)
      for (const Step& step : section.steps) {
        if (step.output.kind == Place::Kind::Buffer) note(step.output.index, step.output.value, step.piece);
        for (const Place& in : step.inputs)
          if (in.kind == Place::Kind::Buffer) note(in.index, in.value, step.piece);
        if (step.kind == StepKind::Issue && step.engine == Engine::Mma) state.issues[r] = true;
      }
  for (std::size_t b = 0; b < edges.size(); ++b) state.edges[b].assign(edges[b].begin(), edges[b].end());
  for (std::size_t r = 0; r < state.program.roles.size() && state.program.pair; ++r)
    for (const Section& section : state.program.roles[r].sections)
      for (const Step& step : section.steps)
        if (state.issues[r] && step.kind == StepKind::Wait) state.leads[step.barrier] = true;
}

}  // namespace

BlockState::BlockState(const Kernel& kernel, const Program& program, const Interleaving& how, TileData* data)
    : kernel(kernel), program(program), how(how), data(data), random(how.seed) {
  issues.assign(program.roles.size(), false);
  leads.assign(program.barriers.size(), false);
  if (program.blackwell()) cut_columns(*this);
  for (int block = 0; block < program.cluster; ++block) {
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
      all_slots.emplace_back(static_cast<std::size_t>(program.buffers[b].depth) * cells_per_slot(b));
    for (const Barrier& barrier : program.barriers)
      all_phases.emplace_back(static_cast<std::size_t>(program.buffers[barrier.buffer].depth), Phase{barrier.arrivals, 0, 0});
    for (std::size_t r = 0; r < program.roles.size(); ++r) {
      const Role& role = program.roles[r];
      Agent& agent = agents.emplace_back();
      agent.role = &role;
      agent.block = static_cast<std::size_t>(block);
      agent.cursors.resize(role.cursors.size());
      for (const Variable& v : role.variables) agent.variables.emplace_back(static_cast<std::size_t>(v.copies));
      // The first block of a pair issues the mmas of both.
      if (program.pair && block > 0 && issues[r])
        agent.tile = how.tiles;
      else
        begin_tile(agents.size() - 1);
    }
  }
}

void BlockState::begin_tile(std::size_t role) {
  Agent& agent = agents[role];
  agent.at = 0;
  std::int64_t trips = program.trips;
  if (program.varies && data) {
    trips = rounded_trips(program, data->trips(tile_of(role, agent.tile)));
  } else if (program.varies) {  // mostly short ones, where the ends of the pipeline meet
    std::mt19937_64 choose(how.seed * 31 + static_cast<std::uint64_t>(agent.tile));
    const auto lengths = static_cast<std::uint64_t>((program.trips - program.least_trips) / program.trip_step + 1);
    trips = program.least_trips +
            program.trip_step * static_cast<std::int64_t>(choose() % (choose() % 4 ? std::min<std::uint64_t>(lengths, 6) : lengths));
  }
  if (trips == agent.trips) return;
  agent.trips = trips;
  agent.code.clear();
  for_each_step(
      role_at(role),
      [&](const Section& section, const Step& step, std::int64_t shift) {
        agent.code.push_back({role, &section, &step, shift});
      },
      program.trips - trips);
}

void BlockState::fail(FaultKind kind, const Flat& flat, std::int64_t tile, std::string what) {
  if (fault) return;
  const Role& r = role_at(flat.role);
  fault = ProgramFault{kind,
                       r.name,
                       step_text(kernel, program, r, *flat.section, *flat.step),
                       tile,
                       flat.step->iteration + flat.shift,
                       std::move(what),
                       flat.step->op};
}

}  // namespace heddle::codegen
