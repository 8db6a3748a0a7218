// Texts whose producers copy tiles by their threads (cp.async), and whose results leave from registers: run on the CPU, compared with
// heddle eval, and judged by the interpreter.
#include <algorithm>

#include <catch2/catch.hpp>

#include "codegen/emit/emit.h"
#include "codegen/interpret/interpret.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/emulation.h"
#include "tests/codegen/mutants.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;
using test::run_text;

namespace {

const char* const kGemm = "gemm_pointers_hopper";

/// GEMM whose results are stored by the threads that have them, as `type`.
test::Lowering with_plain_stores(const Scope& sizes, DType type) {
  test::Lowering gemm = test::lowering(kGemm, sizes);
  std::vector<TileOp> epilogue;
  for (TileOp op : gemm.kernel.epilogue) {
    if (op.kind == "smem_store" || (op.kind == "convert" && type == DType::F32)) continue;
    if (op.kind == "tma_store") {
      op.kind = "store";
      const std::string which(1, op.name.back());
      op.inputs = {{(type == DType::F32 ? "c" : "h") + which, 0}};
    }
    epilogue.push_back(op);
  }
  gemm.kernel.epilogue = epilogue;
  for (Tensor& tensor : gemm.kernel.tensors)
    if (tensor.name == "C") tensor.dtype = type;
  std::erase_if(gemm.kernel.values,
                [&](const TileValue& v) { return v.name.starts_with("out") || (type == DType::F32 && v.name[0] == 'h'); });
  const auto problem = resolve(gemm.kernel, *load_machine(test::repository_path("assets/machines/h100.json")), gemm.problem.params);
  INFO((problem ? "" : to_string(problem.error())));
  REQUIRE(problem.ok());
  gemm.problem = *problem;
  return gemm;
}

}  // namespace

TEST_CASE("the text of a GEMM that copies by its threads computes what heddle eval computes", "[codegen][copies][.slow]") {
  CHECK(run_text(kGemm, {{"M", 256}, {"N", 256}, {"K", 320}}, 2) == 0);
  CHECK(run_text(kGemm, {{"M", 200}, {"N", 136}, {"K", 72}}, 1) == 0);  // rows and columns end inside of a tile
  CHECK(run_text(kGemm, {{"M", 128}, {"N", 128}, {"K", 72}}, 1, {"row < 72 ? 16", "row < 64 ? 16"}) > 0.1);
  CHECK(run_text(kGemm, {{"M", 128}, {"N", 128}, {"K", 192}}, 1, {"arrive_when_copied(", "arrive("}) > 0.1);
}

TEST_CASE("copies are as wide as rows of the tensor allow", "[codegen][copies]") {
  const auto text = [](std::int64_t n) {
    const test::Lowering gemm = test::lowering(kGemm, {{"M", 128}, {"N", n}, {"K", 128}});
    const EmitResult made = emit_cuda(gemm.kernel, gemm.problem, gemm.schedule, test::program_of(gemm));
    std::string refused;
    for (const Refusal& refusal : made.refusals) refused += refusal.sentence + "\n";
    return made.emission ? made.emission->source : refused;
  };
  CHECK_THAT(text(128), Catch::Contains("copy_16(to") && !Catch::Contains("copy_8(to"));
  CHECK_THAT(text(128), Catch::Contains("fence_async();  // full b"));
}

TEST_CASE("tiles leave from registers where they lie, and not beyond the end", "[codegen][copies][.slow]") {
  for (const DType type : {DType::Bf16, DType::F32}) {
    CHECK(run_text(with_plain_stores({{"M", 256}, {"N", 128}, {"K", 128}}, type), 1) == 0);
    CHECK(run_text(with_plain_stores({{"M", 200}, {"N", 136}, {"K", 72}}, type), 1) == 0);
  }
}

TEST_CASE("a copied tile that mmas read without a fence behind the wait is a fault", "[codegen][copies]") {
  const test::Lowering gemm = test::lowering(kGemm, {{"M", 128}, {"N", 128}, {"K", 512}});
  const Program program = test::program_of(gemm);
  CHECK(std::ranges::any_of(program.roles, [](const Role& role) {
    return std::ranges::any_of(role.sections,
                               [](const Section& s) { return std::ranges::any_of(s.steps, [](const Step& step) { return step.copies; }); });
  }));
  int unfenced = 0;
  for (const test::Mutant& mutant : test::mutants(gemm.kernel, program)) {
    if (!mutant.what.starts_with("no fence")) continue;
    ++unfenced;
    bool found = false;
    for (std::uint64_t seed = 0; seed < 20 && !found; ++seed) {
      const auto fault = run_symbolic(gemm.kernel, mutant.program, {.seed = seed, .tiles = 2});
      found = fault && fault->kind == FaultKind::Fence;
    }
    INFO(mutant.what);
    CHECK(found);
  }
  CHECK(unfenced > 0);
}
