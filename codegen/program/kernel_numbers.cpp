#include "codegen/program/kernel_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/analysis/stream_order.h"
#include "core/analysis/usage.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::codegen {
namespace {

constexpr int kWarp = 32;

/// "rings 131 072; once per tile q0 16 384 and o 32 768; barriers, staging and alignment 96"
std::string parts_of_smem(const Program& program, std::int64_t smem_bytes) {
  std::int64_t rings = 0, tile = 0;
  std::string per_tile;
  for (const Buffer& buffer : program.buffers) {
    const std::int64_t bytes = buffer.slot_bytes * buffer.depth;
    (buffer.per_tile ? tile : rings) += bytes;
    if (buffer.per_tile) per_tile += fmt::format("{}{} {}", per_tile.empty() ? "" : ", ", printable(buffer.name), grouped(bytes));
  }
  std::string text = "rings " + grouped(rings);
  if (!per_tile.empty()) text += "; once per tile " + per_tile;
  std::int64_t scratch = 0;
  for (const Role& role : program.roles) scratch += role.scratch_bytes;
  if (scratch > 0) text += "; changes of layout " + grouped(scratch);
  return text + "; barriers, staging and alignment " + grouped(smem_bytes - rings - tile - scratch);
}

using Names = std::vector<std::string>;

/// Ops of a group in the order of the window.
Names scheduled_order(const Problem& problem, const Schedule& schedule, GroupId group) {
  const auto rank = tie_ranks(problem, schedule);
  std::vector<std::size_t> ops;
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (schedule.ops[v].group == group) ops.push_back(v);
  std::sort(ops.begin(), ops.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(schedule.slot(OpId(a)), rank[a], a) < std::tuple(schedule.slot(OpId(b)), rank[b], b);
  });
  Names names;
  for (const std::size_t v : ops) names.push_back(problem.ops[v].name);
  return names;
}

/// Ops of a role in the order of its loop, each where it is first issued.
Names written_order(const Problem& problem, const Role& role) {
  Names names;
  for (const Section& section : role.sections) {
    if (section.part != Section::Part::Steady) continue;
    for (const Step& step : section.steps) {
      if ((step.kind != StepKind::Issue && step.kind != StepKind::Compute) || step.op.list != OpRef::List::Body) continue;
      const std::string& name = problem.ops[step.op.index].name;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    break;
  }
  return names;
}

/// "QK0, max0, exp0 ..."
std::string beginning(const Names& names) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, names.size()); ++i) text += (i > 0 ? ", " : "") + printable(names[i]);
  return names.size() > kMost ? text + " ..." : text;
}

std::string why_other_order(const Names& scheduled, Names written) {
  if (const auto first = std::find(written.begin(), written.end(), scheduled.front()); first != written.end()) {
    std::rotate(written.begin(), first, written.end());
    if (written == scheduled) return "the same order, as a circle: the loop is cut where it holds the fewest values";
  }
  return "the same waits and the same turns; between them ops that do not depend on each other have changed places";
}

}  // namespace

std::vector<KernelNumber> kernel_numbers(const Problem& problem, const Schedule& schedule, const Program& program,
                                         std::int64_t smem_bytes) {
  const Usage usage = compute_usage(problem, schedule);
  std::vector<KernelNumber> numbers;
  const auto add = [&](std::string name, std::string scheduled, std::string written, std::string because) {
    if (scheduled == written) because.clear();
    numbers.push_back({std::move(name), std::move(scheduled), std::move(written), std::move(because)});
  };
  add("warps", grouped(usage.warps), grouped(program.threads / kWarp),
      "registers are given to groups of 4 warps, so every role has whole ones; the warps that it does not need are idle");
  add("bytes of shared memory", grouped(usage.smem_bytes), grouped(smem_bytes), parts_of_smem(program, smem_bytes));
  for (std::size_t c = 0; c < problem.channels.size(); ++c)
    for (const Buffer& buffer : program.buffers)
      if (buffer.name == problem.channels[c].name && buffer.depth != schedule.depths[c])
        add("slots of " + printable(buffer.name), grouped(schedule.depths[c]), grouped(buffer.depth),
            "shared memory was left: more slots let loads run further ahead; the proof speaks of the fewest");
  for (const Role& role : program.roles) {
    const std::string name = printable(role.name);
    if (role.scheduled_registers > 0)
      add("registers of " + name, grouped(role.scheduled_registers), grouped(role.registers > 0 ? role.registers : program.entry_registers),
          "what the roles leave of the register file is shared out, in steps of 8");
    add("stages of " + name, grouped(program.stages), grouped(role.stages),
        "its loop begins with its own first op: stages and iterations in its comments are counted from there, starts in the chart from the "
        "first op of the schedule");
    const Names scheduled = scheduled_order(problem, schedule, role.group), written = written_order(problem, role);
    if (!scheduled.empty() && !written.empty())
      add("order of " + name, beginning(scheduled), beginning(written), why_other_order(scheduled, written));
  }
  return numbers;
}

std::string kernel_numbers_text(const std::vector<KernelNumber>& numbers, int width) {
  std::vector<std::vector<std::string>> rows;
  for (const KernelNumber& number : numbers) rows.push_back({number.name, number.scheduled, number.written});
  std::string text = text_table({{"number"}, {"scheduled"}, {"written"}}, rows);
  for (const KernelNumber& number : numbers)
    if (number.differs()) text += wrapped(number.because, fmt::format("{}: ", number.name), width);
  return text;
}

}  // namespace heddle::codegen
