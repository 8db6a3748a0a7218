// Loads, stores and atomics of threads: parameters, local, shared and global memory.
#include <algorithm>
#include <bit>

#include "ptx/judge/reference.h"
#include "ptx/run/inside.h"
#include "ptx/run/shared_memory.h"

namespace heddle::ptx {

namespace {

// Cycles (thousandths) that a warp stands at a load, since here it goes on in order. [E] usual latencies of an L1 and an L2 hit.
constexpr Time kSharedLatency = 25'000, kGlobalLatency = 400'000, kReadOnlyLatency = 300'000, kAtomicLatency = 500'000;
constexpr Time kRemoteStore = 200'000;

/// One access of a warp: its lanes' addresses, what each moves.
struct ThreadAccess {
  ClusterRun& run;
  WarpFragment& fragment;
  const PtxInstruction& instruction;
  LaneMask lanes = 0;
  LaneValues addresses;
  AddressSpace space = AddressSpace::Global;
  int size = 4;   ///< bytes of one element
  int count = 1;  ///< elements of a vector

  Warp& warp() const { return run.warp_of(fragment); }
  int pc() const { return run.pc_of(instruction); }
  std::uint64_t at(int lane) const { return addresses.bits[static_cast<std::size_t>(lane)]; }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(std::max(1, count)); }
};

int size_of(const PtxInstruction& instruction) {
  const int bits = bits_of(scalar_of(instruction.words.back()));
  return bits <= 0 ? 4 : std::max(1, bits / 8);
}

const PtxOperand* address_of(const PtxInstruction& instruction) {
  for (const PtxOperand& operand : instruction.operands)
    if (operand.kind == PtxOperand::Kind::Address) return &operand;
  return nullptr;
}

std::string hangs_on(Origin origin) { return origin >= 0 ? ": it hangs on " + place_reference(origin) : ""; }

/// The lanes' addresses and the space they lie in. False where the run stops, or there is nothing to do.
bool find_addresses(ThreadAccess& access) {
  const PtxOperand* operand = address_of(access.instruction);
  if (operand == nullptr) {
    access.run.stop(access.instruction, "no address is given at " + place_reference(access.pc()));
    return false;
  }
  access.addresses = access.run.value(access.fragment, *operand);
  const LaneMask known = access.addresses.unknown_bits == 0 ? access.lanes : access.lanes & ~access.addresses.unknown;
  const bool named_shared = std::ranges::any_of(access.instruction.words, [](std::string_view word) { return word.starts_with("shared"); });
  if (known != access.lanes && named_shared) {
    access.run.stop(access.instruction,
                    "the address of " + place_reference(access.pc()) + " is not known" + hangs_on(access.addresses.origin));
    return false;
  }
  access.lanes = known;
  if (known == 0) return false;
  access.space = access.run.space(access.instruction, access.at(std::countr_zero(known)));
  return true;
}

void drop_lanes(ThreadAccess& access, CheckRule rule, LaneMask beyond, const std::string& sentence) {
  access.lanes &= ~beyond;
  if ((beyond & ~access.run.inside().unsure_lanes) != 0) access.run.find(rule, access.fragment, access.instruction, sentence);
}

/// Lanes that stay inside of shared memory, aligned to what they move.
void check_shared(ThreadAccess& access, const char* what) {
  LaneMask beyond = 0, crooked = 0, nowhere = 0;
  std::uint64_t example = 0;
  for_lanes(access.lanes, [&](int lane) {
    const std::uint64_t at = access.at(lane);
    if (cta_of(at) >= access.run.cluster_size()) nowhere |= 1u << lane;
    if (byte_of(at) + access.bytes() > access.run.shared_bytes() || at >= kSharedWindowEnd) {
      beyond |= 1u << lane;
      example = at;
    } else if (byte_of(at) % access.bytes() != 0 && std::has_single_bit(access.bytes())) {
      crooked |= 1u << lane;
    }
  });
  if (nowhere != 0)
    drop_lanes(access, CheckRule::OutOfShared, nowhere, std::string(what) + " in shared memory of a CTA that is not in the cluster");
  if ((beyond & ~nowhere) != 0)
    drop_lanes(access, CheckRule::OutOfShared, beyond & ~nowhere,
               std::string(what) + " of " + std::to_string(access.bytes()) + " bytes at " + std::to_string(byte_of(example)) +
                   " leaves the " + access.run.shared_text());
  if (crooked != 0)
    drop_lanes(access, CheckRule::Misaligned, crooked & ~beyond & ~nowhere,
               std::string(what) + " of " + std::to_string(access.bytes()) + " bytes at an address that is no multiple of that");
}

void check_global(ThreadAccess& access, const char* what) {
  LaneMask crooked = 0;
  if (std::has_single_bit(access.bytes()))
    for_lanes(access.lanes, [&](int lane) { crooked |= (access.at(lane) % access.bytes() != 0 ? 1u : 0u) << lane; });
  if (crooked != 0)
    drop_lanes(access, CheckRule::Misaligned, crooked,
               std::string(what) + " of " + std::to_string(access.bytes()) + " bytes at an address that is no multiple of that");
  if (!access.run.global.bounded()) return;
  LaneMask beyond = 0;
  std::uint64_t example = 0;
  const GlobalBuffer* last = nullptr;
  for_lanes(access.lanes, [&](int lane) {
    const std::uint64_t at = access.at(lane), bytes = access.bytes();
    if (last != nullptr && at >= last->address && at - last->address <= last->bytes && last->bytes - (at - last->address) >= bytes) return;
    last = access.run.global.around(at, bytes);
    if (last != nullptr) return;
    beyond |= 1u << lane;
    example = at;
  });
  if (beyond == 0) return;
  std::string where = " of " + std::to_string(access.bytes()) + " bytes at an address in no buffer of the launch";
  if (const GlobalBuffer* near = access.run.global.around(example, 0))
    where = " of " + std::to_string(access.bytes()) + " bytes beyond the end of " + (near->name.empty() ? "a buffer" : near->name) + " (" +
            std::to_string(near->bytes) + " bytes)";
  drop_lanes(access, CheckRule::OutOfGlobal, beyond, std::string(what) + where);
}

bool is_strong(const PtxInstruction& i) {
  return i.has("volatile") || i.has("relaxed") || i.has("acquire") || i.has("release") || i.has("acq_rel") || i.opcode == Opcode::Atom ||
         i.opcode == Opcode::Red;
}

/// Shared bytes that the lanes touch, by CTA, those that follow each other joined.
void touch_shadow(ThreadAccess& access, bool write, const char* what) {
  const bool strong = is_strong(access.instruction);
  std::array<std::uint64_t, kLanes> begins{};
  std::size_t count = 0;
  for_lanes(access.lanes, [&](int lane) { begins[count++] = access.at(lane); });
  if (!std::is_sorted(begins.begin(), begins.begin() + static_cast<std::ptrdiff_t>(count)))
    std::sort(begins.begin(), begins.begin() + static_cast<std::ptrdiff_t>(count));
  std::array<ByteRange, kLanes> ranges{};
  Warp& warp = access.warp();
  const ShadowAccess shadow{warp.component, warp.epoch, Proxy::Generic, access.pc(), warp.index, what, strong};
  for (std::size_t i = 0; i < count;) {
    const int cta = cta_of(begins[i]);
    std::size_t used = 0;
    for (; i < count && cta_of(begins[i]) == cta; ++i) {
      const std::uint32_t begin = byte_of(begins[i]), end = begin + static_cast<std::uint32_t>(access.bytes());
      if (used > 0 && begin <= ranges[used - 1].end)
        ranges[used - 1].end = std::max(ranges[used - 1].end, end);
      else
        ranges[used++] = {begin, end};
    }
    const std::span<const ByteRange> where(ranges.data(), used);
    if (write)
      write_shared(access.run, cta, where, shadow, warp.known);
    else
      read_shared(access.run, cta, where, shadow, warp.known);
  }
}

Bytes& local_of(ThreadAccess& access, int lane) {
  RunInside& in = access.run.inside();
  std::vector<Bytes>& lanes = in.local[static_cast<std::size_t>(access.fragment.warp)];
  if (lanes.empty()) lanes.assign(kLanes, Bytes(in.local_bytes));
  return lanes[static_cast<std::size_t>(lane)];
}

std::optional<std::uint64_t> parameter(const ClusterRun& run, std::uint64_t at, int size) {
  const std::vector<std::uint8_t>& block = run.launch.parameters;
  if (at > block.size() || block.size() - at < static_cast<std::uint64_t>(size)) return std::nullopt;
  std::uint64_t value = 0;
  for (int i = 0; i < size; ++i) value |= static_cast<std::uint64_t>(block[at + static_cast<std::uint64_t>(i)]) << (8 * i);
  return value;
}

std::optional<std::uint64_t> read_one(ThreadAccess& access, int lane, std::uint64_t at) {
  switch (access.space) {
    case AddressSpace::Shared: return access.run.shared[static_cast<std::size_t>(cta_of(at))].read(byte_of(at), access.size);
    case AddressSpace::Parameter: return parameter(access.run, at - kParameterWindow, access.size);
    case AddressSpace::Local: return local_of(access, lane).read(at - kLocalWindow, access.size);
    case AddressSpace::Global: return access.run.global.read(at, access.size);
  }
  return std::nullopt;
}

void write_one(ThreadAccess& access, int lane, std::uint64_t at, std::optional<std::uint64_t> value) {
  const auto end = at + static_cast<std::uint64_t>(access.size);
  switch (access.space) {
    case AddressSpace::Shared: {
      Bytes& bytes = access.run.shared[static_cast<std::size_t>(cta_of(at))];
      if (value)
        bytes.write(byte_of(at), access.size, *value);
      else
        bytes.forget(byte_of(at), byte_of(at) + static_cast<std::uint64_t>(access.size));
      return;
    }
    case AddressSpace::Local: {
      Bytes& bytes = local_of(access, lane);
      if (value)
        bytes.write(at - kLocalWindow, access.size, *value);
      else
        bytes.forget(at - kLocalWindow, end - kLocalWindow);
      return;
    }
    case AddressSpace::Global:
      if (value)
        access.run.global.write(at, access.size, *value);
      else
        access.run.global.forget(at, static_cast<std::uint64_t>(access.size));
      return;
    case AddressSpace::Parameter: return;
  }
}

bool acquires(const PtxInstruction& i) {
  return i.has("acquire") || i.has("acq_rel") || i.has("volatile") || i.has("relaxed") || i.opcode == Opcode::Atom;
}
/// A release itself, or a strong write behind a fence, which gives what was known at that fence and no more (PTX ISA 8.8, release
/// patterns). Nothing: it gives nothing.
std::optional<KnownClocks> released(ThreadAccess& access) {
  const PtxInstruction& i = access.instruction;
  if (i.has("release") || i.has("acq_rel")) return access.warp().release();
  const bool strong = i.has("volatile") || i.has("relaxed") || i.opcode == Opcode::Atom || i.opcode == Opcode::Red;
  if (!strong || !access.warp().fenced_memory) return std::nullopt;
  return access.warp().fenced;
}

/// Flags in memory order what comes before a release and after an acquire of the same address.
void pass_flags(ThreadAccess& access, bool write) {
  RunInside& in = access.run.inside();
  const std::uint64_t at = access.at(std::countr_zero(access.lanes));
  if (acquires(access.instruction) && !in.flags.empty())
    for_lanes(access.lanes, [&](int lane) {
      if (lane != std::countr_zero(access.lanes) && access.at(lane) == at) return;
      if (const auto found = in.flags.find(in.flag_at(access.at(lane))); found != in.flags.end()) access.warp().known.join(found->second);
    });
  const std::optional<KnownClocks> given = write ? released(access) : std::nullopt;
  if (!given) return;
  for_lanes(access.lanes, [&](int lane) { in.flags[in.flag_at(access.at(lane))].join(*given); });
}

void note_event(ThreadAccess& access, EventKind kind) {
  RunEvent* event = access.run.event(kind, access.fragment, access.instruction);
  if (event == nullptr) return;
  event->address = access.at(std::countr_zero(access.lanes));
  event->amount = static_cast<std::int64_t>(access.bytes()) * std::popcount(access.lanes);
}

std::size_t elements_of(const PtxOperand& operand) { return operand.kind == PtxOperand::Kind::Vector ? operand.parts.size() : 1; }
const PtxOperand& element(const PtxOperand& operand, std::size_t i) {
  return operand.kind == PtxOperand::Kind::Vector ? operand.parts[i] : operand;
}

/// Whether anybody needs what a load brings.
bool wanted(const ClusterRun& run, const PtxOperand& operand) {
  for (std::size_t i = 0; i < elements_of(operand); ++i) {
    const PtxOperand& one = element(operand, i);
    if (one.kind == PtxOperand::Kind::Register && const_cast<ClusterRun&>(run).inside().register_slot(one.reg) >= 0) return true;
  }
  return false;
}

void bring(ThreadAccess& access, const PtxOperand& destination, LaneMask all) {
  const bool is_signed_load = is_signed(scalar_of(access.instruction.words.back()));
  for (std::size_t i = 0; i < elements_of(destination); ++i) {
    LaneValues values;
    values.unknown_bits = ~0ull;
    values.origin = access.pc();
    values.unknown = all & ~access.lanes;
    for_lanes(access.lanes, [&](int lane) {
      const std::uint64_t at = access.at(lane) + i * static_cast<std::uint64_t>(access.size);
      const std::optional<std::uint64_t> value = access.size > 8 ? std::nullopt : read_one(access, lane, at);
      if (!value) values.unknown |= 1u << lane;
      const std::uint64_t bits = value.value_or(0);
      values.bits[static_cast<std::size_t>(lane)] = is_signed_load ? static_cast<std::uint64_t>(sign_extend(bits, 8 * access.size)) : bits;
    });
    access.run.assign(access.fragment, element(destination, i), values, all);
  }
}

ActionEnd load(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (instruction.operands.size() < 2) {
    run.stop(instruction, "a load without its operands at " + place_reference(run.pc_of(instruction)));
    return ActionEnd::Go;
  }
  const PtxOperand& destination = instruction.operands[0];
  ThreadAccess access{run, fragment, instruction, lanes, {}};
  access.size = size_of(instruction);
  access.count = static_cast<int>(elements_of(destination));
  if (!find_addresses(access)) {
    if (!run.stopped()) run.assign(fragment, destination, LaneValues::unknown_value(run.pc_of(instruction), ~0ull), lanes);
    return ActionEnd::Go;
  }
  if (access.space == AddressSpace::Shared) {
    check_shared(access, "load");
    if (access.lanes != 0) {
      touch_shadow(access, false, "load");
      note_event(access, EventKind::SharedRead);
    }
    fragment.time += kSharedLatency;
  } else if (access.space == AddressSpace::Global) {
    check_global(access, "load");
    if (access.lanes != 0) note_event(access, EventKind::GlobalRead);
    fragment.time += instruction.has("nc") ? kReadOnlyLatency : kGlobalLatency;
  }
  if (access.lanes != 0 && (access.space == AddressSpace::Shared || access.space == AddressSpace::Global)) pass_flags(access, false);
  if (wanted(run, destination)) bring(access, destination, lanes);
  return ActionEnd::Go;
}

/// Lanes that store different values at one address: one of them stays, and nothing says which.
void judge_lanes(ThreadAccess& access, const LaneValues& values, LaneMask sure) {
  int before = -1;
  bool rising = true;
  for_lanes(sure, [&](int lane) {
    rising = rising && (before < 0 || access.at(before) < access.at(lane));
    before = lane;
  });
  if (rising) return;
  const std::uint64_t mask = low_bits(8 * access.size);
  for_lanes(sure, [&](int lane) {
    for_lanes(sure & ~((2u << lane) - 1), [&](int other) {
      const auto a = static_cast<std::size_t>(lane), b = static_cast<std::size_t>(other);
      if (access.at(lane) != access.at(other) || ((values.bits[a] ^ values.bits[b]) & mask) == 0) return;
      if (access.run.findings.again(CheckRule::UnorderedStores, access.pc(), -1)) return;
      access.run.find(CheckRule::UnorderedStores, access.fragment, access.instruction,
                      "lanes " + std::to_string(lane) + " and " + std::to_string(other) + " of " + warp_reference(access.fragment.warp) +
                          " store different values at one address in one instruction");
    });
  });
}

/// Two warps that store different values at one address of global memory, as far as both are known.
void judge_global_store(ThreadAccess& access, std::uint64_t at, std::uint64_t value) {
  constexpr std::size_t kMostStored = 1 << 19;
  RunInside& in = access.run.inside();
  const Warp& warp = access.warp();
  value &= low_bits(8 * access.size);
  if (in.stored.size() >= kMostStored && !in.stored.contains(at)) return;
  const auto [found, made] = in.stored.try_emplace(at);
  const RunInside::GlobalStore past = found->second;
  found->second = {value, warp.component, warp.epoch, access.pc(), warp.index, access.size};
  if (made || past.by == warp.component || past.size != access.size || past.value == value) return;
  if (warp.known.seen.at(past.by) >= past.epoch) return;
  CheckFinding finding{CheckRule::UnorderedStores,   access.pc(), warp.index, {}, {{past.pc, past.warp, "stores here, too"}},
                       access.fragment.time / kCycle};
  finding.sentence = warp_reference(warp.index) + " and " + warp_reference(past.warp) +
                     " store different values at one address of global memory, and nothing orders them";
  access.run.findings.add(std::move(finding), past.pc);
}

void put(ThreadAccess& access, const PtxOperand& source) {
  const LaneMask unsure = access.run.inside().unsure_lanes;
  const bool strong = is_strong(access.instruction);
  for (std::size_t i = 0; i < elements_of(source); ++i) {
    const LaneValues values = access.run.value(access.fragment, element(source, i));
    const LaneMask unknown = values.unknown_bits == 0 ? 0 : values.unknown;
    const bool shared_by_lanes = access.space == AddressSpace::Shared || access.space == AddressSpace::Global;
    if (shared_by_lanes && access.size <= 8) judge_lanes(access, values, access.lanes & ~unknown & ~unsure);
    for_lanes(access.lanes, [&](int lane) {
      const std::uint64_t at = access.at(lane) + i * static_cast<std::uint64_t>(access.size);
      std::optional<std::uint64_t> value;
      if (((unknown | unsure) >> lane & 1) == 0 && access.size <= 8) value = values.bits[static_cast<std::size_t>(lane)];
      if (value && !strong && access.space == AddressSpace::Global) judge_global_store(access, at, *value);
      write_one(access, lane, at, value);
    });
  }
}

ActionEnd store(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (instruction.operands.size() < 2) {
    run.stop(instruction, "a store without its operands at " + place_reference(run.pc_of(instruction)));
    return ActionEnd::Go;
  }
  const PtxOperand& source = instruction.operands[1];
  ThreadAccess access{run, fragment, instruction, lanes, {}};
  access.size = size_of(instruction);
  access.count = static_cast<int>(elements_of(source));
  if (instruction.words.size() > 1 && instruction.words[1].starts_with("param")) return ActionEnd::Go;  // of a call
  if (!find_addresses(access)) return ActionEnd::Go;
  if (access.space == AddressSpace::Shared) {
    check_shared(access, "store");
    if (access.lanes == 0) return ActionEnd::Go;
    touch_shadow(access, true, "store");
    note_event(access, EventKind::SharedWrite);
  } else if (access.space == AddressSpace::Global) {
    check_global(access, "store");
    if (access.lanes == 0) return ActionEnd::Go;
    note_event(access, EventKind::GlobalWrite);
  }
  if (access.space == AddressSpace::Shared || access.space == AddressSpace::Global) pass_flags(access, true);
  put(access, source);
  return ActionEnd::Go;
}

// --- atomics

/// The new value of a word that an atomic changes.
std::optional<std::uint64_t> changed(const PtxInstruction& i, int bits, std::uint64_t old, std::uint64_t operand, std::uint64_t other) {
  const bool sign = is_signed(scalar_of(i.words.back()));
  const std::uint64_t mask = low_bits(bits);
  const bool less = sign ? sign_extend(old, bits) < sign_extend(operand, bits) : (old & mask) < (operand & mask);
  if (is_float(scalar_of(i.words.back())) && !i.has("exch")) return std::nullopt;
  if (i.has("add")) return (old + operand) & mask;
  if (i.has("exch")) return operand & mask;
  if (i.has("cas")) return (old & mask) == (operand & mask) ? other & mask : old & mask;
  if (i.has("and")) return old & operand & mask;
  if (i.has("or")) return (old | operand) & mask;
  if (i.has("xor")) return (old ^ operand) & mask;
  if (i.has("min")) return (less ? old : operand) & mask;
  if (i.has("max")) return (less ? operand : old) & mask;
  if (i.has("inc")) return old >= operand ? 0 : old + 1;
  if (i.has("dec")) return old == 0 || old > operand ? operand : old - 1;
  return std::nullopt;
}

/// Lane by lane, in their order.
void change(ThreadAccess& access, const PtxOperand* destination, std::size_t operands_at, LaneMask all) {
  const PtxInstruction& instruction = access.instruction;
  const LaneValues operand = access.run.value(access.fragment, instruction.operands[operands_at]);
  const bool has_other = instruction.has("cas") && instruction.operands.size() > operands_at + 1;
  const LaneValues other = has_other ? access.run.value(access.fragment, instruction.operands[operands_at + 1]) : LaneValues{};
  LaneValues result;
  result.unknown_bits = ~0ull;
  result.origin = access.pc();
  result.unknown = all & ~access.lanes;
  const LaneMask doubtful =
      (operand.unknown_bits != 0 ? operand.unknown : 0) | (other.unknown_bits != 0 ? other.unknown : 0) | access.run.inside().unsure_lanes;
  for_lanes(access.lanes, [&](int lane) {
    const auto i = static_cast<std::size_t>(lane);
    const std::optional<std::uint64_t> old = access.size > 8 ? std::nullopt : read_one(access, lane, access.at(lane));
    if (old)
      result.bits[i] = *old;
    else
      result.unknown |= 1u << lane;
    std::optional<std::uint64_t> next;
    if ((doubtful >> lane & 1) == 0) {
      if (old)
        next = changed(instruction, 8 * access.size, *old, operand.bits[i], other.bits[i]);
      else if (instruction.has("exch"))
        next = operand.bits[i] & low_bits(8 * access.size);
    }
    write_one(access, lane, access.at(lane), next);
  });
  if (destination != nullptr) access.run.assign(access.fragment, *destination, result, all);
}

ActionEnd atomic(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  const bool brings = instruction.opcode == Opcode::Atom;
  const std::size_t operands_at = brings ? 2 : 1;
  if (instruction.operands.size() <= operands_at) {
    run.stop(instruction, "an atomic without its operands at " + place_reference(run.pc_of(instruction)));
    return ActionEnd::Go;
  }
  const PtxOperand* destination = brings ? &instruction.operands[0] : nullptr;
  ThreadAccess access{run, fragment, instruction, lanes, {}};
  access.size = size_of(instruction);
  access.count = static_cast<int>(elements_of(instruction.operands[operands_at]));
  if (brings) fragment.time += kAtomicLatency;
  if (!find_addresses(access)) {
    if (!run.stopped() && brings) run.assign(fragment, *destination, LaneValues::unknown_value(run.pc_of(instruction), ~0ull), lanes);
    return ActionEnd::Go;
  }
  if (access.space == AddressSpace::Shared) check_shared(access, "atomic");
  if (access.space == AddressSpace::Global) check_global(access, "atomic");
  if (access.lanes == 0) {
    if (brings) run.assign(fragment, *destination, LaneValues::unknown_value(run.pc_of(instruction), ~0ull), lanes);
    return ActionEnd::Go;
  }
  if (access.space == AddressSpace::Shared) touch_shadow(access, true, "atomic");
  note_event(access, access.space == AddressSpace::Shared ? EventKind::SharedWrite : EventKind::GlobalWrite);
  pass_flags(access, true);
  if (access.count > 1) {  // vectors are floats
    for_lanes(access.lanes, [&](int lane) {
      for (int i = 0; i < access.count; ++i)
        write_one(access, lane, access.at(lane) + static_cast<std::uint64_t>(i * access.size), std::nullopt);
    });
    if (brings) run.assign(fragment, *destination, LaneValues::unknown_value(run.pc_of(instruction), ~0ull), lanes);
    return ActionEnd::Go;
  }
  change(access, destination, operands_at, lanes);
  return ActionEnd::Go;
}

// --- stores that a barrier counts

/// st.async, red.async: `[a], b, [mbarrier]`, bytes of all lanes are signalled when they have come.
ActionEnd asynchronous_store(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (instruction.operands.size() < 3 || instruction.operands[2].kind != PtxOperand::Kind::Address) {
    run.stop(instruction, "Heddle knows " + std::string(instruction.mnemonic) + " only with an mbarrier");
    return ActionEnd::Go;
  }
  ThreadAccess access{run, fragment, instruction, lanes, {}};
  access.size = size_of(instruction);
  access.count = static_cast<int>(elements_of(instruction.operands[1]));
  if (!find_addresses(access)) return ActionEnd::Go;
  access.space = AddressSpace::Shared;
  check_shared(access, "store");
  const LaneValues barriers = run.value(fragment, instruction.operands[2]);
  if (barriers.unknown_bits != 0 && !barriers.known(access.lanes)) {
    run.stop(instruction, "the mbarrier of " + place_reference(access.pc()) + " is not known" + hangs_on(barriers.origin));
    return ActionEnd::Go;
  }
  const Barriers::By by = run.by(fragment, instruction);
  note_event(access, EventKind::SharedWrite);
  const LaneValues source = run.value(fragment, element(instruction.operands[1], 0));
  for_lanes(access.lanes, [&](int lane) {
    const std::uint64_t at = access.at(lane), signals = barriers.bits[static_cast<std::size_t>(lane)];
    Mbarrier* barrier = run.barriers.use(signals, by, access.warp().known);
    if (barrier == nullptr) return;
    const ByteRange range{byte_of(at), byte_of(at) + static_cast<std::uint32_t>(access.bytes())};
    const auto cta = static_cast<std::size_t>(cta_of(at));
    write_shared(run, cta_of(at), {&range, 1}, {barrier->component, kPending, Proxy::Generic, access.pc(), access.warp().index, "store"},
                 access.warp().known);
    std::optional<std::uint64_t> value;
    if (access.count == 1 && access.size <= 8 && instruction.opcode == Opcode::StAsync && source.known(1u << lane))
      value = source.bits[static_cast<std::size_t>(lane)];
    run.shared[cta].forget(range.begin, range.end);
    run.at(fragment.time + kRemoteStore, [&run, range, cta, signals, by, pc = access.pc(), value, size = access.size] {
      Mbarrier* turned = run.barriers.use(signals, by, run.warps[static_cast<std::size_t>(by.warp)].known);
      if (turned == nullptr) return;
      if (value) run.shared[cta].write(range.begin, size, *value);
      run.shadows[cta].settle({&range, 1}, turned->component, pc, turned->phase + 1);
      run.wake(run.barriers.complete(*turned, range.end - range.begin, by), run.now());
    });
  });
  return ActionEnd::Go;
}

/// st.bulk: zeros into shared memory.
ActionEnd bulk_store(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  ThreadAccess access{run, fragment, instruction, lanes, {}};
  if (instruction.operands.size() < 2 || !find_addresses(access)) return ActionEnd::Go;
  const std::optional<std::uint64_t> bytes = run.one_value(fragment, instruction.operands[1], lanes, instruction, "the size");
  if (!bytes) return ActionEnd::Go;
  for_lanes(access.lanes, [&](int lane) {
    const std::uint64_t at = access.at(lane);
    if (cta_of(at) >= run.cluster_size() || *bytes > run.shared_bytes() || byte_of(at) + *bytes > run.shared_bytes()) {
      run.find(CheckRule::OutOfShared, fragment, instruction, "store of " + std::to_string(*bytes) + " bytes leaves shared memory");
      return;
    }
    const ByteRange range{byte_of(at), byte_of(at) + static_cast<std::uint32_t>(*bytes)};
    const auto cta = static_cast<std::size_t>(cta_of(at));
    Warp& warp = run.warp_of(fragment);
    write_shared(run, cta_of(at), {&range, 1}, {warp.component, warp.epoch, Proxy::Generic, access.pc(), warp.index, "store"}, warp.known);
    for (std::uint32_t byte = range.begin; byte < range.end; ++byte) run.shared[cta].write(byte, 1, 0);
  });
  return ActionEnd::Go;
}

ActionEnd nothing(ClusterRun&, WarpFragment&, const PtxInstruction&, LaneMask) { return ActionEnd::Go; }

}  // namespace

Action memory_action(const PtxInstruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Ld:
    case Opcode::Ldu: return load;
    case Opcode::St: return store;
    case Opcode::Atom:
    case Opcode::Red: return atomic;
    case Opcode::StAsync:
    case Opcode::RedAsync: return asynchronous_store;
    case Opcode::StBulk: return bulk_store;
    case Opcode::Applypriority:
    case Opcode::Discard:
    case Opcode::Prefetch:
    case Opcode::Pmevent: return nothing;
    default: return nullptr;
  }
}

}  // namespace heddle::ptx
