// Warps are the nodes of a graph: from each that waits to those that could end its wait. A circle in it is the hang's reason; where there
// is none, some wait hangs on nobody, or on warps that have exited.
#include "ptx/judge/hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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

std::string names_of(const std::vector<int>& warps) {
  std::string text;
  for (std::size_t i = 0; i < warps.size() && i < 4; ++i) text += (i == 0 ? "" : ", ") + warp_reference(warps[i]);
  if (warps.size() > 4) text += fmt::format(" and {} more", warps.size() - 4);
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
    if (scene_.may_arrive)
      for (const HangWait& other : scene_.waits)
        if (scene_.may_arrive(other.warp, *barrier)) add_once(warps, other.warp);
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

/// The first circle that is found from any wait, as places in `scene.waits`; empty: there is none.
class CircleSearch {
 public:
  CircleSearch(const HangScene& scene, const Enders& enders) {
    std::map<int, std::vector<int>> waits_of;
    for (std::size_t i = 0; i < scene.waits.size(); ++i) waits_of[scene.waits[i].warp].push_back(static_cast<int>(i));
    next_.resize(scene.waits.size());
    for (std::size_t i = 0; i < scene.waits.size(); ++i)
      for (const int warp : enders.of(scene.waits[i]))
        if (const auto found = waits_of.find(warp); found != waits_of.end())
          next_[i].insert(next_[i].end(), found->second.begin(), found->second.end());
    color_.resize(scene.waits.size());
  }

  std::vector<int> find() {
    for (std::size_t i = 0; i < next_.size(); ++i)
      if (color_[i] == 0 && visit(static_cast<int>(i))) return circle_;
    return {};
  }
  /// Whether who could end it does not wait itself.
  bool hangs_on_nobody(int wait) const { return next_[static_cast<std::size_t>(wait)].empty(); }

 private:
  // At most one wait of a warp's fragment deep: some hundred.
  bool visit(int wait) {
    const auto at = static_cast<std::size_t>(wait);
    color_[at] = 1;
    path_.push_back(wait);
    for (const int next : next_[at]) {
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

  std::vector<std::vector<int>> next_;
  std::vector<int> color_, path_, circle_;
};

std::string waits_said(const HangWait& wait, const Barriers& barriers) {
  return fmt::format("{} waits at {} for {}", warp_reference(wait.warp), place_reference(wait.pc), lack_of(wait, barriers));
}

constexpr std::size_t kMostWaits = 12;  ///< of a hang without a circle

void add_exits(const HangScene& scene, const Enders& enders, Findings& findings) {
  for (const HangWait& wait : scene.waits) {
    const std::vector<int> warps = enders.of(wait);
    const auto exited = [&](int warp) { return std::find(scene.exited.begin(), scene.exited.end(), warp) != scene.exited.end(); };
    if (warps.empty() || !std::all_of(warps.begin(), warps.end(), exited)) continue;
    findings.add({CheckRule::ExitWhileWaited,
                  wait.pc,
                  wait.warp,
                  fmt::format("{}; only {} could end that, and {} exited", waits_said(wait, scene.barriers), names_of(warps),
                              warps.size() == 1 ? "it has" : "they have"),
                  {},
                  wait.cycle},
                 static_cast<std::int64_t>(wait.address));
  }
}

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
  const Enders enders(scene);
  CircleSearch search(scene, enders);
  std::vector<int> circle = search.find();
  const bool found = !circle.empty();
  if (!found)
    for (std::size_t i = 0; i < scene.waits.size(); ++i) circle.push_back(static_cast<int>(i));
  // Without a circle the ways from wait to wait end at one that hangs on nobody: the reason of the others.
  const auto sooner = [&](int a, int b) {
    const bool reason_a = search.hangs_on_nobody(a), reason_b = search.hangs_on_nobody(b);
    if (reason_a != reason_b) return reason_a;
    return scene.waits[static_cast<std::size_t>(a)].cycle < scene.waits[static_cast<std::size_t>(b)].cycle;
  };
  if (!found) std::stable_sort(circle.begin(), circle.end(), sooner);
  const HangWait& first = scene.waits[static_cast<std::size_t>(circle.front())];
  CheckFinding hang{CheckRule::Hang, first.pc, first.warp, waits_said(first, scene.barriers), {}, first.cycle};
  for (std::size_t i = 0; i < circle.size() && (found || i < kMostWaits); ++i) {
    const HangWait& wait = scene.waits[static_cast<std::size_t>(circle[i])];
    hang.related.push_back({wait.pc, wait.warp, waits_said(wait, scene.barriers)});
  }
  if (found) {
    for (std::size_t i = 1; i < circle.size(); ++i)
      if (i < 4) hang.sentence += "; " + hang.related[i].what;
    if (circle.size() > 4) hang.sentence += fmt::format("; and {} more", circle.size() - 4);
    hang.sentence += circle.size() > 1 ? ": they wait for each other" : ", which only it could end";
  } else {
    const std::vector<int> warps = enders.of(first);
    hang.sentence += warps.empty() ? ", and nobody is left who could end that" : fmt::format("; {} could end that", names_of(warps));
    if (circle.size() > 1) hang.sentence += fmt::format("; {} waits in all", circle.size());
  }
  findings.add(std::move(hang));
  add_exits(scene, enders, findings);
}

}  // namespace heddle::ptx
