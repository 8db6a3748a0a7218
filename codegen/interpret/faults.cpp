#include "codegen/interpret/faults.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "codegen/program/text.h"
#include "core/base/text_style.h"

namespace heddle::codegen {
namespace {

/// That setmaxnreg gives a thread in whole granules beside others (codegen/program/layout.cpp).
int most_of_a_thread(const Program& program) { return program.blackwell() ? 256 : 240; }

}  // namespace

std::string content(const BlockState& state, const Cell& cell) {
  if (cell.value == kNothing) return "nothing";
  std::string text = printable(state.kernel.values[cell.value].name);
  if (cell.iteration > kPerTile) text += cell.iteration < 0 ? "[init]" : fmt::format("[{}]", cell.iteration);
  return state.how.tiles > 1 ? fmt::format("{} of tile {}", text, cell.tile) : text;
}

std::string wanted(const BlockState& state, const Flat& flat, const Place& place) {
  Cell cell;
  cell.value = place.value;
  cell.iteration = state.iteration_of(flat, place);
  cell.tile = state.agents[flat.role].tile;
  return fmt::format("wants {} and finds ", content(state, cell));
}

std::optional<ProgramFault> check_registers(const BlockState& state) {
  int used = 0, warpgroups = 0;
  for (const Role& role : state.program.roles) {
    used += (role.registers ? role.registers : state.program.entry_registers) * role.warpgroups;
    warpgroups += role.warpgroups;
    const int live = role.variables.empty() ? 0 : live_registers(state.program, role) + state.program.register_overhead;
    const int budget = role.registers ? role.registers : state.program.entry_registers;
    if (role.registers > most_of_a_thread(state.program))
      return ProgramFault{FaultKind::Registers,
                          role.name,
                          "",
                          0,
                          0,
                          fmt::format("a budget of {} registers; there are at most {}", role.registers, most_of_a_thread(state.program)),
                          {}};
    if (live > budget)
      return ProgramFault{
          FaultKind::Registers, role.name, "", 0, 0, fmt::format("{} registers are live at once, the budget is {}", live, budget), {}};
  }
  if (used > state.program.entry_registers * warpgroups)
    return ProgramFault{FaultKind::Registers,
                        "",
                        "",
                        0,
                        0,
                        fmt::format("the budgets need {} registers per warpgroup in all, the block starts with {}", used,
                                    state.program.entry_registers * warpgroups),
                        {}};
  return std::nullopt;
}

std::optional<ProgramFault> check_tensor(const BlockState& state) {
  const auto fault = [](FaultKind kind, std::string what) { return ProgramFault{kind, "", "", 0, 0, std::move(what), {}}; };
  std::vector<const Buffer*> tiles;
  for (std::size_t b = 0; b < state.program.buffers.size(); ++b) {
    const Buffer& buffer = state.program.buffers[b];
    if (!buffer.tensor()) continue;
    tiles.push_back(&buffer);
    if (state.edges[b].back() > buffer.columns)
      return fault(FaultKind::Aliasing,
                   fmt::format("{} has {} columns, its tiles take {}", printable(buffer.name), buffer.columns, state.edges[b].back()));
  }
  if (tiles.empty()) return std::nullopt;
  if (!state.program.tensor) return fault(FaultKind::Aliasing, "tiles lie in tensor memory, and none is allocated");
  if (!state.program.tensor->freed_by || *state.program.tensor->freed_by >= state.program.roles.size())
    return fault(FaultKind::NotFreed, "columns are never given back");
  const int columns = state.program.tensor->columns;
  if (columns < 32 || columns > 512 || !std::has_single_bit(static_cast<unsigned>(columns)))
    return fault(FaultKind::Aliasing, fmt::format("{} columns cannot be allocated, only powers of two from 32 to 512", columns));
  const auto end = [](const Buffer& b) { return b.offset + std::int64_t{b.columns} * b.depth; };
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    if (tiles[k]->offset < 0 || end(*tiles[k]) > columns)
      return fault(FaultKind::Aliasing, fmt::format("{} takes columns {} to {} of {}", printable(tiles[k]->name), tiles[k]->offset,
                                                    end(*tiles[k]) - 1, columns));
    for (std::size_t other = 0; other < k; ++other)
      if (tiles[k]->offset < end(*tiles[other]) && tiles[other]->offset < end(*tiles[k]))
        return fault(FaultKind::Aliasing, fmt::format("{} and {} share columns", printable(tiles[other]->name), printable(tiles[k]->name)));
  }
  return std::nullopt;
}

std::optional<ProgramFault> check_lanes(const BlockState& state) {
  for (std::size_t r = 0; r < state.program.roles.size(); ++r) {
    const Role& role = state.program.roles[r];
    const auto fault = [&](std::string what) { return ProgramFault{FaultKind::Lanes, role.name, "", 0, 0, std::move(what), {}}; };
    for (std::size_t other = 0; other < r; ++other) {
      const Role& o = state.program.roles[other];
      if (role.first_thread < o.first_thread + 32 * o.warps && o.first_thread < role.first_thread + 32 * role.warps)
        return fault(fmt::format("begins at thread {}, which is {}'s", role.first_thread, printable(o.name)));
    }
    const auto touches = [&](const Step& step) {
      return step.kind == StepKind::Compute &&
             (state.is_tensor(step.output) ||
              std::any_of(step.inputs.begin(), step.inputs.end(), [&](const Place& p) { return state.is_tensor(p); }));
    };
    const bool any = std::any_of(role.sections.begin(), role.sections.end(),
                                 [&](const Section& section) { return std::any_of(section.steps.begin(), section.steps.end(), touches); });
    if (any && (role.warps != 4 || role.first_thread % 128 != 0))
      return fault(fmt::format("{} warps from thread {} on load and store tensor memory; a warp reaches 32 lanes, by its place among four",
                               role.warps, role.first_thread));
  }
  return std::nullopt;
}

ProgramFault stuck(const BlockState& state) {
  ProgramFault fault;
  for (std::size_t r = 0; r < state.agents.size(); ++r) {
    const Agent& agent = state.agents[r];
    if (state.finished(agent)) continue;
    const Flat& flat = agent.code[agent.at];
    const std::string step = step_text(state.kernel, state.program, state.role_at(r), *flat.section, *flat.step);
    if (fault.role.empty()) {
      fault = {FaultKind::Deadlock, state.role_at(r).name, step, agent.tile, flat.step->iteration + flat.shift, "", flat.step->op};
    } else {
      fault.what += fmt::format("; {} is at '{}' of iteration {}", state.role_at(r).name, step, flat.step->iteration + flat.shift);
    }
  }
  fault.what = "no role can go on" + fault.what;
  return fault;
}

}  // namespace heddle::codegen
