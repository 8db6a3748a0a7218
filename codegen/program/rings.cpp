// Slot by slot: the shallowest ring of loads gets the next one, until it is as deep as it may be or a slot no longer fits.
#include "codegen/program/rings.h"

#include <algorithm>
#include <optional>

namespace heddle::codegen {
namespace {

constexpr int kDeepest = 8;                           ///< as the solver's own rings (core/problem/problem.h)
constexpr std::int64_t kTile = 1024, kBarriers = 16;  ///< bytes that slots are multiples of; that a slot's full and empty barrier take
constexpr std::int64_t kReserved = 1024;              ///< bytes of shared memory that the system takes per block (CUDA, occupancy)
constexpr std::int64_t kRegistersOfSm = 65536;

bool is_ring_of_loads(const Problem& problem, const Schedule& schedule, std::size_t c) {
  const Channel& channel = problem.channels[c];
  return channel.space == Space::Smem && schedule.depths[c] > 0 && !channel.only_if_crossing && channel.writer.valid() &&
         problem.op(channel.writer).kind.starts_with("tma_load");
}

}  // namespace

std::int64_t room_of_block(const Problem& problem, const Program& program) {
  const std::int64_t sm = problem.limits.smem_bytes + kReserved;
  const std::int64_t by_registers = kRegistersOfSm / std::max(1, program.entry_registers * program.threads);
  const std::int64_t blocks = std::max<std::int64_t>(1, std::min(by_registers, sm / (program.smem_bytes + kReserved)));
  return sm / blocks - kReserved;
}

Schedule with_deeper_rings(const Problem& problem, const Schedule& schedule, const Program& program) {
  Schedule deeper = schedule;
  std::int64_t left = room_of_block(problem, program) - program.smem_bytes;
  for (;;) {
    std::optional<std::size_t> next;
    for (std::size_t c = 0; c < problem.channels.size(); ++c)
      if (is_ring_of_loads(problem, schedule, c) && (!next || deeper.depths[c] < deeper.depths[*next])) next = c;
    if (!next) return deeper;
    std::int64_t slot = (problem.channels[*next].size + kTile - 1) / kTile * kTile;
    for (const Buffer& buffer : program.buffers)  // half of it in a pair of blocks
      if (buffer.name == problem.channels[*next].name) slot = buffer.slot_bytes;
    slot += kBarriers;
    if (deeper.depths[*next] >= std::min(kDeepest, problem.channels[*next].max_depth) || slot > left) return deeper;
    ++deeper.depths[*next];
    left -= slot;
  }
}

Schedule with_double_rings(const Problem& problem, const Schedule& schedule) {
  Schedule deeper = schedule;
  for (std::size_t c = 0; c < problem.channels.size(); ++c)
    if (is_ring_of_loads(problem, schedule, c) && problem.channels[c].max_depth >= 2) deeper.depths[c] = std::max(deeper.depths[c], 2);
  return deeper;
}

}  // namespace heddle::codegen
