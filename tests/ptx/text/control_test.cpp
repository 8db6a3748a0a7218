// What is worked out of a function's instructions: blocks, where lanes meet again, which registers are more than data. Meets are compared
// with the definition on random graphs.
#include <catch2/catch.hpp>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ptx/text/parse.h"

using namespace heddle;
using namespace heddle::ptx;

namespace {

PtxModule read(const std::string& body) {
  auto module =
      parse(".entry k(.param .u64 pointer) {\n.reg .b32 r<200>; .reg .b64 d<20>; .reg .f32 f<50>; .reg .b16 s<9>; .reg .pred p<20>;\n" +
                body + "\n}",
            "test.ptx");
  REQUIRE(module.ok());
  for (const PtxInstruction& instruction : module->functions[0].code) REQUIRE(instruction.fault == "");
  return std::move(module.value());
}

std::vector<int> meets_of(const PtxModule& module) {
  std::vector<int> meets;
  for (const PtxInstruction& instruction : module.functions[0].code) meets.push_back(instruction.meet);
  return meets;
}

std::set<std::string> needed_of(const PtxModule& module) {
  const PtxFunction& function = module.functions[0];
  REQUIRE(function.needed.size() == function.registers.size());
  std::set<std::string> names;
  for (std::size_t i = 0; i < function.registers.size(); ++i) {
    if (function.needed[i]) names.emplace(function.registers[i].name);
  }
  return names;
}

using Edges = std::vector<std::set<int>>;

/// Where each instruction may go on; the last node is the end.
Edges edges_of(const PtxFunction& function) {
  const int end = static_cast<int>(function.code.size());
  Edges edges(static_cast<std::size_t>(end) + 1);
  for (int pc = 0; pc < end; ++pc) {
    const PtxInstruction& instruction = function.code[static_cast<std::size_t>(pc)];
    auto& next = edges[static_cast<std::size_t>(pc)];
    next.insert(instruction.targets.begin(), instruction.targets.end());
    const bool leaves = instruction.opcode == Opcode::Ret || instruction.opcode == Opcode::Exit;
    const bool jumps = instruction.opcode == Opcode::Bra || instruction.opcode == Opcode::Brx;
    if (leaves) next.insert(end);
    if ((!leaves && !jumps) || instruction.guard.valid()) next.insert(pc + 1);
  }
  return edges;
}

/// Whether the end can be reached from `from` without stepping on `without`.
bool reaches_end(const Edges& edges, int from, int without) {
  std::vector<bool> seen(edges.size(), false);
  std::vector<int> open{from};
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    if (node == without || seen[static_cast<std::size_t>(node)]) continue;
    seen[static_cast<std::size_t>(node)] = true;
    open.insert(open.end(), edges[static_cast<std::size_t>(node)].begin(), edges[static_cast<std::size_t>(node)].end());
  }
  return seen.back();
}

/// By the definition: of the nodes that every way from `pc` to the end steps on, the one that has all others behind it.
int meet_by_definition(const Edges& edges, int pc) {
  const int end = static_cast<int>(edges.size()) - 1;
  std::vector<int> common;
  for (int node = 0; node <= end; ++node) {
    if (node != pc && (node == end || !reaches_end(edges, pc, node))) common.push_back(node);
  }
  for (const int node : common) {
    bool first = true;
    for (const int other : common) first = first && (other == node || other == end || !reaches_end(edges, node, other));
    if (first) return node;
  }
  return end;
}

/// A body of `size` instructions with branches at random, tables of targets, exits.
std::string random_body(std::mt19937_64& random, int size) {
  const auto below = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  std::string body;
  for (int i = 0; i < size; ++i) {
    body += "L" + std::to_string(i) + ": ";
    const std::string target = "L" + std::to_string(below(size + 1));
    switch (below(9)) {
      case 0: body += "bra " + target + ";\n"; break;
      case 1:
      case 2: body += "@p1 bra " + target + ";\n"; break;
      case 3: body += below(3) == 0 ? "exit;\n" : "@p1 exit;\n"; break;
      case 4:
        body += "brx.idx r1, T" + std::to_string(i) + ";\nT" + std::to_string(i) + ": .branchtargets " + target + ", L" +
                std::to_string(below(size)) + ";\n";
        break;
      default: body += "add.s32 r1, r2, r3;\n";
    }
  }
  return body + "L" + std::to_string(size) + ": ret;";
}

}  // namespace

TEST_CASE("lanes that part in an if, in one inside another and in a loop meet behind it", "[ptx]") {
  const PtxModule module = read(R"(
setp.eq.s32 p1, r1, 0;      // 0
@p1 bra ELSE;               // 1
@p2 bra INNER;              // 2
add.s32 r1, r1, 1;          // 3
INNER: add.s32 r2, r2, 1;   // 4
bra END;                    // 5
ELSE: add.s32 r3, r3, 1;    // 6
END: mov.b32 r4, 0;         // 7
LOOP: add.s32 r4, r4, 1;    // 8
@p3 bra SKIP;               // 9
add.s32 r5, r5, 1;          // 10
SKIP: @p4 bra LOOP;         // 11
ret;                        // 12
)");
  CHECK(meets_of(module) == std::vector<int>{1, 7, 4, 4, 5, 7, 7, 8, 9, 11, 11, 12, 13});
  CHECK(module.functions[0].leaders == std::vector<int>{0, 2, 3, 4, 6, 7, 8, 10, 11, 12});
}

TEST_CASE("lanes meet at the end where some leave, and inside of a loop without a way out", "[ptx]") {
  CHECK(meets_of(read("@p1 bra A;\n@p2 exit;\nA: ret;")) == std::vector<int>{3, 3, 3});
  CHECK(meets_of(read("@p1 bra A;\n@p2 trap;\nA: ret;")) == std::vector<int>{2, 2, 3});
  CHECK(meets_of(read("L: @p1 bra A;\nadd.s32 r1, r1, 1;\nA: bra L;")) == std::vector<int>{2, 2, 3});
  CHECK(meets_of(read("@p1 bra A;\nL: bra L;\nA: ret;"))[0] == 3);
}

TEST_CASE("meets are what the definition says, on random graphs with loops of every kind", "[ptx]") {
  int judged = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    std::mt19937_64 random(seed);
    const std::string body = random_body(random, 2 + static_cast<int>(random() % 24));
    const PtxModule module = read(body);
    const Edges edges = edges_of(module.functions[0]);
    const int end = static_cast<int>(edges.size()) - 1;
    bool all_end = true;
    for (int pc = 0; pc < end; ++pc) all_end = all_end && reaches_end(edges, pc, -1);
    CAPTURE(seed, body);
    for (int pc = 0; pc < end; ++pc) {
      const int meet = module.functions[0].code[static_cast<std::size_t>(pc)].meet;
      if (all_end) {
        REQUIRE(meet == meet_by_definition(edges, pc));
        ++judged;
      } else if (meet != end) {  // behind a loop that never ends there may be more ways than the definition knows, never fewer
        REQUIRE_FALSE(reaches_end(edges, pc, meet));
      }
    }
  }
  CHECK(judged > 500);
}

TEST_CASE("registers are needed for control flow, addresses, barriers and stored integers; numbers of matrices are not", "[ptx]") {
  CHECK(needed_of(read("add.s32 r1, r2, r3;\nmul.f32 f1, f2, f3;\nret;")) == std::set<std::string>{});
  CHECK(needed_of(read("add.s32 r1, r2, r3;\nsetp.eq.s32 p1, r1, 0;\n@p1 bra A;\nA: ret;")) ==
        std::set<std::string>{"p1", "r1", "r2", "r3"});
  CHECK(needed_of(
            read("shl.b32 r1, r2, 2;\nadd.s32 r3, r1, r4;\nld.shared.f32 f1, [r3];\nadd.f32 f2, f1, f1;\nst.shared.f32 [r5], f2;\nret;")) ==
        std::set<std::string>{"r1", "r2", "r3", "r4", "r5"});
  CHECK(needed_of(read("add.s32 r1, r2, 1;\nst.shared.b32 [r3], r1;\nret;")) == std::set<std::string>{"r1", "r2", "r3"});
  CHECK(needed_of(read("cvt.rn.bf16x2.f32 r1, f1, f2;\nst.shared.v2.b32 [r3], {r1, r4};\nmov.b32 r4, 5;\nret;")) ==
        std::set<std::string>{"r3", "r4"});
  CHECK(needed_of(read("mul.lo.s32 r1, r2, 2;\nmbarrier.arrive.expect_tx.shared.b64 _, [r3], r1;\nbar.sync r4, 128;\nret;")) ==
        std::set<std::string>{"r1", "r2", "r3", "r4"});
  CHECK(needed_of(read("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {f1, f2}, {r1, r2}, d1, p1, 1, 1, 0;\nadd.s64 d1, d2, 4;\n"
                       "st.global.f32 [d3], f1;\nret;")) == std::set<std::string>{"d1", "d2", "d3", "p1"});
  CHECK(needed_of(read("tcgen05.ld.sync.aligned.32x32b.x2.b32 {r1, r2}, [r3];\nst.shared.v2.b32 [r4], {r1, r2};\nret;")) ==
        std::set<std::string>{"r3", "r4"});
}

TEST_CASE("a guard of arithmetic is needed with what it writes, and no sooner", "[ptx]") {
  CHECK(needed_of(read("setp.gt.f32 p1, f1, f2;\n@p1 mov.f32 f1, f2;\nret;")) == std::set<std::string>{});
  CHECK(needed_of(read("setp.gt.s32 p1, r1, r2;\n@p1 mov.b32 r3, r4;\nld.shared.b32 r5, [r3];\nret;")) ==
        std::set<std::string>{"p1", "r1", "r2", "r3", "r4"});
}

TEST_CASE("a carry is needed by what adds it, with all that makes it", "[ptx]") {
  CHECK(needed_of(read("add.cc.u32 r1, r2, r3;\naddc.u32 r4, r5, r6;\nld.shared.b32 r7, [r4];\nret;")) ==
        std::set<std::string>{"r1", "r2", "r3", "r4", "r5", "r6"});
  CHECK(needed_of(read("add.cc.u32 r1, r2, r3;\naddc.u32 r4, r5, r6;\nret;")) == std::set<std::string>{});
}

TEST_CASE("a first value that is a number of the text makes a float no integer", "[ptx]") {
  CHECK(needed_of(read("mov.b16 s1, 0;\nmov.b16 s2, s1;\n@p1 bra A;\ncvt.rn.f16.f32 s2, f1;\nA: mov.b32 r1, {s1, s2};\nst.shared.b32 [r2], "
                       "r1;\nret;")) == std::set<std::string>{"p1", "r2"});
  CHECK(needed_of(read("mov.b32 r1, 7;\nmov.b32 r3, r1;\nst.shared.b32 [r2], r3;\nret;")) == std::set<std::string>{"r1", "r2", "r3"});
  CHECK(needed_of(read("mov.b32 r1, %tid.x;\n@p1 bra A;\nmov.b32 r1, f1;\nA: st.shared.b32 [r2], r1;\nadd.f32 f1, f2, f3;\nret;")) ==
        std::set<std::string>{"p1", "r1", "r2", "f1", "f2", "f3"});
}

TEST_CASE("a value that goes round a loop is data only if all that write it are", "[ptx]") {
  CHECK(needed_of(read("mov.b32 r1, 0;\nL: add.s32 r1, r1, 1;\nst.shared.b32 [r2], r1;\n@p1 bra L;\nret;")) ==
        std::set<std::string>{"p1", "r1", "r2"});
  CHECK(needed_of(
            read("mov.f32 f1, 0f00000000;\nL: fma.rn.f32 f1, f1, f2, f3;\nmov.b32 r1, f1;\nst.shared.b32 [r2], r1;\n@p1 bra L;\nret;")) ==
        std::set<std::string>{"p1", "r2"});
}
