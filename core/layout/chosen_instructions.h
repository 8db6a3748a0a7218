// Instructions that somebody chose for ops: which rows of a catalogue an op could be written in, and what was chosen.
#pragma once

#include <vector>

#include "core/layout/measured_kernel.h"

namespace heddle {

/// Instructions that an op of this kind could be written in, by kind of instruction; the default is not among them if it names none.
bool suits(const TileOp& op, const Instruction& row);
/// Its result may lie otherwise than what it takes.
bool may_change_layout(const TileOp& op);
/// Of choices that suit the op; null: there is none.
const InstructionChoice* chosen_instruction(const MeasuredKernel& of, const LayoutChoices& choices, const TileOp& op);
/// Choices of ops that are not there or that they do not suit, at "/instructions/OP".
void check_instructions(const MeasuredKernel& of, const LayoutChoices& choices, std::vector<Fault>& faults);

}  // namespace heddle
