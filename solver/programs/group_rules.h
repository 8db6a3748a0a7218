// What an order of one warp group's ops on a circle has to keep, whatever the other groups do: dependences in few stages, registers, and
// demands that speak of order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"
#include "core/timing/program.h"

namespace heddle::programs {

/// The ops of a group in the order of its instruction stream, each once; after the last comes the first again.
using Order = std::vector<timing::StreamStep>;

struct Rules {
  int stages = 3;  ///< at most so many in a group
  /// Registers of a thread at most, all that is counted included; none: what the machine allows.
  std::optional<std::int64_t> registers{};
  Constraints constraints{};
  /// Also programs whose ops lag behind by more iterations than dependences ask for: an op then reads what was made a turn of the circle
  /// earlier and need not wait for it, for as many more registers.
  bool more_lag = false;
};

/// Why programs cannot keep a demand: it speaks of cycles or whole IIs, which a program does not have. Empty: they can.
std::string refused_demand(const Problem& problem, const Schedule& groups, const Constraints& constraints);

class GroupRules {
 public:
  /// `groups` says where ops are, `depths` how deep rings may be (per channel). Pre: refused_demand() is empty; the group holds an op.
  GroupRules(const Problem& problem, const Schedule& groups, GroupId group, const std::vector<int>& depths, const Rules& rules);

  /// By number. In everything below ops are named by their place in this list.
  const std::vector<OpId>& ops() const { return ops_; }
  /// The mmas among them: asynchronous ops on the tensor cores.
  const std::vector<std::size_t>& products() const { return products_; }

  static constexpr int kNotPlaced = -1;
  /// Raises stages to the least that keep the dependences: to >= from - distance, one more where `to` does not come behind `from` in the
  /// circle. Ops that are not placed come behind all that are. False: not in so many stages; then `stage` says nothing.
  bool raise_stages(const std::vector<int>& place, std::vector<int>& stage) const;

  /// The order with these places and its least stages; nothing where dependences or demands are not kept.
  std::optional<Order> order_of(const std::vector<std::size_t>& sequence, std::vector<int> least_stage) const;

  /// The greatest use at one of the ops, counted as core/problem/problem.h counts it, with places of the circle for cycles. What an
  /// asynchronous op reads stays until the group waits for it or for an mma that it issues later, because those end in order: where a
  /// result is read or what the op reads is written the next time.
  std::int64_t registers(const Order& order) const;
  /// Registers are held to the limit of one thread; whether all groups fit the register file is not looked at.
  bool registers_fit(std::int64_t use) const;
  /// The least legal budget of a thread with this use.
  std::int64_t budget(std::int64_t use) const;
  std::int64_t threads() const { return threads_; }
  int stages() const { return stages_; }
  bool more_lag() const { return rules_.more_lag; }

  /// The waits that the count of registers relies on: nothing is written to what an asynchronous op still reads.
  std::vector<timing::AddedWait> register_waits(const Order& order) const;

 private:
  struct Dependence {
    std::size_t from, to;
    int distance;
  };
  struct Read {
    std::size_t op;
    int distance;
    bool held = false;  ///< by an asynchronous op
  };
  struct Live {
    std::size_t writer;
    std::int64_t registers;
    std::vector<Read> reads;
  };
  /// `waiting` cannot begin before `product` of `distance` iterations before has ended.
  struct ProductWait {
    std::size_t product, waiting;
    int distance;
  };

  void add_dependences(const std::vector<int>& depths);
  void add_demands();
  void add_values(const Schedule& groups);
  std::size_t local(OpId op) const { return local_[op.index()]; }
  bool inside(OpId op) const { return local_[op.index()] != kOutside; }

  /// When what is read by `op`, begun at `begun`, is surely read.
  std::int64_t read_until(std::size_t op, std::size_t writer, std::int64_t begun, const std::vector<std::int64_t>& at) const;

  static constexpr std::size_t kOutside = static_cast<std::size_t>(-1);
  const Problem& problem_;
  const Rules rules_;
  int stages_ = 0;  ///< at most, as rules and demands have it
  std::vector<OpId> ops_;
  std::vector<std::size_t> local_;  ///< by op; kOutside
  std::vector<std::size_t> products_;
  std::vector<Dependence> dependences_;
  std::vector<Live> lives_;
  std::vector<ProductWait> product_waits_;
  std::vector<std::int64_t> besides_;  ///< registers at an op that no order changes
  bool touches_registers_ = false;
  bool one_by_one_ = false;
  std::int64_t most_registers_ = 0;
  std::int64_t threads_ = 0;
};

}  // namespace heddle::programs
