#include "codegen/emit/shared_access.h"

#include <algorithm>

#include "codegen/emit/access_text.h"
#include "codegen/emit/coordinates.h"
#include "codegen/emit/operands.h"
#include "codegen/emit/places.h"
#include "codegen/emit/steps.h"

namespace heddle::codegen {

/// Registers of a tile to its place in shared memory, or back.
void write_access(EmitContext& emit, const Step& step, const TileOp& op, bool store) {
  const Place& registers = store ? step.inputs.at(0) : step.output;
  const Place& memory = store ? step.output : step.inputs.at(0);
  const char* rule = store ? "smem_store" : "smem_load";
  const TiledValue& value = emit.tiles.values[registers.value];
  const DType type = emit.kernel.values[memory.value].dtype;
  const OpPlan* plan = emit.tiles.plan->find(op.name);
  const auto is_that = [&](const OpAccess& access) { return access.value == memory.value; };
  const auto counted = plan ? std::find_if(plan->accesses.begin(), plan->accesses.end(), is_that) : std::vector<OpAccess>::const_iterator{};
  const bool known = plan && counted != plan->accesses.end();
  const Layout *held = emit.tiles.layout_of(registers.value),
               *kept = known ? emit.tiles.plan->memory_of(*counted).get() : emit.tiles.layout_of(memory.value);
  if (!value.layout || !held || !kept || value.shape != kept->shape || emit.kernel.values[registers.value].dtype != type)
    return emit.refuse(rule, op,
                       store ? fmt::format("'{}' does not store a register tile as it is", op.name)
                             : fmt::format("'{}' does not load a tile into registers as it is", op.name));
  if (!plan || plan->instruction.name.empty())
    return emit.refuse(
        rule, op,
        fmt::format("no instruction is known by which '{}' can move '{}'{}", op.name, emit.kernel.values[registers.value].name,
                    plan && !plan->unknown.empty() ? ": " + plan->unknown : std::string()));
  const Buffer& buffer = emit.program.buffers[memory.index];
  const std::int64_t room = kept->extent(LayoutAxis::Offset) * bits_of(type) / 8 / step.piece.count;
  if (room > buffer.slot_bytes)
    return emit.refuse(rule, op,
                       fmt::format("'{}' takes {} bytes as {}, and {} are set aside for it", emit.kernel.values[memory.value].name, room,
                                   emit.tiles.plan->values[memory.value].text, buffer.slot_bytes));
  std::int64_t alignment = 1024;
  while (buffer.offset % alignment != 0 || (buffer.depth > 1 && buffer.slot_bytes % alignment != 0)) alignment /= 2;
  const AccessTextResult made =
      access_text({held, kept, bits_of(type), plan->instruction, step.piece.number, step.piece.count,
                   emit.tiles.pieces_of(step, registers.value) > 1, alignment, known ? counted->by.get() : nullptr},
                  store ? "to" : "from");
  const std::string where =
      fmt::format("'{}' ({}) and '{}' ({})", emit.kernel.values[registers.value].name, emit.tiles.plan->values[registers.value].text,
                  emit.kernel.values[memory.value].name, emit.tiles.plan->values[memory.value].text);
  if (!made.text)
    return emit.refuse(rule, op, fmt::format("'{}' moves between {} by {}: {}", op.name, where, plan->instruction.name, made.refusal));
  const AccessText& text = *made.text;
  const bool is_store = text.instruction.kind == InstructionKind::SharedStore || text.instruction.kind == InstructionKind::MatrixStore;
  if (is_store != store) return emit.refuse(rule, op, fmt::format("'{}' cannot move by {}", op.name, text.instruction.name));
  const std::string array = store ? input_array(emit, step, 0) : begin_result(emit, step);
  const bool row = store && emit.tiles.kind == TileKind::ThreadRows && value.layout->usual;
  for (const std::string& each :
       lines_of(text, {array, !value.packed, emit.tiles.words_of(step, registers.value)},
                store ? slot_text(emit, memory) : value_text(emit, memory), row ? "  // chunks of this thread's row" : ""))
    emit.text.raw(each);
  if (!store) end_result(emit, step);
}

void write_through_scratch(EmitContext& emit, const Step& step, const TileOp& op, const std::string& from, const std::string& to) {
  const std::size_t value = step.output.value;
  const int pieces = emit.tiles.pieces_of(step, value);
  std::optional<std::int64_t> first;
  for (const OpAccess& access : emit.tiles.plan->find(op.name)->accesses) {
    AccessTextResult made = access_text({access.held.get(),
                                         access.scratch.get(),
                                         access.bits,
                                         {access.by->name, access.exchange},
                                         pieces > 1 ? step.piece.number : 0,
                                         pieces,
                                         pieces > 1,
                                         1024,
                                         access.by.get()},
                                        access.store ? "to" : "from");
    // What other warps hold of a piece afterwards is that piece.
    if (made.text && pieces > 1 && made.text->first != first.value_or(made.text->first))
      made = {std::nullopt, "it holds a piece of its tile at a time, whose elements are in other pieces afterwards"};
    if (!made.text)
      return emit.refuse("convert", op,
                         fmt::format("'{}' brings '{}' to other warps through shared memory by {}: {}", op.name,
                                     emit.kernel.values[value].name, access.by->name, made.refusal));
    first = made.text->first;
    const auto words = static_cast<int>(access.held->extent(LayoutAxis::Register)) / emit.tiles.values[value].per_register / pieces;
    emit.text.open();
    for (const std::string& each : lines_of(*made.text, {access.store ? from : to, !emit.tiles.values[value].packed, words},
                                            fmt::format("smem + {}", emit.role->scratch_offset)))
      emit.text.raw(each);
    emit.text.close();
    emit.text.line("{}  // {}", meeting(emit, op),
                   access.store ? "all of it is there" : "and has been read, before anything else comes there");
  }
}

}  // namespace heddle::codegen
