// The checker's own reading of a loop as circles of steps, one per warp group: what core/motion does for the search, written from its
// description alone. No code is shared with core/motion, core/timing or the solver, so that either can convict the other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::check_period {

inline constexpr std::int64_t kTicks = 256;          ///< of a cycle, of a register read and so on: parts in which the work of ops is given
inline constexpr std::int64_t kCyclesOfSpecial = 8;  ///< of one warp's special function in its unit

/// In round j of its group's loop this op works on iteration j - stage.
struct Placed {
  OpId op;
  int stage = 0;
};

/// A loop program in plain words: its streams, its rings, and in which order products of different groups have the tensor core.
struct JudgedProgram {
  std::vector<std::vector<Placed>> groups;  ///< per group its ops in the order of its stream; every op once
  std::vector<int> depths;                  ///< per channel
  std::vector<OpId> turns;                  ///< products around the circle; empty: nobody keeps an order
};

/// Ops of a group by slot, those without a window first where slots are equal. Turns are kept where the schedule says so and they are
/// worth it: several groups of four warps have products on one tensor unit, each of these groups has other work, and the unit changes hands
/// at most four times an iteration.
JudgedProgram loop_of(const Problem& problem, const Schedule& schedule);

/// An op on the tensor core that its group does not stay for: wgmma.
bool is_product(const Problem& problem, OpId op);
/// An op whose result comes some time after it was started: asynchronous ones of other units, and on a machine with contention all that is
/// no arithmetic (stores to shared memory, moves to and from tensor memory).
bool is_copy(const Problem& problem, OpId op);

enum class Act {
  Work,   ///< arithmetic
  Issue,  ///< instructions of a product go to the tensor core's queue
  Copy,   ///< is_copy()
  Drain,  ///< until of the products that this group has issued at most `behind` are not finished
  Await,  ///< until `op` has ended in the round of its circle that lies `rounds_back` before this one, and `extra` cycles more
  Take,   ///< until it is the turn of `turn`
  Pass,   ///< on to the next turn
};

struct Deed {
  Act act = Act::Work;
  OpId op;        ///< whose step it is; Drain, Await: what is waited for
  WarpWork work;  ///< Work
  // Issue
  int count = 0;  ///< instructions
  // Issue, Work: an op may be two deeds, of which one has its beginning and the other its end
  bool opens = true, closes = true;
  // Drain, Await, Take, Pass
  int behind = 0, rounds_back = 0;
  int older = 0;  ///< Drain: so many products of the same op have been issued since
  Cycle extra = 0;
  bool look = false;  ///< Await: at an mbarrier, which takes its time
  std::size_t turn = 0;
};

struct DeedCircle {
  std::vector<Deed> deeds;
};

struct DeedCircles {
  std::vector<DeedCircle>
      groups;  ///< a circle begins where its group takes its first turn, else at its first product, else at its first op
  std::vector<std::size_t> turns;  ///< whose each is
};

/// Waits stand before what needs them:
///   - an op that reads the result of a product of its own group waits for it, unless the tensor core runs both in order (Edge::waits); so
///     does one that writes registers which a product in flight still reads (Edge::hold). A wait covers all products issued before;
///   - what another group makes is waited for before the first op that reads it, behind the take of a turn; then slots of rings that the op
///     fills again. What no group makes has been there for long;
///   - a product that nothing waits for is waited for when the next one of its op has been issued.
/// Where a circle begins inside its stream, ops before that place are a round later, so they lag one less behind; should one work on an
/// iteration ahead of its round, all of its group lag one more.
/// Where the machine says so (Contention::reordered) a circle is as the compiler for sm_90a makes it of the text: compiled().
DeedCircles circles_of(const Problem& problem, const JudgedProgram& loop);

/// Before and behind which products a group takes and passes which turn.
struct Turning {
  std::map<OpId, std::size_t> takes, passes;
};
/// One group's circle where the others are of no interest: what they make has been there for long.
DeedCircle circle_of(const Problem& problem, const std::vector<Placed>& stream, const Turning& turning);
/// The same before the compiler has it.
DeedCircle text_circle_of(const Problem& problem, const std::vector<Placed>& stream, const Turning& turning);

/// Four habits of the compiler, seen in the machine code of measured kernels (NVRTC 13.0):
///   1. a wait for a product that stands behind arithmetic which stands behind an issue joins the wait before it: it comes behind the
///      arithmetic that follows that one;
///   2. arithmetic between two waits for products, with nothing else between, runs behind the second; a maximum only half;
///   3. arithmetic that follows an issue, with nothing or only the pass of its turn between, runs between the instructions: behind each but
///      the last a slice of all of it that takes 112 cycles alone; what is left then stays where it is;
///   4. in a stretch of arithmetic with special functions other arithmetic hides under the op that has most of them, unless it has more
///      instructions than can be issued meanwhile, eight for each. Of what reads the results (Contention::hidden) percent of its time stay,
///      of what makes what they read a quarter, of an op with fewer special functions its other instructions; WarpWork::exposed stays
///      always. What is read stays as it is.
DeedCircle compiled(const Problem& problem, DeedCircle circle);

/// What tells two circles apart, in the letters of core/check/program_count.h; `number` is what ops are called by.
std::string signature(const DeedCircle& circle, const std::vector<std::size_t>& number);

}  // namespace heddle::check_period
