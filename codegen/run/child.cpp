// Verification, timing, recording, in this order.
#include "codegen/run/child.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "codegen/run/data.h"
#include "codegen/run/gpu.h"
#include "codegen/run/library.h"
#include "core/base/quantile.h"
#include "core/formats/measurement_json.h"

namespace heddle::codegen {
namespace {

constexpr unsigned char kPoison = 0xff;  ///< NaN in every floating type
constexpr std::int64_t kL2Times = 3;     ///< buffers together exceed L2 as many times
constexpr std::int64_t kMostSets = 64;
constexpr std::int64_t kReferenceThreads = 256;
constexpr int kTrialLaunches = 5;  ///< to choose among the kernels that a library offers

using Buffers = std::vector<cuda::Memory>;

std::string hex(const std::vector<std::uint8_t>& bytes) {
  std::string text(2 * bytes.size(), '0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
    text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

class Executor {
 public:
  Executor(const RunPlan& plan, const std::function<void(const std::string&)>& write) : plan_(plan), write_(write) {
    found_.kernel = plan.kernel;
    found_.machine = plan.machine;
    found_.status = RunStatus::Unverified;
  }

  void run() {
    try {
      steps();
    } catch (const RunFailure& failure) {
      found_.status = failure.status;
      found_.sentence = failure.sentence;
    }
    report();
    write_("E");
  }

 private:
  void note(const std::string& text) { write_("N " + text); }
  void report() { write_("M " + measurement_json(found_).line()); }

  void steps() {
    note("looking for a GPU");
    gpu_ = std::make_unique<Gpu>(plan_.arch);
    found_.device = gpu_->device();
    report();
    if (!plan_.micros.empty()) return run_micros();
    plain_ = std::make_unique<LoadedKernel>(*gpu_, plan_.plain, plan_.tensors);
    buffers_ = allocate_set();
    plain_->add_buffers(buffers_);
    found_.build.emplace().blocks = plain_->blocks();
    verify();
    if (found_.status == RunStatus::Verified || found_.status == RunStatus::Unverified) measure();
  }

  /// Each on an SM of its own, one after the other; the second run counts.
  void run_micros() {
    buffers_ = allocate_set();
    for (std::size_t t = 0; t < buffers_.size(); ++t) gpu_->fill(buffers_[t], 0, plan_.tensors[t].bytes());
    for (std::size_t k = 0; k < plan_.micros.size(); ++k) {
      const KernelPlan& micro = plan_.micros[k];
      note(fmt::format("micro-kernel {} of {}", k + 1, plan_.micros.size()));
      const std::int64_t bytes = 8 * micro.record_words;
      const cuda::Memory memory = gpu_->allocate(bytes, "times");
      LoadedKernel kernel(*gpu_, micro, plan_.tensors, memory);
      kernel.add_buffers(buffers_);
      for (int run = 0; run < 2; ++run) {
        gpu_->fill(memory, kPoison, bytes);
        kernel.launch(0);
        gpu_->finish("a micro-kernel");
      }
      std::vector<std::uint8_t> times(static_cast<std::size_t>(bytes));
      gpu_->download(times.data(), memory, bytes);
      write_(fmt::format("R {} {}", k, hex(times)));
    }
  }

  Buffers allocate_set() {
    Buffers set;
    for (const TensorPlan& tensor : plan_.tensors) set.push_back(gpu_->allocate(tensor.bytes(), fmt::format("tensor '{}'", tensor.name)));
    return set;
  }

  // ---- verification

  void set_inputs(const CasePlan& what) {
    start_.assign(plan_.tensors.size(), {});
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
      if (plan_.tensors[t].role == TensorRole::Output) continue;
      start_[t] = make_data(plan_.tensors[t], what, t, plan_.seed);
      gpu_->upload(buffers_[t], start_[t]);
    }
  }

  void poison_outputs() {
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
      if (plan_.tensors[t].role == TensorRole::Output) gpu_->fill(buffers_[t], kPoison, plan_.tensors[t].bytes());
      if (plan_.tensors[t].role == TensorRole::InOut) gpu_->upload(buffers_[t], start_[t]);
    }
  }

  /// From poisoned outputs to results.
  void run_once() {
    poison_outputs();
    plain_->launch(0);
    gpu_->finish("the kernel");
  }

  std::vector<std::uint8_t> result(std::size_t t) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(plan_.tensors[t].bytes()));
    gpu_->download(bytes.data(), buffers_[t], plan_.tensors[t].bytes());
    return bytes;
  }

  std::vector<float> reference(bool rounded) {
    const ReferencePlan& plan = *plan_.reference;
    if (!reference_) {
      reference_ = load_function(*gpu_, plan.cubin, plan.entry);
      reference_out_ = gpu_->allocate(4 * plan_.tensors[plan.output].elements(), "the reference's result");
    }
    Buffers pointers;
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t)
      if (!is_written(plan_.tensors[t].role)) pointers.push_back(buffers_[t]);
    pointers.push_back(reference_out_);
    gpu_->fill(reference_out_, kPoison, 4 * plan_.tensors[plan.output].elements());
    int slice = 0, switch_ = rounded;
    std::vector<void*> arguments;
    for (cuda::Memory& pointer : pointers) arguments.push_back(&pointer);
    arguments.push_back(&slice);
    arguments.push_back(&switch_);
    const auto blocks = static_cast<unsigned>((plan.threads + kReferenceThreads - 1) / kReferenceThreads);
    for (; slice < plan.slices; ++slice) {
      note(fmt::format("computing the reference{}, {} of {}", rounded ? " of a plain program" : "", slice + 1, plan.slices));
      gpu_->check(gpu_->driver().launch(reference_, blocks, 1, 1, kReferenceThreads, 1, 1, 0, gpu_->stream(), arguments.data(), nullptr),
                  RunStatus::Refused, "the driver does not start the reference kernel");
      gpu_->finish("the reference kernel");
    }
    std::vector<float> values(static_cast<std::size_t>(plan_.tensors[plan.output].elements()));
    gpu_->download(values.data(), reference_out_, static_cast<std::int64_t>(4 * values.size()));
    return values;
  }

  void verify() {
    if (plan_.cases.empty()) return;
    Verification& verification = found_.verification.emplace();
    verification.reference = plan_.reference ? plan_.reference->about : "the formula in double precision on the CPU";
    for (const CasePlan& what : plan_.cases) {
      note(fmt::format("verifying: {}", what.name));
      set_inputs(what);
      run_once();
      answers_.clear();
      for (const Expected& expected : what.expected) {
        answers_.push_back({expected.values.empty() ? reference(false) : expected.values,
                            expected.criterion == Criterion::Attention ? reference(true) : std::vector<float>{}});
      }
      add_checks(what, verification.checks);
    }
    repeat(verification);
    const auto wrong = std::find_if(verification.checks.begin(), verification.checks.end(), [](const OutputCheck& c) { return !c.passed; });
    if (wrong != verification.checks.end()) {
      found_.status = RunStatus::Wrong;
      found_.sentence =
          wrong->wrong > 0
              ? fmt::format("'{}' is wrong on {} inputs: {} of {} elements, the worst {} off by {:.4g} where {:.4g} is allowed{}",
                            wrong->tensor, wrong->input, wrong->wrong, wrong->elements, wrong->at, wrong->worst, wrong->bound,
                            wrong->untouched > 0 ? fmt::format("; {} elements were never written", wrong->untouched) : "")
              : fmt::format("'{}' is off in the root mean square on {} inputs", wrong->tensor, wrong->input);
    } else if (!verification.repeats_equal) {
      found_.status = RunStatus::Unstable;
      found_.sentence = fmt::format("{} runs on the same data do not give the same bits: a race", verification.repeats);
    } else {
      found_.status = RunStatus::Verified;
    }
    report();
  }

  /// Of what lies in the buffers, against the answers to this case.
  void add_checks(const CasePlan& what, std::vector<OutputCheck>& checks) {
    for (std::size_t k = 0; k < answers_.size(); ++k) {
      const Expected& expected = what.expected[k];
      checks.push_back(check_output(plan_.tensors[expected.tensor], what.name, expected, result(expected.tensor), answers_[k].wanted,
                                    answers_[k].plain));
    }
  }

  /// On the data of the last case. Tensors that tiles add to are left out: the order of their sums is not promised.
  void repeat(Verification& verification) {
    std::vector<std::vector<std::uint8_t>> first(plan_.tensors.size());
    verification.repeats = plan_.repeats;
    for (int k = 0; k < plan_.repeats && verification.repeats_equal; ++k) {
      if (k % 5 == 0) note(fmt::format("repeating: {} of {}", k + 1, plan_.repeats));
      run_once();
      for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
        if (plan_.tensors[t].role != TensorRole::Output) continue;
        auto bytes = result(t);
        if (k == 0)
          first[t] = std::move(bytes);
        else if (bytes != first[t])
          verification.repeats_equal = false;
      }
    }
  }

  // ---- libraries

  /// Chooses the fastest of the kernels that the library offers and whose results are right on the last case's data.
  void open(const LibraryPlan& plan) {
    TimedLibrary& row = found_.timing->libraries.emplace_back();
    row.times.name = library_name(plan);
    note("opening " + row.times.name);
    const auto offers = open_library(plan, plan_.tensors, gpu_->driver(), gpu_->stream());
    if (!offers.ok()) {
      row.absent = offers.error().faults.front().message;
      return;
    }
    double best = 0;
    const LibraryKernel* chosen = nullptr;
    std::vector<OutputCheck> checks;
    for (const LibraryKernel& offer : *offers) {
      row.times.name = offer.name;
      note(fmt::format("trying {}, engine {} of {}", offer.name, &offer - offers->data() + 1, offers->size()));
      poison_outputs();
      if (const std::string why = offer.launch(buffers_); !why.empty()) {
        if (row.absent.empty()) row.absent = fmt::format("{} does not start ({})", offer.name, why);
        continue;
      }
      gpu_->finish(offer.name);
      checks.clear();
      if (!plan_.cases.empty()) add_checks(plan_.cases.back(), checks);
      if (!chosen && row.checks.empty()) row.checks = checks;
      if (std::any_of(checks.begin(), checks.end(), [](const OutputCheck& c) { return !c.passed; })) {
        row.absent = fmt::format("the result of {} is wrong", offer.name);
        continue;
      }
      const double us = gpu_->time(
          kTrialLaunches, [&](int) { (void)offer.launch(buffers_); }, offer.name);
      if (chosen && us >= best) continue;
      chosen = &offer;
      best = us;
      row.checks = checks;
    }
    if (!chosen) return;
    row.absent.clear();
    opened_.push_back({found_.timing->libraries.size() - 1, *chosen, {}});
  }

  /// False: one of them took the device down with it, and nothing more can be run in this process.
  bool open_libraries() {
    Timing& timing = *found_.timing;
    timing.no_library = plan_.no_library;
    if (plan_.libraries.empty()) return true;
    if (start_.empty()) set_inputs(CasePlan{"", CasePlan::Data::Random, {}, {}});
    try {
      for (const LibraryPlan& plan : plan_.libraries) open(plan);
    } catch (const RunFailure& failure) {
      TimedLibrary& row = timing.libraries.back();
      row.absent = failure.sentence;
      if (gpu_->driver().synchronize() == 0) return true;
      found_.sentence = fmt::format("not timed: {} (without libraries the kernel can be timed)", failure.sentence);
      return false;
    }
    return true;
  }

  // ---- timing

  void make_sets() {
    CasePlan random;
    random.data = CasePlan::Data::Random;
    const bool given = !plan_.cases.empty() && plan_.cases.back().data == CasePlan::Data::Given;
    set_inputs(given ? plan_.cases.back() : random);
    std::int64_t bytes = 0;
    for (const TensorPlan& tensor : plan_.tensors) bytes += tensor.bytes();
    const std::int64_t wanted =
        std::clamp<std::int64_t>((kL2Times * gpu_->device().l2_bytes + bytes - 1) / std::max<std::int64_t>(bytes, 1), 1, kMostSets);
    sets_.push_back(buffers_);
    while (static_cast<std::int64_t>(sets_.size()) < wanted) {
      Buffers more = allocate_set();
      for (std::size_t t = 0; t < plan_.tensors.size(); ++t) gpu_->copy(more[t], buffers_[t], plan_.tensors[t].bytes());
      plain_->add_buffers(more);
      sets_.push_back(std::move(more));
    }
    gpu_->finish("copying data");
  }

  struct OpenLibrary {
    std::size_t row = 0;  ///< of the timing's libraries
    LibraryKernel kernel;
    std::string why_not;  ///< what it says against being started again
  };

  struct Contender {
    std::string name;
    std::function<void(int)> launch;
    std::vector<double> blocks_us;
    double sustained_us = 0;
  };

  /// A-B-A-B: a block of launches of each in turn.
  void interleave(std::vector<Contender>& contenders) {
    for (Contender& c : contenders) {
      note("warming up: " + c.name);
      gpu_->time(std::max(plan_.warmups, 1), c.launch, c.name);
    }
    for (int b = 0; b < plan_.blocks; ++b)
      for (Contender& c : contenders) {
        note(fmt::format("timing: {}, block {} of {}", c.name, b + 1, plan_.blocks));
        std::this_thread::sleep_for(std::chrono::duration<double>(plan_.pause_seconds));
        c.blocks_us.push_back(gpu_->time(plan_.launches, c.launch, c.name));
      }
  }

  /// All launches of one, then all of the next. A block of them is a sign of life; between two blocks the GPU waits a few
  /// microseconds, which are not counted.
  void sustain(std::vector<Contender>& contenders) {
    for (Contender& c : contenders) {
      double sum_us = 0;
      for (int done = 0; done < plan_.sustained_launches;) {
        note(fmt::format("timing without a pause: {}, {} of {} launches", c.name, done, plan_.sustained_launches));
        const int count = std::min(std::max(plan_.launches, 1), plan_.sustained_launches - done);
        sum_us += count * gpu_->time(count, c.launch, c.name);
        done += count;
      }
      if (plan_.sustained_launches > 0) c.sustained_us = sum_us / plan_.sustained_launches;
    }
  }

  TimedKernel timed(const Contender& c) const {
    const auto speed = [&](double us) { return plan_.flops > 0 && us > 0 ? static_cast<double>(plan_.flops) / us * 1e-6 : 0; };
    const double median_us = median(c.blocks_us);
    return {c.name, c.blocks_us, median_us, speed(median_us), c.sustained_us, speed(c.sustained_us)};
  }

  void measure() {
    if (plan_.blocks < 1 && !plan_.loop && !plan_.ops) return;
    if (plan_.blocks > 0) {
      found_.timing.emplace().kernel.name = "heddle";
      const bool alive = open_libraries();
      report();
      if (!alive) return;
    }
    make_sets();
    const auto plain = [this](int i) { plain_->launch(static_cast<std::size_t>(i) % sets_.size()); };
    if (plan_.blocks > 0) {
      Timing& timing = *found_.timing;
      timing.flops = plan_.flops;
      timing.launches = plan_.launches, timing.warmups = plan_.warmups, timing.buffer_sets = static_cast<int>(sets_.size());
      timing.sustained_launches = plan_.sustained_launches;
      timing.pause_seconds = plan_.pause_seconds;
      timing.left_out = plan_.left_out;
      std::vector<Contender> contenders{{"heddle", plain, {}, 0}};
      for (OpenLibrary& library : opened_)
        contenders.push_back({library.kernel.name,
                              [this, &library](int i) {
                                if (library.why_not.empty())
                                  library.why_not = library.kernel.launch(sets_[static_cast<std::size_t>(i) % sets_.size()]);
                              },
                              {},
                              0});
      interleave(contenders);
      sustain(contenders);
      timing.kernel = timed(contenders[0]);
      for (std::size_t k = 0; k < opened_.size(); ++k) {
        TimedLibrary& row = timing.libraries[opened_[k].row];
        if (opened_[k].why_not.empty())
          row.times = timed(contenders[k + 1]);
        else
          row.absent = fmt::format("{} stops working ({})", row.times.name, opened_[k].why_not);
      }
      report();
    }
    if (plan_.loop) record("loop", *plan_.loop, false);
    if (plan_.ops) record("ops", *plan_.ops, plan_.blocks > 0);
  }

  void record(const std::string& which, const KernelPlan& kernel, bool time_it) {
    note("recording: " + which);
    const std::int64_t bytes = 8 * kernel.record_words;
    const cuda::Memory memory = gpu_->allocate(bytes, "records");
    LoadedKernel recording(*gpu_, kernel, plan_.tensors, memory);
    for (const Buffers& set : sets_) recording.add_buffers(set);
    if (time_it) {
      std::vector<Contender> contenders{
          {"plain build", [this](int i) { plain_->launch(static_cast<std::size_t>(i) % sets_.size()); }, {}, 0},
          {"recording build", [&](int i) { recording.launch(static_cast<std::size_t>(i) % sets_.size()); }, {}, 0}};
      interleave(contenders);
      KernelProfile& profile = found_.profile.emplace();
      profile.plain_us = median(contenders[0].blocks_us);
      profile.median_us = median(contenders[1].blocks_us);
      report();
    }
    // A few launches on warm clocks; the last one's records count.
    for (int k = 0; k < 3; ++k) {
      gpu_->fill(memory, kPoison, bytes);
      for (int w = 0; w < std::max(plan_.warmups, 1); ++w) recording.launch(0);
      gpu_->finish("the recording build");
    }
    std::vector<std::uint8_t> records(static_cast<std::size_t>(bytes));
    gpu_->download(records.data(), memory, bytes);
    write_(fmt::format("R {} {}", which, hex(records)));
  }

  const RunPlan& plan_;
  const std::function<void(const std::string&)>& write_;
  Measurement found_;
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<LoadedKernel> plain_;
  Buffers buffers_;
  std::vector<std::vector<std::uint8_t>> start_;
  struct Answer {
    std::vector<float> wanted, plain;
  };
  std::vector<Answer> answers_;  ///< to the last case, per tensor that something is expected of
  std::vector<OpenLibrary> opened_;
  std::vector<Buffers> sets_;
  cuda::Function reference_ = nullptr;
  cuda::Memory reference_out_ = 0;
};

}  // namespace

void execute_plan(const RunPlan& plan, const std::function<void(const std::string&)>& write) { Executor(plan, write).run(); }

int run_child(int descriptor) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a kernel that hangs is not left behind by a parent that dies
  std::string bytes;
  char piece[1 << 16];
  for (ssize_t count = 0; (count = ::read(STDIN_FILENO, piece, sizeof piece)) != 0;) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return 1;
    bytes.append(piece, static_cast<std::size_t>(count));
  }
  const auto plan = parse_plan(bytes);
  if (!plan.ok()) return 2;
  execute_plan(*plan, [&](const std::string& line) {
    const std::string text = line + "\n";
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t count = ::write(descriptor, text.data() + at, text.size() - at);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) std::_Exit(1);  // the parent is gone
      at += static_cast<std::size_t>(count);
    }
  });
  return 0;
}

}  // namespace heddle::codegen
