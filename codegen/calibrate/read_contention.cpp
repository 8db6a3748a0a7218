// What the times of contention's micro-kernels say, in the terms of the rule of motion (core/motion/motion.h).
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "codegen/calibrate/contention.h"
#include "core/base/quantile.h"

namespace heddle::codegen {
namespace {

constexpr std::uint64_t kMost = 0xffffffff;  ///< clocks have 32 bits; what was never written has 64
constexpr const char* kBesides[] = {"alone", "beside mmas from shared memory", "beside mmas from registers"};

class Reader {
 public:
  Reader(const std::vector<ContentionTimes>& times, const Contention& contention) : times_(times), contention_(contention) {}

  std::vector<ContentionReading> read() {
    for (const ContentionTimes& times : times_) {
      experiment_ = times.kernel->experiment;
      if (experiment_ == "accepted" && wrote(times, kAcceptedMmas + 2)) accepted(times);
      if (experiment_ == "widths" && wrote(times, kAcceptedMmas + 2)) width(times);
      if (experiment_ == "served" && wrote(times, 4 * std::size(kServedLeads))) served(times);
      if (experiment_ == "turn" && wrote(times, 1)) add("turn", "a hand-over", at(times, 0) / (2 * kTurnRounds));
      if ((experiment_ == "beside" || experiment_ == "shared-memory") && wrote(times, 9)) beside(times);
      if (experiment_ == "softmax" && wrote(times, 9)) softmax(times);
    }
    return std::move(readings_);
  }

 private:
  static bool wrote(const ContentionTimes& times, std::size_t words) {
    return times.words.size() >= words && std::all_of(times.words.begin(), times.words.begin() + static_cast<std::ptrdiff_t>(words),
                                                      [](std::uint64_t word) { return word <= kMost; });
  }
  static double at(const ContentionTimes& times, std::size_t word) { return static_cast<double>(times.words[word]); }
  const ContentionTimes* named(const std::string& name) const {
    for (const ContentionTimes& times : times_)
      if (times.kernel->name == name && wrote(times, 9)) return &times;
    return nullptr;
  }

  void add(const char* number, std::string of, double measured) {
    readings_.push_back(reading_of(contention_, number, std::move(of), measured));
    readings_.back().experiment = experiment_;
  }
  /// What the machine file has no number for.
  void tell(std::string of, double measured, const char* unit, double value = 0) {
    ContentionReading reading;
    reading.experiment = experiment_;
    reading.of = std::move(of);
    reading.unit = unit;
    reading.measured = measured;
    reading.value = reading.least = reading.most = value;
    readings_.push_back(std::move(reading));
  }

  static double step(const ContentionTimes& times) {
    std::vector<double> gaps;
    for (std::size_t k = 1; k < 6; ++k) gaps.push_back(at(times, k + 1) - at(times, k));
    return median(std::move(gaps));
  }
  /// Mmas accepted at the first ones' pace: the next one had to wait until one ended.
  static int in_flight(const ContentionTimes& times) {
    const double held = (step(times) + times.kernel->width / 2.0) / 2;
    for (int k = 1; k < kAcceptedMmas; ++k)
      if (at(times, static_cast<std::size_t>(k) + 1) - at(times, static_cast<std::size_t>(k)) > held) return k;
    return kAcceptedMmas;
  }

  /// The tensor core begins when the first mma from shared memory is accepted. One that reads registers holds its warps until it has read
  /// them, so its acceptance does not say when the tensor core begins.
  void accepted(const ContentionTimes& times) {
    const std::string operand = times.kernel->registers ? ", A in registers" : "";
    add("in_flight", "of 12 mmas, accepted at once" + operand, in_flight(times));
    add("issue_step", "between two mmas" + operand, step(times));
    if (!times.kernel->registers) {
      const double work = kAcceptedMmas * times.kernel->width / 2.0;
      add("product_done", "last of 12 mmas until its group goes on", at(times, kAcceptedMmas + 1) - at(times, 1) - work);
      if (at(times, 0) > 0) add("fence", "fence until the first mma is put", at(times, 0) + at(times, 1) - step(times));
      return;
    }
    for (const ContentionTimes& other : times_)
      if (other.kernel->experiment == experiment_ && !other.kernel->registers && wrote(other, kAcceptedMmas + 2))
        add("register_fence", "first mma from registers later than from shared memory", at(times, 1) - at(other, 1));
  }

  /// Only mmas of 256 columns take longer than all that are in flight take to be accepted: of others some have ended by then.
  void width(const ContentionTimes& times) {
    const int columns = times.kernel->width;
    const std::string what = fmt::format("64 x {} x 16{}", columns, times.kernel->registers ? ", A in registers" : "");
    if (columns == 256) add("in_flight", "of 12 mmas of " + what, in_flight(times));
    tell("an mma of " + what, (at(times, kAcceptedMmas) - at(times, kAcceptedMmas - 3)) / 3, "cycles", columns / 2.0);
  }

  /// First come, first served: the group that began waits for none of the other's mmas.
  void served(const ContentionTimes& times) {
    const bool registers = times.kernel->name.starts_with("served_rs");
    const double cycles = times.kernel->width / 2.0,
                 own = kServedMmas * cycles + static_cast<double>(contention_.product_done.value + contention_.fence.value +
                                                                  (registers ? contention_.register_fence.value : 0));
    for (const std::size_t lead : {std::size_t{0}, std::size(kServedLeads) - 1}) {
      ContentionReading reading;
      reading.experiment = experiment_;
      reading.number = "order";
      reading.of = fmt::format("mmas of the second group before the first is done ({}), {}", times.kernel->name.substr(7),
                               lead == 0 ? std::string("begun together") : fmt::format("begun {} cycles later", kServedLeads[lead]));
      reading.unit = "mmas";
      reading.measured = std::max(0.0, (at(times, 4 * lead + 1) - own) / cycles);
      reading.most = 1;
      judge(reading);
      readings_.push_back(std::move(reading));
    }
  }

  /// Cycles of a pass, alone (0) and beside mmas (1, 2).
  static double pass(const ContentionTimes& times, int how) { return at(times, static_cast<std::size_t>(3 * how)) / kBesidePasses; }

  /// The tensor core, at 1 - cost * reads per cycle, takes `cycles` for an mma that takes width / 2 alone.
  void cost_of_reads(const ContentionTimes& times, int how, const std::string& what) {
    const double mmas = at(times, static_cast<std::size_t>(3 * how + 1)), cycles = at(times, static_cast<std::size_t>(3 * how + 2));
    if (mmas <= 0 || cycles <= 0 || times.work.reads <= 0) return;
    const double lost = 1 - mmas * times.kernel->width / 2 / cycles, reads = times.work.reads / pass(times, how);
    add(how == 1 ? "product_per_read/shared" : "product_per_read/registers", "mmas beside " + what, 1000 * lost / reads);
  }

  void beside(const ContentionTimes& times) {
    const ContentionWork& work = times.work;
    const std::string what = times.kernel->about.substr(0, times.kernel->about.find(" alone"));
    if (work.specials > 0) add("special_interval", what + ", " + kBesides[0], 1000 * pass(times, 0) / work.specials);
    for (const int how : {1, 2}) {
      const double late = pass(times, how) - pass(times, 0);
      const std::string of = what + ", " + kBesides[how];
      if (work.specials > 0) {
        add("late_per_special", of, 1000 * late / work.specials);
      } else if (experiment_ == "shared-memory" || times.kernel->name == "beside_shuffle") {
        tell(of + ": later, an instruction", late / std::max(1, times.kernel->work.instructions), "cycles");
      } else {
        add(how == 1 ? "late_per_read/shared" : "late_per_read/registers", of, 1000 * late / std::max(1, work.reads));
        cost_of_reads(times, how, what);
      }
    }
  }

  /// What is later than its special functions are, its register reads are.
  void softmax(const ContentionTimes& times) {
    const ContentionWork& work = times.work;
    if (times.kernel->name == "softmax") {
      tell("a softmax of 64 x 128 alone", pass(times, 0), "cycles");
      for (const int how : {1, 2}) {
        const double specials = static_cast<double>(contention_.late_per_special.value) / 1000 * work.specials;
        const std::string of = std::string("a softmax ") + kBesides[how];
        tell(of, pass(times, how), "cycles");
        add(how == 1 ? "late_per_read/shared" : "late_per_read/registers", of,
            1000 * (pass(times, how) - pass(times, 0) - specials) / std::max(1, work.reads));
        cost_of_reads(times, how, "a softmax");
      }
    }
    if (times.kernel->name == "softmax_powers" && work.specials > 0)
      add("special_interval", "a softmax's exponentials alone", 1000 * pass(times, 0) / work.specials);
    const ContentionTimes *powers = named("softmax_powers"), *sums = named("softmax_sums");
    if (times.kernel->name == "softmax_powers_sums" && powers && sums && pass(*sums, 0) > 0)
      add("hidden", "sums and conversions among exponentials", 100 * (pass(times, 0) - pass(*powers, 0)) / pass(*sums, 0));
  }

  const std::vector<ContentionTimes>& times_;
  const Contention& contention_;
  std::string experiment_;
  std::vector<ContentionReading> readings_;
};

}  // namespace

std::vector<ContentionReading> read_contention(const std::vector<ContentionTimes>& times, const Contention& contention) {
  return Reader(times, contention).read();
}

}  // namespace heddle::codegen
