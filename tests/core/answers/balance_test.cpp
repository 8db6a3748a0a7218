// Ways to hand out tiles of different lengths, and what a kernel touches of tensors that it reads by look-ups.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/answers/balance.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/library/library.h"
#include "core/problem/costs.h"
#include "core/problem/resolve.h"
#include "core/problem/single_rows.h"
#include "core/simulate/balance_study.h"
#include "core/simulate/kernel_bound.h"
#include "core/simulate/touched.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

struct Case {
  Kernel kernel;
  Machine machine;
  Problem problem;
  Schedule schedule;

  Instance instance() const { return {spec_of(kernel, machine), problem}; }
};

Case case_of(const std::string& name, const Scope& params = {}) {
  Case c{*read_kernel(test::repository_path("kernels/" + name + ".json")),
         *read_machine(test::repository_path("assets/machines/h100.json")),
         {},
         {}};
  c.problem = *resolve(c.kernel, c.machine, params);
  c.schedule = *read_schedule(test::repository_path("tests/schedules/" + name + "_h100.json"), c.problem);
  return c;
}

KernelRun run(const Case& c, const KernelRunOptions& options = {}) { return run_kernel(c.instance(), c.schedule, options); }

}  // namespace

TEST_CASE("a study of balance has the block-iterations of BigBird and the cycles of every way", "[core]") {
  const Case c = case_of("attention_block_sparse_hopper");  // 64 rows of blocks, 12 heads
  const BalanceStudy study = balance_study(c.instance(), c.schedule, {});
  REQUIRE(study.fault == "");
  CHECK(study.tiles == 768);
  CHECK(study.best == Approx(50.4).margin(0.5));
  CHECK(study.rows[0].iterations == 99);
  CHECK(study.rows[1].iterations == 64);
  bool cut = false;
  for (const BalanceRow& row : study.rows) {
    INFO(row.name);
    CHECK(row.run.fault == "");
    CHECK(row.run.cycles > 0);
    CHECK(static_cast<double>(row.iterations) >= study.best);
    CHECK(row.name.find("added up") == std::string::npos);  // a softmax is no sum
    if (row.split != 16) continue;
    cut = true;
    CHECK(row.iterations <= 55);
    CHECK(row.run.pieces == 24 * 3);
    CHECK(row.run.merge_us > 0);
  }
  CHECK(cut);
  CHECK(study.rows[1].run.cycles < study.rows[0].run.cycles * 2 / 3);
  const std::string text = balance_summary(study, {});
  CHECK(text.find("768 tiles of 6 to 64 iterations") != std::string::npos);
  CHECK(balance_csv(study).find("longest first") != std::string::npos);
  const std::string svg = balance_svg(study, "a < b");
  CHECK(svg.find("a &lt; b") != std::string::npos);
  CHECK(std::string_view(svg).substr(svg.size() - 7) == "</svg>\n");
}

TEST_CASE("lanes have every tile once, one after the other", "[core]") {
  const Case c = case_of("spmm_bsr_hopper");
  KernelRunOptions options;
  options.lanes = true;
  options.longest_first = true;
  options.split = 32;
  const KernelRun cut = run(c, options);
  REQUIRE(cut.fault == "");
  std::int64_t tiles = 0, trips = 0;
  Cycle last = 0;
  for (const auto& lane : cut.lanes) {
    Cycle time = 0;
    for (const PlacedTile& tile : lane) {
      CHECK(tile.start == time);
      CHECK(tile.end > tile.start);
      time = tile.end, ++tiles, trips += tile.trips;
    }
    last = std::max(last, time);
  }
  CHECK(tiles == cut.tiles + cut.pieces);
  CHECK(trips == cut.all_trips);
  CHECK(last == cut.cycles);
  options.split = 0;
  options.longest_first = false;
  CHECK(cut.cycles < run(c, options).cycles);  // adding up costs less here than the grid's order does
  KernelRunOptions only_cut;
  only_cut.split = 32;
  CHECK(cut.cycles >= kernel_bound(c.instance(), compute_bounds(c.problem), only_cut).cycles);
}

TEST_CASE("pieces of a softmax are not added up, and tiles that are alike need no study", "[core]") {
  const Case c = case_of("attention_paged_hopper");
  KernelRunOptions options;
  options.split = 8;
  CHECK(run(c, options).fault.find("a second pass can join them") != std::string::npos);
  options.second_pass = true;
  CHECK(run(c, options).fault == "");
  const Case even = case_of("gemm_grouped_hopper");
  CHECK(balance_study(even.instance(), even.schedule, {}).fault.find("no order is better") != std::string::npos);
}

TEST_CASE("of a tensor that is looked up, DRAM brings what is touched", "[core]") {
  const Scope sizes{{"SEQS", 2}, {"HEADS", 2}, {"PAGES", 100}, {"MOST", 4}, {"PAGE", 64}};
  const Case c = case_of("attention_paged_hopper", sizes);
  const TileGrid grid = tile_grid(c.kernel, c.problem.params);
  const auto& lengths = *c.problem.params.tables->at("lengths").values;
  const auto& pages = *c.problem.params.tables->at("pages").values;
  std::vector<std::int32_t> used;
  for (std::size_t s = 0; s < 2; ++s)
    for (std::int32_t p = 0; p < (lengths[s] + 63) / 64; ++p) used.push_back(pages[s * 4 + static_cast<std::size_t>(p)]);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  CHECK(touched_elements(c.kernel, c.problem.params, grid, *c.kernel.find_tensor("K")) ==
        static_cast<std::int64_t>(used.size()) * 2 * 64 * 128);
  CHECK_FALSE(touched_elements(c.kernel, c.problem.params, grid, *c.kernel.find_tensor("Q")).has_value());
}

TEST_CASE("loads at places that are looked up have a rule of their own", "[core]") {
  const Case c = case_of("attention_block_sparse_hopper");
  CHECK(c.problem.ops[0].rule == "tma_load.indexed");
  CHECK(c.problem.ops[0].window == 80);
  Machine plain = c.machine;
  std::erase_if(plain.rules, [](const CostRule& rule) { return rule.kind == "tma_load.indexed"; });
  CHECK(resolve(c.kernel, plain)->ops[0].rule == "tma_load");

  const Case rows = case_of("embedding_bag_hopper");  // eight rows a load
  CHECK(rows.problem.ops[0].rule == "gather.indexed");
  CHECK(rows.problem.ops[0].window == 30 + 24 * 8 + 80 * 2);
}

TEST_CASE("a store that ends before a row costs its look-up, and the rows of the last tile that go by themselves", "[core]") {
  // Two sequences of 100 queries in tiles of 128, two stores of 64 rows each: the second has 36 of its rows.
  const Kernel kernel = load_kernel("attention_forward_varlen_hopper").value();
  Scope params{{"SEQUENCES", 2}, {"HEADS", 1}, {"MAX_Q", 128}, {"MAX_KV", 256}, {"TOTAL_Q", 200}, {"TOTAL_KV", 300}};
  auto table = [](std::vector<std::int32_t> numbers) {
    return IndexTable{{static_cast<std::int64_t>(numbers.size())}, std::make_shared<const std::vector<std::int32_t>>(std::move(numbers))};
  };
  IndexTables tables;
  tables["cu_seqlens_q"] = table({0, 100, 200});
  tables["cu_seqlens_k"] = table({0, 150, 300});
  params.tables = std::make_shared<const IndexTables>(std::move(tables));
  const auto store = [&](const std::string& name) {
    return *std::find_if(kernel.epilogue.begin(), kernel.epilogue.end(), [&](const TileOp& op) { return op.name == name; });
  };
  CHECK(single_rows(kernel, store("store_o0"), params) == 0);
  CHECK(single_rows(kernel, store("store_o1"), params) == 36'000);
  CHECK(single_rows(kernel, store("stage0"), params) == 0);
  const Tile tile{Space::Smem, 16, 64, 128, 64 * 128, 64 * 128 * 2, 0};
  FaultLog faults;
  const Machine h100 = load_machine("h100").value();
  const auto price = [&](const TileOp& op) {
    return cost_of({op, {&tile}, {}, {}, nullptr, single_rows(kernel, op, params)}, h100, params, faults);
  };
  const Op whole = price(store("store_o0")), cut = price(store("store_o1"));
  CHECK(faults.empty());
  CHECK(whole.rule == "tma_store.before");
  CHECK(whole.window == 30 + 50);
  CHECK(cut.window == 30 + 50 + 36 * 2 * 30);  // a row is two panels of 128 bytes
}
