// Families of shipped kernels: what the tile sizes, the sub-tiles and the groups of published attention kernels are worth.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "solver/questions/kernel_set.h"
#include "solver/questions/kernel_set_members.h"
#include "tests/support/paths.h"

using namespace heddle;
using Kind = Variation::Kind;

namespace {

KernelSetSpec spec_of(const std::string& kernel, const std::string& machine, std::vector<Variation> vary) {
  KernelSetSpec spec;
  const auto k = load_kernel(test::repository_path("kernels/" + kernel + ".json"));
  const auto m = load_machine(test::repository_path("assets/machines/" + machine + ".json"));
  REQUIRE(k);
  REQUIRE(m);
  spec.kernels = {std::make_shared<const Kernel>(*k)};
  spec.each.machine = std::make_shared<const Machine>(*m);
  spec.vary = std::move(vary);
  return spec;
}

std::vector<KernelSetMember> members_of(const KernelSetSpec& spec) {
  auto members = kernel_set_members(spec);
  INFO((members ? "" : to_string(members.error())));
  REQUIRE(members);
  return *members;
}

KernelSetAnswer solved(const KernelSetSpec& spec) {
  solver::KernelSetRequest request;
  request.timeout_seconds = 600;
  request.members = members_of(spec);
  return solver::solve_kernel_set(request);
}

const KernelSetMember& winner(const KernelSetAnswer& family) {
  REQUIRE_FALSE(family.best.empty());
  return family.members[family.best.front().member];
}

}  // namespace

TEST_CASE("sub-tiles made by the transform schedule like the ones written by hand", "[solver]") {
  const auto least_ii = [](const Problem& problem) {
    solver::SolveRequest request;
    request.problem = problem;
    request.objectives = {};
    const SolveOutcome outcome = solver::solve(request);
    CHECK(outcome.status == Status::Optimal);
    return outcome.schedule ? outcome.schedule->ii : 0;
  };
  const auto hand = [](const char* kernel, const char* machine) {
    const KernelSetSpec spec = spec_of(kernel, machine, {});
    const auto problem = resolve(*spec.kernels[0], *spec.each.machine);
    REQUIRE(problem);
    return *problem;
  };
  const auto hopper = members_of(spec_of("attention_forward_tile_hopper", "h100", {{Kind::Subtile, "Q_ROWS", {2}}}));
  CHECK(least_ii(hopper[0].problem) == least_ii(hand("attention_forward_hopper", "h100")));
  KernelSetSpec blackwell = spec_of("attention_forward_tile_blackwell", "b200", {{Kind::Subtile, "Q_ROWS", {2}}});
  blackwell.each.params = {{"Q_ROWS", 256}};
  CHECK(least_ii(members_of(blackwell)[0].problem) == least_ii(hand("attention_forward_blackwell", "b200")));
}

TEST_CASE("attention forward on Hopper reaches the tensor cores' peak with two sub-tiles, not with one tile of 128 rows", "[solver]") {
  const KernelSetAnswer family =
      solved(spec_of("attention_forward_tile_hopper", "h100", {{Kind::Subtile, "Q_ROWS", {2, 1}}, {Kind::Groups, "", {2, 3}}}));
  REQUIRE(family.complete);
  const KernelSetMember& best = winner(family);
  CHECK(family.best.front().proved);
  CHECK(family.ties_settled);
  CHECK(best.label == "Q_ROWS/2 groups<=3");
  CHECK(best.outcome.schedule->ii == 2048);
  CHECK(best.work.amount == 2 * 128 * 128 * 128);
  CHECK(best.work.at_peak == 2048);
  for (const KernelSetMember& m : family.members)
    if (&m != &best) {
      CHECK(m.outcome.lower_bound > 2048);
      CHECK(m.pruned == !m.why.empty());
    }
}

TEST_CASE("attention forward on Blackwell: two sub-tiles of 128 rows win, and 256 rows in one tile do not fit", "[solver]") {
  const KernelSetAnswer family = solved(spec_of(
      "attention_forward_tile_blackwell", "b200",
      {{Kind::Param, "Q_ROWS", {128, 256}}, {Kind::Subtile, "Q_ROWS", {1, 2}}, {Kind::Param, "KV", {}}, {Kind::Groups, "", {3, 4}}}));
  REQUIRE(family.complete);
  REQUIRE(family.members.size() == 16);
  const KernelSetMember& best = winner(family);
  CHECK(best.label == "Q_ROWS=256 Q_ROWS/2 KV=64 groups<=4");
  CHECK(best.outcome.schedule->ii == 1280);
  for (const KernelSetMember& m : family.members) {
    if (!m.invalid()) continue;
    CHECK(m.label.find("Q_ROWS=256 Q_ROWS/1 KV=128") == 0);
    CHECK(m.faults.front().message.find("256 registers") != std::string::npos);
  }
}

TEST_CASE("the peak that shares are given of is the machine's own", "[solver]") {
  const auto hopper = members_of(spec_of("gemm_hopper", "h100", {{Kind::Param, "TILE_N", {256}}}));
  CHECK(hopper[0].work.amount / hopper[0].work.at_peak == 2048);  // 4096 bf16 FLOP per cycle
  const auto blackwell = members_of(spec_of("gemm_blackwell", "b200", {{Kind::Param, "TILE_N", {256}}}));
  CHECK(blackwell[0].work.amount / blackwell[0].work.at_peak == 4096);
  const auto bytes = members_of(spec_of("layernorm", "h100", {{Kind::Groups, "", {3}}}));
  CHECK(bytes[0].work.kind == WorkKind::Bytes);
  CHECK(bytes[0].work.amount == 2 * 8 * 1024 * 2);
  CHECK(bytes[0].work.at_peak == 0);
  KernelSetSpec plain = spec_of("gemm_hopper", "h100", {{Kind::Groups, "", {2}}});
  Kernel unknown = *plain.kernels[0];
  for (TileOp& op : unknown.body) {
    op.kind = "opaque";
    op.tensor.clear();
    op.at.clear();
    op.cost.emplace().uses.emplace();
    op.cost->latency = Expr(10);
    op.cost->warps = Expr(4);
  }
  plain.kernels = {std::make_shared<const Kernel>(unknown)};
  const auto numbers = members_of(plain);
  INFO((numbers[0].invalid() ? numbers[0].faults.front().message : ""));
  CHECK_FALSE(numbers[0].invalid());
  CHECK(numbers[0].work.kind == WorkKind::Iterations);
}

TEST_CASE("ratios are compared exactly", "[solver]") {
  constexpr std::int64_t big = std::int64_t{1} << 61;
  CHECK(compare_ratios(big, big - 1, big - 1, big - 2) < 0);
  CHECK(compare_ratios(big, 3, big, 3) == 0);
  CHECK(compare_ratios(2049, 4194304, 1024, 2097152) > 0);
}

TEST_CASE("a family that cannot be expanded says why", "[solver]") {
  const auto complaint = [](KernelSetSpec spec) {
    const auto members = kernel_set_members(spec);
    CHECK_FALSE(members);
    return members ? "" : to_string(members.error());
  };
  const auto says = [&](const KernelSetSpec& spec, const std::string& part) {
    const std::string text = complaint(spec);
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  says(spec_of("gemm_hopper", "h100", {{Kind::Param, "TILE", {1}}}), "did you mean");
  says(spec_of("gemm_hopper", "h100", {{Kind::Param, "M", {}}}), "lists no choices");
  says(spec_of("gemm_hopper", "h100", {{Kind::Param, "TILE_N", {}}, {Kind::Param, "TILE_N", {}}}), "varies twice");
  std::vector<std::int64_t> many(2000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(i + 1);
  says(spec_of("gemm_hopper", "h100", {{Kind::Param, "TILE_N", many}}), "2000 members");
  KernelSetSpec both = spec_of("gemm_hopper", "h100", {{Kind::Param, "TILE_N", {128}}});
  both.each.params = {{"TILE_N", 128}, {"X", 1}};
  says(both, "is set and varies");
  says(both, "has a parameter 'X'");
  KernelSetSpec mixed = spec_of("gemm_hopper", "h100", {});
  mixed.kernels.push_back(spec_of("layernorm", "h100", {}).kernels[0]);
  says(mixed, "cannot be compared");
}

TEST_CASE("members that are no problem are listed with their reason, and alone they are no answer", "[solver]") {
  const KernelSetAnswer family =
      solved(spec_of("gemm_hopper", "h100", {{Kind::Param, "TILE_N", {100000, 3000000}}, {Kind::Groups, "", {0, 3}}}));
  CHECK(family.best.empty());
  CHECK(family.complete);
  for (const KernelSetMember& m : family.members) {
    CHECK(m.invalid());
    CHECK(m.outcome.status == Status::Invalid);
  }
}

TEST_CASE("a stopped or timed out family is a partial answer that says so", "[solver]") {
  const KernelSetSpec spec = spec_of("attention_forward_tile_hopper", "h100",
                                     {{Kind::Param, "Q_ROWS", {192}}, {Kind::Subtile, "Q_ROWS", {3}}, {Kind::Groups, "", {2, 3, 4, 5}}});
  solver::KernelSetRequest request;
  request.members = members_of(spec);
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    source.request_stop();
  });
  const KernelSetAnswer stopped = solver::solve_kernel_set(request, source.get_token());
  CHECK(stopped.cancelled);
  CHECK_FALSE(stopped.ties_settled);

  request.timeout_seconds = 1e-6;
  const KernelSetAnswer late = solver::solve_kernel_set(request);
  CHECK(late.timed_out);
  CHECK_FALSE(late.complete);
  CHECK(late.best.empty());
  for (const KernelSetMember& m : late.members) {
    CHECK(m.outcome.lower_bound == m.min_ii);
    CHECK(m.outcome.status == Status::Unknown);
    CHECK(m.why == "time is up");
  }
}

TEST_CASE("progress tells of every member, each decision once its facts are known", "[solver]") {
  solver::KernelSetRequest request;
  request.members = members_of(spec_of("gemm_hopper", "h100", {{Kind::Param, "TILE_N", {}}}));
  std::vector<int> decided(request.members.size(), 0);
  const KernelSetAnswer family = solver::solve_kernel_set(request, {}, [&](const solver::KernelSetProgress& p) {
    CHECK(p.total == decided.size());
    CHECK(p.done <= p.total);
    if (!p.decided) return;
    ++decided[p.member];
    const KernelSetMember& m = p.so_far.members[p.member];
    CHECK((m.pruned || m.outcome.schedule));
  });
  for (const int times : decided) CHECK(times == 1);
}
