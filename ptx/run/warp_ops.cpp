// Instructions of a warp's lanes together: shfl, vote, match, redux, elect, activemask; and mov, carries and addresses of other CTAs.
#include <algorithm>
#include <bit>

#include "ptx/judge/reference.h"
#include "ptx/run/inside.h"

namespace heddle::ptx {

namespace {

bool unknown_in(const LaneValues& values, LaneMask lanes) { return values.unknown_bits != 0 && !values.known(lanes); }

/// The last operand of a `.sync` instruction names the lanes that come; all of a fragment's where it is not known. Who executes it is among
/// those (PTX ISA 9.7.9.6, shfl.sync, and the others of its kind).
LaneMask members(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction, const PtxOperand& operand,
                 LaneMask lanes) {
  const LaneValues mask = run.value(fragment, operand);
  LaneMask outside = 0;
  for_lanes(lanes & ~run.inside().unsure_lanes & ~(mask.unknown_bits == 0 ? 0 : mask.unknown),
            [&](int lane) { outside |= (~mask.bits[static_cast<std::size_t>(lane)] >> lane & 1) != 0 ? 1u << lane : 0; });
  if (outside != 0)
    run.find(CheckRule::NotConverged, fragment, instruction,
             std::to_string(std::popcount(outside)) + " lanes of " + warp_reference(fragment.warp) + " execute " +
                 std::string(instruction.mnemonic) + " with a mask that does not name them");
  const std::optional<std::uint64_t> one = mask.uniform(lanes);
  return one ? static_cast<LaneMask>(*one) : lanes;
}

bool too_few(ClusterRun& run, const PtxInstruction& instruction, std::size_t wanted) {
  if (instruction.operands.size() >= wanted) return false;
  run.stop(instruction, std::string(instruction.mnemonic) + " without its operands");
  return true;
}

/// Lanes that act together; 0: the fragment waits for the others.
LaneMask together(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (!instruction.has("sync")) return lanes;
  return run.inside().meet_lanes(fragment, instruction, members(run, fragment, instruction, instruction.operands.back(), lanes), lanes);
}

ActionEnd shuffle(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (too_few(run, instruction, 4)) return ActionEnd::Go;
  const LaneMask acting = together(run, fragment, instruction, lanes);
  if (acting == 0) return ActionEnd::Again;
  const LaneValues from = run.value(fragment, instruction.operands[1]), by = run.value(fragment, instruction.operands[2]),
                   clamp = run.value(fragment, instruction.operands[3]);
  LaneValues result, inside;
  result.unknown_bits = from.unknown_bits;
  result.origin = from.origin >= 0 ? from.origin : run.pc_of(instruction);
  const bool any_lane = unknown_in(by, acting) || unknown_in(clamp, acting);
  for_lanes(acting, [&](int lane) {
    const auto i = static_cast<std::size_t>(lane);
    const int b = static_cast<int>(by.bits[i] & 31), c = static_cast<int>(clamp.bits[i] & 31),
              segment = static_cast<int>(clamp.bits[i] >> 8 & 31);
    const int least = lane & segment, most = least | (c & ~segment);
    int source = lane;
    bool good = true;
    if (instruction.has("up")) {
      source = lane - b;
      good = source >= most;  // `c` is the least lane here
    } else if (instruction.has("down")) {
      source = lane + b;
      good = source <= most;
    } else if (instruction.has("bfly")) {
      source = lane ^ b;
      good = source <= most;
    } else {
      source = least | (b & ~segment);
      good = source <= most;
    }
    if (!good || source < 0 || source >= kLanes) source = lane;
    inside.bits[i] = good ? 1 : 0;
    result.bits[i] = from.bits[static_cast<std::size_t>(source)];
    // A lane that does not take part gives nothing.
    if ((from.unknown >> source & 1) != 0 || (acting >> source & 1) == 0 || any_lane) result.unknown |= 1u << lane;
  });
  if (any_lane) {
    inside.unknown = acting;
    inside.unknown_bits = 1;
  }
  if (result.unknown != 0 && (result.unknown_bits == 0 || any_lane)) result.unknown_bits = ~0ull;
  if ((result.unknown & ~from.unknown) != 0) result.unknown_bits = ~0ull;
  const PtxOperand& destination = instruction.operands[0];
  if (destination.kind == PtxOperand::Kind::Pair && destination.parts.size() == 2) {
    run.assign(fragment, destination.parts[0], result, acting);
    run.assign(fragment, destination.parts[1], inside, acting);
  } else {
    run.assign(fragment, destination, result, acting);
  }
  return ActionEnd::Go;
}

ActionEnd vote(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (too_few(run, instruction, 2)) return ActionEnd::Go;
  const LaneMask acting = together(run, fragment, instruction, lanes);
  if (acting == 0) return ActionEnd::Again;
  const LaneValues predicate = run.value(fragment, instruction.operands[1]);
  LaneMask ones = 0;
  for_lanes(acting, [&](int lane) { ones |= static_cast<LaneMask>(predicate.bits[static_cast<std::size_t>(lane)] & 1) << lane; });
  const LaneMask doubt = predicate.unknown_bits == 0 ? 0 : predicate.unknown & acting;
  ones &= ~doubt;
  std::optional<std::uint64_t> result;
  if (instruction.has("all")) {
    if ((acting & ~ones & ~doubt) != 0)
      result = 0;
    else if (doubt == 0)
      result = 1;
  } else if (instruction.has("any")) {
    if (ones != 0)
      result = 1;
    else if (doubt == 0)
      result = 0;
  } else if (doubt == 0) {
    result = instruction.has("ballot") ? ones : ones == 0 || ones == acting ? 1 : 0;
  } else if (instruction.has("uni") && ones != 0 && (acting & ~ones & ~doubt) != 0) {
    result = 0;
  }
  const Origin origin = predicate.origin >= 0 ? predicate.origin : run.pc_of(instruction);
  const std::uint64_t bits = instruction.has("ballot") ? doubt : 1;
  LaneValues values = result ? LaneValues::all(*result) : LaneValues::unknown_value(origin, bits);
  if (!result && instruction.has("ballot")) values.bits.fill(ones);
  run.assign(fragment, instruction.operands[0], values, acting);
  return ActionEnd::Go;
}

ActionEnd match(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (too_few(run, instruction, 3)) return ActionEnd::Go;
  const LaneMask acting = together(run, fragment, instruction, lanes);
  if (acting == 0) return ActionEnd::Again;
  const LaneValues from = run.value(fragment, instruction.operands[1]);
  LaneValues same, whole;
  for_lanes(acting, [&](int lane) {
    const auto i = static_cast<std::size_t>(lane);
    for_lanes(acting, [&](int other) {
      if (from.bits[static_cast<std::size_t>(other)] == from.bits[i]) same.bits[i] |= 1u << other;
    });
    whole.bits[i] = same.bits[i] == acting ? 1 : 0;
    if (instruction.has("all") && whole.bits[i] == 0) same.bits[i] = 0;
  });
  if (unknown_in(from, acting)) same = whole = LaneValues::unknown_value(from.origin >= 0 ? from.origin : run.pc_of(instruction), ~0ull);
  const PtxOperand& destination = instruction.operands[0];
  if (destination.kind == PtxOperand::Kind::Pair && destination.parts.size() == 2) {
    run.assign(fragment, destination.parts[0], same, acting);
    run.assign(fragment, destination.parts[1], whole, acting);
  } else {
    run.assign(fragment, destination, same, acting);
  }
  return ActionEnd::Go;
}

ActionEnd reduce(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (too_few(run, instruction, 3)) return ActionEnd::Go;
  const LaneMask acting = together(run, fragment, instruction, lanes);
  if (acting == 0) return ActionEnd::Again;
  const LaneValues from = run.value(fragment, instruction.operands[1]);
  const Scalar type = scalar_of(instruction.words.back());
  if (unknown_in(from, acting) || is_float(type)) {
    run.assign(fragment, instruction.operands[0], LaneValues::unknown_value(from.origin >= 0 ? from.origin : run.pc_of(instruction), ~0ull),
               acting);
    return ActionEnd::Go;
  }
  std::optional<std::uint64_t> total;
  for_lanes(acting, [&](int lane) {
    const std::uint64_t value = from.bits[static_cast<std::size_t>(lane)];
    if (!total) {
      total = value;
      return;
    }
    const bool less = is_signed(type) ? sign_extend(value, 32) < sign_extend(*total, 32) : value < *total;
    if (instruction.has("add"))
      total = *total + value;
    else if (instruction.has("and"))
      total = *total & value;
    else if (instruction.has("or"))
      total = *total | value;
    else if (instruction.has("xor"))
      total = *total ^ value;
    else if (instruction.has("min"))
      total = less ? value : *total;
    else if (instruction.has("max"))
      total = less ? *total : value;
  });
  run.assign(fragment, instruction.operands[0], LaneValues::all(total.value_or(0) & 0xFFFFFFFFu), acting);
  return ActionEnd::Go;
}

ActionEnd elect(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (too_few(run, instruction, 2)) return ActionEnd::Go;
  const LaneMask acting = together(run, fragment, instruction, lanes);
  if (acting == 0) return ActionEnd::Again;
  const LaneMask named = members(run, fragment, instruction, instruction.operands.back(), acting) & acting;
  const int leader = std::countr_zero(named != 0 ? named : acting);
  const PtxOperand& destination = instruction.operands[0];
  if (destination.kind != PtxOperand::Kind::Pair || destination.parts.size() != 2) return ActionEnd::Go;
  LaneValues is_leader;
  is_leader.bits[static_cast<std::size_t>(leader)] = 1;
  run.assign(fragment, destination.parts[0], LaneValues::all(static_cast<std::uint64_t>(leader)), acting);
  run.assign(fragment, destination.parts[1], is_leader, acting);
  return ActionEnd::Go;
}

ActionEnd active_mask(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (!too_few(run, instruction, 1)) run.assign(fragment, instruction.operands[0], LaneValues::all(lanes), lanes);
  return ActionEnd::Go;
}

ActionEnd warp_sync(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (too_few(run, instruction, 1)) return ActionEnd::Go;
  const LaneMask named = members(run, fragment, instruction, instruction.operands[0], lanes);
  return run.inside().meet_lanes(fragment, instruction, named, lanes) == 0 ? ActionEnd::Again : ActionEnd::Go;
}

// --- mov of vectors

ActionEnd pack(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  const PtxOperand& destination = instruction.operands[0];
  const PtxOperand& source = instruction.operands[1];
  const int whole = bits_of(scalar_of(instruction.words.back()));
  if (destination.kind == PtxOperand::Kind::Vector) {
    if (destination.parts.empty()) return ActionEnd::Go;
    const int part = whole / static_cast<int>(destination.parts.size());
    LaneValues values = whole > 64 ? LaneValues::unknown_value(run.pc_of(instruction), ~0ull) : run.value(fragment, source);
    for (const PtxOperand& one : destination.parts) {
      LaneValues piece = values;
      for (std::uint64_t& bits : piece.bits) bits &= low_bits(part);
      piece.unknown_bits &= low_bits(part);
      run.assign(fragment, one, piece, lanes);
      if (part >= 64) continue;
      for (std::uint64_t& bits : values.bits) bits >>= part;
      values.unknown_bits >>= part;
    }
    return ActionEnd::Go;
  }
  LaneValues result;
  if (source.parts.empty() || whole > 64) {
    result = LaneValues::unknown_value(run.pc_of(instruction), ~0ull);
  } else {
    const int part = whole / static_cast<int>(source.parts.size());
    for (std::size_t i = 0; i < source.parts.size(); ++i) {
      const LaneValues piece = run.value(fragment, source.parts[i]);
      const int shift = part * static_cast<int>(i);
      for (std::size_t lane = 0; lane < kLanes; ++lane) result.bits[lane] |= (piece.bits[lane] & low_bits(part)) << shift;
      if (!unknown_in(piece, lanes)) continue;
      result.unknown |= piece.unknown;
      result.unknown_bits |= (piece.unknown_bits & low_bits(part)) << shift;
      if (result.origin < 0) result.origin = piece.origin;
    }
  }
  run.assign(fragment, destination, result, lanes);
  return ActionEnd::Go;
}

// --- carries

/// add.cc, addc, sub.cc, subc, mad.cc, madc: sums with a flag that the warp keeps.
ActionEnd carry_sum(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  RunInside& in = run.inside();
  Warp& warp = run.warp_of(fragment);
  LaneValues& carry = warp.values[static_cast<std::size_t>(in.carry_slot)];
  const bool is_mad = instruction.opcode == Opcode::Mad || instruction.opcode == Opcode::Madc;
  const bool minus = instruction.opcode == Opcode::Sub || instruction.opcode == Opcode::Subc;
  const bool with_carry = instruction.opcode == Opcode::Addc || instruction.opcode == Opcode::Subc || instruction.opcode == Opcode::Madc;
  if (too_few(run, instruction, is_mad ? 4 : 3)) return ActionEnd::Go;
  const int bits = bits_of(scalar_of(instruction.words.back()));
  const bool sign = is_signed(scalar_of(instruction.words.back()));
  std::array<LaneValues, 3> from{run.value(fragment, instruction.operands[1]), run.value(fragment, instruction.operands[2]), {}};
  if (is_mad) from[2] = run.value(fragment, instruction.operands[3]);
  LaneValues result, flag;
  __extension__ using Wide = unsigned __int128;
  for_lanes(lanes, [&](int lane) {
    const auto i = static_cast<std::size_t>(lane);
    std::uint64_t a = from[0].bits[i] & low_bits(bits), b = from[1].bits[i] & low_bits(bits);
    if (is_mad) {
      const Wide product = sign ? static_cast<Wide>(static_cast<__int128>(sign_extend(a, bits)) * sign_extend(b, bits)) : Wide{a} * b;
      a = static_cast<std::uint64_t>(instruction.has("hi") ? product >> bits : product) & low_bits(bits);
      b = from[2].bits[i] & low_bits(bits);
    }
    const std::uint64_t in_carry = with_carry ? carry.bits[i] & 1 : 0;
    const Wide sum = minus ? Wide{a} - b - in_carry : Wide{a} + b + in_carry;
    result.bits[i] = static_cast<std::uint64_t>(sum) & low_bits(bits);
    flag.bits[i] = static_cast<std::uint64_t>(sum >> bits) & 1;
  });
  LaneMask doubt = with_carry && carry.unknown_bits != 0 ? carry.unknown & lanes : 0;
  for (const LaneValues& one : from) doubt |= one.unknown_bits != 0 ? one.unknown & lanes : 0;
  if (doubt != 0) {
    result.unknown = flag.unknown = doubt;
    result.unknown_bits = ~0ull;
    flag.unknown_bits = 1;
    result.origin = flag.origin = from[0].origin >= 0 ? from[0].origin : from[1].origin;
  }
  run.assign(fragment, instruction.operands[0], result, lanes);
  if (instruction.has("cc")) {
    for_lanes(lanes, [&](int lane) { carry.bits[static_cast<std::size_t>(lane)] = flag.bits[static_cast<std::size_t>(lane)]; });
    carry.unknown = (carry.unknown & ~lanes) | flag.unknown;
    carry.unknown_bits = 1;
  }
  return ActionEnd::Go;
}

// --- addresses of other CTAs

ActionEnd map_address(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (too_few(run, instruction, 3)) return ActionEnd::Go;
  LaneValues address = run.value(fragment, instruction.operands[1]);
  const LaneValues rank = run.value(fragment, instruction.operands[2]);
  for_lanes(lanes, [&](int lane) {
    std::uint64_t& bits = address.bits[static_cast<std::size_t>(lane)];
    if (bits < kSharedWindowEnd) bits = byte_of(bits) | (rank.bits[static_cast<std::size_t>(lane)] & 15) << kCtaShift;
  });
  if (unknown_in(rank, lanes)) {
    address.unknown |= rank.unknown;
    address.unknown_bits |= 15ull << kCtaShift;
    if (address.origin < 0) address.origin = rank.origin;
  }
  run.assign(fragment, instruction.operands[0], address, lanes);
  return ActionEnd::Go;
}

ActionEnd cta_rank(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (too_few(run, instruction, 2)) return ActionEnd::Go;
  LaneValues address = run.value(fragment, instruction.operands[1]);
  for (std::uint64_t& bits : address.bits) bits >>= kCtaShift;
  address.unknown_bits >>= kCtaShift;
  run.assign(fragment, instruction.operands[0], address, lanes);
  return ActionEnd::Go;
}

ActionEnd is_space(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (too_few(run, instruction, 2)) return ActionEnd::Go;
  LaneValues address = run.value(fragment, instruction.operands[1]);
  const AddressSpace wanted = run.space(instruction, 0);
  for (std::uint64_t& bits : address.bits) bits = space_of(bits) == wanted ? 1 : 0;
  if (instruction.has("shared::cta")) {
    const LaneValues whole = run.value(fragment, instruction.operands[1]);
    for (std::size_t i = 0; i < kLanes; ++i)
      if (address.bits[i] != 0 && cta_of(whole.bits[i]) != run.warp_of(fragment).cta) address.bits[i] = 0;
  }
  run.assign(fragment, instruction.operands[0], address, lanes);
  return ActionEnd::Go;
}

/// Results that nobody looks into (policies of caches), and products of packed numbers.
ActionEnd opaque(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  if (!instruction.operands.empty())
    run.assign(fragment, instruction.operands[0], LaneValues::unknown_value(run.pc_of(instruction), ~0ull), lanes);
  return ActionEnd::Go;
}

}  // namespace

Action warp_action(const PtxInstruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Shfl: return shuffle;
    case Opcode::Vote: return vote;
    case Opcode::Match: return match;
    case Opcode::Redux: return reduce;
    case Opcode::Elect: return elect;
    case Opcode::Activemask: return active_mask;
    case Opcode::BarWarpSync: return warp_sync;
    case Opcode::Mapa: return map_address;
    case Opcode::Getctarank: return cta_rank;
    case Opcode::Isspacep: return is_space;
    case Opcode::Createpolicy: return opaque;
    default: return nullptr;
  }
}

Action move_action(const PtxInstruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Mov:
      if (instruction.operands.size() != 2 || bits_of(scalar_of(instruction.words.back())) <= 0) return nullptr;
      return instruction.operands[0].kind == PtxOperand::Kind::Vector || instruction.operands[1].kind == PtxOperand::Kind::Vector ||
                     bits_of(scalar_of(instruction.words.back())) > 64
                 ? pack
                 : nullptr;
    case Opcode::Add:
    case Opcode::Addc:
    case Opcode::Sub:
    case Opcode::Subc:
    case Opcode::Mad:
    case Opcode::Madc: {
      const int bits = bits_of(scalar_of(instruction.words.back()));
      return bits == 32 || bits == 64 ? carry_sum : nullptr;
    }
    default: return nullptr;
  }
}

}  // namespace heddle::ptx
