// Blackwell's mmas (tcgen05), which one thread issues and which add up in tensor memory, and the way between tensor memory and
// registers.
#pragma once

#include "codegen/emit/context.h"

namespace heddle::codegen {

void write_tensor_product(EmitContext& emit, const Step& step);
void write_signal(EmitContext& emit, const Step& step);
void write_tensor_load(EmitContext& emit, const Step& step, const TileOp& op);
void write_tensor_store(EmitContext& emit, const Step& step, const TileOp& op);
void write_tensor_fill(EmitContext& emit, const Step& step, const TileOp& op);
void write_await_loads(EmitContext& emit);

/// Which a thread that has been elected issues for its role.
bool elects(const EmitContext& emit, const Step& step);
bool touches_tensor(const EmitContext& emit, const Step& step);
/// Loads that no AwaitReads of the section follows.
void carry_loads(EmitContext& emit, const Section& section);

}  // namespace heddle::codegen
