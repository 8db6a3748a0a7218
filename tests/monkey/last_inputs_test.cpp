// A test that dies says what it did last: proved by children that die on purpose.
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "app/jobs/child_process.h"
#include "tests/support/fake_solver.h"
#include "tests/support/last_inputs.h"
#include "tests/support/window/harness.h"

using namespace heddle;
using namespace heddle::test;

namespace {

constexpr int kInputs = 50;

void use_window() {
  const rlimit none{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &none);
  Harness h(solve_toy);
  for (int i = 0; i < kInputs; ++i) h.move_to(static_cast<float>(i), 7);
}

}  // namespace

TEST_CASE("on purpose: a window reads what is not there", "[.]") {
  use_window();
  const volatile int* volatile nowhere = nullptr;
  CHECK(*nowhere == 0);
}
TEST_CASE("on purpose: a window is given up", "[.]") {
  use_window();
  std::abort();
}

TEST_CASE("a test that crashes prints its last forty inputs", "[ui]") {
  for (const std::string name : {"on purpose: a window reads what is not there", "on purpose: a window is given up"}) {
    std::vector<std::string> lines;
    const auto child = app::run_child({"/proc/self/exe", name}, {}, [&](std::string_view line) { lines.emplace_back(line); });
    REQUIRE(child.ok());
    INFO(name << ": code " << child->code << ", signal " << child->signal << ", last line " << child->last_error);
    CHECK(child->code != 0);
    REQUIRE(lines.size() > kInputsKept);
    CHECK(lines[lines.size() - kInputsKept - 1] == name + ": the last inputs were");
    for (int i = 0; i < kInputsKept; ++i)
      CHECK(lines[lines.size() - kInputsKept + static_cast<std::size_t>(i)] ==
            "  move to (" + std::to_string(kInputs - kInputsKept + i) + ", 7)");
  }
}
