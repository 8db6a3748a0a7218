// Calls of gemm_hopper's operator, 256 x 256 x 320, through what it registers with PyTorch: one with contiguous tensors, one whose rows lie
// apart, and those that must be refused.
#include <cstdio>

#include "torch/library.h"

namespace {

using Function = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

constexpr int kRows = 256, kColumns = 256, kDepth = 320, kPitch = 328;

int number(int row, int column) { return (row * 7 + column * 3) % 5 == 0; }

/// Zeros and ones as bf16, rows `pitch` apart, with no numbers between them.
at::Tensor matrix(int rows, int columns, int pitch) {
  const at::Tensor tensor({rows, columns}, {pitch, 1}, {at::kBFloat16, {}});
  std::vector<std::uint16_t> bits(static_cast<std::size_t>((rows - 1) * pitch + columns), 0x7fc0);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      bits[static_cast<std::size_t>(row * pitch + column)] = number(row, column) ? 0x3f80 : 0;
  cudaMemcpy(tensor.mutable_data_ptr(), bits.data(), bits.size() * 2, cudaMemcpyHostToDevice);
  return tensor;
}

/// Of the elements of C = A B, which are whole numbers below 256.
int wrong(const at::Tensor& c) {
  std::vector<std::uint16_t> bits(static_cast<std::size_t>(kRows * kColumns));
  cudaMemcpy(bits.data(), c.const_data_ptr(), bits.size() * 2, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) {
      int sum = 0;
      for (int k = 0; k < kDepth; ++k) sum += number(row, k) * number(k, column);
      const std::uint32_t word = std::uint32_t{bits[static_cast<std::size_t>(row * kColumns + column)]} << 16;
      float value = 0;
      std::memcpy(&value, &word, sizeof value);
      count += value != static_cast<float>(sum);
    }
  return count;
}

void say(const char* what, const std::function<at::Tensor()>& call) {
  try {
    const at::Tensor c = call();
    std::printf("%s: [%d, %d] %s, %d wrong\n", what, static_cast<int>(c.sizes().numbers[0]), static_cast<int>(c.sizes().numbers[1]),
                c10::toString(c.scalar_type()), wrong(c));
  } catch (const std::runtime_error& error) {
    std::printf("%s: %s\n", what, error.what());
  }
}

}  // namespace

int main() {
  for (const auto& [name, schema] : torch::registered().schemas) std::printf("%s\n", schema.c_str());
  const auto run = std::any_cast<Function>(torch::registered().functions.begin()->second);
  const at::Tensor a = matrix(kRows, kDepth, kDepth), b = matrix(kDepth, kColumns, kColumns);
  const auto empty = [](std::vector<std::int64_t> shape, at::ScalarType type = at::kBFloat16) { return at::empty(shape, {type, {}}); };
  say("contiguous", [&] { return run(a, b); });
  say("apart", [&] { return run(matrix(kRows, kDepth, kPitch), b); });
  say("shape", [&] { return run(a, empty({kDepth + 8, kColumns})); });
  say("type", [&] { return run(empty({kRows, kDepth}, at::kFloat), b); });
  say("rank", [&] { return run(a, empty({1, kDepth, kColumns})); });
  say("columns apart", [&] { return run(a, at::Tensor({kDepth, kColumns}, {1, kDepth}, {at::kBFloat16, {}})); });
  say("device", [&] { return run(a, at::empty({kDepth, kColumns}, {at::kBFloat16, {false, 0}})); });
}
