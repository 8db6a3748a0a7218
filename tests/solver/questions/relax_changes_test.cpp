// A way out that can be put in force makes the very problem that was tried.
#include <catch2/catch.hpp>

#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "solver/questions/relax.h"

using namespace heddle;
using namespace heddle::solver;

TEST_CASE("the changes of an easing resolve to the problem that was eased", "[solver]") {
  int compared = 0;
  for (const auto& [kernel_name, machine_name] : {std::pair{"gemm_hopper", "h100"}, std::pair{"attention_forward_hopper", "h100"},
                                                  std::pair{"attention_forward_blackwell", "b200"}, std::pair{"layernorm", "h100"}}) {
    CAPTURE(kernel_name);
    const auto kernel = load_kernel(kernel_name);
    const auto machine = load_machine(machine_name);
    REQUIRE(kernel);
    REQUIRE(machine);
    const auto problem = resolve(*kernel, *machine);
    REQUIRE(problem);
    Core core;
    for (const ConstraintFamily family : {ConstraintFamily::Issue, ConstraintFamily::Smem, ConstraintFamily::Tmem, ConstraintFamily::Warps,
                                          ConstraintFamily::Registers, ConstraintFamily::RegisterFile}) {
      if (family == ConstraintFamily::Tmem && problem->limits.tmem_columns == 0) continue;
      CoreMember member;
      member.family = family;
      core.members.push_back(member);
    }
    for (std::size_t u = 0; u < problem->units.size(); ++u) {
      CoreMember member;
      member.family = ConstraintFamily::Unit;
      member.index = u;
      core.members.push_back(member);
    }
    for (const Easing& easing : easings_of(*problem, {}, core)) {
      if (easing.changes.empty()) continue;
      CAPTURE(easing.what, easing.from, easing.to);
      const auto changed = resolve(*kernel, *machine, {}, easing.changes);
      REQUIRE(changed);
      CHECK(problem_hash(*changed) == problem_hash(easing.problem));
      ++compared;
    }
  }
  CHECK(compared > 20);
}
