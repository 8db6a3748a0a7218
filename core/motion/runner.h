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

/// Of a step's arithmetic. Shares are of one cycle, in 1/65536, rounded up; `rate` is what is done of it in a tick, in 2^-40 of the whole,
/// rounded down.
struct MotionPace {
  std::int64_t rate = 0, specials = 0, issue = 0, reads = 0;
};

/// A step of a circle with what a run asks of problem and machine.
struct RunStep : CircleStep {
  struct Use {
    std::size_t unit = 0;
    Ticks offset = 0, duration = 0;
  };
  std::array<MotionPace, kBesides> paces;  ///< Arithmetic, beside each of them
  std::vector<Use> uses;                   ///< Copy
  Ticks first_latency = 0;                 ///< Copy: in the first turns
  Ticks drain = 0;                         ///< Issue: from its last cycle on the tensor core until what waits for it goes on
};

/// A circle as runs of this problem read it, whatever the circles of the other groups are.
struct RunCircle {
  RunCircle(const Problem& problem, const std::vector<CircleStep>& circle);

  struct Instances {
    OpId op;
    int first = 0;  ///< the first instance that is run
  };
  struct Awaited {
    OpId op;
    Ticks longest_extra = 0;  ///< of all that wait for it here
  };
  std::vector<RunStep> steps;
  std::vector<Instances> ops;    ///< of its own, each once
  std::vector<Awaited> awaited;  ///< each once
  int stages = 0, distance = 0;  ///< the greatest of its steps
  bool has_mmas = false;
};

/// GroupCircles of which parts may be of several programs.
struct RunProgram {
  std::vector<const RunCircle*> circles;  ///< per group
  std::vector<std::size_t> turns;
};

class Runner {
 public:
  Runner(const Problem& problem, const RunProgram& program, const MotionOptions& options);
  Motion run();

 private:
  static constexpr Ticks kNever = std::numeric_limits<Ticks>::max() / 4;
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct GroupState {
    const RunCircle* circle = nullptr;
    const RunStep* step = nullptr;  ///< that it does; none: its circle is empty
    std::size_t index = 0;          ///< its number
    std::int64_t turn = 0;
    bool running = false;             ///< Arithmetic
    bool begun = false;               ///< Issue, Await, Copy: its fence, look or hold has begun
    bool blocked = false;             ///< until something happens elsewhere
    Ticks due = 0;                    ///< when it goes on: arithmetic ends at this rate, or it is ready; kNever: blocked
    std::int32_t issued = 0;          ///< instructions of this Issue
    std::size_t batch = kNone;        ///< the last one of this Issue in queue_
    std::int64_t left = 0, rate = 0;  ///< of running arithmetic, 2^-40, at `counted`; done of it in a tick
    Ticks counted = 0;
    Ticks ready = 0;     ///< does nothing before
    Ticks since = 0;     ///< began its step
    Ticks wrapped = -1;  ///< when its last turn began
    std::int64_t left_at(Ticks now) const { return left - (now - counted) * rate; }
    void wait_until(Ticks when) { due = ready = when; }
    void block() { blocked = true, due = kNever; }
    void unblock() { blocked = false, due = ready; }
    std::size_t at() const { return static_cast<std::size_t>(step - circle->steps.data()); }
  };
  /// Instructions of one step that are accepted and have not begun.
  struct Batch {
    std::size_t group = 0;
    const RunStep* step = nullptr;
    std::int64_t turn = 0;
    std::int32_t count = 0;
    bool closed = false;  ///< the last of its op is among them
  };
  struct TensorState {
    bool busy = false;
    std::size_t group = 0;
    const RunStep* step = nullptr;
    std::int64_t turn = 0;
    std::int64_t left = 0;  ///< in 1/65536 tick, at `counted`
    bool closes = false;
    Ticks since = 0, counted = 0, finish = 0;
  };
  struct OpState {
    std::int64_t first = 0, begun = 0;  ///< the first instance that is run, the next one to begin
    Ticks longest_extra = 0;            ///< of all that wait for it
    bool awaited = false;
  };
  /// 128 bits of a state, word by word.
  class Digest {
   public:
    void add(std::int64_t word);
    bool operator==(const Digest&) const = default;

   private:
    std::uint64_t a_ = 0, b_ = 1;
  };

  void begin_ops();
  void begin_groups();
  void settle();
  bool move(GroupState& g);
  bool move_issue(GroupState& g);
  bool move_await(GroupState& g);
  void start_copy(GroupState& g);
  bool is_full() const;
  void accept(GroupState& g);
  void serve();
  void wake(CircleStepKind kind);
  std::size_t beside() const;
  void update_rates();
  bool next_event();
  void end_instruction();
  void next_step(GroupState& g);
  std::size_t slot(OpId op, std::int64_t instance) const { return op.index() * kept_ + (static_cast<std::size_t>(instance) & (kept_ - 1)); }
  Ticks end_of(OpId op, std::int64_t instance) const;
  void begin_instance(const RunStep& step, std::int64_t turn);
  void end_instance(const RunStep& step, std::int64_t turn, Ticks when);
  void sample();
  Digest state() const;
  void record(const GroupState& g);
  std::string why(const GroupState& g) const;
  std::string stuck_text() const;
  Motion finished() const;

  const Problem& problem_;
  const RunProgram& program_;
  const MotionOptions& options_;
  const Contention& numbers_;
  Ticks now_ = 0;
  std::vector<GroupState> groups_;
  std::size_t leader_ = 0;  ///< the first group that has mmas, else the first that has steps
  TensorState tensor_;
  std::vector<Batch> queue_;     ///< of all groups, in the order in which their first instructions were accepted ...
  std::size_t queue_begin_ = 0;  ///< ... from here on
  bool woken_ = false;           ///< a group that was blocked looks again
  std::int64_t in_flight_ = 0;   ///< instructions that are accepted and have not ended
  // Rates hold until arithmetic begins or ends, or the tensor core's kind of work changes.
  bool rates_hold_ = false;
  std::size_t rates_beside_ = kNothing;
  std::int64_t speed_ = 1 << 16;  ///< of the tensor core, in 1/65536
  std::size_t turn_ = 0;          ///< whose turn it is ...
  Ticks turn_from_ = 0;           ///< ... from then on
  std::vector<Ticks> free_;       ///< units
  std::vector<OpState> ops_;
  std::vector<OpId> awaited_;  ///< ops that something waits for
  std::size_t kept_ = 8;       ///< ends of so many instances of each op, a power of two
  std::vector<Ticks> ends_;    ///< by slot()
  // At the leader's first step: the states without those of the first turns, and when all of them were.
  std::vector<Digest> digests_;
  std::vector<Ticks> times_;
  std::size_t repeats_ = 0;              ///< the earlier state that the last one equals, + 1
  bool done_ = false, starved_ = false;  ///< starved: the leader waits while others go round and round
  std::vector<MotionSpan> spans_;
};

}  // namespace heddle::motion
