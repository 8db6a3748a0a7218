// A kernel cut into sub-tiles computes what it did before, and the sub-tiles made by the transform are the ones that
// people write by hand.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "core/formats/kernel_json.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/subtile.h"
#include "core/kernel/validate.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

Kernel shipped(const std::string& name) {
  const auto kernel = load_kernel(test::repository_path("kernels/" + name + ".json"));
  REQUIRE(kernel);
  return *kernel;
}

Machine machine(const std::string& name) {
  const auto read = load_machine(test::repository_path("assets/machines/" + name + ".json"));
  REQUIRE(read);
  return *read;
}

Kernel cut(const Kernel& kernel, const std::string& param, std::int64_t factor, const Scope& params = {}) {
  const auto result = subtile(kernel, {param, factor}, params);
  INFO((result ? "" : to_string(result.error())));
  REQUIRE(result);
  for (const Fault& fault : validate(*result)) FAIL_CHECK(to_string(fault));
  // What can be written can be read again.
  const auto again = parse_kernel(kernel_text(*result), "cut");
  INFO((again ? "" : to_string(again.error())));
  CHECK(again);
  return *result;
}

TensorMap run(const Kernel& kernel, const Scope& scope) {
  auto tensors = make_tensors(kernel, scope, 7);
  REQUIRE(tensors);
  const auto count = execute(kernel, scope, *tensors);
  INFO(kernel.name << (count ? "" : to_string(count.error())));
  REQUIRE(count);
  return *tensors;
}

/// Largest difference of any output element, relative to 1 + its size.
double difference(const Kernel& a, const Kernel& b, const Scope& scope) {
  const TensorMap left = run(a, scope), right = run(b, scope);
  double worst = 0;
  for (const auto& [name, tensor] : left) {
    const auto& other = right.at(name).array.data;
    REQUIRE(other.size() == tensor.array.data.size());
    for (std::size_t i = 0; i < other.size(); ++i) {
      const double error = std::fabs(static_cast<double>(other[i]) - tensor.array.data[i]) / (1 + std::fabs(other[i]));
      if (!(error <= worst)) worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
  }
  return worst;
}

std::string faults_of(const Kernel& kernel, const std::string& param, std::int64_t factor, const Scope& params = {}) {
  const auto result = subtile(kernel, {param, factor}, params);
  CHECK_FALSE(result);
  return result ? "" : to_string(result.error());
}

void check_says(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
}

/// A problem without the order of its ops, values, edges and channels.
std::multiset<std::string> described(const Problem& p) {
  std::multiset<std::string> lines;
  for (const Op& op : p.ops) {
    std::string uses;
    for (const UnitUse& use : op.uses) uses += fmt::format(" {}:{}+{}x{}", p.unit(use.unit).name, use.offset, use.duration, use.amount);
    lines.insert(fmt::format("op {} {} latency {} window {} warps {} {}{}{}{}", op.name, op.kind, op.latency, op.window, op.warps,
                             op.aligned, op.asynchronous, op.variable_latency, uses));
  }
  for (const Value& v : p.values)
    lines.insert(fmt::format("value {} {} {} {} {}", v.name, to_string(v.space), p.op(v.producer).name, v.bytes, v.registers));
  for (const Edge& e : p.edges)
    lines.insert(fmt::format("edge {} {} {} {} {} {} {} {}", p.op(e.from).name, p.op(e.to).name,
                             e.value.valid() ? p.value(e.value).name : "-", e.latency, e.distance, e.handoff, e.waits, e.hold));
  for (const Channel& c : p.channels) {
    std::multiset<std::string> readers;
    for (const Reader& r : c.readers) readers.insert(fmt::format("{} {} {} {}", p.op(r.op).name, r.distance, r.release, r.signal));
    std::string line =
        fmt::format("channel {} {} {} {} {} {}", c.name, to_string(c.space), c.size, p.op(c.writer).name, c.only_if_crossing, c.max_depth);
    for (const std::string& r : readers) line += ", " + r;
    lines.insert(line);
  }
  lines.insert(fmt::format("resident {} {} {} groups {}", p.resident_smem, p.resident_columns, p.resident_registers, p.max_groups));
  return lines;
}

/// Uses every kind that can be cut, along rows (T) and along columns (C).
const char* kEverything = R"json({
  "schema": "heddle.kernel/1", "name": "everything",
  "params": [{"name": "N", "value": 48}, {"name": "T", "value": 8}, {"name": "C", "value": 12}],
  "tensors": [
    {"name": "A", "dtype": "f32", "shape": ["N", "N"], "role": "input"},
    {"name": "B", "dtype": "f32", "shape": ["N", "N"], "role": "input"},
    {"name": "V", "dtype": "f32", "shape": ["N"], "role": "input"},
    {"name": "Sum", "dtype": "f32", "shape": ["N", "N"], "role": "inout"},
    {"name": "Out", "dtype": "f32", "shape": ["N", "N"], "role": "output"},
    {"name": "Stat", "dtype": "f32", "shape": ["N"], "role": "output"}
  ],
  "grid": [{"name": "bx", "size": "ceil_div(N, T)"}],
  "loop": {"variable": "i", "trips": "N/C"},
  "values": [
    {"name": "a", "dtype": "f32", "shape": ["T", "C"], "space": "smem"},
    {"name": "g", "dtype": "f32", "shape": ["T", "C"], "space": "register"},
    {"name": "zero", "dtype": "f32", "shape": ["T"], "space": "register"},
    {"name": "v", "dtype": "f32", "shape": ["C"], "space": "register"},
    {"name": "av", "dtype": "f32", "shape": ["T", "C"], "space": "register"},
    {"name": "top", "dtype": "f32", "shape": ["T"], "space": "register"},
    {"name": "wide", "dtype": "f32", "shape": ["T", "C"], "space": "register"},
    {"name": "d", "dtype": "f32", "shape": ["T", "C"], "space": "register"},
    {"name": "colsum", "dtype": "f32", "shape": ["C"], "space": "register"},
    {"name": "scaled", "dtype": "f32", "shape": ["T", "C"], "space": "register"},
    {"name": "acc", "dtype": "f32", "shape": ["T", 4], "space": "register"},
    {"name": "b", "dtype": "f32", "shape": [4, "C"], "space": "smem"},
    {"name": "x", "dtype": "f32", "shape": ["C", 4], "space": "register"},
    {"name": "copyx", "dtype": "f32", "shape": ["C", 4], "space": "register"},
    {"name": "last", "dtype": "f32", "shape": ["T", 4], "space": "register"}
  ],
  "prologue": [
    {"name": "start", "kind": "fill", "out": ["acc"], "attrs": {"value": "0.5"}},
    {"name": "origin", "kind": "fill", "out": ["zero"], "attrs": {"value": "0"}},
    {"name": "lowest", "kind": "fill", "out": ["top"], "attrs": {"value": "-100"}}
  ],
  "body": [
    {"name": "load_a", "kind": "tma_load", "tensor": "A", "at": ["bx*T", "if(i < 1000, i, 0)*C"], "out": ["a"]},
    {"name": "load_b", "kind": "tma_load", "tensor": "B", "at": [0, "i*C"], "out": ["b"]},
    {"name": "load_v", "kind": "load", "tensor": "V", "at": ["i*C"], "out": ["v"]},
    {"name": "rows", "kind": "gather", "in": ["zero"], "tensor": "A", "at": [0, "i*C"], "out": ["g"]},
    {"name": "by_column", "kind": "elementwise", "in": ["a", "v"], "out": ["av"], "attrs": {"fn": "mul", "axis": 1}},
    {"name": "top", "kind": "reduce_max", "in": ["av", "top[-1]"], "out": ["top"], "attrs": {"scale": 2}},
    {"name": "widen", "kind": "broadcast", "in": ["top"], "out": ["wide"]},
    {"name": "minus", "kind": "elementwise", "in": ["av", "wide"], "out": ["d"], "attrs": {"fn": "sub", "scale": "0.5"}},
    {"name": "columns", "kind": "reduce_sum", "in": ["d", "v"], "out": ["colsum"], "attrs": {"axis": 0}},
    {"name": "weigh", "kind": "elementwise", "in": ["d", "colsum", "g"], "out": ["scaled"], "attrs": {"fn": "fma", "axis": 1}},
    {"name": "product", "kind": "mma", "in": ["scaled", "b", "acc[-1]"], "out": ["acc"], "attrs": {"transpose_b": true}},
    {"name": "outer", "kind": "mma", "in": ["scaled", "acc"], "out": ["x"], "attrs": {"transpose_a": true}},
    {"name": "flat", "kind": "copy", "in": ["x"], "out": ["copyx"]},
    {"name": "add_x", "kind": "atomic_add", "in": ["copyx"], "tensor": "Sum", "at": ["i*C", 0]},
    {"name": "keep", "kind": "store", "in": ["scaled"], "tensor": "Out", "at": ["bx*T", "i*C"]}
  ],
  "epilogue": [
    {"name": "again", "kind": "convert", "in": ["acc"], "out": ["last"]},
    {"name": "add_last", "kind": "atomic_add", "in": ["last"], "tensor": "Sum", "at": ["bx*T", 4]},
    {"name": "store_top", "kind": "store", "in": ["top"], "tensor": "Stat", "at": ["bx*T"]}
  ]
})json";

Kernel everything() {
  const auto kernel = parse_kernel(kEverything, "everything.json");
  INFO((kernel ? "" : to_string(kernel.error())));
  REQUIRE(kernel);
  return *kernel;
}

TileOp& op_named(Kernel& kernel, const std::string& name) {
  for (auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (TileOp& op : *list)
      if (op.name == name) return op;
  FAIL("no op " << name);
  return kernel.body.front();
}

}  // namespace

TEST_CASE("every shipped kernel, cut along any of its tile dimensions, still agrees with its formula", "[core]") {
  int cuts = 0;
  for (const LibraryEntry& entry : list_library(Shelf::Kernels)) {
    const Kernel kernel = shipped(entry.name);
    const auto sizes = parameter_scope(kernel, {}, true);
    REQUIRE(sizes);
    Scope small = *sizes;
    if (small.contains("HEADS")) small["HEADS"] = 1;
    for (const Param& param : kernel.params)
      for (const std::int64_t factor : {2, 4}) {
        const bool dimension = std::any_of(kernel.values.begin(), kernel.values.end(), [&](const TileValue& v) {
          return std::any_of(v.shape.begin(), v.shape.end(), [&](const Expr& e) { return e.text() == param.name; });
        });
        if (!dimension) continue;
        const Kernel parts = cut(kernel, param.name, factor, small);
        CHECK(parts.name == fmt::format("{}[{}/{}]", kernel.name, param.name, factor));
        CHECK(parts.body.size() > kernel.body.size());
        const auto report = evaluate(parts, small);
        INFO(parts.name << (report ? "" : to_string(report.error())));
        REQUIRE(report);
        CHECK(report->pass);
        ++cuts;
      }
  }
  CHECK(cuts >= 20);
}

TEST_CASE("cutting rows changes no bit of the result", "[core]") {
  for (const char* name : {"attention_forward_tile_hopper", "attention_forward_tile_blackwell"}) {
    const Kernel kernel = shipped(name);
    const auto small = parameter_scope(kernel, {{"HEADS", 1}, {"KV_LEN", 256}}, true);
    for (const std::int64_t factor : {1, 2, 4, 8}) CHECK(difference(kernel, cut(kernel, "Q_ROWS", factor), *small) == 0);
  }
}

TEST_CASE("two cuts of two dimensions compose", "[core]") {
  const Kernel kernel = shipped("attention_forward_tile_blackwell");
  const auto report = evaluate(cut(cut(kernel, "Q_ROWS", 2), "KV", 2), {{"HEADS", 1}, {"KV_LEN", 512}});
  REQUIRE(report);
  CHECK(report->pass);
  const auto again = evaluate(cut(cut(kernel, "Q_ROWS", 2), "Q_ROWS", 2), {{"HEADS", 1}, {"KV_LEN", 512}});
  REQUIRE(again);
  CHECK(again->pass);
}

TEST_CASE("two sub-tiles are the problem that the hand-written kernels state", "[core]") {
  const auto same = [](const char* tile, const char* hand, const char* where, const Scope& tile_params, const Scope& hand_params) {
    const auto made = resolve(cut(shipped(tile), "Q_ROWS", 2, tile_params), machine(where), tile_params);
    const auto written = resolve(shipped(hand), machine(where), hand_params);
    REQUIRE(made);
    REQUIRE(written);
    CHECK(described(*made) == described(*written));
  };
  same("attention_forward_tile_hopper", "attention_forward_hopper", "h100", {}, {});
  same("attention_forward_tile_hopper", "attention_forward_hopper", "h100", {{"KV", 176}}, {{"KV", 176}});
  same("attention_forward_tile_blackwell", "attention_forward_blackwell", "b200", {{"Q_ROWS", 256}}, {});
}

TEST_CASE("every kind of op is cut along rows and along columns without changing what is computed", "[core]") {
  const Kernel kernel = everything();
  const Scope scope{{"N", 48}, {"T", 8}, {"C", 12}};
  for (const auto& [param, factor] : {std::pair{"T", 2}, {"T", 4}, {"C", 2}, {"C", 3}, {"C", 4}}) {
    INFO(param << " in " << factor);
    CHECK(difference(kernel, cut(kernel, param, factor), scope) < 2e-5);
  }
  CHECK(difference(kernel, cut(cut(kernel, "T", 2), "C", 3), scope) < 2e-5);
}

TEST_CASE("a contraction becomes a chain that accumulates, in place in tensor memory", "[core]") {
  const Kernel kernel = cut(shipped("gemm_blackwell"), "TILE_K", 2);
  REQUIRE(kernel.body.size() == 6);
  const TileOp &first = kernel.body[4], &second = kernel.body[5];
  CHECK(first.name == "MMA0");
  CHECK(first.inputs[2].value == "c");
  CHECK(first.inputs[2].distance == 1);
  CHECK(second.inputs[2].value == first.outputs[0]);
  CHECK(second.inputs[2].distance == 0);
  CHECK(second.outputs[0] == "c");
  CHECK(kernel.find_value(first.outputs[0])->alias_of == "c");
  CHECK(kernel.body[1].at[1].text() == "i*TILE_K + TILE_K/2");
  const auto problem = resolve(kernel, machine("b200"));
  REQUIRE(problem);
  CHECK(problem->resident_columns == 256);
}

TEST_CASE("what is ordered stays ordered", "[core]") {
  Kernel kernel = everything();
  kernel.order = {{"minus", "weigh", {}, 0}, {"load_b", "keep", {}, 0}, {"keep", "add_x", {}, 1}, {"product", "keep", {}, 0}};
  const Kernel parts = cut(kernel, "T", 2);
  std::set<std::pair<std::string, std::string>> pairs;
  for (const OrderEdge& edge : parts.order) pairs.emplace(edge.from, edge.to);
  // On chip part by part; in global memory every part; add_x is shared by both parts here.
  CHECK(pairs == std::set<std::pair<std::string, std::string>>{{"minus0", "weigh0"},
                                                               {"minus1", "weigh1"},
                                                               {"load_b", "keep0"},
                                                               {"load_b", "keep1"},
                                                               {"keep0", "add_x"},
                                                               {"keep1", "add_x"},
                                                               {"product0", "keep0"},
                                                               {"product0", "keep1"},
                                                               {"product1", "keep0"},
                                                               {"product1", "keep1"}});
}

TEST_CASE("names of parts never meet names that exist", "[core]") {
  Kernel kernel = shipped("gemm_blackwell");
  op_named(kernel, "load_b").name = "MMA0";
  const Kernel parts = cut(kernel, "TILE_K", 2);
  std::set<std::string> names;
  for (const TileOp& op : parts.body) CHECK(names.insert(op.name).second);
}

TEST_CASE("what cannot be cut says why", "[core]") {
  const Kernel forward = shipped("attention_forward_hopper");
  check_says(faults_of(forward, "HEADS", 2), "is no tile dimension");
  check_says(faults_of(forward, "HEADS", 2), "tile sizes here: KV");
  check_says(faults_of(forward, "kv", 2), "did you mean 'KV'?");
  check_says(faults_of(forward, "KV", 3), "KV = 128, an extent of value 'k', does not divide into 3 equal sub-tiles");
  check_says(faults_of(forward, "KV", 0), "cannot be divided into 0 sub-tiles");
  check_says(faults_of(forward, "KV", 4000000000), "1 to 64 are possible");
  check_says(faults_of(shipped("toy_fig1"), "X", 2), "no parameter of this kernel is the size of a tile");
  CHECK(subtile(forward, {"KV", 3}, {{"KV", 192}}).ok());
  CHECK_FALSE(subtile(forward, {"KV", 2}, {{"KV", 63}}).ok());

  Kernel kernel = everything();
  op_named(kernel, "columns").attrs["mean"] = true;
  check_says(faults_of(kernel, "T", 2), "a mean of parts is not the mean");
  CHECK(subtile(kernel, {"C", 2}).ok());

  kernel = everything();
  op_named(kernel, "load_a").cost.emplace().latency = Expr(100);
  check_says(faults_of(kernel, "T", 2), "cost is given in numbers");

  kernel = everything();
  for (TileValue& v : kernel.values)
    if (v.name == "v") v.shape = {Expr(12)};
  check_says(faults_of(kernel, "C", 2), "dimension 0 of 'v' is 12, which does not mention it");

  kernel = everything();
  for (TileValue& v : kernel.values)
    if (v.name == "a") v.shape = {*Expr::parse("T"), *Expr::parse("T + C")};
  check_says(faults_of(kernel, "T", 2), "has 'T' in dimensions 0 and 1");

  kernel = everything();
  for (TileValue& v : kernel.values)
    if (v.name == "zero") v.alias_of = "v";
  check_says(faults_of(kernel, "T", 2), "shares storage with 'v', but only one of them has dimension 'T'");
}

TEST_CASE("kernels changed at random are cut or refused, and what is cut is as valid as what it was made of", "[core]") {
  constexpr std::uint64_t kSeed = 20260301;
  INFO("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::vector<Kernel> originals{everything(), shipped("attention_forward_tile_blackwell"), shipped("gemm_hopper")};
  const std::vector<std::string> extents{"T", "C", "T*2", "C/2", "T + C", "N", "4", "1"};
  const std::vector<std::string> kinds{"copy", "exp2", "convert", "smem_store", "broadcast", "fill"};
  int tried = 0, made = 0, executed = 0;
  for (int i = 0; i < 1200; ++i) {
    Kernel kernel = originals[below(originals.size())];
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      TileOp& op = kernel.body[below(kernel.body.size())];
      TileValue& value = kernel.values[below(kernel.values.size())];
      switch (below(6)) {
        case 0:
          if (!op.inputs.empty()) op.inputs[below(op.inputs.size())].value = value.name;
          break;
        case 1:
          if (!value.shape.empty()) value.shape[below(value.shape.size())] = *Expr::parse(extents[below(extents.size())]);
          break;
        case 2: value.shape.emplace_back(*Expr::parse(extents[below(extents.size())])); break;
        case 3:
          if (!value.shape.empty()) value.shape.pop_back();
          break;
        case 4: op.kind = kinds[below(kinds.size())]; break;
        case 5: op.attrs["axis"] = static_cast<std::int64_t>(below(3)); break;
      }
    }
    if (!validate(kernel).empty()) continue;
    for (const Param& param : kernel.params)
      for (const std::int64_t factor : {2, 4}) {
        ++tried;
        const auto parts = subtile(kernel, {param.name, factor});
        if (!parts) {
          if (parts.error().faults.empty()) FAIL("an error without a fault for:\n" << kernel_text(kernel));
          continue;
        }
        ++made;
        const auto faults = validate(*parts);
        if (!faults.empty()) FAIL(to_string(faults.front()) << "\nafter cutting " << param.name << " of:\n" << kernel_text(kernel));
        // What runs, runs to the same result.
        if (kernel.name != "everything") continue;
        const Scope scope{{"N", 24}, {"T", 8}, {"C", 12}};
        auto before = make_tensors(kernel, scope, 3), after = make_tensors(*parts, scope, 3);
        if (!before || !after || !execute(kernel, scope, *before)) continue;
        const auto count = execute(*parts, scope, *after);
        if (!count) FAIL(to_string(count.error()) << "\nafter cutting " << param.name << " of:\n" << kernel_text(kernel));
        ++executed;
        for (const auto& [name, tensor] : *before)
          for (std::size_t e = 0; e < tensor.array.data.size(); ++e) {
            const float a = tensor.array.data[e], b = after->at(name).array.data[e];
            const float room = 1e-3f * (1 + std::fabs(a));
            if (std::isfinite(a) && !(std::fabs(a - b) <= room))
              FAIL(name << " differs after cutting " << param.name << " in " << factor << ": " << a << ", " << b << "\n"
                        << kernel_text(kernel));
          }
      }
  }
  CAPTURE(tried, made, executed);
  CHECK(made > 120);
  CHECK(executed > 20);
}

TEST_CASE("a cut is written after a name and read back, in order; what only looks like one is none", "[core]") {
  const CutName twice = split_cuts("k.json[A/2][B/3]");
  CHECK(twice.kernel == "k.json");
  REQUIRE(twice.cuts.size() == 2);
  CHECK("k.json" + cut_suffix(twice.cuts[0]) + cut_suffix(twice.cuts[1]) == "k.json[A/2][B/3]");
  CHECK((twice.cuts[0].param == "A" && twice.cuts[1].param == "B" && twice.cuts[1].factor == 3));
  for (const char* odd : {"k", "k]", "k[]", "k[A]", "k[A/]", "k[/2]", "k[A/x]", "k[A/2", "[", "]", ""}) CHECK(split_cuts(odd).cuts.empty());
}
