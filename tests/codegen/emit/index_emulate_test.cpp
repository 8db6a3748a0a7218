// Kernels whose coordinates and trips are looked up: their text, run on the CPU, against heddle eval, on structures of every shape.
#include <catch2/catch.hpp>
#include <random>

#include <fmt/format.h>

#include "codegen/emit/emit.h"
#include "codegen/interpret/interpret.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/index_data.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/emulation.h"
#include "tests/support/paths.h"

using namespace heddle;
using test::run_text;

namespace {

using Lists = std::vector<std::vector<std::int64_t>>;

void set_data(Kernel& kernel, const std::string& tensor, std::vector<std::int64_t> numbers) {
  for (Tensor& t : kernel.tensors)
    if (t.name == tensor) t.data = IndexData{"", std::nullopt, std::move(numbers)};
}

/// The kernel with these rows in rowptr and colidx.
test::Lowering with_rows(const std::string& name, const Scope& sizes, const Lists& rows, const std::string& schedule = {}) {
  test::Lowering from = schedule.empty() ? test::lowering(name, sizes) : test::lowering(name, sizes, schedule);
  std::vector<std::int64_t> rowptr{0}, colidx;
  for (const auto& row : rows) {
    colidx.insert(colidx.end(), row.begin(), row.end());
    rowptr.push_back(static_cast<std::int64_t>(colidx.size()));
  }
  if (colidx.empty()) colidx.push_back(-1);
  set_data(from.kernel, "rowptr", rowptr);
  set_data(from.kernel, "colidx", colidx);
  Scope given;
  for (const auto& [key, value] : from.problem.params) given[key] = value;
  const auto problem = resolve(from.kernel, *load_machine(test::repository_path("assets/machines/h100.json")), given);
  if (!problem) FAIL(to_string(problem.error()));
  from.problem = *problem;
  return from;
}

/// Rows of up to `most` entries in any order, with repeats, some of them empty and one long.
Lists random_rows(std::size_t rows, std::int64_t columns, std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  Lists lists(rows);
  for (auto& row : lists)
    for (std::size_t left = random() % (most / 2 + 1); left > 0; --left)
      row.push_back(static_cast<std::int64_t>(random() % static_cast<unsigned>(columns)));
  lists[random() % rows].clear();
  auto& longest = lists[random() % rows];
  while (longest.size() < most) longest.push_back(static_cast<std::int64_t>(random() % static_cast<unsigned>(columns)));
  return lists;
}

double eval_error(const test::Lowering& from) {
  Scope given;
  for (const auto& [key, value] : from.problem.params) given[key] = value;
  const auto report = evaluate(from.kernel, given);
  if (!report) FAIL(to_string(report.error()));
  CHECK(report->pass);
  return report->tensors.back().rms_error;
}

}  // namespace

TEST_CASE("the text of a sparse product computes what heddle eval computes, whatever its rows", "[codegen][.slow]") {
  const Scope sizes{{"ROWS", 4}, {"COLUMNS", 7}, {"N", 264}};
  CHECK(run_text("spmm_bsr_hopper", sizes, 2) == 0);
  CHECK(run_text(with_rows("spmm_bsr_hopper", sizes, {{}, {}, {}, {}}), 3) == 0);
  CHECK(run_text(with_rows("spmm_bsr_hopper", sizes, {{3}, {6, 6, 0, 2, 1, 5, 4}, {}, {5, -1, 2}}), 1) == 0);
  for (const unsigned seed : {1u, 2u, 3u}) {
    INFO("seed " << seed);
    const test::Lowering from = with_rows("spmm_bsr_hopper", sizes, random_rows(4, 7, 7, seed));
    eval_error(from);
    CHECK(run_text(from, 2) == 0);
  }
}

TEST_CASE("the text of block-sparse attention computes what heddle eval computes, whatever its rows", "[codegen][.slow]") {
  const Scope sizes{{"HEADS", 2}, {"Q_LEN", 512}, {"KV_LEN", 640}};
  CHECK(run_text("attention_block_sparse_hopper", sizes, 3) < 4e-3);
  for (const unsigned seed : {1u, 2u}) {
    INFO("seed " << seed);
    const test::Lowering from = with_rows("attention_block_sparse_hopper", sizes, random_rows(4, 5, 5, seed));
    eval_error(from);
    CHECK(run_text(from, 2) < 4e-3);
  }
  CHECK(run_text(with_rows("attention_block_sparse_hopper", sizes, {{}, {4}, {0, 0, 0, 0, 0}, {-1, 2}}), 3) < 4e-3);
}

TEST_CASE("the texts of paged attention and of grouped products compute what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_text("attention_paged_hopper", {{"SEQS", 3}, {"HEADS", 2}, {"PAGES", 24}, {"MOST", 5}}, 2) < 4e-3);
  CHECK(run_text("attention_paged_hopper", {{"SEQS", 4}, {"HEADS", 1}, {"PAGES", 16}, {"MOST", 6}, {"PAGE", 64}}, 1) < 4e-3);
  CHECK(run_text("gemm_grouped_hopper", {{"EXPERTS", 5}, {"TILES", 1}, {"N", 264}, {"K", 192}}, 3) == 0);
}

TEST_CASE("the text of an embedding bag computes what heddle eval computes, whatever its bags", "[codegen][.slow]") {
  const Scope sizes{{"BAGS", 19}, {"ROWS", 11}, {"EACH", 9}};
  CHECK(run_text("embedding_bag_hopper", sizes, 2) == 0);
  CHECK(run_text(with_rows("embedding_bag_hopper", sizes, Lists(19)), 3) == 0);
  for (const unsigned seed : {1u, 2u, 3u}) {
    INFO("seed " << seed);
    Lists bags = random_rows(19, 11, 9, seed);
    bags[seed] = {-1, 10, 10, 0};
    const test::Lowering from = with_rows("embedding_bag_hopper", sizes, bags);
    eval_error(from);
    CHECK(run_text(from, static_cast<int>(seed)) == 0);
  }
  const test::Lowering wide = with_rows("embedding_bag_hopper", {{"BAGS", 3}, {"ROWS", 5}, {"EACH", 4}, {"DIM", 512}},
                                        {{}, {4, 4, 4, 4}, {-1, 2}}, "tests/schedules/embedding_bag_512_h100.json");
  CHECK(run_text(wide, 1) == 0);
}

TEST_CASE("the text of a product of listed rows computes what heddle eval computes, whatever its list", "[codegen][.slow]") {
  const Scope sizes{{"BLOCKS", 2}, {"M", 100}, {"N", 264}, {"K", 136}};
  CHECK(run_text("gemm_gather_hopper", sizes, 2) == 0);
  test::Lowering from = test::lowering("gemm_gather_hopper", sizes);
  std::vector<std::int64_t> rows;
  std::mt19937 random(1);
  for (int i = 0; i < 256; ++i) rows.push_back(i % 7 == 3 ? -1 : static_cast<std::int64_t>(random() % 100) * (i % 3 > 0));
  set_data(from.kernel, "Rows", rows);
  eval_error(from);
  CHECK(run_text(from, 3) == 0);
}

TEST_CASE("programs on lists of every shape survive interleavings and compute what heddle eval computes", "[codegen]") {
  const auto survives = [](const test::Lowering& from, std::int64_t tiles) {
    Scope given;
    for (const auto& [key, value] : from.problem.params) given[key] = value;
    Scope scope = *parameter_scope(from.kernel, given, false);
    const TensorMap inputs = *make_tensors(from.kernel, scope, 1);
    TensorMap expected = inputs;
    REQUIRE(execute(from.kernel, scope, expected).ok());
    const codegen::Program program = test::program_of(from);
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      TensorMap tensors = inputs;
      const auto fault = codegen::run_with_data(from.kernel, program, tensors, {.seed = seed, .tiles = tiles});
      REQUIRE(fault.ok());
      if (*fault) FAIL(to_string(**fault));
      const auto& written = from.kernel.tensors;
      for (const Tensor& tensor : written)
        if (is_written(tensor.role)) CHECK(tensors.at(tensor.name).array.data == expected.at(tensor.name).array.data);
    }
  };
  for (const unsigned seed : {11u, 12u, 13u}) {
    INFO("seed " << seed);
    survives(with_rows("spmm_bsr_hopper", {{"ROWS", 3}, {"COLUMNS", 6}, {"N", 256}}, random_rows(3, 6, 6, seed)), 3);
  }
  survives(with_rows("spmm_bsr_hopper", {{"ROWS", 3}, {"COLUMNS", 6}, {"N", 256}}, {{}, {5, -1, 5, 0, 1, 3}, {}}), 3);
}

TEST_CASE("texts that look up the wrong row of a bag, or put it elsewhere, do not compute its sum", "[codegen][.slow]") {
  const Scope sizes{{"BAGS", 19}, {"ROWS", 11}, {"EACH", 9}};
  const test::Lowering from = with_rows("embedding_bag_hopper", sizes, random_rows(19, 11, 9, 7));
  CHECK(run_text(from, 2, {"g_tile * 8 + r)", "g_tile * 8)"}) > 0.1);
  CHECK(run_text(from, 2, {"+ r * 512, &map0", "+ (r ^ 1) * 512, &map0"}) > 0.1);
  CHECK(run_text(from, 2, {"(i * 2 + 1) <", "(i * 2 + 2) <"}) > 0.01);
}

TEST_CASE("texts that look up the wrong number, or too few, do not compute it", "[codegen][.slow]") {
  const Scope sizes{{"ROWS", 4}, {"COLUMNS", 7}, {"N", 264}};
  const test::Lowering from = with_rows("spmm_bsr_hopper", sizes, random_rows(4, 7, 7, 5));
  CHECK(run_text(from, 2, {"look_up(in1, n1 + i)", "look_up(in1, n1 + i / 2)"}) > 0.1);
  CHECK(run_text(from, 2, {"(i < (n0 - n1))", "(i < (n0 - n1) - 1)"}) > 0.1);
  CHECK(run_text(from, 2, {"look_up(in0, g_bm + 1)", "look_up(in0, g_bm)"}) > 0.1);
}

TEST_CASE("a coordinate that is looked up is one load in the producer, and trips are two", "[codegen]") {
  const test::Lowering from = test::lowering("spmm_bsr_hopper");
  const auto emitted = codegen::emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
  REQUIRE(emitted.emission);
  const std::string& text = emitted.emission->source;
  const auto count = [&](const std::string& what, std::size_t from_place = 0) {
    int found = 0;
    for (std::size_t at = text.find(what, from_place); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  const std::size_t body = text.find("extern \"C\"");
  CHECK(count("= look_up(in0, g_bm + 1)", body) == 3);  // the producer and two consumers
  CHECK(count("= look_up(in0, g_bm)", body) == 3);
  CHECK(count("look_up(in1", body) == 1);  // every step
}
