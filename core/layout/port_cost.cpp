#include "core/layout/port_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/integer_division.h"
#include "core/base/saturate.h"

namespace heddle {
namespace {

const char* short_name(DType type) {
  switch (type) {
    case DType::F8e4m3: return "e4m3";
    case DType::F8e5m2: return "e5m2";
    case DType::I8: return "s8";
    case DType::F32:
    case DType::Bf16:
    case DType::F16:
    case DType::I32:
    case DType::I4: break;
  }
  return to_string(type);
}

/// Cycles of a product's instruction of the catalogue; nothing where its formula has none.
std::optional<std::int64_t> cycles_of(const Instruction& row, const ProductSize& size) {
  const auto cycles = row.cycles.evaluate({{"m", size.m}, {"n", size.n}, {"k", row.k}, {"bits", size.bits}});
  return cycles && *cycles >= 0 ? std::optional(*cycles) : std::nullopt;
}

const Instruction* product_row(const Machine& machine, Space a, DType type) {
  // The family's own first, should a catalogue have both.
  const bool blackwell = machine.arch.starts_with("sm_10");
  const std::array families{blackwell, !blackwell};
  const auto find = [&](bool tensor, Space space, DType each) -> const Instruction* {
    const Instruction* row = machine.find_instruction(product_name(tensor, space, each));
    return row && row->kind == InstructionKind::Product ? row : nullptr;
  };
  for (const bool tensor : families)
    if (const Instruction* row = find(tensor, a, type)) return row;
  // Other types are read as fast; where A cannot come from there, both come from shared memory.
  for (const Space space : {a, Space::Smem})
    for (const bool tensor : families)
      if (const Instruction* row = find(tensor, space, DType::Bf16)) return row;
  return nullptr;
}

}  // namespace

AccessCost sum_of(const AccessCost& a, const AccessCost& b) {
  return {a.known && b.known,          sat_add(a.port, b.port),       sat_add(a.least, b.least),
          sat_add(a.issues, b.issues), sat_add(a.selects, b.selects), std::max(a.ways, b.ways)};
}

std::int64_t port_of_bytes(std::int64_t bytes) { return ceil_div(bytes, std::int64_t{kBanks} * kBankBytes); }

std::string product_name(bool tensor_products, Space a, DType type) {
  const char* where = a == Space::Register ? "rs" : a == Space::Tmem ? "ts" : "ss";
  return fmt::format("{}.{}.{}", tensor_products ? "tcgen05.mma" : "wgmma", where, short_name(type));
}

AccessCost product_cost(const Machine& machine, Space a, DType type, const ProductSize& size) {
  AccessCost cost;
  const Instruction* row = product_row(machine, a, type);
  if (!row || row->m < 1 || row->k < 1) return cost;
  const auto cycles = cycles_of(*row, size);
  if (!cycles) return cost;
  // A step is as deep as 32 bytes, whatever the type.
  cost.issues = sat_mul(ceil_div(size.m, row->m), ceil_div(sat_mul(size.k, size.bits), 256));
  cost.port = cost.least = sat_mul(cost.issues, *cycles);
  cost.known = true;
  return cost;
}

AccessCost hand_over_cost(const Machine& machine, std::int64_t registers, std::int64_t threads, std::string_view instruction) {
  AccessCost cost;
  const Instruction* store = machine.find_instruction(instruction);
  if (!store || store->kind != InstructionKind::SharedStore || store->bytes < 1 || registers < 1 || threads < 1) return cost;
  const Instruction* load = machine.find_instruction(fmt::format("ld.shared.{}", store->bytes));
  if (!load) return cost;
  cost.issues = ceil_div(sat_mul(registers, 4), store->bytes);
  const std::int64_t warps = ceil_div(threads, kWarpLanes);
  for (const Instruction* row : {store, load}) {
    const auto cycles = row->cycles.evaluate({{"bytes", row->bytes}});
    const std::int64_t phases = ceil_div(kWarpLanes, std::max(row->lanes_per_phase, 1));
    cost.port = sat_add(cost.port, sat_mul(sat_mul(cost.issues, warps), sat_mul(phases, cycles ? *cycles : 1)));
  }
  cost.least = cost.port;  // neighbouring lanes, neighbouring words
  cost.known = true;
  return cost;
}

}  // namespace heddle
