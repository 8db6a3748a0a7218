// Records that a GPU might have written, and what is read from them.
#include "codegen/profile/decode.h"

#include <cstring>
#include <random>

#include <catch2/catch.hpp>

#include "tests/gpu/fixture.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

/// Writes records as the device would, unwritten ones as poison.
class Writer {
 public:
  explicit Writer(const RecordPlan& plan)
      : plan_(plan), bytes(static_cast<std::size_t>(8 * plan.words()), 0xff), used(static_cast<std::size_t>(plan.blocks * plan.warps)) {}
  void head(int block, int word, std::uint64_t value) {
    std::memcpy(bytes.data() + at(block, 0) - 8 * kRecordHead + 8 * static_cast<std::size_t>(word), &value, 8);
  }
  void put(int block, int warp, std::size_t point, std::int64_t counter, std::int64_t clock) {
    std::size_t& k = used[static_cast<std::size_t>(block * plan_.warps + warp)];
    if (k >= static_cast<std::size_t>(plan_.capacity)) return;
    const std::uint32_t record[2] = {static_cast<std::uint32_t>(point | static_cast<std::size_t>(counter) << kRecordPointBits),
                                     static_cast<std::uint32_t>(clock)};
    std::memcpy(bytes.data() + at(block, warp) + 8 * k++, record, 8);
  }

 private:
  const RecordPlan& plan_;
  std::size_t at(int block, int warp) const {
    return 8 * (static_cast<std::size_t>(block) * static_cast<std::size_t>(kRecordHead + plan_.warps * plan_.capacity) + kRecordHead +
                static_cast<std::size_t>(warp * plan_.capacity));
  }

 public:
  std::vector<std::uint8_t> bytes;
  std::vector<std::size_t> used;
};

using Kind = RecordEvent::Kind;

std::size_t warp_of(const Program& program, std::size_t role) { return static_cast<std::size_t>(program.roles[role].first_thread / 32); }

/// The schedule kept to the cycle, all in one block, II as given, every iteration beginning at `zero`.
std::vector<std::uint8_t> as_scheduled(const test::Prepared& p, const RecordPlan& plan, Cycle ii, std::int64_t zero, Cycle late = 0,
                                       Cycle next_tile = 0) {
  Writer writer(plan);
  for (int tile = 0; tile < (next_tile > 0 ? 2 : 1); zero += next_tile, ++tile)
    for (std::int64_t i = 0; i < p.program.trips; ++i)
      for (std::size_t point = 0; point < plan.points.size(); ++point) {
        const RecordPoint& where = plan.points[point];
        // What begins decides when several events meet: a wait for something that has been there for long takes no time.
        RecordEvent first = where.events.front();
        for (const RecordEvent& event : where.events)
          if (event.kind == Kind::Begin) first = event;
        const OpId op = p.problem.find_op(p.kernel.body[first.op.index].name);
        std::int64_t clock = zero + (i + first.iteration) * ii + p.schedule.start(op);
        if (first.kind == Kind::End || first.kind == Kind::WaitEnd) clock += p.problem.op(op).latency + late;
        if (first.kind == Kind::WaitBegin) clock += 10;
        for (int w = 0; w < p.program.roles[where.role].warps; ++w)
          writer.put(0, static_cast<int>(warp_of(p.program, where.role)) + w, point, i, clock);
      }
  return writer.bytes;
}

}  // namespace

TEST_CASE("a kernel that keeps its schedule has no residuals", "[gpu]") {
  const test::FakeGpu gpu;
  const test::Prepared& p = test::small_gemm();
  std::optional<double> ii;
  // The clock goes round in the middle of it.
  const auto bytes = as_scheduled(p, *p.run.ops, p.schedule.ii, 0xffffffff - 1000);
  const KernelProfile profile = decode_ops(*p.run.ops, p.kernel, p.problem, p.schedule, p.program, bytes, ii);
  REQUIRE(ii.has_value());
  CHECK(*ii == Approx(static_cast<double>(p.schedule.ii)));
  CHECK(profile.dropped == 0);
  CHECK(profile.blocks == 1);
  REQUIRE(profile.ops.size() == 5);
  for (const OpTiming& op : profile.ops) {
    INFO(op.op);
    CHECK(op.start_residual() == Approx(0).margin(0.01));
    if (op.op == "MMA0" || op.op == "MMA1") CHECK(op.duration_residual() == Approx(0).margin(1));
    CHECK(op.samples > 0);
  }
  CHECK_FALSE(profile.timeline.empty());
  CHECK(profile.timeline.front().start == 0);
  for (const TimelineEntry& entry : profile.timeline) {
    const OpId op = p.problem.find_op(entry.op);
    REQUIRE(op.valid());
    CHECK(p.schedule.groups[p.schedule.group(op).index()].role == entry.group);
  }
}

TEST_CASE("a slower loop and later results show as what they are", "[gpu]") {
  const test::FakeGpu gpu;
  const test::Prepared& p = test::small_gemm();
  std::optional<double> ii;
  const KernelProfile profile =
      decode_ops(*p.run.ops, p.kernel, p.problem, p.schedule, p.program, as_scheduled(p, *p.run.ops, p.schedule.ii + 51, 5000, 40), ii);
  CHECK(*ii == Approx(static_cast<double>(p.schedule.ii) + 51));
  for (const OpTiming& op : profile.ops)
    if (op.op == "MMA0") CHECK(op.duration_residual() == Approx(40).margin(1));
}

TEST_CASE("what a warp records of the block's next tile, with room left for it, is not taken for this one", "[gpu]") {
  const test::FakeGpu gpu;
  const test::Prepared& p = test::small_gemm();
  RecordPlan plan = *p.run.ops;
  plan.capacity *= 2;
  std::optional<double> ii, alone;
  const KernelProfile one = decode_ops(plan, p.kernel, p.problem, p.schedule, p.program, as_scheduled(p, plan, p.schedule.ii, 5000), alone);
  const KernelProfile two =
      decode_ops(plan, p.kernel, p.problem, p.schedule, p.program, as_scheduled(p, plan, p.schedule.ii, 5000, 0, 1'339'000), ii);
  CHECK(ii == alone);
  CHECK(two.records == one.records);
  REQUIRE(two.ops.size() == one.ops.size());
  for (std::size_t k = 0; k < one.ops.size(); ++k) {
    CAPTURE(one.ops[k].op);
    CHECK(two.ops[k].start == one.ops[k].start);
    CHECK(two.ops[k].duration == one.ops[k].duration);
  }
  CHECK(two.timeline.size() == one.timeline.size());
  for (const TimelineEntry& entry : two.timeline) CHECK(entry.end >= entry.start);
}

TEST_CASE("loop records give cycles per iteration and the clock", "[gpu]") {
  const test::FakeGpu gpu;
  const test::Prepared& p = test::small_gemm();
  const RecordPlan& plan = *p.run.loop;
  Writer writer(plan);
  for (std::size_t point = 0; point < plan.points.size(); ++point) {
    const RecordPoint& where = plan.points[point];
    const bool begins = where.events.front().kind == Kind::LoopBegin;
    for (int w = 0; w < p.program.roles[where.role].warps; ++w)
      for (const int block : {0, 1})
        writer.put(block, static_cast<int>(warp_of(p.program, where.role)) + w, point, begins ? 0 : 5, begins ? 100 : 100 + 5 * 1100);
  }
  for (const int block : {0, 1}) {
    writer.head(block, 0, 1'000'000), writer.head(block, 1, 50'000);
    writer.head(block, 3, 1'020'000), writer.head(block, 4, 50'000 + 35'000);
  }
  const LoopTimes times = decode_loop(plan, p.program, writer.bytes);
  CHECK(times.cycles_per_iteration == Approx(1100));
  CHECK(times.clock_mhz == Approx(1750));
  CHECK(times.blocks == 2);
}

TEST_CASE("records that make no sense are dropped, counted, and never crash", "[gpu]") {
  const test::FakeGpu gpu;
  const test::Prepared& p = test::small_gemm();
  std::optional<double> ii;
  CHECK(decode_ops(*p.run.ops, p.kernel, p.problem, p.schedule, p.program, {}, ii).records == 0);
  CHECK_FALSE(ii.has_value());
  CHECK(decode_loop(*p.run.loop, p.program, std::vector<std::uint8_t>(3)).cycles_per_iteration == 0);
  constexpr std::uint64_t kSeed = 20260402;
  INFO("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  const auto good = as_scheduled(p, *p.run.ops, p.schedule.ii, 0);
  std::int64_t dropped = 0;
  for (int k = 0; k < 200; ++k) {
    auto bytes = good;
    for (int flips = 0; flips < 20; ++flips) bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    dropped += decode_ops(*p.run.ops, p.kernel, p.problem, p.schedule, p.program, bytes, ii).dropped;
    (void)decode_loop(*p.run.ops, p.program, bytes);
  }
  CHECK(dropped > 0);
}
