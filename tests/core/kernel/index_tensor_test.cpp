// Index tensors: what they hold, who may look them up, what look-ups give, and every way in which that can be wrong.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "core/base/expr.h"
#include "core/base/random.h"
#include "core/formats/kernel_json.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/index_data.h"
#include "core/kernel/structure.h"
#include "core/kernel/validate.h"
#include "core/library/library.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

Scope scope_of(std::vector<std::int64_t> shape, std::vector<std::int32_t> values, Scope scope = {}) {
  auto tables = std::make_shared<IndexTables>();
  (*tables)["t"] = {std::move(shape), std::make_shared<const std::vector<std::int32_t>>(std::move(values))};
  scope.tables = std::move(tables);
  return scope;
}

Result<std::int64_t> value_of(const std::string& text, const Scope& scope) { return Expr::parse(text)->evaluate(scope); }

std::vector<std::int32_t> made(const std::string& rule, std::map<std::string, std::int64_t> arguments, const std::string& part) {
  const auto numbers = make_structure(rule, arguments, part);
  if (!numbers) FAIL(to_string(numbers.error()));
  return *numbers;
}

/// A kernel that copies rows of a tensor, as its index tensor says.
std::string copying(const std::string& index, const std::string& trips = "2") {
  return R"({"schema": "heddle.kernel/1", "name": "copying",
    "params": [{"name": "ROWS", "value": 4}],
    "tensors": [)" +
         index + R"(,
      {"name": "X", "dtype": "f32", "shape": ["ROWS*2", 8], "role": "input"}, {"name": "Y", "dtype": "f32", "shape": ["ROWS", 8], "role": "output"}],
    "grid": [{"name": "b", "size": "ROWS"}],
    "loop": {"variable": "i", "trips": 3, "tile_trips": ")" +
         trips + R"("},
    "values": [{"name": "x", "dtype": "f32", "shape": [1, 8], "space": "register"}, {"name": "s", "dtype": "f32", "shape": [1, 8], "space": "register"}],
    "prologue": [{"name": "zero", "kind": "fill", "out": ["s"], "attrs": {"value": "0"}}],
    "body": [{"name": "load", "kind": "load", "tensor": "X", "at": ["t[b]", 0], "out": ["x"]},
             {"name": "add", "kind": "elementwise", "in": ["s[-1]", "x"], "out": ["s"], "attrs": {"fn": "add"}}],
    "epilogue": [{"name": "store", "kind": "store", "in": ["s"], "tensor": "Y", "at": ["b", 0]}]})";
}
std::string index_tensor(const std::string& more) {
  return R"({"name": "t", "dtype": "i32", "shape": ["ROWS"], "role": "index", )" + more + "}";
}

std::string faults_of(const std::string& text) {
  const auto kernel = parse_kernel(text, "copying.json");
  if (!kernel) return to_string(kernel.error());
  const auto report = evaluate(*kernel);
  return report ? "" : to_string(report.error());
}

}  // namespace

TEST_CASE("a look-up is a number of its table, in any expression", "[core]") {
  const Scope scope = scope_of({2, 3}, {5, 7, -1, 11, 13, 17}, {{"b", 1}});
  CHECK(*value_of("t[b, 2 - 1] * 64 + t[0, 0]", scope) == 13 * 64 + 5);
  CHECK(*value_of("t[t[0, 2] + b, 0]", scope) == 5);      // nested
  CHECK(*value_of("if(b < 1, t[9, 9], 3)", scope) == 3);  // what is not taken is not looked up
  CHECK(Expr::parse("t[b, c] + u[d]")->names() == std::vector<std::string>{"b", "c", "d"});
  CHECK(Expr::parse("t[b, c] + u[d]")->tables() == std::vector<std::string>{"t", "u"});
}

TEST_CASE("a store leaves the rows alone that are not before its end, which may be looked up", "[core]") {
  std::string text = copying(index_tensor(R"("data": [1, 3, 4, 4], "below": 5)"));
  const auto with = [&](const std::string& attributes) {
    std::string with = text;
    const std::string store = R"("kind": "store", )";
    with.replace(with.find(store), store.size(), store + "\"attrs\": {\"before\": " + attributes + "}, ");
    return with;
  };
  const Kernel kernel = *parse_kernel(with("\"t[1] - 1\""), "copying.json");  // of four tiles of one row the first two
  const Scope scope = *parameter_scope(kernel, {}, false);
  TensorMap tensors = *make_tensors(kernel, scope, 1), all = tensors;
  REQUIRE(execute(kernel, scope, tensors).ok());
  REQUIRE(execute(*parse_kernel(text, "copying.json"), scope, all).ok());
  for (std::size_t i = 0; i < 32; ++i) {
    const float stored = tensors.at("Y").array.data[i];
    CHECK((i < 16 ? stored == all.at("Y").array.data[i] : std::isnan(stored)));
  }
  CHECK(faults_of(with("true")).find("expected an expression in quotes") != std::string::npos);
  CHECK(faults_of(with("\"t[1\"")).find("/epilogue/0/attrs/before") != std::string::npos);
  CHECK(faults_of(with("\"u[1] + n\"")).find("unknown index tensor 'u'") != std::string::npos);
  CHECK(faults_of(with("\"u[1] + n\"")).find("unknown name 'n'") != std::string::npos);
  CHECK(faults_of(with("\"t[9]\"")).find("/epilogue/0/attrs/before") != std::string::npos);
}

TEST_CASE("look-ups outside of a table, and of no table, are errors", "[core]") {
  const Scope scope = scope_of({2, 3}, {5, 7, -1, 11, 13, 17}, {{"b", 1}});
  CHECK(to_string(value_of("t[b, 3]", scope).error()).find("subscript 1 of index tensor 't' is 3, expected 0 to 2") != std::string::npos);
  CHECK(to_string(value_of("t[0 - b, 0]", scope).error()).find("is -1, expected 0 to 1") != std::string::npos);
  CHECK(to_string(value_of("t[0]", scope).error()).find("has 2 dimensions") != std::string::npos);
  CHECK(to_string(value_of("tt[0, 0]", scope).error()).find("did you mean 't'") != std::string::npos);
  CHECK_FALSE(value_of("t[0, 0]", {}).ok());
  for (const char* text : {"t[", "t[]", "t[1", "t[1,]", "t[1)", "t[1]]"}) CHECK_FALSE(Expr::parse(text).ok());
}

TEST_CASE("a bound expression gives what the expression gives, and nothing where that is an error", "[core]") {
  const Scope scope = scope_of({5}, {2, 0, 4, -1, 3}, {{"N", 3}});
  for (const char* text : {"t[b] * N + i", "if(i < t[b], t[i], 0 - 1) * 64", "max(t[b], i, 2) % N", "-t[b] / 2", "ceil_div(i, t[b])",
                           "cbrt(i + 30)", "min(b)", "t[t[b]]", "missing + b", "(b < i) + (b == i) * 2 + (b != i) * 4 + (b >= i)"}) {
    const Expr expr = *Expr::parse(text);
    const BoundExpr bound(expr, scope, {"b", "i"});
    for (std::int64_t b = -1; b < 6; ++b)
      for (std::int64_t i = -1; i < 6; ++i) {
        Scope here = scope;
        here["b"] = b, here["i"] = i;
        const auto slow = expr.evaluate(here);
        const auto fast = bound.evaluate(std::vector<std::int64_t>{b, i});
        INFO(text << " b " << b << " i " << i);
        CHECK(fast.has_value() == slow.ok());
        if (fast && slow) CHECK(*fast == *slow);
      }
  }
}

TEST_CASE("a divisor of an expression divides all of its values", "[core]") {
  const Scope scope = scope_of({4}, {6, 12, 0, 18}, {{"N", 8}});
  const auto divisor = [&](const char* text) { return Expr::parse(text)->divisor(scope, {"b"}); };
  CHECK(divisor("b * 64 + N") == 8);
  CHECK(divisor("t[b] * 8") == 48);
  CHECK(divisor("if(b < 2, t[b], -1) * 64") == 64);
  CHECK(divisor("b * 64 / 16") == 4);
  CHECK(divisor("min(b * 12, 18)") == 6);
  CHECK(divisor("0 * b") == 0);
}

TEST_CASE("structures have the rows that their papers and their names say", "[core]") {
  // Longformer, window 64, one global token: the published counts for 512 and 4096; those in between (127 038 and 257 598) follow from no
  // window and no number of globals, and are left out.
  CHECK(made("longformer", {{"rows", 512}}, "colidx").size() == 62782);
  CHECK(made("longformer", {{"rows", 4096}}, "colidx").size() == 532286);
  // BigBird of 1024 positions, as generated by others: 86.5, 73.9 and about 52 % sparse in blocks of 16, 32 and 64.
  for (const auto& [rows, sparse] : {std::pair{64, 86.5}, {32, 73.9}, {16, 52.0}}) {
    double mean = 0;
    for (int seed = 1; seed <= 32; ++seed)
      mean += static_cast<double>(made("bigbird", {{"rows", rows}, {"seed", seed}}, "colidx").size()) / 32;
    INFO(rows);
    CHECK(std::abs(100 * (1 - mean / (rows * rows)) - sparse) < 0.5);
  }
  CHECK(made("causal", {{"rows", 3}, {"cols", 4}}, "rowptr") == std::vector<std::int32_t>{0, 2, 5, 9});
  CHECK(made("banded", {{"rows", 4}, {"below", 1}, {"above", 0}}, "colidx") == std::vector<std::int32_t>{0, 0, 1, 1, 2, 2, 3});
  CHECK(made("banded", {{"rows", 4}, {"below", 1}, {"above", 0}}, "rows") == std::vector<std::int32_t>{0, 1, 1, 2, 2, 3, 3});
  CHECK(made("causal", {{"rows", 3}}, "order") == std::vector<std::int32_t>{2, 1, 0});
  for (const char* rule : {"uniform", "powerlaw", "zipf"}) {
    std::map<std::string, std::int64_t> arguments{{"rows", 50}, {"cols", 40}, {"seed", 3}};
    arguments[std::string(rule) == "powerlaw" ? "mean" : "each"] = 6;
    const auto rowptr = made(rule, arguments, "rowptr"), colidx = made(rule, arguments, "colidx"),
               lengths = made(rule, arguments, "lengths");
    REQUIRE(rowptr.size() == 51);
    REQUIRE(colidx.size() == static_cast<std::size_t>(rowptr.back()));
    for (std::size_t row = 0; row < 50; ++row) {
      CHECK(lengths[row] == rowptr[row + 1] - rowptr[row]);
      const std::set<std::int32_t> columns(colidx.begin() + rowptr[row], colidx.begin() + rowptr[row + 1]);
      if (std::string(rule) != "zipf") CHECK(static_cast<std::int32_t>(columns.size()) == lengths[row]);
      for (const std::int32_t c : columns) CHECK((c >= 0 && c < 40));
    }
    arguments["seed"] = 4;
    CHECK(made(rule, arguments, "colidx") != colidx);
  }
  for (const std::int64_t total : {0, 1, 137, 399, 400}) {
    const auto lengths = made("shares", {{"rows", 10}, {"cols", 40}, {"total", total}, {"seed", 5}}, "lengths");
    CHECK(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) == total);
    CHECK(std::all_of(lengths.begin(), lengths.end(), [](std::int32_t length) { return length >= 0 && length <= 40; }));
  }
  CHECK(made("shares", {{"rows", 2}, {"cols", 3}, {"total", 6}}, "colidx") == std::vector<std::int32_t>{0, 1, 2, 0, 1, 2});
  CHECK_FALSE(make_structure("shares", {{"rows", 2}, {"cols", 3}, {"total", 7}}, "rowptr").ok());
  const auto popular = made("zipf", {{"rows", 1000}, {"cols", 1000}, {"each", 10}}, "colidx");
  CHECK(std::count(popular.begin(), popular.end(), 0) > 20 * std::count(popular.begin(), popular.end(), 100));

  // A draw is the first column at which the weights, summed up, reach it.
  for (const std::int64_t columns : {1, 2, 7, 1000})
    for (const std::int64_t skew : {0, 50, 100, 300, 10'000}) {
      std::vector<double> weights;
      for (std::int64_t c = 0; c < columns; ++c)
        weights.push_back((c ? weights.back() : 0.0) + std::pow(static_cast<double>(c + 1), -static_cast<double>(skew) / 100));
      const auto drawn = made("zipf", {{"rows", 3}, {"cols", columns}, {"each", 200}, {"skew", skew}, {"seed", 5}}, "colidx");
      std::size_t next = 0, wrong = 0;
      for (std::uint64_t row = 0; row < 3; ++row) {
        SplitMix64 random(5 * 0xd1342543de82ef95ull + row);
        for (int k = 0; k < 200; ++k) {
          const double sum = static_cast<double>((random.next() >> 11) + 1) * 0x1p-53 * weights.back();
          wrong += drawn[next++] != std::lower_bound(weights.begin(), weights.end(), sum) - weights.begin();
        }
      }
      INFO(columns << " columns, skew " << skew);
      CHECK(wrong == 0);
    }
}

TEST_CASE("a structure that cannot be made says everything that is wrong, and reserves nothing", "[core]") {
  const auto fault = [](const char* rule, std::map<std::string, std::int64_t> arguments, const char* part) {
    return to_string(make_structure(rule, arguments, part).error());
  };
  CHECK(fault("bigbrid", {}, "colidx").find("did you mean 'bigbird'") != std::string::npos);
  const std::string all = fault("uniform", {{"rows", 0}, {"eich", 3}}, "columns");
  for (const char* part : {"no part 'columns'", "did you mean 'each'", "needs the argument 'each'", "rows of uniform is 0"})
    CHECK(all.find(part) != std::string::npos);
  CHECK(fault("causal", {{"rows", 1 << 20}}, "colidx").find("at most 67108864 are made") != std::string::npos);
  CHECK(fault("uniform", {{"rows", 1 << 30}, {"cols", 1 << 30}, {"each", 1 << 30}}, "colidx").find("at most") != std::string::npos);
  CHECK(fault("zipf", {{"rows", 1}, {"cols", 1 << 30}, {"each", 1}}, "colidx").find("cols of zipf is 1073741824") != std::string::npos);
  CHECK(fault("uniform", {{"rows", 4}, {"cols", 4}, {"each", 5}}, "colidx").find("each of uniform is 5, expected 0 to 4") !=
        std::string::npos);
}

TEST_CASE("a kernel reads what its index tensor says, and zeros at -1", "[core]") {
  const auto kernel = parse_kernel(copying(index_tensor(R"("data": [6, -1, 0, 6], "below": "ROWS*2")"), "t[b] / 3"), "copying.json");
  REQUIRE(kernel.ok());
  CHECK(parse_kernel(kernel_text(*kernel), "again.json").ok());
  Scope scope = *parameter_scope(*kernel, {}, true);
  auto tensors = make_tensors(*kernel, scope, 1);
  REQUIRE(tensors.ok());
  Kernel twice = *kernel;
  twice.loop.tile_trips = *Expr::parse("if(t[b] < 0, 1, t[b] / 3)");
  REQUIRE(execute(twice, scope, *tensors).ok());
  const auto& x = tensors->at("X").array.data;
  const auto& y = tensors->at("Y").array.data;
  for (std::size_t c = 0; c < 8; ++c) {
    CHECK(y[c] == 2 * x[6 * 8 + c]);
    CHECK(y[8 + c] == 0);
    CHECK(y[16 + c] == 0);  // no trips
    CHECK(y[24 + c] == y[c]);
  }
  CHECK(faults_of(copying(index_tensor(R"("data": [6, -1, 0, 6])"), "t[b] / 3")).find("is -1 here; the loop has 0 to 3 trips") !=
        std::string::npos);
}

TEST_CASE("everything that can be wrong with an index tensor is said with its place", "[core]") {
  const auto says = [](const std::string& text, const char* what) {
    const std::string faults = faults_of(text);
    INFO(faults);
    CHECK(faults.find(what) != std::string::npos);
  };
  says(copying(index_tensor(R"("data": [0, 1, 2])")), "/tensors/0/data: index tensor 't' has 4 numbers by its shape, found 3");
  says(copying(index_tensor(R"("data": [0, 9, 2, 12], "below": "ROWS*2")")),
       "number 1 of 't' is 9, expected -1 (nothing) to 7; 2 are outside in all");
  says(copying(index_tensor(R"("data": [0, 3, 2, 1], "rising": true)")),
       "number 2 of 't' is 2 after 3, and its numbers may not fall; they do 2 times");
  says(copying(index_tensor(R"("data": "causal(rows=ROWS")")), "expected GENERATOR(NAME=VALUE, ...).PART");
  says(copying(index_tensor(R"("data": "causal(rows=ROWS).lenghts")")), "did you mean 'lengths'");
  says(copying(index_tensor(R"("data": "causal(rows=RWS).lengths")")), "unknown name 'RWS'");
  says(copying(index_tensor(R"("data": "missing.i32")")), "missing.i32");
  says(copying(R"({"name": "t", "dtype": "f32", "shape": ["ROWS"], "role": "index", "data": [0, 0, 0, 0]})"), "index tensors are of i32");
  says(copying(R"({"name": "t", "dtype": "i32", "shape": ["ROWS"], "role": "index"})"), "needs \"data\"");
  says(copying(R"({"name": "t", "dtype": "i32", "shape": ["ROWS"], "role": "input", "data": [0, 0, 0, 0]})"), "'t' is no index tensor");
  says(copying(R"({"name": "t", "dtype": "i32", "shape": ["t[0]"], "role": "index", "data": [0, 0, 0, 0]})"),
       "a tensor's size looks up what stands before it");
  says(copying(index_tensor(R"("data": [0, 0, 0, 0])"), "X[b]"), "looks up 'X', whose role is not index");
  std::string in_cost = copying(index_tensor(R"("data": [0, 0, 0, 0])"));
  in_cost.replace(in_cost.find("\"shape\": [1, 8]"), 15, "\"shape\": [\"t[0]\", 8]");
  says(in_cost, "this number may not depend on data");
}

TEST_CASE("a file of indices has as many bytes as its tensor, or nothing of it is read", "[core]") {
  const auto folder = std::filesystem::temp_directory_path() / "heddle_index_tensor_test";
  std::filesystem::create_directories(folder / "folder.i32");
  const auto write = [&](const char* name, std::vector<std::int32_t> numbers, std::size_t bytes) {
    std::ofstream(folder / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(bytes));
  };
  write("good.i32", {3, 1, 4, 1}, 16);
  write("short.i32", {3, 1, 4, 1}, 15);
  write("long.i32", {3, 1, 4, 1, 5}, 20);
  const auto fault = [&](const char* name) {
    auto kernel = parse_kernel(copying(index_tensor(fmt::format("\"data\": \"{}\"", name))), (folder / "kernel.json").string());
    REQUIRE(kernel.ok());
    const auto scope = parameter_scope(*kernel, {}, true);
    return scope.ok() ? std::string() : to_string(scope.error());
  };
  CHECK(fault("good.i32").empty());
  CHECK(fault("short.i32").find("has 15 bytes; 4 numbers of 32 bits have 16 (it ends early)") != std::string::npos);
  CHECK(fault("long.i32").find("has 20 bytes") != std::string::npos);
  CHECK(fault("folder.i32").find("folder") != std::string::npos);
  CHECK_FALSE(fault("none.i32").empty());
  std::filesystem::remove_all(folder);
}

TEST_CASE("a gather without an index looks every row up, where `row` is the row of the tile", "[core]") {
  const auto gathering = [](const std::string& at, const std::string& param = "N") {
    return R"({"schema": "heddle.kernel/1", "name": "gathering", "reference": "Y = 3 * X",
      "params": [{"name": ")" +
           param + R"(", "value": 4}],
      "tensors": [{"name": "t", "dtype": "i32", "shape": [4], "role": "index", "data": [3, -1, 0, 3], "below": 4},
        {"name": "X", "dtype": "f32", "shape": [4, 8], "role": "input"}, {"name": "Y", "dtype": "f32", "shape": [4, 8], "role": "output"}],
      "grid": [{"name": "b", "size": 1}], "loop": {"variable": "i", "trips": 3},
      "values": [{"name": "x", "dtype": "f32", "shape": [4, 8], "space": "smem"}, {"name": "s", "dtype": "f32", "shape": [4, 8], "space": "register"}],
      "prologue": [{"name": "zero", "kind": "fill", "out": ["s"], "attrs": {"value": "0"}}],
      "body": [{"name": "fetch", "kind": "gather", "tensor": "X", "at": [")" +
           at + R"(", 0], "out": ["x"]},
               {"name": "add", "kind": "elementwise", "in": ["s[-1]", "x"], "out": ["s"], "attrs": {"fn": "add"}}],
      "epilogue": [{"name": "store", "kind": "store", "in": ["s"], "tensor": "Y", "at": ["b", 0]}]})";
  };
  const auto passes = [&](const std::string& at) {
    const auto report = evaluate(*parse_kernel(gathering(at), "gathering.json"));
    if (!report) FAIL(to_string(report.error()));
    return report->pass;
  };
  CHECK(passes("row"));
  CHECK(passes("if(t[row] >= 0, row, row) + 0 * i"));
  CHECK_FALSE(passes("t[row]"));
  CHECK_FALSE(passes("row + 1"));
  CHECK(faults_of(gathering("rows")).find("/body/0/at/0: unknown name 'rows' in \"rows\" (did you mean 'row'?)") != std::string::npos);
  CHECK(
      faults_of(gathering("t[row + b]", "row")).find("'row' stands for the rows of the tile here, and /params/0/name has that name, too") !=
      std::string::npos);
  CHECK(faults_of(gathering("t[row + i]")).find("/body/0/at/0: subscript 0 of index tensor 't' is 4, expected 0 to 3") !=
        std::string::npos);
}

TEST_CASE("the four forms of an embedding bag compute one sum, of bags of any length", "[core]") {
  const std::vector<std::int64_t> rowptr{0, 0, 1, 7, 10}, colidx{4, 0, 0, 3, -1, 3, 2, 1, 4, 0};
  for (const char* name : {"embedding_bag_element_dae", "embedding_bag_vector_dae", "embedding_bag_row_dae", "embedding_bag_counted_dae",
                           "embedding_bag_hopper"}) {
    INFO(name);
    Kernel kernel = load_kernel(name).value();
    for (Tensor& tensor : kernel.tensors) {
      if (tensor.name == "rowptr") tensor.data = IndexData{"", std::nullopt, rowptr};
      if (tensor.name == "colidx") tensor.data = IndexData{"", std::nullopt, colidx};
    }
    const auto report = evaluate(kernel, {{"BAGS", 4}, {"ROWS", 5}, {"EACH", 6}});
    if (!report) FAIL(to_string(report.error()));
    CHECK(report->pass);
  }
}
