#include "ptx/capture/memory.h"

#include <algorithm>
#include <cstring>

namespace heddle::ptx::capture {
namespace {

constexpr std::uint64_t kGap = 1 << 16;  // addresses of allocations end in zeros, as cudaMalloc's do

}  // namespace

std::uint64_t CapturedMemory::new_address(std::uint64_t bytes) {
  const std::uint64_t address = next_;
  next_ += (bytes + 2 * kGap - 1) / kGap * kGap;
  return address;
}

void CapturedMemory::add(std::uint64_t address, std::uint64_t bytes) { pieces_[address] = {bytes, {}, false, false}; }

void CapturedMemory::add_host(const void* address, std::uint64_t bytes) {
  pieces_[reinterpret_cast<std::uint64_t>(address)] = {bytes, {}, false, true};
}

void CapturedMemory::remove(std::uint64_t address) { pieces_.erase(address); }

CapturedMemory::Pieces::iterator CapturedMemory::find(std::uint64_t address) {
  auto at = pieces_.upper_bound(address);
  if (at == pieces_.begin()) return pieces_.end();
  --at;
  return address - at->first < at->second.bytes ? at : pieces_.end();
}

void CapturedMemory::write(std::uint64_t to, const void* from, std::uint64_t bytes) {
  const auto at = find(to);
  if (at == pieces_.end() || at->second.host) return;
  Piece& piece = at->second;
  const std::uint64_t begin = to - at->first, end = std::min(begin + bytes, piece.bytes);
  if (piece.zero && piece.bytes <= most_) piece.known.assign(piece.bytes, 0);
  piece.zero = false;
  if (piece.bytes > most_ || begin > piece.known.size()) return;
  piece.known.resize(std::max<std::uint64_t>(piece.known.size(), end));
  std::memcpy(piece.known.data() + begin, from, end - begin);
}

void CapturedMemory::fill(std::uint64_t to, std::uint8_t value, std::uint64_t bytes) {
  const auto at = find(to);
  if (at == pieces_.end() || at->second.host) return;
  if (to == at->first && bytes >= at->second.bytes && value == 0) {
    at->second.known.clear();
    at->second.zero = true;
    return;
  }
  if (at->second.zero && value == 0) return;
  const std::vector<std::uint8_t> same(std::min(bytes, most_), value);
  write(to, same.data(), same.size());
}

void CapturedMemory::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  const auto at = find(from);
  const auto target = find(to);
  if (target == pieces_.end()) return;
  if (at != pieces_.end() && at->second.zero && !target->second.host) return fill(to, 0, bytes);
  const std::uint64_t known = at == pieces_.end() ? 0 : at->second.known.size() - std::min(from - at->first, at->second.known.size());
  if (known > 0 && !target->second.host) {
    const std::vector<std::uint8_t> same(at->second.known.end() - static_cast<std::ptrdiff_t>(known), at->second.known.end());
    return write(to, same.data(), std::min<std::uint64_t>(bytes, same.size()));
  }
  // Now it holds what nobody knows.
  target->second.zero = false;
  target->second.known.resize(std::min<std::size_t>(target->second.known.size(), to - target->first));
}

void CapturedMemory::read(void* to, std::uint64_t from, std::uint64_t bytes) const {
  const auto at = find(from);
  if (at != pieces_.end() && at->second.host) {
    std::memmove(to, reinterpret_cast<const void*>(from), bytes);
    return;
  }
  std::memset(to, 0, bytes);
  if (at == pieces_.end()) return;
  const std::vector<std::uint8_t>& known = at->second.known;
  const std::size_t begin = std::min<std::size_t>(from - at->first, known.size());
  std::memcpy(to, known.data() + begin, std::min<std::size_t>(bytes, known.size() - begin));
}

std::pair<std::uint64_t, std::uint64_t> CapturedMemory::piece(std::uint64_t address) const {
  const auto at = find(address);
  return at == pieces_.end() ? std::pair<std::uint64_t, std::uint64_t>{} : std::pair{at->first, at->second.bytes};
}

bool CapturedMemory::is_host(std::uint64_t address) const {
  const auto at = find(address);
  return at != pieces_.end() && at->second.host;
}

GlobalBuffer CapturedMemory::buffer(Pieces::const_iterator at) const {
  GlobalBuffer buffer{"", at->first, at->second.bytes, at->second.known, at->second.zero};
  if (!at->second.host || at->second.bytes > most_) return buffer;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(at->first);
  buffer.contents.assign(bytes, bytes + at->second.bytes);
  return buffer;
}

std::vector<GlobalBuffer> CapturedMemory::reached_from(const std::vector<std::uint64_t>& words) const {
  std::map<std::uint64_t, GlobalBuffer> reached;
  std::vector<std::uint64_t> open = words;
  while (!open.empty()) {
    const auto at = find(open.back());
    open.pop_back();
    if (at == pieces_.end() || reached.count(at->first)) continue;
    const GlobalBuffer& found = reached[at->first] = buffer(at);
    for (std::size_t k = 0; k + 8 <= found.contents.size(); k += 8) {
      std::uint64_t word;
      std::memcpy(&word, found.contents.data() + k, 8);
      open.push_back(word);
    }
  }
  std::vector<GlobalBuffer> buffers;
  for (auto& [address, each] : reached) buffers.push_back(std::move(each));
  return buffers;
}

}  // namespace heddle::ptx::capture
