// A GEMM of 4-bit weights with 16-bit scales per group of columns: vectors of 16 bits that arithmetic takes from shared memory, panels as
// narrow as a tile's rows, weights that registers bring to products.
#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/compile/compile.h"
#include "codegen/emit/emit.h"
#include "codegen/run/data.h"
#include "codegen/run/measure.h"
#include "codegen/run/reference.h"
#include "core/base/atomic_file.h"
#include "core/formats/kernel_json.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/packed.h"
#include "core/layout/known.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/emulation.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

const std::string kName = "gemm_w4a16_hopper", kPacked = "gemm_w4a16_prepacked_hopper";
const Scope kSmall{{"N_OUT", 200}, {"TOKENS", 40}, {"K", 416}};   // ragged in all three
const Scope kBlocks{{"N_OUT", 192}, {"TOKENS", 40}, {"K", 448}};  // the same, of whole blocks of 64

/// With other types or ops, resolved again.
test::Lowering changed(test::Lowering from, const std::function<void(Kernel&)>& change) {
  change(from.kernel);
  const auto problem = resolve(from.kernel, *load_machine(test::repository_path("assets/machines/h100.json")), from.problem.params, {},
                               from.schedule.layouts);
  INFO((problem.ok() ? "" : to_string(problem.error())));
  REQUIRE(problem.ok());
  from.problem = *problem;
  return from;
}

void make_f16(Kernel& kernel) {
  for (Tensor& tensor : kernel.tensors)
    if (tensor.dtype == DType::Bf16) tensor.dtype = DType::F16;
  for (TileValue& value : kernel.values)
    if (value.dtype == DType::Bf16) value.dtype = DType::F16;
}

/// Whole numbers from -2 to 2, and scales that are powers of two: every sum is exact.
TensorMap small_numbers(const Kernel& kernel, const Scope& params) {
  TensorMap tensors = *make_tensors(kernel, params, 7);
  int n = 0;
  for (auto& [name, tensor] : tensors)
    for (float& x : tensor.array.data) {
      n = (n * 29 + 17) % 1013;
      x = name == "S" ? std::ldexp(1.0f, n % 7 - 4) : static_cast<float>(n % 5 - 2);
    }
  return tensors;
}

}  // namespace

TEST_CASE("a GEMM with scales of groups computes its formula, and another formula with other scales", "[codegen]") {
  const auto kernel = load_kernel(test::repository_path("kernels/" + kName + ".json"));
  REQUIRE(kernel.ok());
  for (const Scope& sizes : {Scope{}, kSmall, Scope{{"TOKENS", 1}}, Scope{{"TILE_T", 16}}, Scope{{"TILE_T", 128}, {"TOKENS", 128}}}) {
    const auto report = evaluate(*kernel, sizes);
    REQUIRE(report.ok());
    CHECK(report->pass);
  }
  for (const char* expr : {"x0 + x2", "fma(x0, x1, x1)"}) {
    Kernel wrong = *kernel;
    for (TileOp& op : wrong.body)
      if (op.kind == "map") op.attrs["expr"] = std::string(expr);
    const auto report = evaluate(wrong, kSmall);
    REQUIRE(report.ok());
    CHECK_FALSE(report->pass);
  }
  // The formula written out says the same.
  Kernel written = *kernel;
  written.reference = "D = (W * transpose(repeat(S, 128))) @ transpose(X)";
  const auto report = evaluate(written, {{"TOKENS", 24}, {"K", 384}});
  REQUIRE(report.ok());
  CHECK(report->pass);
}

TEST_CASE("whole numbers times scales that are powers of two are exact", "[codegen]") {
  const auto kernel = load_kernel(test::repository_path("kernels/" + kName + ".json"));
  REQUIRE(kernel.ok());
  Kernel wide = *kernel;  // results that are not rounded
  for (Tensor& tensor : wide.tensors)
    if (tensor.name == "D") tensor.dtype = DType::F32;
  for (TileValue& value : wide.values)
    if (value.name.starts_with("out") || value.name.starts_with("d")) value.dtype = DType::F32;
  Scope params;
  for (const Param& param : wide.params) params[param.name] = param.value;
  for (const auto& [name, value] : kSmall) params[name] = value;
  TensorMap tensors = small_numbers(wide, params);
  REQUIRE(execute(wide, params, tensors).ok());
  const auto& w = tensors.at("W").array.data;
  const auto& s = tensors.at("S").array.data;
  const auto& x = tensors.at("X").array.data;
  const auto& d = tensors.at("D").array.data;
  bool equal = true;
  for (int i = 0; i < 200; ++i)
    for (int j = 0; j < 40; ++j) {
      double sum = 0;
      for (int k = 0; k < 416; ++k) sum += double{w[i * 416 + k]} * s[k / 128 * 200 + i] * x[j * 416 + k];
      equal = equal && d[i * 40 + j] == sum;
    }
  CHECK(equal);
}

TEST_CASE("the text of a GEMM with scales of groups computes what heddle eval computes", "[codegen][.slow]") {
  // Bit for bit: the emulator adds and multiplies in the order in which eval does.
  CHECK(test::run_text(kName, kSmall, 2) == 0);
  CHECK(test::run_text(kName, {{"N_OUT", 128}, {"TOKENS", 1}, {"K", 1536}}, 1) == 0);
  CHECK(test::run_text(kName, {{"N_OUT", 384}, {"TOKENS", 100}, {"K", 128}}, 2) == 0);
  CHECK(test::run_text(changed(test::lowering(kName, kSmall), make_f16), 2) == 0);
  for (const auto& wrong : {std::pair{"+ r * 8) * 2, half)", "+ r * 4) * 2, half)"},
                            {"low_bf16(half)", "high_bf16(half)"},
                            {"[4 * e + 1]", "[4 * e + 2]"},
                            {"fmaf(v1_part0[e], ", "fmaf(v1_part0[e ^ 2], "},
                            {"g_bf * 128 + 64, i - 1, smem", "g_bf * 128, i - 1, smem"}})
    CHECK(test::run_text(test::lowering(kName, kSmall), 1, wrong) > 0.1);
}

TEST_CASE("the text of a GEMM with scales of groups in pairs of blocks computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(test::run_text(kName, {{"N_OUT", 384}, {"TOKENS", 64}, {"K", 416}}, 2, {}, {.cluster = 2}) == 0);
}

TEST_CASE("prepacked weights lie where threads take them", "[codegen]") {
  // packed_place(), the layout of the tile, and NumPy's lines in docs/files.md, written out.
  for (const std::int64_t columns : {64, 128, 192}) {
    const auto layout = known_layout("packed", {64, columns}, 4);
    REQUIRE(layout);
    CHECK(faults_of(*layout).empty());
    CHECK(known_name(*layout, 4) == "packed");
    for (std::int64_t r = 0; r < 64; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        REQUIRE(places_of(*layout, {r, c}).front()[LayoutAxis::Offset] == packed_place(r, c, columns, 4));
  }
  for (const std::int64_t columns : {8, 64, 96}) {
    const auto layout = known_layout("packed", {64, columns}, 32);
    REQUIRE(layout);
    CHECK(known_name(*layout, 32) == "packed");
    for (std::int64_t r = 0; r < 64; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        REQUIRE(places_of(*layout, {r, c}).front()[LayoutAxis::Offset] == packed_place(r, c, columns, 32));
    const auto lines = known_layout("packed lines", {64, columns}, 32);
    REQUIRE(lines);
    CHECK(known_name(*lines, 32) == "packed lines");
    for (std::int64_t r = 0; r < 64; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        REQUIRE(places_of(*lines, {r, c}).front()[LayoutAxis::Offset] == packed_place(r, c, columns, 32, PackedOrder::Lines));
  }
  std::vector<bool> taken(std::size_t{128 * 192}, false);
  for (std::int64_t r = 0; r < 128; ++r)
    for (std::int64_t c = 0; c < 192; ++c) {
      // reshape(R/64, 4, 2, 8, C/64, 4, 2, 4, 2).transpose(0, 4, 1, 3, 7, 5, 8, 6, 2)
      const std::int64_t axes[]{r / 64, c / 64, r / 16 % 4, r % 8, c / 2 % 4, c / 16 % 4, c % 2, c / 8 % 2, r / 8 % 2};
      const std::int64_t extents[]{2, 3, 4, 8, 4, 4, 2, 2, 2};
      std::int64_t at = 0;
      for (int d = 0; d < 9; ++d) at = at * extents[d] + axes[d];
      REQUIRE(packed_place(r, c, 192, 4) == at);
      REQUIRE_FALSE(taken[static_cast<std::size_t>(at)]);
      taken[static_cast<std::size_t>(at)] = true;
    }
  // Bytes that a GPU gets, and back.
  const TensorPlan plan{"W", DType::I4, {64, 128}, TensorRole::Input, 1};
  std::vector<float> numbers;
  for (int i = 0; i < 64 * 128; ++i) numbers.push_back(static_cast<float>((i * 7 + i / 128) % 16 - 8));
  const auto bytes = as_bytes(plan, numbers);
  for (int i = 0; i < 64 * 128; ++i) REQUIRE(element(plan, bytes, i) == numbers[static_cast<std::size_t>(i)]);
  CHECK((bytes[0] & 15) == (static_cast<int>(numbers[0]) & 15));      // row 0, column 0
  CHECK(bytes[0] >> 4 == (static_cast<int>(numbers[8 * 128]) & 15));  // row 8, column 0
  CHECK((bytes[1] & 15) == (static_cast<int>(numbers[8]) & 15));      // row 0, column 8
  CHECK((bytes[2] & 15) == (static_cast<int>(numbers[1]) & 15));      // row 0, column 1
  CHECK((bytes[2048] & 15) == (static_cast<int>(numbers[64]) & 15));  // the next block
}

TEST_CASE("a GEMM with prepacked weights computes its formula", "[codegen]") {
  const auto kernel = load_kernel(test::repository_path("kernels/" + kPacked + ".json"));
  REQUIRE(kernel.ok());
  for (const Scope& sizes : {Scope{}, kBlocks, Scope{{"TOKENS", 1}}, Scope{{"TILE_T", 16}}}) {
    const auto report = evaluate(*kernel, sizes);
    REQUIRE(report.ok());
    CHECK(report->pass);
  }
}

TEST_CASE("weights that layouts say are packed are read as those that the file says are", "[codegen][.slow]") {
  CHECK(test::run_text(test::laid_out(test::lowering(kName, kBlocks), {{{"W", "prepacked"}}, {}}), 2) == 0);
}

TEST_CASE("the text of a GEMM with prepacked weights computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(test::run_text(kPacked, kBlocks, 2) == 0);
  CHECK(test::run_text(kPacked, {{"N_OUT", 128}, {"TOKENS", 1}, {"K", 1536}}, 1) == 0);
  CHECK(test::run_text(changed(test::lowering(kPacked, kBlocks), make_f16), 2) == 0);
  CHECK(test::run_text(kPacked, {{"N_OUT", 384}, {"TOKENS", 64}, {"K", 448}}, 2, {}, {.cluster = 2}) == 0);
  // Registers, blocks of a tile, rows of blocks.
  for (const auto& wrong : {std::pair{"[4 * e + 1]", "[4 * e + 2]"}, {"j * 2048", "j * 1024"}, {", g_bf * 2 + 1, ", ", g_bf * 2, "}})
    CHECK(test::run_text(test::lowering(kPacked, kBlocks), 1, wrong) > 0.1);
}

TEST_CASE("what no copy uses is no reason to keep numbers of packed tensors beyond their bytes", "[codegen]") {
  const auto text = read_file(test::repository_path("kernels/" + kPacked + ".json"));
  REQUIRE(text.ok());
  std::string other = *text;
  const std::string more = R"({"name": "Z", "dtype": "i4", "shape": [65, 64], "role": "input", "prepacked": true}, )";
  other.insert(other.find("{\"name\": \"W\", \"dtype\""), more);
  const auto kernel = parse_kernel(other, "other.json");
  REQUIRE(kernel.ok());
  test::Lowering from = test::lowering(kPacked, kBlocks);
  from.kernel = *kernel;
  from = test::laid_out(from, from.schedule.layouts);
  const Program program = test::program_of(from);
  const auto run = prepare_run({from.kernel, from.problem, from.schedule, program, {}});
  REQUIRE_FALSE(run.ok());
  CHECK(to_string(run.error()).find("tensor 'Z' is prepacked and has no whole blocks of 64 rows and 64 columns") != std::string::npos);
}

TEST_CASE("prepacked weights that are no whole blocks, or moved otherwise, are refused by name", "[codegen]") {
  const auto refused = [](const test::Lowering& from, const char* sentence) {
    const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
    return std::any_of(emitted.refusals.begin(), emitted.refusals.end(),
                       [&](const Refusal& each) { return each.sentence.find(sentence) != std::string::npos; });
  };
  CHECK(refused(test::lowering(kPacked, {{"K", 416}}), "has whole blocks of 64 x 64"));
  CHECK(refused(changed(test::lowering(kPacked),
                        [](Kernel& kernel) {
                          for (TileOp& op : kernel.body)
                            if (op.name == "load_w0") op.at[1] = *Expr::parse("i*128 + 16");
                        }),
                "a part of a prepacked block"));
  auto text = read_file(test::repository_path("kernels/" + kPacked + ".json"));
  REQUIRE(text.ok());
  std::string other = *text;
  other.replace(other.find("\"i4\""), 4, "\"i8\"");
  const auto kernel = parse_kernel(other, "other.json");
  REQUIRE_FALSE(kernel.ok());
  CHECK(to_string(kernel.error())
            .find("/tensors/0/prepacked: what is prepacked is an input of two dimensions and type i4, or a result of type f32") !=
        std::string::npos);
}

TEST_CASE("scales of 16 bits along columns are refused by name", "[codegen]") {
  const auto from = changed(test::lowering(kName), [](Kernel& kernel) {
    for (TileOp& op : kernel.body)
      if (op.name == "scale0") op.attrs["along"] = std::string("fcf");
  });
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
  REQUIRE_FALSE(emitted.refusals.empty());
  CHECK(emitted.refusals[0].sentence == "'scale0' computes with an operand that is no number in registers");
}

TEST_CASE("the reference of a GEMM with scales of groups is a kernel of its own", "[codegen]") {
  const auto kernel = load_kernel(test::repository_path("kernels/" + kName + ".json"));
  REQUIRE(kernel.ok());
  const std::vector<TensorPlan> tensors{{"W", DType::I4, {256, 512}, TensorRole::Input},
                                        {"S", DType::Bf16, {4, 256}, TensorRole::Input},
                                        {"X", DType::Bf16, {20, 512}, TensorRole::Input},
                                        {"D", DType::Bf16, {256, 24}, TensorRole::Output}};
  const auto text = reference_text(*kernel, tensors);
  REQUIRE(text);
  CHECK(text->plan.output == 3);
  CHECK(text->source.find("reference_group_scaled<256, 24, 20, 512, false, ") != std::string::npos);
  CHECK(flops_of(*kernel, tensors) == std::int64_t{2} * 256 * 20 * 512);
  std::string why;
  const auto cases = cases_for(*kernel, {}, tensors, true, 1, why);
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].expected[0].criterion == Criterion::Exact);
  if (!find_compiler().ok()) return;
  for (const bool prepacked : {false, true}) {
    auto other = tensors;
    other[0].packed = prepacked;
    const auto compiled = compile_cuda(reference_text(*kernel, other)->source);
    INFO((compiled.ok() ? "" : to_string(compiled.error())));
    CHECK(compiled.ok());
  }
}
