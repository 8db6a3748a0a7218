#include "core/machine/limit_fields.h"

#include <algorithm>

namespace heddle {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 31;
constexpr LimitField kFields[] = {
    {"smem_bytes", &Limits::smem_bytes, 0, kLargest, true, "usable by one CTA"},
    {"tmem_columns", &Limits::tmem_columns, 0, 1 << 20, true, "0: the machine has none"},
    {"registers_per_sm", &Limits::registers_per_sm, 1, kLargest, true},
    {"registers_per_thread", &Limits::registers_per_thread, 1, 1 << 16, true},
    {"register_granule", &Limits::register_granule, 1, 1 << 10, false},
    {"register_overhead", &Limits::register_overhead, 0, 1 << 10, false, "per thread, for addresses and loop control"},
    {"producer_registers", &Limits::producer_registers, 0, 1 << 10, false, "budget of a group without register values"},
    {"warps_per_cta", &Limits::warps_per_cta, 1, 1 << 10, true},
    {"threads_per_warp", &Limits::threads_per_warp, 1, 1 << 10, false},
    {"named_barriers", &Limits::named_barriers, 0, 1 << 20, false}};

}  // namespace

std::span<const LimitField> limit_fields() { return kFields; }

const LimitField* find_limit(std::string_view name) {
  const auto* it = std::find_if(std::begin(kFields), std::end(kFields), [&](const LimitField& f) { return f.name == name; });
  return it == std::end(kFields) ? nullptr : it;
}

}  // namespace heddle
