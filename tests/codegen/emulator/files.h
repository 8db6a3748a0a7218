// Tensors from files of floats and back.
#pragma once

#include "shared_memory.h"

inline std::vector<float> read_floats(const std::string& path) {
  std::FILE* f = std::fopen(path.c_str(), "rb");
  if (!f) die("cannot read " + path);
  std::fseek(f, 0, SEEK_END);
  std::vector<float> x(static_cast<std::size_t>(std::ftell(f)) / 4);
  std::rewind(f);
  if (std::fread(x.data(), 4, x.size(), f) != x.size()) die("cannot read " + path);
  std::fclose(f);
  return x;
}
inline std::vector<std::uint16_t> read_bf16(const std::string& path) {
  std::vector<std::uint16_t> bits;
  for (const float x : read_floats(path)) bits.push_back(bf16_bits(x));
  return bits;
}
inline void write_floats(const std::string& path, const std::vector<float>& x) {
  std::FILE* f = std::fopen(path.c_str(), "wb");
  if (!f || std::fwrite(x.data(), 4, x.size(), f) != x.size()) die("cannot write " + path);
  std::fclose(f);
}
inline void write_bf16(const std::string& path, const std::vector<std::uint16_t>& bits) {
  std::FILE* f = std::fopen(path.c_str(), "wb");
  if (!f) die("cannot write " + path);
  for (const std::uint16_t b : bits) {
    const float x = bf16_value(b);
    std::fwrite(&x, 4, 1, f);
  }
  std::fclose(f);
}
