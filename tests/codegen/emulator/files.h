// Tensors from files of floats and back.
#pragma once

#include "narrow.h"
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
inline void write_floats(const std::string& path, const std::vector<float>& x) {
  std::FILE* f = std::fopen(path.c_str(), "wb");
  if (!f || std::fwrite(x.data(), 4, x.size(), f) != x.size()) die("cannot write " + path);
  std::fclose(f);
}
template <class Word, class Bits>
std::vector<Word> read_numbers(const std::string& path, Bits bits) {
  std::vector<Word> words;
  for (const float x : read_floats(path)) words.push_back(static_cast<Word>(bits(x)));
  return words;
}
template <class Word, class Value>
void write_numbers(const std::string& path, const std::vector<Word>& words, Value value) {
  std::vector<float> x;
  for (const Word w : words) x.push_back(value(w));
  write_floats(path, x);
}

// By the types of kernel files.
using Halves = std::vector<std::uint16_t>;
using Bytes = std::vector<std::uint8_t>;
inline std::vector<float> read_f32(const std::string& path) { return read_floats(path); }
inline void write_f32(const std::string& path, const std::vector<float>& x) { write_floats(path, x); }
inline Halves read_bf16(const std::string& path) { return read_numbers<std::uint16_t>(path, bf16_bits); }
inline void write_bf16(const std::string& path, const Halves& x) { write_numbers(path, x, bf16_value); }
#define NUMBERS(NAME, VECTOR, FORMAT, SATURATES)                                                               \
  inline VECTOR read_##NAME(const std::string& path) {                                                         \
    return read_numbers<VECTOR::value_type>(path, [](float x) { return nearest_bits(FORMAT, x, SATURATES); }); \
  }                                                                                                            \
  inline void write_##NAME(const std::string& path, const VECTOR& x) {                                         \
    write_numbers(path, x, [](VECTOR::value_type w) { return number(FORMAT, w); });                            \
  }
NUMBERS(f16, Halves, Number::F16, false)
NUMBERS(f8e4m3, Bytes, Number::E4m3, true)
NUMBERS(f8e5m2, Bytes, Number::E5m2, true)
inline std::vector<int> read_i32(const std::string& path) {
  return read_numbers<int>(path, [](float x) { return static_cast<int>(x); });
}
inline void write_i32(const std::string& path, const std::vector<int>& x) {
  write_numbers(path, x, [](int w) { return static_cast<float>(w); });
}
inline Bytes read_i8(const std::string& path) {
  return read_numbers<std::uint8_t>(path, [](float x) { return static_cast<int>(x); });
}
inline void write_i8(const std::string& path, const Bytes& x) {
  write_numbers(path, x, [](std::uint8_t w) { return whole_at(w, 0, 8); });
}
/// Two to a byte, the first in its lower half.
inline Bytes read_i4(const std::string& path) {
  const std::vector<float> x = read_floats(path);
  Bytes bytes((x.size() + 1) / 2);
  for (std::size_t i = 0; i < x.size(); ++i)
    bytes[i / 2] = static_cast<std::uint8_t>(bytes[i / 2] | (static_cast<int>(x[i]) & 15) << (i % 2 * 4));
  return bytes;
}
inline void write_i4(const std::string& path, const Bytes& bytes) {
  std::vector<float> x;
  for (const std::uint8_t b : bytes) x.push_back(whole_at(b, 0, 4)), x.push_back(whole_at(b, 1, 4));
  write_floats(path, x);
}
