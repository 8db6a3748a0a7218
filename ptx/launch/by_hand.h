// A launch in the words of somebody who has the PTX and no launch file, or who changes one: grid, parameters, maps, memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "ptx/launch/entry_parameter.h"
#include "ptx/launch/launch.h"

namespace heddle::ptx {

struct HandWords {
  std::optional<std::string> grid, cluster, block;  ///< "4", "4x2" or "4,2,1"
  std::optional<std::uint64_t> dynamic_shared;
  /// "PLACE=TYPE:VALUE", PLACE a byte of the block, the parameter's name, or a name of the launch file; TYPE may be left out where the name
  /// or the text says it. "PLACE=pointer[:BYTES[:zero]]" makes an address up.
  std::vector<std::string> parameters;
  /// "PLACE=NAME BOX ELEMENT ..." as map_by_hand() reads it; PLACE as above, or "memory ADDRESS".
  std::vector<std::string> maps;
  std::vector<std::string> buffers;  ///< "ADDRESS=BYTES[:zero]"
  bool empty() const { return !grid && !cluster && !block && !dynamic_shared && parameters.empty() && maps.empty() && buffers.empty(); }
};

/// A tensor map in words: "K 64x176x1x1 bf16 swizzle128 of 128x4096x16x2 strides 256x1048576x16777216 at 0x500100000000", innermost
/// dimension first. Name, box and element type are needed; then, in any order: swizzleN, atomN, interleaveN, im2col, of EXTENTS (without
/// it, 64 boxes along each dimension, fewer where that is too much), strides BYTES (without it, dense), steps STEPS, at ADDRESS (0: made up
/// by whoever asks).
Result<TensorMap> map_by_hand(const std::string& words);

/// `base` with what the words say. Where the base has no parameter block it is filled from `entry`: pointers that the text marks get
/// made-up addresses with memory behind them, and every parameter that nothing is said of is a fault. Of an array of bytes that is no map,
/// what is not said is 0. Faults name the part that they are about: "grid", "cluster", "block", "parameter", "map", "buffer".
Result<Launch> launch_by_hand(const HandWords& words, const std::vector<EntryParameter>& entry, Launch base = {});

/// Nothing where the launch's block is as long as the text's parameters.
std::vector<Fault> misfits(const Launch& launch, const std::vector<EntryParameter>& entry);

}  // namespace heddle::ptx
