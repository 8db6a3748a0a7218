#include "codegen/program/text.h"

#include <cstdlib>

#include <fmt/format.h>

#include "core/chart/chart_layout.h"

namespace heddle::codegen {
namespace {

/// "i-1" in a loop, "7" elsewhere, nothing for what there is once per tile.
std::string when(const Program& program, const Section& section, std::int64_t iteration) {
  if (iteration <= kPerTile) return {};
  if (section.after && program.varies && iteration >= 0) return fmt::format("[n-{}]", program.trips - iteration);
  if (iteration < 0 && !section.loop) return "[init]";
  if (!section.loop) return fmt::format("[{}]", iteration);
  const std::int64_t offset = iteration - section.first;
  return offset == 0 ? "[i]" : fmt::format("[i{}{}]", offset < 0 ? '-' : '+', std::abs(offset));
}

std::string place_text(const Kernel& kernel, const Program& program, const Role& role, const Section& section, const Place& place) {
  const std::string value = printable(kernel.values[place.value].name) + when(program, section, place.iteration);
  if (place.kind == Place::Kind::Buffer) return value + " in " + printable(program.buffers[place.index].name);
  if (place.kind != Place::Kind::Variable) return "nothing";
  const Variable& variable = role.variables[place.index];
  std::string text = value;
  if (variable.value != place.value) text += " in " + printable(variable.name);
  if (variable.copies > 1) text += fmt::format(" copy {}", place.copy);
  return text;
}

/// In which passes of its loop a step is not there.
std::string left_out(const Step& step) {
  if (step.only_last) return "  (in the last pass only)";
  std::string text;
  if (step.skip_first > 0) text = fmt::format("first {}", count_of(step.skip_first, "pass", "passes"));
  if (step.skip_last > 0) text += fmt::format("{}last {}", text.empty() ? "" : " and ", count_of(step.skip_last, "pass", "passes"));
  return text.empty() ? text : "  (not in the " + text + ")";
}

}  // namespace

std::string step_text(const Kernel& kernel, const Program& program, const Role& role, const Section& section, const Step& step) {
  const auto barrier = [&] {
    const Barrier& b = program.barriers[step.barrier];
    const std::string& name = b.full ? kernel.values[b.value].name : program.buffers[b.buffer].name;
    const bool tile = b.per_tile || (program.buffers[b.buffer].per_tile && !program.buffers[b.buffer].tensor());
    return fmt::format("{} {}{}", b.full ? "full" : "empty", printable(name), tile ? "" : when(program, section, step.iteration));
  };
  const auto places = [&] {
    std::string text;
    for (const Place& p : step.inputs) text += (text.empty() ? "" : ", ") + place_text(kernel, program, role, section, p);
    if (step.output.kind != Place::Kind::None) text += " -> " + place_text(kernel, program, role, section, step.output);
    return text;
  };
  switch (step.kind) {
    case StepKind::Wait: return "wait " + barrier();
    case StepKind::Arrive:
      return fmt::format(
          "arrive {} (+{}{})", barrier(), step.count,
          !program.barriers[step.barrier].full && program.buffers[program.barriers[step.barrier].buffer].shared ? ", in both blocks" : "");
    case StepKind::Advance: {
      const RingCursor& c = role.cursors[step.cursor];
      return fmt::format("advance c{}: slot {} of {}, {}", step.cursor, "+1", c.depth,
                         c.per_tile ? "per tile" : fmt::format("lag {}", c.lag));
    }
    case StepKind::Sync: return "sync the role's warps, shared memory visible to TMA and mmas";
    case StepKind::Signal: return fmt::format("signal {} when all issued mmas are complete", barrier());
    case StepKind::AwaitReads: return "await loads from tensor memory";
    case StepKind::AwaitWrites: return "await stores to tensor memory";
    case StepKind::FenceBefore: return "fence: accesses to tensor memory so far come before what follows";
    case StepKind::FenceAfter: return "fence: accesses to tensor memory from here on come after what was waited for";
    case StepKind::Commit: return step.engine == Engine::Mma ? "close the commit group of wgmmas" : "close the commit group of stores";
    case StepKind::Retire:
      return fmt::format("retire {} commit groups, {} may stay in flight", step.engine == Engine::Mma ? "wgmma" : "store", step.keep);
    case StepKind::TakeTurn: return "take the turn on the tensor core: wait at this role's named barrier";
    case StepKind::PassTurn:
      return fmt::format("pass the turn to {}: arrive at its named barrier", printable(program.roles[step.barrier].name));
    case StepKind::Put: return "put " + places();
    case StepKind::Issue:
    case StepKind::Compute: break;
  }
  const TileOp& op = op_of(kernel, step.op);
  std::string text = fmt::format("{} {} {}: {}", to_string(step.kind), printable(op.kind), printable(op.name), places());
  if (step.piece.count > 1) text += fmt::format(", piece {} of {}", step.piece.number + 1, step.piece.count);
  if (step.engine == Engine::Load) text += (step.copies ? ", by copies of every thread, each signals " : ", signals ") + barrier();
  return text;
}

std::string program_page(const Kernel& kernel, const Program& program, const TextStyle& style) {
  std::string page =
      fmt::format("{}: {} trips, {} threads of {} registers at launch, {} bytes of shared memory\n", styled(program.kernel, style),
                  grouped(program.trips), program.threads, program.entry_registers, grouped(program.smem_bytes));
  if (program.cluster > 1)
    page += fmt::format("clusters of {} blocks along {}\n", program.cluster, styled(kernel.grid[program.cluster_dim].name, style));
  if (program.varies)
    page += fmt::format("a tile has n trips: {} {}{}\n", program.least_trips,
                        program.sizes.empty() ? fmt::format("to {}", program.trips) : std::string("or more"),
                        program.trip_step > 1 ? fmt::format(", {} apart", program.trip_step) : "");
  if (!program.sizes.empty())
    page += fmt::format("sizes at run time: {}; written down for a tile of {} trips\n", fmt::join(program.sizes, ", "), program.trips);
  if (program.pair) page += "pairs: the first block's mmas are for both\n";
  page += "\nbuffers in shared memory\n";
  std::vector<std::vector<std::string>> rows;
  for (const Buffer& b : program.buffers)
    if (!b.tensor())
      rows.push_back({styled(b.name, style), std::to_string(b.depth), grouped(b.slot_bytes), grouped(b.offset),
                      b.registers  ? "hands registers over"
                      : b.per_tile ? "once per tile"
                      : b.shared   ? program.pair ? "ring, half of it in each block" : "ring, each block loads half for both"
                      : b.empty    ? "ring"
                                   : "ring of one role"});
  for (const Role& role : program.roles)
    if (role.scratch_bytes > 0)
      rows.push_back(
          {"of " + styled(role.name, style), "1", grouped(role.scratch_bytes), grouped(role.scratch_offset), "changes of layout"});
  page += text_table({{"name"}, {"slots", true}, {"bytes each", true}, {"at", true}, {"what"}}, rows);
  if (program.tensor) {
    page += fmt::format("\nbuffers in tensor memory, {} columns allocated\n", program.tensor->columns);
    rows.clear();
    for (const Buffer& b : program.buffers)
      if (b.tensor())
        rows.push_back({styled(b.name, style), std::to_string(b.depth), std::to_string(b.columns), std::to_string(b.offset),
                        !b.per_tile   ? "ring"
                        : b.depth > 1 ? "accumulator, the next tile's beside this one's"
                                      : "accumulator"});
    page += text_table({{"name"}, {"slots", true}, {"columns each", true}, {"at", true}, {"what"}}, rows);
  }
  page += "\nbarriers\n";
  rows.clear();
  for (std::size_t k = 0; k < program.barriers.size(); ++k) {
    const Barrier& b = program.barriers[k];
    rows.push_back({styled(b.full ? kernel.values[b.value].name : program.buffers[b.buffer].name, style), b.full ? "full" : "empty",
                    std::to_string(program.buffers[b.buffer].depth), std::to_string(b.arrivals), b.tx_bytes ? grouped(b.tx_bytes) : "",
                    grouped(barrier_address(program, k))});
  }
  page += text_table({{"name"}, {"kind"}, {"slots", true}, {"arrivals", true}, {"bytes", true}, {"at", true}}, rows);
  for (const Role& role : program.roles) {
    page += fmt::format(
        "\n{}: threads {} to {}, {}\n", styled(role.name, style), role.first_thread, role.first_thread + 32 * role.warps - 1,
        role.registers ? fmt::format("{} registers ({} live at most)", role.registers, role.peak_registers) : "registers as launched");
    for (const Variable& v : role.variables)
      if (v.copies > 1)
        page += fmt::format("  {} has {} copies, {}\n", styled(v.name, style), v.copies,
                            v.moves ? "moved on at each definition" : "by unrolling");
    for (const Section& section : role.sections) {
      if (section.loop)
        page += fmt::format("\n  {}: {}{} times, i = {}{}\n", to_string(section.part),
                            program.varies && program.sizes.empty() ? "at most " : "", grouped(section.times), section.first,
                            section.unroll > 1 ? fmt::format(", then {} on", section.unroll) : ", then 1 on");
      else
        page += fmt::format("\n  {}\n", to_string(section.part));
      for (const Step& step : section.steps) {
        const std::string cycle = step.slot >= 0 ? grouped(step.slot) : "";
        page += fmt::format("  {:>7}  {}{}\n", cycle, styled(step_text(kernel, program, role, section, step), style), left_out(step));
      }
    }
  }
  return page;
}

}  // namespace heddle::codegen
