// What configurations mean for kernels, and the bound that no schedule goes below.
#include <catch2/catch.hpp>
#include <utility>

#include "core/base/expr.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/simulate/kernel_bound.h"
#include "core/simulate/tile_grid.h"
#include "core/tuning_space/candidate.h"
#include "core/tuning_space/tree.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

InstanceSpec subject_of(const std::string& kernel, const std::string& machine) {
  return spec_of(*read_kernel(test::repository_path("kernels/" + kernel + ".json")),
                 *read_machine(test::repository_path("assets/machines/" + machine + ".json")));
}

std::string names_of_space(const SearchSpace& space) {
  std::string names;
  for (const Parameter& p : space.parameters) names += p.name + " ";
  return names;
}

}  // namespace

TEST_CASE("division that drops a remainder is seen", "[core]") {
  const auto exact = [](const char* text, Scope scope) { return divides_exactly(*Expr::parse(text), scope); };
  CHECK(exact("K / T", {{"K", 128}, {"T", 32}}));
  CHECK_FALSE(exact("K / T", {{"K", 128}, {"T", 48}}));
  CHECK(exact("ceil_div(K, T)", {{"K", 128}, {"T", 48}}));
  CHECK(exact("if(T > 40, 1, K / T)", {{"K", 100}, {"T", 48}}));
  CHECK_FALSE(exact("min(K / T, 1)", {{"K", 100}, {"T", 48}}));
  CHECK_FALSE(exact("K / T", {{"K", 100}, {"T", 0}}));
  CHECK(exact("K / -1", {{"K", std::numeric_limits<std::int64_t>::min() + 1}}));
}

TEST_CASE("a kernel file suggests its space", "[core]") {
  const InstanceSpec gemm = subject_of("gemm_hopper", "h100");
  const SearchSpace space = space_of(gemm);
  CHECK(names_of_space(space) == "TILE_N TILE_K subtile_TILE_N groups stages grid ");
  CHECK(config_text(space, default_config(space)) == "TILE_N=256 TILE_K=64 subtile_TILE_N=1 groups=3 stages=6 grid=tiles");
  CHECK(check_binding(space, gemm).empty());
  InstanceSpec fixed = gemm;
  fixed.params["TILE_N"] = 128;
  CHECK(names_of_space(space_of(fixed, {true})) == "TILE_K subtile_TILE_N groups stages grid cluster turns ");
  CHECK(check_binding(space, fixed).size() == 1);
  CHECK(names_of_space(space_of(subject_of("attention_forward_causal_hopper", "h100"))) == "KV groups stages grid order ");
}

TEST_CASE("a configuration sets parameters, cuts, caps and how the grid runs", "[core]") {
  const InstanceSpec subject = subject_of("attention_forward_tile_hopper", "h100");
  const SearchSpace space = space_of(subject);
  Config config = default_config(space);
  for (std::size_t p = 0; p < config.size(); ++p)
    if (space.parameters[p].name == "subtile_Q_ROWS" || space.parameters[p].name == "grid") config[p] = 1;
  const auto candidate = make_candidate(subject, space, config);
  REQUIRE(candidate.ok());
  CHECK(candidate->instance.kernel().name == "attention_forward_tile_hopper[Q_ROWS/2]");
  CHECK(candidate->run.persistent);
  CHECK(candidate->groups == 3);
  REQUIRE(candidate->demands.size() == 2);
  CHECK(candidate->demands[1].name == "at most 6 stages");
}

TEST_CASE("what would leave work undone is no candidate", "[core]") {
  const InstanceSpec subject = subject_of("attention_block_sparse_hopper", "h100");
  SearchSpace space;
  Parameter kv;
  kv.name = "KV";
  kv.values = {96, 128};
  space.parameters = {kv};
  const auto candidate = make_candidate(subject, space, {0});  // 8192 / 96 = 85.3 steps
  REQUIRE_FALSE(candidate.ok());
  CHECK(candidate.error().faults[0].message.starts_with("KV_LEN % KV == 0 does not hold"));
  CHECK(make_candidate(subject, space, {1}).ok());
}

TEST_CASE("parameters that mean nothing are named with their place", "[core]") {
  const InstanceSpec subject = subject_of("gemm_hopper", "h100");
  SearchSpace space;
  for (const char* name : {"TILE_Q", "grid", "stages"}) {
    Parameter p;
    p.name = name;
    p.values = {0, 100};
    space.parameters.push_back(p);
  }
  const auto faults = check_binding(space, subject, "s.json");
  REQUIRE(faults.size() == 3);
  CHECK(faults[0].pointer == "/parameters/0");
  CHECK(faults[0].hint.find("TILE_") != std::string::npos);
  CHECK(faults[2].message == "'stages' lies from 1 to 64");
}

TEST_CASE("a kernel takes at least what its fullest unit needs on the busiest SM", "[core]") {
  const InstanceSpec subject = subject_of("gemm_hopper", "h100");
  SearchSpace space;
  Parameter tile;
  tile.name = "TILE_N";
  tile.values = {256};
  space.parameters = {tile};
  const auto candidate = make_candidate(subject, space, {0});
  Machine machine = *subject.machine;
  const std::int64_t l2_bytes = std::exchange(machine.shared.l2_bytes, 0);
  const Bounds bounds = compute_bounds(candidate->instance.problem());
  const KernelBound bound = kernel_bound(on_machine(candidate->instance, machine), bounds);
  // 2048 tiles on 132 SMs: 16 on the busiest, 128 iterations of 1024 cycles of the tensor core each.
  CHECK(bound.most_ctas == 1);
  CHECK(bound.cycles > 16 * 128 * 1024);
  CHECK(bound.cycles < 16 * (128 * 1024 + 4000));
  CHECK(bound.why.find("TC") == 0);
  KernelRunOptions persistent;
  persistent.persistent = true;
  CHECK(kernel_bound(on_machine(candidate->instance, machine), bounds, persistent).cycles < bound.cycles);
  // 384 x 64 elements of 2 bytes for each iteration.
  machine.shared.l2_bytes = l2_bytes;
  const KernelBound supplied = kernel_bound(on_machine(candidate->instance, machine), bounds, persistent);
  CHECK(supplied.cycles >= 16 * 128 * 49152 / l2_bytes);
  CHECK(supplied.why.find("L2") == 0);
  persistent.cluster = 2;
  CHECK(kernel_bound(on_machine(candidate->instance, machine), bounds, persistent).why.find("TC") == 0);
}

TEST_CASE("tiles of different lengths are counted one by one", "[core]") {
  const InstanceSpec subject = subject_of("attention_forward_causal_hopper", "h100");
  const auto candidate = make_candidate(subject, {}, {});
  REQUIRE(candidate.ok());
  const TileGrid grid = tile_grid(candidate->instance.kernel(), candidate->instance.problem().params);
  CHECK(grid.rows == 66);
  CHECK(grid.trips == 66);
  CHECK(grid.all_trips() == 66 * 67 / 2 * 64);
}
