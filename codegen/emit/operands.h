// Inputs and results of what threads compute, element by element, however tiles lie: arrays, elements of them, and the loop over a result.
#pragma once

#include <string>
#include <vector>

#include "codegen/emit/context.h"

namespace heddle::codegen {

/// Registers that another role handed over, and what a thread needs of vectors in shared memory.
void take_inputs(EmitContext& emit, const Step& step, const TileOp& op);
/// The array of an input: a variable, or what has just been taken out of a hand-over buffer.
std::string input_array(const EmitContext& emit, const Step& step, std::size_t input);
/// An input as text for element e of a result; "0.0f" after a refusal.
std::string element_text(EmitContext& emit, const Step& step, const TileOp& op, std::size_t input, const ThreadTile& result);

/// The array that a result is computed into, and what makes it current.
std::string begin_result(EmitContext& emit, const Step& step);
void end_result(EmitContext& emit, const Step& step);

/// Element e of a result, and what must be said before.
struct ElementText {
  std::vector<std::string> before;
  std::string value;
};
void write_each_element(EmitContext& emit, const Step& step, const TileOp& op, const std::string& to, const ElementText& text);

}  // namespace heddle::codegen
