// Rounding to element types, and the meaning of single tile instructions.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "core/kernel/op_kind.h"
#include "core/kernel/op_semantics.h"
#include "core/kernel/rounding.h"

using namespace heddle;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Array array(std::vector<std::int64_t> shape, std::vector<float> data) { return {std::move(shape), std::move(data)}; }

/// Runs one op without a tensor; its complaint goes to `complaint`.
Array run(TileOp op, const std::vector<Array>& inputs, std::vector<std::int64_t> shape, std::string* complaint = nullptr) {
  std::int64_t size = 1;
  for (std::int64_t extent : shape) size *= extent;
  Array out{std::move(shape), std::vector<float>(static_cast<std::size_t>(size), 99.0f)};
  std::vector<const Array*> pointers;
  for (const Array& a : inputs) pointers.push_back(&a);
  const OpFunction function = find_op_function(op.kind);
  REQUIRE(function);
  const std::string text = function({&op, pointers, &out, nullptr, {}});
  if (complaint)
    *complaint = text;
  else
    CHECK(text.empty());
  return out;
}

TileOp op(const char* kind, std::map<std::string, Attr> attrs = {}) {
  TileOp op;
  op.name = "op";
  op.kind = kind;
  op.attrs = std::move(attrs);
  return op;
}

}  // namespace

TEST_CASE("a mask keeps what lies on the diagonal or before it, counted from where the tile lies", "[core]") {
  TileOp mask = op("mask", {{"value", std::string("-1e30")}});
  const Array in = array({2, 3}, {1, 2, 3, 4, 5, 6});
  const OpFunction function = find_op_function("mask");
  REQUIRE(function);
  const Array* inputs[] = {&in};
  const auto masked = [&](std::vector<std::int64_t> at) {
    Array out{{2, 3}, std::vector<float>(6)};
    CHECK(function({&mask, inputs, &out, nullptr, at}).empty());
    return out.data;
  };
  CHECK(masked({0, 0}) == std::vector<float>{1, -1e30f, -1e30f, 4, 5, -1e30f});
  CHECK(masked({10, 8}) == in.data);
  CHECK(masked({0, 9}) == std::vector<float>(6, -1e30f));
  mask.attrs["transpose"] = true;  // rows are keys
  CHECK(masked({0, 0}) == std::vector<float>{1, 2, 3, -1e30f, 5, 6});
  CHECK(masked({0, 9}) == in.data);
  CHECK(masked({10, 8}) == std::vector<float>{-1e30f, -1e30f, 3, -1e30f, -1e30f, -1e30f});
  Array out{{2, 3}, std::vector<float>(6)};
  // With an end, whatever the row; or whatever the column.
  mask.attrs.erase("transpose");
  mask.attrs["before"] = true;
  CHECK(masked({2, 0}) == std::vector<float>{1, 2, -1e30f, 4, 5, -1e30f});
  CHECK(masked({9, 8}) == std::vector<float>{1, -1e30f, -1e30f, 4, -1e30f, -1e30f});
  CHECK(masked({11, 8}) == in.data);
  CHECK(masked({8, 8}) == std::vector<float>(6, -1e30f));
  mask.attrs["axis"] = std::int64_t{0};
  CHECK(masked({9, 8}) == std::vector<float>{1, 2, 3, -1e30f, -1e30f, -1e30f});
  CHECK_FALSE(function({&mask, inputs, &out, nullptr, {}}).empty());
}

TEST_CASE("rounding goes to the nearest number, ties to even", "[core]") {
  const float unit = 1.0f / 128;  // of bf16 at 1
  CHECK(round_to(DType::Bf16, 1.0f + unit / 2) == 1.0f);
  CHECK(round_to(DType::Bf16, 1.0f + unit * 1.5f) == 1.0f + 2 * unit);
  CHECK(round_to(DType::Bf16, 1.0f + unit * 0.51f) == 1.0f + unit);
  CHECK(round_to(DType::F16, 1.0f + 1.0f / 2048) == 1.0f);
  CHECK(round_to(DType::F16, 1.0f + 3.0f / 2048) == 1.0f + 2.0f / 1024);
  CHECK(round_to(DType::F8e4m3, 17.0f) == 16.0f);
  CHECK(round_to(DType::F8e4m3, 19.0f) == 20.0f);
  CHECK(round_to(DType::F8e5m2, 9.0f) == 8.0f);
  CHECK(round_to(DType::F8e5m2, -11.0f) == -12.0f);
  CHECK(round_to(DType::I32, 2.5f) == 2.0f);
  CHECK(round_to(DType::F32, 1.2345678f) == 1.2345678f);
}

TEST_CASE("rounding at the ends of the ranges", "[core]") {
  CHECK(round_to(DType::F16, 65519.0f) == 65504.0f);
  CHECK(round_to(DType::F16, 65520.0f) == kInfinity);
  CHECK(round_to(DType::F16, -1e30f) == -kInfinity);
  CHECK(round_to(DType::Bf16, 3.4e38f) == kInfinity);
  CHECK(round_to(DType::F8e4m3, 1e6f) == 448.0f);
  CHECK(round_to(DType::F8e4m3, -kInfinity) == -448.0f);
  CHECK(round_to(DType::F8e5m2, 1e6f) == 57344.0f);
  CHECK(round_to(DType::F16, std::ldexp(1.0f, -24)) == std::ldexp(1.0f, -24));
  CHECK(round_to(DType::F16, std::ldexp(1.0f, -25)) == 0.0f);
  CHECK(round_to(DType::F8e4m3, std::ldexp(1.0f, -9)) == std::ldexp(1.0f, -9));
  CHECK(round_to(DType::F8e4m3, std::ldexp(1.0f, -10)) == 0.0f);
  CHECK(std::signbit(round_to(DType::Bf16, -0.0f)));
  for (DType dtype : {DType::F32, DType::Bf16, DType::F16, DType::F8e4m3, DType::F8e5m2})
    CHECK(std::isnan(round_to(dtype, std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("rounding twice is rounding once", "[core]") {
  for (DType dtype : {DType::Bf16, DType::F16, DType::F8e4m3, DType::F8e5m2, DType::I32})
    for (int i = -400; i < 400; ++i) {
      const float x = static_cast<float>(std::ldexp(1.0 + i * 0.00237, i % 23));
      CHECK(round_to(dtype, round_to(dtype, x)) == round_to(dtype, x));
    }
}

TEST_CASE("every kind of the catalogue but opaque can be executed, and every element function", "[core]") {
  for (const OpKind& kind : op_kinds()) CHECK((find_op_function(kind.name) != nullptr) == (std::string(kind.name) != "opaque"));
  for (const ElementwiseFunction& f : elementwise_functions()) {
    INFO(f.name);
    const Array a = array({1, 1}, {0.25f});
    std::string complaint;
    run(op("elementwise", {{"fn", std::string(f.name)}}), std::vector<Array>(static_cast<std::size_t>(f.operands), a), {1, 1}, &complaint);
    CHECK(complaint.empty());
  }
}

TEST_CASE("mma multiplies, transposes and accumulates", "[core]") {
  const Array a = array({2, 3}, {1, 2, 3, 4, 5, 6}), b = array({3, 2}, {1, 0, 0, 1, 1, 1});
  const std::vector<float> product{4, 5, 10, 11};
  CHECK(run(op("mma"), {a, b}, {2, 2}).data == product);
  CHECK(run(op("mma"), {a, b, array({2, 2}, {1, 1, 1, 1})}, {2, 2}).data == std::vector<float>{5, 6, 11, 12});
  const Array at = array({3, 2}, {1, 4, 2, 5, 3, 6}), bt = array({2, 3}, {1, 0, 1, 0, 1, 1});
  CHECK(run(op("mma", {{"transpose_a", true}, {"transpose_b", true}}), {at, bt}, {2, 2}).data == product);
  CHECK(run(op("mma", {{"column", std::int64_t{1}}}), {a, b}, {2, 1}).data == std::vector<float>{5, 11});
  CHECK(run(op("mma", {{"column", std::int64_t{1}}, {"transpose_b", true}}), {a, bt}, {2, 1}).data == std::vector<float>{5, 11});
  // The last two rows of B, by the first two columns of A.
  const Array left = array({2, 2}, {1, 2, 4, 5});
  CHECK(run(op("mma", {{"row", std::int64_t{1}}}), {left, b}, {2, 2}).data == std::vector<float>{2, 3, 5, 9});
  CHECK(run(op("mma", {{"row", std::int64_t{1}}, {"transpose_b", true}}), {left, bt}, {2, 2}).data == std::vector<float>{2, 3, 5, 9});
  std::string complaint;
  run(op("mma", {{"row", std::int64_t{2}}}), {left, b}, {2, 2}, &complaint);
  CHECK_FALSE(complaint.empty());
  run(op("mma"), {a, bt}, {2, 2}, &complaint);
  CHECK_THAT(complaint, Catch::Contains("2x3") && Catch::Contains("[K,N]"));
  for (std::int64_t column : {-1, 2}) {
    run(op("mma", {{"column", column}}), {a, b}, {2, 1}, &complaint);
    CHECK_FALSE(complaint.empty());
  }
}

TEST_CASE("reductions take a running value", "[core]") {
  const Array tile = array({2, 3}, {1, 5, 2, -1, -2, -3});
  CHECK(run(op("reduce_max"), {tile}, {2}).data == std::vector<float>{5, -1});
  CHECK(run(op("reduce_max", {{"scale", std::string("2")}}), {tile, array({2}, {20, -5})}, {2}).data == std::vector<float>{20, -2});
  CHECK(run(op("reduce_max", {{"axis", std::int64_t{0}}}), {tile}, {3}).data == std::vector<float>{1, 5, 2});
  CHECK(run(op("reduce_sum"), {tile}, {2}).data == std::vector<float>{8, -6});
  CHECK(run(op("reduce_sum", {{"mean", true}}), {tile}, {2}).data == std::vector<float>{8.0f / 3, -2});
  CHECK(run(op("reduce_sum"), {tile, array({2}, {10, 20}), array({2}, {2, 0.5f})}, {2}).data == std::vector<float>{28, 4});
}

TEST_CASE("a running maximum may be kept until it has grown by more than a limit", "[core]") {
  const Array tile = array({3, 2}, {1, 5, 2, 14, -3, -4}), old = array({3}, {4, 4, 4});
  const auto kept = [&](const Attr& within) { return run(op("reduce_max", {{"keep_within", within}}), {tile, old}, {3}).data; };
  CHECK(kept(std::int64_t{8}) == std::vector<float>{4, 14, 4});
  CHECK(kept(std::int64_t{10}) == std::vector<float>{4, 4, 4});
  CHECK(kept(std::string("0.5")) == std::vector<float>{5, 14, 4});
  CHECK(kept(std::int64_t{0}) == run(op("reduce_max"), {tile, old}, {3}).data);
  std::string complaint;
  run(op("reduce_max", {{"keep_within", std::int64_t{-1}}}), {tile, old}, {3}, &complaint);
  CHECK_THAT(complaint, Catch::Contains("must not be negative"));
  run(op("reduce_max", {{"keep_within", std::int64_t{8}}}), {tile}, {3}, &complaint);
  CHECK_THAT(complaint, Catch::Contains("second input"));
}

TEST_CASE("factors of one that may be skipped change nothing", "[core]") {
  const Array tile = array({2, 2}, {1, 5, 2, 14}), factors = array({2}, {1, 0.5f});
  const std::string mul = "mul";
  CHECK(run(op("elementwise", {{"fn", mul}, {"skip_ones", true}}), {tile, factors}, {2, 2}).data ==
        run(op("elementwise", {{"fn", mul}}), {tile, factors}, {2, 2}).data);
}

TEST_CASE("vectors run along the axis", "[core]") {
  const Array tile = array({2, 3}, {1, 2, 3, 4, 5, 6}), rows = array({2}, {1, 2}), columns = array({3}, {1, 2, 3});
  const auto sub = [&](std::map<std::string, Attr> attrs) {
    attrs["fn"] = std::string("sub");
    return op("elementwise", attrs);
  };
  CHECK(run(sub({}), {tile, rows}, {2, 3}).data == std::vector<float>{0, 1, 2, 2, 3, 4});
  CHECK(run(sub({{"axis", std::int64_t{1}}}), {tile, columns}, {2, 3}).data == std::vector<float>{0, 0, 0, 3, 3, 3});
  CHECK(run(sub({{"scale", std::string("0.5")}, {"value", std::string("1")}}), {tile}, {2, 3}).data ==
        std::vector<float>{-0.5f, 0, 0.5f, 1, 1.5f, 2});
  CHECK(run(op("exp2"), {rows, rows}, {2}).data == std::vector<float>{1, 1});
  CHECK(run(op("broadcast"), {rows}, {2, 3}).data == std::vector<float>{1, 1, 1, 2, 2, 2});
  std::string complaint;
  run(sub({}), {tile, columns}, {2, 3}, &complaint);
  CHECK_THAT(complaint, Catch::Contains("does not lie over"));
  run(sub({{"scale", std::string("a lot")}}), {tile, rows}, {2, 3}, &complaint);
  CHECK_THAT(complaint, Catch::Contains("not a decimal number"));
}

TEST_CASE("tensor memory can be read in chunks of columns", "[core]") {
  const Array tile = array({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(run(op("tmem_load", {{"column", std::int64_t{2}}}), {tile}, {2, 2}).data == std::vector<float>{2, 3, 6, 7});
  std::string complaint;
  run(op("tmem_load", {{"column", std::int64_t{3}}}), {tile}, {2, 2}, &complaint);
  CHECK_THAT(complaint, Catch::Contains("columns 3 to 4"));
}

TEST_CASE("boxes are clipped at the tensor's edges", "[core]") {
  GlobalTensor tensor{DType::F32, TensorRole::InOut, array({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})};
  const auto call = [&](TileOp op, std::vector<const Array*> in, Array* out, std::vector<std::int64_t> at) {
    op.tensor = "T";
    return find_op_function(op.kind)({&op, in, out, &tensor, at});
  };
  Array out = array({2, 2}, {9, 9, 9, 9});
  CHECK(call(op("tma_load"), {}, &out, {1, 2, 1}).empty());
  CHECK(out.data == std::vector<float>{11, 0, 0, 0});
  CHECK(call(op("load"), {}, &out, {0, -1, -1}).empty());
  CHECK(out.data == std::vector<float>{0, 0, 0, 0});
  CHECK(call(op("load"), {}, &out, {0, 0, -1}).empty());
  CHECK(out.data == std::vector<float>{0, 0, 0, 2});
  CHECK(call(op("load"), {}, &out, {2, 0, 0}).empty());
  CHECK(out.data == std::vector<float>{0, 0, 0, 0});
  for (std::int64_t far : {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    CHECK(call(op("load"), {}, &out, {far, far, far}).empty());
    CHECK(out.data == std::vector<float>{0, 0, 0, 0});
  }
  const Array ones = array({2, 2}, {1, 1, 1, 1});
  CHECK(call(op("atomic_add"), {&ones}, nullptr, {0, 2, 0}).empty());
  CHECK(tensor.array.data == std::vector<float>{0, 1, 2, 3, 5, 6, 6, 7, 8, 9, 10, 11});
  CHECK(call(op("store"), {&ones}, nullptr, {1, 0, 1}).empty());
  CHECK(tensor.array.data == std::vector<float>{0, 1, 2, 3, 5, 6, 6, 1, 8, 1, 10, 11});
  CHECK_THAT(call(op("load"), {}, &out, {0, 0}), Catch::Contains("2 coordinates"));
}

TEST_CASE("gather takes rows by index", "[core]") {
  GlobalTensor tensor{DType::F32, TensorRole::Input, array({3, 2}, {0, 1, 2, 3, 4, 5})};
  TileOp gather = op("gather");
  gather.tensor = "T";
  const Array index = array({3}, {2, 0, 7});
  Array out = array({3, 2}, std::vector<float>(6));
  const std::vector<std::int64_t> at{0, 0};
  const Array* inputs[] = {&index};
  CHECK(find_op_function("gather")({&gather, inputs, &out, &tensor, at}).empty());
  CHECK(out.data == std::vector<float>{4, 5, 0, 1, 0, 0});
}
