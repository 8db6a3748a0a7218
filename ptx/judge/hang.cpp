// Warps are the nodes of a graph: from each that waits to those that could end its wait. A circle in it is the hang's reason; where there
// is none, some wait hangs on nobody, or on warps that have exited.
#include "ptx/judge/hang.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/judge/reference.h"

namespace heddle::ptx {
namespace {

const Mbarrier* mbarrier_at(const Barriers& barriers, std::uint64_t address) {
  for (const Mbarrier& barrier : barriers.mbarriers())
    if (barrier.address == address) return &barrier;
  return nullptr;
}

void add_once(std::vector<int>& list, int warp) {
  if (std::find(list.begin(), list.end(), warp) == list.end()) list.push_back(warp);
}

/// "w0, w4 to w7 and 3 more".
std::string names_of(std::vector<int> warps) {
  std::sort(warps.begin(), warps.end());
  std::string text;
  int said = 0;
  for (std::size_t i = 0; i < warps.size();) {
    std::size_t end = i + 1;
    while (end < warps.size() && warps[end] == warps[end - 1] + 1) ++end;
    if (end - i < 3) end = i + 1;
    if (said++ == 4) return text + fmt::format(" and {} more", warps.size() - i);
    text += (i == 0 ? "" : ", ") + warp_reference(warps[i]);
    if (end - i > 1) text += " to " + warp_reference(warps[end - 1]);
    i = end;
  }
  return text;
}

std::string mbarrier_lack(const HangWait& wait, const Barriers& barriers) {
  const Mbarrier* barrier = mbarrier_at(barriers, wait.address);
  const std::string name = barrier_reference(wait.address);
  if (barrier == nullptr) return fmt::format("{}, which was never made", name);
  const Epoch phase = barrier->phase - barrier->first;
  std::string text = fmt::format("{}, parity {}: phase {} lacks {} of {} arrivals", name, wait.parity ? 1 : 0, phase, barrier->pending,
                                 std::max(barrier->count, barrier->pending));
  if (barrier->bytes > 0) text += fmt::format(" and {} bytes", barrier->bytes);
  if (barrier->bytes < 0) text += fmt::format(", and {} bytes came that nobody expected", -barrier->bytes);
  std::vector<int> there;
  for (const Arrival& arrival : barrier->arrivals) add_once(there, arrival.warp);
  if (!there.empty()) text += fmt::format(" (arrived: {})", names_of(there));
  if (phase == 0 && barrier->arrive_places.empty()) text += "; nobody ever arrived there";
  return text;
}

std::string round_lack(const std::string& name, const Barriers::NamedRound* round) {
  if (round == nullptr || round->needed == 0) return name;
  std::vector<int> there;
  for (const Arrival& arrival : round->arrivals) add_once(there, arrival.warp);
  return fmt::format("{}: {} of {} threads are there{}", name, round->here, round->needed,
                     there.empty() ? "" : fmt::format(" (of {})", names_of(there)));
}

/// Who could end a wait.
class Enders {
 public:
  explicit Enders(const HangScene& scene) : scene_(scene) {}

  std::vector<int> of(const HangWait& wait) const {
    switch (wait.what) {
      case HangWait::For::Mbarrier: return of_mbarrier(wait);
      case HangWait::For::Named: {
        const int id = static_cast<int>(wait.address);
        return missing(scene_.barriers.named_round(wait.cta, id), scene_.barriers.named_users(wait.cta, id), wait.cta);
      }
      case HangWait::For::Cluster: return missing(&scene_.barriers.cluster_round(), {}, -1);
      case HangWait::For::Registers:
      case HangWait::For::TensorColumns: return others_in(wait.cta, wait.warp);
      case HangWait::For::Product: return of_group(wait);
    }
    return {};
  }

 private:
  std::vector<int> of_mbarrier(const HangWait& wait) const {
    const Mbarrier* barrier = mbarrier_at(scene_.barriers, wait.address);
    std::vector<int> warps;
    if (barrier == nullptr) return warps;
    for (const Arrival& place : barrier->arrive_places) {
      const auto here = [&](const Arrival& arrival) { return arrival.warp == place.warp; };
      // Who has come already may still owe bytes.
      if (barrier->bytes <= 0 && barrier->pending > 0 && std::any_of(barrier->arrivals.begin(), barrier->arrivals.end(), here)) continue;
      add_once(warps, place.warp);
    }

    std::erase(warps, wait.warp);
    return warps;
  }

  /// Those that came before and are not there now; where all are, any other warp of the CTA (of the cluster: -1).
  std::vector<int> missing(const Barriers::NamedRound* round, std::vector<int> users, int cta) const {
    const auto there = [&](int warp) {
      return round != nullptr &&
             std::any_of(round->arrivals.begin(), round->arrivals.end(), [&](const Arrival& a) { return a.warp == warp; });
    };
    std::erase_if(users, there);
    if (!users.empty()) return users;
    for (const HangWait& other : scene_.waits)
      if ((cta < 0 || other.cta == cta) && !there(other.warp)) add_once(users, other.warp);
    for (const int warp : scene_.exited)
      if ((cta < 0 || scene_.warps_per_cta == 0 || warp / scene_.warps_per_cta == cta) && !there(warp)) add_once(users, warp);
    return users;
  }

  std::vector<int> others_in(int cta, int warp) const {
    std::vector<int> warps;
    for (const HangWait& other : scene_.waits)
      if (other.cta == cta && other.warp != warp) add_once(warps, other.warp);
    return warps;
  }

  /// A product waits for the four warps of its group.
  std::vector<int> of_group(const HangWait& wait) const {
    const int first =
        scene_.warps_per_cta > 0 ? wait.warp % scene_.warps_per_cta / 4 * 4 + wait.cta * scene_.warps_per_cta : wait.warp / 4 * 4;
    std::vector<int> warps;
    for (int warp = first; warp < first + 4; ++warp)
      if (warp != wait.warp) warps.push_back(warp);
    return warps;
  }

  const HangScene& scene_;
};

/// Warps that wait at one place for the same.
struct HangGroup {
  HangWait wait;  ///< of the first of them
  std::vector<int> warps;
  std::vector<int> enders;  ///< warps
  std::vector<int> next;    ///< groups in which an ender waits
  /// Bytes came that nobody expects, or all arrived and bytes lack: what is wrong is wrong here.
  bool at_fault = false;
};

bool same_wait(const HangWait& a, const HangWait& b) {
  return a.what == b.what && a.pc == b.pc && a.cta == b.cta && a.address == b.address && a.parity == b.parity && a.amount == b.amount;
}

std::vector<HangGroup> groups_of(const HangScene& scene, const Enders& enders) {
  std::vector<HangGroup> groups;
  for (const HangWait& wait : scene.waits) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const HangGroup& g) { return same_wait(g.wait, wait); });
    if (group == groups.end()) group = groups.insert(groups.end(), {wait, {}, {}, {}, false});
    add_once(group->warps, wait.warp);
    for (const int ender : enders.of(wait)) add_once(group->enders, ender);
  }
  for (HangGroup& group : groups) {
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (const int ender : group.enders)
        if (std::find(groups[i].warps.begin(), groups[i].warps.end(), ender) != groups[i].warps.end())
          add_once(group.next, static_cast<int>(i));
    const Mbarrier* barrier = group.wait.what == HangWait::For::Mbarrier ? mbarrier_at(scene.barriers, group.wait.address) : nullptr;
    group.at_fault = barrier != nullptr && (barrier->bytes < 0 || (barrier->bytes > 0 && barrier->pending == 0));
  }
  return groups;
}

/// The first circle that is found from any group.
class CircleSearch {
 public:
  explicit CircleSearch(const std::vector<HangGroup>& groups) : groups_(groups), color_(groups.size()) {}

  std::vector<int> find() {
    for (std::size_t i = 0; i < groups_.size(); ++i)
      if (color_[i] == 0 && visit(static_cast<int>(i))) return circle_;
    return {};
  }

 private:
  // As deep as there are groups: some ten.
  bool visit(int group) {
    const auto at = static_cast<std::size_t>(group);
    color_[at] = 1;
    path_.push_back(group);
    for (const int next : groups_[at].next) {
      if (color_[static_cast<std::size_t>(next)] == 1) {
        circle_.assign(std::find(path_.begin(), path_.end(), next), path_.end());
        return true;
      }
      if (color_[static_cast<std::size_t>(next)] == 0 && visit(next)) return true;
    }
    path_.pop_back();
    color_[at] = 2;
    return false;
  }

  const std::vector<HangGroup>& groups_;
  std::vector<int> color_, path_, circle_;
};

std::string waits_said(const HangGroup& group, const Barriers& barriers) {
  return fmt::format("{} {} at {} for {}", names_of(group.warps), group.warps.size() == 1 ? "waits" : "wait",
                     place_reference(group.wait.pc), lack_of(group.wait, barriers));
}

void add_exits(const HangScene& scene, const std::vector<HangGroup>& groups, Findings& findings) {
  for (const HangGroup& group : groups) {
    const auto exited = [&](int warp) { return std::find(scene.exited.begin(), scene.exited.end(), warp) != scene.exited.end(); };
    if (group.enders.empty() || !std::all_of(group.enders.begin(), group.enders.end(), exited)) continue;
    findings.add({CheckRule::ExitWhileWaited,
                  group.wait.pc,
                  group.wait.warp,
                  fmt::format("{}; only {} could end that, and {} exited", waits_said(group, scene.barriers), names_of(group.enders),
                              group.enders.size() == 1 ? "it has" : "they have"),
                  {},
                  group.wait.cycle},
                 static_cast<std::int64_t>(group.wait.address));
  }
}

/// The groups to tell of, the reason first: a circle, from where something is wrong in itself; or all of them.
std::vector<int> reasons_of(const std::vector<HangGroup>& groups, bool& is_circle) {
  const auto at = [&](int group) -> const HangGroup& { return groups[static_cast<std::size_t>(group)]; };
  std::vector<int> told = CircleSearch(groups).find();
  const auto faulty = std::find_if(told.begin(), told.end(), [&](int group) { return at(group).at_fault; });
  is_circle = !told.empty() && (faulty != told.end() || std::ranges::none_of(groups, [](const HangGroup& g) { return g.at_fault; }));
  if (is_circle) {
    if (faulty != told.end()) std::rotate(told.begin(), faulty, told.end());
    return told;
  }
  told.clear();
  for (std::size_t i = 0; i < groups.size(); ++i) told.push_back(static_cast<int>(i));
  // Without a circle the ways from wait to wait end at one that hangs on nobody: the reason of the others.
  std::stable_sort(told.begin(), told.end(), [&](int a, int b) {
    if (at(a).at_fault != at(b).at_fault) return at(a).at_fault;
    if (at(a).next.empty() != at(b).next.empty()) return at(a).next.empty();
    return at(a).wait.cycle < at(b).wait.cycle;
  });
  return told;
}

constexpr std::size_t kMostTold = 12, kMostInSentence = 4;

}  // namespace

std::string lack_of(const HangWait& wait, const Barriers& barriers) {
  switch (wait.what) {
    case HangWait::For::Mbarrier: return mbarrier_lack(wait, barriers);
    case HangWait::For::Named:
      return round_lack(fmt::format("named barrier {}", wait.address), barriers.named_round(wait.cta, static_cast<int>(wait.address)));
    case HangWait::For::Cluster: return round_lack("the cluster's barrier", &barriers.cluster_round());
    case HangWait::For::Registers:
      return fmt::format("{} registers of the CTA's pool, which has {}", wait.amount, barriers.free_registers(wait.cta));
    case HangWait::For::Product: return "a product that not all warps of its group have issued";
    case HangWait::For::TensorColumns: return fmt::format("{} columns of tensor memory that nobody frees", wait.amount);
  }
  return {};
}

void report_hang(const HangScene& scene, Findings& findings) {
  if (scene.waits.empty()) return;
  const std::vector<HangGroup> groups = groups_of(scene, Enders(scene));
  bool is_circle = false;
  const std::vector<int> told = reasons_of(groups, is_circle);
  const HangGroup& first = groups[static_cast<std::size_t>(told.front())];
  CheckFinding hang{CheckRule::Hang, first.wait.pc, first.wait.warp, waits_said(first, scene.barriers), {}, first.wait.cycle};
  for (std::size_t i = 0; i < std::min(told.size(), kMostTold); ++i) {
    const HangGroup& group = groups[static_cast<std::size_t>(told[i])];
    hang.related.push_back({group.wait.pc, group.wait.warp, waits_said(group, scene.barriers)});
  }
  if (is_circle) {
    for (std::size_t i = 1; i < std::min(told.size(), kMostInSentence); ++i) hang.sentence += "; " + hang.related[i].what;
    if (told.size() > kMostInSentence) hang.sentence += fmt::format("; and {} more", told.size() - kMostInSentence);
    hang.sentence += told.size() > 1 ? ": they wait for each other" : ", which only they themselves could end";
  } else {
    hang.sentence +=
        first.enders.empty() ? ", and nobody is left who could end that" : fmt::format("; {} could end that", names_of(first.enders));
    if (scene.waits.size() > 1) hang.sentence += fmt::format("; {} waits in all", scene.waits.size());
  }
  findings.add(std::move(hang));
  add_exits(scene, groups, findings);
}

}  // namespace heddle::ptx
