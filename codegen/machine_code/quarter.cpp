// A state that every cycle moves on: first the tensor core, then the one instruction that is issued. Fractions of cycles are counted in
// units of 2^-20.
#include "codegen/machine_code/quarter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>

#include "codegen/machine_code/control.h"
#include "codegen/machine_code/opcode.h"

namespace heddle::codegen {
namespace {

constexpr std::int64_t kOne = 1 << 20;  // of a cycle
constexpr Cycle kNever = std::numeric_limits<Cycle>::max();
constexpr int kPasses = 40, kEarly = 20;         // of each warp; the early ones are not measured
constexpr Cycle kSpecialPipe = 8, kAluPipe = 2;  // cycles that a warp's instruction keeps it
// Until a dependent instruction may be issued. MUFU: fitted to 14 loops of attention and of 8-bit GEMM, measured on an H100 on 25 and 26
// November 2026 (17 to 25 over fits without one family of kernels each; 16 in a micro-kernel of its own). The others are assumed.
constexpr Cycle kSpecialLatency = 20, kShuffleLatency = 26, kBarrierLatency = 24, kSharedLatency = 30, kOtherLatency = 20;
// Assumed: until operands have been read; of barriers of one group and memory fences.
constexpr Cycle kReadLatency = 8, kSpecialReadLatency = 10, kSharedReadLatency = 12, kMeetStall = 20;
constexpr std::array kFences{0x11a, 0x192, 0x1ab};        // DEPBAR, MEMBAR, ERRBAR
constexpr std::array kPlain{0x097, 0x118, 0x11a, 0x1c8};  // UIADD3.64, NOP, DEPBAR, USETMAXREG, which opcode.h does not name

/// Of thousandths of a cycle.
std::int64_t fixed(const RangedNumber& number) { return number.value * kOne / 1000; }

bool takes_turn(const QuarterStep& step) { return step.unit == QuarterUnit::TakeTurn; }

struct Queued {
  std::size_t warp = 0;
  Cycle left = 0;
  std::int64_t order = 0;  ///< of its mma: in which they have asked to be accepted
  bool registers = false, closes_group = false;
};

struct Warp {
  const QuarterWarp* of = nullptr;
  std::size_t at = 0;
  Cycle ready = 0;  ///< the step's stall behind the one before it
  std::array<Cycle, kScoreboards> falls{};
  std::deque<Queued> accepted;
  std::deque<Cycle> groups;  ///< closed and not awaited: when the warp learns that they are done; kNever: not yet
  bool open = false;         ///< an mma has asked and is not accepted to its last wgmma
  std::int64_t order = 0;    ///< of that mma
  Cycle fenced = 0;          ///< no wgmma is accepted before
  Cycle token = kNever;      ///< when the turn is here; kNever: it is not
  std::size_t next_turn = 0;
  // Measured.
  int passes = 0;
  Cycle begun = 0, ended = 0, took = 0, in_turn = 0;
  std::vector<Cycle> waited;
};

class Quarter {
 public:
  Quarter(const std::vector<QuarterWarp>& warps, const Contention& n, std::size_t first)
      : numbers_(n),
        late_{{fixed(n.late_per_read.shared), fixed(n.late_per_read.registers)}},
        costs_{{fixed(n.product_per_read.shared), fixed(n.product_per_read.registers)}},
        late_special_(fixed(n.late_per_special)) {
    Cycle work = 0;
    for (const QuarterWarp& of : warps) {
      Warp warp;
      warp.of = &of;
      warp.waited.assign(of.steps.size(), 0);
      warps_.push_back(std::move(warp));
      for (const QuarterStep& step : of.steps) work += 64 + step.amount;
    }
    most_ = kPasses * (work + 10'000);
    give_turns(first);
  }

  std::optional<std::vector<QuarterTimes>> run() {
    for (now_ = 0; now_ < most_; ++now_) {
      tensor_core();
      if (now_ < next_issue_) continue;
      for (std::size_t k = 0; k < warps_.size(); ++k) {
        const std::size_t w = (last_ + k) % warps_.size();  // the same warp as long as it can
        if (!may_issue(warps_[w])) continue;
        issue(w);
        if (std::all_of(warps_.begin(), warps_.end(), [](const Warp& warp) { return warp.passes >= kPasses; })) return times();
        break;
      }
    }
    return std::nullopt;
  }

 private:
  void give_turns(std::size_t first) {
    std::vector<std::size_t> ring;
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      const auto& steps = warps_[w].of->steps;
      const auto found = std::find_if(steps.begin(), steps.end(), takes_turn);
      if (found == steps.end()) continue;
      warps_[w].at = static_cast<std::size_t>(found - steps.begin());
      ring.push_back(w);
    }
    if (ring.empty()) return;
    for (std::size_t r = 0; r < ring.size(); ++r) warps_[ring[r]].next_turn = ring[(r + 1) % ring.size()];
    warps_[first].token = 0;
  }

  /// One cycle of work, unless reads have taken it; then the next wgmma of the mma that began first.
  void tensor_core() {
    if (runs_) {
      if (debt_ >= kOne)
        debt_ -= kOne;
      else
        --running_.left;
      if (running_.left <= 0) {
        std::deque<Cycle>& groups = warps_[running_.warp].groups;
        const auto open = std::find(groups.begin(), groups.end(), kNever);
        if (running_.closes_group && open != groups.end()) *open = now_ + numbers_.product_done.value;
        runs_ = false;
      }
    }
    if (runs_) return;
    Warp* next = nullptr;
    for (Warp& warp : warps_)
      if (!warp.accepted.empty() && (!next || warp.accepted.front().order < next->accepted.front().order)) next = &warp;
    if (!next) {
      debt_ = 0;
      return;
    }
    running_ = next->accepted.front();
    next->accepted.pop_front();
    runs_ = true;
  }

  /// One more wgmma, mma by mma in the order in which they ask.
  bool accepts(Warp& warp, const QuarterStep& step) {
    if (warp.fenced + (step.registers ? numbers_.register_fence.value : 0) > now_) return false;
    if (!warp.open) warp.open = true, warp.order = asked_++;
    std::int64_t in_flight = runs_ ? 1 : 0;
    for (const Warp& other : warps_) {
      if (other.open && other.order < warp.order) return false;
      in_flight += static_cast<std::int64_t>(other.accepted.size());
    }
    return numbers_.in_flight.value == 0 || in_flight < numbers_.in_flight.value;
  }

  bool may_issue(Warp& warp) {
    const QuarterStep& step = warp.of->steps[warp.at];
    if (warp.ready > now_) return false;
    for (int s = 0; s < kScoreboards; ++s)
      if ((step.wait >> s & 1) != 0 && warp.falls[static_cast<std::size_t>(s)] > now_) return false;
    switch (step.unit) {
      case QuarterUnit::Alu: return alu_ <= now_;
      case QuarterUnit::Special: return mufu_ <= now_;
      case QuarterUnit::Product: return accepts(warp, step);
      case QuarterUnit::TakeTurn: return warp.token <= now_;
      case QuarterUnit::ProductWait: {
        while (!warp.groups.empty() && warp.groups.front() <= now_) warp.groups.pop_front();
        return static_cast<int>(warp.groups.size()) <= step.amount;
      }
      default: return true;
    }
  }

  void issue(std::size_t w) {
    Warp& warp = warps_[w];
    const QuarterStep& step = warp.of->steps[warp.at];
    const bool counts = warp.passes >= kEarly && warp.passes < kPasses;
    if (counts) warp.waited[warp.at] += now_ - warp.ready;
    Cycle stall = std::max(1, step.stall);
    switch (step.unit) {
      case QuarterUnit::Alu: alu_ = now_ + kAluPipe; break;
      case QuarterUnit::Special: mufu_ = now_ + kSpecialPipe; break;
      case QuarterUnit::Product:
        warp.open = !step.closes_group;
        warp.accepted.push_back({w, step.amount, warp.order, step.registers, step.closes_group});
        if (step.closes_group) warp.groups.push_back(kNever);
        stall = std::max<Cycle>(stall, numbers_.issue_step.value);
        break;
      case QuarterUnit::TakeTurn:
        warp.token = kNever;
        warp.took = now_;
        stall = std::max<Cycle>(stall, 2);
        break;
      case QuarterUnit::PassTurn:
        warps_[warp.next_turn].token = now_ + numbers_.turn.value;
        if (counts) warp.in_turn += now_ - warp.took;
        break;
      case QuarterUnit::ProductFence: warp.fenced = now_ + std::max<Cycle>(stall, numbers_.fence.value); break;
      default: break;
    }
    if (runs_ && step.reads > 0) stall += contend(step);
    scoreboards(warp, step);
    warp.ready = now_ + stall;
    last_ = w;
    if (++warp.at < warp.of->steps.size()) return;
    warp.at = 0;
    ++warp.passes;
    if (warp.passes == kEarly) warp.begun = now_;
    if (warp.passes == kPasses) warp.ended = now_;
  }

  /// Cycles that the warp is late; the mma is late too.
  Cycle contend(const QuarterStep& step) {
    const std::size_t kind = running_.registers ? 1 : 0;
    const bool special = step.unit == QuarterUnit::Special;
    owed_ += special ? late_special_ : late_[kind] * step.reads;
    const Cycle late = owed_ / kOne;
    owed_ %= kOne;
    if (!special) debt_ += costs_[kind] * step.reads;
    if (late > 0 && special) mufu_ += late;
    if (late > 0 && !special) next_issue_ = now_ + 1 + late;  // the ports are the quarter's
    return late;
  }

  void scoreboards(Warp& warp, const QuarterStep& step) const {
    const auto raise = [&](int scoreboard, Cycle latency) {
      if (scoreboard < 0) return;
      Cycle& falls = warp.falls[static_cast<std::size_t>(scoreboard)];
      falls = std::max(falls, now_ + latency);
    };
    switch (step.unit) {
      case QuarterUnit::Special:
        raise(step.write_barrier, kSpecialLatency);
        raise(step.read_barrier, kSpecialReadLatency);
        break;
      case QuarterUnit::Shared:
        raise(step.write_barrier, kSharedLatency + step.amount);
        raise(step.read_barrier, kSharedReadLatency + step.amount);
        break;
      case QuarterUnit::Shuffle:
      case QuarterUnit::BarrierWait:
        raise(step.write_barrier, step.unit == QuarterUnit::Shuffle ? kShuffleLatency : kBarrierLatency);
        raise(step.read_barrier, kReadLatency);
        break;
      default: raise(step.write_barrier, kOtherLatency); raise(step.read_barrier, kReadLatency);
    }
  }

  std::vector<QuarterTimes> times() const {
    constexpr Cycle kMeasured = kPasses - kEarly;
    const auto mean = [](Cycle sum) { return (sum + kMeasured / 2) / kMeasured; };
    std::vector<QuarterTimes> all;
    for (const Warp& warp : warps_) {
      QuarterTimes times{mean(warp.ended - warp.begun), mean(warp.in_turn), {}};
      for (const Cycle waited : warp.waited) times.waited.push_back(mean(waited));
      all.push_back(std::move(times));
    }
    return all;
  }

  const Contention& numbers_;
  std::array<std::int64_t, 2> late_, costs_;  // by operand: shared memory, registers
  std::int64_t late_special_;

  std::vector<Warp> warps_;
  Cycle now_ = 0, most_ = 0;
  Cycle alu_ = 0, mufu_ = 0, next_issue_ = 0;  // when they are free
  std::size_t last_ = 0;                       // that issued
  std::int64_t owed_ = 0;                      // to reads, less than a cycle
  bool runs_ = false;
  Queued running_;
  std::int64_t debt_ = 0;   // of the running mma to reads
  std::int64_t asked_ = 0;  // mmas
};

/// With what its control code says.
QuarterStep coded(const MachineInstruction& instruction) {
  const Control control = control_of(instruction);
  QuarterStep step;
  step.stall = control.stall;
  step.wait = control.wait;
  step.write_barrier = control.write_barrier.value_or(-1);
  step.read_barrier = control.read_barrier.value_or(-1);
  return step;
}

/// Of all but arithmetic.
QuarterStep step_of(const MachineInstruction& instruction, int threads, int& unknown) {
  QuarterStep step = coded(instruction);
  const auto is_one_of = [&](const auto& codes) { return std::find(codes.begin(), codes.end(), instruction.key() & 0x1ff) != codes.end(); };
  if (is_one_of(kFences)) step.stall = std::max(step.stall, static_cast<int>(kMeetStall));
  switch (class_of(instruction)) {
    case OpClass::Product: {
      const WgmmaShape shape = wgmma_shape(instruction);
      step.unit = QuarterUnit::Product;
      step.registers = shape.registers;
      step.closes_group = shape.closes_group;
      // As the machine files' rules for mma: N/2 cycles for 16 bits and depth 16; from shared memory A and B through a port of 128 bytes.
      step.amount = shape.registers ? shape.columns / 2 : std::max(shape.columns / 2, 16 + shape.columns / 4);
      break;
    }
    case OpClass::ProductFence: step.unit = QuarterUnit::ProductFence; break;
    case OpClass::ProductWait:
      step.unit = QuarterUnit::ProductWait;
      step.amount = wgmmas_left(instruction);
      break;
    case OpClass::NamedBarrier:
      if (barrier_threads(instruction) > threads)
        step.unit = only_arrives(instruction) ? QuarterUnit::PassTurn : QuarterUnit::TakeTurn;
      else
        step.stall = std::max(step.stall, static_cast<int>(kMeetStall));
      break;
    case OpClass::BarrierWait: step.unit = QuarterUnit::BarrierWait; break;
    case OpClass::Special:
      step.unit = QuarterUnit::Special;
      step.reads = 1;
      break;
    case OpClass::Shuffle:
      step.unit = QuarterUnit::Shuffle;
      step.reads = 1;
      break;
    case OpClass::SharedMemory:
      step.unit = QuarterUnit::Shared;
      step.amount = 4 * shared_words(instruction);  // four quarters share the port
      step.reads = 1;
      break;
    case OpClass::Other:
      if (is_one_of(kPlain)) break;
      step.unit = QuarterUnit::Alu;
      ++unknown;
      break;
    default: break;
  }
  return step;
}

}  // namespace

QuarterWarp quarter_warp(const std::vector<MachineInstruction>& code, const std::vector<std::size_t>& pass, int threads) {
  QuarterWarp warp;
  std::array<int, kReadPorts> kept{-1, -1, -1};  // what the read ports still have
  for (const std::size_t i : pass) {
    const auto arithmetic = arithmetic_of(code[i]);
    if (!arithmetic) {
      warp.steps.push_back(step_of(code[i], threads, warp.unknown));
      continue;
    }
    QuarterStep step = coded(code[i]);
    step.unit = arithmetic->pipe == IssuePipe::Fma ? QuarterUnit::Plain : QuarterUnit::Alu;
    const unsigned reuse = control_of(code[i]).reuse;
    for (std::size_t port = 0; port < kReadPorts; ++port) {
      const int found = arithmetic->reads[port];
      step.reads += found >= 0 && found != kept[port] ? 1 : 0;
      kept[port] = (reuse >> port & 1) != 0 ? found : -1;
    }
    warp.steps.push_back(step);
  }
  return warp;
}

std::optional<std::vector<QuarterTimes>> run_quarter(const std::vector<QuarterWarp>& warps, const Contention& numbers) {
  if (warps.empty() || std::any_of(warps.begin(), warps.end(), [](const QuarterWarp& warp) { return warp.steps.empty(); }))
    return std::nullopt;
  std::vector<std::size_t> beginnings;
  for (std::size_t w = 0; w < warps.size(); ++w)
    if (std::any_of(warps[w].steps.begin(), warps[w].steps.end(), takes_turn)) beginnings.push_back(w);
  if (beginnings.empty()) beginnings.push_back(0);
  const auto slowest = [](const std::vector<QuarterTimes>& times) {
    Cycle most = 0;
    for (const QuarterTimes& one : times) most = std::max(most, one.pass);
    return most;
  };
  std::optional<std::vector<QuarterTimes>> worst;
  for (const std::size_t first : beginnings) {
    auto found = Quarter(warps, numbers, first).run();
    if (!found) return std::nullopt;
    if (!worst || slowest(*found) > slowest(*worst)) worst = std::move(found);
  }
  return worst;
}

}  // namespace heddle::codegen
