// Bytes that are known, and those that are not: the parameter block, shared memory of each CTA, and a sparse global memory with bounds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/launch/launch.h"
#include "ptx/text/module.h"

namespace heddle::ptx {

/// Generic addresses: shared memory of the cluster is [0, 2^28) (CTA in bits 24 and up, so that mapa is a shift), the parameter block
/// begins at kParameterWindow, local memory at kLocalWindow; all else is global memory.
constexpr std::uint64_t kSharedWindowEnd = 1ull << 28;
constexpr std::uint64_t kParameterWindow = 0x7F0000000000ull;
constexpr std::uint64_t kLocalWindow = 0x7E0000000000ull;
/// Variables of the module begin here in global memory.
constexpr std::uint64_t kVariableWindow = 0x7D0000000000ull;
/// Shared memory of a CTA begins with what the system keeps for itself, since compute capability 8.0 (CUDA C++ Programming Guide).
constexpr std::uint32_t kReservedShared = 1024;
constexpr int kCtaShift = 24;
constexpr int cta_of(std::uint64_t shared) { return static_cast<int>(shared >> kCtaShift); }
constexpr std::uint32_t byte_of(std::uint64_t shared) { return static_cast<std::uint32_t>(shared & 0xFFFFFFu); }

enum class AddressSpace : std::uint8_t { Shared, Parameter, Local, Global };
AddressSpace space_of(std::uint64_t generic_address);

/// Bytes with a flag each: known or not. Reads give nothing where a byte is unknown, and its origin.
class Bytes {
 public:
  explicit Bytes(std::uint64_t size = 0, bool known_zero = false);
  std::uint64_t size() const { return values_.size(); }
  std::optional<std::uint64_t> read(std::uint64_t at, int bytes) const;
  void write(std::uint64_t at, int bytes, std::uint64_t value);
  void forget(std::uint64_t begin, std::uint64_t end);  ///< what a copy or a float wrote

 private:
  std::vector<std::uint8_t> values_, known_;
};

/// Global memory: the launch's buffers and the module's variables. What is not in a buffer is a finding of who reads or writes it.
class GlobalMemory {
 public:
  GlobalMemory(const Launch& launch, const PtxModule& module);
  /// The buffer around [address, address + bytes); nullptr: none reaches so far.
  const GlobalBuffer* around(std::uint64_t address, std::uint64_t bytes) const;
  /// False where the launch names no buffer and no tensor at all: then nothing is known of bounds.
  bool bounded() const { return bounded_; }
  std::optional<std::uint64_t> read(std::uint64_t address, int bytes) const;
  void write(std::uint64_t address, int bytes, std::uint64_t value);
  void forget(std::uint64_t address, std::uint64_t bytes);
  std::uint64_t address_of(const PtxVariable& variable) const;
  const TensorMap* map_at(std::uint64_t address) const;

 private:
  struct Word {
    std::uint64_t value = 0;
    std::uint8_t known = 0, forgotten = 0;  ///< a bit for each byte
  };
  std::optional<std::uint8_t> initial(std::uint64_t address) const;

  std::vector<GlobalBuffer> buffers_;  ///< by address
  bool bounded_ = false;
  std::unordered_map<std::uint64_t, Word> written_;  ///< by address / 8: bytes that the kernel wrote
  std::vector<std::pair<const PtxVariable*, std::uint64_t>> variables_;
  std::map<std::uint64_t, TensorMap> maps_;
};

}  // namespace heddle::ptx
