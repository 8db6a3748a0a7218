#include "ptx/units/lane_reader.h"

#include <fmt/format.h>

#include <bit>

#include "ptx/judge/reference.h"

namespace heddle::ptx {
namespace {

bool same_in(const LaneValues& values, LaneMask lanes, int first) {
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    if (values.bits[lane] != values.bits[static_cast<std::size_t>(first)]) return false;
  }
  return (values.unknown & lanes) == 0 || (values.unknown & lanes) == lanes;
}

bool same_in_all(const ClusterRun& run, const WarpFragment& fragment, const PtxOperand& operand, LaneMask lanes, int first) {
  switch (operand.kind) {
    case PtxOperand::Kind::Register: return same_in(run.value(fragment, operand), lanes, first);
    case PtxOperand::Kind::Address:
    case PtxOperand::Kind::Vector:
    case PtxOperand::Kind::Pair:
      for (const PtxOperand& part : operand.parts)
        if (!same_in_all(run, fragment, part, lanes, first)) return false;
      return true;
    default: return true;
  }
}

}  // namespace

std::optional<std::uint64_t> LaneReader::ask(const PtxOperand& operand) const {
  const LaneValues values = run_.value(fragment_, operand);
  if ((values.unknown >> lane_ & 1) != 0 && values.unknown_bits != 0) return std::nullopt;
  return values.bits[static_cast<std::size_t>(lane_)];
}

std::uint64_t LaneReader::need(const PtxOperand& operand, const char* what) {
  const LaneValues values = run_.value(fragment_, operand);
  if ((values.unknown >> lane_ & 1) == 0 || values.unknown_bits == 0) return values.bits[static_cast<std::size_t>(lane_)];
  if (!run_.stopped())
    run_.stop(instruction_, values.origin >= 0 ? fmt::format("{} is not known: it hangs on {}", what, place_reference(values.origin))
                                               : fmt::format("{} is not known", what));
  return 0;
}

const PtxOperand& LaneReader::operand(std::size_t index) {
  static const PtxOperand kNone;
  if (index < instruction_.operands.size()) return instruction_.operands[index];
  if (!run_.stopped()) run_.stop(instruction_, fmt::format("{} has only {} operands", instruction_.mnemonic, instruction_.operands.size()));
  return kNone;
}

std::vector<int> lanes_apart(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes,
                             bool of_one_thread) {
  std::vector<int> apart;
  if (lanes == 0) return apart;
  const int first = std::countr_zero(lanes);
  bool same = true;
  if (std::popcount(lanes) > 1)
    for (const PtxOperand& operand : instruction.operands) same = same && same_in_all(run, fragment, operand, lanes, first);
  if (same) {
    apart.push_back(first);
    if (of_one_thread && std::popcount(lanes) > 1 && !run.findings.again(CheckRule::ManyLanesIssue, run.pc_of(instruction), -1))
      run.find(CheckRule::ManyLanesIssue, fragment, instruction,
               fmt::format("{} lanes of {} issue the same {}; it is taken as one", std::popcount(lanes), warp_reference(fragment.warp),
                           instruction.mnemonic));
    return apart;
  }
  for (LaneMask left = lanes; left != 0; left &= left - 1) apart.push_back(std::countr_zero(left));
  return apart;
}

std::optional<ByteRange> shared_range(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction,
                                      std::uint64_t address, std::uint64_t bytes) {
  const auto refuse = [&](const std::string& why) {
    run.find(CheckRule::OutOfShared, fragment, instruction, why);
    return std::nullopt;
  };
  if (address >= kSharedWindowEnd) return refuse(fmt::format("address {:#x} is not in shared memory", address));
  if (cta_of(address) >= run.cluster_size())
    return refuse(fmt::format("an address of CTA {} in a cluster of {}", cta_of(address), run.cluster_size()));
  const std::uint64_t begin = byte_of(address);
  if (begin > run.shared_bytes() || bytes > run.shared_bytes() - begin)
    return refuse(fmt::format("{} bytes from byte {}, beyond the {}", bytes, begin, run.shared_text()));
  return ByteRange{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + bytes)};
}

bool aligned(const UnitIssue& issue, std::uint64_t address, std::uint64_t multiple, const char* what) {
  if (address % multiple == 0) return true;
  issue.find(CheckRule::Misaligned, fmt::format("{} {} is no multiple of {}", what, address, multiple));
  return false;
}

bool converged(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  const LaneMask live = run.warps[static_cast<std::size_t>(fragment.warp)].live;
  if ((lanes & live) == live) return true;
  run.find(CheckRule::NotConverged, fragment, instruction,
           fmt::format("{} of {} lanes of {} execute {}, which needs all of them at once", std::popcount(lanes), std::popcount(live),
                       warp_reference(fragment.warp), instruction.mnemonic));
  return false;
}

void registers_in(const PtxOperand& operand, std::vector<RegisterId>& into) {
  if (operand.kind == PtxOperand::Kind::Register) into.push_back(operand.reg);
  for (const PtxOperand& part : operand.parts) registers_in(part, into);
}

void forget_results(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, const PtxOperand& operand, LaneMask lanes) {
  if (operand.kind == PtxOperand::Kind::Vector || operand.kind == PtxOperand::Kind::Pair) {
    for (const PtxOperand& part : operand.parts) forget_results(run, fragment, instruction, part, lanes);
    return;
  }
  if (operand.kind != PtxOperand::Kind::Register || !run.function.needed[operand.reg.index()]) return;
  const int bits = bits_of(run.function.registers[operand.reg.index()].type);
  const std::uint64_t all = bits >= 64 ? ~0ull : (1ull << bits) - 1;
  run.assign(fragment, operand, LaneValues::unknown_value(run.pc_of(instruction), all), lanes);
}

}  // namespace heddle::ptx
