#include "core/triton/kernel/lowered.h"

#include <array>
#include <utility>

#include "core/base/assert.h"
#include "core/base/lazy.h"

namespace heddle::triton {

using SharedNative = Result<std::shared_ptr<const Native>>;

struct LoweredLoop::Parts {
  std::shared_ptr<const TritonProgram> program;
  std::size_t loop = 0;
  std::array<Lazy<SharedNative>, 2> readings;
};

LoweredLoop::LoweredLoop(std::shared_ptr<const TritonProgram> program, std::size_t loop) {
  HEDDLE_ASSERT(program && loop < program->loops.size(), "a loop of the program");
  const auto parts = std::make_shared<Parts>();
  parts->program = std::move(program);
  parts->loop = loop;
  parts_ = parts;
}

const std::shared_ptr<const TritonProgram>& LoweredLoop::shared_program() const { return parts_->program; }

std::size_t LoweredLoop::index() const { return parts_->loop; }

const SharedNative& LoweredLoop::by(TextReading reading) const {
  return parts_->readings[reading == TextReading::Triton ? 0 : 1].get([&]() -> SharedNative {
    Result<Native> native = to_native(program(), site(), reading);
    if (!native) return native.error();
    return std::make_shared<const Native>(*std::move(native));
  });
}

}  // namespace heddle::triton
