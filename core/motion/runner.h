// One run of a program in the rule of motion (motion.h), from one beginning: event by event, until its state repeats.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/motion/motion.h"

namespace heddle::motion {

/// What is beside arithmetic: nothing on the tensor core, an mma whose first operand lies in shared memory, or in registers.
enum Beside : std::size_t { kNothing, kShared, kRegisters, kBesides };

/// Of a step's arithmetic beside each of them. Shares are of one cycle, in 1/65536, rounded up; `rate` is what is done of it in a tick, in
/// 2^-40 of the whole, rounded down.
struct MotionPace {
  std::array<std::int64_t, kBesides> rate{}, specials{}, issue{}, reads{};
};

/// What a run needs of problem and circles.
struct Parts {
  Parts(const Problem& problem, const GroupCircles& circles);

  struct Use {
    std::size_t unit = 0;
    Ticks offset = 0, duration = 0;
  };
  struct StepPart {
    MotionPace pace;
    std::vector<Use> uses;      ///< Copy
    std::int32_t awaited = -1;  ///< whose ends are kept: of an Await what it waits for, of others their own op
  };
  std::vector<std::vector<StepPart>> steps;
  struct Awaited {
    OpId op;
    int first = 0;            ///< the first instance that is run
    Ticks longest_extra = 0;  ///< of all that wait for it
  };
  std::vector<Awaited> awaited;
  std::size_t kept = 8;  ///< ends of so many instances of each, a power of two
  std::size_t units = 0;
  std::size_t leader = 0;  ///< the first group that has mmas, else the first that has steps
  std::array<std::int64_t, kBesides> product_per_read{};
  std::int64_t in_flight = 0, first_loads = 100;
  Ticks turn = 0, fence = 0, register_fence = 0, issue_step = 0;
};

class Runner {
 public:
  Runner(const Problem& problem, const GroupCircles& circles, const Parts& parts, const MotionOptions& options);
  Motion run();

 private:
  struct Batch {
    std::size_t step = 0;
    std::int64_t turn = 0;
    std::int32_t count = 0;  ///< instructions that are accepted and have not begun
    std::int64_t order = 0;  ///< steps are counted as their first instruction is accepted
    bool closed = false;     ///< the last of its op is among them
  };
  struct GroupState {
    std::size_t index = 0, at = 0;  ///< its number, its step
    std::int64_t turn = 0;
    bool running = false;             ///< Arithmetic
    bool begun = false;               ///< Issue, Await, Copy: its fence, look or hold has begun
    bool blocked = false;             ///< until something happens elsewhere
    std::int32_t issued = 0;          ///< instructions of this Issue
    std::int32_t queued = 0;          ///< accepted and not begun
    std::int64_t left = 0, rate = 0;  ///< of running arithmetic, 2^-40, at counted_; done of it in a tick
    Ticks finish = 0;                 ///< of running arithmetic, at this rate
    Ticks ready = 0;                  ///< does nothing before
    Ticks since = 0;                  ///< began its step
    Ticks wrapped = -1;               ///< when its last turn began
    std::vector<Batch> queue;
  };
  struct TensorState {
    bool busy = false;
    std::size_t group = 0, step = 0;
    std::int64_t turn = 0;
    std::int64_t left = 0;  ///< in 1/65536 tick, at `counted`
    bool closes = false;
    Ticks since = 0, counted = 0, finish = 0;
  };
  static constexpr Ticks kNever = std::numeric_limits<Ticks>::max() / 4;

  const std::vector<CircleStep>& circle_of(const GroupState& g) const { return circles_.groups[g.index]; }
  const CircleStep& step_of(const GroupState& g) const { return circles_.groups[g.index][g.at]; }
  const Parts::StepPart& part_of(const GroupState& g) const { return parts_.steps[g.index][g.at]; }

  void settle();
  bool move(GroupState& g);
  bool move_issue(GroupState& g, const CircleStep& step);
  bool move_await(GroupState& g, const CircleStep& step);
  void start_copy(GroupState& g, const CircleStep& step);
  void serve();
  void unblock();
  std::size_t beside() const;
  void update_rates();
  bool next_event();
  void end_instruction();
  void next_step(GroupState& g);
  std::size_t slot(std::size_t awaited, std::int64_t instance) const {
    return awaited * parts_.kept + (static_cast<std::size_t>(instance) & (parts_.kept - 1));
  }
  Ticks end_of(std::int32_t awaited, std::int64_t instance) const;
  void begin_instance(std::int32_t awaited, std::int64_t instance);
  void end_instance(std::int32_t awaited, std::int64_t instance, Ticks when);
  void sample();
  void write_state();
  void record(const GroupState& g);
  std::string why(const GroupState& g) const;
  std::string stuck_text() const;
  Motion finished() const;
  std::int64_t in_flight() const;

  const Problem& problem_;
  const GroupCircles& circles_;
  const Parts& parts_;
  const MotionOptions& options_;
  Ticks now_ = 0;
  std::vector<GroupState> groups_;
  TensorState tensor_;
  // Rates hold until arithmetic begins or ends, or the tensor core's kind of work changes.
  bool rates_hold_ = false;
  std::size_t rates_beside_ = kNothing;
  Ticks counted_ = 0;                ///< what is left of arithmetic is of this moment
  std::int64_t speed_ = 1 << 16;     ///< of the tensor core, in 1/65536
  std::int64_t accepted_ = 0;        ///< steps of which an instruction was accepted
  std::size_t turn_ = 0;             ///< whose turn it is ...
  Ticks turn_from_ = 0;              ///< ... from then on
  std::vector<Ticks> free_;          ///< units
  std::vector<Ticks> ends_;          ///< of awaited ops, `kept` each
  std::vector<std::int64_t> begun_;  ///< per awaited op: the next instance to begin
  // States at the leader's first step: 128 bits of each.
  using Digest = std::array<std::uint64_t, 2>;
  std::vector<std::int64_t> state_;
  std::vector<Digest> digests_;
  std::vector<Ticks> times_;
  std::size_t repeats_ = 0;              ///< the earlier state that the last one equals, + 1
  bool done_ = false, starved_ = false;  ///< starved: the leader waits while others go round and round
  std::vector<MotionSpan> spans_;
};

}  // namespace heddle::motion
