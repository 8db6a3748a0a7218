// Where values come from: operands, special registers, addresses of variables; and where results go.
#include <algorithm>

#include "ptx/judge/reference.h"
#include "ptx/run/inside.h"

namespace heddle::ptx {

namespace {

void used_variables(const PtxOperand& operand, std::vector<bool>& used) {
  if (operand.kind == PtxOperand::Kind::Variable && operand.index >= 0 && static_cast<std::size_t>(operand.index) < used.size())
    used[static_cast<std::size_t>(operand.index)] = true;
  for (const PtxOperand& part : operand.parts) used_variables(part, used);
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return multiple < 2 ? value : (value + multiple - 1) / multiple * multiple;
}

template <class Value>
LaneValues each_lane(const Value& value_of) {
  LaneValues values;
  for (int lane = 0; lane < kLanes; ++lane) values.bits[static_cast<std::size_t>(lane)] = static_cast<std::uint64_t>(value_of(lane));
  return values;
}

}  // namespace

void LaunchShape::lay_out_shared(const PtxModule& module, const PtxFunction& function) {
  std::vector<bool> used(module.variables.size(), false);
  for (const PtxInstruction& instruction : function.code)
    for (const PtxOperand& operand : instruction.operands) used_variables(operand, used);
  std::uint64_t next = kReservedShared, align = 16;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const PtxVariable& variable = module.variables[i];
    if (!used[i]) continue;
    if (variable.space == PtxVariable::Space::Local) {
      local_bytes = round_up(local_bytes, variable.align);
      variable_at[static_cast<int>(i)] = kLocalWindow + local_bytes;
      local_bytes = std::min<std::uint64_t>(local_bytes + variable.bytes, 1u << 19);  // a thread has no more
    } else if (variable.space == PtxVariable::Space::Shared && variable.external) {
      align = std::max(align, variable.align);
    } else if (variable.space == PtxVariable::Space::Shared) {
      next = round_up(next, variable.align);
      variable_at[static_cast<int>(i)] = next;
      next = std::min<std::uint64_t>(next + variable.bytes, 1u << kCtaShift);
    }
  }
  next = round_up(next, align);
  static_shared = next;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i] && module.variables[i].space == PtxVariable::Space::Shared && module.variables[i].external)
      variable_at[static_cast<int>(i)] = next;
}

std::uint64_t LaunchShape::variable_address(const ClusterRun& run, int cta, int variable) const {
  if (variable < 0 || static_cast<std::size_t>(variable) >= run.module.variables.size()) return 0;
  const PtxVariable& what = run.module.variables[static_cast<std::size_t>(variable)];
  if (what.space == PtxVariable::Space::Global || what.space == PtxVariable::Space::Const) return run.global.address_of(what);
  const auto found = variable_at.find(variable);
  if (found == variable_at.end()) return 0;
  return what.space == PtxVariable::Space::Shared ? found->second | static_cast<std::uint64_t>(cta) << kCtaShift : found->second;
}

LaneValues LaunchShape::special_value(const ClusterRun& run, const Warp& warp, Special special, Time time) const {
  const auto thread = [&](int lane) { return static_cast<std::uint32_t>(warp.in_cta * kLanes + lane); };
  const std::array<std::uint32_t, 3> in_cluster{static_cast<std::uint32_t>(warp.cta) % cluster[0],
                                                static_cast<std::uint32_t>(warp.cta) / cluster[0] % cluster[1],
                                                static_cast<std::uint32_t>(warp.cta) / (cluster[0] * cluster[1])};
  const auto axis = [&](Special first) { return static_cast<std::size_t>(special) - static_cast<std::size_t>(first); };
  const auto all = [](std::uint64_t value) { return LaneValues::all(value); };
  switch (special) {
    case Special::TidX: return each_lane([&](int lane) { return thread(lane) % block[0]; });
    case Special::TidY: return each_lane([&](int lane) { return thread(lane) / block[0] % block[1]; });
    case Special::TidZ: return each_lane([&](int lane) { return thread(lane) / (block[0] * block[1]); });
    case Special::NtidX:
    case Special::NtidY:
    case Special::NtidZ: return all(block[axis(Special::NtidX)]);
    case Special::CtaidX:
    case Special::CtaidY:
    case Special::CtaidZ: return all(first_cta[axis(Special::CtaidX)] + in_cluster[axis(Special::CtaidX)]);
    case Special::NctaidX:
    case Special::NctaidY:
    case Special::NctaidZ: return all(grid[axis(Special::NctaidX)]);
    case Special::Laneid: return each_lane([](int lane) { return lane; });
    case Special::Warpid: return all(static_cast<std::uint64_t>(warp.in_cta));
    case Special::Nwarpid: return all(static_cast<std::uint64_t>(run.warps_per_cta()));
    case Special::ClusterCtaidX:
    case Special::ClusterCtaidY:
    case Special::ClusterCtaidZ: return all(in_cluster[axis(Special::ClusterCtaidX)]);
    case Special::ClusterNctaidX:
    case Special::ClusterNctaidY:
    case Special::ClusterNctaidZ: return all(cluster[axis(Special::ClusterNctaidX)]);
    case Special::ClusterCtarank: return all(static_cast<std::uint64_t>(warp.cta));
    case Special::ClusterNctarank: return all(static_cast<std::uint64_t>(run.cluster_size()));
    case Special::ClusteridX:
    case Special::ClusteridY:
    case Special::ClusteridZ: return all(first_cta[axis(Special::ClusteridX)] / cluster[axis(Special::ClusteridX)]);
    case Special::NclusteridX:
    case Special::NclusteridY:
    case Special::NclusteridZ: return all(grid[axis(Special::NclusteridX)] / cluster[axis(Special::NclusteridX)]);
    case Special::IsExplicitCluster: return all(run.cluster_size() > 1 || run.function.cluster[0] != 0 ? 1 : 0);
    case Special::Smid: return all(0);
    case Special::Nsmid: return all(static_cast<std::uint64_t>(run.costs.sm_count));
    case Special::Gridid: return all(1);
    case Special::LanemaskEq: return each_lane([](int lane) { return 1ull << lane; });
    case Special::LanemaskLe: return each_lane([](int lane) { return (2ull << lane) - 1; });
    case Special::LanemaskLt: return each_lane([](int lane) { return (1ull << lane) - 1; });
    case Special::LanemaskGe: return each_lane([](int lane) { return 0xFFFFFFFFull & ~((1ull << lane) - 1); });
    case Special::LanemaskGt: return each_lane([](int lane) { return 0xFFFFFFFFull & ~((2ull << lane) - 1); });
    case Special::Clock: return all(static_cast<std::uint64_t>(time / 1000) & 0xFFFFFFFFu);
    case Special::Clock64:
    case Special::Globaltimer: return all(static_cast<std::uint64_t>(time / 1000));
    case Special::DynamicSmemSize: return all(run.launch.dynamic_shared);
    case Special::TotalSmemSize:
    case Special::AggrSmemSize: return all(static_shared + run.launch.dynamic_shared);
    case Special::WarpSize: return all(kLanes);
    case Special::None:
    case Special::Other: break;
  }
  return LaneValues::unknown_value(-1, ~0ull);
}

LaneValues ClusterRun::value(const WarpFragment& fragment, const PtxOperand& operand) const {
  const Warp& warp = warps[static_cast<std::size_t>(fragment.warp)];
  using Kind = PtxOperand::Kind;
  switch (operand.kind) {
    case Kind::Immediate: return LaneValues::all(operand.immediate);
    case Kind::Special: return inside_->special_value(*this, warp, operand.special, fragment.time);
    case Kind::Variable:
      return LaneValues::all(inside_->variable_address(*this, warp.cta, operand.index) + static_cast<std::uint64_t>(operand.offset));
    case Kind::Parameter:
      if (operand.index >= 0 && static_cast<std::size_t>(operand.index) < function.parameters.size())
        return LaneValues::all(kParameterWindow + function.parameters[static_cast<std::size_t>(operand.index)].at +
                               static_cast<std::uint64_t>(operand.offset));
      break;
    case Kind::Register: {
      const int slot = inside_->register_slot(operand.reg);
      if (slot < 0) break;
      LaneValues values = warp.values[static_cast<std::size_t>(slot)];
      if (operand.negated)
        for (std::uint64_t& bits : values.bits) bits ^= 1;
      return values;
    }
    case Kind::Address: {
      if (operand.parts.empty()) return LaneValues::all(static_cast<std::uint64_t>(operand.offset));
      LaneValues values = value(fragment, operand.parts.front());
      if (operand.offset == 0) return values;
      const PtxOperand& base = operand.parts.front();
      const bool narrow = base.kind == Kind::Register && bits_of(function.registers[base.reg.index()].type) == 32;
      for (std::uint64_t& bits : values.bits) {
        bits += static_cast<std::uint64_t>(operand.offset);
        if (narrow) bits &= 0xFFFFFFFFu;  // addresses of 32 bits wrap
      }
      if (values.unknown != 0 && values.unknown_bits != 0) values.unknown_bits = ~low_bits(__builtin_ctzll(values.unknown_bits));
      return values;
    }
    default: break;
  }
  return LaneValues::unknown_value(-1, ~0ull);
}

void ClusterRun::assign(WarpFragment& fragment, const PtxOperand& operand, const LaneValues& value, LaneMask lanes) {
  if (operand.kind == PtxOperand::Kind::Vector || operand.kind == PtxOperand::Kind::Pair) {
    for (const PtxOperand& part : operand.parts) assign(fragment, part, value, lanes);
    return;
  }
  if (operand.kind != PtxOperand::Kind::Register) return;
  const int slot = inside_->register_slot(operand.reg);
  if (slot < 0) return;
  const Scalar type = function.registers[operand.reg.index()].type;
  const std::uint64_t width = type == Scalar::Pred ? 1 : low_bits(bits_of(type));
  LaneValues& into = warp_of(fragment).values[static_cast<std::size_t>(slot)];
  for_lanes(lanes, [&](int lane) { into.bits[static_cast<std::size_t>(lane)] = value.bits[static_cast<std::size_t>(lane)] & width; });
  const std::uint64_t unknown_bits = value.unknown_bits & width;
  const LaneMask unknown = unknown_bits == 0 ? 0 : value.unknown & lanes;
  into.unknown = (into.unknown & ~lanes) | unknown;
  if (unknown != 0) {
    into.unknown_bits = (into.unknown & ~lanes) != 0 ? into.unknown_bits | unknown_bits : unknown_bits;
    into.origin = value.origin;
  } else if (into.unknown == 0) {
    into.unknown_bits = 0;
  }
}

std::optional<std::uint64_t> ClusterRun::one_value(const WarpFragment& fragment, const PtxOperand& operand, LaneMask lanes,
                                                   const PtxInstruction& at, const char* what) {
  const LaneValues values = value(fragment, operand);
  if (const std::optional<std::uint64_t> one = values.uniform(lanes)) return one;
  const std::string where = std::string(what) + " of " + place_reference(pc_of(at));
  if (!values.known(lanes))
    stop(at, where + " is not known" + (values.origin >= 0 ? ": it hangs on " + place_reference(values.origin) : ""));
  else
    stop(at, "lanes of " + warp_reference(fragment.warp) + " differ in " + where);
  return std::nullopt;
}

AddressSpace ClusterRun::space(const PtxInstruction& instruction, std::uint64_t address) const {
  for (const std::string_view word : instruction.words) {
    if (word.starts_with("shared")) return AddressSpace::Shared;
    if (word.starts_with("param")) return AddressSpace::Parameter;
    if (word == "global" || word == "const") return AddressSpace::Global;
    if (word == "local") return AddressSpace::Local;
  }
  return space_of(address);
}

const TensorMap* ClusterRun::map_at(std::uint64_t generic_address, int* index) const {
  const bool in_parameters = space_of(generic_address) == AddressSpace::Parameter;
  const std::uint64_t at = in_parameters ? generic_address - kParameterWindow : generic_address;
  for (std::size_t i = 0; i < launch.maps.size(); ++i) {
    if (launch.maps[i].in_parameters != in_parameters || launch.maps[i].at != at) continue;
    if (index != nullptr) *index = static_cast<int>(i);
    return &launch.maps[i].map;
  }
  return nullptr;
}

}  // namespace heddle::ptx
