// The 16 bytes of an answer are opaque to programs. Here they are: x in 31 bits, y and z in 16 each, and whether there is one in the
// highest of 64; the other 8 bytes are 0.
#include "ptx/units/launch_control.h"

#include "ptx/run/inside.h"
#include "ptx/run/shared_memory.h"
#include "ptx/units/lane_reader.h"

namespace heddle::ptx {
namespace {

constexpr std::uint64_t kBytes = 16;
/// One cluster of a grid does not get all of it.
constexpr std::int64_t kMostAnswers = 8;
constexpr std::uint64_t kCanceled = 1ull << 63;

/// Cluster number `answer` behind this one, clusters counted along x first.
std::uint64_t answer_of(const RunInside& inside, std::int64_t answer) {
  std::uint64_t size[3], first[3];
  for (std::size_t d = 0; d < 3; ++d) {
    const std::uint64_t width = std::max<std::uint32_t>(inside.cluster[d], 1);
    size[d] = std::max<std::uint64_t>(1, inside.grid[d] / width);
    first[d] = inside.first_cta[d] / width;
  }
  const std::uint64_t number = first[0] + size[0] * (first[1] + size[1] * first[2]) + static_cast<std::uint64_t>(answer);
  if (answer > kMostAnswers || number >= size[0] * size[1] * size[2]) return 0;
  const std::uint64_t at[3] = {number % size[0], number / size[0] % size[1], number / size[0] / size[1]};
  const auto cta = [&](std::size_t d) { return at[d] * std::max<std::uint32_t>(inside.cluster[d], 1); };
  return kCanceled | cta(0) | cta(1) << 31 | cta(2) << 47;
}

/// One answer, to one CTA's bytes and barrier.
void answer_to(const UnitIssue& issue, std::uint64_t address, std::uint64_t barrier_at, std::uint64_t answer) {
  ClusterRun& run = issue.run;
  const Barriers::By by = run.by(issue.fragment, issue.instruction);
  const Warp& warp = issue.warp();
  Mbarrier* barrier = run.barriers.use(barrier_at, by, warp.known);
  const auto range = shared_range(run, issue.fragment, issue.instruction, address, kBytes);
  if (barrier == nullptr || !range) return;
  const auto cta = static_cast<std::size_t>(cta_of(address));
  write_shared(run, cta_of(address), {&*range, 1}, {barrier->component, kPending, Proxy::Async, by.pc, warp.index, "answer to try_cancel"},
               warp.known);
  run.shared[cta].forget(range->begin, range->end);
  run.at(issue.fragment.time + run.costs.copy_latency, [&run, by, barrier_at, range, cta, answer] {
    Barriers::By later = by;
    later.cycle = run.now() / 1000;
    Mbarrier* there = run.barriers.use(barrier_at, later, run.warps[static_cast<std::size_t>(by.warp)].known);
    if (there == nullptr) return;
    run.shared[cta].write(range->begin, 8, answer);
    run.shared[cta].write(range->begin + 8, 8, 0);
    run.shadows[cta].settle({&*range, 1}, there->component, by.pc, there->phase + 1);
    run.wake(run.barriers.complete(*there, static_cast<std::int64_t>(kBytes), later), run.now());
  });
}

/// "get_first_ctaid::y": 1; without a name all, in a vector.
LaneValues part_of(const LaneValues& handle, int dimension) {
  LaneValues part = handle;
  static constexpr int kShift[] = {0, 31, 47};
  static constexpr std::uint64_t kMask[] = {0x7FFFFFFF, 0xFFFF, 0xFFFF};
  for (std::uint64_t& bits : part.bits) bits = bits >> kShift[dimension] & kMask[dimension];
  part.unknown_bits = handle.unknown != 0 ? 0xFFFFFFFF : 0;
  for (int lane = 0; lane < kLanes; ++lane)
    if ((handle.unknown >> lane & 1) != 0) part.bits[static_cast<std::size_t>(lane)] = 0;
  return part;
}

}  // namespace

ActionEnd try_cancel(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  const bool all = instruction.has("multicast::cluster::all");
  for (const int lane : lanes_apart(run, fragment, instruction, lanes, true)) {
    LaneReader reader(run, fragment, instruction, lane);
    const std::uint64_t address = reader.need(std::size_t{0}, "the address of the answer");
    const std::uint64_t barrier = reader.need(1, "the address of the mbarrier");
    if (reader.stopped()) break;
    aligned({run, fragment, instruction}, byte_of(address), kBytes, "the address of the answer");
    const std::uint64_t answer = answer_of(run.inside(), ++run.canceled);
    if (!all) {
      answer_to({run, fragment, instruction}, address, barrier, answer);
      continue;
    }
    for (std::uint64_t cta = 0; cta < static_cast<std::uint64_t>(run.cluster_size()); ++cta)
      answer_to({run, fragment, instruction}, byte_of(address) | cta << kCtaShift, byte_of(barrier) | cta << kCtaShift, answer);
  }
  return ActionEnd::Go;
}

ActionEnd query_cancel(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (instruction.operands.size() < 2) return ActionEnd::Go;
  const LaneValues handle = run.value(fragment, instruction.operands[1]);
  const PtxOperand& result = instruction.operands[0];
  for (const std::string_view word : instruction.words) {
    if (word == "is_canceled") {
      LaneValues there = handle;
      for (std::uint64_t& bits : there.bits) bits >>= 63;
      there.unknown_bits = handle.unknown != 0 ? 1 : 0;
      run.assign(fragment, result, there, lanes);
    } else if (word == "get_first_ctaid::x" || word == "get_first_ctaid::y" || word == "get_first_ctaid::z") {
      run.assign(fragment, result, part_of(handle, word.back() - 'x'), lanes);
    } else if (word == "get_first_ctaid") {
      for (std::size_t d = 0; d < result.parts.size(); ++d)
        run.assign(fragment, result.parts[d], d < 3 ? part_of(handle, static_cast<int>(d)) : LaneValues::all(0), lanes);
    }
  }
  return ActionEnd::Go;
}

}  // namespace heddle::ptx
