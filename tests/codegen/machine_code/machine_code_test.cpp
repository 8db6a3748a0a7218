// Reading compiled code: lines, loops, kinds of instructions, and what the audit says of them.
#include <algorithm>
#include <iterator>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "codegen/compile/compile.h"
#include "codegen/machine_code/audit.h"
#include "codegen/machine_code/bytes.h"
#include "codegen/machine_code/line_table.h"
#include "codegen/machine_code/loops.h"
#include "tests/codegen/fixture.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

constexpr std::uint64_t kAlways = 0x7000, kTrueAgain = std::uint64_t{7} << 23;

/// BRA from instruction `at` to `target`, taken always or sometimes.
codegen::MachineInstruction branch(std::size_t at, std::size_t target, bool always) {
  const std::int64_t words = 4 * (static_cast<std::int64_t>(target) - static_cast<std::int64_t>(at) - 1);
  const auto bits = static_cast<std::uint64_t>(words);
  codegen::MachineInstruction i;
  i.low = 0x947 | (always ? kAlways : 0) | (bits & 0xff) << 16 | (bits >> 8 & 0x3fffffff) << 34;
  i.high = kTrueAgain | (bits >> 8 >> 30 & 0x3ffff);
  return i;
}

codegen::MachineInstruction plain(std::uint64_t key) { return {key | kAlways, kTrueAgain, 0}; }

constexpr std::uint64_t kAdd = 0x221, kTryWait = 0x5a7, kExit = 0x94d;

}  // namespace

TEST_CASE("branches lead where they were written to, forwards and backwards", "[codegen]") {
  std::vector<codegen::MachineInstruction> code(40, plain(kAdd));
  for (std::size_t at = 0; at < code.size(); ++at)
    for (std::size_t target = 0; target < code.size(); ++target) {
      code[at] = branch(at, target, true);
      REQUIRE(branch_target(code, at) == target);
      code[at] = plain(kAdd);
    }
  CHECK_FALSE(branch_target(code, 0).has_value());
  code[0] = branch(0, 4000, true);
  CHECK_FALSE(branch_target(code, 0).has_value());
}

TEST_CASE("a loop is what its back edge closes, without the spinning that waits behind the code", "[codegen]") {
  // 0: add; loop 1 to 4 with a wait at 2 whose spin is at 6 and 7; 5: exit; 8: jump back from the spin
  std::vector<codegen::MachineInstruction> code{plain(kAdd),  plain(kAdd),     branch(2, 6, false), plain(kAdd),       branch(4, 1, false),
                                                plain(kExit), plain(kTryWait), branch(7, 6, false), branch(8, 3, true)};
  const auto loops = find_loops(code);
  REQUIRE(loops.size() == 1);
  CHECK(loops[0].instructions == std::vector<std::size_t>{1, 2, 3, 4});
}

TEST_CASE("nested loops are two, the inner one part of the outer one", "[codegen]") {
  std::vector<codegen::MachineInstruction> code{plain(kAdd),         plain(kAdd),         plain(kAdd),
                                                branch(3, 2, false), branch(4, 1, false), plain(kExit)};
  const auto loops = find_loops(code);
  REQUIRE(loops.size() == 2);
  CHECK(loops[0].instructions == std::vector<std::size_t>{1, 2, 3, 4});
  CHECK(loops[1].instructions == std::vector<std::size_t>{2, 3});
}

TEST_CASE("any code has loops that can be found, and branches that cross make none of them endless", "[codegen]") {
  std::mt19937 random(17);
  for (int round = 0; round < 300; ++round) {
    const std::size_t size = 2 + random() % 60;
    std::vector<codegen::MachineInstruction> code(size, plain(kAdd));
    for (std::size_t i = 0; i < size; ++i)
      if (random() % 3 == 0) code[i] = branch(i, random() % size, random() % 2 == 0);
    for (const MachineLoop& loop : find_loops(code))
      for (const std::size_t i : loop.instructions) REQUIRE(i < size);
  }
}

TEST_CASE("no bytes crash the reader of line tables", "[codegen]") {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes(random() % 200, ' ');
    for (char& c : bytes) c = static_cast<char>(random() % 4 == 0 ? random() % 12 : random() % 256);
    if (bytes.size() > 16) {  // often a header that is believed
      const auto put = [&](std::size_t at, std::uint32_t value, int size) {
        for (int b = 0; b < size; ++b) bytes[at + static_cast<std::size_t>(b)] = static_cast<char>(value >> 8 * b);
      };
      put(0, static_cast<std::uint32_t>(bytes.size() - 4), 4), put(4, 2, 2), put(6, 5, 4), put(10, 1, 1), put(14, 10, 1);
    }
    (void)read_line_table(bytes).size();
  }
  SUCCEED();
}

TEST_CASE("numbers of DWARF are read as they were written", "[codegen]") {
  ByteReader reader(std::string_view("\xe5\x8e\x26\x7f\x80\x7f\x02", 7));
  CHECK(reader.next_unsigned() == 624485);
  CHECK(reader.next_signed() == -1);
  CHECK(reader.next_signed() == -128);
  CHECK(reader.next_signed() == 2);
  CHECK(reader.good());
  (void)reader.next_unsigned();
  CHECK_FALSE(reader.good());
}

TEST_CASE("every instruction of an op's arithmetic is found in the machine code, and what is above a threshold is refused", "[codegen]") {
  if (!find_compiler().ok()) return;
  const test::Lowering from = test::lowering("attention_forward_hopper");
  const Program program = test::program_of(from);
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
  REQUIRE(emitted.emission.has_value());
  const auto compiled = compile_cuda(emitted.emission->source);
  REQUIRE(compiled.ok());
  const MachineAudit found = audit(compiled->code, from.problem, program, *emitted.emission);
  REQUIRE(found.lines);
  REQUIRE(found.loops.size() == program.roles.size());
  for (const RoleLoopAudit& loop : found.loops) {
    if (loop.counts[OpClass::Product] == 0) continue;
    CHECK(loop.counts[OpClass::Product] == 16);
    CHECK(loop.counts[OpClass::Special] == 66);  // 64 probabilities and 2 factors
    CHECK(loop.counts[OpClass::Convert] == 32);
    CHECK(loop.turns.size() == 1);
    CHECK(loop.turns[0].issue <= kMostTurnGap);
    int instructions = 0;
    for (const Stretch& stretch : loop.stretches) instructions += stretch.counts.all();
    CHECK(instructions == loop.counts.all());
  }
  for (const OpCodePlace& place : found.places)
    if (op_of(from.kernel, emitted.emission->lines[place.span].op).kind == "exp2") CHECK(place.instructions >= 2);
  CHECK(judge(found, from.kernel, program).empty());
  MachineAudit worse = found;
  for (RoleLoopAudit& loop : worse.loops)
    if (!loop.turns.empty()) {
      loop.turns[0].issue = kMostTurnGap + 1;
      loop.counts[OpClass::GpuFence] = 1;
      loop.counts[OpClass::Uniform] = 1000;
      loop.interrupted.push_back({loop.turns[0].op, 129, 64});
    }
  CHECK(judge(worse, from.kernel, program).size() == 8);  // four rules, two roles
}

TEST_CASE("without lines the machine code is not compared with anything", "[codegen]") {
  const test::Lowering from = test::lowering("gemm_hopper");
  const Program program = test::program_of(from);
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
  REQUIRE(emitted.emission.has_value());
  const MachineAudit found = audit({plain(kAdd), plain(kExit)}, from.problem, program, *emitted.emission);
  CHECK_FALSE(found.lines);
  CHECK(judge(found, from.kernel, program).empty());
  CHECK(audit_json(found, from.kernel, program, *emitted.emission).is_null());
}

TEST_CASE("what Blackwell adds is known by its encoding", "[codegen]") {
  const struct {
    codegen::MachineInstruction instruction;
    OpClass what;
  } cases[] = {{{0x00ff0a08080075ea, 0x0001d80008000004, 0}, OpClass::TensorProduct},  // A in shared memory
               {{0x00ff0c0a050079ea, 0x00c1d80008000004, 0}, OpClass::TensorProduct},  // A in tensor memory
               {{0x00ff0a08080075ea, 0x0001d80008000304, 0}, OpClass::TensorProduct},  // of 8 bits
               {{0x000000ff040073e9, 0x0025d800080000ff, 0}, OpClass::TensorSignal},
               {{0x00000004000579ee, 0x001e220008040000, 0}, OpClass::TensorLoad},
               {{0x00000005000079ed, 0x002fe80008040004, 0}, OpClass::TensorStore},
               {{0x00000000000073c6, 0x000fec0000000200, 0}, OpClass::TensorWait},
               {{0x00000000000073c6, 0x001fe80000000000, 0}, OpClass::CtaFence},
               {{0x0000000606067249, 0x004fc40000000006, 0}, OpClass::Float},
               {{0x0000000700077276, 0x004fca0007800006, 0}, OpClass::Float}};
  for (const auto& c : cases) CHECK(class_of(c.instruction) == c.what);
  CHECK_FALSE(for_pair(cases[0].instruction));
  CHECK(for_pair({0x00ff0a08080075ea, 0x0001d80008200004, 0}));
  CHECK(for_pair({0x000000ff040073e9, 0x0025d80008200805, 0}));
}

TEST_CASE("a branch by a uniform predicate leads somewhere, and the code after it is reached too", "[codegen]") {
  std::vector<codegen::MachineInstruction> code(8, plain(kAdd));
  code[1] = {0x0000000100187547, 0x000fec000b800000, 0};  // to the seventh instruction after it
  code[6] = {0xfffffffd08f47547, 0x002fea000b83ffff, 0};  // back by two
  code[7] = plain(kExit);
  CHECK_FALSE(branch_target(code, 1).has_value());
  CHECK(branch_target(code, 6) == 4);
  const auto loops = find_loops(code);
  REQUIRE(loops.size() == 1);
  CHECK(loops[0].instructions == std::vector<std::size_t>{4, 5, 6});
}

TEST_CASE("what uses tensor memory keeps the order of the text, and it is said where it does not", "[codegen]") {
  if (!find_compiler().ok()) return;
  const test::Lowering from = test::lowering("attention_forward_blackwell");
  const Program program = test::program_of(from);
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
  REQUIRE(emitted.emission.has_value());
  const auto compiled = compile_cuda(emitted.emission->source, {Compiler::Auto, {}, nullptr, program.arch});
  REQUIRE(compiled.ok());
  const MachineAudit found = audit(compiled->code, from.problem, program, *emitted.emission);
  REQUIRE(found.lines);
  for (const RoleLoopAudit& loop : found.loops) CHECK(loop.reordered.empty());
  CHECK(judge(found, from.kernel, program).empty());
  // The first load of a loop trades places with a wait before it.
  std::vector<codegen::MachineInstruction> code = compiled->code;
  const auto is = [&](OpClass what) { return [what](const codegen::MachineInstruction& i) { return class_of(i) == what; }; };
  bool said = false;
  for (auto load = std::find_if(code.begin(), code.end(), is(OpClass::TensorLoad)); load != code.end() && !said;
       load = std::find_if(load + 1, code.end(), is(OpClass::TensorLoad))) {
    const auto wait = std::find_if(std::make_reverse_iterator(load), code.rend(), is(OpClass::BarrierWait));
    if (wait == code.rend()) continue;
    std::swap(*load, *wait);
    const MachineAudit worse = audit(code, from.problem, program, *emitted.emission);
    for (const RoleLoopAudit& loop : worse.loops) said = said || !loop.reordered.empty();
    if (said) CHECK(judge(worse, from.kernel, program).front().rule == "tensor_order");
    std::swap(*load, *wait);
  }
  CHECK(said);
}
