// Copies whose results lie in other warps: through shared memory that the program sets aside, as text and run on the CPU.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "codegen/emit/emit.h"
#include "codegen/program/kernel_numbers.h"
#include "codegen/program/text.h"
#include "core/layout/plan.h"
#include "core/library/library.h"
#include "tests/codegen/emulation.h"
#include "tests/codegen/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;
using test::laid_out;

namespace {

const Scope kTurned{{"F", 128}, {"T", 64}, {"K", 320}};
constexpr const char* kThere = "role_sync<2, 128>();  // all of it is there";
constexpr const char* kRead = "role_sync<2, 128>();  // and has been read, before anything else comes there";

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

const Role& consumer_of(const Program& program) {
  const auto found = std::find_if(program.roles.begin(), program.roles.end(), [](const Role& role) { return role.scratch_bytes > 0; });
  REQUIRE(found != program.roles.end());
  return *found;
}

}  // namespace

TEST_CASE("a tile that copies bring to other warps computes what heddle eval computes", "[codegen][.slow]") {
  const test::Lowering from = test::lowered_fixture("gemm_turned", kTurned);
  const int before = test::accesses_compared();
  CHECK(test::run_text(from, 2) == 0);
  CHECK(test::accesses_compared() >= before + 6);  // there and back, three times
  // A meeting left out, the first or the second, and rows that come from elsewhere.
  CHECK(test::run_text(from, 1, {kThere, ""}) > 0.1);
  CHECK(test::run_text(from, 1, {kRead, ""}) > 0.01);
  CHECK(test::run_text(from, 1, {"(warp * 16 + (lane & 15)) * 128", "(lane & 15) * 128"}) > 0.1);
  CHECK(test::run_text(from, 1, {"(warp * 16 + (lane & 15)) * 128", "(warp * 16 + (lane & 7)) * 128"}) > 0.1);
}

TEST_CASE("fragments whose warps are exchanged are brought back before an mma", "[codegen][.slow]") {
  const char* exchanged = "{register=[[0,1],[8,0],[0,8],[0,16],[0,32]],lane=[[0,2],[0,4],[1,0],[2,0],[4,0]],warp=[[32,0],[16,0]]}";
  const test::Lowering from = laid_out(test::lowered_fixture("gemm_turned", kTurned), {{{"h", exchanged}}, {}});
  CHECK(test::run_text(from, 2) == 0);
}

TEST_CASE("a tile of tensor memory is brought to other warps piece by piece", "[codegen][.slow]") {
  const char* exchanged =
      "{register=[[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[0,64],[0,128]],lane=[[1,0],[2,0],[4,0],[8,0],[16,0]],warp=[[64,0],[32,0]]}";
  const test::Lowering from = laid_out(test::lowering("gemm_blackwell", {{"M", 256}, {"N", 512}, {"K", 320}}), {{{"h", exchanged}}, {}});
  CHECK(consumer_of(test::program_of(from)).scratch_bytes == 128 * 64 * 2);
  CHECK(test::run_text(from, 3) == 0);
}

TEST_CASE("pieces of a tile whose elements are in other pieces afterwards are refused by name", "[codegen]") {
  // Columns 64 and up are where columns 128 and up were.
  const char* turned =
      "{register=[[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[0,128],[0,64]],lane=[[1,0],[2,0],[4,0],[8,0],[16,0]],warp=[[64,0],[32,0]]}";
  const char* mixed =
      "{register=[[0,128],[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[0,64]],lane=[[1,0],[2,0],[4,0],[8,0],[16,0]],warp=[[64,0],[32,0]]}";
  for (const char* layout : {turned, mixed}) {
    CAPTURE(layout);
    const test::Lowering from = laid_out(test::lowering("gemm_blackwell", {{"M", 256}, {"N", 512}, {"K", 320}}), {{{"h", layout}}, {}});
    const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
    REQUIRE_FALSE(emitted.emission.has_value());
    CHECK(emitted.refusals.at(0).rule == "convert");
    CHECK_THAT(emitted.refusals[0].sentence, Catch::Contains("piece"));
  }
}

TEST_CASE("numbers that are converted on their way to other warps pass as what they become", "[codegen][.slow]") {
  const Scope small{{"F", 128}, {"T", 64}, {"K", 320}};
  // Each warp has all rows of 32 columns, and 8-bit numbers of a product are by fours.
  const char* columns = "{register=[[0,1],[8,0],[0,8],[0,16],[16,0],[32,0]],lane=[[0,2],[0,4],[1,0],[2,0],[4,0]],warp=[[0,32],[0,64]]}";
  const test::Lowering from = test::lowered_fixture("gemm_quantized", small, {{{"h", columns}}, {}});
  const Role& role = consumer_of(test::program_of(from));
  CHECK(role.scratch_bytes == 64 * 128);  // of 8 bits
  CHECK(test::run_text(from, 2) == 0);
}

TEST_CASE("every copy that brings elements to other warps stores, meets, loads and meets", "[codegen]") {
  const test::Lowering from = test::lowered_fixture("gemm_turned", kTurned);
  const Program program = test::program_of(from);
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
  REQUIRE(emitted.emission.has_value());
  const std::string& text = emitted.emission->source;
  const std::size_t copies = times(text, "// shared memory\n");
  CHECK(copies >= 3);
  CHECK(times(text, kThere) == copies);
  CHECK(times(text, kRead) == copies);
  // The room is the role's, as large as its largest tile, and nobody else's.
  const Role& role = consumer_of(program);
  CHECK(role.scratch_bytes == 64 * 64 * 4);
  CHECK(times(text, "changes of layout of consumer_A, 16384 bytes") == 1);
  for (const Buffer& buffer : program.buffers)
    CHECK((buffer.offset + buffer.slot_bytes * buffer.depth <= role.scratch_offset ||
           role.scratch_offset + role.scratch_bytes <= buffer.offset));
  CHECK(role.scratch_offset + role.scratch_bytes <= program.barrier_offset);
  const std::string page = program_page(from.kernel, program, {});
  CHECK(times(page, "changes of layout") == 1);
  CHECK(
      kernel_numbers_text(kernel_numbers(from.problem, from.schedule, program, program.smem_bytes), 400).find("changes of layout 16 384") !=
      std::string::npos);
  // As the problem counts it, whoever is in a group.
  CHECK(from.problem.resident_smem == 64 * 64 * (2 + 4 + 2));
}

TEST_CASE("a change of layout for which shared memory is not enough is refused with what it takes", "[codegen]") {
  test::Lowering from = test::lowered_fixture("gemm_turned", kTurned);
  // Past the problem's own count, which has room for every op's tile.
  from.problem.resident_smem = 0;
  from.problem.limits.smem_bytes = 80'000;
  const BuildResult built = build_program(from.kernel, from.problem, from.schedule, {}, {});
  REQUIRE_FALSE(built.program.has_value());
  CHECK(built.refusals.at(0).rule == "shared_memory");
  CHECK_THAT(built.refusals[0].sentence, Catch::Contains("16384 bytes through which layouts change"));
}

TEST_CASE("a role without a named barrier of its own cannot bring anything to other warps", "[codegen]") {
  const test::Lowering from = test::lowered_fixture("gemm_turned", kTurned);
  Program program = test::program_of(from);
  const Role other = program.roles.at(0);
  program.roles.insert(program.roles.begin(), 15, other);
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
  REQUIRE_FALSE(emitted.emission.has_value());
  CHECK(std::any_of(emitted.refusals.begin(), emitted.refusals.end(), [](const Refusal& r) {
    return r.rule == "named_barriers" && r.sentence.find("named barriers are left for 15 roles only") != std::string::npos;
  }));
}

TEST_CASE("elements that go to other warps by no planned way are refused by name", "[codegen]") {
  test::Lowering from = test::lowered_fixture("gemm_turned", kTurned);
  const Program program = test::program_of(from);
  auto plan = std::make_shared<LayoutPlan>(*from.problem.layouts);
  OpPlan& op = plan->ops["regroup_columns"];
  op.scratch_bytes = 0;
  op.accesses.clear();
  from.problem.layouts = plan;
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
  REQUIRE_FALSE(emitted.emission.has_value());
  CHECK_THAT(emitted.refusals.at(0).sentence,
             Catch::Contains("elements go to other warps, and no way through shared memory is planned for them"));
}
