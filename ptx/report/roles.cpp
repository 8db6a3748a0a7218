#include "ptx/report/roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace heddle::ptx {
namespace {

/// What one elected warp or lane of a group does for the others.
bool done_for_others(EventKind kind) {
  switch (kind) {
    case EventKind::Store:
    case EventKind::StoreCommit:
    case EventKind::StoreWait:
    case EventKind::Arrive:
    case EventKind::Expect:
    case EventKind::Fence:
    case EventKind::SharedWrite:
    case EventKind::SharedRead:
    case EventKind::GlobalRead:
    case EventKind::GlobalWrite:
    case EventKind::Exit: return true;
    default: return false;
  }
}

/// What warps do that have work of their own: they wait for each other by mbarriers or named barriers, or work for the whole CTA.
bool parts_warps(EventKind kind) {
  switch (kind) {
    case EventKind::Wait:
    case EventKind::NamedArrive:
    case EventKind::Registers:
    case EventKind::Load:
    case EventKind::Product:
    case EventKind::TensorLoad:
    case EventKind::TensorStore: return true;
    default: return false;
  }
}

constexpr const char* kAllWarps = "all warps";

using Path = std::set<int>;

struct PathOf {
  Path all, major, products;
};

std::string name_of(const PtxRole& role) {
  const auto some = [&](std::initializer_list<EventKind> kinds) {
    return std::any_of(kinds.begin(), kinds.end(), [&](EventKind kind) { return role.count(kind) > 0; });
  };
  const bool loads = some({EventKind::Load, EventKind::Copy});
  const bool multiplies = some({EventKind::Product});
  if (loads && multiplies) return "all in one";
  if (loads) return "producer";
  if (multiplies) return "products";
  if (some({EventKind::TensorLoad, EventKind::TensorStore})) return some({EventKind::Store, EventKind::GlobalWrite}) ? "epilogue" : "math";
  if (some({EventKind::Store, EventKind::GlobalWrite})) return "epilogue";
  if (some({EventKind::Wait, EventKind::Arrive, EventKind::NamedSync, EventKind::NamedArrive})) return "helper";
  return "idle";
}

}  // namespace

bool PtxRole::all() const { return name == kAllWarps; }

std::string PtxRecord::warp_name(int warp) const {
  if (ctas <= 1 || warps_per_cta == 0) return fmt::format("w{}", warp);
  return fmt::format("c{}.w{}", warp / warps_per_cta, warp % warps_per_cta);
}

std::vector<PtxRole> roles_of(const PtxRecord& record) {
  std::vector<PathOf> paths(static_cast<std::size_t>(record.warps_per_cta * record.ctas));
  std::vector<std::vector<bool>> seen(paths.size(), std::vector<bool>(record.function->code.size()));
  std::vector<bool> parted(static_cast<std::size_t>(record.ctas));
  for (const RunEvent& event : *record.trace) {
    if (seen[static_cast<std::size_t>(event.warp)][static_cast<std::size_t>(event.pc)]) continue;
    seen[static_cast<std::size_t>(event.warp)][static_cast<std::size_t>(event.pc)] = true;
    if (parts_warps(event.kind)) parted[static_cast<std::size_t>(record.cta_of_warp(event.warp))] = true;
    PathOf& path = paths[static_cast<std::size_t>(event.warp)];
    path.all.insert(event.pc);
    if (event.kind == EventKind::ProductWait || event.kind == EventKind::ProductCommit || event.kind == EventKind::ProductFence)
      path.products.insert(event.pc);
    if (!done_for_others(event.kind)) path.major.insert(event.pc);
  }
  std::map<std::pair<int, Path>, std::size_t> known;
  std::vector<PtxRole> roles;
  for (std::size_t warp = 0; warp < paths.size(); ++warp) {
    const PathOf& path = paths[warp];
    const int cta = record.cta_of_warp(static_cast<int>(warp));
    // A plain kernel has no roles, also where its first warp does more at the end.
    const Path& way = !parted[static_cast<std::size_t>(cta)] ? Path()
                      : !path.products.empty()               ? path.products
                      : !path.major.empty()                  ? path.major
                                                             : path.all;
    const auto [at, is_new] = known.try_emplace({cta, way}, roles.size());
    if (is_new) roles.push_back({"", cta, {}, {}});
    roles[at->second].warps.push_back(static_cast<int>(warp));
  }
  std::vector<std::size_t> role_of(paths.size());
  for (std::size_t role = 0; role < roles.size(); ++role)
    for (const int warp : roles[role].warps) role_of[static_cast<std::size_t>(warp)] = role;
  for (const RunEvent& event : *record.trace)
    ++roles[role_of[static_cast<std::size_t>(event.warp)]].events[static_cast<std::size_t>(event.kind)];

  std::map<int, int> of_cta;
  for (const PtxRole& role : roles) ++of_cta[role.cta];
  std::map<std::pair<int, std::string>, int> used;
  for (PtxRole& role : roles) ++used[{role.cta, role.name = of_cta[role.cta] == 1 ? kAllWarps : name_of(role)}];
  std::map<std::pair<int, std::string>, int> number;
  for (PtxRole& role : roles)
    if (const std::pair<int, std::string> key{role.cta, role.name}; used[key] > 1) role.name += fmt::format(" {}", ++number[key]);
  return roles;
}

std::string to_string(const PtxRole& role, const PtxRecord& record) {
  std::string warps;
  for (std::size_t i = 0; i < role.warps.size();) {
    std::size_t end = i;
    while (end + 1 < role.warps.size() && role.warps[end + 1] == role.warps[end] + 1) ++end;
    if (!warps.empty()) warps += ",";
    warps += record.warp_name(role.warps[i]);
    if (end > i) warps += (end == i + 1 ? "," : "-") + record.warp_name(role.warps[end]);
    i = end + 1;
  }
  return role.name + " " + warps;
}

std::string role_of_warp(const std::vector<PtxRole>& roles, const PtxRecord& record, int warp) {
  if (warp < 0) return "";
  for (const PtxRole& role : roles)
    if (!role.all() && std::binary_search(role.warps.begin(), role.warps.end(), warp)) return role.name + " " + record.warp_name(warp);
  return record.warp_name(warp);
}

}  // namespace heddle::ptx
