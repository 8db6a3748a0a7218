// A schedule as Triton is told it: stages and clusters for the ops of a loop. The schedule decides about ops that do work; the others
// (views, indices, addresses) go where these need them. Every group has a loop of its own, and so a turn of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/triton/kernel/native.h"
#include "core/triton/read/decisions.h"
#include "core/triton/read/order.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

/// How an order is written: with as few clusters as it takes, or with one for each op that does work, which leaves no doubt about the
/// others.
enum class Clusters { Few, OneEach };

class Staging {
 public:
  Staging(const TritonProgram& program, const LoopSite& loop, const Native& native, const Problem& problem, const Schedule& schedule);

  /// The groups that have work.
  std::set<GroupId> groups() const;

  /// The group of every op of the text that does work.
  std::map<std::size_t, GroupId> group_of_places() const;

  /// Stages that follow from where each group's turn is taken to begin, and clusters from its order; a load of `ahead` so many stages
  /// earlier. `rings_fit`: those of the text as it is are no deeper than the schedule's.
  Decisions decide(std::map<std::size_t, int> ahead, bool rings_fit, Clusters clusters) const;

  /// Ops of different partitions need no order: barriers keep it.
  void take_apart(const std::vector<std::vector<std::int64_t>>& partitions);

  /// Loads at these places come where no reader of theirs is overtaken, in every turn: on Hopper in front of all who read what they load,
  /// since Triton gives their rings a slot for that; on Blackwell behind them, a stage earlier, since there it gives none.
  void put_aside(const std::set<std::size_t>& places) { aside_ = places; }
  /// Of those, loads that do not come right behind their readers either, since an mma reads on there: in front of them, where what Triton
  /// waits for in between has ended it.
  void put_in_front(const std::set<std::size_t>& places) { in_front_ = places; }

  /// A load whose ring would get a slot too many where it comes in front of its readers: behind them, if that is as fast.
  void put_behind(std::size_t place) { behind_.insert(place); }

  /// Where the op that fills a channel stands in the loop's body.
  std::optional<std::size_t> place_of(heddle::OpId op) const;

 private:
  struct Edge {
    std::size_t from, to;  ///< places
    int distance;
  };

  /// Who reads what a load brings: itself or through the allocation that becomes its ring; of ops that do no work those behind them too,
  /// since they go where these need them.
  void find_readers(const mlir::Module& module, const mlir::Block& body, std::size_t load);

  /// Whether of two ops one loads what the other one reads. In one cluster the copy into a slot would come before it is read.
  bool share_ring(std::size_t a, std::size_t b) const;

  /// Whether the text itself has a load and its reader in one cluster.
  bool is_crowded(GroupId group) const;

  Cycle start(std::size_t op) const;
  const Decision& old(std::size_t op) const;

  std::optional<GroupId> group_at(std::size_t place) const;

  static int ahead_of(const std::map<std::size_t, int>& ahead, std::size_t op);

  static Position position(const Decisions& of, std::size_t place);

  /// A group's ops in the order in which the text runs them within a step.
  std::vector<std::size_t> written_order(GroupId group) const;

  /// Whether a turn of the loop as the text has it is one of the schedule: its ops start one after the other and all within II of the
  /// first.
  bool runs_as_written(const std::vector<std::size_t>& written) const;

  Cycle best_cut(GroupId group, const std::map<std::size_t, int>& ahead) const;

  /// The order of a group's ops from this cycle on. Copies that are issued one after the other stay in the order of the text: they share a
  /// barrier there, and which comes first matters little to what reads them stages later.
  std::vector<std::size_t> turn(Cycle cut, const std::vector<std::size_t>& written) const;

  /// The same turn with its copies where the text has them, if by the model that order sustains the schedule's II too: what changes nothing
  /// for the better is not written.
  std::vector<std::size_t> calm(std::vector<std::size_t> order, const std::vector<std::size_t>& written, Cycle cut) const;

  /// Whether that order of a group's ops, with those loads so many stages earlier, sustains the schedule's II by the model.
  bool sustains(const std::vector<std::size_t>& order, const std::map<std::size_t, int>& ahead, Cycle cut) const;

  /// The same turn with the loads that are put aside; `ahead`: how many stages earlier they come there.
  std::vector<std::size_t> put_loads_aside(std::vector<std::size_t> order, std::map<std::size_t, int>& ahead, Cycle cut) const;

  /// Cycles from the beginning of a turn.
  Cycle phase(Cycle cut, std::size_t op) const;

  /// Rounded down, also in front of the cut.
  std::int64_t stage_from(Cycle cut, std::size_t op) const;

  /// Bytes that rings by stages take beyond the depths of the schedule.
  std::int64_t surplus(Cycle cut) const;

  /// Values of a group's iteration that wait for another stage, in registers or as an accumulator that is taken back too early.
  std::size_t carried(GroupId group, Cycle cut) const;

  /// Mmas in front of the last stage, which Triton predicates on Hopper.
  std::size_t early_products(const std::vector<std::size_t>& written, Cycle cut) const;

  /// Copies that come before their mma in a turn: on Blackwell Triton waits for that a step later, where it stands itself, and gives it
  /// no slot for that.
  std::size_t early_copies(GroupId group, Cycle cut) const;

  /// Ops whose stage becomes another one, counted from the group's first.
  std::size_t moved(const std::vector<std::size_t>& written, Cycle cut, const std::map<std::size_t, int>& ahead) const;

  /// The others: as late as their readers allow. One whose neighbours stayed stays too.
  void carry_along(Decisions& decided, bool new_order) const;

  const Problem& problem_;
  const Schedule& schedule_;
  const bool hopper_, blackwell_;
  std::optional<std::size_t> terminator_;  ///< scf.yield belongs to no stage
  Decisions old_;
  std::map<std::size_t, std::size_t> of_;            ///< place in the loop's body -> the op of the problem that decides about it
  std::map<std::size_t, std::size_t> last_place_;    ///< the op -> the last of its places
  std::vector<Edge> edges_;                          ///< but for those from group to group
  std::vector<Edge> ring_reads_;                     ///< from a load to who reads its tile from the ring, among them
  std::set<std::size_t> aside_, in_front_, behind_;  ///< places of loads
};

}  // namespace heddle::triton
