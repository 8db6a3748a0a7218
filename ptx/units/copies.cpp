// A load writes when its barrier's phase is complete: until then its bytes are pending. A store reads until its warp waits for its group.
#include "ptx/units/copies.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "ptx/judge/reference.h"
#include "ptx/run/shared_memory.h"
#include "ptx/units/committed_work.h"
#include "ptx/units/lane_reader.h"

namespace heddle::ptx {
namespace {

struct CopyEngines : UnitState {
  std::vector<Time> free;  ///< by CTA: when the engine takes the next copy
};

CopyEngines& engines_of(ClusterRun& run) {
  if (run.copy_unit == nullptr) {
    auto made = std::make_unique<CopyEngines>();
    made->free.resize(static_cast<std::size_t>(run.cluster_size()));
    run.copy_unit = std::move(made);
  }
  return static_cast<CopyEngines&>(*run.copy_unit);
}

CommittedWork& stores_of(ClusterRun& run, Warp& warp) {
  if (warp.stores == nullptr) {
    auto made = std::make_unique<CommittedWork>();
    made->component = run.components.add(fmt::format("bulk stores of {}", warp_reference(warp.index)));
    warp.stores = std::move(made);
  }
  return static_cast<CommittedWork&>(*warp.stores);
}

/// What the mnemonic says.
struct CopyForm {
  enum class Way { Load, Store, Shared } way = Way::Load;  ///< global -> shared, shared -> global, shared -> shared of the cluster
  bool tensor = false, reduces = false, multicast = false, pair = false, four_rows = false;
};

CopyForm form_of(const PtxInstruction& instruction) {
  CopyForm form;
  int global = -1, shared = -1, at = 0;
  for (const std::string_view word : instruction.words) {
    if (word == "global") global = at;
    if (word.starts_with("shared::") && shared < 0) shared = at;
    form.multicast = form.multicast || word == "multicast::cluster";
    form.pair = form.pair || word == "cta_group::2";
    form.four_rows = form.four_rows || word == "tile::gather4" || word == "tile::scatter4";
    ++at;
  }
  form.way = global < 0 ? CopyForm::Way::Shared : global < shared ? CopyForm::Way::Store : CopyForm::Way::Load;
  form.tensor = instruction.opcode == Opcode::CpAsyncBulkTensor || instruction.opcode == Opcode::CpReduceAsyncBulkTensor;
  form.reduces = instruction.opcode == Opcode::CpReduceAsyncBulk || instruction.opcode == Opcode::CpReduceAsyncBulkTensor;
  return form;
}

/// One copy, by one lane.
struct OneCopy {
  ClusterRun& run;
  WarpFragment& fragment;
  const PtxInstruction& instruction;
  CopyForm form;
  LaneReader reader;
  std::uint64_t shared_bytes = 0;     ///< that it takes of shared memory
  std::uint64_t signalled_bytes = 0;  ///< that its barrier is told of
  int map = -1;
  const TensorMap* tensor = nullptr;

  Warp& warp() { return run.warp_of(fragment); }
  int pc() const { return run.pc_of(instruction); }
};

/// Types of 4 and 6 bits with gaps take a byte each in shared memory; a barrier is told of the bytes without gaps (as CUTLASS counts them,
/// include/cutlass/gemm/collective/builders, TmaTransactionBytes).
bool read_map(OneCopy& copy, const PtxOperand& operand) {
  const std::uint64_t address = copy.reader.need(operand, "the address of the tensor map");
  if (copy.reader.stopped()) return false;
  copy.tensor = copy.run.map_at(address, &copy.map);
  if (copy.tensor == nullptr) {
    const bool parameter = space_of(address) == AddressSpace::Parameter;
    copy.run.stop(copy.instruction,
                  parameter ? fmt::format("the launch gives no tensor map at byte {} of the parameters", address - kParameterWindow)
                            : fmt::format("the launch gives no tensor map at address {:#x}", address));
    return false;
  }
  const TensorMap& map = *copy.tensor;
  for (const std::string_view word : copy.instruction.words)
    if (word.starts_with("im2col") || map.im2col) {
      copy.run.stop(copy.instruction, "copies in im2col mode are not known");
      return false;
    }
  std::uint64_t elements = copy.form.four_rows ? 4 : 1;
  for (std::size_t i = 0; i < map.box.size(); ++i)
    if (!copy.form.four_rows || i == 0) elements *= map.box[i];
  copy.signalled_bytes = elements * bytes_of_16(map.element) / 16;
  copy.shared_bytes = elements * shared_bytes_of_16(map.element) / 16;
  return true;
}

bool read_size(OneCopy& copy, std::size_t index) {
  copy.shared_bytes = copy.signalled_bytes = copy.reader.need(index, "the number of bytes");
  if (copy.reader.stopped()) return false;
  aligned({copy.run, copy.fragment, copy.instruction}, copy.shared_bytes, 16, "the number of bytes");
  if (copy.shared_bytes <= copy.run.shared_bytes()) return true;
  copy.run.find(CheckRule::OutOfShared, copy.fragment, copy.instruction,
                fmt::format("a copy of {} bytes, and shared memory has {}", copy.shared_bytes, copy.run.shared_bytes()));
  return false;
}

void check_shared_alignment(OneCopy& copy, std::uint64_t address, const char* what) {
  aligned({copy.run, copy.fragment, copy.instruction}, byte_of(address), copy.form.tensor ? 128 : 16, what);
}

void check_global(OneCopy& copy, const PtxOperand& operand) {
  const std::optional<std::uint64_t> address = copy.reader.ask(operand);
  if (!address) return;
  aligned({copy.run, copy.fragment, copy.instruction}, *address, 16, "address");
  if (copy.run.global.bounded() && copy.run.global.around(*address, copy.shared_bytes) == nullptr)
    copy.run.find(CheckRule::OutOfGlobal, copy.fragment, copy.instruction,
                  fmt::format("{} bytes at {:#x} are in no buffer of the launch", copy.shared_bytes, *address));
}

struct CopyTarget {
  std::uint64_t address = 0, barrier = 0;
};

/// A multicast writes the same bytes of each CTA of its mask, and signals there; with cta_group::2 the CTA of that pair in which the
/// barrier's address lies (PTX ISA, cp.async.bulk.tensor).
std::vector<CopyTarget> targets_of(OneCopy& copy, std::uint64_t address, std::uint64_t barrier, std::size_t mask_operand) {
  if (!copy.form.multicast) return {{address, barrier}};
  const std::uint64_t mask = copy.reader.need(mask_operand, "the mask of the multicast") & 0xFFFF;
  if (copy.reader.stopped()) return {};
  const auto size = static_cast<unsigned>(copy.run.cluster_size());
  if (mask >> size != 0 || mask == 0)
    copy.run.find(CheckRule::Multicast, copy.fragment, copy.instruction,
                  fmt::format("the mask {:#x} names CTAs that a cluster of {} does not have", mask, size));
  std::vector<CopyTarget> targets;
  for (unsigned cta = 0; cta < size; ++cta) {
    if ((mask >> cta & 1) == 0) continue;
    const std::uint64_t signalled = copy.form.pair ? (cta & ~1u) | (static_cast<unsigned>(cta_of(barrier)) & 1u) : cta;
    targets.push_back({byte_of(address) | std::uint64_t{cta} << kCtaShift, byte_of(barrier) | signalled << kCtaShift});
  }
  return targets;
}

struct EngineTime {
  Time start = 0, end = 0;
};

EngineTime take_engine(OneCopy& copy, Time latency) {
  Time& free = engines_of(copy.run).free[static_cast<std::size_t>(copy.warp().cta)];
  EngineTime time;
  time.start = std::max(copy.fragment.time, free);
  const Time moving = static_cast<Time>(copy.shared_bytes) * kCycle / copy.run.costs.copy_bytes_per_cycle;
  free = time.start + std::max(copy.run.costs.copy_issue, moving);
  time.end = free + latency;
  return time;
}

/// A copy is done at one of its targets: what it wrote is known by its barrier's phase from now on, and the barrier is told.
void arrived(ClusterRun& run, const CopyTarget& target, std::optional<ByteRange> range, std::uint64_t bytes, Barriers::By by) {
  by.cycle = run.now() / kCycle;
  Mbarrier* barrier = run.barriers.use(target.barrier, by, run.warps[static_cast<std::size_t>(by.warp)].known);
  if (barrier == nullptr) return;
  if (range)
    run.shadows[static_cast<std::size_t>(cta_of(target.address))].settle({&*range, 1}, barrier->component, by.pc, barrier->phase + 1);
  run.wake(run.barriers.complete(*barrier, static_cast<std::int64_t>(bytes), by), run.now());
}

void to_target(OneCopy& copy, const CopyTarget& target, const EngineTime& time, std::optional<std::uint64_t> source) {
  ClusterRun& run = copy.run;
  Warp& warp = copy.warp();
  const Barriers::By by = run.by(copy.fragment, copy.instruction);
  Mbarrier* barrier = run.barriers.use(target.barrier, by, warp.known);
  if (barrier == nullptr) return;
  if (!std::exchange(barrier->fenced, true) &&
      !run.findings.again(CheckRule::NoFenceAfterInit, copy.pc(), static_cast<std::int64_t>(target.barrier)))
    run.find(CheckRule::NoFenceAfterInit, copy.fragment, copy.instruction,
             fmt::format("{} is signalled by a copy, and no fence has made its mbarrier.init known to copies",
                         barrier_reference(target.barrier)),
             static_cast<std::int64_t>(target.barrier));
  const std::optional<ByteRange> range = shared_range(run, copy.fragment, copy.instruction, target.address, copy.shared_bytes);
  const auto cta = static_cast<std::size_t>(cta_of(target.address));
  if (range) {
    write_shared(run, cta_of(target.address), {&*range, 1}, {barrier->component, kPending, Proxy::Async, copy.pc(), warp.index, "copy"},
                 warp.known);
    run.shared[cta].forget(range->begin, range->end);
  }
  if (RunEvent* event = run.event(EventKind::Load, copy.fragment, copy.instruction)) {
    event->issued = copy.fragment.time;
    event->begin = time.start;
    event->end = time.end;
    event->address = target.address;
    event->amount = static_cast<std::int64_t>(copy.signalled_bytes);
    event->barrier = target.barrier;
    event->phase = static_cast<std::int32_t>(barrier->phase - barrier->first);
    event->map = copy.map;
  }
  run.at(time.end, [&run, target, range, by, source, bytes = copy.signalled_bytes, cta] {
    if (range && source) bring_known_bytes(run, static_cast<int>(cta), range->begin, *source, range->end - range->begin);
    arrived(run, target, range, bytes, by);
  });
}

/// The source of a copy from shared memory is read until the destination's barrier turns.
void read_source(OneCopy& copy, std::uint64_t source, const CopyTarget& target) {
  ClusterRun& run = copy.run;
  const Mbarrier* barrier = run.barriers.use(target.barrier, run.by(copy.fragment, copy.instruction), copy.warp().known);
  const std::optional<ByteRange> range = shared_range(run, copy.fragment, copy.instruction, source, copy.shared_bytes);
  if (barrier == nullptr || !range) return;
  read_shared(run, cta_of(source), {&*range, 1},
              {barrier->component, barrier->phase + 1, Proxy::Async, copy.pc(), copy.warp().index, "copy"}, copy.warp().known);
}

void load(OneCopy& copy) {
  const std::uint64_t address = copy.reader.need(std::size_t{0}, "the destination");
  const PtxOperand& from = copy.reader.operand(1);
  if (copy.reader.stopped() || !(copy.form.tensor ? read_map(copy, from) : read_size(copy, 2))) return;
  const std::size_t barrier_at = copy.form.tensor ? 2 : copy.instruction.has("ignore_oob") ? 5 : 3;
  const std::uint64_t barrier = copy.reader.need(barrier_at, "the address of the mbarrier");
  if (copy.reader.stopped()) return;
  const std::vector<CopyTarget> targets = targets_of(copy, address, barrier, barrier_at + 1);
  if (copy.reader.stopped()) return;
  check_shared_alignment(copy, address, "the destination");
  std::optional<std::uint64_t> source;
  if (copy.form.way == CopyForm::Way::Shared) {
    const std::uint64_t shared = copy.reader.need(from, "the source");
    if (copy.reader.stopped() || targets.empty()) return;
    check_shared_alignment(copy, shared, "the source");
    read_source(copy, shared, targets.front());
  } else if (!copy.form.tensor) {
    if (!copy.instruction.has("ignore_oob")) check_global(copy, from);
    source = copy.reader.ask(from);
  }
  copy.fragment.time += copy.run.costs.copy_issue;
  const EngineTime time = take_engine(copy, copy.run.costs.copy_latency);
  for (const CopyTarget& target : targets) to_target(copy, target, time, source);
}

/// Bytes that the launch said and a store changes are not known any more.
void forget_global(OneCopy& copy, std::uint64_t address, std::uint64_t bytes) {
  const GlobalBuffer* buffer = copy.run.global.around(address, bytes);
  if (buffer != nullptr && (buffer->zero || !buffer->contents.empty())) copy.run.global.forget(address, bytes);
}

/// A tile lies somewhere in its tensor.
void forget_tensor(OneCopy& copy) {
  const TensorMap& map = *copy.tensor;
  const GlobalBuffer* buffer = copy.run.global.around(map.address, 1);
  if (buffer == nullptr || (!buffer->zero && buffer->contents.empty()) || map.extents.empty()) return;
  const std::uint64_t reach =
      map.strides.empty() ? map.extents[0] * bytes_of_16(map.element) / 16 : map.extents.back() * map.strides.back();
  constexpr std::uint64_t kMost = 1 << 20;  // larger ones hold data, not counters
  if (reach <= kMost) copy.run.global.forget(map.address, std::min(reach, buffer->address + buffer->bytes - map.address));
}

void store(OneCopy& copy) {
  ClusterRun& run = copy.run;
  Warp& warp = copy.warp();
  const PtxOperand& to = copy.reader.operand(0);
  const std::uint64_t source = copy.reader.need(1, "the source");
  if (copy.reader.stopped() || !(copy.form.tensor ? read_map(copy, to) : read_size(copy, 2))) return;
  check_shared_alignment(copy, source, "the source");
  if (!copy.form.tensor) {
    check_global(copy, to);
    if (const auto address = copy.reader.ask(to)) forget_global(copy, *address, copy.shared_bytes);
  } else {
    forget_tensor(copy);
  }
  copy.fragment.time += run.costs.copy_issue;
  // Reading what it stores takes 130 cycles and 52 for each KB (machine files: tma_store).
  const EngineTime time = take_engine(copy, 130 * kCycle + static_cast<Time>(copy.shared_bytes) * 52 * kCycle / 1024);
  CommittedWork& stores = stores_of(run, warp);
  const Epoch epoch = stores.issue(copy.pc(), time.end);
  if (const auto range = shared_range(run, copy.fragment, copy.instruction, source, copy.shared_bytes))
    read_shared(run, cta_of(source), {&*range, 1},
                {stores.component, epoch, Proxy::Async, copy.pc(), warp.index, copy.form.reduces ? "bulk reduction" : "bulk store"},
                warp.known);
  if (RunEvent* event = run.event(EventKind::Store, copy.fragment, copy.instruction)) {
    event->issued = copy.fragment.time;
    event->begin = time.start;
    event->end = time.end;
    event->address = source;
    event->amount = static_cast<std::int64_t>(copy.shared_bytes);
    event->map = copy.map;
  }
}

}  // namespace

void bring_known_bytes(ClusterRun& run, int cta, std::uint32_t shared, std::uint64_t global, std::uint64_t bytes) {
  const GlobalBuffer* buffer = run.global.around(global, bytes);
  if (buffer == nullptr || (!buffer->zero && buffer->contents.empty())) return;
  for (std::uint64_t i = 0; i < bytes; ++i)
    if (const auto byte = run.global.read(global + i, 1)) run.shared[static_cast<std::size_t>(cta)].write(shared + i, 1, *byte);
}

ActionEnd bulk_copy(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  const CopyForm form = form_of(instruction);
  for (const int lane : lanes_apart(run, fragment, instruction, lanes, true)) {
    OneCopy copy{run, fragment, instruction, form, LaneReader(run, fragment, instruction, lane), 0, 0, -1, nullptr};
    if (form.way == CopyForm::Way::Store)
      store(copy);
    else
      load(copy);
    if (run.stopped()) break;
  }
  return ActionEnd::Go;
}

ActionEnd bulk_prefetch(ClusterRun& run, WarpFragment& fragment, const PtxInstruction&, LaneMask) {
  fragment.time += run.costs.copy_issue;
  return ActionEnd::Go;
}

ActionEnd bulk_commit(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask) {
  if (run.warp_of(fragment).stores != nullptr) stores_of(run, run.warp_of(fragment)).commit();
  run.event(EventKind::StoreCommit, fragment, instruction);
  return ActionEnd::Go;
}

ActionEnd bulk_wait(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  const std::optional<std::uint64_t> left =
      instruction.operands.empty() ? std::nullopt
                                   : run.one_value(fragment, instruction.operands[0], lanes, instruction, "the number of groups");
  if (!left) return ActionEnd::Go;
  Warp& warp = run.warp_of(fragment);
  if (warp.stores == nullptr) return ActionEnd::Go;
  CommittedWork& stores = stores_of(run, warp);
  if (*left == 0 && stores.open && !run.findings.again(CheckRule::NotCommitted, run.pc_of(instruction), stores.pc))
    run.find(CheckRule::NotCommitted, fragment, instruction,
             fmt::format("waits for all bulk stores of {}, of which that of {} is in no group: no commit_group came after it",
                         warp_reference(warp.index), place_reference(stores.pc)),
             stores.pc);
  RunEvent* event = run.event(EventKind::StoreWait, fragment, instruction);
  fragment.time = std::max(fragment.time, stores.wait(static_cast<std::size_t>(*left))) + 10 * kCycle;
  warp.known.seen.raise(stores.component, stores.over);
  if (event != nullptr) {
    event->end = fragment.time;
    event->amount = static_cast<std::int64_t>(*left);
  }
  return ActionEnd::Go;
}

void judge_stores_at_exit(ClusterRun& run, const Warp& warp) {
  if (warp.stores == nullptr) return;
  const auto& stores = static_cast<const CommittedWork&>(*warp.stores);
  if (stores.over >= stores.issued) return;
  run.findings.add({.rule = CheckRule::ExitWhileStoring,
                    .pc = stores.pc,
                    .warp = warp.index,
                    .sentence = fmt::format("{} ends with bulk stores that it has not waited for: they may still read shared memory",
                                            warp_reference(warp.index)),
                    .related = {},
                    .cycle = run.now() / kCycle},
                   warp.index);
}

}  // namespace heddle::ptx
