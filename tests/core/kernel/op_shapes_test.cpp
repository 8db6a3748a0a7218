// Shapes of operands, as a kernel's file is read.
#include "core/kernel/op_shapes.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "core/formats/kernel_json.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/subtile.h"
#include "core/kernel/validate.h"
#include "core/library/library.h"

using namespace heddle;

namespace {

/// A kernel of one body; `n` is a parameter.
Result<Kernel> kernel_with(const std::string& values, const std::string& body) {
  return parse_kernel(fmt::format(R"({{"schema": "heddle.kernel/1", "name": "t", "params": [{{"name": "N", "value": 8, "eval": 4}}],
    "tensors": [{{"name": "A", "dtype": "f32", "shape": ["N", 16], "role": "input"}}], "loop": {{"variable": "i", "trips": 2}},
    "values": [{{"name": "a", "dtype": "f32", "shape": ["N", 16], "space": "register"}}, {}],
    "prologue": [], "body": [{{"name": "load", "kind": "load", "tensor": "A", "at": [0, 0], "out": ["a"]}}, {}], "epilogue": []}})",
                                  values, body),
                      "k.json");
}

std::string faults_of(const Result<Kernel>& kernel) { return kernel ? "" : to_string(kernel.error()); }

}  // namespace

TEST_CASE("an operand that does not lie over its result is a fault of the file, with its place and what was expected", "[core]") {
  const std::string values =
      R"({"name": "v", "dtype": "f32", "shape": [16], "space": "register"}, {"name": "r", "dtype": "f32", "shape": ["N", 16], "space": "register"})";
  const auto op = [](const std::string& attrs) {
    return R"({"name": "init", "kind": "fill", "out": ["v"]}, {"name": "add", "kind": "elementwise", "in": ["a", "v"], "out": ["r"], "attrs": {"fn": "add")" +
           attrs + "}}";
  };
  CHECK(faults_of(kernel_with(values, op(R"(, "axis": 1)"))).empty());
  const auto wrong = kernel_with(values, op(""));
  REQUIRE_FALSE(wrong.ok());
  REQUIRE(wrong.error().faults.size() == 1);
  const Fault& fault = wrong.error().faults[0];
  CHECK(fault.file == "k.json");
  CHECK(fault.pointer == "/body/2/in/1");
  CHECK_THAT(fault.message, Catch::Contains("op 'add' (elementwise): operand 'v' of shape 16 does not lie over a result of shape 8x16") &&
                                Catch::Contains("expected the same shape, one element, or a vector along axis 0"));
  CHECK_THAT(fault.hint, Catch::Contains("\"axis\": 1"));
}

TEST_CASE("every shape that does not fit is told at once, sizes of the evaluation included", "[core]") {
  const auto many = kernel_with(
      R"({"name": "b", "dtype": "f32", "shape": [3, 5], "space": "register"}, {"name": "c", "dtype": "f32", "shape": [9], "space": "register"})",
      R"({"name": "copy", "kind": "copy", "in": ["a"], "out": ["b"]}, {"name": "red", "kind": "reduce_max", "in": ["a"], "out": ["c"]})");
  REQUIRE_FALSE(many.ok());
  CHECK(many.error().faults.size() == 2);
  CHECK_THAT(faults_of(many), Catch::Contains("/body/1/in/0") && Catch::Contains("/body/2/out/0"));
  // Eight rows fit, the four of the evaluation do not.
  const auto small = kernel_with(R"({"name": "b", "dtype": "f32", "shape": [8, 16], "space": "register"})",
                                 R"({"name": "copy", "kind": "copy", "in": ["a"], "out": ["b"]})");
  CHECK_THAT(faults_of(small), Catch::Contains("at the evaluation sizes (N=4)"));
}

TEST_CASE("products, chunks of columns, masks and boxes have their own rules", "[core]") {
  const auto faults = [](const char* kind, std::vector<TileShape> inputs, std::optional<TileShape> result,
                         std::map<std::string, Attr> attrs = {}, std::optional<std::size_t> rank = {}) {
    TileOp op;
    op.kind = kind;
    op.attrs = std::move(attrs);
    std::vector<const TileShape*> views;
    for (const TileShape& s : inputs) views.push_back(&s);
    std::string text;
    for (const ShapeFault& f : shape_faults(op, views, result ? &*result : nullptr, rank)) text += f.where + " ";
    return text;
  };
  CHECK(faults("mma", {{64, 16}, {16, 32}}, TileShape{64, 32}).empty());
  CHECK(faults("mma", {{64, 16}, {32, 16}}, TileShape{64, 32}) == "/in/1 ");
  CHECK(faults("mma", {{64, 16}, {32, 16}}, TileShape{64, 32}, {{"transpose_b", true}}).empty());
  CHECK(faults("mma", {{64, 16}, {16, 32}, {64, 31}}, TileShape{64, 31}) == "/out/0 ");
  CHECK(faults("mma", {{64, 16}, {16, 32}, {64, 16}}, TileShape{64, 16}, {{"column", std::int64_t{16}}}).empty());
  CHECK(faults("mma", {{64, 16}, {16, 32}}, TileShape{64, 16}, {{"column", std::int64_t{17}}}) == "/out/0 ");
  CHECK(faults("mma", {{64, 16}, {48, 32}}, TileShape{64, 32}, {{"row", std::int64_t{32}}}).empty());
  CHECK(faults("mma", {{64, 16}, {48, 32}}, TileShape{64, 32}, {{"row", std::int64_t{33}}}) == "/in/1 ");
  CHECK(faults("mma", {{64, 16}, {32, 48}}, TileShape{64, 32}, {{"row", std::int64_t{32}}, {"transpose_b", true}}).empty());
  CHECK(faults("mma", {{64}, {16, 32}}, TileShape{64, 32}) == "/in/0 ");
  CHECK(faults("tmem_load", {{128, 64}}, TileShape{128, 32}, {{"column", std::int64_t{32}}}).empty());
  CHECK(faults("tmem_load", {{128, 64}}, TileShape{128, 32}, {{"column", std::int64_t{33}}}) == "/in/0 ");
  CHECK(faults("reduce_sum", {{8, 4}, {8}}, TileShape{8}).empty());
  CHECK(faults("reduce_sum", {{8, 4}, {4}}, TileShape{8}) == "/in/1 ");
  CHECK(faults("reduce_sum", {{8, 4}}, TileShape{4}, {{"axis", std::int64_t{0}}}).empty());
  CHECK(faults("mask", {{8}}, TileShape{8}) == "/out/0 ");
  CHECK(faults("exp2", {{8, 4}, {1}}, TileShape{8, 4}).empty());
  CHECK(faults("load", {}, TileShape{2, 2, 2}, {}, 2) == "/out/0 ");
  CHECK(faults("store", {{2, 2}}, std::nullopt, {}, 2).empty());
  CHECK(faults("opaque", {{1}, {2}}, TileShape{3}).empty());
}

TEST_CASE("shapes of all shipped kernels fit, sub-tiled too", "[core]") {
  for (const LibraryEntry& entry : list_library(Shelf::Kernels)) {
    const auto kernel = load_kernel(entry.path);
    INFO(entry.path);
    REQUIRE(kernel.ok());
    CHECK(validate_shapes(*kernel).empty());
    Scope usual;
    for (const Param& p : kernel->params) usual[p.name] = p.value;
    for (const Param& p : kernel->params) {
      const auto cut = subtile(*kernel, {p.name, 2}, usual);
      if (!cut.ok()) continue;
      for (const Fault& fault : validate_shapes(*cut)) FAIL_CHECK(p.name << ": " << to_string(fault));
    }
  }
}
