// Which sizes a package is written with where nobody chose them, and the line that writes what the window shows.
#include "app/jobs/package_job.h"

#include <catch2/catch.hpp>

#include "app/session/command_line.h"
#include "app/session/environment.h"
#include "core/library/library.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;

TEST_CASE("sizes that nobody chose are such that a text serves every size, and no others", "[app]") {
  const auto attention = load_kernel(test::repository_path("kernels/attention_forward_hopper.json"));
  const auto gemm = load_kernel(test::repository_path("kernels/gemm_hopper.json"));
  REQUIRE((attention.ok() && gemm.ok()));
  const std::int64_t keys = attention->find_param("KV_LEN")->value;
  CHECK(*general_sizes(*attention, {}) == Scope{{"KV_LEN", keys + 1}});
  CHECK(general_sizes(*attention, {{"KV_LEN", keys}})->empty());
  CHECK(general_sizes(*gemm, {})->empty());
  CHECK_FALSE(general_sizes(*attention, {{"NO_SUCH", 1}}).ok());
}

TEST_CASE("the line of a package has the sizes that are shown, where it would choose others", "[app]") {
  Environment environment;
  environment.solve = test::solve_toy;
  Session session(std::move(environment));
  session.apply(OpenPair{"attention_forward_hopper", "h100", false});
  REQUIRE(session.content().problem);
  const std::int64_t keys = session.content().kernel->find_param("KV_LEN")->value;
  CHECK(package_command(session, false, "here") ==
        "heddle emit attention_forward_hopper h100 --format package --out here --param KV_LEN=" + std::to_string(keys));
  session.apply(SetParam{"KV_LEN", 8200});
  CHECK(package_command(session, true, "here") ==
        "heddle emit attention_forward_hopper h100 --param KV_LEN=8200 --format torch --out here");
  session.apply(OpenPair{"gemm_hopper", "h100", false});
  CHECK(package_command(session, false, "here") == "heddle emit gemm_hopper h100 --format package --out here");
}
