#include "ptx/judge/barriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "ptx/judge/reference.h"

namespace heddle::ptx {
namespace {

/// Largest count of arrivals and of bytes to come (PTX ISA 9.7.13.15.2).
constexpr std::int64_t kMostArrivals = (1 << 20) - 1, kMostBytes = (1 << 20) - 1;
constexpr int kNamedBarriers = 16;
constexpr int kWarpThreads = 32;
constexpr std::uint64_t kMbarrierBytes = 8;
/// Each has a component of every clock. The kernels of all toolchains have some tens.
constexpr std::size_t kMostMbarriers = 1 << 13;
constexpr std::size_t kMostRelated = 4;  ///< places beside the finding's own

std::int64_t as_other(std::uint64_t address) { return static_cast<std::int64_t>(address); }

std::int64_t arrivals_of(const Mbarrier& barrier) {
  std::int64_t arrived = 0;
  for (const Arrival& arrival : barrier.arrivals) arrived += arrival.count;
  return arrived;
}

void remember_place(Mbarrier& barrier, const Barriers::By& by) {
  const auto same = [&](const Arrival& past) { return past.warp == by.warp && past.pc == by.pc; };
  if (std::none_of(barrier.arrive_places.begin(), barrier.arrive_places.end(), same)) barrier.arrive_places.push_back({by.warp, by.pc, 1});
}

}  // namespace

struct Barriers::Rest {
  struct Named {
    NamedRound round;
    std::vector<int> users;
    bool open = false;   ///< somebody came to the round that goes on
    bool whole = false;  ///< it is for all threads (of the CTA, of the cluster) that have not exited
  };
  struct Pool {
    std::int64_t free = 0;
    std::vector<FragmentId> waiting;
  };
  std::map<std::pair<int, int>, Named> named;  ///< by CTA and id
  Named cluster;
  Epoch cluster_phase = 0;
  KnownClocks cluster_known;
  std::map<int, Pool> pools;
  std::map<std::uint64_t, std::size_t> living;  ///< valid mbarriers by address
  struct Gone {
    int cta = 0;
    std::uint32_t lanes = 0;
  };
  std::vector<Gone> gone;  ///< by warp: lanes that have exited or never were

  std::uint32_t gone_of(int warp) const {
    return warp >= 0 && static_cast<std::size_t>(warp) < gone.size() ? gone[static_cast<std::size_t>(warp)].lanes : 0;
  }

  /// Counts who is there. True where the round is complete: nobody else comes, or enough have. `cta`: -1: the cluster.
  bool count(Named& named, int cta) {
    struct Marks {
      std::uint32_t came = 0, counted = 0;
    };
    std::vector<Marks> marks(gone.size());
    named.round.here = 0;
    for (const Arrival& arrival : named.round.arrivals) {
      const auto warp = static_cast<std::size_t>(arrival.warp);
      if (warp >= marks.size()) marks.resize(warp + 1);
      const std::uint32_t counts = arrival.lanes | gone_of(arrival.warp);
      // Who comes again stands in for others.
      const bool again = (marks[warp].came & arrival.lanes) != 0;
      named.round.here += std::popcount(again ? counts : counts & ~marks[warp].counted);
      marks[warp].came |= arrival.lanes;
      marks[warp].counted |= counts;
    }
    int elsewhere = 0;
    if (named.whole)
      for (std::size_t warp = 0; warp < gone.size(); ++warp)
        if (marks[warp].came == 0 && (cta < 0 || gone[warp].cta == cta)) elsewhere += std::popcount(gone[warp].lanes);
    return named.round.here + elsewhere >= named.round.needed;
  }

  /// Ends the round; what all brought goes to the next one, too, since rounds are in order.
  static Joined complete(Named& named) {
    Joined joined{true, std::move(named.round.waiting), named.round.known};
    named.round = {};
    named.open = false;
    return joined;
  }

  Joined complete_cluster() {
    Joined joined = complete(cluster);
    ++cluster_phase;
    cluster_known.join(joined.known);
    joined.known = cluster_known;
    return joined;
  }
};

Barriers::Barriers(Components& components, Findings& findings) : components_(components), findings_(findings), rest_(new Rest) {}
Barriers::~Barriers() = default;

// mbarriers

void Barriers::find(CheckRule rule, const By& by, std::string sentence, std::int64_t other, std::vector<RelatedPlace> related) {
  findings_.add({rule, by.pc, by.warp, std::move(sentence), std::move(related), by.cycle}, other);
}

bool Barriers::init(std::uint64_t address, std::int64_t count, const By& by, Epoch epoch) {
  const std::string name = barrier_reference(address);
  if (address % kMbarrierBytes != 0)
    find(CheckRule::Misaligned, by, fmt::format("mbarrier at {}, which is no multiple of 8", shared_reference(address)), as_other(address));
  if (count < 1 || count > kMostArrivals)
    find(CheckRule::BarrierCount, by, fmt::format("{} is made for {} arrivals; it takes 1 to {}", name, count, kMostArrivals),
         as_other(address));
  count = std::clamp<std::int64_t>(count, 1, kMostArrivals);
  if (mbarriers_.size() >= kMostMbarriers && !by_address_.contains(address)) return false;
  const auto [found, made] = by_address_.try_emplace(address, mbarriers_.size());
  if (made) {
    Mbarrier& barrier = mbarriers_.emplace_back();
    barrier.address = address;
    barrier.component = components_.add(name);
  }
  Mbarrier& barrier = mbarriers_[found->second];
  if (barrier.valid) {
    const bool fresh = barrier.pending == barrier.count && barrier.bytes == 0 && barrier.phase == barrier.first && barrier.arrivals.empty();
    // Lanes of a warp that all make it, as it is.
    if (fresh && barrier.made_by == by.warp && barrier.made_at == by.pc && barrier.count == count) return true;
    find(CheckRule::BarrierPlace, by,
         fmt::format("{} is made by {} while it is in use: it was made at {} and not invalidated since{}", name, warp_reference(by.warp),
                     place_reference(barrier.made_at), barrier.waiting.empty() ? "" : ", and warps wait at it"),
         as_other(address), {{barrier.made_at, barrier.made_by, "made here"}});
  } else {
    rest_->living.emplace(address, found->second);
  }
  barrier.valid = true;
  barrier.first = barrier.phase;
  barrier.count = barrier.pending = static_cast<std::int32_t>(count);
  barrier.bytes = 0;
  barrier.gathered = barrier.done = {};
  barrier.arrivals.clear();
  barrier.steps.clear();
  barrier.steps_before.clear();
  barrier.waits.clear();
  barrier.had_bytes = barrier.bytes_before = false;
  barrier.made_by = by.warp;
  barrier.made_at = by.pc;
  barrier.made_component = by.component;
  barrier.made_epoch = epoch;
  barrier.fenced = false;
  barrier.used_early.clear();
  return true;
}

void Barriers::waits(Mbarrier& barrier, const By& by, const KnownClocks& known) {
  barrier.waited_at = true;
  const auto same = std::ranges::find(barrier.waits, by.warp, &Mbarrier::Step::warp);
  Mbarrier::Step& step = same != barrier.waits.end() ? *same : barrier.waits.emplace_back();
  step = {by.component, known.seen.at(by.component), by.warp, by.pc};
}

void Barriers::inval(std::uint64_t address, const By& by, const KnownClocks& known) {
  const auto found = by_address_.find(address);
  if (found == by_address_.end() || !mbarriers_[found->second].valid) {
    find(CheckRule::BarrierNotMade, by, fmt::format("no mbarrier is at {} to invalidate", shared_reference(address)), as_other(address));
    return;
  }
  Mbarrier& barrier = mbarriers_[found->second];
  check_rest_of(barrier);
  if (!barrier.waiting.empty())
    find(CheckRule::BarrierPlace, by, fmt::format("{} is invalidated while warps wait at it", barrier_reference(address)),
         as_other(address));
  const auto unknown =
      std::ranges::find_if(barrier.waits, [&](const Mbarrier::Step& step) { return known.seen.at(step.component) < step.epoch; });
  if (barrier.waiting.empty() && unknown != barrier.waits.end())
    find(CheckRule::BarrierPlace, by,
         fmt::format("{} invalidates {}, where {} may still wait at {}: nothing between orders them", warp_reference(by.warp),
                     barrier_reference(address), warp_reference(unknown->warp), place_reference(unknown->pc)),
         as_other(address), {{unknown->pc, unknown->warp, "waits there"}});
  barrier.valid = false;
  rest_->living.erase(address);
}

void Barriers::overwritten(std::uint64_t begin, std::uint64_t end, const char* what, const By& by) {
  auto at = rest_->living.upper_bound(begin);
  if (at != rest_->living.begin() && std::prev(at)->first + kMbarrierBytes > begin) --at;
  if (at == rest_->living.end() || at->first >= end) return;
  const Mbarrier& barrier = mbarriers_[at->second];
  find(CheckRule::BarrierPlace, by,
       fmt::format("{} by {} over {}, which was made at {} and not invalidated", what, warp_reference(by.warp),
                   barrier_reference(barrier.address), place_reference(barrier.made_at)),
       as_other(barrier.address), {{barrier.made_at, barrier.made_by, "made here"}});
}

Mbarrier* Barriers::use(std::uint64_t address, const By& by, const KnownClocks& known) {
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) {
    find(CheckRule::BarrierNotMade, by,
         fmt::format("{} uses an mbarrier at {}, where none was made", warp_reference(by.warp), shared_reference(address)),
         as_other(address));
    return nullptr;
  }
  Mbarrier& barrier = mbarriers_[found->second];
  if (!barrier.valid)
    find(CheckRule::BarrierNotMade, by,
         fmt::format("{} uses {}, which was invalidated", warp_reference(by.warp), barrier_reference(address)), as_other(address));
  else if (barrier.made_by != by.warp && known.seen.at(barrier.made_component) < barrier.made_epoch &&
           std::find(barrier.used_early.begin(), barrier.used_early.end(), by.warp) == barrier.used_early.end()) {
    barrier.used_early.push_back(by.warp);
    find(CheckRule::BarrierBeforeMade, by,
         fmt::format("{} uses {}, which {} made at {}, with nothing between that orders them", warp_reference(by.warp),
                     barrier_reference(address), warp_reference(barrier.made_by), place_reference(barrier.made_at)),
         as_other(address), {{barrier.made_at, barrier.made_by, "made here"}});
  }
  return &barrier;
}

std::vector<FragmentId> Barriers::turn(Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0) return {};
  ++barrier.phase;
  // Phases are in order, so what one gathered the next one has, too.
  barrier.gathered.seen.raise(barrier.component, barrier.phase);
  barrier.done = barrier.gathered;
  barrier.pending = barrier.count;
  barrier.arrivals.clear();
  barrier.steps_before.swap(barrier.steps);
  barrier.steps.clear();
  barrier.bytes_before = std::exchange(barrier.had_bytes, false);
  return std::exchange(barrier.waiting, {});
}

void Barriers::check_early(const Mbarrier& barrier, const KnownClocks& brought, const By& by) {
  const bool relaxed = brought.seen.at(by.component) == 0;
  if (ctas_ > 1 || relaxed || !barrier.waited_at || barrier.phase == barrier.first || brought.seen.at(barrier.component) >= barrier.phase)
    return;
  // Without bytes the last arrival ends the phase, so who knows all of them knows that it is over.
  const auto unknown =
      std::ranges::find_if(barrier.steps_before, [&](const Mbarrier::Step& step) { return brought.seen.at(step.component) < step.epoch; });
  const Epoch before = barrier.phase - barrier.first - 1;
  if (unknown == barrier.steps_before.end() && !barrier.bytes_before) return;
  std::vector<RelatedPlace> related;
  if (unknown != barrier.steps_before.end())
    related.push_back({unknown->pc, unknown->warp, fmt::format("arrives in phase {}, which this arrival does not wait for", before)});
  find(CheckRule::ArrivalsOverCount, by,
       fmt::format("{} arrives at {} in phase {} with nothing that orders it behind the end of phase {}: it may count there, too",
                   warp_reference(by.warp), barrier_reference(barrier.address), before + 1, before),
       as_other(barrier.address), std::move(related));
}

std::vector<FragmentId> Barriers::arrive(Mbarrier& barrier, std::int64_t count, std::int64_t bytes, const KnownClocks& brought,
                                         const By& by) {
  if (bytes != 0) expect(barrier, bytes, by);
  remember_place(barrier, by);
  if (count < 1 || count > kMostArrivals) {
    find(CheckRule::BarrierCount, by,
         fmt::format("{} arrivals at {} in one instruction; it takes 1 to {}", count, barrier_reference(barrier.address), kMostArrivals),
         as_other(barrier.address));
    if (count < 1) return turn(barrier);
    count = kMostArrivals;
  }
  check_early(barrier, brought, by);
  barrier.steps.push_back({by.component, brought.seen.at(by.component), by.warp, by.pc});
  barrier.gathered.join(brought);
  barrier.arrivals.push_back({by.warp, by.pc, static_cast<std::int32_t>(count)});
  barrier.pending -= static_cast<std::int32_t>(count);
  if (barrier.pending < 0) {
    std::vector<RelatedPlace> others;
    for (const Arrival& arrival : barrier.arrivals)
      if (others.size() < kMostRelated && (arrival.warp != by.warp || arrival.pc != by.pc))
        others.push_back({arrival.pc, arrival.warp, "arrives in the same phase"});
    const std::int64_t arrived = arrivals_of(barrier);
    find(CheckRule::ArrivalsOverCount, by,
         fmt::format("{} gets {} arrivals in phase {}, and its count is {}", barrier_reference(barrier.address), arrived,
                     barrier.phase - barrier.first, arrived + barrier.pending),
         as_other(barrier.address), std::move(others));
    barrier.pending = 0;
  }
  return turn(barrier);
}

std::vector<FragmentId> Barriers::arrive_and_drop(Mbarrier& barrier, std::int64_t count, const KnownClocks& brought, const By& by) {
  // The phase that goes on has the arrival; `turn` takes the new count for the next one. Where all have dropped nobody comes any more.
  barrier.count = static_cast<std::int32_t>(std::clamp<std::int64_t>(barrier.count - count, 1, barrier.count));
  return arrive(barrier, count, 0, brought, by);
}

void Barriers::expect(Mbarrier& barrier, std::int64_t bytes, const By& by) {
  barrier.bytes += bytes;
  barrier.had_bytes = true;
  if (bytes < 0 || bytes > kMostBytes || barrier.bytes > kMostBytes)
    find(CheckRule::BarrierCount, by,
         fmt::format("{} expects {} bytes more, {} in all; it counts to {}", barrier_reference(barrier.address), bytes, barrier.bytes,
                     kMostBytes),
         as_other(barrier.address));
}

std::vector<FragmentId> Barriers::complete(Mbarrier& barrier, std::int64_t bytes, const By& by) {
  remember_place(barrier, by);
  barrier.bytes -= bytes;
  if (barrier.bytes < -kMostBytes)
    find(CheckRule::BarrierCount, by,
         fmt::format("{} got {} bytes that it does not expect; it counts to {}", barrier_reference(barrier.address), -barrier.bytes,
                     kMostBytes),
         as_other(barrier.address));
  return turn(barrier);
}

void Barriers::fence_made(int warp) {
  for (Mbarrier& barrier : mbarriers_)
    if (barrier.made_by == warp) barrier.fenced = true;
}

void Barriers::check_rest_of(const Mbarrier& barrier) {
  const By by{barrier.made_by, barrier.made_at, barrier.made_component, 0};
  std::vector<RelatedPlace> related;
  for (const Arrival& place : barrier.arrive_places)
    if (related.size() < kMostRelated) related.push_back({place.pc, place.warp, "arrives or brings bytes"});
  const Epoch phase = barrier.phase - barrier.first;
  if (barrier.bytes != 0)
    find(CheckRule::BytesLeft, by,
         barrier.bytes > 0 ? fmt::format("{} ends with {} bytes expected that no copy brought (phase {})",
                                         barrier_reference(barrier.address), barrier.bytes, phase)
                           : fmt::format("{} ends with {} bytes that copies brought and nobody expected (phase {})",
                                         barrier_reference(barrier.address), -barrier.bytes, phase),
         as_other(barrier.address), related);
  const std::int64_t arrived = arrivals_of(barrier);
  if (arrived != 0 && barrier.pending != 0)
    find(CheckRule::PartialPhase, by,
         fmt::format("{} ends inside phase {}, with {} of {} arrivals", barrier_reference(barrier.address), phase, arrived,
                     arrived + barrier.pending),
         as_other(barrier.address), std::move(related));
}

void Barriers::check_end() {
  for (const Mbarrier& barrier : mbarriers_)
    if (barrier.valid) check_rest_of(barrier);
}

// named barriers and the cluster's

namespace {

/// Adds who came to a round. False where these lanes of the warp are there already.
bool add_to(Barriers::NamedRound& round, std::uint32_t lanes, const KnownClocks& brought, const Barriers::By& by) {
  const bool again =
      std::ranges::any_of(round.arrivals, [&](const Arrival& past) { return past.warp == by.warp && (past.lanes & lanes) != 0; });
  round.arrivals.push_back({by.warp, by.pc, std::popcount(lanes), lanes});
  round.known.join(brought);
  return !again;
}

std::vector<RelatedPlace> others_of(const Barriers::NamedRound& round, const Barriers::By& by) {
  std::vector<RelatedPlace> others;
  for (const Arrival& arrival : round.arrivals)
    if (others.size() < kMostRelated && (arrival.pc != by.pc || arrival.warp != by.warp))
      others.push_back({arrival.pc, arrival.warp, "comes to the same barrier"});
  return others;
}

}  // namespace

std::vector<std::pair<int, Barriers::Joined>> Barriers::exit_lanes(int cta, int warp, std::uint32_t lanes) {
  std::vector<Rest::Gone>& gone = rest_->gone;
  if (gone.size() <= static_cast<std::size_t>(warp)) gone.resize(static_cast<std::size_t>(warp) + 1);
  gone[static_cast<std::size_t>(warp)].cta = cta;
  gone[static_cast<std::size_t>(warp)].lanes |= lanes;
  std::vector<std::pair<int, Joined>> complete;
  for (auto& [place, named] : rest_->named)
    if (place.first == cta && named.open && rest_->count(named, cta)) complete.emplace_back(place.second, Rest::complete(named));
  if (rest_->cluster.open && rest_->count(rest_->cluster, -1)) complete.emplace_back(kClusterBarrier, rest_->complete_cluster());
  return complete;
}

Barriers::Joined Barriers::join_named(NamedPlace at, int threads_needed, std::uint32_t lanes, const KnownClocks& brought, const By& by) {
  const int id = at.id;
  const auto wrong = [&](std::string sentence, std::vector<RelatedPlace> related = {}) {
    find(CheckRule::NamedBarrierCount, by, std::move(sentence), id, std::move(related));
  };
  if (id < 0 || id >= kNamedBarriers) wrong(fmt::format("named barrier {}: they are 0 to {}", id, kNamedBarriers - 1));
  if (threads_needed <= 0 || threads_needed % kWarpThreads != 0)
    wrong(fmt::format("named barrier {} with {} threads, which is no multiple of {}", id, threads_needed, kWarpThreads));
  Rest::Named& named = rest_->named[{at.cta, at.id}];
  NamedRound& round = named.round;
  if (named.open && round.needed != threads_needed)
    wrong(fmt::format("named barrier {} is used with {} threads, while others wait there with {}", id, threads_needed, round.needed),
          others_of(round, by));
  named.open = true;
  round.needed = threads_needed;
  if (std::find(named.users.begin(), named.users.end(), by.warp) == named.users.end()) named.users.push_back(by.warp);
  // A warp that has arrived may wait as well: kernels count it twice, or give their own group the first turn so.
  if (!add_to(round, lanes, brought, by) && !at.waits)
    wrong(fmt::format("{} comes to named barrier {} a second time before {} threads are there: it stands in for another warp",
                      warp_reference(by.warp), id, round.needed),
          others_of(round, by));
  named.whole = at.whole;
  if (!rest_->count(named, at.cta)) return {};
  if (round.here > round.needed)
    wrong(fmt::format("{} threads come to named barrier {}, which is for {}", round.here, id, round.needed), others_of(round, by));
  return Rest::complete(named);
}

void Barriers::wait_named(int cta, int id, FragmentId fragment) { rest_->named[{cta, id}].round.waiting.push_back(fragment); }

const Barriers::NamedRound* Barriers::named_round(int cta, int id) const {
  const auto found = rest_->named.find({cta, id});
  return found == rest_->named.end() || !found->second.open ? nullptr : &found->second.round;
}

std::vector<int> Barriers::named_users(int cta, int id) const {
  const auto found = rest_->named.find({cta, id});
  return found == rest_->named.end() ? std::vector<int>{} : found->second.users;
}

Barriers::Joined Barriers::arrive_cluster(int threads_needed, std::uint32_t lanes, const KnownClocks& brought, const By& by) {
  Rest::Named& cluster = rest_->cluster;
  if (!add_to(cluster.round, lanes, brought, by))
    find(CheckRule::NamedBarrierCount, by,
         fmt::format("{} arrives at the cluster's barrier a second time in one phase", warp_reference(by.warp)), -1,
         others_of(cluster.round, by));
  cluster.open = cluster.whole = true;
  cluster.round.needed = threads_needed;
  return rest_->count(cluster, -1) ? rest_->complete_cluster() : Joined{};
}

Epoch Barriers::cluster_phase() const { return rest_->cluster_phase; }
const KnownClocks& Barriers::cluster_known() const { return rest_->cluster_known; }
void Barriers::wait_cluster(FragmentId fragment) { rest_->cluster.round.waiting.push_back(fragment); }
const Barriers::NamedRound& Barriers::cluster_round() const { return rest_->cluster.round; }

// the pool of registers

void Barriers::set_pool(int cta, std::int64_t free_registers) { rest_->pools[cta].free = free_registers; }

bool Barriers::take_registers(int cta, std::int64_t registers) {
  std::int64_t& free = rest_->pools[cta].free;
  if (registers > free) return false;
  free -= registers;
  return true;
}

std::vector<FragmentId> Barriers::give_registers(int cta, std::int64_t registers) {
  Rest::Pool& pool = rest_->pools[cta];
  pool.free += registers;
  return std::exchange(pool.waiting, {});
}

void Barriers::wait_registers(int cta, FragmentId fragment) { rest_->pools[cta].waiting.push_back(fragment); }

std::int64_t Barriers::free_registers(int cta) const {
  const auto found = rest_->pools.find(cta);
  return found == rest_->pools.end() ? 0 : found->second.free;
}

}  // namespace heddle::ptx
