// A stable 64-bit content digest (FNV-1a), the same on every machine; for names of things, not for security.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {

class Hash {
 public:
  Hash& add(std::string_view text) {
    add(text.size());
    for (unsigned char c : text) step(c);
    return *this;
  }
  Hash& add(const std::string& text) { return add(std::string_view(text)); }
  template <std::integral T>
  Hash& add(T number) {
    auto bits = static_cast<std::uint64_t>(number);
    for (int i = 0; i < 8; ++i, bits >>= 8) step(bits & 0xff);
    return *this;
  }
  std::uint64_t value() const { return state_; }
  std::string hex() const {
    std::string text(16, '0');
    for (int i = 0; i < 16; ++i) text[15 - i] = "0123456789abcdef"[(state_ >> (4 * i)) & 0xf];
    return text;
  }

 private:
  void step(std::uint64_t byte) { state_ = (state_ ^ byte) * 1099511628211ull; }
  std::uint64_t state_ = 14695981039346656037ull;
};

}  // namespace heddle
