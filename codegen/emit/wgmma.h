// Mmas on Hopper (wgmma), whose operands and results are registers of a whole warpgroup.
#pragma once

#include <initializer_list>

#include "codegen/emit/context.h"

namespace heddle::codegen {

void write_product(EmitContext& emit, const Step& step);
void write_retire(EmitContext& emit, const Step& step);

/// An mma reads it: it lies in swizzled panels of one of these spans.
bool lies_in_spans(EmitContext& emit, std::size_t value, std::initializer_list<int> spans, const TileOp& op);
/// What the first wgmma of the turn takes from registers, where its signs are known.
const Place* made_before(const EmitContext& emit, const Step& turn);
/// The zero that a sum starts from needs no instruction: the first wgmma does not add.
bool only_sums_read_init(const EmitContext& emit, const Step& fill);

}  // namespace heddle::codegen
