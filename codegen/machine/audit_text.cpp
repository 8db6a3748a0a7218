// What the audit found, as sentences: what is above its threshold as reasons against the kernel, all of it as lines of the report.
#include <fmt/format.h>

#include "codegen/machine/audit.h"
#include "codegen/program/refusal.h"
#include "core/base/text_style.h"

namespace heddle::codegen {
namespace {

std::string op_name(const Kernel& kernel, OpRef op) { return printable(op_of(kernel, op).name); }

const char* product_word(const LoopAudit& loop) { return loop.counts[OpClass::TensorProduct] > 0 ? "tcgen05.mma" : "wgmma"; }

int most_uniform(const LoopAudit& loop) { return kMostUniform + kMostUniformPerProduct * loop.counts[OpClass::Product]; }

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

}  // namespace

std::vector<Refusal> judge(const MachineAudit& audit, const Kernel& kernel, const Program& program) {
  std::vector<Refusal> faults;
  for (const LoopAudit& loop : audit.loops) {
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

Json audit_json(const MachineAudit& audit, const Kernel& kernel, const Program& program, const Emission& emission) {
  if (!audit.lines) return {};
  const auto counts_json = [](const ClassCounts& counts) {
    Json json = Json::object();
    for (int c = 0; c < kOpClasses; ++c)
      if (const int count = counts.of[static_cast<std::size_t>(c)]) json.set(to_string(static_cast<OpClass>(c)), count);
    return json;
  };
  const auto name = [&](OpRef op) { return op_of(kernel, op).name; };
  Json loops = Json::array();
  for (const LoopAudit& loop : audit.loops) {
    Json stretches = Json::array(), turns = Json::array(), drains = Json::array(), interrupted = Json::array(), reordered = Json::array(),
         moved = Json::array();
    for (const Stretch& stretch : loop.stretches) {
      Json json = Json::object();
      json.set("from", stretch.span ? to_string(stretch.point) : "head");
      if (stretch.span) json.set("op", name(emission.lines[*stretch.span].op)).set("line", emission.lines[*stretch.span].first_line);
      stretches.push(json.set("counts", counts_json(stretch.counts)).set("issue", stretch.counts.issue()));
    }
    for (const TurnGap& turn : loop.turns)
      turns.push(Json::object().set("op", name(turn.op)).set("instructions", turn.instructions).set("issue", turn.issue));
    for (const Drain& drain : loop.drains) drains.push(Json::object().set("op", name(drain.op)).set("issue", drain.issue));
    for (const Interrupted& batch : loop.interrupted)
      interrupted.push(Json::object().set("op", name(batch.op)).set("gap", batch.gap).set("wgmma", batch.wgmma));
    for (const Reordered& one : loop.reordered)
      reordered.push(Json::object().set("line", one.early.line).set("before_line", one.late.line));
    for (const Moved& one : loop.moved)
      moved.push(Json::object()
                     .set("op", name(one.op))
                     .set("instructions", one.of)
                     .set("later", one.down)
                     .set("earlier", one.up)
                     .set("past_line", emission.lines[one.past].first_line));
    loops.push(Json::object()
                   .set("role", program.roles[loop.role].name)
                   .set("iterations", loop.iterations)
                   .set("inner_loops", loop.inner)
                   .set("instructions", loop.counts.all())
                   .set("issue", loop.counts.issue())
                   .set("counts", counts_json(loop.counts))
                   .set("stretches", std::move(stretches))
                   .set("turns", std::move(turns))
                   .set("drains", std::move(drains))
                   .set("interrupted", std::move(interrupted))
                   .set("reordered", std::move(reordered))
                   .set("moved", std::move(moved)));
  }
  return loops;
}

std::string audit_text(const MachineAudit& audit, const Kernel& kernel, const Program& program, const Emission& emission) {
  if (!audit.lines) return "no line table: the machine code cannot be compared with the schedule\n";
  std::string text;
  for (const LoopAudit& loop : audit.loops) {
    text += fmt::format("{}, {} per pass of its loop: {} instructions, {} issue cycles{}\n", printable(program.roles[loop.role].name),
                        loop.iterations == 1 ? std::string("one iteration") : fmt::format("{} iterations", loop.iterations),
                        loop.counts.all(), loop.counts.issue(), loop.inner ? "; loops inside are counted once" : "");
    text += fmt::format("  {}\n", to_string(loop.counts));
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
