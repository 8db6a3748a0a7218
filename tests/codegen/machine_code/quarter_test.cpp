// Control codes of known instructions; the time of loops that can be counted by hand, and of compiled ones.
#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "codegen/compile/compile.h"
#include "codegen/machine_code/audit.h"
#include "codegen/machine_code/control.h"
#include "codegen/machine_code/loops.h"
#include "codegen/machine_code/quarter.h"
#include "core/formats/measurement_json.h"
#include "core/formats/schedule_json.h"
#include "core/instance/instance.h"
#include "core/library/library.h"
#include "tests/codegen/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

using Does = QuarterUnit;

QuarterStep step(Does unit, int stall = 1, int amount = 0, int reads = 0) {
  QuarterStep made;
  made.unit = unit;
  made.stall = stall;
  made.amount = amount;
  made.reads = reads;
  return made;
}

/// So many wgmmas of 64 cycles as one group.
std::vector<QuarterStep> products(int count, bool registers) {
  std::vector<QuarterStep> steps(static_cast<std::size_t>(count), step(Does::Product, 1, 64));
  for (QuarterStep& one : steps) one.registers = registers;
  steps.back().closes_group = true;
  return steps;
}

QuarterWarp warp(std::vector<QuarterStep> steps) { return {std::move(steps), 0}; }

const Contention& h100() {
  static const Contention numbers = load_machine("h100").value().contention;
  return numbers;
}

std::vector<QuarterTimes> times(const std::vector<QuarterWarp>& warps, const Contention& numbers = h100()) {
  const auto found = run_quarter(warps, numbers);
  REQUIRE(found.has_value());
  REQUIRE(found->size() == warps.size());
  return *found;
}

MachineAudit judged(const std::string& kernel, const std::string& schedule, std::string* text = nullptr) {
  const test::Lowering from = schedule.empty() ? test::lowering(kernel) : test::lowering(kernel, {}, schedule);
  const Program program = test::program_of(from);
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
  REQUIRE(emitted.emission.has_value());
  const auto compiled = compile_cuda(emitted.emission->source, {Compiler::Auto, {}, nullptr, program.arch});
  REQUIRE(compiled.ok());
  MachineAudit found = audit(compiled->code, from.problem, program, *emitted.emission);
  if (text) *text = audit_text(found, from.kernel, program, *emitted.emission);
  return found;
}

}  // namespace

TEST_CASE("control codes are read as the disassembler prints them", "[codegen]") {
  // LDG.E R9, desc[UR4][R6.64+0x4]: its address comes from scoreboard 0, its result is told by scoreboard 2
  const Control load = control_of({0x0000040406097981, 0x001ea8000c1e1900, 0});
  CHECK(load.stall == 4);
  CHECK(load.write_barrier == 2);
  CHECK_FALSE(load.read_barrier.has_value());
  CHECK(load.wait == 0b000001u);
  CHECK(load.reuse == 0);
  // FFMA R4, R0.reuse, R0, R0 behind a load of scoreboard 3
  const Control fused = control_of({0x0000000000047223, 0x048fe20000000000, 0});
  CHECK(fused.stall == 1);
  CHECK(fused.wait == 0b001000u);
  CHECK(fused.reuse == 0b001u);
  CHECK_FALSE(fused.yields);
  // FADD R25, R24, R25 at the end of a chain
  const Control sum = control_of({0x0000001918197221, 0x000fca0000000000, 0});
  CHECK(sum.stall == 5);
  CHECK(sum.yields);
  CHECK_FALSE(sum.write_barrier.has_value());
  // STS.128 [R2+UR4], R4: what it stores may be overwritten when scoreboard 0 falls
  const Control store = control_of({0x0000000402007988, 0x0001e80008000c04, 0});
  CHECK(store.read_barrier == 0);
  CHECK_FALSE(store.write_barrier.has_value());
}

TEST_CASE("arithmetic reads the registers that the disassembler prints, at the port that may keep them", "[codegen]") {
  const struct {
    codegen::MachineInstruction instruction;
    IssuePipe pipe;
    std::array<int, 3> reads;
  } cases[] = {
      {{0x000000079a177221, 0x004fe20000000000, 0}, IssuePipe::Fma, {154, -1, 7}},     // FADD R23, R154, R7
      {{0xf149f2ca07067421, 0x000fca0000000100, 0}, IssuePipe::Fma, {7, -1, -1}},      // FADD R6, -R7, -1e30
      {{0x0000000858587220, 0x080fe20000400000, 0}, IssuePipe::Fma, {88, 8, -1}},      // FMUL R88, R88, R8.reuse
      {{0x0000000418987c23, 0x100fe2000800080a, 0}, IssuePipe::Fma, {24, -1, 10}},     // FFMA R152, R24, UR4, -R10.reuse
      {{0x410000000b147423, 0x000fe2000000080a, 0}, IssuePipe::Fma, {11, 10, -1}},     // FFMA R20, R11, -R10, 8
      {{0x000000ffff037224, 0x000fe400078e00ff, 0}, IssuePipe::Fma, {-1, -1, -1}},     // IMAD.MOV.U32 R3, RZ, RZ, RZ
      {{0x0000009a079a723e, 0x000fe400000010ff, 0}, IssuePipe::Alu, {7, 154, -1}},     // F2FP.BF16.F32.PACK_AB R154, R7, R154
      {{0x0000001918037209, 0x000fe20007800000, 0}, IssuePipe::Alu, {24, 25, -1}},     // FMNMX R3, R24, R25, !PT
      {{0x000000b5b6047212, 0x000fc400078efeb4, 0}, IssuePipe::Alu, {182, 181, 180}},  // LOP3.LUT R4, R182, R181, R180, 0xfe, !PT
      {{0x0000541025257816, 0x000fe40000000026, 0}, IssuePipe::Alu, {37, -1, 38}},     // PRMT R37, R37, 0x5410, R38
      {{0x000000420a0a7446, 0x000fe2000380011f, 0}, IssuePipe::Alu, {10, 31, -1}},     // VIADDMNMX R10, R10, R31, 0x42, PT
      {{0x0000000d000a7202, 0x000fe20000000f00, 0}, IssuePipe::Alu, {-1, 13, -1}},     // MOV R10, R13
      {{0x000000ff0200720c, 0x002fda0003f05270, 0}, IssuePipe::Alu, {2, -1, -1}},      // ISETP.NE.AND P0, PT, R2, RZ, PT
      {{0x000000000000781c, 0x002fda0003f0f008, 0}, IssuePipe::Alu, {-1, -1, -1}},     // PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0
  };
  for (const auto& c : cases) {
    const auto found = arithmetic_of(c.instruction);
    CAPTURE(c.instruction.low);
    REQUIRE(found.has_value());
    CHECK(found->pipe == c.pipe);
    CHECK(found->reads == c.reads);
  }
  CHECK_FALSE(arithmetic_of({0x0000009800987308, 0x000fe20000000800, 0}).has_value());  // MUFU.EX2 R152, R152
}

TEST_CASE("sizes of wgmmas, barriers and accesses are in their bits", "[codegen]") {
  const auto shape = [](std::uint64_t low, std::uint64_t high) {
    const WgmmaShape found = wgmma_shape({low, high, 0});
    return std::tuple(found.columns, found.registers, found.closes_group);
  };
  CHECK(shape(0x01e00000081879f0, 0x000fe2000c7018ff) == std::tuple(128, false, false));  // HGMMA.64x128x16 R24, gdesc[UR8], RZ
  CHECK(shape(0x41e0000cd8707df0, 0x0000008001870) == std::tuple(128, true, true));       // HGMMA.64x128x16 R112, R216, gdesc, gsb0
  CHECK(shape(0x02a000000c1879f0, 0x0000008001818) == std::tuple(176, false, true));      // HGMMA.64x176x16
  CHECK(shape(0x43e000000c1879f0, 0x0000008701818) == std::tuple(256, false, false));     // HGMMA.64x256x16
  CHECK(shape(0x01e0001098587df3, 0x000fe20008700858) == std::tuple(128, true, false));   // QGMMA.64x128x32 R88, R152, gdesc
  CHECK(barrier_threads({0x000400000000751d, 0x0003e20000010000, 0}) == 256);             // BAR.SYNC R0, 0x100
  CHECK(barrier_threads({0x0082000000007b1d, 0x0000000000010000, 0}) == 128);             // BAR.SYNC 0x2, 0x80
  CHECK(barrier_threads({0x0244000000007b1d, 0x0000000000002000, 0}) == 256);             // BAR.ARV 0x9, 0x100
  CHECK(shared_words({0x0000000402007988, 0x0001e80008000c04, 0}) == 4);                  // STS.128
  CHECK(shared_words({0x0080000f0c147984, 0x000e680008000a00, 0}) == 2);                  // LDS.64
  CHECK(shared_words({0x0200000588887984, 0x0000008000800, 0}) == 1);                     // LDS
  CHECK(shared_words({0x000000080d007844, 0x0000000000200, 0}) == 4);                     // STSM.16.M88.4
  CHECK(shared_words({0x000000000308783b, 0x000f680000000100, 0}) == 2);                  // LDSM.16.M88.2
}

TEST_CASE("one pass goes past what waits and jumps over what is said to be seldom", "[codegen]") {
  constexpr std::uint64_t kAlways = 0x7000, kTrueAgain = std::uint64_t{7} << 23;
  const auto jump = [](std::int64_t at, std::int64_t target, bool always) {
    const auto words = static_cast<std::uint64_t>(4 * (target - at - 1));
    return codegen::MachineInstruction{0x947 | (always ? kAlways : 0) | (words & 0xff) << 16 | (words >> 8 & 0x3fffffff) << 34,
                                       kTrueAgain | (words >> 8 >> 30 & 0x3ffff), 0};
  };
  const codegen::MachineInstruction add{0x221 | kAlways, kTrueAgain, 0}, ask{0x5a7 | kAlways, kTrueAgain, 0},
      exit{0x94d | kAlways, kTrueAgain, 0};
  // 0 to 8 is the loop; 2 and 3 ask until they may go on; 4 jumps over 5 and 6; 7 asks once more behind the code, at 10 and 11
  const std::vector<codegen::MachineInstruction> code{add,
                                                      add,
                                                      ask,
                                                      jump(3, 2, false),
                                                      jump(4, 7, false),
                                                      add,
                                                      add,
                                                      jump(7, 10, false),
                                                      jump(8, 0, false),
                                                      exit,
                                                      ask,
                                                      jump(11, 10, false),
                                                      jump(12, 8, true)};
  const auto loops = find_loops(code);
  const auto loop = std::find_if(loops.begin(), loops.end(), [](const MachineLoop& l) { return l.instructions.size() > 2; });
  REQUIRE(loop != loops.end());
  CHECK(one_pass(code, *loop, [](std::size_t, std::size_t) { return false; }) == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(one_pass(code, *loop, [](std::size_t first, std::size_t) { return first == 5; }) == std::vector<std::size_t>{0, 1, 2, 3, 4, 7, 8});
}

TEST_CASE("a register that the port still has is not read again", "[codegen]") {
  // FMUL R88, R88, R8.reuse; FMUL R24, R24, R8: two reads, then one
  const std::vector<codegen::MachineInstruction> code{{0x0000000858587220, 0x080fe20000400000, 0},
                                                      {0x0000000818187220, 0x000fe20000400000, 0}};
  const QuarterWarp twice = quarter_warp(code, {0, 1}, 128);
  REQUIRE(twice.steps.size() == 2);
  CHECK(twice.steps[0].reads == 2);
  CHECK(twice.steps[1].reads == 1);
  CHECK(twice.unknown == 0);
  // What no one knows is a simple instruction of the slower pipe, and counted.
  const QuarterWarp strange = quarter_warp({{0x00000000000071aa, 0, 0}}, {0}, 128);
  CHECK(strange.unknown == 1);
  CHECK(strange.steps[0].unit == Does::Alu);
}

TEST_CASE("loops that can be counted by hand take what was counted", "[codegen]") {
  // Stalls add up.
  CHECK(times({warp({step(Does::Plain, 1), step(Does::Plain, 5), step(Does::Plain, 2)})})[0].pass == 8);
  // A pipe's own time: a MUFU every 8 cycles, an instruction of the slow pipe every 2, whoever issues them.
  const std::vector<QuarterStep> specials(10, step(Does::Special)), slow(10, step(Does::Alu)), plain(10, step(Does::Plain, 2));
  CHECK(times({warp(specials)})[0].pass == 80);
  CHECK(times({warp(slow)})[0].pass == 20);
  CHECK(times({warp(plain), warp(plain)})[0].pass == 20);
  // MUFU and arithmetic of another warp run beside each other.
  CHECK(times({warp(specials), warp(slow)})[0].pass == 80);
  // Behind a scoreboard: MUFU's latency, 20 cycles, and the one that waited.
  QuarterStep special = step(Does::Special), reader = step(Does::Plain);
  special.write_barrier = 0, reader.wait = 1;
  CHECK(times({warp({special, reader})})[0].pass == 21);
}

TEST_CASE("an mma takes its wgmmas and what follows, and issuing it holds the warp where more are wanted than fit", "[codegen]") {
  REQUIRE(h100().in_flight.value == 8);
  REQUIRE(h100().issue_step.value == 12);
  const Cycle done = h100().product_done.value;
  // Issue, a cycle later the tensor core, 64 cycles each, until the group goes on, one for the wait itself.
  for (const int count : {8, 12}) {
    std::vector<QuarterStep> steps = products(count, false);
    steps.push_back(step(Does::ProductWait));
    const QuarterTimes found = times({warp(steps)})[0];
    CHECK(found.pass == 1 + count * 64 + done + 1);
    Cycle held = 0;
    for (std::size_t s = 0; s < static_cast<std::size_t>(count); ++s) held += found.waited[s];
    // The ninth comes at 96, when the first has ended, at 65; the tenth to the twelfth when the second to the fourth have.
    CHECK(held == (count == 8 ? 0 : (129 - 108) + 2 * (64 - 12)));
  }
}

TEST_CASE("registers are read later behind a fence than shared memory", "[codegen]") {
  for (const bool registers : {false, true}) {
    std::vector<QuarterStep> steps = products(8, registers);
    steps.insert(steps.begin(), step(Does::ProductFence));
    steps.push_back(step(Does::ProductWait));
    const Cycle fence = h100().fence.value + (registers ? h100().register_fence.value : 0);
    CHECK(times({warp(steps)})[0].pass == fence + 1 + 8 * 64 + h100().product_done.value + 1);
  }
}

TEST_CASE("of two groups the mma that began first is finished first, so each waits while the other's runs", "[codegen]") {
  for (const int left : {0, 1}) {  // groups that may be in flight behind the wait
    std::vector<QuarterStep> steps = products(8, false);
    steps.push_back(step(Does::ProductWait, 1, left));
    for (const QuarterTimes& found : times({warp(steps), warp(steps)})) CHECK(found.pass == 2 * 8 * 64);
  }
}

TEST_CASE("turns go round, and who passes one is late for the next by two of them", "[codegen]") {
  const QuarterWarp turn = warp({step(Does::TakeTurn), step(Does::PassTurn)});
  for (const std::size_t groups : {std::size_t{2}, std::size_t{3}})
    for (const QuarterTimes& found : times(std::vector<QuarterWarp>(groups, turn))) {
      CHECK(found.pass == static_cast<Cycle>(groups) * (2 + h100().turn.value));  // taking it stalls 2
      CHECK(found.in_turn == 2);
    }
  CHECK_FALSE(run_quarter({warp({step(Does::TakeTurn)}), turn}, h100()).has_value());  // never passed
  CHECK_FALSE(run_quarter({}, h100()).has_value());
}

TEST_CASE("arithmetic and mmas make each other late, by the reads", "[codegen]") {
  std::vector<QuarterStep> steps = products(8, false);
  steps.push_back(step(Does::ProductWait, 1, 1));
  const std::vector<QuarterStep> sums(100, step(Does::Plain, 2, 0, 3));
  Contention numbers = h100();
  numbers.late_per_read.shared.value = 500;
  numbers.product_per_read.shared.value = 250;
  const auto both = times({warp(sums), warp(steps)}, numbers);
  // Three reads make an instruction 1.5 cycles late: 350 cycles where 200 were, but for slots that the other warp takes.
  CHECK(both[0].pass >= 350);
  CHECK(both[0].pass <= 360);
  // 300 reads in 350 cycles take 0.214 of the tensor core's.
  CHECK(both[1].pass == Approx(512 / (1 - 0.25 * 300 / 350)).epsilon(0.03));
  numbers.late_per_read = numbers.product_per_read = {};
  const auto alone = times({warp(sums), warp(steps)}, numbers);
  CHECK(alone[0].pass <= 204);
  CHECK(alone[1].pass == 512);
}

TEST_CASE("any loops have a time or none, and always the same", "[codegen]") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<codegen::MachineInstruction> code(4 + random() % 40);
    std::vector<std::size_t> pass;
    constexpr std::array<std::uint64_t, 10> kKeys{0x9f0, 0xdf0, 0x9c5, 0xb1d, 0x308, 0x221, 0x209, 0x23e, 0x984, 0x5a7};
    for (std::size_t i = 0; i < code.size(); ++i) {
      code[i] = {std::uint64_t{random()} << 32 | (random() & 0xfffff000u) | kKeys[random() % kKeys.size()],
                 std::uint64_t{random()} << 32 | random(), 0};
      pass.push_back(i);
    }
    const std::vector<QuarterWarp> warps(1 + random() % 3, quarter_warp(code, pass, 128));
    const auto found = run_quarter(warps, h100());
    CHECK(found == run_quarter(warps, h100()));
    if (found)
      for (const QuarterTimes& one : *found) CHECK(one.pass >= static_cast<Cycle>(code.size()));
  }
}

TEST_CASE("FlashAttention-3's order is faster as compiled than the solver's, by the machine code", "[codegen]") {
  if (!find_compiler().ok()) return;
  std::string text;
  const MachineAudit solved = judged("attention_forward_hopper", "", &text),
                     fa3 = judged("attention_forward_hopper", "kernels/schedules/attention_forward_hopper/fa3.json");
  REQUIRE(solved.iteration().has_value());
  REQUIRE(fa3.iteration().has_value());
  CHECK(*fa3.iteration() < *solved.iteration());
  CHECK(*fa3.iteration() > 2048);  // the work of the tensor cores
  CHECK(solved.unknown == 0);
  int groups = 0;
  for (const RoleLoopAudit& loop : solved.loops) {
    CHECK(loop.time.has_value() == (loop.counts[OpClass::Product] > 0));
    if (!loop.time) continue;
    ++groups;
    CHECK(loop.time->iteration == Approx(*solved.iteration()).epsilon(0.01));  // they take turns
    CHECK(loop.time->turn > 512);
    CHECK(loop.time->held > 0);
  }
  CHECK(groups == 2);
  CHECK(text.find("as compiled: " + std::to_string(*solved.iteration()) + " cycles an iteration by the machine code") == 0);
  CHECK(text.find(" in its turn, ") != std::string::npos);
  CHECK(text.find(" held at wgmmas") != std::string::npos);
  CHECK(text.find("run later") == std::string::npos);  // its price is in the cycles
}

TEST_CASE("groups without turns take what was measured, within a tenth, as compiled", "[codegen]") {
  if (!find_compiler().ok()) return;
  for (const char* name : {"attention-8k-tawa", "attention-fp8-8k-default"}) {
    const Measurement measured = read_measurement(test::repository_path(fmt::format("assets/measured/2026-11-28/{}.json", name))).value();
    InstanceSpec spec = spec_of(load_kernel(measured.kernel).value(), load_machine("h100").value());
    spec.params = measured.params;
    spec.choices = parse_schedule_head(measured.schedule_text, "")->layouts;
    const Problem problem = make_problem(spec).value();
    const test::Lowering from{*spec.kernel, problem, parse_schedule(measured.schedule_text, "", problem).value()};
    const Program program = test::program_of(from);
    CHECK_FALSE(program.turns.has_value());
    const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
    REQUIRE(emitted.emission.has_value());
    const auto compiled = compile_cuda(emitted.emission->source, {Compiler::Auto, {}, nullptr, program.arch});
    REQUIRE(compiled.ok());
    const auto cycles = audit(compiled->code, from.problem, program, *emitted.emission).iteration();
    REQUIRE(cycles.has_value());
    INFO(name << ": " << *cycles << " for " << *measured.measured_ii);
    CHECK(static_cast<double>(*cycles) == Approx(*measured.measured_ii).epsilon(0.1));
  }
}

TEST_CASE("masks that most passes jump over cost nothing", "[codegen]") {
  if (!find_compiler().ok()) return;
  const MachineAudit causal = judged("attention_forward_causal_hopper", "");
  REQUIRE(causal.iteration().has_value());
  CHECK(*causal.iteration() < 2800);  // with the selects, which are 64 for each row, it is above 2900
}

TEST_CASE("there is no time where the tensor core works otherwise, or nothing of it is used", "[codegen]") {
  if (!find_compiler().ok()) return;
  for (const char* kernel : {"gemm_blackwell", "layernorm"}) CHECK_FALSE(judged(kernel, "").iteration().has_value());
}

TEST_CASE("there is no time without a machine's numbers of contention", "[codegen]") {
  if (!find_compiler().ok()) return;
  test::Lowering from = test::lowering("gemm_hopper");
  const Program program = test::program_of(from);
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
  REQUIRE(emitted.emission.has_value());
  const auto compiled = compile_cuda(emitted.emission->source, {Compiler::Auto, {}, nullptr, program.arch});
  REQUIRE(compiled.ok());
  CHECK(audit(compiled->code, from.problem, program, *emitted.emission).iteration().has_value());
  from.problem.contention = {};
  CHECK_FALSE(audit(compiled->code, from.problem, program, *emitted.emission).iteration().has_value());
}
