// Calls of a GEMM's package that takes its sizes: lengths whose contiguous rows are no multiples of 16 bytes, one row, rows that overlap,
// and one handle in two threads. package.h as calls.cpp has it.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "cuda_runtime.h"
#include "package.h"

namespace {

int number(int row, int column) { return (row * 7 + column * 3) % 5 == 0; }

/// Zeros and ones as bf16, rows `pitch` apart, with no numbers between them.
void* matrix(int rows, int columns, int pitch) {
  std::vector<std::uint16_t> bits(static_cast<std::size_t>(rows * pitch), 0x7fc0);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      bits[static_cast<std::size_t>(row * pitch + column)] = number(row, column) ? 0x3f80 : 0;
  void* memory = nullptr;
  cudaMalloc(&memory, bits.size() * 2);
  cudaMemcpy(memory, bits.data(), bits.size() * 2, cudaMemcpyHostToDevice);
  return memory;
}

/// Elements of C = A B, which are whole numbers below 256, or of what lies between its rows.
int wrong(const void* c, int rows, int columns, int depth, int pitch) {
  std::vector<std::uint16_t> bits(static_cast<std::size_t>(rows * pitch));
  cudaMemcpy(bits.data(), c, bits.size() * 2, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < pitch; ++column) {
      const std::uint16_t found = bits[static_cast<std::size_t>(row * pitch + column)];
      int sum = 0;
      for (int k = 0; k < depth && column < columns; ++k) sum += number(row, k) * number(k, column);
      const std::uint32_t word = std::uint32_t{found} << 16;
      float value = 0;
      std::memcpy(&value, &word, sizeof value);
      count += column < columns ? value != static_cast<float>(sum) : found != 0x7fc0;
    }
  return count;
}

void say(const char* what, int code) { std::printf("%s: %d%s%s\n", what, code, code ? " " : "", code ? PART(last_error)() : ""); }

PART(sizes) sizes_of(int m, int n, int k) {
  PART(sizes) sizes = {};
  sizes.M = m, sizes.N = n, sizes.K = k;
  return sizes;
}

}  // namespace

int main() {
  PART(handle) handle = nullptr;
  if (PART(create)(&handle, 0) != CODE(OK)) return 1;
  constexpr int kOdd = 127, kPitch = 128;
  const PART(tensors) odd = {matrix(kOdd, kOdd, kPitch), matrix(kOdd, kOdd, kPitch), matrix(kOdd, kOdd, kPitch)};
  const PART(sizes) sizes = sizes_of(kOdd, kOdd, kOdd);
  say("odd, contiguous", PART(run)(handle, nullptr, &sizes, &odd, nullptr));
  const PART(strides) contiguous = {{kOdd, 1}, {kOdd, 1}, {kOdd, 1}}, apart = {{kPitch, 1}, {kPitch, 1}, {kPitch, 1}};
  say("odd, given as contiguous", PART(run)(handle, nullptr, &sizes, &odd, &contiguous));
  int code = PART(run)(handle, nullptr, &sizes, &odd, &apart);
  std::printf("odd, apart: %d, %d wrong\n", code, wrong(odd.C, kOdd, kOdd, kOdd, kPitch));

  const PART(sizes) row = sizes_of(1, kOdd, kOdd);
  const PART(tensors) one = {matrix(1, kOdd, kOdd), odd.B, matrix(1, kOdd, kOdd)};
  const PART(strides) any = {{3, 1}, {kPitch, 1}, {-1, 1}};
  code = PART(run)(handle, nullptr, &row, &one, &any);
  std::printf("one row of any stride: %d, %d wrong\n", code, wrong(one.C, 1, kOdd, kOdd, kOdd));

  PART(strides) overlapping = apart;
  overlapping.C[0] = 120;
  say("rows of the result overlap", PART(run)(handle, nullptr, &sizes, &odd, &overlapping));

  std::atomic<int> failed{0};
  const auto calls = [&] {
    for (int k = 0; k < 20; ++k) failed += PART(run)(handle, nullptr, &sizes, &odd, &apart) != CODE(OK);
  };
  std::thread first(calls), second(calls);
  first.join(), second.join();
  std::printf("from two threads: %d failed\n", failed.load());
  PART(destroy)(handle);
}
