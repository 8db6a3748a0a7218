// A fat binary is a header and entries; each says its kind, its size and how it is packed. The fields were found by packing one text with
// nvcc's three ways of compression and comparing the files.
#include "ptx/capture/image.h"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace heddle::ptx::capture {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243b1, kFatMagic = 0xba55ed50, kElfMagic = 0x464c457f;
constexpr std::uint16_t kPtx = 1, kElf = 2;
constexpr std::uint64_t kLz4 = 0x2000, kZstd = 0x8000;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

struct Wrapper {
  std::uint32_t magic, version;
  const void* data;
  const void* more;
};

struct FatHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  ///< of all entries
};

struct FatEntry {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;  ///< as it lies in the file, with what fills it up
  std::uint32_t packed_bytes, options;
  std::uint16_t minor, major;
  std::uint32_t arch, name, name_bytes;
  std::uint64_t flags, zero, unpacked_bytes;
};
static_assert(sizeof(FatEntry) == 64);

template <class T>
T read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::string unpacked_zstd(const unsigned char* from, std::size_t bytes, std::size_t unpacked, std::string& trouble) {
  static void* const library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  using Unpack = std::size_t (*)(void*, std::size_t, const void*, std::size_t);
  const auto unpack = library ? reinterpret_cast<Unpack>(dlsym(library, "ZSTD_decompress")) : nullptr;
  std::string text(unpacked, '\0');
  if (!unpack)
    trouble = "its PTX is packed with zstd, and libzstd.so.1 is not here; compile with nvcc --compress-mode=speed";
  else if (unpack(text.data(), text.size(), from, bytes) != unpacked)
    trouble = "its packed PTX is damaged";
  return trouble.empty() ? text : std::string();
}

void read_text(const FatEntry& entry, const unsigned char* data, CapturedImage& image) {
  std::string text;
  if (entry.unpacked_bytes > kMostBytes)
    image.trouble = "its PTX is too large";
  else if (entry.flags & kZstd)
    text = unpacked_zstd(data, entry.packed_bytes, entry.unpacked_bytes, image.trouble);
  else if (entry.flags & kLz4)
    text = unpacked_lz4(data, entry.packed_bytes, entry.unpacked_bytes);
  else
    text.assign(reinterpret_cast<const char*>(data), entry.bytes);
  text.resize(std::min(text.size(), text.find('\0')));
  if (const std::size_t begin = text.find_first_not_of(" \t\r\n"); begin != std::string::npos) image.texts.push_back(text.substr(begin));
}

/// A kernel's instructions lie in a section ".text.NAME".
void read_machine_code(const unsigned char* data, CapturedImage& image) {
  image.machine_code = true;
  const auto header = read<Elf64_Ehdr>(data);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum) return;
  const auto section = [&](unsigned index) { return read<Elf64_Shdr>(data + header.e_shoff + index * sizeof(Elf64_Shdr)); };
  const char* const names = reinterpret_cast<const char*>(data) + section(header.e_shstrndx).sh_offset;
  for (unsigned index = 0; index < header.e_shnum; ++index)
    if (const std::string name = names + section(index).sh_name; name.starts_with(".text.")) image.kernels.push_back(name.substr(6));
}

CapturedImage read_fat(const unsigned char* data) {
  CapturedImage image;
  const auto header = read<FatHeader>(data);
  for (std::uint64_t at = 0; at + sizeof(FatEntry) <= header.bytes;) {
    const unsigned char* begin = data + header.header_bytes + at;
    const auto entry = read<FatEntry>(begin);
    if (entry.header_bytes < sizeof(FatEntry) || entry.bytes > header.bytes - at) break;
    if (entry.kind == kPtx) read_text(entry, begin + entry.header_bytes, image);
    // What is packed is not unpacked: nobody needs its names.
    if (entry.kind == kElf && !(entry.flags & (kLz4 | kZstd))) read_machine_code(begin + entry.header_bytes, image);
    image.machine_code |= entry.kind == kElf;
    at += entry.header_bytes + entry.bytes;
  }
  return image;
}

/// With -rdc=true the second version has, in a list that ends with null, the binaries that were linked: texts are only there.
CapturedImage read_wrapper(const Wrapper& wrapper) {
  constexpr std::uint32_t kLinked = 2;
  CapturedImage image = read_image(wrapper.data);
  if (wrapper.version != kLinked || !wrapper.more) return image;
  for (const auto* part = static_cast<const void* const*>(wrapper.more); *part && read<std::uint32_t>(*part) == kFatMagic; ++part) {
    CapturedImage more = read_image(*part);
    image.texts.insert(image.texts.end(), more.texts.begin(), more.texts.end());
  }
  return image;
}

}  // namespace

std::string unpacked_lz4(const unsigned char* from, std::size_t bytes, std::size_t unpacked) {
  std::string text;
  std::size_t at = 0;
  const auto length = [&](std::size_t first) {
    std::size_t total = first;
    for (unsigned char more = 255; first == 15 && more == 255 && at < bytes; total += more) more = from[at++];
    return total;
  };
  while (at < bytes && text.size() < unpacked) {
    const unsigned char token = from[at++];
    const std::size_t literals = std::min(length(token >> 4), bytes - at);
    text.append(reinterpret_cast<const char*>(from + at), literals);
    at += literals;
    if (at + 2 > bytes) break;
    const std::size_t back = from[at] | from[at + 1] << 8;
    at += 2;
    if (back == 0 || back > text.size()) break;
    for (std::size_t left = length(token & 15) + 4; left > 0 && text.size() < unpacked; --left) text += text[text.size() - back];
  }
  return text;
}

CapturedImage read_image(const void* data) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  const auto magic = read<std::uint32_t>(bytes);
  if (magic == kWrapperMagic) return read_wrapper(read<Wrapper>(bytes));
  if (magic == kFatMagic) return read_fat(bytes);
  CapturedImage image;
  if (magic == kElfMagic)
    read_machine_code(bytes, image);
  else
    image.texts.emplace_back(static_cast<const char*>(data));
  return image;
}

}  // namespace heddle::ptx::capture
