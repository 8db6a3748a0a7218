// What the builder decides for Blackwell: where accumulators lie, who reads them after the loop, which roles share a warpgroup,
// and what it refuses.
#include <algorithm>
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "codegen/program/build.h"
#include "codegen/program/timing.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

struct Case {
  std::string kernel, schedule;  ///< empty: that of the tests
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"gemm_blackwell", ""},
      {"attention_forward_blackwell", ""},
      {"attention_backward_blackwell", ""},
      {"attention_forward_blackwell", "kernels/schedules/attention_forward_blackwell/fa4-noemu-nosplit.json"},
      {"attention_forward_parts_blackwell", "kernels/schedules/attention_forward_parts_blackwell/fa4-noemu.json"},
      {"attention_forward_tile_blackwell", "kernels/schedules/attention_forward_tile_blackwell/fa4-1q.json"},
      {"gemm_blackwell", "kernels/schedules/gemm_blackwell/cutlass-sm100.json"}};
  return all;
}

test::Lowering lowered(const Case& c) { return c.schedule.empty() ? test::lowering(c.kernel) : test::lowering(c.kernel, {}, c.schedule); }

const Buffer& buffer_named(const Program& program, const std::string& name) {
  const auto it = std::find_if(program.buffers.begin(), program.buffers.end(), [&](const Buffer& b) { return b.name == name; });
  REQUIRE(it != program.buffers.end());
  return *it;
}

}  // namespace

TEST_CASE("on Blackwell every piece of every op is done once per iteration, for any number of trips", "[codegen]") {
  for (const Case& c : cases()) {
    const test::Lowering from = lowered(c);
    for (const std::int64_t trips : {1, 2, 3, 4, 5, 8, 33, 200}) {
      const Program program = test::program_of(from, trips);
      std::map<std::tuple<std::size_t, std::int64_t, int>, int> seen;
      std::vector<int> pieces(from.kernel.body.size(), 0);
      for (const Role& role : program.roles)
        for_each_step(role, [&](const codegen::Section&, const Step& step, std::int64_t shift) {
          const bool runs = step.kind == StepKind::Issue || step.kind == StepKind::Compute;
          if (!runs || step.op.list != OpRef::List::Body) return;
          ++seen[{step.op.index, step.iteration + shift, step.piece.number}];
          pieces[step.op.index] = step.piece.count;
        });
      CAPTURE(c.kernel, c.schedule, trips);
      std::size_t wanted = 0;
      for (const int count : pieces) wanted += static_cast<std::size_t>(count * trips);
      CHECK(seen.size() == wanted);
      CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& s) { return s.second == 1; }));
    }
  }
}

TEST_CASE("tiles in tensor memory do not overlap and fit what is allocated, a power of two", "[codegen]") {
  for (const Case& c : cases()) {
    const Program program = test::program_of(lowered(c));
    CAPTURE(c.kernel, c.schedule);
    std::int64_t end = 0, shared = 0;
    for (const Buffer& buffer : program.buffers) {
      if (!buffer.tensor()) {
        shared = std::max(shared, buffer.offset + buffer.slot_bytes * buffer.depth);
        continue;
      }
      CHECK(buffer.offset >= end);
      end = buffer.offset + std::int64_t{buffer.columns} * buffer.depth;
    }
    REQUIRE(program.tensor.has_value());
    const int columns = program.tensor->columns;
    CHECK(end <= columns);
    CHECK((columns & (columns - 1)) == 0);
    CHECK((columns >= 32 && columns <= 512));
    REQUIRE(program.tensor->freed_by.has_value());
    CHECK(issues_products(program.roles[*program.tensor->freed_by]));
    CHECK(barrier_address(program, program.barriers.size()) + 16 <= program.smem_bytes);
    CHECK(shared <= program.barrier_offset);
    CHECK(program.smem_bytes <= 232448);
  }
}

TEST_CASE("roles of one warp share a warpgroup and its registers; those that read tensor memory have one of their own", "[codegen]") {
  for (const Case& c : cases()) {
    const Program program = test::program_of(lowered(c));
    CAPTURE(c.kernel, c.schedule);
    std::set<int> threads;
    int used = 0, warpgroups = 0, budget = 0;
    for (const Role& role : program.roles) {
      for (int t = 0; t < 32 * role.warps; ++t) CHECK(threads.insert(role.first_thread + t).second);
      if (role.warps == 4) CHECK(role.first_thread % 128 == 0);
      CHECK((role.warps == 1 || role.warps == 4));
      if (role.warpgroups == 0) CHECK(role.registers == budget);
      budget = role.registers;
      CHECK((role.registers % 8 == 0 && role.registers >= 24 && role.registers <= 256));
      used += role.registers * role.warpgroups;
      warpgroups += role.warpgroups;
    }
    CHECK(used <= program.entry_registers * warpgroups);
    CHECK(program.threads == 128 * warpgroups);
  }
}

TEST_CASE("the accumulator of the next tile of GEMM runs under the epilogue of this one", "[codegen]") {
  for (const Case& c : {cases().front(), cases().back()}) {
    const Program program = test::program_of(lowered(c));
    const Buffer& sum = buffer_named(program, "c");
    CHECK(sum.depth == 2);
    CHECK(program.tensor->columns == 512);
    const Role& last = program.roles.back();
    CHECK(last.name == "epilogue");
    CHECK(last.warps == 4);
    CHECK_FALSE(issues_products(last));
    REQUIRE(sum.empty.has_value());
    CHECK(program.barriers[*sum.empty].arrivals == 4);
    CHECK(program.barriers[*sum.empty].per_tile);
  }
}

TEST_CASE("a pair of blocks keeps half of B each and meets at the barriers of the first", "[codegen]") {
  const test::Lowering from = test::lowering("gemm_blackwell");
  const Program one = test::program_of(from), two = test::program_of(from, {}, {.cluster = 2});
  CHECK(two.pair);
  CHECK(two.cluster == 2);
  CHECK(buffer_named(two, "b").slot_bytes * 2 == buffer_named(one, "b").slot_bytes);
  CHECK(buffer_named(two, "a").slot_bytes == buffer_named(one, "a").slot_bytes);
  CHECK(buffer_named(two, "a").depth == 6);
  for (const Barrier& barrier : two.barriers) {
    const Buffer& buffer = two.buffers[barrier.buffer];
    if (barrier.full && barrier.tx_bytes > 0) CHECK((barrier.arrivals == 2 && barrier.tx_bytes == buffer.slot_bytes));
    if (!barrier.full && buffer.tensor()) CHECK(barrier.arrivals == 8);
    if (!barrier.full && !buffer.tensor()) CHECK(barrier.arrivals == 1);
  }
  const test::Lowering attention = test::lowering("attention_forward_blackwell");
  const auto refused = build_program(attention.kernel, attention.problem, attention.schedule, {}, {.cluster = 2}).refusals;
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].rule == "cluster");
}

TEST_CASE("the correction of attention works piece by piece, the next one's load under way", "[codegen]") {
  const test::Lowering from =
      test::lowering("attention_forward_blackwell", {}, "kernels/schedules/attention_forward_blackwell/fa4-noemu-nosplit.json");
  const Program program = test::program_of(from);
  int chains = 0;
  for (const Role& role : program.roles)
    for (const codegen::Section& section : role.sections) {
      if (!section.loop) continue;
      std::map<std::size_t, std::vector<int>> order;  // op -> places of its pieces
      int place = 0;
      for (const Step& step : section.steps) {
        ++place;
        if (step.kind == StepKind::Compute && step.piece.count == 4) order[step.op.index].push_back(place);
      }
      const auto op = [&](const std::string& name) { return from.problem.find_op(name).index(); };
      for (const char* which : {"0", "1"}) {
        const auto read = order.find(op(std::string("read_o") + which));
        if (read == order.end()) continue;
        ++chains;
        const std::vector<int>&scaled = order.at(op(std::string("rescale") + which)),
              &written = order.at(op(std::string("write_o") + which));
        REQUIRE((read->second.size() == 4 && scaled.size() == 4 && written.size() == 4));
        for (std::size_t k = 0; k < 4; ++k) {
          CHECK(read->second[k] < scaled[k]);
          CHECK(scaled[k] < written[k]);
          if (k + 1 < 4) CHECK(read->second[k + 1] < scaled[k]);
        }
      }
    }
  CHECK(chains == 2);
}

TEST_CASE("a role with registers to spare takes a whole tile at once", "[codegen]") {
  const test::Lowering from = test::lowering("attention_forward_blackwell");
  const Program program = test::program_of(from);
  bool whole = false;
  for (const Role& role : program.roles)
    for (const Variable& v : role.variables) whole = whole || (from.kernel.values[v.value].name.starts_with("o") && v.registers == 128);
  CHECK(whole);
}

TEST_CASE("a program for Blackwell keeps the period that was proved: GEMM to the cycle, attention within two percent", "[codegen]") {
  for (const std::string& name : test::blackwell_kernels()) {
    const test::Lowering from = test::lowering(name);
    const ProgramPeriod period = program_period(from.kernel, from.problem, from.schedule, test::program_of(from));
    CAPTURE(name);
    CHECK_FALSE(period.stuck);
    CHECK(period.iterations > 0);
    CHECK(period.cycles >= period.iterations * from.schedule.ii);
    // Waits for loads and stores of tensor memory hold a stream up that the problem lets go on.
    CHECK(100 * period.cycles <= (name == "gemm_blackwell" ? 100 : 102) * period.iterations * from.schedule.ii);
  }
}

TEST_CASE("results of attention backward lie where values lay, so that the rings of the proof fit", "[codegen]") {
  const test::Lowering from = test::lowering("attention_backward_blackwell");
  const Program program = test::program_of(from);
  CHECK(buffer_named(program, "q").depth == 2);
  const auto lends = [&](const char* tile) { return buffer_named(program, tile).values.size() > 1; };
  CHECK((lends("k") || lends("v")));
  CHECK(std::none_of(program.buffers.begin(), program.buffers.end(), [](const Buffer& b) { return b.name == "dvs" || b.name == "dks"; }));
}

TEST_CASE("mmas into registers are refused on Blackwell, tensor memory on Hopper, by name", "[codegen]") {
  // A Hopper kernel for which the solver has nothing to say yet: the first refusal counts.
  test::Lowering gemm = test::lowering("gemm_hopper");
  gemm.problem.arch = "sm_100a";
  const auto registers = build_program(gemm.kernel, gemm.problem, gemm.schedule).refusals;
  REQUIRE_FALSE(registers.empty());
  CHECK(registers[0].rule == "product_place");
  CHECK(registers[0].sentence.find("tensor memory") != std::string::npos);
  test::Lowering blackwell = test::lowering("gemm_blackwell");
  blackwell.problem.arch = "sm_90a";
  const auto tensor = build_program(blackwell.kernel, blackwell.problem, blackwell.schedule).refusals;
  REQUIRE(tensor.size() == 1);
  CHECK(tensor[0].sentence == "'c' lies in tensor memory, which this machine does not have");
}
