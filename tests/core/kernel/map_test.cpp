// Kind map beside the kinds that it stands for, asynchronous loads, and reductions: shapes, meaning, sub-tiles, costs.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "core/formats/kernel_json.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/map_expression.h"
#include "core/kernel/op_semantics.h"
#include "core/kernel/subtile.h"
#include "core/kernel/validate.h"
#include "core/library/library.h"
#include "core/problem/costs.h"
#include "core/problem/fault_log.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Array array(TileShape shape, std::vector<float> data) { return {std::move(shape), std::move(data)}; }

TileOp op(const char* kind, std::map<std::string, Attr> attrs, std::size_t inputs) {
  TileOp op;
  op.name = "op";
  op.kind = kind;
  op.attrs = std::move(attrs);
  for (std::size_t k = 0; k < inputs; ++k) op.inputs.push_back({fmt::format("in{}", k), 0});
  op.outputs = {"out"};
  return op;
}

Array run(const TileOp& op, const std::vector<Array>& inputs, TileShape shape, std::vector<std::int64_t> at = {},
          std::string* complaint = nullptr) {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  Array out{std::move(shape), std::vector<float>(static_cast<std::size_t>(size), 99.0f)};
  std::vector<const Array*> pointers;
  for (const Array& a : inputs) pointers.push_back(&a);
  const std::string text = find_op_function(op.kind)({&op, pointers, &out, nullptr, at});
  if (complaint)
    *complaint = text;
  else
    CHECK(text == "");
  return out;
}

Array map(const std::string& expr, const std::vector<Array>& inputs, TileShape shape, const std::string& along = {},
          std::vector<std::int64_t> at = {}) {
  std::map<std::string, Attr> attrs{{"expr", expr}};
  if (!along.empty()) attrs["along"] = along;
  return run(op("map", attrs, inputs.size()), inputs, std::move(shape), std::move(at));
}

Machine machine(const std::string& name) {
  const auto read = load_machine(test::repository_path("assets/machines/" + name + ".json"));
  REQUIRE(read);
  return *read;
}

/// A kernel whose body loads a [T,C] tile `a`, a vector `r` of rows and a vector `c` of columns, and has these ops; `y` is stored.
std::string text_with(const std::string& values, const std::string& body, const std::string& y = R"(["T", "C"])",
                      const std::string& at = R"(["bx*T", "i*C"])", const std::string& out_shape = R"(["N", "N"])") {
  return fmt::format(
      R"({{"schema": "heddle.kernel/1", "name": "t", "params": [{{"name": "N", "value": 32}}, {{"name": "T", "value": 16}}, {{"name": "C", "value": 8}}],
    "tensors": [{{"name": "A", "dtype": "f32", "shape": ["N", "N"], "role": "input"}}, {{"name": "R", "dtype": "f32", "shape": ["N"], "role": "input"}},
                {{"name": "Y", "dtype": "f32", "shape": {}, "role": "output"}}],
    "grid": [{{"name": "bx", "size": "N/T"}}], "loop": {{"variable": "i", "trips": "N/C"}},
    "values": [{{"name": "a", "dtype": "f32", "shape": ["T", "C"], "space": "register"}}, {{"name": "r", "dtype": "f32", "shape": ["T"], "space": "register"}},
               {{"name": "c", "dtype": "f32", "shape": ["C"], "space": "register"}}, {{"name": "y", "dtype": "f32", "shape": {}, "space": "register"}}{}{}],
    "prologue": [], "body": [{{"name": "load_a", "kind": "load", "tensor": "A", "at": ["bx*T", "i*C"], "out": ["a"]}},
      {{"name": "load_r", "kind": "load", "tensor": "R", "at": ["bx*T"], "out": ["r"]}},
      {{"name": "load_c", "kind": "load", "tensor": "R", "at": ["i*C"], "out": ["c"]}}, {},
      {{"name": "keep", "kind": "store", "in": ["y"], "tensor": "Y", "at": {}}}], "epilogue": []}})",
      out_shape, y, values.empty() ? "" : ", ", values, body, at);
}

Kernel kernel_of(const std::string& text) {
  const auto kernel = parse_kernel(text, "k.json");
  INFO((kernel ? "" : to_string(kernel.error())));
  REQUIRE(kernel);
  return *kernel;
}

std::vector<float> computed(const Kernel& kernel, const Scope& scope) {
  auto tensors = make_tensors(kernel, scope, 11);
  REQUIRE(tensors);
  const auto count = execute(kernel, scope, *tensors);
  INFO((count ? "" : to_string(count.error())));
  REQUIRE(count);
  return tensors->at("Y").array.data;
}

std::string fault_of(const std::string& text) {
  const auto kernel = parse_kernel(text, "k.json");
  REQUIRE_FALSE(kernel);
  return to_string(kernel.error());
}

Op costed(const Machine& machine, const TileOp& op, const std::vector<TileShape>& inputs, const TileShape& output) {
  FaultLog faults;
  const auto tile = [&](const TileShape& shape) {
    TileValue value;
    for (const std::int64_t extent : shape) value.shape.emplace_back(extent);
    return *measure(value, {}, {}, faults);
  };
  std::vector<Tile> tiles;
  for (const TileShape& shape : inputs) tiles.push_back(tile(shape));
  const Tile out = tile(output);
  std::vector<const Tile*> in;
  for (const Tile& t : tiles) in.push_back(&t);
  const Op cost = cost_of({op, in, {&out}}, machine, {}, faults);
  CHECK(faults.empty());
  return cost;
}

void same_cost(const Op& a, const Op& b) {
  CHECK(a.latency == b.latency);
  CHECK(a.window == b.window);
  CHECK(a.warps == b.warps);
  REQUIRE(a.uses.size() == b.uses.size());
  for (const UnitUse& use : a.uses)
    CHECK(std::any_of(b.uses.begin(), b.uses.end(), [&](const UnitUse& u) { return u.unit == use.unit && u.duration == use.duration; }));
}

}  // namespace

TEST_CASE("a map takes tiles, vectors along rows and columns, and single numbers", "[core]") {
  const Array tile = array({2, 3}, {1, 2, 3, 4, 5, 6}), rows = array({2}, {10, 20}), columns = array({3}, {100, 200, 300}),
              one = array({1}, {7});
  CHECK(map("x0 + x1", {tile, rows}, {2, 3}).data == std::vector<float>{11, 12, 13, 24, 25, 26});
  CHECK(map("x0 + x1", {tile, columns}, {2, 3}).data == std::vector<float>{101, 202, 303, 104, 205, 306});
  CHECK(map("x0 * x1", {tile, one}, {2, 3}).data == std::vector<float>{7, 14, 21, 28, 35, 42});
  CHECK(map("x0 + x1", {rows, columns}, {2, 3}).data == std::vector<float>{110, 210, 310, 120, 220, 320});
  CHECK(map("10 * row + col", {}, {2, 3}).data == std::vector<float>{0, 1, 2, 10, 11, 12});
  CHECK(map("10 * row + col", {}, {3}).data == std::vector<float>{0, 10, 20});
  CHECK(map("x0 + x1 * row", {rows, one}, {2}).data == std::vector<float>{10, 27});
  CHECK(map("select(at1 + col <= at0 + row, x0, -inf)", {tile}, {2, 3}, "", {5, 4}).data == std::vector<float>{1, 2, -kInfinity, 4, 5, 6});
}

TEST_CASE("which way a vector lies over a square tile must be said", "[core]") {
  const Array tile = array({2, 2}, {1, 2, 3, 4}), vector = array({2}, {10, 20});
  CHECK(map("x0 + x1", {tile, vector}, {2, 2}, "fr").data == std::vector<float>{11, 12, 23, 24});
  CHECK(map("x0 + x1", {tile, vector}, {2, 2}, "fc").data == std::vector<float>{11, 22, 13, 24});
  std::string complaint;
  run(op("map", {{"expr", std::string("x0 + x1")}}, 2), {tile, vector}, {2, 2}, {}, &complaint);
  CHECK_THAT(complaint, Catch::Contains("rows or the columns"));
  for (const char* along : {"f", "ff", "frr", "fx", "f1", "rf"}) {
    INFO(along);
    run(op("map", {{"expr", std::string("x0 + x1")}, {"along", std::string(along)}}, 2), {tile, vector}, {2, 2}, {}, &complaint);
    CHECK_FALSE(complaint.empty());
  }
}

TEST_CASE("what is wrong with a map is told with its place in the file", "[core]") {
  const auto with = [](const std::string& in, const std::string& rest) {
    return text_with("", fmt::format(R"({{"name": "f", "kind": "map", "in": {}, "out": ["y"]{}}})", in, rest));
  };
  kernel_of(with(R"(["a", "r", "c"])", R"(, "attrs": {"expr": "x0 * x1 + x2"})"));
  CHECK_THAT(fault_of(with(R"(["a"])", "")), Catch::Contains("/body/3") && Catch::Contains("map needs the attribute 'expr'"));
  CHECK_THAT(fault_of(with(R"(["a"])", R"(, "attrs": {"expr": "x0 +"})")),
             Catch::Contains("/body/3/attrs/expr") && Catch::Contains("at column 5"));
  CHECK_THAT(fault_of(with(R"(["a"])", R"(, "attrs": {"expr": "x0 + at0"})")), Catch::Contains("/body/3") && Catch::Contains("\"at\""));
  CHECK_THAT(fault_of(with(R"(["a"])", R"(, "at": ["i"], "attrs": {"expr": "x0 + at1"})")), Catch::Contains("names at1"));
  CHECK_THAT(fault_of(with(R"(["a"])", R"(, "at": ["i", "nix"], "attrs": {"expr": "x0 + at0"})")), Catch::Contains("/body/3/at/1"));
  CHECK_THAT(fault_of(with(R"(["a"])", R"(, "attrs": {"expr": "x0", "mufu": -1})")), Catch::Contains("/body/3/attrs/mufu"));
  // Sixteen rows and eight columns; with as many of both the vector could be either.
  std::string square = with(R"(["a", "r"])", R"(, "attrs": {"expr": "x0 + x1"})");
  square.replace(square.find(R"("value": 8)"), 10, R"("value": 16)");
  CHECK_THAT(fault_of(square), Catch::Contains("/body/3/in/1") && Catch::Contains("`along`"));
}

TEST_CASE("a map computes what the ops of its chain compute", "[core]") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::vector<float> data(12 * 5), weights(12);
  for (float& x : data) x = static_cast<float>(static_cast<int>(random() % 2000) - 1000) / 200;
  for (float& x : weights) x = static_cast<float>(random() % 100) / 50;
  const Array tile = array({12, 5}, data), rows = array({12}, weights);
  const auto text = [](const char* name) { return Attr(std::string(name)); };
  const Array silu = run(op("elementwise", {{"fn", text("silu")}}, 1), {tile}, {12, 5});
  CHECK(map("x0 * sigmoid(x0)", {tile}, {12, 5}).data == silu.data);
  CHECK(map("exp2(x0 * 0.125 - x1)", {tile, rows}, {12, 5}).data ==
        run(op("exp2", {{"scale", text("0.125")}}, 2), {tile, rows}, {12, 5}).data);
  TileOp mask = op("mask", {{"value", text("-1e30")}}, 1);
  CHECK(map("select(at1 + col <= at0 + row, x0, -1e30)", {tile}, {12, 5}, "", {4, 7}).data == run(mask, {tile}, {12, 5}, {4, 7}).data);
  CHECK(map("select(x0 > 0, x0, x1)", {tile, rows}, {12, 5}).data ==
        run(op("elementwise", {{"fn", text("select")}}, 3), {map("x0 > 0", {tile}, {12, 5}), tile, rows}, {12, 5}).data);
}

TEST_CASE("a map that is cut along rows or columns computes what it did", "[core]") {
  const std::string values =
      R"({"name": "b", "dtype": "f32", "shape": ["T", "C"], "space": "register"}, {"name": "m", "dtype": "f32", "shape": ["T"], "space": "register"})";
  const Kernel kernel = kernel_of(text_with(
      values,
      R"k({"name": "f", "kind": "map", "in": ["a", "r", "c"], "out": ["b"], "attrs": {"expr": "x0 * x1 + x2 + row * 0.01 + col * 0.001"}},)k"
      R"k({"name": "n", "kind": "map", "in": ["r"], "out": ["m"], "attrs": {"expr": "x0 * row"}},)k"
      R"k({"name": "g", "kind": "map", "in": ["b", "m", "c"], "out": ["y"], "at": ["bx*T", "i*C"], "attrs": {"expr": "select(at1 + col <= at0 + row, x0 - x1, x2)" } })k"));
  for (const Scope& scope : {Scope{{"N", 48}, {"T", 16}, {"C", 8}}, Scope{{"N", 48}, {"T", 24}, {"C", 12}}}) {
    const std::vector<float> whole = computed(kernel, scope);
    for (const auto& [param, factor] : {std::pair{"T", 2}, {"T", 4}, {"C", 2}, {"C", 4}}) {
      const auto parts = subtile(kernel, {param, factor}, scope);
      INFO(param << "/" << factor << (parts ? "" : to_string(parts.error())));
      REQUIRE(parts);
      CHECK(computed(*parts, scope) == whole);
      // Where parts are square, each still knows how its vectors lie; and parts count the instructions that the whole counts.
      for (const TileOp& op : parts->body)
        for (const TileOp& from : kernel.body)
          if (op.kind == "map" && op.name != from.name && op.name.starts_with(from.name)) {
            CHECK(op.attrs.contains("along"));
            CHECK(map_counts(op) == map_counts(from));
          }
    }
    const auto twice = subtile(*subtile(kernel, {"T", 2}, scope), {"C", 2}, scope);
    REQUIRE(twice);
    CHECK(computed(*twice, scope) == whole);
  }
}

TEST_CASE("minimum, exclusive or and place of the maximum, along rows, columns and all of a vector", "[core]") {
  const Array tile = array({2, 3}, {1, 5, 5, -1, -2, -3}), vector = array({4}, {3, -7, 9, 9});
  const Attr columns = std::int64_t{0};
  CHECK(run(op("reduce_min", {}, 1), {tile}, {2}).data == std::vector<float>{1, -3});
  CHECK(run(op("reduce_min", {{"axis", columns}}, 1), {tile}, {3}).data == std::vector<float>{-1, -2, -3});
  CHECK(run(op("reduce_min", {{"scale", std::string("-2")}}, 2), {tile, array({2}, {-100, 1})}, {2}).data == std::vector<float>{-100, 1});
  CHECK(run(op("reduce_argmax", {}, 1), {tile}, {2}).data == std::vector<float>{1, 0});
  CHECK(run(op("reduce_argmax", {{"axis", columns}}, 1), {tile}, {3}).data == std::vector<float>{0, 0, 0});
  CHECK(run(op("reduce_argmax", {}, 1), {array({1, 2}, {-kInfinity, -kInfinity})}, {1}).data == std::vector<float>{0});
  CHECK(run(op("reduce_xor", {}, 1), {array({2, 3}, {1, 2, 4, 6, 6, -1})}, {2}).data == std::vector<float>{7, -1});
  CHECK(run(op("reduce_xor", {}, 2), {array({1, 2}, {12, 10}), array({1}, {5})}, {1}).data == std::vector<float>{3});
  // A vector goes as a whole, whatever the axis.
  for (const char* kind : {"reduce_max", "reduce_sum", "reduce_min", "reduce_argmax"})
    for (const std::int64_t axis : {0, 1}) {
      const float expected = std::string(kind) == "reduce_max"   ? 9.0f
                             : std::string(kind) == "reduce_sum" ? 14.0f
                             : std::string(kind) == "reduce_min" ? -7.0f
                                                                 : 2.0f;
      CHECK(run(op(kind, {{"axis", axis}}, 1), {vector}, {1}).data == std::vector<float>{expected});
    }
  CHECK(run(op("reduce_sum", {{"mean", true}}, 1), {vector}, {1}).data == std::vector<float>{3.5f});
  std::string complaint;
  run(op("reduce_max", {}, 1), {vector}, {4}, {}, &complaint);
  CHECK_THAT(complaint, Catch::Contains("leaves one number"));
  run(op("reduce_max", {}, 1), {array({1, 1, 2}, {1, 2})}, {1}, {}, &complaint);
  CHECK_THAT(complaint, Catch::Contains("one or two dimensions"));
}

TEST_CASE("reductions of parts are chained, but for the place of a maximum", "[core]") {
  const auto text = [](const std::string& kind, const char* dtype) {
    return text_with(fmt::format(R"({{"name": "w", "dtype": "{}", "shape": ["T", "C"], "space": "register"}})", dtype),
                     fmt::format(R"({{"name": "whole", "kind": "convert", "in": ["a"], "out": ["w"]}},
                                    {{"name": "red", "kind": "{}", "in": ["w"], "out": ["y"]}})",
                                 kind),
                     R"(["T"])", R"(["bx*T"])", R"(["N"])");
  };
  const Scope scope{{"N", 32}, {"T", 16}, {"C", 8}};
  for (const char* kind : {"reduce_min", "reduce_xor"}) {
    const Kernel kernel = kernel_of(text(kind, std::string(kind) == "reduce_xor" ? "i32" : "f32"));
    for (const char* param : {"T", "C"}) {
      const auto parts = subtile(kernel, {param, 4}, scope);
      REQUIRE(parts);
      CHECK(computed(*parts, scope) == computed(kernel, scope));
    }
  }
  const Kernel place = kernel_of(text("reduce_argmax", "f32"));
  CHECK(computed(*subtile(place, {"T", 4}, scope), scope) == computed(place, scope));
  const auto refused = subtile(place, {"C", 2}, scope);
  REQUIRE_FALSE(refused);
  CHECK_THAT(to_string(refused.error()), Catch::Contains("places of the maxima"));
}

TEST_CASE("a map costs what the kinds cost that it stands for", "[core]") {
  for (const char* name : {"h100", "h200", "b200"}) {
    INFO(name);
    const Machine m = machine(name);
    const auto fn = [](const char* f) { return std::map<std::string, Attr>{{"fn", std::string(f)}}; };
    const auto expr = [](const char* e) { return std::map<std::string, Attr>{{"expr", std::string(e)}}; };
    const TileShape tile{64, 128}, rows{64};
    same_cost(costed(m, op("map", expr("x0 + x1"), 2), {tile, tile}, tile), costed(m, op("elementwise", fn("add"), 2), {tile, tile}, tile));
    same_cost(costed(m, op("map", expr("x0 * x1"), 2), {rows, rows}, rows), costed(m, op("elementwise", fn("mul"), 2), {rows, rows}, rows));
    same_cost(costed(m, op("map", expr("max(x0, x1)"), 2), {tile, tile}, tile),
              costed(m, op("elementwise", fn("max"), 2), {tile, tile}, tile));
    same_cost(costed(m, op("map", expr("rsqrt(x0)"), 1), {tile}, tile), costed(m, op("elementwise", fn("rsqrt"), 1), {tile}, tile));
    same_cost(costed(m, op("map", expr("exp2(x0 - x1)"), 2), {tile, rows}, tile), costed(m, op("exp2", {}, 2), {tile, rows}, tile));
    // A chain takes no longer than its longest unit, and at least what all its instructions take to be issued.
    const Op chain = costed(
        m, op("map", {{"expr", std::string("x0")}, {"fma", std::int64_t{6}}, {"alu", std::int64_t{4}}, {"mufu", std::int64_t{1}}}, 1),
        {tile}, tile);
    CHECK(chain.window == std::max(11 * 64, std::max(4 * 128, 512)));
    REQUIRE(chain.uses.size() == 3);
  }
}

TEST_CASE("a reduction to one number is no column of statistics that many threads hold", "[core]") {
  const Machine m = machine("h100");
  same_cost(costed(m, op("reduce_sum", {}, 1), {{4096}}, {1}), costed(m, op("reduce_sum", {}, 1), {{1, 4096}}, {1}));
  CHECK(costed(m, op("reduce_sum", {}, 1), {{4096}}, {1}).uses.front().duration == 4096 / 128);
}

TEST_CASE("an asynchronous load fills shared memory, from a group of four warps where loads have one", "[core]") {
  const auto text = [](const char* space, const char* variant) {
    return text_with(fmt::format(R"({{"name": "s", "dtype": "f32", "shape": ["T", "C"], "space": "{}"}})", space),
                     fmt::format(R"({{"name": "load_s", "kind": "load", "tensor": "A", "at": ["bx*T", "i*C"], "out": ["s"]{}}},
                       {{"name": "read", "kind": "smem_load", "in": ["s"], "out": ["y"]}})",
                                 variant));
  };
  CHECK_THAT(fault_of(text("register", R"(, "attrs": {"variant": "async"})")),
             Catch::Contains("/body/3/out/0") && Catch::Contains("fills shared memory"));
  const Kernel kernel = kernel_of(text("smem", R"(, "attrs": {"variant": "async"})"));
  for (const char* name : {"h100", "h200", "b200"}) {
    const auto problem = resolve(kernel, machine(name), {});
    INFO(name << (problem ? "" : to_string(problem.error())));
    REQUIRE(problem);
    const Op& load = problem->ops[3];
    CHECK(load.rule == "load.async");
    CHECK(load.asynchronous);
    CHECK(load.variable_latency);
    CHECK(load.warps == 4);
    CHECK(problem->has_producer_group());
    CHECK(load.latency > problem->ops[0].latency - 1);
    // What it brings is there when its barrier says so, and its ring is one of shared memory.
    const auto ring =
        std::find_if(problem->channels.begin(), problem->channels.end(), [](const Channel& c) { return c.writer == OpId(3); });
    REQUIRE(ring != problem->channels.end());
  }
  Kernel without = kernel;
  without.producer = false;
  const auto problem = resolve(without, machine("h100"), {});
  REQUIRE(problem);
  CHECK_FALSE(problem->ops[3].variable_latency);
  CHECK(computed(kernel, {{"N", 32}, {"T", 16}, {"C", 8}}).size() == 32 * 32);
}
