#include "ptx/run/memory.h"

#include <algorithm>
#include <cstring>

namespace heddle::ptx {

AddressSpace space_of(std::uint64_t generic_address) {
  if (generic_address < kSharedWindowEnd) return AddressSpace::Shared;
  if (generic_address >= kParameterWindow && generic_address < kParameterWindow + (1ull << 32)) return AddressSpace::Parameter;
  if (generic_address >= kLocalWindow && generic_address < kLocalWindow + (1ull << 32)) return AddressSpace::Local;
  return AddressSpace::Global;
}

Bytes::Bytes(std::uint64_t size, bool known_zero) : values_(size), known_(size, known_zero ? 1 : 0) {}

std::optional<std::uint64_t> Bytes::read(std::uint64_t at, int bytes) const {
  const auto count = static_cast<std::uint64_t>(bytes);
  if (at > size() || size() - at < count) return std::nullopt;
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (known_[at + i] == 0) return std::nullopt;
    value |= static_cast<std::uint64_t>(values_[at + i]) << (8 * i);
  }
  return value;
}

void Bytes::write(std::uint64_t at, int bytes, std::uint64_t value) {
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(bytes) && at + i < size(); ++i) {
    values_[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
    known_[at + i] = 1;
  }
}

void Bytes::forget(std::uint64_t begin, std::uint64_t end) {
  end = std::min<std::uint64_t>(end, size());
  if (begin < end) std::memset(known_.data() + begin, 0, end - begin);
}

namespace {

/// How far a tensor reaches: its last element, in bytes from the first.
std::uint64_t reach_of(const TensorMap& map) {
  if (map.extents.empty()) return 0;
  std::uint64_t reach = (map.extents[0] * bytes_of_16(map.element) + 15) / 16;
  for (std::size_t i = 1; i < map.extents.size() && i - 1 < map.strides.size(); ++i)
    if (map.extents[i] > 0) reach += (map.extents[i] - 1) * map.strides[i - 1];
  return reach;
}

}  // namespace

GlobalMemory::GlobalMemory(const Launch& launch, const PtxModule& module) : buffers_(launch.buffers), bounded_(!launch.buffers.empty()) {
  for (const PlacedMap& placed : launch.maps) {
    if (!placed.in_parameters) maps_[placed.at] = placed.map;
    if (placed.map.address == 0) continue;
    const std::uint64_t reach = reach_of(placed.map);
    const bool there = std::ranges::any_of(launch.buffers, [&](const GlobalBuffer& buffer) {
      return buffer.address <= placed.map.address && placed.map.address - buffer.address + reach <= buffer.bytes;
    });
    if (!there) buffers_.push_back({placed.map.name, placed.map.address, reach, {}, false});
  }
  std::uint64_t next = kVariableWindow;
  for (const PtxVariable& variable : module.variables) {
    if (variable.space != PtxVariable::Space::Global && variable.space != PtxVariable::Space::Const) continue;
    const std::uint64_t align = std::max<std::uint64_t>(variable.align, 256);
    next = (next + align - 1) / align * align;
    variables_.emplace_back(&variable, next);
    buffers_.push_back({std::string(variable.name), next, variable.bytes, variable.contents, true});
    next += variable.bytes + 256;
  }
  std::ranges::stable_sort(buffers_, {}, &GlobalBuffer::address);
}

const GlobalBuffer* GlobalMemory::around(std::uint64_t address, std::uint64_t bytes) const {
  auto after = std::ranges::upper_bound(buffers_, address, {}, &GlobalBuffer::address);
  // Buffers may lie in each other (a view and its storage): the nearest few are asked.
  for (int tries = 0; after != buffers_.begin() && tries < 8; ++tries) {
    --after;
    const std::uint64_t offset = address - after->address;
    if (offset <= after->bytes && after->bytes - offset >= bytes) return &*after;
  }
  return nullptr;
}

std::optional<std::uint8_t> GlobalMemory::initial(std::uint64_t address) const {
  const GlobalBuffer* buffer = around(address, 1);
  if (buffer == nullptr) return std::nullopt;
  const std::uint64_t offset = address - buffer->address;
  if (offset < buffer->contents.size()) return buffer->contents[offset];
  if (buffer->zero) return std::uint8_t{0};
  return std::nullopt;
}

std::optional<std::uint64_t> GlobalMemory::read(std::uint64_t address, int bytes) const {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    const std::uint64_t at = address + static_cast<std::uint64_t>(i);
    std::optional<std::uint8_t> byte;
    bool forgotten = false;
    if (const auto found = written_.find(at >> 3); found != written_.end()) {
      const auto bit = static_cast<std::uint8_t>(1u << (at & 7));
      forgotten = (found->second.forgotten & bit) != 0;
      if ((found->second.known & bit) != 0) byte = static_cast<std::uint8_t>(found->second.value >> (8 * (at & 7)));
    }
    if (!byte && !forgotten) byte = initial(at);
    if (!byte) return std::nullopt;
    value |= static_cast<std::uint64_t>(*byte) << (8 * i);
  }
  return value;
}

void GlobalMemory::write(std::uint64_t address, int bytes, std::uint64_t value) {
  for (int i = 0; i < bytes; ++i) {
    const std::uint64_t at = address + static_cast<std::uint64_t>(i);
    Word& word = written_[at >> 3];
    const auto bit = static_cast<std::uint8_t>(1u << (at & 7));
    const int shift = static_cast<int>(8 * (at & 7));
    word.value = (word.value & ~(0xFFull << shift)) | ((value >> (8 * i) & 0xFF) << shift);
    word.known |= bit;
    word.forgotten &= static_cast<std::uint8_t>(~bit);
  }
}

void GlobalMemory::forget(std::uint64_t address, std::uint64_t bytes) {
  const GlobalBuffer* buffer = around(address, bytes);
  const bool may_be_known = buffer == nullptr || buffer->zero || address - buffer->address < buffer->contents.size();
  if (!may_be_known && written_.empty()) return;
  for (std::uint64_t at = address; at < address + bytes; ++at) {
    const auto found = written_.find(at >> 3);
    if (found == written_.end() && !may_be_known) continue;
    Word& word = found == written_.end() ? written_[at >> 3] : found->second;
    const auto bit = static_cast<std::uint8_t>(1u << (at & 7));
    word.known &= static_cast<std::uint8_t>(~bit);
    word.forgotten |= bit;
  }
}

std::uint64_t GlobalMemory::address_of(const PtxVariable& variable) const {
  for (const auto& [known, address] : variables_)
    if (known == &variable) return address;
  return 0;
}

const TensorMap* GlobalMemory::map_at(std::uint64_t address) const {
  const auto found = maps_.find(address);
  return found == maps_.end() ? nullptr : &found->second;
}

}  // namespace heddle::ptx
