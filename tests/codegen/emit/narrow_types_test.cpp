// Numbers of 8 and 4 bits from files to products: as bytes, in registers, in matrices with every swizzle; a GEMM of e4m3 and one of int4
// weights, emulated and compiled. Loads by vectors and by an index.
#include <cmath>
#include <functional>
#include <iostream>
#include <optional>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/compile/compile.h"
#include "codegen/device/device.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/product.h"
#include "codegen/run/data.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/rounding.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/emulation.h"
#include "tests/codegen/emulator/descriptors.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

TensorPlan vector_of(DType type, std::int64_t count) { return {"X", type, {count}, TensorRole::Input}; }

/// With other types of tensors and values, or other attributes; solved as before.
test::Lowering changed(test::Lowering from, const std::function<void(Kernel&)>& change, std::optional<LayoutChoices> choices = {}) {
  change(from.kernel);
  if (choices) from.schedule.layouts = *choices;
  const auto problem = resolve(from.kernel, *load_machine(test::repository_path("assets/machines/h100.json")), from.problem.params, {},
                               from.schedule.layouts);
  INFO((problem.ok() ? "" : to_string(problem.error())));
  REQUIRE(problem.ok());
  from.problem = *problem;
  return from;
}

void retype(Kernel& kernel, DType from, DType to) {
  for (Tensor& tensor : kernel.tensors)
    if (tensor.dtype == from) tensor.dtype = to;
  for (TileValue& value : kernel.values)
    if (value.dtype == from) value.dtype = to;
}

std::string refusals_of(const test::Lowering& from) {
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
  std::string text;
  for (const Refusal& refusal : emitted.refusals) text += refusal.rule + ": " + refusal.sentence + "\n";
  return text;
}

std::string source_of(const test::Lowering& from) {
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
  REQUIRE(emitted.emission.has_value());
  return emitted.emission->source;
}

/// Machine code without spills and without serialised wgmmas; where there is a compiler.
void compiles(const test::Lowering& from) {
  const auto found = find_compiler(Compiler::Nvcc);
  if (!found.ok()) {
    std::cout << "skipped: " << found.error().faults.front().message << "\n";
    return;
  }
  const Program program = test::program_of(from);
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
  REQUIRE(emitted.emission.has_value());
  CompileOptions options;
  options.compiler = Compiler::Nvcc;
  const auto compiled = compile_cuda(emitted.emission->source, options);
  INFO((compiled.ok() ? "" : to_string(compiled.error())));
  REQUIRE(compiled.ok());
  for (const Refusal& fault : judge(compiled->report, program)) {
    INFO(fault.rule << ": " << fault.sentence);
    CHECK(fault.rule.empty());
  }
}

}  // namespace

TEST_CASE("numbers of 8 and 4 bits become bytes and numbers again", "[codegen]") {
  using emulator::Number;
  for (const auto& [type, format] : {std::pair{DType::F8e4m3, Number::E4m3}, {DType::F8e5m2, Number::E5m2}}) {
    const TensorPlan one = vector_of(type, 1);
    for (unsigned bits = 0; bits < 256; ++bits) {
      const std::vector<std::uint8_t> byte{static_cast<std::uint8_t>(bits)};
      const float wanted = emulator::value_of(format, bits), x = element(one, byte, 0);
      INFO(to_string(type) << " " << bits);
      CHECK((std::isnan(wanted) ? std::isnan(x) : x == wanted && std::signbit(x) == std::signbit(wanted)));
      if (!std::isfinite(wanted)) continue;
      CHECK(as_bytes(one, std::vector{x}) == byte);
      CHECK(round_to(type, x) == x);
      // Half way to the next number, ties to the even one.
      const float next = emulator::value_of(format, bits + 1);
      if ((bits & 0x7f) == 0x7f || !std::isfinite(next)) continue;
      CHECK(as_bytes(one, std::vector{(x + next) / 2})[0] == (bits % 2 == 0 ? bits : bits + 1));
    }
    CHECK(std::isnan(element(one, as_bytes(one, std::vector{std::nanf("")}), 0)));
  }
  for (const auto& [type, most] : {std::pair{DType::I8, 127}, {DType::I4, 7}}) {
    std::vector<float> numbers;
    for (int n = -most - 1; n <= most; ++n) numbers.push_back(static_cast<float>(n));
    const TensorPlan all = vector_of(type, static_cast<std::int64_t>(numbers.size()));
    const auto bytes = as_bytes(all, numbers);
    CHECK(static_cast<std::int64_t>(bytes.size()) == all.bytes());
    for (std::size_t i = 0; i < numbers.size(); ++i) CHECK(element(all, bytes, static_cast<std::int64_t>(i)) == numbers[i]);
  }
  CHECK(as_bytes(vector_of(DType::I4, 3), std::vector{1.0f, -2.0f, 7.0f}) ==
        std::vector<std::uint8_t>{0xe1, 0x07});  // the lower half first
  CHECK(vector_of(DType::I4, 3).bytes() == 2);
}

TEST_CASE("whole numbers of 8 and 4 bits become floats by the bits of their exponents", "[codegen][.slow]") {
  // The file's own text over an emulation of prmt, lop3 and the subtraction of pairs.
  std::string text;
  for (const EmbeddedFile& file : device_files())
    if (file.name == "narrow.cuh") text = test::plain_text(file.body());
  text += R"(
int main() {
  u32 seed = 12345;
  for (int n = 0; n < 20000; ++n) {
    const u32 x = n < 256 ? n * 0x01010101u : seed = seed * 1664525u + 1013904223u;
    u32 a[4], b[4];
    bf16_of_i4(x, a[0], a[1], a[2], a[3]), f16_of_i4(x, b[0], b[1], b[2], b[3]);
    for (int i = 0; i < 4; ++i) {
      if (low_bf16(a[i]) != whole_at(x, 2 * i, 4) || high_bf16(a[i]) != whole_at(x, 2 * i + 1, 4)) die("bf16_of_i4");
      if (low_f16(b[i]) != whole_at(x, 2 * i, 4) || high_f16(b[i]) != whole_at(x, 2 * i + 1, 4)) die("f16_of_i4");
    }
    bf16_of_i4_halves(x, a[0], a[1], a[2], a[3]), f16_of_i4_halves(x, b[0], b[1], b[2], b[3]);
    for (int i = 0; i < 4; ++i) {
      if (low_bf16(a[i]) != whole_at(x, i, 4) || high_bf16(a[i]) != whole_at(x, i + 4, 4)) die("bf16_of_i4_halves");
      if (low_f16(b[i]) != whole_at(x, i, 4) || high_f16(b[i]) != whole_at(x, i + 4, 4)) die("f16_of_i4_halves");
    }
    f16_of_i8(x, a[0], a[1]);
    for (int i = 0; i < 4; ++i) {
      if ((i % 2 ? high_f16(a[i / 2]) : low_f16(a[i / 2])) != whole_at(x, i, 8)) die("f16_of_i8");
      if (f32_of_i8(x, i) != whole_at(x, i, 8)) die("f32_of_i8");
    }
  }
}
)";
  const auto outcome = test::run_emulated(text, {""}).at(0);
  INFO(outcome.complaint);
  CHECK(outcome.code == 0);
}

TEST_CASE("a GEMM of e4m3 and one of int4 weights agree with their formulas", "[codegen]") {
  for (const char* name : {"gemm_fp8", "gemm_w4a16"}) {
    const auto report = evaluate(*load_kernel(test::repository_path(fmt::format("tests/kernels/{}.json", name))));
    REQUIRE(report.ok());
    CHECK(report->pass);
  }
}

TEST_CASE("the text of a GEMM of 8-bit floats computes what heddle eval computes", "[codegen][.slow]") {
  const Scope small{{"M", 200}, {"N", 264}, {"K", 272}};  // ragged in all three
  CHECK(test::run_text(test::lowered_fixture("gemm_fp8", small), 2) == 0);
  for (const std::string span : {"64", "32"}) {
    const std::string panels = "panels " + span;
    CHECK(test::run_text(test::lowered_fixture("gemm_fp8", small, {{{"a0", panels}, {"b", "panels 32"}}, {}}), 2) == 0);
  }
  const auto mixed = changed(test::lowered_fixture("gemm_fp8", small), [](Kernel& kernel) {
    kernel.tensors[1].dtype = DType::F8e5m2;
    for (TileValue& value : kernel.values)
      if (value.name == "b") value.dtype = DType::F8e5m2;
  });
  CHECK(test::run_text(mixed, 2) == 0);
  const Scope whole{{"M", 128}, {"N", 128}, {"K", 256}};
  for (const auto& wrong :
       {std::pair{"k % 4 * 32", "k % 4 * 16"}, {"Number::E4m3>(d", "Number::E5m2>(d"}, {"acc0, behind(a", "acc0, behind(b"}})
    CHECK(test::run_text(test::lowered_fixture("gemm_fp8", whole), 1, wrong) > 0.1);
}

TEST_CASE("the text of a GEMM whose tiles lie in narrow panels computes what heddle eval computes", "[codegen][.slow]") {
  // A along K, B along N, results of 16 bits.
  const Scope small{{"M", 200}, {"N", 264}, {"K", 72}};
  const auto of = [&](const Scope& sizes, const std::map<std::string, std::string>& layouts) {
    return changed(
        test::lowering("gemm_hopper", sizes), [](Kernel&) {}, LayoutChoices{layouts, {}});
  };
  CHECK(test::run_text(of(small, {{"a0", "panels 64"}, {"a1", "panels 32"}, {"b", "panels 64"}}), 1) == 0);
  CHECK(test::run_text(of(small, {{"b", "panels 32"}}), 1) == 0);
  Scope shallow = small;
  shallow["TILE_K"] = 32;  // rows of A have 64 bytes
  CHECK(test::run_text(of(shallow, {{"a0", "panels 64"}, {"a1", "panels 64"}}), 1) == 0);
  for (const auto& wrong : {std::pair{"matrix_64(", "matrix("}, {"k / 2 * 4096", "k / 2 * 2048"}})
    CHECK(test::run_text(of(small, {{"a0", "panels 64"}, {"a1", "panels 64"}}), 1, wrong) > 0.1);
}

TEST_CASE("the text of a GEMM of f16 computes what heddle eval computes", "[codegen][.slow]") {
  const auto half = changed(test::lowering("gemm_hopper", {{"M", 200}, {"N", 264}, {"K", 72}}),
                            [](Kernel& kernel) { retype(kernel, DType::Bf16, DType::F16); });
  CHECK(test::run_text(half, 1) == 0);
}

TEST_CASE("the text of a GEMM of int4 weights computes what heddle eval computes", "[codegen][.slow]") {
  const Scope small{{"F", 192}, {"T", 64}, {"K", 352}};
  CHECK(test::run_text(test::lowered_fixture("gemm_w4a16", small), 2) == 0);
  for (const auto& wrong : {std::pair{"[4 * e + 1]", "[4 * e + 2]"}, {"(j % 4 * 8)", "((3 - j % 4) * 8)"}})
    CHECK(test::run_text(test::lowered_fixture("gemm_w4a16", small), 1, wrong) > 0.1);
}

TEST_CASE("the text of an mma that takes 8-bit floats from registers computes what heddle eval computes", "[codegen][.slow]") {
  const auto from_registers = [](const std::string& lies) {
    test::Lowering from = changed(
        test::lowered_fixture("gemm_w4a16", {{"F", 192}, {"T", 64}, {"K", 352}}),
        [](Kernel& kernel) {
          for (const DType type : {DType::I4, DType::Bf16}) retype(kernel, type, DType::F8e4m3);
          for (TileOp& op : kernel.body)
            if (op.name == "unpack") op.kind = "copy";
        },
        LayoutChoices{{{"w", "panels 64"}, {"x", "panels 64"}, {"q", lies}}, {}});
    // Weights have twice the bytes: their load is longer, and what reads them an iteration later.
    from.schedule.ops[1].start += 32;
    for (const std::size_t op : {2, 3, 4}) from.schedule.ops[op].start += from.schedule.ii;
    for (int& depth : from.schedule.depths) depth += depth > 0;
    return from;
  };
  CHECK(test::run_text(from_registers("operand"), 2) == 0);
  CHECK(test::run_text(from_registers("accumulator"), 2) == 0);  // which the copy brings to where wgmma reads them
}

TEST_CASE("the text of a GEMM whose rows are gathered by an index computes what heddle eval computes", "[codegen][.slow]") {
  // Rows of A that the index names stand anywhere, or nowhere: then they are zero.
  const Scope small{{"M", 3}, {"N", 200}, {"K", 136}, {"BLOCKS", 2}};
  CHECK(test::run_text(test::lowered_fixture("gemm_gather", small), 2) == 0);
  for (const auto& wrong :
       {std::pair{"int(row)", "int(r)"}, {"+ r * 4, row)", "+ r * 8, row)"}, {"+ r * 128, &map1", "+ (r ^ 1) * 128, &map1"}})
    CHECK(test::run_text(test::lowered_fixture("gemm_gather", small), 1, wrong) > 0.1);
}

TEST_CASE("the text of global loads by chosen vectors computes what heddle eval computes", "[codegen][.slow]") {
  const auto norm = [](const char* instruction) {
    return changed(
        test::lowering("layernorm", {{"ROWS", 203}, {"BLOCKS", 3}}), [](Kernel&) {},
        LayoutChoices{{}, {{"load_gamma", {instruction, {}}}, {"load_beta", {instruction, {}}}}});
  };
  for (const char* instruction : {"ld.global.16", "ld.global.8", "ld.global.4"}) {
    CHECK(test::run_text(norm(instruction), 3) < 2e-3);
    CHECK(source_of(norm(instruction)).find("load_global(in") != std::string::npos);
  }
  const auto halves = changed(test::lowering("layernorm", {{"ROWS", 203}, {"BLOCKS", 3}}), [](Kernel& kernel) {
    for (Tensor& tensor : kernel.tensors)
      if (tensor.name == "Gamma") tensor.dtype = DType::Bf16;
  });
  CHECK(test::run_text(halves, 3) < 2e-3);  // two at once, without a choice
  const auto gemm = [](const Scope& sizes, const std::map<std::string, InstructionChoice>& instructions) {
    return changed(
        test::lowered_pattern("gemm_epilogue", "gemm",
                              {{"bias", "yes"}, {"activation", "gelu"}, {"row_scale", "yes"}, {"column_scale", "yes"}, {"residual", "yes"}},
                              sizes),
        [](Kernel&) {}, LayoutChoices{{}, instructions});
  };
  const Scope ragged{{"M", 200}, {"N", 328}, {"K", 136}};
  const auto pairs = gemm(ragged, {{"load_residual0", {"ld.global.4", {}}}, {"load_bias", {"ld.global.8", {}}}});
  CHECK(test::run_text(pairs, 1) < 1e-3);
  CHECK(refusals_of(gemm(ragged, {{"load_residual0", {"ld.global.16", {}}}}))
            .find("load: 'load_residual0' loads 8 elements at once by ld.global.16, and registers of") != std::string::npos);
  CHECK(refusals_of(gemm(ragged, {{"load_residual0", {"cp.async.16", {}}}})).find("loads by cp.async.16; ld.global.4") !=
        std::string::npos);
}

TEST_CASE("8-bit mmas that the hardware does not have, and arithmetic on narrow numbers, are refused by name", "[codegen]") {
  const auto other_way = changed(test::lowering("gemm_hopper"), [](Kernel& kernel) { retype(kernel, DType::Bf16, DType::F8e4m3); });
  CHECK(refusals_of(other_way).find("product: 'MMA0' multiplies 8-bit floats that do not lie along K in shared memory") !=
        std::string::npos);
  const auto mixed = changed(test::lowered_fixture("gemm_fp8"), [](Kernel& kernel) {
    kernel.tensors[1].dtype = DType::I8;
    for (TileValue& value : kernel.values)
      if (value.name == "b") value.dtype = DType::I8;
  });
  CHECK(refusals_of(mixed).find("multiplies neither bf16 nor f16 nor 8-bit floats into f32") != std::string::npos);
  const auto computed = changed(test::lowered_fixture("gemm_w4a16"), [](Kernel& kernel) {
    for (TileOp& op : kernel.body)
      if (op.name == "unpack") op.kind = "elementwise", op.attrs["fn"] = std::string("copy");
  });
  CHECK(refusals_of(computed).find("operand: 'unpack' computes with numbers of type i4 ('q'), which must be converted first") !=
        std::string::npos);
}

TEST_CASE("GEMMs of 8 and 4 bits compile without spills", "[codegen][.slow]") {
  compiles(test::lowered_fixture("gemm_fp8"));
  compiles(test::lowered_fixture("gemm_fp8", {}, {{{"a0", "panels 64"}, {"b", "panels 32"}}, {}}));
  compiles(test::lowered_fixture("gemm_w4a16"));
  compiles(test::lowered_fixture("gemm_gather"));
}

TEST_CASE("every wgmma of 8-bit floats compiles", "[codegen][.slow]") {
  const auto found = find_compiler(Compiler::Nvcc);
  if (!found.ok()) return;
  std::string text;
  std::vector<ProductShape> shapes;
  for (const int n : {8, 96, 256})
    for (const bool registers : {false, true})
      for (const DType a : {DType::F8e4m3, DType::F8e5m2})
        for (const DType b : {DType::F8e4m3, DType::F8e5m2}) shapes.push_back({n, registers, false, false, a, b});
  for (const ProductShape& shape : shapes) {
    text += product_text(shape);
    text += fmt::format(
        "extern \"C\" __global__ void __launch_bounds__(128, 1) use_{0}(u64 a, u64 b, float* out) {{\n  float d[{1}];\n  fresh(d);\n"
        "  product_fence();\n  {0}(d, {2}, b, 0);\n  product_commit();\n  product_wait<0>();\n  pin(d);\n"
        "  for (int i = 0; i < {1}; ++i) out[threadIdx.x * {1} + i] = d[i];\n}}\n",
        product_name(shape), shape.n / 2, shape.a_registers ? "1u, 2u, 3u, 4u" : "a");
  }
  CompileOptions options;
  options.compiler = Compiler::Nvcc;
  const auto compiled = compile_cuda(device_text(text) + text, options);
  INFO((compiled.ok() ? "" : to_string(compiled.error())));
  CHECK(compiled.ok());
}
