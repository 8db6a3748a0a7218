// A careful ELF reader: offsets come from the file and are checked.
#include "codegen/compile/cubin.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

namespace heddle::codegen {
namespace {

struct Key {
  int key;
  const char* name;
};
constexpr std::array<Key, 14> kKeys{{{0x9f0, "wgmma (A in shared memory)"},
                                     {0xdf0, "wgmma (A in registers)"},
                                     {0x9c5, "wgmma fence or wait"},
                                     {0x5b4, "TMA load"},
                                     {0x3b5, "TMA store"},
                                     {0x5a7, "barrier try_wait"},
                                     {0x9a7, "barrier arrive"},
                                     {0xb1d, "bar"},
                                     {0x9c8, "setmaxnreg"},
                                     {0x844, "stmatrix"},
                                     {0x308, "MUFU"},
                                     {0xf89, "shuffle"},
                                     {0x983, "spill load"},
                                     {0x387, "spill store"}}};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
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
  bool good() const { return good_; }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace

Result<Census> census_of(std::string_view cubin) {
  const auto bad = [] { return Error::input("this is no compiled kernel (a 64-bit ELF file with sections)"); };
  Reader reader(cubin);
  if (!cubin.starts_with("\x7f"
                         "ELF\x02"))
    return bad();
  const auto sections = reader.at<std::uint64_t>(40);
  const auto entry = reader.at<std::uint16_t>(58), count = reader.at<std::uint16_t>(60), names = reader.at<std::uint16_t>(62);
  if (!reader.good() || entry < 64 || names >= count) return bad();
  const auto header = [&](std::uint16_t index) { return sections + std::uint64_t{index} * entry; };
  const std::string_view strings = reader.range(reader.at<std::uint64_t>(header(names) + 24), reader.at<std::uint64_t>(header(names) + 32));
  Census census;
  for (std::uint16_t s = 0; s < count && reader.good(); ++s) {
    const auto name = reader.at<std::uint32_t>(header(s));
    if (name >= strings.size() || !strings.substr(name).starts_with(".text.")) continue;
    const std::string_view code = reader.range(reader.at<std::uint64_t>(header(s) + 24), reader.at<std::uint64_t>(header(s) + 32));
    for (std::size_t at = 0; at + 16 <= code.size(); at += 16) {
      std::uint64_t low = 0;
      std::memcpy(&low, code.data() + at, sizeof low);
      ++census.instructions;
      ++census.by_key[static_cast<int>(low & 0xfff)];
    }
  }
  if (!reader.good() || census.instructions == 0) return bad();
  return census;
}

std::string census_text(const Census& census) {
  std::string text = fmt::format("{} instructions", census.instructions);
  for (const Key& key : kKeys)
    if (const std::int64_t count = census.of(key.key)) text += fmt::format(", {} {}", count, key.name);
  return text;
}

}  // namespace heddle::codegen
