#include "codegen/emit/steps.h"

#include <algorithm>
#include <utility>

#include "codegen/emit/copies.h"
#include "codegen/emit/hand_over.h"
#include "codegen/emit/places.h"
#include "codegen/emit/tensor.h"
#include "codegen/emit/tile_ops.h"
#include "codegen/emit/tma.h"
#include "codegen/emit/wgmma.h"

namespace heddle::codegen {
namespace {

/// A ring whose readers are wgmmas, in whichever role: no thread reads or writes it.
bool only_products_read(const EmitContext& emit, std::size_t empty_barrier) {
  for (const Role& role : emit.program.roles)
    for (const Section& section : role.sections)
      for (const Step& step : section.steps)
        if (step.kind == StepKind::Arrive && step.barrier == empty_barrier && op_of(emit.kernel, step.op).kind != "mma") return false;
  return true;
}

void write_step_text(EmitContext& emit, const Step& step) {
  const auto comment = [&] {
    const TileOp& op = op_of(emit.kernel, step.op);
    if (step.slot < 0) return safe_name(op.name);
    return fmt::format("{} of iteration {}, stage {}, slot {}", safe_name(op.name), iteration_text(emit, step.iteration), step.stage,
                       step.slot);
  };
  switch (step.kind) {
    case StepKind::Wait: {
      const Barrier& barrier = emit.program.barriers[step.barrier];
      const std::string name = barrier_name(emit, step.barrier);
      // Work that the schedule has before an mma, but that only later work needs, would otherwise end up between its wgmmas.
      const char* fence = step.fence ? " fence_async();" : "";
      if (barrier.full && emit.notes.unread)
        return emit.text.line("wait_with({}, p{}, {});{}  // full {}", barrier_text(emit, step.barrier, step.cursor), step.cursor,
                              register_text(emit, std::exchange(emit.notes.unread, nullptr)->output), fence, name);
      // For what threads of the other block have done.
      const bool for_cluster =
          emit.program.pair ? is_leaders(emit, step.barrier) && barrier.tx_bytes == 0
                            : !barrier.full && emit.program.buffers[barrier.buffer].shared && !only_products_read(emit, step.barrier);
      emit.text.line("{}({}, p{}{});{}  // {} {}", for_cluster ? "wait_cluster" : "wait", barrier_text(emit, step.barrier, step.cursor),
                     step.cursor, step.ahead ? " ^ 1" : "", fence, barrier.full ? "full" : "empty", name);
      return;
    }
    case StepKind::Arrive: {
      const Barrier& barrier = emit.program.barriers[step.barrier];
      const std::string name = barrier_name(emit, step.barrier);
      if (!barrier.full && emit.program.buffers[barrier.buffer].shared && !emit.program.pair) {
        const std::string at = barrier_text(emit, step.barrier, step.cursor);
        emit.text.line("{0}arrive({1}), {2}({1}, rank ^ 1);  // empty {3}, here and in the other block",
                       emit.one_thread ? "" : "__syncwarp(); if (lane == 0) ", at,
                       only_products_read(emit, step.barrier) ? "arrive_at_after_products" : "arrive_at", name);
        return;
      }
      // What the warp's other lanes did comes first. No branch for the last pass: ptxas moves nothing across one.
      const std::string last = step.only_last ? fmt::format("i >= {}", end_text(emit, *emit.section, 1)) : "";
      const std::string who = emit.one_thread ? last : last.empty() ? "lane == 0" : "lane == 0 && " + last;
      emit.text.line("{}{}{}({});  // {} {}", emit.one_thread ? "" : "__syncwarp(); ", who.empty() ? "" : fmt::format("if ({}) ", who),
                     is_leaders(emit, step.barrier) ? "arrive_leader" : "arrive", barrier_text(emit, step.barrier, step.cursor),
                     barrier.full ? "full" : "empty", name);
      return;
    }
    case StepKind::Advance:
      if (emit.role->cursors[step.cursor].depth == 1)
        emit.text.line("p{} ^= 1;", step.cursor);
      else
        emit.text.line("if (++s{0} == {1}) s{0} = 0, p{0} ^= 1;", step.cursor, emit.role->cursors[step.cursor].depth);
      return;
    case StepKind::TakeTurn: {
      const Place* ready = made_before(emit, step);
      emit.text.line("{}<{}, {}>({});  // {} issues wgmmas", ready ? "take_turn_with" : "take_turn", kFirstTurn + emit.role_index,
                     kTurnThreads, ready ? register_text(emit, *ready) : "", safe_name(emit.role->name));
      return;
    }
    case StepKind::PassTurn:
      emit.text.line("pass_turn<{}, {}>();  // to {}", kFirstTurn + step.barrier, kTurnThreads,
                     safe_name(emit.program.roles[step.barrier].name));
      return;
    case StepKind::Sync:  // for TMA and wgmma only what threads have written needs a fence
      emit.text.line("{}{}", emit.notes.wrote_shared ? "fence_async(); " : "", meeting(emit, op_of(emit.kernel, step.op)));
      if (meets(step)) emit.notes.wrote_shared = false;
      return;
    case StepKind::Commit:
      if (step.engine == Engine::Mma) {
        emit.text.raw("product_commit();");
        auto& group = emit.notes.flying.emplace_back();
        for (const Step* s : emit.notes.open) group.push_back({s, true});
        emit.notes.open.clear();
      } else {
        emit.text.raw(emit.one_thread ? "store_commit();" : "if (tid == 0) store_commit();");
      }
      return;
    case StepKind::Retire:
      if (step.engine != Engine::Store) return write_retire(emit, step);
      return emit.text.line("{}store_wait_read<{}>();", emit.one_thread ? "" : "if (tid == 0) ", step.keep);
    case StepKind::Put: return write_hand_over(emit, step);
    case StepKind::Signal: return write_signal(emit, step);
    case StepKind::AwaitReads: return write_await_loads(emit);
    case StepKind::AwaitWrites: return emit.text.raw("tensor_await_stores();");
    case StepKind::FenceBefore: return emit.text.raw("tensor_fence_before();");
    case StepKind::FenceAfter: return emit.text.raw("tensor_fence_after();");
    case StepKind::Issue:
      emit.text.line("// {}", comment());
      if (step.engine == Engine::Load) return step.copies ? write_copies(emit, step) : write_load(emit, step);
      if (step.engine == Engine::Store) return write_store(emit, step);
      return emit.program.blackwell() ? write_tensor_product(emit, step) : write_product(emit, step);
    case StepKind::Compute:
      if (step.op.list == OpRef::List::Prologue && step.output.kind == Place::Kind::Variable && only_sums_read_init(emit, step))
        return emit.text.line("fresh({});  // {}", register_text(emit, step.output), comment());
      finish_lazy_sums(emit, step);
      emit.text.line("// {}", comment());
      if (emit.notes.unread &&
          std::any_of(step.inputs.begin(), step.inputs.end(), [&](const Place& p) { return p.value == emit.notes.unread->output.value; }))
        emit.notes.unread = nullptr;
      if (makes_powers(op_of(emit.kernel, step.op)) && emit.tiles.kind == TileKind::Fragments &&
          emit.tiles.words_of(step.output.value) > 2 && !emit.tiles.values[step.output.value].packed)
        emit.notes.unread = &step;
      return write_compute(emit, step);
  }
}

}  // namespace

void write_step(EmitContext& emit, const Step& step) {
  emit.notes.wrote_shared = emit.notes.wrote_shared || writes_shared(emit, step);
  if (step.kind == StepKind::Advance) return write_step_text(emit, step);
  emit.text.begin_span({0, 0, emit.role_index, step.op, step.kind, emit.section->part, step.iteration, step.stage, step.slot});
  write_step_text(emit, step);
  emit.text.end_span();
}

bool writes_shared(const EmitContext& emit, const Step& step) {
  return step.kind == StepKind::Put ||
         (step.kind == StepKind::Compute && step.output.kind == Place::Kind::Buffer && !emit.program.buffers[step.output.index].tensor());
}

/// In every pass, so that what was written before is behind it.
bool meets(const Step& step) { return step.kind == StepKind::Sync && step.skip_first == 0 && step.skip_last == 0; }

std::string meeting(EmitContext& emit, const TileOp& op) {
  // A block has 16.
  const std::size_t number = 1 + emit.role_index;
  const int end = emit.program.turns ? kFirstTurn : emit.program.tensor ? kFreeing : 16;
  if (number >= static_cast<std::size_t>(end))
    emit.refuse(
        "named_barriers", op,
        fmt::format("the warps of '{}' meet for '{}', and named barriers are left for {} roles only", emit.role->name, op.name, end - 1));
  return fmt::format("role_sync<{}, {}>();", number, 32 * emit.role->warps);
}

bool is_leaders(const EmitContext& emit, std::size_t barrier) {
  if (!emit.program.pair) return false;
  for (const Role& role : emit.program.roles)
    if (issues_products(role))
      for (const Section& section : role.sections)
        for (const Step& step : section.steps)
          if (step.kind == StepKind::Wait && step.barrier == barrier) return true;
  return false;
}

bool is_zero_fill(const EmitContext& emit, std::size_t v) {
  for (const TileOp& op : emit.kernel.prologue)
    if (op.kind == "fill" && !op.outputs.empty() && op.outputs[0] == emit.kernel.values[v].name)
      return number_attr(op, "value").value_or(0.0f) == 0.0f;
  return false;
}

}  // namespace heddle::codegen
