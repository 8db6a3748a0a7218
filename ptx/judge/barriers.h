// The state of everything that warps wait at: mbarriers, named barriers, the cluster's barrier, the pool of registers. Times are kept by
// who runs the warps: a call that ends a wait gives back whom to wake.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/judge/clock.h"
#include "ptx/judge/finding.h"

namespace heddle::ptx {

/// A fragment of a warp that runs by itself (ptx/run/cluster.h), as barriers know it.
using FragmentId = std::int32_t;

/// An arrival of this phase, for the report of a hang.
struct Arrival {
  int warp = -1, pc = -1;
  std::int32_t count = 1;
  std::uint32_t lanes = 0;  ///< of the warp, at a named barrier or the cluster's
};

struct Mbarrier {
  std::uint64_t address = 0;  ///< of shared memory in the cluster: CTA in bits 24 and up
  Component component = 0;
  std::int32_t count = 0, pending = 0;  ///< arrivals of a phase; those that are to come
  std::int64_t bytes = 0;               ///< expected and not come yet; negative: come and not expected yet
  Epoch phase = 0;                      ///< completed ones, since it was first made
  Epoch first = 0;                      ///< `phase` when it was made the last time: parity counts from here
  KnownClocks gathered, done;           ///< of those who arrived in this phase; of the last completed one
  int made_by = -1, made_at = -1;       ///< warp, pc
  Component made_component = 0;         ///< of the warp that made it
  Epoch made_epoch = 0;                 ///< of that warp
  bool fenced = false;                  ///< a fence made it known to the async proxy, or it was said that none did
  std::vector<int> used_early;          ///< warps of which it was said that they use it before they can know that it is made
  bool valid = false;                   ///< made, and not invalidated since
  std::vector<Arrival> arrivals;        ///< of this phase
  /// The steps of who arrived in this phase and in the one before: an arrival has to follow the end of the phase before.
  struct Step {
    Component component = 0;
    Epoch epoch = 0;
    int warp = -1, pc = -1;
  };
  std::vector<Step> steps, steps_before;
  bool had_bytes = false, bytes_before = false;  ///< this phase, the phase before: bytes were to come
  bool waited_at = false;                        ///< somebody tried to wait here, ever
  std::vector<Step> waits;                       ///< since it was made, of each warp the last
  std::vector<FragmentId> waiting;
  /// Who ever arrived here or brought bytes, once for each warp and pc, for the report of a hang.
  std::vector<Arrival> arrive_places;
};

/// Of one cluster.
class Barriers {
 public:
  Barriers(Components& components, Findings& findings);
  ~Barriers();

  struct By {  ///< who does it
    int warp = -1, pc = -1;
    Component component = 0;  ///< of the warp
    std::int64_t cycle = 0;
  };

  // mbarriers
  /// False where there are more mbarriers than are kept.
  bool init(std::uint64_t address, std::int64_t count, const By& by, Epoch epoch);
  /// Who waited here must be known to have done so.
  void inval(std::uint64_t address, const By& by, const KnownClocks& known);
  /// Bytes [begin, end) are written by something else than a barrier's instructions ("copy", "store"): a finding where a barrier lives.
  void overwritten(std::uint64_t begin, std::uint64_t end, const char* what, const By& by);
  /// A try to wait.
  void waits(Mbarrier& barrier, const By& by, const KnownClocks& known);
  /// The barrier at an address, found valid and known to `known`, else a finding and (where nothing was ever made there) nullptr.
  Mbarrier* use(std::uint64_t address, const By& by, const KnownClocks& known);
  /// `count` arrivals that bring `brought`; expects `bytes` more first. Whom to wake, if the phase is complete.
  std::vector<FragmentId> arrive(Mbarrier& barrier, std::int64_t count, std::int64_t bytes, const KnownClocks& brought, const By& by);
  /// The count of following phases is one less, too.
  std::vector<FragmentId> arrive_and_drop(Mbarrier& barrier, std::int64_t count, const KnownClocks& brought, const By& by);
  void expect(Mbarrier& barrier, std::int64_t bytes, const By& by);
  std::vector<FragmentId> complete(Mbarrier& barrier, std::int64_t bytes, const By& by);
  /// Whether the phase of that parity (from its last init) is over.
  static bool over(const Mbarrier& barrier, bool parity) { return ((barrier.phase - barrier.first + 1) & 1) == (parity ? 1u : 0u); }
  /// Of a cluster of several CTAs bytes of another CTA's copy order arrivals, which clocks do not say: early arrivals are not judged there.
  void set_ctas(int ctas) { ctas_ = ctas; }
  /// In the order in which they were made; they stay where they are.
  const std::deque<Mbarrier>& mbarriers() const { return mbarriers_; }
  /// At the end of a run that did not hang: bytes that are left, phases that are left half done.
  void check_end();

  // named barriers of a CTA. `threads_needed`: where the text says no count, all of the CTA, in whole warps; `lanes`: who comes of the
  // warp. Lanes that have exited or never were count with those of their warp that come.
  struct NamedPlace {
    int cta = 0, id = 0;
    bool whole = false;  ///< the text says no count: all of the CTA that has not exited
    bool waits = false;  ///< who comes waits for the others, too
  };
  struct Joined {
    bool complete = false;          ///< the barrier was completed by this one
    std::vector<FragmentId> woken;  ///< those that waited (the caller's own not among them)
    KnownClocks known;              ///< what all that came brought
  };
  Joined join_named(NamedPlace at, int threads_needed, std::uint32_t lanes, const KnownClocks& brought, const By& by);
  void wait_named(int cta, int id, FragmentId fragment);
  /// Lanes of a warp have exited (or are none: the last warp of a CTA may have fewer). Nobody waits for them: the rounds that this
  /// completes, by the named barrier's id or kClusterBarrier.
  std::vector<std::pair<int, Joined>> exit_lanes(int cta, int warp, std::uint32_t lanes);
  static constexpr int kClusterBarrier = -1;
  /// The round of a named barrier that is not complete; nullptr: nobody is there.
  struct NamedRound {
    int needed = 0, here = 0;  ///< threads; `here` with lanes of their warps that have exited
    std::vector<Arrival> arrivals;
    std::vector<FragmentId> waiting;
    KnownClocks known;
  };
  const NamedRound* named_round(int cta, int id) const;
  /// Who ever came to that barrier: warps, each once.
  std::vector<int> named_users(int cta, int id) const;

  // the cluster's barrier: arrive and wait apart. `threads_needed`: all of the cluster, in whole warps.
  Joined arrive_cluster(int threads_needed, std::uint32_t lanes, const KnownClocks& brought, const By& by);
  /// What is known after the phase that `phase` names, if it is over; else the fragment waits.
  Epoch cluster_phase() const;
  const KnownClocks& cluster_known() const;
  void wait_cluster(FragmentId fragment);
  const NamedRound& cluster_round() const;

  // the pool of registers of a CTA (setmaxnreg)
  void set_pool(int cta, std::int64_t free_registers);
  bool take_registers(int cta, std::int64_t registers);
  std::vector<FragmentId> give_registers(int cta, std::int64_t registers);
  void wait_registers(int cta, FragmentId fragment);
  std::int64_t free_registers(int cta) const;

  /// A fence made barriers that this warp made known to the async proxy (fence.mbarrier_init, fence.proxy.async).
  void fence_made(int warp);

 private:
  Components& components_;
  Findings& findings_;
  std::deque<Mbarrier> mbarriers_;
  std::unordered_map<std::uint64_t, std::size_t> by_address_;
  struct Rest;
  std::unique_ptr<Rest> rest_;
  int ctas_ = 1;

  void find(CheckRule rule, const By& by, std::string sentence, std::int64_t other, std::vector<RelatedPlace> related = {});
  /// An arrival that nothing orders behind the end of the phase before might have been one of that phase.
  void check_early(const Mbarrier& barrier, const KnownClocks& brought, const By& by);
  /// The next phase, if nothing is missing in this one: who is to be woken.
  std::vector<FragmentId> turn(Mbarrier& barrier);
  /// What is left of its last phase.
  void check_rest_of(const Mbarrier& barrier);
};

}  // namespace heddle::ptx
