// What a package for PyTorch takes of PyTorch's C++, on the fake runtime's memory: tensors with type, shape and strides, and checks that
// throw. Named and behaving as PyTorch documents it; nothing is its text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda_runtime.h"

namespace c10 {

enum class ScalarType { Byte, Char, Int, Half, Float, BFloat16, Float8_e5m2, Float8_e4m3fn };
inline const char* toString(ScalarType type) {
  static const char* const names[] = {"Byte", "Char", "Int", "Half", "Float", "BFloat16", "Float8_e5m2", "Float8_e4m3fn"};
  return names[static_cast<int>(type)];
}
inline int bytes_of(ScalarType type) {
  static const int bytes[] = {1, 1, 4, 2, 4, 2, 1, 1};
  return bytes[static_cast<int>(type)];
}

struct Device {
  bool cuda = true;
  int index = 0;
  std::string str() const { return cuda ? "cuda:" + std::to_string(index) : "cpu"; }
  bool operator==(const Device& other) const { return cuda == other.cuda && index == other.index; }
};

template <class... Parts>
void check(bool holds, const Parts&... parts) {
  if (holds) return;
  std::ostringstream text;
  (text << ... << parts);
  throw std::runtime_error(text.str());
}

}  // namespace c10

#define TORCH_CHECK(holds, ...) c10::check((holds), __VA_ARGS__)

namespace at {

using c10::ScalarType;
constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kInt = ScalarType::Int, kHalf = ScalarType::Half,
                     kFloat = ScalarType::Float, kBFloat16 = ScalarType::BFloat16, kFloat8_e5m2 = ScalarType::Float8_e5m2,
                     kFloat8_e4m3fn = ScalarType::Float8_e4m3fn;

struct IntArrayRef {
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> vec() const { return numbers; }
};

struct TensorOptions {
  ScalarType type = ScalarType::Float;
  c10::Device on{};
  TensorOptions dtype(ScalarType other) const { return {other, on}; }
};

class Tensor {
 public:
  Tensor() = default;
  Tensor(std::vector<std::int64_t> shape, std::vector<std::int64_t> strides, TensorOptions options)
      : shape_(std::move(shape)), strides_(std::move(strides)), options_(options) {
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < shape_.size(); ++d) elements += (shape_[d] - 1) * strides_[d];
    cudaMalloc(&data_, static_cast<std::size_t>(elements * c10::bytes_of(options.type)));
  }
  ScalarType scalar_type() const { return options_.type; }
  IntArrayRef sizes() const { return {shape_}; }
  IntArrayRef strides() const { return {strides_}; }
  c10::Device device() const { return options_.on; }
  int get_device() const { return options_.on.index; }
  bool is_cuda() const { return options_.on.cuda; }
  TensorOptions options() const { return options_; }
  const void* const_data_ptr() const { return data_; }
  void* mutable_data_ptr() const { return data_; }

 private:
  std::vector<std::int64_t> shape_, strides_;
  TensorOptions options_;
  void* data_ = nullptr;  ///< never freed: the program is short
};

inline Tensor empty(const std::vector<std::int64_t>& shape, TensorOptions options) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return {shape, strides, options};
}

inline Tensor empty_strided(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides, TensorOptions options) {
  return {shape, strides, options};
}

enum class Tag { pt2_compliant_tag, needs_exact_strides };

}  // namespace at
