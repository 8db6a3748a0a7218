// Memory that the program believes to have: made-up addresses, and what the host wrote there, as far as launches may need it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ptx/launch/launch.h"

namespace heddle::ptx::capture {

class CapturedMemory {
 public:
  /// What larger pieces of memory hold is not kept, but for their being all 0: index arrays and counters are small.
  explicit CapturedMemory(std::uint64_t most_bytes) : most_(most_bytes) {}

  std::uint64_t new_address(std::uint64_t bytes);  ///< never given twice, with a gap behind it
  void add(std::uint64_t address, std::uint64_t bytes);
  /// Memory that the host can read and write by itself; what it holds is looked up when a launch needs it.
  void add_host(const void* address, std::uint64_t bytes);
  void remove(std::uint64_t address);

  /// The host wrote these bytes, or filled memory with one byte.
  void write(std::uint64_t to, const void* from, std::uint64_t bytes);
  void fill(std::uint64_t to, std::uint8_t value, std::uint64_t bytes);
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  /// What the host wrote, and 0 where it did not.
  void read(void* to, std::uint64_t from, std::uint64_t bytes) const;

  /// Where a piece of memory with this address begins, and its bytes; {0, 0}: nowhere.
  std::pair<std::uint64_t, std::uint64_t> piece(std::uint64_t address) const;
  bool is_host(std::uint64_t address) const;

  /// The pieces that these bytes may point to, and those that what is known of them may point to, in the order of their addresses.
  std::vector<GlobalBuffer> reached_from(const std::vector<std::uint64_t>& words) const;

 private:
  struct Piece {
    std::uint64_t bytes = 0;
    std::vector<std::uint8_t> known;  ///< its first bytes
    bool zero = false;                ///< all of it is 0; then nothing is in `known`
    bool host = false;
  };
  using Pieces = std::map<std::uint64_t, Piece>;

  Pieces::iterator find(std::uint64_t address);
  Pieces::const_iterator find(std::uint64_t address) const { return const_cast<CapturedMemory*>(this)->find(address); }
  GlobalBuffer buffer(Pieces::const_iterator at) const;

  std::uint64_t most_, next_ = 0x500100000000;
  Pieces pieces_;
};

}  // namespace heddle::ptx::capture
