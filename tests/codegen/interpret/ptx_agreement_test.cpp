// What heddle interpret says of a program and what heddle check says of its PTX: the same rings, the same order of waits and arrivals in
// each role, and the same mutants hang. The two share nothing: one walks the program's steps, the other what nvcc made of its text.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/interpret/interpret.h"
#include "ptx/report/check.h"
#include "ptx/report/rings.h"
#include "ptx/run/cluster.h"
#include "ptx/run/memory.h"
#include "ptx/text/parse.h"
#include "tests/codegen/mutants.h"
#include "tests/codegen/ptx_kernel.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

test::SmallKernel small(const std::string& name) {
  for (const test::SmallKernel& kernel : test::small_kernels())
    if (test::to_string(kernel) == name) return kernel;
  FAIL(name);
  return {};
}

/// A wait, an arrival, bytes expected of a load, or an arrival of products, at a barrier: its byte in the block's shared memory.
struct BarrierUse {
  char kind = ' ';
  std::int64_t at = 0;
  bool operator==(const BarrierUse&) const = default;
};

std::string text_of(const std::vector<BarrierUse>& uses, std::size_t around) {
  std::string text;
  for (std::size_t i = around < 4 ? 0 : around - 4; i < std::min(uses.size(), around + 5); ++i)
    text += fmt::format("{}{}{}", i == around ? " >" : " ", uses[i].kind, uses[i].at);
  return text;
}

/// As the program's steps have it, over so many tiles.
std::vector<BarrierUse> uses_of(const Program& program, const Role& role, std::int64_t tiles) {
  std::vector<BarrierUse> uses;
  std::vector<int> slots(role.cursors.size(), 0);
  for (std::int64_t tile = 0; tile < tiles; ++tile)
    for_each_step(role, [&](const Section&, const Step& step, std::int64_t) {
      if (step.kind == StepKind::Advance) slots[step.cursor] = (slots[step.cursor] + 1) % role.cursors[step.cursor].depth;
      const char kind = step.kind == StepKind::Wait                                   ? 'w'
                        : step.kind == StepKind::Arrive                               ? 'a'
                        : step.kind == StepKind::Signal                               ? 's'
                        : step.kind == StepKind::Issue && step.engine == Engine::Load ? 'e'
                                                                                      : ' ';
      if (kind != ' ') uses.push_back({kind, barrier_address(program, step.barrier) + 8 * slots[step.cursor]});
    });
  return uses;
}

/// A run of the kernel's PTX.
struct PtxRun {
  ptx::PtxModule module;
  ptx::Costs costs;
  std::unique_ptr<ptx::ClusterRun> run;
  std::int64_t base = 0;  ///< of dynamic shared memory

  PtxRun(const test::PtxKernel& kernel, const ptx::PtxFunction*& function) {
    auto parsed = ptx::parse(kernel.text, "kernel.ptx");
    REQUIRE(parsed.ok());
    module = *std::move(parsed);
    const auto found = ptx::find_entry(module, "kernel.ptx", kernel.launch.kernel);
    REQUIRE(found.ok());
    function = *found;
    costs = ptx::costs_of(nullptr);
    run = std::make_unique<ptx::ClusterRun>(module, *function, kernel.launch, costs, ptx::ClusterOptions{});
    run->run();
    CHECK(run->stop_reason() == "");
    CHECK(run->findings.all().empty());
    std::int64_t first = INT64_MAX;
    for (const ptx::RunEvent& event : run->trace)
      if (event.kind == ptx::EventKind::Wait) first = std::min(first, static_cast<std::int64_t>(event.address));
    base = first - kernel.program.barrier_offset;
  }

  /// Of one warp of the first block, in its order.
  std::vector<BarrierUse> uses_of(int warp) const {
    std::vector<const ptx::RunEvent*> own;
    for (const ptx::RunEvent& event : run->trace)
      if (event.warp == warp) own.push_back(&event);
    std::stable_sort(own.begin(), own.end(), [](const auto* a, const auto* b) { return a->issued < b->issued; });
    std::vector<BarrierUse> uses;
    for (const ptx::RunEvent* event : own) {
      const char kind = event->kind == ptx::EventKind::Wait            ? 'w'
                        : event->kind == ptx::EventKind::Arrive        ? 'a'
                        : event->kind == ptx::EventKind::Expect        ? 'e'
                        : event->kind == ptx::EventKind::ProductCommit ? 's'
                                                                       : ' ';
      const std::uint64_t address = kind == 's' ? event->barrier : event->address;
      if (kind != ' ' && address != 0) uses.push_back({kind, static_cast<std::int64_t>(address) - base});
    }
    return uses;
  }
};

void compare_order(const test::PtxKernel& kernel, const PtxRun& ptx) {
  for (const Role& role : kernel.program.roles) {
    const auto expected = uses_of(kernel.program, role, kernel.emission.launch.tiles);
    const auto seen = ptx.uses_of(role.first_thread / 32);
    const auto differ = std::mismatch(expected.begin(), expected.end(), seen.begin(), seen.end());
    const auto at = static_cast<std::size_t>(differ.first - expected.begin());
    INFO(role.name << ", of " << expected.size() << " waits and arrivals\nprogram: " << text_of(expected, at)
                   << "\nPTX:     " << text_of(seen, at));
    CHECK((expected == seen));
  }
}

/// Every ring that loads fill: as many slots, where they lie, how large they are, and by which barriers they are guarded.
void compare_rings(const test::PtxKernel& kernel, const PtxRun& ptx, const ptx::PtxFunction* function) {
  const ptx::PtxRecord record{&ptx.module, function, &kernel.launch, &ptx.run->trace, ptx.run->warps_per_cta(), ptx.run->cluster_size()};
  const std::vector<ptx::PtxRing> rings = ptx::rings_of(record);
  const Program& program = kernel.program;
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    std::map<std::int64_t, std::int64_t> full;  // by slot's begin: the barriers of its values
    const auto loads = [&](const Barrier& barrier) { return barrier.full && barrier.buffer == b && barrier.tx_bytes > 0; };
    if (std::none_of(program.barriers.begin(), program.barriers.end(), loads)) continue;
    INFO(buffer.name);
    std::set<std::int64_t> slots;
    for (const ptx::PtxRing& ring : rings)
      for (const ptx::RingSlot& slot : ring.slots) {
        const std::int64_t at = static_cast<std::int64_t>(slot.begin) - ptx.base - buffer.offset;
        if (ring.cta != 0 || at < 0 || at >= buffer.depth * buffer.slot_bytes) continue;
        CHECK(at % buffer.slot_bytes == 0);
        const std::int64_t number = at / buffer.slot_bytes;
        slots.insert(number);
        CHECK(std::any_of(program.barriers.begin(), program.barriers.end(), [&](const Barrier& barrier) {
          const auto index = static_cast<std::size_t>(&barrier - program.barriers.data());
          return loads(barrier) && static_cast<std::int64_t>(slot.full) - ptx.base == barrier_address(program, index) + 8 * number &&
                 static_cast<std::int64_t>(slot.end - slot.begin) == barrier.tx_bytes;
        }));
        if (buffer.empty) CHECK(static_cast<std::int64_t>(slot.empty) - ptx.base == barrier_address(program, *buffer.empty) + 8 * number);
      }
    CHECK(static_cast<int>(slots.size()) == buffer.depth);
  }
}

/// False: there is no nvcc. Where tiles have trips of their own, or a cluster's blocks arrive at each other, the program's steps alone do
/// not say the order.
bool compare_with_program(const test::SmallKernel& kernel) {
  INFO(test::to_string(kernel));
  const test::Lowering from = test::lowering_of(kernel);
  const Program program = test::program_of(from, {}, kernel.options);
  if (program.varies || program.cluster > 1) return true;
  const auto made = test::ptx_kernel(from, program);
  if (!made) return false;
  const ptx::PtxFunction* function = nullptr;
  const PtxRun run(*made, function);
  compare_order(*made, run);
  compare_rings(*made, run, function);
  return true;
}

/// Of the protocol between roles: what heddle check can see as well as the interpreter, whatever a tile's numbers are.
bool of_protocol(const std::string& what) {
  if (what.starts_with("one less ") && what.ends_with("of depth 2")) return false;  // one slot has no cursor in the text
  for (const char* part : {"'wait ", "'arrive ", "'signal ", "cursor", "one arrival ", "'advance "})
    if (what.find(part) != std::string::npos) return true;
  return false;
}

struct Verdicts {
  bool fault = false, deadlock = false, always = false;  ///< of the interpreter: under some order of events, and each deadlocks
  bool found = false, hangs = false;                     ///< of the check
};

Verdicts verdicts(const test::Lowering& from, const test::PtxKernel& kernel) {
  Verdicts of;
  of.always = true;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto fault = run_symbolic(from.kernel, kernel.program, {.seed = seed, .tiles = 3});
    of.fault |= fault.has_value();
    of.deadlock |= fault && fault->kind == FaultKind::Deadlock;
    of.always &= fault && fault->kind == FaultKind::Deadlock;
  }
  const auto checked = ptx::check(kernel.text, "kernel.ptx", kernel.launch, {});
  REQUIRE(checked.ok());
  of.found = !checked->findings.empty();
  of.hangs = std::any_of(checked->findings.begin(), checked->findings.end(),
                         [](const ptx::SaidFinding& finding) { return finding.rule == "hang"; });
  return of;
}

/// What the interpreter objects to and the check does not: it asks who has waited for what, not only whether something orders it.
struct Ordered {
  const char* kernel;
  const char* what;  ///< part of the mutant's text
  const char* why;
};

constexpr const char* kOtherRing =
    "b's or v's ring has a slot less: who has waited for its slot knows that the readers of this one are done";
constexpr const char* kTurn = "consumer A has waited for it before it gives consumer B its turn";

constexpr const char* kSameProducts = "the producer has just waited for b's slot of the same iteration, which the same products free";

const std::vector<Ordered> kOrdered{
    {"gemm_hopper", "'wait empty a", kOtherRing},
    {"gemm_hopper", "'arrive empty a", kOtherRing},
    {"attention_forward_hopper", "'wait empty k", kOtherRing},
    {"attention_forward_hopper", "'arrive empty k", kOtherRing},
    {"attention_forward_hopper", "consumer B, prologue 1: 'wait full k", kTurn},
    {"attention_forward_hopper", "consumer B, steady state 2: 'wait full k", kTurn},
    {"gemm_blackwell", "'wait empty a", kSameProducts},
    {"gemm_blackwell", "'signal empty a", kSameProducts},
};

/// Every `every`th mutant of the protocol. The interpreter ends at the first thing that goes wrong, so that it comes to a deadlock only
/// where nothing else is wrong before.
void compare_mutants(const std::string& name, std::size_t every) {
  const test::SmallKernel kernel = small(name);
  const test::Lowering from = test::lowering_of(kernel);
  const Program program = test::program_of(from, {}, kernel.options);
  const std::string original = emit_cuda(from.kernel, from.problem, from.schedule, program).emission->source;
  std::size_t number = 0, count = 0, hang = 0, deadlocks = 0, faults = 0, found = 0;
  std::string passed;
  for (const test::Mutant& mutant : test::mutants(from.kernel, program)) {
    if (!of_protocol(mutant.what)) continue;
    const EmitResult text = emit_cuda(from.kernel, from.problem, from.schedule, mutant.program);
    if (!text.emission || text.emission->source == original || number++ % every != 0) continue;  // arrivals of a role follow from its warps
    INFO(name << ": " << mutant.what);
    const auto changed = test::ptx_kernel(from, mutant.program);
    if (!changed) return;
    const Verdicts of = verdicts(from, *changed);
    ++count;
    hang += of.hangs;
    faults += of.fault;
    found += of.fault && of.found;
    if (of.always) CHECK(of.hangs);
    if (of.hangs) CHECK(of.fault);
    if (of.found) CHECK(of.fault);
    deadlocks += of.hangs && of.deadlock;
    if (!of.fault || of.found) continue;
    const auto reason = std::find_if(kOrdered.begin(), kOrdered.end(), [&](const Ordered& ordered) {
      return name == ordered.kernel && mutant.what.find(ordered.what) != std::string::npos;
    });
    CHECK(reason != kOrdered.end());
    if (reason != kOrdered.end()) passed += fmt::format("  {}\n    {}\n", mutant.what, reason->why);
  }
  std::cout << fmt::format(
      "{}: of {} mutants of the protocol {} hang; the interpreter ends {} of these in a deadlock, the others before it, at what leads "
      "there; "
      "of {} that it objects to, the check does to {}\n{}",
      name, count, hang, deadlocks, faults, found, passed);
}

}  // namespace

TEST_CASE("a program and its PTX have the same rings, and the same order of waits and arrivals", "[codegen]") {
  for (const char* name : {"gemm_hopper", "attention_forward_hopper", "gemm_blackwell"})
    if (!compare_with_program(small(name))) return;
}

TEST_CASE("every shipped kernel's program and its PTX have the same rings, waits and arrivals", "[codegen][.slow]") {
  for (const test::SmallKernel& kernel : test::small_kernels())
    if (!compare_with_program(kernel)) return;
}

TEST_CASE("mutants of a program hang in the interpreter where their PTX hangs", "[codegen]") { compare_mutants("gemm_hopper", 25); }

TEST_CASE("every mutant of a GEMM's protocol hangs in the interpreter where its PTX hangs", "[codegen][.slow]") {
  compare_mutants("gemm_hopper", 1);
}

TEST_CASE("every mutant of the protocol of a GEMM for Blackwell hangs in the interpreter where its PTX hangs", "[codegen][.slow]") {
  compare_mutants("gemm_blackwell", 1);
}

TEST_CASE("every mutant of an attention's protocol hangs in the interpreter where its PTX hangs", "[codegen][.slow]") {
  compare_mutants("attention_forward_hopper", 1);
}
