// What the audit found, as sentences: what is above its threshold as reasons against the kernel, all of it as lines of the report.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "codegen/machine_code/audit.h"
#include "codegen/program/refusal.h"
#include "core/base/text_style.h"

namespace heddle::codegen {
namespace {

std::string op_name(const Kernel& kernel, OpRef op) { return printable(op_of(kernel, op).name); }

const char* product_word(const RoleLoopAudit& loop) { return loop.counts[OpClass::TensorProduct] > 0 ? "tcgen05.mma" : "wgmma"; }

int most_uniform(const RoleLoopAudit& loop) { return kMostUniform + kMostUniformPerProduct * loop.counts[OpClass::Product]; }

/// "the turn", "the wait for v", "QK0".
std::string point_text(const Kernel& kernel, StepKind kind, OpRef op) {
  switch (kind) {
    case StepKind::TakeTurn: return "taking the turn";
    case StepKind::PassTurn: return "passing the turn";
    case StepKind::Sync: return "the role's barrier";
    case StepKind::Wait: return "a wait for a barrier of " + op_name(kernel, op);
    case StepKind::Arrive: return "an arrival of " + op_name(kernel, op);
    case StepKind::Signal: return "the signal of " + op_name(kernel, op);
    case StepKind::AwaitWrites: return "the wait for what " + op_name(kernel, op) + " stores";
    case StepKind::Retire: return "the wgmma wait of " + op_name(kernel, op);
    default: return op_name(kernel, op);
  }
}

/// "  2595 cycles an iteration: 1142 in its turn, 692 held at wgmmas, 151 waiting at taking the turn, 33 at the wgmma wait of PV1".
std::string time_text(const LoopTime& time, const Kernel& kernel, const Emission& emission) {
  std::string text = fmt::format("  {} cycles an iteration", time.iteration);
  const char* before = ": ";
  const auto part = [&](Cycle cycles, const std::string& where) {
    if (cycles > 0) text += fmt::format("{}{} {}", std::exchange(before, ", "), cycles, where);
  };
  part(time.turn, "in its turn");
  part(time.held, "held at wgmmas");
  std::vector<std::pair<std::string, Cycle>> waits;  // those of several iterations in a pass are one
  for (const LoopTime::Wait& wait : time.waits) {
    const std::string where = wait.span ? point_text(kernel, wait.point, emission.lines[*wait.span].op) : to_string(wait.point);
    const auto found = std::find_if(waits.begin(), waits.end(), [&](const auto& known) { return known.first == where; });
    if (found == waits.end())
      waits.emplace_back(where, wait.cycles);
    else
      found->second += wait.cycles;
  }
  for (std::size_t w = 0; w < waits.size(); ++w) part(waits[w].second, (w == 0 ? "waiting at " : "at ") + waits[w].first);
  return text + "\n";
}

}  // namespace

std::vector<Refusal> judge(const MachineAudit& audit, const Kernel& kernel, const Program& program) {
  std::vector<Refusal> faults;
  for (const RoleLoopAudit& loop : audit.loops) {
    const std::string role = printable(program.roles[loop.role].name);
    for (const TurnGap& turn : loop.turns)
      if (turn.issue > kMostTurnGap)
        faults.push_back(refusal("turn_gap", {op_of(kernel, turn.op).name},
                                 fmt::format("{} holds its turn for {} issue cycles ({} instructions) before the first wgmma of '{}'; "
                                             "{} are allowed",
                                             role, turn.issue, turn.instructions, op_of(kernel, turn.op).name, kMostTurnGap)));
    if (const int fences = loop.counts[OpClass::GpuFence])
      faults.push_back(refusal("gpu_fence", {}, fmt::format("the loop of {} has {} fences that reach beyond the block", role, fences)));
    if (const int uniform = loop.counts[OpClass::Uniform]; loop.counts[OpClass::Product] > 0 && uniform > most_uniform(loop))
      faults.push_back(refusal("uniform_chain", {},
                               fmt::format("the loop of {} has {} uniform instructions for {} wgmmas; {} are allowed", role, uniform,
                                           loop.counts[OpClass::Product], most_uniform(loop))));
    for (const Interrupted& batch : loop.interrupted)
      if (batch.gap > kMostGap * batch.wgmma)
        faults.push_back(refusal("broken_batch", {op_of(kernel, batch.op).name},
                                 fmt::format("between two {}s of '{}' in {} stand {} issue cycles of other work; one takes {} cycles",
                                             product_word(loop), op_of(kernel, batch.op).name, role, batch.gap, batch.wgmma)));
    for (const Reordered& one : loop.reordered)
      faults.push_back(
          refusal("tensor_order", {},
                  fmt::format("in the loop of {} {} runs before {}, which the text has before it", role,
                              point_text(kernel, one.early.kind, one.early.op), point_text(kernel, one.late.kind, one.late.op))));
  }
  return faults;
}

std::string audit_text(const MachineAudit& audit, const Kernel& kernel, const Program& program, const Emission& emission) {
  if (!audit.lines) return "no line table: the machine code cannot be compared with the schedule\n";
  std::string text;
  if (const auto iteration = audit.iteration())
    text += fmt::format("as compiled: {} cycles an iteration by the machine code (one SM quarter; predicted{})\n", *iteration,
                        audit.unknown > 0 ? fmt::format("; {} instructions of unknown kinds", audit.unknown) : "");
  for (const RoleLoopAudit& loop : audit.loops) {
    text += fmt::format("{}, {} per pass of its loop: {} instructions, {} issue cycles{}\n", printable(program.roles[loop.role].name),
                        loop.iterations == 1 ? std::string("one iteration") : fmt::format("{} iterations", loop.iterations),
                        loop.counts.all(), loop.counts.issue(), loop.inner ? "; loops inside are counted once" : "");
    text += fmt::format("  {}\n", to_string(loop.counts));
    if (loop.time) text += time_text(*loop.time, kernel, emission);
    if (const int products = loop.counts[OpClass::Product])
      text += fmt::format("  {:.1f} uniform instructions per wgmma\n", static_cast<double>(loop.counts[OpClass::Uniform]) / products);
    for (const TurnGap& turn : loop.turns)
      text += fmt::format("  from taking the turn to the first wgmma of {}: {} instructions, {} issue cycles\n", op_name(kernel, turn.op),
                          turn.instructions, turn.issue);
    for (const Drain& drain : loop.drains)
      text += fmt::format("  drained for {}: {} issue cycles until this role's next wgmma\n", op_name(kernel, drain.op), drain.issue);
    for (const Interrupted& batch : loop.interrupted)
      text += fmt::format("  {} is interrupted: {} issue cycles between two {}s of {} cycles\n", op_name(kernel, batch.op), batch.gap,
                          product_word(loop), batch.wgmma);
    for (const Reordered& one : loop.reordered)
      text += fmt::format("  {} runs before {}, which the text has before it\n", point_text(kernel, one.early.kind, one.early.op),
                          point_text(kernel, one.late.kind, one.late.op));
    if (loop.time) continue;  // what it costs is in the cycles
    for (const Moved& moved : loop.moved) {
      std::string where;
      if (moved.down > 0) where += fmt::format("{} run later", moved.down);
      if (moved.up > 0) where += fmt::format("{}{} run earlier", where.empty() ? "" : ", ", moved.up);
      text += fmt::format("  {}: of {} instructions {} than in the text, past {}\n", op_name(kernel, moved.op), moved.of, where,
                          point_text(kernel, emission.lines[moved.past].kind, emission.lines[moved.past].op));
    }
  }
  return text;
}

}  // namespace heddle::codegen
