// Groups are kept by warp, not by lane: lanes of a warp that commit apart are taken as one. cp.async is of the generic proxy (PTX ISA,
// cp.async).
#include "ptx/units/async_copies.h"

#include <fmt/format.h>

#include <bit>

#include "ptx/judge/reference.h"
#include "ptx/run/shared_memory.h"
#include "ptx/units/committed_work.h"
#include "ptx/units/copies.h"
#include "ptx/units/lane_reader.h"

namespace heddle::ptx {
namespace {

CommittedWork& copies_of(ClusterRun& run, Warp& warp) {
  if (warp.copies == nullptr) {
    auto made = std::make_unique<CommittedWork>();
    made->component = run.components.add(fmt::format("cp.async of {}", warp_reference(warp.index)));
    warp.copies = std::move(made);
  }
  return static_cast<CommittedWork&>(*warp.copies);
}

/// The third operand, less where the fourth says that fewer bytes are read (the rest is zeros) or none (a predicate: ignore-src).
std::uint64_t bytes_read(LaneReader& reader, const ClusterRun& run, const PtxInstruction& instruction, std::uint64_t bytes) {
  if (instruction.operands.size() < 4) return bytes;
  const PtxOperand& fourth = instruction.operands[3];
  if (fourth.kind == PtxOperand::Kind::Register) {
    const Scalar type = run.function.registers[fourth.reg.index()].type;
    if (bits_of(type) == 64) return bytes;  // a cache policy
    const auto value = reader.ask(fourth);
    if (type == Scalar::Pred) return value.value_or(1) != 0 ? 0 : bytes;
    return std::min(bytes, value.value_or(0));  // an unknown size: no bound to check
  }
  return fourth.kind == PtxOperand::Kind::Immediate ? std::min(bytes, fourth.immediate) : bytes;
}

struct AsyncPiece {
  std::uint64_t global = 0, bytes = 0;
  std::uint32_t shared = 0;
};

}  // namespace

ActionEnd async_copy(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  Warp& warp = run.warp_of(fragment);
  std::vector<ByteRange> ranges;
  std::vector<AsyncPiece> known;
  int cta = warp.cta;
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    LaneReader reader(run, fragment, instruction, std::countr_zero(left));
    const std::uint64_t to = reader.need(std::size_t{0}, "the destination"), bytes = reader.need(2, "the number of bytes");
    if (reader.stopped()) return ActionEnd::Go;
    if (!aligned({run, fragment, instruction}, byte_of(to), bytes == 0 ? 1 : bytes, "the destination")) continue;
    const std::optional<ByteRange> range = shared_range(run, fragment, instruction, to, bytes);
    if (!range) continue;
    ranges.push_back(*range);
    cta = cta_of(to);
    const std::uint64_t read = bytes_read(reader, run, instruction, bytes);
    const std::optional<std::uint64_t> from = reader.ask(reader.operand(1));
    if (!from || read == 0) continue;
    if (run.global.bounded() && run.global.around(*from, read) == nullptr) {
      if (!run.findings.again(CheckRule::OutOfGlobal, run.pc_of(instruction), -1))
        run.find(
            CheckRule::OutOfGlobal, fragment, instruction,
            fmt::format("lane {} copies {} bytes from {:#x}, which are in no buffer of the launch", std::countr_zero(left), read, *from));
      continue;
    }
    known.push_back({*from, read, range->begin});
  }
  const Time end = fragment.time + run.costs.copy_latency;
  CommittedWork& copies = copies_of(run, warp);
  const Epoch epoch = copies.issue(run.pc_of(instruction), end);
  if (ranges.empty()) return ActionEnd::Go;
  const auto at = static_cast<std::size_t>(cta);
  write_shared(run, cta, ranges, {copies.component, epoch, Proxy::Generic, run.pc_of(instruction), warp.index, "cp.async"}, warp.known);
  for (const ByteRange& range : ranges) run.shared[at].forget(range.begin, range.end);
  for (const AsyncPiece& piece : known) bring_known_bytes(run, cta, piece.shared, piece.global, piece.bytes);
  if (RunEvent* event = run.event(EventKind::Copy, fragment, instruction)) {
    event->end = end;
    event->address = ranges.front().begin | static_cast<std::uint64_t>(cta) << kCtaShift;
    for (const ByteRange& range : ranges) event->amount += range.end - range.begin;
  }
  return ActionEnd::Go;
}

ActionEnd async_commit(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask) {
  copies_of(run, run.warp_of(fragment)).commit();
  run.event(EventKind::CopyCommit, fragment, instruction);
  return ActionEnd::Go;
}

ActionEnd async_wait(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  Warp& warp = run.warp_of(fragment);
  if (warp.copies == nullptr) return ActionEnd::Go;
  CommittedWork& copies = copies_of(run, warp);
  std::uint64_t left = 0;
  if (instruction.opcode == Opcode::CpAsyncWaitAll) {
    if (copies.open) copies.commit();
  } else {
    const auto groups = instruction.operands.empty()
                            ? std::nullopt
                            : run.one_value(fragment, instruction.operands[0], lanes, instruction, "the number of groups");
    if (!groups) return ActionEnd::Go;
    left = *groups;
    if (left == 0 && copies.open && !run.findings.again(CheckRule::NotCommitted, run.pc_of(instruction), copies.pc))
      run.find(CheckRule::NotCommitted, fragment, instruction,
               fmt::format("waits for all cp.async of {}, of which that of {} is in no group: no commit_group came after it",
                           warp_reference(warp.index), place_reference(copies.pc)),
               copies.pc);
  }
  RunEvent* event = run.event(EventKind::CopyWait, fragment, instruction);
  fragment.time = std::max(fragment.time, copies.wait(static_cast<std::size_t>(left)));
  warp.known.seen.raise(copies.component, copies.over);
  if (event != nullptr) {
    event->end = fragment.time;
    event->amount = static_cast<std::int64_t>(left);
  }
  return ActionEnd::Go;
}

ActionEnd async_arrive(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  Warp& warp = run.warp_of(fragment);
  CommittedWork& copies = copies_of(run, warp);
  const bool counted = instruction.has("noinc");  // among those that the barrier was made for; else one more is expected
  const Barriers::By by = run.by(fragment, instruction);
  // What the warp knew goes along; what it does itself beside its copies does not.
  KnownClocks brought = warp.release();
  brought.seen.raise(copies.component, copies.issued);
  copies.open = false;  // they are waited for by the barrier
  const Time end = std::max(fragment.time, copies.open_end);
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    LaneReader reader(run, fragment, instruction, std::countr_zero(left));
    const std::uint64_t address = reader.need(std::size_t{0}, "the address of the mbarrier");
    if (reader.stopped()) return ActionEnd::Go;
    Mbarrier* barrier = run.barriers.use(address, by, warp.known);
    if (barrier == nullptr) continue;
    if (!counted) ++barrier->pending;
    run.at(end, [&run, by, address, brought] {
      Barriers::By later = by;
      later.cycle = run.now() / kCycle;
      Mbarrier* there = run.barriers.use(address, later, run.warps[static_cast<std::size_t>(later.warp)].known);
      if (there != nullptr) run.wake(run.barriers.arrive(*there, 1, 0, brought, later), run.now());
    });
    if (left != lanes) continue;
    if (RunEvent* event = run.event(EventKind::Arrive, fragment, instruction)) {
      event->address = event->barrier = address;
      event->amount = std::popcount(lanes);
      event->phase = static_cast<std::int32_t>(barrier->phase - barrier->first);
    }
  }
  return ActionEnd::Go;
}

}  // namespace heddle::ptx
