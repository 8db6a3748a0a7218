// Calls of a GEMM's package, 256 x 256 x 320: those that must fail, and one whose rows lie apart. package.h, which a test writes, includes
// the package's header and defines PART(name), "heddle_K_name", and CODE(name), "HEDDLE_K_NAME".
#include <cstdint>
#include <cstdio>
#include <vector>

#include "cuda_runtime.h"
#include "package.h"

namespace {

constexpr int kRows = 256, kColumns = 256, kDepth = 320, kPitch = 328;

void say(const char* what, int code) { std::printf("%s: %d %s\n", what, code, code == CODE(OK) ? "" : PART(last_error)()); }

/// Small whole numbers as bf16, rows `pitch` apart.
void* matrix(int rows, int columns, int pitch) {
  std::vector<std::uint16_t> numbers(static_cast<std::size_t>(rows) * static_cast<std::size_t>(pitch), 0x7fc0);  // no number where none is
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      numbers[static_cast<std::size_t>(row * pitch + column)] = (row * 7 + column * 3) % 5 == 0 ? 0x3f80 : 0;
  void* memory = nullptr;
  cudaMalloc(&memory, numbers.size() * 2);
  cudaMemcpy(memory, numbers.data(), numbers.size() * 2, cudaMemcpyHostToDevice);
  return memory;
}

std::vector<std::uint16_t> result(const void* memory) {
  std::vector<std::uint16_t> numbers(static_cast<std::size_t>(kRows * kColumns));
  cudaMemcpy(numbers.data(), memory, numbers.size() * 2, cudaMemcpyDeviceToHost);
  return numbers;
}

}  // namespace

int main() {
  PART(handle) handle = nullptr;
  say("create", PART(create)(&handle, 0));
  if (!handle) return 0;
  PART(tensors) good = {matrix(kRows, kDepth, kDepth), matrix(kDepth, kColumns, kColumns), matrix(kRows, kColumns, kColumns)};
  say("no handle", PART(run)(nullptr, nullptr, &good, nullptr));
  say("no tensors", PART(run)(handle, nullptr, nullptr, nullptr));
  PART(tensors) tensors = good;
  tensors.A = nullptr;
  say("no address", PART(run)(handle, nullptr, &tensors, nullptr));
  tensors.A = static_cast<const char*>(good.A) + 2;
  say("address", PART(run)(handle, nullptr, &tensors, nullptr));
  const PART(strides) contiguous = {{kDepth, 1}, {kColumns, 1}, {kColumns, 1}};
  PART(strides) strides = contiguous;
  strides.A[0] = kDepth + 1;
  say("row pitch", PART(run)(handle, nullptr, &good, &strides));
  strides = contiguous;
  strides.B[1] = 2;
  say("last stride", PART(run)(handle, nullptr, &good, &strides));
  strides = contiguous;
  strides.C[0] = INT64_MAX;
  say("far apart", PART(run)(handle, nullptr, &good, &strides));
  say("contiguous", PART(run)(handle, nullptr, &good, &contiguous));
  const std::vector<std::uint16_t> expected = result(good.C);
  tensors = good;
  tensors.A = matrix(kRows, kDepth, kPitch);
  tensors.C = matrix(kRows, kColumns, kColumns);
  strides = contiguous;
  strides.A[0] = kPitch;
  say("apart", PART(run)(handle, nullptr, &tensors, &strides));
  std::printf("the same: %d\n", static_cast<int>(result(tensors.C) == expected));
  // More calls than are kept, and the first again.
  for (int k = 0; k < 40; ++k) {
    tensors.A = static_cast<const char*>(good.A) + 16 * (k % 20);
    if (PART(run)(handle, nullptr, &tensors, nullptr) != CODE(OK)) std::printf("many: %s\n", PART(last_error)());
  }
  say("again", PART(run)(handle, nullptr, &good, nullptr));
  PART(destroy)(handle);
  PART(destroy)(nullptr);
  std::printf("%s\n", PART(error_text)(CODE(STRIDE)));
}
