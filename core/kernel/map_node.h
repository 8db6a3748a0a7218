// A node of a map's expression computed: for the reader, which folds constants, and for the evaluator.
#pragma once

#include <cstdint>
#include <span>

#include "core/kernel/map_expression.h"

namespace heddle {

/// What a node holds while an element is computed: as MapNode::whole says.
union MapSlot {
  float real;
  std::int64_t whole;
};

bool is_comparison(MapFunction function);
/// Works on whole numbers, whatever its operands are, and gives one.
bool is_of_bits(MapFunction function);

/// Computes node `n`, which has operands, of those in `slots`.
void compute_map_node(std::span<const MapNode> nodes, std::size_t n, MapSlot* slots);

}  // namespace heddle
