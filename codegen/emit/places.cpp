#include "codegen/emit/places.h"

namespace heddle::codegen {

std::string barrier_text(const EmitContext& emit, std::size_t barrier, std::size_t cursor) {
  const std::int64_t at = barrier_address(emit.program, barrier);
  if (emit.role->cursors[cursor].depth == 1) return fmt::format("smem + {}", at);
  return fmt::format("smem + {} + s{} * 8", at, cursor);
}

std::string barrier_name(const EmitContext& emit, std::size_t barrier) {
  const Barrier& b = emit.program.barriers[barrier];
  return safe_name(b.full ? emit.kernel.values[b.value].name : emit.program.buffers[b.buffer].name);
}

std::string slot_text(const EmitContext& emit, const Place& place, std::string_view base) {
  const Buffer& buffer = emit.program.buffers[place.index];
  if (buffer.depth == 1) return fmt::format("{} + {}", base, buffer.offset);
  return fmt::format("{} + {} + s{} * {}", base, buffer.offset, place.cursor, buffer.slot_bytes);
}

/// In clusters a name of its own: one operation per kernel, where a mask in every descriptor would be one per mma.
std::string matrix_text(const EmitContext& emit, const Place& place) {
  return slot_text(emit, place, emit.program.cluster > 1 ? "in_block" : "smem");
}

std::string register_text(const EmitContext& emit, const Place& place) {
  const Variable& v = emit.role->variables[place.index];
  const std::string name = fmt::format("v{}_{}", place.index, safe_name(v.name));
  return v.copies > 1 ? fmt::format("{}_{}", name, place.copy) : name;
}

std::string tensor_text(const EmitContext& emit, const char* base, const Place& place, int column) {
  const Buffer& buffer = emit.program.buffers[place.index];
  const std::int64_t at = buffer.offset + columns_of(emit.kernel, emit.program.params, place.value).first + column;
  std::string text = base;
  if (at > 0) text += fmt::format(" + {}", at);
  if (buffer.depth > 1) text += fmt::format(" + s{} * {}", place.cursor, buffer.columns);
  return text;
}

std::string iteration_text(const EmitContext& emit, std::int64_t iteration) {
  const bool from_end = emit.section->after && emit.program.varies;
  if (!emit.section->loop && !from_end) return fmt::format("{}", iteration);
  const std::int64_t offset = iteration - (from_end ? emit.program.trips : emit.section->first);
  const char* base = from_end ? "trips" : "i";
  return offset == 0 ? std::string(base) : fmt::format("{} {} {}", base, offset < 0 ? '-' : '+', offset < 0 ? -offset : offset);
}

std::string end_text(const EmitContext& emit, const Section& section, int passes_before) {
  const std::int64_t end = section.first + (section.times - passes_before) * section.unroll;
  return emit.program.varies ? affine_text({end - emit.program.trips, {1}}, {"trips"}) : std::to_string(end);
}

std::string passes_text(const EmitContext& emit, const Section& section, const Step& step) {
  std::string text;
  if (step.skip_first > 0) text = fmt::format("i >= {}", section.first + std::int64_t{step.skip_first} * section.unroll);
  if (step.skip_last > 0) text += fmt::format("{}i < {}", text.empty() ? "" : " && ", end_text(emit, section, step.skip_last));
  return text;
}

std::string pointer_name(const EmitContext& emit, std::size_t pointer) {
  return fmt::format("{}{}", is_written(emit.kernel.tensors[emit.launch.pointers[pointer]].role) ? "out" : "in", pointer);
}

std::string pointer_to(EmitContext& emit, std::size_t tensor) {
  std::size_t pointer = 0;
  while (pointer < emit.launch.pointers.size() && emit.launch.pointers[pointer] != tensor) ++pointer;
  if (pointer == emit.launch.pointers.size()) emit.launch.pointers.push_back(tensor);
  return pointer_name(emit, pointer);
}

}  // namespace heddle::codegen
