// What the Triton tab keeps between frames.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace heddle::app {

struct TritonModel;

struct TritonTabState {
  std::uint64_t revision = 0;  ///< of the session that `model` was made from; 0: none yet
  std::shared_ptr<TritonModel> model;
  std::vector<float> ends;  ///< of rows and sentences as they were last drawn, from the top, in pixels
};

}  // namespace heddle::app
