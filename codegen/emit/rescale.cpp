#include "codegen/emit/rescale.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/emit/places.h"
#include "codegen/emit/recorder.h"
#include "core/kernel/op_shapes.h"

namespace heddle::codegen {
namespace {

/// A tile of tensor memory, times a number per row, back where it was: some schedules have the three one after the other.
bool can_rescale(const EmitContext& emit, const TileOp& op) {
  const auto name = [&](std::size_t value) -> const std::string& { return emit.kernel.values[value].name; };
  const auto column = [&](std::size_t value) { return columns_of(emit.kernel, emit.program.params, value).first; };
  const auto from = [&](std::size_t value) {
    return std::any_of(emit.kernel.body.begin(), emit.kernel.body.end(), [&](const TileOp& o) {
      return o.kind == "tmem_load" && o.inputs[0].value == name(value) && o.outputs[0] == op.inputs[0].value;
    });
  };
  const auto to = [&](std::size_t value) {
    return std::any_of(emit.kernel.body.begin(), emit.kernel.body.end(), [&](const TileOp& o) {
      return o.kind == "tmem_store" && o.inputs[0].value == op.outputs[0] && o.outputs[0] == name(value);
    });
  };
  const TileValue* factor = op.inputs.size() == 2 ? emit.kernel.find_value(op.inputs[1].value) : nullptr;
  if (!factor || factor->shape.size() != 1) return false;
  for (const Buffer& buffer : emit.program.buffers)
    for (const std::size_t source : buffer.values)
      for (const std::size_t back : buffer.values)
        if (buffer.per_tile && from(source) && to(back) && column(source) == column(back)) return true;
  return false;
}

}  // namespace

std::size_t rescale_at(const EmitContext& emit, const Section& section, std::size_t first) {
  if (emit.tiles.kind != TileKind::ThreadRows || recording_ops(emit) || !emit.notes.loading.empty()) return 0;
  const Place* factor = nullptr;
  const auto same = [](const Place& a, const Place& b) {
    return a.kind == b.kind && a.index == b.index && a.copy == b.copy && a.cursor == b.cursor;
  };
  // Where the tile lies that is multiplied, if it was read from where it is written.
  const auto is_from = [&](std::size_t multiplied, const Place& to) {
    const Buffer& buffer = emit.program.buffers[to.index];
    for (const TileOp& op : emit.kernel.body)
      for (const std::size_t source : buffer.values)
        if (op.kind == "tmem_load" && op.outputs[0] == emit.kernel.values[multiplied].name &&
            op.inputs[0].value == emit.kernel.values[source].name)
          return buffer.per_tile &&
                 columns_of(emit.kernel, emit.program.params, source).first == columns_of(emit.kernel, emit.program.params, to.value).first;
    return false;
  };
  std::size_t end = first;
  std::set<std::string> loaded;             // what is not multiplied yet
  std::map<std::string, std::size_t> made;  // what is not brought back, and of which value it is a multiple
  for (std::size_t k = first; k < section.steps.size(); ++k) {
    const Step& step = section.steps[k];
    if (step.skip_first > 0 || step.skip_last > 0 || step.only_last) break;
    if (k > first && (step.kind == StepKind::AwaitReads || step.kind == StepKind::FenceAfter)) continue;
    if (step.kind != StepKind::Compute) break;
    const TileOp& op = op_of(emit.kernel, step.op);
    if (op.kind == "tmem_load" && loaded.insert(register_text(emit, step.output)).second) continue;
    if (op.kind == "tmem_store" && step.inputs.at(0).kind == Place::Kind::Variable) {
      const auto from = made.find(register_text(emit, step.inputs[0]));
      if (from == made.end() || !is_from(from->second, step.output)) break;
      made.erase(from);
      if (loaded.empty() && made.empty()) end = k + 1;
      continue;
    }
    const bool multiplies = op.kind == "elementwise" && text_attr(op, "fn") == "mul" && flag_attr(op, "skip_ones") &&
                            step.inputs.size() == 2 && emit.tiles.values[step.inputs[1].value].layout &&
                            emit.tiles.values[step.inputs[1].value].layout->kind == ThreadTile::Kind::Rows;
    if (!multiplies || step.inputs[0].kind != Place::Kind::Variable || (factor && !same(*factor, step.inputs[1]))) break;
    loaded.erase(register_text(emit, step.inputs[0]));
    made[register_text(emit, step.output)] = step.inputs[0].value;
    factor = &step.inputs[1];
  }
  return end - first;
}

void open_rescale(EmitContext& emit, const Section& section, std::size_t first) {
  std::size_t k = first;
  while (op_of(emit.kernel, section.steps[k].op).kind != "elementwise" || section.steps[k].kind != StepKind::Compute) ++k;
  const Place& factor = section.steps[k].inputs[1];
  emit.text.open();
  if (factor.kind == Place::Kind::Variable) {
    emit.text.line("const float factor = {}[0];", register_text(emit, factor));
  } else {
    emit.text.raw("float factor;");
    emit.text.line("load_word({} + tid * 4, factor);", slot_text(emit, factor));
  }
  emit.text.open("if (__any_sync(0xffffffffu, factor != 1.0f)) {{  // else the warp's rows stay as they are");
}

std::vector<std::string> unskipped_ops(EmitContext& emit) {
  std::vector<std::string> unskipped;
  if (emit.records && emit.records->recording == Recording::Ops) return unskipped;  // which looks at every op, in every iteration
  for (const auto* list : {&emit.kernel.prologue, &emit.kernel.body, &emit.kernel.epilogue})
    for (const TileOp& op : *list) {
      if (!flag_attr(op, "skip_ones") || emit.skipped.contains(op.name)) continue;
      if (list == &emit.kernel.body && can_rescale(emit, op))
        unskipped.push_back(op.name);
      else
        emit.refuse("attribute", op,
                    fmt::format("'{}' says skip_ones, and only a tile that is read from tensor memory, multiplied by a number per row and "
                                "written back where it was is left alone",
                                op.name));
    }
  return unskipped;
}

}  // namespace heddle::codegen
