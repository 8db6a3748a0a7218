// Names and addresses of what steps are about: barriers, slots, registers and columns of tensor memory, iterations and passes.
#pragma once

#include <string>
#include <string_view>

#include "codegen/emit/context.h"

namespace heddle::codegen {

std::string barrier_text(const EmitContext& emit, std::size_t barrier, std::size_t cursor);
std::string barrier_name(const EmitContext& emit, std::size_t barrier);
std::string slot_text(const EmitContext& emit, const Place& place, std::string_view base = "smem");
/// The same for a descriptor of a matrix, whose field has the address in the block only.
std::string matrix_text(const EmitContext& emit, const Place& place);
std::string register_text(const EmitContext& emit, const Place& place);
/// Of a column of a value in tensor memory: "tensor + 64 + s0 * 256".
std::string tensor_text(const EmitContext& emit, const char* base, const Place& place, int column);

/// An iteration as it is written: "i - 1", "trips - 2", "7".
std::string iteration_text(const EmitContext& emit, std::int64_t iteration);
/// The iteration that a loop stops before.
std::string end_text(const EmitContext& emit, const Section& section, int passes_before = 0);
/// Those passes that have the step.
std::string passes_text(const EmitContext& emit, const Section& section, const Step& step);

/// What the text calls the launch's pointer of that number.
std::string pointer_name(const EmitContext& emit, std::size_t pointer);
/// The pointer that stands for a tensor in the text; the launch has it from now on.
std::string pointer_to(EmitContext& emit, std::size_t tensor);

}  // namespace heddle::codegen
