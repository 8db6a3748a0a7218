// Roles: warps of a CTA that take the same way through the code.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "ptx/report/record.h"

namespace heddle::ptx {

struct PtxRole {
  /// "producer", "products", "epilogue", "math", "helper", "idle", "all in one"; numbered where a CTA has several. "all warps": it has no
  /// others.
  std::string name;
  int cta = 0;
  std::vector<int> warps;                          ///< in the cluster, rising
  std::array<std::int64_t, kEventKinds> events{};  ///< how many of each kind
  bool all() const;
  std::int64_t count(EventKind kind) const { return events[static_cast<std::size_t>(kind)]; }
};

/// By CTA and first warp. What only one elected warp of a group does (stores, arrives) makes no role of its own.
std::vector<PtxRole> roles_of(const PtxRecord& record);

/// "producer w0", "products w4-w11".
std::string to_string(const PtxRole& role, const PtxRecord& record);
/// The role's name and this warp: "producer w0"; where all warps have one role, "w0".
std::string role_of_warp(const std::vector<PtxRole>& roles, const PtxRecord& record, int warp);

}  // namespace heddle::ptx
