// The launch of a kernel of Triton's, from the .json that its compiler leaves beside the text: what of it the host's part would say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "ptx/launch/by_hand.h"

namespace heddle::ptx {

/// What lies beside the PTX.
struct TritonBeside {
  std::string json, json_file;
  std::string ttgir;  ///< for the names of arguments; empty: they are called by their places
};

/// To be given to launch_by_hand(): a launch with names and without a parameter block, and words for its tensor maps.
struct TritonLaunch {
  Launch base;
  HandWords words;
};

/// Whether a text is such a .json: an object with "tensordesc_meta", or with "num_warps" and "shared".
bool says_triton(std::string_view json);

/// A descriptor is a tensor map, then its shape and its strides, outermost first (Triton 3.9, make_tensordesc_arg of the driver for
/// NVIDIA). Extents that `given` (as HandWords::parameters, "q.shape.0=2048") does not say are made up; strides are dense.
Result<TritonLaunch> triton_launch(const TritonBeside& beside, const std::vector<EntryParameter>& entry,
                                   const std::vector<std::string>& given = {});

}  // namespace heddle::ptx
