// Reading from bytes that may end anywhere.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace heddle::codegen {

/// Every read beyond the end gives zeros and is remembered.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T at(std::uint64_t offset) {
    T value{};
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T))
      good_ = false;
    else
      std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  std::string_view range(std::uint64_t offset, std::uint64_t size) {
    if (offset > bytes_.size() || bytes_.size() - offset < size) {
      good_ = false;
      return {};
    }
    return bytes_.substr(offset, size);
  }

  template <class T>
  T next() {
    const T value = at<T>(position_);
    position_ += sizeof(T);
    return value;
  }

  /// LEB128, as in DWARF.
  std::uint64_t next_unsigned() {
    std::uint64_t value = 0;
    for (int shift = 0; good_; shift += 7) {
      const auto byte = next<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }

  std::int64_t next_signed() {
    std::uint64_t value = 0;
    for (int shift = 0; good_;) {
      const auto byte = next<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      break;
    }
    return static_cast<std::int64_t>(value);
  }

  std::uint64_t position() const { return position_; }
  void seek(std::uint64_t position) { position_ = position; }
  bool good() const { return good_; }

 private:
  std::string_view bytes_;
  std::uint64_t position_ = 0;
  bool good_ = true;
};

}  // namespace heddle::codegen
