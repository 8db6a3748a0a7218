#include "codegen/emit/role.h"

#include <algorithm>

#include "codegen/emit/places.h"
#include "codegen/emit/recorder.h"
#include "codegen/emit/rescale.h"
#include "codegen/emit/steps.h"
#include "codegen/emit/tensor.h"
#include "codegen/emit/walk.h"
#include "codegen/program/copies.h"

namespace heddle::codegen {
namespace {

/// A branch for each warpgroup; roles of one warp may share it.
bool shares_branch(const EmitContext& emit, std::size_t index) {
  return index < emit.program.roles.size() && emit.program.roles[index].warpgroups == 0;
}

void open_branch(EmitContext& emit, const Role& role, std::size_t index) {
  const int last_thread = role.first_thread + 32 * role.warps - 1;
  if (shares_branch(emit, index))
    return emit.text.line("// ---- {}: threads {} to {}", safe_name(role.name), role.first_thread, last_thread);
  bool last = true;
  for (std::size_t r = index + 1; r < emit.program.roles.size(); ++r) last = last && shares_branch(emit, r);
  const std::string condition = last ? std::string() : fmt::format("if (threadIdx.x < {}) ", role.first_thread + 128 * role.warpgroups);
  emit.text.open("{}{}{{  // ---- {}: threads {} to {}", index == 0 ? "" : "} else ", condition, safe_name(role.name), role.first_thread,
                 last_thread);
  if (role.registers > emit.program.entry_registers) emit.text.line("more_registers<{}>();", role.registers);
  if (role.registers > 0 && role.registers < emit.program.entry_registers) emit.text.line("fewer_registers<{}>();", role.registers);
}

/// At the end of a warpgroup's branch. Each of them leaves by itself: ptxas spills in what follows branches with budgets of their own.
void free_tensor_memory(EmitContext& emit, const Role& role) {
  const int freed_by = emit.program.roles[emit.program.tensor->freed_by.value_or(0)].first_thread;
  const bool here = freed_by / 128 == role.first_thread / 128;
  emit.text.raw("__syncwarp();");
  emit.text.raw("tensor_fence_before();");
  if (emit.program.pair) emit.text.raw("cluster_sync();  // both blocks are done");
  if (!here) {
    if (!emit.program.pair) emit.text.line("pass_turn<{}, {}>();  // done with tensor memory", kFreeing, emit.program.threads);
    return;
  }
  emit.text.open("if (threadIdx.x / 32 == {}) {{", freed_by / 32);
  if (!emit.program.pair) emit.text.line("take_turn<{}, {}>();  // all others are done", kFreeing, emit.program.threads);
  emit.text.raw("tensor_fence_after();");
  emit.text.line("tensor_free{}(tensor, {});", emit.program.pair ? "_pair" : "", emit.program.tensor->columns);
  emit.text.outdent();
  if (emit.program.pair) return emit.text.raw("}");
  emit.text.raw("} else {");
  emit.text.line("  pass_turn<{}, {}>();", kFreeing, emit.program.threads);
  emit.text.raw("}");
}

void close_branch(EmitContext& emit, const Role& role, std::size_t index) {
  if (shares_branch(emit, index + 1)) return;
  if (emit.program.tensor)
    free_tensor_memory(emit, role);
  else if (emit.program.cluster > 1)
    emit.text.raw("cluster_sync();  // the other block may still write here");
  emit.text.raw("return;");
  emit.text.outdent();
  if (index + 1 == emit.program.roles.size()) emit.text.raw("}");
}

void write_variables(EmitContext& emit, const Role& role) {
  for (std::size_t v = 0; v < role.variables.size(); ++v) {
    const Variable& variable = role.variables[v];
    if (!emit.tiles.values[variable.value].layout) continue;
    int words = emit.tiles.words_of(variable.value);
    for (const Section& section : role.sections)
      for (const Step& step : section.steps)
        if (step.output.kind == Place::Kind::Variable && step.output.index == v) words = emit.tiles.words_of(step, variable.value);
    for (int c = 0; c < variable.copies; ++c)
      emit.text.line("{} {}[{}];", emit.tiles.type_of(variable.value),
                     register_text(emit, {Place::Kind::Variable, v, c, 0, variable.value, 0}), words);
  }
}

/// Not in the passes that do without it.
void write_skipping(EmitContext& emit, const Section& section, const Step& step) {
  if (step.skip_first == 0 && step.skip_last == 0) return write_step(emit, step);
  emit.text.open("if ({}) {{", passes_text(emit, section, step));
  write_step(emit, step);
  emit.text.close();
}

void write_section(EmitContext& emit, const Role& role, const Section& section) {
  emit.section = &section;
  emit.notes.unread = nullptr;
  emit.text.line("// {}", to_string(section.part));
  // Read anew after the loop, so that it is not held in a register that the loop needs.
  const auto computes = [](const Section& s) {
    return std::any_of(s.steps.begin(), s.steps.end(), [](const Step& step) { return step.kind == StepKind::Compute; });
  };
  const bool before =
      std::any_of(role.sections.begin(), role.sections.end(), [&](const Section& s) { return &s != &section && computes(s); });
  if (section.part == Section::Part::End && before && computes(section) && emit.tiles.kind == TileKind::ThreadRows && !emit.one_thread) {
    emit.text.line("[[maybe_unused]] const int tid = this_thread() - {}, lane = tid & 31, warp = tid >> 5;", role.first_thread);
    emit.text.raw("[[maybe_unused]] const u32 own = tensor + (warp << 21);");
  }
  if (section.loop) {
    record_loop(emit, true);
    emit.text.raw("#pragma unroll 1");
    emit.text.open("for (int i = {}; i < {}; i += {}) {{", section.first, end_text(emit, section), section.unroll);
    bool left = emit.notes.wrote_shared;  // by the pass before
    for (const Step& step : section.steps) left = !meets(step) && (left || writes_shared(emit, step));
    emit.notes.wrote_shared = emit.notes.wrote_shared || left;
    record_pass(emit);
    carry_loads(emit, section);
    for (auto& group : emit.notes.flying)
      for (Flying& f : group) f.this_pass = false;
  }
  std::size_t rescales = 0;  // steps up to the end of those that are skipped where all factors are one
  bool elected = false;      // one thread is here, for these steps and more
  for (std::size_t k = 0; k < section.steps.size(); ++k) {
    const Step& step = section.steps[k];
    record_before(emit, step);
    if (rescales == 0 && (rescales = rescale_at(emit, section, k)) > 0) open_rescale(emit, section, k);
    if (rescales > 0 && step.kind == StepKind::Compute) emit.skipped.insert(op_of(emit.kernel, step.op).name);
    if (!emit.one_thread && elects(emit, step) && !elected) {
      emit.text.open("if (warp == 0 && elected()) {{");
      elected = true;
    }
    write_skipping(emit, section, step);
    if (elected && (recording_ops(emit) || k + 1 == section.steps.size() || !elects(emit, section.steps[k + 1]))) {
      emit.text.close();
      emit.text.raw("__syncwarp();");
      elected = false;
    }
    for (int open = rescales == 1 ? 2 : 0; open > 0; --open) emit.text.close();
    if (rescales > 0) --rescales;
    record_after(emit, step);
  }
  if (section.loop) {
    flush_records(emit, "i");
    emit.text.close();
    record_loop(emit, false);
    for (auto& group : emit.notes.flying)
      for (Flying& f : group) f.this_pass = false;
  }
}

}  // namespace

void write_role(EmitContext& emit, std::size_t index) {
  const Role& role = emit.program.roles[index];
  emit.role = &role;
  emit.role_index = index;
  emit.notes = {};
  const bool computes = !role.variables.empty();
  bool works = computes;
  for (const Section& section : role.sections)
    for (const Step& step : section.steps) works = works || step.kind == StepKind::Compute || step.kind == StepKind::Sync;
  emit.one_thread = !works && !copies(role);
  if (works && role.warps != 4) {
    emit.refusals.push_back(
        {"role_warps", {}, fmt::format("role '{}' computes with {} warps; 4 can be written", role.name, role.warps), std::nullopt});
    return;
  }
  open_branch(emit, role, index);
  if (emit.one_thread) {
    // An elected lane, not thread 0 of the role: the compiler then knows that one thread is here, and needs no loop around a TMA.
    emit.text.open("if ({}{}threadIdx.x < {} && elected()) {{", emit.program.pair && issues_products(role) ? "rank == 0 && " : "",
                   role.first_thread > 0 ? fmt::format("threadIdx.x >= {} && ", role.first_thread) : "", role.first_thread + 32);
  } else {
    emit.text.line("{}const int tid = threadIdx.x - {}, lane = tid & 31, warp = tid >> 5;", works ? "" : "[[maybe_unused]] ",
                   role.first_thread);
    const bool tensor = std::any_of(role.sections.begin(), role.sections.end(), [&](const Section& s) {
      return std::any_of(s.steps.begin(), s.steps.end(), [&](const Step& step) { return touches_tensor(emit, step); });
    });
    if (tensor) emit.text.raw("const u32 own = tensor + (warp << 21);  // the 32 lanes of tensor memory that this warp can reach");
    write_variables(emit, role);
  }
  for (std::size_t c = 0; c < role.cursors.size(); ++c) {
    bool asked = false;
    for (const Section& section : role.sections)
      for (const Step& step : section.steps)
        asked = asked || (step.cursor == c && (step.kind == StepKind::Wait || step.kind == StepKind::Arrive ||
                                               step.kind == StepKind::Signal || step.engine == Engine::Load));
    if (role.cursors[c].depth > 1)
      emit.text.line("int s{0} = 0; u32 p{0} = 0;  // slot of {1}, phase", c, role.cursors[c].depth);
    else if (asked)
      emit.text.line("u32 p{0} = 0;  // phase", c);
  }
  begin_records(emit);
  if (emit.program.turns && emit.program.turns->first != emit.program.turns->last && emit.program.turns->last == index)
    emit.text.line("pass_turn<{}, {}>();  // {} begins", kFirstTurn + emit.program.turns->first, kTurnThreads,
                   safe_name(emit.program.roles[emit.program.turns->first].name));
  write_tile_loop(emit);
  const std::string trips = computed_trips(emit);
  const CudaText steps = emit.text.apart([&] {
    for (const Section& section : role.sections) write_section(emit, role, section);
  });
  write_tile(emit, trips, steps);
  emit.text.append(steps);
  emit.text.close();
  const bool stores = std::any_of(role.sections.begin(), role.sections.end(), [](const Section& s) {
    return std::any_of(s.steps.begin(), s.steps.end(), [](const Step& step) { return step.engine == Engine::Store; });
  });
  const bool anew = emit.tiles.kind == TileKind::ThreadRows;
  if (stores)
    emit.text.raw(emit.one_thread ? "store_wait_all();"
                  : anew          ? fmt::format("if (this_thread() == {}) store_wait_all();", role.first_thread)
                                  : "if (tid == 0) store_wait_all();");
  if (emit.records && index == 0) emit.text.raw((emit.one_thread ? "" : "if (tid == 0) ") + record_head(emit, "block_ends"));
  if (emit.one_thread) emit.text.close();
  close_branch(emit, role, index);
}

}  // namespace heddle::codegen
