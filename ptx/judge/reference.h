// References in sentences: who judges knows a warp, an instruction, a barrier by number; who reports knows the role, the line, the ring. A
// sentence holds the number between two marks, and the report spells it (ptx/report/spell.h).
#pragma once

#include <cstdint>
#include <string>

namespace heddle::ptx {

constexpr char kReferenceBegin = '\x01', kReferenceEnd = '\x02';

enum class ReferenceKind : char { Warp = 'w', Place = 'p', Barrier = 'b', Shared = 's', Register = 'r' };

inline std::string reference(ReferenceKind kind, std::uint64_t number) {
  return std::string{kReferenceBegin, static_cast<char>(kind)} + std::to_string(number) + kReferenceEnd;
}
/// A warp of the cluster: "producer w0".
inline std::string warp_reference(int warp) { return reference(ReferenceKind::Warp, static_cast<std::uint64_t>(warp)); }
/// An instruction: "line 415 (mbarrier.try_wait)".
inline std::string place_reference(int pc) { return reference(ReferenceKind::Place, static_cast<std::uint64_t>(pc)); }
/// An mbarrier by its address in the cluster's shared memory: "FULL of K[1]".
inline std::string barrier_reference(std::uint64_t address) { return reference(ReferenceKind::Barrier, address); }
/// A byte of the cluster's shared memory: "K[1] + 512".
inline std::string shared_reference(std::uint64_t address) { return reference(ReferenceKind::Shared, address); }
/// A register of the function: "%r17".
inline std::string register_reference(std::size_t index) { return reference(ReferenceKind::Register, index); }

}  // namespace heddle::ptx
