#include "app/window/tabs/cuda/kernel_numbers.h"

#include <fmt/format.h>

#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr int kWarp = 32;

/// "rings 131 072, once per tile q0 16 384 and o 32 768, barriers and alignment 96"
std::string parts_of_smem(const codegen::Program& program, std::int64_t smem_bytes) {
  std::int64_t rings = 0, tile = 0;
  std::string per_tile;
  for (const codegen::Buffer& buffer : program.buffers) {
    const std::int64_t bytes = buffer.slot_bytes * buffer.depth;
    (buffer.per_tile ? tile : rings) += bytes;
    if (buffer.per_tile) per_tile += fmt::format("{}{} {}", per_tile.empty() ? "" : ", ", printable(buffer.name), grouped(bytes));
  }
  std::string text = "rings " + grouped(rings);
  if (!per_tile.empty()) text += "; once per tile " + per_tile;
  return text + "; barriers, staging and alignment " + grouped(smem_bytes - rings - tile);
}

}  // namespace

std::vector<KernelNumber> kernel_numbers(const ScheduleEntry& entry, const codegen::Program& program, std::int64_t smem_bytes) {
  std::vector<KernelNumber> numbers;
  const auto differ = [&](std::string name, std::int64_t scheduled, std::int64_t written, std::string because) {
    if (scheduled != written) numbers.push_back({std::move(name), grouped(scheduled), grouped(written), std::move(because)});
  };
  differ("warps", entry.usage.warps, program.threads / kWarp,
         "registers are given to groups of 4 warps, so every role has whole ones; the warps that it does not need are idle");
  differ("bytes of shared memory", entry.usage.smem_bytes, smem_bytes, parts_of_smem(program, smem_bytes));
  for (const codegen::Role& role : program.roles) {
    const std::string name = printable(role.name);
    if (role.scheduled_registers > 0)
      differ("registers of " + name, role.scheduled_registers, role.registers > 0 ? role.registers : program.entry_registers,
             "what the roles leave of the register file is shared out, in steps of 8");
    differ(
        "stages of " + name, program.stages, role.stages,
        "its loop begins with its own first op: stages and iterations in its comments are counted from there, starts in the chart from the "
        "first op of the schedule");
  }
  return numbers;
}

}  // namespace heddle::app
